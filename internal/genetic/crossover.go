package genetic

import (
	"math/rand/v2"
	"slices"
)

// OnePoint returns one-point crossover (Holland 1975) of two vectors of one length: what
// stands behind a place that is drawn evenly changes sides. Vectors that are too
// short to be cut are copied.
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
