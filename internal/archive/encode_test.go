package archive

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/testfile"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// random returns n random bytes.
func random(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{7}).Read(b)
	return b
}

func packed(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

func TestIsCompressed(t *testing.T) {
	var words strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&words, "word%x ", i*i)
	}
	text := []byte(words.String())
	for _, c := range []struct {
		name string
		body []byte
		want bool
	}{
		{"nothing", nil, false},
		{"text", text, false},
		{"gzip", packed(text), true},
		{"gzip, short", packed(text)[:2048], true},
		{"gzip of a few words", packed(text[60_000:61_500]), true},
		{"gzip of less than tells", packed(text[:50]), true},
		{"little noise", random(256), true},
		{"noise, and a few zeros", append(random(240), make([]byte, 16)...), true},
		{"less noise than tells", random(255), false},
		{"a few words", text[:256], false},
		{"a little UTF-8 that is not ASCII", []byte(strings.Repeat("木の葉が落ちる。鹿は苔を食べる。", 6)), false},
		{"noise", random(100_000), true},
		{"noise in base64", []byte(base64.StdEncoding.EncodeToString(random(100_000))), false},
		{"zeros", make([]byte, 100_000), false},
		{"text, then noise", append(bytes.Clone(text), random(1000)...), false},
		{"a header of text, then noise", append(bytes.Clone(text[:1000]), random(10_000)...), true},
		{"UTF-8 that is not ASCII", []byte(strings.Repeat("木の葉が落ちる。鹿は苔を食べる。", 500)), false},
	} {
		if got := isCompressed(c.body); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

func TestGzipMembers(t *testing.T) {
	for _, level := range []int{DefaultLevel, 1, Stored} {
		testMembers(t, newEncoder(testEncoder(t, false).digester, nil, level))
	}
}

func testMembers(t *testing.T, e *encoder) {
	t.Helper()
	noise := random(200_000)
	for _, n := range []int{0, 1, 255, 256, 2048, 2049, 65_534, 65_535, 65_536, 131_070, 131_071, 200_000} {
		for _, body := range [][]byte{noise[:n], bytes.Repeat([]byte("abc "), n/4+1)[:n]} {
			e.reset()
			e.start("response", &e.ids[0], noon)
			e.end(httpResponse, []byte("HTTP/1.1 200 OK\r\n\r\n"), body)
			z, err := gzip.NewReader(bytes.NewReader(e.out))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(z)
			if err != nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
			if !bytes.HasSuffix(got, append(append([]byte("\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"), body...), "\r\n\r\n"...)) {
				t.Fatalf("%d bytes are not what was packed", n)
			}
			if max := n + n/1000 + 500; len(e.out) > max {
				t.Errorf("%d bytes are packed into %d", n, len(e.out))
			}
		}
	}
}

func TestInvalidLevels(t *testing.T) {
	for _, o := range []WriterOptions{{Level: 10}, {Level: -2}, {Zstd: true, Level: Stored}, {Zstd: true, Level: 23}} {
		o.Prefix = filepath.Join(t.TempDir(), "crawl")
		if w, err := NewWriter(o); err == nil {
			w.Close()
			t.Errorf("level %d taken, zstd=%t", o.Level, o.Zstd)
		}
	}
}

func TestConcurrentToAndProtocols(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, testOptions(dir))
	x := exchange("https://example.com/", 10)
	x.Protocols = []string{"h2", "tls/1.3"}
	x.Metadata.Unverified = "x509: certificate has expired"
	write(t, w, x)
	x.Request = nil
	write(t, w, x)
	w.Close()
	all := recordsIn(t, dir)
	id := func(i int) string { return all[i].header.Get("WARC-Record-ID") }
	for i, want := range map[int][]string{
		1: {id(2), id(3)}, 2: {id(1)}, 3: {id(1)}, // response, request, metadata
		4: {id(5)}, 5: {id(4)}, // response, metadata
	} {
		if diff := cmp.Diff(want, all[i].header.Values("WARC-Concurrent-To")); diff != "" {
			t.Errorf("record %d: %s", i, diff)
		}
		if diff := cmp.Diff(x.Protocols, all[i].header.Values("WARC-Protocol")); diff != "" {
			t.Errorf("record %d: %s", i, diff)
		}
		for name, want := range map[string]string{"WARC-Warcinfo-ID": id(0), "WARC-IP-Address": "127.0.0.1", "WARC-Date": "2026-11-20T12:00:00.000Z", "WARC-Target-URI": x.URL} {
			if got := all[i].header.Get(name); got != want {
				t.Errorf("record %d: %s is %s, want %s", i, name, got, want)
			}
		}
	}
	if !strings.HasSuffix(all[3].block, "\r\ncertificateUnverified: x509: certificate has expired\r\n") {
		t.Errorf("%q", all[3].block)
	}
	for _, name := range []string{"WARC-Warcinfo-ID", "WARC-Target-URI", "WARC-Protocol"} {
		if got := all[0].header.Get(name); got != "" {
			t.Errorf("warcinfo: %s is %s", name, got)
		}
	}
}

func TestSHA256(t *testing.T) {
	dir := t.TempDir()
	o := testOptions(dir)
	o.Digest = "sha256"
	w := newWriter(t, o)
	x := exchange("http://example.com/", 0)
	x.Head, x.Body = []byte("hello "), []byte("world")
	at := write(t, w, x)
	w.Close()
	// Computed with sha256sum.
	const world, helloWorld = "sha256:486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7", "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
	all := recordsIn(t, dir)
	if got := all[1].header.Get("WARC-Payload-Digest"); got != world || at.Digest != world {
		t.Error(got, at.Digest)
	}
	if got := all[1].header.Get("WARC-Block-Digest"); got != helloWorld {
		t.Error(got)
	}
	o.Digest = "md5"
	if w, err := NewWriter(o); err == nil {
		w.Close()
		t.Error("md5 taken")
	}
}

// TestZstdFrames checks that each record has its own frame, with content size, checksum and a
// window of at most 8 MiB (Zstandard Compression for WARC Files 1.0).
func TestZstdFrames(t *testing.T) {
	dir := t.TempDir()
	o := testOptions(dir)
	o.Zstd = true
	w := newWriter(t, o)
	for i, size := range []int{0, 10, 300, 70_000, 9 << 20} {
		x := exchange(fmt.Sprint("http://example.com/", i), size)
		if i%2 == 0 {
			x.Body = random(size)
		}
		write(t, w, x)
	}
	w.Close()
	name := names(t, dir)[0]
	if name != "crawl-20261120120000-00000-example.org.warc.zst" {
		t.Error(name)
	}
	path := filepath.Join(dir, name)
	data := testfile.Read(t, path)
	records := 0
	for rec := range wholeRecords(t, bytes.NewReader(data)) {
		n, err := io.Copy(io.Discard, rec)
		if err == nil {
			err = rec.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		records++
		var h zstd.Header
		if err := h.Decode(data[rec.Offset:]); err != nil {
			t.Fatal(err)
		}
		switch {
		case rec.Skip != 0 || rec.Length == 0:
			t.Errorf("record %d shares its frame", records)
		case !h.HasCheckSum:
			t.Errorf("record %d has no checksum", records)
		case !h.HasFCS || int64(h.FrameContentSize) <= n || int64(h.FrameContentSize) > n+1000:
			t.Errorf("record %d of %d bytes says that it has %d", records, n, h.FrameContentSize)
		case h.DictionaryID != 0:
			t.Errorf("record %d has a dictionary", records)
		case h.WindowSize > 8<<20 || h.SingleSegment && h.FrameContentSize > 8<<20:
			t.Errorf("record %d has a window of %d bytes", records, h.WindowSize)
		}
	}
	if records != 16 {
		t.Errorf("%d records", records)
	}
	if program, err := exec.LookPath("zstd"); err == nil {
		if out, err := exec.Command(program, "-t", path).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	} else {
		t.Log("no zstd here to test the file with")
	}
}
