package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// fromXML is an XML page as HTML is written. Of what XML has and HTML has not, two
// things would cost a page much of its content: elements that end where they
// begin, for HTML takes what follows <title/> or <script/> for theirs, and CDATA
// sections, which are comments in HTML.
func fromXML(page string) string {
	var (
		z    scanner
		b    strings.Builder
		done int // as far as here, the page is in b
	)
	z.reset(page)
	z.foreign = true
	for kind := z.next(); kind != endOfPage; kind = z.next() {
		switch {
		case kind == startTag && z.selfClosing && z.name != atom.Br: // </br> would be another one
			b.WriteString(page[done : z.to-len("/>")])
			b.WriteString("></")
			b.WriteString(page[z.from+len("<") : z.nameEnd])
			b.WriteString(">")
			done = z.to
		case kind == textToken && page[z.from] == '<' && z.begin > z.from:
			b.WriteString(page[done:z.from])
			b.WriteString(html.EscapeString(page[z.begin:z.end]))
			done = z.to
		}
	}
	if done == 0 {
		return page
	}
	b.WriteString(page[done:])
	return b.String()
}
