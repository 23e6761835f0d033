//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package frontier

import "os"

// tryLock does nothing where there is no lock that dies with its process.
func tryLock(*os.File, bool) error { return nil }

// syncDir does nothing where directories cannot be synced.
func syncDir(string) error { return nil }
