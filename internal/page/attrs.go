package page

import "golang.org/x/net/html"

// attrs is the attributes of an element: of a node of the tree, or of a tag, of
// which nothing is read before it is asked for. The zero value has none.
type attrs struct {
	node *html.Node

	page    *scanner
	at      int    // where in the page they begin; 0 if there is no tag
	more    *[]int // the same of further tags, which add what was not there
	foreign bool   // the prefixes of names do not count
	class   place  // where the value of class stands, if that is known
}

// value is the value of an attribute, or "".
func (a attrs) value(key string) string {
	v, _ := a.find(key)
	return v
}

// classes is the value of class, or "". Of every link the classes of all elements
// around it are asked for.
func (a *attrs) classes() string {
	if a.class.to != 0 {
		return a.page.valueAt(int(a.class.from), int(a.class.to))
	}
	return a.value("class")
}

// find returns the value of an attribute, and whether there is one.
func (a attrs) find(key string) (value string, ok bool) {
	if a.node != nil {
		for i := range a.node.Attr {
			if a.node.Attr[i].Key == key {
				return a.node.Attr[i].Val, true
			}
		}
		return "", false
	}
	if a.foreign {
		return a.findForeign(key)
	}
	if a.at != 0 {
		value, ok = a.page.attrAt(a.at, key)
	}
	if !ok && a.more != nil {
		for _, at := range *a.more {
			if value, ok = a.page.attrAt(at, key); ok {
				break
			}
		}
	}
	return value, ok
}

// findForeign is find for elements of SVG and MathML, where xlink:href is href,
// and the first of both counts.
func (a attrs) findForeign(key string) (value string, ok bool) {
	var prefixed string
	switch key {
	case "href", "title":
		prefixed = "xlink:" + key
	case "lang":
		prefixed = "xml:lang"
	case "xml:lang":
		return "", false
	}
	z := a.page
	for p := a.at; ; {
		attr, next, ok := z.attribute(p)
		if !ok {
			return "", false
		}
		name := z.page[attr.name:attr.nameEnd]
		if len(name) == len(key) && equalFold(name, key) || len(name) == len(prefixed) && equalFold(name, prefixed) {
			return z.value(&attr), true
		}
		p = next
	}
}

// attrAt is attr for the tag whose attributes begin at p.
func (z *scanner) attrAt(p int, name string) (value string, ok bool) {
	if p == z.nameEnd {
		return z.attr(name)
	}
	return z.attrFrom(p, name)
}
