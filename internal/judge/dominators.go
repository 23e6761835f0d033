package judge

import (
	"slices"

	"spoor/internal/graph"
)

// dominators returns the immediate dominator of each page, or None if only the start dominates the
// page. The start is a vertex that links to the seeds, which are the first pages. All pages must
// be reachable. This is the simple version of Lengauer and Tarjan's algorithm ("A fast
// algorithm for finding dominators in a flowgraph", TOPLAS 1(1), 1979), without recursion. It
// takes O(links · log pages) time.
func dominators(w *Web, seeds int) []int32 {
	// Vertices are numbered in depth-first order. The start is 0.
	n := int32(w.Len())
	number := make([]int32, n)   // by page
	page := make([]int32, n+1)   // by vertex
	parent := make([]int32, n+1) // by vertex: in the depth-first tree
	count := int32(0)
	type step struct {
		vertex int32
		links  []int32 // not followed yet
	}
	var path []step
	enter := func(p, from int32) {
		count++
		number[p], page[count], parent[count] = count, p, from
		path = append(path, step{count, w.Links(p)})
	}
	for s := range int32(seeds) {
		if number[s] > 0 {
			continue
		}
		enter(s, 0)
		for len(path) > 0 {
			top := &path[len(path)-1]
			if len(top.links) == 0 {
				path = path[:len(path)-1]
				continue
			}
			to := top.links[0]
			top.links = top.links[1:]
			if number[to] == 0 {
				enter(to, top.vertex)
			}
		}
	}

	in := reversed(w, seeds, number)

	// The names are from the paper. None marks the root of a tree of the forest, or the end of a
	// list.
	semi := make([]int32, n+1)
	label := make([]int32, n+1)
	ancestor := make([]int32, n+1)
	bucket := make([]int32, n+1) // the first vertex in the bucket
	next := make([]int32, n+1)   // the next vertex in the same bucket
	dom := make([]int32, n+1)
	for v := range n + 1 {
		semi[v], label[v], ancestor[v], bucket[v] = v, v, None, None
	}
	var chain []int32
	eval := func(v int32) int32 {
		if ancestor[v] == None {
			return v
		}
		chain = chain[:0]
		for x := v; ancestor[ancestor[x]] != None; x = ancestor[x] {
			chain = append(chain, x)
		}
		for _, x := range slices.Backward(chain) {
			up := ancestor[x]
			if semi[label[up]] < semi[label[x]] {
				label[x] = label[up]
			}
			ancestor[x] = ancestor[up]
		}
		return label[v]
	}
	for v := n; v > 0; v-- {
		for _, from := range in.Links(v) {
			semi[v] = min(semi[v], semi[eval(from)])
		}
		next[v], bucket[semi[v]] = bucket[semi[v]], v
		up := parent[v]
		ancestor[v] = up
		for u := bucket[up]; u != None; u = next[u] {
			if by := eval(u); semi[by] < semi[u] {
				dom[u] = by
			} else {
				dom[u] = up
			}
		}
		bucket[up] = None
	}
	idom := make([]int32, n) // by page
	for v := int32(1); v <= n; v++ {
		if dom[v] != semi[v] {
			dom[v] = dom[dom[v]]
		}
		idom[page[v]] = None
		if dom[v] > 0 {
			idom[page[v]] = page[dom[v]]
		}
	}
	return idom
}

// reversed returns the graph of all links of w and the links from the start (vertex 0) to the
// seeds, with every link reversed and every page replaced by its number.
func reversed(w *Web, seeds int, number []int32) graph.CSR {
	return graph.NewCSR(w.Len()+1, func(yield func(from, to int32) bool) {
		for s := range int32(seeds) {
			if !yield(number[s], 0) {
				return
			}
		}
		for page := range int32(w.Len()) {
			for _, to := range w.Links(page) {
				if !yield(number[to], number[page]) {
					return
				}
			}
		}
	})
}
