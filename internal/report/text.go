package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"spoor/internal/weburl"
)

// How long text may be that stands in a report, in characters.
const (
	maxName  = 60  // names of operators, niches, hosts, measures
	maxWords = 200 // titles, queries, settings
	maxShown = 300 // addresses, as they are shown
	maxHref  = 2000
)

// clean is s as it can be shown: valid UTF-8, white space made single, without
// characters that control a terminal or the direction of writing, and cut, with … in
// the end, to at most n characters. The result may share memory with s.
func clean(s string, n int) string {
	if plain(s, n) {
		return s
	}
	var b strings.Builder
	length, space := 0, false
	for _, r := range s { // what is not UTF-8 comes as U+FFFD
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

// plain tells whether s can be shown as it is, as most can.
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

// cut is the first n characters of s.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// href is an address that may be linked to, or "".
func href(s string) string {
	if len(s) > maxHref || !utf8.ValidString(s) {
		return ""
	}
	if u, err := weburl.Parse(s); err != nil || u.String() != s {
		return ""
	}
	return strings.Clone(s)
}

// own is a copy of an address that a record names; "" if it is too long for one.
func own(s string) string {
	if len(s) > weburl.MaxLength {
		return ""
	}
	return strings.Clone(s)
}
