//go:build !unix

package web

import "net"

// pending tells whether something has come on a connection that has not been read,
// where the system is known to tell.
func pending(net.Conn) bool { return false }
