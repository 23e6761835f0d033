package strategy

// This file implements depth-first search: last in, first out over the discovery of
// addresses. What the page fetched last has discovered comes first; the links that one
// page discovered come in their order on it. An address is discovered once: another
// link to it does not move it, as it would in a search that runs down the same links
// by recursion.
//
// It looks at no score. Nobody crawls like this; it shows how little an order can be
// worth.

import (
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type depthFirst struct{ memory }

func newDepthFirst() Strategy { return new(depthFirst) }

func (s *depthFirst) Params() []Param { return nil }

func (s *depthFirst) Visit(rec *wire.Record) { s.visit(rec) }

// Breed proposes every address that this generation discovered. Addresses are numbered
// as they are discovered, so those of a later page have the higher numbers; among
// those of one page, the first gets the highest as its turn.
func (s *depthFirst) Breed(int, *rand.Rand) (next []Address) {
	var found []graph.ID
	for place := s.fetched; place < len(s.pages); place++ {
		found = found[:0]
		for id := range s.web.Children(s.pages[place].node) {
			if _, fetched := s.page(id); !fetched && s.discovered(id, place) {
				found = append(found, id)
			}
		}
		for i, id := range found {
			turn := found[len(found)-1-i]
			next = append(next, s.address(id, place, opLink, float64(turn)))
		}
	}
	s.endGeneration()
	return next
}

// discovered reports whether id is new, and the page at place was the first to link to
// it.
func (s *depthFirst) discovered(id graph.ID, place int) bool {
	for parent := range s.web.Parents(id) {
		return int(id) >= s.born && parent == s.pages[place].node
	}
	return false
}
