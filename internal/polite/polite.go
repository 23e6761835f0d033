// Package polite limits how often hosts are requested, and obeys robots.txt.
//
// A [Transport] is an http.RoundTripper that delays requests: one request at a time to
// each host, a pause after each that grows with the response time, a back-off after
// failures, and a maximum rate. [Robots] caches robots.txt. [Guard] refuses addresses that
// are not public.
//
// Transport and Robots store their state for the next process with Save and Load.
//
// The caller decides what is requested, and in which order.
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

	"spoor/internal/pace"
	"spoor/internal/weburl"
)

// The default politeness of a crawler.
const (
	DefaultDelay    = 2 * time.Second  // minimum pause between two requests to a host
	DefaultMaxDelay = 60 * time.Second // maximum pause for crawl-delay or slowness
	DefaultSlowness = 5                // pause, in multiples of the last response time

	FirstBackoff = 60 * time.Second // back-off after the first failure; each further failure doubles it
	MaxBackoff   = 24 * time.Hour
	Jitter       = 0.10             // maximum fraction by which a back-off is longer or shorter
	ResetAfter   = 30 * time.Minute // time without failure after which failures are forgotten

	// MaxRetryAfter limits Retry-After to a year.
	MaxRetryAfter = 366 * 24 * time.Hour
)

// A HoldError is returned when a host must not be requested yet, because requests to it failed
// or it sent Retry-After; or by a Base, inside a [BlamelessError], for another reason to request it later. No
// request was sent.
type HoldError struct {
	Host  string
	Until time.Time
}

// Error formats the time in whole seconds. It rounds up, so that the hold has ended at that time.
func (e *HoldError) Error() string {
	until := e.Until.Add(time.Second - 1).UTC().Truncate(time.Second)
	return fmt.Sprintf("%s is not to be asked before %s", e.Host, until.Format(time.RFC3339))
}

// A BlamelessError is returned by a [Transport.Base] when a request failed through no fault of the host.
// Then the host is not held. There is a pause only if the host may have received the request.
// After a [BlockedError] there is neither a hold nor a pause.
type BlamelessError struct {
	Err   error
	Asked bool // the host may have received the request
}

func (e *BlamelessError) Error() string { return e.Err.Error() }
func (e *BlamelessError) Unwrap() error { return e.Err }

// A Transport sends one request at a time to each host and pauses in between. The pause
// begins when the caller closes the body of the response, and lasts
//
//	max(Delay, min(max(crawl-delay, Slowness × last fetch time), MaxDelay))
//
// or longer if HostRate requires it. The fetch time starts when Base calls [Begin], otherwise
// when Base is called.
//
// After a network error, 429 or 5xx the host is held: for 60 s, doubled by every further
// failure up to a day, with a jitter of a tenth. Any 4xx or 5xx may extend the hold with
// Retry-After. Requests to a host that is held fail at once with a [HoldError], so that one
// host cannot delay the others. If a host does not fail again within half an hour after the
// end of the last hold, its failures are forgotten. Errors that are not the host's fault
// ([BlockedError], [BlamelessError]) are not failures.
//
// The host is the host of the request's URL. [NewRequest] writes it in lower case, with the
// port if that is not the default port. A dot at the end of the name is ignored.
//
// The fields must be set before the first request. A Transport is safe for concurrent use
// and starts no goroutines.
type Transport struct {
	Base http.RoundTripper

	// Delay is the minimum pause between two requests to a host. If Delay and HostRate
	// are 0 there are no pauses and no holds, and requests to one host are concurrent.
	Delay time.Duration

	// MaxDelay limits the pause for crawl-delay and slowness; 0 means
	// [DefaultMaxDelay]. A longer Delay takes precedence.
	MaxDelay time.Duration

	// Slowness is the pause in multiples of the last fetch time; 0 means
	// [DefaultSlowness], and a negative value disables it.
	Slowness float64

	// Rate limits the requests per second, over all hosts; 0 means unlimited. Requests
	// are sent evenly spaced, in the order in which the pauses of their hosts end.
	Rate float64

	// HostRate limits the requests per second to one host; 0 means that only the pauses limit them.
	HostRate float64

	// Seed makes the jitter reproducible. The jitter is computed from Seed, the host and
	// the number of its failures.
	Seed uint64

	// Clamped, if not nil, is called once for every host whose crawl-delay exceeds
	// MaxDelay, with that crawl-delay (asked) and MaxDelay (granted). It may be called
	// from several goroutines.
	Clamped func(host string, asked, granted time.Duration)

	pacer pacer // limits requests to Rate
	mu    sync.Mutex
	hosts map[string]*host
	since time.Time // see RequestedAt
}

// A host is the state of one host. The mutex of the transport guards all fields except turn.
type host struct {
	turn     chan struct{} // full while a request to the host is being sent
	users    int           // number of requests that wait for turn or hold it
	crawl    time.Duration // crawl-delay
	clamped  bool          // Clamped has been called
	ended    time.Time     // end of the last request
	next     time.Time     // end of the pause
	failures int           // consecutive, since they were last forgotten
	failed   time.Time     // time of the last failure
	until    time.Time     // end of the hold
}

// sweepAt is the number of hosts above which idle hosts are deleted.
const sweepAt = 1 << 16

// use returns the state of a host, and prevents its deletion until done is called.
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

// find returns the state of a host. The mutex must be held.
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
			if h.users == 0 && h.expired(now) {
				delete(t.hosts, name)
			}
		}
	}
	h := &host{turn: make(chan struct{}, 1)}
	t.startPause(h)
	t.hosts[name] = h
	return h
}

// RequestedAt starts the pause of every host as if a request to it had ended at the given time. It is used
// after a process was killed, because that process may have just requested any host. It must be called after
// [Transport.Load] and before the first request.
func (t *Transport) RequestedAt(since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since = since
	for _, h := range t.hosts {
		t.startPause(h)
	}
}

// startPause starts the pause of a host at the time that was passed to RequestedAt, if any. The mutex
// must be held.
func (t *Transport) startPause(h *host) {
	if t.since.IsZero() {
		return
	}
	h.ended = t.since
	pause := max(t.Delay, min(h.crawl, t.maxDelay()), interval(t.HostRate))
	if next := h.ended.Add(pause); next.After(h.next) {
		h.next = next
	}
}

// delays reports whether there are pauses and holds.
func (t *Transport) delays() bool { return t.Delay > 0 || t.HostRate > 0 }

// maxDelay returns MaxDelay or its default, but at least Delay.
func (t *Transport) maxDelay() time.Duration {
	if t.MaxDelay == 0 {
		return max(t.Delay, DefaultMaxDelay)
	}
	return max(t.Delay, t.MaxDelay)
}

// slowPause returns the pause for a fetch time, without the limit MaxDelay.
func (t *Transport) slowPause(took time.Duration) time.Duration {
	times := t.Slowness
	if times == 0 {
		times = DefaultSlowness
	}
	return time.Duration(min(times*float64(took), float64(MaxBackoff)))
}

// trimDot returns host without the dot at the end of a fully qualified name.
func trimDot(host string) string {
	if name, port, ok := strings.Cut(host, ".:"); ok {
		return name + ":" + port
	}
	return strings.TrimSuffix(host, ".")
}

// SetCrawlDelay sets the crawl-delay of a host. The crawl-delay already applies to the pause after
// the last request, which may have fetched robots.txt.
func (t *Transport) SetCrawlDelay(name string, d time.Duration) {
	if !t.delays() {
		return
	}
	t.mu.Lock()
	name = trimDot(name)
	h, limit := t.find(name), t.maxDelay()
	h.crawl = d
	if next := h.ended.Add(min(d, limit)); next.After(h.next) {
		h.next = next
	}
	report := d > limit && !h.clamped && t.Clamped != nil
	h.clamped = h.clamped || report
	t.mu.Unlock()
	if report {
		t.Clamped(name, d, limit)
	}
}

// HeldUntil returns the end of the hold of a host, or the zero time if it is not held.
func (t *Transport) HeldUntil(name string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h, ok := t.hosts[trimDot(name)]; ok && time.Now().Before(h.until) {
		return h.until
	}
	return time.Time{}
}

// RoundTrip waits until the host may be requested, or until the request's context ends, and
// sends the request.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	name, ctx := trimDot(req.URL.Host), req.Context()
	if !t.delays() {
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
		v.failed, v.unsent = t.isHostFault(ctx, err), unsent(err)
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

// Fails reports whether the host is held after a status: 429 and 5xx.
func Fails(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500
}

// pace waits until Rate allows one more request.
func (t *Transport) pace(ctx context.Context) error {
	if every := interval(t.Rate); every > 0 {
		return t.pacer.wait(ctx, every)
	}
	return nil
}

// wait waits until the pause of the host is over.
func (t *Transport) wait(ctx context.Context, name string, h *host) error {
	for {
		t.mu.Lock()
		next, until := h.next, h.until
		t.mu.Unlock()
		now := time.Now()
		if now.Before(until) {
			return &HoldError{name, until}
		}
		if err := pace.Sleep(ctx, time.Until(next)); err != nil || !next.After(now) {
			return err // otherwise check again: a crawl-delay may have been set meanwhile
		}
	}
}

// isHostFault reports whether the host caused err. It returns false if the caller cancelled the
// request, or if err is a [BlamelessError] or [BlockedError].
func (t *Transport) isHostFault(ctx context.Context, err error) bool {
	_, blameless := errors.AsType[*BlamelessError](err)
	return ctx.Err() == nil && !blameless && !unsent(err)
}

// unsent reports whether the host did not receive the request that failed with err.
func unsent(err error) bool {
	_, blocked := errors.AsType[*BlockedError](err)
	blameless, ok := errors.AsType[*BlamelessError](err)
	return blocked || ok && !blameless.Asked
}

// finish computes when the host may be requested again, and admits the next request.
func (t *Transport) finish(v *visit) {
	now, h := time.Now(), v.h
	t.mu.Lock()
	if !v.unsent {
		pause := max(t.Delay, min(max(h.crawl, t.slowPause(now.Sub(v.begun))), t.maxDelay()))
		h.ended, h.next = now, now.Add(pause)
		if next := v.begun.Add(interval(t.HostRate)); next.After(h.next) {
			h.next = next
		}
	}
	if v.failed {
		if h.failures > 0 && now.Sub(h.until) > ResetAfter {
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

// backoff returns the duration of the hold after the nth consecutive failure.
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

// A visit is one request to a host, and the body of its response. It ends when the body is
// closed.
type visit struct {
	io.ReadCloser
	ctx    context.Context // context of the request
	t      *Transport
	name   string
	h      *host
	begun  time.Time // start of the fetch time; guarded by the mutex of t
	failed bool      // the host is to be held
	unsent bool      // the host did not receive the request
	retry  time.Time // end of Retry-After, or zero
	ends   sync.Once
}

type visitKey struct{}

// Begin starts the fetch time of a request anew. A Base that delays requests calls it with the
// context of the request when it sends the request, so that the fetch time excludes the delay.
func Begin(ctx context.Context) {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		v.t.mu.Lock()
		v.begun = time.Now()
		v.t.mu.Unlock()
	}
}

func (v *visit) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	if err != nil && err != io.EOF && v.t.isHostFault(v.ctx, err) {
		v.failed = true
	}
	return n, err
}

func (v *visit) Close() error {
	err := v.ReadCloser.Close()
	v.ends.Do(func() { v.t.finish(v) })
	return err
}

// NewRequest returns a GET request that sends u unchanged, byte for byte. Package net/url alone does
// not ensure this: it changes the escapes of some paths and rejects other paths.
func NewRequest(ctx context.Context, u weburl.URL) *http.Request {
	target, err := url.Parse(u.String())
	if err != nil || target.RequestURI() != u.RequestURI() {
		target = &url.URL{Scheme: u.Scheme(), Host: u.Host(), Opaque: u.RequestURI()}
		if strings.HasPrefix(target.Opaque, "//") {
			target.Opaque = "//" + u.Host() + target.Opaque // otherwise the path would be parsed as a host
		}
	}
	req := &http.Request{
		Method: http.MethodGet, URL: target, Host: u.Host(), Header: http.Header{},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return req.WithContext(ctx)
}

// RetryAfter returns the Retry-After of a response, which is a number of seconds or a date
// (RFC 9110, section 10.2.3), as a duration from now. It returns 0 if the field is missing or
// invalid, and at most [MaxRetryAfter].
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
