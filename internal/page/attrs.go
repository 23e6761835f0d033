package page

import "golang.org/x/net/html"

// attrs gives access to the attributes of an element: of a node of the tree, or of a tag in the
// page, which is read on demand. The zero value has no attributes.
type attrs struct {
	node *html.Node

	page    *scanner
	at      int    // offset of the attributes in the page; 0 if there is no tag
	more    *[]int // offsets of the attributes of further tags, which add missing attributes
	foreign bool   // ignore the prefixes of names
	mayHide bool   // false if no attribute conceals the element
	class   span   // range of the value of class, if known
}

func (a attrs) value(key string) string {
	v, _ := a.find(key)
	return v
}

// classes returns the value of class, or "". It must be fast, because the tag path of every link
// contains the classes of its ancestors.
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
			attr := &a.node.Attr[i]
			if attr.Key == key && (attr.Namespace == "" || !ok) {
				value, ok = attr.Val, true
			}
		}
		return value, ok
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

// findForeign is find for elements of SVG and MathML, where xlink:href is a synonym of href. If an
// element has both, href counts (SVG 2, section 16.1.2).
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
		attr, next, more := z.attribute(p)
		if !more {
			return value, ok
		}
		switch name := z.page[attr.name:attr.nameEnd]; {
		case len(name) == len(key) && equalFold(name, key):
			return z.value(&attr), true
		case !ok && len(name) == len(prefixed) && equalFold(name, prefixed):
			value, ok = z.value(&attr), true
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
