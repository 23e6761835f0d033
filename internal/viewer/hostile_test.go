package viewer

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"spoor/internal/run"
	"spoor/internal/testfile"
)

// fragments are what titles of untrusted pages may hold.
var fragments = []string{
	`<script>alert(1)</script>`, `</title><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `" autofocus onfocus="alert(1)`,
	"javascript:alert(1)", "{{.}}", "<!--", "]]>", "&lt;script&gt;", "&#60;b&#62;", "\u202e", "\u2066\u200f", "\x00", "\x1b[31m", "\r\n\r\n", "\u2028", "\xff\xfe", "</bdi></a></section>",
	"<svg/onload=alert(1)>", "<base href=//evil.example>", "<style>*{display:none}", "</iframe>", "<plaintext>", "<textarea>", "<meta http-equiv=refresh content=0>",
	strings.Repeat("<b>", 1000), strings.Repeat("\u0301", 500), strings.Repeat("long", 1000), "plain",
}

// hostileTitle returns a title, one of 27,000.
func hostileTitle(i int) string {
	n := len(fragments)
	return "a" + fragments[i%n] + fragments[i/n%n] + fragments[i/n/n%n]
}

// skeleton returns the elements of a page with the names of their attributes. It does not depend on the text of the
// page, nor on addresses.
func skeleton(t *testing.T, page string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	testfile.Check(t, err)
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data == "wbr" { // after some characters of a name
			continue
		}
		b.WriteString("<" + n.Data)
		for _, a := range n.Attr {
			b.WriteString(" " + a.Key)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// checkText reports characters that a page must not have.
func checkText(t *testing.T, what, page string) {
	t.Helper()
	for _, r := range page {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%s has the character %U", what, r)
			return
		}
	}
}

// The elements of the list and of the page of a run do not depend on what titles, topics, operators and reasons hold.
func TestHostileTextOfRuns(t *testing.T) {
	records, runs := 10_000, 100
	if testing.Short() {
		records, runs = 1000, 20
	}
	pages := func(title func(int) string) (list, page string) {
		dir := t.TempDir()
		for i := range runs {
			newRun(t, filepath.Join(dir, fmt.Sprintf("run%03d", i))).write(run.Topic, `{"query":`+quote(title(i))+`}`)
		}
		var next, scored strings.Builder
		for i := range records {
			address := fmt.Sprintf("http://a.example/%d", i)
			fmt.Fprintf(&next, `{"v":1,"url":%q,"generation":2,"priority":%d,"operator":%s,"reasons":{%s:1},"via":%[1]q,"parents":[%[1]q]}`+"\n", address, i%97, quote(title(i)), quote(title(i+1)))
			fmt.Fprintf(&scored, `{"v":1,"url":%q,"generation":1,"status_code":200,"title":%s,"score":0.%d,"operator":%s}`+"\n", address, quote(title(i)), i%89, quote(title(i)))
		}
		r := newRun(t, filepath.Join(dir, "run000"))
		r.write(run.Topic, `{"query":`+quote(title(7))+`}`)
		r.generation(&run.Summary{Outcomes: records, Cost: records, Operators: map[string]run.Yield{title(1): {Cost: 1}}, Errors: map[string]int{title(2): 1}, Skipped: map[string]int{title(3): 1}}, next.String(), scored.String())
		server := start(t, Options{Dirs: []string{dir}})
		_, _, list = get(t, "GET", server.URL+"/", nil)
		_, _, page = get(t, "GET", server.URL+"/run/run000/", nil)
		return list, page
	}
	wantList, wantPage := pages(func(i int) string { return fmt.Sprintf("title %d", i) })
	for from := 0; from < records; from += records / 2 {
		list, page := pages(func(i int) string { return hostileTitle(from + i) })
		for what, got := range map[string][2]string{"the list": {list, wantList}, "the page": {page, wantPage}} {
			if len(got[0]) > 1<<20 {
				t.Errorf("%s has %d bytes", what, len(got[0]))
			}
			checkText(t, what, got[0])
			if skeleton(t, got[0]) != skeleton(t, got[1]) {
				t.Errorf("%s has other elements than with plain text:\n%s", what, got[0])
			}
		}
	}
}

// The same is true of the results of a search and of the page around a capture.
func TestHostileTextOfCaptures(t *testing.T) {
	captures := 10_000
	if testing.Short() {
		captures = 500
	}
	dir := t.TempDir()
	r := newRun(t, filepath.Join(dir, "r"))
	const hosts = 10
	pages := map[string]string{"http://plain.example/": "<html lang=en><title>Plain</title><p>moss"}
	for i := range 3 * hitsPerPage {
		pages[fmt.Sprintf("http://plain.example/%d", i)] = fmt.Sprintf("<html lang=en><title>Plain</title><p>deer %d", i)
	}
	for i := range captures {
		title := html.EscapeString(hostileTitle(i))
		pages[fmt.Sprintf("http://h%d.example/%d", i%hosts, i)] = "<html lang=en><title>" + title + "</title><p>deer " + title + "</p>" + hostileTitle(i)
	}
	writeCaptures(t, r.dir, pages)
	server := startSearch(t, dir, len(pages))
	_, _, plainHits := get(t, "GET", server.URL+"/search?q=deer&pageno=2&host=plain.example", nil)
	_, _, plainCached := get(t, "GET", server.URL+"/cached?url=http://plain.example/", nil)
	wantHits, wantCached := skeleton(t, plainHits), skeleton(t, plainCached)
	for host := range hosts {
		page := 2 // the first and the last have one link less
		for ; ; page++ {
			path := fmt.Sprintf("/search?q=deer&pageno=%d&host=h%d.example", page, host)
			_, _, hits := get(t, "GET", server.URL+path, nil)
			checkText(t, path, hits)
			if !strings.Contains(hits, `rel="next"`) {
				break
			}
			if skeleton(t, hits) != wantHits {
				t.Fatalf("%s has other elements than with plain text:\n%s", path, hits)
			}
		}
		if all := captures / hosts / hitsPerPage; page < all*9/10 { // copies are left out
			t.Errorf("h%d.example: %d pages of hits, want about %d", host, page, all)
		}
	}
	for i := 0; i < captures; i += 7 {
		address := url.QueryEscape(fmt.Sprintf("http://h%d.example/%d", i%hosts, i))
		_, header, cached := get(t, "GET", server.URL+"/cached?url="+address, nil)
		checkText(t, address, cached)
		if skeleton(t, cached) != wantCached || !strings.HasPrefix(header.Get("Content-Security-Policy"), policy) {
			t.Fatalf("%q: the page around it has other elements than with plain text:\n%s", hostileTitle(i), cached)
		}
		status, header, capture := get(t, "GET", server.URL+"/cached/page?url="+address, nil)
		if status != 200 || header.Get("Content-Security-Policy") != cachedPolicy || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Fatalf("%q: %d, %v", hostileTitle(i), status, header)
		}
		for line := range strings.SplitSeq(skeleton(t, capture), "\n") {
			if name, _, _ := strings.Cut(strings.TrimPrefix(line, "<"), " "); dropped[name] {
				t.Fatalf("%q: the capture has %s", hostileTitle(i), line)
			}
		}
	}
}
