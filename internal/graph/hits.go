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
// Both vectors are normalised to length 1 (L2) after every step, starting from h = 1
// everywhere. They converge to principal eigenvectors of AᵀA and AAᵀ, where A is the
// matrix of w. If a principal eigenvector is not unique, the result still does not depend on
// the order of the addresses.

import "math"

// HITS holds the parameters of the computation.
type HITS struct {
	// Iterations is the number of iterations; Kleinberg found 20 to be enough.
	Iterations int

	// Weight returns w of a link. It is called once for each link. Links whose weight is not
	// finite, or not above 0, are dropped. Nil means weight 1, as in Kleinberg's paper.
	Weight func(from, to ID) float64

	// Same has the same meaning as in [PageRank].
	Same []ID
}

// Scores returns the authority and hub scores of all addresses that g had at m, by ID, using
// the links that it had then. They are not negative, and the vectors have length 1, or are
// all 0 if all links were dropped.
func (o HITS) Scores(g *Graph, m Mark) (authority, hub []float64) {
	// The links that are not dropped, by page.
	type row struct {
		page ID
		end  int
	}
	links := g.linksAt(m)
	rows := make([]row, 0, m.pages)
	targets, weights := make([]ID, 0, links), make([]float64, 0, links)
	for _, p := range g.expanded[:m.pages] {
		for to := range g.Children(p) {
			w := 1.0
			if o.Weight != nil {
				w = o.Weight(p, to)
			}
			if w > 0 && w <= math.MaxFloat64 {
				targets = append(targets, same(o.Same, to))
				weights = append(weights, w)
			}
		}
		rows = append(rows, row{p, len(targets)})
	}
	rescale(weights)

	authority, hub = make([]float64, m.urls), make([]float64, m.urls)
	h := make([]float64, len(rows)) // only pages whose links are known are hubs
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

// rescale divides x by its largest element, so that neither squares nor sums overflow.
// Vectors are normalised later, so the scale does not matter.
func rescale(x []float64) {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, v)
	}
	for i := range x {
		x[i] /= largest
	}
}

// normalise scales x to length 1, unless it is 0.
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
