//go:build !purego

package wire

import "golang.org/x/sys/cpu"

// hasEscape reports whether escape and unescape may be called.
var hasEscape = cpu.X86.HasSSSE3 && cpu.X86.HasPOPCNT

// escape writes the first blocks of 16 bytes of b to dst as they are written in a JSON
// string, and returns how many bytes it wrote and read. It stops before a block with a
// control character that has no short escape. dst must have space for twice what is read and
// 16 bytes more.
func escape(dst, b []byte, blocks int) (wrote, read int) {
	_, _ = dst[32*blocks+15], b[16*blocks-1]
	return escapeSSSE3(&dst[0], &b[0], blocks, &insertions, &shortEscapes)
}

// insertions holds, for each mask of eight bytes, a shuffle that puts a backslash, which is
// byte 8, before the bytes in the mask.
var insertions = func() (t [256][16]byte) {
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

// escapeSSSE3 is escape. It uses the first 16 bytes of shortEscapes.
//
//go:noescape
func escapeSSSE3(dst, src *byte, blocks int, insertions *[256][16]byte, shortEscapes *[256]byte) (wrote, read int)

// unescape decodes the first blocks of 16 bytes of b, which is the inside of a JSON string,
// to dst, and returns how many bytes it wrote and read. It stops before a block that holds
// anything but text and short escapes, and before a backslash at the end. dst must have space
// for what is read.
func unescape(dst, b []byte, blocks int) (wrote, read int) {
	_, _ = dst[16*blocks-1], b[16*blocks-1]
	return unescapeSSSE3(&dst[0], &b[0], blocks, &removals, &escapeTables)
}

// removals holds, for each mask of eight bytes, a shuffle that removes the bytes in the
// mask.
var removals = func() (t [256][8]byte) {
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

// escapeTables holds the letters of the short escapes, and the bytes that these stand for,
// both indexed by four bits in which the letters differ; and a bit for each byte of a half
// block.
var escapeTables = func() (t [3][16]byte) {
	for _, c := range []byte(`"\/bfnrt`) {
		i := (c>>2 + c>>3) & 15
		t[0][i], t[1][i] = c, unescaped[c]
	}
	for i := range t[2] {
		t[2][i] = 1 << (i % 8)
	}
	return t
}()

// unescapeSSSE3 is unescape.
//
//go:noescape
func unescapeSSSE3(dst, src *byte, blocks int, removals *[256][8]byte, escapeTables *[3][16]byte) (wrote, read int)
