package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"spoor/internal/testfile"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

var answersTable = flag.String("answers", "", "the file to which the table of awkward answers is written; empty: nobody is asked")

// TestAwkwardAnswersAreReadAsStandardsSay tests that fetch reads awkward answers as standards
// demand or allow, and the same live, from the archive that it wrote, and from an archive with
// these bytes. Beside it, it asks curl, wget and Chromium, and writes a table. scripts/interop
// runs it and sets
//
//	SPOOR_CHROMIUM   the program of the browser
func TestAwkwardAnswersAreReadAsStandardsSay(t *testing.T) {
	if *answersTable == "" {
		t.Skip("-answers is not set (scripts/interop sets it)")
	}
	web := serveAnswers(t, answers())
	all := web.askSpoor(t)
	programs := []string{"fetch", "its archive", "the bytes archived"}
	for _, c := range []struct {
		name, program string
		ask           func(t *testing.T, a answer, url string) reading
	}{{"curl", "curl", web.askCurl}, {"wget", "wget", web.askWget}, {"Chromium", os.Getenv("SPOOR_CHROMIUM"), nil}} {
		programs = append(programs, c.name)
		if _, err := exec.LookPath(c.program); err != nil {
			t.Logf("%s is missing", c.name)
			all = append(all, make([]reading, len(web.rows)))
			continue
		}
		if c.ask == nil {
			c.ask = newAnswerBrowser(t, c.program).ask
		}
		var column []reading
		for i, a := range web.rows {
			column = append(column, c.ask(t, a, web.url(strings.ToLower(c.name), i)))
		}
		all = append(all, column)
	}

	var table strings.Builder
	fmt.Fprintf(&table, "| answer | %s | standard | |\n|---%s|---|---|\n", strings.Join(programs, " | "), strings.Repeat("|---", len(programs)))
	apart, differ, wrong := 0, 0, 0
	for i, a := range web.rows {
		var cells, notes []string
		for _, column := range all {
			cells = append(cells, column[i].String())
		}
		spoor := all[0][i].kind
		others := []string{all[3][i].kind, all[4][i].kind, all[5][i].kind}
		others = slices.DeleteFunc(others, func(kind string) bool { return kind == "" })
		if len(others) > 0 && !slices.Contains(others, spoor) {
			apart++
			notes = append(notes, "stands alone")
		}
		for _, archived := range all[1:3] {
			if archived[i].kind != "" && archived[i].kind != spoor {
				differ++
				notes = append(notes, "archive differs")
				break
			}
		}
		allowed := strings.Fields(a.want)
		for n, column := range all[:3] {
			if n == 2 {
				allowed = append(allowed, strings.Fields(a.archived)...)
			}
			if kind := column[i].kind; kind != "" && !slices.Contains(allowed, kind) {
				wrong++
				notes = append(notes, "not as demanded")
				t.Errorf("%s: %s: %s, want %s", a.name, programs[n], column[i], strings.Join(allowed, " or "))
				break
			}
		}
		fmt.Fprintf(&table, "| %s | %s | %s: %s | %s |\n", markdown(a.name), strings.Join(cells, " | "), strings.Join(strings.Fields(a.want), ", "), markdown(cmp.Or(a.standard, "no question")), strings.Join(notes, ", "))
	}
	fmt.Fprintf(&table, "\n%d answers. fetch stands alone in %d, reads an archive differently in %d, and not as a standard demands in %d.\n", len(web.rows), apart, differ, wrong)
	testfile.Write(t, *answersTable, table.String())
}

// A reading is what a program made of an answer.
type reading struct {
	kind   string // page, error, cut (an incomplete page), noise (another body or status), or "" if it was not asked
	detail string
}

func (o reading) String() string {
	if o.detail == "" {
		return cmp.Or(o.kind, "–")
	}
	return markdown(o.kind + ": " + o.detail)
}

// markdown returns a text for a cell of a table.
func markdown(s string) string {
	s = strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;", "\n", " ", "\r", " ").Replace(strings.ToValidUTF8(s, "?"))
	if r := []rune(s); len(r) > 70 {
		s = string(r[:69]) + "…"
	}
	return s
}

// judge returns the reading of a body with a status; 0 is an unknown status. A program that
// failed has a failure, and may still have a part of the body.
func (a answer) judge(status int, body, failure string) reading {
	want := a.wantBody()
	wantStatus := cmp.Or(a.status, http.StatusOK)
	switch {
	case failure != "" && body != "" && strings.HasPrefix(want, body):
		return reading{"cut", fmt.Sprintf("%d of %d bytes, %s", len(body), len(want), failure)}
	case failure != "":
		return reading{"error", failure}
	case status != wantStatus && status != 0:
		return reading{"noise", fmt.Sprint("status ", status)}
	case body == want:
		return reading{kind: "page"}
	case body == "":
		return reading{"noise", "empty page"}
	case len(body) < len(want) && strings.HasPrefix(want, body):
		return reading{"noise", fmt.Sprintf("%d of %d bytes without a warning", len(body), len(want))}
	}
	return reading{"noise", fmt.Sprintf("%d bytes, not %d: %.12q", len(body), len(want), body)}
}

// judgeText returns the reading of a text that is shown as a document.
func (a answer) judgeText(text, failure string) reading {
	switch text = strings.TrimSpace(text); {
	case failure != "" && text != "" && strings.HasPrefix(a.text, text):
		return reading{"cut", failure}
	case failure != "":
		return reading{"error", failure}
	case text == a.text:
		return reading{kind: "page"}
	}
	return reading{"noise", fmt.Sprintf("%.20q", text)}
}

func (a answer) wantBody() string {
	if a.body == "-" {
		return ""
	}
	return cmp.Or(a.body, answerPage)
}

func (a answer) bytes() string {
	return strings.NewReplacer("{P}", answerPage, "{N}", strconv.Itoa(len(answerPage)), "{C}", chunked(answerPage)).Replace(a.raw)
}

// An answerWeb serves awkward answers: over HTTP/1.1 all from one address, over HTTP/2 each from
// its own. The path of a URL is /CLIENT/ROW.
type answerWeb struct {
	rows    []answer
	hosts   []string // of each row
	dir     string
	trusted string // file with the certificate
	bin     string

	mu       sync.Mutex
	requests map[string]int // over HTTP/2, by row and client
}

func serveAnswers(t *testing.T, rows []answer) *answerWeb {
	bin := build(t)
	secure := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(secure.Close)
	w := &answerWeb{rows: rows, dir: t.TempDir(), bin: bin, requests: map[string]int{}}
	w.trusted = filepath.Join(w.dir, "trusted.pem")
	testfile.Write(t, w.trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	listen := func(serve func(net.Conn)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					c.SetDeadline(time.Now().Add(time.Minute))
					serve(c)
				}()
			}
		}()
		return l.Addr().String()
	}
	plain := "http://" + listen(func(c net.Conn) { w.serve1(c, c.(*net.TCPConn)) })
	for _, a := range rows {
		if a.h2 == nil {
			w.hosts = append(w.hosts, plain)
			continue
		}
		w.hosts = append(w.hosts, "https://"+listen(func(c net.Conn) {
			secured := tls.Server(c, &tls.Config{Certificates: secure.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}})
			if secured.Handshake() != nil {
				return
			}
			if secured.ConnectionState().NegotiatedProtocol != "h2" {
				w.serve1(secured, secured)
				return
			}
			w.serve2(secured, a)
		}))
	}
	return w
}

func (w *answerWeb) url(client string, row int) string {
	return fmt.Sprintf("%s/%s/%d", w.hosts[row], client, row)
}

// rowOf returns the row of a path, or -1.
func (w *answerWeb) rowOf(path string) int {
	row, err := strconv.Atoi(path[strings.LastIndexByte(path, '/')+1:])
	if err != nil || row >= len(w.rows) {
		return -1
	}
	return row
}

// serve1 answers a request over HTTP/1.1, and closes the connection.
func (w *answerWeb) serve1(c net.Conn, half interface{ CloseWrite() error }) {
	br := bufio.NewReader(c)
	req, err := http.ReadRequest(br)
	if err != nil {
		return
	}
	raw := "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	if req.URL.Path == "/" {
		raw = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"
	} else if row := w.rowOf(req.URL.Path); row >= 0 {
		a := w.rows[row]
		cookie := fmt.Sprint("seen", row)
		switch _, err := req.Cookie(cookie); {
		case a.h2 != nil:
			raw = answer{raw: start + length + "\r\n{P}"}.bytes()
		case a.location != "" && err != nil:
			raw = strings.ReplaceAll(a.location, "{S}", cookie) + "Location: " + req.URL.Path + "\r\n\r\n"
		default:
			raw = a.bytes()
		}
	}
	io.WriteString(c, raw)
	half.CloseWrite()
	io.Copy(io.Discard, br) // a reset would discard what is on its way
}

// serve2 answers the requests of a connection over HTTP/2.
func (w *answerWeb) serve2(c *tls.Conn, a answer) {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c, preface); err != nil {
		return
	}
	s := &h2Server{Framer: http2.NewFramer(c, c), close: func() { c.CloseWrite() }}
	s.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	s.WriteSettings()
	for {
		frame, err := s.ReadFrame()
		if err != nil {
			return
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				s.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				s.WritePing(true, f.Data)
			}
		case *http2.MetaHeadersFrame:
			var client strings.Builder
			client.WriteString(a.name)
			for _, field := range f.RegularFields() {
				if field.Name == "user-agent" {
					client.WriteString(field.Value)
				}
			}
			w.mu.Lock()
			w.requests[client.String()]++
			s.request = w.requests[client.String()]
			w.mu.Unlock()
			if w.rowOf(f.PseudoValue("path")) < 0 && (!a.first || s.request > 1) {
				s.head(f.StreamID, true, ":status", "404")
				continue
			}
			a.h2(s, f.StreamID)
		}
	}
}

// askSpoor returns the readings of fetch live, from its archive, and from an archive with the
// bytes.
func (w *answerWeb) askSpoor(t *testing.T) [][]reading {
	var urls, archive strings.Builder
	for i, a := range w.rows {
		u := w.url("fetch", i)
		fmt.Fprintln(&urls, u)
		if raw := a.bytes(); raw != "" && a.location == "" {
			fmt.Fprintf(&archive, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\nWARC-Date: 2026-11-01T00:00:00Z\r\n"+
				"WARC-Target-URI: %s\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, u, len(raw), raw)
		}
	}
	written := filepath.Join(w.dir, "bytes.warc")
	testfile.Write(t, written, archive.String())
	ask := func(args ...string) (column []reading) {
		out := w.run(t, urls.String(), "fetch", append(args, "-mime", "text/html", "-cache", filepath.Join(w.dir, "cache"))...)
		records := map[string]fetched{}
		for _, r := range jsonLines[fetched](t, w.run(t, out, "parse", "-keep-body")) {
			records[r.URL] = r
		}
		for i, a := range w.rows {
			r, ok := records[w.url("fetch", i)]
			if !ok {
				t.Fatalf("%s: no record", a.name)
			}
			column = append(column, r.reading(a))
		}
		return column
	}
	live := ask("-allow-private", "-delay", "0s", "-j", "1", "-timeout", "10s", "-warc", filepath.Join(w.dir, "live"))
	own, err := filepath.Glob(filepath.Join(w.dir, "live-*"))
	if err != nil || len(own) != 1 {
		t.Fatalf("fetch wrote %q, want one archive", own)
	}
	all := [][]reading{live, ask("-archive", own[0]), ask("-archive", written)}
	for i, a := range w.rows {
		if a.raw == "" || a.location != "" {
			all[2][i] = reading{} // it depends on the request, or on a connection
		}
	}
	return all
}

// A fetched is what the table needs of a record.
type fetched struct {
	URL         string
	StatusCode  int `json:"status_code"`
	Error       string
	ErrorDetail string `json:"error_detail"`
	Truncated   string
	Text        string
	Body        string
	BodyBase64  string `json:"body_base64"`
}

func (r fetched) reading(a answer) reading {
	failure := r.Truncated
	if r.Error != "" {
		failure = strings.TrimSpace(r.Error + " " + r.ErrorDetail)
	}
	if a.text != "" {
		return a.judgeText(r.Text, failure)
	}
	body := r.Body
	if r.BodyBase64 != "" {
		b, err := base64.StdEncoding.DecodeString(r.BodyBase64)
		if err != nil {
			return reading{"error", err.Error()}
		}
		body = string(b)
	}
	return a.judge(r.StatusCode, body, failure)
}

// run runs a command of the project.
func (w *answerWeb) run(t *testing.T, stdin, program string, args ...string) (stdout string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(w.bin, program), args...)
	cmd.Stdin, cmd.Env = strings.NewReader(stdin), append(os.Environ(), "SSL_CERT_FILE="+w.trusted)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, stderr.Bytes())
	}
	return string(out)
}

// other runs another program, which writes the body to a file.
func (w *answerWeb) other(t *testing.T, program string, args ...string) (status int, body, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	file := filepath.Join(w.dir, "body")
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, append(args, file)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+w.dir)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(b), out.String(), messages.String()
}

func (w *answerWeb) askCurl(t *testing.T, a answer, url string) reading {
	if a.text != "" && a.h2 == nil {
		return reading{} // it shows no documents
	}
	exit, body, code, stderr := w.other(t, "curl", "-sS", "-L", "--max-redirs", "5", "--compressed", "--max-time", "10", "-b", "", "--cacert", w.trusted, "-w", "%{http_code}", url, "-o")
	status, err := strconv.Atoi(code)
	if err != nil {
		t.Fatal(err)
	}
	failure := ""
	if exit != 0 {
		failure = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(stderr, "curl: "), fmt.Sprintf("(%d)", exit)))
	}
	return a.judge(status, body, failure)
}

var wgetStatus = regexp.MustCompile(`(?m)^ +\S+ +(\d+)`)

func (w *answerWeb) askWget(t *testing.T, a answer, url string) reading {
	if a.text != "" {
		return reading{} // it shows no documents, and has no HTTP/2
	}
	exit, body, _, stderr := w.other(t, "wget", "-nv", "-S", "--tries=1", "--timeout=10", "--max-redirect=5", "--compression=auto", "--content-on-error", "--ca-certificate="+w.trusted, url, "-O")
	status := 0
	for _, found := range wgetStatus.FindAllStringSubmatch(stderr, -1) {
		if n, err := strconv.Atoi(found[1]); err == nil && n >= 200 {
			status = n
		}
	}
	failure := ""
	if exit != 0 && (exit != 8 || status == http.StatusFound) { // 8 is a status of an error
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		failure = fmt.Sprintf("exit %d, %s", exit, lines[len(lines)-1])
	}
	return a.judge(status, body, failure)
}

// An answerBrowser asks from a page of Chromium.
type answerBrowser struct {
	*browser
	at string // the host of the page
}

func newAnswerBrowser(t *testing.T, program string) *answerBrowser {
	b := &answerBrowser{browser: startBrowser(t, program)}
	b.call("Security.setIgnoreCertificateErrors", map[string]any{"ignore": true}, nil)
	b.call("Network.enable", map[string]any{}, nil)
	return b
}

var netError = regexp.MustCompile(`"errorText":"([^"]+)"`)

// ask reads an answer by fetch from a page of the same origin, or shows it as a document.
func (b *answerBrowser) ask(t *testing.T, a answer, url string) reading {
	b.network, b.console = nil, nil
	if a.text != "" {
		return b.show(a, url)
	}
	if host := url[:strings.Index(url[8:], "/")+8]; b.at != host {
		b.open(host + "/")
		b.at = host
	}
	expression := fmt.Sprintf(`(async url => {
		const got = {status: 0, body: "", error: ""};
		try {
			const response = await fetch(url, {cache: "no-store", signal: AbortSignal.timeout(10000)});
			got.status = response.status;
			if (response.body) for await (const part of response.body) got.body += String.fromCharCode(...part);
		} catch (e) {
			got.error = String(e);
		}
		got.body = btoa(got.body);
		return got;
	})(%q)`, url)
	var answer struct {
		Result struct {
			Value struct {
				Status      int
				Body, Error string
			}
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	got := answer.Result.Value
	body, err := base64.StdEncoding.DecodeString(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.judge(got.Status, string(body), b.reason(got.Error))
}

// show navigates to an answer. What is not a document would be downloaded.
func (b *answerBrowser) show(a answer, url string) reading {
	b.at = ""
	var navigated struct {
		ErrorText  string
		IsDownload bool
	}
	b.call("Page.navigate", map[string]any{"url": url}, &navigated)
	if navigated.IsDownload {
		return reading{"error", "download"}
	}
	if navigated.ErrorText != "" {
		return reading{"error", navigated.ErrorText}
	}
	var got struct{ Text string }
	b.await(`() => ({text: document.body?.innerText ?? "", done: document.readyState == "complete"})`, 20*time.Second, &got)
	return a.judgeText(got.Text, b.reason(""))
}

// reason returns the network error of the last request, or else the given one.
func (b *answerBrowser) reason(failure string) string {
	for _, event := range slices.Backward(b.network) {
		if found := netError.FindStringSubmatch(event); found != nil && !strings.Contains(event, `"type":"Other"`) {
			return found[1]
		}
	}
	return failure
}
