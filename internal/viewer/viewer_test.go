package viewer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"spoor/internal/report"
	"spoor/internal/run"
	"spoor/internal/testfile"
)

// A runner writes a run directory as crawl does.
type runner struct {
	t   *testing.T
	dir run.Dir
	sum *run.Totals
}

func newRun(t *testing.T, dir string) *runner {
	t.Helper()
	testfile.Check(t, os.MkdirAll(filepath.Join(dir, "frontier"), 0o777))
	r := &runner{t, run.Dir(dir), run.NewTotals()}
	r.write(run.SettingsFile, "strategy niche\nseed 1\nsize 20\npages 100\n")
	r.write(run.Topic, `{"query":"deer & moss"}`)
	return r
}

func (r *runner) write(name, text string) {
	r.t.Helper()
	testfile.Write(r.t, r.dir.Path(name), text)
}

// generation commits a generation with these records in its two files.
func (r *runner) generation(sum *run.Summary, next, scored string) {
	r.t.Helper()
	sum.Generation = r.sum.Generation + 1
	testfile.Check(r.t, os.MkdirAll(r.dir.File(sum.Generation, ""), 0o777))
	for name, text := range map[string]string{run.Next: next, run.Scored: scored} {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b)
		testfile.Check(r.t, err)
		_, err = io.WriteString(z, text)
		testfile.Check(r.t, err)
		testfile.Check(r.t, z.Close())
		testfile.Write(r.t, r.dir.File(sum.Generation, name), b.Bytes())
	}
	line, err := sum.Line()
	testfile.Check(r.t, err)
	f, err := os.OpenFile(r.dir.Path(run.LogFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	testfile.Check(r.t, err)
	_, err = f.Write(line)
	testfile.Check(r.t, err)
	testfile.Check(r.t, f.Close())
	r.sum.Add(sum)
	b, err := json.Marshal(r.sum)
	testfile.Check(r.t, err)
	testfile.Write(r.t, r.dir.Path(totalsFile), b)
}

// hold locks the run, as a running crawl does. The returned function ends the crawl.
func (r *runner) hold() (end func(reason string)) {
	r.t.Helper()
	lock, err := r.dir.Hold()
	testfile.Check(r.t, err)
	return func(reason string) {
		r.write(run.StopReason, reason+"\n")
		lock.Close()
	}
}

type testLog struct{ t *testing.T }

func (l testLog) Warn(msg string, attrs ...any) { l.t.Log(msg, attrs) }

// start starts a server.
func start(t *testing.T, o Options) *httptest.Server {
	t.Helper()
	o.Log = testLog{t}
	server := httptest.NewServer(New(&o).Handler())
	t.Cleanup(server.Close)
	return server
}

// get returns the status, the header and the body of an answer. It follows no redirect. The header Host is set
// as the host of the request.
func get(t *testing.T, method, url string, header map[string]string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	testfile.Check(t, err)
	for name, value := range header {
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	testfile.Check(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	testfile.Check(t, err)
	return answer.StatusCode, answer.Header, string(body)
}

// sleep lets a server look at the files again.
func sleep() { time.Sleep(lookEvery + 50*time.Millisecond) }

const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>`

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func TestPagesShowRunsAndEscapeTheirText(t *testing.T) {
	dir := t.TempDir()
	one := newRun(t, filepath.Join(dir, "one"))
	one.write(run.Topic, `{"query":`+quote(hostile+"\u202e")+`}`)
	testfile.Write(t, filepath.Join(dir, "no run"), "")
	testfile.Check(t, os.MkdirAll(filepath.Join(dir, "empty"), 0o777))
	next := `{"v":1,"url":"http://a.test/1","generation":1,"status_code":200,"score":0.5,"scores":{"niche":0.75},"relevant":true}
{"v":1,"url":` + quote("http://b.test/?q="+hostile) + `,"generation":2,"depth":2,"via":"http://a.test/1","parents":["http://a.test/1","http://a.test/2"],"operator":` + quote(hostile) + `,"priority":0.25,"reasons":{` + quote(hostile) + `:-2,"words":3}}
{"v":1,"url":"javascript:alert(3)","generation":2,"operator":"link","priority":2}
{"v":1,"url":"http://b.test/ok","generation":2,"operator":"link","priority":1}
{"v":1,"query":"moss","priority":1}
not a record
`
	scored := `{"v":1,"url":"http://a.test/1","generation":1,"operator":"seed","status_code":200,"title":` + quote(hostile) + `,"score":0.5,"relevant":true}
{"v":1,"url":"http://a.test/2","generation":1,"operator":"seed","status_code":404,"score":0,"relevant":false}
`
	end := one.hold()
	one.generation(&run.Summary{Outcomes: 2, Cost: 2, Failed: 1, Relevant: 1, Errors: map[string]int{"robots": 3, hostile: 1}, Operators: map[string]run.Yield{hostile: {Cost: 1}, "seed": {Cost: 1, Relevant: 1}},
		URLs: 7, Hosts: 2, Waiting: 1234, Skipped: map[string]int{"trap_depth": 5}, Seconds: 4}, next, scored)
	one.generation(&run.Summary{Outcomes: 1, Cost: 1, Relevant: 1, Operators: map[string]run.Yield{"link": {Cost: 1, Relevant: 1}}, Waiting: 1234, URLs: 7, Hosts: 2, Skipped: map[string]int{"trap_depth": 5}}, next, scored)
	server := start(t, Options{Dirs: []string{dir}})

	_, _, list := get(t, "GET", server.URL+"/", nil)
	_, header, page := get(t, "GET", server.URL+"/run/one/", nil)
	for _, want := range []string{`href="/run/one/"`, "running", ">3</td>", "1 run, 1 running"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %q", want)
		}
	}
	for _, want := range []string{
		`data-number="fetched">3</b>`, "of 100, 3", `data-number="waiting">1,234</b>`, "trap_depth", "in too many directories",
		"Of the 3 addresses that generation 2 has proposed", "it also asks 1 query", `href="http://b.test/ok" rel="noreferrer noopener nofollow"`,
		"<bdi>javascript:alert(3)</bdi>", "and 1 other page; 2 links from a seed", "<bdi>words</bdi> 3", "The 1 page of generation 2, by the estimate", ">0.75<",
		"touch " + string(one.dir) + "/.stop", "There is no report yet",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for name, text := range map[string]string{"list": list, "page": page} {
		for _, wrong := range []string{"<script>", "<img", "onerror=alert(2)>", `href="javascript`, "\u202e", "<style", " style=", "<form"} {
			if strings.Contains(text, wrong) {
				t.Errorf("the %s has %q", name, wrong)
			}
		}
		if !strings.Contains(text, "&lt;script&gt;alert(1)") {
			t.Errorf("the %s lacks the topic", name)
		}
		for _, m := range regexp.MustCompile(`(?:src|href|action)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(m[1], "http") && !strings.Contains(text, m[1]+`" rel="noreferrer noopener nofollow"`) {
				t.Errorf("the %s has a link %q", name, m[1])
			}
		}
	}
	for name, want := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store"} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}

	// The part that changes has a version, and is not sent again.
	_, header, live := get(t, "GET", server.URL+"/run/one/live", nil)
	if !strings.Contains(page, live) || !strings.Contains(page, `data-version=`+header.Get("ETag")) {
		t.Error("the page does not contain its part")
	}
	if status, _, body := get(t, "GET", server.URL+"/run/one/live", map[string]string{"If-None-Match": header.Get("ETag")}); status != 304 || body != "" {
		t.Errorf("the same version: %d, %d bytes", status, len(body))
	}
	sleep()
	if status, _, _ := get(t, "GET", server.URL+"/run/one/live", map[string]string{"If-None-Match": header.Get("ETag")}); status != 304 {
		t.Errorf("the version changes although the files do not: %d", status)
	}
	end("stop_file")
	sleep()
	if status, _, body := get(t, "GET", server.URL+"/run/one/live", map[string]string{"If-None-Match": header.Get("ETag")}); status != 200 || !strings.Contains(body, "crawl -run "+string(one.dir)+"<") {
		t.Errorf("after the end: %d\n%s", status, body)
	}
	if _, _, page := get(t, "GET", server.URL+"/run/one/", nil); !strings.Contains(page, "It was stopped by its stop file.") {
		t.Error("the page does not say why the crawl has ended")
	}

	// A run that is replaced by another one, and one that appears.
	testfile.Check(t, os.RemoveAll(string(one.dir)))
	newRun(t, string(one.dir))
	newRun(t, filepath.Join(dir, "two"))
	sleep()
	if _, _, page := get(t, "GET", server.URL+"/run/one/", nil); !strings.Contains(page, `data-number="fetched">0</b>`) || !strings.Contains(page, "deer &amp; moss") {
		t.Error("the page shows the run that was replaced")
	}
	if status, _, _ := get(t, "GET", server.URL+"/run/two/", nil); status != 200 {
		t.Errorf("a new run: %d", status)
	}
	testfile.Check(t, os.RemoveAll(string(one.dir)))
	sleep()
	if status, _, _ := get(t, "GET", server.URL+"/run/one/", nil); status != 404 {
		t.Errorf("a run that was removed: %d", status)
	}
}

func TestNamesOfRuns(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x/jazz", "y/jazz", "z/a b%2f?#é", "node/p/003", "compared/jobs/t", "compared/work/u"} {
		newRun(t, filepath.Join(dir, name))
	}
	testfile.Write(t, filepath.Join(dir, "node", run.SettingsFile), "strategy niche\n")
	outside := newRun(t, filepath.Join(t.TempDir(), "outside"))
	testfile.Check(t, os.Symlink(string(outside.dir), filepath.Join(dir, "x", "link")))
	path := func(name string) string { return filepath.Join(dir, name) }
	s := New(&Options{Dirs: []string{path("x"), path("y/jazz"), path("z"), path("node"), path("compared"), path("x/jazz"), path("missing")}, Log: testLog{t}})
	got := map[string]string{}
	for _, c := range s.all(time.Now()) {
		got[c.name], _ = filepath.Rel(dir, string(c.dir))
	}
	want := map[string]string{"jazz": "x/jazz", "jazz~2": "y/jazz", "a b%2f?#é": "z/a b%2f?#é", "003": "node/p/003", "t": "compared/jobs/t", "u": "compared/work/u"}
	if !maps.Equal(got, want) {
		t.Errorf("%q", got)
	}

	server := httptest.NewServer(s.Handler())
	defer server.Close()
	if status, header, _ := get(t, "GET", server.URL+"/run/a%20b%252f%3F%23%C3%A9", nil); status != 301 || header.Get("Location") != "/run/a%20b%252f%3F%23%C3%A9/" {
		t.Errorf("%d, %s", status, header.Get("Location"))
	}
	if _, _, list := get(t, "GET", server.URL+"/", nil); !strings.Contains(list, `href="/run/a%20b%252f%3F%23%C3%A9/"`) {
		t.Error("the list lacks the link to the strange name")
	}
	for path, want := range map[string]int{
		"/run/a%20b%252f%3F%23%C3%A9/": 200, "/run/jazz~2/live": 200, "/run/link/": 404, "/run/outside/": 404, "/run/../x/": 307, "/run/%2e%2e/": 404, "/run/%2e%2e%2fjazz/": 404,
		"/run/..%2f..%2fetc/": 404, "/run//": 307, "/run/jazz/settings": 405, "/run/jazz/generations/": 404, "/run/jazz%00/": 404, "/assets/viewer.go": 404, "/assets/..%2fviewer.go": 404,
	} {
		if status, _, _ := get(t, "GET", server.URL+path, nil); status != want {
			t.Errorf("%s: %d", path, status)
		}
	}
	// The first run disappears: the names of the others do not change.
	testfile.Check(t, os.RemoveAll(path("x/jazz")))
	s.looked = time.Time{}
	if c := s.find("jazz~2"); c == nil || s.find("jazz") != nil {
		t.Errorf("%v, %v", c, s.find("jazz"))
	}
}

func TestReport(t *testing.T) {
	dir := t.TempDir()
	r := newRun(t, filepath.Join(dir, "r"))
	server := start(t, Options{Dirs: []string{dir}})
	url := server.URL + "/run/r/report"
	if status, _, _ := get(t, "GET", url, nil); status != 404 {
		t.Errorf("without a report: %d", status)
	}
	html := "<!doctype html>\n" + reload + "10\">\n<meta name=\"viewport\">" + strings.Repeat("x", 10_000)
	r.write(reportFile, html)
	status, header, body := get(t, "GET", url, nil)
	if want := strings.Replace(html, reload+"10\">", "", 1); status != 200 || body != want {
		t.Errorf("%d, %d bytes: %.80q", status, len(body), body)
	}
	if p := header.Get("Content-Security-Policy"); !strings.HasPrefix(p, "sandbox ") || strings.Contains(p, "allow-same-origin") || !strings.Contains(p, "default-src 'none'") || !strings.Contains(p, "frame-ancestors 'none'") {
		t.Errorf("the policy is %s", p)
	}
	secret := testfile.Write(t, filepath.Join(dir, "secret"), "secret")
	for what, link := range map[string]func(name string) error{
		"a link out of the directory":   func(name string) error { return os.Symlink(secret, name) },
		"a relative one":                func(name string) error { return os.Symlink("../secret", name) },
		"a link within the directory":   func(name string) error { return os.Symlink(run.Topic, name) },
		"a directory instead of a file": func(name string) error { return os.Mkdir(name, 0o777) },
		"a link to what does not exist": func(name string) error { return os.Symlink("none", name) },
	} {
		name := r.dir.Path(reportFile)
		testfile.Check(t, os.RemoveAll(name))
		testfile.Check(t, link(name))
		if status, _, body := get(t, "GET", url, nil); status != 403 || strings.Contains(body, "secret") {
			t.Errorf("%s: %d, %q", what, status, body)
		}
	}
}

// Files that are not what their names say are named on the page, and not quoted.
func TestUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	secret := testfile.Write(t, filepath.Join(dir, "secret"), "top secret\n")
	for _, name := range []string{run.SettingsFile, run.Topic, run.LogFile, totalsFile, "lock"} {
		d := filepath.Join(dir, "runs", name)
		r := newRun(t, d)
		server := start(t, Options{Dirs: []string{filepath.Join(dir, "runs")}})
		if name == run.SettingsFile {
			r.write(name, "top secret\n")
		} else {
			os.Remove(r.dir.Path(name))
			testfile.Check(t, os.Symlink(secret, r.dir.Path(name)))
		}
		for _, path := range []string{"/", "/run/" + name + "/"} {
			if status, _, body := get(t, "GET", server.URL+path, nil); status != 200 || strings.Contains(body, "top secret") {
				t.Errorf("%s: %s: %d", name, path, status)
			}
		}
		if _, _, body := get(t, "GET", server.URL+"/run/"+name+"/", nil); name != totalsFile && name != "lock" && !strings.Contains(body, name+" cannot be read") {
			t.Errorf("%s: the page does not name it", name)
		}
	}
}

// The work for a crawl does not depend on its length.
func TestALongCrawlIsReadOnce(t *testing.T) {
	r := newRun(t, t.TempDir())
	var log bytes.Buffer
	const n = 20_000
	for i := range n {
		fmt.Fprintf(&log, `{"generation":%d,"cost":20,"relevant":%d,"operators":{"link":{"cost":20,"relevant":%[2]d}},"seconds":0.5}`+"\n", i+1, i%20)
	}
	r.write(run.LogFile, log.String())
	s := New(&Options{Dirs: []string{string(r.dir)}, Log: testLog{t}})
	c := s.all(time.Now())[0]
	c.look(time.Now())
	if c.totals.Generation != n || c.totals.Fetched != 20*n || len(c.recent) > 2*rateOver+1 {
		t.Errorf("generation %d, %d pages, %d generations of the last minute", c.totals.Generation, c.totals.Fetched, len(c.recent))
	}
	if len(c.view.html) > 200_000 || len(newEvent(c.view.version, c.numbers(time.Now()))) > 4000 {
		t.Errorf("a page of %d bytes, an event of %d", len(c.view.html), len(newEvent(c.view.version, c.numbers(time.Now()))))
	}
	offset := c.log.offset
	r.sum.Generation = n
	r.generation(&run.Summary{Cost: 1}, "", "")
	read := testing.AllocsPerRun(1, func() { c.looked = time.Time{}; c.look(time.Now()) })
	if c.totals.Generation != n+1 || c.log.offset <= offset || read > 50_000 {
		t.Errorf("generation %d, at byte %d, %g allocations", c.totals.Generation, c.log.offset, read)
	}
}

func TestInsertKeepsTheHighest(t *testing.T) {
	var list []int
	for _, v := range []float64{2, 5, 1, 5, 3, 9, 0} {
		list = insert(list, 4, v, func(i *int) float64 { return float64(*i) }, func() int { return int(v) })
	}
	if !slices.Equal(list, []int{9, 5, 5, 3}) {
		t.Error(list)
	}
}

func TestWhatACrawlDoes(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for want, s := range map[string]run.State{
		"It is fetching.": {Running: true, Step: "steady", Until: now},
		"It waits until 2026-11-30 12:05:00 UTC, when the next address is due.": {Running: true, Step: "steady", Until: now.Add(5 * time.Minute)},
		"It ends after this generation.":                                        {Running: true, Stopping: true, Until: now.Add(time.Minute)},
		report.Ended(run.EndPages):                                              {Reason: run.EndPages, Until: now.Add(time.Minute)},
	} {
		if got := doing(s, now); got != want {
			t.Errorf("%+v: %s", s, got)
		}
	}
}
