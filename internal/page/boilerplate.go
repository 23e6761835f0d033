package page

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"golang.org/x/net/html/atom"
)

// This file separates the main content of a page from boilerplate: navigation, advertisements,
// comments and notices.
//
// It classifies blocks by the number of words and the share of link text in the block and its
// neighbours, with the decision tree of figure 5 ("number of words") in C. Kohlschütter, P.
// Fankhauser, W. Nejdl, "Boilerplate Detection using Shallow Text Features", WSDM 2010. A
// block is a line of the text: the text between consecutive block boundaries or line breaks.
//
// In addition it uses HTML's sectioning elements, and the names in classes and identifiers that
// authors use for parts of pages. It ignores them if they would remove nearly all text. In an article
// a table is content, even if it consists of links, and so is a list of links that is a whole page:
// they are what leads a crawl to other pages (decision 70).

// A region is the text of an element whose role is known.
type region struct {
	kind     regionKind
	from, to int // range in the collector's body; to is -1 if the region continues to the end
}

type regionKind uint8

const (
	boilerplateRegion regionKind = iota + 1
	articleRegion
	headingRegion
	tableRegion
)

// maxRegions limits the number of regions of a page. Pages for readers have fewer.
const maxRegions = 1 << 16

// regions collects the regions of a page.
type regions struct {
	list []region // sorted by start, outer regions first
	open []openRegion
}

type openRegion struct{ index, depth int }

// reset clears the regions and keeps the memory.
func (r *regions) reset() { r.list, r.open = r.list[:0], r.open[:0] }

// begin starts an element at a depth below the root and an offset in the text.
func (r *regions) begin(name atom.Atom, a attrs, depth, at int) {
	if kind := regionOf(name, a); kind != 0 && len(r.list) < maxRegions {
		r.open = append(r.open, openRegion{len(r.list), depth})
		r.list = append(r.list, region{kind, at, -1})
	}
}

// end ends the element at that depth.
func (r *regions) end(depth, at int) {
	if n := len(r.open) - 1; n >= 0 && r.open[n].depth == depth {
		r.list[r.open[n].index].to = at
		r.open = r.open[:n]
	}
}

// regionOf returns the role of an element, or 0.
func regionOf(name atom.Atom, a attrs) regionKind {
	switch name {
	case atom.Nav, atom.Aside, atom.Footer, atom.Select, atom.Button, atom.Textarea, atom.Figcaption:
		return boilerplateRegion
	case atom.Article, atom.Main:
		return articleRegion
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return headingRegion
	case atom.Table:
		return cmp.Or(roleOf(a), tableRegion)
	case atom.Div, atom.Section, atom.Header, atom.Form, atom.Td, atom.Ul, atom.Ol, atom.Li, atom.P, atom.Span:
		return roleOf(a)
	}
	return 0
}

// roleOf returns the role of an element by its attributes, or 0.
func roleOf(a attrs) regionKind {
	switch strings.ToLower(a.value("role")) {
	case "navigation", "complementary", "contentinfo", "search":
		return boilerplateRegion
	case "main", "article":
		return articleRegion
	}
	if a.value("itemprop") == "articleBody" {
		return articleRegion
	}
	class, id := namedAs(a.value("class")), namedAs(a.value("id"))
	switch {
	case class == articleRegion || id == articleRegion:
		return articleRegion
	case class == boilerplateRegion || id == boilerplateRegion:
		return boilerplateRegion
	}
	return 0
}

// regionNames maps the names that authors use in classes and identifiers to roles.
var regionNames = map[string]regionKind{
	"article": articleRegion, "articlebody": articleRegion, "content": articleRegion, "entry": articleRegion,
	"main": articleRegion, "post": articleRegion, "story": articleRegion,
	"artikel": articleRegion, "hauptinhalt": articleRegion, "inhalt": articleRegion,

	"nav": boilerplateRegion, "navi": boilerplateRegion, "navbar": boilerplateRegion, "navigation": boilerplateRegion,
	"menu": boilerplateRegion, "menue": boilerplateRegion, "sidebar": boilerplateRegion,
	"breadcrumb": boilerplateRegion, "breadcrumbs": boilerplateRegion, "pager": boilerplateRegion, "pagination": boilerplateRegion,
	"foot": boilerplateRegion, "footer": boilerplateRegion, "copyright": boilerplateRegion, "disclaimer": boilerplateRegion,
	"impressum": boilerplateRegion, "cookie": boilerplateRegion, "cookies": boilerplateRegion,
	"comment": boilerplateRegion, "comments": boilerplateRegion, "kommentar": boilerplateRegion, "kommentare": boilerplateRegion,
	"related": boilerplateRegion, "teaser": boilerplateRegion, "share": boilerplateRegion, "sharing": boilerplateRegion,
	"social": boilerplateRegion, "newsletter": boilerplateRegion, "subscribe": boilerplateRegion, "login": boilerplateRegion,
	"search": boilerplateRegion, "ad": boilerplateRegion, "ads": boilerplateRegion, "advert": boilerplateRegion,
	"banner": boilerplateRegion, "promo": boilerplateRegion, "sponsor": boilerplateRegion,
	"author": boilerplateRegion, "caption": boilerplateRegion, "captions": boilerplateRegion,
}

// namedAs looks for regionNames in the value of an attribute, such as "entry-content",
// "articleBody" or "nav main". If there are names of both kinds, namedAs returns the article
// role, because keeping boilerplate is better than losing an article.
func namedAs(names string) (kind regionKind) {
	const maxLen = 16
	var word [maxLen]byte
	n := 0
	for i := 0; i <= len(names); i++ {
		c := byte(' ')
		if i < len(names) {
			c = names[i]
		}
		if capital := 'A' <= c && c <= 'Z' && i > 0 && 'a' <= names[i-1] && names[i-1] <= 'z'; !isLetter(c) || capital {
			if n > 0 && n <= maxLen {
				switch regionNames[string(word[:n])] {
				case articleRegion:
					return articleRegion
				case boilerplateRegion:
					kind = boilerplateRegion
				}
			}
			n = 0
		}
		if isLetter(c) {
			if n < maxLen {
				word[n] = c | 0x20
			}
			n++
		}
	}
	return kind
}

type line struct {
	from, to      int  // range in the text
	words, linked int  // number of words, and of words in links
	boilerplate   bool // in a region of boilerplate
	heading       bool
	table         bool // in a table
	content       bool
}

// minContentWords is the minimum number of words of main content. Fewer words may just be the date
// or the address below a page of links.
const minContentWords = 20

// mainContent returns the lines of text that are main content, and the other lines. If hardly any
// are main content, it returns the whole text and nothing.
func (r *regions) mainContent(text string, references []reference) (main, other string) {
	lines := linesOf(text)
	countLinked(lines, text, references)
	r.mark(lines)
	classify(lines)
	dropBoilerplate(lines)
	if r.hasArticle() {
		r.restrictToArticle(lines)
	} else {
		keepLists(lines)
	}
	dropHeadings(lines)
	var content, rest strings.Builder
	words := 0
	for i := range lines {
		l := &lines[i]
		b := &rest
		if l.content {
			words += l.words
			b = &content
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text[l.from:l.to])
	}
	if words < minContentWords {
		return text, ""
	}
	return content.String(), rest.String()
}

func linesOf(text string) []line {
	if text == "" {
		return nil
	}
	lines := make([]line, 0, 1+strings.Count(text, "\n"))
	for from := 0; from <= len(text); {
		to := len(text)
		if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
			to = from + n
		}
		lines = append(lines, line{from: from, to: to, words: countWords(text[from:to])})
		from = to + 1
	}
	return lines
}

// countWords counts the words of a text, which are separated by one space. Two characters of
// Chinese, Japanese or Korean count as one word.
func countWords(s string) int {
	if s == "" {
		return 0
	}
	wide := 0
	for i := range len(s) {
		if c := s[i]; 0xE3 <= c && c <= 0xED { // first byte of a character from U+3000 to U+DFFF
			wide++
		}
	}
	return 1 + strings.Count(s, " ") + wide/2
}

// lineAt returns the index of the first line that ends after offset at.
func lineAt(lines []line, at int) int {
	return sort.Search(len(lines), func(i int) bool { return lines[i].to > at })
}

// countLinked counts the words in links on each line.
func countLinked(lines []line, text string, references []reference) {
	covered := 0 // offset up to which links were counted
	for i := range references {
		ref := &references[i]
		from := max(ref.start, covered)
		if ref.tag != "a" || ref.end <= from {
			continue
		}
		covered = ref.end
		for k := lineAt(lines, from); k < len(lines) && lines[k].from < ref.end; k++ {
			l := &lines[k]
			l.linked += countWords(strings.Trim(text[max(l.from, from):min(l.to, ref.end)], " "))
		}
	}
}

// span returns the range of lines that are completely in a region.
func (g *region) span(lines []line) (int, int) {
	first, last := lineAt(lines, g.from), len(lines)
	if g.to >= 0 {
		last = sort.Search(len(lines), func(i int) bool { return lines[i].to > g.to })
	}
	if first < len(lines) && lines[first].from < g.from {
		first++
	}
	return first, max(first, last)
}

// mark sets the roles of lines according to the regions that contain them.
func (r *regions) mark(lines []line) {
	// Difference between the number of regions that contain a line and the line before it.
	more := make([]struct{ boilerplate, heading, table int }, len(lines)+1)
	for i := range r.list {
		g := &r.list[i]
		first, last := g.span(lines)
		switch g.kind {
		case boilerplateRegion:
			more[first].boilerplate++
			more[last].boilerplate--
		case headingRegion:
			more[first].heading++
			more[last].heading--
		case tableRegion:
			more[first].table++
			more[last].table--
		}
	}
	boilerplate, heading, table := 0, 0, 0
	for i := range lines {
		boilerplate += more[i].boilerplate
		heading += more[i].heading
		table += more[i].table
		lines[i].boilerplate, lines[i].heading, lines[i].table = boilerplate > 0, heading > 0, table > 0
	}
}

// classify applies the decision tree of the paper. Its link densities 0.333333 and 0.555556
// are taken as 1/3 and 5/9.
func classify(lines []line) {
	for i := range lines {
		var previous, next line
		if i > 0 {
			previous = lines[i-1]
		}
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		switch l := &lines[i]; {
		case l.linked*3 > l.words:
			l.content = false
		case previous.linked*9 > previous.words*5:
			l.content = l.words > 40 || next.words > 17
		default:
			l.content = l.words > 16 || next.words > 15 || previous.words > 4
		}
	}
}

// dropBoilerplate removes content in regions of boilerplate. If hardly any content would be left,
// it keeps all, because a class or identifier may mean something else.
func dropBoilerplate(lines []line) {
	all, outside := 0, 0
	for i := range lines {
		if l := &lines[i]; l.content {
			all += l.words
			if !l.boilerplate {
				outside += l.words
			}
		}
	}
	trusted := outside*6 > all // whether to trust the regions
	for i := range lines {
		l := &lines[i]
		l.boilerplate = l.boilerplate && trusted
		l.content = l.content && !l.boilerplate
	}
}

// hasArticle reports whether there is an article, or several.
func (r *regions) hasArticle() bool {
	return slices.ContainsFunc(r.list, func(g region) bool { return g.kind == articleRegion })
}

// keepLists adds all lines outside boilerplate if the content is less than a quarter of their words:
// such a page is a list of links, or a form.
func keepLists(lines []line) {
	content, all := 0, 0
	for i := range lines {
		if l := &lines[i]; !l.boilerplate {
			all += l.words
			if l.content {
				content += l.words
			}
		}
	}
	if content*4 >= all {
		return
	}
	for i := range lines {
		lines[i].content = !lines[i].boilerplate
	}
}

// restrictToArticle removes content outside the article, the smallest region of this kind that
// contains nine tenths of the words, and adds its tables and its short lines before the last content.
func (r *regions) restrictToArticle(lines []line) {
	words := make([]int, len(lines)+1) // number of words of content before each line
	for i := range lines {
		words[i+1] = words[i]
		if lines[i].content {
			words[i+1] += lines[i].words
		}
	}
	all := words[len(lines)]
	first, last, smallest := 0, 0, all+1
	for i := range r.list {
		if r.list[i].kind != articleRegion {
			continue
		}
		from, to := r.list[i].span(lines)
		if n := words[to] - words[from]; n*10 >= all*9 && n <= smallest {
			first, last, smallest = from, to, n
		}
	}
	if all == 0 || smallest > all {
		return
	}
	for i := range lines {
		lines[i].content = lines[i].content && first <= i && i < last
	}
	end := last
	for !lines[end-1].content {
		end--
	}
	for i := first; i < last; i++ {
		l := &lines[i]
		l.content = !l.boilerplate && (l.table || i < end && l.linked*2 <= l.words)
	}
}

// dropHeadings removes headings without content below them.
func dropHeadings(lines []line) {
	below := false
	for i := len(lines) - 1; i >= 0; i-- {
		if l := &lines[i]; l.heading {
			l.content = l.content && below
		} else {
			below = l.content
		}
	}
}
