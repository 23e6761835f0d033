package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/archive"
)

// part is how many pages a part of the islands has.
const part = 6

// islands returns a web of two parts without links between them. The seed is in the first part,
// which says what jazz is. The second part, which has the words of the topic twice as often, can
// be found only by a search.
func islands() map[string]string {
	pages := map[string]string{}
	for i := range part {
		first := fmt.Sprintf("/first/%d", i)
		pages[first] = fmt.Sprintf(`<title>Jazz part %d</title><p>Jazz began in New Orleans with brass bands and ragtime. `+
			`<a href="/first/%d">more jazz</a> <a href="/first/%d">tea and cake</a></p>`, i, (2*i+1)%part, (2*i+2)%part)
		second := fmt.Sprintf("/second/%d", i)
		pages[second] = fmt.Sprintf(`<title>Jazz saxophone %d</title><p>Jazz saxophone: the saxophone of brass and reed. `+
			`<a href="/second/%d">saxophone</a></p>`, i, (i+1)%part)
	}
	return pages
}

// A searcher is a strategy that searches, with parameters that make it search early.
var searchers = []struct {
	strategy string
	params   []string
	mined    bool // the words of queries are those of pages, too
}{
	{"symbiosis", nil, true},
	{"antnet", []string{"-param", "mutation-every=2"}, false},
	{"jaccard", []string{"-param", "mutation-every=4"}, true},
	{"qinchen", []string{"-param", "mutation=2"}, false},
}

// In a closed web the second part is reached only with an index. The lineage of its pages leads
// to the query and, if the words of the query are those of pages, to the seed. At its end the
// crawl prints how many pages the searches have found.
func TestMutationReachesWhatNoLinkLeadsTo(t *testing.T) {
	skipShort(t, "nothing is crawled in a short test")
	for _, s := range searchers {
		t.Run(s.strategy, func(t *testing.T) {
			t.Parallel()
			c := newIslands(t, "http://jazz.example", s.strategy, s.params...)
			c.write(t, "http://jazz.example")
			c.args = append(c.args, "-archive", "web-h.warc.gz")

			said := c.tell(t, "mute")
			if got := c.fetched(t, "mute"); len(got.second) > 0 || got.queries > 0 || len(got.first) != part {
				t.Errorf("without a search %d pages of the first part and %d of the second were fetched, and %d queries charged", len(got.first), len(got.second), got.queries)
			}
			if strings.Contains(said, "search") || strings.Contains(said, "queries") {
				t.Errorf("nothing was searched, but the crawl says\n%s", said)
			}

			c.args = append(c.args, "-search", "web.db")
			said = c.tell(t, "asking")
			got := c.fetched(t, "asking")
			if len(got.first) != part || len(got.second) != part {
				t.Errorf("with a search %d and %d pages of both parts were fetched, want all\n%s", len(got.first), len(got.second), said)
			}
			c.check(t, "asking", said, got, s.mined)
		})
	}
}

// On the live web a SearXNG is asked.
func TestMutationAsksASearXNG(t *testing.T) {
	skipShort(t, "nothing is crawled in a short test")
	for _, s := range searchers {
		t.Run(s.strategy, func(t *testing.T) {
			t.Parallel()
			site := httptest.NewServer(serveIslands())
			defer site.Close()
			engine := httptest.NewServer(searchIslands(site.URL))
			defer engine.Close()
			c := newIslands(t, site.URL, s.strategy, s.params...)
			c.args = append(c.args, "-allow-private", "-delay", "0s", "-search", engine.URL)
			said := c.tell(t, "live")
			got := c.fetched(t, "live")
			if len(got.first) != part || len(got.second) != part {
				t.Errorf("%d and %d pages of both parts were fetched, want all\n%s", len(got.first), len(got.second), said)
			}
			c.check(t, "live", said, got, s.mined)
		})
	}
}

// A search that fails ends the crawl with an error; when it answers again, the same
// command goes on and fetches what it would have fetched.
func TestACrawlOutlivesItsSearch(t *testing.T) {
	skipShort(t, "nothing is crawled in a short test")
	t.Parallel()
	c := newIslands(t, "http://jazz.example", "symbiosis")
	c.write(t, "http://jazz.example")
	c.args = append(c.args, "-archive", "web-h.warc.gz")
	const answer = "search -index web.db -archive web-h.warc.gz"
	c.env = append(c.env, `SEARCH=[ "$SPOOR_GENERATION" != 3 ] || [ ! -e down ] || { echo engine is down >&2; exit 9; }; `+answer)
	c.run(t, "whole")
	c.shell(t, "touch down")
	out, err := c.command("broken").CombinedOutput()
	if exitStatus(err) != 9 || !regexp.MustCompile(`(?s)generation 3: search: search ended with status 9.*engine is down.*fix the stage, and the same command resumes the crawl`).Match(out) {
		t.Fatalf("the search is down: status %d\n%s", exitStatus(err), out)
	}
	c.shell(t, "rm down")
	c.run(t, "broken")
	if got, want := c.order(t, "broken"), c.order(t, "whole"); !bytes.Equal(got, want) {
		t.Errorf("with a search that failed once the crawl fetched\n%s\ninstead of\n%s", got, want)
	}
	// A search that prints all that it is given, as search does without -only, is as
	// good as the built-in one: it is given the new queries alone.
	// And JSON may have spaces.
	c.args = append(c.args, "-search", "web.db", "-pages", "10")
	c.env = append(c.env, `SEARCH=`+answer+` | sed 's/":/": /g'`)
	c.run(t, "spaced")
	c.env = slices.DeleteFunc(c.env, func(v string) bool { return strings.HasPrefix(v, "SEARCH=") })
	c.run(t, "builtin")
	if got, want := c.order(t, "spaced"), c.order(t, "builtin"); !bytes.Equal(got, want) {
		t.Errorf("the search of the crawl itself fetched\n%s\nand one's own\n%s", want, got)
	}
	if !bytes.HasPrefix(c.order(t, "whole"), c.order(t, "builtin")) {
		t.Errorf("fewer pages are not the beginning of more:\n%s\n%s", c.order(t, "whole"), c.order(t, "builtin"))
	}
}

// newIslands is a crawl of the islands at an address, from one page of the first.
func newIslands(t *testing.T, site, strategy string, params ...string) *crawl {
	t.Helper()
	c := &crawl{dir: t.TempDir(), env: append(os.Environ(), environment(t)...)}
	scripts := inRoot("scripts")
	c.shell(t, fmt.Sprintf("topic -query 'jazz saxophone' >topic.json; echo %s/first/0 >seeds.txt", site))
	c.args = append([]string{filepath.Join(scripts, "crawl"), "-topic", "topic.json", "-seeds", "seeds.txt",
		"-strategy", strategy, "-pages", "60", "-size", "3"}, params...)
	return c
}

// write makes an archive of the islands, web-h.warc.gz.
func (c *crawl) write(t *testing.T, site string) {
	t.Helper()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w, err := archive.NewWriter(archive.WriterOptions{Prefix: filepath.Join(c.dir, "web"), Host: "h", Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	pages := islands()
	for _, path := range slices.Sorted(maps.Keys(pages)) {
		head := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", len(pages[path]))
		if _, err := w.Write(&archive.Exchange{URL: site + path, Time: at, Head: head, Body: []byte(pages[path])}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c.shell(t, "[ -e web-h.warc.gz ] || mv web-*.warc.gz web-h.warc.gz")
}

// tell runs the crawl and returns what it says at its end.
func (c *crawl) tell(t *testing.T, run string) string {
	t.Helper()
	out, err := c.command(run).CombinedOutput()
	if err != nil {
		t.Fatalf("crawl: %v\n%s", err, out)
	}
	_, end, _ := strings.Cut(string(out), "crawl: done:")
	return end
}

// An outcome is what a crawl of the islands fetched.
type outcome struct {
	first, second []string // pages, in the order of fetching
	searched      []string // of those, what a search brought
	queries       int      // what they cost
}

// fetched reads what a run fetched. A page that was fetched twice fails the test.
func (c *crawl) fetched(t *testing.T, run string) (o outcome) {
	t.Helper()
	seen := map[string]bool{}
	for _, rec := range c.records(t, run) {
		switch {
		case rec.URL == "":
			o.queries += rec.Cost
			continue
		case seen[rec.URL]:
			t.Errorf("%s was fetched twice", rec.URL)
		case strings.Contains(rec.URL, "/second/"):
			o.second = append(o.second, rec.URL)
		default:
			o.first = append(o.first, rec.URL)
		}
		seen[rec.URL] = true
		if rec.Operator == "search" {
			o.searched = append(o.searched, rec.URL)
		}
	}
	return o
}

// check compares what the crawl prints about its searches with what it fetched, and follows the
// lineages of the pages that the searches found.
func (c *crawl) check(t *testing.T, run, said string, got outcome, mined bool) {
	t.Helper()
	if got.queries == 0 || len(got.searched) == 0 {
		t.Fatalf("no query, or nothing that it brought, is in the order of fetching: %+v", got)
	}
	for _, words := range []string{
		fmt.Sprintf("search %d, ", len(got.searched)), fmt.Sprintf("queries cost %d", got.queries),
		fmt.Sprintf("%d pages fetched", len(got.first)+len(got.second)+got.queries),
	} {
		if !strings.Contains(said, words) {
			t.Errorf("the crawl does not say %q, but\n%s", words, said)
		}
	}
	// Every page leads to a seed, or to a query of nothing but the user's words.
	traced := false
	for _, url := range got.searched {
		out := c.shell(t, fmt.Sprintf("frontier lineage -store %s/frontier %s", run, url))
		lines := decode(t, out)
		page := lines[0]
		if page.URL != url || page.Operator != "search" || !strings.Contains(page.Query, "jazz") && !strings.Contains(page.Query, "saxophone") {
			t.Errorf("the lineage of %s begins with\n%.300s", url, out)
		}
		seed := slices.ContainsFunc(lines, func(r record) bool { return r.Operator == "seed" })
		if !seed && !slices.ContainsFunc(lines, func(r record) bool { return r.Query != "" && len(r.Parents) == 0 }) {
			t.Errorf("the lineage of %s leads neither to a seed nor to a query\n%s", url, out)
		}
		for _, parent := range page.Parents {
			if !slices.ContainsFunc(lines, func(r record) bool { return r.URL == parent }) {
				t.Errorf("%s is not in the lineage of %s, whose query has its words", parent, url)
			}
		}
		traced = traced || seed && len(page.Parents) > 0 && strings.Contains(url, "/second/")
	}
	if mined && !traced {
		t.Errorf("no page of the second part leads to the seed, although queries have the words of pages")
	}
}

// A record is what these tests read of one.
type record struct {
	URL        string
	Generation int
	Operator   string
	Parents    []string
	Query      string
	Cost       int
	Score      float64
}

// records returns the pages that a run fetched, and the queries whose cost it paid.
func (c *crawl) records(t *testing.T, run string) []record {
	t.Helper()
	return decode(t, c.shell(t, fmt.Sprintf("score -keep -topic topic.json %s/generations/*/scored.ndjson.zst", run)))
}

func decode(t *testing.T, lines []byte) (records []record) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(lines))
	for d.More() {
		var r record
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

func serveIslands() http.Handler {
	pages := islands()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, body)
	})
}

// searchIslands is a SearXNG server that searches the islands: pages with the most words of a
// query come first, in the order of their names.
func searchIslands(site string) http.Handler {
	pages := islands()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.URL.Path != "/search" || q.Get("format") != "json" {
			http.NotFound(w, r)
			return
		}
		hits := map[string]int{}
		for path, body := range pages {
			for word := range strings.FieldsSeq(strings.ToLower(q.Get("q"))) {
				if strings.Contains(strings.ToLower(html.UnescapeString(body)), word) {
					hits[path]++
				}
			}
		}
		paths := slices.Sorted(maps.Keys(hits))
		slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(hits[b], hits[a]) })
		var results []string
		if q.Get("pageno") == "1" {
			for _, path := range paths {
				results = append(results, fmt.Sprintf(`{"url":%q,"title":"T","content":"C","engine":"brave"}`, site+path))
			}
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"query":"","results":[`+strings.Join(results, ",")+`],"unresponsive_engines":[]}`)
	})
}
