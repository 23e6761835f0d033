package web

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spoor/internal/message"
)

// request is a GET of url with a tape.
func request(ctx context.Context, t testing.TB, url string, tape *Tape) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(Record(ctx, tape), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "test/1")
	return req
}

// get fetches url and reads the whole body.
func get(t testing.TB, w *Transport, url string, tape *Tape) (status int, body string, err error) {
	t.Helper()
	resp, err := w.RoundTrip(request(t.Context(), t, url, tape))
	if err != nil {
		return 0, "", err
	}
	b, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	return resp.StatusCode, string(b), err
}

// pipes returns a transport whose connections are pipes to serve, which is called with the
// number of earlier connections.
func pipes(serve func(n int, c net.Conn)) *Transport {
	var mu sync.Mutex
	made := 0
	return &Transport{connect: func(context.Context, netip.AddrPort) (net.Conn, error) {
		client, server := net.Pipe()
		mu.Lock()
		defer mu.Unlock()
		n := made
		made++
		go func() {
			defer server.Close()
			serve(n, server)
		}()
		return client, nil
	}}
}

// readRequest reads a request and returns its path, or "" after an error.
func readRequest(br *bufio.Reader) string {
	req, err := http.ReadRequest(br)
	if err != nil {
		return ""
	}
	return req.URL.Path
}

// respond returns a transport to a server that answers the first request of every connection
// with the same bytes.
func respond(answer string) *Transport {
	return pipes(func(_ int, c net.Conn) {
		readRequest(bufio.NewReader(c))
		io.WriteString(c, answer)
	})
}

func TestTapeHoldsTheBytesOnTheWire(t *testing.T) {
	long := strings.Repeat("words and words ", 10_000)
	const chunked, three = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
	for name, c := range map[string]struct {
		before, head, body, after string // what the server sends
		read                      string // by the caller; "" means body
		protocol                  string // "" means http/1.1
		err                       error
	}{
		"spelling":          {head: "HTTP/1.1 200 fine\r\ncontent-TYPE:text/html\r\nX:  a \r\nContent-Length: 4\r\n\r\n", body: "body"},
		"bare newlines":     {head: "HTTP/1.1 200 OK\nA: b\nContent-Length: 4\n\n", body: "body"},
		"chunks":            {head: chunked, body: "3;x=y\r\nthe\r\n1\r\n \r\n0\r\nT: u\r\n\r\n", read: "the "},
		"chunks, then more": {head: chunked, body: "3\r\nthe\r\n0\r\n\r\n", after: "more", read: "the"},
		"more than length":  {head: three, body: "the", after: " rest"},
		"chunks twice":      {head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", body: "3\r\nthe\r\n0\r\n\r\n", read: "the"},
		"chunks in 1.0":     {head: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", body: "3\r\nthe\r\n0\r\n\r\n", read: "the", protocol: "http/1.0"},
		"no chunks in 1.0":  {head: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", body: "<p>the</p>", protocol: "http/1.0"},
		"no empty line":     {head: chunked, body: "3\r\nthe\r\n0\r\n", read: "the"},
		"a malformed chunk": {head: chunked, body: "3\r\nthe\r\nzz\r\n", after: "more", read: "thezz\r\n", err: errChunks},
		"no chunks":         {head: chunked, body: "<p>the</p>\r\nmore", err: io.ErrUnexpectedEOF},
		"no colon":          {head: "HTTP/1.1 200 OK\r\nA = b\r\nContent-Length: 3\r\n\r\n", body: "the"},
		"length as list":    {head: "HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\n\r\n", body: "the", after: "more"},
		"lengths":           {before: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nthee", err: message.ErrLengths},
		"no HTTP":           {before: "SSH-2.0-OpenSSH_9.6\r\n", err: message.ErrNotHTTP},
		"empty lines":       {before: "\r\n", head: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", body: "the"},
		"to the end":        {head: "HTTP/1.1 200 OK\r\n\r\n", body: long},
		"HTTP/1.0":          {head: "HTTP/1.0 200 OK\r\n\r\n", body: "old", protocol: "http/1.0"},
		"interim responses": {before: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 \r\nLink: x\r\n\r\n", head: "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n", body: "no"},
		"no body":           {head: "HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n"},
		"an empty body":     {head: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		"a torn body":       {head: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", body: "body", err: io.ErrUnexpectedEOF},
		"a torn chunk":      {head: chunked, body: "9\r\nthe", read: "the", err: io.ErrUnexpectedEOF},
		"a torn header":     {before: "HTTP/1.1 200 OK\r\nConte", err: io.ErrUnexpectedEOF},
		"another protocol":  {before: "HTTP/1.1 101 Switching Protocols\r\n\r\n", err: errSwitched},
		"nothing":           {err: errNoAnswer},
		"a long header":     {before: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHeader), err: ErrHeaderSize},
		"endless interim":   {before: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 20_000), err: ErrHeaderSize},
	} {
		t.Run(name, func(t *testing.T) {
			tape := new(Tape)
			status, read, err := get(t, respond(c.before+c.head+c.body+c.after), "http://192.0.2.1/a?b", tape)
			if !errors.Is(err, c.err) || c.err == nil && err != nil {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if status == 0 {
				return
			}
			want := Tape{
				IP: "192.0.2.1", Protocols: []string{cmp.Or(c.protocol, "http/1.1")},
				Request: []byte("GET /a?b HTTP/1.1\r\nHost: 192.0.2.1\r\nUser-Agent: test/1\r\n\r\n"),
				Head:    []byte(c.head), Body: []byte(c.body),
			}
			if diff := gocmp.Diff(want, *tape, cmpopts.IgnoreUnexported(Tape{}), cmpopts.IgnoreFields(Tape{}, "Start"), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if want := cmp.Or(c.read, c.body); read != want {
				t.Errorf("read %.100q, want %.100q", read, want)
			}
			if tape.Start.IsZero() {
				t.Error("Start is zero")
			}
		})
	}
}

func TestTapeLimit(t *testing.T) {
	const endless = 5 << 20 // beyond every limit
	for name, answer := range map[string]string{
		"to the end":       "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", endless),
		"length":           fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", endless, strings.Repeat("x", endless)),
		"chunks of a byte": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1\r\nx\r\n", endless/6),
		"chunk extensions": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;abcdefghijkl\r\nx\r\n", endless/19),
	} {
		tape := &Tape{Limit: 3 << 20}
		_, _, err := get(t, respond(answer), "http://192.0.2.1/", tape)
		if !errors.Is(err, ErrTapeFull) {
			t.Errorf("%s: %v", name, err)
		}
		if n := int64(len(tape.Body)); n != tape.Limit {
			t.Errorf("%s: %d bytes", name, n)
		}
		if cap(tape.received) > 6<<20 {
			t.Errorf("%s: capacity of %d bytes", name, cap(tape.received))
		}
		tape.Reset()
		if cap(tape.received) > maxKept || len(tape.Body) > 0 || tape.Limit == 0 {
			t.Errorf("%s: %d bytes are kept", name, cap(tape.received))
		}
	}
}

// The tape holds what the caller has read.
func TestBodyIsClosedEarly(t *testing.T) {
	tape := new(Tape)
	w := respond("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + strings.Repeat("x", 100))
	resp, err := w.RoundTrip(request(t.Context(), t, "http://192.0.2.1/", tape))
	if err != nil {
		t.Fatal(err)
	}
	io.CopyN(io.Discard, resp.Body, 10)
	resp.Body.Close()
	if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, errClosed) {
		t.Errorf("Read after Close: %d, %v", n, err)
	}
	if string(tape.Body) != "xxxxxxxxxx" || len(w.hosts) != 0 {
		t.Errorf("%q, %d hosts", tape.Body, len(w.hosts))
	}
}

func TestConnectionReuse(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for name, c := range map[string]struct {
		serve func(n int, br *bufio.Reader, c net.Conn)
		made  int // connections for three requests
		fails int // requests that fail
	}{
		"while it is open": {made: 1, serve: func(_ int, br *bufio.Reader, c net.Conn) {
			for readRequest(br) != "" {
				io.WriteString(c, ok)
			}
		}},
		"not if it is closed": {made: 3, serve: func(_ int, br *bufio.Reader, c net.Conn) {
			readRequest(br)
			io.WriteString(c, ok)
		}},
		"not after Connection: close": {made: 3, serve: func(_ int, br *bufio.Reader, c net.Conn) {
			readRequest(br)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
			readRequest(br)
			io.WriteString(c, ok)
		}},
		"not if more than the response was received": {made: 3, serve: func(_ int, br *bufio.Reader, c net.Conn) {
			readRequest(br)
			io.WriteString(c, ok+"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
			readRequest(br)
			io.WriteString(c, ok)
		}},
		// The server closes it while the request is being sent.
		"the request is repeated if it was closed": {made: 3, serve: func(n int, br *bufio.Reader, c net.Conn) {
			readRequest(br)
			io.WriteString(c, ok)
			br.Peek(1)
		}},
		"but not if a response had begun": {made: 2, fails: 1, serve: func(n int, br *bufio.Reader, c net.Conn) {
			readRequest(br)
			io.WriteString(c, ok)
			readRequest(br)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nConte")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				made, failed := 0, 0
				w := pipes(func(n int, conn net.Conn) {
					made = n + 1
					c.serve(n, bufio.NewReader(conn), conn)
				})
				for range 3 {
					tape := new(Tape)
					if _, body, err := get(t, w, "http://192.0.2.1/", tape); err != nil {
						failed++
					} else if body != "ok" || string(tape.Body) != "ok" {
						t.Errorf("%q, on tape %q", body, tape.Body)
					}
					synctest.Wait()
				}
				if made != c.made || failed != c.fails {
					t.Errorf("%d connections, want %d; %d failures, want %d", made, c.made, failed, c.fails)
				}
				w.CloseIdleConnections()
				if len(w.hosts) != 0 || w.idle.Len() != 0 {
					t.Errorf("%d hosts, %d idle connections", len(w.hosts), w.idle.Len())
				}
			})
		})
	}
}

// A watch that is delayed after it has found a connection alive must not close it when it is
// idle again.
func TestDelayedWatchLeavesConnectionOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		w := pipes(func(n int, c net.Conn) {
			made = n + 1
			for br := bufio.NewReader(c); readRequest(br) != ""; {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		})
		fetch := func() {
			t.Helper()
			if _, _, err := get(t, w, "http://192.0.2.1/", new(Tape)); err != nil {
				t.Fatal(err)
			}
		}
		fetch()
		w.mu.Lock() // delays the watch
		c := w.hosts["http://192.0.2.1"].idle[0]
		w.hosts[c.key].users++
		if open, err := w.getOpen(t.Context(), w.hosts[c.key], false); open != c || err != nil || !c.checkAlive() {
			t.Fatal("the connection is not reused")
		}
		w.putIdle(c)
		w.mu.Unlock()
		synctest.Wait()
		fetch()
		if made != 1 {
			t.Errorf("%d connections, want 1", made)
		}
		w.CloseIdleConnections()
		if len(w.hosts) != 0 {
			t.Errorf("%d hosts remain", len(w.hosts))
		}
	})
}

func TestIdleConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		open := 0
		w := pipes(func(_ int, c net.Conn) {
			mu.Lock()
			open++
			mu.Unlock()
			for br := bufio.NewReader(c); readRequest(br) != ""; {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
			mu.Lock()
			open--
			mu.Unlock()
		})
		w.MaxIdle = 3
		for i := range 10 {
			get(t, w, fmt.Sprintf("http://192.0.2.%d/", i), new(Tape))
		}
		check := func(want int) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			w.mu.Lock()
			defer w.mu.Unlock()
			if open != want || w.idle.Len() != want || len(w.hosts) != want {
				t.Errorf("%d open, %d idle, of %d hosts, want %d", open, w.idle.Len(), len(w.hosts), want)
			}
		}
		check(3)
		time.Sleep(idleTimeout + time.Second)
		check(0)
	})
}

func TestTimeouts(t *testing.T) {
	const connect, header, all = 10 * time.Second, 30 * time.Second, 60 * time.Second
	trickle := func(c net.Conn, before, drop string) {
		io.WriteString(c, before)
		for {
			time.Sleep(time.Second)
			if _, err := io.WriteString(c, drop); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		url   string
		serve func(c net.Conn)
		after time.Duration
		phase Phase
	}{
		"no response":   {"http://192.0.2.1/", func(c net.Conn) { readRequest(bufio.NewReader(c)); io.Copy(io.Discard, c) }, header, Header},
		"no reader":     {"http://192.0.2.1/", func(c net.Conn) { io.Copy(io.Discard, c) }, header, Header},
		"a slow header": {"http://192.0.2.1/", func(c net.Conn) { readRequest(bufio.NewReader(c)); trickle(c, "HTTP/1.1 200 OK\r\n", "X: y\r\n") }, header, Header},
		"slow interim":  {"http://192.0.2.1/", func(c net.Conn) { readRequest(bufio.NewReader(c)); trickle(c, "", "HTTP/1.1 100 C\r\n\r\n") }, header, Header},
		"a slow body":   {"http://192.0.2.1/", func(c net.Conn) { readRequest(bufio.NewReader(c)); trickle(c, "HTTP/1.1 200 OK\r\n\r\n", "x") }, all, Answer},
		"a silent body": {"http://192.0.2.1/", func(c net.Conn) {
			readRequest(bufio.NewReader(c))
			io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			io.Copy(io.Discard, c)
		}, all, Answer},
		"a slow handshake":   {"https://192.0.2.1/", func(c net.Conn) { trickle(c, "", "\x16") }, connect, Handshake},
		"a silent handshake": {"https://192.0.2.1/", func(c net.Conn) { io.Copy(io.Discard, c) }, connect, Handshake},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := pipes(func(_ int, conn net.Conn) { c.serve(conn) })
				w.ConnectTimeout, w.HeaderTimeout, w.Timeout = connect, header, all
				start := time.Now()
				_, _, err := get(t, w, c.url, new(Tape))
				timeout, ok := errors.AsType[*TimeoutError](err)
				if !ok || timeout.Phase != c.phase || !timeout.Timeout() || time.Since(start) != c.after || timeout.Limit != c.after {
					t.Errorf("%v after %v, want that of %s after %v", err, time.Since(start), c.phase, c.after)
				}
				if len(w.hosts) != 0 {
					t.Errorf("%d hosts remain", len(w.hosts))
				}
				time.Sleep(2 * time.Second) // until the server has ended
			})
		})
	}
}

func TestConnectTimeoutIsSharedByAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tried []string
		w := &Transport{
			ConnectTimeout: 9 * time.Second,
			Resolver:       names{"a.test": {"192.0.2.1", "2001:db8::1", "192.0.2.2"}},
			connect: func(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
				tried = append(tried, at.String())
				<-ctx.Done()
				return nil, ctx.Err()
			},
		}
		start := time.Now()
		_, _, err := get(t, w, "http://a.test/", new(Tape))
		timeout, ok := errors.AsType[*TimeoutError](err)
		if took := time.Since(start); !ok || timeout.Phase != Connect || took != 9*time.Second {
			t.Errorf("%v after %v", err, took)
		}
		if got := strings.Join(tried, " "); got != "192.0.2.1:80 [2001:db8::1]:80 192.0.2.2:80" {
			t.Errorf("tried %s", got)
		}
	})
}

func TestCancellationReturnsItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("enough")
		w := respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
		ctx, cancel := context.WithCancelCause(t.Context())
		resp, err := w.RoundTrip(request(ctx, t, "http://192.0.2.1/", new(Tape)))
		if err != nil {
			t.Fatal(err)
		}
		cancel(cause)
		if _, err := io.ReadAll(resp.Body); !errors.Is(err, cause) {
			t.Errorf("reading: %v", err)
		}
		resp.Body.Close()
		if _, err := w.RoundTrip(request(ctx, t, "http://192.0.2.1/", new(Tape))); !errors.Is(err, cause) {
			t.Errorf("RoundTrip: %v", err)
		}
	})
}

func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 103 \r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\n\r\nbody",
		"HTTP/1.1 100\n\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nthe\r\n0\r\nT: u\r\n\r\nmore",
		"HTTP/1.0 200\r\nContent-Length: 3\r\n\r\nthe rest", "HTTP/1.1 204 \r\n\r\n", "\x9d\x00", "",
	} {
		f.Add([]byte(s), uint16(100))
	}
	f.Fuzz(func(t *testing.T, sent []byte, limit uint16) {
		tape := &Tape{Limit: int64(limit)}
		status, _, err := get(t, respond(string(sent)), "http://192.0.2.1/", tape)
		if status == 0 && err == nil {
			t.Error("neither response nor error")
		}
		if !bytes.Contains(sent, append(bytes.Clone(tape.Head), tape.Body...)) {
			t.Errorf("head %q and body %q were not sent", tape.Head, tape.Body)
		}
		if limit > 0 && len(tape.Body) > max(int(limit), readBuffer) {
			t.Errorf("%d bytes of a body, the limit is %d", len(tape.Body), limit)
		}
	})
}
