package genetic

import (
	"math/rand/v2"
	"slices"
)

// Roulette returns fitness-proportional selection with replacement (Holland 1975; De
// Jong 1975): n places, each drawn in proportion to its weight. If no weight is
// positive, all places are equally likely. It is nothing if there are no weights.
func Roulette(rng *rand.Rand, weights []float64, n int) []int {
	if len(weights) == 0 || n <= 0 {
		return nil
	}
	var sum float64
	last := -1                                  // the last place that can be drawn
	cumulative := make([]float64, len(weights)) // Σ weights up to and with each place
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
		// The first place whose sum is above x: one without weight never is.
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

// Accept returns fitness-proportional selection by stochastic acceptance (A. Lipowski
// and D. Lipowska, "Roulette-wheel selection via stochastic acceptance", Physica A
// 391, 2012), without replacement: n distinct places, each drawn in proportion to
// its weight among those that are left. A place without weight is drawn only when
// nothing else is left. If there are fewer than n, it is all.
//
// A place is drawn evenly and accepted with its weight's share of the highest
// weight that is left. A draw takes as many trials, on average, as the highest
// weight is times the mean: never more than there are places.
func Accept(rng *rand.Rand, weights []float64, n int) []int {
	n = max(0, min(n, len(weights)))
	left := make([]int, len(weights)) // places that were not drawn
	for i := range left {
		left[i] = i
	}
	falling := Truncate(weights, len(weights)) // whoever is first here and not drawn has the highest weight
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

// heaviest is the highest weight: a hundred million of these have a sum.
const heaviest = 1e300

// weight returns w as a weight: what is not a positive number weighs nothing.
func weight(w float64) float64 {
	if w > 0 {
		return min(w, heaviest)
	}
	return 0
}
