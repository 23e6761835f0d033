package graph

import "math"

// Spread returns values that are spread from labelled nodes over links: F with
//
//	F = α D^-½ A D^-½ F + (1 − α) Y
//
// approximately, by the given number of rounds. A is the matrix of the links, which are ranged over in
// each round, D the numbers of links, and Y the labels, one for each node (D. Zhou et al., "Learning
// with local and global consistency", NIPS 16, 2003). A link connects two nodes in both directions.
func Spread(links func(yield func(u, v int32) bool), labels []float64, alpha float64, rounds int) []float64 {
	n := len(labels)
	scale := make([]float64, n)
	for u, v := range links {
		scale[u]++
		scale[v]++
	}
	for v := range scale {
		scale[v] = 1 / math.Sqrt(max(1, scale[v]))
	}
	now, next := make([]float64, n), make([]float64, n)
	copy(now, labels)
	for range rounds {
		clear(next)
		for u, v := range links {
			next[u] += float64(scale[v] * now[v])
			next[v] += float64(scale[u] * now[u])
		}
		for v, sum := range next {
			next[v] = float64(float64(alpha*scale[v])*sum) + float64((1-alpha)*labels[v])
		}
		now, next = next, now
	}
	return now
}
