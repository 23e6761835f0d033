package judge

import "slices"

// Overlap is how much of what two crawls have downloaded both have: the superposition ratio
// of Fan, Zeng and Li's Table I, "downloaded by both" of "downloaded by all". The paper
// does not say who all are; here they are the two crawls, so that the ratio is that of
// Jaccard: it is the same both ways, 1 for the same pages in any order, and 0 if no page
// is common or there is none.
//
// Orders are as in [Judge.Curve]: repetitions and negative numbers do not count. Cut them to the
// same cost before; for the pages that the paper counts, relevant ones, see
// [Web.OnlyRelevant]. It tells how different two crawls are, not how good.
func Overlap(a, b []int32) float64 {
	x, y := set(a), set(b)
	sum, both := len(x)+len(y), 0
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] < y[0]:
			x = x[1:]
		case x[0] > y[0]:
			y = y[1:]
		default:
			x, y = x[1:], y[1:]
			both++
		}
	}
	return ratio(float64(both), float64(sum-both))
}

// set is the pages of an order, sorted, each once.
func set(order []int32) []int32 {
	pages := slices.DeleteFunc(slices.Clone(order), func(page int32) bool { return page < 0 })
	slices.Sort(pages)
	return slices.Compact(pages)
}
