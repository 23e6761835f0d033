package judge

// A block is a piece of the best order of a forest: pages that are fetched in a row,
// because together they are denser than the first of them alone.
type block struct {
	first    int32 // its first page; the others follow by next
	pages    int32
	relevant int32
}

// merge orders the pages of a forest, none before its parent, so that no other such
// order has found more relevant pages at the end of any block: Horn's algorithm (W. A.
// Horn, "Single-machine job sequencing with treelike precedence ordering and linear
// delay penalties", SIAM J. Appl. Math. 23(2), 1972). The densest block is put behind
// the block of its parent until it has none, and is next then. Of equally dense blocks
// that goes first which came to be first, and single pages come in order of number.
//
// What is left when nothing relevant is left has no place in the order: it changes no
// curve. The density of blocks never rises. parent is [None] for a root.
func merge(parent []int32, relevant []bool) (blocks []block, next []int32) {
	root := int32(len(parent))
	next = make([]int32, len(parent))      // by page: the page behind it in its block
	last := make([]int32, len(parent))     // by first page of a block: its last page
	size := make([]int32, len(parent))     // by first page of a block: its pages
	value := make([]int32, len(parent))    // by first page of a block: its relevant pages
	within := make([]int32, len(parent)+1) // by page: the first page of its block, or a page on the way there
	within[root] = root
	find := func(page int32) int32 {
		for within[page] != page {
			within[page] = within[within[page]]
			page = within[page]
		}
		return page
	}
	waiting := heap[dense]{before: dense.before}
	born := int32(0)
	wait := func(b block) {
		waiting.push(dense{b, born})
		born++
	}
	for page := range parent {
		p := int32(page)
		next[p], last[p], size[p], within[p] = None, p, 1, p
		if relevant[p] {
			value[p] = 1
			wait(block{p, 1, 1})
		}
	}
	for len(waiting.list) > 0 {
		b := waiting.pop().block
		if within[b.first] != b.first || size[b.first] != b.pages {
			continue // it has been merged since
		}
		into := root
		if up := parent[b.first]; up != None {
			into = find(up)
		}
		within[b.first] = into
		if into == root {
			blocks = append(blocks, b)
			continue
		}
		next[last[into]] = b.first
		last[into] = last[b.first]
		size[into] += b.pages
		value[into] += b.relevant
		wait(block{into, size[into], value[into]})
	}
	return blocks, next
}

// dense is a block that waits to be merged.
type dense struct {
	block
	born int32
}

// before compares exactly: fractions, not quotients.
func (a dense) before(b dense) bool {
	x, y := int64(a.relevant)*int64(b.pages), int64(b.relevant)*int64(a.pages)
	if x != y {
		return x > y
	}
	return a.born < b.born
}

// A heap gives back first what goes before all else in it.
type heap[E any] struct {
	list   []E
	before func(a, b E) bool // of two different elements, one goes before the other
}

func (h *heap[E]) push(e E) {
	h.list = append(h.list, e)
	i := len(h.list) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !h.before(e, h.list[up]) {
			break
		}
		h.list[i], i = h.list[up], up
	}
	h.list[i] = e
}

// pop takes the first element of a heap that has any.
func (h *heap[E]) pop() E {
	last := len(h.list) - 1
	top, e := h.list[0], h.list[last]
	h.list = h.list[:last]
	i := 0
	for down := 1; down < last; down = 2*i + 1 {
		if right := down + 1; right < last && h.before(h.list[right], h.list[down]) {
			down = right
		}
		if !h.before(h.list[down], e) {
			break
		}
		h.list[i], i = h.list[down], down
	}
	if last > 0 {
		h.list[i] = e
	}
	return top
}
