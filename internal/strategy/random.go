package strategy

// This file implements the random crawler: every address that is known and not fetched is
// equally likely to be fetched next.
//
// A generation is one draw without replacement. The random crawls of judge, whose mean has nAUC 0, draw
// again after every page, so that the links of a page can be drawn at once, and draw the seeds among
// the links. The two are the same, after the seeds, if a generation is one page. With larger ones
// addresses found early are more likely to be fetched early, as in a breadth-first crawl: if the pages
// near the seeds are relevant, nAUC may be above 0.

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
