package genetic

import "math/rand/v2"

// Flip is bit-flip mutation (Holland 1975) in place: it inverts every bit with probability p.
func Flip(rng *rand.Rand, bits []bool, p float64) {
	for i := range bits {
		if rng.Float64() < p {
			bits[i] = !bits[i]
		}
	}
}
