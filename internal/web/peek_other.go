//go:build !unix

package web

import "net"

// pending reports whether a connection has unread input, on systems where that is
// implemented.
func pending(net.Conn) bool { return false }
