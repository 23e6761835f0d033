//go:build !linux

package wire

import "os"

// GrowPipe does nothing: this system does not let programs set the buffer of a pipe.
func GrowPipe(*os.File) {}
