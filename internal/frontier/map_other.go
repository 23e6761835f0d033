//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package frontier

// allocate returns n bytes that are zero.
func allocate(n int) []byte { return bytesOf(make([]uint64, (n+7)/8))[:n] }

// freeMemory does nothing: the garbage collector frees the memory.
func freeMemory([]byte) {}

// discard does nothing here; on Linux it returns the pages of b to the system.
func discard([]byte) {}

// adviseHugePages does nothing here.
func adviseHugePages([]byte) {}
