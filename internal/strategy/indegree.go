package strategy

// This file implements the backlink order of
//
//	Cho, Garcia-Molina and Page, "Efficient crawling through URL ordering", Computer
//	Networks and ISDN Systems 30(1–7), 1998, pp. 161–172:
//
// a link is worth the number of fetched pages that it stands on, IB′(u) in the paper.
// A page that links to it twice counts once. Among equals the one that was discovered
// first goes first.

import (
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type inDegree struct{ pool }

func newInDegree() Strategy { return new(inDegree) }

func (s *inDegree) Params() []Param { return nil }

func (s *inDegree) Visit(rec *wire.Record) { s.visit(rec) }

// Breed proposes the links that stand on most pages.
func (s *inDegree) Breed(n int, _ *rand.Rand) (next []Address) {
	room := s.settle(n)
	for _, id := range s.best(room, s.backlinks) {
		next = append(next, s.choose(id, wire.Scored{Name: "indegree", Value: s.backlinks(id)}))
	}
	s.endGeneration()
	return next
}

func (s *inDegree) backlinks(id graph.ID) float64 { return float64(s.web.InDegree(id)) }
