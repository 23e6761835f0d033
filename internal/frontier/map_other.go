//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package frontier

import (
	"io"
	"os"
)

// mapFile reads f into memory.
func mapFile(f *os.File) (b []byte, unmap func() error, err error) {
	b, err = io.ReadAll(f)
	return b, func() error { return nil }, err
}

// allot returns n bytes that are zero.
func allot(n int) []byte { return bytesOf(make([]uint64, (n+7)/8))[:n] }

// release gives back what allot returned.
func release([]byte) {}

// discard tells that what b holds is no longer needed.
func discard([]byte) {}
