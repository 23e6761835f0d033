package archive

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// coded returns s in a content coding.
func coded(t testing.TB, coding, s string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zlib":
		w = zlib.NewWriter(&b)
	case "flate":
		w, _ = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	}
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDecodeResponses(t *testing.T) {
	const page = "<html>hello, hello, hello, hello</html>"
	gz := coded(t, "gzip", page)
	head := func(lines ...string) string {
		return "HTTP/1.1 200 OK\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
	}
	for _, c := range []struct {
		name, in  string
		status    int
		body      string
		truncated string
	}{
		{"plain", head("Content-Type: text/html") + page, 200, page, ""},
		{"no reason", "HTTP/1.1 404\r\n\r\n" + page, 404, page, ""},
		{"no header fields", "HTTP/1.0 200 OK\r\n\r\n" + page, 200, page, ""},
		{"bare newlines", "HTTP/1.0 200 OK\nContent-Type: text/html\n\n" + page, 200, page, ""},
		{"header that never ends", "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n", 200, "", ""},
		{"header torn in a line", "HTTP/1.0 200 OK\r\nContent-Ty", 200, "Content-Ty", ""},
		{"HTTP/0.9", page, 200, page, ""},
		{"two blanks", "HTTP/1.0  200 OK\r\n\r\n" + page, 200, page, ""},
		{"a status that only some sites use", "HTTP/1.1 999 Request denied\r\n\r\n" + page, 999, page, ""},
		{"words that begin like shoutcast", "ICY winds\r\n\r\nx", 200, "ICY winds\r\n\r\nx", ""},
		{"shoutcast", "ICY 200 OK\r\n\r\nx", 200, "x", ""},
		{"nothing", "", 200, "", ""},

		{"chunks", head("Transfer-Encoding: chunked") + "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n", 200, "hello world", ""},
		{"chunks with bare newlines", head("Transfer-Encoding: chunked") + "5\nhello\n6\n world\n0\n\n", 200, "hello world", ""},
		{"chunks padded with spaces", head("Transfer-Encoding: Chunked") + "5   \r\nhello\r\n0\r\n\r\n", 200, "hello", ""},
		{"chunks that are none", head("Transfer-Encoding: chunked") + page, 200, page, ""},
		{"chunks that stop", head("Transfer-Encoding: chunked") + "5\r\nhello\r\n", 200, "hello", "disconnect"},
		{"a chunk that is torn", head("Transfer-Encoding: chunked") + "5\r\nhello\r\n6\r\n wo", 200, "hello wo", "disconnect"},
		{"a later chunk that is none", head("Transfer-Encoding: chunked") + "5\r\nhello\r\nzz\r\n", 200, "hellozz\r\n", "disconnect"},
		{"a chunk of absurd size", head("Transfer-Encoding: chunked") + "5\r\nhello\r\nffffffffffffffff\r\nx", 200, "helloffffffffffffffff\r\nx", "disconnect"},

		{"gzip", head("Content-Encoding: gzip") + gz, 200, page, ""},
		{"gzip in two members", head("Content-Encoding: gzip") + coded(t, "gzip", page[:9]) + coded(t, "gzip", page[9:]), 200, page, ""},
		{"gzip with rubbish behind", head("Content-Encoding: gzip") + gz + "rubbish", 200, page, ""},
		{"gzip with a wrong checksum", head("Content-Encoding: gzip") + gz[:len(gz)-8] + "rubbish!", 200, page, "disconnect"},
		{"x-gzip", head("Content-Encoding: X-GZIP") + gz, 200, page, ""},
		{"deflate with zlib's wrapping", head("Content-Encoding: deflate") + coded(t, "zlib", page), 200, page, ""},
		{"deflate without", head("Content-Encoding: deflate") + coded(t, "flate", page), 200, page, ""},
		{"br", head("Content-Encoding: br") + coded(t, "br", page), 200, page, ""},
		{"zstd", head("Content-Encoding: zstd") + coded(t, "zstd", page), 200, page, ""},
		{"identity", head("Content-Encoding: identity") + page, 200, page, ""},
		{"two codings", head("Content-Encoding: gzip, br") + coded(t, "br", gz), 200, page, ""},
		{"two lines of codings", head("Content-Encoding: gzip", "Content-Encoding: br") + coded(t, "br", gz), 200, page, ""},
		{"a coding we do not know", head("Content-Encoding: rot13") + page, 200, page, ""},
		{"coded, it says", head("Content-Encoding: gzip") + page, 200, page, ""},
		{"br, it says", head("Content-Encoding: br") + page, 200, page, ""},
		{"zstd, it says", head("Content-Encoding: zstd") + page, 200, page, ""},
		{"coded but empty", head("Content-Encoding: gzip"), 200, "", ""},
		{"gzip in chunks", head("Content-Encoding: gzip", "Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(gz), gz), 200, page, ""},
		{"torn gzip", head("Content-Encoding: gzip") + gz[:len(gz)-4], 200, page, "disconnect"},
		{"gzip torn in its header", head("Content-Encoding: gzip") + gz[:8], 200, "", "disconnect"},
		{"zstd torn before its first block", head("Content-Encoding: zstd") + coded(t, "zstd", page)[:6], 200, "", "disconnect"},
		{"br torn before its first byte", head("Content-Encoding: br") + coded(t, "br", strings.Repeat(page, 9))[:4], 200, "", "disconnect"},

		{"a body that the status excludes", "HTTP/1.1 204 No Content\r\n\r\n" + page, 204, "", ""},
		{"early hints", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + head("Content-Encoding: gzip") + gz, 200, page, ""},
		{"gzip as transfer coding", head("Transfer-Encoding: gzip, chunked") + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(gz), gz), 200, page, ""},
		{"gzip of chunks", head("Transfer-Encoding: chunked, gzip") + coded(t, "gzip", "27\r\n"+page+"\r\n0\r\n\r\n"), 200, page, ""},
		{"chunked twice, it says", head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n", 200, "hello", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, d := range []*Decoder{{}, {Limits: Limits{Body: 1 << 16}}} {
				for range 2 { // the second time with used machinery
					r, err := d.Response(strings.NewReader(c.in))
					if err != nil {
						t.Fatal(err)
					}
					if r.StatusCode != c.status || string(r.Body) != c.body || r.Truncated != c.truncated {
						t.Errorf("got %d %q %q\nwant %d %q %q", r.StatusCode, r.Body, r.Truncated, c.status, c.body, c.truncated)
					}
				}
			}
		})
	}
}

// TestUndecodableBodiesAreErrors checks that a body that its coding refuses is not returned as a
// page.
func TestUndecodableBodiesAreErrors(t *testing.T) {
	noise := make([]byte, 300)
	for i := range noise {
		noise[i] = byte(i * i * 31)
	}
	var wide bytes.Buffer
	z, err := zstd.NewWriter(&wide, zstd.WithWindowSize(16<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(z, strings.NewReader(strings.Repeat("many words ", 2<<20)))
	z.Close()
	for name, c := range map[string]struct{ coding, body string }{
		"a window above 8 MiB": {"zstd", wide.String()},
		"a broken frame":       {"zstd", "\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
		"gzip of no method":    {"gzip", "\x1f\x8b\x07" + string(noise)},
		"noise as deflate":     {"deflate", "\xff" + string(noise)},
		"an unknown coding":    {"compress", string(noise)},
	} {
		var d Decoder
		r, err := d.Response(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Encoding: " + c.coding + "\r\n\r\n" + c.body))
		if !errors.Is(err, ErrCoding) || !strings.Contains(err.Error(), c.coding) || len(r.Body) > 0 || string(r.Raw) != c.body {
			t.Errorf("%s: %.20q, %v", name, r.Body, err)
		}
	}
}

func TestLenientHeaders(t *testing.T) {
	d := new(Decoder)
	r, err := d.Response(strings.NewReader("HTTP/1.1 200 Fine\r\ncontent-type : text/html\r\nset-cookie: a\r\nSet-Cookie: b\r\nX-Long: one\r\n two\r\nnonsense\r\n: no name\r\nLast: 1\r\n\r\nx"))
	if err != nil {
		t.Fatal(err)
	}
	want := http.Header{"Content-Type": {"text/html"}, "Set-Cookie": {"a", "b"}, "X-Long": {"one two"}, "Last": {"1"}}
	if diff := cmp.Diff(want, r.Header); diff != "" {
		t.Error(diff)
	}
	if r.Reason != "Fine" || r.Proto != "HTTP/1.1" || string(r.Raw) != "x" {
		t.Errorf("%+v", r)
	}
}

var invalidStatusLines = []string{
	"HTTP/1.1 okay", "HTTP/1.1 -20", "HTTP/1.1 -20 Odd", "HTTP/1.1 99999", "HTTP/1.1 0", "HTTP/1.1 +20 Odd", "HTTP/1.1 099 Odd",
	"HTTP/1.1 0200 OK", "HTTP/1.1 20 OK", "HTTP/1.1", "HTTP/1.1 ", "HTTP/", "HTTP/1.1 ２００ OK",
	"HTTP/1.1 100 Continue", "HTTP/1.1 199 ",
}

func TestInvalidStatusLinesAreErrors(t *testing.T) {
	for _, line := range invalidStatusLines {
		var d Decoder
		r, err := d.Response(strings.NewReader(line + "\r\nContent-Type: text/html\r\n\r\n<p>words"))
		if !errors.Is(err, ErrStatus) || !strings.Contains(err.Error(), fmt.Sprintf("%.40q", line)) || r.StatusCode != 0 || len(r.Body) > 0 || len(r.Header) > 0 {
			t.Errorf("%q: %v, %+v", line, err, r)
		}
	}
}

// TestLongFoldedHeader limits the memory allocated: copying the value again for each line would
// take a hundred gigabytes.
func TestLongFoldedHeader(t *testing.T) {
	block := []byte("HTTP/1.1 200 OK\r\nX: a\r\n" + strings.Repeat(" a\n", maxHeader/4) + "\r\nbody")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := parseHead(block)
	runtime.ReadMemStats(&after)
	if n := len(r.Header.Get("X")); n != 1+maxHeader/4*2 || string(r.Raw) != "body" {
		t.Errorf("a value of %d bytes", n)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16*maxHeader {
		t.Errorf("%d bytes were allocated for %d", n, len(block))
	}
}

func TestCompressionBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 40<<20/step(3))
	for _, coding := range []string{"gzip", "br", "zstd"} {
		in := "HTTP/1.1 200 OK\r\nContent-Encoding: " + coding + "\r\n\r\n" + coded(t, coding, zeros)
		for _, l := range []Limits{{}, {Body: 1 << 30}} {
			d := Decoder{Limits: l}
			r, err := d.Response(strings.NewReader(in))
			if !errors.Is(err, ErrTooLarge) {
				t.Fatalf("%s, %+v: %v", coding, l, err)
			}
			if most := l.body(); int64(len(r.Body)) > most || r.Truncated != "length" || r.StatusCode != 200 {
				t.Errorf("%s, %+v: status %d, %d bytes, %q", coding, l, r.StatusCode, len(r.Body), r.Truncated)
			}
		}
	}
}

func TestNestedCompressionBomb(t *testing.T) {
	once := coded(t, "gzip", strings.Repeat("\x00", 10<<20)) // some 10 KiB, and again some 100 bytes
	twice := coded(t, "gzip", once)
	d := Decoder{Limits: Limits{Body: 1 << 30}}
	r, err := d.Response(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\n" + twice))
	if !errors.Is(err, ErrTooLarge) || len(r.Body) != max(maxRatio*len(twice), 1<<20) {
		t.Errorf("%d bytes become %d: %v", len(twice), len(r.Body), err)
	}
}

func TestTruncatedCodings(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	var text strings.Builder
	for i := range 1 << 18 {
		fmt.Fprintf(&text, "word%x ", i*i)
	}
	twice := coded(t, "gzip", coded(t, "br", text.String()))
	d := Decoder{Limits: Limits{Body: 1 << 19}}
	r, err := d.Response(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Encoding: br, gzip\r\n\r\n" + twice))
	if len(twice) < 1<<19 || !errors.Is(err, ErrTooLarge) || r.Truncated != "length" || len(r.Body) != 1<<19 || !strings.HasPrefix(text.String(), string(r.Body)) {
		t.Errorf("%d bytes become %d, %.20q, %q: %v", len(twice), len(r.Body), r.Body, r.Truncated, err)
	}
}

func TestBodyLimit(t *testing.T) {
	d := Decoder{Limits: Limits{Body: 100}}
	for _, c := range []struct {
		size int
		cut  bool
	}{{99, false}, {100, false}, {101, true}, {3 << 20, true}} {
		r, err := d.Response(strings.NewReader("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", c.size)))
		if errors.Is(err, ErrTooLarge) != c.cut || (r.Truncated == "length") != c.cut || len(r.Body) != min(c.size, 100) {
			t.Errorf("%d bytes: %d, %q, %v", c.size, len(r.Body), r.Truncated, err)
		}
	}
}

func TestTypeOfBodyWithoutHeader(t *testing.T) {
	if got := (&Response{Body: []byte("<html><body>")}).ContentType(); got != "text/html" {
		t.Errorf("a body without a type looks like %q", got)
	}
}

// TestManyMembers checks that a body of many gzip members does not cost a reader for each.
func TestManyMembers(t *testing.T) {
	const n = 10_000
	body := []byte(strings.Repeat(zip(""), n) + zip("text"))
	var d Decoder
	allocs := testing.AllocsPerRun(1, func() {
		got, truncated, err := d.Decode(nil, body, http.Header{"Content-Encoding": {"gzip"}})
		if string(got) != "text" || truncated != "" || err != nil {
			t.Errorf("%.20q, %q, %v", got, truncated, err)
		}
	})
	if allocs > n/10 {
		t.Errorf("%.0f allocations for %d members", allocs, n)
	}
}

// TestBodiesAreIndependent decodes a damaged body whose last block uses distances but has no codes
// for them.
func TestBodiesAreIndependent(t *testing.T) {
	good, damaged := withDistances("01"), withDistances("00")
	for coding, part := range map[string]func(string) []byte{
		"gzip":    func(member string) []byte { return []byte(member) },
		"deflate": func(member string) []byte { return []byte(member[10 : len(member)-8]) },
	} {
		header := http.Header{"Content-Encoding": {coding}}
		var d Decoder
		if body, truncated, err := d.Decode(nil, part(good), header); len(body) != 303 || truncated != "" || err != nil {
			t.Errorf("%s: %d bytes, %q, %v", coding, len(body), truncated, err)
		}
		if body, truncated, err := d.Decode(nil, part(damaged), header); len(body) != 300 || truncated != "disconnect" || err != nil {
			t.Errorf("%s, damaged: %d bytes, %q, %v", coding, len(body), truncated, err)
		}
	}
}

func FuzzResponse(f *testing.F) {
	for _, s := range []string{"", "HTTP/1.1 -20\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\nx", "HTTP/1.0 301\nLocation: /x\n\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"} {
		f.Add([]byte(s))
	}
	for _, c := range []string{"gzip", "br", "zstd"} {
		f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Encoding: " + c + "\r\n\r\n" + coded(f, c, "hello")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := Decoder{Limits: Limits{Body: 1 << 16}}
		r, err := d.Response(bytes.NewReader(data))
		if errors.Is(err, ErrStatus) && r.StatusCode == 0 && r.Body == nil {
			return
		}
		if err != nil && !errors.Is(err, ErrTooLarge) {
			t.Fatal(err)
		}
		if len(r.Body) > 1<<16 || r.StatusCode < 200 || r.StatusCode > 999 {
			t.Fatalf("status %d, %d bytes", r.StatusCode, len(r.Body))
		}
		again, _ := d.Response(bytes.NewReader(data))
		if !bytes.Equal(r.Body, again.Body) || r.Truncated != again.Truncated {
			t.Fatal("a used decoder decodes otherwise")
		}
	})
}

func TestDecodeIntoBuffer(t *testing.T) {
	page := strings.Repeat("some words of a page, ", 1000)
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(page), page)
	var d Decoder
	dst := make([]byte, 100, 128<<10)
	for _, c := range []struct {
		name, raw string
		header    http.Header
		own       bool // the body is in dst
	}{
		{"plain", page, http.Header{}, false},
		{"chunks", chunked, http.Header{"Transfer-Encoding": {"chunked"}}, true},
		{"gzip", coded(t, "gzip", page), http.Header{"Content-Encoding": {"gzip"}}, true},
		{"br", coded(t, "br", page), http.Header{"Content-Encoding": {"br"}}, true},
		{"both", coded(t, "br", coded(t, "gzip", page)), http.Header{"Content-Encoding": {"gzip, br"}}, true},
		{"no gzip", page, http.Header{"Content-Encoding": {"gzip"}}, false},
	} {
		body, _, err := d.Decode(dst, []byte(c.raw), c.header)
		if err != nil || string(body) != page {
			t.Errorf("%s: %d bytes, %v", c.name, len(body), err)
		} else if own := &body[0] == &dst[0]; own != c.own {
			t.Errorf("%s: in the memory given: %v", c.name, own)
		}
	}
}

func TestPromised(t *testing.T) {
	page := strings.Repeat("some words of a page, ", 100_000)
	gz := coded(t, "gzip", page)
	for _, c := range []struct {
		name, coding, raw string
		want              int64
	}{
		{"no coding", "", "four", 4},
		{"gzip", "gzip", gz, int64(len(page))},
		{"gzip in chunks", "gzip, chunked", gz, 4 * int64(len(gz))},
		{"a lie", "gzip", gz[:len(gz)-4] + "\xff\xff\xff\xff", 4 * int64(len(gz))},
		{"short", "gzip", "\x1f\x8b", 8},
		{"br", "br", "four", 16},
	} {
		header := http.Header{}
		if c.coding != "" {
			header.Set("Content-Encoding", strings.TrimSuffix(c.coding, ", chunked"))
		}
		if strings.HasSuffix(c.coding, "chunked") {
			header.Set("Transfer-Encoding", "chunked")
		}
		if n := Promised([]byte(c.raw), header); n != c.want {
			t.Errorf("%s: %d, want %d", c.name, n, c.want)
		}
	}
}
