package strategy

// This file implements the tunnelling crawler of
//
//	D. Bergmark, C. Lagoze and A. Sbityakov, "Focused crawls, tunneling, and digital
//	libraries", ECDL 2002, LNCS 2458, pp. 91–106.
//
// A nugget is a page that is similar enough to the topic. Paths to nuggets often lead through other
// pages, so a path continues through such pages while its distance is below a cutoff. The distance of
// a page grows exponentially with the distance of its parent:
//
//	d = min(1, (1 − cv)·e^(2·d_parent / C))      and d = 0 for a nugget
//
//	paper      here             meaning
//	cv         page.score       correlation of the page and the centroid of the topic, in [0, 1] (row a)
//	nugget     page.relevant    a page whose cv reaches the threshold (row b)
//	d_parent   distance         distance of the page with the link; 0 for seeds
//	C          Cutoff           links of pages with d ≥ C are not followed (row c)
//	           Order            order of the queue (row d)
//
// tunnel (Pal and others 2009) counts irrelevant pages: each halves the priority of the links behind
// it, and a path ends after a number of them. Here a path continues through a page that is nearly
// similar enough, and ends at a page with cv = 0.
//
// The paper was not available, and all except the formula is reconstructed: doc/design/papers.md lists
// what is not known, and comments name its rows.

import (
	"math"
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type bergmark struct {
	pool

	Cutoff float64
	Order  string

	distance column // of an address: distance of the page that gives it its priority
	parent   column // place of this page, plus one; 0: no path leads to the address

	highest float64 // highest score so far, at least 1; derived
}

// Orders of the queue.
const (
	byDistance   = "distance"
	bySimilarity = "similarity"
)

func newBergmark() Strategy {
	s := &bergmark{Cutoff: 1, Order: byDistance}
	s.parts = []part{&s.distance, &s.parent}
	return s
}

func (s *bergmark) Params() []Param {
	return []Param{
		{Name: "cutoff", Doc: "links of pages at this distance or more are not followed (C); above 1, distances grow more slowly, and the limit is 1", Value: &s.Cutoff, Range: [2]float64{1e-3, 1e3}},
		{Name: "order", Doc: "order of the queue: links of nuggets first and then those at the lowest distance, or all by the score of their page", Value: &s.Order,
			Words: []string{byDistance, bySimilarity}},
	}
}

// Breed proposes the links with the highest priorities or, if all paths have ended, the links of the
// most similar pages, from which new paths start (row e).
func (s *bergmark) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.setHighest()
	for place := s.firstPage; place < len(s.pages); place++ {
		s.extend(place)
	}
	for _, id := range s.eligible(quota, s.waiting) {
		next = append(next, s.proposal(id))
	}
	if len(next) == 0 && quota == n { // nothing of the last generation is pending
		for _, id := range s.eligible(quota, s.linkedScore) {
			a := s.proposeAt(id, s.linkedScore(id))
			a.Operator = opRestart
			next = append(next, a)
		}
	}
	s.endGeneration()
	return next
}

// setHighest updates the highest score (row a). Above 1, cv is the score divided by it.
func (s *bergmark) setHighest() {
	from := s.firstPage
	if s.highest == 0 {
		s.highest, from = 1, 0
	}
	for _, p := range s.pages[from:] {
		s.highest = max(s.highest, p.score)
	}
}

// extend extends the path of a page to its links, unless the path has ended.
func (s *bergmark) extend(place int) {
	p := &s.pages[place]
	d := s.pageDistance(p)
	if p.failed || d >= min(s.Cutoff, 1) {
		return
	}
	priority := s.priority(d, p)
	for id := range s.web.Children(p.node) {
		if s.isFree(id) && priority > s.waiting(id) {
			s.distance.set(id, d)
			s.parent.set(id, float64(place)+1)
		}
	}
}

// pageDistance returns d.
func (s *bergmark) pageDistance(p *page) float64 {
	if p.relevant {
		return 0
	}
	cv := max(0, p.score/s.highest)
	return millionths(min(1, (1-cv)*math.Exp(min(2*s.distance.at(p.node)/s.Cutoff, 700))))
}

// priority returns the priority of the links of p, at the distance d. Only nuggets have d = 0; among
// them, the most similar come first.
func (s *bergmark) priority(d float64, p *page) float64 {
	if s.Order == bySimilarity || d == 0 {
		return max(0, p.score)
	}
	return -d
}

// waiting returns the priority of an address, or notEligible if no path leads to it.
func (s *bergmark) waiting(id graph.ID) float64 {
	if p := s.by(id); p != nil {
		return s.priority(s.distance.at(id), p)
	}
	return notEligible
}

// by returns the page that gives id its priority, or nil if there is none.
func (s *bergmark) by(id graph.ID) *page {
	if at := int(s.parent.at(id)); at >= 1 && at <= len(s.pages) {
		return &s.pages[at-1]
	}
	return nil
}

// proposal returns a proposal to fetch id, to which a path leads.
func (s *bergmark) proposal(id graph.ID) Address {
	d, p := s.distance.at(id), s.by(id)
	a := s.proposeAt(id, s.priority(d, p), wire.Scored{Name: "distance", Value: d}, wire.Scored{Name: "similarity", Value: p.score})
	a.Via, a.Depth = s.web.URL(p.node), p.depth+1
	if d > 0 {
		a.Operator = opTunnel
	}
	return a
}
