//go:build linux

package fetch_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"golang.org/x/sys/unix"
)

// A peer is the server side of a connection.
type peer struct {
	net.Conn
	request *http.Request // being answered; nil before the first
	server  *server
}

// A step is an action of a server on a connection. A response is a sequence of steps, after
// which the connection is closed.
type step func(*peer)

// say writes the parts.
func say(parts ...string) step {
	text := strings.Join(parts, "")
	return func(p *peer) { io.WriteString(p, text) }
}

// flood writes piece repeatedly, as fast as possible, until the client has gone.
func flood(piece string) step {
	block := bytes.Repeat([]byte(piece), max(1, (32<<10)/len(piece)))
	return func(p *peer) {
		for {
			n, err := p.Write(block)
			p.server.sent(int64(n))
			if err != nil {
				return
			}
		}
	}
}

// trickle writes piece at intervals until the client has gone.
func trickle(piece string, every time.Duration) step {
	return func(p *peer) {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for range tick.C {
			if _, err := io.WriteString(p, piece); err != nil {
				return
			}
		}
	}
}

// hush waits silently until the client has gone.
func hush(p *peer) { io.Copy(io.Discard, p) }

// reset closes the connection with an RST.
func reset(p *peer) {
	tcp(p.Conn).SetLinger(0)
	p.Close()
}

func tcp(c net.Conn) *net.TCPConn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return c.(*net.TCPConn)
}

const html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

// page responds with a valid page.
func page(body string) step { return typed("text/html", body) }

func typed(media, body string) step {
	return say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: ", media,
		fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", len(body)), body)
}

// keptAlive returns a page after which the connection may stay open.
func keptAlive(body string) string {
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", html, len(body), body)
}

// status responds with a status, header lines and a short body.
func status(code int, header ...string) step {
	return say(fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: text/html\r\nContent-Length: 5\r\n", code, http.StatusText(code)),
		strings.Join(append(header, ""), "\r\n"), "\r\nsorry")
}

// redirect responds with a redirect.
func redirect(location string) step { return status(http.StatusFound, "Location: "+location) }

// coded responds with a body in content codings, with the right Content-Length.
func coded(codings string, body []byte) step {
	return say(html, "Content-Encoding: ", codings, fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", len(body)), string(body))
}

// A server serves a fault on every address of 127.0.0.0/8.
type server struct {
	net.Listener
	answers map[string][]step // by path; "" for all others
	greet   []step            // sent without waiting for requests
	closed  bool              // does not listen
	full    bool              // does not accept, and its queue is full
	tls     *tls.Config
	persist bool             // the connection is not closed after a response
	frames  []move           // over HTTP/2, instead of answers
	handler http.HandlerFunc // over HTTP/2, instead of frames

	mu      sync.Mutex
	asked   map[string]int // requests by path
	cookies int            // requests with a cookie
	forged  int            // requests with an injected header
	flooded int64          // bytes that flood has sent
	conns   map[net.Conn]bool
	wg      sync.WaitGroup
}

// listen starts the server, which is closed with its connections after the test.
func (s *server) listen(t testing.TB) {
	t.Helper()
	if s.full {
		s.Listener = fill(t)
		return
	}
	var err error
	if s.Listener, err = net.Listen("tcp4", "0.0.0.0:0"); err != nil {
		t.Fatal(err)
	}
	if s.closed {
		s.Close()
		return
	}
	s.Listener = homely{s.Listener}
	s.asked, s.conns = map[string]int{}, map[net.Conn]bool{}
	if s.handler != nil {
		s.serveHandler(t)
		return
	}
	s.wg.Go(func() {
		for {
			c, err := s.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		s.Close()
		s.mu.Lock()
		for c := range s.conns {
			c.Close()
		}
		s.conns = nil
		s.mu.Unlock()
		s.wg.Wait()
	})
}

// A homely listener accepts connections from loopback only, on the wildcard address, which is
// needed for all of 127.0.0.0/8.
type homely struct{ net.Listener }

func (l homely) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || c.LocalAddr().(*net.TCPAddr).IP.IsLoopback() {
			return c, err
		}
		c.Close()
	}
}

// fill returns a listener whose queue is full, so that the kernel drops further connection
// attempts.
func fill(t testing.TB) net.Listener {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(unix.Bind(fd, &unix.SockaddrInet4{}), unix.Listen(fd, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "full")
	defer file.Close()
	l, err := net.FileListener(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for range 10 {
		c, err := net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", l.Addr().(*net.TCPAddr).Port), 100*time.Millisecond)
		if err != nil {
			return l
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Fatal("the queue of a listener is never full")
	return nil
}

func (s *server) port() int { return s.Addr().(*net.TCPAddr).Port }

func (s *server) sent(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flooded += n
}

// keep registers a connection to be closed after the test. It reports whether the test is
// still running.
func (s *server) keep(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		return false
	}
	s.conns[c] = true
	return true
}

func (s *server) serve(c net.Conn) {
	defer c.Close()
	if !s.keep(c) {
		return
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, c)
	}()
	p := &peer{Conn: c, server: s}
	if s.greet != nil {
		p.do(s.greet)
		return
	}
	if s.tls != nil {
		secure := tls.Server(c, s.tls)
		if p.Conn = secure; s.frames != nil {
			if secure.Handshake() == nil {
				s.serve2(p)
			}
			return
		}
	}
	for r := bufio.NewReader(p); ; {
		var err error
		if p.request, err = http.ReadRequest(r); err != nil {
			return
		}
		s.count(p.request)
		path := p.request.URL.Path
		answer, ok := s.answers[path]
		switch {
		case ok:
		case path == "/robots.txt":
			status(http.StatusNotFound)(p)
			continue
		default:
			answer = s.answers[""]
		}
		if !s.persist {
			p.do(answer)
			return
		}
		for _, do := range answer {
			do(p)
		}
	}
}

// count records a request.
func (s *server) count(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[r.URL.Path]++
	if r.Header.Get("Cookie") != "" {
		s.cookies++
	}
	if r.Header.Get("X-Injected") != "" {
		s.forged++
	}
}

// do executes steps and closes the connection so that everything sent arrives.
func (p *peer) do(steps []step) {
	for _, do := range steps {
		do(p)
	}
	if tcp(p.Conn).CloseWrite() == nil {
		p.SetReadDeadline(time.Now().Add(time.Second))
		io.Copy(io.Discard, tcp(p.Conn))
	}
}

// Bombs are this many zeros in codings that compress them to almost nothing. They are assembled
// from pieces, since compressing so much would take long.
const (
	bombSize  = 4 << 30
	bombPiece = 1 << 20
)

var (
	gzipBomb = sync.OnceValue(func() []byte {
		return append([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"), deflated()...)
	})
	deflateBomb = sync.OnceValue(func() []byte {
		return append([]byte("\x78\x9c"), deflated()...)
	})
	nestedBomb = sync.OnceValue(func() []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(gzipBomb())
		w.Close()
		return out.Bytes()
	})
	brotliBomb = sync.OnceValue(func() []byte {
		var out bytes.Buffer
		return pieces(&out, brotli.NewWriter(&out))
	})
	// RFC 8878: the magic number, a window of 128 KiB, and blocks of one byte that is
	// repeated 128 Ki times.
	zstdBomb = sync.OnceValue(func() []byte {
		const (
			block = 128 << 10
			head  = block<<3 | 1<<1
		)
		return append([]byte("\x28\xb5\x2f\xfd\x00\x38"),
			bytes.Repeat([]byte{head & 0xff, head >> 8 & 0xff, head >> 16, ' '}, bombSize/block)...)
	})
)

func deflated() []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression)
	return pieces(&out, w)
}

// pieces returns a compressed piece and the one that follows it, which can be repeated: after
// the same piece, equal bytes have the same meaning.
func pieces(out *bytes.Buffer, w interface {
	io.Writer
	Flush() error
}) []byte {
	piece := bytes.Repeat([]byte(" "), bombPiece)
	var ends [3]int
	for i := range ends {
		w.Write(piece)
		w.Flush()
		ends[i] = out.Len()
	}
	return append(bytes.Clone(out.Bytes()[:ends[1]]),
		bytes.Repeat(out.Bytes()[ends[1]:ends[2]], bombSize/bombPiece-2)...)
}

// certificates are those of servers. The file has the authority that signed all but the
// self-signed one, for SSL_CERT_FILE.
type certificates struct {
	file                                  string
	valid, expired, wrongName, selfSigned *tls.Config
}

func newCertificates(t testing.TB, file string) certificates {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, &key.PublicKey, key)
	must(err)
	must(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	issue := func(change func(*x509.Certificate), issuer *x509.Certificate) *tls.Config {
		leaf := &x509.Certificate{
			SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "a server"},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
		for i := range 256 {
			leaf.IPAddresses = append(leaf.IPAddresses, net.IPv4(127, 0, 0, byte(i)))
		}
		change(leaf)
		if issuer == nil {
			issuer = leaf
		}
		der, err := x509.CreateCertificate(rand.Reader, leaf, issuer, &key.PublicKey, key)
		must(err)
		return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	}
	return certificates{
		file:  file,
		valid: issue(func(*x509.Certificate) {}, authority),
		expired: issue(func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
		}, authority),
		wrongName:  issue(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"other.test"} }, authority),
		selfSigned: issue(func(c *x509.Certificate) {}, nil),
	}
}
