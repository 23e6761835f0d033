package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"spoor/internal/text"
)

const (
	maxWords = 64  // number of words of a query that are used, from its beginning
	maxWord  = 256 // maximum length of a word in bytes
)

// expression returns a query for FTS5 that matches any of the words. Each word is quoted, so that
// it cannot be parsed as syntax. The expression is empty if there are no words.
func expression(query string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for word := range text.Words(plain(query)) {
		key := strings.ToLower(word)
		if len(word) > maxWord || seen[key] {
			continue
		}
		if len(seen) == maxWords {
			break
		}
		seen[key] = true
		if b.Len() > 0 {
			b.WriteString(" OR ")
		}
		b.WriteString(`"` + word + `"`) // a word has no quotes
	}
	return b.String()
}

// spaced inserts spaces between the words of scripts that are written without spaces, so that FTS5's
// tokenizer finds the same words as [expression]: pairs of characters.
func spaced(s string) string {
	s = plain(s)
	if strings.IndexFunc(s, mayRunOn) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(2 * len(s))
	for word := range text.Words(s) {
		b.WriteString(word)
		b.WriteByte(' ')
	}
	return b.String()
}

// mayRunOn reports whether r is a letter of a script that may be written without spaces.
func mayRunOn(r rune) bool {
	return r >= 0x0E00 && (r < 0x1E00 || r >= 0x2000) && unicode.IsLetter(r)
}

// plain returns s as valid UTF-8. It removes NUL, which would end the text in SQLite, and invisible
// characters inside words, at which the tokenizer would split the words.
func plain(s string) string {
	if utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\u00AD\u200C\u200D\u2060") {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case 0, utf8.RuneError:
			return ' '
		case '\u00AD', '\u200C', '\u200D', '\u2060':
			return -1
		}
		return r
	}, s)
}
