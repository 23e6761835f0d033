package judge

import "slices"

// Bound returns an upper bound of the number of relevant pages that a crawl can find, at each
// cost from 1 to T. A crawl that has fetched a page has fetched all dominators of this page: the
// pages that are on every path from the seeds to it. So no crawl is better than the best order of
// the dominator tree, and no order of the tree is above the concave envelope of Horn's order. The
// bound is never above R.
func (j *Judge) Bound() []float64 { return slices.Clone(j.bound()) }

func (j *Judge) makeBound() []float64 {
	blocks, _ := merge(dominators(j.near, j.seeds), j.near.Relevant)
	bound := make([]float64, j.T)
	pages, relevant := 0, 0 // numbers before the current block
	for t := 1; t <= j.T; t++ {
		for len(blocks) > 0 && pages+int(blocks[0].pages) < t {
			pages += int(blocks[0].pages)
			relevant += int(blocks[0].relevant)
			blocks = blocks[1:]
		}
		bound[t-1] = float64(relevant)
		if len(blocks) > 0 {
			b := blocks[0]
			bound[t-1] += float64((t-pages)*int(b.relevant)) / float64(b.pages)
		}
	}
	return bound
}
