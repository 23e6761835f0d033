package strategy

// This file implements the backlink order of
//
//	Cho, Garcia-Molina and Page, "Efficient crawling through URL ordering", Computer
//	Networks and ISDN Systems 30(1–7), 1998, pp. 161–172:
//
// the value of a link is the number of fetched pages that contain it, IB′(u) in the paper. A page
// that contains the link twice is counted once. Of equal links, the one discovered first is fetched
// first.

import (
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type inDegree struct{ pool }

func newInDegree() Strategy { return new(inDegree) }

// Breed proposes the links with the most parents.
func (s *inDegree) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	for _, id := range s.best(quota, s.backlinks) {
		next = append(next, s.propose(id, wire.Scored{Name: "indegree", Value: s.backlinks(id)}))
	}
	s.endGeneration()
	return next
}

func (s *inDegree) backlinks(id graph.ID) float64 { return float64(s.web.InDegree(id)) }
