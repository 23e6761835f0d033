package strategy

// This file stores the words of the pages that a crawl has fetched, and the words of their links.
// Words, tag paths and directories are numbered in the order of their appearance.

import (
	"slices"
	"strings"
	"unicode"

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
	maxLevels       = 6   // directories of an address
	readTagPath     = 256 // bytes
)

type vocabulary struct {
	most   int
	number map[string]int32
	names  []string
	saved  int
}

// add returns the number of a string, or -1 if the vocabulary is full.
func (v *vocabulary) add(s string) int32 {
	if n, ok := v.number[s]; ok {
		return n
	}
	if len(v.names) >= v.most {
		return -1
	}
	if v.number == nil {
		v.number = map[string]int32{}
	}
	n := int32(len(v.names))
	s = strings.Clone(s)
	v.number[s] = n
	v.names = append(v.names, s)
	return n
}

func (v *vocabulary) code(c *codec) {
	each(c, v.names[v.saved:], func(s *string) {
		if c.text(s); c.reading {
			_, known := v.number[*s]
			c.check(!known && v.add(*s) >= 0)
		}
	})
	v.saved = len(v.names)
}

// A forageDoc is a page that was fetched.
type forageDoc struct {
	relevance.Page
	title []int32
	arcs  [2]int32 // the links of the page are foraged.arcs[arcs[0]:arcs[1]]
}

// An arc is the first link of a page to a target, with the anchors of all links of the page to this
// target.
type arc struct {
	from int32 // the place of the page
	to   graph.ID
	next int32 // the next arc with the same target, plus one
	path int32 // tag path of the link
	at   uint32
	// The words of the anchor are words[at:at+anchor]; the words around the link follow them.
	anchor, context uint8
}

// foraged holds the stored pages and links.
type foraged struct {
	terms, paths vocabulary
	docs         []forageDoc // by place; empty for pages that failed
	arcs         []arc
	words        []int32 // words of all arcs
	first, last  []int32 // by graph.ID: the first and the last arc to this address, plus one
	parents      []int32 // by graph.ID: number of arcs to this address
	savedDocs    int

	// Derived.
	analyzer  *text.Analyzer
	query     relevance.Query
	termOf    []int32   // by term of the analyzer: number of its stem plus two
	urlTerms  [][]int32 // by graph.ID, for targets of arcs
	directory []int32   // by graph.ID: its innermost directory
	directories
	scratch []text.Term
	count   map[int32]int32
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
	f.docs = grown(f.docs, place+1)
	d := &f.docs[place]
	d.title = f.append(nil, clip(rec.Title, readURL), maxTitleTerms)
	f.bag(d, f.append(slices.Clone(d.title), clip(rec.Text, readPage), readPage))
	d.arcs[0] = int32(len(f.arcs))
	f.link(place, links)
	d.arcs[1] = int32(len(f.arcs))
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
	f.match(d)
}

// match sets the counts of the query terms. Occurrences in the title are counted three times.
func (f *foraged) match(d *forageDoc) {
	d.Query = make([]int32, len(f.query.Terms))
	for _, c := range d.Counts {
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
	type found struct {
		to      graph.ID
		path    int32
		anchor  []int32
		context []int32
	}
	var list []found
	at := map[graph.ID]int{}
	links(func(to graph.ID, link *wire.Link) bool {
		if i, ok := at[to]; ok {
			if l := &list[i]; len(l.anchor) < maxAnchorTerms/2 {
				l.anchor = f.append(l.anchor, clip(link.Anchor, readAnchor), maxAnchorTerms-len(l.anchor))
			}
			return true
		}
		at[to] = len(list)
		l := found{to: to, path: f.paths.add(clip(link.Path, readTagPath)), anchor: f.append(nil, clip(link.Anchor, readAnchor), maxAnchorTerms)}
		f.fit(to)
		if f.parents[to] < contextParents {
			l.context = f.append(nil, clip(link.Context, readContext), maxContextTerms)
		}
		if f.parents[to] == 0 {
			f.urlTerms[to] = f.address(link.URL)
		}
		list = append(list, l)
		return len(list) < maxPageLinks
	})
	for _, l := range list {
		f.add(arc{from: int32(place), to: l.to, path: l.path}, l.anchor, l.context)
	}
}

// fit extends the lists by graph.ID to an address.
func (f *foraged) fit(id graph.ID) {
	n := int(id) + 1
	f.first, f.last, f.parents, f.urlTerms = grown(f.first, n), grown(f.last, n), grown(f.parents, n), grown(f.urlTerms, n)
}

func (f *foraged) add(a arc, anchor, context []int32) {
	a.at, a.anchor, a.context = uint32(len(f.words)), uint8(len(anchor)), uint8(len(context))
	f.words = append(append(f.words, anchor...), context...)
	f.arcs = append(f.arcs, a)
	f.fit(a.to)
	if f.first[a.to] == 0 {
		f.first[a.to] = int32(len(f.arcs))
	} else {
		f.arcs[f.last[a.to]-1].next = int32(len(f.arcs))
	}
	f.last[a.to] = int32(len(f.arcs))
	f.parents[a.to]++
}

func (f *foraged) anchorOf(a *arc) []int32 { return f.words[a.at : a.at+uint32(a.anchor)] }
func (f *foraged) contextOf(a *arc) []int32 {
	at := a.at + uint32(a.anchor)
	return f.words[at : at+uint32(a.context)]
}

// into yields the arcs to id from pages before the place end, in the order of the pages.
func (f *foraged) into(id graph.ID, end int) func(func(*arc) bool) {
	return func(yield func(*arc) bool) {
		if int(id) >= len(f.first) {
			return
		}
		for n := f.first[id]; n != 0; n = f.arcs[n-1].next {
			if a := &f.arcs[n-1]; int(a.from) >= end || !yield(a) {
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

// address returns the terms of the path and the query of an address: its words, split where the
// case changes, and marks for numbers, a tilde and a final slash.
func (f *foraged) address(url string) []int32 {
	path := pathAndQuery(url)
	var b strings.Builder
	number, before := false, ' '
	for _, r := range strings.NewReplacer(".html", " ", ".htm", " ").Replace(path) {
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
	of    vocabulary
	outer []int32 // by directory: the directory that contains it, or -1
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
		if inner := f.enter(path[:end+n], dir); inner >= 0 {
			dir = inner
		}
		end += n + 1
	}
	return dir
}

// enter returns the number of a directory, or -1 if there are too many.
func (f *foraged) enter(name string, outer int32) int32 {
	n := f.directories.of.add(name)
	if int(n) == len(f.outer) {
		f.outer = append(f.outer, outer)
	}
	return n
}

// code writes or reads the documents since the last delta, with their links.
func (f *foraged) code(c *codec) {
	f.terms.code(c)
	f.paths.code(c)
	place := f.savedDocs
	list := f.docs[min(place, len(f.docs)):]
	if c.reading {
		list = nil
	}
	term := func(t *int32) {
		integer(c, t)
		c.check(0 <= *t && int(*t) < len(f.terms.names))
	}
	each(c, list, func(d *forageDoc) {
		d.title = each(c, d.title, term)
		c.check(len(d.title) <= maxTitleTerms)
		d.Counts = each(c, d.Counts, func(n *relevance.Count) {
			term(&n.Term)
			integer(c, &n.N)
			c.check(n.N > 0)
		})
		c.check(len(d.Counts) <= maxPageTerms)
		integer(c, &d.Length)
		c.check(0 <= d.Length && d.Length <= readPage)
		if c.reading {
			f.docs = append(f.docs, forageDoc{})
			d.arcs[0] = int32(len(f.arcs))
		}
		each(c, slices.Clone(f.arcs[d.arcs[0]:max(d.arcs[0], d.arcs[1])]), func(a *arc) {
			anchor, context := []int32(nil), []int32(nil)
			if !c.reading {
				anchor, context = f.anchorOf(a), f.contextOf(a)
			}
			c.id(&a.to)
			path := a.path + 1
			integer(c, &path)
			a.path = path - 1
			anchor, context = each(c, anchor, term), each(c, context, term)
			if c.check(0 <= path && int(path) <= len(f.paths.names) && len(anchor) <= maxAnchorTerms && len(context) <= maxContextTerms) {
				if f.fit(a.to); f.parents[a.to] == 0 {
					f.urlTerms[a.to] = f.address(c.web.URL(a.to))
				}
				f.add(arc{from: int32(place), to: a.to, path: a.path}, anchor, context)
			}
		})
		if c.check(true) {
			d.arcs[1] = int32(len(f.arcs))
			f.match(d)
			f.docs[place] = *d
		}
		place++
	})
	f.savedDocs = len(f.docs)
}
