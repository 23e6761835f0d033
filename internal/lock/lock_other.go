//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package lock

import "os"

// Try does nothing where there is no lock that dies with its process.
func Try(*os.File, bool) error { return nil }

// Wait does nothing where there is no lock that dies with its process.
func Wait(*os.File) error { return nil }
