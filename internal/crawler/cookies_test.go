package crawler

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"spoor/internal/weburl"
)

// A gate is a site that sets cookies, and records those that it is sent, by path.
type gate struct {
	mu   sync.Mutex
	sent map[string][]string
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	cookie := r.Header.Get("Cookie")
	g.mu.Lock()
	g.sent[r.URL.Path] = append(g.sent[r.URL.Path], cookie)
	visits := len(g.sent[r.URL.Path])
	g.mu.Unlock()
	set := func(s string) { w.Header().Add("Set-Cookie", s) }
	seen := strings.Contains(cookie, "seen=")
	switch p := r.URL.Path; {
	case p == "/robots.txt":
		http.NotFound(w, r)
		return
	case (p == "/self" || p == "/there") && seen, p == "/page", p == "/sub/end":
		fmt.Fprint(w, "<p>hello world")
		return
	case p == "/self", p == "/stubborn":
		set("seen=1; Path=/")
	case p == "/there":
		http.Redirect(w, r, "/set", http.StatusFound)
		return
	case p == "/set":
		set("seen=2; Path=/; HttpOnly; Max-Age=60")
		http.Redirect(w, r, "/there", http.StatusFound)
		return
	case p == "/restless": // sets another cookie each time
		set(fmt.Sprintf("seen=%d", visits))
	case p == "/rules":
		set("seen=1; Path=/sub")
		set("other=1; Path=/elsewhere")
		set("safe=1; Secure; Path=/")
		set("dead=1; Max-Age=0; Path=/")
		set("foreign=1; Domain=example.org; Path=/")
		set("long=" + strings.Repeat("x", maxCookie))
		http.Redirect(w, r, "/sub/end", http.StatusSeeOther)
		return
	case p == "/many":
		for i := range 200 {
			set(fmt.Sprintf("c%d=%s; Path=/", i, strings.Repeat("x", 300)))
		}
		http.Redirect(w, r, "/page", http.StatusSeeOther)
		return
	}
	http.Redirect(w, r, r.URL.Path, http.StatusFound)
}

func TestCookiesOfAChainOfRedirects(t *testing.T) {
	g := &gate{sent: map[string][]string{}}
	server := httptest.NewServer(g)
	defer server.Close()
	paths := []string{"/self", "/there", "/stubborn", "/restless", "/rules", "/many", "/page"}
	in := server.URL + strings.Join(paths, "\n"+server.URL) + "\n"
	dir := t.TempDir()
	recs, _ := fetch(t, in, loopback, workers(1), warcTo(filepath.Join(dir, "w")))
	for path, want := range map[string]string{
		"/self": "200 1 ", "/there": "200 2 ", "/stubborn": "0 2 redirect_loop", "/restless": "0 11 redirect_loop",
		"/rules": "200 1 ", "/many": "200 1 ", "/page": "200 0 ",
	} {
		r := recs[server.URL+path]
		if got := fmt.Sprintf("%d %d %s", r.StatusCode, len(r.Redirects), r.Error); got != want {
			t.Errorf("%s: %s, want %s (%s)", path, got, want, r.ErrorDetail)
		}
	}
	if got := g.sent["/self"]; !slices.Equal(got, []string{"", "seen=1"}) {
		t.Errorf("/self was sent %q", got)
	}
	if got := g.sent["/sub/end"]; !slices.Equal(got, []string{"seen=1"}) {
		t.Errorf("the rules allow one cookie, but /sub/end was sent %q", got)
	}
	for _, got := range g.sent["/page"] {
		if n := len(got); n > maxCookieField || n > 0 && n < maxCookieField-400 {
			t.Errorf("/page was sent %d bytes of cookies", n)
		}
	}
	if !slices.Contains(g.sent["/page"], "") {
		t.Error("cookies are sent beyond their chain of redirects")
	}
	archived, _ := replay(t, server.URL+"/self\n"+server.URL+"/there\n", dir)
	for url, r := range archived {
		if r.StatusCode != 200 || r.Body != "<p>hello world" {
			t.Errorf("%s from the archive: %d %s %q", url, r.StatusCode, r.Error, r.Body)
		}
	}
}

// TestCookiesAreSentBackAsTheyWereSet has values that only the grammar for servers forbids (RFC
// 6265, section 5.2).
func TestCookiesAreSentBackAsTheyWereSet(t *testing.T) {
	for field, want := range map[string]string{
		`c={"a":1}; Path=/`: `c={"a":1}`, "c=\u00e9": "c=\u00e9", "c[x]=1": "c[x]=1", `c=a\b`: `c=a\b`, "c=x y": "c=x y", "c=a,b": "c=a,b", `c="q"`: `c="q"`,
		" c = v ; Max-Age=9": "c=v", "c=": "c=", "c=v; Max-Age=0": "", "c": "", "=v": "", "c=a\x01b": "", "c=v; Path=/other": "",
	} {
		var c chain
		u, _ := weburl.Parse("http://a.example/")
		c.keep(u, http.Header{"Set-Cookie": {field}})
		if got := c.cookies(u); got != want {
			t.Errorf("%q: %q, want %q", field, got, want)
		}
	}
}

// TestCookiesOfPublicSuffixesAreRefused checks that a site cannot set a cookie for all sites of a
// suffix.
func TestCookiesOfPublicSuffixesAreRefused(t *testing.T) {
	for domain, want := range map[string]string{"co.uk": "", "a.co.uk": "k=v", "b.a.co.uk": "k=v", "c.co.uk": "", "com": ""} {
		var c chain
		from, _ := weburl.Parse("http://b.a.co.uk/")
		c.keep(from, http.Header{"Set-Cookie": {"k=v; Domain=" + domain}})
		if got := c.cookies(from); got != want {
			t.Errorf("Domain=%s: %q, want %q", domain, got, want)
		}
	}
}

func TestCookiesOfTheUserAreSentWithThoseOfTheChain(t *testing.T) {
	g := &gate{sent: map[string][]string{}}
	server := httptest.NewServer(g)
	defer server.Close()
	k := new(Credentials)
	if err := k.ReadCookies(strings.NewReader("127.0.0.1\tFALSE\t/\tFALSE\t0\tlogin\tsecret\n127.0.0.1\tFALSE\t/\tFALSE\t0\tseen\told\n"), time.Now()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	recs, _ := fetch(t, server.URL+"/rules\n", loopback, warcTo(filepath.Join(dir, "w")), func(o *Options) { o.Credentials = k })
	if got := g.sent["/sub/end"]; len(got) != 1 || got[0] != "seen=1; login=secret" {
		t.Errorf("sent %q", got)
	}
	if raw := unpack(t, filepath.Join(dir, recs[server.URL+"/rules"].WARCFilename)); strings.Contains(raw, "secret") {
		t.Error("the cookie of the user is archived")
	}
}
