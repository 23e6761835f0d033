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

// ask asks for url and reads the answer to its end.
func ask(t testing.TB, w *Transport, url string, tape *Tape) (status int, body string, err error) {
	t.Helper()
	resp, err := w.RoundTrip(request(t.Context(), t, url, tape))
	if err != nil {
		return 0, "", err
	}
	b, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	return resp.StatusCode, string(b), err
}

// talk is a web of one server on pipes, which is called for every connection with the
// number of those before.
func talk(serve func(n int, c net.Conn)) *Transport {
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

// hear reads a request and gives its path, or "" if there is none.
func hear(br *bufio.Reader) string {
	req, err := http.ReadRequest(br)
	if err != nil {
		return ""
	}
	return req.URL.Path
}

// says is a server that answers every connection's first request with the same bytes.
func says(answer string) *Transport {
	return talk(func(_ int, c net.Conn) {
		hear(bufio.NewReader(c))
		io.WriteString(c, answer)
	})
}

func TestWhatWasSaidIsKeptToTheByte(t *testing.T) {
	long := strings.Repeat("words and words ", 10_000)
	const chunked, three = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
	for name, c := range map[string]struct {
		before, head, body, after string // what is said
		read                      string // by the caller; "": body
		protocol                  string // "": http/1.1
		err                       error
	}{
		"spelling":          {head: "HTTP/1.1 200 fine\r\ncontent-TYPE:text/html\r\nX:  a \r\nContent-Length: 4\r\n\r\n", body: "body"},
		"bare newlines":     {head: "HTTP/1.1 200 OK\nA: b\nContent-Length: 4\n\n", body: "body"},
		"chunks":            {head: chunked, body: "3;x=y\r\nthe\r\n1\r\n \r\n0\r\nT: u\r\n\r\n", read: "the "},
		"chunks, then more": {head: chunked, body: "3\r\nthe\r\n0\r\n\r\n", after: "more", read: "the"},
		"more than length":  {head: three, body: "the", after: " rest"},
		"to the end":        {head: "HTTP/1.1 200 OK\r\n\r\n", body: long},
		"HTTP/1.0":          {head: "HTTP/1.0 200 OK\r\n\r\n", body: "old", protocol: "http/1.0"},
		"interim answers":   {before: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 \r\nLink: x\r\n\r\n", head: "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n", body: "no"},
		"no body":           {head: "HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n"},
		"an empty body":     {head: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		"a torn body":       {head: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", body: "body", err: io.ErrUnexpectedEOF},
		"a torn chunk":      {head: chunked, body: "9\r\nthe", read: "the", err: io.ErrUnexpectedEOF},
		"a torn header":     {before: "HTTP/1.1 200 OK\r\nConte", err: io.ErrUnexpectedEOF},
		"another protocol":  {before: "HTTP/1.1 101 Switching Protocols\r\n\r\n", err: errSwitched},
		"nothing":           {err: errNoAnswer},
		"a long header":     {before: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", DefaultMaxHeader), err: ErrHeaderSize},
		"endless interim":   {before: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 20_000), err: ErrHeaderSize},
	} {
		t.Run(name, func(t *testing.T) {
			tape := new(Tape)
			status, read, err := ask(t, says(c.before+c.head+c.body+c.after), "http://192.0.2.1/a?b", tape)
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
				t.Error("no time")
			}
		})
	}
}

func TestATapeEndsAtItsLimit(t *testing.T) {
	const endless = 5 << 20 // as good as
	for name, answer := range map[string]string{
		"to the end":       "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", endless),
		"length":           fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", endless, strings.Repeat("x", endless)),
		"chunks of a byte": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1\r\nx\r\n", endless/6),
		"chunk extensions": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;abcdefghijkl\r\nx\r\n", endless/19),
	} {
		tape := &Tape{Limit: 3 << 20}
		_, _, err := ask(t, says(answer), "http://192.0.2.1/", tape)
		if !errors.Is(err, ErrTapeFull) {
			t.Errorf("%s: %v", name, err)
		}
		if n := int64(len(tape.Body)); n != tape.Limit {
			t.Errorf("%s: %d bytes", name, n)
		}
		if most := 6 << 20; cap(tape.received) > most {
			t.Errorf("%s: memory for %d bytes", name, cap(tape.received))
		}
		tape.Reset()
		if cap(tape.received) > keptTape || len(tape.Body) > 0 || tape.Limit == 0 {
			t.Errorf("%s: it keeps memory for %d bytes", name, cap(tape.received))
		}
	}
}

// A caller that stops reading has on tape what it read.
func TestABodyThatIsNotReadToItsEnd(t *testing.T) {
	tape := new(Tape)
	w := says("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + strings.Repeat("x", 100))
	resp, err := w.RoundTrip(request(t.Context(), t, "http://192.0.2.1/", tape))
	if err != nil {
		t.Fatal(err)
	}
	io.CopyN(io.Discard, resp.Body, 10)
	resp.Body.Close()
	if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, errClosed) {
		t.Errorf("after it was closed: %d, %v", n, err)
	}
	if string(tape.Body) != "xxxxxxxxxx" || len(w.hosts) != 0 {
		t.Errorf("%q, %d hosts", tape.Body, len(w.hosts))
	}
}

func TestAConnectionIsUsedAgain(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for name, c := range map[string]struct {
		serve func(n int, br *bufio.Reader, c net.Conn)
		made  int // connections for three requests
		fails int // of the three
	}{
		"as long as it lasts": {made: 1, serve: func(_ int, br *bufio.Reader, c net.Conn) {
			for hear(br) != "" {
				io.WriteString(c, ok)
			}
		}},
		"not if it is closed": {made: 3, serve: func(_ int, br *bufio.Reader, c net.Conn) {
			hear(br)
			io.WriteString(c, ok)
		}},
		"not if the server says so": {made: 3, serve: func(_ int, br *bufio.Reader, c net.Conn) {
			hear(br)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
			hear(br)
			io.WriteString(c, ok)
		}},
		"not if it said too much": {made: 3, serve: func(_ int, br *bufio.Reader, c net.Conn) {
			hear(br)
			io.WriteString(c, ok+"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
			hear(br)
			io.WriteString(c, ok)
		}},
		// The server closes it while the request is on its way.
		"and asked anew if it went away": {made: 3, serve: func(n int, br *bufio.Reader, c net.Conn) {
			hear(br)
			io.WriteString(c, ok)
			br.Peek(1)
		}},
		"but not if an answer began": {made: 2, fails: 1, serve: func(n int, br *bufio.Reader, c net.Conn) {
			hear(br)
			io.WriteString(c, ok)
			hear(br)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nConte")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				made, failed := 0, 0
				w := talk(func(n int, conn net.Conn) {
					made = n + 1
					c.serve(n, bufio.NewReader(conn), conn)
				})
				for range 3 {
					tape := new(Tape)
					if _, body, err := ask(t, w, "http://192.0.2.1/", tape); err != nil {
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
					t.Errorf("left: %d hosts, %d idle connections", len(w.hosts), w.idle.Len())
				}
			})
		})
	}
}

func TestIdleConnectionsAreFewAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		open := 0
		w := talk(func(_ int, c net.Conn) {
			mu.Lock()
			open++
			mu.Unlock()
			for br := bufio.NewReader(c); hear(br) != ""; {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
			mu.Lock()
			open--
			mu.Unlock()
		})
		w.MaxIdle = 3
		for i := range 10 {
			ask(t, w, fmt.Sprintf("http://192.0.2.%d/", i), new(Tape))
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
		time.Sleep(DefaultIdleTimeout + time.Second)
		check(0)
	})
}

func TestWhateverTakesTooLongEnds(t *testing.T) {
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
		"no answer":      {"http://192.0.2.1/", func(c net.Conn) { hear(bufio.NewReader(c)); io.Copy(io.Discard, c) }, header, Header},
		"nobody listens": {"http://192.0.2.1/", func(c net.Conn) { io.Copy(io.Discard, c) }, header, Header},
		"a slow header":  {"http://192.0.2.1/", func(c net.Conn) { hear(bufio.NewReader(c)); trickle(c, "HTTP/1.1 200 OK\r\n", "X: y\r\n") }, header, Header},
		"slow interim":   {"http://192.0.2.1/", func(c net.Conn) { hear(bufio.NewReader(c)); trickle(c, "", "HTTP/1.1 100 C\r\n\r\n") }, header, Header},
		"a slow body":    {"http://192.0.2.1/", func(c net.Conn) { hear(bufio.NewReader(c)); trickle(c, "HTTP/1.1 200 OK\r\n\r\n", "x") }, all, Answer},
		"a silent body": {"http://192.0.2.1/", func(c net.Conn) {
			hear(bufio.NewReader(c))
			io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			io.Copy(io.Discard, c)
		}, all, Answer},
		"a slow handshake":   {"https://192.0.2.1/", func(c net.Conn) { trickle(c, "", "\x16") }, connect, Handshake},
		"a silent handshake": {"https://192.0.2.1/", func(c net.Conn) { io.Copy(io.Discard, c) }, connect, Handshake},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := talk(func(_ int, conn net.Conn) { c.serve(conn) })
				w.ConnectTimeout, w.HeaderTimeout, w.Timeout = connect, header, all
				start := time.Now()
				_, _, err := ask(t, w, c.url, new(Tape))
				late, ok := errors.AsType[*TimeoutError](err)
				if !ok || late.Phase != c.phase || !late.Timeout() || time.Since(start) != c.after || late.Limit != c.after {
					t.Errorf("%v after %v, want that of %s after %v", err, time.Since(start), c.phase, c.after)
				}
				if len(w.hosts) != 0 {
					t.Errorf("%d hosts are left", len(w.hosts))
				}
				time.Sleep(2 * time.Second) // in which the server notices
			})
		})
	}
}

func TestTheTimeToConnectIsShared(t *testing.T) {
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
		_, _, err := ask(t, w, "http://a.test/", new(Tape))
		late, ok := errors.AsType[*TimeoutError](err)
		if took := time.Since(start); !ok || late.Phase != Connect || took != 9*time.Second {
			t.Errorf("%v after %v", err, took)
		}
		if got := strings.Join(tried, " "); got != "192.0.2.1:80 [2001:db8::1]:80 192.0.2.2:80" {
			t.Errorf("tried %s", got)
		}
	})
}

func TestACallerThatGivesUpIsToldWhyItDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("enough")
		w := says("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
		ctx, cancel := context.WithCancelCause(t.Context())
		resp, err := w.RoundTrip(request(ctx, t, "http://192.0.2.1/", new(Tape)))
		if err != nil {
			t.Fatal(err)
		}
		cancel(why)
		if _, err := io.ReadAll(resp.Body); !errors.Is(err, why) {
			t.Errorf("reading: %v", err)
		}
		resp.Body.Close()
		if _, err := w.RoundTrip(request(ctx, t, "http://192.0.2.1/", new(Tape))); !errors.Is(err, why) {
			t.Errorf("asking: %v", err)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 103 \r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\n\r\nbody",
		"HTTP/1.1 100\n\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nthe\r\n0\r\nT: u\r\n\r\nmore",
		"HTTP/1.0 200\r\nContent-Length: 3\r\n\r\nthe rest", "HTTP/1.1 204 \r\n\r\n", "\x9d\x00", "",
	} {
		f.Add([]byte(s), uint16(100))
	}
	f.Fuzz(func(t *testing.T, said []byte, limit uint16) {
		tape := &Tape{Limit: int64(limit)}
		status, _, err := ask(t, says(string(said)), "http://192.0.2.1/", tape)
		if status == 0 && err == nil {
			t.Error("neither answer nor error")
		}
		if !bytes.Contains(said, append(bytes.Clone(tape.Head), tape.Body...)) {
			t.Errorf("head %q and body %q were not said", tape.Head, tape.Body)
		}
		if limit > 0 && len(tape.Body) > max(int(limit), readBuffer) {
			t.Errorf("%d bytes of a body, the limit is %d", len(tape.Body), limit)
		}
	})
}

func BenchmarkRoundTrip(b *testing.B) {
	page := strings.Repeat("<p>some words of a page</p>\n", 4000)
	for name, answer := range map[string]string{
		"length": fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(page), page),
		"chunks": fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(page), page),
	} {
		b.Run(name, func(b *testing.B) {
			w := talk(func(_ int, c net.Conn) {
				for br := bufio.NewReader(c); hear(br) != ""; {
					io.WriteString(c, answer)
				}
			})
			tape := new(Tape)
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			for b.Loop() {
				resp, err := w.RoundTrip(request(b.Context(), b, "http://192.0.2.1/", tape))
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}
