//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package atomicfile

import "io/fs"

// These are 0 on systems without such flags: only the checks before and after opening remain.
const (
	noFollow = 0
	nonBlock = 0
)

// names returns 1: the number of names of a file is not known here.
func names(fs.FileInfo) uint64 { return 1 }
