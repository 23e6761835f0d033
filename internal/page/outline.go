package page

import "golang.org/x/net/html/atom"

// An outline is a tree as far as it is needed to tell in which order its
// elements and texts are. Nodes are known by their numbers; number 0 is the
// page.
type outline struct {
	why   detour
	nodes []node
	texts []byte
	more  map[int32]*[]int // where further attributes of an element begin
}

// A node is an element or a text.
type node struct {
	parent, first, last, previous, next int32

	at, to int32     // where the attributes of an element begin in the page; where a text is in texts
	name   atom.Atom // of an element
	element
	foreign bool
	isText  bool
	tag     string
}

// reset forgets the last page, and keeps the memory unless it is too much.
func (o *outline) reset(why detour) {
	const most = 1 << 20 // bytes, each
	o.why = why
	if cap(o.nodes) > most/64 || cap(o.texts) > most {
		*o = outline{why: why}
		return
	}
	clear(o.nodes)
	o.nodes, o.texts, o.more = o.nodes[:0], o.texts[:0], nil
}

// add makes a node that has no place.
func (o *outline) add(n node) int32 {
	if len(o.nodes) == 0 {
		o.nodes = append(o.nodes, node{})
	}
	o.nodes = append(o.nodes, n)
	return int32(len(o.nodes) - 1)
}

// element makes an element.
func (o *outline) element(e *open) int32 {
	return o.add(node{name: e.name, element: e.element, foreign: e.space != htmlSpace, tag: e.tag, at: e.at})
}

// text makes a text.
func (o *outline) text(s string) int32 {
	at := len(o.texts)
	o.texts = append(o.texts, s...)
	return o.add(node{isText: true, at: int32(at), to: int32(len(o.texts))})
}

// describe adds the attributes that begin there to an element.
func (o *outline) describe(element, at int32) {
	if o.more == nil {
		o.more = map[int32]*[]int{}
	}
	if o.more[element] == nil {
		o.more[element] = new([]int)
	}
	*o.more[element] = append(*o.more[element], int(at))
}

// append puts a node at the end of a parent.
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

// before puts a node before another.
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

// detach takes a node out, if it has a place.
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

// moveChildren moves all that is in a node to one in which nothing is.
func (o *outline) moveChildren(from, to int32) {
	f := &o.nodes[from]
	o.nodes[to].first, o.nodes[to].last = f.first, f.last
	for child := f.first; child != 0; child = o.nodes[child].next {
		o.nodes[child].parent = to
	}
	f.first, f.last = 0, 0
}

// tell tells a collector the whole tree.
func (o *outline) tell(c *collector, page *scanner) {
	if len(o.nodes) == 0 {
		return
	}
	at := o.nodes[0].first
	for at != 0 {
		n := &o.nodes[at]
		if n.isText {
			c.text(view(o.texts[n.at:n.to]))
		} else {
			c.begin(n.name, &n.element, n.foreign, n.tag, &attrs{page: page, at: int(n.at), more: o.more[at], foreign: n.foreign})
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
