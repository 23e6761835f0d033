package graph

// This file implements PageRank, from
//
//	Brin and Page, "The anatomy of a large-scale hypertextual Web search engine",
//	Computer Networks and ISDN Systems 30(1–7), 1998, pp. 107–117,
//
// as the stationary distribution of a random surfer. At an address u, the surfer follows one
// of its links with probability d, all with the same probability; otherwise, or if there is
// no link, the surfer goes to an address drawn from the teleport distribution v:
//
//	PR(u) = (1 − d)·v(u) + d·( Σ_{p→u} PR(p)/out(p) + v(u)·Σ_{q dangling} PR(q) )
//
// The formula that Brin and Page print lacks the last term and has 1 − d in place of
// (1 − d)·v(u), although they say that the ranks sum to one; with the formula above, they do.
// If v is not uniform, this is the topic-sensitive PageRank of Haveliwala (WWW 2002).
//
// Addresses that were never fetched are treated as pages without links, so most addresses that a
// crawl has found are dangling.

import "math"

// PageRank holds the parameters of the computation.
type PageRank struct {
	// Damping is d, from 0 to below 1.
	Damping float64

	// Teleport is v by ID, in any unit. Missing elements, and elements that are not finite
	// and above 0, are treated as 0. If all are 0, v is uniform.
	Teleport []float64

	// Same maps an address, by ID, to the address at which its page is stored, such as the
	// target of a redirect: a link to the first address is treated as a link to the second.
	// Addresses without an element are mapped to themselves.
	Same []ID

	// Tolerance ends the iteration when the absolute differences to the previous ranks sum
	// to at most this. The sum of the errors of the ranks is then at most Tolerance·d/(1−d).
	Tolerance float64

	// Iterations is the maximal number of iterations.
	Iterations int
}

// Ranks returns the ranks of all addresses that g had at m, by ID, using the links that it
// had then, and the number of iterations. Ranks are not negative and sum to 1.
//
// If Tolerance ends the iteration, ranks computed after different orders of discovery differ
// by rounding and by at most twice the error that Tolerance allows.
func (o PageRank) Ranks(g *Graph, m Mark) (ranks []float64, iterations int) {
	n := m.urls
	if n == 0 {
		return nil, 0
	}
	pages := g.expanded[:m.pages]
	targets := make([]ID, g.linksAt(m)) // by Link: the address of the page that it leads to
	for i := range targets {
		targets[i] = same(o.Same, g.Target(Link(i)))
	}
	v := o.teleport(n)
	ranks, next := make([]float64, n), make([]float64, n)
	copy(ranks, v)
	for iterations < o.Iterations {
		iterations++
		// The surfer teleports by choice, or because there is no link. All ranks sum to 1,
		// so this is 1 minus the probability of following a link.
		follows := 0.0
		for _, p := range pages {
			follows += ranks[p]
		}
		teleports := 1 - float64(o.Damping*follows)
		for u := range next {
			next[u] = teleports * v[u]
		}
		for _, p := range pages {
			first, end := g.LinksOn(p)
			share := o.Damping * ranks[p] / float64(end-first)
			for _, u := range targets[first:end] {
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

// teleport returns v for n addresses, with sum 1.
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

// same returns the address under which the page at id is known.
func same(by []ID, id ID) ID {
	if int(id) < len(by) {
		return by[id]
	}
	return id
}

// linksAt returns the number of links that g had at m.
func (g *Graph) linksAt(m Mark) int {
	if m.pages == 0 {
		return 0
	}
	return int(g.ends[m.pages-1])
}
