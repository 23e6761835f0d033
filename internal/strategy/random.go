package strategy

// This file implements the random crawler: whatever waits is as likely as anything
// else to be fetched next. It is what an order is measured against: an area under the
// curve of recall of 0 is its own (doc/results.md).
//
// A generation is one draw without replacement. It is not the same as to draw again
// after every page, whose links could be drawn at once; with a generation of one page
// it is.

import (
	"math/rand/v2"
	"slices"

	"spoor/internal/genetic"
	"spoor/internal/wire"
)

type randomOrder struct{ pool }

func newRandomOrder() Strategy { return new(randomOrder) }

func (s *randomOrder) Params() []Param { return nil }

func (s *randomOrder) Visit(rec *wire.Record) { s.visit(rec) }

// Breed draws a generation.
func (s *randomOrder) Breed(n int, rng *rand.Rand) (next []Address) {
	room := s.settle(n)
	waiting := slices.Collect(s.waiting())
	for _, place := range genetic.Sample(rng, len(waiting), room) {
		next = append(next, s.choose(waiting[place], wire.Scored{Name: "waiting", Value: float64(len(waiting))}))
	}
	s.endGeneration()
	return next
}
