package sitemap

import (
	"bytes"
	"strings"
)

// A value is text that arrives in pieces. Its zero value is empty.
type value struct {
	b       []byte // text so far, without white space at its beginning
	tooLong bool   // the text is too long, or unusable for another reason
}

func (v *value) reset() { v.b, v.tooLong = v.b[:0], false }

// add appends text.
func (v *value) add(text []byte) {
	if len(v.b) == 0 {
		text = bytes.TrimLeft(text, whitespace)
	}
	if len(v.b)+len(text) > MaxLoc+maxSpaceAtEnd {
		v.tooLong = true
		return
	}
	v.b = append(v.b, text...)
}

// maxSpaceAtEnd is the number of bytes of white space that may follow an address.
const maxSpaceAtEnd = 256

// String returns the text without white space around it, as valid UTF-8. It returns "" if
// the text is longer than MaxLoc.
func (v *value) String() string {
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

// whitespace is the white space of XML.
const whitespace = "\t\r\n "
