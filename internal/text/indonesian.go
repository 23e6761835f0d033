package text

import (
	"bytes"
	"unicode/utf8"
)

// Indonesian stems a folded word in place, by the algorithm of
//
//	F. Z. Tala, A Study of Stemming Effects on Information Retrieval in Bahasa
//	Indonesia, University of Amsterdam, 2003,
//
// as published by the Snowball project (release 2.2): it removes particles and possessive
// pronouns, then a prefix, a suffix and a second prefix, as long as more than two vowels are
// left. The library that stems the other languages does not include this stemmer.
func Indonesian(word []byte) []byte {
	w := indonesian{word: word}
	for _, c := range word {
		if isIndonesianVowel(c) {
			w.measure++
		}
	}
	if w.measure > 2 {
		_ = w.cutEnd("kah") || w.cutEnd("lah") || w.cutEnd("pun")
	}
	if w.measure > 2 {
		_ = w.cutEnd("nya") || w.cutEnd("ku") || w.cutEnd("mu")
	}
	switch {
	case w.measure <= 2:
	case w.firstPrefix():
		if w.measure > 2 && w.suffix() && w.measure > 2 && !w.restored {
			w.secondPrefix()
		}
	default:
		w.secondPrefix()
		if w.measure > 2 {
			w.suffix()
		}
	}
	return w.word
}

// indonesian is a word that is being stemmed.
type indonesian struct {
	word     []byte
	measure  int  // number of vowels minus the number of removed affixes
	prefix   int  // the last prefix removed, one of the constants below
	restored bool // the first letter of the stem was restored
}

// The removed prefix determines which suffixes may be removed.
const (
	_         = iota
	prefixDi  // di-, me-, ter-
	prefixPer // per-, pe-
	prefixKe  // ke-, peng-
	prefixBer // ber-
)

func isIndonesianVowel(c byte) bool {
	return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'
}

// cutEnd removes an ending, and reports whether the word had this ending.
func (w *indonesian) cutEnd(ending string) bool {
	if !bytes.HasSuffix(w.word, []byte(ending)) {
		return false
	}
	w.word = w.word[:len(w.word)-len(ending)]
	w.measure--
	return true
}

// cutStart removes the given prefix, which has n bytes.
func (w *indonesian) cutStart(n, prefix int) {
	w.word = w.word[n:]
	w.measure--
	w.prefix = prefix
}

func (w *indonesian) starts(prefix string) bool { return bytes.HasPrefix(w.word, []byte(prefix)) }

// vowelAt reports whether byte i is a vowel.
func (w *indonesian) vowelAt(i int) bool { return i < len(w.word) && isIndonesianVowel(w.word[i]) }

// firstPrefix removes di-, me-, ter-, ke- and pe- with the consonant that they add, and
// restores an s or p that they replaced.
func (w *indonesian) firstPrefix() bool {
	kind := prefixDi
	if w.starts("pe") {
		kind = prefixKe
	}
	switch {
	case w.starts("di"):
		w.cutStart(2, prefixDi)
	case w.starts("ter"):
		w.cutStart(3, prefixDi)
	case w.starts("ke"):
		w.cutStart(2, prefixKe)
	case w.starts("meng"), w.starts("peng"):
		w.cutStart(4, kind)
	case (w.starts("meny") || w.starts("peny")) && w.vowelAt(4):
		w.cutStart(3, kind)
		w.word[0], w.restored = 's', true
	case w.starts("men"), w.starts("pen"):
		w.cutStart(3, kind)
	case (w.starts("mem") || w.starts("pem")) && w.vowelAt(3):
		w.cutStart(2, kind)
		w.word[0], w.restored = 'p', true
	case w.starts("mem"), w.starts("pem"):
		w.cutStart(3, kind)
	case w.starts("me"):
		w.cutStart(2, prefixDi)
	default:
		return false
	}
	return true
}

// secondPrefix removes ber- and per-.
func (w *indonesian) secondPrefix() {
	switch {
	case w.starts("belajar"):
		w.cutStart(3, prefixBer)
	case w.starts("pelajar"):
		w.cutStart(3, w.prefix)
	case w.starts("ber"):
		w.cutStart(3, prefixBer)
	case w.starts("per"):
		w.cutStart(3, prefixPer)
	case w.starts("be") && w.consonantThenER(2):
		w.cutStart(2, prefixBer)
	case w.starts("pe"):
		w.cutStart(2, prefixPer)
	}
}

// consonantThenER reports whether a consonant and "er" are at byte i, as in be-kerja.
func (w *indonesian) consonantThenER(i int) bool {
	_, n := utf8.DecodeRune(w.word[i:])
	return n > 0 && !w.vowelAt(i) && bytes.HasPrefix(w.word[i+n:], []byte("er"))
}

// suffix removes -kan, -an or -i, where the prefix allows it.
func (w *indonesian) suffix() bool {
	return w.prefix != prefixKe && w.prefix != prefixPer && w.cutEnd("kan") ||
		w.prefix != prefixDi && w.cutEnd("an") ||
		w.prefix <= prefixPer && !bytes.HasSuffix(w.word, []byte("si")) && w.cutEnd("i")
}
