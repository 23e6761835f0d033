//go:build unix

package strategy

import (
	"os"
	"syscall"
)

const mapsFiles = true

// mapFile maps n bytes of a file into memory. The offset is a multiple of the size of a page.
func mapFile(f *os.File, offset int64, n int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), offset, n, syscall.PROT_READ, syscall.MAP_SHARED)
}
