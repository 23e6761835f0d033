package crawler

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// serveRaw serves responses by path.
func serveRaw(t *testing.T, answers map[string]string) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer, ok := answers[r.URL.Path]; ok {
			raw(w, answer)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestAwkwardResponsesAreReadAliveAsArchived checks that pages of servers that break the rules are
// read, and are the same pages when they are read from the WARC file.
func TestAwkwardResponsesAreReadAliveAsArchived(t *testing.T) {
	const page = "<html><head><title>T</title></head><body><p>hello world</p></body></html>"
	zipped := string(pack("gzip", []byte(page)))
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(s), s) }
	length := fmt.Sprintf("Content-Length: %d\r\n", len(page))
	const ok, html = "HTTP/1.1 200 OK\r\n", "Content-Type: text/html\r\n"
	answers := map[string]string{
		"/robots.txt":         ok + "Content-Type = text/plain\r\nContent-Length: 33\r\n\r\nUser-agent: *\nDisallow: /private\n",
		"/no-colon":           ok + html + "Content-Disposition = attachment\r\n" + length + "\r\n" + page,
		"/name":               ok + html + "Strict\u2010Transport: max-age=1\r\n" + length + "\r\n" + page,
		"/no-name":            ok + html + ": nothing\r\n" + length + "\r\n" + page,
		"/control":            ok + html + "X-Id: a\x01b\r\n" + length + "\r\n" + page,
		"/nul":                ok + html + "X-Id: a\x00b\r\n" + length + "\r\n" + page,
		"/status-twice":       ok + html + ok + length + "\r\n" + page,
		"/folded":             ok + "Content-Type: text/html;\r\n\tcharset=utf-8\r\n" + length + "\r\n" + page,
		"/empty-lines":        "\r\n\r\n" + ok + html + length + "\r\n" + page,
		"/lower-case":         "http/1.1 200 OK\r\n" + html + length + "\r\n" + page,
		"/no-reason":          "HTTP/1.1 200\r\n" + html + length + "\r\n" + page,
		"/early-hints":        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok + html + length + "\r\n" + page,
		"/length-list":        ok + html + fmt.Sprintf("Content-Length: %d, %[1]d\r\n", len(page)) + "\r\n" + page,
		"/length-signed":      ok + html + "Content-Length: -1\r\n\r\n" + page,
		"/chunked-twice":      ok + html + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(page),
		"/chunked-list":       ok + html + "Transfer-Encoding: chunked, chunked\r\n\r\n" + chunk(page),
		"/chunked-and-length": ok + html + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(page),
		"/chunked-1.0":        "HTTP/1.0 200 OK\r\n" + html + "Transfer-Encoding: chunked\r\n\r\n" + chunk(page),
		"/chunked-in-name":    "HTTP/1.0 200 OK\r\n" + html + "Transfer-Encoding: chunked\r\n\r\n" + page,
		"/identity":           ok + html + "Transfer-Encoding: identity\r\n" + length + "\r\n" + page,
		"/empty-coding":       ok + html + "Transfer-Encoding:\r\n" + length + "\r\n" + page,
		"/unknown-coding":     ok + html + "Transfer-Encoding: foo\r\n\r\n" + page,
		"/gzip-chunked":       ok + html + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunk(zipped),
		"/gzip-transfer":      ok + html + "Transfer-Encoding: gzip\r\n\r\n" + zipped,
		"/last-type":          ok + "Content-Type: application/octet-stream\r\n" + html + length + "\r\n" + page,
		"/type-list":          ok + "Content-Type: */*, text/html; charset = \"utf-8\", nonsense\r\n" + length + "\r\n" + page,
	}
	var in strings.Builder
	url := serveRaw(t, answers)
	for path := range answers {
		if path != "/robots.txt" {
			fmt.Fprintln(&in, url+path)
		}
	}
	fmt.Fprintln(&in, url+"/private")
	dir := t.TempDir()
	live, _ := fetch(t, in.String(), loopback, warcTo(filepath.Join(dir, "w")), func(o *Options) { o.MIME = []string{"text/html"} })
	archived, faults := replay(t, in.String(), dir)
	if faults > 0 {
		t.Errorf("%d faults in the archive", faults)
	}
	for path := range answers {
		l, a := live[url+path], archived[url+path]
		if path == "/robots.txt" {
			continue
		}
		if l.StatusCode != 200 || l.Body != page || l.Error+l.Truncated != "" || l.ContentType != "text/html" {
			t.Errorf("%s: %d %q %q %s %s %s", path, l.StatusCode, l.Body, l.Truncated, l.ContentType, l.Error, l.ErrorDetail)
		}
		if a.StatusCode != 200 || a.Body != page || a.Error+a.Truncated != "" || a.ContentType != "text/html" || a.Charset != l.Charset || a.Digest != l.Digest {
			t.Errorf("%s from the archive: %d %q %q %s %s, digest %s and %s", path, a.StatusCode, a.Body, a.Truncated, a.ContentType, a.Error, a.Digest, l.Digest)
		}
	}
	if r := live[url+"/private"]; r.Error != "robots" {
		t.Errorf("a malformed line in the header of robots.txt: %d %s", r.StatusCode, r.Error)
	}
}
