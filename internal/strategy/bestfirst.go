package strategy

// This file implements best-first search in its naive form (similarity ordering
// of Cho, Garcia-Molina and Page 1998; the crawler of that name in Menczer, Pant
// and Srinivasan 2004): a link is worth what the page is worth that it stands on,
//
//	priority(link) = max over pages p with the link of score(p)
//
// With a generation of n it is the Best-N-First of the same authors: the n best
// are fetched before anything is ordered anew. Ties go by address, where the
// sources let the older link go first (doc/decisions.md, 2026-11-20).

import (
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type bestFirst struct{ memory }

func newBestFirst() Strategy { return new(bestFirst) }

func (s *bestFirst) Params() []Param { return nil }

func (s *bestFirst) Visit(rec *wire.Record) { s.visit(rec) }

// Breed proposes the links of this generation's pages: those that are new, and
// those that have become worth more.
func (s *bestFirst) Breed(int, *rand.Rand) (next []Address) {
	proposed := map[graph.ID]bool{}
	for _, p := range s.pages[s.fetched:] {
		for id := range s.web.Children(p.node) {
			if _, fetched := s.page(id); fetched || proposed[id] {
				continue
			}
			proposed[id] = true
			best, _ := s.bestParent(id, len(s.pages))
			if before, known := s.bestParent(id, s.fetched); known && s.pages[before].score >= s.pages[best].score {
				continue
			}
			next = append(next, s.address(id, best, opLink, s.pages[best].score))
		}
	}
	s.endGeneration()
	return next
}

func (s *bestFirst) AppendDelta(b []byte) []byte { return s.appendDelta(b) }

func (s *bestFirst) Replay(b []byte) error {
	_, err := s.replay(b)
	return err
}
