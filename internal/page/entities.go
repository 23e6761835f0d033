package page

import (
	"strings"

	"golang.org/x/net/html"
)

// A decoding is a set of rules for character references.
type decoding uint8

const (
	noReferences decoding = iota
	inText
	inAttribute // a name without semicolon is not a reference if "=", a letter or a digit follows it
)

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// decode normalizes the newlines in a part of a page, replaces U+0000 by U+FFFD if nul
// is set, and decodes character references.
func decode(s string, how decoding, nul bool) string {
	if strings.IndexByte(s, '\r') >= 0 {
		s = newlines.Replace(s)
	}
	if nul {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	switch how {
	case inText:
		return html.UnescapeString(s)
	case inAttribute:
		return decodeAttribute(s)
	}
	return s
}

// decodeAttribute decodes the character references in the value of an attribute. The
// html package exports no function for this.
func decodeAttribute(s string) string {
	i := strings.IndexByte(s, '&')
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexByte(s, '&') {
		b.WriteString(s[:i])
		s = s[i:]
		end := 1
		if strings.HasPrefix(s, "&#") {
			end = 2
		}
		for end < len(s) && isAlphanumeric(s[end]) {
			end++
		}
		if end < len(s) && s[end] == ';' {
			end++
		}
		b.WriteString(decodeReference(s[:end], s[end:]))
		s = s[end:]
	}
	b.WriteString(s)
	return b.String()
}

// decodeReference decodes a reference in an attribute: "&", a name or number, and its
// semicolon if it has one. rest is the text after ref.
func decodeReference(ref, rest string) string {
	decoded := html.UnescapeString(ref)
	if strings.HasPrefix(ref, "&#") {
		return decoded
	}
	// UnescapeString also decodes a known name that is only the beginning of ref, and leaves the
	// rest of ref after it. Then the result ends in a letter, a digit or a semicolon. If the whole
	// of ref was decoded, the result does not, except for &semi; and &fjlig;.
	last := decoded[len(decoded)-1]
	switch {
	case ref == "&semi;" || ref == "&fjlig;":
	case last == ';' || isAlphanumeric(last), strings.HasPrefix(rest, "=") && ref[len(ref)-1] != ';':
		return ref
	}
	return decoded
}

func isAlphanumeric(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }
