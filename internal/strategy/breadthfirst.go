package strategy

// This file implements breadth-first search: addresses are fetched in the order of their
// discovery. It ignores scores and is the baseline of all other strategies.

import (
	"math/rand/v2"

	"spoor/internal/graph"
)

type breadthFirst struct{ memory }

func newBreadthFirst() Strategy { return new(breadthFirst) }

// Breed proposes every address discovered in this generation. IDs are numbered by discovery,
// so the negated ID is the priority.
func (s *breadthFirst) Breed(int, *rand.Rand) (next []Address) {
	for id := graph.ID(s.firstID); int(id) < s.web.Len(); id++ {
		if _, fetched := s.page(id); fetched {
			continue
		}
		for parent := range s.web.Parents(id) {
			place, _ := s.page(parent)
			next = append(next, s.address(id, place, opLink, -float64(id)))
			break
		}
	}
	s.endGeneration()
	return next
}
