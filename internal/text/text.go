// Package text turns text into terms: it splits Unicode text into words, normalizes them
// (lower case, NFKC, one spelling), marks stop words, and stems the others.
//
// An [Analyzer] gives every stem a number, a [Term], so that the words of pages can be counted
// and compared without string operations. It does not weight terms.
//
// The rules are the same for all measures:
//
//   - A word is a run of Unicode letters, digits and combining marks. Invalid UTF-8 separates
//     words, like punctuation.
//   - In names such as C++, C# and .NET, signs are part of the word: "++" and "#" after a single
//     ASCII letter, and the dot of .NET, unless it is after a word.
//   - Text in scripts written without spaces between words (Chinese, Japanese, Thai, Lao, Khmer,
//     Burmese), and in Hangul, is split into overlapping pairs of characters.
//   - Words are normalized to NFKC and lower-cased rune by rune, by the rules of their language.
//   - Marks and forms of letters that writers of a script omit or exchange are unified: accents and
//     the final sigma of Greek, stress marks of Cyrillic, vowel signs of Hebrew and Arabic, tatweel,
//     hamza, and the Arabic and Persian forms of yeh, kaf and heh.
//   - Words of one character (except a single character of such a script), numbers of more than
//     four digits, and runs of more than 64 bytes are not scored.
//   - Stop words are not scored.
//   - All other words are stemmed, except numbers and words with signs.
//
// Words that are not scored become silent terms. Silent terms preserve the positions of the other
// terms, so that phrases can be found as they were written.
//
// Unicode's word boundaries (UAX #29) differ: they do not separate words at an apostrophe, a
// full stop or a middle dot between letters, a comma or a full stop between digits, or an
// underscore. All of these separate words here, so that the word after an elided article
// (l'eau, dell'acqua) and before a suffix (London's, İzmir'de) has the same stem as elsewhere.
// As in UAX #29, characters that only join, such as the soft hyphen, do not separate words.
package text

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Term is the number that an [Analyzer] gives to a stem. It depends on the text that the
// analyzer has seen before: compare only terms of the same analyzer, and do not let their
// order affect a result.
type Term uint32

// silent is set in terms that only occupy a position.
const silent Term = 1 << 31

// Gap is the silent term of all words that have no separate term: long numbers, and runs that are
// too long to be words.
const Gap = silent

// Silent reports whether t only occupies a position: a stop word, a word of one character, or a
// [Gap].
func (t Term) Silent() bool { return t&silent != 0 }

// Index returns t as an index for tables. It is less than [Analyzer.Len], and different for
// different terms.
func (t Term) Index() int { return int(t &^ silent) }

// Limits of an analyzer.
const (
	maxWord   = 64      // maximum length of a word in bytes
	maxCached = 1 << 17 // number of cached words or stems below which Trim does nothing
)

// An Analyzer turns text into terms. It caches the terms of words; [Analyzer.Trim] limits the
// cache. An Analyzer is not safe for concurrent use.
type Analyzer struct {
	lower       casing
	bits        uint64 // lower.ascii in every byte
	stem        func(word []byte) []byte
	keepsPrefix bool // stems begin like their words: see prefixLength
	memo        memo
	terms       map[string]Term // stem → term
	silentTerms map[string]Term // stop words and words of one character → silent term
	names       []string        // by Index
	kept        int             // number of names that Trim keeps
	unknown     Term            // term of all unknown stems of a restricted analyzer; otherwise 0
	prefixes    *prefixes       // prefixes of words in the vocabulary; nil if no prefix filter is possible
	buf         []byte
}

// New returns an analyzer for a language and one of its stemmers. An empty code means
// [DefaultLanguage]; an empty stemmer means the first stemmer of the language.
func New(code, stemmer string) (*Analyzer, error) {
	if code == "" {
		code = DefaultLanguage
	}
	i := slices.IndexFunc(languages[:], func(l language) bool { return l.code == code })
	if i < 0 {
		return nil, fmt.Errorf("unknown language %q: known are %s, which is for all others", code, strings.Join(Languages(), ", "))
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
		lower:       l.lower,
		bits:        0x0101010101010101 * uint64(l.lower.ascii),
		stem:        s.make(),
		keepsPrefix: s.keepsPrefix,
		terms:       make(map[string]Term),
		silentTerms: make(map[string]Term),
		names:       []string{""}, // Gap
		buf:         make([]byte, 0, 4*maxWord),
	}
	for w := range stopWords(l.code) {
		a.intern(a.silentTerms, []byte(w), silent)
	}
	a.memo.reset()
	a.Keep()
	return a
}

// Append appends the terms of s to dst, including silent ones, in order of appearance, and
// returns the extended slice.
func (a *Analyzer) Append(dst []Term, s string) []Term {
	for at := 0; at < len(s); {
		words, wide := classes(s, at)
		for next := at + block; at < next; {
			near := bits.TrailingZeros64(wide)
			var i int
			dst, i = a.appendPlain(dst, s, at, words, near)
			if near == block && 0 < i { // the block is finished, or its last word may continue in the next block
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

// appendPlain appends the terms of the words in the block s[at:at+end]. It stops before the first
// word that is not ASCII or does not end in the block, and returns the offset of that word in the
// block. If there is no such word, it returns end.
func (a *Analyzer) appendPlain(dst []Term, s string, at int, words uint64, end int) ([]Term, int) {
	edges := words ^ words<<1 // the start of each word, and the byte after it
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
		if i += at; a.prefixes != nil && n >= prefixLength {
			head := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16
			if head&letterBit != 0 && !a.prefixes.contains(head|a.bits) {
				dst = append(dst, a.unknown)
				continue
			}
		}
		if n == 1 {
			if i+1 < len(s) && s[i+1]|('+'^'#') == '+' { // rules out most words fast
				_, end := withSigns(s, i, i+1)
				n = end - i
			}
		} else if n == len("net") && i > 0 && s[i-1] == '.' {
			start, _ := withSigns(s, i, i+n)
			i, n = start, n+i-start
		}
		dst = append(dst, a.word(s, i, n))
	}
	return dst, end
}

// appendWide appends the term of the word at i, which may have multi-byte characters or
// continue after the block, and returns the offset after it. At a multi-byte character that is
// not part of a word, it only returns the offset after that character.
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

// word returns the term of the word s[i:i+n].
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

// long returns the term of a word that is too long for a key.
func (a *Analyzer) long(word string) Term {
	if len(word) > maxWord {
		return Gap
	}
	var folded [maxWord]byte
	b := folded[:copy(folded[:], word)]
	for i, c := range b {
		if lower[c] != 0 {
			b[i] = c | a.lower.ascii // digits have that bit set
		}
	}
	t, ok := a.memo.long[string(b)]
	if !ok {
		t = a.learn(word)
		a.memo.addLong(string(b), t)
	}
	return t
}

// learn returns the term of a word that is not cached.
func (a *Analyzer) learn(word string) Term {
	a.buf = a.lower.fold(a.buf[:0], word)
	w := a.buf
	if t, ok := a.silentTerms[string(w)]; ok {
		return t
	}
	chars, digits := 0, true
	for i := 0; i < len(w) && (digits || chars < 2); chars++ { // further characters have no effect
		r, n := utf8.DecodeRune(w[i:])
		digits = digits && unicode.IsDigit(r)
		i += n
	}
	switch {
	case chars < 2 && !startsUnspaced(w):
		if a.unknown != 0 {
			return Gap
		}
		return a.intern(a.silentTerms, w, silent)
	case digits && chars > 4:
		return Gap
	case digits, bytes.ContainsAny(w, ".+#"):
		return a.term(w)
	}
	return a.term(a.stem(w))
}

// term returns the term of a stem.
func (a *Analyzer) term(stem []byte) Term {
	if t, ok := a.terms[string(stem)]; ok {
		return t
	}
	if a.unknown != 0 {
		return a.unknown
	}
	return a.intern(a.terms, stem, 0)
}

// intern assigns the next number to name.
func (a *Analyzer) intern(index map[string]Term, name []byte, mark Term) Term {
	s, t := string(name), Term(len(a.names))|mark
	index[s] = t
	a.names = append(a.names, s)
	return t
}

// Name returns the stem or silent word that t stands for. It returns "" for [Gap], and for the unknown
// stems of a restricted analyzer.
func (a *Analyzer) Name(t Term) string { return a.names[t.Index()] }

// Stem returns the term of a stem, the inverse of [Analyzer.Name] for terms that are not
// silent. A new stem gets a new term, unless the analyzer is restricted.
func (a *Analyzer) Stem(name string) Term { return a.term([]byte(name)) }

// Len returns the number of terms in use: every [Term.Index] is less.
func (a *Analyzer) Len() int { return len(a.names) }

// Keep makes all terms that are known so far, such as the terms of a topic, permanent:
// [Analyzer.Trim] keeps them.
func (a *Analyzer) Keep() { a.kept = len(a.names) }

// Trim limits the memory of the analyzer: if many words or stems are cached, it discards all terms
// that were not made permanent by [Analyzer.Keep]. The discarded terms become invalid, and their
// numbers are reused. Call Trim between pages.
func (a *Analyzer) Trim() {
	if len(a.names)-a.kept < maxCached && a.memo.size() < maxCached {
		return
	}
	a.terms = a.keptOf(a.terms)
	a.silentTerms = a.keptOf(a.silentTerms)
	a.names = slices.Clone(a.names[:a.kept])
	a.memo.reset()
}

// keptOf returns a copy of index that contains only the permanent terms. A new map is needed because
// maps do not shrink.
func (a *Analyzer) keptOf(index map[string]Term) map[string]Term {
	kept := make(map[string]Term)
	for name, t := range index {
		if t.Index() < a.kept {
			kept[name] = t
		}
	}
	return kept
}
