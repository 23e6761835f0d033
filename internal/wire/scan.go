package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// This file scans eight bytes at a time, as one word. A mask selects bytes of a word: it has the
// high bit of each selected byte set.

const (
	ones  = 0x0101010101010101
	lows  = 0x7f7f7f7f7f7f7f7f
	highs = 0x8080808080808080
)

func load(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// special returns the mask of the bytes that must be escaped in a JSON string: quotes,
// backslashes and control characters.
func special(w uint64) uint64 {
	t := w & lows // each sum below reaches the high bit unless the byte is special
	return ^((t+(0x80-' ')*ones)&(t^'"'*ones+lows)&(t^'\\'*ones+lows) | w) & highs
}

// first returns the index of the lowest byte in a mask, 8 if the mask is empty.
func first(mask uint64) int { return bits.TrailingZeros64(mask) >> 3 }

// textEnd returns the index of the first special byte of b at or after i, or len(b), and
// whether all bytes before it are ASCII.
func textEnd(b []byte, i int) (end int, ascii bool) {
	var wide uint64
	for ; i+8 <= len(b); i += 8 {
		w := load(b[i:])
		if m := special(w); m != 0 {
			return i + first(m), (wide|w&(m-1))&highs == 0
		}
		wide |= w
	}
	for ; i < len(b); i++ {
		c := b[i]
		if c < ' ' || c == '"' || c == '\\' {
			break
		}
		wide |= uint64(c)
	}
	return i, wide&highs == 0
}

// valid reports whether b is UTF-8. If only a few characters are not ASCII it is faster than
// [utf8.Valid].
func valid(b []byte) bool {
	for len(b) >= 8 {
		for len(b) >= 32 && (load(b)|load(b[8:])|load(b[16:])|load(b[24:]))&highs == 0 {
			b = b[32:]
		}
		if len(b) < 8 {
			break
		}
		m := load(b) & highs
		if m == 0 {
			b = b[8:]
			continue
		}
		b = b[first(m):]
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			return false
		}
		b = b[size:]
	}
	return utf8.Valid(b)
}

// indexQuote returns the index of the first quote of b at or after i that no backslash
// escapes, or -1. A string must start at i.
func indexQuote(b []byte, i int) int {
	for start := i; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		backslashes := 0
		for i-backslashes > start && b[i-backslashes-1] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i
		}
	}
}
