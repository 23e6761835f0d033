package crawler

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"spoor/internal/archive"
	"spoor/internal/testfile"
	"spoor/internal/wire"
)

// secureSite returns a server that supports HTTP/2 and HTTP/1.1, and an option to trust it.
func secureSite(t *testing.T, h http.HandlerFunc) (*httptest.Server, option) {
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, func(o *Options) { o.TLS = &tls.Config{RootCAs: roots} }
}

func TestArchiveOfHTTP2(t *testing.T) {
	page := strings.Repeat("<p>some words</p>\n", 200)
	s, trusting := secureSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, page)
		z.Close()
	})
	for protocol, http1 := range map[string]bool{"h2": false, "http/1.1": true} {
		dir := t.TempDir()
		in := s.URL + "/a\n"
		recs, _ := fetch(t, in, loopback, trusting, warcTo(filepath.Join(dir, "w")), func(o *Options) { o.HTTP1 = http1 })
		r := recs[s.URL+"/a"]
		if r.StatusCode != 200 || r.Body != page || r.IP != "127.0.0.1" || r.Error+r.ErrorDetail != "" {
			t.Fatalf("%s: %d %s %s, %d bytes from %s", protocol, r.StatusCode, r.Error, r.ErrorDetail, len(r.Body), r.IP)
		}
		raw := unpack(t, filepath.Join(dir, r.WARCFilename))
		if !strings.Contains(raw, "\r\nWARC-Protocol: "+protocol+"\r\n") || !strings.Contains(raw, "\r\nWARC-Protocol: tls/1.3\r\n") {
			t.Errorf("%s: the archive does not record it", protocol)
		}
		if !strings.Contains(raw, "\r\n\r\nHTTP/1.1 200 OK\r\n") || !strings.Contains(raw, "\r\n\r\nGET /a HTTP/1.1\r\nHost: ") {
			t.Errorf("%s: the exchange is not stored as HTTP/1.1", protocol)
		}
		again, faults := replay(t, in, dir)
		if a := again[s.URL+"/a"]; a.Body != page || a.Digest != r.Digest || a.StatusCode != 200 || faults > 0 {
			t.Errorf("%s: replayed: %d %s, %d bytes, %d faults", protocol, a.StatusCode, a.Error, len(a.Body), faults)
		}
	}
}

func TestInvalidCertificate(t *testing.T) {
	s, _ := secureSite(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<p>words") })
	in := s.URL + "/page\n"
	recs, _ := fetch(t, in, loopback)
	if r := recs[s.URL+"/page"]; r.Error != "tls" || !strings.Contains(r.ErrorDetail, "unknown authority") {
		t.Errorf("%s %s", r.Error, r.ErrorDetail)
	}
	dir := t.TempDir()
	recs, _ = fetch(t, in, loopback, func(o *Options) { o.Insecure = true }, warcTo(filepath.Join(dir, "w")))
	r := recs[s.URL+"/page"]
	if r.Error != "" || r.Body != "<p>words" || !strings.HasPrefix(r.ErrorDetail, "certificate not verified: ") {
		t.Errorf("Insecure: %s %s", r.Error, r.ErrorDetail)
	}
	if raw := unpack(t, filepath.Join(dir, r.WARCFilename)); !strings.Contains(raw, "unknown authority") {
		t.Error("the archive does not record it")
	}
}

func TestConditionalRequests(t *testing.T) {
	var mu sync.Mutex
	conditions := map[string][]string{} // by path and query, in any order
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		uri := r.URL.RequestURI()
		conditions[uri] = append(conditions[uri], r.Header.Get("If-None-Match")+"|"+r.Header.Get("If-Modified-Since"))
		mu.Unlock()
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(w, r)
		case "/away":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/unasked": // 304 to an unconditional request
			w.WriteHeader(http.StatusNotModified)
		default:
			w.Header().Set("Content-Type", "image/png") // which is not accepted, but has no body either
			if r.URL.Path == "/page" {
				w.Header().Set("Content-Type", "text/html")
			}
			w.Header().Set("ETag", `"one"`)
			http.ServeContent(w, r, "", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), strings.NewReader(strings.Repeat("<p>words", 500)))
		}
	})
	dir := t.TempDir()
	first, _ := fetch(t, server.URL+"/page\n", loopback, warcTo(filepath.Join(dir, "w")))
	var in strings.Builder
	for path, known := range map[string]string{
		"/page": `"etag":"\"one\""`, "/image": `"etag":"\"one\""`, "/old": `"last_modified":"Fri, 02 Jan 2026 03:04:05 GMT"`, "/page?new": `"etag":"\"other\""`,
		"/away": `"etag":"\"one\""`, "/unasked": `"depth":1`, "/forged": `"etag":"\"one\"\r\nX-Forged: yes"`,
	} {
		fmt.Fprintf(&in, `{"v":1,"url":"%s%s",%s}`+"\n", server.URL, path, known)
	}
	recs, _ := fetch(t, in.String(), loopback, warcTo(filepath.Join(dir, "w")))
	for path, want := range map[string]string{
		"/page": "304 0", "/image": "304 0", "/old": "304 0", "/page?new": "200 4000", "/away": "200 4000", "/unasked": "304 0", "/forged": "200 0 unsupported_type",
	} {
		r := recs[server.URL+path]
		got := strings.TrimSpace(fmt.Sprintf("%d %d %s", r.StatusCode, len(r.Body), r.Error))
		if got != want {
			t.Errorf("%s: %s, want %s (%s)", path, got, want, r.ErrorDetail)
		}
		if r.StatusCode == 304 && (r.ContentLength != 0 || r.Truncated != "") {
			t.Errorf("%s: %d bytes, truncated %q", path, r.ContentLength, r.Truncated)
		}
	}
	for uri, want := range map[string][]string{
		"/page":     {`"one"|`, "|", "|"}, // of the record, of the first run, and after /away
		"/page?new": {`"other"|`},
		"/away":     {`"one"|`},
		"/old":      {"|Fri, 02 Jan 2026 03:04:05 GMT"},
		"/forged":   {"|"},
	} {
		slices.Sort(conditions[uri])
		if !slices.Equal(conditions[uri], want) {
			t.Errorf("%s: conditions %q, want %q", uri, conditions[uri], want)
		}
	}
	raw := unpack(t, filepath.Join(dir, recs[server.URL+"/page"].WARCFilename))
	if n := strings.Count(raw, "server-not-modified"); n != 3 {
		t.Errorf("%d revisits for 304", n)
	}
	again, faults := replay(t, server.URL+"/page\n", dir)
	if r := again[server.URL+"/page"]; r.Body != first[server.URL+"/page"].Body || faults > 0 {
		t.Errorf("replayed: %d %s, %d bytes, %d faults", r.StatusCode, r.ErrorDetail, len(r.Body), faults)
	}
}

func TestRedirectLoop(t *testing.T) {
	s := newFaultySite(t)
	recs, _ := fetch(t, s.URL+"/loop\n"+s.URL+"/redirect/xxxxxxxxxxxx\n"+s.URL+"/goto?to=/loop\n", loopback)
	for path, want := range map[string]string{
		"/loop":                  fmt.Sprintf("a loop: %[1]s/loop → %[1]s/pool → %[1]s/loop", s.URL),
		"/goto?to=/loop":         fmt.Sprintf("a loop: %[1]s/loop → %[1]s/pool → %[1]s/loop", s.URL),
		"/redirect/xxxxxxxxxxxx": "more than 10 redirects, the last of them to " + s.URL + "/redirect/x",
	} {
		if r := recs[s.URL+path]; r.Error != "redirect_loop" || r.ErrorDetail != want {
			t.Errorf("%s: %s %q, want %q", path, r.Error, r.ErrorDetail, want)
		}
	}
	long := strings.Repeat("x", 5000)
	hops := []archive.Hop{{URL: "http://a.test/" + long}, {URL: "http://b.test/" + long}}
	if err := new(chain).check(hops, hops[0].URL, ""); len(err.Error()) > maxDetail || !strings.Contains(err.Error(), "http://b.test/") {
		t.Errorf("%d bytes: %.100q", len(err.Error()), err)
	}
}

func TestRates(t *testing.T) {
	var in strings.Builder
	for range 3 {
		s := newFaultySite(t)
		fmt.Fprintf(&in, "%[1]s/a\n%[1]s/b\n", s.URL)
	}
	for name, rate := range map[string]option{
		"all hosts": func(o *Options) { o.Rate = 50 },
		"each host": func(o *Options) { o.HostRate = 20 },
	} {
		start := time.Now()
		recs, _ := fetch(t, in.String(), loopback, rate)
		for u, r := range recs {
			if r.StatusCode != 200 {
				t.Errorf("%s: %s: %s %s", name, u, r.Error, r.ErrorDetail)
			}
		}
		// 9 requests, robots.txt included, at 50 per second; 3 to each host at 20 per second.
		least := 8 * time.Second / 50
		if name == "each host" {
			least = 2 * time.Second / 20
		}
		if took := time.Since(start); took < least {
			t.Errorf("%s: took %v, at least %v wanted", name, took, least)
		}
	}
}

// webOf is a resolver of some names; it resolves all others to loopback.
type webOf map[string]string

func (n webOf) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	if a, ok := n[name]; ok {
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func TestNamesOfPrivateAddressesAreRefused(t *testing.T) {
	s := newFaultySite(t)
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	for _, name := range []string{"rebound.example.com", "metadata.example.com", "inside.example.com", "mapped.example.com"} {
		recs, _ := fetch(t, "http://"+name+port+"/page\nmailto:nobody@example.org\n", contact, func(o *Options) {
			o.Resolver = webOf{"metadata.example.com": "169.254.169.254", "inside.example.com": "10.0.0.1", "mapped.example.com": "::ffff:127.0.0.1"}
		})
		if r := recs["http://"+name+port+"/page"]; r.Error != "blocked_address" {
			t.Errorf("%s: %s %s", name, r.Error, r.ErrorDetail)
		}
	}
	if n := len(s.requests()); n > 0 {
		t.Errorf("requested %d pages", n)
	}
}

func TestProxy(t *testing.T) {
	s := newFaultySite(t)
	var mu sync.Mutex
	var asked []string
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
		mu.Unlock()
		resp, err := http.Get(s.URL + r.URL.Path)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		io.Copy(w, resp.Body)
	})
	dir := t.TempDir()
	in := "http://www.example.com/page\nhttp://127.0.0.1:2/page\nhttp://10.0.0.1/page\n"
	recs, _ := fetch(t, in, contact, delay(time.Millisecond), warcTo(filepath.Join(dir, "w")),
		proxyAt(strings.Replace(proxy.URL, "http://", "http://me:secret@", 1)))
	r := recs["http://www.example.com/page"]
	if r.StatusCode != 200 || r.IP != "" || !strings.Contains(r.Body, "words and words") {
		t.Errorf("%d %s %s from %s", r.StatusCode, r.Error, r.ErrorDetail, r.IP)
	}
	for _, u := range []string{"http://127.0.0.1:2/page", "http://10.0.0.1/page"} {
		if r := recs[u]; r.Error != "blocked_address" {
			t.Errorf("%s: %s %s", u, r.Error, r.ErrorDetail)
		}
	}
	login := " Basic bWU6c2VjcmV0"
	if want := []string{"http://www.example.com/robots.txt" + login, "http://www.example.com/page" + login}; !slices.Equal(asked, want) {
		t.Errorf("requested %q", asked)
	}
	if raw := unpack(t, filepath.Join(dir, r.WARCFilename)); strings.Contains(raw, "Proxy-Authorization") || strings.Contains(raw, "secret") {
		t.Error("the archive has the password")
	}
	proxy.Close()
}

func TestTheURLOfAProxyMayBeInAFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "proxy.txt")
	testfile.Write(t, name, "http://me:secret@proxy.test:8080\n")
	u, err := ParseProxy(name)
	if err != nil || u.String() != "http://me:secret@proxy.test:8080" {
		t.Errorf("got %v, %v", u, err)
	}
	testfile.Write(t, name, "me:secret")
	if _, err := ParseProxy(name); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got error %v", err)
	}
}

func TestUnusableProxyEndsTheRun(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	locked := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	})
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	at := func(url string) string { return url[strings.LastIndex(url, "/")+1:] }
	for _, c := range []struct{ proxy, want string }{
		{gone.URL, "refused"},
		{"socks5h://" + at(gone.URL), "refused"},
		{"http://no-such-proxy.invalid:3128", "lookup no-such-proxy.invalid"},
		{locked.URL, "user name and password"},
		{"https://" + mute.Addr().String(), "the connection took longer than -connect-timeout (500ms)"},
	} {
		dir := t.TempDir()
		in := "http://a.example.com/1\nhttp://a.example.com/2\nhttps://b.example.com/\n"
		recs, o, err := fetchAll(t, in, contact, func(o *Options) { o.ConnectTimeout = 500 * time.Millisecond }, stateIn(dir), proxyAt(c.proxy))
		if err == nil || !strings.HasPrefix(err.Error(), "the proxy: ") ||
			!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "\nhint: is it running? -proxy URL") {
			t.Errorf("%s: %v", c.proxy, err)
		}
		if len(recs) != 3 || o.Errors[wire.ErrorBudget] != 3 {
			t.Errorf("%s: %d records, errors %v", c.proxy, len(recs), o.Errors)
		}
		for _, r := range recs {
			if r.Error != "budget" || !strings.HasPrefix(r.ErrorDetail, "the proxy: ") || r.NotBefore != "" {
				t.Errorf("%s: %s: %s %s %s", c.proxy, r.URL, r.Error, r.ErrorDetail, r.NotBefore)
			}
		}
		if state, err := os.ReadFile(filepath.Join(dir, "polite.ndjson")); err != nil || strings.Contains(string(state), "example.com") {
			t.Errorf("%s: %s, %v", c.proxy, state, err)
		}
	}
}

func TestHostBehindProxyIsNotBlamed(t *testing.T) {
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	})
	dir := t.TempDir()
	in := "https://a.example.com/1\nhttps://a.example.com/2\n"
	recs, _ := fetch(t, in, contact, delay(time.Millisecond), stateIn(dir), proxyAt(proxy.URL))
	for _, r := range recs {
		if r.Error != "connect" || !strings.Contains(r.ErrorDetail, "the proxy: it answers CONNECT") || r.NotBefore != "" {
			t.Errorf("%s: %s %s %s", r.URL, r.Error, r.ErrorDetail, r.NotBefore)
		}
	}
	if state, err := os.ReadFile(filepath.Join(dir, "polite.ndjson")); err != nil || strings.Contains(string(state), "failures") {
		t.Errorf("%s, %v", state, err)
	}
}

func TestArchivesAnswerBeforeTheWeb(t *testing.T) {
	s := newFaultySite(t)
	old, dir := t.TempDir(), t.TempDir()
	fetch(t, s.URL+"/page\n"+s.URL+"/redirect/x\n", loopback, warcTo(filepath.Join(old, "w")))
	// The other archive holds redirects, but not their targets.
	half := t.TempDir()
	w, err := archive.NewWriter(archive.WriterOptions{Prefix: filepath.Join(half, "h"), Host: "h"})
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"/moved": "/new", "/round": "/round2", "/round2": "/round"} {
		if _, err := w.Write(&archive.Exchange{URL: s.URL + from, Time: time.Now(), Head: []byte("HTTP/1.1 301 Moved\r\nLocation: " + to + "\r\n\r\n")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	before := len(s.requests())
	paths := []string{"/page", "/redirect/x", "/moved", "/new2", "/goto?to=/page", "/round", "/private/x"}
	in := strings.Builder{}
	for _, p := range paths {
		fmt.Fprintln(&in, s.URL+p)
	}
	in.WriteString(`{"query":"words","cost":1}` + "\nnot a url\n")
	recs, o := fetch(t, in.String(), loopback, warcTo(filepath.Join(dir, "n")), func(o *Options) { o.Archives = []string{old, half} })
	if len(recs) != len(paths)+2 {
		t.Errorf("%d records: %s", len(recs), o.log)
	}
	for path, want := range map[string]string{
		"/page": "200 0 old", "/redirect/x": "200 1 old", "/moved": "200 1 new", "/new2": "200 0 new", "/goto?to=/page": "200 1 old",
		"/round": "0 2  redirect_loop", "/private/x": "0 0  robots",
	} {
		r := recs[s.URL+path]
		from := ""
		if r.WARCFilename != "" {
			from = "new"
			if matches, _ := filepath.Glob(filepath.Join(old, r.WARCFilename)); len(matches) > 0 {
				from = "old"
			}
		}
		if got := strings.TrimSpace(fmt.Sprintf("%d %d %s %s", r.StatusCode, len(r.Redirects), from, r.Error)); got != want {
			t.Errorf("%s: %s, want %s (%s)", path, got, want, r.ErrorDetail)
		}
	}
	got := s.requests()[before:]
	slices.Sort(got)
	if want := []string{"/goto", "/new", "/new2"}; !slices.Equal(got, want) {
		t.Errorf("the web was requested for %v, want %v", got, want)
	}
	if r := recs["not a url"]; r == nil || r.Error != "bad_url" {
		t.Errorf("%+v", r)
	}
}

func TestDedupAndCompression(t *testing.T) {
	page := strings.Repeat("<p>some words</p>\n", 200)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.Path+page) })
	old, dir := t.TempDir(), t.TempDir()
	in := server.URL + "/a\n"
	fetch(t, in, loopback, warcTo(filepath.Join(old, "w")))
	recs, _ := fetch(t, in, loopback, warcTo(filepath.Join(dir, "v")), dedup(old))
	r := recs[server.URL+"/a"]
	if raw := unpack(t, filepath.Join(dir, r.WARCFilename)); !strings.Contains(raw, "WARC-Type: revisit") || !strings.Contains(raw, "WARC-Refers-To-Target-URI: "+server.URL+"/a") || !strings.Contains(raw, "WARC-Refers-To: <urn:uuid:") {
		t.Error("it was stored again, or does not identify its original")
	}
	again, _ := replay(t, in, dir, old)
	if a := again[server.URL+"/a"]; a.Body != "/a"+page {
		t.Errorf("replayed: %d %s %s", a.StatusCode, a.Error, a.ErrorDetail)
	}
	recs, _ = fetch(t, in, loopback, warcTo(filepath.Join(dir, "z")), func(o *Options) { o.WARC.Zstd, o.WARC.Digest = true, "sha256" })
	if r := recs[server.URL+"/a"]; !strings.HasSuffix(r.WARCFilename, ".warc.zst") || !strings.HasPrefix(r.Digest, "sha256:") {
		t.Errorf("%s %s", r.WARCFilename, r.Digest)
	}
	recs, _ = fetch(t, in, loopback, func(o *Options) {
		o.WARC = archive.WriterOptions{Level: archive.Stored, Prefix: filepath.Join(dir, "s")}
	})
	if r := recs[server.URL+"/a"]; r.WARCLength < int64(len(page)) {
		t.Errorf("%d bytes of text are stored in %d", len(page), r.WARCLength)
	}
}

// A record that is too long for a line becomes an error.
func TestRecordTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some memory")
	}
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/nul" {
			w.Write(make([]byte, 12<<20)) // six times as long in JSON
		}
	})
	recs, _ := fetch(t, server.URL+"/nul\n"+server.URL+"/\n", loopback, maxBody(20<<20))
	if r := recs[server.URL+"/nul"]; r.Error != "too_large" || r.Body != "" || r.StatusCode != 200 {
		t.Errorf("%d %s, %d bytes", r.StatusCode, r.Error, len(r.Body))
	}
	if r := recs[server.URL+"/"]; r.StatusCode != 200 || r.Error != "" {
		t.Errorf("the next record: %d %s", r.StatusCode, r.Error)
	}
}

func TestTimeoutErrorsNameTheFlag(t *testing.T) {
	s := newFaultySite(t)
	recs, _ := fetch(t, s.URL+"/stall\n", loopback, func(o *Options) { o.HeaderTimeout = 100 * time.Millisecond })
	if r := recs[s.URL+"/stall"]; r.Error != "timeout" || r.ErrorDetail != "the header took longer than -header-timeout (100ms)" {
		t.Errorf("%s %q", r.Error, r.ErrorDetail)
	}
	recs, _ = fetch(t, "http://a.localhost/\n", func(o *Options) { o.Resolver = stuck{} }, loopback, func(o *Options) { o.ConnectTimeout = 100 * time.Millisecond })
	if r := recs["http://a.localhost/"]; r.Error != "timeout" || r.ErrorDetail != "robots.txt: the connection took longer than -connect-timeout (100ms)" {
		t.Errorf("%s %q", r.Error, r.ErrorDetail)
	}
}

// stuck is a resolver that never answers.
type stuck struct{}

func (stuck) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestFieldNamesWithTrailingSpace(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a":
			raw(w, "HTTP/1.1 302 Found\r\nlocation : /b\r\nContent-Length: 0\r\n\r\n")
		case "/b":
			var z bytes.Buffer
			zip := gzip.NewWriter(&z)
			io.WriteString(zip, "words")
			zip.Close()
			raw(w, "HTTP/1.1 200 OK\r\nContent-Type  : text/html\r\nContent-Encoding : gzip\r\nX-Robots-Tag: noindex\r\nX-Robots-Tag : noarchive\r\n\r\n"+z.String())
		default:
			raw(w, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
		}
	})
	dir, in := t.TempDir(), server.URL+"/a\n"
	live, _ := fetch(t, in, loopback, warcTo(filepath.Join(dir, "w")))
	again, _ := replay(t, in, dir)
	for how, recs := range map[string]map[string]*wire.Record{"live": live, "replayed": again} {
		r := recs[server.URL+"/a"]
		if r.FinalURL != server.URL+"/b" || r.ContentType != "text/html" || r.Body != "words" {
			t.Errorf("%s: %s, %s, %q", how, r.FinalURL, r.ContentType, r.Body)
		}
		tags := slices.IndexFunc(r.Headers, func(v wire.Values) bool { return v.Name == "x-robots-tag" })
		if tags < 0 || !slices.Equal(r.Headers[tags].Values, []string{"noindex", "noarchive"}) {
			t.Errorf("%s: headers %v", how, r.Headers)
		}
	}
}
