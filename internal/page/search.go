package page

import (
	"slices"

	"golang.org/x/net/html"
)

// MaxSteps limits the steps that all selectors together may use on one page, so that no page can
// require more than some seconds, whatever its structure.
const MaxSteps = 1 << 28

// Costs in steps, about proportional to time.
const (
	visitCost  = 4 // for each node and compound
	testCost   = 8 // for each node to which cascadia applies a condition
	readCost   = 8 // for each node whose text is read, and for every 16 bytes of the text
	textCost   = 4 // for each byte in which :contains searches
	regexpCost = 8 // for each byte to which :matches applies a regular expression
)

// A search applies selectors to the nodes of a tree. It applies one compound after the other, from
// the first of a selector to the last, to all nodes in document order. So every node is tested at
// most once for each condition, and for conditions on ancestors, siblings and descendants, the set
// of matching nodes is already computed.
type search struct {
	nodes []place
	left  int // number of steps that are left
}

// A place describes the position of a node in its tree. Other nodes are identified by their index in
// document order, or -1 if there is no such node.
type place struct {
	node         *html.Node
	parent, prev int32
	end          int32 // index after the last descendant
	children     int32
	before       int32 // number of earlier siblings
	size         int   // number of bytes of texts and attributes of the node and its descendants
	values       int   // half the number of bytes in the values of attributes
	above        int   // number of ancestors, their attributes, and their earlier siblings
}

// reset prepares for the tree of root, which has about n nodes, and allows MaxSteps steps.
func (s *search) reset(root *html.Node, n int) {
	s.left = MaxSteps
	s.nodes = append(slices.Grow(s.nodes[:0], n), place{node: root, parent: -1, prev: -1})
	parent := int32(0)
	last := int32(-1) // previous sibling
	for node := root.FirstChild; node != nil; {
		i := int32(len(s.nodes))
		p := place{node: node, parent: parent, prev: last, size: len(node.Data)}
		for _, a := range node.Attr {
			p.size += len(a.Key) + len(a.Val)
			p.values += len(a.Val)
		}
		p.values /= 2
		if last >= 0 {
			p.before = s.nodes[last].before + 1
		}
		p.above = s.nodes[parent].above + 1 + len(node.Attr) + int(p.before)
		s.nodes[parent].children++
		s.nodes = append(s.nodes, p)
		if node.FirstChild != nil {
			node, parent, last = node.FirstChild, i, -1
			continue
		}
		last = i
		s.close(i)
		for node.NextSibling == nil && node.Parent != root {
			node = node.Parent
			last, parent = parent, s.nodes[parent].parent
			s.close(last)
		}
		node = node.NextSibling
	}
	s.nodes[0].end = int32(len(s.nodes))
}

// close stores the end of a node and adds its size to its parent.
func (s *search) close(i int32) {
	p := &s.nodes[i]
	p.end = int32(len(s.nodes))
	s.nodes[p.parent].size += p.size
}

// clear releases the tree.
func (s *search) clear() { clear(s.nodes) }

// spend subtracts steps and reports whether there were enough.
func (s *search) spend(steps int) bool {
	if s.left -= steps; s.left < 0 {
		s.left = 0
		return false
	}
	return true
}

// group returns the set of nodes that match one of several selectors, or false if the steps do
// not suffice.
func (s *search) group(g group) ([]bool, bool) { return s.union(g, s.complex) }

// union returns the union of the sets that match returns for several selectors.
func (s *search) union(g group, match func(complexSelector) ([]bool, bool)) ([]bool, bool) {
	var all []bool
	for _, list := range g {
		set, ok := match(list)
		if !ok {
			return nil, false
		}
		if all == nil {
			all = set
			continue
		}
		for i, in := range set {
			all[i] = all[i] || in
		}
	}
	return all, true
}

// complex returns the set of nodes that match a selector.
func (s *search) complex(list complexSelector) ([]bool, bool) {
	var prior []bool
	for i := range list {
		reached, ok := s.reached(prior, list[i].combinator)
		if !ok {
			return nil, false
		}
		if prior, ok = s.compound(&list[i], reached); !ok {
			return nil, false
		}
		if !slices.Contains(prior, true) {
			break // no node can match the following compounds
		}
	}
	return prior, true
}

// reached returns the set of nodes that a combinator relates to a node in prior. If there is no
// combinator, it returns nil, which stands for all nodes.
func (s *search) reached(prior []bool, combinator byte) ([]bool, bool) {
	if combinator == 0 {
		return nil, true
	}
	if !s.spend(visitCost * len(s.nodes)) {
		return nil, false
	}
	set := make([]bool, len(s.nodes))
	for i := range s.nodes {
		switch p := &s.nodes[i]; combinator {
		case ' ':
			set[i] = p.parent >= 0 && (prior[p.parent] || set[p.parent])
		case '>':
			set[i] = p.parent >= 0 && prior[p.parent]
		case '~':
			set[i] = p.prev >= 0 && (prior[p.prev] || set[p.prev])
		case '+':
			if p.prev < 0 {
				continue
			}
			if s.separates(int(p.prev)) {
				set[i] = prior[p.prev]
			} else {
				set[i] = set[p.prev]
			}
		}
	}
	return set, true
}

// has returns the set of nodes that :has with this selector matches. A selector without a combinator
// at its start matches descendants, and may begin outside of the node, as in cascadia.
func (s *search) has(list complexSelector) (set []bool, ok bool) {
	if list[0].combinator == 0 {
		if set, ok = s.complex(list); ok {
			set, ok = s.related(set, ' ')
		}
		return set, ok
	}
	for i := len(list) - 1; i >= 0; i-- {
		if set, ok = s.compound(&list[i], set); ok {
			set, ok = s.related(set, list[i].combinator)
		}
		if !ok {
			return nil, false
		}
	}
	return set, true
}

// related returns the set of nodes that a combinator relates to a later node in a set: the opposite
// of reached.
func (s *search) related(later []bool, combinator byte) ([]bool, bool) {
	if !s.spend(visitCost * len(s.nodes)) {
		return nil, false
	}
	set := make([]bool, len(s.nodes))
	for i := len(later) - 1; i > 0; i-- { // descendants come before their ancestors
		p := &s.nodes[i]
		switch combinator {
		case ' ':
			set[p.parent] = set[p.parent] || later[i] || set[i]
		case '>':
			set[p.parent] = set[p.parent] || later[i]
		case '~':
			if p.prev >= 0 {
				set[p.prev] = later[i] || set[i]
			}
		case '+':
			if p.prev >= 0 {
				set[p.prev] = later[i] || set[i] && !s.separates(i)
			}
		}
	}
	return set, true
}

// separates reports whether a node is neither a text nor a comment, which are no neighbours.
func (s *search) separates(i int) bool {
	kind := s.nodes[i].node.Type
	return kind != html.TextNode && kind != html.CommentNode
}

// compound returns those nodes of a set that satisfy all conditions. A nil set stands for all nodes.
// compound may overwrite the set.
func (s *search) compound(c *compound, set []bool) ([]bool, bool) {
	if !s.spend(visitCost * len(s.nodes)) {
		return nil, false
	}
	all := set == nil
	if all {
		set = make([]bool, len(s.nodes))
	}
	if c.simple == nil {
		for i := range set {
			set[i] = set[i] || all
		}
	} else {
		for i, in := range set {
			if !in && !all {
				continue
			}
			node := s.nodes[i].node
			if !s.spend(testCost + len(node.Attr) + s.nodes[i].values) { // a condition may search the values for a word
				return nil, false
			}
			set[i] = c.simple.Match(node)
		}
	}
	for i := range c.pseudos {
		if !s.pseudo(&c.pseudos[i], set) {
			return nil, false
		}
	}
	return set, true
}

// pseudo removes the nodes that do not satisfy a condition, and reports whether the steps
// sufficed.
func (s *search) pseudo(c *pseudo, set []bool) bool {
	if c.inner == nil {
		for i, in := range set {
			if !in {
				continue
			}
			if !s.spend(testCost + s.cost(c.name, i)) {
				return false
			}
			set[i] = c.match.Match(s.nodes[i].node)
		}
		return true
	}
	if !slices.Contains(set, true) {
		return true
	}
	match := s.complex
	if c.name == "has" {
		match = s.has
	}
	inner, ok := s.union(c.inner, match)
	if ok && c.name == "haschild" {
		inner, ok = s.related(inner, '>')
	}
	if !ok || !s.spend(visitCost*len(s.nodes)) {
		return false
	}
	for i := range set {
		set[i] = set[i] && inner[i] != (c.name == "not") && s.nodes[i].node.Type == html.ElementNode
	}
	return true
}

// cost returns a bound on the steps that cascadia takes to apply a pseudo-class without inner
// selectors to a node.
func (s *search) cost(name string, i int) int {
	p := &s.nodes[i]
	siblings := 0
	if p.parent >= 0 {
		siblings = int(s.nodes[p.parent].children)
	}
	switch name {
	case "contains", "containsown":
		return int(p.end) - i + textCost*p.size
	case "matches", "matchesown":
		return int(p.end) - i + regexpCost*p.size
	case "nth-child", "first-child":
		return int(p.before)
	case "nth-of-type", "first-of-type":
		return 2 * int(p.before)
	case "nth-last-child", "last-child", "only-child":
		return siblings
	case "nth-last-of-type", "last-of-type", "only-of-type":
		return 2 * siblings
	case "lang", "enabled", "disabled":
		return p.above
	}
	return int(p.children) + len(p.node.Attr) // :empty, :link, :checked and those of one step
}
