package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"spoor/internal/wire"
)

// Limits on the trees that selectors are asked of: matching goes down by
// recursion, and a selector that counts siblings looks at all of them for each.
const (
	maxSelectDepth    = 10_000
	maxSelectElements = 200_000
)

// tree reads the page as the HTML standard does, and asks the selectors. It
// reports false, having told the collector nothing, if the parser refuses the
// page: for being nested deeper than 512 elements, or by an error of its own.
func (x *Extractor) tree(text string, content *Content) bool {
	root, err := html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return false
	}
	depth, elements, framed := x.collector.walk(root)
	if framed {
		// The tree of such a page has no place for more than the frames, and
		// what is said to those who have none is not even elements there. Of
		// the nineties' web much is found nowhere else.
		x.collector.reset()
		x.collector.tokens(text)
	}
	if len(x.selectors) == 0 {
		return true
	}
	if depth > maxSelectDepth || elements > maxSelectElements {
		content.Flat = true
		return true
	}
	content.Fields = x.fields(root)
	return true
}

// A level is an element on the way from the root of a walk to where it is.
type level struct {
	node       *html.Node
	pathLength int
}

// walk tells the collector what is below root, and counts it. It does not
// recurse: the parser bounds how many elements are open, not how deep the tree
// becomes.
func (c *collector) walk(root *html.Node) (depth, elements int, framed bool) {
	var levels []level
	node := root.FirstChild
	for {
		for node == nil {
			if len(levels) == 0 {
				return depth, elements, framed
			}
			top := levels[len(levels)-1]
			levels = levels[:len(levels)-1]
			c.end(top.node.DataAtom, top.pathLength)
			node = top.node.NextSibling
		}
		if node.Type == html.TextNode {
			c.text(node.Data)
		}
		if node.Type != html.ElementNode || isHidden(node) {
			node = node.NextSibling
			continue
		}
		elements++
		framed = framed || node.DataAtom == atom.Frameset || node.DataAtom == atom.Noframes
		pathLength := c.begin(node.DataAtom, node.Data, node.Attr)
		levels = append(levels, level{node, pathLength})
		depth = max(depth, len(levels))
		if layoutOf(node.DataAtom) == metadata {
			if node.DataAtom == atom.Title && node.FirstChild != nil {
				c.titled(node.FirstChild.Data)
			}
			node = nil
			continue
		}
		node = node.FirstChild
	}
}

// isHidden reports whether an element is not read at all.
func isHidden(node *html.Node) bool {
	return layoutOf(node.DataAtom) == hidden ||
		node.DataAtom == atom.Title && node.Namespace != ""
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
