package frontier

import (
	"syscall"
	"unsafe"
)

// discard tells the system that what b holds is no longer needed. It may begin
// and end anywhere: only whole pages go.
func discard(b []byte) {
	const page = 1 << 16 // or a part of that
	if skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (page - 1)); skip < len(b) {
		if b = b[skip:]; len(b) >= page {
			syscall.Madvise(b[:len(b)&^(page-1)], syscall.MADV_DONTNEED) // if it fails it only costs memory
		}
	}
}

// huge asks the system to back b with pages of 2 MiB. A link is looked up in places
// that have nothing to do with the last one's, and with pages of 4 KiB the processor
// takes as long to find them as to read them. Where there are none nothing changes.
func adviseHugePages(b []byte) { syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
