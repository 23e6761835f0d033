package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
)

// statistics serves a site of 6 subjects. The page of a subject lists 5 yearbooks, each with 4 files,
// and news, which lead to other news. Only the media type says what is a file.
func statistics(w http.ResponseWriter, r *http.Request) {
	var kind string
	var n int
	name := strings.TrimPrefix(r.URL.Path, "/")
	kind, number, _ := strings.Cut(name, "/")
	fmt.Sscan(number, &n)
	rng := rand.New(rand.NewPCG(uint64(n), uint64(len(kind)+1)))
	words := func() string { // so that no two pages look the same
		var all []string
		for range 40 {
			all = append(all, strconv.FormatUint(rng.Uint64N(1<<30), 36))
		}
		return strings.Join(all, " ")
	}
	var page strings.Builder
	news := func() {
		fmt.Fprintf(&page, `<div class="news"><p><a href="/news/%d">A story</a></div>`, rng.IntN(400))
	}
	switch kind {
	case "":
		for i := range 6 {
			fmt.Fprintf(&page, `<ul class="menu"><li><a href="/subject/%d">Subject %d</a></ul>`, i, i)
			news()
		}
	case "subject":
		for i := range 5 {
			fmt.Fprintf(&page, `<div class="list"><a href="/yearbook/%d">Yearbook %d</a></div>`, 5*n+i, i)
			news()
		}
	case "yearbook":
		for i := range 4 {
			fmt.Fprintf(&page, `<table><tr><td><a href="/%s/%d">Table %d</a></table>`, []string{"report", "data"}[i%2], 4*n+i, i)
			news()
		}
	case "news":
		for range 12 {
			news()
		}
	case "report":
		w.Header().Set("Content-Type", "application/pdf")
		fmt.Fprintf(w, "%%PDF-1.4 %s", words())
		return
	case "data":
		w.Header().Set("Content-Type", "text/csv")
		fmt.Fprintf(w, "year,number\n2026,%s\n", words())
		return
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<title>%s</title><body>%s<p>%s", name, &page, words())
}

// tagpath with targets=files finds more files of a site than breadthfirst with as many requests, and
// archives those that fetch accepts.
func TestTagPathFetchesFilesOfASite(t *testing.T) {
	skipShort(t, "no crawls in a short test")
	server := httptest.NewServer(http.HandlerFunc(statistics))
	t.Cleanup(server.Close)
	c := &crawl{dir: t.TempDir(), env: append(os.Environ(), environment(t)...)}
	files := func(run string, pages int, flags string) (csv, pdf int) {
		c.shell(t, fmt.Sprintf("%s -topic tables -pages %d -size 10 -run %s -allow-private -delay 0s %s %s/", inRoot("scripts", "crawl"), pages, run, flags, server.URL))
		out := string(c.shell(t, "warc ls -type response -status 200 "+run+"/warc | cut -f 6"))
		return strings.Count(out, "text/csv\n"), strings.Count(out, "application/pdf\n")
	}
	const both = " -mime +application/pdf,text/csv"
	csv, pdf := files("plain", 160, "-strategy breadthfirst"+both)
	plain := csv + pdf
	csv, pdf = files("files", 160, "-strategy tagpath -param targets=files"+both)
	t.Logf("breadthfirst fetches %d files, tagpath %d", plain, csv+pdf)
	if csv+pdf < max(50, 2*plain) { // of 120
		t.Errorf("tagpath fetched %d files, breadthfirst %d: want twice as many, and 50 or more", csv+pdf, plain)
	}
	// A type that fetch refuses is found, but not stored.
	csv, pdf = files("refused", 90, "-strategy tagpath -param targets=files -mime text/html")
	if csv != 0 || pdf != 0 {
		t.Errorf("fetch stored %d CSV files and %d PDF files, which it was to refuse", csv, pdf)
	}
	scored := c.shell(t, "score -q -keep -topic refused/topic.json refused/generations/*/scored.ndjson.zst")
	if found := bytes.Count(scored, []byte(`"content_type":"text/csv"`)) + bytes.Count(scored, []byte(`"content_type":"application/pdf"`)); found < 30 {
		t.Errorf("tagpath found %d files, want 30 or more", found)
	}
}
