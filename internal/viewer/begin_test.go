package viewer

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/run"
	"spoor/internal/testfile"
)

var someStrategies = []Strategy{{"bestfirst", "by score"}, {"forage", "by models"}, {"niche", "by niches"}}

// newCrawlProgram writes a program that stands for crawl: it writes its arguments to the file called, fails if
// one of them contains fails, and otherwise makes the run.
func newCrawlProgram(t *testing.T, dir string) string {
	t.Helper()
	name := testfile.Write(t, filepath.Join(dir, "crawl.sh"), `#!/bin/sh
for word; do echo "[$word]" >>`+dir+`/called; done
case "$*" in *fails*) touch "$2/stages"; echo "crawl: <b>no luck</b>" >&2; exit 3 ;; esac
echo "strategy forage" >"$2/settings"
mkdir -p "$2/generations/0001" "$2/frontier"
`)
	testfile.Check(t, os.Chmod(name, 0o755))
	return name
}

// post returns the status, the place to which the answer redirects, and its body.
func post(t *testing.T, address string, header map[string]string, form url.Values) (status int, location, body string) {
	t.Helper()
	q, err := http.NewRequest("POST", address, strings.NewReader(form.Encode()))
	testfile.Check(t, err)
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name, value := range header {
		q.Header.Set(name, value)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(q)
	testfile.Check(t, err)
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	testfile.Check(t, err)
	return answer.StatusCode, answer.Header.Get("Location"), string(b)
}

// values returns values of the form, given as name, value, name, value...; those that are missing are valid.
func values(pairs ...string) url.Values {
	v := url.Values{"begin": {"yes"}, "words": {"jazz"}, "seeds": {"https://a.test/"}, "contact": {"me@a.test"}}
	for pair := range slices.Chunk(pairs, 2) {
		v.Set(pair[0], pair[1])
	}
	return v
}

func TestBeginACrawl(t *testing.T) {
	dir := t.TempDir()
	runs := filepath.Join(dir, "the runs")
	testfile.Check(t, os.Mkdir(runs, 0o777))
	program := newCrawlProgram(t, dir)
	server := start(t, Options{Dirs: []string{runs}, Control: &Control{Strategies: someStrategies, Crawl: []string{program}, Flags: []string{"-search=x.db", "-allow-private"}}})
	form := values("words", "  -it's   a <topic> ", "seeds", "\r\nhttps://a.test/?a=b&c='d'\r\n\r\n http://b.test/-x \r\n", "language", "de", "pages", "500", "relevant", "20", "same-host", "yes", "strategy", "niche",
		"name", "Jäzz-1")
	d := run.Dir(filepath.Join(runs, "Jäzz-1"))
	const words = `-it'\''s a <topic>`
	want := program + " -run '" + string(d) + "' '-topic=" + words + "' -strategy niche -pages 500 -language=de -relevant=20 -contact=me@a.test -same-host -search=x.db -allow-private 'https://a.test/?a=b&c='\\''d'\\''' http://b.test/-x"
	escaped := strings.NewReplacer("&", "&amp;", "'", "&#39;", "<", "&lt;", ">", "&gt;", "+", "&#43;").Replace(want)

	// The form shows the command line, by both methods, and begins nothing.
	asked := maps.Clone(form)
	asked.Del("begin")
	status, _, shown := post(t, server.URL+"/begin", nil, asked)
	got, _, linked := get(t, "GET", server.URL+"/begin?"+form.Encode(), nil)
	for name, body := range map[string]string{"POST": shown, "GET": linked} {
		for _, text := range []string{
			"<code>" + escaped + "</code>", `<button type="submit" form="fields" name="begin" value="yes">Begin</button>`, `name="words" value="  -it&#39;s   a &lt;topic&gt; "`,
			`<option value="niche" selected>`, `<option value="de" selected>`, `name="same-host" value="yes" checked`, "http://b.test/-x",
		} {
			if !strings.Contains(body, text) {
				t.Errorf("%s: the page lacks %s\n%s", name, text, body)
			}
		}
	}
	if _, err := os.Lstat(string(d)); status != 200 || got != 200 || err == nil {
		t.Fatalf("%d, %d, %v", status, got, err)
	}

	// It is begun by the same command line.
	status, location, body := post(t, server.URL+"/begin", nil, form)
	if want := "/run/J%C3%A4zz-1/"; status != 303 || location != want {
		t.Fatalf("%d, %s\n%s", status, location, body)
	}
	if status, _, _ := get(t, "GET", server.URL+location, nil); status != 200 {
		t.Errorf("the page of the run: %d", status)
	}
	const arguments = "[-it's a <topic>]"
	if got := string(testfile.Read(t, filepath.Join(dir, "called"))); got != strings.Join([]string{
		"[-run]", "[" + string(d) + "]", "[-topic=" + arguments[1:], "[-strategy]", "[niche]", "[-pages]", "[500]", "[-language=de]", "[-relevant=20]", "[-contact=me@a.test]", "[-same-host]",
		"[-search=x.db]", "[-allow-private]", "[https://a.test/?a=b&c='d']", "[http://b.test/-x]", "",
	}, "\n") {
		t.Errorf("the arguments are\n%s", got)
	}
	if status, _, body := post(t, server.URL+"/begin", nil, form); status != 400 || !strings.Contains(body, "of this name already") {
		t.Errorf("the same name again: %d", status)
	}

	// Without a name, it is made of the words. What a crawl that fails says is shown, and leaves nothing behind.
	for _, name := range []string{"", "other"} {
		status, _, body = post(t, server.URL+"/begin", nil, values("words", "it fails", "name", name))
		if status != 422 || !strings.Contains(body, "The command begin ended with status 3:\ncrawl: &lt;b&gt;no luck&lt;/b&gt;") || !strings.Contains(body, `value="it fails"`) {
			t.Errorf("a crawl that fails: %d\n%s", status, body)
		}
	}
	if got, err := filepath.Glob(filepath.Join(runs, "*")); err != nil || !slices.Equal(got, []string{string(d)}) {
		t.Errorf("the directory has %q, %v", got, err)
	}
	if status, location, _ := post(t, server.URL+"/begin", nil, values("words", "Deer, moss")); status != 303 || location != "/run/crawl-deer-moss/" {
		t.Errorf("without a name: %d, %s", status, location)
	}
}

// A crawl has begun when its first step runs, which may be long before its first page.
func TestBeginDoesNotWaitForAPage(t *testing.T) {
	runs := t.TempDir()
	program := testfile.Write(t, filepath.Join(t.TempDir(), "crawl.sh"), "#!/bin/sh\necho 'strategy forage' >\"$2/settings\"\nsleep 5\ntouch \"$2/slept\"\n")
	testfile.Check(t, os.Chmod(program, 0o755))
	server := start(t, Options{Dirs: []string{runs}, Control: &Control{Strategies: someStrategies, Crawl: []string{program}}})
	d := run.Dir(filepath.Join(runs, "x"))
	go func() {
		for !isRun(string(d)) {
			time.Sleep(time.Millisecond)
		}
		lock, err := d.Hold()
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { lock.Close() })
		testfile.Write(t, d.Path("step"), "steady in\nout\ntopic\n1\n0\n0\n\n0\n")
	}()
	if status, location, body := post(t, server.URL+"/begin", nil, values("name", "x")); status != 303 || location != "/run/x/" {
		t.Errorf("%d, %s\n%s", status, location, body)
	}
	if _, err := os.Lstat(d.Path("slept")); err == nil {
		t.Error("the answer came only when the crawl had ended")
	}
}

func TestWrongValuesBeginNothing(t *testing.T) {
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	testfile.Check(t, os.MkdirAll(filepath.Join(runs, "taken"), 0o777))
	testfile.Write(t, filepath.Join(runs, "file"), "")
	testfile.Check(t, os.Symlink("nowhere", filepath.Join(runs, "link")))
	server := start(t, Options{Dirs: []string{runs}, Control: &Control{Strategies: someStrategies, Crawl: []string{newCrawlProgram(t, dir)}}})
	lines := func(n int) string { return strings.Repeat("https://a.test/\n", n) }
	for _, test := range []struct{ field, value, want string }{
		{"words", "", "It is missing."},
		{"words", " \n ", "It is missing."},
		{"words", "a\nb", "It contains control characters."},
		{"words", "a\x00b", "It contains control characters."},
		{"words", "a\u202eb", "It contains control characters."},
		{"words", "a\xffb", "It contains control characters."},
		{"words", strings.Repeat("é ", 300), "It has more than 500 characters."},
		{"words", "/etc/passwd", "like the name of a file"},
		{"words", "begin_test.go", "like the name of a file"}, // it exists
		{"words", "topic.json", "like the name of a file"},
		{"seeds", "", "At least one address is needed."},
		{"seeds", "\n \n", "At least one address is needed."},
		{"seeds", "https://a.test/\n\n-allow-private", "Line 3 does not begin with"},
		{"seeds", "file:///etc/passwd", "Line 1 does not begin with"},
		{"seeds", "https://", "Line 1 is not an address: no host."},
		{"seeds", "https://a.test/\x01", "Line 1 contains control characters."},
		{"seeds", "https://a.test/\u202ex", "Line 1 contains control characters."},
		{"seeds", "https://a.test/" + strings.Repeat("x", 9000), "Line 1 is not an address"},
		{"seeds", lines(1001), "These are 1,001 addresses"},
		{"pages", "0", "It is not a whole number from 1 to 1000000000."},
		{"pages", "-5", "It is not a whole number"},
		{"pages", "1e3", "It is not a whole number"},
		{"pages", "1000000001", "It is not a whole number"},
		{"pages", "5 -allow-private", "It is not a whole number"},
		{"relevant", "99999999999999999999", "It is not a whole number"},
		{"strategy", "own", "There is no such choice."},
		{"strategy", "niche; rm", "There is no such choice."},
		{"language", "xx", "There is no such choice."},
		{"dir", "/tmp", "There is no such choice."},
		{"contact", "", "It is missing."},
		{"contact", "me", "It is not a mail address or URL"},
		{"contact", "me@a.test (x)", "It is not a mail address or URL"},
		{"contact", "mé@a.test", "It is not a mail address or URL"},
		{"contact", "me@a.test\nX: y", "It contains control characters."},
		{"contact", "me@" + strings.Repeat("a", 200), "It has more than 200 characters."},
		{"name", "..", "It is not a name"},
		{"name", ".hidden", "It is not a name"},
		{"name", "-run", "It is not a name"},
		{"name", "a/b", "It is not a name"},
		{"name", "../b", "It is not a name"},
		{"name", `a\b`, "It is not a name"},
		{"name", "a b", "It is not a name"},
		{"name", "a\x00b", "It contains control characters."},
		{"name", strings.Repeat("é", 31), "It is not a name"},
		{"name", "taken", "of this name already"},
		{"name", "file", "of this name already"},
		{"name", "link", "of this name already"},
	} {
		form := values(test.field, test.value)
		status, _, body := post(t, server.URL+"/begin", nil, form)
		_, after, _ := strings.Cut(body, ` id="`+test.field+`-error">`)
		message, _, _ := strings.Cut(after, "</p>")
		if status != 400 || !strings.Contains(message, test.want) || strings.Contains(body, "<code>") {
			t.Errorf("%s=%.40q: %d, %q", test.field, test.value, status, message)
		}
		if _, after, _ = strings.Cut(body, ` id="`+test.field+`" `); !strings.Contains(after[:min(len(after), 2000)], `aria-invalid="true"`) {
			t.Errorf("%s=%.40q: the field is not marked", test.field, test.value)
		}
		if test.field == "words" {
			continue
		}
		if !strings.Contains(body, `name="words" value="jazz"`) {
			t.Errorf("%s=%.40q: what was typed elsewhere is lost", test.field, test.value)
		}
		if status, _, _ := get(t, "GET", server.URL+"/begin?"+form.Encode(), nil); len(test.value) < 10_000 && status != 400 {
			t.Errorf("%s=%.40q: %d by GET", test.field, test.value, status)
		}
	}
	if _, _, body := post(t, server.URL+"/begin", nil, values("dir", dir, "name", "runs")); strings.Contains(body, "of this name already") {
		t.Error("the answer tells whether a file elsewhere exists")
	}
	if status, _, body := post(t, server.URL+"/begin", nil, values("seeds", strings.Repeat("x", maxForm))); status != 400 || !strings.Contains(body, "It may have 1 MiB") {
		t.Errorf("a request that is too long: %d", status)
	}
	if status, _, body := post(t, server.URL+"/begin", nil, values("seeds", lines(1000), "begin", "")); status != 200 || strings.Count(body, " https://a.test/") != 1000 {
		t.Errorf("1000 seeds: %d", status)
	}
	if status, _, body := get(t, "GET", server.URL+"/begin", nil); status != 200 || strings.Contains(body, `aria-invalid="true"`) || strings.Contains(body, "<code>") || !strings.Contains(body, `<option value="forage" selected>`) {
		t.Errorf("the empty form: %d\n%s", status, body)
	}
	if _, err := os.Lstat(filepath.Join(dir, "called")); err == nil {
		t.Errorf("commands were run: %s", testfile.Read(t, filepath.Join(dir, "called")))
	}
}

func TestWhereACrawlCanBegin(t *testing.T) {
	dir := t.TempDir()
	program := newCrawlProgram(t, dir)
	var dirs []string
	for _, name := range []string{"a", "b"} {
		dirs = append(dirs, filepath.Join(dir, name))
		testfile.Check(t, os.Mkdir(dirs[len(dirs)-1], 0o777))
	}
	single := newRun(t, filepath.Join(dir, "single"))
	control := func() *Control { return &Control{Strategies: someStrategies, Crawl: []string{program}} }

	server := start(t, Options{Dirs: []string{string(single.dir), filepath.Join(dir, "missing")}, Control: control()})
	for method, want := range map[string]int{"GET": 200, "POST": 409} {
		if status, _, body := get(t, method, server.URL+"/begin", nil); status != want || !strings.Contains(body, "Start serve with a directory that holds crawls") || strings.Contains(body, "<form") {
			t.Errorf("%s without a directory for it: %d\n%s", method, status, body)
		}
	}
	server = start(t, Options{Dirs: append([]string{string(single.dir)}, dirs...), Control: control()})
	if _, _, body := get(t, "GET", server.URL+"/begin", nil); !strings.Contains(body, `<select id="dir"`) || !strings.Contains(body, fmt.Sprintf(`<option value="%s">`, dirs[1])) || strings.Contains(body, `<option value="`+string(single.dir)) {
		t.Errorf("several directories:\n%s", body)
	}
	if status, _, _ := post(t, server.URL+"/begin", nil, values("dir", dirs[1], "name", "x")); status != 303 || !isRun(filepath.Join(dirs[1], "x")) {
		t.Errorf("in the second directory: %d", status)
	}
	if status, _, _ := post(t, server.URL+"/begin", nil, values("dir", string(single.dir))); status != 400 {
		t.Errorf("in a run: %d", status)
	}
	if _, _, list := get(t, "GET", server.URL+"/", nil); !strings.Contains(list, `href="/begin"`) {
		t.Error("the list has no link to the form")
	}
}

func TestWhoMayBeginACrawl(t *testing.T) {
	dir := t.TempDir()
	access := Access{Token: testToken}
	runs := filepath.Join(dir, "runs")
	testfile.Check(t, os.Mkdir(runs, 0o777))
	plain := start(t, Options{Dirs: []string{runs}})
	if status, _, body := post(t, plain.URL+"/begin", nil, values()); status != 403 || !strings.Contains(body, "serve -control permits commands") {
		t.Errorf("without -control: %d", status)
	}
	if status, _, _ := get(t, "GET", plain.URL+"/begin", nil); status != 403 {
		t.Errorf("the form without -control: %d", status)
	}
	if _, _, list := get(t, "GET", plain.URL+"/", nil); strings.Contains(list, "/begin") {
		t.Error("the list has a link to the form without -control")
	}
	server := start(t, Options{Dirs: []string{runs}, Access: access, Control: &Control{Strategies: someStrategies, Crawl: []string{newCrawlProgram(t, dir)}}})
	name, value := access.cookie()
	cookie := name + "=" + value
	for i, test := range []struct {
		what   string
		header map[string]string
		want   int
	}{
		{"no token", nil, 401},
		{"a cookie and nothing else", map[string]string{"Cookie": cookie}, 401},
		{"a form of another site", map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, 403},
		{"a form of another port", map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"}, 403},
		{"another origin", map[string]string{"Cookie": cookie, "Origin": "http://127.0.0.1:1"}, 403},
		{"its own form", map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}, 303},
		{"a program", map[string]string{"Authorization": "Bearer " + testToken}, 303},
	} {
		run := fmt.Sprintf("run-%d", i)
		status, _, _ := post(t, server.URL+"/begin", test.header, values("name", run))
		if status != test.want || isRun(filepath.Join(runs, run)) != (test.want == 303) {
			t.Errorf("%s: %d", test.what, status)
		}
	}
	header := map[string]string{"Authorization": "Bearer " + testToken, "Host": "evil.example"}
	if status, _, _ := get(t, "POST", server.URL+"/begin", header); status != 421 {
		t.Errorf("another name: %d", status)
	}
}
