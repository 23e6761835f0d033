package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"spoor/internal/text"
)

// A Snippet is a part of the text of a page, with words of the query if there are any.
type Snippet struct {
	Text  string // plain text in one line, without control characters; "…" stands for what is omitted
	Marks []Mark // the words of the query, in order, without overlaps
}

// A Mark is a range of bytes of a [Snippet].
type Mark struct{ Start, End int }

const (
	snippetChars = 200     // maximum length of a snippet, without the marks of omission
	snippetText  = 1 << 18 // number of bytes of a text from which snippets are made, from its beginning
)

// A span is a word of a text.
type span struct {
	start, end int // in bytes
	from, to   int // the same in characters
	word       int // number of the word of the query, or -1
}

// snippet returns the part of s that has most of the wanted words, which are given by their stems. Of
// several it returns the first. It begins and ends with a whole word; in scripts without spaces, with a
// whole character.
func snippet(a *text.Analyzer, s string, wanted map[string]int) Snippet {
	all := len(s)
	s = cut(s, snippetText)
	spans := spansOf(a, s, wanted)
	if n := len(spans); len(s) < all && n > 0 && spans[n-1].end == len(s) {
		spans = spans[:n-1] // it may be a part of a word
	}
	first, last := window(spans)
	if first < 0 {
		return Snippet{}
	}
	// The words of the query are in the middle, unless the text begins or ends there.
	before := (snippetChars - (spans[last].to - spans[first].from)) / 2
	for first > 0 && spans[first].from-spans[first-1].from <= before {
		before -= spans[first].from - spans[first-1].from
		first--
	}
	for last+1 < len(spans) && spans[last+1].to-spans[first].from <= snippetChars {
		last++
	}
	for first > 0 && spans[last].to-spans[first-1].from <= snippetChars {
		first--
	}
	return excerpt(s, spans, first, last, last+1 < len(spans) || len(s) < all)
}

// spansOf returns the words of s. A text has no more words than bytes.
func spansOf(a *text.Analyzer, s string, wanted map[string]int) []span {
	terms := a.Append(nil, s)
	spans := make([]span, 0, len(terms))
	at, chars := 0, 0 // a position in bytes and in characters
	for start, end := range text.Spans(s) {
		if len(spans) == len(terms) {
			break
		}
		if start >= at {
			chars += utf8.RuneCountInString(s[at:start])
		} else { // words overlap
			chars -= utf8.RuneCountInString(s[start:at])
		}
		p := span{start: start, end: end, from: chars, to: chars + utf8.RuneCountInString(s[start:end]), word: -1}
		at, chars = end, p.to
		if i, ok := wanted[stemOf(a, terms[len(spans)])]; ok {
			p.word = i
		}
		spans = append(spans, p)
	}
	return spans
}

// window returns the first and last word of the best part: the one with the most different words of the
// query, then the one with the most words of the query. Without such words it is the first word that is
// not too long. It returns -1 if there is none.
func window(spans []span) (first, last int) {
	var found []int // indexes of the words of the query
	first, last = -1, -1
	for i, p := range spans {
		switch {
		case p.to-p.from > snippetChars:
		case p.word >= 0:
			found = append(found, i)
		case first < 0:
			first, last = i, i
		}
	}
	var count [maxWords]int
	different, most, mostDifferent, head := 0, 0, 0, 0
	for tail, i := range found {
		if count[spans[i].word]++; count[spans[i].word] == 1 {
			different++
		}
		for spans[i].to-spans[found[head]].from > snippetChars {
			if count[spans[found[head]].word]--; count[spans[found[head]].word] == 0 {
				different--
			}
			head++
		}
		if n := tail - head + 1; different > mostDifferent || different == mostDifferent && n > most {
			mostDifferent, most = different, n
			first, last = found[head], i
		}
	}
	return first, last
}

// excerpt returns the words from first to last of s as a snippet. more reports whether the text
// continues.
func excerpt(s string, spans []span, first, last int, more bool) Snippet {
	var b strings.Builder
	var marks []Mark
	if first > 0 {
		b.WriteString("… ")
	}
	at := spans[first].start
	for _, p := range spans[first : last+1] {
		if p.word < 0 {
			continue
		}
		if n := len(marks); n == 0 || p.start > at { // words that overlap or touch are one mark
			appendClean(&b, s[at:p.start])
			at = p.start
			marks = append(marks, Mark{Start: b.Len()})
		}
		appendClean(&b, s[at:p.end])
		at = p.end
		marks[len(marks)-1].End = b.Len()
	}
	appendClean(&b, s[at:max(spans[last].end, at)])
	if more {
		b.WriteString(" …")
	}
	return Snippet{b.String(), marks}
}

// appendClean appends s to b as text in one line: space, control characters, those that change the
// direction of text, and invalid UTF-8 become a single space.
func appendClean(b *strings.Builder, s string) {
	for _, r := range s {
		switch {
		case !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) && r != utf8.RuneError:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), " "):
			b.WriteByte(' ')
		}
	}
}

// clean returns s as text in one line.
func clean(s string) string {
	var b strings.Builder
	appendClean(&b, s)
	return strings.TrimSuffix(b.String(), " ")
}

// cut returns the first n bytes of s, without a part of a character at the end.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
