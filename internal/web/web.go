// Package web asks the web and keeps what it said to the byte.
//
// A [Transport] is an http.RoundTripper for the GET requests of a crawler. It
// speaks HTTP/1.1, and HTTP/2 where the server offers it (ALPN), keeps
// connections alive, looks up names once for a while ([Cache]), shows every
// address to a guard before it connects to it, goes through proxies, and ends in
// bounded time and memory whatever the server does. It follows no redirects,
// sends no cookies, decodes no bodies, and reads no environment.
//
// What net/http hides an archive wants: the header as it was spelled, and the
// body with its chunks. [Record] asks for it:
//
//	var tape web.Tape
//	req = req.WithContext(web.Record(ctx, &tape))
//	resp, err := transport.RoundTrip(req)
//	… read resp.Body, close it …
//	tape.Request, tape.Head, tape.Body // are what went over the wire
//
// HTTP/1.1 is spoken here rather than by http.Transport, which reads ahead on
// goroutines of its own: so a tape holds the bytes of its exchange and no others,
// and nothing is kept twice. HTTP/2 is net/http's, over a connection that was
// made here.
package web

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"
)

// Bounds of a [Transport] whose own are 0.
const (
	DefaultMaxHeader   = 256 << 10
	DefaultIdleTimeout = 90 * time.Second
)

// A Transport sends requests. Its fields must not change once it is used. The zero
// value asks whom it is told, without any bound on time.
//
// The host of a request is that of its URL. A request has no body.
type Transport struct {
	// Resolver looks names up; nil means the system's, anew for each connection.
	Resolver Resolver

	// Guard is shown every address before it is connected to, and refuses it with
	// an error, which RoundTrip returns. Nil means that none is refused. Where a
	// proxy resolves names it is shown those addresses only that stand in the URL
	// itself; localhost counts as 127.0.0.1.
	Guard func(netip.AddrPort) error

	// Proxy is asked instead of the servers: http and https (by CONNECT where the
	// server is to be spoken to in secret) and socks5h resolve names themselves,
	// socks5 is given addresses. A user name and password in the URL are shown to
	// it. Where it stands is not for the guard to judge.
	Proxy *url.URL

	// TLS is what secure connections begin with, as roots; nil means the system's.
	TLS *tls.Config

	// Insecure goes on where the certificate of a server cannot be verified, and
	// says so on the tape.
	Insecure bool

	// HTTP1 speaks HTTP/1.1 only.
	HTTP1 bool

	// ConnectTimeout bounds finding and reaching a server, proxies included, and
	// again the TLS handshake. HeaderTimeout bounds the time from the request to
	// the end of the answer's header, interim answers included. Timeout bounds all,
	// to the end of the body. 0 means no bound.
	ConnectTimeout, HeaderTimeout, Timeout time.Duration

	// MaxHeader bounds the header of an answer in bytes, interim answers included;
	// 0 means [DefaultMaxHeader].
	MaxHeader int

	// MaxIdle is how many connections are kept open though they are not in use;
	// MaxIdlePerHost is how many of one host, 0 means 1. They are closed after
	// IdleTimeout, 0 means [DefaultIdleTimeout].
	MaxIdle, MaxIdlePerHost int
	IdleTimeout             time.Duration

	// connect replaces the network in tests.
	connect func(context.Context, netip.AddrPort) (net.Conn, error)

	once    sync.Once
	h2      *http.Transport // makes HTTP/2 connections of TLS connections
	readers sync.Pool       // of *bufio.Reader

	mu    sync.Mutex
	hosts map[string]*host // by scheme and host: what is open or being opened
	idle  list.List        // of *conn that are not in use, the longest first
}

// A Phase is what took too long.
type Phase string

const (
	Connect   Phase = "connection"
	Handshake Phase = "TLS handshake"
	Header    Phase = "header"
	Answer    Phase = "answer"
)

// A TimeoutError says that one of the bounds of a [Transport] was reached.
type TimeoutError struct {
	Phase Phase
	Limit time.Duration
}

func (e *TimeoutError) Error() string {
	return "the " + string(e.Phase) + " took longer than " + e.Limit.String()
}

// Timeout is true, as in net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// Temporary is true, as in net.Error.
func (e *TimeoutError) Temporary() bool { return true }

// A TLSError is a connection that could not be made secure.
type TLSError struct{ Err error }

func (e *TLSError) Error() string { return e.Err.Error() }
func (e *TLSError) Unwrap() error { return e.Err }

// A ProxyError is a proxy that could not be reached, or would not reach the server.
type ProxyError struct {
	Err  error
	Down bool // no server can be asked: it could not be reached, or does not know us
}

func (e *ProxyError) Error() string { return "the proxy: " + e.Err.Error() }
func (e *ProxyError) Unwrap() error { return e.Err }

// Other reasons that there is no answer, or no whole one.
var (
	ErrHeaderSize = errors.New("the header of the answer is too long")
	ErrTapeFull   = errors.New("the answer is longer than the limit of its tape")
	errNoAnswer   = errors.New("the server closed the connection without an answer")
	errSwitched   = errors.New("the server switched to another protocol unasked")
	errProxyLogin = errors.New("it wants another user name and password (status 407)")
	errClosed     = errors.New("the body of the answer was closed")
)

func (t *Transport) init() {
	t.once.Do(func() {
		t.hosts = map[string]*host{}
		t.h2 = t.newHTTP2()
	})
}

// RoundTrip sends a request and returns the answer once its header is there. The
// body must be closed; it is read from the network as the caller reads it.
//
// A request that failed on a connection that had been idle, before any of an answer
// was seen, is sent once more on a new one: the server may have closed the old one in
// the meantime.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.init()
	parent := req.Context()
	ctx, cancel := context.WithCancelCause(parent)
	x := &exchange{t: t, ctx: ctx, cancel: cancel, tape: tapeOf(parent)}
	start := time.Now()
	x.tape.begin(start)
	x.total = x.bound(Answer, t.Timeout)
	resp, err := x.try(req, false)
	if x.stale && ctx.Err() == nil {
		x.tape.begin(start)
		resp, err = x.try(req, true)
	}
	if err != nil {
		return nil, x.end(err)
	}
	return resp, nil
}

// CloseIdleConnections closes the connections that are not in use.
func (t *Transport) CloseIdleConnections() {
	t.init()
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := t.idle.Front(); e != nil; e = t.idle.Front() {
		t.drop(e.Value.(*conn))
	}
}

// An exchange is one request and its answer.
type exchange struct {
	t      *Transport
	ctx    context.Context // ends with the caller's patience, and at every bound
	cancel context.CancelCauseFunc
	tape   *Tape
	total  func() bool // stops the clock
	stale  bool        // the connection had been idle, and gave no sign of an answer
}

// try sends the request, on a new connection if fresh is set.
func (x *exchange) try(req *http.Request, fresh bool) (*http.Response, error) {
	x.stale = false
	if x.ctx.Err() != nil {
		return nil, context.Cause(x.ctx)
	}
	c, reused, err := x.t.take(x.ctx, req, fresh)
	if err != nil {
		return nil, err
	}
	x.tape.IP, x.tape.Protocols, x.tape.Unverified = c.ip, c.protocols, c.unverified
	stop := x.bound(Header, x.t.HeaderTimeout)
	defer stop()
	var resp *http.Response
	var silent bool
	if c.h2 != nil {
		resp, silent, err = c.ask2(x, req)
	} else {
		resp, silent, err = c.ask1(x, req)
	}
	x.stale = err != nil && reused && silent
	return resp, err
}

// bound ends the exchange after a time, unless the clock is stopped before.
func (x *exchange) bound(phase Phase, limit time.Duration) (stop func() bool) {
	if limit <= 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(limit, func() { x.cancel(&TimeoutError{phase, limit}) }).Stop
}

// end ends the exchange because of err and returns the reason for it.
func (x *exchange) end(err error) error {
	if x.ctx.Err() != nil {
		err = context.Cause(x.ctx)
	}
	x.total()
	x.cancel(nil)
	return err
}
