package genetic

import (
	"math/rand/v2"
	"slices"
)

// OnePoint is one-point crossover (Holland 1975) of two vectors of one length: what
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

// Uniform is uniform crossover (G. Syswerda, "Uniform crossover in genetic
// algorithms", ICGA 1989) of two vectors of one length: at every place the two
// change sides with probability one half.
func Uniform[T any](rng *rand.Rand, a, b []T) (c, d []T) {
	c, d = slices.Clone(a), slices.Clone(b)
	for i := range c {
		if rng.IntN(2) == 0 {
			c[i], d[i] = d[i], c[i]
		}
	}
	return c, d
}

// Exchange is the crossover of two sets (after N. Radcliffe and F. George, "A study
// in set recombination", ICGA 1993): what both have stays in both, and the rest is
// shuffled and dealt, so that the sizes stay. What both have stands first in what
// it returns.
func Exchange[T comparable](rng *rand.Rand, a, b []T) (c, d []T) {
	inA := make(map[T]bool, len(a))
	for _, x := range a {
		inA[x] = true
	}
	var rest []T
	both := make(map[T]bool)
	for _, x := range b {
		if inA[x] {
			both[x] = true
			d = append(d, x)
		} else {
			rest = append(rest, x)
		}
	}
	ofB := len(rest)
	for _, x := range a {
		if both[x] {
			c = append(c, x)
		} else {
			rest = append(rest, x)
		}
	}
	rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return append(c, rest[ofB:]...), append(d, rest[:ofB]...)
}
