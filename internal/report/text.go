package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"spoor/internal/weburl"
)

// Limits of text in a report, in characters.
const (
	maxName  = 60  // names of operators, niches, hosts, measures
	maxWords = 200 // titles, queries, settings
	maxShown = 300 // addresses as shown
	maxHref  = 2000
)

// clean returns s for display: valid UTF-8, with single spaces, without control characters
// of terminals and of writing direction. If s has more than n characters, it is cut and ends in ….
// The result may share memory with s.
func clean(s string, n int) string {
	if plain(s, n) {
		return s
	}
	var b strings.Builder
	length, space := 0, false
	for _, r := range s { // invalid UTF-8 yields U+FFFD
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			space = length > 0
			continue
		case unicode.Is(unicode.Bidi_Control, r):
			continue
		}
		if space {
			length++
		}
		if length >= n {
			return strings.TrimRight(cut(b.String(), n-1), " ") + "…"
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		length++
	}
	return b.String()
}

// plain reports whether clean would not change s. This is true for most text.
func plain(s string, n int) bool {
	if len(s) > n || strings.HasPrefix(s, " ") || strings.HasSuffix(s, " ") || strings.Contains(s, "  ") {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// cut returns the first n characters of s.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// href returns an address if it may be linked to, and otherwise "".
func href(s string) string {
	if len(s) > maxHref || !utf8.ValidString(s) {
		return ""
	}
	if u, err := weburl.Parse(s); err != nil || u.String() != s {
		return ""
	}
	return strings.Clone(s)
}

// cloneAddress returns a copy of an address of a record, or "" if the address is too long.
func cloneAddress(s string) string {
	if len(s) > weburl.MaxLength {
		return ""
	}
	return strings.Clone(s)
}
