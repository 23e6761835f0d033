//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package atomicfile

// These are 0 on systems without such flags: only the checks before and after opening remain.
const (
	noFollow = 0
	nonBlock = 0
)
