package strategy

// This file implements breadth-first search: addresses are fetched in the order
// of their discovery. It looks at no score and is the baseline of every other
// strategy.

import (
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type breadthFirst struct{ memory }

func newBreadthFirst() Strategy { return new(breadthFirst) }

func (s *breadthFirst) Params() []Param { return nil }

func (s *breadthFirst) Visit(rec *wire.Record) { s.visit(rec) }

// Breed proposes every address that this generation discovered. An address is
// numbered when it is discovered, so its number is its turn.
func (s *breadthFirst) Breed(int, *rand.Rand) (next []Address) {
	for id := graph.ID(s.born); int(id) < s.web.Len(); id++ {
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
