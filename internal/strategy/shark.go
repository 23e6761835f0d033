package strategy

// This file implements shark-search of
//
//	M. Hersovici, M. Jacovi, Y. S. Maarek, D. Pelleg, M. Shtalhaim and S. Ur, "The
//	shark-search algorithm. An application: tailored Web site mapping", Computer
//	Networks and ISDN Systems 30, 1998, pp. 317–326.
//
// It is fish-search with degrees for yes and no, in which a link inherits of all
// its ancestors and is read together with its neighbourhood:
//
//	inherited = δ·sim(page)       if sim(page) > ε
//	          = δ·inherited(page) otherwise
//	context   = 1                 if anchor > 0
//	          = sim(context)      otherwise
//	neighbourhood = β·anchor + (1 − β)·context
//	potential     = γ·inherited + (1 − γ)·neighbourhood
//
//	paper      here       meaning
//	δ          Delta      what a generation leaves of the inheritance
//	β          Beta       share of the anchor in the neighbourhood
//	γ          Gamma      share of the inheritance in the potential
//	ε          Epsilon    a page with more is relevant; 0 in the paper
//	sim(page)  rec.Score  by the words of the query
//	anchor, sim(context)  the link's Scores, by the same measure
//
// [M] is from memory, and to be checked before it is quoted.
//
//	row  what the paper leaves open         what we do
//	a    δ, β, γ: "predefined"              0.5, 0.8, 0.5, as implementations have it [M]
//	b    sim > 0 is passed by any one word  ε is a parameter; 0.05 is worth a try
//	c    how far a fish swims without food  a link behind more than three irrelevant pages
//	                                        in a row is dropped (Menczer and others [M])
//	d    several pages have the link        the potential, the inheritance and the distance
//	                                        are the best that any of them gives
//	e    what a seed inherits               nothing
//	f    how wide the context is            what parse takes: 25 words each side, in the block

import (
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type shark struct {
	memory

	Delta, Beta, Gamma, Epsilon float64
	Depth                       int

	potential column
	inherited column
	distance  column // irrelevant pages in a row before an address, plus one; 0 was never offered

	offers offers
}

func newShark() Strategy {
	s := &shark{Delta: 0.5, Beta: 0.8, Gamma: 0.5, Depth: 3}
	s.parts = []part{&s.potential, &s.inherited, &s.distance}
	return s
}

func (s *shark) Params() []Param {
	unit := [2]float64{0, 1}
	return []Param{
		{Name: "delta", Doc: "what a link inherits of its page's score, or of its page's inheritance", Value: &s.Delta, Range: unit},
		{Name: "beta", Doc: "share of the anchor in the neighbourhood, beside the context", Value: &s.Beta, Range: unit},
		{Name: "gamma", Doc: "share of the inheritance in the potential, beside the neighbourhood", Value: &s.Gamma, Range: unit},
		{Name: "epsilon", Doc: "a page is relevant when its score is greater", Value: &s.Epsilon, Range: unit},
		{Name: "depth", Doc: "links behind more irrelevant pages in a row are dropped", Value: &s.Depth, Range: [2]float64{0, 1e9}},
	}
}

func (s *shark) Visit(rec *wire.Record) {
	place, ok := s.arrive(rec)
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
	for id, link := range s.waits(rec, place) {
		near := s.neighbourhood(link)
		potential := float64(s.Gamma*inherited) + float64((1-s.Gamma)*near)
		before := s.distance.at(id)
		if before == 0 || float64(distance) < before {
			s.distance.set(id, float64(distance))
		}
		s.inherited.set(id, max(s.inherited.at(id), inherited))
		if before > 0 && potential <= s.potential.at(id) { // row d
			continue
		}
		s.potential.set(id, potential)
		s.offer(id, place, potential, inherited, near, link)
	}
}

// neighbourhood returns what the words in and around a link say.
func (s *shark) neighbourhood(link *wire.Link) float64 {
	anchor, context := scoreOf(link.Scores, "anchor"), scoreOf(link.Scores, "context")
	if anchor > 0 {
		context = 1
	}
	return float64(s.Beta*anchor) + float64((1-s.Beta)*context)
}

func (s *shark) offer(id graph.ID, place int, potential, inherited, near float64, link *wire.Link) {
	a := s.address(id, place, opLink, potential)
	a.Reasons = []wire.Scored{
		{Name: "anchor", Value: scoreOf(link.Scores, "anchor")}, {Name: "context", Value: scoreOf(link.Scores, "context")},
		{Name: "inherited", Value: inherited}, {Name: "neighbourhood", Value: near},
	}
	s.offers.put(id, a)
}

func (s *shark) Breed(int, *rand.Rand) []Address {
	next := s.offers.take(&s.memory)
	s.endGeneration()
	return next
}
