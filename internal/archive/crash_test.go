package archive

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// With crashDir set, this test binary is a writer that will be killed; crashZstd selects its
// format.
const (
	crashDir  = "SPOOR_TEST_CRASH_DIR"
	crashZstd = "SPOOR_TEST_CRASH_ZSTD"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		crash(dir)
		return
	}
	os.Exit(m.Run())
}

// crash writes exchanges and prints their URLs until it is killed. Every third payload is also
// written by other processes.
func crash(dir string) {
	o := testOptions(dir)
	o.Random = nil
	o.MaxSize = 20_000
	o.Zstd = os.Getenv(crashZstd) != ""
	w, err := NewWriter(o)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := 0; ; i++ {
		x := exchange(fmt.Sprintf("http://example.com/%d/%d", os.Getpid(), i), 100+i*37%3000)
		if i%3 == 0 {
			x = exchange(fmt.Sprintf("http://example.com/%d", i), 2000)
			x.URL += fmt.Sprintf("?%d", os.Getpid())
		}
		if _, err := w.Write(x); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(x.URL)
	}
}

// TestKilledWriter kills writers with the same prefix again and again.
func TestKilledWriter(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		t.Run(fmt.Sprintf("zstd=%t", zstd), func(t *testing.T) { testKill(t, zstd) })
	}
}

func testKill(t *testing.T, zstd bool) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var acknowledged []string
	for round := range 6 / step(2) {
		c := exec.Command(self)
		c.Env = append(os.Environ(), crashDir+"="+dir)
		if zstd {
			c.Env = append(c.Env, crashZstd+"=1")
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + 13*round {
			if !lines.Scan() {
				break
			}
			acknowledged = append(acknowledged, lines.Text())
		}
		c.Process.Kill()
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "http://") {
				acknowledged = append(acknowledged, lines.Text())
			}
		}
		c.Wait()
	}
	o := testOptions(dir)
	o.Zstd = zstd
	newWriter(t, o).Close()
	revisits := 0
	for _, name := range names(t, dir) {
		if strings.HasSuffix(name, openSuffix) {
			t.Errorf("%s is still open", name)
		}
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		types, faults := tally(t, f)
		for _, fault := range faults {
			t.Errorf("%s: %v", name, fault)
		}
		revisits += types["revisit"]
		f.Close()
	}
	r := replay(t, dir)
	for _, url := range acknowledged {
		page, err := r.Fetch(url)
		if err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		begin, _, _ := strings.Cut(url, "?")
		if !strings.HasPrefix(string(page.Body), begin) {
			t.Errorf("%s has another body", url)
		}
	}
	if revisits == 0 {
		t.Error("no payload was known from one process to the next")
	}
	t.Logf("%d exchanges, %d of them revisits", len(acknowledged), revisits)
}

// FuzzPack checks that arbitrary bodies are read back as written.
func FuzzPack(f *testing.F) {
	f.Add("http://a/", "HTTP/1.1 200 OK\r\n\r\n", []byte("body"), "http://b/", false)
	f.Add("http://a/\r\n\r\nWARC/1.1", "", []byte("WARC/1.1\r\nContent-Length: 5\r\n\r\n"), "\x00\n", true)
	f.Fuzz(func(t *testing.T, url, head string, body []byte, via string, zstd bool) {
		p := testEncoder(t, zstd)
		x := &Exchange{
			URL: url, Time: noon, IP: via, Request: []byte(via), Head: []byte(head), Body: body, Truncated: via, Protocols: []string{head, via},
			Metadata: Metadata{Via: via, Operator: url, Parents: []string{head, via}, Unverified: via},
		}
		p.take(x)
		at := p.exchange(x, via, reference{})
		blocks := []string{head + string(body), via, string(p.fields(x))}
		if via == "" {
			blocks = slices.Delete(blocks, 1, 2)
		}
		r, err := NewReader(bytes.NewReader(p.out))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range blocks {
			rec, err := r.Next()
			if err != nil {
				if len(url)+len(via)+len(head) > bufferSize/2 {
					return // a line that long is refused
				}
				t.Fatal(err)
			}
			got, err := io.ReadAll(rec)
			if err != nil || string(got) != want {
				t.Fatalf("record %d: %v, %d bytes of %d", i, err, len(got), len(want))
			}
			if err := rec.Close(); err != nil {
				t.Fatal(err)
			}
			if got := rec.Header.Get("WARC-Block-Digest"); got != Digest([]byte(want)) {
				t.Fatal("another digest")
			}
			if i == 0 && (rec.Length != at.Length || at.Digest != Digest(body)) {
				t.Fatalf("%d bytes, want %d", rec.Length, at.Length)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatal(err)
		}
	})
}

func testEncoder(t testing.TB, zstd bool) *encoder {
	t.Helper()
	d, err := newDigester("")
	if err != nil {
		t.Fatal(err)
	}
	if !zstd {
		return newEncoder(d, nil, DefaultLevel)
	}
	frames, err := newFrames(DefaultZstdLevel)
	if err != nil {
		t.Fatal(err)
	}
	return newEncoder(d, frames, 0)
}
