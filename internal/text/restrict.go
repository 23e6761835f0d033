package text

// Restrict maps all stems that are not known yet to one term, for callers that only count
// known terms, such as the keywords of a topic. It saves most stemming and caching. Words of
// one character that are not known yet become a [Gap]. All known terms are kept, as by
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

// prefixLength is the number of leading bytes that a word shares with its stem, if the stemmer
// keeps prefixes and the word consists of the alphabet. A stem of at most that length shares at
// least the first byte with the word. Some stems differ from their word in the fourth byte.
const prefixLength = 3

// alphabet is the set of bytes of the words that prefixes can decide about.
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"

// prefixes is a Bloom filter with one hash function: the first prefixLength bytes of the words
// that a restricted analyzer may know. Most words of a text have another prefix and need no
// lookup. It is not used for shorter words.
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
