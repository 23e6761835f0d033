package crawler

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fields and cookies are sent where they are meant to be, also after redirects, and are not archived.
func TestCredentials(t *testing.T) {
	var mu sync.Mutex
	got := map[string]string{} // by address: the secrets that arrived
	note := func(site string) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			got[site+r.URL.Path] = strings.Join([]string{r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("X-Mark")}, "|")
			mu.Unlock()
			if to := r.URL.Query().Get("to"); to != "" {
				http.Redirect(w, r, to, http.StatusFound)
				return
			}
			w.Header().Set("Set-Cookie", "new=1; Path=/")
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<p>page")
		}))
	}
	one, two := note("one"), note("two")
	defer one.Close()
	defer two.Close()
	two.URL = strings.Replace(two.URL, "127.0.0.1", "localhost", 1) // cookies are for hosts, whatever the port
	var k Credentials
	fields := "\uFEFF# secrets\n\n" + one.URL + "/in/ Authorization: Bearer geheim\n* X-Mark: yes\r\n"
	cookies := "\uFEFF# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/in\tFALSE\t0\tsid\tgeheim-a\n#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t99999999999\tall\tgeheim-b\n127.0.0.1\tFALSE\t/\tFALSE\t5\told\tgeheim-c\n"
	if err := k.ReadFields(strings.NewReader(fields)); err != nil {
		t.Fatal(err)
	}
	if err := k.ReadCookies(strings.NewReader(cookies), time.Now()); err != nil {
		t.Fatal(err)
	}
	prefix := filepath.Join(t.TempDir(), "w")
	in := fmt.Sprintf("%[1]s/in/a\n%[1]s/inside\n%[1]s/in\n%[1]s/in/../out\n%[1]s/in/go?to=%[2]s/in/b\n%[2]s/x?to=%[1]s/in/c\n", one.URL, two.URL)
	recs, _ := fetch(t, in, loopback, warcTo(prefix), func(o *Options) { o.Credentials = &k })
	for url, r := range recs {
		if r.Error != "" || r.StatusCode != http.StatusOK {
			t.Errorf("%s: %+v", url, r)
		}
	}
	const all = "Bearer geheim|sid=geheim-a; all=geheim-b|yes"
	for place, want := range map[string]string{
		"one/robots.txt": "|all=geheim-b|yes", "one/in/a": all, "one/in": all, "one/inside": "|all=geheim-b|yes", "one/out": "|all=geheim-b|yes",
		"one/in/go": all, "two/in/b": "||yes", "two/x": "||yes", "one/in/c": all, "two/robots.txt": "||yes",
	} {
		if got[place] != want {
			t.Errorf("%s: %q, want %q", place, got[place], want)
		}
	}
	names, err := filepath.Glob(prefix + "*.warc.gz")
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	warc := unpack(t, names[0])
	if strings.Contains(warc, "geheim") || !strings.Contains(warc, "requestFieldsRemoved: Authorization, X-Mark, Cookie\r\n") || !strings.Contains(warc, "requestFieldsRemoved: X-Mark\r\n") {
		t.Error(warc)
	}
	if !strings.Contains(warc, "GET /in/a HTTP/1.1\r\nHost: ") || strings.Contains(warc, "X-Mark: yes") {
		t.Errorf("the other fields are archived: %s", warc)
	}
}

func TestCredentialsThatAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		"* Authorization: x":                     "would be sent to every site",
		"* Cookie: a=b":                          "-cookies",
		"* Host: x":                              "Host is not the user's to set",
		"* user-agent: x":                        "User-Agent is not",
		"* Transfer-Encoding: chunked":           "is not the user's",
		"* X-A":                                  "no header field",
		"X-A: geheim":                            "no header field",
		"https://a.test/geheim X-A: a\x00b":      "no header field",
		"ftp://a.test/ X-A: geheim":              "no address",
		"https://a.test/?q=geheim X-A: a":        "no address",
		"a.test X-A: geheim":                     "no address",
		"https://a.test/ X A: geheim":            "no header field",
		"https://a.test/ Proxy-Authorization: x": "is not the user's",
	} {
		err := new(Credentials).ReadFields(strings.NewReader("* X-Fine: x\n" + line + "\n"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line 2: ") || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: %v", line, err)
		}
	}
	for line, want := range map[string]string{
		"a.test\tFALSE\t/\tFALSE\t0\tname":             "6 fields instead of 7",
		"a.test\tFALSE\t/\tFALSE\tnever\tname\tgeheim": "no time|not a time",
		"a.test\tFALSE\t/\tFALSE\t0\tna me\tgeheim":    "no cookie",
		"a.test\tFALSE\t/\tFALSE\t0\tname\tge;heim":    "no cookie",
		"a b\tTRUE\t/\tFALSE\t0\tname\tgeheim":         "",
	} {
		err := new(Credentials).ReadCookies(strings.NewReader(line+"\n"), time.Unix(0, 0))
		if err == nil || strings.Contains(err.Error(), "geheim") || !containsAny(err.Error(), strings.Split(want, "|")) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func containsAny(s string, list []string) bool {
	for _, w := range list {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// Cookies of a domain are sent to its subdomains only if it says so, and never to another site.
func TestCookiesOfDomains(t *testing.T) {
	var k Credentials
	lines := ".a.example\tTRUE\t/\tFALSE\t0\twide\t1\nb.example\tFALSE\t/\tFALSE\t0\tnarrow\t1\nc.example\tTRUE\t/p\tTRUE\t0\tsafe\t1\n.co.uk\tTRUE\t/\tFALSE\t0\tall\t1\n"
	if err := k.ReadCookies(strings.NewReader(lines), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"http://a.example/": "wide=1", "http://www.a.example/x": "wide=1", "http://b.example/": "narrow=1", "http://www.b.example/": "",
		"http://nota.example/": "", "http://a.example.evil.test/": "", "https://c.example/p/x": "safe=1", "http://c.example/p/x": "", "https://c.example/q": "", "http://x.co.uk/": "",
	} {
		req, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if k.add(req); req.Header.Get("Cookie") != want {
			t.Errorf("%s: %q, want %q", address, req.Header.Get("Cookie"), want)
		}
	}
}
