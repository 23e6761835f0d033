package strategy

// This file finds the lines that the pages of a site have in common: menus, headers and footers. They
// say what the site is about, not what a page is about. A line of text is a block of the page.

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
)

const (
	menuPages    = 3   // a line of a menu is on at least this number of pages of the site,
	menuShare    = 0.5 // and on at least this share of them
	reviewed     = 4   // first pages of a site whose lines are kept until it has one page more
	maxSiteLines = 512 // lines of a site that are counted
	rareLine     = 8   // if there are too many, the lines that fewer than one page in rareLine has are dropped
)

// A site holds the lines of the pages of a host, if it has several. The lines are known by their hashes.
type site struct {
	pages int
	lines []siteLine // sorted by hash
	first []int32    // places of the first pages, until their lines are dropped

	// Menus of the first pages, sorted. Until there is a fit after the page at place next, they are
	// found among the first pages before the latest fit.
	next  int // the place of the page after the first ones; 0: none yet
	final []uint32
	early []uint32
	at    int // number of pages at the fit that early is for
}

type siteLine struct {
	hash  uint32
	pages int32 // pages that have the line
}

func (l siteLine) compare(hash uint32) int { return cmp.Compare(l.hash, hash) }

// isMenu reports whether a line that some pages have belongs to the menus of a site with all pages.
func isMenu(some, all int) bool {
	return some >= menuPages && float64(some) >= menuShare*float64(all)
}

// menus returns the lines that belong to the menus of the site, sorted.
func (s *site) menus() (menus []uint32) {
	for _, l := range s.lines {
		if isMenu(int(l.pages), s.pages) {
			menus = append(menus, l.hash)
		}
	}
	return menus
}

// count counts the lines of a page; hashes are sorted, each once.
func (s *site) count(hashes []uint32) {
	var fresh []siteLine
	for _, h := range hashes {
		if i, ok := slices.BinarySearchFunc(s.lines, h, siteLine.compare); ok {
			s.lines[i].pages++
		} else {
			fresh = append(fresh, siteLine{h, 1})
		}
	}
	if len(s.lines)+len(fresh) > maxSiteLines {
		s.lines = slices.DeleteFunc(s.lines, func(l siteLine) bool { return int(l.pages)*rareLine < s.pages })
	}
	s.lines = append(s.lines, fresh[:min(len(fresh), max(0, maxSiteLines-len(s.lines)))]...)
	slices.SortFunc(s.lines, func(a, b siteLine) int { return a.compare(b.hash) })
}

// A pageLine is a line of a page.
type pageLine struct {
	hash  uint32
	terms []int32
}

// read returns the lines of a text, and the sorted hashes of these.
func (f *foraged) read(s string) (lines []pageLine, hashes []uint32) {
	left := readPage
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSpace(line)
		terms := f.append(nil, line, left)
		left -= len(terms)
		if len(terms) > 0 {
			lines = append(lines, pageLine{uint32(fnv64(line)), terms})
		}
	}
	return lines, hashesOf(lines)
}

// hashesOf returns the hashes of lines, sorted, each once.
func hashesOf(lines []pageLine) (hashes []uint32) {
	for _, l := range lines {
		hashes = append(hashes, l.hash)
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// hashesOn returns the hashes of the lines of the page at place, if its lines are still kept.
func (f *foraged) hashesOn(place int) []uint32 {
	if place >= f.savedDocs {
		return f.entered[place-f.savedDocs]
	}
	return hashesOf(f.linesOf(place))
}

// siteOf returns the site of the page at place.
func (f *foraged) siteOf(place int) *site {
	f.fitDirectories(&f.crawl.web)
	host := f.hostDirectory(f.crawl.pages[place].final)
	if f.sites == nil {
		f.sites = map[int32]*site{}
	}
	if f.sites[host] == nil {
		f.sites[host] = new(site)
	}
	return f.sites[host]
}

// enter adds the page at place to its site.
func (f *foraged) enter(place int, print uint64, hashes []uint32) *site {
	f.prints, f.entered = grown(f.prints, place+1), grown(f.entered, place+1-f.savedDocs)
	f.prints[place], f.entered[place-f.savedDocs] = print, hashes
	s := f.siteOf(place)
	if s.pages == 1 { // until now, the lines of its page were only there
		s.count(f.hashesOn(int(s.first[0])))
	}
	if s.pages++; s.pages > 1 {
		s.count(hashes)
	}
	switch {
	case s.pages <= reviewed:
		s.first = append(s.first, int32(place))
	case s.pages == reviewed+1:
		s.next, s.final = place, s.menus()
		f.known = append(f.known, s)
	}
	return s
}

// settle drops the lines of the first pages of the sites whose menus are known. It is called before the
// models are fitted to all pages, and changes no page: what doc returns depends only on the pages and on
// the extent of the latest fit, so that a restored model is the same.
func (f *foraged) settle() {
	f.fitted = len(f.crawl.pages)
	for _, s := range f.known {
		for _, p := range s.first {
			d := f.doc(int(p))
			f.store(int(p), &forageDoc{clonePage(&d.Page), slices.Clone(d.title)}, nil)
		}
		s.first, s.final, s.early = nil, nil, nil
	}
	f.known = nil
}

// menusOf returns the menus of the first pages of a site, sorted.
func (f *foraged) menusOf(s *site) []uint32 {
	switch {
	case 0 < s.next && s.next < f.fitted:
		return s.final
	case s.at == f.fitted:
		return s.early
	}
	n, of := 0, map[uint32]int{}
	for _, p := range s.first {
		if int(p) < f.fitted {
			n++
			for _, h := range f.hashesOn(int(p)) {
				of[h]++
			}
		}
	}
	maps.DeleteFunc(of, func(_ uint32, some int) bool { return !isMenu(some, n) })
	s.at, s.early = f.fitted, slices.Sorted(maps.Keys(of))
	return s.early
}

// withoutMenus sets the counts of a page to those of its title and of the lines that are no menus.
func (f *foraged) withoutMenus(d *forageDoc, menus []uint32, lines []pageLine) {
	words := slices.Clone(d.title)
	for _, l := range lines {
		if _, ok := slices.BinarySearch(menus, l.hash); !ok {
			words = append(words, l.terms...)
		}
	}
	d.Counts = d.Counts[:0]
	f.bag(d, words)
}

// print returns the fingerprint of the page at place, or 0.
func (f *foraged) print(place int) uint64 {
	if place < len(f.prints) {
		return f.prints[place]
	}
	return 0
}

// linesOf returns the lines of the page at place, if they are still kept.
func (f *foraged) linesOf(place int) []pageLine {
	_, lines := f.bagAndLines(place)
	return readLines(lines)
}

// bagAndLines returns the two parts of the page at place; lines is empty if they are no longer kept.
func (f *foraged) bagAndLines(place int) (bag, lines []byte) {
	b := f.docs.At(f.docAt[place] - 1)
	size, at := uvarint(b, 0)
	if size == 0 {
		return b[at:], nil
	}
	return b[at : at+int(size)], b[at+int(size):]
}

// appendLines appends lines, each with its hash.
func appendLines(b []byte, lines []pageLine) []byte {
	for _, l := range lines {
		b = binary.LittleEndian.AppendUint32(b, l.hash)
		b = appendTerms(b, l.terms)
	}
	return b
}

// readLines returns the lines that appendLines has written to b.
func readLines(b []byte) (lines []pageLine) {
	for at := 0; at < len(b); {
		l := pageLine{hash: binary.LittleEndian.Uint32(b[at:])}
		l.terms, at = readTerms(nil, b, at+4)
		lines = append(lines, l)
	}
	return lines
}

// path returns the name of a directory.
func (f *foraged) path(d int32) string {
	name := f.directories.of.names.At(int(d))
	_, n := binary.Varint([]byte(name))
	if outer := f.outer[d]; outer >= 0 {
		return f.path(outer) + "/" + name[n:]
	}
	return name[n:]
}
