package sitemap

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A value is text that comes in pieces, up to MaxLoc bytes of it. Its zero value
// is empty; white space at its beginning is left out.
type value struct {
	b       []byte
	part    []byte // what may be the beginning of an entity
	tooLong bool
}

func (v *value) reset() { v.b, v.part, v.tooLong = v.b[:0], v.part[:0], false }

// settle takes what might have been an entity for what it is.
func (v *value) settle() {
	part := v.part
	v.part = part[:0]
	if len(part) > 0 {
		v.add(part)
	}
}

// add appends text as it is.
func (v *value) add(text []byte) {
	v.settle()
	if len(v.b) == 0 {
		text = bytes.TrimLeft(text, whitespace)
	}
	if len(v.b)+len(text) > MaxLoc+roomAtEnd {
		v.tooLong = true
		return
	}
	v.b = append(v.b, text...)
}

// cut takes the last n bytes back.
func (v *value) cut(n int) {
	v.settle()
	if !v.tooLong {
		v.b = v.b[:max(0, len(v.b)-n)]
	}
}

// roomAtEnd is how much white space may follow an address.
const roomAtEnd = 256

// addEscaped appends text with its entities resolved: the five of XML and
// numbers. All others, which a DTD would have to declare, stay as they are
// written, and so does an ampersand that should have been escaped. An entity may
// come in two pieces.
func (v *value) addEscaped(text []byte) {
	if len(v.part) > 0 {
		text = slices.Concat(v.part, text)
		v.part = v.part[:0]
	}
	for {
		i := bytes.IndexByte(text, '&')
		if i < 0 {
			v.add(text)
			return
		}
		v.add(text[:i])
		text = text[i:]
		end := bytes.IndexByte(text[:min(len(text), maxEntity)], ';')
		if end < 0 && len(text) < maxEntity {
			v.part = append(v.part, text...)
			return
		}
		r, ok := rune(0), false
		if end > 0 {
			r, ok = entity(string(text[1:end]))
		}
		if !ok {
			end, r = 0, '&'
		}
		var char [utf8.UTFMax]byte
		v.add(char[:utf8.EncodeRune(char[:], r)])
		text = text[end+1:]
	}
}

// maxEntity is the length of "&#x0010ffff;".
const maxEntity = 12

// entity is the character that an entity stands for. A number that is none of a
// character of text stands for U+FFFD.
func entity(name string) (r rune, ok bool) {
	switch name {
	case "amp":
		return '&', true
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return 0, false
	}
	base := 10
	if hex, ok := strings.CutPrefix(strings.ToLower(digits), "x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	switch {
	case err != nil:
		return 0, false
	case n > utf8.MaxRune || !utf8.ValidRune(rune(n)) || n == 0:
		return utf8.RuneError, true
	}
	return rune(n), true
}

// String is the text without white space around it, valid UTF-8; "" if it is
// longer than MaxLoc.
func (v *value) String() string {
	v.settle()
	b := bytes.TrimRight(v.b, whitespace)
	if v.tooLong || len(b) > MaxLoc {
		return ""
	}
	s := strings.ToValidUTF8(string(b), "\ufffd")
	if len(s) > MaxLoc {
		return ""
	}
	return s
}

// whitespace is what XML takes for it.
const whitespace = "\t\r\n "

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// hasPrefixFold is strings.HasPrefix whatever the case of ASCII letters.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
