//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile

import (
	"io/fs"
	"syscall"
)

const (
	// noFollow makes opening a symbolic link fail.
	noFollow = syscall.O_NOFOLLOW

	// nonBlock makes opening a named pipe return without waiting for its other end.
	nonBlock = syscall.O_NONBLOCK
)

// names returns the number of names of a file.
func names(info fs.FileInfo) uint64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(stat.Nlink) // the type depends on the system
}
