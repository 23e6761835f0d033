package strategy

// This file implements the random crawler: every address that is known and not fetched is
// equally likely to be fetched next. Its normalised area under the recall curve is 0
// (doc/results).
//
// A generation is one draw without replacement. A draw after every page would be different, because
// the links of a page could be drawn at once; the two are the same if a generation is one page.

import (
	"math/rand/v2"
	"slices"

	"spoor/internal/genetic"
	"spoor/internal/wire"
)

type randomOrder struct{ pool }

func newRandomOrder() Strategy { return new(randomOrder) }

func (s *randomOrder) Breed(n int, rng *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	waiting := slices.Collect(s.freeAddresses())
	for _, place := range genetic.Sample(rng, len(waiting), quota) {
		next = append(next, s.propose(waiting[place], wire.Scored{Name: "waiting", Value: float64(len(waiting))}))
	}
	s.endGeneration()
	return next
}
