package graph

import (
	"math"
	"slices"
)

// Spread returns values that are spread from labelled nodes over links: F with
//
//	F = α D^-½ A D^-½ F + (1 − α) Y
//
// approximately, by the given number of rounds. A is the matrix of the links, which are ranged over in
// each round, D the numbers of links, and Y the labels, one for each node (D. Zhou et al., "Learning
// with local and global consistency", NIPS 16, 2003). A link connects two nodes in both directions.
func Spread(links func(yield func(u, v int32) bool), labels []float64, alpha float64, rounds int) []float64 {
	// Links lead anywhere, so what a link reads and writes of a node stands together.
	type node struct {
		scale float64 // the diagonal of D^-½
		out   float64 // scale times the value, which each link passes on
		in    float64 // total that the links of this round bring
	}
	values, nodes := slices.Clone(labels), make([]node, len(labels))
	for u, v := range links {
		nodes[u].scale++
		nodes[v].scale++
	}
	for i := range nodes {
		n := &nodes[i]
		n.scale = 1 / math.Sqrt(max(1, n.scale))
		n.out = n.scale * values[i]
	}
	for range rounds {
		for u, v := range links {
			from, to := &nodes[u], &nodes[v]
			from.in += to.out
			to.in += from.out
		}
		for i := range nodes {
			n := &nodes[i]
			values[i] = float64(float64(alpha*n.scale)*n.in) + float64((1-alpha)*labels[i])
			n.out, n.in = n.scale*values[i], 0
		}
	}
	return values
}
