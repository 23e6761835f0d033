package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
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
	// and puts into it what became of it, body included. When the record has been
	// written leave is to be called. The error is one to end the run with.
	fetch func(ctx context.Context, rec *wire.Record) (leave func(), err error)

	// named are the sitemap lines of the robots.txt of u's origin. It is not
	// known if it was not asked for in this run, or gave no answer.
	named func(u weburl.URL) (lines []string, known bool)

	// reading holds one for each file that is being read, until its record is
	// written: with 50,000 links each they must not be as many as pages.
	reading chan struct{}

	mu    sync.Mutex
	asked map[string]time.Time // by origin
}

// newSitemaps asks through fetch for what named tells.
func newSitemaps(fetch func(context.Context, *wire.Record) (func(), error), named func(weburl.URL) ([]string, bool)) *sitemaps {
	return &sitemaps{fetch: fetch, named: named, reading: make(chan struct{}, 2), asked: map[string]time.Time{}}
}

// after asks for the sitemaps of the origin of page, if it was asked for page as
// the first of this run and nobody asked within sitemapTTL. Each record goes to
// emit, with what is to be called when it has been written. What cannot be asked
// for now, because a host is held or ctx ends, is given up without a record.
func (s *sitemaps) after(ctx context.Context, page *wire.Record, now time.Time, emit func(rec *wire.Record, leave func())) error {
	u, err := weburl.Parse(page.URL)
	if err != nil {
		return nil
	}
	lines, known := s.named(u)
	origin := u.Scheme() + "://" + u.Host()
	if !known || !s.begin(origin, now) {
		return nil
	}
	emitted := false
	defer func() {
		if !emitted {
			s.forget(origin)
		}
	}()
	robotsURL, err := u.Resolve("/robots.txt")
	if err != nil {
		return nil
	}
	site := &sitemapsOf{domain: u.Domain(), seen: map[string]bool{}, listed: map[string]bool{}}
	for _, line := range lines {
		site.add(robotsURL, line, robotsURL.String(), 0)
	}
	if len(site.files) == 0 {
		site.add(u, "/sitemap.xml", page.URL, 0)
	}
	for i := 0; i < len(site.files) && ctx.Err() == nil; i++ {
		f := site.files[i]
		rec := &wire.Record{
			V: wire.Version, URL: f.url.String(), Generation: page.Generation, Depth: page.Depth, Via: f.via, Operator: opSitemap,
		}
		leave, err := s.fetch(ctx, rec)
		if err != nil {
			return err
		}
		if rec.Error == wire.ErrorBudget {
			leave()
			continue
		}
		s.reading <- struct{}{}
		site.read(f, rec)
		emitted = true
		emit(rec, func() {
			<-s.reading
			leave()
		})
	}
	return nil
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

func (s *sitemaps) forget(origin string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asked, origin)
}

// sitemapsOf are the files of one origin.
type sitemapsOf struct {
	domain string
	files  []sitemapFile
	seen   map[string]bool // addresses of files
	listed map[string]bool // addresses in files
}

// A sitemapFile is one to ask for.
type sitemapFile struct {
	url   weburl.URL
	via   string // robots.txt, an index, or the page where nobody named it
	depth int    // indexes on the way
}

// add appends the file that ref, on base, stands for, unless it is known, is no
// address, or there are enough.
func (s *sitemapsOf) add(base weburl.URL, ref, via string, depth int) (added bool) {
	u, err := base.Resolve(ref)
	if err != nil || s.seen[u.String()] || len(s.files) == maxSitemaps || depth > maxSitemapDepth {
		return false
	}
	s.seen[u.String()] = true
	s.files = append(s.files, sitemapFile{u, via, depth})
	return true
}

// read makes links of the body of rec, which is the answer to f, or more files of
// it if it is an index. What is left out is told, without an error.
func (s *sitemapsOf) read(f sitemapFile, rec *wire.Record) {
	defer rec.Drop(wire.Body)
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
	var elsewhere, left, files, size int
	var fault error
	for e, err := range sitemap.Entries(sitemapBody(rec)) {
		switch u, bad := base.Resolve(e.Loc); {
		case err != nil:
			fault = err
		case e.Kind == sitemap.Index:
			if bad != nil || !s.add(base, e.Loc, f.url.String(), f.depth+1) {
				files++
			}
		case bad != nil || u.Domain() != s.domain:
			elsewhere++
		case s.listed[u.String()] || u == base || u == f.url:
		case len(s.listed) == maxSitemapEntries || size+len(u.String()) > maxSitemapBytes:
			left++
		default:
			link := wire.Link{URL: u.String(), Tag: opSitemap, LastMod: e.LastMod}
			if e.Ranked {
				link.Priority = wire.Num(e.Priority)
			}
			s.listed[link.URL] = true
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

// sitemapBody reads the body of rec. One that was cut ends with an error, or its
// last line could be half an address.
func sitemapBody(rec *wire.Record) io.Reader {
	var body io.Reader = strings.NewReader(rec.Body)
	if rec.BodyBase64 != "" {
		body = base64.NewDecoder(base64.StdEncoding, strings.NewReader(rec.BodyBase64))
	}
	if rec.Truncated != "" {
		body = io.MultiReader(body, cutOff(rec.Truncated))
	}
	return body
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

// load reads which origins were asked not long before now. A file that is not
// there says nothing; one that cannot be read is an error, and says nothing too.
func (s *sitemaps) load(dir string, now time.Time) error {
	f, err := os.Open(filepath.Join(dir, sitemapsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var state sitemapsState
	if err := json.NewDecoder(io.LimitReader(f, 1<<26)).Decode(&state); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	if state.Version != 1 {
		return fmt.Errorf("%s: version %d is not known, only 1", f.Name(), state.Version)
	}
	for origin, at := range state.Asked {
		if !at.After(now) && len(s.asked) < sitemapsKept { // the clock may have been set back
			s.asked[origin] = at
		}
	}
	return nil
}

// save writes what load reads, as a whole or not at all. Origins that may be asked
// again at now are left out.
func (s *sitemaps) save(dir string, now time.Time) (err error) {
	s.mu.Lock()
	state := sitemapsState{Version: 1, Asked: maps.Clone(s.asked)}
	s.mu.Unlock()
	maps.DeleteFunc(state.Asked, func(_ string, at time.Time) bool { return !now.Before(at.Add(sitemapTTL)) })
	name := filepath.Join(dir, sitemapsName)
	f, err := os.Create(name + ".part")
	if err != nil {
		return err
	}
	err = json.NewEncoder(f).Encode(state)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(f.Name())
		return err
	}
	return os.Rename(f.Name(), name)
}
