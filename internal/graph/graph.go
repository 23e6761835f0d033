// Package graph stores links between web pages: the links that a crawl has discovered so
// far, and fixed graphs. It computes in-degree, PageRank, hubs and authorities.
//
// Addresses are interned, and numbered in the order of their discovery. Repeated links from
// a page to an address are stored once.
//
// A link takes 8 bytes of memory, an address about 30 bytes and what differs from the beginning of
// an address that was discovered shortly before.
package graph

import (
	"encoding/binary"
	"errors"
	"iter"

	"spoor/internal/arena"
)

// An ID is the number of an address: the first address of a crawl is 0.
type ID uint32

// None is not the ID of any address.
const None = ^ID(0)

// A Graph is a growing graph of links. The zero value is empty and ready to use.
type Graph struct {
	addresses arena.Names

	expanded []ID     // pages whose links are known, in the order of Expand
	ends     []Link   // parallel to expanded: the number of the link after the page's last
	order    []uint32 // by ID: place of the page in expanded plus one; 0: its links are not known

	links arena.Vector[link] // by Link
	pages []uint32           // of every linkGroup-th link: place of its page in expanded
	first []uint32           // by ID: number of the first link to the address, plus one
	last  []uint32
	in    []uint32 // by ID: number of links to the address
}

// A Link is the number of a link: the first link of a crawl is 0. The links of a page have
// consecutive numbers, in their order on the page.
type Link uint32

// Links with the same target form a list, oldest first.
type link struct {
	to   ID
	next uint32 // the next link with the same target, plus one
}

const linkGroup = 32

// Len returns the number of addresses.
func (g *Graph) Len() int { return len(g.first) }

// Links returns the number of links.
func (g *Graph) Links() int { return g.links.Len() }

// Pages returns the number of pages whose links are known.
func (g *Graph) Pages() int { return len(g.expanded) }

// URL returns the address of id.
func (g *Graph) URL(id ID) string { return g.addresses.At(int(id)) }

// Find returns the ID of url, if url is in the graph.
func (g *Graph) Find(url string) (ID, bool) {
	id, ok := g.addresses.Find(url)
	if !ok {
		return None, false
	}
	return ID(id), true
}

// Intern returns the ID of url. It adds url if it is new.
func (g *Graph) Intern(url string) ID {
	id, added := g.addresses.Add(url)
	if added {
		g.order = append(g.order, 0)
		g.first = append(g.first, 0)
		g.last = append(g.last, 0)
		g.in = append(g.in, 0)
	}
	return ID(id)
}

// Expand records the links of a page, in their order on the page, without duplicates. It
// does nothing if the links of the page are known already, or if there are none.
func (g *Graph) Expand(page ID, links []ID) {
	if g.Expanded(page) || len(links) == 0 {
		return
	}
	place := uint32(len(g.expanded))
	g.expanded = append(g.expanded, page)
	g.order[page] = place + 1
	start := uint32(g.links.Len())
	for _, to := range links {
		n := uint32(g.links.Len())
		switch last := g.last[to]; {
		case last > start:
			continue // a duplicate link
		case last > 0:
			g.links.At(int(last) - 1).next = n + 1
		default:
			g.first[to] = n + 1
		}
		if n%linkGroup == 0 {
			g.pages = append(g.pages, place)
		}
		g.links.Append(link{to: to})
		g.last[to] = n + 1
		g.in[to]++
	}
	g.ends = append(g.ends, Link(g.links.Len()))
}

// Expanded reports whether the page's links are known.
func (g *Graph) Expanded(page ID) bool { return g.order[page] > 0 }

// Order returns how many pages were expanded before a page. ok is false if the page's links are not
// known.
func (g *Graph) Order(page ID) (n int, ok bool) { return int(g.order[page]) - 1, g.Expanded(page) }

// LinksOn returns the numbers of the links of a page: from first to the one before end.
func (g *Graph) LinksOn(page ID) (first, end Link) {
	n, ok := g.Order(page)
	if !ok {
		return 0, 0
	}
	if n > 0 {
		first = g.ends[n-1]
	}
	return first, g.ends[n]
}

// Target returns the address to which a link leads.
func (g *Graph) Target(n Link) ID { return g.links.At(int(n)).to }

// Children yields the links of a page, in their order on the page.
func (g *Graph) Children(page ID) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for n, end := g.LinksOn(page); n < end; n++ {
			if !yield(g.Target(n)) {
				return
			}
		}
	}
}

// Into yields the links to id, and the Order of their pages, both ascending.
func (g *Graph) Into(id ID) iter.Seq2[Link, int] {
	return func(yield func(Link, int) bool) {
		for next := g.first[id]; next != 0; {
			n := Link(next - 1)
			place := g.pages[n/linkGroup]
			for g.ends[place] <= n {
				place++
			}
			if !yield(n, int(place)) {
				return
			}
			next = g.links.At(int(n)).next
		}
	}
}

// Parents yields the pages that link to id, in the order of Expand.
func (g *Graph) Parents(id ID) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for _, place := range g.Into(id) {
			if !yield(g.expanded[place]) {
				return
			}
		}
	}
}

// OutDegree returns the number of addresses that a page links to.
func (g *Graph) OutDegree(page ID) int {
	first, end := g.LinksOn(page)
	return int(end - first)
}

// InDegree returns the number of pages that link to id.
func (g *Graph) InDegree(id ID) int { return int(g.in[id]) }

// A Mark identifies a state of a growing graph. The zero Mark is the empty graph.
type Mark struct{ urls, pages int }

// Mark returns the current state.
func (g *Graph) Mark() Mark { return Mark{g.Len(), len(g.expanded)} }

// Len returns the number of addresses in that state.
func (m Mark) Len() int { return m.urls }

// AppendSince appends to b the data added to the graph since m: the new addresses, each after its
// length, and then the new pages, each with its number, the number of its links, and the links.
func (g *Graph) AppendSince(b []byte, m Mark) []byte {
	b = binary.AppendUvarint(b, uint64(g.Len()-m.urls))
	var url []byte
	for id := m.urls; id < g.Len(); id++ {
		url = g.addresses.Append(url[:0], id)
		b = binary.AppendUvarint(b, uint64(len(url)))
		b = append(b, url...)
	}
	b = binary.AppendUvarint(b, uint64(len(g.expanded)-m.pages))
	for _, page := range g.expanded[m.pages:] {
		first, end := g.LinksOn(page)
		b = binary.AppendUvarint(b, uint64(page))
		b = binary.AppendUvarint(b, uint64(end-first))
		for n := first; n < end; n++ {
			b = binary.AppendUvarint(b, uint64(g.Target(n)))
		}
	}
	return b
}

// ErrCorrupt is returned for bytes that AppendSince did not write, or wrote for another graph.
var ErrCorrupt = errors.New("the graph's record is damaged")

// Replay adds the data that AppendSince wrote, and returns the bytes after this data.
func (g *Graph) Replay(b []byte) (rest []byte, err error) {
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			err, b = ErrCorrupt, nil
			return 0
		}
		b = b[n:]
		return v
	}
	count := next()
	if count > uint64(len(b)) {
		return nil, ErrCorrupt // an address takes at least a byte
	}
	g.addresses.Reserve(int(count))
	all := string(b) // one string for all addresses
	for ; count > 0 && err == nil; count-- {
		size := next()
		if size > uint64(len(b)) {
			return nil, ErrCorrupt
		}
		known, url := g.Len(), all[len(all)-len(b):][:size]
		if g.Intern(url); g.Len() == known {
			return nil, ErrCorrupt // AppendSince writes only new addresses
		}
		b = b[size:]
	}
	var links []ID
	for n := next(); n > 0 && err == nil; n-- {
		page, count := next(), next()
		if page >= uint64(g.Len()) || count > uint64(len(b)) {
			return nil, ErrCorrupt
		}
		links = links[:0]
		for range count {
			to := next()
			if err != nil || to >= uint64(g.Len()) {
				return nil, ErrCorrupt
			}
			links = append(links, ID(to))
		}
		g.Expand(ID(page), links)
	}
	return b, err
}
