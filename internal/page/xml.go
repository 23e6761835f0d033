package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// fromXML rewrites an XML page as HTML. Without that, two constructs would lose much of the content:
// self-closing elements, because in HTML <title/> and <script/> contain the text that follows them,
// and CDATA sections, because they are comments in HTML.
func fromXML(page string) string {
	var (
		z    scanner
		b    strings.Builder
		done int // page[:done] has been copied to b
	)
	z.reset(page)
	z.foreign = true
	for kind := z.next(); kind != endOfPage; kind = z.next() {
		switch {
		case kind == startTag && z.selfClosing && z.name != atom.Br: // </br> would be a second line break
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
