//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package frontier

// discard is a no-op here; on Linux it returns the pages of b to the system.
func discard([]byte) {}

// adviseHugePages is a no-op here.
func adviseHugePages([]byte) {}
