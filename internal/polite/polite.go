// Package polite knows when a host may be asked again.
//
// A [Transport] is an http.RoundTripper that waits: one request at a time for a
// host, a pause after each that grows with the host's own slowness, a back-off
// after failures, and as many requests a second as one wishes at most. [Robots]
// keeps what robots.txt says. [Guard] keeps connections away from addresses that
// are nobody's business on the open web.
//
// What both know is carried from one process to the next by their methods Save
// and Load.
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
	DefaultDelay    = 2 * time.Second  // least pause between two requests to a host
	DefaultMaxDelay = 60 * time.Second // most that crawl-delay or slowness can make of it
	DefaultSlowness = 5                // the pause is this many times what the last fetch took

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

// Error names the time in whole seconds, rounded up: asked then, the host is not held.
func (e *HoldError) Error() string {
	until := e.Until.Add(time.Second - 1).UTC().Truncate(time.Second)
	return fmt.Sprintf("%s is not to be asked before %s", e.Host, until.Format(time.RFC3339))
}

// A BlamelessError is how a Base says that it failed for a reason that is no fault of
// the host, which is not held for it then. Unless the host may have been asked there
// is no pause either, as there is none after a [BlockedError].
type BlamelessError struct {
	Err   error
	Asked bool // the host may have been
}

func (e *BlamelessError) Error() string { return e.Err.Error() }
func (e *BlamelessError) Unwrap() error { return e.Err }

// A Transport asks a host one thing at a time and waits in between. The pause
// begins when the body of a response is closed, which the caller must do, and
// lasts
//
//	max(Delay, min(max(crawl-delay, Slowness × last fetch time), MaxDelay))
//
// or longer if HostRate asks for it. What the last fetch took is counted from when
// Base is called, or from when it calls [Begin].
//
// After a network error, 429 or 5xx the host is held for 60 s, doubled by every
// further failure up to a day, give or take a tenth. Any answer of 4xx or 5xx may
// ask for more with Retry-After. A host that is held is not waited for: the
// request fails with a [HoldError], so that one host cannot hold up the others.
// Half an hour without failure after the end of the last hold wipes the slate
// clean. What the host is not to blame for ([BlockedError], [BlamelessError]) is no
// failure.
//
// A host is what stands in the request's URL, which [NewRequest] makes the name
// in lower case, with the port if it is not the default one. A dot at the end of
// the name makes no other host of it.
//
// The fields are set before the first request. A Transport is safe for concurrent
// use and starts no goroutine.
type Transport struct {
	Base http.RoundTripper

	// Delay is the least pause between two requests to a host. If Delay and
	// HostRate are 0 there is no wait for a host of any kind, nor any hold, and
	// requests to one host may run side by side.
	Delay time.Duration

	// MaxDelay is the most that crawl-delay and slowness can make of the pause;
	// 0 means [DefaultMaxDelay]. Delay is kept even if it is longer.
	MaxDelay time.Duration

	// Slowness is how many times as long as the last fetch took the host rests;
	// 0 means [DefaultSlowness], less than 0 that it does not matter.
	Slowness float64

	// Rate is how many requests a second may begin, over all hosts; 0 is any
	// number. Hosts that may be asked are asked in the order in which they came
	// to be so, evenly spaced; a host that rests takes nobody's turn.
	Rate float64

	// HostRate is how many requests a second may begin to one host; 0 is as many
	// as the pauses allow.
	HostRate float64

	// Seed makes the jitter repeatable: it is drawn from the seed, the host
	// and the number of its failures.
	Seed uint64

	// Clamped, if not nil, is told once of every host whose crawl-delay is more
	// than MaxDelay: what it asks for, and what it gets. It may be called from
	// several goroutines.
	Clamped func(host string, asked, granted time.Duration)

	pacer pacer // of Rate
	mu    sync.Mutex
	hosts map[string]*host
}

// host is what is known of one host. Its fields are guarded by the transport's
// mutex, except turn, which whoever asks the host holds full.
type host struct {
	turn     chan struct{}
	users    int           // requests that wait for the turn or have it
	crawl    time.Duration // crawl-delay
	clamped  bool          // which has been told to be too long
	ended    time.Time     // when the last visit was over
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

// polite tells whether hosts are waited for at all.
func (t *Transport) polite() bool { return t.Delay > 0 || t.HostRate > 0 }

// maxDelay is MaxDelay with its default, and never less than Delay.
func (t *Transport) maxDelay() time.Duration {
	if t.MaxDelay == 0 {
		return max(t.Delay, DefaultMaxDelay)
	}
	return max(t.Delay, t.MaxDelay)
}

// slow is the pause that a fetch calls for by what it took, before it is clamped.
func (t *Transport) slow(took time.Duration) time.Duration {
	times := t.Slowness
	if times == 0 {
		times = DefaultSlowness
	}
	return time.Duration(min(times*float64(took), float64(MaxBackoff)))
}

// undotted is a host without the dot at the end of its name, which says no more
// than that the name is whole.
func undotted(host string) string {
	if name, port, ok := strings.Cut(host, ".:"); ok {
		return name + ":" + port
	}
	return strings.TrimSuffix(host, ".")
}

// SetCrawlDelay tells what the robots.txt of the host asks for. It counts from
// the last visit on, which may have been for robots.txt.
func (t *Transport) SetCrawlDelay(name string, d time.Duration) {
	if !t.polite() {
		return
	}
	t.mu.Lock()
	name = undotted(name)
	h, limit := t.find(name), t.maxDelay()
	h.crawl = d
	if next := h.ended.Add(min(d, limit)); next.After(h.next) {
		h.next = next
	}
	tell := d > limit && !h.clamped && t.Clamped != nil
	h.clamped = h.clamped || tell
	t.mu.Unlock()
	if tell {
		t.Clamped(name, d, limit)
	}
}

// HeldUntil is when the host may be asked again; the zero time if it is not
// held.
func (t *Transport) HeldUntil(name string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h, ok := t.hosts[undotted(name)]; ok && time.Now().Before(h.until) {
		return h.until
	}
	return time.Time{}
}

// RoundTrip waits until the host may be asked, or until the request's context
// ends, and asks it.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	name, ctx := undotted(req.URL.Host), req.Context()
	if !t.polite() {
		if err := t.pace(ctx); err != nil {
			return nil, err
		}
		return t.Base.RoundTrip(req)
	}
	h := t.use(name)
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		t.done(h)
		return nil, context.Cause(ctx)
	}
	err := t.wait(ctx, name, h)
	if err == nil {
		err = t.pace(ctx)
	}
	if err != nil {
		<-h.turn
		t.done(h)
		return nil, err
	}

	v := &visit{ctx: ctx, t: t, name: name, h: h, begun: time.Now()}
	resp, err := t.Base.RoundTrip(req.WithContext(context.WithValue(ctx, visitKey{}, v)))
	if err != nil {
		v.failed, v.unasked = t.blames(ctx, err), unasked(err)
		t.finish(v)
		return nil, err
	}
	v.ReadCloser = resp.Body
	v.failed = Fails(resp.StatusCode)
	if now := time.Now(); resp.StatusCode >= 400 {
		if asked := RetryAfter(resp.Header, now); asked > 0 {
			v.retry = now.Add(asked)
		}
	}
	resp.Body = v
	return resp, nil
}

// Fails tells whether a status is the host's way of saying that it cannot cope,
// after which it is held: 429 and 5xx.
func Fails(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500
}

// pace returns when Rate lets one more request begin.
func (t *Transport) pace(ctx context.Context) error {
	if every := interval(t.Rate); every > 0 {
		return t.pacer.wait(ctx, every)
	}
	return nil
}

// wait returns when the host may be asked.
func (t *Transport) wait(ctx context.Context, name string, h *host) error {
	for {
		t.mu.Lock()
		next, until := h.next, h.until
		t.mu.Unlock()
		now := time.Now()
		if now.Before(until) {
			return &HoldError{name, until}
		}
		if err := sleep(ctx, next); err != nil || !next.After(now) {
			return err // else the crawl-delay may have become known meanwhile
		}
	}
}

// blames reports whether err is the host's fault, and neither the caller's, who
// lost patience, nor that of what is between us and the host.
func (t *Transport) blames(ctx context.Context, err error) bool {
	_, blameless := errors.AsType[*BlamelessError](err)
	return ctx.Err() == nil && !blameless && !unasked(err)
}

// unasked reports whether err says that the host was not asked.
func unasked(err error) bool {
	_, blocked := errors.AsType[*BlockedError](err)
	blameless, ok := errors.AsType[*BlamelessError](err)
	return blocked || ok && !blameless.Asked
}

// finish reckons when the host may be asked again and passes the turn on.
func (t *Transport) finish(v *visit) {
	now, h := time.Now(), v.h
	t.mu.Lock()
	if !v.unasked {
		pause := max(t.Delay, min(max(h.crawl, t.slow(now.Sub(v.begun))), t.maxDelay()))
		h.ended, h.next = now, now.Add(pause)
		if next := v.begun.Add(interval(t.HostRate)); next.After(h.next) {
			h.next = next
		}
	}
	if v.failed {
		if h.failures > 0 && now.Sub(h.until) > Forgiveness {
			h.failures = 0
		}
		h.failures++
		h.failed = now
		h.until = now.Add(t.backoff(v.name, h.failures))
	}
	if v.retry.After(h.until) {
		h.until = v.retry
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

// visit is one request to a host. It is the body of the response; closing it ends
// the visit.
type visit struct {
	io.ReadCloser
	ctx     context.Context // of the request: tells whose fault an error is
	t       *Transport
	name    string
	h       *host
	begun   time.Time // guarded by the mutex of t
	failed  bool
	unasked bool
	retry   time.Time // before which the host does not want to be asked
	ends    sync.Once
}

type visitKey struct{}

// Begin is for a Base that lets requests wait before it sends them, and is called
// with the request's context when the wait is over: the visit begins now, so that
// no host looks slow for what it is not to blame for.
func Begin(ctx context.Context) {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		v.t.mu.Lock()
		v.begun = time.Now()
		v.t.mu.Unlock()
	}
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
	v.ends.Do(func() { v.t.finish(v) })
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
