package page

import (
	"slices"

	"golang.org/x/net/html/atom"
)

// An outline is a tree with just enough information to put elements and texts in document
// order. Nodes are identified by their index; node 0 is the document.
type outline struct {
	why   reordering
	nodes []node
	texts []byte
	more  map[int32]*[]int // offsets of further attributes of an element
}

// A node is an element or a text.
type node struct {
	parent, first, last, previous, next int32

	at, to int32     // for an element: at is the offset of its attributes in the page; for a text: range in texts
	name   atom.Atom // name of an element
	element
	foreign bool
	isText  bool
	tag     string
}

// reset clears the outline, and keeps the memory unless it is large.
func (o *outline) reset(why reordering) {
	const maxKept = 1 << 20 // maximum size of nodes, and of texts, that is kept, in bytes
	o.why = why
	if cap(o.nodes) > maxKept/64 || cap(o.texts) > maxKept {
		*o = outline{why: why}
		return
	}
	clear(o.nodes)
	o.nodes, o.texts, o.more = o.nodes[:0], o.texts[:0], nil
}

// manyNodes is a number of nodes that only hostile pages exceed.
const manyNodes = 1 << 16

// add returns a new node, not yet inserted.
func (o *outline) add(n node) int32 {
	if len(o.nodes) == 0 {
		o.nodes = append(o.nodes, node{})
	}
	if len(o.nodes) == manyNodes {
		o.nodes = slices.Grow(o.nodes, maxNodes) // to the end, because each growth copies all
	}
	o.nodes = append(o.nodes, n)
	return int32(len(o.nodes) - 1)
}

func (o *outline) element(e *openElement) int32 {
	return o.add(node{name: e.name, element: e.element, foreign: e.ns != htmlNS, tag: e.tag, at: e.at})
}

func (o *outline) text(s string) int32 {
	at := len(o.texts)
	o.texts = append(o.texts, s...)
	return o.add(node{isText: true, at: int32(at), to: int32(len(o.texts))})
}

// describe adds the attributes at an offset to an element.
func (o *outline) describe(element, at int32) {
	if o.more == nil {
		o.more = map[int32]*[]int{}
	}
	if o.more[element] == nil {
		o.more[element] = new([]int)
	}
	*o.more[element] = append(*o.more[element], int(at))
}

// append inserts a node as the last child of parent.
func (o *outline) append(parent, node int32) {
	p, n := &o.nodes[parent], &o.nodes[node]
	n.parent, n.previous, n.next = parent, p.last, 0
	if p.last == 0 {
		p.first = node
	} else {
		o.nodes[p.last].next = node
	}
	p.last = node
}

// before inserts a node before next.
func (o *outline) before(next, node int32) {
	x, n := &o.nodes[next], &o.nodes[node]
	n.parent, n.previous, n.next = x.parent, x.previous, next
	if x.previous == 0 {
		o.nodes[x.parent].first = node
	} else {
		o.nodes[x.previous].next = node
	}
	x.previous = node
}

func (o *outline) detach(node int32) {
	n := &o.nodes[node]
	p := &o.nodes[n.parent]
	if n.previous != 0 {
		o.nodes[n.previous].next = n.next
	} else if p.first == node {
		p.first = n.next
	}
	if n.next != 0 {
		o.nodes[n.next].previous = n.previous
	} else if p.last == node {
		p.last = n.previous
	}
	n.parent, n.previous, n.next = 0, 0, 0
}

// moveChildren moves the children of one node to another node, which has no children.
func (o *outline) moveChildren(from, to int32) {
	f := &o.nodes[from]
	o.nodes[to].first, o.nodes[to].last = f.first, f.last
	for child := f.first; child != 0; child = o.nodes[child].next {
		o.nodes[child].parent = to
	}
	f.first, f.last = 0, 0
}

// emit passes the tree to a collector.
func (o *outline) emit(c *collector, page *scanner) {
	if len(o.nodes) == 0 {
		return
	}
	at := o.nodes[0].first
	for at != 0 {
		n := &o.nodes[at]
		if n.isText {
			c.text(view(o.texts[n.at:n.to]))
		} else {
			c.begin(n.name, &n.element, n.foreign, n.tag, &attrs{page: page, at: int(n.at), more: o.more[at], foreign: n.foreign, mayHide: page.anyHides})
			if n.first != 0 {
				at = n.first
				continue
			}
			c.end()
		}
		for at != 0 && o.nodes[at].next == 0 {
			if at = o.nodes[at].parent; at != 0 {
				c.end()
			}
		}
		if at != 0 {
			at = o.nodes[at].next
		}
	}
}
