package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"spoor/internal/text"
)

const (
	maxWords = 64  // of a query are looked for: of a page that somebody pasted the beginning
	maxWord  = 256 // bytes of a word that is looked for
)

// expression is a query for FTS5: any of the words, each a string in quotes, so
// that nothing in it is syntax. It is empty if there are no words.
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
		b.WriteString(`"` + word + `"`) // a word has letters and digits, and no quotes
	}
	return b.String()
}

// spaced is s as FTS5's tokenizer can take it apart. Where there is writing without
// spaces between words it would take a whole sentence for one word: there each two
// characters that follow each other are a word, as they are in a query.
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

// mayRunOn reports whether r is a letter of a script that may do without spaces.
func mayRunOn(r rune) bool {
	return r >= 0x0E00 && (r < 0x1E00 || r >= 0x2000) && unicode.IsLetter(r)
}

// plain is s as UTF-8 without what would end it (NUL) and without what stands inside
// words and is not seen: the tokenizer would part them there.
func plain(s string) string {
	clean := utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\u00AD\u200C\u200D\u2060")
	if clean {
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
