package polite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"spoor/internal/robots"
	"spoor/internal/weburl"
)

const (
	// RobotsTTL is how long an answer is kept (RFC 9309, section 2.4).
	RobotsTTL = 24 * time.Hour

	// RobotsRetry is how long a server that failed to answer is taken to
	// refuse everything.
	RobotsRetry = time.Hour

	// RobotsRedirects is how many redirects are followed to a robots.txt
	// (section 2.3.1.2).
	RobotsRedirects = 5

	// robotsKept and robotsBytes bound how many robots.txt are remembered, and
	// the bytes of them all: the oldest go first.
	robotsKept  = MaxKept
	robotsBytes = 64 << 20
)

// A Verdict is what robots.txt says about one URL.
type Verdict struct {
	Allowed bool
	Reason  string    // what refused: the line of robots.txt, or that there is no such file to be had
	Until   time.Time // in the latter case, when it is asked for again; else zero
}

// Robots asks for the robots.txt of hosts and remembers it. An answer of 4xx
// other than 429 means that there are no rules; 429 and 5xx that everything is
// refused until the server has recovered.
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
	bytes   int      // of the bodies in entries
}

// entry is the robots.txt of one origin, once ready is closed.
type entry struct {
	ready   chan struct{}
	status  int    // of the answer
	body    []byte // with status 2xx
	expires time.Time
	err     error

	parse sync.Once // on the first decision: what is remembered may never be needed
	rules *robots.Rules
	kept  bool // body is counted; guarded by the mutex of Robots
}

// refused is why everything is refused, "" if it is not.
func (e *entry) refused() string {
	if e.status >= 500 || e.status == http.StatusTooManyRequests {
		return fmt.Sprintf("robots.txt answered %d: nothing may be asked until it answers otherwise", e.status)
	}
	return ""
}

// decide tells whether u, of the entry's origin, may be asked for.
func (e *entry) decide(agent string, u weburl.URL) (robots.Decision, time.Duration) {
	e.parse.Do(func() { e.rules = robots.Parse(e.body).For(agent) })
	return e.rules.Decide(u.String()), time.Duration(e.rules.Delay * float64(time.Second))
}

// Decide tells whether u may be asked for. An error means that it could not be
// found out, and so that u must not be asked for now: the network failed, the
// host is held ([HoldError]) or ctx has ended.
func (r *Robots) Decide(ctx context.Context, u weburl.URL) (Verdict, error) {
	if u.RequestURI() == "/robots.txt" {
		return Verdict{Allowed: true}, nil
	}
	for {
		origin := u.Scheme() + "://" + u.Host()
		e, mine := r.entry(origin)
		if mine {
			r.fill(ctx, u, origin, e)
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			return Verdict{}, context.Cause(ctx)
		}
		if e.err != nil {
			if !mine && ctx.Err() == nil && (errors.Is(e.err, context.Canceled) || errors.Is(e.err, context.DeadlineExceeded)) {
				continue // whoever asked gave up; we have not
			}
			return Verdict{}, fmt.Errorf("robots.txt: %w", e.err)
		}
		if reason := e.refused(); reason != "" {
			return Verdict{Reason: reason, Until: e.expires}, nil
		}
		d, delay := e.decide(r.Agent, u)
		if r.CrawlDelay != nil {
			r.CrawlDelay(u.Host(), delay)
		}
		if d.Allowed {
			return Verdict{Allowed: true}, nil
		}
		return Verdict{Reason: fmt.Sprintf("robots.txt line %d: %s", d.Line, d.Rule)}, nil
	}
}

// entry finds what is known of an origin. If that is nothing, or too old, the
// caller is to fill it.
func (r *Robots) entry(origin string) (e *entry, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.entries[origin]; ok {
		select {
		case <-e.ready:
			if e.err == nil && time.Now().Before(e.expires) {
				return e, false
			}
		default:
			return e, false
		}
	}
	e = &entry{ready: make(chan struct{})}
	r.put(origin, e)
	return e, true
}

// put remembers e, and forgets the oldest if there are too many. It is called
// with the mutex held.
func (r *Robots) put(origin string, e *entry) {
	if r.entries == nil {
		r.entries = map[string]*entry{}
	}
	if old, ok := r.entries[origin]; ok {
		r.uncount(old)
	} else {
		r.order = append(r.order, origin)
	}
	r.entries[origin] = e
	if len(r.order) > robotsKept {
		r.forget()
	}
}

// count reckons the body of e, which is complete, among the bytes.
func (r *Robots) count(origin string, e *entry) {
	if len(e.body) == 0 || r.entries[origin] != e {
		return // nothing to reckon, or forgotten meanwhile
	}
	e.kept = true
	r.bytes += len(e.body)
	for r.bytes > robotsBytes {
		r.forget()
	}
}

func (r *Robots) uncount(e *entry) {
	if e.kept {
		e.kept = false
		r.bytes -= len(e.body)
	}
}

// forget forgets the oldest.
func (r *Robots) forget() {
	r.uncount(r.entries[r.order[0]])
	delete(r.entries, r.order[0])
	r.order = r.order[1:]
}

// fill asks for the robots.txt of u's origin.
func (r *Robots) fill(ctx context.Context, u weburl.URL, origin string, e *entry) {
	defer close(e.ready)
	e.expires = time.Now().Add(RobotsTTL)
	e.status, e.body, e.err = r.fetch(ctx, u)
	switch {
	case e.err != nil || e.status < 200 || e.status >= 300:
		e.body = nil
		if e.refused() != "" {
			e.expires = time.Now().Add(RobotsRetry)
		}
	case len(e.body) > 0:
		r.mu.Lock()
		r.count(origin, e)
		r.mu.Unlock()
	}
}

// fetch gets the robots.txt of u's origin through its redirects. Too many of
// them, or one that leads nowhere, count as 404 (section 2.3.1.2).
func (r *Robots) fetch(ctx context.Context, u weburl.URL) (status int, body []byte, err error) {
	u, err = u.Resolve("/robots.txt")
	for range 1 + RobotsRedirects {
		if err != nil {
			return http.StatusNotFound, nil, nil
		}
		resp, err := r.Transport.RoundTrip(NewRequest(ctx, u))
		if err != nil {
			return 0, nil, err
		}
		if to := Redirect(resp); to != "" {
			resp.Body.Close()
			if u, err = u.Resolve(to); err != nil {
				break
			}
			continue
		}
		body, err := io.ReadAll(io.LimitReader(resp.Body, robots.MaxSize+1))
		resp.Body.Close()
		if err != nil && resp.StatusCode < 300 {
			return 0, nil, err // half a robots.txt might lack the line that matters
		}
		return resp.StatusCode, body, nil
	}
	return http.StatusNotFound, nil, nil
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
