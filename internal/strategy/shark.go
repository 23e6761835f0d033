package strategy

// This file implements shark-search of
//
//	M. Hersovici, M. Jacovi, Y. S. Maarek, D. Pelleg, M. Shtalhaim and S. Ur, "The
//	shark-search algorithm. An application: tailored Web site mapping", Computer
//	Networks and ISDN Systems 30, 1998, pp. 317–326,
//
// after the description in
//
//	G. Pant, P. Srinivasan and F. Menczer, "Crawling the Web", in Web Dynamics, 2004.
//
// It is fish-search with degrees of relevance: the value of a link depends on all its ancestors and
// on its neighbourhood:
//
//	inherited = δ·sim(page)       if sim(page) > ε
//	          = δ·inherited(page) otherwise
//	context   = 1                 if anchor > 0
//	          = sim(context)      otherwise
//	neighbourhood = β·anchor + (1 − β)·context
//	potential     = γ·inherited + (1 − γ)·neighbourhood
//
//	paper      here       meaning
//	δ          Delta      decay of the inheritance per generation
//	β          Beta       share of the anchor in the neighbourhood
//	γ          Gamma      share of the inheritance in the potential
//	ε          Epsilon    a page with a higher score is relevant; 0 in the paper
//	d          Depth      depth bound
//	sim(page)  rec.Score  by the words of the query
//	anchor, sim(context)  the link's Scores, by the same measure
//
// The values of δ, β, γ and d are reconstructed: the paper was not available, and the
// description names no values.
//
// Comments name rows of the table in doc/design/papers.md, which lists what is not known about the paper,
// and what this implementation does.

import (
	"math/rand/v2"

	"spoor/internal/wire"
)

type shark struct {
	memory

	Delta, Beta, Gamma, Epsilon float64
	Depth                       int

	potential column
	inherited column
	distance  column // irrelevant pages in a row before an address, plus one; 0: never offered

	offers offers
}

func newShark() Strategy {
	s := &shark{Delta: 0.5, Beta: 0.8, Gamma: 0.5, Depth: 3}
	s.parts = []part{&s.potential, &s.inherited, &s.distance}
	return s
}

func (s *shark) Params() []Param {
	return []Param{
		{Name: "delta", Doc: "decay: share that a link inherits of the score of its page or, if that is 0, of the page's inheritance", Value: &s.Delta, Range: unit},
		{Name: "beta", Doc: "share of the anchor in the neighbourhood, beside the context", Value: &s.Beta, Range: unit},
		{Name: "gamma", Doc: "share of the inheritance in the potential, beside the neighbourhood", Value: &s.Gamma, Range: unit},
		{Name: "epsilon", Doc: "a page is relevant when its score is greater", Value: &s.Epsilon, Range: unit},
		{Name: "depth", Doc: "links behind more irrelevant pages in a row are dropped", Value: &s.Depth, Range: whole},
	}
}

func (s *shark) Visit(rec *wire.Record) {
	place, ok := s.visitNew(rec)
	if !ok {
		return
	}
	p := s.pages[place]
	inherited, distance := float64(s.Delta*p.score), 1
	if !(p.score > s.Epsilon) {
		inherited = s.Delta * s.inherited.at(p.node)
		distance = max(1, int(s.distance.at(p.node))) + 1
	}
	if distance-1 > s.Depth { // row c
		return
	}
	for id, link := range s.unfetchedLinks(rec, place) {
		near := s.neighbourhood(link)
		potential := float64(s.Gamma*inherited) + float64((1-s.Gamma)*near)
		before := s.distance.at(id)
		if before == 0 || float64(distance) < before {
			s.distance.set(id, float64(distance))
		}
		s.inherited.raise(id, inherited)
		if before > 0 && potential <= s.potential.at(id) { // row d
			continue
		}
		s.potential.set(id, potential)
		s.offers.put(id, s.address(id, place, opLink, potential,
			wire.Scored{Name: "anchor", Value: scoreOf(link.Scores, "anchor")},
			wire.Scored{Name: "context", Value: scoreOf(link.Scores, "context")},
			wire.Scored{Name: "inherited", Value: inherited},
			wire.Scored{Name: "neighbourhood", Value: near}))
	}
}

// neighbourhood returns the score of the words in and around a link.
func (s *shark) neighbourhood(link *wire.Link) float64 {
	anchor, context := scoreOf(link.Scores, "anchor"), scoreOf(link.Scores, "context")
	if anchor > 0 {
		context = 1
	}
	return float64(s.Beta*anchor) + float64((1-s.Beta)*context)
}

func (s *shark) Breed(int, *rand.Rand) []Address {
	next := s.offers.take(&s.memory)
	s.endGeneration()
	return next
}
