package web

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// invalidStatuses are statuses that net/http accepts in HTTP/2, or in HTTP/1.1 if they have
// three bytes.
var invalidStatuses = []string{"-20", "+20", "020", "000", "99999", "1000", "20", "0", "-1", "+200", "0200"}

func TestInvalidStatusesAreErrors(t *testing.T) {
	raw := newRawHTTP2(t)
	for _, status := range invalidStatuses {
		for protocol, do := range map[string]func(*Tape) error{
			"HTTP/1.1": func(tape *Tape) error {
				_, _, err := get(t, respond("HTTP/1.1 "+status+" Odd\r\nContent-Length: 4\r\n\r\nbody"), "http://192.0.2.1/", tape)
				return err
			},
			"HTTP/2": func(tape *Tape) error {
				_, _, err := raw.get(t, response2(status, "body"), tape)
				return err
			},
		} {
			tape := new(Tape)
			err := do(tape)
			invalid, ok := errors.AsType[*StatusError](err)
			if protocol == "HTTP/1.1" && len(status) != 3 {
				if err == nil {
					t.Errorf("%s, status %s: no error", protocol, status)
				}
				continue // net/http rejects it
			}
			if status == "-20" && protocol == "HTTP/1.1" {
				continue // likewise
			}
			if !ok || !strings.HasPrefix(invalid.Status, status) || len(tape.Head) > 0 {
				t.Errorf("%s, status %s: %v, head %q", protocol, status, err, tape.Head)
			}
		}
	}
	for _, status := range []string{"200", "299", "404", "599", "600", "999"} {
		tape := new(Tape)
		if got, body, err := raw.get(t, response2(status, "body"), tape); err != nil || fmt.Sprint(got) != status || body != "body" {
			t.Errorf("status %s over HTTP/2: %d %q, %v", status, got, body, err)
		}
		if got, _, err := get(t, respond("HTTP/1.1 "+status+" Odd\r\n\r\nbody"), "http://192.0.2.1/", tape); err != nil || fmt.Sprint(got) != status {
			t.Errorf("status %s over HTTP/1.1: %d, %v", status, got, err)
		}
	}
}

// A rawHTTP2 is a server that sends any bytes after the TLS handshake.
type rawHTTP2 struct{ client, server *tls.Config }

func newRawHTTP2(t testing.TB) rawHTTP2 {
	s, w, _ := serveTLS(t, servePage, true)
	return rawHTTP2{w.TLS, &tls.Config{Certificates: s.TLS.Certificates, NextProtos: []string{"h2"}}}
}

// get requests a page from a server that answers with these bytes.
func (r rawHTTP2) get(t testing.TB, answer []byte, tape *Tape) (status int, body string, err error) {
	w := r.transport(answer)
	defer w.CloseIdleConnections()
	return get(t, w, "https://example.com/", tape)
}

// transport returns a transport to a server that answers with these bytes.
func (r rawHTTP2) transport(answer []byte) *Transport {
	return &Transport{
		TLS: r.client, ConnectTimeout: 10 * time.Second, Timeout: 10 * time.Second,
		Resolver: names{"example.com": {"192.0.2.1"}},
		connect: func(context.Context, netip.AddrPort) (net.Conn, error) {
			client, server := net.Pipe()
			go func() {
				c := tls.Server(server, r.server)
				defer server.Close()
				preface := make([]byte, len(http2.ClientPreface))
				if _, err := io.ReadFull(c, preface); err != nil {
					return
				}
				requested := make(chan struct{})
				go func() {
					f := http2.NewFramer(io.Discard, c)
					for requested := requested; ; {
						frame, err := f.ReadFrame()
						if _, ok := frame.(*http2.HeadersFrame); (ok || err != nil) && requested != nil {
							close(requested)
							requested = nil
						}
						if err != nil {
							io.Copy(io.Discard, c)
							return
						}
					}
				}()
				http2.NewFramer(c, nil).WriteSettings()
				<-requested
				c.Write(answer)
			}()
			return client, nil
		},
	}
}

// response2 returns a response over HTTP/2 to the first request. fields are names and values.
func response2(status, body string, fields ...string) []byte {
	var head, b bytes.Buffer
	e := hpack.NewEncoder(&head)
	e.WriteField(hpack.HeaderField{Name: ":status", Value: status})
	e.WriteField(hpack.HeaderField{Name: "content-type", Value: "text/html"})
	for f := range slices.Chunk(fields, 2) {
		e.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	f := http2.NewFramer(&b, nil)
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head.Bytes(), EndHeaders: true})
	f.WriteData(1, true, []byte(body))
	return b.Bytes()
}

// HTTP/2 frames a body itself, so that fields of HTTP/1.1 have no meaning.
func TestConnectionFieldsOfHTTP2AreIgnored(t *testing.T) {
	const body = "3\r\nthe\r\n0\r\n\r\n"
	tape := new(Tape)
	w := newRawHTTP2(t).transport(response2("200", body, "transfer-encoding", "chunked", "connection", "close"))
	defer w.CloseIdleConnections()
	resp, err := w.RoundTrip(request(t.Context(), t, "https://example.com/", tape))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || string(got) != body || string(tape.Body) != body {
		t.Errorf("%q, %v, on the tape %q", got, err, tape.Body)
	}
	if want := (http.Header{"Content-Type": {"text/html"}}); !maps.EqualFunc(resp.Header, want, slices.Equal[[]string]) {
		t.Errorf("%v, want %v", resp.Header, want)
	}
	if want := "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n"; string(tape.Head) != want {
		t.Errorf("%q, want %q", tape.Head, want)
	}
}

// FuzzHTTP2 checks that any frames of a server end in a response that is recorded as valid
// HTTP/1.1 within the limits, or in an error.
func FuzzHTTP2(f *testing.F) {
	raw := newRawHTTP2(f)
	for _, status := range append(invalidStatuses, "200", "103", "304", "999") {
		f.Add(response2(status, "body"))
	}
	f.Add([]byte{})
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\nbody"))
	f.Add(append(response2("103", "")[:30], response2("200", "body")...))
	f.Fuzz(func(t *testing.T, answer []byte) {
		const limit = 1 << 10
		tape := &Tape{Limit: limit}
		status, _, err := raw.get(t, answer, tape)
		if status == 0 {
			if err == nil {
				t.Fatal("neither a status nor an error")
			}
			return
		}
		if status < 200 || status > 999 {
			t.Fatalf("status %d", status)
		}
		if len(tape.Head) > maxHeader+64 || len(tape.Body) > limit {
			t.Fatalf("a head of %d bytes, a body of %d", len(tape.Head), len(tape.Body))
		}
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(tape.Head)), &http.Request{Method: http.MethodHead})
		if err != nil || resp.StatusCode != status {
			t.Fatalf("recorded as %.200q: %v", tape.Head, err)
		}
	})
}
