//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package frontier

// discard would tell the system that what b holds is no longer needed.
func discard([]byte) {}

// huge would ask the system to back b with larger pages.
func huge([]byte) {}
