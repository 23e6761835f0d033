//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile

import "syscall"

// noFollow makes opening a symbolic link fail.
const noFollow = syscall.O_NOFOLLOW
