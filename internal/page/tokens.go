package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tokens reads a page without a tree, in one pass: for pages that the tree
// cannot or should not be made of. Links, meta and text are what the tree would
// give wherever the page closes its elements; what an element that was never
// closed contains is a guess, and so are the paths.
func (c *collector) tokens(text string) {
	z := html.NewTokenizer(strings.NewReader(text))
	var s tokenStack
	skipping := atom.Atom(0) // hidden element that we are in
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			s.close(c, 0)
			return
		case html.TextToken:
			t := z.Token()
			switch top := s.top(); {
			case skipping != 0:
			case top == atom.Title:
				c.titled(t.Data)
			case layoutOf(top) != metadata:
				c.text(t.Data)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if t.DataAtom == atom.Noscript || t.DataAtom == atom.Noframes {
				z.NextIsNotRawText()
			}
			switch {
			case skipping != 0:
			case layoutOf(t.DataAtom) == hidden:
				if hasHidden(t) {
					skipping = t.DataAtom
				}
			default:
				s.begin(c, t)
			}
		case html.EndTagToken:
			t := z.Token()
			switch {
			case skipping != 0:
				if t.DataAtom == skipping {
					skipping = 0
				}
			default:
				s.end(c, t)
			}
		}
	}
}

// hasHidden reports whether the hidden element that t begins goes on to its end
// tag. Of <rp>, which nobody ends, only the few characters in it are read.
func hasHidden(t html.Token) bool {
	switch t.DataAtom {
	case atom.Annotation, atom.AnnotationXml: // of MathML, where <annotation/> is complete
		return t.Type == html.StartTagToken
	case atom.Rp:
		return false
	}
	return !isVoid(t.DataAtom)
}

// A tokenStack is the elements that are open, as far as can be told from tags.
type tokenStack []tokenElement

type tokenElement struct {
	name       atom.Atom
	tag        string
	pathLength int
}

// top is the innermost element.
func (s tokenStack) top() atom.Atom {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].name
}

// begin handles a start tag.
func (s *tokenStack) begin(c *collector, t html.Token) {
	if t.DataAtom == atom.A {
		s.endLink(c)
	}
	if closes(t.DataAtom, s.top()) {
		s.close(c, len(*s)-1)
	}
	pathLength := c.begin(t.DataAtom, t.Data, t.Attr)
	*s = append(*s, tokenElement{t.DataAtom, t.Data, pathLength})
	if isVoid(t.DataAtom) || t.Type == html.SelfClosingTagToken && t.DataAtom == 0 {
		s.close(c, len(*s)-1)
	}
}

// end handles an end tag: it closes the innermost element of that name, if it
// is not too far out.
func (s *tokenStack) end(c *collector, t html.Token) {
	const farthest = 64
	for i := len(*s) - 1; i >= max(0, len(*s)-farthest); i-- {
		if (*s)[i].tag == t.Data {
			s.close(c, i)
			return
		}
	}
	c.around(layoutOf(t.DataAtom))
}

// endLink ends the link that is open, for links are never inside each other.
func (s *tokenStack) endLink(c *collector) {
	if n := len(c.open); n > 0 {
		c.release(c.open[n-1].reference)
		c.open = c.open[:n-1]
	}
}

// close ends all elements from the i-th on.
func (s *tokenStack) close(c *collector, i int) {
	for len(*s) > i {
		e := (*s)[len(*s)-1]
		*s = (*s)[:len(*s)-1]
		c.end(e.name, e.pathLength)
	}
}

// closes reports whether the beginning of an element ends the innermost one,
// whose end tag may be left out.
func closes(name, top atom.Atom) bool {
	switch top {
	case atom.P:
		return layoutOf(name) == block
	case atom.Li, atom.Option, atom.Tr:
		return name == top
	case atom.Dd, atom.Dt:
		return name == atom.Dd || name == atom.Dt
	case atom.Td, atom.Th:
		return name == atom.Td || name == atom.Th || name == atom.Tr
	}
	return false
}

// isVoid tells the elements that have no end tag.
func isVoid(name atom.Atom) bool {
	switch name {
	case atom.Area, atom.Base, atom.Basefont, atom.Bgsound, atom.Br, atom.Col, atom.Embed,
		atom.Frame, atom.Hr, atom.Image, atom.Img, atom.Input, atom.Keygen, atom.Link, atom.Meta,
		atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}
