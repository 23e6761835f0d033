package warc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/rogpeppe/go-internal/testscript"

	"spoor/cmd/internal/scripttest"
	"spoor/internal/archive"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"warc": Command.Main})
}

func TestScript(t *testing.T) {
	scripttest.Run(t, testscript.Params{
		Setup: func(env *testscript.Env) error {
			env.Setenv("SPOOR_WARCIO", warcio())
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "warcio" {
				return warcio() != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"sample": sample, // sample FILE
			"cut":    cut,    // cut FILE BYTES
			"put":    put,    // put FILE OFFSET TEXT
		},
	})
}

// warcio is the outside reader of WARC files, "" where there is none.
func warcio() string {
	program := filepath.Join(os.Getenv("SPOOR_WARCIO"), "node_modules", ".bin", "warcio")
	if _, err := exec.LookPath(program); err != nil || os.Getenv("SPOOR_WARCIO") == "" {
		return ""
	}
	return program
}

// sample makes an archive, packed if its name ends in .gz: a page that was reached
// through a redirect, another whose payload was known, an image, and the page
// again a year later. Offsets are round numbers if it is plain.
func sample(ts *testscript.TestScript, _ bool, args []string) {
	deer := coded("<title>Deer</title><p>Deer eat moss.\n")
	html := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(deer), deer)
	get := "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"
	all := []string{
		record("warcinfo", "info", "2026-01-01T00:00:00Z", "", "application/warc-fields", "software: test\r\n"),
		record("response", "moved", "2026-01-01T00:00:01Z", "http://a.example/old", response, "HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n", archive.Digest(nil)),
		record("request", "moved-request", "2026-01-01T00:00:01Z", "http://a.example/old", request, get, "concurrent <urn:x:moved>"),
		record("response", "deer", "2026-01-01T00:00:02Z", "http://a.example/", response, html+chunks, archive.Digest([]byte(chunks))),
		record("request", "deer-request", "2026-01-01T00:00:02Z", "http://a.example/", request, get, "concurrent <urn:x:deer>"),
		record("revisit", "same", "2026-01-01T00:00:03Z", "http://b.example/same", response, html, archive.Digest([]byte(chunks)), "refers http://a.example/ 2026-01-01T00:00:02Z"),
		record("response", "image", "2026-01-01T00:00:04Z", "http://b.example/i.png", response, "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nimage", archive.Digest([]byte("image"))),
		record("response", "later", "2027-01-01T00:00:00Z", "http://a.example/", response, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Cars</title>\n", archive.Digest([]byte("<title>Cars</title>\n"))),
	}
	var b bytes.Buffer
	for _, s := range all {
		if strings.HasSuffix(args[0], ".gz") {
			s = coded(s)
		}
		b.WriteString(s)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

const (
	response = "application/http; msgtype=response"
	request  = "application/http; msgtype=request"
)

func coded(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s) // into memory: cannot fail
	w.Close()
	return b.String()
}

// record is a record of 1000 bytes.
func record(kind, id, date, url, media, block string, more ...string) string {
	fields := []string{"WARC/1.1", "WARC-Type: " + kind, "WARC-Record-ID: <urn:x:" + id + ">", "WARC-Date: " + date,
		"Content-Type: " + media, fmt.Sprintf("Content-Length: %d", len(block))}
	if url != "" {
		fields = append(fields, "WARC-Target-URI: "+url)
	}
	for _, m := range more {
		if to, ok := strings.CutPrefix(m, "concurrent "); ok {
			fields = append(fields, "WARC-Concurrent-To: "+to)
		} else if to, ok := strings.CutPrefix(m, "refers "); ok {
			url, date, _ := strings.Cut(to, " ")
			fields = append(fields, "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
				"WARC-Refers-To-Target-URI: "+url, "WARC-Refers-To-Date: "+date)
		} else {
			fields = append(fields, "WARC-Payload-Digest: "+m)
		}
	}
	const size, end = 1000, "\r\n\r\n"
	fields = append(fields, "X-Fill: ")
	h := strings.Join(fields, "\r\n")
	return h + strings.Repeat("x", size-len(h)-len(block)-2*len(end)) + end + block + end
}

// cut cuts bytes off the end of a file.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	info, err := os.Stat(name)
	ts.Check(err)
	ts.Check(os.Truncate(name, info.Size()-n))
}

// put writes over what a file has at an offset, which counts from the end if it is negative.
func put(ts *testscript.TestScript, _ bool, args []string) {
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	b := []byte(ts.ReadFile(args[0]))
	if at < 0 {
		at += len(b)
	}
	copy(b[at:], args[2])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o666))
}
