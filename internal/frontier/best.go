package frontier

import (
	"cmp"
	"slices"
)

// Best returns the n highest priorities of URLs that wait and are not leased, in descending order.
// It includes URLs that are not due yet.
func (s *Store) Best(n int) []float64 {
	descending := func(a, b float64) int { return cmp.Compare(b, a) }
	var best []float64
	for id := range uint32(s.x.len()) {
		h := s.x.hot.at(id)
		if !s.x.isKnown(id) || h.flags&(flagProposed|flagFinished|flagWithdrawn) != flagProposed {
			continue
		}
		if h.flags&flagLeasedByGeneration != 0 && uint64(s.x.history(id).lease)+1 >= s.nextGeneration {
			continue
		}
		if best = append(best, h.priority); len(best) >= 2*n {
			slices.SortFunc(best, descending)
			best = best[:n]
		}
	}
	slices.SortFunc(best, descending)
	return best[:min(n, len(best))]
}
