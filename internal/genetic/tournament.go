package genetic

import "math/rand/v2"

// Tournament is tournament selection with replacement (D. Goldberg and K. Deb, "A
// comparative analysis of selection schemes used in genetic algorithms", FOGA
// 1991): n places, each the best of k that are drawn evenly, with replacement; the
// first drawn among equals. k below 1 is 1. It is nothing if there are no scores.
func Tournament(rng *rand.Rand, scores []float64, n, k int) []int {
	if len(scores) == 0 || n <= 0 {
		return nil
	}
	places := make([]int, n)
	for i := range places {
		best := rng.IntN(len(scores))
		for range k - 1 {
			if other := rng.IntN(len(scores)); scores[other] > scores[best] {
				best = other
			}
		}
		places[i] = best
	}
	return places
}
