package message

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMalformedHeaderLinesAreSkipped(t *testing.T) {
	block := strings.Join([]string{
		"HTTP/1.1 200 OK",
		" folded from nothing",
		"Content-Disposition = attachment",
		"Strict\u2010Transport: max-age=1",
		": nothing",
		" and its second line",
		"two words: x",
		"HTTP/1.1 200 OK",
		"<html>: x",
		"content-TYPE : text/html",
		"X-Folded: one",
		"\ttwo",
		" ",
		" three\t",
		"X-Id: a\x01b",
		"X-Nul: a\x00b\rc\r\r",
		"Set-Cookie: a=1",
		"set-cookie: b=2",
		"X-Empty:",
		"", "body: x",
	}, "\r\n")
	h, body := Final([]byte(block))
	want := Head{"HTTP/1.1", 200, "OK", http.Header{
		"Content-Type": {"text/html"}, "X-Folded": {"one two  three"}, "X-Id": {"a\x01b"}, "X-Nul": {"a b c"},
		"Set-Cookie": {"a=1", "b=2"}, "X-Empty": {""},
	}}
	if diff := cmp.Diff(want, h); diff != "" || string(body) != "body: x" {
		t.Errorf("%s\nbody %q", diff, body)
	}
}

func TestStatusLines(t *testing.T) {
	for _, c := range []struct {
		in     string
		proto  string
		status int
		rest   string
	}{
		{"HTTP/1.1 200 OK\r\n\r\nx", "HTTP/1.1", 200, "x"},
		{"HTTP/1.1 404\r\n\r\nx", "HTTP/1.1", 404, "x"},
		{"http/1.0  200 OK\n\nx", "HTTP/1.0", 200, "x"},
		{"\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx", "HTTP/1.1", 200, "x"},
		{"\n\n\n\n\nHTTP/1.1 200 OK\r\n\r\nx", "HTTP/0.9", 200, "\n\n\n\n\nHTTP/1.1 200 OK\r\n\r\nx"},
		{"HTTP/2 999 \r\n\r\nx", "HTTP/2", 999, "x"},
		{"ICY 200 OK\r\n\r\nx", "ICY", 200, "x"},
		{"ICY winds", "HTTP/0.9", 200, "ICY winds"},
		{"<p>", "HTTP/0.9", 200, "<p>"},
		{"", "HTTP/0.9", 200, ""},
		{"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 301 Moved\r\n\r\nx", "HTTP/1.1", 301, "x"},
		{"HTTP/1.1 103 Early Hints\r\n\r\n<p>", "HTTP/0.9", 0, ""},
		{"HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/0.9", 0, ""},
		{"HTTP/1.1 101 Switching\r\n\r\n", "HTTP/1.1", 0, ""},
		{"HTTP/1.1 okay\r\n\r\nx", "HTTP/1.1", 0, ""},
		{"HTTP/1.1 2000 OK\r\n\r\nx", "HTTP/1.1", 0, ""},
		{"HTTP/1.1 200OK\r\n\r\nx", "HTTP/1.1", 200, "x"},
		{"HTTP/1.1\t404\tNo\r\n\r\nx", "HTTP/1.1", 404, "x"},
	} {
		h, rest := Final([]byte(c.in))
		if c.status == 0 {
			c.rest = c.in
		}
		if h.Proto != c.proto || h.StatusCode != c.status || string(rest) != c.rest {
			t.Errorf("%q: %s %d %q, want %s %d %q", c.in, h.Proto, h.StatusCode, rest, c.proto, c.status, c.rest)
		}
	}
}

func TestScanFindsTheEndOfAHead(t *testing.T) {
	for in, want := range map[string]int{
		"HTTP/1.1 200 OK\r\n\r\nx": 19, "HTTP/1.1 200 OK\n\nx\n\n": 17, "\r\n\r\nHTTP/1.1 200 OK\nA: b\r\n\nx": 27,
		"HTTP/1.1 200 OK\r\n": 0, "HTTP": 0, "": 0, "\r\n\r\n": 0, "icy 200 OK\n\n": 12,
		"SSH-2.0\r\n\r\n": -1, "HTML": -1, "\r\n\r\n\r\nHTTP/1.1 200 OK\r\n\r\n": -1,
	} {
		got, searched := 0, 0
		var err error
		for end := range len(in) + 1 { // byte by byte
			if got, err = Scan([]byte(in[:end]), searched); got > 0 || err != nil {
				break
			}
			searched = end
		}
		if errors.Is(err, ErrNotHTTP) {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

func TestFraming(t *testing.T) {
	chunked, toEnd := Framing{Chunked: true, Length: -1}, Framing{Length: -1, Last: true}
	for _, c := range []struct {
		proto  string
		header string
		want   Framing
		err    error
	}{
		{"HTTP/1.1 200", "", toEnd, nil},
		{"HTTP/1.1 200", "Content-Length: 42", Framing{Length: 42}, nil},
		{"HTTP/1.0 200", "Content-Length: 42", Framing{Length: 42, Last: true}, nil},
		{"HTTP/1.0 200", "Content-Length: 42|Connection: keep-alive", Framing{Length: 42}, nil},
		{"HTTP/1.1 200", "Content-Length: 42|Connection: x, Close", Framing{Length: 42, Last: true}, nil},
		{"HTTP/1.1 304", "Content-Length: 42", Framing{}, nil},
		{"HTTP/1.1 204", "Transfer-Encoding: chunked", Framing{}, nil},

		// Fetch Standard, "extract a length".
		{"HTTP/1.1 200", "Content-Length: 42,42", Framing{Length: 42}, nil},
		{"HTTP/1.1 200", "Content-Length: 42|Content-Length: 42", Framing{Length: 42}, nil},
		{"HTTP/1.1 200", "Content-Length: 42|Content-Length: 42, 42", Framing{Length: 42}, nil},
		{"HTTP/1.1 200", "Content-Length: 30,42", Framing{}, ErrLengths},
		{"HTTP/1.1 200", "Content-Length: 30|Content-Length: 42", Framing{}, ErrLengths},
		{"HTTP/1.1 200", "Content-Length: 42|Content-Length:", Framing{}, ErrLengths},
		{"HTTP/1.1 200", "Content-Length: -1", toEnd, nil},
		{"HTTP/1.1 200", "Content-Length: +1", toEnd, nil},
		{"HTTP/1.1 200", "Content-Length: 0x20", toEnd, nil},
		{"HTTP/1.1 200", "Content-Length: 42s", toEnd, nil},
		{"HTTP/1.1 200", "Content-Length:", toEnd, nil},
		{"HTTP/1.1 200", "Content-Length: 99999999999999999999", toEnd, nil},

		// RFC 9112, section 6.3.
		{"HTTP/1.1 200", "Transfer-Encoding: chunked", chunked, nil},
		{"HTTP/1.1 200", "transfer-encoding: CHUNKED", chunked, nil},
		{"HTTP/1.0 200", "Transfer-Encoding: chunked", Framing{true, true, -1, true}, nil},
		{"HTTP/1.1 200", "Transfer-Encoding: chunked|Content-Length: 42", Framing{true, false, -1, true}, nil},
		{"HTTP/1.1 200", "Transfer-Encoding: chunked|Transfer-Encoding: chunked", Framing{true, false, -1, true}, nil},
		{"HTTP/1.1 200", "Transfer-Encoding: chunked, chunked", Framing{true, false, -1, true}, nil},
		{"HTTP/1.1 200", "Transfer-Encoding: gzip, chunked", Framing{true, false, -1, true}, nil},
		{"HTTP/1.1 200", "Transfer-Encoding: gzip|Content-Length: 42", toEnd, nil},
		{"HTTP/1.1 200", "Transfer-Encoding: chunked, gzip", toEnd, nil},
		{"HTTP/1.1 200", "Transfer-Encoding: identity|Content-Length: 42", Framing{Length: 42, Last: true}, nil},
		{"HTTP/1.1 200", "Transfer-Encoding:|Content-Length: 42", Framing{Length: 42, Last: true}, nil},
		{"HTTP/1.1 200", "Transfer-Encoding: foo|Content-Length: 42", Framing{Length: 42, Last: true}, nil},
		{"HTTP/1.1 200", "Transfer-Encoding: foo", toEnd, nil},
		{"HTTP/1.1 200", "Transfer-Encoding: chunked|Content-Length: 1, 2", Framing{}, ErrLengths},
	} {
		h, _ := Parse([]byte(c.proto + " OK\r\n" + strings.ReplaceAll(c.header, "|", "\r\n") + "\r\n\r\n"))
		got, err := h.Framing()
		if !errors.Is(err, c.err) || err == nil && got != c.want {
			t.Errorf("%s, %s: %+v, %v, want %+v, %v", c.proto, c.header, got, err, c.want, c.err)
		}
	}
}

func TestCodingsAreInTheOrderInWhichTheyWereApplied(t *testing.T) {
	for _, c := range []struct {
		content, transfer string
		want              []string
	}{
		{"", "", nil},
		{"GZip", "chunked", []string{"gzip", "chunked"}},
		{"br, identity,, gzip", "chunked, chunked", []string{"br", "gzip", "chunked"}},
		{"br", "gzip;q=1, chunked", []string{"br", "gzip", "chunked"}},
		{"", "chunked, gzip, chunked, foo", []string{"chunked", "gzip"}},
		{"a,b,c,d,e", "x-gzip,deflate,gzip,gzip,gzip", []string{"a", "b", "c", "d", "x-gzip", "deflate", "gzip", "gzip"}},
	} {
		got := Codings(http.Header{"Content-Encoding": {c.content}, "Transfer-Encoding": {c.transfer}})
		if !slices.Equal(got, c.want) {
			t.Errorf("%q, %q: %q, want %q", c.content, c.transfer, got, c.want)
		}
	}
}

// TestContentType has examples of the Fetch Standard, "extract a MIME type".
func TestContentType(t *testing.T) {
	for _, c := range []struct{ in, media, charset string }{
		{"", "", ""},
		{"text/html", "text/html", ""},
		{"Text/HTML; Charset=UTF-8", "text/html", "utf-8"},
		{`text/html; charset="iso-8859-1"`, "text/html", "iso-8859-1"},
		{`text/html; charset = " gbk "`, "text/html", "gbk"},
		{`text/html; charset='utf-8'`, "text/html", "utf-8"},
		{"text/html;charset=utf-8;charset=latin1", "text/html", "utf-8"},
		{"text/html; charset=utf-8 ; x", "text/html", "utf-8"},
		{`text/html; a="x;charset=y,"; charset=utf-8`, "text/html", "utf-8"},
		{"text/html, text/html", "text/html", ""},
		{"application/octet-stream|text/html", "text/html", ""},
		{"text/html|text/html; charset=windows-1251", "text/html", "windows-1251"},
		{"text/plain;charset=gbk, text/html", "text/html", ""},
		{"text/html;charset=gbk;a=b, text/html;x=y", "text/html", "gbk"},
		{"text/html;charset=gbk|text/plain|text/html", "text/html", ""},
		{"text/html;charset=gbk|*/*", "text/html", "gbk"},
		{"text/html;charset=gbk|nonsense", "text/html", "gbk"},
		{"text/html, charset=utf-8", "text/html", "utf-8"},
		{"text/html charset=utf-8", "", "utf-8"},
		{"html", "", ""},
		{"text/", "", ""},
		{"a b/c", "", ""},
		{"text/" + strings.Repeat("x", 250) + ";charset=" + strings.Repeat("x", 40), "text/" + strings.Repeat("x", 250), strings.Repeat("x", 40)},
		{"text/" + strings.Repeat("x", 251) + ";charset=" + strings.Repeat("x", 41), "", ""},
	} {
		if m, s := ContentType(strings.Split(c.in, "|")...); m != c.media || s != c.charset {
			t.Errorf("%q: %q %q, want %q %q", c.in, m, s, c.media, c.charset)
		}
	}
}

func TestChunks(t *testing.T) {
	for _, c := range []struct {
		raw, content string
		whole        bool
		ended        bool
	}{
		{"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\nmore", "hello world", true, true},
		{"5\nhello\n0\n\n", "hello", true, true},
		{"05 \r\nhello0\r\nT: u\r\n\r\n", "hello", true, true},
		{"5\r\nhello\r\n0\r\nT: u", "hello", true, false},
		{"5\r\nhello\r\n0\r\n", "hello", true, false},
		{"5\r\nhello\r\n0", "hello", false, false},
		{"5\r\nhello\r\n", "hello", false, false},
		{"5\r\nhello\r\n9\r\n wo", "hello wo", false, false},
		{"5\r\nhello\r\nzz\r\n", "hellozz\r\n", false, false},
		{"5\r\nhello\r\nffffffffffffffff\r\nx", "helloffffffffffffffff\r\nx", false, false},
		{"5\r\nhello\r\n1;" + strings.Repeat("x", maxSizeLine), "hello1;" + strings.Repeat("x", maxSizeLine), false, false},
		{"<p>no\r\nchunks", "<p>no\r\nchunks", true, false},
		{"beef", "beef", true, false},
		{"", "", true, false},
	} {
		for size := 1; size <= len(c.raw)+1; size++ {
			var chunks Chunks
			var content []byte
			for piece := range slices.Chunk([]byte(c.raw), size) {
				for len(piece) > 0 && !chunks.Ended() {
					part, n := chunks.Next(piece)
					content = append(content, part...)
					piece = piece[n:]
				}
			}
			rest, whole := chunks.Close()
			if content = append(content, rest...); string(content) != c.content || whole != c.whole || chunks.Ended() != c.ended {
				t.Fatalf("%.40q in pieces of %d: %.40q, whole %v, ended %v", c.raw, size, content, whole, chunks.Ended())
			}
			if len(c.raw) > maxSizeLine {
				size += 997
			}
		}
		dst := make([]byte, 0, 8<<10)
		if content, whole := Dechunk(dst, []byte(c.raw)); string(content) != c.content || whole != c.whole {
			t.Errorf("%.40q: %.40q, whole %v", c.raw, content, whole)
		}
	}
}

// read reads a response as a client does that gets nothing after it.
func read(b []byte) (h Head, body []byte, err error) {
	h, rest := Final(b)
	if h.StatusCode == 0 || h.Proto == "HTTP/0.9" {
		return h, nil, ErrNotHTTP
	}
	f, err := h.Framing()
	switch {
	case err != nil:
		return h, nil, err
	case f.Chunked:
		content, whole := Dechunk(nil, rest)
		if !whole {
			err = io.ErrUnexpectedEOF
		}
		return h, content, err
	case f.Length < 0:
		return h, rest, nil
	case f.Length > int64(len(rest)):
		return h, rest, io.ErrUnexpectedEOF
	}
	return h, rest[:f.Length], nil
}

// FuzzAgainstNetHTTP checks that a response that net/http accepts is read with the same status,
// fields and body.
func FuzzAgainstNetHTTP(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 103 \r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\n\r\nbody",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nthe\r\n0\r\nT: u\r\n\r\nmore",
		"HTTP/1.0 200 OK\r\nContent-Length: 3\r\nA : b\r\nC: d\r\n  e\r\n\r\nthe rest",
		"HTTP/1.1 204 \r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 1\nContent-Length: 1\n\nx",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n1\r\na\r\n0\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, body, err := read(b)
		if err == nil && (h.StatusCode < 200 || h.StatusCode > 999) {
			t.Fatalf("status %d", h.StatusCode)
		}
		br := bufio.NewReader(bytes.NewReader(b))
		resp, theirs := http.ReadResponse(br, nil)
		for theirs == nil && resp.StatusCode >= 100 && resp.StatusCode < 200 && resp.StatusCode != 101 {
			resp, theirs = http.ReadResponse(br, nil)
		}
		if theirs != nil || !isPlain(resp, h.Header) {
			return
		}
		want, theirs := io.ReadAll(resp.Body)
		if h.StatusCode != resp.StatusCode {
			t.Fatalf("status %d, net/http reads %d", h.StatusCode, resp.StatusCode)
		}
		for name, values := range resp.Header {
			for i, v := range values {
				// net/http keeps blanks after a name, and blanks that folding leaves at the end.
				name := http.CanonicalHeaderKey(strings.TrimRight(name, " "))
				if isToken(name) && name != "Content-Length" && (i >= len(h.Header[name]) || !slices.Contains(h.Header[name], strings.Trim(v, " \t"))) {
					t.Fatalf("%s: %q, net/http reads %q", name, h.Header[name], v)
				}
			}
		}
		if theirs == nil && (err != nil || !bytes.Equal(body, want)) {
			t.Fatalf("body %q, %v, net/http reads %q", body, err, want)
		}
	})
}

// isPlain reports whether a response has neither a status that net/http accepts by mistake, nor
// chunks in HTTP/1.0, which net/http does not remove.
func isPlain(resp *http.Response, header http.Header) bool {
	if !resp.ProtoAtLeast(1, 1) && header["Transfer-Encoding"] != nil { // resp.Header does not have it
		return false
	}
	code, _, _ := strings.Cut(resp.Status, " ")
	return len(code) == 3 && resp.StatusCode >= 200 && code[0] >= '1' && code[0] <= '9'
}
