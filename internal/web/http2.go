package web

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
)

// Bounds of what an HTTP/2 connection keeps for readers that do not come, in bytes.
const (
	streamBuffer     = 1 << 20
	connectionBuffer = 2 << 20
)

type tlsConnKey struct{}

// newHTTP2 makes HTTP/2 connections of TLS connections that have agreed on it, which
// come in the context.
func (t *Transport) newHTTP2() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	return &http.Transport{
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return ctx.Value(tlsConnKey{}).(*tls.Conn), nil
		},
		Protocols:              protocols,
		DisableCompression:     true,
		MaxResponseHeaderBytes: int64(t.maxHeader()),
		IdleConnTimeout:        t.idleTimeout(),
		HTTP2: &http.HTTP2Config{
			StrictMaxConcurrentRequests:   true,
			MaxReceiveBufferPerStream:     streamBuffer,
			MaxReceiveBufferPerConnection: connectionBuffer,
			WriteByteTimeout:              t.ConnectTimeout,
		},
	}
}

// speak2 has the connection speak HTTP/2.
func (c *conn) speak2(ctx context.Context, secure *tls.Conn) (err error) {
	c.h2, err = c.t.h2.NewClientConn(context.WithValue(ctx, tlsConnKey{}, secure), "https", "host:443")
	return err
}

// streamError is how net/http's error of an HTTP/2 stream can be read.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "stream error" }

const refusedStream = 0x7 // REFUSED_STREAM (RFC 9113, section 7): nothing was done

// ask2 asks over HTTP/2. Silent tells, if it fails, that the connection is no longer of
// use, or that the server says that it did not look at the request.
func (c *conn) ask2(x *exchange, req *http.Request) (resp *http.Response, silent bool, err error) {
	if err := x.tape.request(req, false); err != nil {
		c.t.leave(c, true)
		return nil, false, err
	}
	resp, err = c.h2.RoundTrip(req.WithContext(x.ctx))
	if err != nil {
		stream, ok := errors.AsType[streamError](err)
		refused := ok && stream.Code == refusedStream
		gone := c.h2.Err() != nil
		// Whoever did not answer in time may not answer the next one either.
		c.t.leave(c, !gone && x.ctx.Err() == nil)
		return nil, !ok && gone || refused, err
	}
	x.tape.http2(resp)
	x.tape.expect(resp.ContentLength)
	resp.Body = &body2{body: resp.Body, c: c, x: x}
	return resp, false, nil
}

// body2 is the body of an answer over HTTP/2.
type body2 struct {
	body io.ReadCloser
	c    *conn
	x    *exchange
	err  error // once it is over
}

func (b *body2) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n := b.x.tape.room(len(p))
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
	late := b.x.ctx.Err() != nil
	b.x.tape.finish(len(b.x.tape.received))
	if ended := b.x.end(err); err != io.EOF {
		err = ended
	}
	b.err = err
	b.body.Close() // after the context has ended, so that it does not wait
	b.c.t.leave(b.c, !late)
}
