package page

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"spoor/internal/weburl"
)

// numbered returns n copies of a tag with different attributes.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// hostile holds pages that would cost a naive parser much time or memory. Each has the link
// http://example.org/x.
var hostile = []struct {
	name, html string
	flat       bool
}{
	{"a hundred thousand divs", strings.Repeat("<div>", 100_000) + `<a href=/x>x</a>`, true},
	{"ten megabytes of divs", `<a href=/x>x</a>` + strings.Repeat("<div>", 2_000_000), true},
	{"divs that end", `<a href=/x>x</a>` + strings.Repeat("<div></div>", 500_000), false},
	{"deep ends that never began", `<a href=/x>x</a>` + strings.Repeat("</b></div>", 500_000), false},
	{"four hundred fonts in each of many paragraphs", `<a href=/x>x</a><p>` + numbered("<font size=%d>", 400) + strings.Repeat("<p>x", 200_000), true},
	{"fonts that end where it does not count", `<a href=/x>x</a><p>` + numbered("<font size=%d><object></font></object>", 400) + strings.Repeat("<p>x", 200_000), true},
	{"fonts that end in attributes", `<a href=/x>x</a><p>` + numbered(`<font size=%d><q title="</font>">`, 200) + strings.Repeat("<p>x", 200_000), true},
	{"fonts that end in comments", `<a href=/x>x</a><p>` + numbered(`<font size=%d><!--</font>-->`, 400) + strings.Repeat("<p>x", 200_000), true},
	{"a font of many attributes", `<a href=/x>x</a><p><font ` + numbered(" a%d", 10_000) + `>` + strings.Repeat("<p>x", 200_000), true},
	{"many bodies", `<a href=/x>x</a>` + numbered("<body a%d>", 100_000), true},
	{"bold and paragraphs, crossed", `<a href=/x>x</a>` + strings.Repeat("<b><p></b></p>", 200_000), false},
	{"links that never end", `<a href=/x>x</a>` + strings.Repeat("<a href=/x><p>", 100_000), false},
	{"tables in tables", `<a href=/x>x</a>` + strings.Repeat("<table><tr><td>", 100_000), true},
	{"formatting in tables", `<a href=/x>x</a>` + strings.Repeat("<table><b><tr><i><td><u>", 170) + strings.Repeat("<p>", 200_000), true},
	{"templates in templates", `<a href=/x>x</a>` + strings.Repeat("<template>", 100_000), true},
	{"frames without end", `<a href=/x>x</a><frameset>` + strings.Repeat("<noframes>", 100_000), false},
	{"an attribute of megabytes", `<a href=/x title="` + strings.Repeat("t ", 1<<20) + `"></a><a href="` + strings.Repeat("/y", 1<<20) + `">y</a>`, false},
	{"a hundred thousand attributes", `<a href=/x ` + numbered("a%d=1 ", 100_000) + `>x</a>`, false},
	{"a word of megabytes", `<a href=/x>` + strings.Repeat("é", 1<<20) + `</a>`, false},
	{"more text than there may be", `<a href=/x>x</a>` + strings.Repeat("word ", 2<<20), false},
	{"a hundred thousand links", `<a href=/x>x</a>` + numbered("<a href=/y%d>y</a>", 100_000), false},
	{"long addresses of short links", `<base href="http://example.org/` + strings.Repeat("b", 8000) + `/"><a href=/x>x</a>` + numbered("<a href=%d>y</a>", 20_000), false},
	{"a link around many links", `<a href=/x>x</a><a href=/z><table>` + numbered("<td><a href=/y%d>y</a>", 20_000), false},
	{"tags without end", `<a href=/x>x</a>` + strings.Repeat("<font ", 500_000), false},
	{"quotes without end", `<a href=/x>x</a>` + strings.Repeat(`<font a="`, 500_000), false},
	{"a comment without end", `<a href=/x>x</a><!--` + strings.Repeat("<b>", 1_000_000), false},
	{"a script without end", `<a href=/x>x</a><script>` + strings.Repeat("<font a=1>", 300_000), false},
	{"entities", `<a href=/x>x</a>` + strings.Repeat("&ngE;&#x10FFFF;&", 200_000), false},
	{"lone surrogates and zeros", `<a href=/x>x` + strings.Repeat("&#xD800;\x00", 1000), false},
	{"formulas", `<a href=/x>x</a>` + strings.Repeat("<svg><title><math><mi><b>", 100_000), true},
	{"choices", `<a href=/x>x</a>` + strings.Repeat("<select><option><b>", 100_000), true},
	{"formatting that is never the same", `<a href=/x>x</a>` + numbered("<b a=%d>", 300_000), true},
	{"formatting in capitals", `<a href=/x>x</a>` + numbered("<B A=%d>", 300_000), true},
	{"two fonts of many attributes", `<a href=/x>x</a><font` + numbered(" a%d", 200_000) + "><font" + numbered(" A%d", 200_000) + ">", true},
	{"a font of megabytes, opened anew", `<a href=/x>x</a><p><font a="` + strings.Repeat("a", 1<<20) + `">` + strings.Repeat("<p><a href=/x>", 200_000), true},
	{"a link of megabytes, opened anew", `<a href=/x>x</a><p><a href="/` + strings.Repeat("&amp;", 1<<18) + `">` + strings.Repeat("<p>x", 200_000), true},
	{"more nodes than there may be", `<a href=/x>x</a><table>` + strings.Repeat("<q>x</q>", 600_000), true},
	{"formatting taken apart again and again", `<a href=/x>x</a>` + strings.Repeat("<i><b><u><p></b>", 200_000), true},
	{"a hundred thousand long addresses", `<base href="http://example.org/` + strings.Repeat("b", 8000) + `/"><a href=/x>x</a>` + numbered("<a href=%d>y</a>", 100_000), false},
	{"ends that never began, in many elements", `<a href=/x>x</a>` + strings.Repeat("<q>", 500) + strings.Repeat("</x>", 500_000), true},
	{"ends that never began, in drawings", `<a href=/x>x</a>` + strings.Repeat("<svg>", 500) + strings.Repeat("</svx>", 500_000), true},
	{"objects in objects", `<a href=/x>x</a>` + strings.Repeat("<object>", 500_000), true},
	{"regions in regions", `<a href=/x>x</a>` + strings.Repeat("<article><p>a b c d e f g h i j k l m n o p q", 50_000), true},
	{"regions in a row", `<a href=/x>x</a>` + strings.Repeat("<nav>a</nav><p>b", 200_000), false},
	{"links that go on", `<a href=/x>x</a>` + strings.Repeat("<a href=/x>a<p>b<table>", 100_000), false},
	{"lines", `<a href=/x>x</a>` + strings.Repeat("a<br>", 500_000), false},
	{"classes", `<a href=/x>x</a>` + strings.Repeat("<div class='"+strings.Repeat("nav-", 1000)+"'>a</div>", 1000), false},
	{"hidden links", `<a href=/x>x</a>` + strings.Repeat("<div hidden>a<nav><a href=/y>b</a></nav>", 100_000), true},
	{"hidden links in a row", `<a href=/x>x</a>` + strings.Repeat("<p hidden>a<a href=/y>b</a></p>", 100_000), false},
	{"robots without end", `<a href=/x>x</a>` + strings.Repeat("<meta name=robots content=none>", 100_000), false},
}

func TestHostilePages(t *testing.T) {
	slow(t)
	x := NewExtractor()
	for _, test := range hostile {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c := x.Extract(Document{URL: here, ContentType: "text/html", Body: []byte(test.html)})
			runtime.ReadMemStats(&after)
			size, allocated, effort := len(test.html), after.TotalAlloc-before.TotalAlloc, x.construction.effort
			t.Logf("%.1f MB of page, %.0f MB allocated, %.1f M steps", float64(size)/1e6, float64(allocated)/1e6, float64(effort)/1e6)
			if most := 400<<20 + 8*size; allocated > uint64(most) {
				t.Errorf("more than %d bytes allocated", most)
			}
			if most := maxEffort + (8+maxGuessDepth)*size; effort > most {
				t.Errorf("more than %d steps", most)
			}
			if c.Flat != test.flat {
				t.Errorf("flat %v, want %v", c.Flat, test.flat)
			}
			if len(c.Links) == 0 || c.Links[0].URL != "http://example.org/x" {
				t.Errorf("the link is lost: %d links", len(c.Links))
			}
			check(t, c)
			x.MainContent, x.AcrossBlocks = true, true
			runtime.ReadMemStats(&before)
			check(t, x.Extract(Document{URL: here, ContentType: "text/html", Body: []byte(test.html)}))
			runtime.ReadMemStats(&after)
			x.MainContent, x.AcrossBlocks = false, false
			if more := after.TotalAlloc - before.TotalAlloc - allocated; int64(more) > 200<<20 {
				t.Errorf("%d bytes more are allocated for the main content", more)
			}
		})
	}
}

// divs returns n nested elements.
func divs(n int) string { return strings.Repeat("<div>", n) }

// TestStepsOfSelectorsAreBounded applies selectors to the pages that would take them longest.
func TestStepsOfSelectorsAreBounded(t *testing.T) {
	var (
		list    = strings.Repeat("<p>x</p>", 30_000) + "<q>y</q>"
		deep    = divs(500) + strings.Repeat("<a>y</a>", 2000)
		texts   = divs(500) + strings.Repeat("x<br>", 100_000)
		notes   = strings.Repeat("<p></p>", 30_000) + strings.Repeat("<!---->", 30_000)
		options = "<fieldset disabled>" + divs(400) + strings.Repeat("<input lang=de>", 10_000)
	)
	for _, test := range []struct {
		name, css, html string
		missing         bool
		most            int // steps for each byte of the page
	}{
		{"descendants of descendants", "article div div a", deep, false, 20},
		{"descendants of many ancestors", "div div div div div a", deep, false, 1000},
		{"siblings of siblings", "p ~ p ~ p ~ p ~ q", list, false, 30},
		{"neighbours beyond comments", "p + q", notes, false, 10},
		{"descendants, four deep", ":has(:has(:has(:has(b))))", deep, false, 24},
		{"relative selectors", "div:has(> div:has(~ b), + i div)", deep, false, 60},
		{"one of several, four deep", ":is(:is(:is(:is(b), a), b), a)", deep, false, 80},
		{"descendants and ancestors", "div:has(b) div:has(b) a:not(:has(i) b)", deep, false, 40},
		{"children", ":haschild(:haschild(b))", list, false, 20},
		{"what is not", ":not(:not(:not(div div div b)))", list, false, 40},
		{"place in a list", "p:nth-child(2n)", list, true, 0},
		{"place in a list, from its end", "p:nth-last-child(2n+1)", list, true, 0},
		{"place among the same", "p:nth-of-type(29999)", list, true, 0},
		{"place before comments", "p:last-child", notes, true, 0},
		{"only one", "p:only-of-type", notes, true, 0},
		{"place in a short list", ":nth-child(2n) ~ q", strings.Repeat("<p>x</p>", 10_000) + "<q>y</q>", false, 2000},
		{"first in a list, read from it", "q:first-of-type", list, false, 20},
		{"text", ":contains(z)", texts, true, 0},
		{"text of the nodes themselves", "br:contains(z)", texts, false, 20},
		{"text by regular expression", ":matches(z.*z)", texts, true, 0},
		{"languages", ":lang(fr)", options, false, 1000},
		{"what is enabled", ":enabled", options, false, 1000},
		{"matches in matches", "div", divs(500) + strings.Repeat("<!---->", 100_000), true, 0},
		{"matches in matches, with more text than there may be", "div", texts, false, 40},
		{"a text of megabytes in matches", "div", divs(500) + strings.Repeat("x", 2_000_000), false, 10},
		{"attributes of megabytes in matches", "div", divs(500) + `<a href="` + strings.Repeat("x", 2_000_000) + `">y</a>`, true, 0},
		{"a heading after a list", "q", list, false, 20},
		{"many words in one attribute", strings.Repeat(".z,", 500) + ".z", `<p class="` + strings.Repeat("a ", 1_000_000) + `">`, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.missing {
				slow(t)
			}
			selectors := selectorsOf(t, "a=head", "b="+test.css, "c=head")
			x := NewExtractor(selectors...)
			html := "<title>t</title>" + test.html
			c := x.Extract(Document{URL: here, ContentType: "text/html", Body: []byte(html)})
			steps := MaxSteps - x.search.left
			t.Logf("%d steps for %d bytes", steps, len(html))
			if c.Flat || steps > MaxSteps {
				t.Errorf("flat %v, %d steps", c.Flat, steps)
			}
			var want []string
			if test.missing {
				want = []string{"b", "c"}
			} else if most := test.most * len(html); steps > most {
				t.Errorf("%d steps, more than %d", steps, most)
			}
			if !slices.Equal(c.Missing, want) {
				t.Errorf("missing %q, want %q", c.Missing, want)
			}
			check(t, c)
		})
	}
	c := NewExtractor(Selector{name: "a"}).Extract(Document{URL: here, ContentType: "text/html", Body: []byte(strings.Repeat("<p>", maxNodes+1))})
	if !c.Flat || len(c.Missing) > 0 {
		t.Errorf("more elements than there may be: flat %v, missing %q", c.Flat, c.Missing)
	}
}

// check checks the guarantees of the package.
func check(t *testing.T, c Content) {
	t.Helper()
	if len(c.Text) > MaxText || len(c.AnchorText) > MaxAnchors || len(c.Links) > MaxLinks {
		t.Errorf("unbounded: %d bytes of text, %d of anchors, %d links", len(c.Text), len(c.AnchorText), len(c.Links))
	}
	texts := []string{c.Text, c.AnchorText, c.Title, c.Description, c.Keywords, c.Lang, c.RobotsMeta, c.Canonical, c.Charset}
	for _, s := range texts[2:] {
		if len(s) > max(MaxMeta, weburl.MaxLength) {
			t.Errorf("unbounded: %d bytes", len(s))
		}
	}
	size := 0
	seen := map[string]bool{}
	for _, l := range c.Links {
		size += len(l.URL) + len(l.Anchor) + len(l.Context) + len(l.Rel) + len(l.Path)
		if len(l.Anchor) > MaxAnchor || len(l.Context) > MaxContext || len(l.Path) > MaxPath || len(l.Rel) > MaxPath || len(l.Tag) > 10 {
			t.Errorf("unbounded link to %.100s", l.URL)
		}
		if canonical, err := weburl.Canonical(l.URL); err != nil || canonical != l.URL {
			t.Errorf("link to %.100q is not canonical: %.100q, %v", l.URL, canonical, err)
		}
		if seen[l.URL] {
			t.Errorf("%.100s is there twice", l.URL)
		}
		seen[l.URL] = true
		if strings.Count(l.Context, "\n") > 1 || strings.Contains(l.Anchor, "\n") {
			t.Errorf("lines in anchor %q or context %q", l.Anchor, l.Context)
		}
		texts = append(texts, l.Anchor, l.Context, l.Rel, l.Path)
	}
	if size > 2*maxLinkBytes {
		t.Errorf("unbounded: %d bytes of links", size)
	}
	if n := len(c.Links); c.OutDegree < n-1 || n < MaxLinks && size < maxLinkBytes/2 && c.OutDegree > n {
		t.Errorf("out-degree %d with %d links", c.OutDegree, n)
	}
	for _, f := range c.Fields {
		texts = append(texts, f.Name)
		texts = append(texts, f.Values...)
	}
	for _, s := range texts {
		if !utf8.ValidString(s) {
			t.Errorf("no UTF-8: %.100q", s)
		}
		if s != strings.TrimSpace(s) && !strings.HasPrefix(s, "\n") && !strings.HasSuffix(s, "\n") {
			t.Errorf("space around %.100q", s)
		}
	}
}

// treeSize returns the number of elements and half attributes of the tree, or 0 if there is
// none.
func treeSize(page string) int {
	root, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		return 0
	}
	size := 0
	for node := range root.Descendants() {
		size += 2 + len(node.Attr)
	}
	return size / 2
}

func TestTreeSizeIsBounded(t *testing.T) {
	slow(t)
	var (
		scan construction
		c    collector
	)
	for _, test := range hostile {
		if len(test.html) > 4<<20 {
			continue
		}
		c.reset()
		if !scan.read(test.html, &c) {
			continue
		}
		if size, most := treeSize(test.html), maxExtra+4*len(test.html); size > most {
			t.Errorf("%s: the tree has %d elements, more than %d", test.name, size, most)
		}
	}
}

// A text without spaces, as in Chinese, is cut at the limit, and not left out because its one long word
// does not fit.
func TestTextWithoutSpacesIsCut(t *testing.T) {
	for _, words := range []string{"中文。", "ไทย"} {
		body := "<p>before " + strings.Repeat(words, 2*MaxText/len(words))
		c := NewExtractor().Extract(Document{URL: here, ContentType: "text/html; charset=utf-8", Body: []byte(body)})
		if n := len(c.Text); n < MaxText-10 || n > MaxText || !utf8.ValidString(c.Text) {
			t.Errorf("%s: %d bytes of text, valid UTF-8: %v", words, n, utf8.ValidString(c.Text))
		}
		check(t, c)
	}
}
