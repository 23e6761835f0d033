package page

import (
	"fmt"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// Simhash is the 64-bit fingerprint of a text's words: texts that share most of
// their words differ in few bits. Every word, in lower case and with its
// repetitions, votes with the bits of its hash; the majority decides each bit,
// and a tie is 0. A word is a run of letters and digits; a text without words
// has the fingerprint 0.
//
// Source: M. Charikar, "Similarity Estimation Techniques from Rounding
// Algorithms", STOC 2002, section 3; for near-duplicate pages a distance of at
// most 3 bits, G. Manku, A. Jain and A. Das Sarma, "Detecting Near-Duplicates
// for Web Crawling", WWW 2007.
func Simhash(text string) uint64 {
	var v votes
	for i := 0; i < len(text); {
		hash, start := uint64(wordSeed), i
		for len(text)-i >= 8 {
			x := load(text, i)
			n := bits.TrailingZeros64(notWord(x)) / 8
			if n == 8 {
				hash = addWord(hash, x|0x20*ones)
				i += 8
				continue
			}
			if text[i+n] < utf8.RuneSelf {
				if n > 0 {
					hash = addWord(hash, (x|0x20*ones)&(1<<(8*n)-1))
				}
				if i+n > start {
					v.add(mix(hash))
				}
				hash, i = wordSeed, i+n+1
				start = i
				continue
			}
			break
		}
		rest, n := restOfWord(text[i:], hash)
		if i += n; i > start {
			v.add(mix(rest))
		} else if i < len(text) {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		}
	}
	return v.majority()
}

// The hash of a word reads its UTF-8 in lower case, eight bytes at a time.
const (
	wordSeed  = 0x9E3779B97F4A7C15
	wordPrime = 0xD6E8FEB86659FD93
)

// addWord adds eight bytes of a word to its hash.
func addWord(hash, x uint64) uint64 {
	hash = (hash ^ x) * wordPrime
	return hash ^ hash>>32
}

// notWord marks, by its highest bit, each byte that is no ASCII letter or digit.
func notWord(x uint64) uint64 {
	const high = 0x80 * ones
	y := x &^ high
	lower := y | 0x20*ones
	letter := (lower + (0x80-'a')*ones) &^ (lower + (0x7F-'z')*ones)
	digit := (y + (0x80-'0')*ones) &^ (y + (0x7F-'9')*ones)
	return (x | ^(letter | digit)) & high
}

// restOfWord goes on with the hash of a word, of which some eight bytes may be
// behind, and returns how long the rest is.
func restOfWord(s string, hash uint64) (_ uint64, length int) {
	var x uint64
	n := 0
	for length < len(s) {
		c, size := s[length], 1
		var lower [utf8.UTFMax]byte
		width := 1
		switch {
		case isLetter(c):
			lower[0] = c | 0x20
		case '0' <= c && c <= '9':
			lower[0] = c
		case c < utf8.RuneSelf:
			size = 0
		default:
			var r rune
			r, size = utf8.DecodeRuneInString(s[length:])
			if isDashOrQuote(r) || !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
				size = 0
			} else {
				width = utf8.EncodeRune(lower[:], unicode.ToLower(r))
			}
		}
		if size == 0 {
			break
		}
		length += size
		for _, b := range lower[:width] {
			x |= uint64(b) << (8 * n)
			if n++; n == 8 {
				hash, x, n = addWord(hash, x), 0, 0
			}
		}
	}
	if n > 0 {
		hash = addWord(hash, x)
	}
	return hash, length
}

// isDashOrQuote tells the punctuation that is frequent in typeset text.
func isDashOrQuote(r rune) bool { return 0x2000 <= r && r < 0x2070 }

// simhashHex is the fingerprint as a record carries it: "" for no text.
func simhashHex(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%016x", Simhash(text))
}

// mix spreads a hash over all of its bits, which addWord alone does
// not do. It is the finalizer of MurmurHash3.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// votes counts, for each of 64 bits, how many hashes had it set. The counters
// stand upright: plane k holds bit k of all 64 counters, so that a hash is
// added to all of them with a few word-wide operations.
type votes struct {
	planes [32]uint64
	n      int
}

func (v *votes) add(hash uint64) {
	v.n++
	for k := range v.planes {
		v.planes[k], hash = v.planes[k]^hash, v.planes[k]&hash
		if hash == 0 {
			return
		}
	}
}

// majority sets the bits that more than half of the hashes had.
func (v *votes) majority() uint64 {
	// Compare all counters with n/2 at once, from the highest bit down.
	half := uint64(v.n / 2)
	more, equal := uint64(0), ^uint64(0)
	for k := bits.Len(uint(v.n)) - 1; k >= 0; k-- {
		if half>>k&1 == 0 {
			more |= equal & v.planes[k]
			equal &^= v.planes[k]
		} else {
			equal &= v.planes[k]
		}
	}
	return more
}
