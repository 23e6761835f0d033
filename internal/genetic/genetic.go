// Package genetic implements the operators of genetic algorithms independently of the web:
// they take scores, vectors or sets, and return indexes into their arguments, or new vectors
// and sets.
//
// The random generator is a parameter. Equal generators give equal results, so that a run can
// be repeated.
package genetic

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Truncate is truncation selection: it returns the indexes of the n highest scores, highest
// first. Equal scores keep their order. With fewer than n scores it returns all.
func Truncate(scores []float64, n int) []int {
	n = max(0, min(n, len(scores)))
	worse := func(i, j int) int { return cmp.Or(cmp.Compare(scores[j], scores[i]), cmp.Compare(i, j)) }
	var top []int
	bound := -1 // the nth best so far, or -1 if there are fewer
	for i := range scores {
		if bound >= 0 && worse(i, bound) > 0 || n == 0 {
			continue
		}
		if top = append(top, i); len(top) == 2*n {
			slices.SortFunc(top, worse)
			top = top[:n]
			bound = top[n-1]
		}
	}
	slices.SortFunc(top, worse)
	return top[:min(n, len(top))]
}

// Sample returns n distinct indexes below total, each set of n equally likely, in random
// order. If n exceeds total, it returns all.
func Sample(rng *rand.Rand, total, n int) []int {
	n = max(0, min(n, total))
	// Floyd's algorithm (Bentley and Floyd, "A sample of brilliance", CACM 30(9),
	// 1987): it needs n draws and memory for n places, whatever the total.
	chosen := make(map[int]bool, n)
	places := make([]int, 0, n)
	for last := total - n; last < total; last++ {
		place := rng.IntN(last + 1)
		if chosen[place] {
			place = last
		}
		chosen[place] = true
		places = append(places, place)
	}
	rng.Shuffle(n, func(i, j int) { places[i], places[j] = places[j], places[i] })
	return places
}

// Share returns the size of a fraction p of a set of n: rounded down, but at least 1 if n and p are
// positive.
func Share(n int, p float64) int {
	if n <= 0 || !(p > 0) {
		return 0
	}
	return max(1, min(n, int(float64(float64(n)*p)+roundOff)))
}

// roundOff compensates for rounding errors of products: 0.29 of 100 is 29.
const roundOff = 1e-9
