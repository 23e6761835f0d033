package graph

import "slices"

// A CSR is a directed graph whose nodes are numbered from 0, stored as compressed sparse
// rows. It is filled node by node and never changed. The zero value is empty and ready. A
// link costs 4 bytes, a node 8.
//
// A [Graph] grows while a crawl discovers links; a CSR is for links that are known from the
// beginning, and takes a third of the memory.
type CSR struct {
	ends    []int // by node: index in targets after its last link
	targets []int32
}

// NewCSR returns the graph of n nodes with the given links, each from one node to
// another. It ranges over links twice. The links of a node keep their order.
func NewCSR(n int, links func(yield func(from, to int32) bool)) CSR {
	c := CSR{ends: make([]int, n)}
	for from := range links {
		c.ends[from]++
	}
	sum := 0
	for v, degree := range c.ends {
		c.ends[v] = sum // the start of the links of v, until these are filled in
		sum += degree
	}
	c.targets = make([]int32, sum)
	for from, to := range links {
		c.targets[c.ends[from]] = to
		c.ends[from]++
	}
	return c
}

// Add adds the next node, with its links, and returns its number. Links may lead to nodes
// that are added later.
func (c *CSR) Add(links []int32) (node int32) {
	c.targets = append(c.targets, links...)
	c.ends = append(c.ends, len(c.targets))
	return int32(len(c.ends) - 1)
}

// Grow makes room for the given number of further nodes and links.
func (c *CSR) Grow(nodes, links int) {
	c.ends = slices.Grow(c.ends, nodes)
	c.targets = slices.Grow(c.targets, links)
}

// Len returns the number of nodes.
func (c *CSR) Len() int { return len(c.ends) }

// NumLinks returns the number of links.
func (c *CSR) NumLinks() int { return len(c.targets) }

// Links returns the links of a node, in their order. They must not be changed.
func (c *CSR) Links(node int32) []int32 {
	start := 0
	if node > 0 {
		start = c.ends[node-1]
	}
	return c.targets[start:c.ends[node]:c.ends[node]]
}
