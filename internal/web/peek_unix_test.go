//go:build unix

package web

import (
	"io"
	"net"
	"runtime"
	"testing"
)

func TestPending(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, c := range map[string]struct {
		do   func(net.Conn)
		want bool
	}{
		"nothing": {func(net.Conn) {}, false},
		"a byte":  {func(c net.Conn) { io.WriteString(c, "x") }, true},
		"EOF":     {func(c net.Conn) { c.Close() }, true},
	} {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c.do(server)
		for c.want && !pending(client) { // until it has arrived
			runtime.Gosched()
		}
		if pending(client) != c.want {
			t.Errorf("%s: pending = %v", name, !c.want)
		}
		server.Close()
		client.Close()
	}
	if a, _ := net.Pipe(); pending(a) {
		t.Error("pending = true for a pipe, where it is not implemented")
	}
}
