package crawler

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"spoor/internal/scope"
	"spoor/internal/sitemap"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// Bounds of the sitemaps of one origin.
const (
	maxSitemaps       = 50       // files
	maxSitemapDepth   = 3        // indexes on the path to a file
	maxSitemapEntries = 50_000   // addresses in all files
	maxSitemapBytes   = 16 << 20 // bytes of the addresses in one file, so that its record is no longer than a page record
	maxSitemapNames   = 16 << 10 // bytes of the addresses of all files, because thousands of origins may wait at a time
)

// sitemapTTL is the time after which the sitemaps of an origin are fetched again.
const sitemapTTL = 24 * time.Hour

const sitemapOperator = "sitemap"

// An emitFunc gets a record to be written. It calls release when the record has been written.
type emitFunc func(rec *wire.Record, release func())

// sitemaps fetches the sitemaps of each origin once, as politely as pages. Each file becomes
// a record: an outcome as for a page, without a body, whose links are the addresses
// that the file lists.
//
// The sitemaps that the robots.txt of an origin names may be on any host (cross-submission, in
// the sitemap protocol; robots.txt is the proof). These sitemaps, and those that they name in
// turn, may list only addresses of the registrable domain of the origin. The rule of the
// protocol, same host and path, is stricter, but sites with and without www break it.
type sitemaps struct {
	// fetch is [fetcher.fetch], for any media type.
	fetch func(ctx context.Context, rec *wire.Record, keep func(body []byte)) (release func(), err error)

	// listed returns the sitemaps that the robots.txt of u's origin lists. If listed fails,
	// setError puts the error into a record.
	listed   func(ctx context.Context, u weburl.URL) ([]string, error)
	setError func(ctx context.Context, rec *wire.Record, u weburl.URL, err error)

	// parsing is a semaphore that limits how many files are in memory between parsing and the
	// writing of their record: records with 50,000 links are large.
	parsing chan struct{}

	mu      sync.Mutex
	fetched map[string]time.Time // time of the last fetch, by origin
}

func newSitemaps() *sitemaps {
	return &sitemaps{parsing: make(chan struct{}, 2), fetched: map[string]time.Time{}}
}

// newSitemaps returns sitemaps that fetch with the transports and robots.txt of f.
func (f *fetcher) newSitemaps() *sitemaps {
	s := newSitemaps()
	s.fetch, s.listed, s.setError = f.forSitemaps().fetch, f.robots.Sitemaps, f.setError
	return s
}

// fetchOf fetches the sitemaps of the origin of page, which has just been fetched. It does so
// only if the server has responded and the sitemaps were not fetched within sitemapTTL. If a
// sitemap cannot be fetched now, because its host is held or ctx ends, its record has the error
// "budget". If no sitemap can be fetched now, all are fetched after a later page of the origin.
func (s *sitemaps) fetchOf(ctx context.Context, page *wire.Record, now time.Time, emit emitFunc) error {
	u, err := weburl.Parse(page.URL)
	if err != nil || !responded(page) {
		return nil
	}
	origin := u.Scheme() + "://" + u.Host()
	if !s.claim(origin, now) {
		return nil
	}
	site := newSite(scope.Site(u))
	listed, listErr := s.listed(ctx, u)
	for _, address := range listed {
		site.add(u, address, origin+"/robots.txt", 0)
	}
	if len(site.files) == 0 {
		site.add(u, "/sitemap.xml", page.URL, 0)
	}
	if listErr != nil { // without robots.txt it is unknown what may be fetched
		rec := site.record(0, page)
		reset(rec)
		s.setError(ctx, rec, u, listErr)
		if !rec.Final() {
			s.retryAfter(origin, later(now, rec.NotBefore))
		}
		emit(rec, noRelease)
		return nil
	}
	anyOutcome, notBefore, err := s.fetchFiles(ctx, site, page, nil, emit)
	if !anyOutcome {
		s.retryAfter(origin, later(now, notBefore))
	}
	return err
}

// fetchReturned fetches a sitemap whose address is in the input, because it failed or was
// returned unfetched earlier. The sitemap may list addresses of the registrable domain of its
// via, the file that lists it. If it is an index that another index lists, its files are not
// fetched, because such indexes could form an endless chain.
func (s *sitemaps) fetchReturned(ctx context.Context, rec *wire.Record, emit emitFunc) error {
	u, err := weburl.Parse(rec.URL)
	if err != nil {
		reset(rec)
		fail(rec, wire.ErrorBadURL, err)
		emit(rec, noRelease)
		return nil
	}
	site, depth := newSite(scope.Site(u)), 0
	if via, err := weburl.Parse(rec.Via); err == nil {
		site.domain = scope.Site(via)
		if via.Path() != "/robots.txt" && (via.Host() != u.Host() || u.Path() != "/sitemap.xml") {
			depth = maxSitemapDepth
		}
	}
	site.files, site.seen[u.String()] = []sitemapFile{{u, rec.Via, depth}}, true
	page := &wire.Record{Generation: rec.Generation, Depth: rec.Depth}
	_, _, err = s.fetchFiles(ctx, site, page, rec, emit)
	return err
}

// fetchFiles fetches the files of site, and the files that these list. Each gets a record with
// the generation and depth of page; the record of the first file is first, if that is not nil.
// fetchFiles reports whether any file has an outcome other than "budget", and returns the latest
// not_before. After an error, or the end of ctx, the records of the remaining files have the
// error "budget".
func (s *sitemaps) fetchFiles(ctx context.Context, site *site, page, first *wire.Record, emit emitFunc) (anyOutcome bool, notBefore string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for i := 0; i < len(site.files); i++ {
		rec := site.record(i, page)
		if i == 0 && first != nil {
			rec = first
		}
		release, unfetched := noRelease, context.Cause(ctx)
		if unfetched == nil {
			if release, unfetched = s.fetchFile(ctx, site, site.files[i], rec); unfetched != nil {
				err = unfetched
				cancel(err)
			}
		}
		if unfetched != nil {
			failUnfetched(rec, unfetched)
		}
		anyOutcome = anyOutcome || rec.Error != wire.ErrorBudget
		notBefore = max(notBefore, rec.NotBefore) // the strings compare as times, because their format is fixed
		emit(rec, release)
	}
	return anyOutcome, notBefore, err
}

func (s *sitemaps) fetchFile(ctx context.Context, site *site, f sitemapFile, rec *wire.Record) (release func(), err error) {
	var body []byte
	release, err = s.fetch(ctx, rec, func(b []byte) { body = b })
	if err != nil {
		return release, err
	}
	s.parsing <- struct{}{}
	site.parse(f, rec, body)
	release() // the record does not refer to the body
	return func() { <-s.parsing }, nil
}

// responded reports whether the server of page is known to exist: it has sent a response, or
// only robots.txt or a limit of the crawler prevented a page.
func responded(page *wire.Record) bool {
	switch page.Error {
	case wire.ErrorRobots, wire.ErrorTooLarge, wire.ErrorRedirectLoop, wire.ErrorUnsupportedType:
		return true
	}
	return page.StatusCode != 0 && page.Error != wire.ErrorBudget
}

// claim reports whether the sitemaps of origin must be fetched now. If so, it records them as
// fetched, so that only one caller fetches them.
func (s *sitemaps) claim(origin string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.fetched[origin]; ok && now.Before(at.Add(sitemapTTL)) {
		return false
	}
	s.fetched[origin] = now
	return true
}

func later(t time.Time, notBefore string) time.Time {
	if u, err := time.Parse(time.RFC3339, notBefore); err == nil && u.After(t) {
		return u
	}
	return t
}

// retryAfter permits to fetch the sitemaps of origin again from t on.
func (s *sitemaps) retryAfter(origin string, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetched[origin] = t.Add(-sitemapTTL)
}

// A site holds the sitemaps of one origin. Because many origins wait for their next file at the
// same time, the addresses in files are counted, but not kept.
type site struct {
	domain string
	files  []sitemapFile
	seen   map[string]bool // addresses of files
	names  int             // total length of these addresses, in bytes
	listed int             // number of addresses in files
}

type sitemapFile struct {
	url   weburl.URL
	via   string // robots.txt, an index, or the page if nothing lists it
	depth int    // number of indexes on the path
}

// newSite returns a site without files, which may list addresses of a registrable domain.
func newSite(domain string) *site { return &site{domain: domain, seen: map[string]bool{}} }

// record returns a record for file i, with the generation and depth of page.
func (s *site) record(i int, page *wire.Record) *wire.Record {
	f := s.files[i]
	return &wire.Record{
		V: wire.Version, URL: f.url.String(), Generation: page.Generation, Depth: page.Depth, Via: f.via, Operator: sitemapOperator,
	}
}

// add adds the file at the address ref, relative to base, and returns true. It returns false
// if the address is known or invalid, or the file would exceed the bounds.
func (s *site) add(base weburl.URL, ref, via string, depth int) (added bool) {
	u, err := base.Resolve(ref)
	if err != nil || s.seen[u.String()] || len(s.files) == maxSitemaps || depth > maxSitemapDepth || s.names+len(u.String()) > maxSitemapNames {
		return false
	}
	s.names += len(u.String())
	s.seen[u.String()] = true
	s.files = append(s.files, sitemapFile{u, via, depth})
	return true
}

// parse stores the addresses in the body of f as links in rec, the record of f. If f is an
// index, it adds them as files. The numbers of omitted addresses are recorded in error_detail,
// without an error.
func (s *site) parse(f sitemapFile, rec *wire.Record, body []byte) {
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
	linked := map[[16]byte]bool{} // hashes of addresses, since an address may have 8 KiB
	var foreign, excess, files, size int
	var fault error
	for e, err := range sitemap.Entries(sitemapBody(body, rec.Truncated)) {
		switch u, bad := base.Resolve(e.Loc); {
		case err != nil:
			fault = err
		case e.Kind == sitemap.Index:
			if bad != nil || !s.add(base, e.Loc, f.url.String(), f.depth+1) {
				files++
			}
		case bad != nil || scope.Site(u) != s.domain:
			foreign++
		case linked[hash(u)] || u == base || u == f.url:
		case s.listed == maxSitemapEntries || size+len(u.String()) > maxSitemapBytes:
			excess++
		default:
			link := wire.Link{URL: u.String(), Tag: sitemapOperator, LastMod: e.LastMod}
			if e.Ranked {
				link.Priority = wire.Num(e.Priority)
			}
			linked[hash(u)] = true
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
	for _, omitted := range []struct {
		n    int
		what string
	}{
		{foreign, "addresses that are not of " + s.domain},
		{excess, "addresses beyond the bounds"},
		{files, "sitemaps that are known or beyond the bounds"},
	} {
		if omitted.n > 0 {
			notes = append(notes, fmt.Sprintf("%d %s left out", omitted.n, omitted.what))
		}
	}
	rec.ErrorDetail = detail(strings.Join(notes, "; "))
}

// hash returns a hash of an address, which needs less memory.
func hash(u weburl.URL) [16]byte {
	sum := sha256.Sum256([]byte(u.String()))
	return [16]byte(sum[:16])
}

// sitemapBody returns a reader of a body. If the body was truncated, the reader ends with an
// error, because the last address may be incomplete.
func sitemapBody(body []byte, truncated string) io.Reader {
	if truncated == "" {
		return bytes.NewReader(body)
	}
	return io.MultiReader(bytes.NewReader(body), errReader{fmt.Errorf("truncated: %s", truncated)})
}

const maxSitemapOrigins = 50_000

type sitemapState struct {
	Version int                  `json:"spoor-sitemaps"`
	Fetched map[string]time.Time `json:"asked"` // by origin
}

// load reads the output of save. After an error it has loaded nothing.
func (s *sitemaps) load(r io.Reader, now time.Time) error {
	var state sitemapState
	if err := json.NewDecoder(io.LimitReader(r, 1<<26)).Decode(&state); err != nil {
		return err
	}
	if state.Version != 1 {
		return fmt.Errorf("version %d of the state is not known, only 1", state.Version)
	}
	if len(state.Fetched) > maxSitemapOrigins {
		return fmt.Errorf("%d origins are more than the %d that are kept", len(state.Fetched), maxSitemapOrigins)
	}
	for origin, at := range state.Fetched {
		if !at.After(now) { // otherwise a clock that was set back would exclude an origin
			s.fetched[origin] = at
		}
	}
	return nil
}

// save writes the times at which the sitemaps of origins were fetched. It omits origins whose
// sitemaps may be fetched again at now and, if there are too many, the oldest times.
func (s *sitemaps) save(w io.Writer, now time.Time) error {
	s.mu.Lock()
	state := sitemapState{Version: 1, Fetched: maps.Clone(s.fetched)}
	s.mu.Unlock()
	maps.DeleteFunc(state.Fetched, func(_ string, at time.Time) bool { return !now.Before(at.Add(sitemapTTL)) })
	if n := len(state.Fetched) - maxSitemapOrigins; n > 0 {
		origins := slices.SortedFunc(maps.Keys(state.Fetched), func(a, b string) int {
			return cmp.Or(state.Fetched[a].Compare(state.Fetched[b]), strings.Compare(a, b))
		})
		for _, origin := range origins[:n] {
			delete(state.Fetched, origin)
		}
	}
	return json.NewEncoder(w).Encode(state)
}
