package strategy

// This file implements best-first search in its naive form (similarity ordering
// of Cho, Garcia-Molina and Page 1998; the crawler of that name in Menczer, Pant
// and Srinivasan 2004): a link is worth what the page is worth that it stands on,
//
//	priority(link) = max over pages p with the link of sim(T, p)
//
// or, with the anchor of the link, which Batsakis, Petrakis and Milios (2009) find
// better for every kind of crawler,
//
//	priority(link) = max over links of ½ sim(T, p) + ½ sim(T, anchor)
//
//	papers          here                  meaning
//	sim(T, p)       page.score            nearness of the page to the topic
//	sim(T, anchor)  links[].scores anchor the same of the words of the link
//	score           worth                 the larger sum so far (anchor)
//
// With a generation of n it is the Best-N-First of the same authors: the n best
// are fetched before anything is ordered anew (see bestn.go for one that does so
// whatever the generation). Ties go by address, where the sources let the older
// link go first (doc/decisions.md, 2026-11-20).

import (
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type bestFirst struct {
	memory

	Anchor bool // the words of the link count, too

	worth  column          // the best of its links, by address
	raised map[graph.ID]at // addresses that are worth more since this generation
}

// at is a link in a generation: the page that it stands on, and what its words are
// worth.
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
		{Name: "anchor", Doc: "a link is worth half its page and half its words", Value: &s.Anchor},
	}
}

func (s *bestFirst) Visit(rec *wire.Record) {
	place, ok := s.visit(rec)
	if !ok || !s.Anchor || place < s.fetched || s.pages[place].failed {
		return // a page known before has no new links
	}
	for i := range rec.Links {
		link := &rec.Links[i]
		id, known := s.web.Find(link.URL)
		if !known {
			continue
		}
		anchor := scoreOf(link.Scores, "anchor")
		worth := (s.pages[place].score + anchor) / 2
		if _, raised := s.raised[id]; worth > s.worth.at(id) || !raised && int(id) >= s.born {
			s.worth.set(id, worth)
			s.raised[id] = at{place, anchor}
		}
	}
}

// Breed proposes the links of this generation's pages: those that are new, and
// those that have become worth more.
func (s *bestFirst) Breed(int, *rand.Rand) (next []Address) {
	proposed := map[graph.ID]bool{}
	for _, p := range s.pages[s.fetched:] {
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

// propose returns the proposal to fetch id, unless the last one still holds.
func (s *bestFirst) propose(id graph.ID) (a Address, ok bool) {
	if s.Anchor {
		link, raised := s.raised[id]
		if !raised {
			return a, false
		}
		a = s.address(id, link.place, opLink, s.worth.at(id))
		a.Reasons = []wire.Scored{{Name: "anchor", Value: link.anchor}, {Name: "page", Value: s.pages[link.place].score}}
		return a, true
	}
	best, _ := s.bestParent(id)
	if best < s.fetched {
		return a, false // no page of this generation is better
	}
	return s.address(id, best, opLink, s.pages[best].score), true
}
