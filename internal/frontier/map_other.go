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
