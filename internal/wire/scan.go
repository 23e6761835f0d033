package wire

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// This file looks at many bytes at once. Eight of them fit into a word; a mask
// over a word has the high bit of a byte set where the byte is meant.

const (
	ones  = 0x0101010101010101
	lows  = 0x7f7f7f7f7f7f7f7f
	highs = 0x8080808080808080
)

func load(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// special is the mask of the bytes that a JSON string cannot hold as they are:
// quotes, backslashes and control characters. Sums that reach the high bit tell
// that a byte is none of them; there is no carry from byte to byte.
func special(w uint64) uint64 {
	t := w & lows
	return ^((t+(0x80-' ')*ones)&(t^'"'*ones+lows)&(t^'\\'*ones+lows) | w) & highs
}

// differ is the mask of the bytes of w that are not c, an ASCII character, with
// its other bits undefined.
func differ(w uint64, c uint64) uint64 {
	w ^= c * ones
	return w&lows + lows | w
}

// first is the number of the byte that the lowest bit of a mask means, 8 if the
// mask is empty.
func first(mask uint64) int { return bits.TrailingZeros64(mask) >> 3 }

// blockSize is how many bytes a mask of one bit a byte is for.
const blockSize = 64

// specialsGeneric sets masks[k] to the special bytes of the k-th block of b, one
// bit a byte. b must have all these blocks.
func specialsGeneric(masks []uint64, b []byte) {
	for k := range masks {
		var mask uint64
		block := (*[blockSize]byte)(b[k*blockSize:])
		for i := 0; i < blockSize; i += 8 {
			// The product gathers the eight bits in the highest byte.
			m := special(load(block[i:])) >> 7 * 0x0102040810204080 >> 56
			mask |= m << i
		}
		masks[k] = mask
	}
}

// indexSpecial returns the first index from i on at which b has a special byte,
// or len(b).
func indexSpecial(b []byte, i int) int {
	for few := i + 2*blockSize; i+8 <= len(b) && i < few; i += 8 {
		if m := special(load(b[i:])); m != 0 {
			return i + first(m)
		}
	}
	var masks [4]uint64
	for ; i+len(masks)*blockSize <= len(b); i += len(masks) * blockSize {
		specials(masks[:], b[i:])
		for k, m := range masks {
			if m != 0 {
				return i + k*blockSize + bits.TrailingZeros64(m)
			}
		}
	}
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

// textEndGeneric is indexSpecial, and tells besides whether all bytes before that index are known
// to be ASCII, as those of most short strings are.
func textEndGeneric(b []byte, i int) (end int, ascii bool) {
	for few := i + blockSize; i+8 <= len(b) && i < few; i += 8 {
		w := load(b[i:])
		if m := special(w); m != 0 {
			return i + first(m), w&highs&(m-1) == 0
		}
		if w&highs != 0 {
			break
		}
	}
	return indexSpecial(b, i), false
}

// chunkSize is how many bytes are looked at before they are used: few enough to
// be at hand still, and enough to pay for the call.
const chunkSize = 16 * blockSize

// stride is how many bytes copyStrides copies without asking. In a page 15 of 16
// runs between escapes are not longer.
const stride = 64

// copyStrides copies n bytes, and up to a stride more: both sides must have so
// many. It knows nothing of slices because its callers have counted already.
func copyStrides(dst, src *byte, n int) {
	to, from := unsafe.Pointer(dst), unsafe.Pointer(src)
	*(*[stride]byte)(to) = *(*[stride]byte)(from)
	for i := stride; i < n; i += stride {
		*(*[stride]byte)(unsafe.Add(to, i)) = *(*[stride]byte)(unsafe.Add(from, i))
	}
}

// valid tells whether b is UTF-8.
func valid(b []byte) bool { return validGeneric(b[validBlocks(b):]) }

// validGeneric is valid. It is faster than utf8.Valid where the characters beyond ASCII are
// few, but some.
func validGeneric(b []byte) bool {
	for i := 0; ; {
		for ; i+32 <= len(b); i += 32 {
			w := b[i : i+32 : i+32]
			if (load(w)|load(w[8:])|load(w[16:])|load(w[24:]))&highs != 0 {
				break
			}
		}
		for ; i+8 <= len(b); i += 8 {
			if m := load(b[i:]) & highs; m != 0 {
				i += first(m)
				break
			}
		}
		if len(b)-i < 8 {
			return utf8.Valid(b[i:])
		}
		for i < len(b) && b[i] >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && size == 1 {
				return false
			}
			i += size
		}
	}
}

// indexQuote returns the first index from i on at which b has a quote that no
// backslash escapes, or -1. b[i] must be the first byte of a string, so that two
// bytes that are not backslashes stand before it. The escapes themselves are
// not looked at.
func indexQuote(b []byte, i int) int {
	for from := i; ; i++ {
		i += quoteNear(b[i-2:])
		if i >= len(b) {
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

// quoteNearGeneric returns how far behind b[2:] the first quote is that may not
// be escaped: one that does not stand behind exactly one backslash, as nearly
// all quotes in a page do. It returns len(b)-2 if there is none.
func quoteNearGeneric(b []byte) int {
	i := 2
	for ; i+8 <= len(b); i += 8 {
		escaped := differ(load(b[i-2:]), '\\') &^ differ(load(b[i-1:]), '\\')
		if m := ^(differ(load(b[i:]), '"') | escaped) & highs; m != 0 {
			return i + first(m) - 2
		}
	}
	for ; i < len(b); i++ {
		if b[i] == '"' && (b[i-1] != '\\' || b[i-2] == '\\') {
			break
		}
	}
	return i - 2
}
