package crawler

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"spoor/internal/wire"
)

// TestDamagedPage checks that a page from a damaged record is kept, and that its record says so.
func TestDamagedPage(t *testing.T) {
	const block = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Deer</title>"
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprintf(z, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"+
		"WARC-Target-URI: http://a.example/\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
	z.Close()
	whole := b.Bytes()
	checksum := bytes.Clone(whole)
	checksum[len(checksum)-8] ^= 1
	for _, test := range []struct {
		name, detail string
		data         []byte
	}{
		{"whole", "", whole},
		{"checksum", "the archive is damaged: x.warc.gz at byte 0: gzip: invalid checksum", checksum},
		{"torn", "the archive is damaged: x.warc.gz at byte 0: the gzip member breaks off: unexpected EOF", whole[:len(whole)-9]},
	} {
		path := filepath.Join(t.TempDir(), "x.warc.gz")
		if err := os.WriteFile(path, test.data, 0o666); err != nil {
			t.Fatal(err)
		}
		o := &Options{Archives: []string{path}, ArchiveCache: t.TempDir()}
		r, err := o.OpenReplay()
		if err != nil {
			t.Fatal(err)
		}
		rec := &wire.Record{V: 1, URL: "http://a.example/"}
		o.Answer(r, rec)
		r.Close()
		check := func(rec *wire.Record) {
			t.Helper()
			if rec.StatusCode != 200 || rec.Error != "" || rec.ErrorDetail != test.detail || !strings.HasPrefix(rec.Body, "<title>D") {
				t.Errorf("%s: status %d, error %q, error_detail %q, body %q", test.name, rec.StatusCode, rec.Error, rec.ErrorDetail, rec.Body)
			}
		}
		check(rec)
		all, err := o.Responses(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for rec := range all {
			if rec != nil {
				check(rec)
			}
		}
	}
}
