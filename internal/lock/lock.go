// Package lock is the lock of an open file. It is advisory but for Windows, where
// the byte that is locked lies where no data ever is; the system drops it when the
// file is closed or the process dies, however that happens.
package lock

import "errors"

// ErrHeld says that somebody else has the lock.
var ErrHeld = errors.New("locked by another process")
