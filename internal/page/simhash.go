package page

import (
	"fmt"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"spoor/internal/text"
)

// allWordsMask selects the bits of a fingerprint that are computed from all words.
const allWordsMask = 0xFFFFFFFF << 32

// isRepetitive reports whether texts of this length, in words, are compared by pairs of words. In
// English, 100 words have about 70 distinct words, and 10,000 have 2,000.
func isRepetitive(words, distinct int) bool { return words >= 100 && distinct*distinct < 8*words }

// fingerprint returns the simhash of a page.
//
// A simhash is a 64-bit fingerprint of the words of a text: texts that share most of their words
// differ in few bits. Each bit is the majority of that bit over the hashes of all words in lower
// case, each as often as it occurs but at most maxCount times; a tie is 0. A word is a run of
// letters and digits; a text without words has the fingerprint 0. In scripts without spaces, words
// are single characters and pairs of adjacent ones. Long texts of few distinct words, which can have
// all words in common, are compared by their pairs of successive words. In texts with more than
// about 60,000 distinct words, some of them are not counted.
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
// bits. Neither defines the weights of words. If repetitions had no weight, a page with 1 % of its
// words replaced would be within this distance in only two of three cases; without a limit, "the"
// would outweigh a hundred other words.
func (s *wordSet) fingerprint(text string, references []reference) uint64 {
	s.pairs = false
	h := s.countAll(text, references)
	if isRepetitive(s.words, len(s.used)) {
		s.pairs = true
		h = s.countAll(text, references)
	}
	return h
}

// countAll returns the fingerprint of the words or of the pairs of words.
func (s *wordSet) countAll(text string, references []reference) uint64 {
	s.reset(len(text))
	at := 0
	for i := range references {
		r := &references[i]
		from := max(r.start, at)
		if r.tag != "a" || r.end <= from {
			continue
		}
		s.count(text[at:from], 0)
		s.count(text[from:r.end], inLink)
		at = r.end
	}
	s.count(text[at:], 0)
	outside, all := s.sum(0), s.sum(inLink)
	all.merge(&outside, 0)
	if outside.n < minContentWords {
		return all.majority()
	}
	return all.majority()&allWordsMask | outside.majority()&^allWordsMask
}

// simhash returns the fingerprint in the form of [wire.Record.Simhash], or "" if there is no text.
func (s *wordSet) simhash(text string, references []reference) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%016x", s.fingerprint(text, references))
}

// count counts the words of a page. The same word with a different mark, 0 or inLink, is a different
// word.
func (s *wordSet) count(page string, mark uint64) {
	lastEnd, last := -1, rune(0) // the last character of a script without spaces, and its end
	for i := 0; i < len(page); {
		hash, start := uint64(fnvOffset), i
		for i < len(page) {
			if b := lowerAlphanumeric[page[i]]; b != 0 {
				hash = (hash ^ uint64(b)) * fnvPrime
				i++
				continue
			}
			if page[i] < utf8.RuneSelf {
				break
			}
			r, size := utf8.DecodeRuneInString(page[i:])
			punctuation := 0x2000 <= r && r < 0x2070 // common, and quicker to find
			if punctuation || !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
				break
			}
			if r < 0x0E00 || !text.Unspaced(r) { // Thai begins at U+0E00
				hash = (hash ^ uint64(unicode.ToLower(r))) * fnvPrime
				i += size
				continue
			}
			if i > start {
				break
			}
			hash = (hash ^ uint64(r)) * fnvPrime
			for i += size; i < len(page); i += size {
				var m rune
				if m, size = utf8.DecodeRuneInString(page[i:]); !unicode.IsMark(m) {
					break
				}
				hash = (hash ^ uint64(m)) * fnvPrime
			}
			if start == lastEnd {
				s.add(mix(hash), mark)
				hash = (hash ^ uint64(last)) * fnvPrime
			}
			lastEnd, last = i, r
			break
		}
		if i == start {
			_, size := utf8.DecodeRuneInString(page[i:])
			i += size
			continue
		}
		s.add(mix(hash), mark)
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

// A wordSet is a hash table of words, or of pairs of words. A slot holds a hash whose lowest bits
// are replaced by the number of occurrences and the mark; 0 marks a free slot.
type wordSet struct {
	slots    []uint64
	used     []uint32 // the slots that are not free
	pairs    bool
	words    int    // number of words counted
	previous uint64 // derived from the hash of the previous word
}

const (
	maxCount  = 1<<countBits - 1
	countBits = 4
	inLink    = maxCount + 1 // mark of the words in links
	slotMask  = maxCount | inLink

	minSlots  = 1 << 6
	maxSlots  = 1 << 16
	maxProbes = 64 // limits the time for words that were chosen to collide
)

// reset empties the set, and makes it large enough for a text of n bytes.
func (s *wordSet) reset(n int) {
	s.used, s.words, s.previous = s.used[:0], 0, 0
	size := min(max(1<<bits.Len(uint(n/2)), minSlots), maxSlots)
	if size > cap(s.slots) {
		s.slots = make([]uint64, size)
		return
	}
	s.slots = s.slots[:size]
	clear(s.slots)
}

// add counts a word, or the pair of the word before and this one. A new word is dropped if no slot is
// free.
func (s *wordSet) add(hash, mark uint64) {
	s.words++
	if s.pairs {
		hash, s.previous = mix(hash^s.previous), hash*3
	}
	word := hash&^slotMask | mark
	for i := range uint64(maxProbes) {
		at := (hash + i*(i+1)/2) & uint64(len(s.slots)-1)
		slot := &s.slots[at]
		if *slot&^maxCount == word && *slot != 0 {
			if *slot&maxCount < maxCount {
				*slot++
			}
			return
		}
		if *slot == 0 {
			*slot = word | 1
			s.used = append(s.used, uint32(at))
			return
		}
	}
}

// sum adds up the hashes of the words with the given mark, each as often as it was counted.
func (s *wordSet) sum(mark uint64) (c bitCounts) {
	var digits [countBits]bitCounts // of the numbers of occurrences
	for _, at := range s.used {
		slot := s.slots[at]
		if slot&inLink != mark {
			continue
		}
		hash := mix(slot &^ slotMask)
		for n := slot & maxCount; n != 0; n &= n - 1 {
			digits[bits.TrailingZeros64(n)].add(hash)
		}
	}
	for k := range digits {
		digits[k].flush()
		c.merge(&digits[k], k)
	}
	return c
}

// bitCounts counts, for each of 64 bits, in how many hashes it is set. The counters
// are bit-sliced: planes[k] holds bit k of all counters, so one operation on a word
// works on all of them.
type bitCounts struct {
	planes  [32]uint64
	n       int       // number of hashes
	pending [8]uint64 // the last n%8 hashes, which are not in planes yet
}

// add adds a hash. Eight hashes are added at once, so that few carries reach the higher planes.
func (c *bitCounts) add(hash uint64) {
	c.pending[c.n%8] = hash
	if c.n++; c.n%8 != 0 {
		return
	}
	p := &c.pending
	ones, a := addThree(c.planes[0], p[0], p[1])
	ones, b := addThree(ones, p[2], p[3])
	ones, d := addThree(ones, p[4], p[5])
	ones, e := addThree(ones, p[6], p[7])
	twos, f := addThree(c.planes[1], a, b)
	twos, g := addThree(twos, d, e)
	fours, eights := addThree(c.planes[2], f, g)
	c.planes[0], c.planes[1], c.planes[2] = ones, twos, fours
	c.addAt(3, eights)
}

// addThree adds three bits at each position.
func addThree(a, b, c uint64) (sum, carry uint64) { return a ^ b ^ c, a&b | (a^b)&c }

// flush adds the pending hashes. No other hashes may be added after it.
func (c *bitCounts) flush() {
	for _, hash := range c.pending[:c.n%8] {
		c.addAt(0, hash)
	}
}

// addAt adds 1<<k to the counters of the bits that are set.
func (c *bitCounts) addAt(k int, bits uint64) {
	for ; bits != 0; k++ {
		c.planes[k], bits = c.planes[k]^bits, c.planes[k]&bits
	}
}

// merge adds d, multiplied by 1<<k.
func (c *bitCounts) merge(d *bitCounts, k int) {
	for i, plane := range d.planes {
		if plane != 0 {
			c.addAt(i+k, plane)
		}
	}
	c.n += d.n << k
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
