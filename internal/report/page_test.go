package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"spoor/internal/report"
	"spoor/internal/testfile"
)

// write returns the page as bytes and as a tree.
func write(t testing.TB, p *report.Page) ([]byte, *html.Node) {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, p); err != nil {
		t.Fatal(err)
	}
	tree, err := html.Parse(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), tree
}

func runs(list ...*report.Run) *report.Page { return &report.Page{Runs: list} }

// samples returns pages of every kind.
func samples() map[string]*report.Page {
	agreed := unjudged(sampleRun("agreed", 4))
	agreed.Agreement = &report.Agreement{HeldOut: true, Pages: 100, Both: 40, OnlyCrawl: 10, OnlyClassifier: 15, Neither: 35, Kappa: .49}
	summary := sampleRun("summary", 5)
	summary.Judged, summary.Verdicts = false, nil
	once := sampleComparison()
	once.Reference = ""
	for i := range once.Tracks {
		once.Tracks[i].Units = 1
	}
	longer := sampleRun("longer", 1)
	longer.Fetched, longer.Relevant = 2000, 500
	continued := sampleRun("continued", 1)
	continued.Measures.T, continued.Fetched = 3000, 2000
	return map[string]*report.Page{
		"a longer run":    runs(longer),
		"continued":       runs(continued, unjudged(sampleRun("two", 2))),
		"judged":          runs(sampleRun("judged", 1)),
		"a summary only":  runs(summary),
		"unjudged":        runs(unjudged(sampleRun("unjudged", 2))),
		"without a table": runs(withoutTable(sampleRun("without", 2))),
		"a classifier":    runs(agreed),
		"by two measures": runs(unjudged(sampleRun("one", 1)), by("bm25", unjudged(sampleRun("two", 2)))),
		"by one measure":  runs(unjudged(sampleRun("one", 1)), unjudged(sampleRun("two", 2))),
		"several":         runs(sampleRun("one", 1), unjudged(sampleRun("two", 2))),
		"not begun":       runs(&report.Run{Name: "not begun"}),
		"a comparison":    {Comparison: sampleComparison()},
		"one unit":        {Comparison: once},
		"both":            {Runs: []*report.Run{sampleRun("one", 1)}, Comparison: sampleComparison()},
		"nothing":         {},
	}
}

// elements returns the elements below a node with a name; all if it is "".
func elements(n *html.Node, name string) (list []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && (name == "" || d.Data == name) {
			list = append(list, d)
		}
	}
	return list
}

func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func words(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.Data != "script" && d.Parent.Data != "style" {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func TestPageContent(t *testing.T) {
	for _, test := range []struct {
		name string
		want []string
		not  []string
	}{
		{"judged", []string{
			"398 relevant pages for 1,145 fetches : 35 %; a random crawl of the same web has 11 %, and a clairvoyant one 54 %. It ended when its fetches were spent.",
			"Recall 62 % of the 640 reachable relevant pages", "nAUC 0.58", "50 % recall after 811 fetches; a clairvoyant crawl needs 325",
			"Most came by crossover: 223 of 398 relevant pages.", "called 497 pages relevant, the labels 398: it was too lenient",
			"The 40 hosts with the most relevant pages, of 57", "The 300 with the highest scores; 98 more are left out.", "lazy=true", "robots 31", "status 404 22",
			"3 pages scored 0.7 or more, and the table grew by 1 word. The best word of 2 was in the table already. 3 of the 57 words", "cipher 0.71 expansion https://www1", "cryptography 1 query",
		}, []string{"NaN", "judge in its own cause"}},
		{"a longer run", []string{"398 relevant pages for the first 1,145 of 2,000 fetches"}, nil},
		{"continued", []string{"398 relevant pages for the first 1,145 of 2,000 fetches", "1,145 judged, of 2,000 398 35 %"}, []string{"not by labels"}},
		{"without a table", []string{"relevant pages"}, []string{"Weight table"}},
		{"a summary only", []string{"of the 640 reachable relevant pages", "relevant pages for 1,145 fetches",
			"Relevant pages by operator Relevance in this section is by the measure of the crawl itself, not by labels",
			"Niches Relevance in this section", "Hosts Relevance in this section", "Relevant pages Relevance in this section"}, []string{"The judge’s verdicts"}},
		{"unjudged", []string{"fetches returned a page that is relevant by the measure of the crawl itself. There are no labels to check it.", "Self-harvest 43 %", "called relevant", "12 without text because scripts make it", "The table did not grow: no page scored as high as topic -expand requires. 2 words: of the query"}, []string{"clairvoyant"}},
		{"a classifier", []string{"Agreement with a classifier that was held out from the crawl: κ 0.49", "crawl: relevant 40 10 not relevant 15 35"}, []string{"There are no labels"}},
		{"several", []string{"2 crawls Side by side These crawls call different pages relevant (by labels, by vsm), so their numbers of relevant pages cannot be compared.", "% by labels 62 %", "% by vsm – –"}, []string{"on one scale"}},
		{"by two measures", []string{"(by vsm, by bm25), so", "% by bm25"}, []string{"on one scale"}},
		{"by one measure", []string{"Side by side Relevant pages found by each crawl, on one scale"}, []string{"cannot be compared"}},
		{"not begun", []string{"Nothing has been fetched yet."}, []string{"It has not ended"}},
		{"a comparison", []string{
			"22 strategies compared", "By nAUC: the area under recall over cost, where 0 is a random crawl and 1 a clairvoyant one.",
			"Track E: keywords and example pages linearq comes first, with a mean nAUC of 0.63. Of 21 others, 6 are better than bestfirst and 14 are worse; the rest do not differ significantly.",
			"Track K: keywords alone", "linearq 0.630 0.55 to 0.69 +0.23",
		}, []string{"NaN"}},
		{"one unit", []string{"linearq comes first, with a mean nAUC of 0.63. This is one topic with one set of seeds, so it says nothing about others."}, []string{"better than"}},
		{"nothing", []string{"Nothing to report"}, nil},
	} {
		_, tree := write(t, samples()[test.name])
		text := words(tree)
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the page does not say %q", test.name, want)
			}
		}
		for _, not := range test.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: the page says %q", test.name, not)
			}
		}
		if t.Failed() && os.Getenv("SPOOR_SHOTS") != "" {
			t.Log(text)
		}
	}
}

// nAUC by another T, R or set of seeds is not in the table, as judge table refuses to compare it.
func TestOnlyComparableNAUCIsSideBySide(t *testing.T) {
	for _, test := range []struct {
		change func(*report.Measures)
		want   string
	}{
		{func(*report.Measures) {}, "T = 1,145</span>"},
		{func(m *report.Measures) { m.T = 1000 }, "judged with different T, so their nAUC cannot be compared"},
		{func(m *report.Measures) { m.R, m.SeedDigest = 3, "b" }, "judged with different R and seeds, so"},
		{func(m *report.Measures) { m.SeedDigest = "" }, "T = 1,145</span>"},
	} {
		one, two := sampleRun("one", 1), sampleRun("two", 1)
		one.Measures.SeedDigest, two.Measures.SeedDigest = "a", "a"
		test.change(two.Measures)
		b, _ := write(t, runs(one, two, unjudged(sampleRun("three", 2))))
		page := string(b)
		table := page[strings.Index(page, "Side by side"):strings.Index(page, "</table>")]
		if !strings.Contains(table, test.want) {
			t.Errorf("no %q in %s", test.want, table)
		}
		if left := strings.Contains(table, "judged with"); left == strings.Contains(table, ">nAUC</th>") {
			t.Errorf("nAUC is left out: %t, but its column is %t", left, !left)
		}
	}
}

func TestALongSettingHasALineOfItsOwn(t *testing.T) {
	r := sampleRun("one", 1)
	r.Settings = []report.Setting{{Name: "seed", Value: "1"}, {Name: "stage fetch", Value: "fetch -archive web"}}
	b, _ := write(t, runs(r))
	want := `<div><dt>seed</dt><dd>1</dd></div><div class="long"><dt>stage fetch</dt><dd>fetch -archive web</dd></div>`
	if !bytes.Contains(b, []byte(want)) {
		t.Errorf("no %s", want)
	}
}

func TestWriteIsDeterministic(t *testing.T) {
	for name := range samples() {
		a, _ := write(t, samples()[name])
		b, _ := write(t, samples()[name])
		if !bytes.Equal(a, b) {
			t.Errorf("%s: written twice, the page differs", name)
		}
	}
}

// harmless reports what a page must not contain: foreign scripts, links to anything but
// pages, and markup that the policy would block.
func harmless(t testing.TB, tree *html.Node) {
	t.Helper()
	var policy string
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	for _, n := range elements(tree, "meta") {
		if kind, _ := attribute(n, "http-equiv"); kind == "Content-Security-Policy" {
			policy, _ = attribute(n, "content")
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none';") {
		t.Errorf("the policy is %q", policy)
	}
	seen := map[string]int{}
	for _, n := range elements(tree, "") {
		seen[n.Data]++
		switch n.Data {
		case "script", "style":
			if text := n.FirstChild.Data; !strings.Contains(policy, n.Data+"-src "+hash(text)) {
				t.Errorf("the policy does not allow the %s %.40q", n.Data, text)
			}
		case "iframe", "img", "object", "embed", "base", "form", "input", "audio", "video", "foreignobject", "use", "image", "animate", "set":
			t.Errorf("the page has an element %s", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "src", a.Key == "srcdoc", a.Key == "action":
				t.Errorf("%s has the attribute %s=%q", n.Data, a.Key, a.Val)
			case a.Key == "href" && a.Val != "data:," && !regexp.MustCompile(`^(#[a-z0-9-]+|https?://.*)$`).MatchString(a.Val):
				t.Errorf("%s leads to %q", n.Data, a.Val)
			}
		}
	}
	if seen["script"] != 1 || seen["style"] != 1 || seen["title"] < 1 || seen["h1"] != 1 {
		t.Errorf("there are %d scripts, %d styles and %d headings of the first level", seen["script"], seen["style"], seen["h1"])
	}
}

// fill sets every string of a value to the words.
func fill(v reflect.Value, words string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(words)
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), words)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), words)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, words)
		}
	}
}

func hostile() []string {
	return []string{
		`"><script>alert(1)</script>`,
		`'><img src=x onerror=alert(1)>`,
		`</title></svg></style></script><script>alert(1)</script>`,
		`javascript:alert(1)`,
		`JaVaScRiPt://%0aalert(1)`,
		`data:text/html,<script>alert(1)</script>`,
		"\u202egnirts\u0000\u0007\u2028]]>--><!--",
		`{{.}} ${alert(1)} &lt;script&gt;`,
		"",
	}
}

func TestUntrustedTextIsEscaped(t *testing.T) {
	for _, name := range []string{"both", "a classifier", "several"} {
		for _, words := range hostile() {
			p := samples()[name]
			for _, r := range p.Runs {
				r.Pages = r.Pages[:5]
			}
			fill(reflect.ValueOf(p), words)
			_, tree := write(t, p)
			harmless(t, tree)
			if t.Failed() {
				t.Fatalf("%s, with %q in it", name, words)
			}
		}
	}
}

// plain reports numbers that are not finite.
func plain(t testing.TB, page []byte) {
	t.Helper()
	if m := regexp.MustCompile(`(?:x|y|x1|x2|y1|y2|cx|cy|width|height|d)="[^"]*(?:NaN|Inf|e\+)[^"]*"`).Find(page); m != nil {
		t.Errorf("a picture has the coordinate %.80s", m)
	}
}

func TestPageWithUnknownValues(t *testing.T) {
	nan := math.NaN()
	holes := func(v reflect.Value) {}
	holes = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Float64:
			v.SetFloat(nan)
		case reflect.Int:
			v.SetInt(0)
		case reflect.Pointer:
			if !v.IsNil() {
				holes(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				holes(v.Index(i))
			}
		case reflect.Struct:
			for _, field := range v.Fields() {
				holes(field)
			}
		}
	}
	for name, p := range samples() {
		holes(reflect.ValueOf(p))
		out, tree := write(t, p)
		plain(t, out)
		if text := words(tree); strings.Contains(text, "NaN") {
			t.Errorf("%s: the page says NaN", name)
		}
	}
}

func TestSingular(t *testing.T) {
	r := sampleRun("one", 1)
	r.PagesTotal, r.Pages = 1, r.Pages[:1]
	_, tree := write(t, runs(r))
	if text, want := words(tree), "Relevant pages There is one. Its lineage shows how the crawl found it."; !strings.Contains(text, want) {
		t.Errorf("the page does not say %q", want)
	}
}

func TestPageOfALongRunIsSmall(t *testing.T) {
	long := func(n int) string { return "https://host.example/" + strings.Repeat("long/", n/5) }
	r := sampleRun("long", 1)
	r.PagesTotal, r.Fetched = 7000, 10000
	for g := len(r.Generations); g < report.MaxGenerations; g++ {
		r.Generations = append(r.Generations, r.Generations[g%50])
	}
	r.Table = slices.Repeat([]report.Word{{Word: strings.Repeat("&", 60), Weight: 1e-300, Origin: "expansion", URL: long(300), Href: long(2000)}}, report.MaxTable)
	r.Pages = nil
	for i := range report.MaxPages {
		p := report.Found{URL: long(300), Href: long(2000), Title: strings.Repeat("title ", 33), Operator: strings.Repeat("o", 60), Niche: strings.Repeat("n", 60), Score: 1 / float64(i+1)}
		for range report.MaxSteps {
			s := report.Step{Known: true, URL: long(300), Title: strings.Repeat("&<>\"'", 40), Operator: "link", Query: strings.Repeat("query ", 33)}
			for range report.MaxParents {
				s.Parents = append(s.Parents, long(300))
			}
			for k := range report.MaxReasons {
				s.Reasons = append(s.Reasons, report.Reason{Name: strings.Repeat("r", 60), Value: float64(k) / 3})
			}
			p.Lineage = append(p.Lineage, s)
		}
		r.Pages = append(r.Pages, p)
	}
	for name, p := range map[string]*report.Page{"one": runs(r), "ten": runs(slices.Repeat([]*report.Run{r}, 10)...)} {
		out, tree := write(t, p)
		if len(out) > 2_000_000+500_000*(len(p.Runs)-1) {
			t.Errorf("%s: the page has %d bytes", name, len(out))
		}
		rows := 0
		for _, n := range elements(tree, "td") {
			if class, _ := attribute(n, "class"); class == "page" {
				rows++
			}
		}
		left := strconv.Itoa((7000*len(p.Runs) - rows) / len(p.Runs))
		left = left[:1] + "," + left[1:]
		if text := words(tree); rows == 0 || !strings.Contains(text, left+" more are left out") {
			t.Errorf("%s: of %d pages %d are there, and the page does not say that %s are left out", name, 7000*len(p.Runs), rows, left)
		}
		t.Logf("%s: %d bytes, %d pages", name, len(out), rows)
	}
}

// What screen readers need: one heading of the first level and no level skipped, targets
// for all references, captions, scopes, and images with titles.
func TestAccessibility(t *testing.T) {
	for name, p := range samples() {
		_, tree := write(t, p)
		ids, level := map[string]bool{}, 0
		for _, n := range elements(tree, "") {
			if id, ok := attribute(n, "id"); ok {
				if ids[id] {
					t.Errorf("%s: there are two of %q", name, id)
				}
				ids[id] = true
			}
		}
		for _, n := range elements(tree, "") {
			if by, ok := attribute(n, "aria-labelledby"); ok && !ids[by] {
				t.Errorf("%s: %s is labelled by %q, which is nowhere", name, n.Data, by)
			}
			if to, _ := attribute(n, "href"); strings.HasPrefix(to, "#") && !ids[to[1:]] {
				t.Errorf("%s: a link leads to %s, which is nowhere", name, to)
			}
			switch n.Data {
			case "h1", "h2", "h3", "h4":
				now := int(n.Data[1] - '0')
				if now > level+1 {
					t.Errorf("%s: %q is of level %d after %d", name, words(n), now, level)
				}
				level = now
			case "table":
				if first := elements(n, "")[0]; first.Data != "caption" || words(first) == "" {
					t.Errorf("%s: a table has no caption", name)
				}
			case "th":
				if _, ok := attribute(n, "scope"); !ok {
					t.Errorf("%s: the header %q has no scope", name, words(n))
				}
			case "svg":
				hidden, _ := attribute(n, "aria-hidden")
				if role, _ := attribute(n, "role"); hidden != "true" && (role != "img" || elements(n, "title")[0].Parent != n) {
					t.Errorf("%s: a picture has no name", name)
				}
			}
		}
		if lang, _ := attribute(elements(tree, "html")[0], "lang"); lang != "en" {
			t.Errorf("%s: the page has no language", name)
		}
	}
}

// Text, and lines whose colour has a meaning, have a contrast to the background of at least
// 4.5 to 1, level AA of WCAG 2.2.
func TestColourContrast(t *testing.T) {
	css := testfile.Read(t, "page.css")
	colours := map[string][2]string{}
	for _, m := range regexp.MustCompile(`--(\w+): light-dark\(#(\w{6}), #(\w{6})\)`).FindAllStringSubmatch(string(css), -1) {
		colours[m[1]] = [2]string{m[2], m[3]}
	}
	for name, c := range colours {
		if slices.Contains([]string{"paper", "card", "rule"}, name) {
			continue
		}
		for i, scheme := range []string{"light", "dark"} {
			for _, ground := range []string{"paper", "card"} {
				if r := contrast(t, c[i], colours[ground][i]); r < 4.5 {
					t.Errorf("%s: %s on %s is %.2f to 1", scheme, name, ground, r)
				}
			}
		}
	}
	if len(colours) < 12 {
		t.Errorf("page.css has %d colours", len(colours))
	}
}

// contrast returns the contrast ratio of WCAG 2.2 for two hexadecimal colours.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(s string) (l float64) {
		for i, weight := range []float64{.2126, .7152, .0722} {
			v, err := strconv.ParseUint(s[2*i:2*i+2], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			c := float64(v) / 255
			if c <= .04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+.055)/1.055, 2.4)
			}
			l += weight * c
		}
		return l
	}
	x, y := luminance(a)+.05, luminance(b)+.05
	return max(x/y, y/x)
}
