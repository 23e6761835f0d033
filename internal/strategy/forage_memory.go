package strategy

// This file stores the words of the pages that a crawl has fetched, and the words of their links.
// Words, tag paths and directories are numbered in the order of their appearance.

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"spoor/internal/arena"
	"spoor/internal/graph"
	"spoor/internal/relevance"
	"spoor/internal/text"
	"spoor/internal/wire"
)

// Limits of the stored data. They are above the sizes of normal pages.
const (
	maxTerms        = 1 << 20 // stems; further stems are ignored
	maxTagPaths     = 1 << 16
	maxDirectories  = 1 << 20
	readPage        = 1 << 20 // bytes
	maxPageTerms    = 4096    // different terms of a page
	maxTitleTerms   = 32
	maxPageLinks    = 10_000
	maxAnchorTerms  = 24
	maxContextTerms = 24
	contextParents  = 3 // pages linking to an address whose text around the link is kept
	maxURLTerms     = 32
	maxLevels       = 6       // directories of an address
	readTagPath     = 256     // bytes
	knownLinkWords  = 1 << 20 // different words of links that are stored once
)

// A vocabulary numbers strings, at most a given number of them.
type vocabulary struct {
	most  int
	names arena.Names
	saved int
}

func (v *vocabulary) len() int { return v.names.Len() }

// add returns the number of a string, or -1 if the vocabulary is full.
func (v *vocabulary) add(s string) int32 {
	if v.len() < v.most {
		n, _ := v.names.Add(s)
		return int32(n)
	}
	if n, ok := v.names.Find(s); ok {
		return int32(n)
	}
	return -1
}

func (v *vocabulary) code(c *codec) {
	var names []string // since the last delta
	for i := v.saved; i < v.len(); i++ {
		names = append(names, v.names.At(i))
	}
	each(c, names, func(s *string) {
		if c.text(s); c.reading {
			known := v.len()
			c.check(int(v.add(*s)) == known)
		}
	})
	v.saved = v.len()
}

// A forageDoc is a page that was fetched, without the menus of its site.
type forageDoc struct {
	relevance.Page
	title []int32
}

// An arc is the first link of a page to a target, with the anchors of all links of the page to this
// target.
type arc struct {
	from int32 // the place of the page
	said int32 // its words; see wordsOn
}

// arcWords are the words of an arc.
type arcWords struct {
	path            int32 // tag path of the link, or -1
	anchor, context []int32
}

// foraged holds the stored pages and links. Lists of terms are stored as varints. The links are those
// of the link graph: for each, said has the number of its words. Links of a menu have the same words
// on many pages, and these are stored once.
type foraged struct {
	IgnoreMenus bool // whether the lines of menus are no text of a page

	crawl *memory

	terms, paths vocabulary
	docs         arena.Arena
	docAt        []arena.Ref          // by place: position in docs plus one; 0 for pages that failed
	said         arena.Vector[uint32] // by graph.Link: number in words plus one; 0 for links that were ignored
	words        arena.Names          // the words of links; see add
	placeOf      []int32              // by graph.Order: the place of the page
	prints       []uint64             // by place: the fingerprint of the text; 0 is none
	sites        map[int32]*site      // by host directory
	known        []*site              // sites whose menus are known since the latest fit
	fitted       int                  // number of pages at the latest fit
	entered      [][]uint32           // by place, from savedDocs on: the hashes of the lines
	savedDocs    int

	// Derived.
	analyzer     *text.Analyzer
	query        relevance.Query
	termOf       []int32    // by term of the analyzer: number of its stem plus two
	addressWords arena.List // terms of addresses
	addressAt    []uint32   // by graph.ID: number in addressWords plus one; 0 for addresses without arcs to them
	directory    []int32    // by graph.ID: its innermost directory
	directories
	scratch   []text.Term
	count     map[int32]int32
	encoded   []byte
	whole     []byte
	decoded   forageDoc
	spoken    []int32
	inAddress []int32
}

// keepWith passes the words of pages and links to keep: they are two thirds of the state, and most of
// them are read only when the models are fitted.
func (f *foraged) keepWith(keep arena.Keeper) {
	f.docs.KeepWith(keep)
	f.words.KeepWith(keep)
}

// append appends the numbers of the stems in s to dst, at most limit of them.
func (f *foraged) append(dst []int32, s string, limit int) []int32 {
	f.scratch = f.analyzer.Append(f.scratch[:0], s)
	for _, t := range f.scratch {
		if limit == 0 {
			break
		}
		if t.Silent() {
			continue
		}
		f.termOf = grown(f.termOf, t.Index()+1)
		n := f.termOf[t.Index()]
		if n == 0 {
			n = f.terms.add(f.analyzer.Name(t)) + 2
			f.termOf[t.Index()] = n
		}
		if n >= 2 {
			dst = append(dst, n-2)
			limit--
		}
	}
	return dst
}

// learn stores the page rec at place, and its links.
func (f *foraged) learn(rec *wire.Record, place int, links func(func(graph.ID, *wire.Link) bool)) {
	before := f.analyzer.Len()
	if f.analyzer.Trim(); f.analyzer.Len() < before {
		f.termOf = f.termOf[:0]
	}
	var d forageDoc
	d.title = f.append(nil, clip(rec.Title, readURL), maxTitleTerms)
	lines, hashes := f.read(clip(rec.Text, readPage))
	print, _ := strconv.ParseUint(rec.Simhash, 16, 64) // 0 if parse has not set it
	s := f.enter(place, print, hashes)
	var menus []uint32
	if f.IgnoreMenus && s.pages > reviewed {
		menus = s.menus()
	}
	f.withoutMenus(&d, menus, lines)
	if s.pages > reviewed {
		lines = nil
	}
	f.store(place, &d, lines)
	f.link(place, links)
}

// store stores a page. Its numbers are the number of terms of the title, these terms, the length of the
// page, and for each term of the page, in the order of their first occurrence, twice its number, plus
// one if the term occurs several times; then the number of further occurrences less one follows. They
// are preceded by their size in bytes and followed by the lines of the page, or preceded by 0.
func (f *foraged) store(place int, d *forageDoc, lines []pageLine) {
	b := appendTerms(f.encoded[:0], d.title)
	b = binary.AppendUvarint(b, uint64(d.Length))
	for _, c := range d.Counts {
		if c.N == 1 {
			b = binary.AppendUvarint(b, 2*uint64(c.Term))
		} else {
			b = binary.AppendUvarint(b, 2*uint64(c.Term)+1)
			b = binary.AppendUvarint(b, uint64(c.N-2))
		}
	}
	f.encoded = b
	size := 0
	if lines != nil {
		size = len(b)
	}
	b = append(binary.AppendUvarint(f.whole[:0], uint64(size)), b...)
	f.whole = appendLines(b, lines)
	f.docAt = grown(f.docAt, place+1)
	f.docAt[place] = f.docs.Append(f.whole) + 1
}

// has reports whether the page at place was fetched.
func (f *foraged) has(place int) bool { return place < len(f.docAt) && f.docAt[place] > 0 }

// doc returns the page at place, without menus, or nil if it failed. It is valid until the next call.
func (f *foraged) doc(place int) *forageDoc {
	if !f.has(place) {
		return nil
	}
	d, lines := f.stored(place)
	if f.IgnoreMenus && len(lines) > 0 {
		if menus := f.menusOf(f.siteOf(place)); len(menus) > 0 {
			f.withoutMenus(d, menus, readLines(lines))
		}
	}
	f.match(d)
	return d
}

// stored returns the page at place as it is stored: with menus if its lines are kept, which are returned
// too. It is valid until the next call.
func (f *foraged) stored(place int) (d *forageDoc, lines []byte) {
	d = &f.decoded
	b, lines := f.bagAndLines(place)
	title, at := readTerms(d.title[:0], b, 0)
	n, at := uvarint(b, at)
	d.title = title
	d.Length = int(n)
	counts := d.Counts[:0]
	for at < len(b) {
		n, at = uvarint(b, at)
		c := relevance.Count{Term: int32(n / 2), N: 1}
		if n%2 == 1 {
			n, at = uvarint(b, at)
			c.N = int32(n) + 2
		}
		counts = append(counts, c)
	}
	d.Counts = counts
	return d, lines
}

// appendTerms appends the number of terms, and the terms.
func appendTerms(b []byte, terms []int32) []byte {
	b = binary.AppendUvarint(b, uint64(len(terms)))
	for _, t := range terms {
		b = binary.AppendUvarint(b, uint64(t))
	}
	return b
}

// readTerms appends the terms that appendTerms has written at b[at:], and returns the index after
// them.
func readTerms(dst []int32, b []byte, at int) ([]int32, int) {
	n, at := uvarint(b, at)
	for ; n > 0; n-- {
		var t uint64
		t, at = uvarint(b, at)
		dst = append(dst, int32(t))
	}
	return dst, at
}

// uvarint returns the varint at b[at:], and the index after it.
func uvarint(b []byte, at int) (n uint64, next int) {
	if b[at] < 0x80 {
		return uint64(b[at]), at + 1
	}
	return longUvarint(b, at)
}

func longUvarint(b []byte, at int) (n uint64, next int) {
	for shift := 0; ; shift += 7 {
		n |= uint64(b[at]&0x7f) << shift
		if at++; b[at-1] < 0x80 {
			return n, at
		}
	}
}

// bag sets the counts of a forageDoc.
func (f *foraged) bag(d *forageDoc, words []int32) {
	d.Length = len(words)
	if f.count == nil {
		f.count = map[int32]int32{}
	}
	clear(f.count)
	for _, w := range words {
		n := f.count[w]
		if n == 0 {
			if len(d.Counts) == maxPageTerms {
				continue
			}
			d.Counts = append(d.Counts, relevance.Count{Term: w})
		}
		f.count[w] = n + 1
	}
	for i := range d.Counts {
		d.Counts[i].N = f.count[d.Counts[i].Term]
	}
}

// match sets the counts of the query terms. Occurrences in the title are counted three times.
func (f *foraged) match(d *forageDoc) {
	d.Query = append(d.Query[:0], make([]int32, len(f.query.Terms))...)
	most := int32(-1)
	for _, t := range f.query.Terms {
		most = max(most, t)
	}
	for _, c := range d.Counts {
		if c.Term > most {
			continue
		}
		if i := slices.Index(f.query.Terms, c.Term); i >= 0 {
			d.Query[i] = c.N
		}
	}
	for _, t := range d.title {
		if i := slices.Index(f.query.Terms, t); i >= 0 {
			d.Query[i] += 2
		}
	}
}

// link stores the links of the page at place.
func (f *foraged) link(place int, links func(func(graph.ID, *wire.Link) bool)) {
	_, end, fresh := f.open(place)
	if !fresh {
		return
	}
	var list []arcWords
	at := map[graph.ID]int{}
	links(func(to graph.ID, link *wire.Link) bool {
		if i, ok := at[to]; ok {
			if l := &list[i]; len(l.anchor) < maxAnchorTerms/2 {
				l.anchor = f.append(l.anchor, clip(link.Anchor, readAnchor), maxAnchorTerms-len(l.anchor))
			}
			return true
		}
		at[to] = len(list)
		l := arcWords{path: f.paths.add(clip(link.Path, readTagPath)), anchor: f.append(nil, clip(link.Anchor, readAnchor), maxAnchorTerms)}
		if f.crawl.web.InDegree(to) <= contextParents {
			l.context = f.append(nil, clip(link.Context, readContext), maxContextTerms)
		}
		f.readAddress(to)
		list = append(list, l)
		return len(list) < maxPageLinks
	})
	for _, l := range list {
		f.add(l)
	}
	f.close(end)
}

// open begins the links of the page at place, which have the numbers from first to the one before
// end. fresh is false if there are none, or if they were stored when the page was fetched before.
func (f *foraged) open(place int) (first, end graph.Link, fresh bool) {
	node := f.crawl.pages[place].node
	if order, ok := f.crawl.web.Order(node); !ok || order != len(f.placeOf) {
		return 0, 0, false
	}
	f.placeOf = append(f.placeOf, int32(place))
	first, end = f.crawl.web.LinksOn(node)
	return first, end, true
}

// add stores the words of the next link.
func (f *foraged) add(l arcWords) {
	b := binary.AppendUvarint(f.encoded[:0], uint64(l.path+1))
	b = appendTerms(b, l.anchor)
	f.encoded = appendTerms(b, l.context)
	n, _ := f.words.Add(string(f.encoded))
	f.said.Append(uint32(n) + 1)
}

// close ends the links of a page.
func (f *foraged) close(end graph.Link) {
	for f.said.Len() < int(end) {
		f.said.Append(0)
	}
}

// wordsOn returns the words of an arc. They are valid until the next call.
func (f *foraged) wordsOn(a arc) (l arcWords) {
	f.encoded = f.words.Append(f.encoded[:0], int(a.said))
	path, at := uvarint(f.encoded, 0)
	f.spoken, at = readTerms(f.spoken[:0], f.encoded, at)
	anchor := len(f.spoken)
	f.spoken, _ = readTerms(f.spoken, f.encoded, at)
	l.path, l.anchor, l.context = int32(path)-1, f.spoken[:anchor:anchor], f.spoken[anchor:]
	return l
}

// readAddress stores the terms of an address, if it is the first time.
func (f *foraged) readAddress(id graph.ID) {
	if f.addressAt = grown(f.addressAt, int(id)+1); f.addressAt[id] > 0 {
		return
	}
	f.encoded = appendTerms(f.encoded[:0], f.address(f.crawl.web.URL(id)))
	f.addressWords.Append(f.encoded)
	f.addressAt[id] = uint32(f.addressWords.Len())
}

// wordsOfAddress returns the terms of an address, if an arc leads to it. They are valid until the
// next call.
func (f *foraged) wordsOfAddress(id graph.ID) []int32 {
	if int(id) >= len(f.addressAt) || f.addressAt[id] == 0 {
		return nil
	}
	f.inAddress, _ = readTerms(f.inAddress[:0], f.addressWords.At(int(f.addressAt[id])-1), 0)
	return f.inAddress
}

// isLinked reports whether an arc from a page before the place end leads to id.
func (f *foraged) isLinked(id graph.ID, end int) bool {
	for range f.into(id, end) {
		return true
	}
	return false
}

// into yields the arcs to id from pages before the place end, in the order of the pages.
func (f *foraged) into(id graph.ID, end int) func(func(arc) bool) {
	return func(yield func(arc) bool) {
		for n, order := range f.crawl.web.Into(id) {
			from := f.placeOf[order]
			if int(from) >= end {
				return
			}
			if said := *f.said.At(int(n)); said > 0 && !yield(arc{from, int32(said - 1)}) {
				return
			}
		}
	}
}

// from yields the targets of the arcs of the page at place.
func (f *foraged) from(place int) func(func(graph.ID) bool) {
	return func(yield func(graph.ID) bool) {
		node := f.crawl.pages[place].node
		if order, ok := f.crawl.web.Order(node); !ok || int(f.placeOf[order]) != place {
			return // its links were stored when the page was fetched before
		}
		for n, end := f.crawl.web.LinksOn(node); n < end && *f.said.At(int(n)) > 0; n++ {
			if !yield(f.crawl.web.Target(n)) {
				return
			}
		}
	}
}

// Terms that mark parts of an address that are not words.
const (
	hasNumber = "\x00number"
	hasTilde  = "\x00tilde"
	isFolder  = "\x00folder"
)

var noExtension = strings.NewReplacer(".html", " ", ".htm", " ")

// address returns the terms of the path and the query of an address: its words, split where the
// case changes, and marks for numbers, a tilde and a final slash.
func (f *foraged) address(url string) []int32 {
	path := pathAndQuery(url)
	var b strings.Builder
	b.Grow(2 * len(path))
	number, before := false, ' '
	for _, r := range noExtension.Replace(path) {
		switch {
		case unicode.IsDigit(r):
			number, r = true, ' '
		case unicode.IsUpper(r) && unicode.IsLower(before):
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	terms := f.append(nil, b.String(), maxURLTerms)
	for _, mark := range []struct {
		set  bool
		name string
	}{{strings.Contains(path, "~"), hasTilde}, {number, hasNumber}, {path == "" || strings.HasSuffix(path, "/"), isFolder}} {
		if n := int32(-1); mark.set {
			if n = f.terms.add(mark.name); n >= 0 {
				terms = append(terms, n)
			}
		}
	}
	return terms
}

// directories numbers the directories of addresses: host, host/d1, host/d1/d2, …
type directories struct {
	of    vocabulary // of their names; see number
	outer []int32    // by directory: the directory that contains it, or -1
}

// fitDirectories adds the addresses that are new to the graph.
func (f *foraged) fitDirectories(web *graph.Graph) {
	for id := len(f.directory); id < web.Len(); id++ {
		f.directory = append(f.directory, f.innermost(web.URL(graph.ID(id))))
	}
}

// innermost returns the directory of an address. It numbers this directory and all directories that
// contain it.
func (f *foraged) innermost(url string) (dir int32) {
	_, path, _ := strings.Cut(url, "://")
	path, _, _ = strings.Cut(path, "?")
	dir = -1
	for end, levels := 0, 0; levels < maxLevels; levels++ {
		n := strings.IndexByte(path[end:], '/')
		if n < 0 {
			break
		}
		inner := f.number(path[end:end+n], dir)
		if inner < 0 {
			break
		}
		dir = inner
		end += n + 1
	}
	return dir
}

// number returns the number of a directory, or -1 if there are too many. A directory is identified by
// the number of the one that contains it, and its name in there.
func (f *foraged) number(name string, outer int32) int32 {
	var key [64]byte
	n := f.directories.of.add(string(append(binary.AppendVarint(key[:0], int64(outer)), name...)))
	if int(n) == len(f.outer) {
		f.outer = append(f.outer, outer)
	}
	return n
}

// code writes or reads the documents since the last delta, with their links.
func (f *foraged) code(c *codec) {
	f.terms.code(c)
	f.paths.code(c)
	term := func(t *int32) {
		integer(c, t)
		c.check(0 <= *t && int(*t) < f.terms.len())
	}
	place := f.savedDocs
	if c.reading {
		f.fitDirectories(&f.crawl.web)
	}
	each(c, make([]struct{}, len(f.docAt)-min(place, len(f.docAt))), func(*struct{}) {
		var d forageDoc
		var lines []pageLine
		var print uint64
		var hashes []uint32
		if c.reading {
			f.docAt = append(f.docAt, 0)
		} else if f.has(place) {
			stored, kept := f.stored(place)
			d, lines = *stored, readLines(kept)
			print, hashes = f.print(place), f.entered[place-f.savedDocs]
		}
		title := each(c, d.title, term)
		c.check(len(title) <= maxTitleTerms)
		counts := each(c, d.Counts, func(n *relevance.Count) {
			term(&n.Term)
			integer(c, &n.N)
			c.check(n.N > 0)
		})
		c.check(len(counts) <= maxPageTerms)
		integer(c, &d.Length)
		c.uint64(&print)
		hashes = each(c, hashes, c.uint32)
		lines = each(c, lines, func(l *pageLine) {
			c.uint32(&l.hash)
			l.terms = each(c, l.terms, term)
		})
		if c.check(0 <= d.Length && d.Length <= readPage && place < len(f.crawl.pages)) && !f.crawl.pages[place].failed {
			d.title, d.Counts = title, counts
			f.enter(place, print, hashes)
			f.store(place, &d, lines)
		}
		f.codeLinks(c, place, term)
		place++
	})
	f.savedDocs, f.entered = len(f.docAt), nil
	c.check(len(f.placeOf) == f.crawl.web.Pages())
}

// codeLinks writes or reads the links of the page at place.
func (f *foraged) codeLinks(c *codec, place int, term func(*int32)) {
	if c.bad {
		return
	}
	var targets []graph.ID
	if !c.reading && f.has(place) {
		targets = slices.Collect(f.from(place))
	}
	n, end := f.crawl.web.LinksOn(f.crawl.pages[place].node)
	opened, fresh := false, false
	each(c, targets, func(to *graph.ID) {
		var l arcWords
		if c.reading && !opened && c.check(f.has(place)) {
			_, _, fresh = f.open(place)
			opened = true
		}
		if !c.reading {
			l = f.wordsOn(arc{said: int32(*f.said.At(int(n)) - 1)})
		}
		c.id(to)
		path := l.path + 1
		integer(c, &path)
		anchor, context := each(c, l.anchor, term), each(c, l.context, term)
		if c.check(0 <= path && int(path) <= f.paths.len() && len(anchor) <= maxAnchorTerms && len(context) <= maxContextTerms) && fresh &&
			c.check(n < end && f.crawl.web.Target(n) == *to) {
			f.readAddress(*to)
			f.add(arcWords{path - 1, anchor, context})
		}
		n++
	})
	if fresh {
		f.close(end)
	}
}
