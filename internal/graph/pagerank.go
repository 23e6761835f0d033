package graph

// This file implements PageRank, from
//
//	Brin and Page, "The anatomy of a large-scale hypertextual Web search engine",
//	Computer Networks and ISDN Systems 30(1–7), 1998, pp. 107–117,
//
// as the stationary distribution of a surfer: at an address u, with probability d
// he follows one of its links, each as likely as the other; otherwise, and wherever
// there is no link to follow, he goes to an address drawn from the teleport
// distribution v:
//
//	PR(u) = (1 − d)·v(u) + d·( Σ_{p→u} PR(p)/out(p) + v(u)·Σ_{q dangling} PR(q) )
//
// Brin and Page print the formula without the last term, for sums of N, and say that
// the ranks sum to one; with the last term they do. A v that is not uniform is the
// topic-sensitive PageRank of Haveliwala (WWW 2002).
//
// Addresses that were never fetched count as pages without links: most of what a
// crawl knows is dangling.

import "math"

// PageRank is how ranks are worked out.
type PageRank struct {
	// Damping is d, from 0 to below 1.
	Damping float64

	// Teleport is v by ID, in any unit. What is not finite and above 0, or is beyond
	// its end, counts as 0; if all does, as when it is nil, v is uniform.
	Teleport []float64

	// Same is, by ID, the address under which the links of its page are known: what
	// leads to an address leads there. Nil, or beyond its end: the address itself.
	Same []ID

	// Tolerance ends the iteration: the absolute differences to the ranks before sum
	// to this at most. The ranks are then no farther than Tolerance·d/(1−d) from the
	// exact ones, in the same sum.
	Tolerance float64

	// Iterations ends it at the latest.
	Iterations int
}

// Ranks are the ranks of all addresses that g had at m, by ID, for the links that it
// had then. They are not negative and sum to 1. How often it took is told, too.
//
// Addresses discovered in another order have the same ranks but for rounding, and,
// where Iterations does not cut it short, twice the error that Tolerance allows.
func (o PageRank) Ranks(g *Graph, m Mark) (ranks []float64, iterations int) {
	n := m.urls
	if n == 0 {
		return nil, 0
	}
	pages := g.expanded[:m.pages]
	edges := g.edges[:g.edgesAt(m)]
	targets := make([]ID, len(edges)) // of each link, where its page is
	for i := range edges {
		targets[i] = same(o.Same, edges[i].to)
	}
	v := o.teleport(n)
	ranks, next := make([]float64, n), make([]float64, n)
	copy(ranks, v)
	for iterations < o.Iterations {
		iterations++
		// The surfer who follows no link teleports: be it by choice, or because there
		// is none. As all ranks sum to 1, that is the rest.
		follows := 0.0
		for _, p := range pages {
			follows += ranks[p]
		}
		teleports := 1 - float64(o.Damping*follows)
		for u := range next {
			next[u] = teleports * v[u]
		}
		for _, p := range pages {
			span := g.span[p]
			share := o.Damping * ranks[p] / float64(span[1]-span[0])
			for _, u := range targets[span[0]:span[1]] {
				next[u] += share
			}
		}
		change := 0.0
		for u := range next {
			change += math.Abs(next[u] - ranks[u])
		}
		ranks, next = next, ranks
		if change <= o.Tolerance {
			break
		}
	}
	return ranks, iterations
}

// teleport is v for n addresses, with the sum 1.
func (o PageRank) teleport(n int) []float64 {
	v := make([]float64, n)
	sum := 0.0
	for u := range min(n, len(o.Teleport)) {
		if x := o.Teleport[u]; x > 0 && x <= math.MaxFloat64/float64(n) {
			v[u] = x
			sum += x
		}
	}
	for u := range v {
		if sum > 0 {
			v[u] /= sum
		} else {
			v[u] = 1 / float64(n)
		}
	}
	return v
}

// same is where a page is whose address is id.
func same(by []ID, id ID) ID {
	if int(id) < len(by) {
		return by[id]
	}
	return id
}

// edgesAt is the number of links that g had at m.
func (g *Graph) edgesAt(m Mark) int {
	if m.pages == 0 {
		return 0
	}
	return int(g.span[g.expanded[m.pages-1]][1])
}
