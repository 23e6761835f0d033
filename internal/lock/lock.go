// Package lock locks open files. The system releases a lock when the file is closed or the
// process dies. Locks are advisory; on Windows the locked byte lies beyond the end of any file.
package lock

import "errors"

// ErrHeld is returned when another process holds the lock.
var ErrHeld = errors.New("locked by another process")
