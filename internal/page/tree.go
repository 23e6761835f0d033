package page

import (
	"strings"

	"golang.org/x/net/html"

	"spoor/internal/wire"
)

// maxTreeCost bounds the cost of applying one selector to a tree. Some examine all siblings of
// every element (:nth-child, ~) or all its descendants (:has, :contains), and the text of
// every match is read, also within another match. At the bound, a list of 23,000 elements, or
// 8,000 nested ones, takes a second.
const maxTreeCost = 1 << 28

// tree returns the tree that golang.org/x/net/html makes of the page, or nil if it fails, as
// for elements nested deeper than 512.
func tree(text string) *html.Node {
	root, err := html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil
	}
	return root
}

// walk passes the descendants of root to the collector. It does not recurse, because the
// parser bounds the number of open elements, not the depth of the tree.
func (c *collector) walk(root *html.Node) {
	for node := root.FirstChild; node != nil; {
		switch node.Type {
		case html.TextNode:
			c.text(node.Data)
		case html.ElementNode:
			e := elementOf(node.DataAtom)
			c.begin(node.DataAtom, &e, node.Namespace != "", node.Data, &attrs{node: node})
			if node.FirstChild != nil {
				node = node.FirstChild
				continue
			}
			c.end()
		}
		for node.NextSibling == nil {
			if node = node.Parent; node == root {
				return
			}
			c.end()
		}
		node = node.NextSibling
	}
}

// isSelectable reports whether selectors can be applied to a tree.
func isSelectable(root *html.Node) bool {
	const (
		read  = 8  // cost of reading relative to counting
		bytes = 16 // of text that cost as much as a node
	)
	cost := 0
	places := []int{0} // indexes among siblings, by depth
	for node := root.FirstChild; node != nil; {
		depth := len(places)
		places[depth-1]++
		cost += places[depth-1] + read*depth*(1+len(node.Data)/bytes)
		if cost > maxTreeCost {
			return false
		}
		if node.FirstChild != nil {
			node = node.FirstChild
			places = append(places, 0)
			continue
		}
		for node.NextSibling == nil {
			if node = node.Parent; node == root {
				return true
			}
			places = places[:len(places)-1]
		}
		node = node.NextSibling
	}
	return true
}

// fields applies the selectors. Elements that match are read even if they are otherwise
// skipped.
func (x *Extractor) fields(root *html.Node) []wire.Values {
	var (
		fields []wire.Values
		inside collector
		size   int
	)
	for _, s := range x.selectors {
		for _, node := range s.match(root) {
			inside.reset()
			inside.walk(node)
			text := strings.ReplaceAll(string(inside.body), "\n", " ")
			if text == "" {
				continue
			}
			if size += len(text); size > MaxFields {
				return fields
			}
			if n := len(fields); n == 0 || fields[n-1].Name != s.name {
				fields = append(fields, wire.Values{Name: s.name})
			}
			last := &fields[len(fields)-1]
			last.Values = append(last.Values, text)
		}
	}
	return fields
}
