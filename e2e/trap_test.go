package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"html"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"spoor/internal/page"
	"spoor/internal/testfile"
	"spoor/internal/trap"
)

var trapPages = flag.Int("trap-pages", 1000, "pages that the crawl of the site with traps may spend")

// A trapSite is a good site, the documentation of the Go tree and a wiki of 300
// articles, with common crawler traps: the foot of every page has links to a calendar,
// to a shop, to a page by a relative link that should be absolute, and to the page
// itself with a new session identifier; every article has a history of revisions, and
// the differences between any two of them.
type trapSite struct {
	good     http.Handler
	sessions atomic.Int64
}

const wikiArticles = 300

// trapOf returns the name of the trap that an address is in, "" if it is in none.
func trapOf(u *url.URL) string {
	q := u.Query()
	switch {
	case q.Has("PHPSESSID"), q.Has("visit"):
		return "session"
	case strings.HasPrefix(u.Path, "/events/"):
		return "calendar"
	case strings.HasPrefix(u.Path, "/maze/"), strings.Contains(u.Path, "/about/us/"):
		return "directories"
	case u.Path == "/shop":
		return "parameters"
	case u.Path == "/wiki/index.php" && len(q) > 1:
		return "wiki"
	}
	return ""
}

func (s *trapSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var page string
	switch trap := trapOf(r.URL); {
	case trap == "calendar":
		page = calendarPage(r.URL.Path)
	case trap == "directories":
		page = mazePage(r.URL.Path)
	case r.URL.Path == "/shop":
		page = shopPage(r.URL.Query())
	case strings.HasPrefix(r.URL.Path, "/wiki/"):
		page = wikiPage(r.URL.Query())
	default:
		a := httptest.NewRecorder()
		s.good.ServeHTTP(a, r.Clone(r.Context()))
		if a.Code != http.StatusOK || !strings.HasPrefix(a.Header().Get("Content-Type"), "text/html") {
			maps.Copy(w.Header(), a.Header())
			w.WriteHeader(a.Code)
			w.Write(a.Body.Bytes())
			return
		}
		page = a.Body.String()
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	body, _, _ := strings.Cut(page, "</body>")
	fmt.Fprint(w, body, s.foot(r.URL), "</body></html>")
}

// foot is what stands below every page.
func (s *trapSite) foot(u *url.URL) string {
	n := s.sessions.Add(1)
	name := "PHPSESSID"
	if n%2 == 0 {
		name = "visit" // not a known name of session identifiers
	}
	q := u.Query()
	q.Del("PHPSESSID")
	q.Del("visit")
	q.Set(name, fmt.Sprintf("%016x%016x", hashOf(fmt.Sprint(n)), hashOf(fmt.Sprint(-n))))
	return fmt.Sprintf(`<hr><a href="/wiki/index.php?title=%d">wiki</a> <a href="/events/2026/11/">events</a> <a href="/shop?colour=1">shop</a>
<a href="about/us/">about us</a> <a href="/maze/a/">maze</a> <a href="?%s">this page</a>`, hashOf(u.Path)%wikiArticles, html.EscapeString(q.Encode()))
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64() >> 1
}

// calendarPage is a month or a day, without any event but for the holidays.
func calendarPage(p string) string {
	var year, month, day int
	n, _ := fmt.Sscanf(p, "/events/%d/%d/%d/", &year, &month, &day)
	if n < 3 {
		day = 1
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	var b strings.Builder
	if n == 3 {
		fmt.Fprintf(&b, "<h1>%s</h1>", t.Format("Monday, 2 January 2006"))
		fmt.Fprintf(&b, `<a href="%s">previous day</a> <a href="%s">next day</a> `, t.AddDate(0, 0, -1).Format("/events/2006/01/02/"), t.AddDate(0, 0, 1).Format("/events/2006/01/02/"))
	} else {
		fmt.Fprintf(&b, "<h1>%s</h1>", t.Format("January 2006"))
		for d := t; d.Month() == t.Month(); d = d.AddDate(0, 0, 1) {
			fmt.Fprintf(&b, `<a href="%s">%d</a> `, d.Format("/events/2006/01/02/"), d.Day())
		}
	}
	fmt.Fprintf(&b, `<a href="%s">previous month</a> <a href="%s">next month</a>`, t.AddDate(0, -1, 0).Format("/events/2006/01/"), t.AddDate(0, 1, 0).Format("/events/2006/01/"))
	b.WriteString("<p>There are no events in this time. Come back later, or tell us of yours by mail: we list meetings, talks and parties.</p>")
	if t.YearDay()%7 == 0 {
		b.WriteString("<p>" + words(hashOf(p), 40) + "</p>")
	}
	return htmlPage("Events", b.String())
}

// mazePage is a directory with directories in it.
func mazePage(p string) string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(hashOf(p), 1))
	for range 4 {
		fmt.Fprintf(&b, `<a href="%s/">%[1]s</a> `, lexicon[r.IntN(len(lexicon))])
	}
	b.WriteString("<p>" + words(1, 60) + "</p><p>You are in " + html.EscapeString(strings.ReplaceAll(path.Base(p), "-", " ")) + "</p>")
	return htmlPage("Index", b.String())
}

// shopPage is what there is in some colour, size, order, view and page of the list.
func shopPage(q url.Values) string {
	var b strings.Builder
	for name, n := range map[string]int{"colour": 8, "size": 6, "sort": 4, "view": 3, "page": 9} {
		for v := range n {
			o := url.Values{}
			for k := range q {
				if k != "PHPSESSID" && k != "visit" {
					o.Set(k, q.Get(k))
				}
			}
			o.Set(name, strconv.Itoa(v))
			fmt.Fprintf(&b, `<a href="/shop?%s">%s %d</a> `, html.EscapeString(o.Encode()), name, v)
		}
	}
	r := rand.New(rand.NewPCG(hashOf(q.Encode()), 2))
	for range 12 { // of 200 things
		thing := r.Uint64N(200)
		fmt.Fprintf(&b, "<p>%s, %d.00</p>", words(thing, 12), thing)
	}
	return htmlPage("Shop", b.String())
}

// wikiPage is an article, its history, a revision, or a difference.
func wikiPage(q url.Values) string {
	const revisions = 50
	title, _ := strconv.Atoi(q.Get("title"))
	revision, err := strconv.Atoi(q.Get("oldid"))
	if err != nil {
		revision = revisions
	}
	name := words(uint64(title)+5000, 2)
	var b strings.Builder
	fmt.Fprintf(&b, `<h1>%s</h1><a href="/wiki/index.php?title=%d">article</a> <a href="/wiki/index.php?title=%[2]d&amp;action=history">history</a> <a href="/wiki/index.php?title=%[2]d&amp;action=edit">edit</a>`, name, title)
	if q.Get("action") == "history" {
		offset, _ := strconv.Atoi(q.Get("offset"))
		for i := offset; i < min(offset+20, revisions); i++ {
			fmt.Fprintf(&b, `<li><a href="?title=%[1]d&amp;oldid=%[2]d">%[4]s</a> (<a href="?title=%[1]d&amp;diff=%[2]d&amp;oldid=%[3]d">prev</a> | <a href="?title=%[1]d&amp;diff=%[5]d&amp;oldid=%[2]d">cur</a>) %[6]s changed %[7]s</li>`,
				title, i, max(i-1, 0), time.Unix(int64(title*9000+i)*90000, 0).UTC().Format("15:04, 2 January 2006"), revisions,
				lexicon[hashOf(fmt.Sprint(title, i))%40], words(hashOf(fmt.Sprint(i, title)), 3))
		}
		for _, limit := range []int{20, 50, 100, 250, 500} {
			fmt.Fprintf(&b, ` <a href="?title=%d&amp;action=history&amp;limit=%d&amp;offset=%d">next %[2]d</a>`, title, limit, offset+20)
		}
		return htmlPage("History of "+name, b.String())
	}
	text := strings.Fields(words(uint64(title)+9000, 250))
	for i := revision; i < revisions; i++ { // every revision changed a word
		text[(i*7)%len(text)] = lexicon[hashOf(fmt.Sprint(title, i))%uint64(len(lexicon))]
	}
	if q.Has("diff") {
		fmt.Fprintf(&b, "<p>Difference between revisions. Line 1: %s</p>", text[revision*7%len(text)])
	}
	b.WriteString("<p>" + strings.Join(text, " ") + "</p>")
	for i := range 5 {
		fmt.Fprintf(&b, ` <a href="/wiki/index.php?title=%d">%s</a>`, (title*5+i+1)%wikiArticles, words(uint64((title*5+i+1)%wikiArticles)+5000, 2))
	}
	return htmlPage(name, b.String())
}

func htmlPage(title, body string) string {
	return "<!DOCTYPE html><html lang=en><head><title>" + title + "</title></head><body>" + body + "</body></html>"
}

// words are n words, always the same for a seed.
func words(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 3))
	var b strings.Builder
	for range n {
		b.WriteString(lexicon[r.IntN(len(lexicon))] + " ")
	}
	return strings.TrimSpace(b.String())
}

// lexicon is 4,000 words that no language has.
var lexicon = func() (list []string) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 4000 {
		var w strings.Builder
		for range 2 + r.IntN(3) {
			w.WriteString(string("bdfgklmnprstvz"[r.IntN(14)]) + string("aeiou"[r.IntN(5)]))
		}
		list = append(list, w.String())
	}
	return list
}()

// crawlTraps crawls the site with traps. It returns the number of pages fetched in each trap and
// outside of them (""), and the number of excluded addresses, by reason.
func crawlTraps(t *testing.T, traps string, args ...string) (spent, refused map[string]int) {
	t.Helper()
	good := goDocs(t)
	server := httptest.NewServer(&trapSite{good: good})
	defer server.Close()
	dir := t.TempDir()
	env := append(environment(t), "HOME="+dir)
	testfile.Write(t, filepath.Join(dir, "seeds.txt"), server.URL+"/\n")
	run := func(script string) []byte {
		cmd := exec.Command("bash", "-c", script)
		cmd.Dir, cmd.Env = dir, env
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, stderr.Bytes())
		}
		return out
	}
	run(`topic -query "network connection" >topic.json`)
	run(fmt.Sprintf(`"$SPOOR/scripts/crawl" -run run -topic topic.json -seeds seeds.txt -allow-private -delay 0s -traps %s %s`, traps, strings.Join(args, " ")))
	spent, refused = map[string]int{}, map[string]int{}
	for _, rec := range jsonLines[struct {
		URL, State, Error string
		StatusCode        int `json:"status_code"`
	}](t, run("frontier export -store run/frontier")) {
		u, err := url.Parse(rec.URL)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case rec.State == "visited":
			spent[trapOf(u)]++
		case rec.State == "skipped":
			refused[rec.Error]++
			if trapOf(u) == "" && strings.HasPrefix(rec.Error, "trap_") {
				refused["good"]++
			}
		}
	}
	return spent, refused
}

func share(spent map[string]int) (inside, all int, percent float64) {
	for trap, n := range spent {
		all += n
		if trap != "" {
			inside += n
		}
	}
	return inside, all, 100 * float64(inside) / float64(all)
}

// TestTrapsCostLittle crawls a site with all kinds of traps, and limits the share of the budget
// that is spent in them.
func TestTrapsCostLittle(t *testing.T) {
	skipShort(t, "a crawl of a site with traps takes half a minute")
	if _, err := exec.LookPath("bash"); err != nil {
		need(t, "bash")
	}
	t.Parallel()
	spent, refused := crawlTraps(t, "on", "-strategy", "breadthfirst", "-pages", strconv.Itoa(*trapPages), "-size", "100")
	inside, all, percent := share(spent)
	t.Logf("%d of %d pages (%.1f %%) inside traps: %v; refused: %v", inside, all, percent, spent, refused)
	// 100 pages to detect the traps, and one in a hundred for the links to them in every new part
	// of the site: 3 % of 5,000 pages.
	if limit := 100 + *trapPages/100; inside > limit {
		t.Errorf("%d pages went into traps, want at most %d", inside, limit)
	}
	if refused["good"] > 0 {
		t.Errorf("%d good addresses were refused", refused["good"])
	}
}

// TestGoodPagesAreNoCopies checks that no addresses are excluded as near-duplicates in manuals whose
// menu is several times as long as the text, and in lists whose pages differ only in their links.
func TestGoodPagesAreNoCopies(t *testing.T) {
	t.Parallel()
	x := page.NewExtractor()
	for _, test := range []struct {
		name       string
		menu, text int  // words
		list       bool // the menu is what a page has of its own, and the text is on all
		links      bool // the menu is links
	}{
		{"manual, as much menu as text", 100, 100, false, true},
		{"manual with a menu", 400, 100, false, true},
		{"manual with a large menu", 800, 200, false, true},
		{"manual with a very large menu", 4000, 100, false, true},
		{"manual whose menu is no links", 400, 100, false, false},
		{"manual whose large menu is no links", 800, 200, false, false},
		{"list", 100, 100, true, true},
		{"long list", 800, 200, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var pages []trap.Page
			for i := range uint64(300) {
				menu, text := uint64(1), 1000+i
				if test.list {
					menu, text = text, menu
				}
				var b strings.Builder
				names := strings.Fields(prose(menu, test.menu))
				for k := 0; k < len(names); k += 4 {
					if item := strings.Join(names[k:k+4], " "); test.links {
						fmt.Fprintf(&b, "<li><a href=/%d>%s</a>", k, item)
					} else {
						fmt.Fprintf(&b, "<li>%s", item)
					}
				}
				fmt.Fprintf(&b, "<h1>%s</h1><p>%s", prose(2000+text, 4), prose(3000+text, test.text))
				address := fmt.Sprintf("/manual/%d/", i)
				c := x.Extract(page.Document{URL: "http://a.example" + address, ContentType: "text/html", Body: []byte(htmlPage("", b.String()))})
				hash, err := strconv.ParseUint(c.Simhash, 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				pages = append(pages, trap.Page{URL: trap.URL{Path: address}, Hash: hash})
			}
			if trap.Condemned(1, pages).Any() {
				t.Error("addresses are refused")
			}
		})
	}
}

// prose is n words of the lexicon as frequent as words of a language are: the first
// is every eleventh, the second half as many.
func prose(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 5))
	var b strings.Builder
	for range n {
		at := math.Pow(float64(len(lexicon)), r.Float64()) - 1
		b.WriteString(lexicon[int(at)] + " ")
	}
	return strings.TrimSpace(b.String())
}
