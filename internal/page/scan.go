package page

import (
	"strings"
	"unsafe"

	"golang.org/x/net/html/atom"
)

type tokenKind uint8

const (
	endOfPage tokenKind = iota
	textToken
	startTag
	endTag
	comment
	doctype
)

// A scanState is a state of the standard's tokenizer that tree construction may set.
type scanState uint8

const (
	data       scanState = iota // markup and text
	rcdata                      // text with character references, to the end tag of its element
	rawtext                     // text, to the end tag of its element
	scriptData                  // like rawtext, with special rules for <!-- <script> -->
	plaintext                   // text, to the end of the page
	cdata                       // text, to ]]>
)

// A scanner is the tokenizer of the HTML standard (section 13.2.5) for a page that is
// completely in memory. It finds the boundaries of tokens, and decodes their contents on request.
//
// As in the standard, tree construction sets the state after a start tag: it must call enter
// immediately after the tag, and set foreign. If it does not, the scanner stays in the data
// state.
//
// A string that needs no changes is returned as a part of the page: clone strings that must
// outlive the page. The time is linear in the size of the page.
//
// The tokens are the same as in html.Tokenizer, except where html.Tokenizer deviates from the
// standard:
//   - it decodes character references in <![CDATA[ ]]>;
//   - it replaces U+0000 by U+FFFD, which tree construction does anyway;
//   - in a script, "<" between <!-- and --> ends the effect of <!--, unless a letter or "/"
//     follows; so the first </script> ends the script, even if it belongs to a nested script;
//   - <p a=1 a=2/> is self-closing because the second attribute is dropped, which matters in
//     SVG and MathML only;
//   - two attributes may be named U+FFFD, if one of them is written U+0000.
//
// None of these occurs in the pages of the test webs.
type scanner struct {
	// foreign is set by tree construction if the adjusted current node is an element of SVG or
	// MathML: then <![CDATA[ begins text, not a comment.
	foreign bool

	// Properties of the latest tag.
	name        atom.Atom // 0 if package atom does not contain the name
	element     element   // properties of elements with this name
	tag         string    // name in lower case
	selfClosing bool

	page     string
	from, to int // range of the latest token; the next token begins at to
	state    scanState
	last     string // name of the latest start tag; only its end tag ends raw text

	begin, end int  // range of the content of the latest text, comment or doctype
	references bool // decode character references in the content
	nul        bool // replace U+0000 by U+FFFD in the content

	nameEnd  int           // end of the name of the latest tag
	attrs    [16]attribute // first attributes of the latest tag
	attrsLen int
	attrsEnd int  // offset of the attributes that do not fit in attrs
	class    span // range of the value of class; empty if the tag has no class
	hides    bool // the latest tag has an attribute hidden or popover
	anyHides bool // a tag so far has such an attribute

	known [1 << knownBits]knownTag // cache of tag names, kept across pages

	hasNUL bool // the latest text that was requested contains U+0000
}

// An attribute holds the offsets of the name and the value of an attribute, without quotes.
type attribute struct{ name, nameEnd, value, valueEnd int }

// A span is a range of the page; the zero value means unknown.
type span struct{ from, to int32 }

// A knownTag is a tag name of up to eight bytes; key holds these bytes. The cache is indexed by the
// high bits of key times hashFactor.
type knownTag struct {
	key     uint64
	tag     string
	name    atom.Atom
	element element
}

const (
	knownBits  = 7
	hashFactor = 0x9E3779B97F4A7C15 // 2^64 by the golden ratio
)

// reset prepares for a page, which must be valid UTF-8.
func (z *scanner) reset(page string) {
	*z = scanner{page: page, known: z.known}
}

// enter sets the state. After a start tag, it must be called before next.
func (z *scanner) enter(state scanState) { z.state = state }

// next finds the next token. Several texts may follow each other. An unfinished tag at the end
// of the page is not a token.
func (z *scanner) next() tokenKind {
	if z.state != data && z.raw() {
		return textToken
	}
	page := z.page
	z.from = z.to
	i := z.to
	for { // page[from:i] is text
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
			i, z.from = z.to, z.to // an empty <![CDATA[]]>
		case '?':
			return z.bogus(i + 1)
		case '/':
			switch c := page[i+2]; {
			case isLetter(c):
				return z.readTag(i+2, endTag)
			case c != '>':
				return z.bogus(i + 2)
			}
			i += len("</>") // also ignored
			z.from = i
		default:
			kind := z.readTag(i+1, startTag)
			z.last = z.tag
			return kind
		}
	}
}

// textTo makes a text token of page[from:end]. The next token begins at to.
func (z *scanner) textTo(end, to int) {
	z.begin, z.end, z.to = z.from, end, to
	z.references, z.nul = false, false
}

// rest makes a text token of the rest of the page, if there is any.
func (z *scanner) rest() tokenKind {
	z.textTo(len(z.page), len(z.page))
	z.references = true
	if z.from == len(z.page) {
		return endOfPage
	}
	return textToken
}

// raw reads text in one of the raw states. It returns false if there is no text. The state then is
// data, in which the end tag is read.
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

// rawEnd returns the offset of the end tag of the current element.
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

// scriptEnd returns the offset of the end tag of a script. Between <!-- and --> scripts may be
// nested.
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
			p++ // the dashes may belong to -->
		}
	}
}

// isTag reports whether the beginning of a tag, without its "<", is at p.
func (z *scanner) isTag(p int, slash, name string) bool {
	rest := z.page[p:]
	if !strings.HasPrefix(rest, slash) || name == "" {
		return false
	}
	rest = rest[len(slash):]
	return len(rest) > len(name) && ends[rest[len(name)]]&endsTagName != 0 && equalFold(rest[:len(name)], name)
}

// declaration reads <! at i. It returns endOfPage if that is not a token.
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

// bogus reads a bogus comment, which ends with the first ">".
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

// withoutDashes removes a complete or partial end of a comment from a string.
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

// Properties of bytes.
const (
	endsTagName   = 1 << iota // white space, "/" and ">"
	endsAttribute             // and "="
	endsValue                 // without quotes: white space and ">"
	isBlank                   // white space
	isChanged                 // may have to be decoded or replaced
	isUpper       = 0x20      // A to Z; also the bit that makes such a letter lower case
)

// ends holds the properties of each byte.
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

// readTag reads the tag whose name begins at p. An unfinished tag at the end of the page is
// not a token.
func (z *scanner) readTag(p int, kind tokenKind) tokenKind {
	page, start := z.page, p
	p = z.nameTo(p, endsTagName)
	var key uint64 // the name in lower case, 0 if it is too long
	if p-start <= 8 {
		for i := start; i < p; i++ {
			key = key<<8 | uint64(toLower(page[i]))
		}
	}
	if k := &z.known[key*hashFactor>>(64-knownBits)]; k.key == key && key != 0 {
		z.name, z.element, z.tag = k.name, k.element, k.tag
	} else {
		z.setName(page[start:p])
		if key != 0 && z.name != 0 {
			*k = knownTag{key, z.tag, z.name, z.element}
		}
	}
	z.attrsLen, z.attrsEnd, z.nameEnd = 0, p, p
	z.selfClosing = false
	none := span{int32(p), int32(p)} // no class yet
	class, hides := none, false
	for p == len(page) || page[p] != '>' {
		a, next, ok := z.attribute(p)
		switch name := page[a.name:a.nameEnd]; len(name) {
		case len("class"):
			if class == none && equalFold(name, "class") {
				class = span{int32(a.value), int32(a.valueEnd)}
			}
		case len("hidden"):
			hides = hides || equalFold(name, "hidden")
		case len("popover"):
			hides = hides || equalFold(name, "popover")
		}
		switch {
		case ok && z.attrsLen < len(z.attrs):
			z.attrs[z.attrsLen] = a
			z.attrsLen++
			z.attrsEnd = next
		case ok: // attr searches these
		case next == len(page):
			z.from, z.to = next, next
			return endOfPage
		default:
			z.selfClosing = page[next-1] == '/'
		}
		p = next
	}
	z.to, z.class, z.hides = p+1, class, hides
	z.anyHides = z.anyHides || hides
	return kind
}

// attribute reads the attribute at p, or after the white space there, and returns the offset
// after it. If there is none, next is the offset of the ">" that ends the tag, or the end of
// the page.
func (z *scanner) attribute(p int) (a attribute, next int, ok bool) {
	page := z.page
	for p < len(page) && (ends[page[p]]&isBlank != 0 || page[p] == '/') {
		p++
	}
	if p == len(page) || page[p] == '>' {
		return a, p, false
	}
	a.name = p
	p = z.nameTo(p+1, endsAttribute) // the first byte may be "="
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

// nameTo returns the end of a name that continues at p: the first byte with one of the
// properties, or the end of the page.
func (z *scanner) nameTo(p int, class uint8) int {
	page := z.page
	for p < len(page) && ends[page[p]]&class == 0 {
		p++
	}
	return p
}

func (z *scanner) setName(s string) {
	const maxLen = 32 // longer than any atom
	var lower [maxLen]byte
	if len(s) <= maxLen {
		for i := range len(s) {
			lower[i] = toLower(s[i])
		}
		if z.name = atom.Lookup(lower[:len(s)]); z.name != 0 {
			z.element, z.tag = elementOf(z.name), z.name.String()
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

// attr returns the value of an attribute of the latest tag. The name is in lower case. The
// first of several attributes with the name counts.
func (z *scanner) attr(name string) (value string, ok bool) {
	for i := range z.attrsLen {
		a := &z.attrs[i]
		if a.nameEnd-a.name == len(name) && equalFold(z.page[a.name:a.nameEnd], name) {
			return z.value(a), true
		}
	}
	if z.attrsLen < len(z.attrs) {
		return "", false // attrs has all attributes
	}
	return z.attrFrom(z.attrsEnd, name)
}

// attrFrom is attr for the attributes of any tag, from p on.
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

func (z *scanner) value(a *attribute) string { return z.valueAt(a.value, a.valueEnd) }

func (z *scanner) valueAt(from, to int) string {
	s := z.page[from:to]
	if !z.isChanged(from, to) {
		return s
	}
	return decode(s, inAttribute, true)
}

// text returns the content of the latest text, comment or doctype.
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

// isChanged reports whether a range of the page may have to be decoded: whether it has "&",
// U+000D or U+0000.
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

// equalFold reports whether s, in any case, is name, which is in lower case and has the same
// length.
func equalFold(s, name string) bool {
	for i := range len(name) {
		if toLower(s[i]) != name[i] {
			return false
		}
	}
	return true
}

// toLower returns an ASCII letter in lower case, and other bytes unchanged.
func toLower(c byte) byte { return c | ends[c]&isUpper }

// view returns b as a string without copying. b must not be modified while the string is used.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
