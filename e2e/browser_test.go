package e2e

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/pem"
	"fmt"
	"html/template"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// TestReplayInBrowser tests that ReplayWeb.page, the replayer of the Webrecorder project, shows
// the pages of an archive as they were on the web, which is offline by then. make test-browser
// installs a browser and the replayer, and sets
//
//	SPOOR_CHROMIUM        the program of the browser
//	SPOOR_REPLAYWEBPAGE   the directory of ui.js and sw.js
func TestReplayInBrowser(t *testing.T) {
	program, replayer := os.Getenv("SPOOR_CHROMIUM"), os.Getenv("SPOOR_REPLAYWEBPAGE")
	if program == "" || replayer == "" {
		t.Skip("SPOOR_CHROMIUM and SPOOR_REPLAYWEBPAGE are not set (make test-browser sets them)")
	}
	shots, err := os.MkdirTemp("", "spoor-browser-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(shots) // fails if it has a screenshot

	dir := t.TempDir()
	replay := httptest.NewServer(replayServer(replayer, dir))
	defer replay.Close()
	pages := archiveTestWeb(t, dir, program)
	b := startBrowser(t, program)
	b.call("Network.enable", map[string]any{}, nil)
	b.open(replay.URL + "/show?source=/crawl.wacz&view=pages")
	b.expect(shots, "crawl.wacz: the list of its pages", listed, "", "type tls.Conn (crypto/tls) - Go documentation")
	foreign := archiveOfAnotherProgram(t, dir)
	for _, archive := range []string{"crawl.warc.gz", "crawl.wacz", "foreign.wacz"} {
		pages := slices.Clone(pages)
		switch archive {
		case "crawl.wacz":
			for _, path := range spelled { // the links are spelled so; the crawl requests the canonical form
				pages = append(pages, replayed{"a spelling of a link", pages[0].site() + path, "Asked for", ""})
			}
		case "foreign.wacz":
			pages = foreign
		}
		for _, p := range pages {
			b.open(replay.URL + "/show?" + url.Values{"source": {"/" + archive}, "url": {p.url}}.Encode())
			b.expect(shots, archive+": "+p.name, shown, cmp.Or(p.at, p.url), p.want)
		}
	}
}

// expect waits until the page at an address shows a text. Otherwise it fails the test, logs the
// messages of the browser, and writes a screenshot to a directory. If the page is empty, the
// test ends.
func (b *browser) expect(shots, name, look, at, want string) {
	b.t.Helper()
	var got struct{ At, Text string }
	b.await(fmt.Sprintf("() => { %s; const found = %s; return {...found, done: found.text.includes(%q)} }", roots, look, want), time.Minute, &got)
	if got.At != at || !strings.Contains(got.Text, want) {
		b.t.Logf("%s: messages of the browser:\n%s", name, strings.Join(slices.Concat(b.network, b.console), "\n"))
	}
	b.network, b.console = nil, nil
	switch {
	case got.Text == "":
		b.t.Fatalf("%s: the page is empty\nscreenshot: %s", name, b.screenshot(shots, name))
	case got.At != at || !strings.Contains(got.Text, want):
		b.t.Errorf("%s:\nat\t%s\ngot\t%q\nwant\t%q at %s\nscreenshot: %s", name, got.At, got.Text, want, at, b.screenshot(shots, name))
	default:
		b.t.Logf("%s: %q", name, want)
	}
}

// JavaScript expressions for parts of the replayer, which consists of frames in shadow roots in
// frames.
const (
	roots = `function* roots(root) {
		yield root;
		for (const e of root.querySelectorAll("*")) {
			if (e.shadowRoot) yield* roots(e.shadowRoot);
			if (e.localName == "iframe" && e.contentDocument) yield* roots(e.contentDocument);
		}
	}
	const seen = [...roots(document)]`

	// The replayed page: the frame with the address …/w/COLLECTION/TIMEmp_/URL.
	shown = `seen.filter(r => r.body && r.location?.href.includes("mp_/")).map(
		r => ({at: r.location.href.replace(/.*?mp_\//, ""), text: r.body.innerText}))[0] ?? {at: "", text: ""}`

	// The text of the list of pages.
	listed = `({at: "", text: seen.filter(r => r.host?.localName == "wr-page-entry").map(r => r.textContent).join("\n")})`
)

// replayServer serves a page with the replayer, the replayer itself, and the archives in dir.
func replayServer(replayer, dir string) http.Handler {
	mux := http.NewServeMux()
	// The replayer waits less than half a second for its service worker to become active, and
	// stays empty if it does not. So the page waits for the worker before it adds the replayer.
	page := template.Must(template.New("").Parse(`<!doctype html>
<title>replay</title>
<style>html, body { height: 100%; margin: 0 }</style>
<script src="/replay/ui.js"></script>
<template><replay-web-page source="{{.Get "source"}}" url="{{.Get "url"}}" view="{{.Get "view"}}" embed="default"></replay-web-page></template>
<script type="module">
const {installing, waiting, active} = await navigator.serviceWorker.register("/replay/sw.js?serveIndex=1", {scope: "/replay/"});
const worker = installing ?? waiting ?? active;
while (worker.state != "activated") await new Promise(changed => worker.addEventListener("statechange", changed, {once: true}));
document.body.append(document.querySelector("template").content);
</script>
`))
	mux.HandleFunc("GET /show", func(w http.ResponseWriter, r *http.Request) {
		page.Execute(w, r.URL.Query())
	})
	mux.Handle("GET /replay/", http.StripPrefix("/replay/", http.FileServer(http.Dir(replayer))))
	mux.Handle("GET /", http.FileServer(http.Dir(dir)))
	return mux
}

// A replayed page is an address, a text that its page must show, and the final address if it is
// a different one.
type replayed struct{ name, url, want, at string }

// site returns the scheme and host of the page.
func (p replayed) site() string {
	u, _ := url.Parse(p.url)
	return u.Scheme + "://" + u.Host
}

// spelled are addresses that are not in canonical form, as a browser requests them.
var spelled = []string{"/asked/%7Euser/", "/asked/%7euser/", "/asked/%41bc", "/asked/?q=it%27s", "/asked/caf%C3%A9", "/asked/caf%c3%a9"}

// archiveOfAnotherProgram writes foreign.wacz in dir, which warc packs of an archive with the
// addresses as other programs archive them. It returns what the archive must show.
func archiveOfAnotherProgram(t *testing.T, dir string) (pages []replayed) {
	t.Helper()
	bin := build(t)
	var b bytes.Buffer
	for i, path := range spelled {
		u, block := "http://old.example"+path, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>Page %d</h1>", i)
		fmt.Fprintf(&b, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\nWARC-Date: 2024-05-01T10:00:00Z\r\nWARC-Target-URI: %s\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			i, u, len(block), block)
		pages = append(pages, replayed{"an address of another program", u, fmt.Sprintf("Page %d", i), ""})
	}
	testfile.Write(t, filepath.Join(dir, "foreign.warc"), b.Bytes())
	cmd := exec.Command(filepath.Join(bin, "warc"), "pack", "-o", "foreign.wacz", "foreign.warc")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return pages
}

// archiveTestWeb serves a web, archives it to crawl.warc.gz and crawl.wacz in dir, with what a page of
// scripts requests in a browser, and stops the server. It returns what the archives must show.
func archiveTestWeb(t *testing.T, dir, browser string) []replayed {
	t.Helper()
	bin := build(t)
	plain := httptest.NewServer(testWeb(t))
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, "<!doctype html><title>secure</title><h1>Came over %s</h1>", r.Proto)
	}))
	secure.EnableHTTP2 = true
	secure.StartTLS()
	defer secure.Close()
	trusted := filepath.Join(dir, "trusted.pem")
	testfile.Write(t, trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))

	const missing = "Archived Page Not Found"
	pages := []replayed{
		{"a page", plain.URL + "/crypto/tls/type.Conn.html", "type Conn", ""},
		{"a page that a redirect led to", plain.URL + "/crypto/tls", "Package tls partially implements", plain.URL + "/crypto/tls/"},
		{"a page with style, script and picture", plain.URL + "/rich", "The style is teal, the picture is 3 by 2.", ""},
		{"a page in windows-1252", plain.URL + "/windows-1252", "Gar\u00e7on \u201cr\u00e9sum\u00e9\u201d", ""},
		{"a page with status 404", plain.URL + "/nowhere", "Page not found", ""},
		{"a page with a duplicate", plain.URL + "/twin", "The same twice", ""},
		{"its duplicate", plain.URL + "/other-twin", "The same twice", ""},
		{"a page in chunks", plain.URL + "/chunked", "Came in 3 chunks", ""},
		{"a page made by scripts", plain.URL + "/app", "Made of app.json by app.js", ""},
		{"a page over HTTP/2", secure.URL + "/", "Came over HTTP/2.0", ""},
		{"a page that robots.txt disallows", plain.URL + "/private/internal/abi/", missing, ""},
		{"a page that was not fetched", plain.URL + "/crypto/sha256/", missing, ""},
	}
	// A server may use any coding that fetch accepts, so the replayer must support all of them.
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		pages = append(pages, replayed{"a page available in " + coding, plain.URL + "/coded/" + coding, "Came as " + coding, ""})
	}

	var seeds strings.Builder
	for _, p := range pages {
		if p.want != missing || strings.Contains(p.url, "/private/") {
			fmt.Fprintln(&seeds, p.url)
		}
	}
	for _, path := range append([]string{"/rich.css", "/rich.js", "/rich.png", "/spelled"}, spelled...) {
		fmt.Fprintln(&seeds, plain.URL+path)
	}
	run := func(stdin, program string, args ...string) (stdout string) {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, program), args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+trusted)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", program, err, stderr.String())
		}
		return string(out)
	}
	fetched := run(seeds.String(), "fetch", "-allow-private", "-delay", "0s", "-j", "1", "-mime", "", "-warc", "crawl")
	parsed := run(fetched, "parse", "-keep-body")
	rendered := run(parsed, "render", "-only-marked", "-allow-private", "-no-sandbox", "-browser", browser, "-warc", "render")
	if !strings.Contains(rendered, "Made of app.json by app.js") {
		t.Error("the page made by scripts was not rendered")
	}
	var archive []byte // the pages, and what scripts have requested
	for _, prefix := range []string{"crawl", "render"} {
		files, err := filepath.Glob(filepath.Join(dir, prefix+"-*.warc.gz"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: files %q, want one", prefix, files)
		}
		part := testfile.Read(t, files[0])
		archive = append(archive, part...)
	}
	testfile.Write(t, filepath.Join(dir, "crawl.warc.gz"), archive)
	checkFeatures(t, filepath.Join(dir, "crawl.warc.gz"))
	run("", "warc", "pack", "-o", "crawl.wacz", "crawl.warc.gz")
	return pages
}

// checkFeatures checks that the archive has the features that are difficult to replay.
func checkFeatures(t *testing.T, file string) {
	t.Helper()
	f := testfile.Open(t, file)
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"WARC-Type: revisit", "WARC-Protocol: h2", "Content-Encoding: br", "Transfer-Encoding: chunked"} {
		if !bytes.Contains(text, []byte("\r\n"+field+"\r\n")) {
			t.Errorf("no record of the archive has the field %s", field)
		}
	}
}

// testWeb returns the documentation of the Go tree, with additional pages that are difficult to
// archive or replay.
func testWeb(t *testing.T) http.Handler {
	t.Helper()
	site := goDocs(t)
	mux := http.NewServeMux()
	mux.Handle("/", site)
	page := func(path, kind, body string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, body)
		})
	}
	const html = "text/html; charset=utf-8"
	twin := "<!doctype html><title>twin</title><h1>The same twice</h1>" + strings.Repeat("<p>and long enough to be deduplicated", 50)
	page("/twin", html, twin)
	page("/other-twin", html, twin)
	page("/windows-1252", "text/html; charset=windows-1252", "<!doctype html><title>old</title><h1>Gar\xe7on \x93r\xe9sum\xe9\x94</h1>")
	page("/rich", html, `<!doctype html><title>rich</title><link rel=stylesheet href=/rich.css><img src="/rich.png"><h1></h1><script src="/rich.js"></script>`)
	page("/rich.css", "text/css", "h1 { color: rgb(0, 128, 128) }")
	page("/rich.js", "text/javascript", `onload = () => {
		const heading = document.querySelector("h1"), picture = document.querySelector("img");
		const teal = getComputedStyle(heading).color == "rgb(0, 128, 128)";
		heading.innerText = "The style is " + (teal ? "teal" : "lost") + ", the picture is " + picture.naturalWidth + " by " + picture.naturalHeight + ".";
	}`)
	page("/app", html, `<!doctype html><title>app</title><h1></h1><script src="/app.js"></script><script>/*`+strings.Repeat(" much script", 300)+`*/</script>`)
	page("/app.js", "text/javascript", `fetch("/app.json").then(answer => answer.json()).then(text => document.querySelector("h1").innerText = text)`)
	page("/app.json", "application/json", `"Made of app.json by app.js"`)
	page("/spelled", html, `<!doctype html><title>spelled</title><a href="`+strings.Join(spelled, `">x</a><a href="`)+`">x</a>`)
	mux.HandleFunc("GET /asked/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", html)
		fmt.Fprintf(w, "<!doctype html><title>asked</title><h1>Asked for %s</h1>", template.HTMLEscapeString(r.RequestURI))
	})
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	page("/rich.png", "image/png", picture.String())
	mux.HandleFunc("GET /chunked", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", html)
		for _, part := range []string{"<!doctype html><title>chunked</title>", "<h1>Came in ", "3 chunks</h1>"} {
			io.WriteString(w, part)
			w.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("GET /coded/{coding}", func(w http.ResponseWriter, r *http.Request) {
		coding := r.PathValue("coding")
		text := "<!doctype html><title>coded</title><p>" + strings.Repeat("word ", 500) + "<h1>Came as " + coding + "</h1>"
		w.Header().Set("Content-Type", html)
		if strings.Contains(r.Header.Get("Accept-Encoding"), coding) {
			w.Header().Set("Content-Encoding", coding)
			text = encode(coding, text)
		}
		io.WriteString(w, text)
	})
	return mux
}

// encode returns a text in a content coding.
func encode(coding, text string) string {
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b) // it only fails for invalid options
	}
	io.WriteString(w, text)
	w.Close()
	return b.String()
}
