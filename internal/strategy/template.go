package strategy

import (
	"slices"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

// A template counts the links that a host repeats on its pages, as in menus and footers.
type template struct {
	web    graph.Graph // pages with all their links, including those not in the archive
	hosts  hosts       // derived, like all following fields
	known  []bool      // by graph.ID: whether the page is counted in pages and on
	pages  []uint32    // by host: number of pages with links
	on     map[onHost]uint32
	stale  bool       // whether replayed deltas have added pages that are not counted
	marked graph.Mark // end of the last delta
}

// onHost is an address that pages of a host link to.
type onHost struct {
	host int32
	to   graph.ID
}

// fewPages is the largest number of pages of a host without a template.
const fewPages = 3

// learn counts the links of a page and returns the page's ID.
func (t *template) learn(rec *wire.Record) graph.ID {
	t.fit()
	page := t.web.Intern(rec.URL)
	var links []graph.ID
	for i := range rec.Links {
		if to := t.web.Intern(rec.Links[i].URL); to != page {
			links = append(links, to)
		}
	}
	t.web.Expand(page, links)
	t.grow()
	t.count(page)
	return page
}

// fit counts the pages that replayed deltas have added.
func (t *template) fit() {
	if !t.stale {
		return
	}
	t.stale = false
	t.grow()
	for id := range graph.ID(t.web.Len()) {
		t.count(id)
	}
}

func (t *template) grow() {
	t.known = append(t.known, make([]bool, t.web.Len()-len(t.known))...)
	t.hosts.fit(&t.web)
	t.pages = append(t.pages, make([]uint32, len(t.hosts.number)-len(t.pages))...)
	if t.on == nil {
		t.on = map[onHost]uint32{}
	}
}

func (t *template) count(page graph.ID) {
	if t.known[page] || !t.web.Expanded(page) {
		return
	}
	t.known[page] = true
	host := t.hosts.of[page]
	t.pages[host]++
	for to := range t.web.Children(page) {
		t.on[onHost{host, to}]++
	}
}

// strips reports whether a link belongs to the template of a host: more than share of the
// host's pages have it, and the host has more than fewPages pages.
func (t *template) strips(host int32, to graph.ID, share float64) bool {
	pages := t.pages[host]
	return pages > fewPages && float64(t.on[onHost{host, to}]) > share*float64(pages)
}

// likeness returns the Jaccard index of the links of a page and of a reference: of all links, and
// without the templates of their hosts. An index is 0 if there are no links.
func (t *template) likeness(page graph.ID, reference string, links []string, share float64) (all, stripped float64) {
	host := t.hosts.of[page]
	theirs := func(to graph.ID) bool { return false } // whether to belongs to the template of the reference's host
	if id, ok := t.web.Find(reference); ok {
		home := t.hosts.of[id]
		theirs = func(to graph.ID) bool { return t.strips(home, to, share) }
	}
	var shared, sharedLeft, mine, mineLeft int
	for to := range t.web.Children(page) {
		_, common := slices.BinarySearch(links, t.web.URL(to))
		mine++
		if common {
			shared++
		}
		if t.strips(host, to, share) {
			continue
		}
		mineLeft++
		if common && !theirs(to) {
			sharedLeft++
		}
	}
	theirsLeft := len(links)
	for _, link := range links {
		if to, ok := t.web.Find(link); ok && theirs(to) {
			theirsLeft--
		}
	}
	index := func(shared, all int) float64 {
		if all == 0 {
			return 0
		}
		return float64(shared) / float64(all)
	}
	return index(shared, mine+len(links)-shared), index(sharedLeft, mineLeft+theirsLeft-sharedLeft)
}

func (t *template) code(c *codec) {
	c.graph(&t.web, &t.marked)
	t.stale = t.stale || c.reading
}
