package gosite

import (
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"spoor/internal/testfile"
)

// tree is a small Go tree.
var tree = fstest.MapFS{
	"VERSION": {Data: []byte("go1.99.0\ntime 2026-02-03T04:05:06Z\n")},
	"src/crypto/tls/tls.go": {Data: []byte(`// Package tls shakes hands. See [Conn.Close], [*Conn], [crypto.Hash], [Dial] and [RFC 8446].
//
// [RFC 8446]: https://rfc.example/8446
package tls

import (
	"crypto"
	"crypto/internal/secret"
	"example.org/vendored"
)

// VersionTLS13 is a number.
const VersionTLS13 = 0x0304

// ErrClosed says <b>so</b>.
var ErrClosed = secret.Error

// Dial makes a [Conn].
func Dial(h crypto.Hash) (*Conn, error) { return nil, nil }

// Equal tells nothing of a conn.
func Equal(a, b crypto.Hash) bool { return a < b && vendored.True }

// A Conn is a connection.
type Conn struct {
	Hash crypto.Hash
	next *Conn
}

// Close ends it.
func (c *Conn) Close() error { return nil }

// Equal is not the function.
func (c *Conn) Equal(d *Conn) bool { return c == d }
`)},
	"src/crypto/tls/tls_windows.go":           {Data: []byte("package tls\n\n// Never is not on linux.\nfunc Never() {}\n")},
	"src/crypto/tls/tls_test.go":              {Data: []byte("package tls\n")},
	"src/crypto/tls/testdata/x.go":            {Data: []byte("package x\n")},
	"src/crypto/crypto.go":                    {Data: []byte("// Package crypto collects.\npackage crypto\n\n// A Hash is a hash.\ntype Hash uint\n")},
	"src/crypto/internal/secret/secret.go":    {Data: []byte("// Package secret is secret.\npackage secret\n\nvar Error error\n")},
	"src/archive/zip/zip.go":                  {Data: []byte("// Package zip packs.\npackage zip\n")},
	"src/archive/zip/broken.go":               {Data: []byte("package zip\n\nfunc (\n")},
	"src/hash/hash.go":                        {Data: []byte("// Package hash is about crypto too.\npackage hash\n")},
	"src/cmd/vendor/example.org/x/x.go":       {Data: []byte("package x\n")},
	"src/cmd/go/main.go":                      {Data: []byte("// Go is a tool.\npackage main\n\nfunc main() {}\n")},
	"src/vendor/example.org/vendored/v.go":    {Data: []byte("// Package vendored comes along.\npackage vendored\n\nconst True = true\n")},
	"src/builtin/builtin.go":                  {Data: []byte("// Package builtin is not a package.\npackage builtin\n\n// len counts.\nfunc len(v []int) int\n")},
	"src/internal/syscall/windows/windows.go": {Data: []byte("//go:build windows\n\npackage windows\n")},
	"src/crypto/tls/_ignored/nothing.go":      {Data: []byte("package nothing\n")},
	"src/README.md":                           {Data: []byte("not Go\n")},
}

func small(t testing.TB) *Site {
	t.Helper()
	root := t.TempDir()
	testfile.Check(t, os.CopyFS(root, tree))
	s, err := New(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// goTree returns the site of the Go tree that runs the tests, which most tests share.
func goTree(t testing.TB) *Site {
	t.Helper()
	s, err := sharedGoTree()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newGoTree() (*Site, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	return New(strings.TrimSpace(string(out)))
}

var sharedGoTree = sync.OnceValues(newGoTree)

func get(s *Site, p string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "http://site.test"+p, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestPages(t *testing.T) {
	s := small(t)
	for _, test := range []struct {
		path string
		want []string
	}{
		{"/", []string{`<h1>Go documentation</h1>`, `go1.99.0`, `<a href="/crypto/">crypto</a> <span class="note">Package crypto collects.</span>`, `href="/private/"`}},
		{"/packages.html", []string{`<title>Packages</title>`, `<a href="/crypto/tls/">crypto/tls</a>`, `<a href="/vendor/example.org/vendored/">`}},
		{"/private/", []string{`<a href="/private/crypto/internal/secret/">crypto/internal/secret</a>`}},
		{"/archive/", []string{`<h1>directory archive</h1>`, `<a href="/archive/zip/">archive/zip</a>`}},
		{"/archive/zip/", []string{`<h1>package zip</h1>`, `href="/archive/zip/broken.go.html"`}},
		{"/cmd/go/", []string{`<h1>command go</h1>`, `Go is a tool.`, `<a href="/cmd/">cmd</a>`}},
		{"/builtin/", []string{`<a href="/builtin/func.len.html">len</a>`}},
		{"/crypto/tls/", []string{
			`<html lang="en">`,
			`<title>crypto/tls - package tls - Go documentation</title>`,
			`<meta name="description" content="Package tls shakes hands.`,
			`<link rel="canonical" href="/crypto/tls/">`,
			`<nav><a href="/">Go</a> / <a href="/crypto/">crypto</a> / <a href="/packages.html">Packages</a></nav>`,
			`<a href="/crypto/tls/type.Conn.html#Conn.Close">Conn.Close</a>`,
			`<a href="/crypto/type.Hash.html">crypto.Hash</a>`,
			`and RFC 8446 (https://rfc.example/8446).`,
			`<span id="VersionTLS13"></span>`,
			`<dt id="Equal"><code>func <a href="/crypto/tls/func.Equal.html">Equal</a>(a, b <a href="/crypto/type.Hash.html">crypto.Hash</a>) bool</code></dt>`,
			`<dt id="Conn"><code>type <a href="/crypto/tls/type.Conn.html">Conn</a></code></dt>`,
			`<dd id="Dial"><code>func <a href="/crypto/tls/func.Dial.html">Dial</a>`,
			`<a href="/crypto/tls/tls_windows.go.html">tls_windows.go</a>`,
			`<a href="/private/crypto/internal/secret/">crypto/internal/secret</a>`,
			`<a href="/vendor/example.org/vendored/">example.org/vendored</a>`,
			`says &lt;b&gt;so&lt;/b&gt;`,
			`<a href="/crypto/tls/tls.go.html#L13">Source</a>`,
		}},
		{"/crypto/", []string{`<h2 id="imported-by">Imported by</h2>`, `<a href="/crypto/tls/">crypto/tls</a>`}},
		{"/crypto/tls/type.Conn.html", []string{
			`<title>type tls.Conn (crypto/tls) - Go documentation</title>`,
			`<meta name="description" content="A Conn is a connection.">`,
			`// contains filtered or unexported fields`,
			`<h3 id="Conn.Close">Close</h3>`,
			`<pre>func (c *<a href="/crypto/tls/type.Conn.html">Conn</a>) Equal(d *`,
			`/ <a href="/crypto/tls/">tls</a> /`,
			`<li><a href="/crypto/tls/func.Dial.html">Dial</a></li>`,
		}},
		{"/crypto/tls/func.Dial.html", []string{`<h1>func Dial</h1>`, `Dial makes a <a href="/crypto/tls/type.Conn.html">Conn</a>.`}},
		{"/crypto/tls/tls.go.html", []string{
			`<title>crypto/tls/tls.go - Go source</title>`,
			`<span id="L7">	&#34;<a href="/crypto/">crypto</a>&#34;</span>`,
			`<span id="L8">	&#34;<a href="/private/crypto/internal/secret/">crypto/internal/secret</a>&#34;</span>`,
			`return a &lt; b &amp;&amp; vendored.True`,
		}},
		{"/private/crypto/internal/secret/", []string{`<a href="/private/">internal packages</a>`, `package secret`}},
		{"/private/internal/syscall/windows/", []string{`<h1>directory internal/syscall/windows</h1>`, `windows.go`}},
		{"/archive/zip/broken.go.html", []string{`func (`}},
	} {
		w := get(s, test.path)
		if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %s", test.path, w.Code, w.Header().Get("Content-Type"))
		}
		for _, want := range test.want {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s lacks %s\n%s", test.path, want, w.Body)
			}
		}
	}
}

func TestNotFound(t *testing.T) {
	s := small(t)
	for _, p := range []string{
		"/nothing", "/crypto/tls/type.Nothing.html", "/crypto/tls/func.Never.html", "/crypto/tls/tls_test.go.html", "/crypto/tls/tls.go",
		"/crypto/internal/secret/", "/private/crypto/tls/", "/private/crypto/", "/cmd/vendor/example.org/x/", "/crypto/tls/testdata/",
		"//crypto/", "/crypto//tls/", "/crypto/../hash/", "/../../VERSION", "/README.md", "/README.md.html",
	} {
		w := get(s, p)
		if w.Code != 404 || !strings.Contains(w.Body.String(), "Page not found") {
			t.Errorf("%s: %d", p, w.Code)
		}
	}
	if w := get(s, "/crypto/%3Cscript%3E"); strings.Contains(w.Body.String(), "<script>") {
		t.Errorf("the requested address is not escaped: %s", w.Body)
	}
}

func TestDirectoryRedirectsToItsSlash(t *testing.T) {
	w := get(small(t), "/crypto/tls")
	if w.Code != 301 || w.Header().Get("Location") != "/crypto/tls/" {
		t.Errorf("got %d %q", w.Code, w.Header().Get("Location"))
	}
}

func TestMethodNotAllowed(t *testing.T) {
	w := httptest.NewRecorder()
	small(t).ServeHTTP(w, httptest.NewRequest("POST", "/", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("got %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

func TestConditionalRequests(t *testing.T) {
	s := small(t)
	w := get(s, "/crypto/tls/")
	tag, date := w.Header().Get("ETag"), w.Header().Get("Last-Modified")
	if date != "Tue, 03 Feb 2026 04:05:06 GMT" {
		t.Errorf("Last-Modified is %q, want the date of the release", date)
	}
	if w := get(s, "/crypto/tls/", "If-None-Match", tag); w.Code != 304 {
		t.Errorf("with the ETag %s: %d, want 304", tag, w.Code)
	}
	if w := get(s, "/crypto/tls/", "If-Modified-Since", date); w.Code != 304 {
		t.Errorf("with the date: %d, want 304", w.Code)
	}
	if other := get(s, "/crypto/").Header().Get("ETag"); other == tag {
		t.Errorf("two pages have the ETag %s", tag)
	}
}

func TestRobotsTxt(t *testing.T) {
	want := "User-agent: *\nDisallow: /private/\n\nSitemap: http://site.test/sitemap.xml\n"
	if got := get(small(t), "/robots.txt").Body.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestLabels(t *testing.T) {
	var got []string
	for _, p := range small(t).Pages() {
		got = append(got, p.Path+" "+strings.Join(p.Labels, ","))
	}
	want := []string{
		"/ ",
		"/archive/ archive",
		"/archive/zip/ archive",
		"/archive/zip/broken.go.html archive",
		"/archive/zip/zip.go.html archive",
		"/builtin/ builtin",
		"/builtin/builtin.go.html builtin",
		"/builtin/func.len.html builtin",
		"/cmd/ cmd",
		"/cmd/go/ cmd",
		"/cmd/go/main.go.html cmd",
		"/crypto/ crypto",
		"/crypto/crypto.go.html crypto",
		"/crypto/tls/ crypto",
		"/crypto/tls/func.Dial.html crypto",
		"/crypto/tls/func.Equal.html crypto",
		"/crypto/tls/tls.go.html crypto",
		"/crypto/tls/tls_windows.go.html crypto",
		"/crypto/tls/type.Conn.html crypto",
		"/crypto/type.Hash.html crypto",
		"/hash/ crypto,hash",
		"/hash/hash.go.html crypto,hash",
		"/packages.html ",
		"/vendor/ vendor",
		"/vendor/example.org/ vendor",
		"/vendor/example.org/vendored/ vendor",
		"/vendor/example.org/vendored/v.go.html vendor",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSitemap(t *testing.T) {
	s := small(t)
	body := get(s, "/sitemap.xml").Body.String()
	locs := regexp.MustCompile(`<loc>http://site\.test(.*?)</loc><lastmod>2026-02-03</lastmod>`).FindAllStringSubmatch(body, -1)
	var got, want []string
	for _, l := range locs {
		got = append(got, l[1])
	}
	for _, p := range s.Pages() {
		want = append(want, p.Path)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// values returns the values of an attribute in a page.
func values(body, attribute string) (list []string) {
	for {
		_, rest, found := strings.Cut(body, " "+attribute+`="`)
		if !found {
			return list
		}
		var value string
		value, body, _ = strings.Cut(rest, `"`)
		list = append(list, html.UnescapeString(value))
	}
}

// check follows the links of pages, about most of each at most, and reports broken links and
// missing fragments.
func check(t *testing.T, s *Site, paths []string, most int) {
	t.Helper()
	status := map[string]int{}
	ids := map[string]map[string]bool{}
	look := func(p string) {
		if _, seen := status[p]; seen {
			return
		}
		w := get(s, p)
		status[p] = w.Code
		ids[p] = map[string]bool{}
		for _, id := range values(w.Body.String(), "id") {
			ids[p][id] = true
		}
	}
	for _, p := range paths {
		hrefs := values(get(s, p).Body.String(), "href")
		for i := 0; i < len(hrefs); i += 1 + len(hrefs)/most {
			href := hrefs[i]
			if !strings.HasPrefix(href, "/") && !strings.HasPrefix(href, "#") {
				t.Errorf("%s links to %s, which is on another site", p, href)
				continue
			}
			to, fragment, _ := strings.Cut(href, "#")
			if to == "" {
				to = p
			}
			look(to)
			switch {
			case status[to] != 200:
				t.Errorf("%s links to %s: %d", p, href, status[to])
			case fragment != "" && !ids[to][fragment]:
				t.Errorf("%s links to %s: no such id", p, href)
			}
		}
	}
}

func TestLinksOfSmallTree(t *testing.T) {
	s := small(t)
	paths := []string{"/private/", "/private/crypto/internal/secret/"}
	for _, p := range s.Pages() {
		paths = append(paths, p.Path)
	}
	check(t, s, paths, 1000)
}

func TestLinksOfGoTree(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	s := goTree(t)
	pages := s.Pages()
	t.Logf("%d pages", len(pages))
	var sample []string
	for i := 0; i < len(pages); i += 997 {
		sample = append(sample, pages[i].Path)
	}
	check(t, s, append(sample, "/", "/crypto/tls/", "/builtin/", "/weak/", "/private/"), 60)
}

func TestEveryPageIsReachable(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the page of every package")
	}
	s := goTree(t)
	seen := map[string]bool{"/": true}
	for todo := []string{"/"}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, href := range values(get(s, p).Body.String(), "href") {
			to, _, _ := strings.Cut(href, "#")
			if strings.HasPrefix(to, "/private/") || seen[to] {
				continue
			}
			seen[to] = true
			if strings.HasSuffix(to, "/") { // the pages of packages name all others
				todo = append(todo, to)
			}
		}
	}
	for _, p := range s.Pages() {
		if !seen[p.Path] {
			t.Errorf("%s is not reachable", p.Path)
		}
	}
}

func TestPagesAreReproducible(t *testing.T) {
	a := goTree(t)
	b, err := newGoTree()
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"/", "/packages.html", "/crypto/tls/", "/net/http/type.Request.html", "/go/ast/func.Walk.html", "/builtin/builtin.go.html"}
	want := map[string]string{}
	for _, p := range paths {
		want[p] = get(a, p).Body.String()
	}
	for _, p := range slices.Backward(paths) { // parsed in another order
		if get(b, p).Body.String() != want[p] {
			t.Errorf("%s differs", p)
		}
	}
}

// Several goroutines, in pairs of the same order, read a site that has not been parsed.
func TestConcurrentUse(t *testing.T) {
	alone := small(t)
	want := map[string]string{"/nowhere": get(alone, "/nowhere").Body.String()}
	for _, p := range alone.Pages() {
		want[p.Path] = get(alone, p.Path).Body.String()
	}
	paths := slices.Sorted(maps.Keys(want))
	for range 5 {
		s, start := small(t), make(chan struct{})
		var readers sync.WaitGroup
		for reader := range 8 {
			readers.Go(func() {
				<-start
				for i := range paths {
					p := paths[(i+reader/2*5)%len(paths)]
					if got := get(s, p).Body.String(); got != want[p] {
						t.Errorf("%s, read concurrently:\n%s\nread alone:\n%s", p, got, want[p])
					}
				}
			})
		}
		close(start)
		readers.Wait()
	}
}

func FuzzServeHTTP(f *testing.F) {
	s := small(f)
	for _, p := range []string{"/", "/crypto/tls/", "/crypto/tls", "/crypto/tls/type.Conn.html", "/crypto/tls/func..html", "/private/crypto/", "//", "", "/crypto/tls/\x00.go.html", "/../x", "/type.Conn.html"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		r := httptest.NewRequest("GET", "http://site.test/", nil)
		r.URL.Path = p
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 200 && w.Code != 301 && w.Code != 404 {
			t.Errorf("%q: %d %s", p, w.Code, w.Body)
		}
	})
}
