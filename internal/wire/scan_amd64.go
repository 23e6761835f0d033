//go:build !purego

package wire

import (
	"unicode/utf8"

	"golang.org/x/sys/cpu"
)

// specials is specialsGeneric.
func specials(masks []uint64, b []byte) {
	if len(masks) > 0 {
		_ = b[len(masks)*blockSize-1]
		specialsSSE2(&masks[0], &b[0], len(masks))
	}
}

// textEnd is textEndGeneric, and knows more often that all is ASCII.
func textEnd(b []byte, i int) (end int, ascii bool) {
	blocks := (len(b) - i) / blockSize
	if !canCompress || blocks == 0 {
		return textEndGeneric(b, i)
	}
	n, wide := textEndAVX512(&b[i], blocks)
	if i += n; n == blocks*blockSize {
		return indexSpecial(b, i), false
	}
	return i, wide == 0
}

// textEndAVX512 is textEnd of blocks, and has bits in wide if something is not ASCII.
//
//go:noescape
func textEndAVX512(b *byte, blocks int) (n int, wide uint64)

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

// validBlocks tells how many of the first bytes of b are UTF-8, in whole characters, as far
// as whole blocks go; fewer where one of them is not. It is 0 if the processor cannot tell.
func validBlocks(b []byte) int {
	if len(b) < 32 || !cpu.X86.HasAVX2 {
		return 0
	}
	n := validAVX2(&b[0], len(b)/32, &pairs)
	for k := 1; k < utf8.UTFMax && k <= n; k++ {
		if utf8.RuneStart(b[n-k]) {
			if !utf8.Valid(b[n-k : n]) { // it may go on in the next block
				return n - k
			}
			break
		}
	}
	return n
}

// pairs tells what is wrong with two bytes that follow one another, a bit for each mistake: it
// is set for the high half of the first, for its low half and for the high half of the second.
// The mistakes, and how they are looked for, are those of
//
//	J. Keiser and D. Lemire, "Validating UTF-8 in less than one instruction per byte",
//	Software: Practice and Experience 51 (5), 2021.
var pairs = func() (t [3][16]byte) {
	for mistake, halves := range [8][3]uint16{ // sets of halves, a bit each
		{0xf000, 0xffff, 0xf0ff},     // the first is to be gone on with, the second does not go on
		{0x00ff, 0xffff, 0x0f00},     // the other way round
		{1 << 0xc, 0x0003, 0x0f00},   // C0, C1: would be one byte
		{1 << 0xe, 1 << 0x0, 0x0300}, // E0 80 to 9F: would be two
		{1 << 0xe, 1 << 0xd, 0x0c00}, // ED A0 to BF: surrogates
		{1 << 0xf, 0xfff0, 0x0e00},   // F4 90 to BF, F5 and more: beyond Unicode
		{1 << 0xf, 0xffe1, 1 << 0x8}, // F0 80 to 8F: would be three; F5 and more
		{0x0f00, 0xffff, 0x0f00},     // both go on: a mistake unless three or four bytes began before
	} {
		for i, set := range halves {
			for half := range 16 {
				t[i][half] |= byte(set>>half&1) << mistake
			}
		}
	}
	return t
}()

// validAVX2 tells how many bytes of the first blocks of 32 are UTF-8 as far as they go.
//
//go:noescape
func validAVX2(b *byte, blocks int, pairs *[3][16]byte) int
