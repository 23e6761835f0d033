package polite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A start is the time of a request.
type start struct {
	host string
	at   time.Duration // since the first request
}

// starts returns the times of all requests, in order.
func (w *web) starts() []start {
	var all []start
	first := time.Time{}
	for host, times := range w.asked {
		for i := 0; i < len(times); i += 2 {
			if first.IsZero() || times[i].Before(first) {
				first = times[i]
			}
			all = append(all, start{host, time.Duration(times[i].UnixNano())})
		}
	}
	for i := range all {
		all[i].at -= time.Duration(first.UnixNano())
	}
	slices.SortFunc(all, func(a, b start) int { return int(a.at - b.at) })
	return all
}

func TestRateIsExactAndFair(t *testing.T) {
	for _, c := range []struct {
		rate, delay, took time.Duration // the rate as an interval
		hosts, each       int
	}{
		{250 * time.Millisecond, DefaultDelay, 10 * time.Millisecond, 20, 10}, // the rate is the limit
		{time.Millisecond, 0, 5 * time.Millisecond, 200, 5},
		{time.Second, time.Millisecond, 3 * time.Millisecond, 7, 7},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &web{took: c.took}
			tr := &Transport{Base: w, Delay: c.delay, Slowness: -1, Rate: 1 / c.rate.Seconds()}
			var wg sync.WaitGroup
			for h := range c.hosts {
				wg.Go(func() { // sequentially, as a crawl does
					for range c.each {
						if _, err := get(t.Context(), tr, fmt.Sprintf("http://%03d.test/", h)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			asked := map[string]int{}
			for i, s := range w.starts() {
				if want := time.Duration(i) * c.rate; s.at != want {
					t.Fatalf("%v: request %d began at %v, want %v", c.rate, i, s.at, want)
				}
				asked[s.host]++
				if round := i/c.hosts + 1; asked[s.host] > round {
					t.Fatalf("%v: %s was requested %d times in round %d", c.rate, s.host, asked[s.host], round)
				}
			}
		})
	}
}

func TestRateHasNoBursts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{}
		tr := &Transport{Base: w, Rate: 10}
		ask := func(n int) {
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() { get(t.Context(), tr, fmt.Sprintf("http://%d.test/", i)) })
			}
			wg.Wait()
		}
		ask(3)
		time.Sleep(time.Hour) // without requests
		ask(3)
		var got []time.Duration
		for _, s := range w.starts() {
			got = append(got, s.at)
		}
		const ms = time.Millisecond
		again := 200*ms + time.Hour
		if want := []time.Duration{0, 100 * ms, 200 * ms, again, again + 100*ms, again + 200*ms}; !slices.Equal(got, want) {
			t.Errorf("began at %v, want %v", got, want)
		}
	})
}

func TestPausedHostDoesNotUseRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{}
		tr := &Transport{Base: w, Delay: time.Millisecond, Rate: 1}
		tr.SetCrawlDelay("slow.test", 20*time.Second+500*time.Millisecond)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { get(t.Context(), tr, "http://slow.test/") })
		}
		for range 60 {
			wg.Go(func() { get(t.Context(), tr, "http://quick.test/") })
		}
		wg.Wait()
		starts := w.starts()
		for i, s := range starts {
			if want := time.Duration(i) * time.Second; s.at != want {
				t.Errorf("request %d, to %s, began at %v, want %v", i, s.host, s.at, want)
			}
		}
	})
}

func TestCancelledRequestDoesNotUseRate(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := &web{}
			tr := &Transport{Base: w, Delay: delay, Rate: 0.1}
			ctx, cancel := context.WithCancelCause(t.Context())
			bored := errors.New("bored")
			var wg sync.WaitGroup
			for i, ctx := range []context.Context{t.Context(), ctx, t.Context(), ctx, t.Context()} {
				wg.Go(func() {
					_, err := get(ctx, tr, fmt.Sprintf("http://%d.test/", i))
					if ctx.Err() != nil && !errors.Is(err, bored) || ctx.Err() == nil && err != nil {
						t.Errorf("request %d: %v", i, err)
					}
				})
				synctest.Wait() // queue them in this order
			}
			time.Sleep(3 * time.Second)
			cancel(bored)
			wg.Wait()
			want := []start{{"0.test", 0}, {"2.test", 10 * time.Second}, {"4.test", 20 * time.Second}}
			if got := w.starts(); !slices.Equal(got, want) {
				t.Errorf("began %v, want %v", got, want)
			}
			if until := tr.HeldUntil("1.test"); !until.IsZero() {
				t.Errorf("a host is held until %v because of our cancellation", until)
			}
		})
	}
}

func TestCancelledRequestIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, tr := range []*Transport{{Delay: time.Second}, {Rate: 1}, {Delay: time.Second, Rate: 1}, {HostRate: 1}} {
			w := &web{}
			tr.Base = w
			if _, err := get(ctx, tr, "http://a.test/"); !errors.Is(err, context.Canceled) || len(w.asked) != 0 {
				t.Errorf("%v, asked %v", err, w.asked)
			}
			if _, err := get(t.Context(), tr, "http://a.test/"); err != nil {
				t.Errorf("the turn was lost: %v", err)
			}
		}
	})
}

func TestHostRate(t *testing.T) {
	for _, c := range []struct {
		name              string
		delay, took, want time.Duration // between the starts of two requests
		rate              float64
	}{
		{"without a delay", 0, 10 * time.Millisecond, 500 * time.Millisecond, 2},
		{"the delay is longer", time.Second, 10 * time.Millisecond, 1010 * time.Millisecond, 2},
		{"the delay is shorter", time.Second, 10 * time.Millisecond, 4 * time.Second, 0.25},
		{"the host is slow", 0, 300 * time.Millisecond, 1800 * time.Millisecond, 2},
		{"rarer than the longest pause", time.Second, 0, 100 * time.Second, 0.01},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &web{took: c.took}
			tr := &Transport{Base: w, Delay: c.delay, HostRate: c.rate}
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { get(t.Context(), tr, "http://a.test/") })
				wg.Go(func() { get(t.Context(), tr, "http://b.test/") })
			}
			wg.Wait()
			if w.worst != 1 {
				t.Errorf("%s: %d requests at once", c.name, w.worst)
			}
			for host, times := range w.asked {
				for i := 2; i < len(times); i += 2 {
					if got := times[i].Sub(times[i-2]); got != c.want {
						t.Errorf("%s: %s was requested after %v, want %v", c.name, host, got, c.want)
					}
				}
			}
		})
	}
}

func TestUnlimitedRates(t *testing.T) {
	for rate, want := range map[float64]time.Duration{
		0: 0, -1: 0, math.NaN(): 0, math.Inf(-1): 0, math.Inf(1): 0, 1e12: 0,
		4: 250 * time.Millisecond, 1e-300: MaxBackoff, 1e9: 1,
	} {
		if got := interval(rate); got != want {
			t.Errorf("%v per second is every %v, want %v", rate, got, want)
		}
	}
}

func TestStatusesThatHoldTheHost(t *testing.T) {
	for _, c := range []struct {
		status     int
		retryAfter string // seconds, or "+" and seconds from now for a date
		want       time.Duration
		failures   int
	}{
		{200, "", 0, 0},
		{200, "100", 0, 0}, // ignored in a response that is not an error
		{301, "100", 0, 0},
		{404, "", 0, 0},
		{403, "100", 100 * time.Second, 0}, // not a failure, but the host asks for it
		{413, "+100", 100 * time.Second, 0},
		{429, "", FirstBackoff, 1},
		{429, "600", 600 * time.Second, 1},
		{429, "+600", 600 * time.Second, 1},
		{429, "3", FirstBackoff, 1}, // the longer one wins
		{500, "", FirstBackoff, 1},
		{501, "", FirstBackoff, 1},
		{502, "", FirstBackoff, 1},
		{503, "", FirstBackoff, 1},
		{503, "7200", 2 * time.Hour, 1},
		{503, "+7200", 2 * time.Hour, 1},
		{504, "", FirstBackoff, 1},
		{599, "", FirstBackoff, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			header, when := http.Header{}, time.Time{}
			w := &web{took: 3 * time.Second, answer: func(*url.URL) (*http.Response, error) {
				if s, isDate := strings.CutPrefix(c.retryAfter, "+"); isDate {
					d, _ := time.ParseDuration(s + "s")
					when = time.Now().Add(d)
					header.Set("Retry-After", when.UTC().Format(http.TimeFormat))
				} else if s != "" {
					header.Set("Retry-After", s)
				}
				return &http.Response{StatusCode: c.status, Header: header, Body: io.NopCloser(&lazy{5 * time.Second})}, nil
			}}
			tr := &Transport{Base: w, Delay: DefaultDelay}
			if _, err := get(t.Context(), tr, "http://a.test/"); err != nil {
				t.Fatal(err)
			}
			until := tr.HeldUntil("a.test")
			switch held := time.Until(until); {
			case c.want == 0:
				if !until.IsZero() {
					t.Errorf("%d %s: held for %v", c.status, c.retryAfter, held)
				}
			case c.want == FirstBackoff: // since the end of the request
				if held < FirstBackoff*9/10 || held > FirstBackoff*11/10 {
					t.Errorf("%d %s: held for %v, want about %v", c.status, c.retryAfter, held, c.want)
				}
			default: // since the start of the response, five seconds ago
				if held != c.want-5*time.Second {
					t.Errorf("%d %s: held for %v, want %v less 5s", c.status, c.retryAfter, held, c.want)
				}
			}
			if !when.IsZero() && !until.Equal(when) {
				t.Errorf("%d: held until %v, want %v", c.status, until, when)
			}
			if got := tr.hosts["a.test"].failures; got != c.failures {
				t.Errorf("%d: %d failures", c.status, got)
			}
		})
	}
}

// A lazy body ends after a while.
type lazy struct{ d time.Duration }

func (l *lazy) Read([]byte) (int, error) { time.Sleep(l.d); return 0, io.EOF }

func TestRetryAfterIsSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{answer: func(*url.URL) (*http.Response, error) {
			return &http.Response{StatusCode: 403, Header: http.Header{"Retry-After": {"3600"}}}, nil
		}}
		first := startProcess(t, w, saved{})
		get(t.Context(), first.Transport, "http://a.test/")
		second := startProcess(t, w, first.save(t))
		if held := time.Until(second.HeldUntil("a.test")); held != time.Hour {
			t.Errorf("held for %v", held)
		}
		time.Sleep(time.Hour)
		if third := startProcess(t, w, first.save(t)); len(third.hosts) != 0 {
			t.Error("an expired hold is kept")
		}
	})
}

func TestJitterRange(t *testing.T) {
	tr := &Transport{Seed: 1}
	for n := 1; n <= 13; n++ {
		base := min(FirstBackoff<<(n-1), MaxBackoff)
		least, most := 2.0, 0.0
		for i := range 2000 {
			ratio := float64(tr.backoff(fmt.Sprint(i), n)) / float64(base)
			least, most = min(least, ratio), max(most, ratio)
		}
		if least < 1-Jitter || most > 1+Jitter || least > 1-0.98*Jitter || most < 1+0.98*Jitter {
			t.Errorf("failure %d: from %.4f to %.4f of %v", n, least, most, base)
		}
	}
	if a, b := tr.backoff("a.test", 3), (&Transport{Seed: 1}).backoff("a.test", 3); a != b {
		t.Errorf("the same seed gives %v and %v", a, b)
	}
}

func TestClampedIsCalledOncePerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		told := map[string]int{}
		tr := &Transport{Base: &web{}, Delay: DefaultDelay, MaxDelay: 30 * time.Second}
		tr.Clamped = func(host string, asked, granted time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			told[fmt.Sprint(host, " ", asked, " ", granted)]++
			tr.HeldUntil(host) // the callback may use the transport
		}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				tr.SetCrawlDelay("slow.test", 300*time.Second)
				tr.SetCrawlDelay("just.test", 30*time.Second)
				tr.SetCrawlDelay("quick.test", 0)
			})
		}
		wg.Wait()
		if len(told) != 1 || told["slow.test 5m0s 30s"] != 1 {
			t.Errorf("calls %v", told)
		}
		(&Transport{Delay: DefaultDelay}).SetCrawlDelay("slow.test", time.Hour) // without a callback
	})
}

func TestCrawlDelayAppliesAfterRobotsTxt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{answer: func(u *url.URL) (*http.Response, error) {
			if u.Path == "/robots.txt" {
				return text("User-agent: *\nCrawl-delay: 20\n")
			}
			return text("")
		}}
		l := startProcess(t, w, saved{})
		var wg sync.WaitGroup
		wg.Go(func() { l.request(t, "http://a.test/1") })
		synctest.Wait()
		wg.Go(func() { get(t.Context(), l.Transport, "http://a.test/2") }) // waits already, for a shorter pause
		wg.Wait()
		times := w.asked["a.test"]
		for i := 2; i < len(times); i += 2 {
			if got := times[i].Sub(times[i-1]); got != 20*time.Second {
				t.Errorf("request %d came after %v", i/2, got)
			}
		}
	})
}

func TestBeginExcludesOurOwnWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{took: time.Second}
		crowded := roundTripper(func(req *http.Request) (*http.Response, error) {
			time.Sleep(10 * time.Second) // as for a free slot
			Begin(req.Context())
			return w.RoundTrip(req)
		})
		tr := &Transport{Base: crowded, Delay: DefaultDelay, HostRate: 0.1}
		for range 3 {
			if _, err := get(t.Context(), tr, "http://a.test/"); err != nil {
				t.Fatal(err)
			}
		}
		times := w.asked["a.test"]
		for i := 2; i < len(times); i += 2 {
			// 9 s after the end, which is 10 s after the start, the wait for a slot may begin.
			if got := times[i].Sub(times[i-1]); got != 19*time.Second {
				t.Errorf("request %d came after %v", i/2, got)
			}
		}
	})
	Begin(t.Context()) // does nothing without a transport
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
