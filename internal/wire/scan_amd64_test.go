//go:build !purego

package wire

import "testing"

// A processor that leaves bytes out by a mask makes the same of blocks as one that does not.
func TestBlocksAreTheSameWithoutMasks(t *testing.T) {
	if !canCompress {
		t.Skip("this processor has no such masks")
	}
	canCompress = false
	defer func() { canCompress = true }()
	t.Run("escaped", TestBlocksAreEscapedAsBytesAre)
	t.Run("unescaped", TestBlocksAreUnescapedAsBytesAre)
}
