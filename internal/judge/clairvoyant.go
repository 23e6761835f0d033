package judge

import "slices"

// Clairvoyant is how many relevant pages a crawler can have found at each cost from 1 to T
// that knows the web and its labels: the better, at each cost, of two orders. One is the
// best order of the tree of shortest paths from the seeds, by Horn's algorithm; the
// other always goes the shortest way to a relevant page (only where T <= 20,000). What
// stands at a cost was found by a crawl of that cost, so it is never more than can be
// found; but no single crawl need have the whole curve.
func (j *Judge) Clairvoyant() []int { return slices.Clone(j.clairvoyant()) }

func (j *Judge) makeClairvoyant() []int {
	best := j.alongTree()
	if j.T <= farthest {
		for t, found := range j.near.curve(j.nearest(), j.T) {
			best[t] = max(best[t], found)
		}
	}
	return best
}

// alongTree is the curve of the best order of the tree of shortest paths.
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

// curve is how many relevant pages an order has found at each cost from 1 to t; a page
// that comes again is nothing new.
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
