//go:build unix

package archive

import (
	"os"
	"syscall"

	"spoor/internal/atomicfile"
)

// openFile opens a regular file, and fails without waiting if it is another kind of file. On all
// systems it can be renamed and locked while it is open.
func openFile(name string, flag int) (*os.File, error) {
	return atomicfile.OpenFile(name, flag, 0o666)
}

// mapFile maps the first size bytes of a file into memory until release is called.
func mapFile(f *os.File, size int) (data []byte, release func() error, err error) {
	if size == 0 {
		return nil, func() error { return nil }, nil
	}
	data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, &os.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
