package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// record returns a record with that block, and fields as names and values.
func record(kind, url, date, block string, fields ...string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:x:%s-%s>\r\nWARC-Date: %s\r\nWARC-Target-URI: %s\r\n", kind, url, date, date, url)
	for f := range slices.Chunk(fields, 2) {
		fmt.Fprintf(&s, "%s: %s\r\n", f[0], f[1])
	}
	fmt.Fprintf(&s, "Content-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
	return s.String()
}

// raw returns a record with a short identifier, that block, and a Content-Length that may be wrong.
func raw(id string, block string, length int) string {
	return fmt.Sprintf("WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:%s>\r\nWARC-Date: 2026-11-20T12:00:00Z\r\nWARC-Target-URI: http://example.com/%s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", id, id, length, block)
}

// good returns a record without faults.
func good(id string) string { return raw(id, "block of "+id, len("block of "+id)) }

// zip compresses each part to its own gzip member.
func zip(parts ...string) string {
	var b bytes.Buffer
	for _, p := range parts {
		w := gzip.NewWriter(&b)
		io.WriteString(w, p)
		w.Close()
	}
	return b.String()
}

// zst compresses each part to its own zstd frame.
func zst(parts ...string) string {
	w, _ := zstd.NewWriter(nil)
	var b []byte
	for _, p := range parts {
		b = w.EncodeAll([]byte(p), b)
	}
	return string(b)
}

// recordsOf returns the records of a file, with an error in place of each malformed one. Other errors
// end the test.
func recordsOf(t testing.TB, src io.Reader) iter.Seq2[*Record, error] {
	t.Helper()
	r, err := NewReader(src)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(*Record, error) bool) {
		for rec, err := range r.all() {
			if _, ok := errors.AsType[*FormatError](err); err != nil && !ok {
				t.Fatal(err)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// wholeRecords returns the records of a file without faults.
func wholeRecords(t testing.TB, src io.Reader) iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		for rec, err := range recordsOf(t, src) {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(rec) {
				return
			}
		}
	}
}

// journal reads all records and returns what it finds: "a" for record a with its whole block,
// "a+" if the block is longer, "a-" if it is shorter, "!" for a fault.
func journal(t testing.TB, src io.Reader) string {
	t.Helper()
	var words []string
	for rec, err := range recordsOf(t, src) {
		if err != nil {
			words = append(words, "!")
			continue
		}
		block, err := io.ReadAll(rec)
		if err != nil && err != io.ErrUnexpectedEOF {
			t.Fatal(err)
		}
		id := rec.TargetURI()[strings.LastIndexByte(rec.TargetURI(), '/')+1:]
		switch whole := "block of " + id; {
		case len(block) > len(whole):
			id += "+"
		case len(block) < len(whole):
			id += "-"
		case string(block) != whole:
			id += "?"
		}
		words = append(words, id)
	}
	return strings.Join(words, " ")
}

func TestReaderFaults(t *testing.T) {
	a, b, c := good("a"), good("b"), good("c")
	za, zb, zc := zip(a), zip(b), zip(c)
	flip := func(s string, at int) string {
		d := []byte(s)
		d[at] ^= 0x55
		return string(d)
	}
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"plain", a + b + c, "a b c"},
		{"members", za + zb + zc, "a b c"},
		{"frames", zst(a, b, c), "a b c"},
		{"one member", zip(a + b + c), "a b c"},
		{"one frame", zst(a + b + c), "a b c"},
		{"records cut across members", zip(a[:len(a)-10], a[len(a)-10:]+b[:len(b)-8], b[len(b)-8:]+c), "a b c"},
		{"no empty lines behind records", strings.ReplaceAll(a+b, "\r\n\r\nWARC", "\nWARC"), "a b"},
		{"bare newlines", strings.ReplaceAll(a+b, "\r\n", "\n"), "a b"},
		{"version 0.18", strings.ReplaceAll(a+b, "WARC/1.1", "WARC/0.18"), "a b"},
		{"empty lines in front", "\r\n\n" + a + "\n\n\n\n" + b, "a b"},
		{"folded header", strings.Replace(a, "text/plain", "text/\r\n plain", 1) + b, "a b"},
		{"header line without a colon", strings.Replace(a, "Content-Type", "what is this\r\nContent-Type", 1) + b, "a b"},

		{"rubbish in front", "rubbish\r\n" + a, "! a"},
		{"rubbish between", a + "rubbish\r\nmore of it\r\n" + b, "a ! b"},
		{"rubbish behind", a + "rubbish", "a !"},
		{"no WARC at all", "<html>\nnothing here\n</html>", "!"},
		{"length too small", a + raw("b", "block of b and more", 10) + c, "a b !  c"},
		{"length too large", a + raw("b", "block of b", 60) + c, "a b+ ! c"},
		{"length past the end", a + raw("b", "block of b", 1e9) + c, "a b+ ! c"},
		{"two lengths too large", a + raw("b", "block of b", 60) + raw("d", "block of d", 1e9) + c, "a b+ ! d+ ! c"},
		{"no length", a + strings.Replace(b, "Content-Length", "Length", 1) + c, "a ! c"},
		{"negative length", a + raw("b", "block of b", -1) + c, "a ! c"},
		{"torn header", a + b[:60], "a !"},
		{"torn block", a + b[:len(b)-8], "a b- !"},
		{"torn behind the block", a + b[:len(b)-3], "a b"},

		{"length too small, members", za + zip(raw("b", "block of b and more", 10)) + zc, "a b ! c"},
		{"length too large, members", za + zip(raw("b", "block of b", 60)) + zc, "a b+ ! c"},
		{"rubbish in front of members", "rubbish" + za, "!"}, // begins like no format
		{"rubbish between members", za + "rubbish" + zb, "a ! b"},
		{"zeros between members", za + strings.Repeat("\x00", 5000) + zb, "a ! b"},
		{"rubbish behind members", za + zb + "rubbish", "a b !"},
		{"a gzip magic in rubbish", za + "\x1f\x8b\x08\x00 rubbish" + zb, "a ! b"},
		{"a member of something else", za + zip("something else\n") + zb, "a ! b"},
		{"torn member", za + zb[:len(zb)-40], "a !"},
		{"torn behind the block, members", za + zb[:len(zb)-6], "a b !"},
		{"checksum", za + flip(zb, len(zb)-6) + zc, "a b ! c"},
		{"broken header", za + flip(zb, 2) + zc, "a ! c"},

		{"rubbish between frames", zst(a) + "rubbish" + zst(b), "a ! b"},
		{"length too large, frames", zst(a, raw("b", "block of b", 60), c), "a b+ ! c"},
		{"skippable frame", zst(a) + "\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zst(b), "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := strings.Join(strings.Fields(c.want), " ")
			if got := journal(t, strings.NewReader(c.in)); got != want {
				t.Errorf("read %q, want %q", got, want)
			}
		})
	}
}

// TestReadPipe checks that a Reader that cannot seek loses only what a wrong length covers.
func TestReadPipe(t *testing.T) {
	a, b, c, d := good("a"), raw("b", "block of b", 60), good("c"), good("d")
	for _, c := range []struct{ in, want string }{
		{zip(a, b, c), "a b+ ! c"},
		{a + b + c + d, "a b+ ! d"},
		{zst(a, b, c), "a b+ ! c"},
	} {
		if got := journal(t, io.MultiReader(strings.NewReader(c.in))); got != c.want {
			t.Errorf("read %q, want %q", got, c.want)
		}
	}
}

// TestBrokenBytes breaks each byte of a file in turn. All other records must be read.
func TestBrokenBytes(t *testing.T) {
	arc := []string{arcHead()}
	for _, id := range []string{"a", "b", "c", "d"} {
		arc = append(arc, arcRecord("http://a/"+id, "20200101000000", "text/html", "block of "+id))
	}
	for name, in := range map[string]string{
		"plain":        good("a") + good("b") + good("c") + good("d"),
		"members":      zip(good("a"), good("b"), good("c"), good("d")),
		"frames":       zst(good("a"), good("b"), good("c"), good("d")),
		"ARC":          strings.Join(arc, ""),
		"ARC, members": zip(arc...),
	} {
		t.Run(name, func(t *testing.T) {
			worst := 4
			for at := 4; at < len(in); at += step(7) {
				broken := []byte(in)
				broken[at] ^= 0xff
				whole := 0
				for word := range strings.FieldsSeq(journal(t, bytes.NewReader(broken))) {
					if len(word) == 1 && "a" <= word && word <= "d" {
						whole++
					}
				}
				worst = min(worst, whole)
			}
			if worst < 3 {
				t.Errorf("a single byte costs %d of 4 records", 4-worst)
			}
		})
	}
}

func TestRecordPositions(t *testing.T) {
	a, b, c := good("a"), good("b"), good("c")
	type place struct{ Offset, Skip, Length int64 }
	n := int64(len(a))
	za, sa := int64(len(zip(a))), int64(len(zst(a)))
	for _, v := range []struct {
		name, in string
		want     []place
	}{
		{"plain", a + b + c, []place{{0, 0, n}, {n, 0, n}, {2 * n, 0, n}}},
		{"members", zip(a, b, c), []place{{0, 0, za}, {za, 0, int64(len(zip(b)))}, {int64(len(zip(a, b))), 0, int64(len(zip(c)))}}},
		{"frames", zst(a, b, c), []place{{0, 0, sa}, {sa, 0, int64(len(zst(b)))}, {int64(len(zst(a, b))), 0, int64(len(zst(c)))}}},
		{"one member", zip(a + b + c), []place{{0, 0, 0}, {0, n, 0}, {0, 2 * n, 0}}},
		{"a record in two members", zip(a[:len(a)-10], a[len(a)-10:], b), []place{{0, 0, int64(len(zip(a[:len(a)-10], a[len(a)-10:])))}, {int64(len(zip(a[:len(a)-10], a[len(a)-10:]))), 0, int64(len(zip(b)))}}},
	} {
		t.Run(v.name, func(t *testing.T) {
			var got []place
			for rec := range wholeRecords(t, strings.NewReader(v.in)) {
				if err := rec.Close(); err != nil {
					t.Fatal(err)
				}
				got = append(got, place{rec.Offset, rec.Skip, rec.Length})
			}
			if diff := cmp.Diff(v.want, got); diff != "" {
				t.Error(diff)
			}

			// Look-ups must find them, too.
			p := replay(t, fileOf(t, t.TempDir(), "x.warc", []byte(v.in)))
			for _, id := range []string{"a", "b", "c"}[:len(v.want)] {
				page, err := p.Fetch("http://example.com/" + id)
				if err != nil || string(page.Body) != "block of "+id {
					t.Errorf("%s: %v", id, err)
				}
			}
		})
	}
}

func TestHeader(t *testing.T) {
	in := "WARC/1.0\r\nwarc-type: metadata\r\nWARC-CONCURRENT-TO: <1>\r\nX: y:z\r\nWARC-Concurrent-To : <2>\r\ncontent-length: 0\r\nWARC-Target-URI: <http://a/>\r\n\r\n\r\n\r\n"
	r, _ := NewReader(strings.NewReader(in))
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if rec.Version != "1.0" || rec.Type() != "metadata" || rec.TargetURI() != "http://a/" || rec.Header.Get("x") != "y:z" || rec.Header.Get("y") != "" {
		t.Errorf("%+v", rec)
	}
	if got := rec.Header.Values("warc-concurrent-to"); !slices.Equal(got, []string{"<1>", "<2>"}) {
		t.Errorf("%q", got)
	}
	if rec.Header[2].Name != "X" {
		t.Errorf("%v", rec.Header)
	}
}

// TestStrayBytesCostNoRecord puts bytes between records. A version within a line begins a record only if a
// field follows.
func TestStrayBytesCostNoRecord(t *testing.T) {
	long := strings.Repeat("x", 2*bufferSize)
	for _, stray := range []string{
		"x", "W", "WARC/", "WARC/1.1", "\nx", "x\r\n", "WARC/1.1\r\nx\r\n", "xWARC/1.1\r\n\r\nW", long, "W" + long + "WARC/1.1 x\r\nW",
	} {
		got := journal(t, strings.NewReader(good("a")+stray+good("b")+good("c")))
		if strings.ReplaceAll(got, " !", "") != "a b c" || !strings.Contains(got, "!") {
			t.Errorf("%.20q: %s", stray, got)
		}
	}
	for n := range 40 { // the version is at the end of what is buffered
		stray := strings.Repeat("x", bufferSize-len(good("a"))-n)
		if got := journal(t, strings.NewReader(good("a")+stray+good("b"))); got != "a ! b" {
			t.Errorf("%d bytes: %s", len(stray), got)
		}
	}
}

func TestHeaderLimit(t *testing.T) {
	for name, in := range map[string]string{
		"one line":   good("a") + "WARC/1.1\r\nX: " + strings.Repeat("x", 3<<20) + "\r\n\r\n" + good("b"),
		"many lines": good("a") + "WARC/1.1\r\n" + strings.Repeat("X: y\r\n", 1<<20) + "\r\n" + good("b"),
	} {
		if got := journal(t, strings.NewReader(in)); got != "a ! b" && got != "a ! ! b" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestFalseLengthsTakeBoundedTime reads many records that each claim to be as long as the file.
func TestFalseLengthsTakeBoundedTime(t *testing.T) {
	var b strings.Builder
	for range 20_000 {
		b.WriteString("WARC/1.1\r\nContent-Length: 99999999\r\n\r\nx\r\n\r\n")
	}
	r, err := NewReader(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	faults := 0
	for {
		_, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			faults++
		}
	}
	if r.m.rewinds > maxRewind || faults == 0 {
		t.Errorf("%d faults, %d bytes read again", faults, r.m.rewinds)
	}
}

// dictionary returns a zstd dictionary and a function that compresses a frame with it.
func dictionary(t *testing.T) (dict []byte, frame func(string) string) {
	t.Helper()
	var samples [][]byte
	for i := range 64 {
		samples = append(samples, []byte(good(fmt.Sprint("sample ", i))))
	}
	dict, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 7, Contents: samples, History: []byte(good("h")), Offsets: [3]int{1, 4, 8}})
	if err != nil {
		t.Fatal(err)
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderDict(dict))
	if err != nil {
		t.Fatal(err)
	}
	return dict, func(s string) string { return string(w.EncodeAll([]byte(s), nil)) }
}

func TestZstdDictionary(t *testing.T) {
	// As in a .warc.zst file: in a skippable frame, compressed or not.
	dict, frame := dictionary(t)
	for name, stored := range map[string]string{"plain": string(dict), "packed": zst(string(dict))} {
		head := "\x5d\x2a\x4d\x18" + string([]byte{byte(len(stored)), byte(len(stored) >> 8), byte(len(stored) >> 16), 0}) + stored
		in := head + frame(good("a")) + frame(good("b"))
		if got := journal(t, strings.NewReader(in)); got != "a b" {
			t.Errorf("%s: read %q", name, got)
		}
		page, err := replay(t, fileOf(t, t.TempDir(), "x.warc.zst", []byte(in))).Fetch("http://example.com/b")
		if err != nil || string(page.Body) != "block of b" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	a, b := good("a"), good("b")
	for _, s := range []string{"", a, a + b, zip(a, b), zip(a + b), zst(a, b), zip(a[:len(a)-10], a[len(a)-10:]), a + raw("c", "x", 1e9), zip(raw("c", "x", 50), b), "filedesc://", arcHead() + arcRecord("http://a/", "20200101000000", "text/html", "x"), zip(arcHead(), arcRecord("http://a/", "2020010100000", "text/html", "x")),
		arcHead() + "http://a/ 192.0.2.1 20200101000000 text/html 99\nx\nhttp://a/b c - 20200101000000 - 1\ny\n", "\x5d\x2a\x4d\x18\x01\x00\x00\x00x" + zst(a)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sameStories(t, data)
		if bytes.HasPrefix(data, gzipMagic) {
			checkMembers(t, data)
		}
		for _, src := range []io.Reader{bytes.NewReader(data), io.MultiReader(bytes.NewReader(data))} {
			r, err := NewReader(src)
			if err != nil {
				return
			}
			var last, skip int64 = -1, -1
			for n := 0; ; n++ {
				if n > 4*len(data)+16 {
					t.Fatal("more records and faults than bytes")
				}
				rec, err := r.Next()
				if err != nil {
					if _, ok := errors.AsType[*FormatError](err); ok {
						continue
					}
					break
				}
				if rec.Offset < last || rec.Offset == last && rec.Skip <= skip || rec.Offset >= int64(len(data)) {
					t.Fatalf("record at %d+%d behind that at %d+%d of %d bytes", rec.Offset, rec.Skip, last, skip, len(data))
				}
				last, skip = rec.Offset, rec.Skip
				n, _ := io.Copy(io.Discard, rec)
				if n > rec.ContentLength {
					t.Fatalf("block of %d bytes, %d announced", n, rec.ContentLength)
				}
				rec.Close()
				if rec.Length < 0 || rec.Offset+rec.Length > int64(len(data)) {
					t.Fatalf("record at %d has %d of %d bytes", rec.Offset, rec.Length, len(data))
				}
			}
		}
	})
}

func TestParseDate(t *testing.T) {
	for text, want := range map[string]string{
		"2016-03-04T05:06:07.123456789Z": "2016-03-04T05:06:07.123456789Z",
		"2016-03-04T05:06:07+01:00":      "2016-03-04T04:06:07Z",
		"2016-03-04T05:06Z":              "2016-03-04T05:06:00Z",
		"2016-03-04":                     "2016-03-04T00:00:00Z",
		"2016-03":                        "2016-03-01T00:00:00Z",
		"2016":                           "2016-01-01T00:00:00Z",
		"20160304050607":                 "2016-03-04T05:06:07Z",
		"once":                           "0001-01-01T00:00:00Z",
		"":                               "0001-01-01T00:00:00Z",
	} {
		rec := Record{Header: Header{{"WARC-Date", text}}}
		if got := rec.Date().Format(time.RFC3339Nano); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	r := replay(t, archiveOf(t, t.TempDir(), "x.warc.gz", capture("http://a/", "2016-03", 200, "", "body"),
		revisit("http://b/", refersURI, "http://a/", refersDate, "2016-03")))
	if page, err := r.Fetch("http://b/"); err != nil || string(page.Body) != "body" {
		t.Errorf("%+v, %v", page, err)
	}
}

// step returns 1, or short in short mode: the distance of the cases tried by a test.
func step(short int) int {
	if testing.Short() {
		return short
	}
	return 1
}
