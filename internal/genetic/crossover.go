package genetic

import (
	"math/rand/v2"
	"slices"
)

// OnePoint is one-point crossover (Holland 1975): it exchanges the tails of two vectors of
// equal length, after a uniformly drawn cut. Vectors that are too short to cut are copied.
func OnePoint[T any](rng *rand.Rand, a, b []T) (c, d []T) {
	c, d = slices.Clone(a), slices.Clone(b)
	if len(a) < 2 {
		return c, d
	}
	cut := 1 + rng.IntN(len(a)-1)
	copy(c[cut:], b[cut:])
	copy(d[cut:], a[cut:])
	return c, d
}
