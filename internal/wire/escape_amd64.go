//go:build !purego

package wire

import "golang.org/x/sys/cpu"

// hasEscape reports whether escape and unescape may be called.
var hasEscape = cpu.X86.HasSSSE3 && cpu.X86.HasPOPCNT

// escape escapes up to the given number of 16-byte blocks of b for a JSON string, and writes them
// to dst. It returns how many bytes it wrote and read. It stops before a block with a control
// character that has no short escape. dst must have space for 32 bytes for each block, and 16 more.
func escape(dst, b []byte, blocks int) (wrote, read int) {
	_, _ = dst[32*blocks+15], b[16*blocks-1]
	return escapeSSSE3(&dst[0], &b[0], blocks, &insertions, &shortEscapes)
}

// insertions holds, for each mask of eight bytes, a shuffle that inserts byte 8, a backslash,
// before each byte in the mask.
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

// escapeSSSE3 implements escape. It uses the first 16 bytes of shortEscapes.
//
//go:noescape
func escapeSSSE3(dst, src *byte, blocks int, insertions *[256][16]byte, shortEscapes *[256]byte) (wrote, read int)

// unescape decodes up to the given number of 16-byte blocks of b, which is the inside of a JSON
// string, and writes them to dst. It returns how many bytes it wrote and read. It stops before a
// block that contains more than text and short escapes, and before a backslash at the end of the last block.
// dst must have space for 16 bytes for each block.
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

// escapeTables holds three tables: the letters of the short escapes, and the bytes that these
// letters stand for, both indexed by four bits that differ for all letters; and a bit for each byte
// of half a block.
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

// unescapeSSSE3 implements unescape.
//
//go:noescape
func unescapeSSSE3(dst, src *byte, blocks int, removals *[256][8]byte, escapeTables *[3][16]byte) (wrote, read int)
