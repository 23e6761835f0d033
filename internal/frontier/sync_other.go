//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package frontier

// syncDir does nothing where directories cannot be synced; Windows keeps names
// durable itself.
func syncDir(string) error { return nil }
