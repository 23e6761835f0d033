package graph

import "math"

// Spread returns values that are spread from labelled nodes over links: F with
//
//	F = α D^-½ A D^-½ F + (1 − α) Y
//
// approximately, by the given number of rounds. A is the matrix of the links of c, which must lead
// in both directions, D the numbers of links, and Y the labels (D. Zhou et al., "Learning with local
// and global consistency", NIPS 16, 2003).
func Spread(c *CSR, labels []float64, alpha float64, rounds int) []float64 {
	n := c.Len()
	scale := make([]float64, n)
	for v := range scale {
		scale[v] = 1 / math.Sqrt(float64(max(1, len(c.Links(int32(v))))))
	}
	now, next := make([]float64, n), make([]float64, n)
	copy(now, labels)
	for range rounds {
		for v := range next {
			sum := 0.0
			for _, u := range c.Links(int32(v)) {
				sum += float64(scale[u] * now[u])
			}
			next[v] = float64(float64(alpha*scale[v])*sum) + float64((1-alpha)*labels[v])
		}
		now, next = next, now
	}
	return now
}
