//go:build !amd64 || purego

package wire

func specials(masks []uint64, b []byte) { specialsGeneric(masks, b) }

func textEnd(b []byte, i int) (end int, ascii bool) { return textEndGeneric(b, i) }

const canEscape = false

func escape([]byte, []byte, int) (wrote, read int) {
	panic("wire: escape without the instructions for it")
}

func unescape([]byte, []byte, int) (wrote, read int) {
	panic("wire: unescape without the instructions for it")
}

func quoteNear(b []byte) int { return quoteNearGeneric(b) }

func validBlocks([]byte) int { return 0 }
