package text

import "strings"

// Restrict maps all stems that are not known yet to one term. It is for callers that only count
// known terms, such as the keywords of a topic, and avoids most stemming and caching. Words of one
// character that are not known yet become a [Gap]. All known terms become permanent, as by
// [Analyzer.Keep].
func (a *Analyzer) Restrict() {
	if a.unknown != 0 {
		return
	}
	a.names = append(a.names, "")
	a.unknown = Term(len(a.names) - 1)
	a.Keep()
	if a.bits == 0 || !a.keepsPrefix {
		return
	}
	a.prefixes = new(prefixes)
	for word := range a.silentTerms {
		a.prefixes.add(eight(word, 0))
	}
	for stem := range a.terms {
		a.prefixes.addStem(stem)
	}
}

// prefixLength is the number of leading bytes that a word and its stem have in common, if the
// stemmer keeps prefixes and the word consists of bytes of alphabet. A stem of at most this length
// has at least the first byte in common with the word. Some stems differ from their word in the
// fourth byte.
const prefixLength = 3

// alphabet is the set of bytes that may occur in words to which the filter prefixes applies.
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"

// prefixes is a Bloom filter with one hash function. It contains the first prefixLength bytes of the
// words that a restricted analyzer may know. Most words of a text have another prefix, so they need
// no lookup. The filter is not used for shorter words.
type prefixes [1 << prefixBits / 64]uint64

const prefixBits = 16

// bitOf returns the position of the bit for a word, whose bytes are given as a little-endian
// number.
func bitOf(word uint64) (i, shift uint64) {
	h := word << (64 - 8*prefixLength) * 0x9E3779B97F4A7C15 >> (64 - prefixBits)
	return h / 64, h % 64
}

// contains reports whether a word may be known.
func (h *prefixes) contains(word uint64) bool {
	i, shift := bitOf(word)
	return h[i]>>shift&1 != 0
}

// add adds the prefix of a word.
func (h *prefixes) add(word uint64) {
	i, shift := bitOf(word)
	h[i] |= 1 << shift
}

// addStem adds the prefixes of all words that may have the given stem.
func (h *prefixes) addStem(stem string) {
	stem = strings.TrimPrefix(stem, ".") // the filter is applied without the dot
	switch {
	case len(stem) > prefixLength:
		h.add(eight(stem, 0))
	case stem == "":
		for i := range h {
			h[i] = ^uint64(0)
		}
	default:
		for i := range len(alphabet) {
			for j := range len(alphabet) {
				h.add(uint64(stem[0]) | uint64(alphabet[i])<<8 | uint64(alphabet[j])<<16)
			}
		}
	}
}
