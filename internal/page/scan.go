package page

import (
	"strings"
	"unsafe"

	"golang.org/x/net/html/atom"
)

// A tokenKind tells what a [scanner] met.
type tokenKind uint8

const (
	endOfPage tokenKind = iota
	textToken
	startTag
	endTag
	comment
	doctype
)

// A scanState is a state of the standard's tokenizer that a tree can ask for.
type scanState uint8

const (
	data       scanState = iota // markup and text
	rcdata                      // text with character references, to the end tag of its element
	rawtext                     // text, to the end tag of its element
	scriptData                  // the same, but <!-- <script> --> has rules of its own
	plaintext                   // text, to the end of the page
	cdata                       // text, to ]]>
)

// A scanner is the tokenizer of the HTML standard (section 13.2.5) over a page
// that is at hand as a whole. It finds where tokens begin and end, and reads
// only those that it is asked about: a text that nobody wants is not decoded.
//
// As in the standard, it is the tree that knows what comes after a start tag:
// whoever builds it tells the scanner by enter, directly behind the start tag,
// and by foreign. Left alone, the scanner reads everything as data.
//
// Strings that it returns are parts of the page where nothing had to be changed: clone
// what must outlive the page. The time is linear in the size of the page.
//
// Its tokens are those of html.Tokenizer, but for five things in which it keeps
// to the standard. In html.Tokenizer
//   - character references stand for something in <![CDATA[ ]]>;
//   - U+0000 is U+FFFD there already, which the tree would make of it anyway;
//   - "<" between <!-- and --> in a script ends what <!-- began, unless a letter
//     or "/" follows, so that the first </script> ends the script even if it ends
//     another one inside it;
//   - <p a=1 a=2/> ends itself, for the second attribute is forgotten: it matters
//     in SVG and MathML only;
//   - two attributes may be named U+FFFD, if one of them is written U+0000.
//
// No page of the webs that it was held against has any of them.
type scanner struct {
	// foreign is set by the tree when the adjusted current node is an element
	// of SVG or MathML: then <![CDATA[ begins text, not a comment.
	foreign bool

	// Of the latest tag.
	name        atom.Atom // 0 if it is none of those known to package atom
	element     element   // what is known of that
	tag         string    // in lower case
	selfClosing bool

	page     string
	from, to int // of the latest token; it goes on at to
	state    scanState
	last     string // name of the latest start tag, which the end tag of its text must have

	begin, end int  // of what is in the latest text, comment or doctype
	references bool // whether character references stand for something there
	nul        bool // whether U+0000 stands for U+FFFD there

	nameEnd  int           // where the name of the latest tag ends
	attrs    [16]attribute // its first attributes
	attrsLen int
	attrsEnd int   // where those begin that attrs has no place for
	class    place // of the value of its class; "" if it has none

	known [1 << knownBits]known // names met lately, on this page or another

	hasNUL bool // whether U+0000 is in what text was asked for last
}

// An attribute is where the name and the value of an attribute stand in the
// page, quotes left out.
type attribute struct{ name, nameEnd, value, valueEnd int }

// A place is where something stands in the page; the zero value is nowhere.
type place struct{ from, to int32 }

// A known is the name of a tag, of up to eight bytes, which are the key. In the
// tables of known names a name is where its key times spread tells.
type known struct {
	key     uint64
	tag     string
	name    atom.Atom
	element element
}

const (
	knownBits = 7
	spread    = 0x9E3779B97F4A7C15 // 2^64 by the golden ratio
)

// reset begins a page, which must be valid UTF-8.
func (z *scanner) reset(page string) {
	*z = scanner{page: page, known: z.known}
}

// enter tells in which state the scanner goes on. What is to be told after a
// start tag must be told before next is called.
func (z *scanner) enter(state scanState) { z.state = state }

// next goes on to the next token. Several texts may follow each other. A tag
// that the page ends in is no token.
func (z *scanner) next() tokenKind {
	if z.state != data && z.raw() {
		return textToken
	}
	page := z.page
	z.from = z.to
	i := z.to
	for { // what is between from and i is text
		if i == len(page) || page[i] != '<' {
			n := strings.IndexByte(page[i:], '<')
			if n < 0 {
				return z.rest()
			}
			i += n
		}
		if i+1 == len(page) {
			return z.rest()
		}
		c := page[i+1]
		switch {
		case isLetter(c), c == '!', c == '?':
		case c == '/':
			if i+2 == len(page) {
				return z.rest()
			}
		default:
			i++
			continue
		}
		if i > z.from {
			z.textTo(i, i)
			z.references = true
			return textToken
		}
		switch c {
		case '!':
			if kind := z.declaration(i); kind != endOfPage {
				return kind
			}
			i, z.from = z.to, z.to // it was <![CDATA[]]>, which is nothing
		case '?':
			return z.bogus(i + 1)
		case '/':
			switch c := page[i+2]; {
			case isLetter(c):
				return z.readTag(i+2, endTag)
			case c != '>':
				return z.bogus(i + 2)
			}
			i += len("</>") // nothing, too
			z.from = i
		default:
			kind := z.readTag(i+1, startTag)
			z.last = z.tag
			return kind
		}
	}
}

// textTo makes a text token of what is between from and end, which goes to to.
func (z *scanner) textTo(end, to int) {
	z.begin, z.end, z.to = z.from, end, to
	z.references, z.nul = false, false
}

// rest makes a text token of what is left of the page, if anything is.
func (z *scanner) rest() tokenKind {
	z.textTo(len(z.page), len(z.page))
	z.references = true
	if z.from == len(z.page) {
		return endOfPage
	}
	return textToken
}

// raw reads text that ends in its own way, if there is any, and leaves its
// state. The end tag is read as data.
func (z *scanner) raw() bool {
	z.from = z.to
	state := z.state
	z.state = data
	switch state {
	case plaintext:
		z.state = plaintext
		z.textTo(len(z.page), len(z.page))
		z.nul = true
	case cdata:
		if i := strings.Index(z.page[z.to:], "]]>"); i >= 0 {
			z.textTo(z.to+i, z.to+i+len("]]>"))
		} else {
			z.textTo(len(z.page), len(z.page))
		}
	case scriptData:
		end := z.scriptEnd()
		z.textTo(end, end)
		z.nul = true
	default:
		end := z.rawEnd()
		z.textTo(end, end)
		z.references, z.nul = state == rcdata, true
	}
	return z.begin < z.end
}

// rawEnd finds the end tag of the element that is read.
func (z *scanner) rawEnd() int {
	for p := z.to; ; p++ {
		i := strings.IndexByte(z.page[p:], '<')
		if i < 0 {
			return len(z.page)
		}
		if p += i; z.isTag(p+1, "/", z.last) {
			return p
		}
	}
}

// scriptEnd finds the end tag of a script. Between <!-- and --> scripts have
// scripts.
func (z *scanner) scriptEnd() int {
	page, p := z.page, z.to
	escaped, double := false, false
	for {
		i := strings.IndexByte(page[p:], '<')
		if i < 0 {
			return len(page)
		}
		i += p
		if escaped && strings.Contains(page[p:i], "-->") {
			escaped, double = false, false
		}
		p = i + 1
		switch {
		case double:
			double = !z.isTag(p, "/", "script")
		case z.isTag(p, "/", z.last):
			return i
		case escaped:
			double = z.isTag(p, "", "script")
		case strings.HasPrefix(page[p:], "!--"):
			escaped = true
			p++ // the dashes may be those of -->
		}
	}
}

// isTag reports whether at p there is the beginning of a tag, "<" left out.
func (z *scanner) isTag(p int, slash, name string) bool {
	rest := z.page[p:]
	if !strings.HasPrefix(rest, slash) || name == "" {
		return false
	}
	rest = rest[len(slash):]
	return len(rest) > len(name) && ends[rest[len(name)]]&endsTagName != 0 && equalFold(rest[:len(name)], name)
}

// declaration reads <! at i. It reports endOfPage for what is no token.
func (z *scanner) declaration(i int) tokenKind {
	const (
		doctypeName = "doctype"
		cdataName   = "[CDATA["
	)
	page, p := z.page, i+len("<!")
	switch rest := page[p:]; {
	case strings.HasPrefix(rest, "--"):
		return z.comment(p + 2)
	case len(rest) >= len(doctypeName) && equalFold(rest[:len(doctypeName)], doctypeName):
		z.bogus(p + len(doctypeName))
		return doctype
	case z.foreign && strings.HasPrefix(rest, cdataName):
		z.to = p + len(cdataName)
		z.state = cdata
		if !z.raw() {
			return endOfPage
		}
		z.from = i
		return textToken
	}
	return z.bogus(p)
}

// bogus reads a comment that ends with the first ">".
func (z *scanner) bogus(p int) tokenKind {
	if i := strings.IndexByte(z.page[p:], '>'); i >= 0 {
		z.textTo(p+i, p+i+1)
	} else {
		z.textTo(len(z.page), len(z.page))
	}
	z.begin, z.nul = p, true
	return comment
}

// comment reads a comment that begins with <!-- before p.
func (z *scanner) comment(p int) tokenKind {
	rest := z.page[p:]
	i := 0
	for {
		n := strings.IndexByte(rest[i:], '>')
		if n < 0 {
			z.textTo(p+len(withoutDashes(rest)), len(z.page))
			break
		}
		i += n
		text := withoutDashes(rest[:i])
		if dashes := i - len(text); dashes >= 2 || dashes == i && i < 2 { // also <!--> and <!--->
			z.textTo(p+len(text), p+i+1)
			break
		}
		i++
	}
	z.begin, z.nul = p, true
	return comment
}

// withoutDashes takes what ends a comment off a string, as far as it is there.
func withoutDashes(s string) string {
	for _, end := range []string{"--!", "--", "-"} {
		if before, ok := strings.CutSuffix(s, end); ok {
			return before
		}
	}
	return s
}

// blanks is the white space of HTML.
const blanks = "\t\n\f\r "

// What a byte ends, or is.
const (
	endsTagName   = 1 << iota // white space, "/" and ">"
	endsAttribute             // and "="
	endsValue                 // without quotes: white space and ">"
	isBlank                   // white space
	isChanged                 // may stand for something else than itself
	isUpper       = 0x20      // A to Z, and what makes it lower case
)

// ends tells of each byte what it ends.
var ends = [256]uint8{
	'\t': endsTagName | endsAttribute | endsValue | isBlank,
	'\n': endsTagName | endsAttribute | endsValue | isBlank,
	'\f': endsTagName | endsAttribute | endsValue | isBlank,
	'\r': endsTagName | endsAttribute | endsValue | isBlank | isChanged,
	' ':  endsTagName | endsAttribute | endsValue | isBlank,
	'/':  endsTagName | endsAttribute,
	'>':  endsTagName | endsAttribute | endsValue,
	'=':  endsAttribute,
	'&':  isChanged,
	0:    isChanged,
	'A':  isUpper, 'B': isUpper, 'C': isUpper, 'D': isUpper, 'E': isUpper, 'F': isUpper, 'G': isUpper,
	'H': isUpper, 'I': isUpper, 'J': isUpper, 'K': isUpper, 'L': isUpper, 'M': isUpper, 'N': isUpper,
	'O': isUpper, 'P': isUpper, 'Q': isUpper, 'R': isUpper, 'S': isUpper, 'T': isUpper, 'U': isUpper,
	'V': isUpper, 'W': isUpper, 'X': isUpper, 'Y': isUpper, 'Z': isUpper,
}

// readTag reads the tag whose name begins at p. If the page ends in it, it is
// no token.
func (z *scanner) readTag(p int, kind tokenKind) tokenKind {
	page, start := z.page, p
	p = z.nameTo(p, endsTagName)
	var key uint64 // the name in lower case, 0 if it is too long
	if p-start <= 8 {
		for i := start; i < p; i++ {
			key = key<<8 | uint64(toLower(page[i]))
		}
	}
	if k := &z.known[key*spread>>(64-knownBits)]; k.key == key && key != 0 {
		z.name, z.element, z.tag = k.name, k.element, k.tag
	} else {
		z.setName(page[start:p])
		if key != 0 && z.name != 0 {
			*k = known{key, z.tag, z.name, z.element}
		}
	}
	z.attrsLen, z.attrsEnd, z.nameEnd = 0, p, p
	z.selfClosing = false
	none := place{int32(p), int32(p)} // before any value
	class := none
	for p == len(page) || page[p] != '>' {
		a, next, ok := z.attribute(p)
		if a.nameEnd-a.name == len("class") && class == none && equalFold(page[a.name:a.nameEnd], "class") {
			class = place{int32(a.value), int32(a.valueEnd)}
		}
		switch {
		case ok && z.attrsLen < len(z.attrs):
			z.attrs[z.attrsLen] = a
			z.attrsLen++
			z.attrsEnd = next
		case ok: // attr looks for it
		case next == len(page):
			z.from, z.to = next, next
			return endOfPage
		default:
			z.selfClosing = page[next-1] == '/'
		}
		p = next
	}
	z.to, z.class = p+1, class
	return kind
}

// attribute reads the attribute that begins at p, or after the white space
// there, and where to go on. If there is none, next is the position of the ">"
// that ends the tag, or the end of the page.
func (z *scanner) attribute(p int) (a attribute, next int, ok bool) {
	page := z.page
	for p < len(page) && (ends[page[p]]&isBlank != 0 || page[p] == '/') {
		p++
	}
	if p == len(page) || page[p] == '>' {
		return a, p, false
	}
	a.name = p
	p = z.nameTo(p+1, endsAttribute) // the first may be "="
	a.nameEnd, a.value, a.valueEnd = p, p, p
	next = p
	for p < len(page) && ends[page[p]]&isBlank != 0 {
		p++
	}
	if p == len(page) || page[p] != '=' {
		return a, next, true
	}
	p++
	for p < len(page) && ends[page[p]]&isBlank != 0 {
		p++
	}
	if p == len(page) {
		return a, p, true
	}
	switch quote := page[p]; quote {
	case '>':
		return a, p, true
	case '"', '\'':
		p++
		i := strings.IndexByte(page[p:], quote)
		if i < 0 {
			return a, len(page), true
		}
		a.value, a.valueEnd = p, p+i
		return a, p + i + 1, true
	}
	a.value = p
	for p < len(page) && ends[page[p]]&endsValue == 0 {
		p++
	}
	a.valueEnd = p
	return a, p, true
}

// nameTo is where the name ends that goes on at p: at a byte of that class, or with the page.
func (z *scanner) nameTo(p int, class uint8) int {
	page := z.page
	for p < len(page) && ends[page[p]]&class == 0 {
		p++
	}
	return p
}

// setName sets the name of a tag.
func (z *scanner) setName(s string) {
	const longest = 32 // more than any atom
	var lower [longest]byte
	if len(s) <= longest {
		for i := range len(s) {
			lower[i] = toLower(s[i])
		}
		if z.name = atom.Lookup(lower[:len(s)]); z.name != 0 {
			z.element, z.tag = *elementOf(z.name), z.name.String()
			return
		}
	}
	z.name, z.element, z.tag = 0, element{}, normalName(s)
}

// normalName returns the name of a tag or attribute in lower case, with U+FFFD for U+0000.
func normalName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == 0:
			return '\uFFFD'
		case 'A' <= r && r <= 'Z':
			return r | 0x20
		}
		return r
	}, s)
}

// attr returns the value of an attribute of the latest tag, and whether it has
// one. The name is in lower case. Of several of the same name the first counts.
func (z *scanner) attr(name string) (value string, ok bool) {
	for i := range z.attrsLen {
		a := &z.attrs[i]
		if a.nameEnd-a.name == len(name) && equalFold(z.page[a.name:a.nameEnd], name) {
			return z.value(a), true
		}
	}
	if z.attrsLen < len(z.attrs) {
		return "", false // those are all
	}
	return z.attrFrom(z.attrsEnd, name)
}

// attrFrom is attr for the attributes from p on, of whatever tag.
func (z *scanner) attrFrom(p int, name string) (value string, ok bool) {
	for {
		a, next, ok := z.attribute(p)
		if !ok {
			return "", false
		}
		if a.nameEnd-a.name == len(name) && equalFold(z.page[a.name:a.nameEnd], name) {
			return z.value(&a), true
		}
		p = next
	}
}

// value is the value of an attribute.
func (z *scanner) value(a *attribute) string { return z.valueAt(a.value, a.valueEnd) }

// valueAt is the value of an attribute that stands there.
func (z *scanner) valueAt(from, to int) string {
	s := z.page[from:to]
	if !z.isChanged(from, to) {
		return s
	}
	return decode(s, inAttribute, true)
}

// text returns what is in the latest text, comment or doctype.
func (z *scanner) text() string {
	s := z.page[z.begin:z.end]
	z.hasNUL = false
	if !z.isChanged(z.begin, z.end) {
		return s
	}
	z.hasNUL = strings.IndexByte(s, 0) >= 0
	how := noReferences
	if z.references {
		how = inText
	}
	return decode(s, how, z.nul)
}

// isChanged reports whether what stands there may stand for something else than
// is written: whether it has "&", U+000D or U+0000.
func (z *scanner) isChanged(from, to int) bool {
	const long = 64
	s := z.page[from:to]
	if len(s) > long {
		return strings.IndexByte(s, '&') >= 0 || strings.IndexByte(s, '\r') >= 0 || strings.IndexByte(s, 0) >= 0
	}
	for i := range len(s) {
		if ends[s[i]]&isChanged != 0 {
			return true
		}
	}
	return false
}

// equalFold reports whether s, of any case, is the name, which has the same
// length and is in lower case.
func equalFold(s, name string) bool {
	for i := range len(name) {
		if toLower(s[i]) != name[i] {
			return false
		}
	}
	return true
}

// toLower is an ASCII letter in lower case, and anything else.
func toLower(c byte) byte { return c | ends[c]&isUpper }

// view is the bytes as a string, as long as they stay.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
