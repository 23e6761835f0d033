package polite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"spoor/internal/weburl"
)

// A web answers requests without a network after a while, and records when they were
// sent.
type web struct {
	mu     sync.Mutex
	took   time.Duration
	answer func(u *url.URL) (*http.Response, error) // nil: 200
	asked  map[string][]time.Time                   // host → start, end, start, end, …
	at     map[string]int                           // concurrent requests by host
	worst  int                                      // maximum of concurrent requests to one host
}

func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	w.mark(req.URL.Host, 1)
	time.Sleep(w.took)
	resp, err := &http.Response{StatusCode: 200}, error(nil)
	if w.answer != nil {
		resp, err = w.answer(req.URL)
	}
	if err != nil {
		w.mark(req.URL.Host, -1)
		return nil, err
	}
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	if resp.Body == nil {
		resp.Body = io.NopCloser(strings.NewReader(""))
	}
	resp.Body = &closer{resp.Body, func() { w.mark(req.URL.Host, -1) }}
	return resp, nil
}

func (w *web) mark(host string, d int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked == nil {
		w.asked, w.at = map[string][]time.Time{}, map[string]int{}
	}
	w.asked[host] = append(w.asked[host], time.Now())
	w.at[host] += d
	w.worst = max(w.worst, w.at[host])
}

type closer struct {
	io.ReadCloser
	f func()
}

func (c *closer) Close() error { c.f(); return c.ReadCloser.Close() }

// get sends a request and reads the body.
func get(ctx context.Context, rt http.RoundTripper, u string) (int, error) {
	resp, err := rt.RoundTrip(NewRequest(ctx, mustParse(u)))
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp.StatusCode, err
}

func mustParse(s string) weburl.URL {
	u, err := weburl.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

func TestOneRequestPerHostWithPauses(t *testing.T) {
	for _, c := range []struct {
		name        string
		tr          *Transport
		took, crawl time.Duration
		want        time.Duration
	}{
		{"two seconds at least", &Transport{Delay: DefaultDelay}, 10 * time.Millisecond, 0, 2 * time.Second},
		{"five times as long as it took", &Transport{Delay: DefaultDelay}, 3 * time.Second, 0, 15 * time.Second},
		{"but no longer than a minute", &Transport{Delay: DefaultDelay}, 50 * time.Second, 0, time.Minute},
		{"as long as robots.txt asks", &Transport{Delay: DefaultDelay}, time.Second, 20 * time.Second, 20 * time.Second},
		{"but no longer than a minute for that either", &Transport{Delay: DefaultDelay}, time.Second, time.Hour, time.Minute},
		{"longer than a minute if the user says so", &Transport{Delay: 5 * time.Minute}, time.Second, 0, 5 * time.Minute},
		{"another multiple", &Transport{Delay: DefaultDelay, Slowness: 1.5}, 3 * time.Second, 0, 4500 * time.Millisecond},
		{"no multiple", &Transport{Delay: DefaultDelay, Slowness: -1}, 50 * time.Second, 0, 2 * time.Second},
		{"an absurd multiple", &Transport{Delay: DefaultDelay, Slowness: 1e300}, time.Second, 0, time.Minute},
		{"another bound", &Transport{Delay: DefaultDelay, MaxDelay: 10 * time.Second}, 3 * time.Second, 20 * time.Second, 10 * time.Second},
		{"a bound below the delay", &Transport{Delay: DefaultDelay, MaxDelay: time.Second}, 3 * time.Second, 20 * time.Second, 2 * time.Second},
		{"a higher bound", &Transport{Delay: DefaultDelay, MaxDelay: time.Hour}, time.Second, 5 * time.Minute, 5 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &web{took: c.took}
			tr := c.tr
			tr.Base = w
			tr.SetCrawlDelay("a.test", c.crawl)
			var wg sync.WaitGroup
			for range 5 {
				wg.Go(func() {
					if _, err := get(t.Context(), tr, "http://A.test:80/x"); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if w.worst != 1 {
				t.Errorf("%s: %d requests at once", c.name, w.worst)
			}
			times := w.asked["a.test"]
			for i := 2; i < len(times); i += 2 {
				if got := times[i].Sub(times[i-1]); got != c.want {
					t.Errorf("%s: pause of %v, want %v", c.name, got, c.want)
				}
			}
		})
	}
}

func TestHostsAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{took: 100 * time.Millisecond}
		tr := &Transport{Base: w, Delay: DefaultDelay}
		start := time.Now()
		var wg sync.WaitGroup
		for _, host := range []string{"a", "b", "c", "d"} {
			for range 10 {
				wg.Go(func() { get(t.Context(), tr, "http://"+host+".test/") })
			}
		}
		wg.Wait()
		if got, want := time.Since(start), 10*100*time.Millisecond+9*DefaultDelay; got != want {
			t.Errorf("took %v, want %v", got, want)
		}
	})
}

func TestZeroDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{answer: func(*url.URL) (*http.Response, error) {
			return &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {"9"}}}, nil
		}}
		tr := &Transport{Base: w}
		tr.SetCrawlDelay("a.test", time.Hour)
		start := time.Now()
		for range 5 {
			if _, err := get(t.Context(), tr, "http://a.test/"); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("waited %v", took)
		}
	})
}

func TestWaitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{took: time.Second}
		tr := &Transport{Base: w, Delay: time.Minute}
		if _, err := get(t.Context(), tr, "http://a.test/"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		var wg sync.WaitGroup
		for range 3 { // one waits for the pause, two for the turn
			wg.Go(func() {
				if _, err := get(ctx, tr, "http://a.test/"); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if got := time.Since(start); got != 5*time.Second {
			t.Errorf("waited %v", got)
		}
		if until := tr.HeldUntil("a.test"); !until.IsZero() {
			t.Errorf("the host is held until %v because of our cancellation", until)
		}
		if _, err := get(t.Context(), tr, "http://a.test/"); err != nil {
			t.Errorf("the turn was lost: %v", err)
		}
	})
}

func TestBackoffDoubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := errors.New("connection refused")
		w := &web{answer: func(*url.URL) (*http.Response, error) { return nil, fail }}
		tr := &Transport{Base: w, Delay: DefaultDelay, Seed: 7}
		u := mustParse("http://a.test/")
		want := FirstBackoff
		for n := range 14 {
			if _, err := get(t.Context(), tr, u.String()); !errors.Is(err, fail) {
				t.Fatalf("failure %d: %v", n, err)
			}
			held := time.Until(tr.HeldUntil(u.Host()))
			if ratio := float64(held) / float64(want); ratio < 1-Jitter || ratio > 1+Jitter {
				t.Errorf("failure %d: held for %v, want about %v", n+1, held, want)
			}
			_, err := get(t.Context(), tr, u.String())
			if hold, ok := errors.AsType[*HoldError](err); !ok || hold.Until != tr.HeldUntil(u.Host()) {
				t.Errorf("failure %d: requested although held: %v", n+1, err)
			}
			time.Sleep(held)
			want = min(2*want, MaxBackoff)
		}
		if n := len(w.asked["a.test"]); n != 28 {
			t.Errorf("%d requests, want 14", n/2)
		}

		again := &Transport{Base: w, Delay: DefaultDelay, Seed: 7}
		get(t.Context(), again, u.String())
		first := time.Until(again.HeldUntil(u.Host()))
		other := &Transport{Base: w, Delay: DefaultDelay, Seed: 8}
		get(t.Context(), other, u.String())
		if first == FirstBackoff || first == time.Until(other.HeldUntil(u.Host())) {
			t.Errorf("no jitter: %v", first)
		}
	})
}

func TestFailuresAreForgotten(t *testing.T) {
	for _, c := range []struct {
		calm time.Duration
		want time.Duration
	}{{ResetAfter - time.Minute, 4 * FirstBackoff}, {ResetAfter + time.Minute, FirstBackoff}} {
		synctest.Test(t, func(t *testing.T) {
			status := 503
			w := &web{answer: func(*url.URL) (*http.Response, error) { return &http.Response{StatusCode: status}, nil }}
			tr := &Transport{Base: w, Delay: DefaultDelay}
			u := mustParse("http://a.test/")
			for range 2 {
				get(t.Context(), tr, u.String())
				time.Sleep(time.Until(tr.HeldUntil(u.Host())))
			}
			status = 200
			get(t.Context(), tr, u.String())
			time.Sleep(c.calm)
			status = 429
			get(t.Context(), tr, u.String())
			if held := time.Until(tr.HeldUntil(u.Host())); held < c.want*9/10 || held > c.want*11/10 {
				t.Errorf("after %v without failure held for %v, want about %v", c.calm, held, c.want)
			}
		})
	}
}

func TestTrailingDotIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Duration
		began := time.Now()
		status := 200
		var mu sync.Mutex
		w := &web{answer: func(*url.URL) (*http.Response, error) {
			mu.Lock()
			asked = append(asked, time.Since(began))
			mu.Unlock()
			time.Sleep(time.Second)
			return &http.Response{StatusCode: status}, nil
		}}
		tr := &Transport{Base: w, Delay: DefaultDelay, Slowness: -1}
		for _, pair := range [][2]string{{"http://a.test/", "http://a.test./"}, {"http://b.test:81/", "http://b.test.:81/"}} {
			asked, began = nil, time.Now()
			tr.SetCrawlDelay(mustParse(pair[1]).Host(), 10*time.Second)
			var wg sync.WaitGroup
			for _, u := range pair {
				wg.Go(func() { get(t.Context(), tr, u) })
			}
			wg.Wait()
			if want := []time.Duration{0, 11 * time.Second}; !slices.Equal(asked, want) {
				t.Errorf("%s was requested after %v, want %v", pair[0], asked, want)
			}
		}
		status = 503
		get(t.Context(), tr, "http://c.test./")
		if tr.HeldUntil("c.test").IsZero() {
			t.Error("a host is not held under its name with a dot")
		}
	})
}

func TestSuccessDoesNotExtendHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status := 503
		w := &web{answer: func(*url.URL) (*http.Response, error) { return &http.Response{StatusCode: status}, nil }}
		tr := &Transport{Base: w, Delay: DefaultDelay}
		u := mustParse("http://a.test/")
		for range 2 {
			get(t.Context(), tr, u.String())
			time.Sleep(time.Until(tr.HeldUntil(u.Host())))
		}
		for status = 404; time.Since(tr.hosts[u.Host()].failed) < ResetAfter+4*FirstBackoff; time.Sleep(time.Minute) {
			get(t.Context(), tr, u.String()) // 404 is not a failure
		}
		status = 503
		get(t.Context(), tr, u.String())
		if held := time.Until(tr.HeldUntil(u.Host())); held > FirstBackoff*11/10 {
			t.Errorf("held for %v, although failures should have been forgotten", held)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                               0,
		"120":                            2 * time.Minute,
		" 0 ":                            0,
		"-5":                             0,
		"soon":                           0,
		"1.5":                            0,
		"99999999999999999999999999":     MaxRetryAfter,
		"31622401":                       MaxRetryAfter,
		"Fri, 20 Nov 2026 13:00:00 GMT":  time.Hour,
		"Fri, 20 Nov 2026 11:00:00 GMT":  0,
		"Friday, 20-Nov-26 12:30:00 GMT": 30 * time.Minute,
		"Fri Nov 20 12:00:01 2026":       time.Second,
		"Fri, 20 Nov 2999 13:00:00 GMT":  MaxRetryAfter,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func TestBrokenBodyIsFailureAndRefusedAddressIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("connection reset")
		w := &web{answer: func(u *url.URL) (*http.Response, error) {
			if u.Host == "private.test" {
				return nil, &url.Error{Op: "dial", Err: &BlockedError{"10.0.0.1:80"}}
			}
			return &http.Response{StatusCode: 200, Body: io.NopCloser(io.MultiReader(strings.NewReader("x"), errReader{broken}))}, nil
		}}
		tr := &Transport{Base: w, Delay: DefaultDelay}
		if _, err := get(t.Context(), tr, "http://broken.test/"); !errors.Is(err, broken) {
			t.Error(err)
		}
		if tr.HeldUntil("broken.test").IsZero() {
			t.Error("not held")
		}
		get(t.Context(), tr, "http://private.test/")
		if !tr.HeldUntil("private.test").IsZero() {
			t.Error("held although no request was sent")
		}
	})
}

func TestBlamelessErrors(t *testing.T) {
	reason := errors.New("a reason")
	for name, c := range map[string]struct {
		err   error
		pause time.Duration
	}{
		"refused by the guard":    {fmt.Errorf("dial: %w", &BlockedError{"10.0.0.1:80"}), 0},
		"blameless, not sent":     {fmt.Errorf("dial: %w", &BlamelessError{reason, false}), 0},
		"blameless, perhaps sent": {fmt.Errorf("dial: %w", &BlamelessError{reason, true}), DefaultDelay},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &web{answer: func(*url.URL) (*http.Response, error) { return nil, c.err }}
			tr := &Transport{Base: w, Delay: DefaultDelay, HostRate: 1}
			begun := time.Now()
			for range 11 {
				if _, err := get(t.Context(), tr, "http://a.test/"); !errors.Is(err, c.err) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if took := time.Since(begun); took != 10*c.pause {
				t.Errorf("%s: 11 requests took %v", name, took)
			}
			if h := tr.hosts["a.test"]; h.failures != 0 || !h.until.IsZero() || h.next.After(time.Now()) != (c.pause > 0) {
				t.Errorf("%s: %+v is kept", name, h)
			}
		})
	}
}

func TestHoldErrorRoundsUp(t *testing.T) {
	for nanoseconds, want := range map[int]string{0: "12:00:00Z", 1: "12:00:01Z", 400_000_000: "12:00:01Z", 999_999_999: "12:00:01Z"} {
		err := &HoldError{"a.test", time.Date(2025, 1, 2, 13, 0, 0, nanoseconds, time.FixedZone("", 3600))}
		if got := err.Error(); got != "a.test is not to be asked before 2025-01-02T"+want {
			t.Errorf("%d: %s", nanoseconds, got)
		}
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestHostsWithoutStateAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &Transport{Base: &web{}, Delay: time.Second}
		for i := range sweepAt {
			tr.mu.Lock()
			tr.find(fmt.Sprint(i))
			tr.mu.Unlock()
		}
		time.Sleep(time.Minute)
		if _, err := get(t.Context(), tr, "http://last.test/"); err != nil {
			t.Error(err)
		}
		if n := len(tr.hosts); n != 1 {
			t.Errorf("%d hosts are kept", n)
		}
	})
}

func TestNewRequestSendsTheURLToTheByte(t *testing.T) {
	for _, target := range []string{
		"/", "/a?b=c", "/?", "/%zz", "/100%", "/a|b^c", "/a%2Fb", "//a//b", "//a?b|c", "/%E3%83%84", "/?q='x'&y=[1]", "/a;b=1",
	} {
		u := mustParse("http://a.test:8080" + target)
		var sent strings.Builder
		if err := NewRequest(t.Context(), u).Write(&sent); err != nil {
			t.Error(err)
		}
		if want := "GET " + u.RequestURI() + " HTTP/1.1\r\nHost: a.test:8080\r\n"; !strings.HasPrefix(sent.String(), want) {
			t.Errorf("sent %q, want %q", sent.String(), want)
		}
	}
	// net/url would read this path as a host, so the request line has the absolute form,
	// which is equivalent.
	var sent strings.Builder
	NewRequest(t.Context(), mustParse("http://a.test//100%?x")).Write(&sent)
	if want := "GET http://a.test//100%?x HTTP/1.1\r\nHost: a.test\r\n"; !strings.HasPrefix(sent.String(), want) {
		t.Errorf("sent %q, want %q", sent.String(), want)
	}
}
