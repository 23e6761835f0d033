package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Try acquires the lock of f, exclusive or shared, or returns [ErrHeld] without waiting.
func Try(f *os.File, exclusive bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	return lockFile(f, flags)
}

// Wait waits for the exclusive lock of f.
func Wait(f *os.File) error { return lockFile(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

func lockFile(f *os.File, flags uint32) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &at)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return ErrHeld
	}
	return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
}
