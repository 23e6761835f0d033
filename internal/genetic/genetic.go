// Package genetic holds the operators of genetic algorithms that know nothing
// of the web: they work on scores, vectors and sets, and return places in what
// they were given, or new vectors and sets.
//
// Randomness is a parameter. Every operator draws the same numbers from an equal
// generator, so a run can be repeated.
package genetic

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Truncate returns truncation selection: the places of the n highest scores, highest
// first. Equal scores keep their order. If there are fewer than n, it is all.
func Truncate(scores []float64, n int) []int {
	places := make([]int, len(scores))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return places[:max(0, min(n, len(places)))]
}

// Sample returns n places out of total, each set of n equally likely, in random order.
// If n exceeds total, it is all.
func Sample(rng *rand.Rand, total, n int) []int {
	n = max(0, min(n, total))
	// Floyd's algorithm (Bentley and Floyd, "A sample of brilliance", CACM 30(9),
	// 1987): n draws and n places of memory, whatever the total.
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

// Share returns the size of a fraction p of a set of n: rounded down, but at least
// one when there is anything to take and p is positive.
func Share(n int, p float64) int {
	if n <= 0 || !(p > 0) {
		return 0
	}
	return max(1, min(n, int(float64(float64(n)*p)+roundOff)))
}

// roundOff is what a product of a fraction may lack to be the whole number that
// it is on paper: 0.29 of 100 is 29.
const roundOff = 1e-9
