package topic

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/terminal"
	"spoor/internal/testfile"
)

// Lists of addresses and an archive make the topic that parsed pages make.
func TestExamplesFromArchives(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		testfile.Write(t, name, text)
		return name
	}
	var warc, good, bad strings.Builder
	lists := [2]string{}
	for i := range 12 {
		kind, words := i%2, []string{"frogs and toads in the pond", "cars and roads in the town"}[i%2]
		url := fmt.Sprintf("http://a.test/%d", i)
		body := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n<title>Page %d</title><p>%s caf\xe9 <a href=/x%[1]d>more</a>", i, words)
		fmt.Fprintf(&warc, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-%012d>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: %s\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, url, len(body), body)
		lists[kind] += strings.Replace(url, "http://a.test", "HTTP://A.test:80", 1) + "\n"
		fmt.Fprintf([]io.Writer{&good, &bad}[kind], `{"v":1,"url":"%s","status_code":200,"title":"Page %d","text":"%s café more","anchor_text":"more","links":[{"url":"http://a.test/x%[2]d","anchor":"more"}]}`+"\n", url, i, words)
	}
	archive := write("web.warc", warc.String())
	make := func(args ...string) (string, string) {
		t.Helper()
		var out, messages bytes.Buffer
		if err := invoke(append([]string{"-query", "frogs"}, args...), strings.NewReader(""), &out, &terminal.Writer{W: &messages}); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		return out.String(), messages.String()
	}
	want, _ := make("-positive", write("good.ndjson", good.String()), "-negative", write("bad.ndjson", bad.String()))
	got, said := make("-archive", archive, "-positive", write("good.txt", lists[0]+"http://a.test/none\n"), "-negative", write("bad.txt", lists[1]))
	if got != want || !strings.Contains(want, `"classifier"`) || !strings.Contains(said, "left out 1: error not_archived") {
		t.Errorf("%s\nwant %s\n%s", got, want, said)
	}
	// Parsed pages are taken as they are.
	if got, _ := make("-archive", archive, "-positive", filepath.Join(dir, "good.ndjson"), "-negative", filepath.Join(dir, "bad.txt")); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, args := range [][]string{{"-archive", archive}, {"-archive", filepath.Join(dir, "none"), "-positive", filepath.Join(dir, "good.txt")}} {
		if err := invoke(append([]string{"-query", "frogs"}, args...), strings.NewReader(""), io.Discard, io.Discard); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
