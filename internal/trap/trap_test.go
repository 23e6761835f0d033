package trap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// split cuts a URL at its question mark.
func split(address string) (path, query string) {
	path, query, _ = strings.Cut(address, "?")
	return path, query
}

func TestLexical(t *testing.T) {
	for _, tt := range []struct {
		address string
		want    Rule
	}{
		{"/", ""},
		{"/a/b/c/d.html?x=1&y=2", ""},
		{"/" + strings.Repeat("x", maxLength-1), ""},
		{"/" + strings.Repeat("x", maxLength), Length},
		{"/?" + strings.Repeat("x", maxLength), Length},
		{path(maxDepth) + "file", ""},
		{path(maxDepth+1) + "file", Depth},
		{strings.Repeat("/", maxDepth+2), Depth},
		{"/abc/abc/x", ""},
		{"/abc/abc/abc/x", Repetition},
		{"/x/abc/abc/abc", Repetition},
		{"/i/1423529/40875/0/0/0", ""},
		{"/0/0/0/0/0", Repetition},
		{"/a/b/a/b/", ""},
		{"/a/b/a/b/a/b/", Repetition},
		{"/x/a/b/c/a/b/c/a/b/c", Repetition},
		{"/x/a/b/c/a/b/c/a/b/d", ""},
		{"/a/b/a/c/a/d/a/e/a/", ""},                          // short
		{"/abc/b/abc/c/abc/d/abc/e/x", ""},                   // four times
		{"/abc/b/abc/c/abc/d/abc/e/abc/", Repetition},        // five
		{"/index.php/b/index.php/c/index.php/d", ""},         //
		{"/x?a=1&a=1&a=1&a=1", ""},                           // four times
		{"/x?a=1&a=1&b=2&a=1&a=1&a=1", Repetition},           // five
		{"/x?a=1&a=2&a=3&a=4&a=5&a=6", ""},                   // choices
		{"/x?a[]=1&a[]=2&a[]=1&b=1&b=2&b=3&c=1&c=2&c=3", ""}, //
	} {
		p, q := split(tt.address)
		if got := Lexical(p, q); got != tt.want {
			t.Errorf("Lexical(%.60q) = %q, want %q", tt.address, got, tt.want)
		}
	}
}

// path returns a path of n different directories.
func path(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "/d%d", i)
	}
	return b.String() + "/"
}

func TestWithoutSession(t *testing.T) {
	const token = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
	for _, tt := range []struct{ address, want string }{
		{"/a;jsessionid=" + token, "/a"},
		{"/a;jsessionid=" + token + "/b?c=1", "/a/b?c=1"},
		{"/a;JSESSIONID=" + token + "?c=1", "/a?c=1"},
		{"/(S(lit3py55t21z5v55vlm25s55))/page.aspx", "/page.aspx"},
		{"/app/(S(lit3py55t21z5v55vlm25s55))/page.aspx?a=b", "/app/page.aspx?a=b"},
		{"/x?PHPSESSID=" + token, "/x"},
		{"/x?a=1&PHPSESSID=" + token + "&b=2", "/x?a=1&b=2"},
		{"/x?sid=" + token + "&b=2", "/x?b=2"},
		{"/x?osCsid=" + token[:26], "/x"},
		{"/x?ASPSESSIONIDQQRS=ABCDEF", "/x"},
		{"/x?CFID=1&CFTOKEN=2&p=3", "/x?p=3"},
		{"/x?sid=17", ""},
		{"/x?s=search+words+that+are+quite+long+1+2", ""},
		{"/x?session=spring-2024", ""},
		{"/x?jsessionid=", ""},
		{"/a;v=1/b", ""},
		{"/wiki/Go_(game)", ""},
		{"/(a)/b", ""},
		{"/(", ""},
		{"/((", ""},
		{"/x", ""},
		{"/x?" + token, ""},
	} {
		p, q := split(tt.address)
		p, q, found := WithoutSession(p, q)
		got := p
		if q != "" {
			got += "?" + q
		}
		if !found {
			got = ""
		}
		if got != tt.want {
			t.Errorf("%s is %q without a session, want %q", tt.address, got, tt.want)
		}
	}
}

func TestWithoutDates(t *testing.T) {
	for _, tt := range []struct{ address, want string }{
		{"/cal/2024/05/", "/cal/0/0/?"},
		{"/cal/2024/05/31", "/cal/0/0/0?"},
		{"/cal/2024-05-31.html", "/cal/0-0-0.html?"},
		{"/cal/20240531", "/cal/0?"},
		{"/cal/202405", "/cal/0?"},
		{"/cal/may-2024", "/cal/0-0?"},
		{"/cal/2024/May/", "/cal/0/0/?"},
		{"/cal?month=5&year=2024", "/cal?month=0&year=0"},
		{"/cal?year=2031", "/cal?year=0"},
		{"/cal?view=day&date=1714521600", "/cal?view=day&date=0"},
		{"/cal?date=2024-05-31", "/cal?date=0-0-0"},
		{"/news/2024/05/31/a-title", "/news/0/0/0/a-title?"},
		{"/news/2024/05/31/another", "/news/0/0/0/another?"},
		{"/n1/2024/0531/c1001-40234567.html", "/n0/0/0/c0-40234567.html"}, // an article
		{"/2024-05/31/c_136437622.htm", "/0-0/0/c_136437622.htm"},
		{"/films?year=1999&id=12345", "/films?year=0&id=12345"},
		{"/cal/20240531/1200", "/cal/0/0?"},
		{"/article/2024", ""},
		{"/id/20249931", ""},
		{"/id/12345678", ""},
		{"/id/1999999", ""},
		{"/x?page=5", ""},
		{"/", ""},
	} {
		p, q := split(tt.address)
		b, found := WithoutDates([]byte("x"), p, q)
		got := strings.TrimPrefix(string(b), "x")
		if found != (tt.want != "") || found && strings.TrimRight(got, "?") != strings.TrimRight(tt.want, "?") || !found && got != "" {
			t.Errorf("%s is %q without dates, want %q", tt.address, got, tt.want)
		}
	}
}

func TestDatesLead(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     bool
	}{
		{"/cal/2024/05/", "/cal/2024/06/", true},
		{"/cal/2024/05/", "/cal/2024/05/31", true},
		{"/cal?month=5&year=2024", "/cal?day=7&month=5&year=2024", true},
		{"/archive/", "/archive/2024/05/", false},
		{"/news/2024/05/31/a-title", "/news/2024/05/", false},
		{"/cal/2024/05/", "/other/2024/05/", false},
	} {
		p, q := split(tt.from)
		r, s := split(tt.to)
		if got := DatesLead(p, q, r, s); got != tt.want {
			t.Errorf("from %s to %s: %v", tt.from, tt.to, got)
		}
	}
}

func TestPairs(t *testing.T) {
	if got := slices.Collect(Pairs("a=1&&b&a=1&=")); !slices.Equal(got, []string{"a=1", "b", "a=1", "="}) {
		t.Errorf("%q", got)
	}
	if got := slices.Collect(Pairs(strings.Repeat("a&", 1000))); len(got) != maxPairs {
		t.Errorf("%d pairs", len(got))
	}
	for range Pairs("a&b") {
		break // is allowed
	}
}

func TestPagesOn(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     bool
	}{
		{"/topic?t=1&f=2", "/topic?t=1&f=2&start=15", true},
		{"/topic?t=1&page=2", "/topic?Page=3&t=1", true},
		{"/topic?t=1&page=2", "/topic?t=2&page=2", false},
		{"/topic?t=1", "/topic?t=1&view=print&page=2", false},
		{"/topic?t=1", "/other?t=1&page=2", false},
		{"/topic?page=2", "/topic?page=2", false},
	} {
		p, q := split(tt.from)
		r, s := split(tt.to)
		if got := PagesOn(p, q, r, s); got != tt.want {
			t.Errorf("from %s to %s: %v", tt.from, tt.to, got)
		}
	}
}

func TestLinks(t *testing.T) {
	for _, tt := range []struct {
		file string // what the link says
		want map[string]bool
	}{
		{"about/us/", map[string]bool{
			"/about/us/": false, "/about/us/x": false, "/about/": false, "/x/about/": false, "/x/about/us": false, "/xabout/us/": false,
			"/x/about/us/": true, "/x/y/about/us/": true, "/x/about/us/y/z.html": true, "/about/us/about/us/": true, "/": false, "": false, "x": false,
		}},
		{"about/us/team.html", map[string]bool{
			"/about/us/team.html": false, "/x/about/us/": false, "/x/about/us/other.html": false, "/x/about/us/team.htm": false,
			"/x/about/us/team.html": true, "/about/us/about/us/team.html": true, "/x/about/us/team.html/": false,
		}},
		{"a/b/c/d/", map[string]bool{"/x/a/b/c/d/": true, "/x/a/b/c/d/e": true, "/x/a/b/c/": false}},
		{"a/b/c/d/f", map[string]bool{"/x/a/b/c/d/f": true, "/x/a/b/c/d/e": false}},
		{"a/b/c/d/e/", map[string]bool{"/x/a/b/c/d/e/": false}}, // of too many directories
		{"01/", map[string]bool{"/2024/01/": false}},            // no name
		{"us/", map[string]bool{"/x/us/": false}},               // short
		{"/", map[string]bool{"/x//": false, "//": false}},
		{"über/", map[string]bool{"/x/über/": true}},
	} {
		dirs := tt.file[:strings.LastIndex(tt.file, "/")+1]
		l := Links{}
		for i := range maxTwice {
			for address := range tt.want {
				if l.Lead(7, address) {
					t.Errorf("%s: %s is refused for %d addresses", tt.file, address, i)
				}
			}
			page := func() string { return fmt.Sprintf("/d%d/%sx.html", i, dirs) }
			l.Add(7, fmt.Sprintf("/d%d/%s%s", i, dirs, tt.file), page)
			l.Add(7, fmt.Sprintf("/d%d/%s", i, tt.file), page) // once shows nothing
			for _, elsewhere := range []string{"", "/", "/x/", fmt.Sprintf("/d%d/", i), fmt.Sprintf("/d%d/%s%s", i, dirs, tt.file) + "/x"} {
				l.Add(7, fmt.Sprintf("/e%d/%s%s", i, dirs, tt.file), func() string { return elsewhere }) // another link led there
			}
		}
		for address, want := range tt.want {
			if got := l.Lead(7, address); got != want {
				t.Errorf("%s: %s: %v, want %v", tt.file, address, got, want)
			}
			if l.Lead(8, address) {
				t.Errorf("%s: %s is refused on another host", tt.file, address)
			}
		}
	}
}

// unlike returns a hash that is far from all others.
func unlike(n int) uint64 { return rand.New(rand.NewPCG(uint64(n), 7)).Uint64() }

// urlOf returns the URL of a path and query; it is http if it begins with a colon.
func urlOf(address string) URL {
	address, isHTTP := strings.CutPrefix(address, ":")
	path, query := split(address)
	return URL{!isHTTP, path, query}
}

// pagesOf returns pages with the given URLs and hashes that are all different.
func pagesOf(addresses ...string) (pages []Page) {
	for i, address := range addresses {
		pages = append(pages, Page{urlOf(address), unlike(i)})
	}
	return pages
}

func TestCondemned(t *testing.T) {
	var pages []Page
	copies := func(of Page, addresses ...string) {
		for i, address := range addresses {
			pages = append(pages, Page{urlOf(address), of.Hash ^ 1<<(i%64)})
		}
	}
	for i := range 20 {
		p := Page{urlOf(fmt.Sprintf("/docs/%c/", 'a'+i)), unlike(i)}
		pages = append(pages, p)
		copies(p, p.Path+"index.html", p.Path+"?print=yes", ":"+p.Path, fmt.Sprintf("%s?from=%d", p.Path, i))
		pages = append(pages, pagesOf(p.Path + "other.html")[0], Page{urlOf(p.Path + "?page=1"), p.Hash}, Page{urlOf(fmt.Sprintf("/docs/?id=%d", i)), unlike(100 + i)})
		copies(Page{Hash: unlike(1000)}, fmt.Sprintf("/cal/%c/x%[1]c.html", 'a'+i))
		copies(Page{Hash: unlike(2000)}, fmt.Sprintf("/root-%d.html", i), fmt.Sprintf("/login?to=%d", i))
		copies(Page{Hash: unlike(3000)}, fmt.Sprintf("/good/%d", i%10)) // too few
	}
	known := map[URL]bool{urlOf("/docs/"): true, urlOf("/docs/zz/"): true, urlOf("/new/"): true}
	for _, order := range []func(){func() {}, func() { slices.Reverse(pages) }} {
		order()
		c := Condemned(3, pages)
		for address, want := range map[string]string{
			"/docs/zz/":                        "",
			"/docs/zz/index.html":              "a copy of /docs/zz/",
			"/new/index.html":                  "a copy of /new/",
			"/docs/unknown/index.html":         "",
			"/docs/zz/other.html":              "",
			"/docs/zz/?print=yes":              "a copy of /docs/zz/",
			"/docs/zz/?print=no":               "", // only one value was seen
			"/docs/zz/?page=1":                 "a copy of /docs/zz/",
			"/docs/zz/?page=2":                 "",
			"/docs/zz/?from=new":               "a copy of /docs/zz/",
			"/docs/zz/index.html?print=yes":    "a copy of /docs/zz/",
			":/docs/zz/index.html?a&print=yes": "",
			":/docs/zz/index.html?from=7":      "a copy of /docs/zz/",
			":/docs/zz/":                       "a copy of /docs/zz/",
			"/docs/?id=77":                     "",
			"/cal/q/y.html":                    samePages,
			"/cal/":                            samePages,
			"/cal":                             "",
			"/root-77.html":                    samePages,
			"/root-77.html?x=1":                "",
			"/root-x.html":                     "",
			"/login?to=new":                    samePages,
			"/login?from=new":                  "",
			"/good/new":                        "",
			"/":                                "",
		} {
			if got := c.Reason(urlOf(address), func(u URL) bool { return known[u] }); got != want {
				t.Errorf("%s: %q, want %q", address, got, want)
			}
		}
	}
}

// Pages of a site whose pages are all alike, except for a few, are different pages.
func TestDifferentPagesAreNotCondemned(t *testing.T) {
	var pages []Page
	for i := range 300 {
		p := Page{urlOf(fmt.Sprintf("/view/%d?id=%[1]d", i)), unlike(1)}
		if i%10 == 0 {
			p.Hash = unlike(i)
		}
		pages = append(pages, p)
	}
	if c := Condemned(3, pages); c.Any() {
		t.Error("condemned, although a tenth of the pages differ")
	}
}

// In a site of one page under many names, only the root remains.
func TestRootIsNotCondemned(t *testing.T) {
	var pages []Page
	for i := range 100 {
		pages = append(pages, Page{urlOf(fmt.Sprintf("/%c%c", 'a'+i/26, 'a'+i%26)), 1})
	}
	if c := Condemned(0, pages); c.Any() {
		t.Error("a page at the root is condemned")
	}
}

// Pages with many parameters take bounded time.
func TestHostilePages(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pages := make([]Page, 50_000)
	for i := range pages {
		pages[i] = Page{URL{true, fmt.Sprintf("/%d", i), strings.Repeat("a=1&", i%100)}, r.Uint64() &^ 0xffff}
	}
	if Condemned(1, pages).Any() { // in quadratic time this would take minutes
		t.Error("pages with different hashes count as copies")
	}
}

func FuzzAddress(f *testing.F) {
	f.Add("/cal/2024/05/(S(x))/;jsessionid=1", "a=1&PHPSESSID=2&month=3", "/x")
	f.Add("/((", "&&=&", "//")
	f.Fuzz(func(t *testing.T, path, query, other string) {
		path = "/" + path
		Lexical(path, query)
		p, q, found := WithoutSession(path, query)
		if !found && (p != path || q != query) {
			t.Errorf("no session in %q?%q, but it became %q?%q", path, query, p, q)
		}
		if found && len(p)+len(q) >= len(path)+len(query) {
			t.Errorf("%q?%q did not become shorter: %q?%q", path, query, p, q)
		}
		if b, found := WithoutDates(nil, path, query); !found && len(b) > 0 || len(b) > len(path)+len(query)+2 {
			t.Errorf("dates of %q?%q: %q", path, query, b)
		}
		l := Links{}
		for range maxTwice {
			l.Add(0, path, func() string { return query })
			l.Add(0, query, func() string { return path }) // whatever it is
		}
		if (l.Lead(0, path) || l.Lead(0, other)) && len(l) == 0 {
			t.Error("no link leads there")
		}
		pages := make([]Page, minSame)
		for i := range pages {
			pages[i] = Page{URL{i%2 == 0, path, query + strings.Repeat("x", i)}, 1}
		}
		for u := range shortenings(0, URL{true, path, query}) {
			if len(u.Path)+len(u.Query) >= len(path)+len(query) {
				t.Errorf("%q?%q was shortened to %q?%q", path, query, u.Path, u.Query)
			}
		}
		Condemned(0, pages).Reason(URL{true, other, query}, func(u URL) bool { return u.Query == "" })
	})
}
