// Package terminal escapes text of untrusted origin, such as URLs, titles and names in an archive, so
// that a terminal displays the text and does not interpret it.
package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Escape replaces characters that control a terminal, or that hide or reorder the characters around
// them, by visible escapes: \u001b, or \x9b for a byte that is not valid UTF-8. It does not change
// newlines and tabs. Text without such characters is returned unchanged; so escaping text twice has
// the same effect as escaping it once.
func Escape(s string) string {
	if !strings.ContainsFunc(s, unsafe) { // invalid bytes are read as U+FFFD
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i, r := range s {
		switch _, size := utf8.DecodeRuneInString(s[i:]); {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r != utf8.RuneError && unsafe(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Line is like [Escape], but also escapes newlines and tabs. It is for a part of a line, such as a
// cell of a table.
func Line(s string) string {
	return lines.Replace(Escape(s))
}

var lines = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// unsafe reports whether r must be escaped.
func unsafe(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', 0x7f <= r && r < 0xa0: // C0, DEL, C1
		return true
	case r == 0x61c, r == 0x200e, r == 0x200f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069: // direction of text
		return true
	case r == 0x2028, r == 0x2029: // separators of lines and paragraphs
		return true
	}
	return r == 0xfeff || r == utf8.RuneError // byte order mark
}

// A Writer writes text to W, escaped by [Escape]. Each Write calls W.Write once. A character that is
// split between two writes is escaped byte by byte.
type Writer struct{ W io.Writer }

func (w *Writer) Write(p []byte) (int, error) {
	s := string(p)
	escaped := Escape(s)
	n, err := w.W.Write([]byte(escaped))
	if err == nil || len(escaped) == len(s) {
		return min(n, len(p)), err
	}
	return 0, err // it is unknown how much of p was written
}
