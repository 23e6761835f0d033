//go:build linux

package crawler

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"spoor/internal/polite"
)

// A village is a server for many hosts, each with an address of its own in 127.0.0.0/8
// (which only Linux assigns by default), with a log of the requests.
type village struct {
	*httptest.Server
	port string

	mu     sync.Mutex
	visits map[string][]visitAt // by host, in order
	worst  int                  // most concurrent requests to one host
	now    map[string]int       // current requests by host
}

// A visitAt is one request as the server saw it.
type visitAt struct {
	path       string
	came, left time.Time // when it was received and answered
}

// newVillage returns a village that serves what answer writes for the number of a host.
func newVillage(t testing.TB, answer func(host int, w http.ResponseWriter, r *http.Request)) *village {
	v := &village{visits: map[string][]visitAt{}, now: map[string]int{}}
	v.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came := time.Now()
		v.mu.Lock()
		v.now[r.Host]++
		v.worst = max(v.worst, v.now[r.Host])
		v.mu.Unlock()
		var a, b int
		if _, err := fmt.Sscanf(r.Host, "127.1.%d.%d:", &a, &b); err != nil {
			t.Errorf("request for %s: %v", r.Host, err)
		}
		answer(a*100+b, w, r)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.now[r.Host]--
		v.visits[r.Host] = append(v.visits[r.Host], visitAt{r.URL.Path, came, time.Now()})
	}))
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	_, v.port, _ = net.SplitHostPort(l.Addr().String())
	v.Listener.Close()
	v.Listener = l
	v.Start()
	t.Cleanup(v.Close)
	return v
}

// host returns the name of host n.
func (v *village) host(n int) string { return fmt.Sprintf("127.1.%d.%d:%s", n/100, n%100, v.port) }

// addresses returns pages 1 to each of all hosts, one host after the other.
func (v *village) addresses(hosts, each int) string {
	var b strings.Builder
	for n := range hosts {
		for page := range each {
			fmt.Fprintf(&b, "http://%s/%d\n", v.host(n), page+1)
		}
	}
	return b.String()
}

// together returns the maximum number of hosts that were being visited at the same time.
func (v *village) together() int {
	type edge struct {
		at    time.Time
		delta int
	}
	var edges []edge
	for _, visits := range v.visits {
		edges = append(edges, edge{visits[0].came, 1}, edge{visits[len(visits)-1].left, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return a.at.Compare(b.at) })
	n, most := 0, 0
	for _, e := range edges {
		n += e.delta
		most = max(most, n)
	}
	return most
}

func TestPolitenessAsSeenByServers(t *testing.T) {
	const (
		hosts, each = 200, 4
		pause       = 100 * time.Millisecond
		maxDelay    = 500 * time.Millisecond
	)
	// The kinds of hosts.
	const (
		plain      = iota
		crawlDelay // in robots.txt
		longDelay  // more than MaxDelay
		slow       // responses
		retryAfter // 429 with a number of seconds
		retryDate  // 429 with a date
		forbidden  // 403 with a number of seconds
		overloaded // 503 without Retry-After
		broken     // 500
		disallowed // one page, in robots.txt
		ill        // robots.txt is unreachable
		kinds
	)
	const retry = 500 * time.Second
	until := time.Now().Add(retry).UTC().Truncate(time.Second)
	v := newVillage(t, func(host int, w http.ResponseWriter, r *http.Request) {
		kind := host % kinds
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/robots.txt" {
			switch kind {
			case crawlDelay:
				io.WriteString(w, "User-agent: *\nCrawl-delay: 0.3\n")
			case longDelay:
				io.WriteString(w, "User-agent: *\nCrawl-delay: 300\n")
			case disallowed:
				io.WriteString(w, "User-agent: *\nDisallow: /2\n")
			case ill:
				w.WriteHeader(http.StatusBadGateway)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
			return
		}
		if kind == slow {
			<-time.After(40 * time.Millisecond)
		}
		if r.URL.Path == "/2" {
			switch kind {
			case retryAfter:
				w.Header().Set("Retry-After", fmt.Sprint(int(retry.Seconds())))
				w.WriteHeader(http.StatusTooManyRequests)
			case forbidden:
				w.Header().Set("Retry-After", fmt.Sprint(int(retry.Seconds())))
				w.WriteHeader(http.StatusForbidden)
			case retryDate:
				w.Header().Set("Retry-After", until.Format(http.TimeFormat))
				w.WriteHeader(http.StatusTooManyRequests)
			case overloaded:
				w.WriteHeader(http.StatusServiceUnavailable)
			case broken:
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
		io.WriteString(w, "<p>page")
	})
	recs, o := fetch(t, v.addresses(hosts, each), allowPrivate,
		delay(pause), func(o *Options) { o.MaxDelay = maxDelay }, workers(64))
	if len(recs) != hosts*each {
		t.Errorf("%d records of %d addresses", len(recs), hosts*each)
	}

	// The minimum pause of each kind, and its requests.
	all := "/robots.txt /1 /2 /3 /4"
	want := map[int]struct {
		rest  time.Duration
		paths string
	}{
		plain: {pause, all}, crawlDelay: {300 * time.Millisecond, all}, longDelay: {maxDelay, all}, slow: {pause, all},
		retryAfter: {pause, "/robots.txt /1 /2"}, forbidden: {pause, "/robots.txt /1 /2"}, retryDate: {pause, "/robots.txt /1 /2"}, overloaded: {pause, "/robots.txt /1 /2"},
		broken: {pause, "/robots.txt /1 /2"}, disallowed: {pause, "/robots.txt /1 /3 /4"}, ill: {pause, "/robots.txt"},
	}
	for host := range hosts {
		name, kind := v.host(host), host%kinds
		visits := v.visits[name]
		var paths []string
		for i, now := range visits {
			paths = append(paths, now.path)
			if i == 0 {
				continue
			}
			last := visits[i-1]
			rest := max(want[kind].rest, min(polite.DefaultSlowness*last.left.Sub(last.came), maxDelay))
			if got := now.came.Sub(last.left); got < rest {
				t.Errorf("%s got %s %v after %s, want at least %v", name, now.path, got, last.path, rest)
			}
		}
		if got := strings.Join(paths, " "); got != want[kind].paths {
			t.Errorf("%s got requests for %s, want %s", name, got, want[kind].paths)
		}

		// Addresses that were not requested have a not_before, the same as the response
		// that is the reason.
		last, reason := recs[fmt.Sprintf("http://%s/4", name)], recs[fmt.Sprintf("http://%s/2", name)]
		var notBefore time.Time
		switch kind {
		case retryAfter, forbidden:
			notBefore = visits[2].came.Add(retry)
		case retryDate:
			notBefore = until
		case overloaded, broken:
			notBefore = visits[2].came.Add(polite.FirstBackoff * 9 / 10)
		case ill:
			notBefore = visits[0].came.Add(polite.RobotsRetry)
		default:
			if last.StatusCode != 200 {
				t.Errorf("%s: %d %s %s", last.URL, last.StatusCode, last.Error, last.ErrorDetail)
			}
			continue
		}
		at, err := time.Parse(time.RFC3339, last.NotBefore)
		if last.Error != "budget" || err != nil || at.Before(notBefore.Truncate(time.Second)) {
			t.Errorf("%s: %s %s, not before %s, want %v", last.URL, last.Error, last.ErrorDetail, last.NotBefore, notBefore)
		}
		if reason.NotBefore != last.NotBefore {
			t.Errorf("%s: status %d, not before %s, but %s before %s", reason.URL, reason.StatusCode, reason.NotBefore, last.URL, last.NotBefore)
		}
	}
	if v.worst != 1 {
		t.Errorf("%d concurrent requests to one host", v.worst)
	}
	if got := v.together(); got < hosts/2 {
		t.Errorf("only %d hosts of %d were visited at the same time", got, hosts)
	}
	for host := range hosts {
		told := fmt.Sprintf("host=%s asked=5m0s granted=500ms", v.host(host))
		if n := strings.Count(o.log, told); n != 1 && host%kinds == longDelay || n != 0 && host%kinds != longDelay {
			t.Errorf("%q was reported %d times", told, n)
		}
	}
}
