//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package frontier

import (
	"fmt"
	"syscall"
)

// allocate returns n bytes that are zero. It panics if there is no memory, as Go's own
// allocator would.
func allocate(n int) []byte {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("frontier: no memory for %d bytes of the index: %v", n, err))
	}
	return b
}

func freeMemory(b []byte) {
	if len(b) > 0 {
		syscall.Munmap(b[:len(b):cap(b)])
	}
}
