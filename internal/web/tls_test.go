package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// page is the page that servePage serves, compressed at /gzip.
var page = strings.Repeat("<p>some words of a page</p>\n", 1000)

func servePage(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("X-Two", "b")
	w.Header().Add("X-Two", "a")
	w.Header()["Date"] = nil
	if r.URL.Path == "/gzip" {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, page)
		z.Close()
		return
	}
	io.WriteString(w, page)
}

// serveTLS returns a server, a transport that trusts its certificate, and the number of its
// connections.
func serveTLS(t testing.TB, h http.HandlerFunc, http2 bool) (*httptest.Server, *Transport, *atomic.Int64) {
	made := new(atomic.Int64)
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	s.StartTLS()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	w := &Transport{TLS: &tls.Config{RootCAs: roots}}
	t.Cleanup(func() {
		w.CloseIdleConnections()
		s.Close()
	})
	return s, w, made
}

func TestHTTP2IsRecordedAsHTTP1(t *testing.T) {
	for _, path := range []string{"/plain", "/gzip"} {
		for _, version := range []string{"http/1.1", "h2"} {
			s, w, _ := serveTLS(t, servePage, true)
			w.HTTP1 = version == "http/1.1"
			tape := new(Tape)
			status, body, err := get(t, w, s.URL+path, tape)
			if err != nil || status != 200 {
				t.Fatal(status, err)
			}
			if diff := gocmp.Diff([]string{version, "tls/1.3"}, tape.Protocols); diff != "" || tape.IP != "127.0.0.1" || tape.Unverified != "" {
				t.Errorf("%s %s: from %s, %q, %s", version, path, tape.IP, tape.Unverified, diff)
			}
			if version == "h2" && string(tape.Body) != body {
				t.Errorf("%s: the tape has another body than the response", path)
			}
			want := "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nx-two: b\r\nx-two: a\r\n\r\n"
			if path == "/gzip" {
				want = strings.Replace(want, "content-type", fmt.Sprintf("content-encoding: gzip\r\ncontent-length: %d\r\ncontent-type", len(body)), 1)
			}
			if version == "h2" && string(tape.Head) != want {
				t.Errorf("%s: head %q, want %q", path, tape.Head, want)
			}
			if want := "GET " + path + " HTTP/1.1\r\nHost: " + strings.TrimPrefix(s.URL, "https://") + "\r\nUser-Agent: test/1\r\n\r\n"; string(tape.Request) != want {
				t.Errorf("request %q, want %q", tape.Request, want)
			}
			// The tape can be parsed as HTTP/1.1.
			resp, err := http.ReadResponse(bufio.NewReader(io.MultiReader(bytes.NewReader(tape.Head), bytes.NewReader(tape.Body))), nil)
			if err != nil {
				t.Fatal(err)
			}
			var r io.Reader = resp.Body
			if path == "/gzip" {
				if r, err = gzip.NewReader(r); err != nil {
					t.Fatal(err)
				}
			}
			if b, err := io.ReadAll(r); string(b) != page || err != nil {
				t.Errorf("%s %s: parsed from the tape, it has %d bytes: %v", version, path, len(b), err)
			}
		}
	}
}

func TestHTTP2ConnectionIsShared(t *testing.T) {
	s, w, made := serveTLS(t, servePage, true)
	if _, _, err := get(t, w, s.URL+"/", new(Tape)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, body, err := get(t, w, s.URL+"/", new(Tape)); err != nil || body != page {
				t.Error(len(body), err)
			}
		})
	}
	wg.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
	if len(w.hosts) != 1 || w.idle.Len() != 1 {
		t.Errorf("%d hosts, %d idle connections", len(w.hosts), w.idle.Len())
	}
	w.CloseIdleConnections()
	if len(w.hosts) != 0 || w.idle.Len() != 0 {
		t.Errorf("%d hosts, %d idle connections", len(w.hosts), w.idle.Len())
	}
}

// A connection that was closed while idle is replaced, and no request is sent twice.
func TestHTTP2ConnectionIsReplaced(t *testing.T) {
	var requests atomic.Int64
	s, w, made := serveTLS(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		servePage(w, r)
	}, true)
	for range 5 {
		if _, body, err := get(t, w, s.URL+"/", new(Tape)); err != nil || body != page {
			t.Error(len(body), err)
		}
		s.CloseClientConnections()
	}
	if made.Load() != 5 || requests.Load() != 5 {
		t.Errorf("%d connections, %d requests", made.Load(), requests.Load())
	}
}

func TestHTTP2BodyIsClosedEarly(t *testing.T) {
	s, w, made := serveTLS(t, func(w http.ResponseWriter, r *http.Request) {
		for i := 0; r.URL.Path == "/endless" || i < 1; i++ {
			if _, err := io.WriteString(w, page); err != nil {
				return
			}
		}
	}, true)
	tape := &Tape{Limit: 100_000}
	if _, _, err := get(t, w, s.URL+"/endless", tape); !errors.Is(err, ErrTapeFull) || len(tape.Body) != 100_000 {
		t.Errorf("%d bytes, %v", len(tape.Body), err)
	}
	resp, err := w.RoundTrip(request(t.Context(), t, s.URL+"/endless", new(Tape)))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, errClosed) {
		t.Errorf("Read after Close: %d, %v", n, err)
	}
	if _, body, err := get(t, w, s.URL+"/", new(Tape)); err != nil || body != page || made.Load() != 1 {
		t.Errorf("the next request: %d bytes, %v, %d connections", len(body), err, made.Load())
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		s, w, _ := serveTLS(t, servePage, http2)
		trusted := w.TLS
		w.TLS = nil
		_, _, err := get(t, w, s.URL+"/", new(Tape))
		if _, ok := errors.AsType[*TLSError](err); !ok || !strings.Contains(err.Error(), "unknown authority") {
			t.Errorf("unknown authority: %v", err)
		}
		w.Insecure = true
		for range 2 { // the second request reuses the connection
			tape := new(Tape)
			if _, body, err := get(t, w, s.URL+"/", tape); err != nil || body != page || !strings.Contains(tape.Unverified, "unknown authority") {
				t.Errorf("unknown authority, Insecure: %v, %q", err, tape.Unverified)
			}
		}
		w.CloseIdleConnections()
		w.TLS = trusted
		tape := new(Tape)
		if _, _, err := get(t, w, s.URL+"/", tape); err != nil || tape.Unverified != "" {
			t.Errorf("trusted authority: %v, %q", err, tape.Unverified)
		}
		// The server's certificate is for example.com and 127.0.0.1.
		w = &Transport{TLS: trusted, Resolver: names{"a.test": {"127.0.0.1"}, "example.com": {"127.0.0.1"}}}
		other := strings.Replace(s.URL, "127.0.0.1", "a.test", 1)
		if _, _, err := get(t, w, other, tape); err == nil || !strings.Contains(err.Error(), "a.test") {
			t.Errorf("certificate for another name: %v", err)
		}
		w.Insecure = true
		if _, _, err := get(t, w, other, tape); err != nil || !strings.Contains(tape.Unverified, "a.test") {
			t.Errorf("certificate for another name, Insecure: %v, %q", err, tape.Unverified)
		}
		for _, dot := range []string{"", "."} {
			w.Insecure = false
			if _, _, err := get(t, w, strings.Replace(s.URL, "127.0.0.1", "example.com"+dot, 1), tape); err != nil && dot == "" {
				t.Errorf("certificate for this name: %v", err)
			}
		}
		w.CloseIdleConnections()
	}
}

func TestServerWithoutTLS(t *testing.T) {
	w := pipes(func(_ int, c net.Conn) {
		go io.Copy(io.Discard, c)
		io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
	})
	_, _, err := get(t, w, "https://192.0.2.1/", new(Tape))
	if _, ok := errors.AsType[*TLSError](err); !ok {
		t.Errorf("%v is not a *TLSError", err)
	}
	if len(w.hosts) != 0 {
		t.Errorf("%d hosts remain", len(w.hosts))
	}
}
