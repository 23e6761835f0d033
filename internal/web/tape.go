package web

import (
	"bytes"
	"context"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Tape records the bytes of one exchange. It is complete when the body of the response has
// been closed or read to its end.
//
// A response over HTTP/2 is recorded as an HTTP/1.1 status line, the fields in lower case and
// sorted by name, an empty line, and the body in its content coding. Fields that describe an
// HTTP/1.1 connection (RFC 9113, section 8.2.2) are omitted, because they would be wrong.
type Tape struct {
	// Limit is the maximum size of a body in bytes, chunks and coding included;
	// reading the body of a longer response returns [ErrTapeFull]. 0 means no limit.
	Limit int64

	Start      time.Time // start of the exchange
	IP         string    // address of the server; empty if a proxy resolved the name
	Protocols  []string  // "http/1.0", "http/1.1" or "h2", then for example "tls/1.3"
	Unverified string    // why the certificate of the server is invalid; empty if it is valid

	Request []byte // the request, without the user name and password for a proxy
	Head    []byte // header of the final response, with the empty line at its end
	Body    []byte // the part of the body that was read

	received   []byte
	head, body int  // offsets in received
	end        int  // offset of the end that the server announced; 0 if it announced none
	off        bool // there is no tape in the context of the request
}

// maxKept is the size, in bytes, up to which [Tape.Reset] keeps the memory of a tape.
const maxKept = 768 << 10

// longTape is the size, in bytes, above which a tape grows by half instead of doubling.
const longTape = 8 << 20

type tapeKey struct{}

// Record returns a context that makes a [Transport] record the exchange of its request on t.
// A tape records one exchange at a time, and reuses the memory of the last one.
func Record(ctx context.Context, t *Tape) context.Context {
	return context.WithValue(ctx, tapeKey{}, t)
}

func tapeOf(ctx context.Context) *Tape {
	if t, ok := ctx.Value(tapeKey{}).(*Tape); ok {
		return t
	}
	return &Tape{off: true}
}

// begin empties the tape.
func (t *Tape) begin(start time.Time) {
	*t = Tape{Limit: t.Limit, Start: start, Request: t.Request[:0], received: t.received[:0], off: t.off}
}

// Reset empties the tape, and frees its memory if it is large.
func (t *Tape) Reset() {
	t.begin(time.Time{})
	if cap(t.received) > maxKept {
		t.received = nil
	}
}

// request records req. A request to a proxy (proxied) has the absolute URL.
func (t *Tape) request(req *http.Request, proxied bool) error {
	b := bytes.NewBuffer(t.Request[:0])
	var err error
	if proxied {
		err = withAbsoluteURL(req).WriteProxy(b)
	} else {
		err = req.Write(b)
	}
	t.Request = b.Bytes()
	return err
}

// allowed returns how many of n bytes may be received: up to readBuffer bytes before the start of
// the body is known, afterwards up to Limit.
func (t *Tape) allowed(n int) int {
	switch {
	case t.body == 0:
		return min(n, readBuffer)
	case t.off || t.Limit <= 0:
		return n
	}
	return int(max(0, min(int64(n), t.Limit-int64(len(t.received)-t.body))))
}

// grow returns unused memory of the tape for up to n more bytes. It doubles a full tape, or
// enlarges a long one by half, but not beyond its limit or the announced length. With append
// there would be four times as much garbage.
func (t *Tape) grow(n int) []byte {
	if had := len(t.received); had == cap(t.received) {
		more := max(had, readBuffer)
		if had >= longTape {
			more /= 2 // unused memory may be kept for a long time
		}
		more = t.allowed(more)
		if t.end > had {
			more = min(more, t.end-had)
		}
		t.received = append(make([]byte, 0, had+more), t.received...)
	}
	unused := t.received[len(t.received):cap(t.received)]
	return unused[:min(n, len(unused))]
}

// add records bytes that were received over HTTP/2.
func (t *Tape) add(b []byte) {
	for len(b) > 0 && !t.off {
		n := copy(t.grow(len(b)), b)
		t.received, b = t.received[:len(t.received)+n], b[n:]
	}
}

// expect prepares for n more bytes that the server has announced.
func (t *Tape) expect(n int64) {
	const trusted = 256 << 10 // bytes that are allocated before they are received
	if !t.off && n > 0 {
		t.end = len(t.received) + int(min(n, math.MaxInt32))
		t.received = slices.Grow(t.received, int(min(n, trusted)))
	}
}

// finish sets Head and Body, up to the first n received bytes.
func (t *Tape) finish(n int) {
	if !t.off && t.body > 0 {
		t.Head, t.Body = t.received[t.head:t.body:t.body], t.received[t.body:n:n]
	}
}

// http2 records the header of a response over HTTP/2.
func (t *Tape) http2(resp *http.Response) {
	if t.off {
		return
	}
	b := append(t.received[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(resp.StatusCode), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(resp.StatusCode)...)
	b = append(b, "\r\n"...)
	for _, name := range slices.Sorted(maps.Keys(resp.Header)) {
		lower := strings.ToLower(name)
		for _, v := range resp.Header[name] {
			b = append(b, lower...)
			b = append(b, ": "...)
			b = append(b, v...)
			b = append(b, "\r\n"...)
		}
	}
	t.received = append(b, "\r\n"...)
	t.body = len(t.received)
}
