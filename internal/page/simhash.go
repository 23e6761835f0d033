package page

import (
	"fmt"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// allWordsMask selects the bits of a fingerprint that are computed from all words.
const allWordsMask = 0xFFFFFFFF << 32

// isRepetitive reports whether texts of this length, in words, are compared by pairs of words. In
// English, 100 words have about 70 distinct words, and 10,000 have 2,000.
func isRepetitive(words, distinct int) bool { return words >= 100 && distinct*distinct < 8*words }

// fingerprint returns the simhash of a page.
//
// A simhash is a 64-bit fingerprint of the words of a text: texts that share most of their words
// differ in few bits. Each bit is the majority of that bit over the hashes of all distinct words in
// lower case; a tie is 0. A word is a run of letters and digits; a text without words has the
// fingerprint 0. Long texts of few distinct words, which can have all words in common, are compared
// by their pairs of successive words. In texts with more than about 60,000 distinct words, some of
// them are not counted.
//
// A page with a large menu is characterised by
// the words outside its links, but a list of links by the words in the links. So half of
// the bits are computed from all words, and the other half from the words outside links. In
// the first half, a word that occurs both in a link and outside is counted twice. If fewer
// than minContentWords words are outside links, both halves are computed from all words.
//
// Source: M. Charikar, "Similarity Estimation Techniques from Rounding Algorithms",
// STOC 2002, section 3. G. Manku, A. Jain and A. Das Sarma, "Detecting Near-Duplicates
// for Web Crawling", WWW 2007, call pages near-duplicates at a distance of at most 3
// bits. Neither defines the weights of words. Here repetitions have no weight, since
// "the" would outweigh a hundred other words.
func (s *wordSet) fingerprint(text string, references []reference) uint64 {
	s.pairs = false
	h, distinct := s.countAll(text, references)
	if isRepetitive(s.words, distinct) {
		s.pairs = true
		h, _ = s.countAll(text, references)
	}
	return h
}

// countAll returns the fingerprint of the words or of the pairs of words, and the number of distinct ones.
func (s *wordSet) countAll(text string, references []reference) (h uint64, distinct int) {
	s.reset(len(text))
	s.words, s.previous = 0, 0
	var outside, inLinks bitCounts
	at := 0
	for i := range references {
		r := &references[i]
		from := max(r.start, at)
		if r.tag != "a" || r.end <= from {
			continue
		}
		s.count(&outside, text[at:from], 0)
		s.count(&inLinks, text[from:r.end], ^uint64(0))
		at = r.end
	}
	s.count(&outside, text[at:], 0)
	all := outside
	all.merge(&inLinks)
	if outside.n < minContentWords {
		return all.majority(), all.n
	}
	return all.majority()&allWordsMask | outside.majority()&^allWordsMask, all.n
}

// simhash returns the fingerprint in the form of [wire.Record.Simhash], or "" if there is no text.
func (s *wordSet) simhash(text string, references []reference) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%016x", s.fingerprint(text, references))
}

// count adds the words of text to s. If a word was not in s, count adds its hash to c. The
// same word with a different mark is a different word.
func (s *wordSet) count(c *bitCounts, text string, mark uint64) {
	for i := 0; i < len(text); {
		hash, start := uint64(fnvOffset), i
		for i < len(text) {
			if b := lowerAlphanumeric[text[i]]; b != 0 {
				hash = (hash ^ uint64(b)) * fnvPrime
				i++
				continue
			}
			if text[i] < utf8.RuneSelf {
				break
			}
			r, size := utf8.DecodeRuneInString(text[i:])
			punctuation := 0x2000 <= r && r < 0x2070 // common, and quicker to find
			if punctuation || !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
				break
			}
			hash = (hash ^ uint64(unicode.ToLower(r))) * fnvPrime
			i += size
		}
		if i == start {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		hash = mix(hash)
		s.words++
		if s.pairs {
			hash, s.previous = mix(hash^s.previous), hash*3
		}
		if s.add(hash ^ mark) {
			c.add(hash)
		}
	}
}

// lowerAlphanumeric holds ASCII letters in lower case and digits; other bytes are 0.
var lowerAlphanumeric = func() (t [256]byte) {
	for c := range byte(utf8.RuneSelf) {
		if isAlphanumeric(c) {
			t[c] = toLower(c)
		}
	}
	return t
}()

// FNV-1a, over code points instead of bytes.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// mix is the finalizer of MurmurHash3: FNV alone does not change the high bits of a
// short word's hash.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// A wordSet is a hash table of words, or of pairs of words, by their hashes; 0 marks a free slot.
type wordSet struct {
	slots    []uint64
	pairs    bool
	words    int    // number of words counted
	previous uint64 // derived from the hash of the previous word
}

const (
	minSlots  = 1 << 6
	maxSlots  = 1 << 16
	maxProbes = 64 // limits the time for words that were chosen to collide
)

// reset empties the set, and makes it large enough for a text of n bytes.
func (s *wordSet) reset(n int) {
	size := min(max(1<<bits.Len(uint(n/2)), minSlots), maxSlots)
	if size > cap(s.slots) {
		s.slots = make([]uint64, size)
		return
	}
	s.slots = s.slots[:size]
	clear(s.slots)
}

// add adds a word, and reports whether it was not in the set and a slot was free.
func (s *wordSet) add(word uint64) bool {
	for i := range uint64(maxProbes) {
		slot := &s.slots[(word+i*(i+1)/2)&uint64(len(s.slots)-1)]
		switch *slot {
		case word:
			return false
		case 0:
			*slot = word
			return true
		}
	}
	return false
}

// bitCounts counts, for each of 64 bits, in how many hashes it is set. The counters
// are bit-sliced: planes[k] holds bit k of all counters, so one operation on a word
// works on all of them.
type bitCounts struct {
	planes [32]uint64
	n      int // number of hashes
}

func (c *bitCounts) add(hash uint64) {
	c.addAt(0, hash)
	c.n++
}

// addAt adds 1<<k to the counters of the bits that are set.
func (c *bitCounts) addAt(k int, bits uint64) {
	for ; bits != 0; k++ {
		c.planes[k], bits = c.planes[k]^bits, c.planes[k]&bits
	}
}

func (c *bitCounts) merge(d *bitCounts) {
	for k, plane := range d.planes {
		c.addAt(k, plane)
	}
	c.n += d.n
}

// majority returns the bits that are set in more than half of the hashes. It compares
// all counters with n/2 at once, from the highest plane down.
func (c *bitCounts) majority() uint64 {
	half := uint64(c.n / 2)
	more, equal := uint64(0), ^uint64(0)
	for k := bits.Len(uint(c.n)) - 1; k >= 0; k-- {
		if half>>k&1 == 0 {
			more |= equal & c.planes[k]
			equal &^= c.planes[k]
		} else {
			equal &= c.planes[k]
		}
	}
	return more
}
