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
	"strconv"
	"strings"
	"sync"
	"time"
)

// The defaults of a [Transport].
const (
	DefaultMaxHeader   = 256 << 10
	DefaultIdleTimeout = 90 * time.Second
)

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
	// request to the end of the response header, interim responses included. Timeout
	// limits the whole exchange, up to the end of the body. 0 means no limit.
	ConnectTimeout, HeaderTimeout, Timeout time.Duration

	// MaxHeader limits the response header in bytes, interim responses included;
	// 0 means [DefaultMaxHeader].
	MaxHeader int

	// MaxIdle limits the number of idle connections, MaxIdlePerHost the number of
	// idle connections to one host; 0 means 1. Connections that have been idle for
	// IdleTimeout are closed; 0 means [DefaultIdleTimeout].
	MaxIdle, MaxIdlePerHost int
	IdleTimeout             time.Duration

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
	return fmt.Sprintf("the answer has the invalid status %.40q", e.Status)
}

// checkStatus checks the status of a response, because net/http accepts any number that it can parse.
// checkStatus accepts 600 to 999: RFC 9110, section 15, calls them invalid, but requires that clients
// treat them like 5xx instead of rejecting the response, and some sites use them (999).
func checkStatus(resp *http.Response) error {
	code, _, _ := strings.Cut(resp.Status, " ")
	if len(code) != 3 || code != strconv.Itoa(resp.StatusCode) || resp.StatusCode < 100 {
		return &StatusError{resp.Status}
	}
	return nil
}

// Other errors of responses that are missing or incomplete.
var (
	ErrHeaderSize = errors.New("the header of the answer is too long")
	ErrTapeFull   = errors.New("the answer is longer than the limit of its tape")
	errNoAnswer   = errors.New("the server closed the connection without an answer")
	errSwitched   = errors.New("the server switched to another protocol without a request")
	errProxyLogin = errors.New("it requires another user name and password (status 407)")
	errClosed     = errors.New("the body of the answer was closed")
	errChunks     = errors.New("a chunk of the answer is malformed")
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
// If a request fails on a reused connection before any byte of a response is received,
// RoundTrip sends it once more on a new connection: the server may have closed the old one. It
// sends a request that the server says it did not process (RFC 9113, section 8.7) up to three times, each
// time on a new connection, and over HTTP/1.1 if the server requires that.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.init()
	parent := req.Context()
	ctx, cancel := context.WithCancelCause(parent)
	x := &exchange{t: t, ctx: ctx, cancel: cancel, tape: tapeOf(parent)}
	start := time.Now()
	x.tape.begin(start)
	x.stop = x.limit(Answer, t.Timeout)
	resp, err := x.try(req, false)
	for n := 1; x.again && n < maxTries && ctx.Err() == nil; n++ {
		x.tape.begin(start)
		resp, err = x.try(req, true)
	}
	if err != nil {
		return nil, x.end(err)
	}
	return resp, nil
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
	again  bool        // the request may be sent again
	http1  bool        // the server requires HTTP/1.1
}

// maxTries limits how often a request is sent that the server does not process.
const maxTries = 3

// try sends the request, on a new connection if fresh is true.
func (x *exchange) try(req *http.Request, fresh bool) (*http.Response, error) {
	x.again = false
	if x.ctx.Err() != nil {
		return nil, context.Cause(x.ctx)
	}
	c, reused, err := x.t.get(x.ctx, req, fresh, x.http1)
	if err != nil {
		return nil, err
	}
	x.tape.IP, x.tape.Protocols, x.tape.Unverified = "", c.protocols, c.unverified
	if c.ip.IsValid() {
		x.tape.IP = c.ip.String()
	}
	stop := x.limit(Header, x.t.HeaderTimeout)
	defer stop()
	var resp *http.Response
	var unanswered bool // no byte of a response was received
	if c.h2 != nil {
		resp, unanswered, err = c.send2(x, req)
	} else {
		resp, unanswered, err = c.send1(x, req)
	}
	if err != nil {
		refused, http1 := refusal(err)
		x.again, x.http1 = refused || reused && unanswered, x.http1 || http1
	}
	return resp, err
}

// limit makes a timer that cancels the exchange after a timeout. stop stops the timer.
func (x *exchange) limit(phase Phase, timeout time.Duration) (stop func() bool) {
	if timeout <= 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(timeout, func() { x.cancel(&TimeoutError{phase, timeout}) }).Stop
}

// end ends the exchange. It returns the cause if the exchange was cancelled, otherwise err.
func (x *exchange) end(err error) error {
	if x.ctx.Err() != nil {
		err = context.Cause(x.ctx)
	}
	x.stop()
	x.cancel(nil)
	return err
}
