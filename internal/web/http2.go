package web

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
)

// Limits of the bytes that an HTTP/2 connection buffers for slow readers.
const (
	streamBuffer     = 1 << 20
	connectionBuffer = 2 << 20
)

type tlsConnKey struct{}

// newHTTP2 returns a transport that turns a TLS connection into an HTTP/2 connection. The TLS
// connection, which has negotiated HTTP/2, is passed in the context.
func (t *Transport) newHTTP2() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	return &http.Transport{
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return ctx.Value(tlsConnKey{}).(*tls.Conn), nil
		},
		Protocols:              protocols,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		IdleConnTimeout:        idleTimeout,
		HTTP2: &http.HTTP2Config{
			StrictMaxConcurrentRequests:   true,
			MaxReceiveBufferPerStream:     streamBuffer,
			MaxReceiveBufferPerConnection: connectionBuffer,
			WriteByteTimeout:              t.ConnectTimeout,
		},
	}
}

// startHTTP2 starts HTTP/2 on the connection.
func (c *conn) startHTTP2(ctx context.Context, secure *tls.Conn) (err error) {
	c.h2, err = c.t.h2.NewClientConn(context.WithValue(ctx, tlsConnKey{}, secure), "https", "host:443")
	return err
}

// A streamError is a copy of the unexported HTTP/2 stream error of net/http. errors.As can fill
// it, because that error copies itself to any type with the same field names.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "stream error" }

// Error codes of HTTP/2 (RFC 9113, section 7).
const (
	refusedStream = 0x7 // REFUSED_STREAM: the request was not processed
	http1Required = 0xd // HTTP_1_1_REQUIRED
)

// refusal reports whether the error of a request over HTTP/2 says that the request was not
// processed, and whether the server requires HTTP/1.1. Errors that are not of a stream can only be
// recognised by their text. net/http aborts the streams that GOAWAY excludes; later requests find
// the connection not usable. If the connection ends after GOAWAY, the text has the error code, and
// then what the server says.
func refusal(err error) (unprocessed, http1 bool) {
	if stream, ok := errors.AsType[streamError](err); ok {
		http1 = stream.Code == http1Required
		return http1 || stream.Code == refusedStream, http1
	}
	text, _, _ := strings.Cut(err.Error(), ", debug=")
	http1 = strings.Contains(text, "GOAWAY") && strings.HasSuffix(text, "HTTP_1_1_REQUIRED")
	// A server that says ENHANCE_YOUR_CALM must not get the request again at once.
	excluded := strings.HasPrefix(text, "http2: Transport received ") && strings.Contains(text, "GOAWAY") && !strings.HasSuffix(text, "ENHANCE_YOUR_CALM")
	return http1 || excluded || text == "http2: client conn not usable", http1
}

// connectionFields must not occur over HTTP/2 (RFC 9113, section 8.2.2). They would change the
// meaning of the body, which HTTP/2 frames itself.
var connectionFields = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade"}

// send2 sends a request over HTTP/2. If it fails, unprocessed reports whether the server did not
// process the request: it says so, or it closed a reused connection.
func (c *conn) send2(x *exchange, req *http.Request) (resp *http.Response, unprocessed bool, err error) {
	if err := x.tape.request(req, false); err != nil {
		c.t.release2(c, true)
		return nil, false, err
	}
	resp, err = c.h2.RoundTrip(req.WithContext(x.ctx))
	if err != nil {
		_, reset := errors.AsType[streamError](err)
		gone := c.h2.Err() != nil
		unprocessed, x.http1 = refusal(err)
		// After a timeout the connection may not answer the next request either.
		c.t.release2(c, !unprocessed && !gone && x.ctx.Err() == nil)
		return nil, unprocessed || x.reused && gone && !reset, err
	}
	if err := checkStatus(resp); err != nil {
		x.cancel(err) // otherwise Close could block
		resp.Body.Close()
		c.t.release2(c, false)
		return nil, false, err
	}
	for _, name := range connectionFields {
		delete(resp.Header, name)
	}
	x.tape.http2(resp)
	x.tape.expect(resp.ContentLength)
	resp.Body = &body2{body: resp.Body, c: c, x: x}
	return resp, false, nil
}

// A body2 is the body of a response over HTTP/2.
type body2 struct {
	body io.ReadCloser
	c    *conn
	x    *exchange
	err  error // set when the body has ended
}

func (b *body2) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n := b.x.tape.allowed(len(p))
	if n == 0 && len(p) > 0 {
		b.end(ErrTapeFull)
		return 0, b.err
	}
	n, err := b.body.Read(p[:n])
	b.x.tape.add(p[:n])
	if err != nil {
		b.end(err)
	}
	return n, b.err
}

func (b *body2) Close() error {
	if b.err == nil {
		b.end(errClosed)
	}
	return nil
}

func (b *body2) end(err error) {
	cancelled := b.x.ctx.Err() != nil
	b.x.tape.finish(len(b.x.tape.received))
	if ended := b.x.end(err); err != io.EOF {
		err = ended
	}
	b.err = err
	b.body.Close() // does not block once the context has ended
	b.c.t.release2(b.c, !cancelled)
}
