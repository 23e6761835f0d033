package judge

import "spoor/internal/graph"

// None represents a unit of cost that found no page, in an order, and an unknown host, as the
// number of a host.
const None int32 = -1

// A Web is a closed web: pages 0 to n-1 and the links between them; links that leave the
// web do not exist. The zero value is empty and ready. A link costs 4 bytes, a page 13.
type Web struct {
	Relevant []bool  // by page: whether it is relevant; false until it is set
	Host     []int32 // by page: a number for its host; None until it is set

	graph graph.CSR
}

// NewWeb returns the web with the pages and links of g.
func NewWeb(g graph.CSR) *Web {
	w := &Web{Relevant: make([]bool, g.Len()), Host: make([]int32, g.Len()), graph: g}
	for page := range w.Host {
		w.Host[page] = None
	}
	return w
}

// Add adds the next page, with its links in their order on the page, and returns its
// number. Links may lead to pages that are added later. Only the first of several equal links is
// kept.
func (w *Web) Add(links []int32) (page int32) {
	w.Relevant = append(w.Relevant, false)
	w.Host = append(w.Host, None)
	return w.graph.Add(links)
}

// Len returns the number of pages.
func (w *Web) Len() int { return w.graph.Len() }

// Links returns the links of a page, in their order on the page. They must not be changed.
func (w *Web) Links(page int32) []int32 { return w.graph.Links(page) }
