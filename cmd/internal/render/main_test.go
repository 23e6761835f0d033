package render

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"spoor/cmd/internal/scripttest"
	"spoor/internal/testfile"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes a command of render; the scripts build the others.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	testscript.Main(m, map[string]func(){"render": Command.Main})
}

// The scripts have a site of their own at $SITE, and another one at $OTHER, of which no page may
// request anything. status runs a command and checks its exit status; requested checks how many
// times a path of the site was requested; killbrowser kills the browsers of the render that runs
// in the background once the site has been asked for /hang; leftover checks that neither a process
// nor a profile of a browser is left.
func TestScript(t *testing.T) {
	program := os.Getenv("SPOOR_CHROMIUM")
	if program == "" {
		t.Skip("SPOOR_CHROMIUM is not set (make test-browser sets it)")
	}
	program, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	bin := buildOthers(t)
	scripttest.Run(t, testscript.Params{
		Setup: func(e *testscript.Env) error {
			other := newSite("")
			s := newSite(other.URL)
			e.Defer(s.close)
			e.Defer(other.close)
			e.Values["site"], e.Values["other"] = s, other
			e.Setenv("SITE", s.URL)
			e.Setenv("OTHER", other.URL)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("PATH", e.Getenv("PATH")+string(os.PathListSeparator)+bin)
			// Most containers do not allow the sandbox, and the pages are our own.
			e.Setenv("BROWSER", program)
			tmp, err := os.MkdirTemp("", "spoor") // the name must be short
			if err != nil {
				return err
			}
			e.Defer(func() { os.RemoveAll(tmp) })
			e.Setenv("TMPDIR", tmp)
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"requested":   requested,
			"killbrowser": killBrowser,
			"leftover":    leftover,
		},
	})
}

// buildOthers builds the commands of pipelines, and returns their directory.
func buildOthers(t *testing.T) string {
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../../fetch", "../../parse").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// requested N site|other PATH
func requested(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	s := ts.Value(args[1]).(*site)
	if got := s.count(args[2]); (got == want) == neg {
		ts.Fatalf("%s was requested %d times; all requests: %q", args[2], got, s.paths)
	}
}

func killBrowser(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Value("site").(*site).await("/hang")
	pids := browsersIn(ts.Getenv("TMPDIR"))
	if len(pids) == 0 {
		ts.Fatalf("there is no browser")
	}
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // it may have ended
		}
	}
}

func leftover(ts *testscript.TestScript, neg bool, _ []string) {
	dir := ts.Getenv("TMPDIR")
	entries, err := os.ReadDir(dir)
	ts.Check(err)
	end := time.Now().Add(5 * time.Second)
	pids := browsersIn(dir)
	for len(pids) > 0 && time.Now().Before(end) {
		time.Sleep(20 * time.Millisecond)
		pids = browsersIn(dir)
	}
	if (len(entries)+len(pids) > 0) != neg {
		ts.Fatalf("files %v, processes %v", entries, pids)
	}
}

// browsersIn returns the processes of browsers with a profile in dir.
func browsersIn(dir string) (pids []int) {
	if runtime.GOOS != "linux" {
		return nil
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		line, _ := os.ReadFile(name) // it may have ended
		if strings.Contains(string(line), "--user-data-dir="+dir) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// A site is a web site on loopback whose pages are made by scripts.
type site struct {
	*httptest.Server
	other string // URL of another site
	ended chan struct{}

	connections atomic.Int64

	mu    sync.Mutex
	paths []string // that were requested
}

func newSite(other string) *site {
	s := &site{other: other, ended: make(chan struct{})}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Start()
	return s
}

func (s *site) close() {
	close(s.ended)
	s.CloseClientConnections()
	s.Close()
}

func (s *site) count(path string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch path {
	case "any":
		return len(s.paths)
	case "connections":
		return int(s.connections.Load())
	}
	for _, p := range s.paths {
		if p == path {
			n++
		}
	}
	return n
}

// await waits until a path has been requested.
func (s *site) await(path string) {
	for s.count(path) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
}

// shell is a page that parse marks: it has no text, but a large script.
func shell(script string) string {
	return "<!doctype html><title>shell</title><div id=root></div><script>" + script + "\n//" + strings.Repeat(" padding", 300) + "</script>"
}

// app makes a page of the JSON at its address + .json.
const app = `const root = document.getElementById("root");
function add(name, text, href) {
	const e = document.createElement(name);
	e.textContent = text;
	if (href) e.href = href;
	root.append(e, " ");
}
async function show(path) {
	const page = await (await fetch(path)).json();
	document.title = page.title;
	add("h1", page.title);
	add("p", page.text);
	for (const link of page.links) add("a", "to " + link, link);
}
`

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.paths = append(s.paths, r.URL.Path)
	s.mu.Unlock()
	html := func(page string) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, page)
	}
	json := func(number string) {
		w.Header().Set("Content-Type", "application/json")
		n, _ := strconv.Atoi(number)
		text := "Text that only a script shows, of page " + number + "." + strings.Repeat(" It has many words.", 12)
		fmt.Fprintf(w, `{"title":"Page %s","text":%q,"links":["/app/%d","/app/%d#x"]}`, number, text, n+1, n+2)
	}
	name, arg, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch name {
	case "robots.txt":
		io.WriteString(w, "User-agent: *\nDisallow: /private\n")
	case "app.js":
		w.Header().Set("Content-Type", "text/javascript")
		io.WriteString(w, app)
	case "app", "private":
		html("<!doctype html><title>shell</title><div id=root></div><script src=/app.js></script><script>show('/data/" + arg + "')</script>")
	case "data":
		http.Redirect(w, r, "/json/"+arg, http.StatusFound)
	case "json":
		json(arg)
	case "text":
		html("<title>Text</title><p>Text without scripts. <a href=/app/1>app</a>")
	case "moved":
		http.Redirect(w, r, "/app/7", http.StatusMovedPermanently)
	case "etag":
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		html(shell(""))
	case "hang":
		select {
		case <-r.Context().Done():
		case <-s.ended:
		}
	case "page":
		script, ok := scripts[arg]
		if !ok {
			http.NotFound(w, r)
			return
		}
		html(shell(strings.ReplaceAll(strings.ReplaceAll(script, "OTHER", s.other), "HOST", strings.TrimPrefix(s.other, "http://"))))
	default:
		http.NotFound(w, r)
	}
}

const write = `const put = text => document.getElementById("root").append(text + " ");`

// scripts are of pages that do what a renderer must withstand.
var scripts = map[string]string{
	"dialogs": write + `alert("a"); put("confirm " + confirm("b")); put("prompt " + prompt("c"));
		addEventListener("beforeunload", e => { e.preventDefault(); e.returnValue = "stay"; });
		location.href = "/app/3?a=1&b=2";`,
	"popups": write + `put("open " + open("/hang")); const a = document.createElement("a"); a.href = "/hang"; a.target = "_blank";
		document.body.append(a); a.click(); const f = document.createElement("form"); f.target = "_blank"; f.action = "/hang"; document.body.append(f); f.submit(); put("done");`,
	"download": write + `const a = document.createElement("a"); a.href = "data:application/octet-stream,x"; a.download = "x.bin"; document.body.append(a); a.click();
		const b = document.createElement("a"); b.href = URL.createObjectURL(new Blob(["x"])); b.download = "y.bin"; document.body.append(b); b.click(); put("done");`,
	"timers":  write + `let n = 0; setInterval(() => n++, 1); (function again() { setTimeout(again, 0); })(); put("ticking");`,
	"loop":    write + `put("before the loop"); setTimeout(() => { for (;;); }, 0);`,
	"memory":  `const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));`,
	"heap":    `const all = []; for (;;) all.push({a: [all.length, "x" + all.length]});`,
	"dom":     `const p = document.createElement("p"); p.textContent = "words ".repeat(1000); for (let i = 0; i < 500; i++) document.body.append(p.cloneNode(true));`,
	"hanging": write + `put("shown before"); fetch("/hang").then(() => put("never"));`,
	"script":  `document.write("<p>before<script src=/hang><\/script><p>after");`,
	"other": write + `for (const url of ["OTHER/x", "http://169.254.169.254/latest/meta-data/", "http://[::1]:1/", "file:///etc/passwd"])
		fetch(url, {mode: "no-cors"}).then(() => put("answered " + url), () => put("refused"));
		const get = (name, attributes) => document.body.append(Object.assign(document.createElement(name), attributes));
		get("script", {src: "OTHER/a.js"}); get("img", {src: "OTHER/a.png"}); get("iframe", {src: "OTHER/frame"}); get("iframe", {src: "file:///etc/passwd"});
		get("link", {rel: "stylesheet", href: "OTHER/a.css"}); get("video", {src: "OTHER/a.mp4"}); get("link", {rel: "preconnect", href: "OTHER/"});
		get("link", {rel: "prefetch", href: "OTHER/prefetch"}); get("object", {data: "OTHER/object"}); get("embed", {src: "OTHER/embed"});
		try { new WebSocket("ws://HOST/ws"); } catch (e) { put("no WebSocket"); }
		try { new EventSource("OTHER/events"); } catch (e) { put("no EventSource"); }
		try { new Worker(URL.createObjectURL(new Blob(["fetch('OTHER/worker'); importScripts('OTHER/import')"]))); } catch (e) { put("no Worker"); }
		try { new SharedWorker("data:text/javascript,fetch('OTHER/shared')"); } catch (e) { put("no SharedWorker"); }
		navigator.serviceWorker || put("no serviceWorker");
		const f = document.createElement("iframe"); document.body.append(f);
		f.contentWindow.RTCPeerConnection || put("no WebRTC"); f.contentWindow.fetch("OTHER/inner").catch(() => {});
		const s = document.createElement("iframe"); s.sandbox = "allow-scripts"; s.srcdoc = "<script>fetch('OTHER/sandboxed'); new Image().src='OTHER/image'<\/script>"; document.body.append(s);
		try { f.contentWindow.navigator.sendBeacon("OTHER/beacon"); } catch (e) { put("no beacon"); }
		fetch("/json/1", {method: "POST", body: "x"}).catch(() => put("no POST"));`,
	"many":    write + `let ok = 0, no = 0; Promise.all(Array.from({length: 300}, (_, i) => fetch("/json/" + i).then(() => ok++, () => no++))).then(() => put(ok + " of 300"));`,
	"refresh": `document.write("<p>moving on<meta http-equiv=refresh content='0;url=/app/9'>");`,
	"cookies": write + `document.cookie = "a=b"; put("cookies: " + document.cookie);`,
}

func TestPagesAreListed(t *testing.T) {
	// The scripts in testdata name the pages; each must exist.
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		b := testfile.Read(t, name)
		all.Write(b)
	}
	for name := range scripts {
		if !slices.Contains(strings.FieldsFunc(all.String(), func(r rune) bool { return r == '/' || r <= ' ' || r == '\'' || r == '"' }), name) {
			t.Errorf("no script uses /page/%s", name)
		}
	}
}
