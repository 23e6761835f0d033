package genetic

import (
	"math/rand/v2"
	"slices"
)

// Roulette is fitness-proportional selection with replacement (Holland 1975; De Jong 1975): it
// returns n indexes, each drawn in proportion to its weight. If no weight is positive, all are
// equally likely. It returns nil if there are no weights.
func Roulette(rng *rand.Rand, weights []float64, n int) []int {
	if len(weights) == 0 || n <= 0 {
		return nil
	}
	var sum float64
	last := -1                                  // the last index that can be drawn
	cumulative := make([]float64, len(weights)) // Σ weights up to and including each index
	for i, w := range weights {
		if w = weight(w); w > 0 {
			last = i
		}
		sum += w
		cumulative[i] = sum
	}
	places := make([]int, n)
	for i := range places {
		if last < 0 {
			places[i] = rng.IntN(len(weights))
			continue
		}
		x := float64(rng.Float64() * sum)
		// The first index whose cumulative weight exceeds x. Its weight is positive.
		place, _ := slices.BinarySearchFunc(cumulative, x, func(c, x float64) int {
			if c <= x {
				return -1
			}
			return 1
		})
		places[i] = min(place, last)
	}
	return places
}

// Accept is fitness-proportional selection by stochastic acceptance (A. Lipowski and D.
// Lipowska, "Roulette-wheel selection via stochastic acceptance", Physica A 391, 2012),
// without replacement: it returns n distinct indexes, each drawn in proportion to its weight
// among the remaining indexes. Indexes without weight are drawn last. With fewer than n weights it
// returns all indexes.
//
// An index is drawn uniformly and accepted with the ratio of its weight to the highest
// remaining weight. On average a draw takes as many trials as the ratio of the highest weight
// to the mean, which is at most the number of indexes.
func Accept(rng *rand.Rand, weights []float64, n int) []int {
	n = max(0, min(n, len(weights)))
	left := make([]int, len(weights)) // indexes that were not drawn
	for i := range left {
		left[i] = i
	}
	falling := Truncate(weights, len(weights)) // by weight, the highest first; drawn indexes are removed from the front
	drawn := make([]bool, len(weights))
	places := make([]int, 0, n)
	for len(places) < n {
		for drawn[falling[0]] {
			falling = falling[1:]
		}
		highest := weight(weights[falling[0]])
		at := rng.IntN(len(left))
		for highest > 0 && float64(rng.Float64()*highest) >= weight(weights[left[at]]) {
			at = rng.IntN(len(left))
		}
		places = append(places, left[at])
		drawn[left[at]] = true
		left[at] = left[len(left)-1]
		left = left[:len(left)-1]
	}
	return places
}

// maxWeight is the highest weight: the sum of a hundred million such weights is finite.
const maxWeight = 1e300

// weight returns w as a weight: 0 unless it is positive.
func weight(w float64) float64 {
	if w > 0 {
		return min(w, maxWeight)
	}
	return 0
}
