package archive

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A file that has the name of an open one, and is none, is left as it is: nothing is appended to it, and
// nothing cut off.
func TestFilesThatAreNoneOfAWriterAreLeftAlone(t *testing.T) {
	for name, content := range map[string]string{
		"x-20990101000000-00009-vm.warc.gz.open":  "my only notes",
		"x-20990101000000-00009-vm.warc.zst.open": "WARC/1.1\r\nWARC-Type: response\r\n",
		"x-20990101000000-00009-vm.warc.gz":       "WARC/1.1\r\nWARC-Type: response\r\n",
	} {
		dir := t.TempDir()
		file := fileOf(t, dir, name, []byte(content))
		var left []string
		w, err := NewWriter(WriterOptions{Prefix: filepath.Join(dir, "x"), Zstd: strings.Contains(name, "zst"), Cut: func(path string) { left = append(left, path) }})
		if err != nil {
			t.Fatal(err)
		}
		at, err := w.Write(&Exchange{URL: "http://a.example/", Head: []byte("HTTP/1.1 200 OK\r\n\r\n"), Body: []byte("new")})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != content {
			t.Errorf("%s is now %q, %v", name, b, err)
		}
		if want := []string{strings.TrimSuffix(file, ".open")}; !slices.Equal(left, want) {
			t.Errorf("%s: %q was said to be left alone", name, left)
		}
		if strings.HasPrefix(name, at.Filename) {
			t.Errorf("%s was written to", name)
		}
	}
}
