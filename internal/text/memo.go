package text

import "math/bits"

// A key is a word of at most 16 bytes, padded with zeros, with ASCII letters in lower case if
// the language allows it. Words contain no zeros, so keys are unique.
type key struct{ lo, hi uint64 }

// low is a mask for the first n bytes of a little-endian word, 0 < n ≤ 8.
func low(n int) uint64 { return ^uint64(0) >> (64 - 8*n) }

// lowerASCII sets the bit 0x20 in all bytes below 0x80 if bits has 0x20 in every byte. This converts
// letters to lower case and does not change digits; the caller masks padding afterwards. If bits
// is 0, lowerASCII changes nothing.
func lowerASCII(w, bits uint64) uint64 { return w | bits&^(w>>2&bits) }

// keyOf returns the key of the word s[i:i+n], 0 < n ≤ 16.
func keyOf(s string, i, n int, bits uint64) key {
	if n <= 8 {
		return key{lowerASCII(eight(s, i), bits) & low(n), 0}
	}
	return key{lowerASCII(eight(s, i), bits), lowerASCII(eight(s, i+8), bits) & low(n-8)}
}

// eight returns s[i:i+8] as a little-endian number, with zeros beyond the end of s.
func eight(s string, i int) uint64 {
	if i+8 <= len(s) {
		return uint64At(s[i : i+8])
	}
	return tail(s, i)
}

// tail is like eight, for an i near the end of s.
func tail(s string, i int) uint64 {
	if i >= len(s) {
		return 0
	}
	if n := len(s) - 8; n >= 0 {
		return uint64At(s[n:]) >> (8 * (i - n))
	}
	w := uint64(0)
	for j := len(s) - 1; j >= i; j-- {
		w = w<<8 | uint64(s[j])
	}
	return w
}

// uint64At reads eight bytes; the compiler turns it into one load.
func uint64At(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// letterBit is set in the first byte of an ASCII word if it is a letter.
const letterBit = 0x40

// digits reports whether all bytes of the word are ASCII digits. In letters, and in the first bytes
// of multi-byte characters, the bit 0x40 is set.
func (k key) digits() bool { return (k.lo|k.hi)&0x4040404040404040 == 0 }

func (k key) hash() uint64 {
	hi, lo := bits.Mul64(k.lo^0x9E3779B97F4A7C15, k.hi^0xC2B2AE3D27D4EB4F)
	return hi ^ lo
}

// A memo caches the terms of words. Words of up to 8 bytes, the majority in a text, are in a small
// table that fits in the processor's cache; words of up to 16 bytes are in a second table, and
// longer words in a map.
type memo struct {
	near table[uint64]
	far  table[key]
	long map[string]Term
}

func (m *memo) reset() {
	m.near.reset()
	m.far.reset()
	m.long = make(map[string]Term)
}

// size returns the number of cached words.
func (m *memo) size() int { return m.near.n + m.far.n + len(m.long) }

// find returns the term of a word if the word is cached.
func (m *memo) find(k key) (Term, bool) {
	if k.hi == 0 {
		return m.near.find(k.lo, k.hash())
	}
	return m.far.find(k, k.hash())
}

// add caches a word that is not in the memo, unless the memo is full.
func (m *memo) add(k key, t Term) {
	if m.near.n+m.far.n >= maxCached {
		return
	}
	if k.hi == 0 {
		m.near.add(k.lo, t, func(lo uint64) uint64 { return key{lo, 0}.hash() })
	} else {
		m.far.add(k, t, key.hash)
	}
}

// addLong caches a long word, unless the memo is full.
func (m *memo) addLong(word string, t Term) {
	if len(m.long) < maxCached {
		m.long[word] = t
	}
}

// A table is a hash table with open addressing. The zero K marks a free slot.
type table[K uint64 | key] struct {
	slots []slot[K]
	n     int // number of slots in use
}

type slot[K uint64 | key] struct {
	word K
	term Term
}

const (
	tableSlots = 1 << 11 // initial size
	maxProbes  = 16      // limits the time for words that were chosen to collide
)

func (t *table[K]) reset() { t.slots, t.n = make([]slot[K], tableSlots), 0 }

// find returns the term of a word with the hash h, if the word is in the table.
func (t *table[K]) find(word K, h uint64) (Term, bool) {
	mask, free := uint64(len(t.slots)-1), *new(K)
	for range maxProbes {
		s := &t.slots[h&mask]
		if s.word == word {
			return s.term, true
		}
		if s.word == free {
			break
		}
		h++
	}
	return 0, false
}

// add adds a word that is not in the table, unless the slots that find would try are taken.
func (t *table[K]) add(word K, term Term, hash func(K) uint64) {
	free := *new(K)
	if 2*t.n >= len(t.slots) {
		old := t.slots
		t.slots, t.n = make([]slot[K], 2*len(old)), 0
		for _, s := range old {
			if s.word != free {
				t.put(s, hash(s.word))
			}
		}
	}
	t.put(slot[K]{word, term}, hash(word))
}

func (t *table[K]) put(s slot[K], h uint64) {
	mask, free := uint64(len(t.slots)-1), *new(K)
	for range maxProbes {
		if p := &t.slots[h&mask]; p.word == free {
			*p = s
			t.n++
			return
		}
		h++
	}
}
