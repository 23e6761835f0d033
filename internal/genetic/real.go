package genetic

import "math/rand/v2"

// Tournament is tournament selection of two (Goldberg and Deb 1991): it returns the fitter of two
// individuals that are drawn with replacement.
func Tournament(rng *rand.Rand, fitness []float64) int {
	i, j := rng.IntN(len(fitness)), rng.IntN(len(fitness))
	if fitness[j] > fitness[i] {
		return j
	}
	return i
}

// Blend is blend crossover, BLX-α (Eshelman and Schaffer 1993): each number of the child is drawn
// uniformly from the interval between the two numbers of its parents, extended on both sides by alpha
// times the length of the interval.
func Blend(rng *rand.Rand, a, b []float64, alpha float64) []float64 {
	child := make([]float64, len(a))
	for i := range child {
		t := float64(rng.Float64()*(1+2*alpha)) - alpha
		child[i] = a[i] + float64(t*(b[i]-a[i]))
	}
	return child
}

// Disturb is Gaussian mutation (Rechenberg 1973) in place: with probability p, it adds to each number
// a normally distributed number with the given standard deviation.
func Disturb(rng *rand.Rand, x []float64, p, deviation float64) {
	for i := range x {
		if rng.Float64() < p {
			x[i] += float64(deviation * rng.NormFloat64())
		}
	}
}
