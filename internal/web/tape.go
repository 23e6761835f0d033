package web

import (
	"bytes"
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Tape is one exchange as it went over the wire. It is complete when the body of
// the answer was closed or has been read to its end.
//
// HTTP/2 knows no such bytes. It is recorded as an HTTP/1.1 status line, the fields
// in lower case and sorted by name, an empty line, and the body, its content coding
// kept.
type Tape struct {
	// Limit is the most bytes of a body, chunks and coding included; reading the
	// body of a longer answer ends in [ErrTapeFull]. 0 means no limit.
	Limit int64

	Start      time.Time // of the exchange
	IP         string    // of the server; empty if only a proxy knows it
	Protocols  []string  // "http/1.1" or "h2", then "tls/1.3"
	Unverified string    // why the server's certificate is not to be trusted, if it is not

	Request []byte // as sent, but for what only a proxy was to know: user name and password
	Head    []byte // of the final answer, with the empty line at its end
	Body    []byte // as far as it was read

	received   []byte
	head, body int  // where in received they begin
	end        int  // where they end, as the server says; 0 if it does not
	off        bool // nobody asked for it
}

// keptTape is the most memory, in bytes, that a tape keeps when it is [Tape.Reset].
const keptTape = 768 << 10

// longTape is where a tape begins to be long, in bytes.
const longTape = 8 << 20

type tapeKey struct{}

// Record has the exchange of a request with this context recorded. A tape is of one
// exchange at a time; its memory is used again in the next one.
func Record(ctx context.Context, t *Tape) context.Context {
	return context.WithValue(ctx, tapeKey{}, t)
}

func tapeOf(ctx context.Context) *Tape {
	if t, ok := ctx.Value(tapeKey{}).(*Tape); ok {
		return t
	}
	return &Tape{off: true}
}

// begin makes the tape empty.
func (t *Tape) begin(start time.Time) {
	*t = Tape{Limit: t.Limit, Start: start, Request: t.Request[:0], received: t.received[:0], off: t.off}
}

// Reset makes the tape empty, and gives its memory back where that is much.
func (t *Tape) Reset() {
	t.begin(time.Time{})
	if cap(t.received) > keptTape {
		t.received = nil
	}
}

// request writes what is sent on the tape; to a proxy the whole address is named.
func (t *Tape) request(req *http.Request, proxied bool) error {
	b := bytes.NewBuffer(t.Request[:0])
	var err error
	if proxied {
		err = absolute(req).WriteProxy(b)
	} else {
		err = req.Write(b)
	}
	t.Request = b.Bytes()
	return err
}

// room is how many of n bytes may be received at once: before the body is known to have
// begun, a buffer full of them.
func (t *Tape) room(n int) int {
	switch {
	case t.body == 0:
		return min(n, readBuffer)
	case t.off || t.Limit <= 0:
		return n
	}
	return int(max(0, min(int64(n), t.Limit-int64(len(t.received)-t.body))))
}

// space is where on the tape up to n further bytes can be received. A full tape doubles,
// a long one grows by half, but no further than it may come, or is said to: append would
// leave four times as much garbage.
func (t *Tape) space(n int) []byte {
	if had := len(t.received); had == cap(t.received) {
		more := max(had, readBuffer)
		if had >= longTape {
			more /= 2 // it may have to wait for long with what it does not use
		}
		more = t.room(more)
		if t.end > had {
			more = min(more, t.end-had)
		}
		t.received = append(make([]byte, 0, had+more), t.received...)
	}
	space := t.received[len(t.received):cap(t.received)]
	return space[:min(n, len(space))]
}

// add adds what was received elsewhere, for which there is room.
func (t *Tape) add(b []byte) {
	for len(b) > 0 && !t.off {
		n := copy(t.space(len(b)), b)
		t.received, b = t.received[:len(t.received)+n], b[n:]
	}
}

// expect says that n further bytes are said to come, and makes room for some.
func (t *Tape) expect(n int64) {
	const trust = 256 << 10 // of what servers promise
	if !t.off && n > 0 {
		t.end = len(t.received) + int(min(n, math.MaxInt32))
		t.received = slices.Grow(t.received, int(min(n, trust)))
	}
}

// finish says that what follows the first n received bytes is no part of the answer.
func (t *Tape) finish(n int) {
	if !t.off && t.body > 0 {
		t.Head, t.Body = t.received[t.head:t.body:t.body], t.received[t.body:n:n]
	}
}

// http2 writes the header of an answer that came over HTTP/2 on the tape.
func (t *Tape) http2(resp *http.Response) {
	if t.off {
		return
	}
	b := append(t.received[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(resp.StatusCode), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(resp.StatusCode)...)
	b = append(b, "\r\n"...)
	names := make([]string, 0, len(resp.Header))
	for name := range resp.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
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
