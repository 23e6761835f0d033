//go:build !purego

package wire

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

// specialsSSE2 fills n masks from n blocks.
//
//go:noescape
func specialsSSE2(masks *uint64, b *byte, n int)

// quoteNearSSE2 looks through n blocks, before which two more bytes stand; it
// returns n*blockSize if there is no such quote.
//
//go:noescape
func quoteNearSSE2(b *byte, n int) int
