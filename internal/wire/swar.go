package wire

import (
	"encoding/binary"
	"math/bits"
)

// Eight bytes at a time: the functions of this file look at the bytes of a word
// in parallel. A mask has the high bit of a byte set where the byte is meant.
// Borrows between the bytes can set bits above the lowest true one, so only the
// lowest bit of a mask is to be trusted.

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

func load(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// special is the mask of the bytes that a JSON string cannot hold as they are:
// quotes, backslashes and control characters.
func special(w uint64) uint64 {
	q := w ^ '"'*ones
	b := w ^ '\\'*ones
	return ((w-' '*ones)&^w | (q-ones)&^q | (b-ones)&^b) & highs
}

// first is the number of the byte that the lowest bit of a mask means.
func first(mask uint64) int { return bits.TrailingZeros64(mask) >> 3 }

// indexSpecial returns the first index from i on at which b has a special byte,
// or len(b).
func indexSpecial(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := special(load(b[i:])); m != 0 {
			return i + first(m)
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// indexQuote returns the first index from i on at which b has a quote that no
// backslash escapes, or -1. b[i] must be the first byte of a string, so that two
// bytes that are not backslashes stand before it. The escapes themselves are
// not looked at.
func indexQuote(b []byte, i int) int {
	for from := i; ; i++ {
		i = indexQuoteNear(b, i)
		if i < 0 {
			return -1
		}
		n := i
		for n > from && b[n-1] == '\\' {
			n--
		}
		if (i-n)%2 == 0 {
			return i
		}
	}
}

// indexQuoteNear returns an index from i on at which b has a quote, or -1. It
// may pass over quotes that follow a backslash which does not itself follow a
// backslash, as nearly all quotes do in a page.
func indexQuoteNear(b []byte, i int) int {
	for ; i+32 <= len(b); i += 32 {
		w := b[i-2 : i+32 : i+32]
		m := unescaped(w) | unescaped(w[8:]) | unescaped(w[16:]) | unescaped(w[24:])
		if m&highs != 0 {
			break
		}
	}
	for ; i < len(b); i++ {
		if b[i] == '"' && (b[i-1] != '\\' || b[i-2] == '\\') {
			return i
		}
	}
	return -1
}

// unescaped is the mask of the quotes among b[2:10] that do not follow a single
// backslash, with its other bits undefined.
func unescaped(b []byte) uint64 {
	const lows = ^uint64(highs)
	q := load(b[2:]) ^ '"'*ones
	p := load(b[1:]) ^ '\\'*ones
	pp := load(b) ^ '\\'*ones
	return (q - ones) &^ q & ((p&lows + lows) | p | (pp-ones)&^pp)
}
