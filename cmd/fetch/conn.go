package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"spoor/internal/polite"
)

// connectTimeout bounds the making of a connection, and again its handshake.
const connectTimeout = 10 * time.Second

// A conn keeps what goes over it: net/http hands out bodies without their chunks
// and headers without their spelling, and an archive wants what was received.
type conn struct {
	net.Conn
	mu   sync.Mutex
	tape *tape // of the exchange that is under way
}

// A tape is one exchange as it went over the wire.
type tape struct {
	sent, received []byte
}

// record starts a tape.
func (c *conn) record(t *tape) {
	t.sent, t.received = t.sent[:0], t.received[:0]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tape = t
}

// stop ends the tape: what arrives later is not on it. By then the connection
// may be in use again, with another tape.
func (c *conn) stop(t *tape) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tape == t {
		c.tape = nil
	}
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tape != nil {
		c.tape.received = append(c.tape.received, p[:n]...)
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.tape != nil {
		c.tape.sent = append(c.tape.sent, p...)
	}
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// answer splits what was received into the head of the final response, its
// empty line included, and the body. Interim responses (1xx) are left out.
func (t *tape) answer() (head, body []byte) {
	rest := t.received
	for {
		end := headEnd(rest)
		head, body = rest[:end], rest[end:]
		if _, status, _ := bytes.Cut(head, []byte(" ")); !bytes.HasPrefix(status, []byte("1")) || bytes.HasPrefix(status, []byte("101")) {
			return head, body
		}
		rest = body
	}
}

// headEnd is where the first empty line ends; lines may end in a bare newline.
func headEnd(b []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return len(b)
		}
		line := b[i : i+n]
		i += n + 1
		if len(line) == 0 || len(line) == 1 && line[0] == '\r' {
			return i
		}
	}
}

// A dialer makes connections that are kept on tape.
type dialer struct {
	net net.Dialer
	tls *tls.Config // nil: the system's certificates
}

// newDialer refuses addresses that are not public unless -allow-private is
// given, and those that are not on loopback if strangers must not be asked.
func newDialer(o *options) *dialer {
	return &dialer{net: net.Dialer{
		Timeout: connectTimeout, KeepAlive: 30 * time.Second,
		Control: func(network, address string, raw syscall.RawConn) error {
			// A name such as x.localhost may lead anywhere.
			ap, err := netip.ParseAddrPort(address)
			if o.stranger() != nil && (err != nil || !ap.Addr().Unmap().IsLoopback()) {
				return o.stranger()
			}
			if o.private {
				return nil
			}
			return polite.Guard(network, address, raw)
		},
	}}
}

func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.net.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

func (d *dialer) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	raw, err := d.net.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{}
	if d.tls != nil {
		config = d.tls.Clone()
	}
	config.NextProtos = []string{"http/1.1"}
	if config.ServerName, _, err = net.SplitHostPort(addr); err != nil {
		raw.Close()
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	secure := tls.Client(raw, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, tlsError{err}
	}
	return &conn{Conn: secure}, nil
}
