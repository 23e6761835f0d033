package web

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// A relay is a proxy of any kind on loopback. It connects every name to one server, and
// records what is requested.
type relay struct {
	net.Listener
	kind   string
	server string // its address
	login  string // user:password, or ""

	mu       sync.Mutex
	requests []string
}

func newRelay(t *testing.T, kind, server, login string) *relay {
	r := &relay{kind: kind, server: strings.TrimPrefix(strings.TrimPrefix(server, "https://"), "http://"), login: login}
	var err error
	if r.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	go r.serve()
	return r
}

func (r *relay) serve() {
	for {
		c, err := r.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			if strings.HasPrefix(r.kind, "socks") {
				r.socks(c)
			} else {
				r.http(c)
			}
		}()
	}
}

func (r *relay) record(request string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, request)
}

// tunnel copies bytes in both directions until one side ends.
func (r *relay) tunnel(c io.ReadWriter) {
	to, err := net.Dial("tcp", r.server)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		io.Copy(to, c)
		to.Close()
	}()
	io.Copy(c, to)
}

func (r *relay) http(c io.ReadWriter) {
	br := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		r.record(req.Method + " " + req.RequestURI)
		if want := "Basic " + base64.StdEncoding.EncodeToString([]byte(r.login)); r.login != "" && req.Header.Get("Proxy-Authorization") != want {
			io.WriteString(c, "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
			return
		}
		if strings.HasPrefix(req.Host, "refused.test") {
			io.WriteString(c, "HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		if req.Method == http.MethodConnect {
			io.WriteString(c, "HTTP/1.1 200 Go on\r\nX: y\r\n\r\n")
			r.tunnel(struct {
				io.Reader
				io.Writer
			}{br, c})
			return
		}
		to, err := net.Dial("tcp", r.server)
		if err != nil {
			return
		}
		req.Header.Del("Proxy-Authorization")
		req.Write(to)
		resp, err := http.ReadResponse(bufio.NewReader(to), req)
		if err == nil {
			resp.Write(c)
		}
		to.Close()
	}
}

func (r *relay) socks(c net.Conn) {
	br := bufio.NewReader(c)
	read := func(n int) []byte {
		b := make([]byte, n)
		io.ReadFull(br, b)
		return b
	}
	methods := read(int(read(2)[1]))
	if r.login == "" {
		c.Write([]byte{5, 0})
	} else {
		if !strings.Contains(string(methods), "\x02") {
			c.Write([]byte{5, 0xff})
			return
		}
		c.Write([]byte{5, 2})
		user := string(read(int(read(2)[1])))
		password := string(read(int(read(1)[0])))
		if user+":"+password != r.login {
			c.Write([]byte{1, 1})
			return
		}
		c.Write([]byte{1, 0})
	}
	head := read(4)
	var host string
	switch head[3] {
	case 1:
		host = netip.AddrFrom4([4]byte(read(4))).String()
	case 3:
		host = string(read(int(read(1)[0])))
	case 4:
		host = netip.AddrFrom16([16]byte(read(16))).String()
	}
	port := read(2)
	r.record(net.JoinHostPort(host, fmt.Sprint(int(port[0])<<8|int(port[1]))))
	if host == "refused.test" {
		c.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	r.tunnel(struct {
		io.Reader
		io.Writer
	}{br, c})
}

func mustURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestProxies(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(servePage))
	defer plain.Close()
	secure, trusting, _ := serveTLS(t, servePage, true)
	const login = "me:it's a secret"
	for _, kind := range []string{"http", "socks5", "socks5h"} {
		for _, scheme := range []string{"http", "https"} {
			t.Run(kind+" to "+scheme, func(t *testing.T) {
				server := plain.URL
				if scheme == "https" {
					server = secure.URL
				}
				r := newRelay(t, kind, server, login)
				w := &Transport{
					TLS: trusting.TLS, Guard: public,
					Resolver: names{"example.com": {"192.0.2.7"}, "refused.test": {"192.0.2.8"}, "localhost": {"127.0.0.1"}},
					Proxy:    mustURL(t, kind+"://"+url.UserPassword("me", "it's a secret").String()+"@"+r.Addr().String()),
				}
				defer w.CloseIdleConnections()
				for range 2 { // the second request reuses the connection
					tape := new(Tape)
					status, body, err := get(t, w, scheme+"://example.com/a", tape)
					if err != nil || status != 200 || body != page {
						t.Fatalf("%d, %d bytes, %v", status, len(body), err)
					}
					if !strings.HasPrefix(string(tape.Head), "HTTP/1.1 200 OK\r\n") || !strings.Contains(string(tape.Body), "some words") {
						t.Errorf("head %q, %d bytes of body", tape.Head, len(tape.Body))
					}
					target, ip := "/a", ""
					if kind == "http" && scheme == "http" {
						target = "http://example.com/a"
					}
					if kind == "socks5" {
						ip = "192.0.2.7"
					}
					if want := "GET " + target + " HTTP/1.1\r\nHost: example.com\r\nUser-Agent: test/1\r\n\r\n"; string(tape.Request) != want {
						t.Errorf("request %q, want %q", tape.Request, want)
					}
					if tape.IP != ip || scheme == "https" && tape.Protocols[0] != "h2" {
						t.Errorf("IP %q, protocols %s", tape.IP, tape.Protocols)
					}
				}
				r.mu.Lock()
				got := strings.Join(r.requests, ", ")
				r.mu.Unlock()
				port := map[string]string{"http": "80", "https": "443"}[scheme]
				want := map[string]string{
					"http to http": "GET http://example.com/a, GET http://example.com/a", "http to https": "CONNECT example.com:443",
				}[kind+" to "+scheme]
				switch kind {
				case "socks5":
					want = "192.0.2.7:" + port
				case "socks5h":
					want = "example.com:" + port
				}
				if got != want {
					t.Errorf("requested %s, want %s", got, want)
				}

				// Addresses in the URL are passed to the guard.
				for _, private := range []string{
					"127.0.0.1", "[::1]", "169.254.169.254", "localhost", "x.localhost", "localhost.", "LocalHost", "X.localhost.",
					"127.0.0.1.", "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "0x7f.1.",
					"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "０x7f.1", "127。0。0。1",
				} {
					if _, _, err := get(t, w, scheme+"://"+private+"/", new(Tape)); !errors.Is(err, errPrivate) {
						t.Errorf("%s: %v", private, err)
					}
				}
				r.mu.Lock()
				if n := len(strings.Split(got, ", ")); len(r.requests) != n {
					t.Errorf("the proxy received %q", r.requests[n:])
				}
				r.mu.Unlock()
				if kind != "socks5" && !(kind == "http" && scheme == "http") {
					_, _, err := get(t, w, scheme+"://refused.test/", new(Tape))
					if p, ok := errors.AsType[*ProxyError](err); !ok || p.Down {
						t.Errorf("an unreachable server: %v", err)
					}
				}
				wrongPassword := &Transport{Proxy: mustURL(t, kind+"://you:nothing@"+r.Addr().String()), Resolver: w.Resolver}
				_, _, err := get(t, wrongPassword, scheme+"://example.com/", new(Tape))
				if p, ok := errors.AsType[*ProxyError](err); !ok || !p.Down || strings.Contains(err.Error(), "nothing") {
					t.Errorf("with a wrong password: %v", err)
				}
				unreachable := &Transport{Proxy: mustURL(t, kind+"://192.0.2.9:1"), Resolver: w.Resolver, connect: func(context.Context, netip.AddrPort) (net.Conn, error) {
					return nil, errors.New("refused")
				}}
				_, _, err = get(t, unreachable, scheme+"://example.com/", new(Tape))
				if p, ok := errors.AsType[*ProxyError](err); !ok || !p.Down {
					t.Errorf("an unreachable proxy: %v", err)
				}
				unresolvable := &Transport{Proxy: mustURL(t, kind+"://nowhere.test:1"), Resolver: w.Resolver}
				_, _, err = get(t, unresolvable, scheme+"://example.com/", new(Tape))
				if p, ok := errors.AsType[*ProxyError](err); !ok || !p.Down {
					t.Errorf("a proxy without an address: %v", err)
				}
				silent := &Transport{Proxy: unreachable.Proxy, Resolver: w.Resolver, ConnectTimeout: time.Millisecond, connect: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}}
				_, _, err = get(t, silent, scheme+"://example.com/", new(Tape))
				timeout, ok := errors.AsType[*TimeoutError](err)
				if p, isProxy := errors.AsType[*ProxyError](err); !isProxy || !p.Down || !ok || timeout.Phase != Connect {
					t.Errorf("a proxy that does not answer: %v", err)
				}
			})
		}
	}
}

func TestProxyWithTLS(t *testing.T) {
	target, trusting, _ := serveTLS(t, servePage, false)
	plain := httptest.NewServer(http.HandlerFunc(servePage))
	defer plain.Close()
	for _, scheme := range []string{"http", "https"} {
		server := plain.URL
		if scheme == "https" {
			server = target.URL
		}
		r := &relay{kind: "https", server: server[strings.Index(server, "//")+2:]}
		// It has the certificate of the other test servers.
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			c, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			r.record(req.Method + " " + req.RequestURI)
			if req.Method == http.MethodConnect {
				io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
				r.tunnel(struct {
					io.Reader
					io.Writer
				}{rw, c})
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"+page)
		}))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		defer s.Close()
		w := &Transport{TLS: trusting.TLS, Proxy: mustURL(t, s.URL)}
		tape := new(Tape)
		if _, body, err := get(t, w, scheme+"://example.com/", tape); err != nil || body != page {
			t.Errorf("%s: %d bytes, %v", scheme, len(body), err)
		}
		if len(r.requests) != 1 {
			t.Errorf("%s: requested %v", scheme, r.requests)
		}
		// Insecure does not apply to the proxy.
		w = &Transport{Insecure: true, Proxy: w.Proxy}
		_, _, err := get(t, w, scheme+"://example.com/", tape)
		if p, ok := errors.AsType[*ProxyError](err); !ok || !p.Down {
			t.Errorf("%s: a proxy with an invalid certificate: %v", scheme, err)
		}
	}
}

// The response to CONNECT is bounded, and nothing may follow it.
func TestConnectResponses(t *testing.T) {
	for name, c := range map[string]struct{ response, want string }{
		"too much":        {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxProxyHeader), "too long"},
		"too early":       {"HTTP/1.1 200 OK\r\n\r\nwords", "before the tunnel"},
		"no":              {"HTTP/1.1 403 No\r\n\r\n", "status 403"},
		"a password":      {"HTTP/1.1 407 No\r\n\r\n", "user name and password"},
		"garbage":         {"\x00\x01\r\n\r\n", "status line"},
		"nothing":         {"", "without a response"},
		"endless interim": {strings.Repeat("HTTP/1.1 100 C\r\n\r\n", maxProxyHeader), "too long"},
	} {
		w := pipes(func(_ int, c2 net.Conn) {
			readRequest(bufio.NewReader(c2))
			io.WriteString(c2, c.response)
		})
		w.Proxy = mustURL(t, "http://192.0.2.9:3128")
		_, _, err := get(t, w, "https://example.com/", new(Tape))
		if p, ok := errors.AsType[*ProxyError](err); !ok || p.Down != (name == "a password") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An address that net/url would change is sent as it is, through a proxy too.
func TestRequestTargetIsSentAsItIs(t *testing.T) {
	for _, proxy := range []string{"", "http://192.0.2.9:3128"} {
		for opaque, want := range map[string]string{"/a%zz": "/a%zz", "//example.com//b%": "http://example.com//b%"} {
			got := ""
			w := pipes(func(_ int, c net.Conn) {
				line, _ := bufio.NewReader(c).ReadString('\n')
				got = line
				io.WriteString(c, "HTTP/1.1 204 \r\n\r\n")
			})
			if proxy != "" {
				w.Proxy = mustURL(t, proxy)
				want = "http://example.com" + strings.TrimPrefix(want, "http://example.com")
			}
			req := request(t.Context(), t, "http://example.com/", new(Tape))
			req.URL.Opaque = opaque
			w.Resolver = names{"example.com": {"192.0.2.1"}}
			resp, err := w.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if want := "GET " + want + " HTTP/1.1\r\n"; got != want {
				t.Errorf("%s by %q: requested %q, want %q", opaque, proxy, got, want)
			}
		}
	}
}
