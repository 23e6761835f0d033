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

	"spoor/internal/message"
	"spoor/internal/robots"
	"spoor/internal/weburl"
)

const (
	// RobotsTTL is how long a robots.txt is cached (RFC 9309, section 2.4).
	RobotsTTL = 24 * time.Hour

	// RobotsRetry is how long everything is disallowed after a server error or an
	// incomplete response for robots.txt. If robots.txt redirects to a host that is
	// held, everything is disallowed until the hold ends, but at most for RobotsTTL.
	RobotsRetry = time.Hour

	// RobotsRedirects is how many redirects of robots.txt are followed (section
	// 2.3.1.2).
	RobotsRedirects = 5

	// MaxRobotsBytes limits the memory of all cached robots.txt and their parsed rules,
	// and [MaxKept] limits their number: the oldest are dropped first.
	MaxRobotsBytes = 64 << 20
)

// A Verdict is the decision for one URL according to robots.txt.
type Verdict struct {
	Allowed bool
	Reason  string    // if not allowed: the rule with its line and redirects, or why robots.txt is unreachable
	Until   time.Time // if robots.txt is unreachable: when it will be fetched again; otherwise zero
}

// Robots fetches and caches robots.txt according to RFC 9309, section 2.3. A 2xx response
// contains rules; 4xx, too many redirects and redirect loops mean that there are no rules; after
// 5xx and network errors everything is disallowed. Unlike in the standard, 429 also disallows
// everything, because an overloaded server may have rules. If robots.txt redirects, even to
// another host, the rules apply to the host that redirects.
//
// A Robots is ready for use once Transport and Agent are set. It is safe for concurrent use;
// concurrent requests for a robots.txt share one fetch.
type Robots struct {
	// Transport fetches robots.txt. It is usually the Transport that fetches pages. It must
	// return decoded bodies.
	Transport http.RoundTripper

	// Agent is the name of the crawler, which selects the rules.
	Agent string

	// CrawlDelay, if not nil, is called for every decision that is based on rules, with the
	// crawl-delay of the host, or 0 if there is none.
	CrawlDelay func(host string, d time.Duration)

	// MayRedirect, if not nil, returns an error if the robots.txt of origin redirects to an
	// address that must not be requested. Then everything on origin is disallowed.
	MayRedirect func(origin, to weburl.URL) error

	mu      sync.Mutex
	entries map[string]*entry
	order   []string // keys of entries, oldest first
	bytes   int      // total size of all entries
}

// An entry is the robots.txt of one origin. Its fields are valid once ready is closed.
type entry struct {
	ready    chan struct{}
	status   int    // status of the response
	body     []byte // body of the response if the status is 2xx
	from     string // address of the response if there were redirects
	expires  time.Time
	err      error
	answered bool // the origin responded, so it is not held because of err
	gaveUp   bool // the caller that fetched the entry cancelled the fetch

	parse sync.Once // sets rules at the first decision: many loaded entries are never used
	rules *robots.Rules
	size  int // number of bytes included in Robots.bytes; guarded by its mutex
}

// unreachable returns why robots.txt is unreachable, so that everything is disallowed. It returns
// "" if robots.txt was fetched.
func (e *entry) unreachable() string {
	switch {
	case e.err != nil:
		return "robots.txt: " + e.err.Error()
	case !Fails(e.status):
		return ""
	}
	return fmt.Sprintf("robots.txt answered %d: nothing may be asked until it answers otherwise%s", e.status, e.redirected())
}

// redirected returns the address of the response as a part of a message, or "" if there were no
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

// Decide reports whether u may be requested. It returns an error if robots.txt could not be
// fetched: the network failed, the host is held ([HoldError]) or ctx has ended. Then u must not
// be requested now.
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

// Sitemaps returns the addresses of sitemaps that the robots.txt of u's origin lists, in order and
// without duplicates and invalid addresses. Sitemaps may be on other hosts. Sitemaps fetches
// robots.txt like Decide; if robots.txt is unreachable, it returns none.
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
			continue // another caller cancelled the fetch: fetch again
		}
		return nil, fmt.Errorf("robots.txt: %w", e.err)
	}
}

// entry returns the entry of an origin. If mine is true, the entry is new and the caller must
// fill it.
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
		e.expires = retryTime(e.err, time.Now())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addSize(origin(u), e, len(e.body)+len(e.from))
}

// retryTime returns when to fetch a robots.txt again that failed now: after RobotsRetry, or, if it
// redirects to a host that is held, at the end of the hold, but after at most RobotsTTL.
func retryTime(err error, now time.Time) time.Time {
	held, ok := errors.AsType[*HoldError](err)
	switch {
	case !ok || !held.Until.After(now):
		return now.Add(RobotsRetry)
	case held.Until.After(now.Add(RobotsTTL)):
		return now.Add(RobotsTTL)
	}
	return held.Until
}

// fetch fetches the robots.txt of u's origin and follows redirects. Too many redirects, invalid
// redirects and loops are treated like 404 (section 2.3.1.2).
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
			return e.wrapError(err)
		}
		e.answered = true
		if to := message.Location(resp.StatusCode, resp.Header); to != "" {
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
			return e.wrapError(err) // an incomplete robots.txt may lack the rule that matters
		default:
			e.body = body
		}
		return nil
	}
	return nil
}

// forbidAll contains the rules for an origin whose robots.txt redirects to an address that must not be
// requested.
const forbidAll = "User-agent: *\nDisallow: /\n"

// wrapError adds the address of the last redirect, if any, to a network error.
func (e *entry) wrapError(err error) error {
	if e.from == "" {
		return err
	}
	return fmt.Errorf("redirected to %s: %w", e.from, err)
}
