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
// forty million elements. The parser has no limit for this, so the page is
// looked at before. Nesting needs no guard: the parser refuses more than 512
// open elements, and then the page is read without a tree.

// dearest is how many elements a page may have beyond those that stand in it,
// an attribute counting as half of one. They take as much memory as the tree of
// a page of ten megabytes.
const dearest = 1 << 20

// manyBodies is how often <html> and <body> may be repeated: the parser merges
// the attributes of each into all that were there.
const manyBodies = 16

// deepest is how many elements can be open at once.
const deepest = 512

// tooDear reports whether the tree of a page may be much larger than the page.
// It is certain when it says no. When it says yes it may be wrong, for a page
// that is large and sloppy; such a page is read without a tree, as it could
// have been all along.
func tooDear(text string) bool {
	if strings.Count(text, "<") <= dearest/deepest/8 && len(text) <= dearest/deepest*8 {
		return false
	}
	tags, bodies, most := openAtMost(text)
	return bodies > manyBodies || tags*most > dearest && reopened(text, most) > dearest
}

// openAtMost bounds how many formatting elements, weighted, can be open and
// wait to be made anew at any one time, whatever was closed: the standard keeps
// at most three that are alike, and one <a> and one <nobr>. It also counts the
// tags, and those of html and body. What stands in comments and scripts counts
// as if it were a tag, which only makes the bound larger. Where that would have
// it read the same bytes again and again, it gives up and says dearest.
func openAtMost(text string) (tags, bodies, most int) {
	var (
		patience = 4 * len(text)
		single   [2]int // weight of the heaviest a and nobr
		plain    = map[atom.Atom]int{}
		alike    = map[string]int{}
	)
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			break
		}
		text = text[i+1:]
		tags++
		end := 0
		for end < len(text) && end < len("strong") && isNameByte(text[end]) {
			end++
		}
		if end == 0 || end < len(text) && isNameByte(text[end]) {
			continue
		}
		var lower [len("strong")]byte
		for j := range end {
			lower[j] = text[j] | 0x20
		}
		name := atom.Lookup(lower[:end])
		if name == atom.Html || name == atom.Body {
			bodies++
		}
		if !isFormatting(name) || most > 0 {
			continue
		}
		tag := attributes{rest: text[end:]}
		weight := 2
		for tag.next() {
			weight++
		}
		weight /= 2
		written := text[:len(text)-len(tag.rest)]
		patience -= len(written)
		switch {
		case tag.rest == "", patience < 0:
			most = dearest
		case name == atom.A:
			single[0] = max(single[0], weight)
		case name == atom.Nobr:
			single[1] = max(single[1], weight)
		case len(written) == end:
			plain[name] = min(plain[name]+1, 3)
		default:
			alike[written] = 3 * weight
		}
	}
	most += single[0] + single[1]
	for _, n := range plain {
		most += n
	}
	for _, n := range alike {
		most += n
	}
	return tags, bodies, most
}

// reopened bounds how many formatting elements, weighted, the parser makes
// anew: at every tag, all that may be open there, and never more than most.
//
// An element counts as closed if its end tag comes before any tag that begins
// or ends a table, a cell, an object or another such scope, inside which end
// tags reach no farther than its beginning.
func reopened(text string, most int) int {
	z := html.NewTokenizer(strings.NewReader(text))
	total, open := 0, 0
	scope := map[atom.Atom][]int{} // weights of those that were opened since the last scope began
	for total <= dearest {
		switch z.Next() {
		case html.ErrorToken:
			return total
		case html.StartTagToken, html.SelfClosingTagToken:
			tagName, more := z.TagName()
			name := atom.Lookup(tagName)
			if name == atom.Noscript || name == atom.Noframes {
				z.NextIsNotRawText()
			}
			if !isFormatting(name) {
				if isScope(name) {
					clear(scope)
				}
				break
			}
			weight := 2
			for more {
				_, _, more = z.TagAttr()
				weight++
			}
			weight /= 2
			scope[name] = append(scope[name], weight)
			open += weight
		case html.EndTagToken:
			tagName, _ := z.TagName()
			name := atom.Lookup(tagName)
			if isScope(name) {
				clear(scope)
			}
			if weights := scope[name]; len(weights) > 0 {
				open -= weights[len(weights)-1]
				scope[name] = weights[:len(weights)-1]
			}
		default:
			continue
		}
		total += min(open, most)
	}
	return total
}

// isNameByte reports whether c can go on in the name of a tag.
func isNameByte(c byte) bool {
	switch c {
	case '\t', '\n', '\f', '\r', ' ', '/', '>':
		return false
	}
	return true
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
		atom.Marquee, atom.Math, atom.Noframes, atom.Object, atom.Select, atom.Svg, atom.Table, atom.Tbody,
		atom.Td, atom.Template, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
		return true
	}
	return false
}
