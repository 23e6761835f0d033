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

// readBuffer is how much room there is at first for what a server says, in bytes. It is
// read in pieces as large as there is room for, onto the tape and from there through a
// buffer that is large enough for the lines of a header.
const (
	readBuffer = 64 << 10
	lineBuffer = 4 << 10
)

// past is a deadline that ends what a connection is doing.
var past = time.Unix(1, 0)

// ask1 asks over HTTP/1.1 (RFC 9112). Silent tells, if it fails, that not a byte of an
// answer came.
func (c *conn) ask1(x *exchange, req *http.Request) (resp *http.Response, silent bool, err error) {
	c.tape, c.left, c.given, c.got, c.failed = x.tape, int64(c.t.maxHeader()), 0, false, nil
	c.br = c.t.reader(c)
	stop := context.AfterFunc(x.ctx, func() { c.SetDeadline(past) })
	fail := func(err error) (*http.Response, bool, error) {
		stop()
		silent := !c.got
		c.close()
		return nil, silent, err
	}
	if err := c.tape.request(req, c.proxied); err != nil {
		return fail(err)
	}
	if _, err := c.Conn.Write(c.authorized(c.tape.Request)); err != nil {
		return fail(err)
	}
	for {
		c.tape.head = len(c.tape.received) - c.ahead()
		resp, err = http.ReadResponse(c.br, req)
		switch {
		case err != nil:
			return fail(c.why(err))
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return fail(errSwitched)
		case c.proxied && resp.StatusCode == http.StatusProxyAuthRequired:
			return fail(&ProxyError{errProxyLogin, true})
		}
		if resp.StatusCode >= 200 {
			break // interim answers have no body, and are not what was asked for
		}
	}
	tidyNames(resp.Header)
	c.left = math.MaxInt64
	c.tape.body = len(c.tape.received) - c.ahead()
	if !resp.ProtoAtLeast(1, 1) {
		c.tape.Protocols = append([]string{"http/1.0"}, c.protocols[1:]...)
	}
	c.tape.expect(resp.ContentLength - int64(c.ahead()))
	b := &body1{body: resp.Body, c: c, x: x, stop: stop, last: resp.Close}
	if resp.Body == http.NoBody {
		b.end(io.EOF)
	}
	resp.Body = b
	return resp, false, nil
}

// tidyNames takes blanks off the ends of field names, as browsers and archives do (RFC
// 9112, section 5.1); net/http keeps them, and finds no field by such a name.
func tidyNames(h http.Header) {
	var untidy []string
	for name := range h {
		if strings.HasSuffix(name, " ") {
			untidy = append(untidy, name)
		}
	}
	slices.Sort(untidy)
	for _, name := range untidy {
		for _, value := range h[name] {
			h.Add(strings.TrimRight(name, " "), value)
		}
		delete(h, name)
	}
}

// why is the reason that there is no answer: rather that of the network than what was
// made of half an answer.
func (c *conn) why(err error) error {
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

// Read gives the reader of the answer what is on the tape, and when it has all of that
// reads on from the network.
func (c *conn) Read(p []byte) (n int, err error) {
	if c.given == len(c.tape.received) && c.failed == nil {
		c.failed = c.receive()
	}
	n = copy(p, c.tape.received[c.given:])
	if c.given += n; n == 0 {
		err = c.failed
	}
	return n, err
}

// receive reads from the network onto the tape.
func (c *conn) receive() error {
	if c.tape.off {
		c.tape.received, c.given = c.tape.received[:0], 0
	}
	room := c.tape.room(int(min(c.left, math.MaxInt32)))
	switch {
	case c.left == 0:
		return ErrHeaderSize
	case room == 0:
		return ErrTapeFull
	}
	n, err := c.Conn.Read(c.tape.space(room))
	c.got = c.got || n > 0
	c.left -= int64(n)
	c.tape.received = c.tape.received[:len(c.tape.received)+n]
	return err
}

// ahead is how much was received that the reader of the answer has not seen.
func (c *conn) ahead() int { return len(c.tape.received) - c.given + c.br.Buffered() }

// body1 is the body of an answer over HTTP/1.1.
type body1 struct {
	body io.Reader // without chunks
	c    *conn
	x    *exchange
	stop func() bool // of what ends the connection with the exchange
	last bool        // nothing follows on the connection
	err  error       // once it is over
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

// end ends the exchange. A connection whose answer was read to its end, and on which
// nothing else came, can be used again.
func (b *body1) end(err error) {
	c := b.c
	c.tape.finish(len(c.tape.received) - c.ahead())
	if b.stop() && err == io.EOF && !b.last && c.ahead() == 0 {
		c.t.readers.Put(c.br)
		c.br, c.tape = nil, nil
		c.t.rest(c)
	} else {
		c.close()
	}
	if ended := b.x.end(err); err != io.EOF {
		err = ended
	}
	b.err = err
}

// reader is a buffer for what comes over c.
func (t *Transport) reader(c *conn) *bufio.Reader {
	if br, ok := t.readers.Get().(*bufio.Reader); ok {
		br.Reset(c)
		return br
	}
	return bufio.NewReaderSize(c, lineBuffer)
}

// absolute is a request as WriteProxy makes the whole address of it, which it does not
// where the address is spelled in a way that net/url has no field for.
func absolute(req *http.Request) *http.Request {
	if req.URL.Opaque == "" || strings.HasPrefix(req.URL.Opaque, "//") {
		return req
	}
	u := *req.URL
	u.Opaque = "//" + u.Host + u.Opaque
	r := *req
	r.URL = &u
	return &r
}

// authorized is a request as the proxy gets it.
func (c *conn) authorized(request []byte) []byte {
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

// authorization is what a proxy is shown, if its URL has a user name (RFC 7617).
func authorization(proxy *url.URL) string {
	if proxy == nil || proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password))
}
