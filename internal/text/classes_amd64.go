//go:build !purego

package text

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// canMask tells whether this processor can do classesAVX512.
var canMask = cpu.X86.HasBMI2 && cpu.X86.HasAVX512BW

// classes is classesGeneric.
func classes(s string, i int) (words, wide uint64) {
	if !canMask {
		return classesGeneric(s, i)
	}
	rest := s[i:]
	return classesAVX512(unsafe.StringData(rest), min(len(rest), block))
}

// classesAVX512 is classesGeneric of n bytes, at most a block.
//
//go:noescape
func classesAVX512(s *byte, n int) (words, wide uint64)
