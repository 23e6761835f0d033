package crawler

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// A faultySite is a web site on loopback with the faults of real servers.
type faultySite struct {
	*httptest.Server
	mu     sync.Mutex
	paths  []string      // that were requested
	asked  chan struct{} // receives one for each, unless it is full
	robots string        // robots.txt; 404 if empty

	robotsTo string // where robots.txt redirects to, if not empty
}

// newFaultySite returns a site that is closed when the test ends.
func newFaultySite(t testing.TB) *faultySite {
	s := &faultySite{asked: make(chan struct{}, 1000), robots: "User-agent: *\nDisallow: /private/\nDisallow: /to-private\n"}
	bombs() // not during a request
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.CloseClientConnections)
	return s
}

// requests returns the requested paths, except robots.txt.
func (s *faultySite) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, p := range s.paths {
		if p != "/robots.txt" {
			all = append(all, p)
		}
	}
	return all
}

func (s *faultySite) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.paths = append(s.paths, r.URL.Path)
	s.mu.Unlock()
	if r.URL.Path != "/robots.txt" {
		select {
		case s.asked <- struct{}{}:
		default:
		}
	}
	name, arg, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	page := "<title>" + name + "</title><p>näive</p>" + strings.Repeat("<p>words and words</p>\n", 20)
	switch name {
	case "robots.txt":
		if s.robotsTo != "" {
			http.Redirect(w, r, s.robotsTo, http.StatusFound)
			return
		}
		if s.robots == "" {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, s.robots)
	case "gzip", "deflate", "rawdeflate", "br", "zstd":
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.Header().Set("Content-Encoding", strings.TrimPrefix(name, "raw"))
		w.Write(pack(name, []byte(page)))
	case "bomb":
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", arg)
		w.Write(bombs()[arg])
	case "big":
		w.Header().Set("Content-Type", "text/html")
		w.Write(bytes.Repeat([]byte("0123456789"), 1000))
	case "endless":
		w.Header().Set("Content-Type", "text/html")
		for {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<10)); err != nil {
				return
			}
		}
	case "chunked":
		w.Header().Set("Content-Type", "text/html")
		for _, part := range []string{"one ", "two ", "three"} {
			io.WriteString(w, part)
			w.(http.Flusher).Flush()
		}
	case "redirect": // /redirect/xx redirects twice
		if n := len(arg); n > 1 {
			http.Redirect(w, r, "/redirect/"+arg[1:], http.StatusFound)
		} else {
			http.Redirect(w, r, "/page", http.StatusMovedPermanently)
		}
	case "loop":
		http.Redirect(w, r, "/pool", http.StatusFound)
	case "pool":
		http.Redirect(w, r, "/loop", http.StatusFound)
	case "goto":
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	case "image":
		w.Header().Set("Content-Type", "image/png")
		w.Write([]byte("\x89PNG\r\n\x1a\n"))
	case "notype":
		w.Header()["Content-Type"] = nil
		w.Write([]byte(arg + page))
	case "notype-image":
		w.Header()["Content-Type"] = nil
		w.Write([]byte("\x89PNG\r\n\x1a\n"))
	case "latin1":
		w.Header().Set("Content-Type", "Text/HTML; charset=ISO-8859-1")
		w.Write([]byte("<p>na\xefve</p>"))
	case "status":
		var n int
		fmt.Sscan(arg, &n)
		if v := r.URL.Query().Get("retry"); v != "" {
			w.Header().Set("Retry-After", v)
		}
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(n)
		io.WriteString(w, "sorry")
	case "stall": // never answers
		<-r.Context().Done()
	case "slow": // never ends
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "the beginning")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case "short":
		raw(w, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\nthe beginning")
	case "long":
		raw(w, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\nthe rest is too much")
	case "interim":
		raw(w, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-TYPE: text/html\r\nContent-Length: 3\r\n\r\nthe")
	case "nonsense":
		raw(w, "I do not speak HTTP\r\n\r\n")
	case "badstatus":
		raw(w, "HTTP/1.1 +20 Odd\r\nContent-Type: text/html\r\n\r\n<p>words")
	case "hangup":
		raw(w, "")
	case "halfhead":
		raw(w, "HTTP/1.1 200 OK\r\nContent-Type: te")
	case "headers":
		var b strings.Builder
		b.WriteString("HTTP/1.1 200 OK\r\n")
		for i := range 100_000 {
			fmt.Fprintf(&b, "X-%d: y\r\n", i)
		}
		raw(w, b.String()+"\r\n")
	case "badheader":
		raw(w, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Name: na\xefve\r\nContent-Length: 2\r\n\r\nok")
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, page)
	}
}

// raw sends bytes and closes the connection.
func raw(w http.ResponseWriter, answer string) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer c.Close()
	io.WriteString(c, answer)
	if t, ok := c.(*net.TCPConn); ok && answer != "" {
		t.CloseWrite()
		t.SetReadDeadline(time.Now().Add(time.Second))
		io.Copy(io.Discard, t) // or the kernel would reset the connection before everything is read
	}
}

// bombs are two megabytes of zeros in each coding.
var bombs = sync.OnceValue(func() map[string][]byte {
	all := map[string][]byte{}
	for _, coding := range []string{"gzip", "br", "zstd"} {
		all[coding] = pack(coding, make([]byte, 2<<20))
	}
	return all
})

// pack applies a content coding.
func pack(coding string, b []byte) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "deflate":
		w = zlib.NewWriter(&out)
	case "rawdeflate":
		w, _ = flate.NewWriter(&out, 6)
	case "br":
		w = brotli.NewWriter(&out)
	case "zstd":
		w, _ = zstd.NewWriter(&out, zstd.WithWindowSize(1<<20))
	}
	w.Write(b)
	w.Close()
	return out.Bytes()
}
