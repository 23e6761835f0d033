package graph

// This file implements HITS, hubs and authorities, from
//
//	Kleinberg, "Authoritative sources in a hyperlinked environment", Journal of the
//	ACM 46(5), 1999, pp. 604–632,
//
// with the weights and the nepotism rule of
//
//	Bharat and Henzinger, "Improved algorithms for topic distillation in a
//	hyperlinked environment", SIGIR 1998, pp. 104–111:
//
//	a(u) = Σ_{p→u} w(p,u)·h(p)    h(p) = Σ_{p→u} w(p,u)·a(u)
//
// each brought to length 1 (L2) after every step, from h = 1 everywhere. It converges
// to the principal eigenvectors of AᵀA and AAᵀ, A being the matrix of w, where these
// are unique; otherwise to one of those that 1 leads to, whatever the order of the
// addresses.

import "math"

// HITS is how hubs and authorities are worked out.
type HITS struct {
	// Iterations is how often; Kleinberg found 20 to be enough.
	Iterations int

	// Weight is w of a link, asked once for each. What is not finite and above 0
	// drops the link. Nil: every link has weight 1, as Kleinberg's.
	Weight func(from, to ID) float64

	// Same is as in [PageRank].
	Same []ID
}

// Scores are authority and hub of all addresses that g had at m, by ID, for the links
// that it had then. They are not negative, and of length 1 each, or all 0 where no
// link counts.
func (o HITS) Scores(g *Graph, m Mark) (authority, hub []float64) {
	// The links that count, page by page.
	type row struct {
		page ID
		end  int
	}
	links := g.edgesAt(m)
	rows := make([]row, 0, m.pages)
	targets, weights := make([]ID, 0, links), make([]float64, 0, links)
	for _, p := range g.expanded[:m.pages] {
		span := g.span[p]
		for _, e := range g.edges[span[0]:span[1]] {
			w := 1.0
			if o.Weight != nil {
				w = o.Weight(p, e.to)
			}
			if w > 0 && w <= math.MaxFloat64 {
				targets = append(targets, same(o.Same, e.to))
				weights = append(weights, w)
			}
		}
		rows = append(rows, row{p, len(targets)})
	}
	rescale(weights)

	authority, hub = make([]float64, m.urls), make([]float64, m.urls)
	h := make([]float64, len(rows)) // hubs are pages whose links are known
	for i := range h {
		h[i] = 1
	}
	normalise(h)
	for range o.Iterations {
		clear(authority)
		at := 0
		for i, r := range rows {
			for k := at; k < r.end; k++ {
				authority[targets[k]] += float64(weights[k] * h[i])
			}
			at = r.end
		}
		normalise(authority)
		at = 0
		for i, r := range rows {
			sum := 0.0
			for k := at; k < r.end; k++ {
				sum += float64(weights[k] * authority[targets[k]])
			}
			h[i], at = sum, r.end
		}
		normalise(h)
	}
	for i, r := range rows {
		hub[r.page] = h[i]
	}
	return authority, hub
}

// rescale makes the largest of x 1: what is brought to length 1 later has no unit, and
// neither squares nor sums leave the range of numbers.
func rescale(x []float64) {
	most := 0.0
	for _, v := range x {
		most = max(most, v)
	}
	for i := range x {
		x[i] /= most
	}
}

// normalise brings x to length 1, unless it is 0.
func normalise(x []float64) {
	squares := 0.0
	for _, v := range x {
		squares += float64(v * v)
	}
	if length := math.Sqrt(squares); length > 0 {
		for i := range x {
			x[i] /= length
		}
	}
}
