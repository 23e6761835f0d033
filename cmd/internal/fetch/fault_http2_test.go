//go:build linux

package fetch_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A stream is one request over HTTP/2, at a server that may break the protocol.
type stream struct {
	*http2.Framer
	peer *peer
	id   uint32
}

// A move sends frames on a stream.
type move func(*stream)

// header returns a header block of names and values.
func header(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i+1 < len(fields); i += 2 {
		e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}

// answer2 is the header of a valid response.
var answer2 = header(":status", "200", "content-type", "text/html")

// heads sends a header that does not end the stream.
func heads(block []byte) move {
	return func(s *stream) {
		s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: block, EndHeaders: true})
	}
}

func data(body string, end bool) move {
	return func(s *stream) { s.WriteData(s.id, end, []byte(body)) }
}

// together waits until n streams have got here, so that the flood of one does not delay the response
// headers of the others. It does not wait for a stream that never comes.
func together(n int32) move {
	var arrived atomic.Int32
	all := make(chan struct{})
	return func(*stream) {
		if arrived.Add(1) == n {
			close(all)
		}
		select {
		case <-all:
		case <-time.After(slack):
		}
	}
}

// again repeats write until the client has gone, regardless of flow control.
func again(write func(*stream) error) move {
	return func(s *stream) {
		for write(s) == nil {
		}
	}
}

func hang2(s *stream) { hush(s.peer) }

// frames returns a server that answers requests for pages with moves.
func frames(certs certificates, moves ...move) *server {
	return &server{tls: http2Config(certs), frames: moves}
}

// handled returns a server that conforms to HTTP/2.
func handled(certs certificates, h http.HandlerFunc) *server {
	return &server{tls: http2Config(certs), handler: h}
}

func http2Config(certs certificates) *tls.Config {
	config := certs.valid.Clone()
	config.NextProtos = []string{"h2"}
	return config
}

// serveHandler serves HTTP/2 with net/http.
func (s *server) serveHandler(t testing.TB) {
	mind := &http.Server{
		TLSConfig: s.tls,
		ErrorLog:  log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.count(r)
			if r.URL.Path == "/robots.txt" {
				http.NotFound(w, r)
				return
			}
			s.handler(w, r)
		}),
	}
	s.wg.Go(func() { mind.ServeTLS(s, "", "") })
	t.Cleanup(func() {
		mind.Close()
		s.wg.Wait()
	})
}

// serve2 serves HTTP/2 after the TLS handshake.
func (s *server) serve2(p *peer) {
	if _, err := io.ReadFull(p, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(p, p)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	f.WriteSettings()
	for {
		got, err := f.ReadFrame()
		if err != nil {
			return
		}
		h, ok := got.(*http2.MetaHeadersFrame)
		if !ok {
			if set, ok := got.(*http2.SettingsFrame); ok && !set.IsAck() {
				f.WriteSettingsAck()
			}
			continue
		}
		st := &stream{f, p, h.StreamID}
		if h.PseudoValue("path") == "/robots.txt" {
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: st.id, BlockFragment: header(":status", "404"), EndHeaders: true, EndStream: true})
			continue
		}
		for _, do := range s.frames {
			do(st)
		}
		p.do(nil)
		return
	}
}

// http2Faults returns the faults of HTTP/2.
func http2Faults(certs certificates) []*fault {
	reset := func(code http2.ErrCode) move {
		return func(s *stream) { s.WriteRSTStream(s.id, code) }
	}
	away := func(last uint32, code http2.ErrCode) move {
		return func(s *stream) { s.WriteGoAway(last, code, nil) }
	}
	whole := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "the page")
	}
	forever := func(piece string, every time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "the beginning")
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, piece); err != nil {
					return
				}
				if every > 0 {
					w.(http.Flusher).Flush()
					select {
					case <-time.After(every):
					case <-r.Context().Done():
					}
				}
			}
		}
	}
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "zstd")
		w.Write(zstdBomb())
	}
	// One field of 4,000 bytes in the dynamic table, and then one byte for each reference to it.
	var packed bytes.Buffer
	packed.Write(answer2)
	e := hpack.NewEncoder(&packed)
	e.WriteField(hpack.HeaderField{Name: "x", Value: strings.Repeat("x", 4_000)})
	for range 16_000 - packed.Len() {
		packed.WriteByte(0x80 | 62) // the newest entry of the table (RFC 7541, section 2.3.3)
	}
	frame := bytes.Repeat([]byte("words "), 16<<10/6)
	pieces := []string{"http", "timeout"}
	list := []*fault{
		{name: "a page", server: handled(certs, whole), want: sound, body: "the page"},
		{name: "endless body", server: handled(certs, forever(strings.Repeat("words and words\n", 1000), 0)), timeout: 2 * time.Minute, want: []string{"200, truncated length"}, check: cutAt(10 << 20)},
		{name: "endless body, a byte at a time", server: handled(certs, forever(".", 100*time.Millisecond)), timeout: time.Second, want: []string{"200, truncated time"}, body: "the beginning"},
		{name: "zstd bomb", server: handled(certs, bomb), want: defused, check: cutAt(10 << 20)},
		{name: "no answer", server: frames(certs, hang2), timeout: time.Second, want: []string{"timeout"}},
		{name: "connection closed without a response", server: frames(certs), want: refused},
		{name: "stream refused, always", server: frames(certs, reset(http2.ErrCodeRefusedStream)), want: refused},
		{name: "stream reset", server: frames(certs, reset(http2.ErrCodeInternal)), want: refused},
		{name: "stream reset in the body", server: frames(certs, heads(answer2), data("the beginning", false), reset(http2.ErrCodeInternal), hang2), want: []string{"200, truncated disconnect"}, body: "the beginning"},
		{name: "connection closed in the body", server: frames(certs, heads(answer2), data("the beginning", false)), want: torn, body: "the beginning"},
		{name: "connection reset in the body", server: frames(certs, heads(answer2), data("the beginning", false), func(s *stream) { tcp(s.peer.Conn).SetLinger(0); tcp(s.peer.Conn).Close() }), want: append([]string{"http"}, torn...)},
		{name: "GOAWAY instead of an answer", server: frames(certs, away(0, http2.ErrCodeNo), hang2), want: pieces},
		{name: "GOAWAY in the body", server: frames(certs, heads(answer2), data("the beginning", false), away(0, http2.ErrCodeEnhanceYourCalm), hang2), want: []string{"200, truncated disconnect", "200, truncated time", "http"}},
		{name: "Content-Length too long", server: frames(certs, heads(header(":status", "200", "content-type", "text/html", "content-length", "100")), data("the beginning", true), hang2), want: torn, body: "the beginning"},
		{name: "Content-Length too short", server: frames(certs, heads(header(":status", "200", "content-type", "text/html", "content-length", "3")), data("the beginning", true), hang2), want: []string{"200", "200, truncated disconnect", "http"}},
		{name: "body before its header", server: frames(certs, data("the beginning", true), hang2), want: pieces},
		{name: "header without a status", server: frames(certs, heads(header("content-type", "text/html")), hang2), want: pieces},
		{name: "negative status", server: frames(certs, heads(header(":status", "-20")), data("body", true), hang2), want: []string{"http"}},
		{name: "status of five digits", server: frames(certs, heads(header(":status", "99999")), data("body", true), hang2), want: []string{"http"}},
		{name: "header in capitals", server: frames(certs, heads(header(":status", "200", "X-Name", "value")), hang2), want: pieces},
		{name: "endless CONTINUATION", server: frames(certs, func(s *stream) {
			s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: answer2})
			block := header("x-name", "value")
			again(func(s *stream) error { return s.WriteContinuation(s.id, false, block) })(s)
		}), want: refused},
		{name: "endless CONTINUATION, empty", server: frames(certs, func(s *stream) {
			s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: answer2})
			again(func(s *stream) error { return s.WriteContinuation(s.id, false, nil) })(s)
		}), timeout: time.Second, want: pieces},
		{name: "header bomb", server: frames(certs, heads(packed.Bytes()), data("body", true)), want: refused},
		{name: "endless 1xx", server: frames(certs, again(func(s *stream) error {
			return s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: header(":status", "103", "link", "</style.css>"), EndHeaders: true})
		})), want: refused},
		{name: "endless SETTINGS", server: frames(certs, again(func(s *stream) error { return s.WriteSettings() })), timeout: time.Second, want: pieces},
		{name: "endless PING", server: frames(certs, again(func(s *stream) error { return s.WritePing(false, [8]byte{}) })), timeout: time.Second, want: pieces},
		{name: "endless empty DATA", server: frames(certs, heads(answer2), together(32), again(func(s *stream) error { return s.WriteData(s.id, false, nil) })), hosts: 32, timeout: 5 * time.Second, want: []string{"200, truncated time", "200, truncated disconnect"}},
		{name: "endless padding", server: frames(certs, heads(answer2), together(32), again(func(s *stream) error { return s.WriteDataPadded(s.id, false, nil, make([]byte, 255)) })), hosts: 32, timeout: 5 * time.Second, want: []string{"200, truncated time", "200, truncated disconnect"}},
		{name: "more than the window", server: frames(certs, heads(answer2), again(func(s *stream) error { return s.WriteData(s.id, false, frame) })), want: []string{"200, truncated disconnect", "200, truncated length", "http"}},
		{name: "window too large", server: frames(certs, func(s *stream) { s.WriteWindowUpdate(0, 1<<31-1) }, hang2), want: pieces},
		{name: "unsolicited PUSH_PROMISE", server: frames(certs, func(s *stream) {
			s.WritePushPromise(http2.PushPromiseParam{StreamID: s.id, PromiseID: 2, BlockFragment: header(":method", "GET", ":path", "/"), EndHeaders: true})
		}, hang2), want: pieces},
		{name: "frames of garbage", server: frames(certs, func(s *stream) { flood("garbage")(s.peer) }), want: pieces},
		{name: "HTTP/1.1 after choosing HTTP/2", server: &server{tls: http2Config(certs), frames: []move{func(s *stream) { page("the page")(s.peer) }, hang2}}, want: pieces},
	}
	for _, f := range list {
		f.name, f.scheme = "HTTP/2, "+f.name, "https"
	}
	return list
}
