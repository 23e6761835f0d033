package frontier

import (
	"syscall"
	"unsafe"
)

// discard returns the whole pages within b to the system; their content is lost.
func discard(b []byte) {
	const page = 1 << 16 // a multiple of the page size
	if skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (page - 1)); skip < len(b) {
		if b = b[skip:]; len(b) >= page {
			syscall.Madvise(b[:len(b)&^(page-1)], syscall.MADV_DONTNEED) // if it fails it only costs memory
		}
	}
}

// adviseHugePages asks the system to back b with pages of 2 MiB. Lookups of links are spread
// over the whole index, and with pages of 4 KiB address translation takes as long as the
// reads themselves.
func adviseHugePages(b []byte) { syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
