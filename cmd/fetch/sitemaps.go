package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"spoor/internal/sitemap"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// Bounds of what one origin's sitemaps may take.
const (
	maxSitemaps       = 50       // files
	maxSitemapDepth   = 3        // indexes on the way to a file
	maxSitemapEntries = 50_000   // addresses of all files
	maxSitemapBytes   = 16 << 20 // of the addresses of one file, so that its record is no longer than a page's
	maxSitemapNames   = 16 << 10 // bytes of the addresses of all files, as thousands of origins wait for theirs
)

// sitemapTTL is how long the sitemaps of an origin are left alone.
const sitemapTTL = 24 * time.Hour

// opSitemap is the operator of a sitemap's address.
const opSitemap = "sitemap"

// sitemaps asks each origin for its sitemaps once, as politely as for pages, and
// makes a record of each file: an outcome as that of a page, without body, whose
// links are the addresses that the file lists.
//
// Who may speak for whom: the files that robots.txt of an origin names, wherever
// they are, and those that they name in turn, are believed about the registrable
// domain of that origin, and about nobody else. That is what the protocol calls
// cross-submission, proved by the robots.txt, and a little more than its rule of
// the same host and path, which sites with www and without do not keep.
type sitemaps struct {
	// fetch asks for the address of a record as for a page, of whatever type,
	// puts into it what became of it, and hands the body to keep, where it is good
	// until leave is called. The error is one to end the run with.
	fetch func(ctx context.Context, rec *wire.Record, keep func(body []byte)) (leave func(), err error)

	// named are the addresses that the robots.txt of u's origin names, and failed puts
	// into a record why that is not known.
	named  func(ctx context.Context, u weburl.URL) ([]string, error)
	failed func(ctx context.Context, rec *wire.Record, u weburl.URL, err error)

	// reading holds one for each file that is being read, until its record is
	// written: with 50,000 links each they must not be as many as pages.
	reading chan struct{}

	mu    sync.Mutex
	asked map[string]time.Time // by origin
}

// newSitemaps knows nothing yet.
func newSitemaps() *sitemaps {
	return &sitemaps{reading: make(chan struct{}, 2), asked: map[string]time.Time{}}
}

// sitemaps asks as f asks for pages, but for any type and any length.
func (f *fetcher) sitemaps() *sitemaps {
	s := newSitemaps()
	s.fetch, s.named, s.failed = f.forSitemaps().receive, f.robots.Sitemaps, f.failed
	return s
}

// after asks for the sitemaps of the origin of page, which has been asked for, if
// its server answered and nobody asked within sitemapTTL. Each record goes to
// emit, with what is to be called when it has been written. What cannot be asked
// for now, because a host is held or ctx ends, has a record that says so. If that is
// all of them they are asked for after a later page, once no host is held any more.
func (s *sitemaps) after(ctx context.Context, page *wire.Record, now time.Time, emit func(rec *wire.Record, leave func())) error {
	u, err := weburl.Parse(page.URL)
	if err != nil || !answered(page) {
		return nil
	}
	origin := u.Scheme() + "://" + u.Host()
	if !s.begin(origin, now) {
		return nil
	}
	site := newSitemapsOf(registrableDomain(u))
	named, unknown := s.named(ctx, u)
	for _, address := range named {
		site.add(u, address, origin+"/robots.txt", 0)
	}
	if len(site.files) == 0 {
		site.add(u, "/sitemap.xml", page.URL, 0)
	}
	if unknown != nil { // and so whether anything may be asked for
		rec := site.record(0, page)
		begin(rec)
		s.failed(ctx, rec, u, unknown)
		if !rec.Final() {
			s.later(origin, latest(now, rec.NotBefore))
		}
		emit(rec, free)
		return nil
	}
	heard, from, err := s.follow(ctx, site, page, nil, emit)
	if !heard {
		s.later(origin, latest(now, from))
	}
	return err
}

// again asks for a sitemap that was handed back, or failed, and has come as an address
// now. Whose pages it is believed about says its via, which named it. An index that
// another one named is not followed: chains of them, handed back one by one, have no end.
func (s *sitemaps) again(ctx context.Context, rec *wire.Record, emit func(rec *wire.Record, leave func())) error {
	u, err := weburl.Parse(rec.URL)
	if err != nil {
		begin(rec)
		fail(rec, wire.ErrorBadURL, err)
		emit(rec, free)
		return nil
	}
	site, depth := newSitemapsOf(registrableDomain(u)), 0
	if by, err := weburl.Parse(rec.Via); err == nil {
		site.domain = registrableDomain(by)
		if by.Path() != "/robots.txt" && (by.Host() != u.Host() || u.Path() != "/sitemap.xml") {
			depth = maxSitemapDepth
		}
	}
	site.files, site.seen[u.String()] = []sitemapFile{{u, rec.Via, depth}}, true
	page := &wire.Record{Generation: rec.Generation, Depth: rec.Depth}
	_, _, err = s.follow(ctx, site, page, rec, emit)
	return err
}

// follow asks for the files of site, and those to which they lead. Each has a record as
// of page, the first one first, if that is not nil. If nothing was heard of any of them
// it tells from when on that may be otherwise. What an error leaves over, or the end of
// ctx, has a record that says so.
func (s *sitemaps) follow(ctx context.Context, site *sitemapsOf, page, first *wire.Record, emit func(rec *wire.Record, leave func())) (heard bool, from string, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	for i := 0; i < len(site.files); i++ {
		rec := site.record(i, page)
		if i == 0 && first != nil {
			rec = first
		}
		leave, failure := free, context.Cause(ctx)
		if failure == nil {
			if leave, failure = s.ask(ctx, site, site.files[i], rec); failure != nil {
				err = failure
				end(err)
			}
		}
		if failure != nil {
			begin(rec)
			fail(rec, wire.ErrorBudget, failure)
		}
		heard = heard || rec.Error != wire.ErrorBudget
		from = max(from, rec.NotBefore) // they are of one form
		emit(rec, leave)
	}
	return heard, from, err
}

// ask asks for one file, whose record is rec. When that has been written leave is to be
// called. The error is that of fetch.
func (s *sitemaps) ask(ctx context.Context, site *sitemapsOf, f sitemapFile, rec *wire.Record) (leave func(), err error) {
	var body []byte
	leave, err = s.fetch(ctx, rec, func(b []byte) { body = b })
	if err != nil {
		return leave, err
	}
	s.reading <- struct{}{}
	site.read(f, rec, body)
	leave() // of the body nothing is needed any more
	return func() { <-s.reading }, nil
}

// answered tells whether the server of page's address is known to be there: a
// page came, or a rule or a bound of ours kept it away.
func answered(page *wire.Record) bool {
	switch page.Error {
	case wire.ErrorRobots, wire.ErrorTooLarge, wire.ErrorRedirectLoop, wire.ErrorUnsupportedType:
		return true
	}
	return page.StatusCode != 0 && page.Error != wire.ErrorBudget
}

// begin tells whether the origin's sitemaps are to be asked for, and that they are.
func (s *sitemaps) begin(origin string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.asked[origin]; ok && now.Before(at.Add(sitemapTTL)) {
		return false
	}
	s.asked[origin] = now
	return true
}

// latest is the later one of a time and a not_before.
func latest(t time.Time, notBefore string) time.Time {
	if u, err := time.Parse(time.RFC3339, notBefore); err == nil && u.After(t) {
		return u
	}
	return t
}

// later lets the origin's sitemaps be asked for from then on.
func (s *sitemaps) later(origin string, from time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[origin] = from.Add(-sitemapTTL)
}

// sitemapsOf are the files of one origin. Many origins wait for their next file side
// by side, so the addresses in files are counted, and not kept.
type sitemapsOf struct {
	domain string
	files  []sitemapFile
	seen   map[string]bool // addresses of files
	names  int             // bytes of them
	listed int             // addresses in files
}

// A sitemapFile is one to ask for.
type sitemapFile struct {
	url   weburl.URL
	via   string // robots.txt, an index, or the page where nobody named it
	depth int    // indexes on the way
}

// newSitemapsOf are those of a registrable domain: none so far.
func newSitemapsOf(domain string) *sitemapsOf {
	return &sitemapsOf{domain: domain, seen: map[string]bool{}}
}

// record is that of a file, as of page.
func (s *sitemapsOf) record(i int, page *wire.Record) *wire.Record {
	f := s.files[i]
	return &wire.Record{
		V: wire.Version, URL: f.url.String(), Generation: page.Generation, Depth: page.Depth, Via: f.via, Operator: opSitemap,
	}
}

// add appends the file that ref, on base, stands for, unless it is known, is no
// address, or there are enough.
func (s *sitemapsOf) add(base weburl.URL, ref, via string, depth int) (added bool) {
	u, err := base.Resolve(ref)
	if err != nil || s.seen[u.String()] || len(s.files) == maxSitemaps || depth > maxSitemapDepth || s.names+len(u.String()) > maxSitemapNames {
		return false
	}
	s.names += len(u.String())
	s.seen[u.String()] = true
	s.files = append(s.files, sitemapFile{u, via, depth})
	return true
}

// read makes links of the body of the answer to f, of which rec tells, or more files if
// it is an index. What is left out is told, without an error.
func (s *sitemapsOf) read(f sitemapFile, rec *wire.Record, body []byte) {
	if rec.Error != "" || rec.StatusCode/100 != 2 {
		return
	}
	base := f.url
	if rec.FinalURL != "" {
		if u, err := weburl.Parse(rec.FinalURL); err == nil {
			base = u
		}
	}
	var links []wire.Link
	listed := map[[16]byte]bool{} // hashed: addresses may be of 8 KiB each
	var elsewhere, left, files, size int
	var fault error
	for e, err := range sitemap.Entries(sitemapBody(body, rec.Truncated)) {
		switch u, bad := base.Resolve(e.Loc); {
		case err != nil:
			fault = err
		case e.Kind == sitemap.Index:
			if bad != nil || !s.add(base, e.Loc, f.url.String(), f.depth+1) {
				files++
			}
		case bad != nil || registrableDomain(u) != s.domain:
			elsewhere++
		case listed[hashed(u)] || u == base || u == f.url:
		case s.listed == maxSitemapEntries || size+len(u.String()) > maxSitemapBytes:
			left++
		default:
			link := wire.Link{URL: u.String(), Tag: opSitemap, LastMod: e.LastMod}
			if e.Ranked {
				link.Priority = wire.Num(e.Priority)
			}
			listed[hashed(u)] = true
			s.listed++
			size += len(link.URL)
			links = append(links, link)
		}
	}
	rec.Links, rec.OutDegree = links, len(links)
	rec.Touch(wire.Parse)

	var notes []string
	if rec.ErrorDetail != "" {
		notes = append(notes, rec.ErrorDetail)
	}
	if fault != nil {
		notes = append(notes, fault.Error())
	}
	for _, n := range []struct {
		n    int
		what string
	}{
		{elsewhere, "addresses that are not of " + s.domain},
		{left, "addresses beyond the bounds"},
		{files, "sitemaps that are known or beyond the bounds"},
	} {
		if n.n > 0 {
			notes = append(notes, fmt.Sprintf("%d %s left out", n.n, n.what))
		}
	}
	rec.ErrorDetail = cut(strings.ToValidUTF8(strings.Join(notes, "; "), "\ufffd"), maxDetail)
}

// hashed is the address in few bytes.
func hashed(u weburl.URL) [16]byte {
	sum := sha256.Sum256([]byte(u.String()))
	return [16]byte(sum[:16])
}

// sitemapBody reads a body. One that was cut ends with an error, or its last line could
// be half an address.
func sitemapBody(body []byte, truncated string) io.Reader {
	if truncated == "" {
		return bytes.NewReader(body)
	}
	return io.MultiReader(bytes.NewReader(body), cutOff(truncated))
}

// cutOff is the end of a body that was cut, and why.
type cutOff string

func (c cutOff) Read([]byte) (int, error) { return 0, fmt.Errorf("truncated: %s", string(c)) }

// sitemapsName is the file, in the directory of -state, of what was asked for.
const sitemapsName = "sitemaps.json"

// sitemapsKept bounds the origins in it.
const sitemapsKept = 50_000

// sitemapsState is what the file holds.
type sitemapsState struct {
	Version int                  `json:"spoor-sitemaps"`
	Asked   map[string]time.Time `json:"asked"` // by origin
}

// loadState reads what the last run knew. Where that cannot be read it is
// reported, and written over.
func (s *sitemaps) loadState(dir string, log *slog.Logger, now time.Time) {
	if dir == "" {
		return
	}
	name := filepath.Join(dir, sitemapsName)
	if err := read(name, func(f io.Reader) error { return s.load(f, now) }); err != nil {
		log.Warn("the state cannot be read; beginning without", "file", name, "err", err)
	}
}

// saveState writes what the next run is to know.
func (s *sitemaps) saveState(dir string, now time.Time) error {
	if dir == "" {
		return nil
	}
	return replace(filepath.Join(dir, sitemapsName), func(f io.Writer) error { return s.save(f, now) })
}

// load reads which origins were asked not long before now. If there is an error
// nothing is known.
func (s *sitemaps) load(r io.Reader, now time.Time) error {
	var state sitemapsState
	if err := json.NewDecoder(io.LimitReader(r, 1<<26)).Decode(&state); err != nil {
		return err
	}
	if state.Version != 1 {
		return fmt.Errorf("version %d of the state is not known, only 1", state.Version)
	}
	if len(state.Asked) > sitemapsKept {
		return fmt.Errorf("%d origins are more than the %d that are kept", len(state.Asked), sitemapsKept)
	}
	for origin, at := range state.Asked {
		if !at.After(now) { // or a clock that was set back would silence an origin
			s.asked[origin] = at
		}
	}
	return nil
}

// save writes what load reads. Origins that may be asked again at now are left
// out, and of too many the first that may be.
func (s *sitemaps) save(w io.Writer, now time.Time) error {
	s.mu.Lock()
	state := sitemapsState{Version: 1, Asked: maps.Clone(s.asked)}
	s.mu.Unlock()
	maps.DeleteFunc(state.Asked, func(_ string, at time.Time) bool { return !now.Before(at.Add(sitemapTTL)) })
	if n := len(state.Asked) - sitemapsKept; n > 0 {
		origins := slices.SortedFunc(maps.Keys(state.Asked), func(a, b string) int {
			return cmp.Or(state.Asked[a].Compare(state.Asked[b]), strings.Compare(a, b))
		})
		for _, origin := range origins[:n] {
			delete(state.Asked, origin)
		}
	}
	return json.NewEncoder(w).Encode(state)
}
