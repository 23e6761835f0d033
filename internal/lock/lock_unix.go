//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes the lock of f, for itself or shared with others that only share it.
// It returns [ErrHeld] at once if that cannot be.
func Try(f *os.File, exclusive bool) error { return flock(f, exclusive, syscall.LOCK_NB) }

// Wait takes the exclusive lock of f as soon as nobody else has it.
func Wait(f *os.File) error { return flock(f, true, 0) }

func flock(f *os.File, exclusive bool, how int) error {
	if exclusive {
		how |= syscall.LOCK_EX
	} else {
		how |= syscall.LOCK_SH
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrHeld
		}
		return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
}
