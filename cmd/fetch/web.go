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
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"spoor/internal/archive"
	"spoor/internal/polite"
	"spoor/internal/robots"
	"spoor/internal/sitemap"
	"spoor/internal/web"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

const (
	maxRedirects = 10
	accepted     = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"
)

// codings are those of a body that is asked for: what every replayer of archives
// knows. What comes in deflate or zstd all the same is read too.
const codings = "gzip, br"

// A fetcher answers addresses as the web does, politely. Its parts are stacked:
// robots.txt and pages are asked for through polite, which waits for the host's
// turn, through the fetcher itself, which waits for one of -j places, over web,
// which keeps what was said on tape.
type fetcher struct {
	*options
	most     int64 // bytes of an answer, as received and as decoded
	polite   *polite.Transport
	robots   *polite.Robots
	web      *web.Transport
	archives *archive.Replay // of -archive-first; may be nil
	warc     *archive.Writer // nil: nothing is kept
	decoders chan *archive.Decoder
	places   chan *web.Tape // of -j, nil until it is needed
	plains   *sync.Pool     // of *[]byte, bodies that had to be decoded: few are at a time
	memory   chan struct{}  // of answers that are being received, a place for each freeBody
	debt     chan struct{}  // one of them may take more than there is
	heavy    chan struct{}  // places of large answers that have been received

	strangers *atomic.Int64 // records that were refused because of stranger
	guarded   *atomic.Int64 // those that were refused by the guard
	asked     *atomic.Bool  // anybody was asked
}

// forSitemaps is the same fetcher for sitemaps: it takes whatever type comes, and as much
// of it as a sitemap may have, whatever -max-body says of pages.
func (f *fetcher) forSitemaps() *fetcher {
	o := *f.options
	o.mime = nil
	g := *f
	g.options, g.most = &o, sitemap.MaxSize
	return &g
}

// What answers take in memory is bounded, whatever servers do. Those that are longer
// than freeBody share what maxReceived times as much is while they are received;
// one can always go on, on debt, so that all end. What comes of them then, by decoding
// and encoding, is several times as much, but takes no longer than we do: it is done
// for maxHeavy of them at a time, or one where -max-body lets them be larger. Of sitemaps
// that are longer than pages there is one, which is the one on debt: nothing else is
// decoded beside it.
const (
	largeBody   = 1 << 20   // bytes, decoded
	freeBody    = 256 << 10 // bytes, received
	maxReceived = 256
	maxHeavy    = 2
)

// newFetcher is the web as the options want it. archives and warc may be nil.
func newFetcher(o *options, archives *archive.Replay, warc *archive.Writer) *fetcher {
	f := &fetcher{options: o, most: int64(o.maxBody), archives: archives, warc: warc}
	f.strangers, f.guarded, f.asked = new(atomic.Int64), new(atomic.Int64), new(atomic.Bool)
	f.decoders = make(chan *archive.Decoder, runtime.GOMAXPROCS(0)) // of what they keep there are megabytes
	for range cap(f.decoders) {
		f.decoders <- new(archive.Decoder)
	}
	f.places = make(chan *web.Tape, o.workers)
	f.plains = &sync.Pool{New: func() any { return new([]byte) }}
	for range o.workers {
		f.places <- nil
	}
	heavy := maxHeavy
	if o.maxBody > archive.DefaultBody {
		heavy = 1
	}
	f.memory, f.debt, f.heavy = make(chan struct{}, maxReceived), make(chan struct{}, 1), make(chan struct{}, heavy)
	perHost := 1
	if o.delay == 0 {
		perHost = o.workers
	}
	f.web = &web.Transport{
		Resolver: &web.Cache{Resolver: o.resolver}, Guard: o.guard, Proxy: o.proxy,
		TLS: o.tls, Insecure: o.insecure, HTTP1: o.http1,
		ConnectTimeout: o.connectTimeout, HeaderTimeout: o.headerTimeout, Timeout: o.timeout,
		MaxIdle: max(4*o.workers, 1024), MaxIdlePerHost: perHost,
	}
	f.polite = &polite.Transport{
		Base: f, Delay: o.delay, MaxDelay: max(o.maxDelay, 1), Slowness: o.slowness,
		Rate: o.rate, HostRate: o.hostRate, Seed: o.seed,
	}
	if o.slowness == 0 {
		f.polite.Slowness = -1
	}
	f.robots = &polite.Robots{Transport: robotsTransport{f}, Agent: o.agent, CrawlDelay: f.polite.SetCrawlDelay}
	return f
}

// guard refuses addresses that are not public unless -allow-private is given, and
// those that are not on loopback if strangers must not be asked: a name such as
// x.localhost may lead anywhere.
func (o *options) guard(at netip.AddrPort) error {
	if o.stranger() != nil && !at.Addr().Unmap().IsLoopback() {
		return o.stranger()
	}
	if o.private {
		return nil
	}
	if err := polite.Guard(at); err != nil {
		return fmt.Errorf("%w (hint: -allow-private)", err)
	}
	return nil
}

// longest is how many bytes many answers may have at once.
func (f *fetcher) longest() int64 { return max(int64(f.maxBody), archive.DefaultBody) }

// fetch asks for the address of rec and puts what became of it there. When the
// record has been written leave is to be called. The error is that of the
// archive that is being written, or of a proxy without which nobody can be asked:
// nothing else is worth ending a run.
func (f *fetcher) fetch(ctx context.Context, rec *wire.Record) (leave func(), err error) {
	return f.receive(ctx, rec, rec.SetBody)
}

// receive is fetch but for the body, which it hands to keep. It is good until leave.
func (f *fetcher) receive(ctx context.Context, rec *wire.Record, keep func(body []byte)) (leave func(), err error) {
	begin(rec)
	leave = free
	u, err := weburl.Parse(rec.URL)
	if err != nil {
		fail(rec, wire.ErrorBadURL, err)
		return leave, nil
	}
	var hops []archive.Hop
	var took time.Duration
	for {
		if err := loop(hops, u.String()); err != nil {
			arrive(rec, u.String(), hops)
			fail(rec, wire.ErrorRedirectLoop, err)
			return leave, nil
		}
		leave, far, ok := f.recall(ctx, rec, u, hops, keep)
		if ok {
			return leave, nil
		}
		if far != nil && len(far.Hops) > 0 {
			hops = append(hops, far.Hops...)
			if u, err = weburl.Parse(far.URL); err == nil {
				continue
			}
		}
		if why := f.stranger(); why != nil && !isLoopback(u.Hostname()) {
			arrive(rec, u.String(), hops)
			fail(rec, wire.ErrorBlockedAddress, why)
			f.count(rec, why)
			return leave, nil
		}
		verdict, err := f.robots.Decide(ctx, u)
		if err == nil && !verdict.Allowed {
			arrive(rec, u.String(), hops)
			if verdict.Until.IsZero() {
				fail(rec, wire.ErrorRobots, errors.New(verdict.Reason))
			} else {
				// Not a rule, but a server that is ill: what it refuses now
				// it may allow once it has recovered.
				f.handBack(rec, u, verdict.Until, errors.New(verdict.Reason))
			}
			return leave, nil
		}
		var a *answerOf
		if err == nil {
			req := polite.NewRequest(ctx, u)
			if len(hops) == 0 { // what is known is of this address (RFC 9110, section 15.4)
				condition(req.Header, rec)
			}
			a, err = f.ask(req, u.String(), metadata(rec, len(hops)))
		}
		if err != nil {
			if broken, ok := errors.AsType[*archiveError](err); ok {
				return leave, broken.error
			}
			if proxy, ok := errors.AsType[*web.ProxyError](err); ok && proxy.Down {
				return leave, &web.ProxyError{Err: f.explain(proxy.Err), Down: true}
			}
			arrive(rec, u.String(), hops)
			f.failed(ctx, rec, u, err)
			f.count(rec, err)
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
		f.describe(rec, a.page, a.tooLarge, f.most, keep)
		note(rec, a.remark)
		rec.FetchMS = took.Milliseconds()
		if a.refused {
			rec.Drop(wire.Body)
			if a.page.StatusCode < 300 {
				refuseType(rec)
			}
		}
		var until time.Time
		if a.page.StatusCode >= 400 {
			until = a.page.Time.Add(polite.RetryAfter(a.page.Header, a.page.Time))
		}
		f.hold(rec, u, until, a.page.Time)
		return a.leave, nil
	}
}

// free is the leave of what holds no place.
func free() {}

// loop says what is wrong with the way to url, if anything is.
func loop(hops []archive.Hop, url string) error {
	for i, h := range hops {
		if h.URL != url {
			continue
		}
		var way strings.Builder
		for _, h := range hops[i:] {
			way.WriteString(cut(h.URL, maxDetail/(maxRedirects+2)) + " → ")
		}
		return fmt.Errorf("a loop: %s%s", &way, cut(url, maxDetail/(maxRedirects+2)))
	}
	if len(hops) > maxRedirects {
		return fmt.Errorf("more than %d redirects, the last of them to %s", maxRedirects, url)
	}
	return nil
}

// recall answers rec from the archives of -archive-first, if they hold the answer to
// u. Otherwise it says how far they lead.
func (f *fetcher) recall(ctx context.Context, rec *wire.Record, u weburl.URL, hops []archive.Hop, keep func(body []byte)) (leave func(), far *archive.Page, ok bool) {
	if f.archives == nil {
		return free, nil, false
	}
	v := &visit{f: f}
	if v.enter(ctx) != nil {
		return free, nil, false
	}
	page, err := f.archives.Fetch(u.String())
	if page == nil || page.Response == nil {
		v.leave()
		return free, page, false
	}
	page.Hops = slices.Concat(hops, page.Hops)
	f.describe(rec, page, err, int64(f.maxBody), keep)
	if rec.Error == "" && !f.takes(page.ContentType()) {
		refuseType(rec)
	}
	if len(page.Body) > largeBody {
		v.weigh(ctx)
	}
	return v.leave, page, true
}

// condition makes a request one for what has changed since an earlier answer (RFC
// 9110, section 13), and tells whether it is.
func condition(h http.Header, rec *wire.Record) {
	for name, value := range map[string]string{"If-None-Match": rec.ETag, "If-Modified-Since": rec.LastModified} {
		if value != "" && len(value) <= maxCondition && strings.IndexFunc(value, func(c rune) bool { return c < ' ' || c > '~' }) < 0 {
			h.Set(name, value)
		}
	}
}

// maxCondition bounds what of an earlier answer goes into a request, in bytes.
const maxCondition = 1 << 10

// failed puts a failure into its record.
func (f *fetcher) failed(ctx context.Context, rec *wire.Record, u weburl.URL, err error) {
	if held, ok := errors.AsType[*polite.HoldError](err); ok && ctx.Err() == nil {
		f.handBack(rec, u, held.Until, err)
		return
	}
	code := classify(ctx, err)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	fail(rec, code, f.explain(err))
	f.hold(rec, u, time.Time{}, time.Time{})
}

// count counts rec if err is why nobody was asked for it.
func (f *fetcher) count(rec *wire.Record, err error) {
	if rec.Error != wire.ErrorBlockedAddress || len(rec.Redirects) > 0 {
		return
	}
	if _, ok := errors.AsType[strangerError](err); ok {
		f.strangers.Add(1)
	} else {
		f.guarded.Add(1)
	}
}

// handBack puts into its record that u may not be asked for until then. The
// address comes back as it was if nobody was asked. If a redirect led to u
// somebody was, and the host of not_before is another one: then it is a try that
// failed, or it would be made again at once, and for ever.
func (f *fetcher) handBack(rec *wire.Record, u weburl.URL, until time.Time, why error) {
	code := wire.ErrorConnect
	if first, err := weburl.Parse(rec.URL); err == nil && first.Host() == u.Host() {
		code = wire.ErrorBudget
	}
	fail(rec, code, why)
	f.hold(rec, u, until, time.Time{})
}

// hold tells the frontier how long the host is to be left alone: until the
// later of what it asked for and what its failures make of it. It is the host of u,
// where the redirects ended, as the frontier knows by final_url.
func (f *fetcher) hold(rec *wire.Record, u weburl.URL, until, asked time.Time) {
	if !until.After(asked) {
		until = time.Time{}
	}
	if held := f.polite.HeldUntil(u.Host()); held.After(until) {
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
	remark   string        // for a person
	refused  bool          // -mime does not name the type, so the body was not asked for
	took     time.Duration // from the request to the last byte
	leave    func()        // frees the place among the -j
}

// An archiveError is one of the archive that is being written.
type archiveError struct{ error }

func (e *archiveError) Unwrap() error { return e.error }

// ask sends one request, reads the answer and archives the exchange. Unless
// there is an error the answer's leave must be called.
func (f *fetcher) ask(req *http.Request, address string, m archive.Metadata) (_ *answerOf, err error) {
	page := req.Header.Get("Accept") == ""
	limit := int64(robots.MaxSize + 1)
	if page {
		req.Header.Set("Accept", accepted)
		limit = f.most
	}
	req.Header.Set("Accept-Encoding", codings)
	// Chunks are not counted when what they hold is: there is room for those of
	// servers that do not send them for their own sake.
	v := &visit{f: f, limit: limit + limit/16 + 64<<10}
	defer func() {
		if err != nil {
			v.leave()
		}
	}()
	ctx := req.Context()
	resp, err := f.polite.RoundTrip(req.WithContext(context.WithValue(ctx, visitKey{}, v)))
	if err != nil {
		return nil, err
	}
	tape := v.tape
	a := &answerOf{response: http.Response{StatusCode: resp.StatusCode, Header: resp.Header}, leave: v.leave}
	unchanged := resp.StatusCode == http.StatusNotModified && (req.Header.Get("If-None-Match") != "" || req.Header.Get("If-Modified-Since") != "")
	media := archive.MediaType(resp.Header.Get("Content-Type"))
	a.refused = page && !unchanged && polite.Redirect(resp) == "" && !f.takes(media)
	truncated := ""
	if !a.refused {
		truncated, err = drain(ctx, resp.Body, limit, v)
	}
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	a.took = time.Since(tape.Start)
	if ctx.Err() != nil && truncated != "" {
		return nil, context.Cause(ctx) // it was we who broke off
	}

	header := resp.Header
	if len(resp.TransferEncoding) > 0 {
		header = header.Clone()
		header["Transfer-Encoding"] = resp.TransferEncoding
	}
	a.page = &archive.Page{
		Response: &archive.Response{
			Proto: resp.Proto, StatusCode: resp.StatusCode, Header: header, Raw: tape.Body, Truncated: truncated,
		},
		Time: tape.Start, IP: tape.IP,
	}
	if tape.Unverified != "" {
		a.remark = "certificate not verified: " + tape.Unverified
	}
	if a.refused {
		a.page.Raw = nil
		return a, nil
	}
	var torn string
	if a.page.Body, torn, a.tooLarge, err = f.decode(ctx, v, tape.Body, header, limit); err != nil {
		return nil, err
	}
	a.page.Truncated = cmp.Or(truncated, torn)
	if page && !unchanged && media == "" && !f.takes(a.page.ContentType()) {
		a.refused = true // it did not say what it is; now we know
	}
	if f.warc == nil {
		if !unchanged {
			a.page.Digest = archive.Digest(tape.Body)
		}
		return a, nil
	}
	m.FetchTime, m.Unverified = a.took, tape.Unverified
	forbids := ""
	if f.noArchive && page {
		forbids = forbidden(f.agent, header, a.page.ContentType(), a.page.Body)
	}
	at, err := f.warc.Write(&archive.Exchange{
		URL: address, Time: tape.Start, IP: tape.IP, Request: tape.Request, Head: tape.Head, Body: tape.Body,
		Truncated: truncated, Protocols: tape.Protocols, NotModified: unchanged, NoArchive: forbids, Metadata: m,
	})
	if err != nil {
		return nil, &archiveError{err}
	}
	a.page.Filename, a.page.Offset, a.page.Length, a.page.Digest = at.Filename, at.Offset, at.Length, at.Digest
	return a, nil
}

// decode decodes a body of at most limit bytes, into the buffer of the visit. If the body
// does not say that much will come of it that is found out first, in little memory.
func (f *fetcher) decode(ctx context.Context, v *visit, raw []byte, header http.Header, limit int64) (body []byte, torn string, tooLarge, err error) {
	if max(int64(len(raw)), archive.Promised(raw, header)) <= largeBody {
		body, torn, tooLarge = f.decodeAll(v, raw, header, min(limit, largeBody))
		if tooLarge == nil || limit <= largeBody {
			return body, torn, tooLarge, nil
		}
	}
	v.plain, body = nil, nil // it may be long until it is our turn
	if err := v.weigh(ctx); err != nil {
		return nil, "", nil, err
	}
	if int64(len(raw)) > f.longest() {
		// What receiving and decoding leave is as much again: it goes before there is more.
		runtime.GC()
		defer runtime.GC()
	}
	body, torn, tooLarge = f.decodeAll(v, raw, header, limit)
	return body, torn, tooLarge, nil
}

func (f *fetcher) decodeAll(v *visit, raw []byte, header http.Header, limit int64) (body []byte, torn string, tooLarge error) {
	d := <-f.decoders
	defer func() { f.decoders <- d }()
	d.Limits.Body = limit
	if v.plain == nil {
		v.plain = *f.plains.Get().(*[]byte)
	}
	body, torn, tooLarge = d.Decode(v.plain, raw, header)
	if len(body) > 0 && &body[0] != &raw[0] {
		v.plain = body
	}
	return body, torn, tooLarge
}

// drain reads a body up to limit bytes; what was read is on the tape. It tells
// why it did not come to the end. The error is that we had no memory for it in time.
func drain(ctx context.Context, body io.Reader, limit int64, v *visit) (truncated string, err error) {
	var n int64
	for err == nil && n <= limit {
		step := min(limit+1-n, freeBody)
		if err = v.grow(ctx, n+step); err == nil {
			step, err = io.CopyN(io.Discard, body, step)
			n += step
		}
	}
	switch {
	case errors.Is(err, errCrowded):
		return "", err
	case n > limit, errors.Is(err, web.ErrTapeFull):
		return "length", nil
	case errors.Is(err, io.EOF):
		return "", nil
	case classify(ctx, err) == wire.ErrorTimeout:
		return "time", nil
	}
	return "disconnect", nil
}

// robotsTransport asks for robots.txt as pages are asked for, and archives it.
type robotsTransport struct{ f *fetcher }

func (t robotsTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req.Header.Set("Accept", "text/plain,*/*;q=0.5")
	a, err := t.f.ask(req, address(req), archive.Metadata{Operator: "robots"})
	if err != nil {
		return nil, err
	}
	body := bytes.NewReader(bytes.Clone(a.page.Body))
	a.leave()
	a.response.Body = io.NopCloser(body)
	if a.page.Truncated == "disconnect" {
		a.response.Body = io.NopCloser(io.MultiReader(body, broken{io.ErrUnexpectedEOF}))
	}
	if a.page.Truncated == "time" {
		a.response.Body = io.NopCloser(io.MultiReader(body, broken{&web.TimeoutError{Phase: web.Answer, Limit: t.f.timeout}}))
	}
	return &a.response, nil
}

// broken is a body that ends early.
type broken struct{ error }

func (b broken) Read([]byte) (int, error) { return 0, b.error }

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

// A visit is the place that one answer takes among the -j, from when it is asked for
// until it has been written, so that answers that nobody takes hold up further requests.
type visit struct {
	f       *fetcher
	limit   int64     // of the tape
	entered bool      // it has its place
	tape    *web.Tape // that of the place; thousands of hosts wait for their turn without
	plain   []byte    // the body, if it had to be decoded
	large   int       // how many places of memory it has
	debt    bool      // it may have as many as it takes
	heavy   int       // how many places it has among those that were received
	once    sync.Once
}

// keptPlain is the most memory, in bytes, that is kept for the next body to be decoded.
const keptPlain = 768 << 10

type visitKey struct{}

func (v *visit) enter(ctx context.Context) error {
	select {
	case v.tape = <-v.f.places:
		v.entered = true
		if v.tape == nil {
			v.tape = new(web.Tape)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// grow waits until there is memory to receive n bytes. If that took all the time that
// the answer may take, neither the answer nor the host is to blame.
func (v *visit) grow(ctx context.Context, n int64) error {
	memory := v.f.memory
	if n > v.f.longest()+1 { // which tells that it goes on
		memory = nil // on debt only
	}
	for n > freeBody*int64(1+v.large) && !v.debt {
		select {
		case memory <- struct{}{}:
			v.large++
			continue
		default:
		}
		select {
		case memory <- struct{}{}:
			v.large++
		case v.f.debt <- struct{}{}:
			v.debt = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if time.Since(v.tape.Start) >= v.f.timeout {
			return errCrowded
		}
	}
	return nil
}

// weigh waits for a place among the large answers that have been received, or for all
// of them where it may be larger than a page: on debt, or two could wait for each other.
func (v *visit) weigh(ctx context.Context) error {
	places := 1
	if v.f.most > v.f.longest() {
		places = cap(v.f.heavy)
		if !v.debt {
			select {
			case v.f.debt <- struct{}{}:
				v.debt = true
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	for ; v.heavy < places; v.heavy++ {
		select {
		case v.f.heavy <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (v *visit) leave() {
	v.once.Do(func() {
		for range v.large {
			<-v.f.memory
		}
		if v.debt {
			<-v.f.debt
		}
		for range v.heavy {
			<-v.f.heavy
		}
		if plain := v.plain; plain != nil && cap(plain) <= keptPlain {
			v.f.plains.Put(&plain)
		}
		v.plain = nil // its connection may know the visit for a while
		if v.entered {
			v.tape.Reset()
			v.f.places <- v.tape
		}
	})
}

// RoundTrip sends a request that polite lets through, whose context has a visit:
// to no stranger who could not tell who asked, and a bounded number at a time.
func (f *fetcher) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if why := f.stranger(); why != nil && !isLoopback(req.URL.Hostname()) {
		return nil, why
	}
	v := ctx.Value(visitKey{}).(*visit)
	if err := v.enter(ctx); err != nil {
		return nil, err
	}
	v.tape.Limit = v.limit
	polite.Begin(ctx)
	req.Header.Set("User-Agent", f.userAgent())
	resp, err := f.web.RoundTrip(req.WithContext(web.Record(ctx, v.tape)))
	if _, blocked := errors.AsType[*polite.BlockedError](err); !blocked {
		f.asked.Store(true)
	}
	if proxy, ok := errors.AsType[*web.ProxyError](err); ok {
		err = &polite.BlamelessError{Err: err, Asked: !proxy.Down}
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
