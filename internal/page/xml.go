package page

import (
	"strings"

	"golang.org/x/net/html"
)

// fromXML rewrites an XML page as HTML. Without that, some constructs would lose much of the content:
// self-closing elements, because in HTML <title/> and <script/> contain the text that follows them;
// CDATA sections, because they are comments in HTML; names with a prefix, as in <h:p>; and entities
// that the page itself declares (dtd.go).
func fromXML(page string) string {
	page = expandEntities(page)
	var (
		z    scanner
		b    strings.Builder
		done int // page[:done] has been copied to b
		p    = prefixes{undeclared: !strings.Contains(page, "xmlns:")}
	)
	z.reset(page)
	z.foreign = true
	for kind := z.next(); kind != endOfPage; kind = z.next() {
		switch kind {
		case startTag:
			p.bind(&z)
			start := z.from + len("<")
			local := p.local(page[start:z.nameEnd])
			if start+len(local) < z.nameEnd {
				b.WriteString(page[done:start])
				done = z.nameEnd - len(local)
			}
			if z.selfClosing && !strings.EqualFold(local, "br") { // </br> would be a second line break
				b.WriteString(page[done : z.to-len("/>")])
				b.WriteString("></")
				b.WriteString(local)
				b.WriteString(">")
				done = z.to
			}
		case endTag:
			start := z.from + len("</")
			if local := p.local(page[start:z.nameEnd]); start+len(local) < z.nameEnd {
				b.WriteString(page[done:start])
				done = z.nameEnd - len(local)
			}
		case textToken:
			if page[z.from] == '<' && z.begin > z.from {
				b.WriteString(page[done:z.from])
				b.WriteString(html.EscapeString(page[z.begin:z.end]))
				done = z.to
			}
		}
	}
	if done == 0 {
		return page
	}
	b.WriteString(page[done:])
	return b.String()
}

// maxPrefixes limits the prefixes of a page that are stored. Pages for readers have a few.
const maxPrefixes = 100

// prefixes stores which prefixes of names stand for a namespace whose elements HTML has. A declaration
// holds to the end of the page, not of its element, because pages do not declare a prefix twice.
type prefixes struct {
	undeclared bool // the page has no declarations
	known      map[string]bool
}

// bind stores the prefixes that the latest tag declares.
func (p *prefixes) bind(z *scanner) {
	if p.undeclared {
		return
	}
	for at := z.nameEnd; ; {
		a, next, ok := z.attribute(at)
		if !ok {
			return
		}
		at = next
		prefix, ok := strings.CutPrefix(z.page[a.name:a.nameEnd], "xmlns:")
		if !ok || len(p.known) == maxPrefixes {
			continue
		}
		if p.known == nil {
			p.known = map[string]bool{}
		}
		switch z.value(&a) {
		case "http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML":
			p.known[prefix] = true
		default:
			p.known[prefix] = false
		}
	}
}

// local returns the name without its prefix, if that is known.
func (p *prefixes) local(name string) string {
	if len(p.known) > 0 {
		if prefix, local, ok := strings.Cut(name, ":"); ok && p.known[prefix] && local != "" && isLetter(local[0]) {
			return local
		}
	}
	return name
}
