package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"spoor/internal/archive"
	"spoor/internal/polite"
	"spoor/internal/robots"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

const (
	maxRedirects = 10
	maxHeader    = 256 << 10 // bytes of a response's header
	codings      = "gzip, deflate, br, zstd"
	accepted     = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"
)

// A web answers addresses as the web does, politely. Its parts are stacked:
// robots.txt and pages are asked for through polite, which waits for the host's
// turn, through exchange, which waits for one of -j places, over connections
// that are kept on tape.
type web struct {
	*options
	polite   *polite.Transport
	robots   *polite.Robots
	exchange *exchange
	warc     *archive.Writer // nil: nothing is kept
	decoders sync.Pool       // of *archive.Decoder

	strangers atomic.Int64 // records that were refused because of stranger
}

// newWeb is the web as the options want it. warc may be nil.
func newWeb(o *options, d *dialer, warc *archive.Writer) *web {
	w := &web{options: o, warc: warc}
	w.decoders.New = func() any { return &archive.Decoder{Limits: o.limits()} }
	perHost := 1
	if o.delay == 0 {
		perHost = o.workers
	}
	w.exchange = &exchange{
		base: &http.Transport{
			DialContext:            d.dial,
			DialTLSContext:         d.dialTLS,
			DisableCompression:     true,
			MaxIdleConns:           4 * o.workers,
			MaxIdleConnsPerHost:    perHost,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: maxHeader,
			ReadBufferSize:         64 << 10,
		},
		places:    make(chan struct{}, o.workers),
		timeout:   o.timeout,
		userAgent: o.userAgent(),
		stranger:  o.stranger(),
		tapes:     sync.Pool{New: func() any { return new(tape) }},
	}
	w.polite = &polite.Transport{Base: w.exchange, Delay: o.delay, Seed: o.seed}
	w.robots = &polite.Robots{Transport: robotsTransport{w}, Agent: o.agent, CrawlDelay: w.polite.SetCrawlDelay}
	return w
}

// fetch asks for the address of rec and puts what became of it there. When the
// record has been written leave is to be called. The error is that of the
// archive that is being written: nothing else is worth ending a run.
func (w *web) fetch(ctx context.Context, rec *wire.Record) (leave func(), err error) {
	begin(rec)
	leave = func() {}
	u, err := weburl.Parse(rec.URL)
	if err != nil {
		fail(rec, wire.ErrorBadURL, err)
		return leave, nil
	}
	var hops []archive.Hop
	var took time.Duration
	seen := map[string]bool{}
	for {
		if seen[u.String()] || len(hops) > maxRedirects {
			arrive(rec, u.String(), hops)
			fail(rec, wire.ErrorRedirectLoop, fmt.Errorf("%d redirects, the last of them to %s", len(hops), u))
			return leave, nil
		}
		seen[u.String()] = true

		if why := w.stranger(); why != nil && !isLoopback(u.Hostname()) {
			w.strangers.Add(1)
			arrive(rec, u.String(), hops)
			fail(rec, wire.ErrorBlockedAddress, why)
			return leave, nil
		}
		verdict, err := w.robots.Decide(ctx, u)
		if err == nil && !verdict.Allowed {
			arrive(rec, u.String(), hops)
			if verdict.Until.IsZero() {
				fail(rec, wire.ErrorRobots, errors.New(verdict.Reason))
			} else {
				// Not a rule, but a server that is ill: what it refuses now
				// it may allow once it has recovered.
				w.handBack(rec, u, verdict.Until, errors.New(verdict.Reason))
			}
			return leave, nil
		}
		var a *answerOf
		if err == nil {
			a, err = w.ask(polite.NewRequest(ctx, u), u.String(), metadata(rec, len(hops)))
		}
		if err != nil {
			if broken, ok := errors.AsType[*archiveError](err); ok {
				return leave, broken.error
			}
			arrive(rec, u.String(), hops)
			w.failed(ctx, rec, u, err)
			return leave, nil
		}
		took += a.took
		if to := polite.Redirect(&a.response); to != "" {
			a.leave()
			hops = append(hops, archive.Hop{URL: u.String(), StatusCode: a.response.StatusCode})
			if u, err = u.Resolve(to); err != nil {
				arrive(rec, hops[len(hops)-1].URL, hops)
				fail(rec, wire.ErrorBadURL, fmt.Errorf("a redirect to %q: %w", cut(to, 200), err))
				return leave, nil
			}
			continue
		}
		a.page.URL, a.page.Hops = u.String(), hops
		w.fill(rec, a.page, a.tooLarge)
		rec.FetchMS = took.Milliseconds()
		if a.refused {
			rec.Drop(wire.Body)
			if a.page.StatusCode < 300 {
				refuseType(rec)
			}
		}
		switch a.page.StatusCode {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			w.hold(rec, u, a.page.Time.Add(polite.RetryAfter(a.page.Header, a.page.Time)), a.page.Time)
		}
		return a.leave, nil
	}
}

// failed puts a failure into its record.
func (w *web) failed(ctx context.Context, rec *wire.Record, u weburl.URL, err error) {
	if held, ok := errors.AsType[*polite.HoldError](err); ok && ctx.Err() == nil {
		w.handBack(rec, u, held.Until, err)
		return
	}
	code := classify(ctx, err)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	fail(rec, code, err)
	w.hold(rec, u, time.Time{}, time.Time{})
}

// handBack puts into its record that u may not be asked for until then. The
// address comes back as it was if nobody was asked. If a redirect led to u
// somebody was, and not_before would silence the wrong host: then it is a try
// that failed, or it would be made again at once, and for ever.
func (w *web) handBack(rec *wire.Record, u weburl.URL, until time.Time, why error) {
	if first, err := weburl.Parse(rec.URL); err == nil && first.Host() == u.Host() {
		fail(rec, wire.ErrorBudget, why)
		w.hold(rec, u, until, time.Time{})
		return
	}
	fail(rec, wire.ErrorConnect, why)
}

// hold tells the frontier how long the host is to be left alone: until the
// later of what it asked for and what its failures make of it. The frontier
// holds the host of url, so a host behind a redirect is held here only.
func (w *web) hold(rec *wire.Record, u weburl.URL, until, asked time.Time) {
	if first, err := weburl.Parse(rec.URL); err != nil || first.Host() != u.Host() {
		return
	}
	if !until.After(asked) {
		until = time.Time{}
	}
	if held := w.polite.HeldUntil(u.Host()); held.After(until) {
		until = held
	}
	rec.NotBefore = notBefore(until)
}

// metadata is what the archive is to know of the address.
func metadata(rec *wire.Record, redirects int) archive.Metadata {
	m := archive.Metadata{
		Via: rec.Via, Depth: rec.Depth, Redirects: redirects, Operator: rec.Operator,
		Generation: rec.Generation, Parents: rec.Parents,
	}
	if rec.Priority.Kind == wire.Present {
		m.Priority = &rec.Priority.Value
	}
	return m
}

// An answerOf is what came back for one request. Its bodies are gone when it is
// left.
type answerOf struct {
	response http.Response // header only
	page     *archive.Page
	tooLarge error         // of the decoder
	refused  bool          // -mime does not name the type, so the body was not asked for
	took     time.Duration // from the request to the last byte
	leave    func()        // frees the place among the -j
}

// An archiveError is one of the archive that is being written.
type archiveError struct{ error }

func (e *archiveError) Unwrap() error { return e.error }

// ask sends one request, reads the answer and archives the exchange. Unless
// there is an error the answer's leave must be called.
func (w *web) ask(req *http.Request, address string, m archive.Metadata) (_ *answerOf, err error) {
	v := &visit{}
	defer func() {
		if err != nil {
			v.leave()
		}
	}()
	page := req.Header.Get("Accept") == ""
	if page {
		req.Header.Set("Accept", accepted)
	}
	req.Header.Set("Accept-Encoding", codings)
	resp, err := w.polite.RoundTrip(req.WithContext(context.WithValue(req.Context(), visitKey{}, v)))
	if err != nil {
		return nil, err
	}
	a := &answerOf{response: http.Response{StatusCode: resp.StatusCode, Header: resp.Header}, leave: v.leave}
	limit := int64(w.maxBody)
	if !page {
		limit = robots.MaxSize + 1
	}
	media := archive.MediaType(resp.Header.Get("Content-Type"))
	a.refused = page && polite.Redirect(resp) == "" && !w.takes(media)
	truncated := ""
	if !a.refused {
		truncated = drain(req.Context(), resp.Body, limit)
	}
	resp.Body.Close()
	a.took = time.Since(v.start)
	if err := req.Context().Err(); err != nil && truncated != "" {
		return nil, context.Cause(req.Context()) // it was we who broke off
	}

	v.conn.stop(v.tape)
	v.stopped = true
	head, body := v.tape.answer()
	header := resp.Header
	if len(resp.TransferEncoding) > 0 {
		header = header.Clone()
		header["Transfer-Encoding"] = resp.TransferEncoding
	} else if n := resp.ContentLength; n >= 0 && n < int64(len(body)) {
		body = body[:n] // what follows is no part of the answer
	}
	a.page = &archive.Page{
		Response: &archive.Response{
			Proto: resp.Proto, StatusCode: resp.StatusCode, Header: header, Raw: body, Truncated: truncated,
		},
		Time: v.start, IP: v.ip,
	}
	if a.refused {
		a.page.Raw = nil
		return a, nil
	}
	d := w.decoders.Get().(*archive.Decoder)
	defer w.decoders.Put(d)
	var torn string
	a.page.Body, torn, a.tooLarge = d.Decode(body, header)
	a.page.Truncated = cmp.Or(truncated, torn)
	if page && media == "" && !w.takes(a.page.ContentType()) {
		a.refused = true // it did not say what it is; now we know
	}
	if w.warc == nil {
		a.page.Digest = archive.Digest(body)
		return a, nil
	}
	m.FetchTime = a.took
	at, err := w.warc.Write(&archive.Exchange{
		URL: address, Time: v.start, IP: v.ip, Request: v.tape.sent, Head: head, Body: body, Truncated: truncated, Metadata: m,
	})
	if err != nil {
		return nil, &archiveError{err}
	}
	a.page.Filename, a.page.Offset, a.page.Length, a.page.Digest = at.Filename, at.Offset, at.Length, at.Digest
	return a, nil
}

// drain reads a body up to limit bytes; what was read is on the tape. It tells
// why it did not come to the end.
func drain(ctx context.Context, body io.Reader, limit int64) (truncated string) {
	n, err := io.Copy(io.Discard, io.LimitReader(body, limit+1))
	switch {
	case n > limit:
		return "length"
	case err == nil:
		return ""
	case classify(ctx, err) == wire.ErrorTimeout:
		return "time"
	}
	return "disconnect"
}

// robotsTransport asks for robots.txt as pages are asked for, and archives it.
type robotsTransport struct{ w *web }

func (t robotsTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req.Header.Set("Accept", "text/plain,*/*;q=0.5")
	a, err := t.w.ask(req, address(req), archive.Metadata{Operator: "robots"})
	if err != nil {
		return nil, err
	}
	body := bytes.NewReader(bytes.Clone(a.page.Body))
	a.leave()
	a.response.Body = io.NopCloser(body)
	if a.page.Truncated == "time" || a.page.Truncated == "disconnect" {
		a.response.Body = io.NopCloser(io.MultiReader(body, broken{a.page.Truncated}))
	}
	return &a.response, nil
}

// broken is a body that ends early.
type broken struct{ why string }

func (b broken) Read([]byte) (int, error) {
	if b.why == "time" {
		return 0, errTimeout
	}
	return 0, io.ErrUnexpectedEOF
}

// address is the URL of a request that polite made.
func address(req *http.Request) string {
	u := req.URL
	switch {
	case strings.HasPrefix(u.Opaque, "//"):
		return u.Scheme + ":" + u.Opaque
	case u.Opaque != "":
		return u.Scheme + "://" + u.Host + u.Opaque
	}
	return u.String()
}

// cut is s, or its beginning if it is longer than n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// A visit is what ask and exchange know of one request together.
type visit struct {
	start   time.Time
	conn    *conn
	tape    *tape
	ip      string
	stopped bool // nothing is added to the tape any more
	once    sync.Once
	free    func() // of the place and the timer; nil before there is one
}

type visitKey struct{}

func (v *visit) leave() {
	v.once.Do(func() {
		if v.free != nil {
			v.free()
		}
	})
}

// An exchange sends requests: a bounded number at a time, each with a bound on
// its time, and none to strangers who could not tell who asked.
type exchange struct {
	base      http.RoundTripper
	places    chan struct{}
	timeout   time.Duration
	userAgent string
	stranger  error        // why only loopback is asked, if so
	asked     atomic.Int64 // requests that were let through
	tapes     sync.Pool
}

// keptTape is the largest tape that is used again.
const keptTape = 1 << 20

// RoundTrip expects a visit in the request's context. The place is kept until
// the visit is left, so that answers that nobody takes hold up further requests.
func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	if x.stranger != nil && !isLoopback(req.URL.Hostname()) {
		return nil, x.stranger
	}
	x.asked.Add(1)
	v := req.Context().Value(visitKey{}).(*visit)
	select {
	case x.places <- struct{}{}:
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), x.timeout, errTimeout)
	v.free = func() {
		cancel()
		if v.stopped && cap(v.tape.received) <= keptTape {
			x.tapes.Put(v.tape)
		}
		<-x.places
	}
	v.tape = x.tapes.Get().(*tape)
	v.start = time.Now()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		v.conn = info.Conn.(*conn)
		v.conn.record(v.tape)
		if ap, err := netip.ParseAddrPort(v.conn.RemoteAddr().String()); err == nil {
			v.ip = ap.Addr().Unmap().String()
		}
	}})
	req = req.WithContext(ctx)
	req.Header.Set("User-Agent", x.userAgent)
	resp, err := x.base.RoundTrip(req)
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		err = fmt.Errorf("%w (%v)", errTimeout, x.timeout)
	}
	return resp, err
}

// isLoopback tells whether a host name can only be this machine.
func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return ip != nil && ip.IsLoopback()
}
