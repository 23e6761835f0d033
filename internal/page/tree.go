package page

import (
	"strings"

	"golang.org/x/net/html"

	"spoor/internal/wire"
)

// dearestTree bounds what it costs to ask one selector of a tree. Some look at all
// siblings of every element (:nth-child, ~) or at all that is in it (:has,
// :contains), and what matches is read as a whole, even inside another match. A
// list of 23,000 elements, or 8,000 nested ones, is as much as a second permits.
const dearestTree = 1 << 28

// tree reads the page as golang.org/x/net/html does. It returns nil if that
// refuses the page: for being nested deeper than 512 elements, or by an error of
// its own.
func tree(text string) *html.Node {
	root, err := html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil
	}
	return root
}

// walk tells the collector what is below root. It does not recurse: the parser
// bounds how many elements are open, not how deep the tree becomes.
func (c *collector) walk(root *html.Node) {
	for node := root.FirstChild; node != nil; {
		switch node.Type {
		case html.TextNode:
			c.text(node.Data)
		case html.ElementNode:
			c.begin(node.DataAtom, elementOf(node.DataAtom), node.Namespace != "", node.Data, &attrs{node: node})
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

// isSelectable reports whether selectors can be asked of a tree.
func isSelectable(root *html.Node) bool {
	const (
		read  = 8  // times as dear as to count
		bytes = 16 // of text that cost as much as a node
	)
	cost := 0
	places := []int{0} // among the siblings, at each depth
	for node := root.FirstChild; node != nil; {
		depth := len(places)
		places[depth-1]++
		cost += places[depth-1] + read*depth*(1+len(node.Data)/bytes)
		if cost > dearestTree {
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

// fields asks the selectors. What stands in an element that was asked for is
// read even if the element itself would not be.
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
