//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package atomicfile

// noFollow is 0 on systems without such a flag: only the check before opening remains.
const noFollow = 0
