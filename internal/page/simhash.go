package page

import (
	"fmt"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// Simhash is the 64-bit fingerprint of a text's words: texts that share most of
// their words differ in few bits. Every word, in lower case and once however
// often it stands there, votes with the bits of its hash; the majority decides
// each bit, and a tie is 0. A word is a run of letters and digits; a text without
// words has the fingerprint 0. Of tens of thousands of different words not all
// find a place to vote.
//
// Source: M. Charikar, "Similarity Estimation Techniques from Rounding
// Algorithms", STOC 2002, section 3; for near-duplicate pages a distance of at
// most 3 bits, G. Manku, A. Jain and A. Das Sarma, "Detecting Near-Duplicates
// for Web Crawling", WWW 2007. They leave the weights of words open. With its
// repetitions "the" would have the say of a hundred others, for its weight counts
// squared, and texts would be alike that have little else in common.
func Simhash(text string) uint64 {
	var e electorate
	return e.fingerprint(text, nil)
}

// An electorate is the words that have voted.
type electorate struct {
	places  []uint64
	refused int // words that found no place
}

const (
	leastVoters = 1 << 6
	mostVoters  = 1 << 16
	mostTries   = 64 // to find the place of a word, whoever chose the words
)

// ofAllWords is the half of a fingerprint that is of all words.
const ofAllWords = 0xFFFFFFFF << 32

// fingerprint is the simhash by which pages that say the same are known. What a page
// of a manual says beside a large menu is its words outside links; what a page of
// a list says is the words inside. So one half of the bits is of all words, and the
// other of those outside links: pages are only alike that are alike in both. A word
// that is inside and outside votes twice for the former. A text with few words outside
// links has both halves of all, and one without links its [Simhash].
func (e *electorate) fingerprint(text string, references []reference) uint64 {
	// Most texts have a word for every dozen bytes, and a small table is faster. Where all words
	// find a place in it, they do in a larger one: a place that is taken in that is taken in this.
	for size := roomFor(len(text) / 4); ; size *= 2 {
		e.reset(size)
		hash, all := e.elect(text, references)
		if all || size >= roomFor(len(text)) {
			return hash
		}
	}
}

// elect is fingerprint, as far as words find places, and whether all have found one.
func (e *electorate) elect(text string, references []reference) (hash uint64, all bool) {
	var v, linked votes
	at := 0 // so much of the text has been read
	for i := range references {
		r := &references[i]
		from := max(r.start, at)
		if r.tag != "a" || r.end <= from {
			continue
		}
		e.vote(&v, text, at, from, 0)
		e.vote(&linked, text, from, r.end, ^uint64(0))
		at = r.end
	}
	e.vote(&v, text, at, len(text), 0)
	own, words := v.majority(), v.n
	v.merge(&linked)
	hash = v.majority()
	if words >= fewestWords {
		hash = hash&ofAllWords | own&^ofAllWords
	}
	return hash, e.refused == 0
}

// roomFor is how many places there are for the words of a text of so many bytes.
func roomFor(n int) int {
	return min(max(1<<bits.Len(uint(n/2)), leastVoters), mostVoters)
}

// reset forgets who has voted, and makes so many places.
func (e *electorate) reset(size int) {
	e.refused = 0
	if size > cap(e.places) {
		e.places = make([]uint64, size)
		return
	}
	e.places = e.places[:size]
	clear(e.places)
}

// vote lets the words of text[i:to] vote, each once under the same mark.
func (e *electorate) vote(v *votes, text string, i, to int, mark uint64) {
	for i < to {
		hash, start := uint64(fnvOffset), i
		if len(text)-i >= 8 { // most words are shorter, and ASCII
			var n int
			hash, n = beginning(load(text, i), to-i)
			i += n
			switch {
			case i < to && (n == 8 || text[i] >= utf8.RuneSelf):
			case n == 0:
				i++
				continue
			default:
				e.word(v, mix(hash), mark)
				i++ // what ends the word is none
				continue
			}
		} else if c := text[i]; c < utf8.RuneSelf && folded[c] == 0 {
			i++
			continue
		}
		for i < to {
			if c := folded[text[i]]; c != 0 {
				hash = (hash ^ uint64(c)) * fnvPrime
				i++
				continue
			}
			if text[i] < utf8.RuneSelf {
				break
			}
			r, size := utf8.DecodeRuneInString(text[i:to])
			if 0x2000 <= r && r < 0x2070 || !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
				break // the former is dashes and quotes
			}
			hash = (hash ^ uint64(unicode.ToLower(r))) * fnvPrime
			i += size
		}
		if i > start {
			e.word(v, mix(hash), mark)
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:to])
		i += size
	}
}

// beginning hashes the letters and digits, of ASCII and at most n, with which eight bytes
// begin, and counts them. It is made without a branch, for nobody foretells how long a word is.
func beginning(x uint64, n int) (hash uint64, length int) {
	const high = 0x80 * ones
	ascii := x &^ high
	small := ascii | 0x20*ones
	letters := (small + (0x80-'a')*ones) &^ (small + (0x7F-'z')*ones)
	digits := (ascii + (0x80-'0')*ones) &^ (ascii + (0x7F-'9')*ones)
	length = min(bits.TrailingZeros64(^(letters|digits)&high|x&high)/8, n)
	var h [9]uint64
	h[0] = fnvOffset
	h[1] = (h[0] ^ small&0xFF) * fnvPrime
	h[2] = (h[1] ^ small>>8&0xFF) * fnvPrime
	h[3] = (h[2] ^ small>>16&0xFF) * fnvPrime
	h[4] = (h[3] ^ small>>24&0xFF) * fnvPrime
	h[5] = (h[4] ^ small>>32&0xFF) * fnvPrime
	h[6] = (h[5] ^ small>>40&0xFF) * fnvPrime
	h[7] = (h[6] ^ small>>48&0xFF) * fnvPrime
	h[8] = (h[7] ^ small>>56) * fnvPrime
	return h[length], length
}

// word lets a word vote.
func (e *electorate) word(v *votes, hash, mark uint64) {
	v.add(hash, e.register(hash^mark))
}

// register reports whether a word may vote: it has not yet, and finds a place.
func (e *electorate) register(word uint64) bool {
	for i := range uint64(mostTries) {
		place := &e.places[(word+i*(i+1)/2)&uint64(len(e.places)-1)]
		there := *place
		if min(there, there^word) == 0 { // nothing, or the word: nobody foretells which
			*place = word
			return there != word
		}
	}
	e.refused++
	return false
}

// folded is ASCII letters in lower case, and digits; all else is 0.
var folded = func() (t [256]byte) {
	for c := range byte(utf8.RuneSelf) {
		if isLetter(c) {
			t[c] = c | 0x20
		} else if '0' <= c && c <= '9' {
			t[c] = c
		}
	}
	return t
}()

// simhash is the fingerprint as a record carries it: "" for no text.
func (e *electorate) simhash(text string, references []reference) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%016x", e.fingerprint(text, references))
}

// FNV-1a, over code points instead of bytes.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// mix spreads a hash over all of its bits, which FNV alone does not do for
// short words. It is the finalizer of MurmurHash3.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// votes counts, for each of 64 bits, how many hashes had it set. The counters
// stand upright: plane k holds bit k of all 64 counters, so that a hash is
// added to all of them with a few word-wide operations. Sixteen at a time,
// most of it is full adders, one a hash (W. Mula, N. Kurz, D. Lemire, "Faster Population
// Counts Using AVX2 Instructions", Computer Journal 2018, after Harley and
// Seal).
type votes struct {
	planes [32]uint64
	latest [16]uint64 // the latest n % 16 hashes
	n      int
}

// add adds a hash, if it may vote. It does the same for one that may not as far as it can,
// for nobody foretells which may.
func (v *votes) add(hash uint64, may bool) {
	v.latest[uint(v.n)%16] = hash
	n := 0
	if may {
		n = 1
	}
	if v.n += n; v.n%16 == 0 && may {
		v.addLatest()
	}
}

// addLatest adds the latest hashes, which are sixteen.
func (v *votes) addLatest() {
	var twos, fours [2]uint64
	var carry uint64
	p := &v.planes
	for i, h := range [2]*[8]uint64{(*[8]uint64)(v.latest[:8]), (*[8]uint64)(v.latest[8:])} {
		for j := range 2 {
			var a, b uint64
			p[0], a = fullAdder(p[0], h[4*j], h[4*j+1])
			p[0], b = fullAdder(p[0], h[4*j+2], h[4*j+3])
			p[1], twos[j] = fullAdder(p[1], a, b)
		}
		p[2], fours[i] = fullAdder(p[2], twos[0], twos[1])
	}
	p[3], carry = fullAdder(p[3], fours[0], fours[1])
	v.carry(4, carry)
}

// fullAdder adds three bits, 64 times.
func fullAdder(a, b, c uint64) (sum, carry uint64) {
	return a ^ b ^ c, a&b | (a^b)&c
}

// carry adds to the planes from the k-th on.
func (v *votes) carry(k int, hash uint64) {
	for ; hash != 0; k++ {
		v.planes[k], hash = v.planes[k]^hash, v.planes[k]&hash
	}
}

// merge adds the votes of others.
func (v *votes) merge(others *votes) {
	others.count()
	for k, plane := range others.planes {
		v.carry(k, plane)
	}
	v.n += others.n
}

// count adds the latest hashes, which are fewer than sixteen, and leaves zeros, which
// change nothing.
func (v *votes) count() {
	for _, hash := range v.latest[:v.n%16] {
		v.carry(0, hash)
	}
	clear(v.latest[:])
}

// majority sets the bits that more than half of the hashes had.
func (v *votes) majority() uint64 {
	v.count()
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
