package judge

// A block is a part of the best order of a forest: consecutive pages that together have a higher
// density of relevant pages than the first page alone.
type block struct {
	first    int32 // first page; next holds the following pages
	pages    int32
	relevant int32
}

// merge orders the pages of a forest, parents before children, so that no other order with
// parents before children has more relevant pages up to the end of any block: Horn's algorithm (W. A.
// Horn, "Single-machine job sequencing with treelike precedence ordering and linear
// delay penalties", SIAM J. Appl. Math. 23(2), 1972). The densest block is appended to the
// block of its parent; a block without a parent is next in the order. If blocks are equally dense,
// the older block is first; the blocks of single pages are created in the order of their numbers.
//
// Pages after the last relevant page are omitted, because they change no curve. The density of
// the blocks never rises. parent is [None] for a root.
func merge(parent []int32, relevant []bool) (blocks []block, next []int32) {
	root := int32(len(parent))
	next = make([]int32, len(parent))      // by page: the next page in its block
	last := make([]int32, len(parent))     // by first page of a block: its last page
	size := make([]int32, len(parent))     // by first page of a block: its pages
	value := make([]int32, len(parent))    // by first page of a block: its relevant pages
	within := make([]int32, len(parent)+1) // by page: the first page of its block, or a page closer to that page
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
	push := func(b block) {
		waiting.push(dense{b, born})
		born++
	}
	for page := range parent {
		p := int32(page)
		next[p], last[p], size[p], within[p] = None, p, 1, p
		if relevant[p] {
			value[p] = 1
			push(block{p, 1, 1})
		}
	}
	for len(waiting.list) > 0 {
		b := waiting.pop().block
		if within[b.first] != b.first || size[b.first] != b.pages {
			continue // the block has been merged since it was pushed
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
		push(block{into, size[into], value[into]})
	}
	return blocks, next
}

// A dense is a block that is waiting to be merged.
type dense struct {
	block
	born int32
}

// before compares densities exactly, as fractions.
func (a dense) before(b dense) bool {
	x, y := int64(a.relevant)*int64(b.pages), int64(b.relevant)*int64(a.pages)
	if x != y {
		return x > y
	}
	return a.born < b.born
}

type heap[E any] struct {
	list   []E
	before func(a, b E) bool // a strict total order
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

// pop removes and returns the first element. The heap must not be empty.
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
