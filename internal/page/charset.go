package page

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"

	"spoor/internal/weburl"
)

// A page is searched for a declaration of its charset to the end of the head, but at least
// minPrescan and at most maxPrescan bytes. The standard searches minPrescan bytes, and restarts
// parsing when it finds a later declaration; Chromium searches the head without a maximum
// (HTMLMetaCharsetParser).
const (
	minPrescan = 1024
	maxPrescan = 256 << 10
)

// Names of encodings that are recognized by their bytes.
const (
	utf8Name    = "utf-8"
	westernName = "windows-1252"
)

// decode returns the body as valid UTF-8 without byte order mark, the name of its charset, and whether
// the charset was guessed: neither a declaration nor the form of the bytes determines it.
// Declarations inside the body are used only in markup.
//
// The charset is determined by the byte order mark, then by the declaration in the header, then
// by the declaration in the page. Without a declaration, the charset is ISO-2022-JP if the body is
// ASCII with its escape sequences, windows-1252 if it is other ASCII, UTF-8 if it is mostly valid
// UTF-8, the charset that guess finds, and otherwise windows-1252.
//
// Some declarations are ignored because they contradict the body: UTF-8, if most non-ASCII
// characters are not UTF-8; UTF-16, if the start of the body has no zero bytes; any other charset
// than UTF-16, if the markup begins in UTF-16; a western single-byte charset, if the body is mostly
// valid UTF-8 and not ASCII.
func (doc *Document) decode(isMarkup bool) (text, name string, guessed bool) {
	body := doc.Body
	head := view(body[:min(len(body), maxPrescan)])
	name, ok := bom(body)
	if !ok && isMarkup {
		name = wideMarkup(head)
	}
	if name != "" {
		enc, _ := charset.Lookup(name)
		return decodeAs(body, enc, name), name, false
	}
	valid := doc.IsUTF8 || utf8.Valid(body)
	checked := func(enc encoding.Encoding, name string) (encoding.Encoding, string) {
		if name == utf8Name && !valid && !isUTF8(body, 1) ||
			strings.HasPrefix(name, "utf-16") && strings.IndexByte(head, 0) < 0 {
			return nil, ""
		}
		return enc, name
	}
	enc, name := checked(lookup(doc.Charset))
	if enc == nil && isMarkup {
		enc, name = checked(declaredInside(head))
	}
	switch {
	case valid && name == utf8Name:
		return view(body), name, false // there is no byte order mark to remove
	case isASCII(body):
		if enc == nil && (bytes.Contains(body, []byte("\x1b$B")) || bytes.Contains(body, []byte("\x1b$@"))) {
			enc, name = lookup("iso-2022-jp")
			guessed = true
		}
	case (enc == nil || isWestern(name)) && (valid || isUTF8(body, minUTF8)):
		enc, name = lookup(utf8Name)
	case enc == nil:
		enc, name = lookup(guess(body))
		guessed = true
	}
	if enc == nil {
		enc, name = lookup(westernName)
	}
	return decodeAs(body, enc, name), name, guessed
}

// decodeAs decodes a body. Undecodable bytes become U+FFFD. The text may share memory with the
// body.
func decodeAs(body []byte, enc encoding.Encoding, name string) string {
	if name != utf8Name && (!isWestern(name) || !isASCII(body)) {
		if decoded, err := enc.NewDecoder().Bytes(body); err == nil {
			body = decoded
		}
	}
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	if !utf8.Valid(body) { // validation is much faster than decoding
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	return view(body)
}

// lookup returns the encoding with a label, or nil if the label is unknown. It treats the standard's
// encoding "replacement", which decodes every page to one U+FFFD to protect browsers, as unknown.
func lookup(label string) (encoding.Encoding, string) {
	enc, name := charset.Lookup(label)
	if name == "replacement" {
		return nil, ""
	}
	return enc, name
}

// queryEncoder returns the encoder for queries of links on a page in the named encoding. It returns
// nil for UTF-8, and for UTF-16, because the standard then uses UTF-8.
func queryEncoder(name string) weburl.Encoder {
	if name == "" || strings.HasPrefix(name, "utf-") {
		return nil
	}
	return func(query string) string {
		enc, err := htmlindex.Get(name)
		if err != nil {
			return query
		}
		var (
			encoder = enc.NewEncoder()
			src     = []byte(query)
			space   [256]byte // longer than any encoded character
			out     []byte
		)
		for {
			written, read, err := encoder.Transform(space[:], src, true)
			out = append(out, space[:written]...)
			src = src[read:]
			switch {
			case len(src) == 0:
				return string(out)
			case errors.Is(err, transform.ErrShortDst):
			default: // src begins with a character that the encoding lacks
				r, size := utf8.DecodeRune(src)
				out = fmt.Appendf(out, "%%26%%23%d%%3B", r)
				src = src[size:]
			}
		}
	}
}

// bom returns the encoding that the byte order mark of the body indicates.
func bom(body []byte) (name string, ok bool) {
	switch {
	case bytes.HasPrefix(body, []byte{0xEF, 0xBB, 0xBF}):
		return utf8Name, true
	case bytes.HasPrefix(body, []byte{0xFE, 0xFF}):
		return "utf-16be", true
	case bytes.HasPrefix(body, []byte{0xFF, 0xFE}):
		return "utf-16le", true
	}
	return "", false
}

// wideMarkup returns the encoding of markup in UTF-16 that begins with "<" and has no byte order
// mark. It returns "" for other markup.
func wideMarkup(head string) string {
	switch {
	case len(head) < 4:
	case head[0] == '<' && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return "utf-16le"
	case head[0] == 0 && head[1] == '<' && head[2] == 0 && head[3] != 0:
		return "utf-16be"
	}
	return ""
}

// isWestern reports whether pages in UTF-8 are often mislabelled with a charset.
func isWestern(name string) bool {
	return name == westernName || name == "iso-8859-15"
}

// isASCII reports whether the body is ASCII. ASCII is the same text in nearly all charsets.
func isASCII(body []byte) bool { return lenASCII(body) == len(body) }

// lenASCII returns the number of ASCII bytes before the first other byte.
func lenASCII(body []byte) int {
	i := 0
	for ; i+8 <= len(body) && binary.LittleEndian.Uint64(body[i:])&0x8080808080808080 == 0; i += 8 {
	}
	for i < len(body) && body[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// minUTF8 is the factor for isUTF8 of a page that does not declare UTF-8. In legacy charsets, fewer
// than half of the non-ASCII characters of a text are valid UTF-8 by chance.
const minUTF8 = 1

// isUTF8 reports whether the body has more than factor valid non-ASCII characters of UTF-8 for each
// other non-ASCII byte. Some pages in UTF-8 contain a part in another charset. A character that the
// end of the body truncates is not counted. If the beginning of the body has many other bytes and
// few characters, the rest is not examined.
func isUTF8(body []byte, factor int) bool {
	const maxBad = 100
	good, bad := 0, 0
	for {
		body = body[lenASCII(body):]
		if len(body) == 0 || !utf8.FullRune(body) || bad >= maxBad && good <= factor*bad {
			return good > factor*bad
		}
		r, size := utf8.DecodeRune(body)
		if r == utf8.RuneError && size == 1 {
			bad++
		} else {
			good++
		}
		body = body[size:]
	}
}

// declaredInside returns the encoding declared in an XML declaration or a meta element. It
// follows the standard's "prescan a byte stream to determine its encoding", and reads the text of
// elements such as script and title as text, as Chromium does.
func declaredInside(head string) (encoding.Encoding, string) {
	if enc, name := declaredXML(head); enc != nil {
		return enc, name
	}
	var z scanner
	z.reset(head)
	afterHead := false
	for {
		kind := z.next()
		switch {
		case kind == endOfPage, afterHead && z.from >= minPrescan:
			return nil, ""
		case kind == startTag:
			if z.name == atom.Meta {
				if enc, name := declaredMeta(&z); enc != nil {
					return enc, name
				}
			}
			enterRaw(&z)
		}
		if kind == startTag || kind == endTag {
			afterHead = afterHead || !continuesHead(z.name, kind)
		}
	}
}

// enterRaw sets the state of the scanner after a start tag by its name alone.
func enterRaw(z *scanner) {
	if z.name != atom.Noscript { // scripts are not run
		z.enter(z.element.raw)
	}
}

// continuesHead reports whether Chromium takes what follows a tag for the head.
func continuesHead(name atom.Atom, kind tokenKind) bool {
	switch name {
	case atom.Base, atom.Link, atom.Meta, atom.Noscript, atom.Object, atom.Script, atom.Style, atom.Title:
		return true
	case atom.Head, atom.Html:
		return kind == startTag
	}
	return false
}

// declaredXML parses <?xml version="1.0" encoding="…"?>.
func declaredXML(head string) (encoding.Encoding, string) {
	declaration, _, closed := strings.Cut(head, ">")
	if !closed || !strings.HasPrefix(declaration, "<?xml") {
		return nil, ""
	}
	_, value, _ := strings.Cut(declaration, "encoding")
	value = strings.TrimLeft(value, " \t\r\n=")
	if value == "" || value[0] != '"' && value[0] != '\'' {
		return nil, ""
	}
	label, _, _ := strings.Cut(value[1:], value[:1])
	return readable(lookup(label))
}

// declaredMeta parses the attributes of a meta element, and returns the encoding that it
// declares.
func declaredMeta(z *scanner) (enc encoding.Encoding, name string) {
	label, ok := z.attr("charset")
	if ok {
		enc, name = lookup(label)
	} else if equiv, _ := z.attr("http-equiv"); strings.EqualFold(equiv, "content-type") {
		content, _ := z.attr("content")
		enc, name = lookup(labelIn(content))
	}
	return readable(enc, name)
}

// readable replaces a declaration of UTF-16 by UTF-8: the declaration cannot be true, because it was
// read as ASCII. It also replaces x-user-defined by windows-1252.
func readable(enc encoding.Encoding, name string) (encoding.Encoding, string) {
	switch {
	case strings.HasPrefix(name, "utf-16"):
		return lookup(utf8Name)
	case name == "x-user-defined":
		return lookup(westernName)
	}
	return enc, name
}

// labelIn extracts the charset from the content of a meta element, such as "text/html;
// charset=utf-8".
func labelIn(content string) string {
	for {
		i := indexFold(content, "charset")
		if i < 0 {
			return ""
		}
		content = strings.TrimLeft(content[i+len("charset"):], blanks)
		value, ok := strings.CutPrefix(content, "=")
		if !ok {
			continue
		}
		value = strings.TrimLeft(value, blanks)
		if value == "" {
			return ""
		}
		if quote := value[:1]; quote == `"` || quote == "'" {
			label, _, closed := strings.Cut(value[1:], quote)
			if !closed {
				return ""
			}
			return label
		}
		if end := strings.IndexAny(value, "\t\n\f\r ;"); end >= 0 {
			value = value[:end]
		}
		return value
	}
}

// indexFold is strings.Index for an ASCII needle, ignoring case.
func indexFold(s, needle string) int {
	for i := 0; i+len(needle) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(needle)], needle) {
			return i
		}
	}
	return -1
}
