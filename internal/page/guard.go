package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A tree can be far larger than the page that it is made from. The standard
// keeps a list of the formatting elements (<b>, <font …>) that were not closed,
// and makes all of them anew in the next paragraph, with their attributes: four
// hundred open <font> and a hundred thousand <p>, half a megabyte of page, are
// forty million elements. It also merges the attributes of every further <body>
// into those of the first. The parser has no limit for either, so the page is
// looked at before. Nesting needs no guard: the parser refuses more than 512
// open elements, and then the page is read without a tree.

// dearest is how many elements a page may have beyond those that stand in it,
// an attribute counting as half of one. They take as much memory as the tree of
// a page of ten megabytes.
const dearest = 1 << 20

// harmless is the length of a page that cannot become so dear.
const harmless = 2 << 10

// tooDear reports whether the tree of a page may be much larger than the page.
// It is certain when it says no. When it says yes it may be wrong, for a page
// that is large and sloppy; such a page is read without a tree, as it could
// have been all along.
func tooDear(text string) bool {
	if len(text) <= harmless {
		return false
	}
	bound, most := roughly(text)
	return bound > dearest && closely(text, most) > dearest
}

// roughly bounds how many elements, weighted, the parser makes beyond those that
// stand in the page: at every tag, all formatting elements that may be open,
// whatever was closed. Of those the standard keeps at most three that are alike,
// and one <a> and one <nobr>; most is their weight.
//
// What stands in comments and scripts counts as if it were a tag, which only
// makes the bound larger. Where that would have it read the same bytes again and
// again, it gives up, and the bound is infinite.
func roughly(text string) (bound, most int) {
	const infinite = 1 << 62
	var (
		patience = 4 * len(text)
		tags     int
		alike    = map[string]int{} // weight of up to three that are written alike
		single   [2]int             // weight of the heaviest <a> and <nobr>
		roots    [2]int             // <html> and <body>: how many, and their attributes
	)
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			break
		}
		text = text[i+1:]
		tags++
		name := guarded(text)
		if name == 0 {
			continue
		}
		tag := attributes{rest: text[len(name.String()):]}
		n := 0
		for tag.next() {
			n++
		}
		written := text[:len(text)-len(tag.rest)]
		if patience -= len(written); patience < 0 || tag.rest == "" {
			return infinite, infinite
		}
		switch weight := weigh(n); name {
		case atom.Html, atom.Body:
			roots[0]++
			roots[1] += n
		case atom.A:
			single[0] = max(single[0], weight)
		case atom.Nobr:
			single[1] = max(single[1], weight)
		default:
			alike[written] = min(alike[written]+weight, 3*weight)
		}
	}
	most = single[0] + single[1]
	for _, weight := range alike {
		most += weight
	}
	return tags*most + roots[0]*roots[1], most
}

// closely does the same with the tags that the page really has, and takes off
// the elements that are certainly closed: those whose end tag comes before any
// tag that begins or ends a table, a cell, an object or another such scope, for
// inside it end tags reach no farther than its beginning. It stops counting
// beyond dearest.
func closely(text string, most int) (bound int) {
	z := html.NewTokenizer(strings.NewReader(text))
	open := 0                      // weight of all that may be open
	scope := map[atom.Atom][]int{} // weights of those that were opened since the last scope began
	roots := 0                     // attributes of <html> and <body>
	for bound <= dearest {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return bound
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
		default:
			continue
		}
		tag, more := z.TagName()
		name := atom.Lookup(tag)
		if kind != html.EndTagToken && (name == atom.Noscript || name == atom.Noframes) {
			z.NextIsNotRawText()
		}
		if isScope(name) {
			clear(scope)
		}
		switch isRoot := name == atom.Html || name == atom.Body; {
		case kind == html.EndTagToken:
			if weights := scope[name]; len(weights) > 0 {
				open -= weights[len(weights)-1]
				scope[name] = weights[:len(weights)-1]
			}
		case isRoot || isFormatting(name):
			n := 0
			for ; more; n++ {
				_, _, more = z.TagAttr()
			}
			if isRoot {
				roots += n
				bound += roots
				break
			}
			scope[name] = append(scope[name], weigh(n))
			open += weigh(n)
		}
		bound += min(open, most)
	}
	return bound
}

// weigh is the weight of an element with n attributes.
func weigh(n int) int { return 1 + n/2 }

// guarded is the name of the tag at the beginning of s, "<" left out, if it is
// that of a formatting element, html or body; otherwise 0.
func guarded(s string) atom.Atom {
	const longest = len("strong")
	var lower [longest]byte
	n := 0
	for n < len(s) && isLetter(s[n]) {
		if n == longest {
			return 0
		}
		lower[n] = s[n] | 0x20
		n++
	}
	if n < len(s) && !isSpace(s[n]) && s[n] != '/' && s[n] != '>' {
		return 0
	}
	switch string(lower[:n]) {
	case "a":
		return atom.A
	case "b":
		return atom.B
	case "big":
		return atom.Big
	case "body":
		return atom.Body
	case "code":
		return atom.Code
	case "em":
		return atom.Em
	case "font":
		return atom.Font
	case "html":
		return atom.Html
	case "i":
		return atom.I
	case "nobr":
		return atom.Nobr
	case "s":
		return atom.S
	case "small":
		return atom.Small
	case "strike":
		return atom.Strike
	case "strong":
		return atom.Strong
	case "tt":
		return atom.Tt
	case "u":
		return atom.U
	}
	return 0
}

// isFormatting tells the elements that the standard calls formatting.
func isFormatting(name atom.Atom) bool {
	switch name {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr,
		atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}

// isScope tells the elements whose beginning or end an end tag may not reach
// across.
func isScope(name atom.Atom) bool {
	switch name {
	case atom.Applet, atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Frameset, atom.Html,
		atom.Marquee, atom.Math, atom.Noframes, atom.Object, atom.Select, atom.Svg, atom.Table,
		atom.Tbody, atom.Td, atom.Template, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
		return true
	}
	return false
}
