package closedweb

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"spoor/internal/archive"
	"spoor/internal/graph"
	"spoor/internal/judge"
	"spoor/internal/page"
	"spoor/internal/weburl"
)

// ArchiveOptions are the options of [FromArchives].
type ArchiveOptions struct {
	Pick    archive.Pick // which of several captures of an address is used
	Cache   string       // directory for caches that cannot be written beside the archives; "" for none
	Workers int          // number of pages that are parsed at a time; at least one

	// BadRecord is called for each part of an archive that cannot be read and is left
	// out. It may be nil.
	BadRecord func(archive string, err error)

	// LinksRead is called if the links were read from the archives, and not from the cache
	// of an earlier call. It may be nil.
	LinksRead func(Size)
}

// A Size is the size of an archived web.
type Size struct{ Pages, Redirects, Links int }

// ErrPipe is returned for an archive that is read from a pipe.
var ErrPipe = errors.New("an archive cannot be read from a pipe: reading links requires random access\nhint: save the archive to a file")

// FromArchives returns the web in WARC, ARC and WACZ archives: the pages that fetch -archive
// returns, and the links that parse finds on them. Links to redirects lead to the page at their
// end. Names may be files, directories and patterns. The pages have no labels yet.
//
// Reading the links takes as long as parsing all pages. So they are cached in a file beside the
// first archive or, if that cannot be written, in the cache directory, until an archive changes.
func FromArchives(names []string, o ArchiveOptions) (*Web, error) {
	if slices.Contains(names, archive.Input) {
		return nil, ErrPipe
	}
	paths, err := archive.Files(names)
	if err != nil {
		return nil, openError(err)
	}
	files, err := archiveFiles(paths)
	if err != nil {
		return nil, openError(err)
	}
	header := cacheHeader{Version: cacheVersion, Capture: o.Pick.String(), Archives: files}
	a, err := cached(cachePath(paths[0], o.Cache), header, func() (*archiveWeb, error) {
		replay, err := archive.OpenReplay(names, archive.ReplayOptions{
			Index: archive.IndexOptions{Cache: o.Cache, Report: o.BadRecord},
			Pick:  o.Pick,
		})
		if err != nil {
			return nil, openError(err)
		}
		defer replay.Close()
		a := readArchives(replay, o.Workers)
		if o.LinksRead != nil {
			o.LinksRead(Size{a.pages.len(), a.aliases.len(), a.graph.NumLinks()})
		}
		return a, nil
	})
	if err != nil {
		return nil, err
	}
	return a.web(), nil
}

// openError adds a hint to the error of opening an archive.
func openError(err error) error {
	err = fmt.Errorf("opening an archive: %w", err)
	if errors.Is(err, archive.ErrNotWARC) || errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w\nhint: -archive takes WARC, ARC and WACZ files, also compressed, and directories of them", err)
	}
	return err
}

// An archiveWeb is the web in archives. It contains the addresses for which the archives hold a
// page, or redirects that lead to a page.
type archiveWeb struct {
	pages   addressList // addresses of pages, after all redirects
	aliases addressList // addresses that redirect to a page
	targets []int32     // the page of each alias
	graph   graph.CSR   // links between pages, in the order on the page; without duplicates, and without links from a page to itself
}

// web returns the web without its labels.
func (a *archiveWeb) web() *Web {
	w := &Web{Web: judge.NewWeb(a.graph), Source: "archive", followFinal: true}
	hosts := Numbers{}
	for i := range w.Host {
		w.Host[i] = hosts.Of(weburl.Host(a.pages.at(i)))
	}
	w.find = func(address string) PageID {
		url, err := weburl.Canonical(address)
		if err != nil {
			return PageID{Page: judge.None, Key: address}
		}
		if page, ok := a.find(url); ok {
			return PageID{Page: page}
		}
		return PageID{Page: judge.None, Key: url}
	}
	return w
}

// find returns the number of the page to which an address leads.
func (a *archiveWeb) find(address string) (page int32, ok bool) {
	if i, ok := a.pages.find(address); ok {
		return int32(i), true
	}
	if i, ok := a.aliases.find(address); ok {
		return a.targets[i], true
	}
	return 0, false
}

// An addressList is a sorted list of addresses without duplicates, in one string.
type addressList struct {
	text string
	ends []int // the end of each address in text
}

func (l *addressList) len() int { return len(l.ends) }

func (l *addressList) at(i int) string {
	start := 0
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.text[start:l.ends[i]]
}

func (l *addressList) find(address string) (int, bool) {
	return sort.Find(l.len(), func(i int) int { return strings.Compare(address, l.at(i)) })
}

// newAddressList returns the list of addresses, which must be sorted and without duplicates.
func newAddressList(sorted []string) addressList {
	l := addressList{text: strings.Join(sorted, ""), ends: make([]int, len(sorted))}
	end := 0
	for i, s := range sorted {
		end += len(s)
		l.ends[i] = end
	}
	return l
}

// A capture describes what the archives hold for an address. Addresses are given as numbers.
type capture struct {
	page  int32   // the address itself, the address to which it redirects, or judge.None
	links []int32 // the links of the page to captured addresses
}

// readArchives reads the pages of archives with the given number of workers. If an index proves to be
// wrong meanwhile, it starts again.
func readArchives(replay *archive.Replay, workers int) *archiveWeb {
	for {
		rebuilt := replay.Rebuilt()
		r := newArchiveReader(replay, max(1, workers))
		r.resolve()
		r.readPages()
		r.readOthers()
		if replay.Rebuilt() == rebuilt {
			return newArchiveWeb(r.addresses, r.captures)
		}
	}
}

// An archiveReader reads what archives hold for all addresses.
type archiveReader struct {
	replay    *archive.Replay
	workers   int
	addresses []string          // sorted
	number    map[string]int32  // the number of each address
	captures  []capture         // by number
	read      []bool            // by number: captures has the result
	used      []archive.Capture // pages and redirects of the addresses
}

func newArchiveReader(replay *archive.Replay, workers int) *archiveReader {
	r := &archiveReader{replay: replay, workers: workers, addresses: replay.URLs()}
	r.number = make(map[string]int32, len(r.addresses))
	for i, a := range r.addresses {
		r.number[a] = int32(i)
	}
	r.captures = make([]capture, len(r.addresses))
	r.read = make([]bool, len(r.addresses))
	return r
}

// resolve follows the redirects of all addresses, and finds the captures of redirects and pages. Many
// addresses may redirect to one page: it is read only for its own address.
func (r *archiveReader) resolve() {
	r.used = make([]archive.Capture, len(r.addresses))
	var mu sync.Mutex
	var more []archive.Capture
	r.parallel(func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			url, used, err := r.replay.Resolve(r.addresses[i])
			if len(used) > 0 {
				r.used[i] = used[0]
			}
			switch {
			case errors.Is(err, archive.ErrNotArchived) || errors.Is(err, archive.ErrRedirectLoop):
				r.captures[i], r.read[i] = capture{page: judge.None}, true
			case err != nil:
			case url != r.addresses[i]:
				r.captures[i], r.read[i] = capture{page: r.numberOf(url)}, true
			case len(used) > 1: // the redirects lead back
				mu.Lock()
				more = append(more, used[len(used)-1])
				mu.Unlock()
			}
		}
	})
	r.used = slices.DeleteFunc(append(r.used, more...), func(c archive.Capture) bool { return c.URL == "" })
}

// readPages reads the links of pages in the order of the archives. One goroutine reads the archives,
// while the workers parse.
func (r *archiveReader) readPages() {
	pages := make(chan *archive.Page, r.workers)
	go func() {
		defer close(pages)
		for p := range r.replay.ReadInOrder(r.used) {
			pages <- p
		}
		r.used = nil
	}()
	var group sync.WaitGroup
	for range r.workers {
		group.Go(func() {
			x := newExtractor()
			for p := range pages {
				i := r.number[p.URL]
				r.captures[i], r.read[i] = capture{page: i, links: r.links(x, p)}, true
			}
		})
	}
	group.Wait()
}

// readOthers reads the addresses that are left: revisits, and captures that are damaged or large.
func (r *archiveReader) readOthers() {
	r.parallel(func(next func() (int, bool)) {
		x := newExtractor()
		for i, ok := next(); ok; i, ok = next() {
			if !r.read[i] {
				r.captures[i] = r.fetch(x, r.addresses[i])
			}
		}
	})
}

// parallel calls work on each worker, with a function that returns the number of the next address.
func (r *archiveReader) parallel(work func(next func() (int, bool))) {
	var started atomic.Int64
	next := func() (int, bool) {
		i := int(started.Add(1) - 1)
		return i, i < len(r.addresses)
	}
	var group sync.WaitGroup
	for range r.workers {
		group.Go(func() { work(next) })
	}
	group.Wait()
}

// numberOf returns the number of an address, or judge.None.
func (r *archiveReader) numberOf(address string) int32 {
	if i, ok := r.number[address]; ok {
		return i
	}
	return judge.None
}

// fetch reads what the archives hold for an address.
func (r *archiveReader) fetch(x *page.Extractor, address string) capture {
	p, err := r.replay.Fetch(address)
	if p == nil || p.Response == nil {
		return capture{page: judge.None}
	}
	c := capture{page: r.numberOf(p.URL)}
	if p.URL != address || err != nil && max(len(p.Body), len(p.Raw)) < archive.DefaultBody {
		return c // an alias, or a damaged body: the commands fetch and parse would not find its links either
	}
	c.links = r.links(x, p)
	return c
}

func newExtractor() *page.Extractor {
	x := page.NewExtractor()
	x.LinksOnly = true
	return x
}

// links returns the numbers of the captured addresses to which a page links.
func (r *archiveReader) links(x *page.Extractor, p *archive.Page) (links []int32) {
	content := x.Extract(page.Document{
		URL:         p.URL,
		ContentType: cmp.Or(p.ContentType(), p.Header.Get("Content-Type")),
		Charset:     p.Charset(),
		Refresh:     p.Header["Refresh"],
		Body:        p.Body,
	})
	for i := range content.Links {
		if to, ok := r.number[content.Links[i].URL]; ok {
			links = append(links, to)
		}
	}
	return links
}

// newArchiveWeb numbers the pages among the addresses, and replaces links to addresses by
// links to pages.
func newArchiveWeb(addresses []string, captures []capture) *archiveWeb {
	var pages, aliases []string
	number := make([]int32, len(addresses)) // the page of each address
	for i, c := range captures {
		number[i] = judge.None
		if int(c.page) == i {
			number[i] = int32(len(pages))
			pages = append(pages, addresses[i])
		}
	}
	w := &archiveWeb{pages: newAddressList(pages)}
	for i, c := range captures {
		if c.page != judge.None && int(c.page) != i {
			if number[i] = number[c.page]; number[i] != judge.None {
				aliases = append(aliases, addresses[i])
				w.targets = append(w.targets, number[i])
			}
		}
	}
	w.aliases = newAddressList(aliases)
	linkedFrom := make([]int32, len(pages)) // for each page: the last page that links to it, plus one
	var row []int32
	for i, c := range captures {
		if int(c.page) != i {
			continue
		}
		from := number[i] + 1
		linkedFrom[number[i]] = from
		row = row[:0]
		for _, l := range c.links {
			if to := number[l]; to != judge.None && linkedFrom[to] != from {
				linkedFrom[to] = from
				row = append(row, to)
			}
		}
		w.graph.Add(row)
	}
	return w
}
