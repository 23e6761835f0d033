package crawler

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/archive"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// A publisher serves sitemaps by address, and records requests.
type publisher struct {
	named    map[string][]string // sitemap lines by origin
	answer   map[string]func(*wire.Record)
	asked    []string
	released int // records that were released
}

// fetch is the fetch of sitemaps.
func (p *publisher) fetch(_ context.Context, rec *wire.Record, keep func([]byte)) (func(), error) {
	p.asked = append(p.asked, rec.URL)
	if rec.StatusCode = 404; p.answer[rec.URL] != nil {
		rec.StatusCode = 200
		p.answer[rec.URL](rec)
	}
	if rec.Error == "broken" {
		return func() {}, errors.New("the disk is full")
	}
	if body, err := rec.Bytes(); err == nil && rec.Error == "" {
		keep(body)
	}
	rec.Drop(wire.Body)
	return func() { p.released++ }, nil
}

func (p *publisher) robots(_ context.Context, u weburl.URL) ([]string, error) {
	named, known := p.named[u.Scheme()+"://"+u.Host()]
	if !known {
		return nil, errors.New("robots.txt gave no answer")
	}
	return named, nil
}

func (p *publisher) sitemaps() *sitemaps {
	s := newSitemaps()
	s.fetch, s.listed = p.fetch, p.robots
	s.setError = func(_ context.Context, rec *wire.Record, _ weburl.URL, err error) { fail(rec, wire.ErrorConnect, err) }
	return s
}

func says(body string) func(*wire.Record) {
	return func(rec *wire.Record) { rec.SetBody([]byte(body)) }
}

// urls returns a sitemap of addresses.
func urls(locs ...string) func(*wire.Record) {
	return says("<urlset><url><loc>" + strings.Join(locs, "</loc></url><url><loc>") + "</loc></url></urlset>")
}

// index returns an index of sitemaps.
func index(locs ...string) func(*wire.Record) {
	return says("<sitemapindex><sitemap><loc>" + strings.Join(locs, "</loc></sitemap><sitemap><loc>") + "</loc></sitemap></sitemapindex>")
}

// follow fetches the sitemaps of the origins of pages.
func follow(t *testing.T, p *publisher, pages ...string) []*wire.Record {
	t.Helper()
	s := p.sitemaps()
	var recs []*wire.Record
	for _, url := range pages {
		page := &wire.Record{URL: url, Generation: 7, Depth: 2, StatusCode: 200}
		if err := s.fetchOf(t.Context(), page, time.Unix(0, 0), func(rec *wire.Record, leave func()) {
			recs = append(recs, rec)
			leave()
		}); err != nil {
			t.Fatal(err)
		}
	}
	if p.released != len(p.asked) {
		t.Errorf("%d of %d slots were released", p.released, len(p.asked))
	}
	return recs
}

// links returns the addresses of the links of a record.
func links(rec *wire.Record) (all []string) {
	for _, l := range rec.Links {
		all = append(all, l.URL)
	}
	return all
}

func TestSitemapRecord(t *testing.T) {
	p := &publisher{
		named: map[string][]string{"http://a.example": {"http://a.example/map.xml"}},
		answer: map[string]func(*wire.Record){"http://a.example/map.xml": says(`<urlset>
			<url><loc>http://a.example/1</loc><lastmod>2024-01-02</lastmod><priority>0.9</priority></url>
			<url><loc>2</loc></url><url><loc>http://a.example/1</loc></url><url><loc>/map.xml</loc></url>
			<url><loc>http://www.a.example/3</loc></url><url><loc>http://b.example/4</loc></url><url><loc>mailto:a@a.example</loc></url>
			</urlset>`)},
	}
	recs := follow(t, p, "http://a.example/page")
	if len(recs) != 1 {
		t.Fatal(recs)
	}
	var out bytes.Buffer
	w := wire.NewWriter(&out)
	if err := errors.Join(w.Write(recs[0]), w.Flush()); err != nil {
		t.Fatal(err)
	}
	const want = `{"v":1,"url":"http://a.example/map.xml","generation":7,"depth":2,"via":"http://a.example/robots.txt","operator":"sitemap",` +
		`"status_code":200,"content_length":0,"fetch_ms":0,"error_detail":"2 addresses that are not of a.example left out",` +
		`"out_degree":3,"links":[` +
		`{"url":"http://a.example/1","tag":"sitemap","lastmod":"2024-01-02","priority":0.9},` +
		`{"url":"http://a.example/2","tag":"sitemap"},` +
		`{"url":"http://www.a.example/3","tag":"sitemap"}]}` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestSitemapsAreFetchedOncePerOrigin(t *testing.T) {
	p := &publisher{
		named: map[string][]string{
			"http://a.example":      nil,
			"https://a.example":     {"http://a.example/sitemap.xml", "https://b.example/map", "https://b.example/map", "ftp://c.example/", "rel"},
			"http://a.example:8080": nil,
		},
		answer: map[string]func(*wire.Record){
			"http://a.example/sitemap.xml": urls("/1"),
			"https://b.example/map":        urls("https://a.example/2", "https://b.example/3"),
		},
	}
	recs := follow(t, p, "http://a.example/1", "http://a.example/2", "http://unknown.example/", "https://a.example/", "no address", "http://a.example:8080/x")
	want := []string{
		"http://a.example/sitemap.xml", // not listed
		"http://a.example/sitemap.xml", "https://b.example/map", "https://a.example/rel",
		"http://a.example:8080/sitemap.xml",
	}
	if !slices.Equal(p.asked, want) {
		t.Errorf("requested %q, want %q", p.asked, want)
	}
	if got := recs[0].Via; got != "http://a.example/1" {
		t.Errorf("the via of an unlisted sitemap is the page, not %s", got)
	}
	// If robots.txt is not available, nothing is fetched, and one record says so.
	if rec := recs[1]; rec.URL != "http://unknown.example/sitemap.xml" || rec.Error != wire.ErrorConnect || rec.ErrorDetail != "robots.txt gave no answer" || rec.Via != "http://unknown.example/" || rec.Generation != 7 {
		t.Errorf("without robots.txt: %v", rec)
	}
	// A sitemap on another host may list addresses of the origin that lists it, and no others.
	if got := links(recs[3]); !slices.Equal(got, []string{"https://a.example/2"}) {
		t.Errorf("links %q", got)
	}
	if recs[4].StatusCode != 404 || recs[4].Links != nil {
		t.Errorf("404 is an outcome too: %v", recs[4])
	}
}

func TestSitemapIndexDepth(t *testing.T) {
	p := &publisher{
		named: map[string][]string{"http://a.example": {"/0"}},
		answer: map[string]func(*wire.Record){
			"http://a.example/0": index("/1", "/0", "//b.example/x", "http://[/"),
			"http://a.example/1": index("/2"),
			"http://a.example/2": index("/3"),
			"http://a.example/3": index("/4"),
			"http://b.example/x": func(rec *wire.Record) { urls("http://a.example/p", "q")(rec); rec.FinalURL = "http://a.example/y/z" },
			"http://a.example/4": urls("/never"),
		},
	}
	recs := follow(t, p, "http://a.example/")
	want := []string{"http://a.example/0", "http://a.example/1", "http://b.example/x", "http://a.example/2", "http://a.example/3"}
	if !slices.Equal(p.asked, want) {
		t.Errorf("requested %q, want %q", p.asked, want)
	}
	if recs[2].Via != "http://a.example/0" {
		t.Errorf("via %s", recs[2].Via)
	}
	if got := links(recs[2]); !slices.Equal(got, []string{"http://a.example/p", "http://a.example/y/q"}) {
		t.Errorf("links %q", got)
	}
	if recs[0].ErrorDetail != "2 sitemaps that are known or beyond the bounds left out" || len(recs[0].Links) != 0 {
		t.Errorf("an index: %q, %q", recs[0].ErrorDetail, links(recs[0]))
	}
	if recs[4].ErrorDetail != "1 sitemaps that are known or beyond the bounds left out" {
		t.Errorf("too deep: %q", recs[4].ErrorDetail)
	}
}

func TestSitemapBounds(t *testing.T) {
	p := &publisher{named: map[string][]string{"http://a.example": {"/0"}}, answer: map[string]func(*wire.Record){}}
	var files []string
	for i := range 60 {
		files = append(files, fmt.Sprintf("/s%d", i))
		var locs []string
		for j := range 1100 {
			locs = append(locs, fmt.Sprintf("/p/%d/%d", i, j))
		}
		p.answer[fmt.Sprintf("http://a.example/s%d", i)] = urls(locs...)
	}
	p.answer["http://a.example/0"] = index(files...)
	recs := follow(t, p, "http://a.example/")
	n := 0
	for _, rec := range recs {
		n += len(rec.Links)
	}
	if len(recs) != maxSitemaps || n != maxSitemapEntries {
		t.Errorf("%d files with %d addresses", len(recs), n)
	}
	if got, want := recs[0].ErrorDetail, "11 sitemaps that are known or beyond the bounds left out"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := recs[49].ErrorDetail, "1100 addresses beyond the bounds left out"; got != want {
		t.Errorf("%q, want %q", got, want)
	}

	// The addresses of the files are bounded.
	files = nil
	for i := range 20 {
		files = append(files, fmt.Sprintf("/s%d/%s", i, strings.Repeat("x", 1000)))
	}
	p = &publisher{named: map[string][]string{"http://a.example": files}, answer: map[string]func(*wire.Record){}}
	if n := len(follow(t, p, "http://a.example/")); n != 16 {
		t.Errorf("%d files with long addresses were fetched, want 16", n)
	}

	// The addresses in one file are bounded.
	long := make([]string, 2100)
	for i := range long {
		long[i] = fmt.Sprintf("/%d/%s", i, strings.Repeat("x", 8<<10-100))
	}
	p = &publisher{named: map[string][]string{"http://a.example": nil}, answer: map[string]func(*wire.Record){"http://a.example/sitemap.xml": urls(long...)}}
	rec := follow(t, p, "http://a.example/")[0]
	if n := len(rec.Links); n < 2000 || n >= 2100 || !strings.HasSuffix(rec.ErrorDetail, " addresses beyond the bounds left out") {
		t.Errorf("%d long addresses, %q", n, rec.ErrorDetail)
	}
}

// Addresses are not kept from one file of an origin to the next: thousands of origins may
// wait for their next file at the same time.
func TestDuplicateAddressesInSitemaps(t *testing.T) {
	p := &publisher{named: map[string][]string{"http://a.example": {"/1", "/2"}}, answer: map[string]func(*wire.Record){
		"http://a.example/1": urls("/x", "/x", "/y"),
		"http://a.example/2": urls("/y", "/x", "/y"),
	}}
	var got []string
	for _, rec := range follow(t, p, "http://a.example/") {
		got = append(got, links(rec)...)
	}
	want := []string{"http://a.example/x", "http://a.example/y", "http://a.example/y", "http://a.example/x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDamagedSitemaps(t *testing.T) {
	packed := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(s))
		_ = z.Close()
		return b.String()
	}
	const list = "http://a.example/1\nhttp://a.example/2\nhttp://a.example/3"
	for _, c := range []struct {
		name   string
		answer func(*wire.Record)
		links  int
		detail string
	}{
		{"in gzip", says(packed(list)), 3, ""},
		{"in torn gzip", says(packed(list)[:40]), 2, "the sitemap breaks off: unexpected EOF"},
		{"cut at -max-body", func(rec *wire.Record) { says(list)(rec); rec.Truncated = "length" }, 2, "the sitemap breaks off: truncated: length"},
		{"a page", says("<!doctype html><html><body>Not found"), 0, "no sitemap: the file is html"},
		{"nothing", says(""), 0, "no sitemap"},
		{"with another detail", func(rec *wire.Record) { says("nothing")(rec); rec.ErrorDetail = "1 of 2 headers left out" }, 0, "1 of 2 headers left out; no sitemap"},
		{"a refusal", func(rec *wire.Record) { says(list)(rec); rec.StatusCode = 403 }, 0, ""},
		{"an error", func(rec *wire.Record) { says(list)(rec); rec.Error, rec.ErrorDetail = wire.ErrorTimeout, "slow" }, 0, "slow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &publisher{named: map[string][]string{"http://a.example": nil}, answer: map[string]func(*wire.Record){"http://a.example/sitemap.xml": c.answer}}
			recs := follow(t, p, "http://a.example/")
			if len(recs) != 1 || len(recs[0].Links) != c.links || recs[0].ErrorDetail != c.detail {
				t.Fatalf("%d links, %q", len(recs[0].Links), recs[0].ErrorDetail)
			}
			if recs[0].Body != "" || recs[0].BodyBase64 != "" {
				t.Error("it has a body")
			}
		})
	}
}

func TestUnfetchedSitemapsAreRetried(t *testing.T) {
	now := time.Unix(1.7e9, 0)
	held := func(rec *wire.Record) {
		rec.StatusCode, rec.Error, rec.NotBefore = 0, wire.ErrorBudget, notBefore(now.Add(time.Hour))
	}
	p := &publisher{
		named:  map[string][]string{"http://a.example": {"/1", "/2"}},
		answer: map[string]func(*wire.Record){"http://a.example/1": held, "http://a.example/2": held},
	}
	s := p.sitemaps()
	page := &wire.Record{URL: "http://a.example/", StatusCode: 200}
	after := func(ctx context.Context, now time.Time, want ...string) {
		t.Helper()
		var got []string
		err := s.fetchOf(ctx, page, now, func(rec *wire.Record, leave func()) {
			got = append(got, fmt.Sprintf("%s %d %s %s", rec.URL, rec.StatusCode, rec.Error, rec.ErrorDetail))
			leave()
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if p.released != len(p.asked) {
			t.Errorf("%d of %d slots were released", p.released, len(p.asked))
		}
	}
	after(t.Context(), now, "http://a.example/1 0 budget ", "http://a.example/2 0 budget ")
	after(t.Context(), now.Add(time.Hour-1)) // not for each page of the origin

	ended, end := context.WithCancelCause(t.Context())
	end(errDeadline)
	now = now.Add(time.Hour)
	after(ended, now, "http://a.example/1 0 budget the time of -deadline was up", "http://a.example/2 0 budget the time of -deadline was up")
	if len(p.asked) != 2 {
		t.Errorf("fetched %q after the deadline", p.asked[2:])
	}
	p.answer["http://a.example/2"] = urls("/x")
	after(t.Context(), now, "http://a.example/1 0 budget ", "http://a.example/2 200  ")
	after(t.Context(), now.Add(sitemapTTL-1)) // the rest of an origin that responded is fetched on the next day
	p.answer["http://a.example/1"] = urls("/y")
	after(t.Context(), now.Add(sitemapTTL), "http://a.example/1 200  ", "http://a.example/2 200  ")

	// So it is if robots.txt is not available, unless the error is final.
	delete(p.named, "http://a.example")
	now = now.Add(2 * sitemapTTL)
	after(t.Context(), now, "http://a.example/sitemap.xml 0 connect robots.txt gave no answer")
	after(t.Context(), now, "http://a.example/sitemap.xml 0 connect robots.txt gave no answer")
	s.setError = func(_ context.Context, rec *wire.Record, _ weburl.URL, err error) {
		fail(rec, wire.ErrorBlockedAddress, err)
	}
	after(t.Context(), now, "http://a.example/sitemap.xml 0 blocked_address robots.txt gave no answer")
	after(t.Context(), now.Add(time.Hour))
}

// After an error that ends the run, every sitemap has a record.
func TestArchiveErrorEndsSitemaps(t *testing.T) {
	p := &publisher{
		named:  map[string][]string{"http://a.example": {"/1", "/2", "/3"}},
		answer: map[string]func(*wire.Record){"http://a.example/2": func(rec *wire.Record) { rec.Error = "broken" }},
	}
	var got []string
	err := p.sitemaps().fetchOf(t.Context(), &wire.Record{URL: "http://a.example/", StatusCode: 200}, time.Unix(0, 0), func(rec *wire.Record, leave func()) {
		got = append(got, fmt.Sprintf("%s %d %s %s", rec.URL, rec.StatusCode, rec.Error, rec.ErrorDetail))
		leave()
	})
	if err == nil || err.Error() != "the disk is full" {
		t.Errorf("the error of the archive is lost: %v", err)
	}
	want := []string{"http://a.example/1 404  ", "http://a.example/2 0 budget the disk is full", "http://a.example/3 0 budget the disk is full"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(p.asked) != 2 {
		t.Errorf("requested %q", p.asked)
	}
}

// The frontier sends sitemaps that were returned as addresses.
func TestReturnedSitemap(t *testing.T) {
	p := &publisher{answer: map[string]func(*wire.Record){
		"http://cdn.example/index": index("/1", "http://cdn.example/index"),
		"http://cdn.example/1":     urls("http://a.example/x", "http://cdn.example/y"),
	}}
	s := p.sitemaps()
	for via, want := range map[string][]string{
		"http://a.example/robots.txt": {"http://a.example/x"},
		"":                            {"http://cdn.example/y"},
	} {
		rec := &wire.Record{URL: "http://cdn.example/index", Via: via, Operator: sitemapOperator, Generation: 5, Depth: 3, Retries: 1}
		var recs []*wire.Record
		if err := s.fetchReturned(t.Context(), rec, func(rec *wire.Record, leave func()) { recs = append(recs, rec); leave() }); err != nil {
			t.Fatal(err)
		}
		if len(recs) != 2 || recs[0] != rec || rec.Via != via || rec.StatusCode != 200 || rec.ErrorDetail != "1 sitemaps that are known or beyond the bounds left out" {
			t.Fatalf("%v", recs)
		}
		if r := recs[1]; r.Via != rec.URL || r.Generation != 5 || r.Depth != 3 || !slices.Equal(links(r), want) {
			t.Errorf("listed by %q: %v", via, r)
		}
	}
	if p.released != len(p.asked) {
		t.Errorf("%d of %d slots were released", p.released, len(p.asked))
	}
	rec := &wire.Record{URL: "no address", Operator: sitemapOperator}
	if err := s.fetchReturned(t.Context(), rec, func(rec *wire.Record, leave func()) { leave() }); err != nil || rec.Error != wire.ErrorBadURL {
		t.Errorf("%q, %v", rec.Error, err)
	}
}

func TestReturnedSitemapIndex(t *testing.T) {
	for _, c := range []struct {
		url, via string
		files    int
	}{
		{"http://cdn.example/index", "http://a.example/robots.txt", 1},
		{"http://a.example/sitemap.xml", "http://a.example/page", 1},
		{"http://a.example/index", "http://a.example/sitemap.xml", 0},
		{"http://b.example/sitemap.xml", "http://a.example/sitemap.xml", 0}, // which could go on forever
	} {
		p := &publisher{answer: map[string]func(*wire.Record){c.url: index("/next"), "http://a.example/next": urls(), "http://b.example/next": urls(), "http://cdn.example/next": urls()}}
		rec := &wire.Record{URL: c.url, Via: c.via, Operator: sitemapOperator}
		files := -1
		if err := p.sitemaps().fetchReturned(t.Context(), rec, func(rec *wire.Record, leave func()) { files++; leave() }); err != nil {
			t.Fatal(err)
		}
		if files != c.files || strings.Contains(rec.ErrorDetail, "1 sitemaps") != (c.files == 0) {
			t.Errorf("%s, listed by %s: %d files, want %d; %s", c.url, c.via, files, c.files, rec.ErrorDetail)
		}
	}
}

func TestSitemapsOnlyAfterAResponse(t *testing.T) {
	for _, c := range []struct {
		page wire.Record
		want bool
	}{
		{wire.Record{StatusCode: 200}, true},
		{wire.Record{StatusCode: 404}, true},
		{wire.Record{Error: wire.ErrorRobots}, true},
		{wire.Record{StatusCode: 200, Error: wire.ErrorUnsupportedType}, true},
		{wire.Record{StatusCode: 429, Error: wire.ErrorBudget}, false},
		{wire.Record{Error: wire.ErrorBudget}, false},
		{wire.Record{Error: wire.ErrorDNS}, false},
		{wire.Record{Error: wire.ErrorConnect}, false},
		{wire.Record{Error: wire.ErrorBlockedAddress}, false},
	} {
		p := &publisher{named: map[string][]string{"http://a.example": nil}}
		s := p.sitemaps()
		c.page.URL = "http://a.example/"
		if err := s.fetchOf(t.Context(), &c.page, time.Unix(0, 0), func(_ *wire.Record, leave func()) { leave() }); err != nil {
			t.Fatal(err)
		}
		if asked := len(p.asked) > 0; asked != c.want {
			t.Errorf("after status %d, error %q: asked %v", c.page.StatusCode, c.page.Error, asked)
		}
	}
}

func TestSitemapState(t *testing.T) {
	now := time.Unix(1.7e9, 0).UTC()
	s := newSitemaps()
	s.claim("http://old.example", now.Add(-sitemapTTL))
	s.claim("http://new.example", now.Add(-time.Hour))
	s.claim("http://future.example", now.Add(time.Hour))
	var state strings.Builder
	if err := s.save(&state, now); err != nil {
		t.Fatal(err)
	}
	s = newSitemaps()
	if err := s.load(strings.NewReader(state.String()), now); err != nil {
		t.Fatal(err)
	}
	for origin, ask := range map[string]bool{"http://old.example": true, "http://new.example": false, "http://future.example": true} {
		if s.claim(origin, now) != ask {
			t.Errorf("%s: asked %v", origin, !ask)
		}
	}
	for _, damaged := range []string{"", "{", "{}", `{"spoor-sitemaps":2}`, `{"spoor-sitemaps":1,"asked":{"a":1}}`} {
		if err := newSitemaps().load(strings.NewReader(damaged), now); err == nil {
			t.Errorf("%q was accepted", damaged)
		}
	}
	for i := range maxSitemapOrigins {
		s.claim(fmt.Sprint(i), now.Add(-time.Minute))
	}
	state.Reset()
	if err := s.save(&state, now); err != nil {
		t.Fatal(err)
	}
	s = newSitemaps()
	if err := s.load(strings.NewReader(state.String()), now); err != nil || len(s.fetched) != maxSitemapOrigins {
		t.Fatalf("%d origins are kept, %v", len(s.fetched), err)
	}
	if !s.claim("http://new.example", now) {
		t.Error("not the oldest origin is omitted")
	}
}

// MaxBody applies to pages; sitemaps are read and archived up to 50 MiB.
func TestSitemapLongerThanMaxBody(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const n = 6_000 // of 2 KiB each
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(w, r)
		case "/sitemap.xml":
			var b strings.Builder
			b.WriteString("<urlset>")
			for i := range n {
				fmt.Fprintf(&b, "<url><loc>http://%s/%d</loc><x>%s</x></url>", r.Host, i, strings.Repeat("x", 2<<10))
			}
			b.WriteString("</urlset>")
			w.Header().Set("Content-Type", "application/xml")
			w.Header().Set("Content-Length", fmt.Sprint(b.Len())) // or the archive would hold chunks
			fmt.Fprint(w, &b)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, strings.Repeat("<p>page", 100_000))
		}
	})
	for _, limit := range []int64{archive.DefaultBody, 64 << 10} {
		prefix := filepath.Join(t.TempDir(), "x")
		recs, o, err := fetchAll(t, server.URL+"/\n", loopback, withSitemaps, warcTo(prefix), maxBody(limit))
		if err != nil || len(recs) != 2 {
			t.Fatalf("%v: %s", err, o.log)
		}
		if rec := recs[0]; (rec.Truncated == "length") != (limit < archive.DefaultBody) {
			t.Errorf("%d: a page is cut: %q, %d bytes", limit, rec.Truncated, rec.ContentLength)
		}
		rec := recs[1]
		if len(rec.Links) != n || rec.ContentLength < n<<11 || rec.Truncated != "" || rec.ErrorDetail != "" {
			t.Errorf("%d: %d links, %d bytes, truncated %q, %q", limit, len(rec.Links), rec.ContentLength, rec.Truncated, rec.ErrorDetail)
		}
		names, _ := filepath.Glob(prefix + "*.warc.gz")
		if len(names) != 1 || !strings.Contains(unpack(t, names[0]), "xx</x></url></urlset>") {
			t.Errorf("%d: its end is not in the archive: %q", limit, names)
		}
	}
}

func TestSitemapsOfLiveSite(t *testing.T) {
	asked := make(chan string, 100)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		host := "http://" + r.Host
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprintf(w, "Sitemap: %s/index.xml.gz\nUser-agent: *\nDisallow: /secret\n", host)
		case "/index.xml.gz":
			w.Header().Set("Content-Type", "application/octet-stream")
			z := gzip.NewWriter(w)
			fmt.Fprintf(z, "<sitemapindex><sitemap><loc>%s/moved.txt</loc></sitemap><sitemap><loc>%[1]s/secret.xml</loc></sitemap></sitemapindex>", host)
			z.Close()
		case "/moved.txt":
			http.Redirect(w, r, "/list", http.StatusFound)
		case "/list":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprintf(w, "%s/one\nhttp://other.example/\n", host)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>a page")
		}
	})
	paths := func() (all []string) {
		for len(asked) > 0 {
			all = append(all, <-asked)
		}
		return all
	}
	page := fmt.Sprintf(`{"url":"%s/page","generation":3,"depth":2}`+"\n%[1]s/page/2\n", server.URL)
	dir := t.TempDir()
	changes := []option{loopback, workers(1), withSitemaps, stateIn(filepath.Join(dir, "state")), warcTo(filepath.Join(dir, "x"))}
	recs, o, err := fetchAll(t, page, changes...)
	if err != nil || o.In != 2 || o.Out != 5 || o.Errors[wire.ErrorRobots] != 1 || o.Sitemaps != 3 {
		t.Fatalf("%v: %+v", err, o)
	}
	if want := []string{"/robots.txt", "/page", "/index.xml.gz", "/moved.txt", "/list", "/page/2"}; !slices.Equal(paths(), want) {
		t.Errorf("the requests were not %q", want)
	}
	var got []string
	for _, rec := range recs {
		line := fmt.Sprintf("%s %d %s %d/%d via %q links %q %t", rec.URL, rec.StatusCode, rec.Operator, rec.Generation, rec.Depth,
			rec.Via, links(rec), rec.Body+rec.BodyBase64 != "")
		got = append(got, strings.ReplaceAll(line, server.URL, ""))
		if (rec.WARCFilename == "") != (rec.Error != "") {
			t.Errorf("%s is in %q", rec.URL, rec.WARCFilename)
		}
	}
	want := []string{
		`/page 200  3/2 via "" links [] true`,
		`/index.xml.gz 200 sitemap 3/2 via "/robots.txt" links [] false`,
		`/moved.txt 200 sitemap 3/2 via "/index.xml.gz" links ["/one"] false`,
		`/secret.xml 0 sitemap 3/2 via "/index.xml.gz" links [] false`,
		`/page/2 200  0/0 via "" links [] true`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	// The next run on the same day.
	if recs, _, err := fetchAll(t, page, changes...); err != nil || len(recs) != 2 {
		t.Errorf("%d records of the second run, %v", len(recs), err)
	}
	if got, want := paths(), []string{"/page", "/page/2"}; !slices.Equal(got, want) {
		t.Errorf("the second run requested %q", got)
	}
	// A returned sitemap is read as a sitemap, not as a page.
	back := fmt.Sprintf(`{"url":"%s/list","via":"%[1]s/robots.txt","operator":"sitemap"}`+"\n", server.URL)
	if recs, o, err := fetchAll(t, back, changes...); err != nil || len(recs) != 1 || !slices.Equal(links(recs[0]), []string{server.URL + "/one"}) || recs[0].Body != "" || o.Out != 1 || o.Sitemaps != 0 {
		t.Errorf("returned: %v, %v: %+v", recs, err, o)
	}
	paths()
	// Without the option no sitemaps are fetched.
	if recs, _, err := fetchAll(t, page, loopback); err != nil || len(recs) != 2 {
		t.Errorf("%d records without sitemaps, %v", len(recs), err)
	}
}
