package strategy

// This file implements fish-search of
//
//	P. M. E. De Bra and R. D. J. Post, "Information retrieval in the World-Wide
//	Web: making client-based searching feasible", Computer Networks and ISDN
//	Systems 27 (2), 1994, pp. 183–192,
//
// as the first author describes it on a page of his course [A]. Links are fish
// that stand in a list. Where a page is relevant the fish find food: many of its
// links go to the beginning of the list, and live for several pages more. Those of
// other pages go to the middle, and die after so many pages without food: what is
// at the end of the list is looked at when nothing else is left.
//
//	paper      here    meaning
//	B, M, E    lanes   the beginning, the middle and the end of the list
//	width      Width   links of an irrelevant page that go to M
//	1.5·width  Share   links of a relevant page that go to B, over width
//	depth      Depth   irrelevant pages in a row before a fish dies
//	slow       Slow    a page that took longer counts as one of depth 0
//
// The list is the frontier: a place in the list is a priority, so that to insert
// is to ask for a higher one than all before.
//
// [A] is read from the author's page, not from the paper.
//
//	row  what the source leaves open                 what we do
//	a    the values of width and depth               5 and 3, our decision
//	b    where 1.5·width is no whole number          rounded down
//	c    which links are the first                   those to other hosts, which its search
//	                                                 prefers, then as they stand on the page;
//	                                                 links fetched already do not count
//	d    two groups at B, or at M                    the later goes before the earlier, and at
//	                                                 E behind it; a group keeps its order
//	e    a link that is in the list                  takes the better place and the greater
//	                                                 depth (Hersovici and others, 1998)
//	f    "very slow" servers, by their mean rate     a page that took longer than Slow, for
//	                                                 itself alone, our decision
//
// Relevance is yes or no: that of the measure, by its threshold.

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
	places column // in the list: the higher, the nearer to the beginning; 0 is not in it
	depths column // of an address in the list, plus one

	offers offers
}

// The lanes of the list, further apart than a crawl can have links.
const (
	laneEnd    = 10_000_000_000 // and below it: first in, first out
	laneMiddle = 10_000_000_000 // and above it: last in, first out
	laneBegin  = 20_000_000_000
)

func newFish() Strategy {
	s := &fish{Width: 5, Depth: 3, Share: 1.5, Outside: true, Slow: 10_000}
	s.parts = []part{(*counter)(&s.turns), &s.places, &s.depths}
	return s
}

func (s *fish) Params() []Param {
	whole := [2]float64{0, 1e9}
	return []Param{
		{Name: "width", Doc: "links of an irrelevant page that go to the middle of the list", Value: &s.Width, Range: whole},
		{Name: "depth", Doc: "irrelevant pages in a row after which all links go to the end", Value: &s.Depth, Range: whole},
		{Name: "share", Doc: "links of a relevant page that go to the beginning, over width", Value: &s.Share, Range: [2]float64{0, 1e6}},
		{Name: "outside", Doc: "links to other hosts are the first of a page", Value: &s.Outside},
		{Name: "slow", Doc: "milliseconds that a page may take before all its links go to the end", Value: &s.Slow, Range: whole},
	}
}

func (s *fish) Visit(rec *wire.Record) {
	place, ok := s.arrive(rec)
	if !ok {
		return
	}
	p := &s.pages[place]
	depth := s.Depth
	if in := s.depths.at(p.node); in > 0 { // else it is a seed
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
	links := s.school(rec, place)
	best = min(best, len(links))
	for i := best - 1; i >= 0; i-- { // the first of them goes before the others, row d
		s.turns++
		s.insert(links[i], place, lane+s.turns, child)
	}
	for _, id := range links[best:] {
		s.turns++
		s.insert(id, place, laneEnd-s.turns, child)
	}
}

// school returns the links of a page in the order in which they are taken, row c.
func (s *fish) school(rec *wire.Record, place int) []graph.ID {
	var outside, inside []graph.ID
	host := weburl.Host(rec.URL)
	seen := map[graph.ID]bool{}
	for id, link := range s.waits(rec, place) {
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

// insert brings id to a place of the list, unless it has a better one, and lets it
// live for depth pages more, unless it lives longer; row e.
func (s *fish) insert(id graph.ID, page, place, depth int) {
	s.depths.set(id, max(s.depths.at(id), float64(depth+1)))
	if float64(place) <= s.places.at(id) {
		return
	}
	s.places.set(id, float64(place))
	a := s.address(id, page, opLink, float64(place))
	a.Reasons = []wire.Scored{{Name: "depth", Value: s.depths.at(id) - 1}}
	s.offers.put(id, a)
}

func (s *fish) Breed(int, *rand.Rand) []Address {
	next := s.offers.take(&s.memory)
	s.endGeneration()
	return next
}
