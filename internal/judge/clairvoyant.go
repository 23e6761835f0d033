package judge

import "slices"

// Clairvoyant returns, for each cost from 1 to T, the number of relevant pages that a crawler with
// the complete web and its labels can find. It is the higher number of two orders. The first is the
// best order of the tree of shortest paths from the seeds, by Horn's algorithm; the second always
// takes the shortest path to a relevant page (only if T <= 20,000). Each value is reached by a crawl
// of this cost, but possibly no single crawl reaches all values.
func (j *Judge) Clairvoyant() []int { return slices.Clone(j.clairvoyant()) }

func (j *Judge) makeClairvoyant() []int {
	best := j.alongTree()
	if j.T <= maxNearestBudget {
		for t, found := range j.near.curve(j.nearest(), j.T) {
			best[t] = max(best[t], found)
		}
	}
	return best
}

// alongTree returns the curve of the best order of the tree of shortest paths.
func (j *Judge) alongTree() []int {
	blocks, next := merge(j.parent, j.near.Relevant)
	var order []int32
	for _, b := range blocks {
		for page := b.first; page != None && len(order) < j.T; page = next[page] {
			order = append(order, page)
		}
	}
	return j.near.curve(order, j.T)
}

// curve returns the number of relevant pages that an order finds at each cost from 1 to t.
// A repeated page is found only once.
func (w *Web) curve(order []int32, t int) []int {
	curve := make([]int, t)
	done := make([]bool, w.Len())
	found := 0
	for i := range curve {
		if i < len(order) {
			if page := order[i]; page >= 0 && !done[page] {
				done[page] = true
				if w.Relevant[page] {
					found++
				}
			}
		}
		curve[i] = found
	}
	return curve
}
