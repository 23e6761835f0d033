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
	// RobotsTTL is how long an answer is kept (RFC 9309, section 2.4).
	RobotsTTL = 24 * time.Hour

	// RobotsRetry is how long a server that failed to answer, or answered and
	// gave no robots.txt, is taken to refuse everything, unless it is known when the
	// host to which it redirects may be asked again.
	RobotsRetry = time.Hour

	// RobotsRedirects is how many redirects are followed to a robots.txt
	// (section 2.3.1.2).
	RobotsRedirects = 5

	// MaxRobotsBytes bounds what all robots.txt that are remembered take, with
	// the rules that were read in them: the oldest are forgotten first, as they
	// are if there are more than [MaxKept].
	MaxRobotsBytes = 64 << 20
)

// A Verdict is what robots.txt says about one URL.
type Verdict struct {
	Allowed bool
	Reason  string    // what refused: the line of robots.txt and where redirects led to it, or that there is no such file to be had
	Until   time.Time // in the latter case, when it is asked for again; else zero
}

// Robots asks for the robots.txt of hosts and remembers it, as RFC 9309, section
// 2.3, has it: 2xx has rules; 4xx, too many redirects and redirects in a circle mean
// that there are none; after 5xx and network errors nothing may be asked. 429 is
// taken for one of the latter, though the standard counts it among the former: a
// server that wants to be left alone has not said that there are no rules. Rules
// behind a redirect, to whatever host, are those of the host that was asked.
//
// The zero value works once Transport and Agent are set. It is safe for
// concurrent use; a robots.txt that several wait for is asked for once.
type Robots struct {
	// Transport asks for robots.txt: usually what pages are asked with, so
	// that robots.txt is asked for as politely. Bodies it returns are decoded.
	Transport http.RoundTripper

	// Agent is the name by which robots.txt may call us.
	Agent string

	// CrawlDelay, if not nil, is told at every decision what the robots.txt of
	// the host asks for, 0 if nothing.
	CrawlDelay func(host string, d time.Duration)

	mu      sync.Mutex
	entries map[string]*entry
	order   []string // of entries, oldest first
	bytes   int      // the weight of all entries
}

// entry is the robots.txt of one origin, once ready is closed.
type entry struct {
	ready    chan struct{}
	status   int    // of the answer
	body     []byte // with status 2xx
	from     string // the address of the answer, if redirects led to it
	expires  time.Time
	err      error
	answered bool // the origin did, and so is not held for err

	parse  sync.Once // on the first decision: what is remembered may never be needed
	rules  *robots.Rules
	weight int // bytes, as far as they are counted; guarded by the mutex of Robots
}

// refused is why everything is refused, "" if it is not.
func (e *entry) refused() string {
	switch {
	case e.err != nil:
		return "robots.txt: " + e.err.Error()
	case !Fails(e.status):
		return ""
	}
	return fmt.Sprintf("robots.txt answered %d: nothing may be asked until it answers otherwise%s", e.status, e.whence())
}

// whence tells where redirects led, for people to read.
func (e *entry) whence() string {
	if e.from == "" {
		return ""
	}
	from := e.from
	if len(from) > maxFrom {
		from = from[:maxFrom] + "…"
	}
	return " (redirected to " + from + ")"
}

// maxFrom is how many bytes of an address are shown.
const maxFrom = 200

// Decide tells whether u may be asked for. An error means that it could not be
// found out, and so that u must not be asked for now: the network failed, the
// host is held ([HoldError]) or ctx has ended.
func (r *Robots) Decide(ctx context.Context, u weburl.URL) (Verdict, error) {
	if u.RequestURI() == "/robots.txt" {
		return Verdict{Allowed: true}, nil
	}
	e, err := r.get(ctx, u)
	if err != nil {
		return Verdict{}, err
	}
	if reason := e.refused(); reason != "" {
		return Verdict{Reason: reason, Until: e.expires}, nil
	}
	e.parse.Do(func() {
		e.rules = robots.Parse(e.body).For(r.Agent)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.weigh(origin(u), e, e.rules.Size())
	})
	if r.CrawlDelay != nil {
		r.CrawlDelay(u.Host(), time.Duration(e.rules.Delay*float64(time.Second)))
	}
	d := e.rules.Decide(u.String())
	if d.Allowed {
		return Verdict{Allowed: true}, nil
	}
	return Verdict{Reason: fmt.Sprintf("robots.txt line %d: %s%s", d.Line, d.Rule, e.whence())}, nil
}

// Sitemaps are the addresses that the robots.txt of u's origin names as sitemaps,
// in their order and each once; those that are no addresses of the web are left
// out. Who names them need not own them: they may lead to other hosts. If
// robots.txt is not known it is asked for, as by Decide; where that must not be
// obeyed for the server is ill there are none.
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

// origin is whose robots.txt speaks of u.
func origin(u weburl.URL) string { return u.Scheme() + "://" + u.Host() }

// get is the robots.txt of u's origin; it is asked for if it is not known.
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
		if !mine && !kept && ctx.Err() == nil && (errors.Is(e.err, context.Canceled) || errors.Is(e.err, context.DeadlineExceeded)) {
			continue // whoever asked gave up; we have not
		}
		return nil, fmt.Errorf("robots.txt: %w", e.err)
	}
}

// entry finds what is known of an origin. If that is nothing, or too old, the
// caller is to fill it.
func (r *Robots) entry(origin string) (e *entry, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.entries[origin]; ok && (!e.known() || time.Now().Before(e.expires)) {
		return e, false
	}
	e = &entry{ready: make(chan struct{})}
	r.put(origin, e)
	return e, true
}

// known tells whether e is complete.
func (e *entry) known() bool {
	select {
	case <-e.ready:
		return true
	default:
		return false
	}
}

// put remembers e, and forgets the oldest if there are too many. It is called
// with the mutex held.
func (r *Robots) put(origin string, e *entry) {
	if r.entries == nil {
		r.entries = map[string]*entry{}
	}
	if old, ok := r.entries[origin]; ok {
		r.bytes -= old.weight
	} else {
		r.order = append(r.order, origin)
	}
	r.entries[origin] = e
	if len(r.order) > MaxKept {
		r.forget()
	}
}

// weigh adds n bytes to what e takes, and forgets the oldest if all take too many.
// It is called with the mutex held.
func (r *Robots) weigh(origin string, e *entry, n int) {
	if r.entries[origin] != e {
		return // forgotten meanwhile
	}
	e.weight += n
	r.bytes += n
	for r.bytes > MaxRobotsBytes {
		r.forget()
	}
}

// forget forgets the oldest.
func (r *Robots) forget() {
	r.bytes -= r.entries[r.order[0]].weight
	delete(r.entries, r.order[0])
	r.order = r.order[1:]
}

// fill asks for the robots.txt of u's origin.
func (r *Robots) fill(ctx context.Context, u weburl.URL, e *entry) {
	defer close(e.ready)
	e.expires = time.Now().Add(RobotsTTL)
	e.err = r.fetch(ctx, u, e)
	switch {
	case e.err != nil && (!e.answered || ctx.Err() != nil):
		e.expires = time.Time{} // it is to be asked for again once the host is not held
	case e.err != nil || Fails(e.status):
		e.expires = retry(e.err, time.Now())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.weigh(origin(u), e, len(e.body)+len(e.from))
}

// retry is when what failed now is to be asked for again: when the host is not held any
// more to which redirects led, at most a day later, or else after an hour.
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

// fetch gets the robots.txt of u's origin through its redirects. Too many of
// them, or such as lead nowhere or in a circle, count as 404 (section 2.3.1.2).
func (r *Robots) fetch(ctx context.Context, u weburl.URL, e *entry) error {
	e.status = http.StatusNotFound
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
			continue
		}
		e.status = resp.StatusCode
		body, err := io.ReadAll(io.LimitReader(resp.Body, robots.MaxSize+1))
		resp.Body.Close()
		switch {
		case e.status < 200 || e.status >= 300:
		case err != nil:
			return e.failed(err) // half a robots.txt might lack the line that matters
		default:
			e.body = body
		}
		return nil
	}
	return nil
}

// failed is an error of the network, with where redirects had led.
func (e *entry) failed(err error) error {
	if e.from == "" {
		return err
	}
	return fmt.Errorf("redirected to %s: %w", e.from, err)
}

// Redirect is where a response sends whoever asked, as its Location has it; ""
// if it does not.
func Redirect(resp *http.Response) string {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return resp.Header.Get("Location")
	}
	return ""
}
