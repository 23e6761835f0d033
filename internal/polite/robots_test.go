package polite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/robots"
)

// text returns a response with status 200 and a body.
func text(s string) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(s))}, nil
}

// moved returns a redirect.
func moved(to string) (*http.Response, error) {
	return &http.Response{StatusCode: 302, Header: http.Header{"Location": {to}}}, nil
}

func TestDecide(t *testing.T) {
	failure := errors.New("connection refused")
	for _, c := range []struct {
		name    string
		answer  func(u *url.URL) (*http.Response, error)
		allowed bool
		reason  string // part of it
		err     error
	}{
		{"200 with a rule", func(*url.URL) (*http.Response, error) { return text("User-agent: *\nDisallow: /x\n") },
			false, "robots.txt line 2: Disallow: /x", nil},
		{"200 without", func(*url.URL) (*http.Response, error) { return text("") }, true, "", nil},
		{"404", func(*url.URL) (*http.Response, error) { return &http.Response{StatusCode: 404}, nil }, true, "", nil},
		{"401", func(*url.URL) (*http.Response, error) { return &http.Response{StatusCode: 401}, nil }, true, "", nil},
		{"500", func(*url.URL) (*http.Response, error) { return &http.Response{StatusCode: 500}, nil }, false, "500", nil},
		{"429", func(*url.URL) (*http.Response, error) { return &http.Response{StatusCode: 429}, nil }, false, "429", nil},
		{"network error", func(*url.URL) (*http.Response, error) { return nil, failure }, false, "", failure},
		{"half an answer", func(*url.URL) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(errReader{failure})}, nil
		}, false, "", failure},
		{"five redirects, another host at last", func(u *url.URL) (*http.Response, error) {
			switch n := len(u.Path); {
			case u.Host == "other.test":
				return text("User-agent: *\nDisallow: /x\n")
			case n >= len("/robots.txt")+4:
				return moved("https://other.test/r")
			default:
				return moved(u.Path + "a")
			}
		}, false, "robots.txt line 2: Disallow: /x (redirected to https://other.test/r)", nil},
		{"a redirect to a server that is ill", func(u *url.URL) (*http.Response, error) {
			if u.Host == "other.test" {
				return &http.Response{StatusCode: 503}, nil
			}
			return moved("http://other.test/r")
		}, false, "robots.txt answered 503: nothing may be asked until it answers otherwise (redirected to http://other.test/r)", nil},
		{"a redirect to one that cannot be reached", func(u *url.URL) (*http.Response, error) {
			if u.Host == "other.test" {
				return nil, failure
			}
			return moved("http://other.test/r")
		}, false, "", failure},
		{"a redirect to a very long address", func(u *url.URL) (*http.Response, error) {
			if u.Host == "other.test" {
				return text("User-agent: *\nDisallow: /x\n")
			}
			return moved("http://other.test/" + strings.Repeat("r", 4000))
		}, false, "redirected to http://other.test/" + strings.Repeat("r", maxFrom-len("http://other.test/")) + "…)", nil},
		{"418", func(*url.URL) (*http.Response, error) { return &http.Response{StatusCode: 418}, nil }, true, "", nil},
		{"a redirect that does not say where to", func(*url.URL) (*http.Response, error) { return &http.Response{StatusCode: 302}, nil }, true, "", nil},
		{"204", func(*url.URL) (*http.Response, error) { return &http.Response{StatusCode: 204}, nil }, true, "", nil},
		{"599", func(*url.URL) (*http.Response, error) { return &http.Response{StatusCode: 599}, nil }, false, "599", nil},
		{"404 that breaks off", func(*url.URL) (*http.Response, error) {
			return &http.Response{StatusCode: 404, Body: io.NopCloser(errReader{failure})}, nil
		}, true, "", nil},
		{"rubbish", func(*url.URL) (*http.Response, error) {
			return text("\x00\xff\xfe\x1f\x8b" + strings.Repeat("\x80\r", 1000))
		}, true, "", nil},
		{"six redirects", func(u *url.URL) (*http.Response, error) {
			if len(u.Path) >= len("/robots.txt")+6 {
				return text("User-agent: *\nDisallow: /x\n")
			}
			return moved(u.Path + "a")
		}, true, "", nil},
		{"a redirect to itself", func(u *url.URL) (*http.Response, error) { return moved(u.String()) }, true, "", nil},
		{"a redirect to nowhere", func(*url.URL) (*http.Response, error) { return moved("") }, true, "", nil},
		{"a redirect to no web address", func(*url.URL) (*http.Response, error) { return moved("file:///etc/passwd") }, true, "", nil},
		{"an endless one is read to its limit", func(*url.URL) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(io.MultiReader(
				strings.NewReader("User-agent: *\nDisallow: /x\n"), endless{}))}, nil
		}, false, "Disallow: /x", nil},
	} {
		r := &Robots{Transport: &web{answer: c.answer}, Agent: "spoor"}
		v, err := r.Decide(t.Context(), mustParse("http://a.test/x"))
		if v.Allowed != c.allowed || !strings.Contains(v.Reason, c.reason) || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v", c.name, v, err)
		}
		if v, err := r.Decide(t.Context(), mustParse("http://a.test/robots.txt")); !v.Allowed || err != nil {
			t.Errorf("%s: robots.txt itself: %+v, %v", c.name, v, err)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte("# a line\n"), len(p)/9+1))
	if len(p) > 2*robots.MaxSize {
		panic("asked for more than is needed")
	}
	return len(p), nil
}

func TestRobotsTxtIsFetchedOncePerOriginAndDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		asked := map[string]int{}
		status := 200
		w := &web{took: time.Second, answer: func(u *url.URL) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			asked[u.String()]++
			return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("User-agent: *\nCrawl-delay: 3\n"))}, nil
		}}
		crawl := map[string]time.Duration{}
		r := &Robots{Transport: w, Agent: "spoor", CrawlDelay: func(host string, d time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			crawl[host] = d
		}}
		ask := func(u string) Verdict {
			v, err := r.Decide(t.Context(), mustParse(u))
			if err != nil {
				t.Error(err)
			}
			return v
		}
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				ask(fmt.Sprintf("http://a.test/%d", i))
				ask(fmt.Sprintf("https://a.test/%d", i))
				ask(fmt.Sprintf("http://a.test:8080/%d", i))
			})
		}
		wg.Wait()
		for u, n := range asked {
			if n != 1 {
				t.Errorf("%s fetched %d times", u, n)
			}
		}
		if len(asked) != 3 || crawl["a.test"] != 3*time.Second {
			t.Errorf("asked %v, crawl-delays %v", asked, crawl)
		}
		time.Sleep(RobotsTTL)
		status = 500
		if ask("http://a.test/").Allowed || asked["http://a.test/robots.txt"] != 2 {
			t.Error("not fetched again after a day")
		}
		status = 200
		if ask("http://a.test/").Allowed {
			t.Error("fetched again at once although the server failed")
		}
		time.Sleep(RobotsRetry)
		if !ask("http://a.test/").Allowed {
			t.Error("not fetched again although the server may have recovered")
		}
	})
}

// An error after the origin has redirected does not hold the origin. Without a cache of the
// error its robots.txt would be fetched again for each of its pages.
func TestFailedRedirectOfRobotsTxtIsCached(t *testing.T) {
	failure := errors.New("connection refused")
	late := fmt.Errorf("name server: %w", context.DeadlineExceeded)
	blocked := &BlockedError{"10.0.0.1:80"}
	behind := func(err error) func(*url.URL) (*http.Response, error) {
		return func(u *url.URL) (*http.Response, error) {
			if u.Host == "other.test" {
				return nil, err
			}
			return moved("http://other.test/r")
		}
	}
	for _, c := range []struct {
		name   string
		answer func(*url.URL) (*http.Response, error)
		err    error
		again  error // for the next page; nil: it may be requested later
		asked  int   // requests for three pages
	}{
		{"a redirect to one that cannot be reached", behind(failure), failure, nil, 1},
		{"a redirect to one that is held", behind(&HoldError{Host: "other.test"}), nil, nil, 1},
		{"a redirect to a name that is not found in time", behind(late), late, nil, 1},
		{"a redirect to an address that is not public", behind(blocked), blocked, blocked, 1},
		{"a redirect to one that is not public, and another that is not reached in time", behind(errors.Join(blocked, context.DeadlineExceeded)), blocked, blocked, 1},
		{"half an answer", func(*url.URL) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(errReader{failure})}, nil
		}, failure, nil, 1},
		{"no answer", func(*url.URL) (*http.Response, error) { return nil, failure }, failure, failure, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				r := &Robots{Agent: "spoor", Transport: &web{answer: func(u *url.URL) (*http.Response, error) {
					if u.Host == "a.test" {
						asked++
					}
					return c.answer(u)
				}}}
				page := mustParse("http://a.test/x")
				if v, err := r.Decide(t.Context(), page); v.Allowed || err == nil || !errors.Is(err, c.err) && c.err != nil {
					t.Errorf("the first page: %+v, %v", v, err)
				}
				until := time.Now().Add(RobotsRetry)
				for range 2 {
					v, err := r.Decide(t.Context(), page)
					if v.Allowed || !errors.Is(err, c.again) || c.again == nil && (!v.Until.Equal(until) || !strings.HasPrefix(v.Reason, "robots.txt: ")) {
						t.Errorf("the next page: %+v, %v", v, err)
					}
				}
				if asked != c.asked {
					t.Errorf("asked %d times, want %d", asked, c.asked)
				}
				time.Sleep(RobotsRetry)
				if _, err := r.Decide(t.Context(), page); err == nil || asked != c.asked+1 {
					t.Errorf("an hour later: asked %d times, %v", asked, err)
				}
			})
		})
	}
}

// If robots.txt redirects to a host that is held for some seconds, it is fetched again after
// these, not after an hour.
func TestRobotsTxtIsRetriedWhenTheHoldEnds(t *testing.T) {
	for hold, want := range map[time.Duration]time.Duration{
		5 * time.Second:     5 * time.Second,
		2 * time.Hour:       2 * time.Hour,
		30 * 24 * time.Hour: RobotsTTL,
		-time.Second:        RobotsRetry, // already over
	} {
		synctest.Test(t, func(t *testing.T) {
			free := time.Now().Add(hold)
			asked := 0
			r := &Robots{Agent: "spoor", Transport: &web{answer: func(u *url.URL) (*http.Response, error) {
				switch {
				case u.Host == "a.test":
					asked++
					return moved("http://other.test/robots.txt")
				case time.Now().Before(free) || asked == 1:
					return nil, &HoldError{u.Host, free}
				}
				return text("User-agent: *\nDisallow: /y\n")
			}}}
			page := mustParse("http://a.test/x")
			if v, err := r.Decide(t.Context(), page); v.Allowed || err == nil {
				t.Errorf("held for %v: %+v, %v", hold, v, err)
			}
			until := time.Now().Add(want)
			time.Sleep(want - time.Second)
			if v, err := r.Decide(t.Context(), page); err != nil || v.Allowed || !v.Until.Equal(until) || asked != 1 {
				t.Errorf("held for %v: %+v, %v, asked %d times", hold, v, err, asked)
			}
			time.Sleep(time.Second)
			if v, err := r.Decide(t.Context(), page); asked != 2 || v.Allowed != (want >= hold) || v.Allowed != (err == nil) {
				t.Errorf("held for %v, after %v: %+v, %v, asked %d times", hold, want, v, err, asked)
			}
		})
	}
}

func TestCancelledFetchOfRobotsTxtIsRepeated(t *testing.T) {
	for _, to := range []string{"", "http://b.test/robots.txt"} {
		t.Run(to, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &Robots{Transport: &patient{to}, Agent: "spoor"}
				windowEnded := errors.New("the window ended")
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, windowEnded)
				defer cancel()
				var wg sync.WaitGroup
				wg.Go(func() {
					if _, err := r.Decide(ctx, mustParse("http://a.test/")); !errors.Is(err, windowEnded) {
						t.Errorf("got %v", err)
					}
				})
				synctest.Wait()
				wg.Go(func() {
					if v, err := r.Decide(t.Context(), mustParse("http://a.test/")); !v.Allowed || err != nil {
						t.Errorf("got %+v, %v", v, err)
					}
				})
				wg.Wait()
			})
		})
	}
}

// A patient web answers after five seconds, unless the request is cancelled.
type patient struct {
	to string // where a.test redirects to, at once, if it does
}

func (p *patient) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.to != "" && req.URL.Host == "a.test" {
		resp, err := moved(p.to)
		resp.Body = http.NoBody
		return resp, err
	}
	select {
	case <-time.After(5 * time.Second):
		return text("")
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
}

func TestRobotsCacheIsBounded(t *testing.T) {
	r := &Robots{Transport: &web{}, Agent: "spoor"}
	for i := range MaxKept + 10 {
		e, mine := r.entry(fmt.Sprint(i))
		if !mine {
			t.Fatal("known before it was asked for")
		}
		close(e.ready)
	}
	if len(r.entries) != MaxKept || len(r.order) != MaxKept {
		t.Errorf("%d entries, %d in order", len(r.entries), len(r.order))
	}
}

func TestRedirectLoopOfRobotsTxt(t *testing.T) {
	asked := 0
	w := &web{answer: func(u *url.URL) (*http.Response, error) {
		asked++
		if u.Host == "a.test" {
			return moved("https://b.test/r")
		}
		return moved("http://a.test/robots.txt")
	}}
	r := &Robots{Transport: w, Agent: "spoor"}
	if v, err := r.Decide(t.Context(), mustParse("http://a.test/")); !v.Allowed || err != nil || asked != 2 {
		t.Errorf("%+v, %v after %d requests", v, err, asked)
	}
}

func TestRedirectedRulesApplyToTheRedirectingHost(t *testing.T) {
	w := &web{answer: func(u *url.URL) (*http.Response, error) {
		switch u.String() {
		case "http://a.test/robots.txt":
			return moved("http://b.test/robots.txt")
		case "http://b.test/robots.txt":
			return text("User-agent: *\nDisallow: /x\n")
		}
		return &http.Response{StatusCode: 404}, nil
	}}
	r := &Robots{Transport: w, Agent: "spoor"}
	for u, want := range map[string]bool{
		"http://a.test/x": false, "http://b.test/x": false, "https://a.test/x": true, "http://a.test:81/x": true, "http://a.test/y": true,
	} {
		if v, err := r.Decide(t.Context(), mustParse(u)); v.Allowed != want || err != nil {
			t.Errorf("%s: %+v, %v", u, v, err)
		}
	}
}

func TestSitemaps(t *testing.T) {
	failure := errors.New("connection refused")
	asked := 0
	w := &web{answer: func(u *url.URL) (*http.Response, error) {
		asked++
		switch u.Host {
		case "down.test":
			return nil, failure
		case "ill.test":
			return &http.Response{StatusCode: 500, Body: io.NopCloser(strings.NewReader("Sitemap: /x"))}, nil
		case "none.test":
			return &http.Response{StatusCode: 404, Body: io.NopCloser(strings.NewReader("Sitemap: /x"))}, nil
		}
		return text("Sitemap: HTTP://A.test:80/one.xml\nUser-agent: other\nDisallow: /\nsitemap: /two.xml # relative\n" +
			"sitemap: ftp://a.test/\nsitemap:\nSITEMAP: https://elsewhere.test/three.xml.gz\nSitemap: http://a.test/one.xml\n")
	}}
	r := &Robots{Transport: w, Agent: "spoor"}
	if v, err := r.Decide(t.Context(), mustParse("http://a.test/deep/page")); !v.Allowed || err != nil {
		t.Errorf("%+v, %v", v, err)
	}
	for u, want := range map[string][]string{
		"http://a.test/deep/page": {"http://a.test/one.xml", "http://a.test/two.xml", "https://elsewhere.test/three.xml.gz"},
		"http://none.test/":       nil,
		"http://ill.test/":        nil,
	} {
		got, err := r.Sitemaps(t.Context(), mustParse(u))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", u, err, diff)
		}
	}
	if asked != 3 {
		t.Errorf("asked for %d robots.txt, want three", asked)
	}
	if all, err := r.Sitemaps(t.Context(), mustParse("http://down.test/")); all != nil || !errors.Is(err, failure) {
		t.Errorf("%v, %v", all, err)
	}
}

func TestMemoryOfHostileRobotsTxtIsBounded(t *testing.T) {
	body := "User-agent: *\n" + strings.Repeat("allow:/\n", robots.MaxSize/8-2)
	r := &Robots{Agent: "spoor", Transport: &web{answer: func(*url.URL) (*http.Response, error) { return text(body) }}}
	for i := range 20 { // each is half a megabyte, and four of rules
		if v, err := r.Decide(t.Context(), mustParse(fmt.Sprintf("http://%d.test/", i))); !v.Allowed || err != nil {
			t.Fatal(v, err)
		}
		if r.bytes > MaxRobotsBytes {
			t.Fatalf("%d bytes are kept", r.bytes)
		}
	}
	sum := 0
	for _, e := range r.entries {
		if sum += e.size; e.size < 3<<20 {
			t.Errorf("%d bytes are counted for a hostile robots.txt", e.size)
		}
	}
	if sum != r.bytes || len(r.entries) > 20 || len(r.entries) < 10 {
		t.Errorf("%d entries of %d bytes, counted %d", len(r.entries), sum, r.bytes)
	}
	// What was dropped is fetched again.
	if v, err := r.Decide(t.Context(), mustParse("http://0.test/")); !v.Allowed || err != nil {
		t.Error(v, err)
	}
}
