// Package text turns text into terms: it splits Unicode text into words, folds
// them (lower case, NFC), knows the words that carry no meaning, and reduces
// the others to their stems.
//
// An [Analyzer] does all of it and gives every stem a number, a [Term], by
// which the words of pages can be counted and compared without touching a
// string. What terms are worth is for others to say.
//
// The rules, the same for every measure so that measures can be compared:
//
//   - a word is a run of Unicode letters, digits and the marks on them; bytes that
//     are not UTF-8 separate words as punctuation does
//   - scripts that are written without spaces between words (Chinese, Japanese,
//     Thai, Lao, Khmer, Burmese), and Hangul, whose particles cling to the words,
//     are taken two characters at a time, each with the one after it
//   - words are brought to NFC and lower-cased rune by rune, as their language
//     has it; the Greek final sigma is a sigma
//   - words of one character (unless it is of such a script, and stands alone),
//     numbers of more than four digits, and runs of more than 64 bytes are not
//     terms
//   - stop words are not terms
//   - what remains is stemmed
//
// What is not a term still takes its place between its neighbours, as a silent
// term, so that an expression of several words can be found as it was written.
//
// Unicode's own rules (UAX #29) differ: they do not separate words at an
// apostrophe, a full stop or a middle dot between letters, a comma or a full
// stop between digits, or an underscore. Here all of these separate, so that an
// elided article (l'eau, dell'acqua) and a suffix (London's, İzmir'de) leave the
// word as it is elsewhere. As there, characters that only join, such as the soft
// hyphen, do not separate.
package text

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Term is the number that an [Analyzer] gives to a stem. Numbers depend on
// what the analyzer saw before: compare terms of one analyzer only, and never
// let their order reach a result.
type Term uint32

// silent marks terms that only hold a place.
const silent Term = 1 << 31

// Gap is the silent term of everything that has no term of its own: long
// numbers and runs too long to be words.
const Gap = silent

// Silent reports whether t only holds a place: a stop word, a word of one
// character, a [Gap].
func (t Term) Silent() bool { return t&silent != 0 }

// Index is t as a small number, for tables: below [Analyzer.Len], and
// different for different terms.
func (t Term) Index() int { return int(t &^ silent) }

// Limits of an analyzer.
const (
	maxWord  = 64      // bytes of a word
	maxKnown = 1 << 17 // words or stems that Trim leaves alone
)

// An Analyzer turns text into terms. It remembers the words it saw, so that
// stemming is done once for each; [Analyzer.Trim] keeps that memory bounded.
// It is not safe for concurrent use.
type Analyzer struct {
	lower    casing
	bits     uint64 // lower.ascii in every byte
	stem     func(word []byte) []byte
	faithful bool // the stemmer is
	memo     memo
	terms    map[string]Term // stem → term
	mute     map[string]Term // stop words and words of one character → silent term
	names    []string        // by Index
	kept     int             // names that Trim keeps
	other    Term            // of the stems that a narrow analyzer does not know, else 0
	heads    *heads          // of a narrow analyzer: other words are of unknown stems; nil if that cannot be told
	buf      []byte
}

// New makes an analyzer for a language and one of its stemmers, by name; empty
// names stand for [DefaultLanguage] and for the language's first stemmer.
func New(code, stemmer string) (*Analyzer, error) {
	if code == "" {
		code = DefaultLanguage
	}
	i := slices.IndexFunc(languages[:], func(l language) bool { return l.code == code })
	if i < 0 {
		return nil, fmt.Errorf("unknown language %q: known are %s", code, strings.Join(Languages(), ", "))
	}
	l := &languages[i]
	if stemmer == "" {
		stemmer = l.stemmers[0].name
	}
	for _, s := range l.stemmers {
		if s.name == stemmer {
			return newAnalyzer(l, s), nil
		}
	}
	return nil, fmt.Errorf("unknown stemmer %q for language %s: known are %s", stemmer, code, strings.Join(Stemmers(code), ", "))
}

func newAnalyzer(l *language, s stemmer) *Analyzer {
	a := &Analyzer{
		lower:    l.lower,
		bits:     0x0101010101010101 * uint64(l.lower.ascii),
		stem:     s.make(),
		faithful: s.faithful,
		terms:    make(map[string]Term),
		mute:     make(map[string]Term),
		names:    []string{""}, // Gap
		buf:      make([]byte, 0, 4*maxWord),
	}
	for w := range stopWords(l.code) {
		a.intern(a.mute, []byte(w), silent)
	}
	a.memo.reset()
	a.Keep()
	return a
}

// Append appends the terms of s to dst, silent ones included, in order of
// appearance, and returns the extended slice.
func (a *Analyzer) Append(dst []Term, s string) []Term {
	for at := 0; at < len(s); {
		words, wide := classes(s, at)
		for next := at + block; at < next; {
			near := bits.TrailingZeros64(wide)
			var i int
			dst, i = a.appendPlain(dst, s, at, words, near)
			if near == block && 0 < i { // nothing is left, or a word that may go on in the next block
				at += i
				break
			}
			dst, i = a.appendWide(dst, s, at+i)
			if i >= next {
				at = i
				break
			}
			words &= ^uint64(0) << (i - at)
			wide &= ^uint64(0) << (i - at)
		}
	}
	return dst
}

// appendPlain appends the terms of the words in the first bytes of s[at:], up to end, that are
// ASCII and end before it, and tells where one begins that does not; end if there is none.
func (a *Analyzer) appendPlain(dst []Term, s string, at int, words uint64, end int) ([]Term, int) {
	edges := words ^ words<<1 // where a word begins, and what follows it
	if end < block {
		edges &= 1<<(end&63) - 1
	}
	for edges != 0 {
		i := bits.TrailingZeros64(edges)
		if edges &= edges - 1; edges == 0 {
			return dst, i
		}
		n := bits.TrailingZeros64(edges) - i
		edges &= edges - 1
		if i += at; a.heads != nil && n >= headLength {
			head := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16
			if head&firstLetter != 0 && !a.heads.have(head|a.bits) {
				dst = append(dst, a.other)
				continue
			}
		}
		dst = append(dst, a.word(s, i, n))
	}
	return dst, end
}

// appendWide appends the term of the first word at or after i, where a word begins that is not
// ASCII or long, or a character stands that is not ASCII, and tells where to go on. If that
// character is between words it appends nothing.
func (a *Analyzer) appendWide(dst []Term, s string, i int) (_ []Term, next int) {
	if s[i] >= utf8.RuneSelf {
		r, n := utf8.DecodeRuneInString(s[i:])
		if c := classOf(r); c != letter && c != unspaced {
			return dst, i + n
		}
	}
	start, end, next := nextWord(s, i)
	return append(dst, a.word(s, start, end-start)), next
}

// word is the term of the word s[i:i+n].
func (a *Analyzer) word(s string, i, n int) Term {
	if n > 16 {
		return a.long(s[i : i+n])
	}
	k := keyOf(s, i, n, a.bits)
	if n > 4 && k.digits() {
		return Gap
	}
	t, ok := a.memo.find(k)
	if !ok {
		t = a.learn(s[i : i+n])
		a.memo.add(k, t)
	}
	return t
}

// long is the term of a word that is too long for the memo's keys.
func (a *Analyzer) long(word string) Term {
	if len(word) > maxWord {
		return Gap
	}
	var folded [maxWord]byte
	b := folded[:copy(folded[:], word)]
	for i, c := range b {
		if lower[c] != 0 {
			b[i] = c | a.lower.ascii // digits have that bit
		}
	}
	t, ok := a.memo.long[string(b)]
	if !ok {
		t = a.learn(word)
		a.memo.addLong(string(b), t)
	}
	return t
}

// learn finds the term of a word that was not seen before.
func (a *Analyzer) learn(word string) Term {
	a.buf = a.lower.fold(a.buf[:0], word)
	w := a.buf
	if t, ok := a.mute[string(w)]; ok {
		return t
	}
	chars, digits := 0, true
	for i := 0; i < len(w) && (digits || chars < 2); chars++ { // the others need not be counted
		r, n := utf8.DecodeRune(w[i:])
		digits = digits && unicode.IsDigit(r)
		i += n
	}
	switch {
	case chars < 2 && !lone(w):
		if a.other != 0 {
			return Gap
		}
		return a.intern(a.mute, w, silent)
	case digits && chars > 4:
		return Gap
	}
	return a.term(a.stem(w))
}

// term is the term of a stem.
func (a *Analyzer) term(stem []byte) Term {
	if t, ok := a.terms[string(stem)]; ok {
		return t
	}
	if a.other != 0 {
		return a.other
	}
	return a.intern(a.terms, stem, 0)
}

// intern gives name the next number.
func (a *Analyzer) intern(index map[string]Term, name []byte, mark Term) Term {
	s, t := string(name), Term(len(a.names))|mark
	index[s] = t
	a.names = append(a.names, s)
	return t
}

// Name is the stem, or the silent word, that t stands for; empty for [Gap], and for what a
// narrow analyzer does not know.
func (a *Analyzer) Name(t Term) string { return a.names[t.Index()] }

// Stem is the term of a stem by its name: the opposite of [Analyzer.Name] for
// terms that are not silent. A name that is no stem yet becomes one, unless the
// analyzer is narrow.
func (a *Analyzer) Stem(name string) Term { return a.term([]byte(name)) }

// Len is the number of terms in use: every [Term.Index] is below it.
func (a *Analyzer) Len() int { return len(a.names) }

// Keep makes all terms known so far permanent; [Analyzer.Trim] does not take
// them back. It is meant for the terms of a topic.
func (a *Analyzer) Keep() { a.kept = len(a.names) }

// Trim forgets what was learned since [Analyzer.Keep], if it is much: terms
// that were not kept are void after it and their numbers are given anew. Call
// it between pages; then the memory in use does not grow with their number.
func (a *Analyzer) Trim() {
	if len(a.names)-a.kept < maxKnown && a.memo.size() < maxKnown {
		return
	}
	a.terms = a.keptOf(a.terms)
	a.mute = a.keptOf(a.mute)
	a.names = slices.Clone(a.names[:a.kept])
	a.memo.reset()
}

// keptOf is index without the terms that are not kept. It is a new map because
// a map that was large once stays large.
func (a *Analyzer) keptOf(index map[string]Term) map[string]Term {
	kept := make(map[string]Term)
	for name, t := range index {
		if t.Index() < a.kept {
			kept[name] = t
		}
	}
	return kept
}
