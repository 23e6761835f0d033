package crawler

import (
	"context"
	"errors"
	"fmt"
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
	"spoor/internal/message"
	"spoor/internal/pace"
	"spoor/internal/polite"
	"spoor/internal/robots"
	"spoor/internal/sitemap"
	"spoor/internal/web"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

const maxRedirects = 10

// A fetcher fetches single addresses. Requests pass through a stack of transports: polite,
// which waits until the host may be requested; the fetcher itself, which waits for a free
// slot; and web, which connects and records the bytes sent and received.
type fetcher struct {
	*Options
	maxSize   int64             // bytes at which bodies are cut, as received and as decoded
	transport http.RoundTripper // polite, or the fetcher itself, which makes no pauses
	polite    *polite.Transport
	robots    *polite.Robots
	web       *web.Transport
	archives  *archive.Replay // searched before the web is requested; may be nil
	warc      *archive.Writer // nil: nothing is stored
	decoders  chan *archive.Decoder
	buffers   *sync.Pool // of *[]byte, for decoded bodies
	slots     chan *web.Tape
	memory    *memory
	counts    *counts
	addresses *pace.Pace[netip.Addr] // nil without AddressRate
}

// counts holds the numbers of refused records, and whether a request was sent, for [Stats].
type counts struct {
	policy, private atomic.Int64
	requested       atomic.Bool
}

// newFetcher returns a fetcher; archives and warc may be nil.
func newFetcher(o *Options, archives *archive.Replay, warc *archive.Writer) *fetcher {
	o.ports = new(ports)
	f := &fetcher{
		Options: o, maxSize: o.MaxBody, archives: archives, warc: warc,
		decoders: make(chan *archive.Decoder, runtime.GOMAXPROCS(0)), // each decoder retains megabytes
		buffers:  &sync.Pool{New: func() any { return new([]byte) }},
		slots:    make(chan *web.Tape, o.Workers),
		memory:   newMemory(o.MaxBody),
		counts:   new(counts),
	}
	for range cap(f.decoders) {
		f.decoders <- new(archive.Decoder)
	}
	for range o.Workers {
		f.slots <- nil // a tape is created when it is needed
	}
	perHost := 1
	if o.Delay == 0 {
		perHost = o.Workers
	}
	f.web = &web.Transport{
		Resolver: &web.Cache{Resolver: o.Resolver}, Guard: o.guard, Proxy: o.Proxy,
		TLS: o.TLS, Insecure: o.Insecure, HTTP1: o.HTTP1,
		ConnectTimeout: o.ConnectTimeout, HeaderTimeout: o.HeaderTimeout, Timeout: o.Timeout,
		MaxIdle: max(4*o.Workers, 1024), MaxIdlePerHost: perHost,
	}
	if o.AddressRate > 0 {
		f.addresses = pace.New[netip.Addr](o.AddressRate, max(o.AddressBurst, 1))
		f.web.Admit = f.admit
	}
	f.polite = &polite.Transport{
		Base: f, Delay: o.Delay, MaxDelay: max(o.MaxDelay, 1), Slowness: o.Slowness,
		Rate: o.Rate, HostRate: o.HostRate, Seed: o.Seed,
		Clamped: func(host string, asked, granted time.Duration) {
			o.Warn("a crawl-delay is longer than -max-delay", "host", host, "asked", asked, "granted", granted)
		},
	}
	if o.Slowness == 0 {
		f.polite.Slowness = -1
	}
	f.transport = f.polite
	f.robots = &polite.Robots{Transport: robotsTransport{f.forRobots()}, Agent: o.Agent, CrawlDelay: f.polite.SetCrawlDelay, MayRedirect: o.checkRobotsRedirect}
	return f
}

// forSitemaps returns a fetcher that accepts all media types, and bodies of the maximum size of a
// sitemap instead of MaxBody.
func (f *fetcher) forSitemaps() *fetcher {
	g := f.forAnyType()
	g.maxSize = sitemap.MaxSize
	return g
}

// forRobots returns a fetcher for robots.txt, which is stored even if the response says noarchive.
func (f *fetcher) forRobots() *fetcher {
	g := f.forAnyType()
	g.NoArchive, g.maxSize = false, robots.MaxSize+1
	return g
}

// forResources returns a fetcher for the resources that pages load. It makes no pauses.
func (f *fetcher) forResources() *fetcher {
	g := f.forAnyType()
	g.transport = f
	return g
}

// forAnyType returns a fetcher that shares everything with f, but accepts all media types.
func (f *fetcher) forAnyType() *fetcher {
	o := *f.Options
	o.MIME = nil
	g := *f
	g.Options = &o
	return &g
}

// fetch fetches the address of rec, puts the outcome into rec, and passes the body, if there
// is one, to keep. The caller must call release when the record has been written; until then
// the body is valid. An error ends the run: the WARC file cannot be written, or the proxy
// cannot be used.
func (f *fetcher) fetch(ctx context.Context, rec *wire.Record, keep func(body []byte)) (release func(), err error) {
	reset(rec)
	u, err := weburl.Parse(rec.URL)
	if err != nil {
		fail(rec, wire.ErrorBadURL, err)
		return noRelease, nil
	}
	var hops []archive.Hop
	var c chain
	var took time.Duration
	for {
		cookies := c.cookies(u)
		if err := c.check(hops, u.String(), cookies); err != nil {
			setRedirects(rec, u.String(), hops)
			fail(rec, wire.ErrorRedirectLoop, err)
			return noRelease, nil
		}
		if e := f.checkScope(rec, u, len(hops) > 0); e != nil {
			failScope(rec, hops, e)
			return noRelease, nil
		}
		release, page, ok := f.fromArchives(ctx, rec, u, hops, keep)
		if ok {
			f.checkArchived(rec)
			return release, nil
		}
		if page != nil && len(page.Hops) > 0 {
			hops = append(hops, page.Hops...)
			if u, err = weburl.Parse(page.URL); err != nil { // the index is damaged
				setRedirects(rec, page.URL, hops)
				fail(rec, wire.ErrorBadURL, err)
				return noRelease, nil
			}
			continue
		}
		if err := f.checkTarget(u.Hostname(), u.Port()); err != nil {
			setRedirects(rec, u.String(), hops)
			fail(rec, wire.ErrorBlockedAddress, err)
			f.countRefused(rec, err)
			return noRelease, nil
		}
		verdict, err := f.robots.Decide(ctx, u)
		if err == nil && !verdict.Allowed {
			setRedirects(rec, u.String(), hops)
			if verdict.Until.IsZero() {
				fail(rec, wire.ErrorRobots, errors.New(verdict.Reason))
			} else { // no rule forbids the address, but robots.txt is not available for now
				f.postpone(rec, u, verdict.Until, errors.New(verdict.Reason))
			}
			return noRelease, nil
		}
		var r *response
		if err == nil {
			req := polite.NewRequest(ctx, u)
			if len(hops) == 0 { // the validators belong to the first address (RFC 9110, section 15.4)
				setConditions(req.Header, rec)
			}
			c.send(u.String(), cookies, req.Header)
			r, err = f.request(req, u.String(), metadata(rec, len(hops)))
		}
		if err != nil {
			if archiving, ok := errors.AsType[*WARCError](err); ok {
				return noRelease, archiving.error
			}
			if proxy, ok := errors.AsType[*web.ProxyError](err); ok && proxy.Down {
				return noRelease, &web.ProxyError{Err: nameTimeout(proxy.Err), Down: true}
			}
			setRedirects(rec, u.String(), hops)
			f.setError(ctx, rec, u, err)
			f.countRefused(rec, err)
			return noRelease, nil
		}
		took += r.took
		if location := message.Location(r.response.StatusCode, r.response.Header); location != "" {
			r.release()
			c.keep(u, r.response.Header)
			hops = append(hops, archive.Hop{URL: u.String(), StatusCode: r.response.StatusCode})
			if u, err = u.Resolve(location); err != nil {
				setRedirects(rec, hops[len(hops)-1].URL, hops)
				fail(rec, wire.ErrorBadURL, fmt.Errorf("a redirect to %q: %w", truncate(location, 200), err))
				return noRelease, nil
			}
			if f.Partition.Of > 1 && f.endAtPartition(rec, hops, u.String()) {
				rec.FetchMS = took.Milliseconds()
				return noRelease, nil
			}
			continue
		}
		r.page.URL, r.page.Hops = u.String(), hops
		describe(rec, r.page, r.failed, f.maxSize, keep)
		appendDetail(rec, r.remark)
		rec.FetchMS = took.Milliseconds()
		if r.refused {
			rec.Drop(wire.Body)
			if r.page.StatusCode < 300 {
				refuseType(rec)
			}
		}
		var until time.Time
		if r.page.StatusCode >= 400 {
			until = r.page.Time.Add(polite.RetryAfter(r.page.Header, r.page.Time))
		}
		f.setNotBefore(rec, u, until, r.page.Time)
		return r.release, nil
	}
}

// noRelease is the release function of records that hold no slot.
func noRelease() {}

// fromArchives puts the response to u into rec, if the archives hold it, and returns true. If
// they hold only redirects, it returns a page with these and the address where they end.
func (f *fetcher) fromArchives(ctx context.Context, rec *wire.Record, u weburl.URL, hops []archive.Hop, keep func(body []byte)) (release func(), page *archive.Page, ok bool) {
	if f.archives == nil {
		return noRelease, nil, false
	}
	s := &slot{f: f}
	if s.acquire(ctx) != nil {
		return noRelease, nil, false
	}
	page, err := f.archives.Fetch(u.String())
	if page == nil || page.Response == nil {
		s.release()
		return noRelease, page, false
	}
	page.Hops = slices.Concat(hops, page.Hops)
	describe(rec, page, err, f.MaxBody, keep)
	if rec.Error == "" && !accepts(f.MIME, page.ContentType()) {
		refuseType(rec)
	}
	if len(page.Body) > largeBody {
		s.reserveDecoding(ctx)
	}
	return s.release, page, true
}

// setConditions makes a request conditional, if rec has a validator of an earlier response
// (RFC 9110, section 13).
func setConditions(h http.Header, rec *wire.Record) {
	const maxLen = 1 << 10
	for name, value := range map[string]string{"If-None-Match": rec.ETag, "If-Modified-Since": rec.LastModified} {
		if value != "" && len(value) <= maxLen && strings.IndexFunc(value, func(c rune) bool { return c < ' ' || c > '~' }) < 0 {
			h.Set(name, value)
		}
	}
}

// setError puts err into rec; u is the address that it concerns.
func (f *fetcher) setError(ctx context.Context, rec *wire.Record, u weburl.URL, err error) {
	if held, ok := errors.AsType[*polite.HoldError](err); ok && ctx.Err() == nil {
		f.postpone(rec, u, held.Until, err)
		return
	}
	code := classify(ctx, err)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	fail(rec, code, nameTimeout(err))
	f.setNotBefore(rec, u, time.Time{}, time.Time{})
}

// countRefused counts rec if err prevented the request. It does not count addresses that are refused
// for their port, because no single flag would allow them all.
func (f *fetcher) countRefused(rec *wire.Record, err error) {
	if rec.Error != wire.ErrorBlockedAddress || len(rec.Redirects) > 0 {
		return
	}
	if _, ok := errors.AsType[portError](err); ok {
		return
	}
	if _, ok := errors.AsType[manyPortsError](err); ok {
		return
	}
	if _, ok := errors.AsType[policyError](err); ok {
		f.counts.policy.Add(1)
	} else {
		f.counts.private.Add(1)
	}
}

// postpone records that u must not be requested before until. The address of rec, from which
// redirects may have led to u, is returned unfetched (budget).
func (f *fetcher) postpone(rec *wire.Record, u weburl.URL, until time.Time, why error) {
	fail(rec, wire.ErrorBudget, why)
	f.setNotBefore(rec, u, until, time.Time{})
}

// setNotBefore records when the host of u, which is the host of final_url, may be requested
// again. This is the later one of until, if that is after now, and the end of the host's
// back-off.
func (f *fetcher) setNotBefore(rec *wire.Record, u weburl.URL, until, now time.Time) {
	if !until.After(now) {
		until = time.Time{}
	}
	if held := f.polite.HeldUntil(u.Host()); held.After(until) {
		until = held
	}
	rec.NotBefore = notBefore(until)
}

// metadata returns the metadata of the address of rec for the WARC file.
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

// isLoopback reports whether a host name can only be this machine.
func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return ip != nil && ip.IsLoopback()
}
