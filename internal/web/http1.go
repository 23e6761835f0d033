package web

import (
	"bufio"
	"context"
	"encoding/base64"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	readBuffer = 64 << 10 // initial size of a tape
	lineBuffer = 4 << 10  // size of the buffer from which header lines are parsed
)

// past is a deadline that interrupts reads and writes.
var past = time.Unix(1, 0)

// send1 sends a request over HTTP/1.1 (RFC 9112). If it fails, unanswered reports whether
// no byte of a response was received.
func (c *conn) send1(x *exchange, req *http.Request) (resp *http.Response, unanswered bool, err error) {
	c.tape, c.left, c.consumed, c.got, c.failed = x.tape, int64(c.t.maxHeader()), 0, false, nil
	c.br = c.t.reader(c)
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
	for {
		c.tape.head = len(c.tape.received) - c.unread()
		resp, err = http.ReadResponse(c.br, req)
		if err == nil {
			err = checkStatus(resp)
		}
		switch {
		case err != nil:
			return fail(c.responseError(err))
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return fail(errSwitched)
		case c.proxied && resp.StatusCode == http.StatusProxyAuthRequired:
			return fail(&ProxyError{errProxyLogin, true})
		}
		if resp.StatusCode >= 200 {
			break // skip interim responses, which have no body
		}
	}
	trimNames(resp.Header)
	c.left = math.MaxInt64
	c.tape.body = len(c.tape.received) - c.unread()
	if !resp.ProtoAtLeast(1, 1) {
		c.tape.Protocols = append([]string{"http/1.0"}, c.protocols[1:]...)
	}
	c.tape.expect(resp.ContentLength - int64(c.unread()))
	b := &body1{body: resp.Body, c: c, x: x, stop: stop, last: resp.Close}
	if resp.Body == http.NoBody {
		b.end(io.EOF)
	}
	resp.Body = b
	return resp, false, nil
}

// trimNames removes trailing spaces from field names, as browsers and archives do (RFC
// 9112, section 5.1); net/http keeps them, and does not find such fields.
func trimNames(h http.Header) {
	var padded []string
	for name := range h {
		if strings.HasSuffix(name, " ") {
			padded = append(padded, name)
		}
	}
	slices.Sort(padded)
	for _, name := range padded {
		for _, value := range h[name] {
			h.Add(strings.TrimRight(name, " "), value)
		}
		delete(h, name)
	}
}

// responseError returns why there is no response: the error of the network if there is one,
// otherwise err. After a network error, err only says that the response is incomplete.
func (c *conn) responseError(err error) error {
	switch {
	case c.failed == nil:
		return err
	case c.failed != io.EOF:
		return c.failed
	case c.got:
		return io.ErrUnexpectedEOF
	}
	return errNoAnswer
}

// Read returns bytes of the tape that the response parser has not read yet. If there are none, Read
// first reads from the network onto the tape.
func (c *conn) Read(p []byte) (n int, err error) {
	if c.consumed == len(c.tape.received) && c.failed == nil {
		c.failed = c.receive()
	}
	n = copy(p, c.tape.received[c.consumed:])
	if c.consumed += n; n == 0 {
		err = c.failed
	}
	return n, err
}

// receive reads from the network onto the tape.
func (c *conn) receive() error {
	if c.tape.off {
		c.tape.received, c.consumed = c.tape.received[:0], 0
	}
	allowed := c.tape.allowed(int(min(c.left, math.MaxInt32)))
	switch {
	case c.left == 0:
		return ErrHeaderSize
	case allowed == 0:
		return ErrTapeFull
	}
	n, err := c.Conn.Read(c.tape.grow(allowed))
	c.got = c.got || n > 0
	c.left -= int64(n)
	c.tape.received = c.tape.received[:len(c.tape.received)+n]
	return err
}

// unread returns the number of received bytes that the response parser has not read.
func (c *conn) unread() int { return len(c.tape.received) - c.consumed + c.br.Buffered() }

// A body1 is the body of a response over HTTP/1.1.
type body1 struct {
	body io.Reader // decoded from chunks
	c    *conn
	x    *exchange
	stop func() bool // stops interrupting the connection when the exchange is cancelled
	last bool        // the server closes the connection after this response
	err  error       // set when the body has ended
}

func (b *body1) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.body.Read(p)
	if err != nil {
		b.end(err)
	}
	return n, b.err
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
	c.tape.finish(len(c.tape.received) - c.unread())
	if b.stop() && err == io.EOF && !b.last && c.unread() == 0 {
		c.t.readers.Put(c.br)
		c.br, c.tape = nil, nil
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

// reader returns a buffered reader of c.
func (t *Transport) reader(c *conn) *bufio.Reader {
	if br, ok := t.readers.Get().(*bufio.Reader); ok {
		br.Reset(c)
		return br
	}
	return bufio.NewReaderSize(c, lineBuffer)
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
