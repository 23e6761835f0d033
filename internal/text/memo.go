package text

import "math/bits"

// A key is a word of at most 16 bytes, padded with zeros, ASCII letters in lower
// case where the language allows it. Words do not contain zeros, so different
// words differ as keys.
type key struct{ lo, hi uint64 }

// low keeps the first n bytes of a little-endian word, 0 < n ≤ 8.
func low(n int) uint64 { return ^uint64(0) >> (64 - 8*n) }

// lowerASCII lower-cases eight bytes at once, if bits has 0x20 in every byte;
// if bits is 0, it changes nothing. Letters lose nothing by having the bit set,
// digits and the padding (which is masked) have no use for it, and bytes above
// 0x7F must not change.
func lowerASCII(w, bits uint64) uint64 { return w | bits&^(w>>2&bits) }

// keyOf is the key of the word s[i:i+n], 0 < n ≤ 16.
func keyOf(s string, i, n int, bits uint64) key {
	if n <= 8 {
		return key{lowerASCII(eight(s, i), bits) & low(n), 0}
	}
	return key{lowerASCII(eight(s, i), bits), lowerASCII(eight(s, i+8), bits) & low(n-8)}
}

// eight is s[i:i+8] as a little-endian word, with zeros for what is beyond the
// end of s.
func eight(s string, i int) uint64 {
	if i+8 <= len(s) {
		return uint64At(s[i : i+8])
	}
	return tail(s, i)
}

// tail is eight near the end of s.
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

// uint64At reads eight bytes; the compiler makes one load of it.
func uint64At(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// firstLetter is the bit that the first byte of an ASCII word has set if it is a letter.
const firstLetter = 0x40

// digits reports whether all bytes of the word are ASCII digits: letters and
// the first bytes of longer characters have the bit 0x40 set.
func (k key) digits() bool { return (k.lo|k.hi)&0x4040404040404040 == 0 }

func (k key) hash() uint64 {
	hi, lo := bits.Mul64(k.lo^0x9E3779B97F4A7C15, k.hi^0xC2B2AE3D27D4EB4F)
	return hi ^ lo
}

// A memo remembers the terms of words. It is a cache: what it does not hold is
// found out again. Words of up to 8 bytes, which most of a text is made of, have
// a table of their own, which is small enough to stay near the processor; words
// of up to 16 bytes have another, and longer ones, which are rare, a map.
type memo struct {
	near table[uint64]
	far  table[key]
	long map[string]Term
}

// reset empties the memo.
func (m *memo) reset() {
	m.near.reset()
	m.far.reset()
	m.long = make(map[string]Term)
}

// size is how many words are remembered.
func (m *memo) size() int { return m.near.n + m.far.n + len(m.long) }

// find is the term of a word, if it is remembered.
func (m *memo) find(k key) (Term, bool) {
	if k.hi == 0 {
		return m.near.find(k.lo, k.hash())
	}
	return m.far.find(k, k.hash())
}

// add remembers a word that is not there, if there is room.
func (m *memo) add(k key, t Term) {
	if m.near.n+m.far.n >= maxKnown {
		return
	}
	if k.hi == 0 {
		m.near.add(k.lo, t, func(lo uint64) uint64 { return key{lo, 0}.hash() })
	} else {
		m.far.add(k, t, key.hash)
	}
}

// addLong remembers a long word, if there is room.
func (m *memo) addLong(word string, t Term) {
	if len(m.long) < maxKnown {
		m.long[word] = t
	}
}

// A table is an open table of words by what they are compared as, none of which
// is 0.
type table[K uint64 | key] struct {
	slots []slot[K]
	n     int // slots in use
}

type slot[K uint64 | key] struct {
	word K
	term Term
}

const (
	tableSlots = 1 << 11 // to begin with
	maxProbes  = 16      // slots tried, whatever words a stranger sends
)

// reset empties the table.
func (t *table[K]) reset() { t.slots, t.n = make([]slot[K], tableSlots), 0 }

// find is the term of a word with the hash h, if the table has it.
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

// add adds a word that is not there, if a slot is free that find would try.
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
