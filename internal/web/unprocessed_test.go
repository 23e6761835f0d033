package web

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A reply answers a request over HTTP/2. It returns false if the server then closes the connection.
type reply func(f *http2.Framer, stream uint32) bool

func resetWith(code http2.ErrCode) reply {
	return func(f *http2.Framer, stream uint32) bool { return f.WriteRSTStream(stream, code) == nil }
}

// goAway excludes the streams after last. It leaves the connection open.
func goAway(last uint32, code http2.ErrCode) reply {
	return func(f *http2.Framer, _ uint32) bool {
		return f.WriteGoAway(last, code, []byte("ErrCode=HTTP_1_1_REQUIRED")) == nil // debug data has no meaning
	}
}

func thenClose(do reply) reply {
	return func(f *http2.Framer, stream uint32) bool { do(f, stream); return false }
}

func ok2(f *http2.Framer, stream uint32) bool {
	var b bytes.Buffer
	hpack.NewEncoder(&b).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: b.Bytes(), EndHeaders: true})
	return f.WriteData(stream, true, []byte("h2")) == nil
}

// thenGoAway is a page, after which the connection takes no request but stays open.
func thenGoAway(f *http2.Framer, stream uint32) bool {
	return ok2(f, stream) && f.WriteGoAway(stream, http2.ErrCodeNo, nil) == nil
}

// An unwilling server answers requests over HTTP/2 by replies, one after the other, and the last
// one again and again. Over HTTP/1.1 its page is "http/1.1".
type unwilling struct {
	replies     []reply
	certificate []tls.Certificate
	mu          sync.Mutex
	made        int      // connections
	seen        []string // for each request, connection and stream ("2/1"), or connection and "http/1.1"
	guarded     int      // calls of Guard
	admitted    int      // calls of Admit
}

// transport returns a transport to the server, in the bubble of synctest. Pipes have no buffer, and
// both sides of HTTP/2 may write at once, so the server writes from a goroutine of its own.
func (s *unwilling) transport(t *testing.T) *Transport {
	w := &Transport{
		Insecure: true,
		Guard:    func(netip.AddrPort) error { s.guarded++; return nil },
		Admit:    func(context.Context, netip.Addr) error { s.admitted++; return nil },
		connect: func(context.Context, netip.AddrPort) (net.Conn, error) {
			client, server := net.Pipe()
			s.mu.Lock()
			defer s.mu.Unlock()
			s.made++
			go s.serve(s.made, server)
			return client, nil
		},
	}
	t.Cleanup(func() {
		w.CloseIdleConnections()
		synctest.Wait()
		if len(w.hosts) != 0 || w.idle.Len() != 0 {
			t.Errorf("%d hosts, %d idle connections remain", len(w.hosts), w.idle.Len())
		}
	})
	return w
}

func (s *unwilling) serve(n int, raw net.Conn) {
	defer raw.Close()
	c := tls.Server(raw, &tls.Config{Certificates: s.certificate, NextProtos: []string{"h2", "http/1.1"}})
	if c.Handshake() != nil {
		return
	}
	if c.ConnectionState().NegotiatedProtocol != "h2" {
		for br := bufio.NewReader(c); readRequest(br) != ""; {
			s.next(fmt.Sprintf("%d/http/1.1", n))
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhttp/1.1")
		}
		return
	}
	frames, ended := make(queue, 100), make(chan struct{})
	go func() {
		defer close(ended)
		for b := range frames {
			c.Write(b)
		}
	}()
	defer func() {
		go io.Copy(io.Discard, raw)
		close(frames)
		<-ended
	}()
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(frames, c)
	f.WriteSettings()
	for {
		got, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch got := got.(type) {
		case *http2.SettingsFrame:
			if !got.IsAck() {
				f.WriteSettingsAck()
			}
		case *http2.HeadersFrame:
			if !s.next(fmt.Sprintf("%d/%d", n, got.StreamID))(f, got.StreamID) {
				return
			}
		}
	}
}

// A queue holds what was written.
type queue chan []byte

func (q queue) Write(b []byte) (int, error) {
	q <- bytes.Clone(b)
	return len(b), nil
}

// next records a request, and returns the reply to it.
func (s *unwilling) next(request string) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, request)
	do := s.replies[0]
	if len(s.replies) > 1 && !strings.HasSuffix(request, "http/1.1") {
		s.replies = s.replies[1:]
	}
	return do
}

// unwillingServer returns a server with replies that offers both versions of HTTP.
func unwillingServer(t *testing.T, replies ...reply) *unwilling {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	return &unwilling{replies: replies, certificate: s.TLS.Certificates}
}

func TestRequestsThatAServerHasNotProcessedAreSentAgain(t *testing.T) {
	const required = http2.ErrCodeHTTP11Required
	refuse := resetWith(http2.ErrCodeRefusedStream)
	for name, c := range map[string]struct {
		replies []reply
		seen    string // connection and stream of each request that the server has received
		bodies  string // of the responses to one or two requests, in turn; the error if it is no word
	}{
		"the first stream is refused":         {[]reply{refuse, ok2}, "1/1 2/1", "h2"},
		"refused twice":                       {[]reply{refuse, refuse, ok2}, "1/1 2/1 3/1", "h2"},
		"refused always":                      {[]reply{refuse}, "1/1 2/1 3/1", "REFUSED_STREAM of 3 connections"},
		"refused on a reused connection":      {[]reply{ok2, refuse, ok2}, "1/1 1/3 2/1", "h2 h2"},
		"refused twice after a reused one":    {[]reply{ok2, refuse, refuse, ok2}, "1/1 1/3 2/1 3/1", "h2 h2"},
		"refused, then the connection closed": {[]reply{thenClose(refuse), ok2}, "1/1 2/1", "h2"},

		"GOAWAY excludes the first":                 {[]reply{goAway(0, http2.ErrCodeNo), ok2}, "1/1 2/1", "h2"},
		"GOAWAY excludes the first, and closed":     {[]reply{thenClose(goAway(0, http2.ErrCodeNo)), ok2}, "1/1 2/1", "h2"},
		"GOAWAY with an error excludes the first":   {[]reply{goAway(0, http2.ErrCodeInternal), ok2}, "1/1 2/1", "h2"},
		"GOAWAY excludes a later request":           {[]reply{ok2, goAway(1, http2.ErrCodeNo), ok2}, "1/1 1/3 2/1", "h2 h2"},
		"GOAWAY with an error excludes a later one": {[]reply{ok2, goAway(1, http2.ErrCodeInternal), ok2}, "1/1 1/3 2/1", "h2 h2"},
		"GOAWAY on a connection that stays open":    {[]reply{thenGoAway, ok2}, "1/1 2/1", "h2 h2"},
		"GOAWAY always":                             {[]reply{goAway(0, http2.ErrCodeInternal)}, "1/1 2/1 3/1", "INTERNAL_ERROR of 3 connections"},

		"the server asks for calm": {[]reply{goAway(0, http2.ErrCodeEnhanceYourCalm), ok2}, "1/1", "ENHANCE_YOUR_CALM"},

		"perhaps processed: GOAWAY includes it":    {[]reply{thenClose(goAway(1, http2.ErrCodeInternal)), ok2}, "1/1", "INTERNAL_ERROR"},
		"perhaps processed: reset":                 {[]reply{resetWith(http2.ErrCodeCancel), ok2}, "1/1", "CANCEL"},
		"perhaps processed: closed":                {[]reply{func(*http2.Framer, uint32) bool { return false }, ok2}, "1/1", "EOF"},
		"perhaps processed, but a reused one ends": {[]reply{ok2, thenClose(goAway(3, http2.ErrCodeNo)), ok2}, "1/1 1/3 2/1", "h2 h2"},

		"HTTP/1.1 is required":                        {[]reply{resetWith(required)}, "1/1 2/http/1.1 2/http/1.1", "http/1.1 http/1.1"},
		"HTTP/1.1 is required for a later stream":     {[]reply{ok2, resetWith(required)}, "1/1 1/3 2/http/1.1", "h2 http/1.1"},
		"HTTP/1.1 is required by GOAWAY":              {[]reply{goAway(0, required)}, "1/1 2/http/1.1 2/http/1.1", "http/1.1 http/1.1"},
		"HTTP/1.1 is required by GOAWAY, and closed":  {[]reply{thenClose(goAway(0, required))}, "1/1 2/http/1.1", "http/1.1"},
		"HTTP/1.1 is required by GOAWAY that has it":  {[]reply{thenClose(goAway(1, required))}, "1/1 2/http/1.1", "http/1.1"},
		"HTTP/1.1 is required by GOAWAY, later":       {[]reply{ok2, goAway(1, required), goAway(0, required)}, "1/1 1/3 2/1 3/http/1.1", "h2 http/1.1"},
		"HTTP/1.1 is required after it was refused":   {[]reply{refuse, resetWith(required)}, "1/1 2/1 3/http/1.1", "http/1.1"},
		"refused and required on a reused connection": {[]reply{ok2, refuse, resetWith(required)}, "1/1 1/3 2/1 3/http/1.1", "h2 http/1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			server := unwillingServer(t, c.replies...)
			synctest.Test(t, func(t *testing.T) {
				w := server.transport(t)
				wants := strings.Fields(c.bodies)
				if !strings.HasPrefix(wants[0], "h") {
					wants = []string{c.bodies}
				}
				for _, want := range wants {
					tape := &Tape{Limit: 1 << 20}
					_, body, err := get(t, w, "https://192.0.2.1/a", tape)
					synctest.Wait()
					if !strings.HasPrefix(want, "h") {
						for part := range strings.SplitSeq(want, " of ") {
							if err == nil || !strings.Contains(err.Error(), part) {
								t.Errorf("%q, %v, want an error with %q", body, err, part)
							}
						}
						continue
					}
					if err != nil || body != want {
						t.Errorf("%q, %v, want %q", body, err, want)
						continue
					}
					const request = "GET /a HTTP/1.1\r\nHost: 192.0.2.1\r\nUser-Agent: test/1\r\n\r\n"
					if string(tape.Request) != request || string(tape.Body) != want || tape.Protocols[0] != want || tape.IP != "192.0.2.1" || tape.Limit != 1<<20 {
						t.Errorf("on the tape: %q, %q, %s from %s", tape.Request, tape.Body, tape.Protocols, tape.IP)
					}
				}
				if seen := strings.Join(server.seen, " "); seen != c.seen {
					t.Errorf("the server has received %s, want %s", seen, c.seen)
				}
				if server.guarded != server.made {
					t.Errorf("Guard was called %d times for %d connections", server.guarded, server.made)
				}
				if server.admitted < len(server.seen) {
					t.Errorf("Admit was called %d times for %d requests", server.admitted, len(server.seen))
				}
			})
		})
	}
}

// What Guard and Admit return for the second connection is the error of the request.
func TestRequestIsNotSentAgainIfGuardOrAdmitRefuses(t *testing.T) {
	for _, function := range []string{"Guard", "Admit"} {
		server := unwillingServer(t, resetWith(http2.ErrCodeRefusedStream), ok2)
		synctest.Test(t, func(t *testing.T) {
			w := server.transport(t)
			stop := errors.New("not again")
			asked := 0
			ask := func() error {
				if asked++; asked > 1 {
					return stop
				}
				return nil
			}
			if function == "Guard" {
				w.Guard = func(netip.AddrPort) error { return ask() }
			} else {
				w.Admit = func(context.Context, netip.Addr) error { return ask() }
			}
			tape := new(Tape)
			if _, _, err := get(t, w, "https://192.0.2.1/", tape); !errors.Is(err, stop) || server.made != 1 {
				t.Errorf("%s: %v, %d connections", function, err, server.made)
			}
			if len(tape.Request) == 0 {
				t.Errorf("%s: the request that was sent is not on the tape", function)
			}
		})
	}
}

func TestTimeoutsIncludeAllConnections(t *testing.T) {
	slowly := func(f *http2.Framer, stream uint32) bool {
		time.Sleep(20 * time.Second)
		return resetWith(http2.ErrCodeRefusedStream)(f, stream)
	}
	for _, phase := range []Phase{Header, Answer} {
		server := unwillingServer(t, slowly)
		synctest.Test(t, func(t *testing.T) {
			w := server.transport(t)
			const limit = 50 * time.Second
			if phase == Header {
				w.HeaderTimeout = limit
			} else {
				w.Timeout = limit
			}
			start := time.Now()
			_, _, err := get(t, w, "https://192.0.2.1/", new(Tape))
			timeout, ok := errors.AsType[*TimeoutError](err)
			if !ok || timeout.Phase != phase || time.Since(start) != limit {
				t.Errorf("%v after %v, want the timeout of %s", err, time.Since(start), phase)
			}
			time.Sleep(20 * time.Second) // until the server has ended
		})
	}
}
