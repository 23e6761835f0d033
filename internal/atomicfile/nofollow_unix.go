//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile

import "syscall"

const (
	// noFollow makes opening a symbolic link fail.
	noFollow = syscall.O_NOFOLLOW

	// nonBlock makes opening a named pipe return without waiting for its other end.
	nonBlock = syscall.O_NONBLOCK
)
