package strategy

// This file implements naive best-first search (similarity ordering of Cho, Garcia-Molina and
// Page 1998; the crawler with this name in Menczer, Pant and Srinivasan 2004): the value of a link is
// the similarity of the page that contains it,
//
//	priority(link) = max over pages p with the link of sim(T, p)
//
// or, with the anchor of the link, which Batsakis, Petrakis and Milios (2009) find better for
// every kind of crawler,
//
//	priority(link) = max over links of ½ sim(T, p) + ½ sim(T, anchor)
//
//	papers          here                  meaning
//	sim(T, p)       page.score            similarity of the page and the topic
//	sim(T, anchor)  links[].scores anchor the same for the words of the link
//	score           worth                 the largest sum so far (anchor)
//
// With generations of n pages it is Best-N-First of the same authors: the n best links are
// fetched before the order changes (bestn.go implements that for any generation size). Ties
// are broken by address; in the sources the older link is first (decision 4).

import (
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type bestFirst struct {
	memory

	Anchor bool // use the words of the link

	worth  column          // value of an address: the value of its best link
	raised map[graph.ID]at // addresses whose value rose in this generation
}

// at is a link: the page that contains it, and the score of its anchor.
type at struct {
	place  int
	anchor float64
}

func newBestFirst() Strategy {
	s := &bestFirst{raised: map[graph.ID]at{}}
	s.parts = []part{&s.worth}
	return s
}

func (s *bestFirst) Params() []Param {
	return []Param{
		{Name: "anchor", Doc: "value a link by the mean of the scores of its page and of its anchor", Value: &s.Anchor},
	}
}

func (s *bestFirst) Visit(rec *wire.Record) {
	place, ok := s.visit(rec)
	if !ok || !s.Anchor || place < s.firstPage || s.pages[place].failed {
		return // a known page has no new links
	}
	for id, link := range s.knownLinks(rec) {
		anchor := scoreOf(link.Scores, "anchor")
		worth := (s.pages[place].score + anchor) / 2
		if _, raised := s.raised[id]; worth > s.worth.at(id) || !raised && int(id) >= s.firstID {
			s.worth.set(id, worth)
			s.raised[id] = at{place, anchor}
		}
	}
}

// Breed proposes the links of this generation's pages that are new or whose value rose.
func (s *bestFirst) Breed(int, *rand.Rand) (next []Address) {
	proposed := map[graph.ID]bool{}
	for _, p := range s.pages[s.firstPage:] {
		for id := range s.web.Children(p.node) {
			if _, fetched := s.page(id); fetched || proposed[id] {
				continue
			}
			proposed[id] = true
			if a, ok := s.propose(id); ok {
				next = append(next, a)
			}
		}
	}
	clear(s.raised)
	s.endGeneration()
	return next
}

// propose returns a proposal to fetch id. ok is false if the last proposal is still valid.
func (s *bestFirst) propose(id graph.ID) (a Address, ok bool) {
	if s.Anchor {
		link, raised := s.raised[id]
		if !raised {
			return a, false
		}
		return s.address(id, link.place, opLink, s.worth.at(id),
			wire.Scored{Name: "anchor", Value: link.anchor}, wire.Scored{Name: "page", Value: s.pages[link.place].score}), true
	}
	best, _ := s.bestParent(id)
	if best < s.firstPage {
		return a, false // no page of this generation is better
	}
	return s.address(id, best, opLink, s.pages[best].score), true
}
