package archive

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// redirectingArchive returns an archive of two pages and a redirect.
func redirectingArchive(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "a.warc")
	record := func(url, kind, mime, block string) string {
		return "WARC/1.1\r\nWARC-Type: " + kind + "\r\nWARC-Target-URI: " + url + "\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: " + mime +
			"\r\nContent-Length: " + string([]byte{'0' + byte(len(block)/10), '0' + byte(len(block)%10)}) + "\r\n\r\n" + block + "\r\n\r\n"
	}
	data := record("http://a/1", "resource", "text/html", "hello") +
		record("http://a/2", "resource", "text/html", "world") +
		record("http://a/3", "response", "application/http", "HTTP/1.1 302 F\r\nLocation: http://a/1\r\n\r\n")
	if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAnIndexWithOneChangedDigitIsBuiltAgainAndNoPageIsLost(t *testing.T) {
	name := redirectingArchive(t)
	path := name + indexSuffix
	fetchAll := func() (faults []error) {
		r, err := OpenReplay([]string{name}, ReplayOptions{Index: IndexOptions{Report: func(_ string, err error) { faults = append(faults, err) }}})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for url, want := range map[string]string{"http://a/1": "hello", "http://a/2": "world", "http://a/3": "hello"} {
			if page, err := r.Fetch(url); err != nil || string(page.Body) != want {
				t.Errorf("%s: %v", url, err)
			}
		}
		return faults
	}
	fetchAll()
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.IndexByte(good, '\n')
	for _, at := range regexp.MustCompile(`[0-9]`).FindAllIndex(good[lines:], -1) {
		bad := bytes.Clone(good)
		bad[lines+at[0]] = '0' + (bad[lines+at[0]]-'0'+1)%10
		if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		faults := fetchAll()
		if len(faults) != 1 || !errors.Is(faults[0], errIndexDamaged) || !strings.Contains(faults[0].Error(), path) {
			t.Fatalf("digit at byte %d: %v", lines+at[0], faults)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, good) {
			t.Fatalf("digit at byte %d: the index was not replaced: %v", lines+at[0], err)
		}
	}
}

func TestAForgedRedirectInAnIndexWithACorrectChecksumIsAnError(t *testing.T) {
	name := redirectingArchive(t)
	x, err := OpenIndex(name, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	forged := bytes.Replace(x.data, []byte(`"redirect":"http://a/1"`), []byte(`"redirect":"http://a/2"`), 1)
	meta, path := x.Meta, x.Path
	if bytes.Equal(forged, x.data) {
		t.Fatal("no redirect in the index")
	}
	sum := checksumWriter{w: new(bytes.Buffer)}
	sum.Write(forged[x.first:])
	x.Close()
	meta.CRC32C = sum.sum
	copy(forged, metaLine(meta))
	if err := os.WriteFile(path, forged, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReplay([]string{name}, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if page, err := r.Fetch("http://a/3"); err == nil || !strings.Contains(err.Error(), "is another than "+path+" says") {
		t.Error(page, err)
	}
}
