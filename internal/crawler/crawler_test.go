package crawler

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spoor/internal/archive"
	"spoor/internal/polite"
	"spoor/internal/testfile"
	"spoor/internal/wire"
)

func TestOutcomesOfResponses(t *testing.T) {
	s := newFaultySite(t)
	page := "<p>näive</p>"
	type want struct {
		status        int
		error, detail string // detail is a substring
		final         string // path
		hops          int
		media, set    string
		truncated     string
		body          string // a substring
		length        int64  // -1: any
	}
	html := func(body string) want {
		return want{status: 200, media: "text/html", set: "utf-8", body: body, length: -1}
	}
	cases := map[string]want{
		"/page":       html(page),
		"/gzip":       html(page),
		"/deflate":    html(page),
		"/rawdeflate": html(page),
		"/br":         html(page),
		"/zstd":       html(page),
		"/notype":     {status: 200, media: "text/html", body: page, length: -1},
		"/chunked":    {status: 200, media: "text/html", body: "one two three", length: 13},
		"/latin1":     {status: 200, media: "text/html", set: "iso-8859-1", body: "<p>na\xefve</p>", length: 12},
		"/interim":    {status: 200, media: "text/html", body: "the", length: 3},
		"/badheader":  {status: 200, media: "text/html", body: "ok", length: 2},
		"/status/404": {status: 404, media: "text/html", body: "sorry", length: 5},
		"/status/500": {status: 500, media: "text/html", body: "sorry", length: 5},

		"/redirect/x":                            {status: 200, media: "text/html", set: "utf-8", final: "/page", hops: 1, body: page, length: -1},
		"/redirect/xxxxxxxxxx":                   {status: 200, media: "text/html", set: "utf-8", final: "/page", hops: 10, body: page, length: -1},
		"/redirect/xxxxxxxxxxx":                  {error: "redirect_loop", final: "/page", hops: 11},
		"/loop":                                  {error: "redirect_loop", hops: 2},
		"/goto?to=mailto:a@b":                    {error: "bad_url", hops: 1, detail: "mailto:a@b"},
		"/goto?to=/private/x":                    {error: "robots", final: "/private/x", hops: 1, detail: "robots.txt line 2: Disallow: /private/"},
		"/private/y":                             {error: "robots", detail: "line 2"},
		"/goto?to=http://169.254.169.254/latest": {error: "blocked_address", hops: 1, detail: "-contact", final: "http://169.254.169.254/latest"},

		"/image":        {status: 200, error: "unsupported_type", media: "image/png", detail: "image/png"},
		"/notype-image": {status: 200, error: "unsupported_type", media: "image/png", length: 8},

		"/big":       {status: 200, media: "text/html", truncated: "length", body: "0123456789", length: 5000},
		"/endless":   {status: 200, media: "text/html", truncated: "length", body: "xxx", length: 5000},
		"/bomb/gzip": {status: 200, media: "text/html", truncated: "length", length: 5000, body: "\x00"},
		"/bomb/br":   {status: 200, media: "text/html", truncated: "length", length: 5000, body: "\x00"},
		"/bomb/zstd": {status: 200, media: "text/html", truncated: "length", length: 5000, body: "\x00"},
		"/short":     {status: 200, media: "text/html", truncated: "disconnect", body: "the beginning", length: 13},
		"/long":      {status: 200, media: "text/html", body: "the", length: 3},
		"/nonsense":  {error: "http"},
		"/hangup":    {error: "http"},
		"/halfhead":  {error: "http"},
		"/headers":   {error: "http"},
	}
	var in strings.Builder
	for path := range cases {
		in.WriteString(s.URL + path + "\n")
	}
	in.WriteString("http://127.0.0.1:2/\nnot a url\nhttp://[::1/\n")
	dir := t.TempDir()
	recs, o := fetch(t, in.String(), loopback, maxBody(5000), warcTo(filepath.Join(dir, "w")))
	if len(recs) != len(cases)+3 {
		t.Errorf("%d records for %d addresses", len(recs), len(cases)+3)
	}
	for path, want := range cases {
		rec := recs[s.URL+path]
		if rec == nil {
			t.Errorf("%s: no record", path)
			continue
		}
		got := want
		got.status, got.error = rec.StatusCode, rec.Error
		got.hops, got.media, got.set, got.truncated = len(rec.Redirects), rec.ContentType, rec.Charset, rec.Truncated
		got.final = strings.TrimPrefix(rec.FinalURL, s.URL)
		if want.length >= 0 {
			got.length = rec.ContentLength
		}
		if !strings.Contains(rec.ErrorDetail, want.detail) {
			got.detail = rec.ErrorDetail
		}
		body, err := rec.Bytes()
		if err != nil {
			t.Error(err)
		}
		if !bytes.Contains(body, []byte(want.body)) || (want.body == "") != (len(body) == 0) || rec.Error == "" && int64(len(body)) != rec.ContentLength {
			got.body = string(body[:min(len(body), 100)])
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(want)); diff != "" {
			t.Errorf("%s (%s):\n%s", path, rec.ErrorDetail, diff)
		}
		if kept := rec.WARCFilename != ""; kept != (rec.StatusCode != 0 && path != "/image") {
			t.Errorf("%s: archived: %v", path, kept)
		}
		if rec.StatusCode != 0 && (rec.IP != "127.0.0.1" || !strings.HasPrefix(rec.Digest, "sha1:") && path != "/image") {
			t.Errorf("%s: from %q, digest %q", path, rec.IP, rec.Digest)
		}
	}
	if r := recs["http://127.0.0.1:2/"]; r == nil || r.Error != "connect" {
		t.Errorf("a closed port: %+v", r)
	}
	for _, bad := range []string{"not a url", "http://[::1/"} {
		if r := recs[bad]; r == nil || r.Error != "bad_url" {
			t.Errorf("%s: %+v", bad, r)
		}
	}
	if n := strings.Count(strings.Join(s.requests(), " "), "/private"); n != 0 {
		t.Errorf("requested what robots.txt disallows")
	}
	if want := int64(len(cases) + 3); o.In != want || o.Out != want {
		t.Errorf("read %d and wrote %d records", o.In, o.Out)
	}
	if v := recs[s.URL+"/interim"].Headers; !slices.IsSortedFunc(v, func(a, b wire.Values) int { return strings.Compare(a.Name, b.Name) }) || v[0].Name != "content-length" {
		t.Errorf("headers %v", v)
	}

	// The archive answers as the web did, and holds the bytes as received.
	var again strings.Builder
	for path, want := range cases {
		if want.status != 0 && want.error == "" {
			fmt.Fprintln(&again, s.URL+path)
		}
	}
	replayed, faults := replayUpTo(t, 5000, again.String(), dir)
	if faults > 0 {
		t.Errorf("the archive has %d faults", faults)
	}
	for url, r := range replayed {
		live := recs[url]
		live.FetchMS = 0
		if path := strings.TrimPrefix(url, s.URL); path == "/short" || strings.HasPrefix(path, "/bomb") || path == "/notype" {
			continue // they differ for a reason
		}
		a, _ := live.Bytes()
		b, _ := r.Bytes()
		if !bytes.Equal(a, b) || live.StatusCode != r.StatusCode || live.FinalURL != r.FinalURL || live.Digest != r.Digest ||
			live.FinalURL == "" && url != s.URL+"/page" && (live.Timestamp != r.Timestamp || live.WARCOffset != r.WARCOffset) || live.Truncated != r.Truncated || live.ContentType != r.ContentType {
			t.Errorf("%s: %s", url, cmp.Diff(live, r, cmpopts.IgnoreUnexported(wire.Record{})))
		}
	}
	raw := unpack(t, filepath.Join(dir, recs[s.URL+"/chunked"].WARCFilename))
	for _, part := range []string{
		"4\r\none \r\n4\r\ntwo \r\n5\r\nthree\r\n0\r\n\r\n",
		"\r\ncontent-TYPE: text/html\r\n", // as it was spelled
		"/robots.txt HTTP/1.1\r\nHost: ",
		"hopsFromSeed: RRRRRRRRRR\r\n",
		"WARC-Truncated: disconnect\r\n",
		"User-Agent: spoor/0\r\n",
	} {
		if !strings.Contains(raw, part) {
			t.Errorf("the archive lacks %q", part)
		}
	}
	if strings.Contains(raw, "Early Hints") || strings.Contains(raw, "too much") {
		t.Error("the archive holds bytes that are not part of a response")
	}
}

func TestTimeout(t *testing.T) {
	s := newFaultySite(t)
	dir := t.TempDir()
	recs, _ := fetch(t, s.URL+"/stall\n"+s.URL+"/slow\n", loopback, func(o *Options) { o.Timeout = time.Second }, warcTo(filepath.Join(dir, "w")))
	if r := recs[s.URL+"/stall"]; r.Error != "timeout" || !strings.Contains(r.ErrorDetail, "-timeout (1s)") {
		t.Errorf("without a response: %+v", r)
	}
	if again, _ := replay(t, s.URL+"/slow", dir); again[s.URL+"/slow"].Truncated != "time" {
		t.Errorf("replayed, it is truncated by %q", again[s.URL+"/slow"].Truncated)
	}
	r := recs[s.URL+"/slow"]
	if r.Error != "" || r.StatusCode != 200 || r.Truncated != "time" || r.Body != "the beginning" || r.FetchMS < 900 {
		t.Errorf("with half a response: %d %s, truncated %q, %q, %d ms", r.StatusCode, r.Error, r.Truncated, r.Body, r.FetchMS)
	}
	if raw := unpack(t, filepath.Join(dir, r.WARCFilename)); !strings.Contains(raw, "WARC-Truncated: time\r\n") {
		t.Error("the archive does not say that the response is truncated")
	}
}

func TestDecompressionBomb(t *testing.T) {
	s := newFaultySite(t)
	for _, coding := range []string{"br", "zstd"} { // gzip does not compress as well
		recs, _ := fetch(t, s.URL+"/bomb/"+coding, loopback, maxBody(100<<20))
		if r := recs[s.URL+"/bomb/"+coding]; r.Error != "too_large" || r.Body != "" || r.StatusCode != 200 {
			t.Errorf("%s: %d %s, %d bytes", coding, r.StatusCode, r.Error, len(r.Body))
		}
	}
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	s := newFaultySite(t)
	recs, o, err := fetchAll(t, s.URL+"/page\n"+strings.Replace(s.URL, "127.0.0.1", "localhost", 1)+"/page\n", delay(0))
	if err != nil || !o.NoneAllowed() || o.PrivateRefused != 2 {
		t.Errorf("%+v, %v", o.Stats, err)
	}
	for _, r := range recs {
		if r.Error != "blocked_address" {
			t.Errorf("%s: %+v", r.URL, r)
		}
	}
	if n := len(s.requests()); n != 0 {
		t.Errorf("%d pages were requested", n)
	}
}

func TestRetryAfter(t *testing.T) {
	s := newFaultySite(t)
	date := time.Now().Add(2 * time.Hour).UTC()
	a, b, c := s.URL+"/status/429?retry=3600", s.URL+"/status/503?retry="+strings.ReplaceAll(date.Format(http.TimeFormat), " ", "+"), s.URL+"/status/429"
	recs, _ := fetch(t, a+"\n"+b+"\n"+c+"\n", loopback)
	at := func(u string) time.Time {
		when, _ := time.Parse(time.RFC3339, recs[u].NotBefore)
		return when
	}
	if d := time.Until(at(a)); d < 59*time.Minute || d > 61*time.Minute {
		t.Errorf("seconds: %q", recs[a].NotBefore)
	}
	if d := at(b).Sub(date).Abs(); d > time.Second {
		t.Errorf("date: %q, want %v", recs[b].NotBefore, date)
	}
	if recs[c].NotBefore != "" {
		t.Errorf("without Retry-After: %q", recs[c].NotBefore)
	}
}

// The frontier leaves the host of final_url alone.
func TestNotBeforeIsThatOfTheRedirectTarget(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(w, r)
		case "/429":
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/none":
			raw(w, "")
		case "/half":
			raw(w, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\nhalf")
		}
	})
	away := redirecting(t, server.URL)
	for path, want := range map[string]time.Duration{"/429": time.Hour, "/none": polite.FirstBackoff, "/half": polite.FirstBackoff, "/robots.txt": 0} {
		for _, from := range []string{server.URL, away.URL} {
			recs, _ := fetch(t, from+path+"\n", allowPrivate, delay(time.Millisecond))
			r := recs[from+path]
			until, err := time.Parse(time.RFC3339, r.NotBefore)
			if want == 0 && r.NotBefore == "" {
				continue
			}
			if d := time.Until(until); err != nil || d < want*8/10 || d > want*12/10 {
				t.Errorf("%s%s: %d %s, not before %q", from, path, r.StatusCode, r.Error, r.NotBefore)
			}
		}
	}
}

func TestAddressesOfFailedHostAreReturned(t *testing.T) {
	s := newFaultySite(t)
	other := newFaultySite(t)
	in := s.URL + "/status/503\n" + s.URL + "/page\n" + other.URL + "/page\n" + other.URL + "/x\n"
	recs, o := fetch(t, in, allowPrivate, delay(time.Millisecond))
	r := recs[s.URL+"/status/503"]
	held, err := time.Parse(time.RFC3339, r.NotBefore)
	if d := time.Until(held); err != nil || d < 50*time.Second || d > 70*time.Second {
		t.Errorf("held until %q", r.NotBefore)
	}
	if b := recs[s.URL+"/page"]; b.Error != "budget" || b.NotBefore != r.NotBefore || !strings.HasSuffix(b.ErrorDetail, "not to be asked before "+b.NotBefore) {
		t.Errorf("the next address: %+v", b)
	}
	for _, u := range []string{other.URL + "/page", other.URL + "/x"} {
		if recs[u].StatusCode != 200 {
			t.Errorf("another host: %+v", recs[u])
		}
	}
	if got := s.requests(); !slices.Equal(got, []string{"/status/503"}) {
		t.Errorf("requested %v", got)
	}
	if o.Errors[wire.ErrorBudget] != 1 {
		t.Errorf("errors %v", o.Errors)
	}
}

func TestUnreachableRobotsTxtPostponesAddresses(t *testing.T) {
	for status, retry := range map[int]time.Duration{500: 0, 502: 0, 429: 0, 503: 3 * time.Hour} {
		server := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" {
				t.Errorf("requested %s", r.URL)
			}
			if retry > 0 {
				w.Header().Set("Retry-After", fmt.Sprint(retry.Seconds()))
			}
			w.WriteHeader(status)
		})
		away := redirecting(t, server.URL)
		recs, _ := fetch(t, server.URL+"/page\n"+server.URL+"/other\n"+away.URL+"/page\n", allowPrivate, delay(time.Millisecond))
		for _, path := range []string{"/page", "/other"} {
			r := recs[server.URL+path]
			until, err := time.Parse(time.RFC3339, r.NotBefore)
			want := max(retry, polite.RobotsRetry)
			if r.Error != "budget" || r.Final() || err != nil || !strings.Contains(r.ErrorDetail, fmt.Sprint("robots.txt answered ", status)) {
				t.Errorf("%d: %s: %s %q", status, path, r.Error, r.ErrorDetail)
			}
			if d := time.Until(until); d < want-time.Minute || d > want+time.Minute {
				t.Errorf("%d: %s: not before %v, want %v", status, path, d, want)
			}
		}
		// After a redirect the outcome is the same, with the not_before of the other host.
		if r := recs[away.URL+"/page"]; r.Error != "budget" || r.Final() || r.FinalURL != server.URL+"/page" || r.NotBefore != recs[server.URL+"/page"].NotBefore || !strings.Contains(r.ErrorDetail, "robots.txt answered") {
			t.Errorf("%d: after a redirect: %s %q, not before %q", status, r.Error, r.ErrorDetail, r.NotBefore)
		}
	}
}

func TestRedirectToHeldHostIsReturnedLikeItsAddress(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	held := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		mu.Lock()
		asked++
		mu.Unlock()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	away := redirecting(t, held.URL)
	state := t.TempDir()
	fetch(t, held.URL+"/first\n", allowPrivate, delay(time.Millisecond), stateIn(state))
	recs, _ := fetch(t, held.URL+"/page\n"+away.URL+"/page\n", allowPrivate, delay(time.Millisecond), stateIn(state))
	direct, redirected := recs[held.URL+"/page"], recs[away.URL+"/page"]
	if direct.Error != "budget" || direct.NotBefore == "" || asked != 1 {
		t.Fatalf("the address itself: %s, not before %q, after %d requests", direct.Error, direct.NotBefore, asked)
	}
	if redirected.Error != direct.Error || redirected.NotBefore != direct.NotBefore || redirected.ErrorDetail != direct.ErrorDetail || redirected.FinalURL != held.URL+"/page" || redirected.Final() {
		t.Errorf("redirected: %s %q, not before %q, final_url %q", redirected.Error, redirected.ErrorDetail, redirected.NotBefore, redirected.FinalURL)
	}
}

func TestNetworkErrorOfRobotsTxt(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw(w, "")
	})
	recs, _ := fetch(t, server.URL+"/page\n"+server.URL+"/other\n", allowPrivate, delay(time.Millisecond))
	count := map[string]int{}
	for _, r := range recs {
		count[r.Error]++
		if r.Final() || r.NotBefore == "" || !strings.Contains(r.ErrorDetail, "robots.txt") && r.Error != "budget" {
			t.Errorf("%s: %s %q", r.URL, r.Error, r.ErrorDetail)
		}
	}
	if count["http"] != 1 || count["budget"] != 1 {
		t.Errorf("errors %v", count)
	}
}

func TestConcurrency(t *testing.T) {
	most, now := 0, 0
	var mu = make(chan struct{}, 1)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu <- struct{}{}
		now++
		most = max(most, now)
		<-mu
		io.WriteString(w, "<p>")
		mu <- struct{}{}
		now--
		<-mu
	})
	var in strings.Builder
	for i := range 50 {
		fmt.Fprintf(&in, "%s/%d\n", server.URL, i)
	}
	fetch(t, in.String(), loopback, workers(3))
	if most > 3 {
		t.Errorf("%d concurrent requests", most)
	}
	most = 0
	fetch(t, in.String(), allowPrivate, delay(1), workers(3))
	if most != 1 {
		t.Errorf("%d concurrent requests to one host", most)
	}
}

func TestDeadline(t *testing.T) {
	s := newFaultySite(t)
	recs, _ := fetch(t, s.URL+"/page\n"+s.URL+"/stall\n"+s.URL+"/slow\n", loopback, func(o *Options) { o.Deadline = 300 * time.Millisecond })
	for path, want := range map[string]string{"/page": "", "/stall": "budget", "/slow": "budget"} {
		if r := recs[s.URL+path]; r.Error != want || (r.StatusCode == 200) != (want == "") {
			t.Errorf("%s: %d %s %s", path, r.StatusCode, r.Error, r.ErrorDetail)
		}
	}
}

func TestUnknownFieldsAreKeptAndOldOutcomesDropped(t *testing.T) {
	s := newFaultySite(t)
	in := `{"url":"` + s.URL + `/page","mine":[1,2],"depth":3,"title":"old","score":0.5,"error":"dns","body":"old"}` + "\n" +
		`{"query":"words","cost":1}` + "\n" + "{oops\n"
	var out bytes.Buffer
	o, err := crawl(t.Context(), strings.NewReader(in), &out, loopback)
	if err != nil {
		t.Fatal(err)
	}
	got := out.String()
	if !strings.Contains(got, `"mine":[1,2]`) || !strings.Contains(got, `"depth":3`) || !strings.Contains(got, `{"query":"words","cost":1}`) {
		t.Errorf("a field is missing: %s", got)
	}
	if strings.Contains(got, "old") || strings.Contains(got, `"score"`) || strings.Contains(got, `"error"`) {
		t.Errorf("an old field is kept: %s", got)
	}
	if !strings.Contains(o.log, "line=3") {
		t.Errorf("log: %s", o.log)
	}
	if _, err := crawl(t.Context(), strings.NewReader(in), io.Discard, loopback, strict); err == nil {
		t.Error("strict: no error")
	}
}

func TestIdenticalPayloadsAreStoredOnce(t *testing.T) {
	body := strings.Repeat("<p>the same</p>", 200)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, body) })
	dir := t.TempDir()
	in := server.URL + "/a\n" + server.URL + "/b\n"
	live, _ := fetch(t, in, loopback, workers(2), warcTo(filepath.Join(dir, "w")))
	raw := unpack(t, filepath.Join(dir, live[server.URL+"/a"].WARCFilename))
	if n := strings.Count(raw, "WARC-Type: revisit"); n < 1 {
		t.Errorf("%d revisits", n)
	}
	again, _ := replay(t, in, dir)
	for u, r := range again {
		if r.Body != body || r.Digest != live[u].Digest {
			t.Errorf("%s: %d bytes", u, len(r.Body))
		}
	}
}

func TestResponsesAreInArchiveOrder(t *testing.T) {
	web := testfile.SharedLink(t, "webs/modern.warc.gz")
	recs, faults := allOf(t, web)
	if faults > 0 || len(recs) != 311 {
		t.Fatalf("%d records, %d faults", len(recs), faults)
	}
	last := int64(-1)
	var in strings.Builder
	for _, r := range recs {
		if r.WARCOffset <= last || r.StatusCode != 200 || r.Error != "" {
			t.Errorf("%s at offset %d after %d", r.URL, r.WARCOffset, last)
		}
		last = r.WARCOffset
	}
	recs = recs[:60]
	for _, r := range recs {
		fmt.Fprintln(&in, r.URL)
	}
	again, _ := replay(t, in.String(), web)
	for _, want := range recs {
		if r := again[want.URL]; r.Body != want.Body || r.Digest != want.Digest || r.FetchMS != 0 {
			t.Errorf("%s is different when it is looked up: %s %s", want.URL, r.Error, r.Digest)
		}
	}
}

func TestDamagedArchive(t *testing.T) {
	web := testfile.SharedLink(t, "webs/modern.warc.gz")
	whole := testfile.Read(t, web)
	recs, _ := allOf(t, web)
	// Damage one member in the middle, and truncate the file.
	hurt := bytes.Clone(whole[:recs[60].WARCOffset+100])
	for i := range int64(40) {
		hurt[recs[30].WARCOffset+recs[30].WARCLength/2+i] ^= 0x55
	}
	recs = recs[:61]
	name := filepath.Join(t.TempDir(), "hurt.warc.gz")
	testfile.Write(t, name, hurt)
	left, faults := allOf(t, name)
	if len(left) < 59 || len(left) > 61 || faults == 0 {
		t.Errorf("%d records of %d, %d faults", len(left), len(recs), faults)
	}
	var in strings.Builder
	for _, r := range recs {
		fmt.Fprintln(&in, r.URL)
	}
	again, _ := replay(t, in.String(), name)
	missing := 0
	for _, r := range again {
		if r.Error == "not_archived" {
			missing++
		} else if r.Error != "" {
			t.Errorf("%s: %s %s", r.URL, r.Error, r.ErrorDetail)
		}
	}
	if len(again) != len(recs) || missing > 3 {
		t.Errorf("%d records, %d not archived", len(again), missing)
	}
}

func TestTruncatedWARCFileIsReported(t *testing.T) {
	s := newFaultySite(t)
	dir := t.TempDir()
	session := func(page int) (log string) {
		_, o := fetch(t, fmt.Sprintf("%s/page/%d\n", s.URL, page), loopback, warcTo(filepath.Join(dir, "w")))
		return o.log
	}
	session(1)
	files, err := archive.Files([]string{dir})
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	testfile.Check(t, os.Truncate(files[0], info.Size()-5))
	log := session(2)
	for _, words := range []string{"has lost its end", filepath.Base(files[0]), "warc repair -w"} {
		if !strings.Contains(log, words) {
			t.Errorf("the log lacks %q:\n%s", words, log)
		}
	}
	if log := session(3); strings.Contains(log, "lost its end") {
		t.Errorf("it is reported again:\n%s", log)
	}
}

func TestCaptureWithoutDate(t *testing.T) {
	const block = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello"
	record := fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: once\r\nWARC-Target-URI: http://a.test/\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
	name := filepath.Join(t.TempDir(), "x.warc")
	testfile.Write(t, name, record)
	found, _ := replay(t, "http://a.test/\n", name)
	all, _ := allOf(t, name)
	for _, r := range append(all, found["http://a.test/"]) {
		if r.Body != "hello" || r.Timestamp != "" {
			t.Errorf("%+v", r)
		}
	}
	if len(all) != 1 {
		t.Errorf("%d records", len(all))
	}
}
