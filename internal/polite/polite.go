// Package polite knows when a host may be asked again.
//
// A [Transport] is an http.RoundTripper that waits: one request at a time for a
// host, a pause after each that grows with the host's own slowness, and a
// back-off after failures. [Robots] keeps what robots.txt says. [Guard] keeps
// connections away from addresses that are nobody's business on the open web.
//
// [Save] and [Load] carry what both know from one process to the next.
//
// What is asked, and in which order, is left to the caller.
package polite

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"spoor/internal/weburl"
)

// The manners of a crawler that nobody has told otherwise.
const (
	DefaultDelay = 2 * time.Second  // least pause between two requests to a host
	MaxDelay     = 60 * time.Second // most that crawl-delay or slowness can make of it
	Slowness     = 5                // the pause is this many times what the last fetch took

	FirstBackoff = 60 * time.Second // pause after a failure, doubled by each further one
	MaxBackoff   = 24 * time.Hour
	Jitter       = 0.10             // share by which a back-off is longer or shorter
	Forgiveness  = 30 * time.Minute // of calm, after which failures are forgotten

	// MaxRetryAfter bounds what a host can ask for: a year.
	MaxRetryAfter = 366 * 24 * time.Hour
)

// A HoldError says that a host is not to be asked yet: it failed, or asked to
// be left alone. Nothing was sent.
type HoldError struct {
	Host  string
	Until time.Time
}

func (e *HoldError) Error() string {
	return fmt.Sprintf("%s is not to be asked before %s", e.Host, e.Until.UTC().Format(time.RFC3339))
}

// A Transport asks a host one thing at a time and waits in between. The pause
// begins when the body of a response is closed, which the caller must do, and
// lasts
//
//	max(Delay, min(max(crawl-delay, 5 × last fetch time), MaxDelay))
//
// After a network error, 429 or 503 the host is held for 60 s, doubled by every
// further failure up to a day, give or take a tenth, or for as long as its
// Retry-After asks if that is longer. A host that is held is not waited for:
// the request fails with a [HoldError], so that one host cannot hold up
// the others. Half an hour without failure after the end of the last hold wipes
// the slate clean.
//
// A host is what stands in the request's URL, which [NewRequest] makes the name
// in lower case, with the port if it is not the default one.
type Transport struct {
	Base http.RoundTripper

	// Delay is the least pause between two requests to a host. If it is 0
	// there is no wait of any kind, nor any hold, and requests to one host may
	// run side by side.
	Delay time.Duration

	// Seed makes the jitter repeatable: it is drawn from the seed, the host
	// and the number of its failures.
	Seed uint64

	mu    sync.Mutex
	hosts map[string]*host
}

// host is what is known of one host. Its fields are guarded by the transport's
// mutex, except turn, which whoever asks the host holds full.
type host struct {
	turn     chan struct{}
	users    int           // requests that wait for the turn or have it
	crawl    time.Duration // crawl-delay
	next     time.Time     // end of the pause
	failures int           // in a row, without half an hour of calm
	failed   time.Time     // when the last of them was
	until    time.Time     // end of the hold
}

// sweepAt is the number of hosts at which those of whom there is nothing to
// remember are forgotten.
const sweepAt = 1 << 16

// use finds the host and keeps it from being swept until done.
func (t *Transport) use(name string) *host {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.find(name)
	h.users++
	return h
}

func (t *Transport) done(h *host) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h.users--
}

// find is called with the mutex held.
func (t *Transport) find(name string) *host {
	if h, ok := t.hosts[name]; ok {
		return h
	}
	if t.hosts == nil {
		t.hosts = map[string]*host{}
	}
	if n := len(t.hosts); n >= sweepAt && n&(sweepAt/4-1) == 0 {
		now := time.Now()
		for name, h := range t.hosts {
			if h.users == 0 && h.forgotten(now) {
				delete(t.hosts, name)
			}
		}
	}
	h := &host{turn: make(chan struct{}, 1)}
	t.hosts[name] = h
	return h
}

// SetCrawlDelay tells what the robots.txt of the host asks for.
func (t *Transport) SetCrawlDelay(name string, d time.Duration) {
	if t.Delay == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.find(name).crawl = d
}

// HeldUntil is when the host may be asked again; the zero time if it is not
// held.
func (t *Transport) HeldUntil(name string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h, ok := t.hosts[name]; ok && time.Now().Before(h.until) {
		return h.until
	}
	return time.Time{}
}

// RoundTrip waits until the host may be asked, or until the request's context
// ends, and asks it.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.Delay == 0 {
		return t.Base.RoundTrip(req)
	}
	name, ctx := req.URL.Host, req.Context()
	h := t.use(name)
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		t.done(h)
		return nil, context.Cause(ctx)
	}
	if err := t.wait(ctx, name, h); err != nil {
		<-h.turn
		t.done(h)
		return nil, err
	}

	start := time.Now()
	resp, err := t.Base.RoundTrip(req)
	if err != nil {
		t.finish(name, h, start, t.blames(ctx, err), 0)
		return nil, err
	}
	v := &visit{ReadCloser: resp.Body, ctx: ctx, t: t, name: name, h: h, start: start}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
		v.failed = true
		v.retryAfter = RetryAfter(resp.Header, start)
	}
	resp.Body = v
	return resp, nil
}

// wait returns when the host may be asked.
func (t *Transport) wait(ctx context.Context, name string, h *host) error {
	t.mu.Lock()
	next, until := h.next, h.until
	t.mu.Unlock()
	now := time.Now()
	if now.Before(until) {
		return &HoldError{name, until}
	}
	if !now.Before(next) {
		return ctx.Err()
	}
	timer := time.NewTimer(next.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// blames reports whether err is the host's fault, and neither the caller's, who
// lost patience, nor the guard's.
func (t *Transport) blames(ctx context.Context, err error) bool {
	_, blocked := errors.AsType[*BlockedError](err)
	return ctx.Err() == nil && !blocked
}

// finish reckons when the host may be asked again and passes the turn on.
func (t *Transport) finish(name string, h *host, start time.Time, failed bool, retryAfter time.Duration) {
	now := time.Now()
	t.mu.Lock()
	h.next = now.Add(max(t.Delay, min(max(h.crawl, Slowness*now.Sub(start)), MaxDelay)))
	if failed {
		if h.failures > 0 && now.Sub(h.until) > Forgiveness {
			h.failures = 0
		}
		h.failures++
		h.failed = now
		h.until = now.Add(max(t.backoff(name, h.failures), retryAfter))
	}
	h.users--
	t.mu.Unlock()
	<-h.turn
}

// backoff is the hold after the nth failure in a row.
func (t *Transport) backoff(name string, n int) time.Duration {
	d := MaxBackoff
	if shift := n - 1; shift < 11 { // 60 s × 2¹¹ is more than a day
		d = min(FirstBackoff<<shift, MaxBackoff)
	}
	f := fnv.New64a()
	io.WriteString(f, name)
	rng := rand.New(rand.NewPCG(t.Seed, f.Sum64()+uint64(n)))
	return time.Duration(float64(d) * (1 + Jitter*(2*rng.Float64()-1)))
}

// visit is the body of a response; closing it ends the visit to the host.
type visit struct {
	io.ReadCloser
	ctx        context.Context // of the request: tells whose fault an error is
	t          *Transport
	name       string
	h          *host
	start      time.Time
	failed     bool
	retryAfter time.Duration
	once       sync.Once
}

func (v *visit) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	if err != nil && err != io.EOF && v.t.blames(v.ctx, err) {
		v.failed = true
	}
	return n, err
}

func (v *visit) Close() error {
	err := v.ReadCloser.Close()
	v.once.Do(func() { v.t.finish(v.name, v.h, v.start, v.failed, v.retryAfter) })
	return err
}

// NewRequest is a request to GET u. What is sent is u to the byte, which net/url
// alone would not promise: it spells some paths its own way and cannot hold
// others at all.
func NewRequest(ctx context.Context, u weburl.URL) *http.Request {
	target, err := url.Parse(u.String())
	if err != nil || target.RequestURI() != u.RequestURI() {
		target = &url.URL{Scheme: u.Scheme(), Host: u.Host(), Opaque: u.RequestURI()}
		if strings.HasPrefix(target.Opaque, "//") {
			target.Opaque = "//" + u.Host() + target.Opaque // or it would name a host
		}
	}
	req := &http.Request{
		Method: http.MethodGet, URL: target, Host: u.Host(), Header: http.Header{},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return req.WithContext(ctx)
}

// RetryAfter is how long a response asks to be left alone, counted from now: a
// number of seconds, or a date (RFC 9110, section 10.2.3). It is 0 if it does
// not ask, or not in a way that can be understood, and at most [MaxRetryAfter].
func RetryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	if strings.Trim(v, "0123456789") == "" {
		if s, err := strconv.ParseInt(v, 10, 64); err == nil && s < int64(MaxRetryAfter/time.Second) {
			return time.Duration(s) * time.Second
		}
		return MaxRetryAfter
	}
	date, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), MaxRetryAfter)
}
