//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lock

import (
	"errors"
	"os"
	"syscall"
)

// Try acquires the lock of f, exclusive or shared, or returns [ErrHeld] without waiting.
func Try(f *os.File, exclusive bool) error { return flock(f, exclusive, syscall.LOCK_NB) }

// Wait waits for the exclusive lock of f.
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
