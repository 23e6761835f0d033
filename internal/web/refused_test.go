package web

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
)

// refusing returns a transport to a server over TLS. Over HTTP/2 it sends answer(n, id) to the nth request of
// all connections, which is on the stream id; over HTTP/1.1 it sends a page. guarded counts the addresses that
// the guard was asked about.
func refusing(t *testing.T, answer func(n int, id uint32, f *http2.Framer)) (w *Transport, guarded *int) {
	s, trusting, _ := serveTLS(t, servePage, true)
	var mu sync.Mutex
	requests, guarded := 0, new(int)
	w = &Transport{
		TLS: trusting.TLS, Resolver: names{"example.com": {"192.0.2.1"}},
		Guard: func(netip.AddrPort) error { *guarded++; return nil },
		connect: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			l, err := net.Listen("tcp", "127.0.0.1:0") // a pipe has no buffer, so both sides could wait
			if err != nil {
				return nil, err
			}
			go func() {
				server, err := l.Accept()
				l.Close()
				if err != nil {
					return
				}
				defer server.Close()
				c := tls.Server(server, &tls.Config{Certificates: s.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}})
				if c.Handshake() != nil {
					return
				}
				if c.ConnectionState().NegotiatedProtocol != "h2" {
					for br := bufio.NewReader(c); readRequest(br) != ""; {
						io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nold\n")
					}
					return
				}
				if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
					return
				}
				f := http2.NewFramer(c, c)
				f.WriteSettings()
				for {
					frame, err := f.ReadFrame()
					if err != nil {
						return
					}
					switch frame := frame.(type) {
					case *http2.SettingsFrame:
						if !frame.IsAck() {
							f.WriteSettingsAck()
						}
					case *http2.HeadersFrame:
						mu.Lock()
						requests++
						n := requests
						mu.Unlock()
						answer(n, frame.StreamID, f)
					}
				}
			}()
			return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		},
	}
	t.Cleanup(w.CloseIdleConnections)
	return w, guarded
}

// TestRequestsThatWereNotProcessedAreSentAgain has the refusals of RFC 9113, section 8.7.
func TestRequestsThatWereNotProcessedAreSentAgain(t *testing.T) {
	page := func(id uint32, f *http2.Framer) {
		b := response2("200", "new\n")
		frames := http2.NewFramer(nil, bytes.NewReader(b))
		for frame, err := frames.ReadFrame(); err == nil; frame, err = frames.ReadFrame() {
			switch frame := frame.(type) {
			case *http2.HeadersFrame:
				f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: bytes.Clone(frame.HeaderBlockFragment()), EndHeaders: true})
			case *http2.DataFrame:
				f.WriteData(id, true, frame.Data())
			}
		}
	}
	for name, c := range map[string]struct {
		answer func(n int, id uint32, f *http2.Framer)
		want   string // bodies of two requests, or parts of their errors
		made   int    // connections
	}{
		"refused once": {func(n int, id uint32, f *http2.Framer) {
			if n == 1 {
				f.WriteRSTStream(id, http2.ErrCodeRefusedStream)
			} else {
				page(id, f)
			}
		}, "new new", 2},
		"refused twice, then later": {func(n int, id uint32, f *http2.Framer) {
			if n <= 2 || n == 4 {
				f.WriteRSTStream(id, http2.ErrCodeRefusedStream)
			} else {
				page(id, f)
			}
		}, "new new", 4},
		"refused always": {func(_ int, id uint32, f *http2.Framer) {
			f.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		}, "REFUSED_STREAM REFUSED_STREAM", 5},
		"GOAWAY": {func(n int, id uint32, f *http2.Framer) {
			if n == 1 {
				f.WriteGoAway(0, http2.ErrCodeNo, nil)
			} else {
				page(id, f)
			}
		}, "new new", 2},
		"GOAWAY with an error": {func(n int, id uint32, f *http2.Framer) {
			if n == 1 {
				f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, nil)
			} else {
				page(id, f)
			}
		}, "new new", 2},
		"cancelled, so perhaps processed": {func(_ int, id uint32, f *http2.Framer) {
			f.WriteRSTStream(id, http2.ErrCodeCancel)
		}, "CANCEL CANCEL", 1},
		"HTTP_1_1_REQUIRED": {func(_ int, id uint32, f *http2.Framer) {
			f.WriteRSTStream(id, http2.ErrCodeHTTP11Required)
		}, "old old", 2},
		"HTTP_1_1_REQUIRED of a later request": {func(n int, id uint32, f *http2.Framer) {
			if n == 1 {
				page(id, f)
			} else {
				f.WriteRSTStream(id, http2.ErrCodeHTTP11Required)
			}
		}, "new old", 2},
		"HTTP_1_1_REQUIRED of the connection": {func(_ int, _ uint32, f *http2.Framer) {
			f.WriteGoAway(0, http2.ErrCodeHTTP11Required, nil)
		}, "old old", 2},
	} {
		t.Run(name, func(t *testing.T) {
			w, guarded := refusing(t, c.answer)
			for want := range strings.FieldsSeq(c.want) {
				tape := new(Tape)
				_, body, err := get(t, w, "https://example.com/", tape)
				if err != nil && !strings.Contains(err.Error(), want) || err == nil && body != want+"\n" {
					t.Errorf("%q, %v, want %s", body, err, want)
				}
				if err == nil && (string(tape.Body) != body || bytes.Count(tape.Request, []byte("GET ")) != 1 || (tape.Protocols[0] == "h2") != (want == "new")) {
					t.Errorf("on the tape are %q and %q over %s", tape.Request, tape.Body, tape.Protocols)
				}
			}
			if *guarded != c.made {
				t.Errorf("the guard was asked %d times, want %d", *guarded, c.made)
			}
		})
	}
}
