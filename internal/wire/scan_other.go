//go:build !amd64 || purego

package wire

func specials(masks []uint64, b []byte) { specialsGeneric(masks, b) }

func quoteNear(b []byte) int { return quoteNearGeneric(b) }
