//go:build !purego

package wire

import "golang.org/x/sys/cpu"

// specials is specialsGeneric.
func specials(masks []uint64, b []byte) {
	if len(masks) > 0 {
		_ = b[len(masks)*blockSize-1]
		specialsSSE2(&masks[0], &b[0], len(masks))
	}
}

// quoteNear is quoteNearGeneric.
func quoteNear(b []byte) int {
	n := (len(b) - 2) / blockSize
	if n > 0 {
		if i := quoteNearSSE2(&b[2], n); i < n*blockSize {
			return i
		}
	}
	return n*blockSize + quoteNearGeneric(b[n*blockSize:])
}

// canEscape tells whether this processor can do escape.
var canEscape = cpu.X86.HasSSSE3 && cpu.X86.HasPOPCNT

// escape writes the first blocks of 16 bytes of b into dst as they stand in a JSON
// string, and tells how much it wrote and read. It stops before a block with a
// control character that has no short escape. dst must have room for twice what
// is read and 16 bytes more. It may be called only if canEscape.
func escape(dst, b []byte, blocks int) (wrote, read int) {
	_, _ = dst[32*blocks+15], b[16*blocks-1]
	if canCompress && blocks > 1 {
		wrote, read = escapeVBMI2(&dst[0], &b[0], blocks/2, &shorts)
		if blocks -= read / 16; blocks != 1 { // all, or something has no short escape
			return wrote, read
		}
	}
	w, r := escapeSSSE3(&dst[wrote], &b[read], blocks, &between, &shorts)
	return wrote + w, read + r
}

// canCompress tells whether this processor can besides do what leaves bytes out by a mask.
var canCompress = canEscape && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL &&
	cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512VBMI2

// escapeVBMI2 is escape by blocks of 32 bytes. Of shorts it needs the first 32.
//
//go:noescape
func escapeVBMI2(dst, src *byte, blocks int, shorts *[256]byte) (wrote, read int)

// between holds, for every mask of eight bytes, which of 16 bytes go where so that
// a backslash stands before those that the mask means. Number 8 is a backslash.
var between = func() (t [256][16]byte) {
	for mask := range t {
		n := 0
		for i := range 8 {
			if mask>>i&1 != 0 {
				t[mask][n] = 8
				n++
			}
			t[mask][n] = byte(i)
			n++
		}
	}
	return t
}()

// escapeSSSE3 is escape. Of shorts it needs the first 16.
//
//go:noescape
func escapeSSSE3(dst, src *byte, blocks int, between *[256][16]byte, shorts *[256]byte) (wrote, read int)

// unescape writes what the first blocks of 16 bytes of b, the inside of a string, stand
// for into dst, and tells how much it wrote and read. It stops before a block with
// anything but text and plain escapes, and before a backslash whose letter it does not
// see. dst must have room for what is read. It may be called only if canEscape.
func unescape(dst, b []byte, blocks int) (wrote, read int) {
	_, _ = dst[16*blocks-1], b[16*blocks-1]
	if canCompress && blocks >= 4 {
		return unescapeVBMI2(&dst[0], &b[0], blocks/4, &escapes)
	}
	return unescapeSSSE3(&dst[0], &b[0], blocks, &without, &plain)
}

// without holds, for every mask of eight bytes, which of them go where so that those
// that the mask means are left out. What follows in its place is of no account.
var without = func() (t [256][8]byte) {
	for mask := range t {
		n := 0
		for i := range 8 {
			if mask>>i&1 == 0 {
				t[mask][n] = byte(i)
				n++
			}
		}
	}
	return t
}()

// plain holds the letters of the escapes that unescape knows, what they stand for, both
// at four bits in which all of them differ, and a bit for every byte of a half.
var plain = func() (t [3][16]byte) {
	for _, c := range []byte(`"\/bfnrt`) {
		i := (c>>2 + c>>3) & 15
		t[0][i], t[1][i] = c, escapes[c]
	}
	for i := range t[2] {
		t[2][i] = 1 << (i % 8)
	}
	return t
}()

// unescapeVBMI2 is unescape by blocks of 64 bytes, but it stops not before a block but at the
// byte or the escape that is the reason.
//
//go:noescape
func unescapeVBMI2(dst, src *byte, blocks int, escapes *[256]byte) (wrote, read int)

// unescapeSSSE3 is unescape.
//
//go:noescape
func unescapeSSSE3(dst, src *byte, blocks int, without *[256][8]byte, plain *[3][16]byte) (wrote, read int)

// specialsSSE2 fills n masks from n blocks.
//
//go:noescape
func specialsSSE2(masks *uint64, b *byte, n int)

// quoteNearSSE2 looks through n blocks, before which two more bytes stand; it
// returns n*blockSize if there is no such quote.
//
//go:noescape
func quoteNearSSE2(b *byte, n int) int
