package archive

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// arcRecord returns an ARC record of version 1.
func arcRecord(url, date, media, block string) string {
	return fmt.Sprintf("%s 192.0.2.1 %s %s %d\n%s\n", url, date, media, len(block), block)
}

// arcHead returns the record that describes an ARC file.
func arcHead() string {
	return arcRecord("filedesc://x.arc", "20200101000000", "text/plain", "1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n")
}

// asARC converts WARC responses to the records of an ARC file.
func asARC(t testing.TB, records ...string) []string {
	t.Helper()
	all := []string{arcHead()}
	for rec := range wholeRecords(t, strings.NewReader(strings.Join(records, ""))) {
		block, err := io.ReadAll(rec)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Type() == "response" {
			all = append(all, arcRecord(rec.TargetURI(), rec.Date().Format(timestampLayout), "text/html", string(block)))
		}
	}
	return all
}

// answers returns all pages of a file, read in order and by URL.
func answers(t testing.TB, path string) []string {
	t.Helper()
	r := replay(t, path)
	var all []string
	for page, err := range All([]string{path}, Filter{}, Limits{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %s %d %v %s %q %s", page.URL, page.Time, page.StatusCode, page.Header, page.Digest, page.Body, page.Truncated))
		for _, c := range r.Lookup(page.URL) {
			asked, err := r.Read(c)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprintf("%s %s %d %v %s %q %s", asked.URL, asked.Time, asked.StatusCode, asked.Header, asked.Digest, asked.Body, asked.Truncated))
		}
	}
	return all
}

func TestReplayARC(t *testing.T) {
	dir := t.TempDir()
	warc := []string{
		capture("http://a/", old, 200, "", "root"),
		capture("http://a/moved", old, 301, "/", ""),
		capture("http://a/twice", old, 200, "", "older"),
		capture("http://a/twice", newer, 200, "", "newer"),
		capture("http://a/q?x=1&y= z", newer, 404, "", strings.Repeat("gone\n", 3000)),
		capture("dns:a", old, 200, "", "no page"),
		capture("https://a/empty", old, 200, "", ""),
	}
	arc := asARC(t, warc...)
	want := answers(t, fileOf(t, dir, "x.warc.gz", []byte(zip(warc...))))
	if len(want) != 14 {
		t.Fatalf("%d answers", len(want))
	}
	for name, content := range map[string]string{
		"x.arc": strings.Join(arc, ""), "x.arc.gz": zip(arc...), "one.arc.gz": zip(strings.Join(arc, "")),
	} {
		if diff := cmp.Diff(want, answers(t, fileOf(t, dir, name, []byte(content)))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestParseARC(t *testing.T) {
	for line, want := range map[string]arcLine{
		"http://a/ 192.0.2.1 20200101000000 text/html 12":                             {"http://a/", "192.0.2.1", "20200101000000", "text/html", "12"},
		"http://a/ 192.0.2.1 20200101000000 text/html 12\r":                           {"http://a/", "192.0.2.1", "20200101000000", "text/html", "12"},
		"http://a/b c  d 192.0.2.1 20200101000000 text/html; charset=x 0":             {"http://a/b c  d", "192.0.2.1", "20200101000000", "text/html; charset=x", "0"},
		"dns:a 2001:db8::1 20200101000000 text/dns 5":                                 {"dns:a", "2001:db8::1", "20200101000000", "text/dns", "5"},
		"http://a/ - 20200101 no-type -1":                                             {"http://a/", "-", "20200101", "no-type", "-1"},
		"http://a/ 0.0.0.0 202001010000001234 text/html abc":                          {"http://a/", "0.0.0.0", "202001010000001234", "text/html", "abc"},
		"http://a/ 192.0.2.1 20200101000000  9":                                       {"http://a/", "192.0.2.1", "20200101000000", "", "9"},
		"http://a/ 192.0.2.1 20200101000000 9":                                        {"http://a/", "192.0.2.1", "20200101000000", "", "9"},
		"http://a/ 192.0.2.1 20200101000000 text/html 200 MD5 - 123456789 x.arc 4567": {"http://a/", "192.0.2.1", "20200101000000", "text/html", "4567"},
		"": {}, "http://a/": {}, "http://a/ b c d e": {}, "HTTP/1.1 200 OK": {}, "Date: Sun, 16 Feb 2014 05:02:20 GMT": {},
		"http://a/ 192.0.2.1 2020 text/html 1":                     {"http://a/", "192.0.2.1", "2020", "text/html", "1"},
		"http://a/b - 2020 x 192.0.2.1 20200101000000 text/html 1": {"http://a/b - 2020 x", "192.0.2.1", "20200101000000", "text/html", "1"},
		"http://a/ 192.0.2.1 202 text/html 1":                      {}, "http://a/ host 20200101000000 text/html 1": {}, "/a 192.0.2.1 20200101000000 text/html 1": {},
		"h@: 192.0.2.1 20200101000000 text/html 1": {}, "http://a/ 192.0.2.1 20200101000000": {},
	} {
		if got, ok := parseARC([]byte(line)); got != want || ok != (want != arcLine{}) {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
	}
}

func TestARCFaults(t *testing.T) {
	page := func(name string, length int) string {
		block := "HTTP/1.0 200 OK\r\n\r\n" + name
		return fmt.Sprintf("http://a/%s 192.0.2.1 20200101000000 text/html %d\n%s\n", name, len(block)+length, block)
	}
	head, a, b, c := arcHead(), page("a", 0), page("b", 0), page("c", 0)
	long := strings.Repeat("x", 3*bufferSize)
	for _, v := range []struct{ name, in, want string }{
		{"plain", head + a + b + c, "a b c"},
		{"members", zip(head, a, b, c), "a b c"},
		{"without a description", a + b, "a b"},
		{"no newline behind a block", head + strings.TrimSuffix(a, "\n") + b, "a b"},
		{"length too small", head + page("abcdef", -3) + b, "abc ! b"},
		{"length too large", head + page("a", 30) + b + c, "a+ ! b c"},
		{"length past the end", head + a + page("b", 1e9) + c, "a b+ ! c"},
		{"no length", head + strings.Replace(a, " 20\n", " x\n", 1) + b, "! b"},
		{"length of the description too large", strings.Replace(head, " 65\n", " 99\n", 1) + a + b, "! a b"},
		{"length of the description too small", strings.Replace(head, " 65\n", " 9\n", 1) + a + b, "! a b"},
		{"torn", head + a + b[:len(b)-3], "a b- !"},
		{"torn in the line", head + a + b[:20], "a !"},
		{"rubbish between", head + a + "rubbish\nmore\n" + b, "a ! b"},
		{"rubbish between members", zip(head, a) + "rubbish" + zip(b), "a ! b"},
		{"a broken member", zip(head, a) + zip(b)[:30] + zip(c), "a ! c"},
		{"length too large, members", zip(head, page("a", 30), b), "a ! b"},
		{"a line without end", head + a + long + "\n" + b, "a ! b"},
		{"a WARC record", head + a + good("w") + b, "a ! b"},
		{"another ARC file behind", zip(head, a) + zip(head, b), "a b"},
	} {
		t.Run(v.name, func(t *testing.T) {
			var words []string
			for rec, err := range recordsOf(t, strings.NewReader(v.in)) {
				if err != nil {
					words = append(words, "!")
					continue
				}
				if rec.Type() == "warcinfo" {
					continue
				}
				block, _ := io.ReadAll(rec)
				_, body, _ := strings.Cut(string(block), "\r\n\r\n")
				body = strings.TrimSuffix(body, "\n")
				name := strings.TrimPrefix(rec.TargetURI(), "http://a/")
				switch {
				case len(body) > len(name):
					body = name + "+"
				case len(body) < len(name) && v.name == "torn":
					body = name + "-"
				}
				words = append(words, body)
			}
			if got := strings.Join(words, " "); got != v.want {
				t.Errorf("read %q, want %q", got, v.want)
			}
		})
	}
}

func TestARCHeader(t *testing.T) {
	in := arcHead() +
		"http://a/ 192.0.2.1 20200102030405 text/html 3\nabc\n" +
		"dns:a 0.0.0.0 20200102030405 text/dns 3\nabc\n" +
		"ftp://a/x - 99999999999999 text/plain 3\nabc\n" +
		"http://a/y - 1996 text/plain 3\nabc\n" +
		"http://a/d - 199612310 text/plain 3\nabc\n" +
		"http://a/m - 199613 text/plain 3\nabc\n"
	var got []Header
	for rec := range wholeRecords(t, strings.NewReader(in)) {
		if rec.Version != "ARC" {
			t.Errorf("version %q", rec.Version)
		}
		got = append(got, append(Header{}, rec.Header...))
	}
	want := []Header{
		{{"WARC-Type", "warcinfo"}, {"WARC-Target-URI", "filedesc://x.arc"}, {"WARC-Date", "2020-01-01T00:00:00Z"}, {"WARC-IP-Address", "192.0.2.1"}, {"Content-Type", "text/plain"}, {"Content-Length", "65"}},
		{{"WARC-Type", "response"}, {"WARC-Target-URI", "http://a/"}, {"WARC-Date", "2020-01-02T03:04:05Z"}, {"WARC-IP-Address", "192.0.2.1"}, {"Content-Type", "application/http; msgtype=response"}, {"Content-Length", "3"}},
		{{"WARC-Type", "response"}, {"WARC-Target-URI", "dns:a"}, {"WARC-Date", "2020-01-02T03:04:05Z"}, {"Content-Type", "text/dns"}, {"Content-Length", "3"}},
		{{"WARC-Type", "resource"}, {"WARC-Target-URI", "ftp://a/x"}, {"Content-Type", "text/plain"}, {"Content-Length", "3"}},
		{{"WARC-Type", "response"}, {"WARC-Target-URI", "http://a/y"}, {"WARC-Date", "1996-01-01T00:00:00Z"}, {"Content-Type", "application/http; msgtype=response"}, {"Content-Length", "3"}},
		{{"WARC-Type", "response"}, {"WARC-Target-URI", "http://a/d"}, {"WARC-Date", "1996-12-31T00:00:00Z"}, {"Content-Type", "application/http; msgtype=response"}, {"Content-Length", "3"}},
		{{"WARC-Type", "response"}, {"WARC-Target-URI", "http://a/m"}, {"Content-Type", "application/http; msgtype=response"}, {"Content-Length", "3"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
