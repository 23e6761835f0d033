package frontier

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/lock"
)

// This file implements the lock of a store: one process writes, or several read. The system
// releases it when the process dies. A waiting process holds the shared lock of a second file,
// which is created when a process first checks for waiting processes.

const (
	lockName    = "lock"
	waitingName = "waiting"
)

// A Locked is returned when another process held the lock for longer than Options.Wait.
type Locked struct {
	Dir    string
	Holder string // Options.Holder of the other process; empty if that process only reads
}

func (e *Locked) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "another process"
	}
	return fmt.Sprintf("%s is in use by %s\nhint: wait for that process to end; only one process at a time can write to a store", e.Dir, holder)
}

// acquire acquires the lock of dir, which is held until the returned file is closed. It waits
// for at most o.Wait. The file is nil if no lock is needed.
func acquire(dir string, o Options) (*os.File, error) {
	name := filepath.Join(dir, lockName)
	mode := os.O_RDWR | os.O_CREATE
	if o.ReadOnly {
		mode = os.O_RDONLY
	}
	f, err := atomicfile.OpenFile(name, mode, 0o666)
	if o.ReadOnly && errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a copy of a store that was never written to
	}
	if err != nil {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			err = fmt.Errorf("%w\nhint: add, next and check must be able to write to %s; stats, export and lineage only read", err, dir)
		}
		return nil, fmt.Errorf("locking the store: %w", err)
	}
	var waiting *os.File
	defer func() { waiting.Close() }() // nil has nothing to close
	for end := time.Now().Add(o.Wait); ; time.Sleep(5 * time.Millisecond) {
		err = lock.ErrHeld
		if !o.Yield || !hasWaiters(dir) {
			err = lock.Try(f, !o.ReadOnly)
		}
		if !errors.Is(err, lock.ErrHeld) {
			break
		}
		if waiting == nil && !o.Yield {
			waiting = announceWaiting(dir)
		}
		if !time.Now().Before(end) {
			b, _ := io.ReadAll(io.LimitReader(f, 200))
			err = &Locked{dir, strings.TrimSpace(string(b))}
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if !o.ReadOnly && f.Truncate(0) == nil && o.Holder != "" {
		f.WriteAt([]byte(o.Holder+"\n"), 0) // errors are ignored: Holder only improves an error message
	}
	return f, nil
}

// announceWaiting announces that this process waits for the lock of dir, until the returned
// file is closed. It returns nil if no process has checked for waiting processes yet, or if a
// process is checking now.
func announceWaiting(dir string) *os.File {
	f, err := atomicfile.OpenFile(filepath.Join(dir, waitingName), os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	if lock.Try(f, false) != nil {
		f.Close()
		return nil
	}
	return f
}

// IsAwaited reports whether another process waits for the lock of the store in dir.
func IsAwaited(dir string) bool { return hasWaiters(dir) }

// hasWaiters reports whether a process waits for the lock of dir. Processes with Options.Yield are
// not included.
func hasWaiters(dir string) bool {
	f, err := atomicfile.OpenFile(filepath.Join(dir, waitingName), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(lock.Try(f, true), lock.ErrHeld)
}
