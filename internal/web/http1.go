package web

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"spoor/internal/message"
)

// readBuffer is the initial size of a tape.
const readBuffer = 64 << 10

// past is a deadline that interrupts reads and writes.
var past = time.Unix(1, 0)

// send1 sends a request over HTTP/1.1 (RFC 9112). If it fails, unanswered reports whether
// no byte of a response was received.
func (c *conn) send1(x *exchange, req *http.Request) (resp *http.Response, unanswered bool, err error) {
	c.tape, c.left, c.consumed, c.got, c.failed = x.tape, maxHeader, 0, false, nil
	stop := context.AfterFunc(x.ctx, func() { c.SetDeadline(past) })
	fail := func(err error) (*http.Response, bool, error) {
		stop()
		c.close()
		return nil, !c.got, err
	}
	if err := c.tape.request(req, c.proxied); err != nil {
		return fail(err)
	}
	if _, err := c.Conn.Write(c.withAuthorization(c.tape.Request)); err != nil {
		return fail(err)
	}
	var head message.Head
	for head.StatusCode == 0 || head.IsInterim() {
		if head, err = c.readHead(); err != nil {
			return fail(err)
		}
	}
	framing, err := head.Framing()
	switch {
	case head.StatusCode == http.StatusSwitchingProtocols:
		return fail(errSwitched)
	case c.proxied && head.StatusCode == http.StatusProxyAuthRequired:
		return fail(&ProxyError{errProxyLogin, true})
	case err != nil:
		return fail(err)
	}
	c.left = math.MaxInt64
	c.tape.body = c.consumed
	if c.tape.off {
		c.tape.received, c.consumed = c.tape.received[c.consumed:], 0
	}
	if head.Proto == "HTTP/1.0" {
		c.tape.Protocols = append([]string{"http/1.0"}, c.protocols[1:]...)
	}
	c.tape.expect(framing.Length - int64(c.unread()))
	b := &body1{c: c, x: x, stop: stop, framing: framing}
	if b.isRead() {
		b.end(io.EOF)
	}
	return &http.Response{
		Status: fmt.Sprintf("%03d %s", head.StatusCode, head.Reason), StatusCode: head.StatusCode, Proto: head.Proto, Header: head.Header,
		ContentLength: framing.Length, Body: b, Request: req,
	}, false, nil
}

// readHead reads the head of a response, which may be an interim one.
func (c *conn) readHead() (head message.Head, err error) {
	c.tape.head = c.consumed
	for searched := 0; ; {
		b := c.tape.received[c.tape.head:]
		n, err := message.Scan(b, searched)
		if err != nil {
			return head, err
		}
		if n > 0 {
			c.consumed += n
			c.tape.head += n - len(message.TrimLeading(b[:n]))
			if head, _ = message.Parse(b[:n]); head.StatusCode == 0 || head.Proto == "HTTP/0.9" {
				_, status, _ := strings.Cut(string(message.StatusLine(b[:n])), " ")
				return head, &StatusError{strings.TrimSpace(status)}
			}
			return head, nil
		}
		searched = len(b)
		if !c.receive() {
			return head, c.headError()
		}
	}
}

// headError returns why the head of a response is missing or incomplete.
func (c *conn) headError() error {
	switch {
	case c.failed != io.EOF:
		return c.failed
	case c.got:
		return io.ErrUnexpectedEOF
	}
	return errNoAnswer
}

// receive reads from the network onto the tape. It reports whether something was received;
// otherwise c.failed is the reason.
func (c *conn) receive() bool {
	if c.failed != nil {
		return false
	}
	if c.tape.off && c.tape.body > 0 {
		c.tape.received, c.consumed = c.tape.received[:0], 0
	}
	allowed := c.tape.allowed(int(min(c.left, math.MaxInt32)))
	switch {
	case c.left == 0:
		c.failed = ErrHeaderSize
		return false
	case allowed == 0:
		c.failed = ErrTapeFull
		return false
	}
	n := 0
	for n == 0 && c.failed == nil {
		n, c.failed = c.Conn.Read(c.tape.grow(allowed))
	}
	c.got = c.got || n > 0
	c.left -= int64(n)
	c.tape.received = c.tape.received[:len(c.tape.received)+n]
	return n > 0
}

// unread returns the number of received bytes that were not parsed.
func (c *conn) unread() int { return len(c.tape.received) - c.consumed }

// A body1 is the body of a response over HTTP/1.1.
type body1 struct {
	c       *conn
	x       *exchange
	stop    func() bool // stops interrupting the connection when the exchange is cancelled
	framing message.Framing
	chunks  message.Chunks
	content []byte // content that was parsed, but not returned
	whole   bool   // nothing is missing, although the input has ended
	err     error  // set when the body has ended
}

func (b *body1) Read(p []byte) (n int, err error) {
	c := b.c
	for n == 0 && b.err == nil && len(p) > 0 {
		if n = copy(p, b.content); n > 0 {
			b.content = b.content[n:]
			break
		}
		if c.unread() == 0 && !c.receive() {
			if b.framing.Chunked {
				b.content, b.whole = b.chunks.Close()
			}
			if len(b.content) == 0 {
				b.end(b.endOfInput())
			}
			continue
		}
		// The tape must not end after what the caller has read.
		unread := c.tape.received[c.consumed:]
		unread = unread[:min(len(unread), len(p))]
		if b.framing.Chunked {
			var read int
			b.content, read = b.chunks.Next(unread)
			c.consumed += read
			switch broken, first := b.chunks.Malformed(); {
			case broken && first:
				b.framing.Last = true // the body ends when the connection closes
			case broken:
				b.end(errChunks)
			}
			n = copy(p, b.content)
			b.content = b.content[n:]
		} else {
			if b.framing.Length >= 0 {
				unread = unread[:min(int64(len(unread)), b.framing.Length)]
				b.framing.Length -= int64(len(unread))
			}
			n = copy(p, unread)
			c.consumed += n
		}
		if b.isRead() && b.err == nil {
			b.end(io.EOF)
		}
	}
	return n, b.err
}

func (b *body1) isRead() bool { return b.framing.Length == 0 || b.framing.Chunked && b.chunks.Ended() }

// endOfInput returns the error for a body after which nothing is received.
func (b *body1) endOfInput() error {
	if b.c.failed != io.EOF {
		return b.c.failed
	}
	broken, _ := b.chunks.Malformed()
	if b.framing.Chunked && (!b.whole || broken && !b.framing.Maybe) || b.framing.Length > 0 {
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}

func (b *body1) Close() error {
	if b.err == nil {
		b.end(errClosed)
	}
	return nil
}

// end ends the exchange. It keeps the connection for another request if the response was read
// to its end and no byte follows the response.
func (b *body1) end(err error) {
	c := b.c
	c.tape.finish(c.consumed)
	if b.stop() && err == io.EOF && !b.framing.Last && c.failed == nil && c.unread() == 0 {
		c.tape = nil
		c.t.mu.Lock()
		c.t.putIdle(c)
		c.t.mu.Unlock()
	} else {
		c.close()
	}
	if ended := b.x.end(err); err != io.EOF {
		err = ended
	}
	b.err = err
}

// withAbsoluteURL returns a request for which WriteProxy writes the absolute URL. An opaque URL
// is used for an address that net/url cannot represent otherwise. For such a URL WriteProxy writes
// the host only if Opaque begins with "//" and the host.
func withAbsoluteURL(req *http.Request) *http.Request {
	if req.URL.Opaque == "" || strings.HasPrefix(req.URL.Opaque, "//") {
		return req
	}
	u := *req.URL
	u.Opaque = "//" + u.Host + u.Opaque
	r := *req
	r.URL = &u
	return &r
}

// withAuthorization returns the bytes to send for a request. It adds the user name and password
// for a proxy, which are not recorded.
func (c *conn) withAuthorization(request []byte) []byte {
	login := ""
	if c.proxied {
		login = authorization(c.t.Proxy)
	}
	if login == "" {
		return request
	}
	all := append([]byte(nil), request[:len(request)-len("\r\n")]...)
	return append(all, "Proxy-Authorization: "+login+"\r\n\r\n"...)
}

// authorization returns the value of Proxy-Authorization (RFC 7617), or "" if the URL of the
// proxy has no user name.
func authorization(proxy *url.URL) string {
	if proxy == nil || proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password))
}
