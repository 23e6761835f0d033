package strategy

// This file implements depth-first search: last in, first out over the discovery of
// addresses. Addresses discovered on the page fetched last come first, in their order on that
// page. An address is discovered once: unlike in a recursive search, a later link to an address does
// not change its position.
//
// The strategy ignores scores and is only a baseline.

import (
	"math/rand/v2"

	"spoor/internal/graph"
)

type depthFirst struct{ memory }

func newDepthFirst() Strategy { return new(depthFirst) }

// Breed proposes every address discovered in this generation. IDs are numbered by discovery,
// so the IDs of later pages are higher. Of the addresses discovered on one page, the first gets the
// highest ID as its priority.
func (s *depthFirst) Breed(int, *rand.Rand) (next []Address) {
	var found []graph.ID
	for place := s.firstPage; place < len(s.pages); place++ {
		found = found[:0]
		for id := range s.web.Children(s.pages[place].node) {
			if _, fetched := s.page(id); !fetched && s.discovered(id, place) {
				found = append(found, id)
			}
		}
		for i, id := range found {
			priority := found[len(found)-1-i]
			next = append(next, s.address(id, place, opLink, float64(priority)))
		}
	}
	s.endGeneration()
	return next
}

// discovered reports whether id is new and the page at place was the first to link to it.
func (s *depthFirst) discovered(id graph.ID, place int) bool {
	for parent := range s.web.Parents(id) {
		return int(id) >= s.firstID && parent == s.pages[place].node
	}
	return false
}
