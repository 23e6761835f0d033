package polite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"spoor/internal/robots"
	"spoor/internal/weburl"
)

const (
	// RobotsTTL is how long a robots.txt is cached (RFC 9309, section 2.4).
	RobotsTTL = 24 * time.Hour

	// RobotsRetry is how long everything is disallowed after a server error or an
	// incomplete response for robots.txt. If robots.txt redirects to a host that is
	// held, everything is disallowed until the end of that hold instead.
	RobotsRetry = time.Hour

	// RobotsRedirects is how many redirects of robots.txt are followed (section
	// 2.3.1.2).
	RobotsRedirects = 5

	// MaxRobotsBytes limits the memory of all cached robots.txt and their parsed rules,
	// and [MaxKept] limits their number: the oldest are dropped first.
	MaxRobotsBytes = 64 << 20
)

// A Verdict is what robots.txt says about one URL.
type Verdict struct {
	Allowed bool
	Reason  string    // why not: the rule, with its line and redirects, or why robots.txt is unreachable
	Until   time.Time // in the latter case, when it is fetched again; else zero
}

// Robots fetches and caches robots.txt according to RFC 9309, section 2.3: 2xx has rules;
// 4xx, too many redirects and redirect loops mean that there are none; after 5xx and network
// errors everything is disallowed. Unlike in the standard, 429 disallows everything too: an
// overloaded server has not said that there are no rules. Rules behind a redirect, to whatever
// host, apply to the host that redirects.
//
// The zero value is ready for use once Transport and Agent are set. It is safe for concurrent
// use; concurrent requests for a robots.txt share one fetch.
type Robots struct {
	// Transport fetches robots.txt, usually as politely as pages. It must return decoded
	// bodies.
	Transport http.RoundTripper

	// Agent is the name of the crawler, which selects the rules.
	Agent string

	// CrawlDelay, if not nil, is called at every decision with the crawl-delay of the
	// host, 0 if there is none.
	CrawlDelay func(host string, d time.Duration)

	// MayRedirect, if not nil, returns an error if the robots.txt of origin redirects to an
	// address that must not be requested. Then everything on origin is disallowed.
	MayRedirect func(origin, to weburl.URL) error

	mu      sync.Mutex
	entries map[string]*entry
	order   []string // of entries, oldest first
	bytes   int      // size of all entries
}

// An entry is the robots.txt of one origin, once ready is closed.
type entry struct {
	ready    chan struct{}
	status   int    // of the response
	body     []byte // if the status is 2xx
	from     string // address of the response, if it was redirected
	expires  time.Time
	err      error
	answered bool // the origin responded, and so is not held because of err
	gaveUp   bool // the context of the caller that fetched it ended

	parse sync.Once // on the first decision: many loaded entries are never needed
	rules *robots.Rules
	size  int // bytes that are counted; guarded by the mutex of Robots
}

// unreachable returns why everything is disallowed, "" if it is not.
func (e *entry) unreachable() string {
	switch {
	case e.err != nil:
		return "robots.txt: " + e.err.Error()
	case !Fails(e.status):
		return ""
	}
	return fmt.Sprintf("robots.txt answered %d: nothing may be asked until it answers otherwise%s", e.status, e.redirected())
}

// redirected returns the address of the response as part of a message, "" if there were no
// redirects.
func (e *entry) redirected() string {
	if e.from == "" {
		return ""
	}
	from := e.from
	if len(from) > maxFrom {
		from = from[:maxFrom] + "…"
	}
	return " (redirected to " + from + ")"
}

// maxFrom is how many bytes of an address a message shows.
const maxFrom = 200

// Decide reports whether u may be requested. An error means that this is unknown, and that u
// must not be requested now: the network failed, the host is held ([HoldError]) or ctx has
// ended.
func (r *Robots) Decide(ctx context.Context, u weburl.URL) (Verdict, error) {
	if u.RequestURI() == "/robots.txt" {
		return Verdict{Allowed: true}, nil
	}
	e, err := r.get(ctx, u)
	if err != nil {
		return Verdict{}, err
	}
	if reason := e.unreachable(); reason != "" {
		return Verdict{Reason: reason, Until: e.expires}, nil
	}
	e.parse.Do(func() {
		e.rules = robots.Parse(e.body).For(r.Agent)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.addSize(origin(u), e, e.rules.Size())
	})
	if r.CrawlDelay != nil {
		r.CrawlDelay(u.Host(), time.Duration(e.rules.Delay*float64(time.Second)))
	}
	d := e.rules.Decide(u.String())
	if d.Allowed {
		return Verdict{Allowed: true}, nil
	}
	return Verdict{Reason: fmt.Sprintf("robots.txt line %d: %s%s", d.Line, d.Rule, e.redirected())}, nil
}

// Sitemaps returns the sitemaps that the robots.txt of u's origin lists, in order and without
// duplicates and invalid addresses. They may be on other hosts. robots.txt is fetched as by
// Decide; if it is unreachable there are none.
func (r *Robots) Sitemaps(ctx context.Context, u weburl.URL) ([]string, error) {
	e, err := r.get(ctx, u)
	if err != nil {
		return nil, err
	}
	var all []string
	seen := map[string]bool{}
	for _, s := range robots.Parse(e.body).Sitemaps {
		to, err := u.Resolve(s)
		if err != nil || seen[to.String()] {
			continue
		}
		seen[to.String()] = true
		all = append(all, to.String())
	}
	return all, nil
}

// origin returns the scheme and host whose robots.txt applies to u.
func origin(u weburl.URL) string { return u.Scheme() + "://" + u.Host() }

// get returns the robots.txt of u's origin, and fetches it if it is not cached.
func (r *Robots) get(ctx context.Context, u weburl.URL) (*entry, error) {
	for {
		e, mine := r.entry(origin(u))
		if mine {
			r.fill(ctx, u, e)
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		_, blocked := errors.AsType[*BlockedError](e.err)
		kept := !mine && !e.expires.IsZero()
		if e.err == nil || kept && !blocked {
			return e, nil
		}
		if !mine && e.gaveUp && ctx.Err() == nil {
			continue // this caller has not given up
		}
		return nil, fmt.Errorf("robots.txt: %w", e.err)
	}
}

// entry returns the entry of an origin. If it is new, mine is true and the caller must fill
// it.
func (r *Robots) entry(origin string) (e *entry, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.entries[origin]; ok && (!e.complete() || time.Now().Before(e.expires)) {
		return e, false
	}
	e = &entry{ready: make(chan struct{})}
	r.put(origin, e)
	return e, true
}

// complete reports whether e has been filled.
func (e *entry) complete() bool {
	select {
	case <-e.ready:
		return true
	default:
		return false
	}
}

// put adds e to the cache, and drops the oldest entry if there are too many. The mutex must
// be held.
func (r *Robots) put(origin string, e *entry) {
	if r.entries == nil {
		r.entries = map[string]*entry{}
	}
	if old, ok := r.entries[origin]; ok {
		r.bytes -= old.size
	} else {
		r.order = append(r.order, origin)
	}
	r.entries[origin] = e
	if len(r.order) > MaxKept {
		r.dropOldest()
	}
}

// addSize adds n bytes to the size of e, and drops the oldest entries if the cache is too
// large. The mutex must be held.
func (r *Robots) addSize(origin string, e *entry, n int) {
	if r.entries[origin] != e {
		return // it has been dropped
	}
	e.size += n
	r.bytes += n
	for r.bytes > MaxRobotsBytes {
		r.dropOldest()
	}
}

// dropOldest drops the oldest entry.
func (r *Robots) dropOldest() {
	r.bytes -= r.entries[r.order[0]].size
	delete(r.entries, r.order[0])
	r.order = r.order[1:]
}

// fill fetches the robots.txt of u's origin into e.
func (r *Robots) fill(ctx context.Context, u weburl.URL, e *entry) {
	defer close(e.ready)
	e.expires = time.Now().Add(RobotsTTL)
	e.err = r.fetch(ctx, u, e)
	e.gaveUp = e.err != nil && ctx.Err() != nil
	switch {
	case e.err != nil && !e.answered || e.gaveUp:
		e.expires = time.Time{} // fetch it again once the host is not held
	case e.err != nil || Fails(e.status):
		e.expires = retry(e.err, time.Now())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addSize(origin(u), e, len(e.body)+len(e.from))
}

// retry returns when a robots.txt that failed now is fetched again: if it redirects to a host
// that is held, at the end of that hold, but within a day; otherwise after an hour.
func retry(err error, now time.Time) time.Time {
	held, ok := errors.AsType[*HoldError](err)
	switch {
	case !ok || !held.Until.After(now):
		return now.Add(RobotsRetry)
	case held.Until.After(now.Add(RobotsTTL)):
		return now.Add(RobotsTTL)
	}
	return held.Until
}

// fetch fetches the robots.txt of u's origin and follows redirects. Too many of them, invalid
// ones and loops count as 404 (section 2.3.1.2).
func (r *Robots) fetch(ctx context.Context, u weburl.URL, e *entry) error {
	e.status = http.StatusNotFound
	origin := u
	u, err := u.Resolve("/robots.txt")
	var seen []string
	for err == nil && len(seen) <= RobotsRedirects && !slices.Contains(seen, u.String()) {
		if seen = append(seen, u.String()); len(seen) > 1 {
			e.from = u.String()
		}
		resp, err := r.Transport.RoundTrip(NewRequest(ctx, u))
		if err != nil {
			return e.failed(err)
		}
		e.answered = true
		if to := Redirect(resp); to != "" {
			resp.Body.Close()
			if u, err = u.Resolve(to); err != nil {
				return nil
			}
			if r.MayRedirect != nil && r.MayRedirect(origin, u) != nil {
				e.status, e.from, e.body = http.StatusOK, u.String(), []byte(forbidAll)
				return nil
			}
			continue
		}
		e.status = resp.StatusCode
		body, err := io.ReadAll(io.LimitReader(resp.Body, robots.MaxSize+1))
		resp.Body.Close()
		switch {
		case e.status < 200 || e.status >= 300:
		case err != nil:
			return e.failed(err) // an incomplete robots.txt may lack the rule that matters
		default:
			e.body = body
		}
		return nil
	}
	return nil
}

// forbidAll are the rules of an origin whose robots.txt redirects to where it must not be requested.
const forbidAll = "User-agent: *\nDisallow: /\n"

// failed returns a network error with the address of the last redirect.
func (e *entry) failed(err error) error {
	if e.from == "" {
		return err
	}
	return fmt.Errorf("redirected to %s: %w", e.from, err)
}

// Redirect returns the Location of a redirect, "" if resp is not one.
func Redirect(resp *http.Response) string {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return resp.Header.Get("Location")
	}
	return ""
}
