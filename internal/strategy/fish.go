package strategy

// This file implements fish-search of
//
//	P. M. E. De Bra and R. D. J. Post, "Information retrieval in the World-Wide
//	Web: making client-based searching feasible", Computer Networks and ISDN
//	Systems 27 (2), 1994, pp. 183–192,
//
// as described by the first author on a page of his course. Links are fish in a list. On a
// relevant page the fish find food: many of its links go to the beginning of the list and
// live for several more pages. Links of other pages go to the middle and die after a number of
// pages without food. Links at the end of the list are fetched when nothing else is left.
//
//	paper      here    meaning
//	B, M, E    lanes   the beginning, the middle and the end of the list
//	width      Width   links of an irrelevant page that go to M
//	1.5·width  Share   links of a relevant page that go to B, over width
//	depth      Depth   irrelevant pages in a row before a fish dies
//	slow       Slow    a page that took longer is treated as one of depth 0
//
// The list is the frontier, and a position in the list is a priority: a link inserted at the front
// gets a higher priority than all earlier links.
//
// Comments name rows of the table in doc/design/papers.md, which lists what the description leaves open.
//
// Relevance is boolean: the steering measure with its threshold.

import (
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

type fish struct {
	memory

	Width   int
	Depth   int
	Share   float64
	Outside bool
	Slow    int

	turns  int    // insertions so far
	places column // position in the list: higher is nearer to the beginning; 0: not in the list
	depths column // depth of an address in the list, plus one

	offers offers
}

// The lanes of the list. The end grows down from where the middle grows up; the beginning is
// above both by more links than any crawl finds.
const (
	laneEnd    = 10_000_000_000 // and below: first in, first out
	laneMiddle = 10_000_000_000 // and above: last in, first out
	laneBegin  = 20_000_000_000
)

func newFish() Strategy {
	s := &fish{Width: 5, Depth: 3, Share: 1.5, Outside: true, Slow: 10_000}
	s.parts = []part{(*counter)(&s.turns), &s.places, &s.depths}
	return s
}

func (s *fish) Params() []Param {
	return []Param{
		{Name: "width", Doc: "links of an irrelevant page that go to the middle of the list", Value: &s.Width, Range: whole},
		{Name: "depth", Doc: "irrelevant pages in a row after which all links go to the end", Value: &s.Depth, Range: whole},
		{Name: "share", Doc: "links of a relevant page that go to the beginning, over width", Value: &s.Share, Range: [2]float64{0, 1e6}},
		{Name: "outside", Doc: "take links to other hosts first", Value: &s.Outside},
		{Name: "slow", Doc: "milliseconds that a page may take before all its links go to the end", Value: &s.Slow, Range: whole},
	}
}

func (s *fish) Visit(rec *wire.Record) {
	place, ok := s.visitNew(rec)
	if !ok {
		return
	}
	p := &s.pages[place]
	depth := s.Depth
	if in := s.depths.at(p.node); in > 0 { // otherwise the page is a seed
		depth = int(in) - 1
	}
	if rec.FetchMS > int64(s.Slow) {
		depth = 0
	}
	best, lane := 0, laneMiddle
	switch {
	case depth > 0 && p.relevant:
		best, lane = int(float64(s.Width)*s.Share), laneBegin // row b
	case depth > 0:
		best = s.Width
	}
	child := max(0, depth-1)
	if p.relevant {
		child = s.Depth
	}
	links := s.ordered(rec, place)
	best = min(best, len(links))
	for i := best - 1; i >= 0; i-- { // backwards, so that the first link is in front, row d
		s.turns++
		s.insert(links[i], place, lane+s.turns, child)
	}
	for _, id := range links[best:] {
		s.turns++
		s.insert(id, place, laneEnd-s.turns, child)
	}
}

// ordered returns the unfetched links of a page in the order in which they are inserted, row
// c.
func (s *fish) ordered(rec *wire.Record, place int) []graph.ID {
	var outside, inside []graph.ID
	host := weburl.Host(rec.URL)
	seen := map[graph.ID]bool{}
	for id, link := range s.unfetchedLinks(rec, place) {
		if seen[id] {
			continue
		}
		seen[id] = true
		if s.Outside && weburl.Host(link.URL) != host {
			outside = append(outside, id)
		} else {
			inside = append(inside, id)
		}
	}
	return append(outside, inside...)
}

// insert moves id to the given place in the list, except if its present place is nearer to the
// beginning, and raises its depth: row e.
func (s *fish) insert(id graph.ID, page, place, depth int) {
	s.depths.raise(id, float64(depth+1))
	if float64(place) <= s.places.at(id) {
		return
	}
	s.places.set(id, float64(place))
	s.offers.put(id, s.address(id, page, opLink, float64(place), wire.Scored{Name: "depth", Value: s.depths.at(id) - 1}))
}

func (s *fish) Breed(int, *rand.Rand) []Address {
	next := s.offers.take(&s.memory)
	s.endGeneration()
	return next
}
