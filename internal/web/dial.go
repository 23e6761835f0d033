package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/proxy"

	"spoor/internal/weburl"
)

const (
	keepAlive = 30 * time.Second // interval between probes of a silent connection
	minShare  = 2 * time.Second  // minimum time to try one of several addresses

	maxProxyHeader = 16 << 10 // maximum length of the response to CONNECT in bytes
)

// dial connects to the host of u. It offers protocols to TLS servers (ALPN).
func (t *Transport) dial(ctx context.Context, u *url.URL, protocols []string) (*conn, error) {
	name, port := u.Hostname(), cmp.Or(u.Port(), defaultPort(u.Scheme))
	c := &conn{t: t, protocols: []string{"http/1.1"}, proxied: t.forwarded(u.Scheme)}
	err := withTimeout(ctx, Connect, t.ConnectTimeout, func(ctx context.Context) error {
		raw, at, err := t.connectVia(ctx, u.Scheme, name, port)
		c.Conn, c.ip = raw, at
		return err
	})
	if err != nil || u.Scheme != "https" {
		return c, err
	}
	err = withTimeout(ctx, Handshake, t.ConnectTimeout, func(ctx context.Context) error {
		return t.handshake(ctx, c, name, protocols)
	})
	if err != nil {
		c.Conn.Close()
	}
	return c, err
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// forwarded reports whether requests for URLs of the scheme are sent to a proxy that forwards them.
func (t *Transport) forwarded(scheme string) bool {
	return t.Proxy != nil && scheme == "http" && strings.HasPrefix(t.Proxy.Scheme, "http")
}

// withTimeout calls f with a timeout, and returns a [TimeoutError] if f fails because of the timeout.
func withTimeout(ctx context.Context, phase Phase, limit time.Duration, f func(context.Context) error) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, &TimeoutError{phase, limit})
		defer cancel()
	}
	err := f(ctx)
	if err == nil {
		return nil
	}
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		<-ctx.Done() // the connection has the same deadline, and may have failed just before ctx ended
	}
	if ctx.Err() == nil {
		return err
	}
	cause := context.Cause(ctx)
	if p, ok := errors.AsType[*ProxyError](err); ok && p.Down {
		return &ProxyError{cause, true} // connecting to the proxy took too long
	}
	return cause
}

// connectVia connects to a server, directly or through the proxy. It returns the address of
// the server if the proxy does not resolve names.
func (t *Transport) connectVia(ctx context.Context, scheme, name, port string) (net.Conn, netip.Addr, error) {
	if t.Proxy == nil {
		return t.connectTo(ctx, name, port, true, t.connectDirectly)
	}
	target := net.JoinHostPort(name, port)
	if err := t.guardLiteral(name, port); err != nil {
		return nil, netip.Addr{}, err
	}
	switch {
	case t.Proxy.Scheme == "socks5":
		return t.connectTo(ctx, name, port, true, func(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
			return t.socks(ctx, at.String())
		})
	case t.Proxy.Scheme == "socks5h":
		c, err := t.socks(ctx, target)
		return c, netip.Addr{}, err
	case scheme == "http":
		c, err := t.dialProxy(ctx)
		return c, netip.Addr{}, err
	}
	c, err := t.dialProxy(ctx)
	if err != nil {
		return nil, netip.Addr{}, err
	}
	if err := requestTunnel(ctx, c, target, authorization(t.Proxy)); err != nil {
		c.Close()
		return nil, netip.Addr{}, proxyError(err)
	}
	return c, netip.Addr{}, nil
}

// guardLiteral calls the guard if name is localhost, or an IP address in any notation that a
// proxy could accept (0x7f.1, 2130706433, 127.0.0.1.).
func (t *Transport) guardLiteral(name, port string) error {
	if t.Guard == nil {
		return nil
	}
	if u, err := weburl.Parse("http://" + name + "/"); err == nil {
		name = u.Hostname()
	}
	a, err := netip.ParseAddr(name)
	if bare := strings.TrimSuffix(strings.ToLower(name), "."); bare == "localhost" || strings.HasSuffix(bare, ".localhost") {
		a, err = netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil // RFC 6761, section 6.3
	}
	if err != nil {
		return nil
	}
	return t.Guard(addrPort(a, port))
}

func addrPort(a netip.Addr, port string) netip.AddrPort {
	n, _ := strconv.ParseUint(port, 10, 16) // URLs have valid ports
	return netip.AddrPortFrom(a, uint16(n))
}

// connectTo resolves a name, and connects to the first of its addresses that accepts the
// connection and, if isServer is true, that Guard and Admit allow. Each address gets an equal share of the time that is left.
func (t *Transport) connectTo(ctx context.Context, name, port string, isServer bool, connect func(context.Context, netip.AddrPort) (net.Conn, error)) (net.Conn, netip.Addr, error) {
	addrs, err := t.resolve(ctx, name)
	if err != nil {
		return nil, netip.Addr{}, err
	}
	var refused, failed error
	for i, a := range addrs {
		at := addrPort(a, port)
		if isServer && t.Guard != nil {
			if err := t.Guard(at); err != nil {
				refused = cmp.Or(refused, err)
				continue
			}
		}
		if isServer {
			if err := t.admit(ctx, a); err != nil {
				return nil, netip.Addr{}, cmp.Or(failed, err) // the first address is not tried again and again
			}
		}
		shared, cancel := withShare(ctx, len(addrs)-i)
		c, err := connect(shared, at)
		cancel()
		if err == nil {
			return c, a, nil
		}
		failed = cmp.Or(failed, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, netip.Addr{}, cmp.Or(failed, refused)
}

func (t *Transport) admit(ctx context.Context, a netip.Addr) error {
	if t.Admit == nil || !a.IsValid() { // a proxy has resolved the name
		return nil
	}
	return t.Admit(ctx, a)
}

// withShare returns a context with 1/n of the remaining time of ctx, but at least minShare.
func withShare(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok || n == 1 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, max(time.Until(end)/time.Duration(n), minShare))
}

// resolve returns the addresses of a host in the order in which they are tried.
func (t *Transport) resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	if c, ok := t.Resolver.(*Cache); ok {
		return c.LookupNetIP(ctx, "ip", name)
	}
	return lookUp(ctx, t.Resolver, "ip", name)
}

func (t *Transport) connectDirectly(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	if t.connect != nil {
		return t.connect(ctx, at)
	}
	d := net.Dialer{KeepAlive: keepAlive}
	return d.DialContext(ctx, "tcp", at.String())
}

// handshake replaces the connection of c by a TLS connection with the server called name.
func (t *Transport) handshake(ctx context.Context, c *conn, name string, protocols []string) error {
	name = strings.TrimSuffix(name, ".")
	config := t.config(name)
	config.NextProtos = protocols
	if t.Insecure {
		config.InsecureSkipVerify = true
		config.VerifyConnection = func(s tls.ConnectionState) error {
			if err := verify(s, name, config); err != nil {
				c.unverified = err.Error()
			}
			return nil
		}
	}
	secure := tls.Client(c.Conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return &TLSError{err}
	}
	c.Conn = secure
	s := secure.ConnectionState()
	if s.NegotiatedProtocol == "h2" {
		c.protocols[0] = "h2"
		if err := c.startHTTP2(ctx, secure); err != nil {
			return &TLSError{fmt.Errorf("beginning HTTP/2: %w", err)}
		}
	}
	c.protocols = append(c.protocols, tlsVersion(s.Version))
	return nil
}

// config returns the TLS configuration for the server called name.
func (t *Transport) config(name string) *tls.Config {
	config := &tls.Config{}
	if t.TLS != nil {
		config = t.TLS.Clone()
	}
	config.ServerName = name
	return config
}

// verify verifies the certificates of s like crypto/tls does if InsecureSkipVerify is false.
func verify(s tls.ConnectionState, name string, config *tls.Config) error {
	o := x509.VerifyOptions{DNSName: name, Roots: config.RootCAs, Intermediates: x509.NewCertPool()}
	if config.Time != nil {
		o.CurrentTime = config.Time()
	}
	for _, c := range s.PeerCertificates[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(o)
	return err
}

// tlsVersion formats a TLS version for WARC-Protocol: "tls/1.3".
func tlsVersion(v uint16) string {
	return strings.Replace(strings.ToLower(tls.VersionName(v)), " ", "/", 1)
}

// dialProxy connects to the proxy, whose address the guard does not check.
func (t *Transport) dialProxy(ctx context.Context) (net.Conn, error) {
	port := t.Proxy.Port()
	switch {
	case port != "":
	case strings.HasPrefix(t.Proxy.Scheme, "socks"):
		port = "1080"
	default:
		port = defaultPort(t.Proxy.Scheme)
	}
	c, _, err := t.connectTo(ctx, t.Proxy.Hostname(), port, false, t.connectDirectly)
	if err != nil {
		return nil, &ProxyError{err, true}
	}
	if t.Proxy.Scheme != "https" {
		return c, nil
	}
	config := t.config(t.Proxy.Hostname())
	config.NextProtos = []string{"http/1.1"}
	secure := tls.Client(c, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, &ProxyError{err, true}
	}
	return secure, nil
}

// socks connects through a SOCKS proxy of version 5 (RFC 1928).
func (t *Transport) socks(ctx context.Context, target string) (net.Conn, error) {
	var login *proxy.Auth
	if u := t.Proxy.User; u != nil {
		password, _ := u.Password()
		login = &proxy.Auth{User: u.Username(), Password: password}
	}
	d, err := proxy.SOCKS5("tcp", t.Proxy.Host, login, forward{t})
	if err != nil {
		return nil, proxyError(err)
	}
	c, err := d.(proxy.ContextDialer).DialContext(ctx, "tcp", target)
	if err != nil {
		// Package proxy reports a failed login (RFC 1929) only by the text of its error.
		op, ok := errors.AsType[*net.OpError](err)
		if ok && strings.Contains(op.Err.Error(), "authentication") {
			return nil, &ProxyError{err, true}
		}
		return nil, proxyError(err)
	}
	return c, nil
}

func proxyError(err error) error {
	if p, ok := errors.AsType[*ProxyError](err); ok {
		return p
	}
	return &ProxyError{Err: err}
}

// forward is a dialer for package proxy that connects to the proxy.
type forward struct{ t *Transport }

func (f forward) Dial(string, string) (net.Conn, error) { return f.t.dialProxy(context.Background()) }

func (f forward) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	return f.t.dialProxy(ctx)
}

// requestTunnel requests a tunnel to a server from an HTTP proxy (RFC 9110, section 9.3.6).
func requestTunnel(ctx context.Context, c net.Conn, target, login string) error {
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(past) })
	defer stop()
	request := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if login != "" {
		request += "Proxy-Authorization: " + login + "\r\n"
	}
	if _, err := io.WriteString(c, request+"\r\n"); err != nil {
		return err
	}
	in := &conn{Conn: c, tape: new(Tape), left: maxProxyHeader}
	for {
		head, err := in.readHead()
		switch {
		case err != nil:
			return err
		case head.IsInterim():
		case head.StatusCode == http.StatusProxyAuthRequired:
			return &ProxyError{errProxyLogin, true}
		case head.StatusCode < 200 || head.StatusCode >= 300:
			return fmt.Errorf("it answers CONNECT %s with status %d", target, head.StatusCode)
		case in.unread() > 0:
			return errors.New("it sent data before the tunnel was open")
		default:
			return nil
		}
	}
}
