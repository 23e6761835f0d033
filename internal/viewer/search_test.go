package viewer

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"spoor/internal/run"
	"spoor/internal/search"
	"spoor/internal/testfile"
)

// writeCaptures writes pages to an archive of a run, by their addresses.
func writeCaptures(t *testing.T, d run.Dir, pages map[string]string) {
	t.Helper()
	testfile.Check(t, os.MkdirAll(d.Path(run.Captures), 0o777))
	var b bytes.Buffer
	for address, body := range pages {
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
		fmt.Fprintf(&b, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: 2026-11-30T06:00:00Z\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012x>\r\n"+
			"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", address, len(b.Bytes()), len(block), block)
	}
	testfile.Write(t, d.Path(run.Captures, "crawl-20261130060000-00000-x.warc"), b.Bytes())
}

// startSearch starts a server with a search, and waits until pages are in its index.
func startSearch(t *testing.T, dir string, pages int) *httptest.Server {
	t.Helper()
	search, err := OpenSearch(filepath.Join(t.TempDir(), "index.db"), nil, t.TempDir(), testLog{t})
	testfile.Check(t, err)
	t.Cleanup(func() { search.Close() })
	server := start(t, Options{Dirs: []string{dir}, Search: search})
	deadline := time.Now().Add(time.Minute)
	for {
		get(t, "GET", server.URL+"/search", nil)
		search.mu.Lock()
		done := search.pages == pages && search.updating == nil
		search.mu.Unlock()
		switch {
		case done:
			return server
		case time.Now().After(deadline):
			t.Fatal("the pages are not in the index")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// inOrder reports whether the parts are in s in this order.
func inOrder(s string, parts ...string) bool {
	for _, p := range parts {
		_, rest, ok := strings.Cut(s, p)
		if !ok {
			return false
		}
		s = rest
	}
	return true
}

func TestSearchPages(t *testing.T) {
	dir := t.TempDir()
	r := newRun(t, filepath.Join(dir, "deer"))
	const hostile = `<script>alert(1)</script>`
	writeCaptures(t, r.dir, map[string]string{
		"http://a.example/deer":   `<html lang=en><title>Deer</title><p>Many deer are in the wood.</p>`,
		"http://a.example/roe":    `<html lang=en><title>Roe deer &lt;script&gt;alert(1)&lt;/script&gt;</title><p>A small deer of ` + strings.ReplaceAll(hostile, "<", "&lt;") + ` the wood.</p>`,
		"http://b.example/hirsch": `<html lang=de><title>Hirsche</title><p>Hirsche leben in den W&auml;ldern, und die Hirsche sind gross.</p>`,
		"http://b.example/wood":   `<html lang=en><title>Wood</title><p>The wood of a deer park.</p>`,
	})
	rec := func(address, title string, relevant bool, links string) string {
		return fmt.Sprintf(`{"url":%q,"status_code":200,"title":%q,"score":0.5,"relevant":%v,"links":[%s]}`+"\n", address, title, relevant, links)
	}
	r.generation(&run.Summary{Outcomes: 2, Cost: 2, Relevant: 1}, "", rec("http://a.example/deer", "Deer", false, "")+
		rec("http://b.example/wood", "Wood", true, `{"url":"http://a.example/roe"}`))
	server := startSearch(t, dir, 4)

	_, header, page := get(t, "GET", server.URL+"/search?q=deer", nil)
	if strings.Contains(page, hostile) || header.Get("Content-Security-Policy") != policy {
		t.Errorf("a title is not escaped: %s", page)
	}
	for _, want := range []string{"3 pages of 4", "<mark>deer</mark>", "&lt;script&gt;", `href="/search?host=a.example&amp;q=deer"`, `href="/cached?url=http%3A%2F%2Fa.example%2Fdeer"`, `rel="noreferrer noopener nofollow"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s: %s", want, page)
		}
	}
	for query, want := range map[string][]string{
		"q=hirsch":                           {"1 page of 4", "<mark>Hirsche</mark>"}, // stemmed as the page is
		"q=deer&host=b.example":              {"1 page of 4 on <bdi>b.example</bdi>", "http://b.example/wood"},
		"q=deer&language=de":                 {"0 pages of 4", "No page has these words"},
		"q=" + url.QueryEscape(`"><x`):       {`value="&#34;&gt;&lt;x"`},
		"q=%E2%80%AEdeer%00&host=%E2%80%AEx": {"<title>deer – spoor</title>", `value="deer"`, `name="host" value="x"`, "on <bdi>x</bdi>"}, // nothing that changes the direction of text
		"":                                   {"4 pages"},
		"q=deer&pageno=7":                    {"3 pages of 4", "No further page has these words"},
		"q=wood":                             {"http://b.example/wood", "http://a.example/"}, // in the title, and relevant
	} {
		if _, _, page := get(t, "GET", server.URL+"/search?"+query, nil); !inOrder(page, want...) {
			t.Errorf("%s: %s", query, page)
		}
	}

	var answer struct {
		Query   string
		Total   int `json:"number_of_results"`
		Results []struct{ URL, Title, Content, PublishedDate string }
	}
	_, header, text := get(t, "GET", server.URL+"/search?format=json&q=hirsche", nil)
	testfile.Check(t, json.Unmarshal([]byte(text), &answer))
	if r := answer.Results; answer.Total != 1 || len(r) != 1 || r[0].URL != "http://b.example/hirsch" || r[0].Title != "Hirsche" || r[0].PublishedDate != "2026-11-30T06:00:00Z" || header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", answer)
	}
	var description struct {
		URL []struct {
			Type     string `xml:"type,attr"`
			Template string `xml:"template,attr"`
		} `xml:"Url"`
	}
	_, _, text = get(t, "GET", server.URL+"/opensearch.xml", nil)
	testfile.Check(t, xml.Unmarshal([]byte(text), &description))
	if u := description.URL; len(u) != 2 || !strings.HasPrefix(u[0].Template, server.URL+"/search?q={searchTerms}") {
		t.Errorf("%+v", description)
	}
}

func TestCopiesOfAPage(t *testing.T) {
	index, err := OpenSearch(filepath.Join(t.TempDir(), "index.db"), nil, t.TempDir(), testLog{t})
	testfile.Check(t, err)
	t.Cleanup(func() { index.Close() })
	long := strings.Repeat("Many deer are in the wood. ", 10)
	testfile.Check(t, index.index.Add(search.Archive{Name: "a"}, []search.Document{
		{URL: "http://a.example/1", Text: long}, {URL: "http://a.example/2", Text: long}, {URL: "http://a.example/3", Text: "deer"},
	}))
	index.updated, index.pages = time.Now(), 3 // as if an update had added them
	server := start(t, Options{Dirs: []string{t.TempDir()}, Search: index})
	if _, _, page := get(t, "GET", server.URL+"/search?q=deer", nil); !inOrder(page, "2 pages of 3", "http://a.example/", "and 1 copy", "</li>") || strings.Count(page, "cop") > 2 {
		t.Error(page)
	}
	_, _, text := get(t, "GET", server.URL+"/search?format=json&q=wood", nil)
	if !inOrder(text, `"number_of_results":1`, `"copies":1`) {
		t.Error(text)
	}
}

// While pages are added, a page says how many can be found already.
func TestSearchDuringAnUpdate(t *testing.T) {
	index, err := OpenSearch(filepath.Join(t.TempDir(), "index.db"), nil, t.TempDir(), testLog{t})
	testfile.Check(t, err)
	t.Cleanup(func() { index.Close() })
	index.updating = make(chan struct{})
	server := start(t, Options{Dirs: []string{t.TempDir()}, Search: index})
	for _, want := range []string{"0 pages of 0; more are being added", "1 page of 1; more are being added"} {
		if _, _, page := get(t, "GET", server.URL+"/search?q=deer", nil); !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
		testfile.Check(t, index.index.Add(search.Archive{Name: "a"}, []search.Document{{URL: "http://a.example/", Text: "deer"}}))
	}
}

func TestTheFirstSearchFindsPages(t *testing.T) {
	dir := t.TempDir()
	writeCaptures(t, newRun(t, filepath.Join(dir, "deer")).dir, map[string]string{"http://a.example/": "<title>Deer</title>"})
	index, err := OpenSearch(filepath.Join(t.TempDir(), "index.db"), nil, t.TempDir(), testLog{t})
	testfile.Check(t, err)
	t.Cleanup(func() { index.Close() })
	server := start(t, Options{Dirs: []string{dir}, Search: index})
	for range 2 {
		if _, _, page := get(t, "GET", server.URL+"/search?q=deer", nil); !strings.Contains(page, "1 page of 1</p>") {
			t.Error(page)
		}
		index.mu.Lock()
		index.updated = time.Time{} // the second search looks again, and there is nothing new
		index.mu.Unlock()
	}
}

func TestAnAnswerThatNobodyWaitsFor(t *testing.T) {
	index, err := OpenSearch(filepath.Join(t.TempDir(), "index.db"), nil, t.TempDir(), testLog{t})
	testfile.Check(t, err)
	t.Cleanup(func() { index.Close() })
	index.updating = make(chan struct{}) // that never ends
	server := New(&Options{Dirs: []string{t.TempDir()}, Search: index, Log: testLog{t}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	server.showSearch(w, httptest.NewRequestWithContext(ctx, "GET", "/search?q=deer", nil))
	if len(server.warned) > 0 || w.Code != http.StatusServiceUnavailable {
		t.Errorf("a warning, or an answer: %v %d", server.warned, w.Code)
	}
}

func TestCachedPages(t *testing.T) {
	dir := t.TempDir()
	r := newRun(t, filepath.Join(dir, "deer"))
	writeCaptures(t, r.dir, map[string]string{
		"http://a.example/x/deer": `<title>Deer</title><script>alert(1)</script><link rel=preconnect href=http://evil.example>` +
			`<p>deer <a href="../moss" ping=http://evil.example target=x>moss</a><iframe src=http://evil.example>inside</iframe>end`,
	})
	server := startSearch(t, dir, 1)
	address := url.QueryEscape("http://a.example/x/deer")
	_, header, page := get(t, "GET", server.URL+"/cached?url="+address, nil)
	if !inOrder(page, "A capture of", `<iframe src="/cached/page?url=`+address, "sandbox=") || !strings.Contains(header.Get("Content-Security-Policy"), "frame-src 'self'") {
		t.Errorf("%v %s", header, page)
	}
	_, header, page = get(t, "GET", server.URL+"/cached/page?url="+address, nil)
	if header.Get("Content-Security-Policy") != cachedPolicy || !strings.HasPrefix(cachedPolicy, "sandbox ") || strings.Contains(cachedPolicy, "allow-scripts") {
		t.Errorf("the policy is %s", header.Get("Content-Security-Policy"))
	}
	if want := `<html><head><title>Deer</title></head><body><p>deer <a href="/cached?url=http%3A%2F%2Fa.example%2Fmoss" target="_top">moss</a>end</p></body></html>`; page != want {
		t.Errorf("the capture is\n%s, not\n%s", page, want)
	}
	for _, path := range []string{"/cached", "/cached?url=http://a.example/other", "/cached/page?url=http://a.example/other", "/cached/page?url=file:///etc/passwd"} {
		if status, _, _ := get(t, "GET", server.URL+path, nil); status != 404 {
			t.Errorf("%s: %d", path, status)
		}
	}
	// While it is written, an archive has another name.
	name := r.dir.Path(run.Captures, "crawl-20261130060000-00000-x.warc")
	testfile.Check(t, os.Rename(name, name+".open"))
	if status, _, _ := get(t, "GET", server.URL+"/cached/page?url="+address, nil); status != 200 {
		t.Errorf("of an archive that is being written: %d", status)
	}
}

// Whatever the parameters are, the answer is one of a search, and soon there.
func TestParametersOfSearches(t *testing.T) {
	dir := t.TempDir()
	r := newRun(t, filepath.Join(dir, "r"))
	writeCaptures(t, r.dir, map[string]string{
		"http://a.example/deer": `<html lang=en><title>Deer</title><p>Many deer and mosses near a wood.</p>`,
		"http://a.example/moss": `<html lang=en><title>Moss</title><p>A moss grows on stones, not on a rank match.</p>`,
	})
	server := startSearch(t, dir, 2)
	for _, test := range []struct {
		query string
		total int
		hits  string
	}{
		{"q=deer&pageno=-1", 1, "deer"}, {"q=deer&pageno=0", 1, "deer"}, {"q=deer&pageno=x", 1, "deer"}, {"q=deer&pageno=1e3", 1, "deer"}, {"q=deer&page=-1", 1, "deer"},
		{"q=deer&pageno=2", 1, ""}, {"q=deer&pageno=1000000000", 1, ""}, {"q=deer&pageno=99999999999999999999", 1, "deer"}, {"q=deer&q=moss", 1, "deer"},
		{"q=deer&language=%00", 0, ""}, {"q=deer&language=en%27+or+1=1--", 0, ""}, {"q=deer&language=" + strings.Repeat("x", 10_000), 0, ""}, {"q=deer&host=%00", 0, ""},
		{"q=deer&host=a.example%27+or+1=1--", 0, ""}, {"q=deer&host=*", 0, ""}, {"q=deer&language=all&format=xml", 1, "deer"}, {"q=deer;DROP", 0, ""}, {"q=%zz", 0, ""},
		// Signs and operators of FTS5 are none here.
		{"q=%22", 0, ""}, {"q=%22%22%22", 0, ""}, {"q=%27", 0, ""}, {"q=%22deer", 1, "deer"}, {"q=de*", 0, ""}, {"q=deer*", 1, "deer"}, {"q=^deer", 1, "deer"}, {"q=-deer", 1, "deer"},
		{"q=deer+NOT+moss", 2, "deer moss"}, {"q=(deer", 1, "deer"}, {"q=body:wood", 1, "deer"}, {"q={title+body}:moss", 2, "moss deer"}, {"q=deer)+OR+(moss", 2, "deer moss"},
		{"q=%22)+OR+1=1--", 0, ""}, {"q=%27%3B+drop+table+pages%3B--+deer", 1, "deer"}, {"q=%27%3B--+deer", 1, "deer"}, {"q=rank+MATCH", 1, "moss"},
		{"q=%00", 0, ""}, {"q=deer%00moss", 2, "deer moss"}, {"q=%FF%FEdeer", 1, "deer"}, {"q=%E2%80%AEdeer", 1, "deer"}, {"q=%F0%9F%A6%8C", 0, ""}, {"q=../../etc/passwd", 0, ""}, {"q=+", 0, ""},
		// As long as the limit of a header permits.
		{"q=" + strings.Repeat("deer+", 3000), 1, "deer"}, {"q=" + strings.Repeat("deer", 4000), 0, ""}, {"q=" + strings.Repeat("%22(", 3000) + "deer", 1, "deer"},
		{"q=deer" + strings.Repeat("&q=moss", 2000), 1, "deer"}, {"q=" + strings.Repeat("\u0301", 3000) + "+deer", 1, "deer"},
	} {
		begun := time.Now()
		status, _, page := get(t, "GET", server.URL+"/search?"+test.query, nil)
		if status != 200 || len(page) > 256<<10 {
			t.Errorf("%.60s: %d, a page of %d bytes", test.query, status, len(page))
		}
		status, _, text := get(t, "GET", server.URL+"/search?format=json&"+test.query, nil)
		var answer struct {
			Total   int `json:"number_of_results"`
			Results []struct{ URL string }
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil || status != 200 {
			t.Errorf("%.60s: %d, %v: %.200s", test.query, status, err, text)
		}
		var hits []string
		for _, r := range answer.Results {
			hits = append(hits, strings.TrimPrefix(r.URL, "http://a.example/"))
		}
		if strings.Join(hits, " ") != test.hits || answer.Total != test.total {
			t.Errorf("%.60s: %d results, %q, want %d, %q", test.query, answer.Total, hits, test.total, test.hits)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%.60s: it takes %s", test.query, took)
		}
	}
}

// Only what is in the index is a capture, by exactly its address.
func TestPathsOfCaptures(t *testing.T) {
	dir := t.TempDir()
	r := newRun(t, filepath.Join(dir, "r"))
	writeCaptures(t, r.dir, map[string]string{"http://a.example/deer": "<title>Deer</title><p>deer"})
	server := startSearch(t, dir, 1)
	for query, want := range map[string]int{
		"url=http://a.example/deer": 200, "url=http%3A%2F%2Fa.example%2Fdeer": 200, "url=http://a.example/deer&url=file:///etc/passwd": 200, "url=file:///etc/passwd&url=http://a.example/deer": 404,
		"": 404, "url=": 404, "URL=http://a.example/deer": 404, "url=http://a.example/deer%00": 404, "url=http://a.example/deer%0d%0aX:y": 404, "url=http://a.example/x/../deer": 404,
		"url=//a.example/deer": 404, "url=/etc/passwd": 404, "url=../../../../etc/passwd": 404, "url=..%2f..%2fetc%2fpasswd": 404, "url=javascript:alert(1)": 404, "url=data:text/html,x": 404,
		"url=http://127.0.0.1/": 404, "url=http://a.example/%25": 404, "url=%FF": 404, "url='+or+1=1--": 404, "url=" + string(r.dir): 404, "url=" + strings.Repeat("a", 100_000): 404,
	} {
		for _, path := range []string{"/cached?", "/cached/page?"} {
			if status, _, page := get(t, "GET", server.URL+path+query, nil); status != want || strings.Contains(page, "root:") {
				t.Errorf("%s%.60s: %d, want %d", path, query, status, want)
			}
		}
	}
	for path, want := range map[string]int{
		"/cached/?url=http://a.example/deer": 404, "/cached/page/?url=http://a.example/deer": 404, "/cached/other?url=http://a.example/deer": 404, "/cached/../cached?url=http://a.example/deer": 307,
		"/cached/%2e%2e/list": 404, "/cached%2fpage?url=http://a.example/deer": 404, "/cached/page/http://a.example/deer": 307, "/CACHED?url=http://a.example/deer": 404,
	} {
		if status, _, _ := get(t, "GET", server.URL+path, nil); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
}

func TestWithoutAnIndexNothingIsSearched(t *testing.T) {
	server := start(t, Options{Dirs: []string{t.TempDir()}})
	if status, _, page := get(t, "GET", server.URL+"/search?q=deer", nil); status != 200 || !strings.Contains(page, "serve -index FILE") {
		t.Errorf("%d %s", status, page)
	}
	for _, path := range []string{"/cached?url=http://a.example/", "/cached/page?url=http://a.example/"} {
		if status, _, _ := get(t, "GET", server.URL+path, nil); status != 404 {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// What is parsed again has none of the elements that are dropped, however the markup is broken.
func FuzzInert(f *testing.F) {
	for _, s := range []string{
		"<a href=x>", "<A HREF='//b/c'>", "<script>a</script>b", "<iframe src=x>a</iframe>b", "<base href=/z/><a href=y>", "<svg><a xlink:href=http://b>",
		"<meta http-equiv=refresh content=0>", "<scr<script>ipt>", "<<base>link rel=preconnect href=//b>", "<a href=x", "<!--<script>-->", "<plaintext><script>",
		"<textarea><link></textarea>", "<title><link></title>", "\x00<object data=x>", "<noscript>&lt;link rel=preconnect href=//b&gt;<link></noscript>",
		"<svg><style><p><link rel=preconnect href=//b>", "<svg><style>&lt;p&gt;&lt;link&gt;", "<math><mtext><style><link></style>", "<form><form><table><link>", "<style><link></style>",
		"<template><link></template>", "<frameset><frame src=x>", "<select><option><link></select>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, document string) {
		shown, err := inert([]byte(document), "http://a.example/x/")
		if err != nil {
			return
		}
		root, err := html.ParseWithOptions(bytes.NewReader(shown), html.ParseOptionEnableScripting(false))
		testfile.Check(t, err)
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if dropped[n.Data] {
				t.Errorf("%q has %s, from %q", shown, n.Data, document)
			}
			for _, a := range n.Attr {
				if n.Data == "a" && a.Key == "href" && !strings.HasPrefix(a.Val, "/cached?url=") && !strings.HasPrefix(strings.TrimSpace(a.Val), "#") {
					t.Errorf("%q leads to %q, from %q", shown, a.Val, document)
				}
			}
		}
	})
}
