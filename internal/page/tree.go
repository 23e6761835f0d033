package page

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"spoor/internal/wire"
)

// tree parses the page with golang.org/x/net/html. It returns nil if that fails, for example because
// elements are nested deeper than 512.
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
			c.begin(node.DataAtom, &e, node.Namespace != "", node.Data, &attrs{node: node, mayHide: true})
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

// fields applies the selectors. Elements that match are read even if they are otherwise skipped.
// If the steps do not suffice for the selectors of a field, this field and the following fields are
// missing; fields returns their names too.
func (x *Extractor) fields(root *html.Node) (fields []wire.Values, missing []string) {
	for node := range root.Descendants() {
		if node.Namespace != "" && node.Type == html.ElementNode {
			node.Data = strings.ToLower(node.Data) // as in the selectors of cascadia; "foreignObject" would never match
		}
	}
	var size int
	x.search.reset(root, x.construction.treeNodes())
	defer x.search.clear()
	for i, s := range x.selectors {
		values, ok := x.values(s.css, &size)
		if !ok {
			if n := len(fields); n > 0 && fields[n-1].Name == s.name {
				fields = fields[:n-1]
			}
			for _, s := range x.selectors[i:] {
				missing = append(missing, s.name)
			}
			return fields, slices.Compact(missing)
		}
		if len(values) == 0 {
			continue
		}
		if n := len(fields); n == 0 || fields[n-1].Name != s.name {
			fields = append(fields, wire.Values{Name: s.name})
		}
		last := &fields[len(fields)-1]
		last.Values = append(last.Values, values...)
	}
	return fields, nil
}

// values returns the texts of the elements that match and adds their lengths to size, or
// returns false if the steps do not suffice. Texts beyond MaxFields are ignored.
func (x *Extractor) values(css group, size *int) ([]string, bool) {
	var (
		values []string
		inside collector
	)
	if *size > MaxFields {
		return nil, true
	}
	set, ok := x.search.group(css)
	if !ok {
		return nil, false
	}
	for i, in := range set {
		if !in || i == 0 {
			continue
		}
		p := &x.search.nodes[i]
		if !x.search.spend(readCost * (int(p.end) - i + p.size/16)) {
			return nil, false
		}
		inside.reset()
		inside.steps = append(inside.steps, step{name: p.node.DataAtom, tag: p.node.Data}) // may have a shadow root
		inside.walk(p.node)
		text := strings.ReplaceAll(string(inside.body), "\n", " ")
		if text == "" {
			continue
		}
		if *size += len(text); *size > MaxFields {
			break
		}
		values = append(values, text)
	}
	return values, true
}
