//go:build unix

package web

import (
	"crypto/tls"
	"net"
	"syscall"
)

// pending reports whether a connection has unread input or EOF. A read would not always
// show this: after its deadline, it does not check the socket.
func pending(c net.Conn) (yes bool) {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	socket, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK)
		yes = err != syscall.EAGAIN && err != syscall.EINTR
		return true // do not wait
	})
	return yes || err != nil
}
