//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package lock

import "os"

// Try does nothing on systems without locks that are released when a process dies.
func Try(*os.File, bool) error { return nil }

// Wait does nothing on systems without locks that are released when a process dies.
func Wait(*os.File) error { return nil }
