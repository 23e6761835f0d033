// Package web sends HTTP requests and records every byte that is sent and received.
//
// A [Transport] is an http.RoundTripper for the GET requests of a crawler. It
// uses HTTP/1.1, or HTTP/2 where the server offers it (ALPN), keeps connections
// alive, caches DNS answers ([Cache]), passes every address to a guard before it
// connects, supports proxies, and limits the time and memory that any server can
// make it use. It does not follow redirects, send cookies, decode bodies, or
// read the environment.
//
// An archive needs what net/http does not expose: the bytes of the header, and
// the body with its chunk framing. [Record] puts them on a tape:
//
//	var tape web.Tape
//	req = req.WithContext(web.Record(ctx, &tape))
//	resp, err := transport.RoundTrip(req)
//	… read resp.Body, close it …
//	tape.Request, tape.Head, tape.Body // hold the bytes on the wire
//
// This package implements HTTP/1.1 itself, because http.Transport reads ahead on its
// own goroutines: its bytes would have to be copied to separate one exchange from the
// next. For HTTP/2 it uses net/http, on connections that this package opens.
package web

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	maxHeader   = 256 << 10        // bytes of a response header, interim responses included
	idleTimeout = 90 * time.Second // an idle connection is closed after this time
)

// maxSent is how often a request is sent at most, each time on another connection.
const maxSent = 3

// A Transport sends requests. Its fields must not change after the first request. The
// zero value connects to any address and has no timeouts.
//
// It sends a request to the host of the URL. Requests must not have a body.
type Transport struct {
	// Resolver resolves names; nil means the system's resolver, without a cache.
	Resolver Resolver

	// Guard is called with every address before connecting to it. If Guard returns
	// an error, the address is not used; RoundTrip returns the error if no other
	// address can be used. Nil allows every address. If a proxy resolves names, Guard is
	// only called for IP addresses in URLs, and with 127.0.0.1 for localhost.
	Guard func(netip.AddrPort) error

	// Admit is called with the address of a server before connecting to it, and before a request is
	// sent on an open connection, with the context of the request. RoundTrip returns its error. It must
	// not block. Nil admits every request. It is not called if a proxy resolves names.
	Admit func(context.Context, netip.Addr) error

	// Proxy is the URL of the proxy to use. A proxy with the scheme http, https (both
	// use CONNECT for https requests) or socks5h resolves the names of servers; a socks5
	// proxy receives addresses. A user name and password in the URL are sent to the
	// proxy. Guard is not called with the address of the proxy.
	Proxy *url.URL

	// TLS is the base configuration of TLS connections, such as the root certificates; nil
	// means the system's.
	TLS *tls.Config

	// Insecure accepts servers whose certificate cannot be verified; Tape.Unverified holds the reason.
	Insecure bool

	// HTTP1 disables HTTP/2.
	HTTP1 bool

	// ConnectTimeout limits the time to resolve and connect, proxies included; the
	// TLS handshake has the same limit again. HeaderTimeout limits the time from the
	// request to the end of the response header, interim responses included, and other
	// connections if the request is sent again. Timeout limits the whole exchange, up to
	// the end of the body. 0 means no limit.
	ConnectTimeout, HeaderTimeout, Timeout time.Duration

	// MaxIdle limits the number of idle connections, MaxIdlePerHost the number of
	// idle connections to one host; 0 means 1. Connections that are idle for 90 s are closed.
	MaxIdle, MaxIdlePerHost int

	// connect replaces the network in tests.
	connect func(context.Context, netip.AddrPort) (net.Conn, error)

	once sync.Once
	h2   *http.Transport // makes HTTP/2 connections from TLS connections

	mu    sync.Mutex
	hosts map[string]*host // hosts that have connections, by scheme and host
	idle  list.List        // of *conn, the longest idle first
}

// A Phase is the part of an exchange that a timeout limits.
type Phase string

const (
	Connect   Phase = "connection"
	Handshake Phase = "TLS handshake"
	Header    Phase = "header"
	Answer    Phase = "answer"
)

// A TimeoutError is returned when one of the timeouts of a [Transport] has passed.
type TimeoutError struct {
	Phase Phase
	Limit time.Duration
}

func (e *TimeoutError) Error() string {
	return "the " + string(e.Phase) + " took longer than " + e.Limit.String()
}

// Timeout implements net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// Temporary implements net.Error.
func (e *TimeoutError) Temporary() bool { return true }

// A TLSError is returned when the TLS handshake fails.
type TLSError struct{ Err error }

func (e *TLSError) Error() string { return e.Err.Error() }
func (e *TLSError) Unwrap() error { return e.Err }

// A ProxyError is returned when the proxy cannot be reached, or cannot reach the server.
type ProxyError struct {
	Err  error
	Down bool // the proxy itself is unusable: it cannot be reached, or rejects the password
}

func (e *ProxyError) Error() string { return "the proxy: " + e.Err.Error() }
func (e *ProxyError) Unwrap() error { return e.Err }

// A StatusError is returned for a response whose status is not a number of three digits that
// is at least 100.
type StatusError struct{ Status string }

func (e *StatusError) Error() string {
	return fmt.Sprintf("the response has the invalid status %.40q", e.Status)
}

// checkStatus checks the status of a response, because net/http accepts any number that it can parse.
// checkStatus accepts 600 to 999: RFC 9110, section 15, calls them invalid, but requires that clients
// treat them like 5xx instead of rejecting the response, and some sites use them (999).
func checkStatus(resp *http.Response) error {
	code, _, _ := strings.Cut(resp.Status, " ")
	if len(code) != 3 || resp.StatusCode < 100 {
		return &StatusError{resp.Status}
	}
	return nil
}

// Other errors of responses that are missing or incomplete.
var (
	ErrHeaderSize = errors.New("the header of the response is too long")
	ErrTapeFull   = errors.New("the response is longer than the limit of its tape")
	errNoAnswer   = errors.New("the server closed the connection without a response")
	errSwitched   = errors.New("the server switched to another protocol without a request")
	errProxyLogin = errors.New("it requires another user name and password (status 407)")
	errClosed     = errors.New("the body of the response was closed")
	errChunks     = errors.New("a chunk of the response is malformed")
)

func (t *Transport) init() {
	t.once.Do(func() {
		t.hosts = map[string]*host{}
		t.h2 = t.newHTTP2()
	})
}

// RoundTrip sends a request and returns the response when its header has been received.
// The caller must close the body, which is read from the network as the caller reads it.
//
// RoundTrip sends a request again, on a new connection, if the server has not processed it: an
// HTTP/2 server says so (RFC 9113, section 8.7), or a reused connection fails before any byte of a
// response is received, because the server may have closed it. If the server requires HTTP/1.1
// (HTTP_1_1_REQUIRED), RoundTrip uses that, also for later requests to the host, as long as
// connections to the host are open. It returns the error of the third connection.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.init()
	parent := req.Context()
	ctx, cancel := context.WithCancelCause(parent)
	x := &exchange{t: t, ctx: ctx, cancel: cancel, tape: tapeOf(parent), stopHeader: noTimer}
	x.tape.begin(time.Now())
	x.stop = x.limit(Answer, t.Timeout)
	resp, err := x.try(req)
	for x.unprocessed && x.sent < maxSent && ctx.Err() == nil {
		resp, err = x.try(req)
	}
	x.stopHeader()
	switch {
	case err == nil:
		return resp, nil
	case x.unprocessed:
		err = fmt.Errorf("the server did not process the request on any of %d connections: %w", x.sent, err)
	}
	return nil, x.end(err)
}

// CloseIdleConnections closes all idle connections.
func (t *Transport) CloseIdleConnections() {
	t.init()
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := t.idle.Front(); e != nil; e = t.idle.Front() {
		t.closeIdle(e.Value.(*conn))
	}
}

// An exchange is one request and its response.
type exchange struct {
	t      *Transport
	ctx    context.Context // ends with the request's context, or at a timeout
	cancel context.CancelCauseFunc
	tape   *Tape
	stop   func() bool // stops the timer of Timeout

	stopHeader  func() bool // stops the timer of HeaderTimeout
	sent        int         // connections on which the request was sent
	reused      bool        // the last of them was open before
	unprocessed bool        // the server has not processed the request; it can be sent again
	http1       bool        // the server requires HTTP/1.1
}

// try sends the request, the first time on an open connection if there is one.
func (x *exchange) try(req *http.Request) (resp *http.Response, err error) {
	x.unprocessed = false
	if x.ctx.Err() != nil {
		return nil, context.Cause(x.ctx)
	}
	c, err := x.t.get(x, req)
	if err != nil {
		return nil, err
	}
	x.tape.begin(x.tape.Start)
	x.tape.IP, x.tape.Protocols, x.tape.Unverified = "", c.protocols, c.unverified
	if c.ip.IsValid() {
		x.tape.IP = c.ip.String()
	}
	if x.sent++; x.sent == 1 {
		x.stopHeader = x.limit(Header, x.t.HeaderTimeout)
	}
	if c.h2 != nil {
		resp, x.unprocessed, err = c.send2(x, req)
		return resp, err
	}
	resp, unanswered, err := c.send1(x, req)
	x.unprocessed = err != nil && x.reused && unanswered
	return resp, err
}

// limit makes a timer that cancels the exchange after a timeout. stop stops the timer.
func (x *exchange) limit(phase Phase, timeout time.Duration) (stop func() bool) {
	if timeout <= 0 {
		return noTimer
	}
	return time.AfterFunc(timeout, func() { x.cancel(&TimeoutError{phase, timeout}) }).Stop
}

// noTimer stops nothing.
func noTimer() bool { return true }

// end ends the exchange. It returns the cause if the exchange was cancelled, otherwise err.
func (x *exchange) end(err error) error {
	if x.ctx.Err() != nil {
		err = context.Cause(x.ctx)
	}
	x.stop()
	x.cancel(nil)
	return err
}
