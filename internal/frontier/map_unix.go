//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package frontier

import (
	"os"
	"syscall"
)

// mapFile maps f into memory, where it can be changed without changing the file.
func mapFile(f *os.File) (b []byte, unmap func() error, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() == 0 || int64(int(info.Size())) != info.Size() {
		return nil, nil, errSnapshot
	}
	b, err = syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	return b, func() error { return syscall.Munmap(b) }, nil
}
