package page

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spoor/internal/wire"
)

const here = "http://example.org/dir/page.html"

// extract extracts the content of a page of the table tests.
func extract(html string, selectors ...Selector) Content {
	return NewExtractor(selectors...).Extract(Document{URL: here, ContentType: "text/html", Body: []byte(html)})
}

// withScanAndTree runs f with the content by the scanner, and with that by the tree of
// golang.org/x/net/html.
func withScanAndTree(t *testing.T, html string, f func(t *testing.T, c Content)) {
	t.Helper()
	t.Run("scan", func(t *testing.T) { f(t, extract(html)) })
	t.Run("tree", func(t *testing.T) {
		doc := Document{URL: here, ContentType: "text/html", Body: []byte(html)}
		c, ok := byTree(&doc, NewExtractor())
		if !ok {
			t.Fatal("no tree")
		}
		f(t, c)
	})
}

// byTree returns the content of markup by the tree of golang.org/x/net/html. It returns false
// if there is no tree.
func byTree(doc *Document, x *Extractor) (content Content, ok bool) {
	c := collector{agent: x.Agent}
	c.reset()
	text, charset, guessed := doc.decode(true)
	root := tree(text)
	if root == nil {
		return content, false
	}
	c.walk(root)
	if c.hasFrames {
		var t construction
		c.reset()
		t.readFrames(text, &c, true)
	}
	content.Charset, content.CharsetGuessed = charset, guessed
	c.finish(doc, &content, false)
	return content, true
}

var textTable = []struct{ name, html, want string }{
	{"blocks stand apart", "<h1>One</h1><p>two <b>th</b>ree<div>four</div>", "One\ntwo three\nfour"},
	{"inline elements do not split words", "a<b>b</b>c <i> d</i>", "abc d"},
	{"space is collapsed, the no-break space too", "<p> a \t\n b&nbsp;&nbsp;c　d\v\x01e ", "a b c d e"},
	{"a line ends at br", "a<br>b", "a\nb"},
	{"cells and items stand apart", "<table><tr><td>a<td>b<tr><th>c</table><ul><li>d<li>e</ul>", "a\nb\nc\nd\ne"},
	{"images and buttons separate words", "a<img src=x alt=nothing>b<button>c</button>d", "a b c d"},
	{"no script, style, comment or template", "a<script>1<2</script><style>p{}</style><!-- <p>x --><template><p>t</template> b", "a b"},
	{"noscript is text", "<head><noscript><link rel=x></noscript></head><body>a <noscript>b <i>c</i></noscript>", "a b c"},
	{"the title is no text", "<title>T &amp; t</title>a", "a"},
	{"entities are decoded", "&lt;a&gt; &eacute;&#233;&#xE9; &#0; &#xD800;", "<a> ééé \uFFFD \uFFFD"},
	{"text of forms", "<textarea>a <b></textarea><select><option>b<option>c</select><input value=d>", "a <b>\nb\nc"},
	{"formulas without their source", "<math><mi>x</mi><mo>=</mo><mn>1</mn><annotation>x=1</annotation></math>", "x=1"},
	{"fallback of an iframe is not read", "a<iframe>no <b>frames</b></iframe> b", "a b"},
	{"hidden", `a<div hidden>1<p>2</div>b <p HIDDEN="">3</p><span hidden=x>4</span>c`, "ab c"},
	{"hidden until found", "<p hidden=until-found>a<p hidden=UNTIL-found>b", "a\nb"},
	{"names that begin or end with hidden", "<p aria-hidden=true>a<p data-hidden>b<p class=hidden>c<p hidde=n>d<p hiddenn>e", "a\nb\nc\nd\ne"},
	{"the whole page is hidden", "<html hidden><body hidden>a", "a"},
	{"hidden in hidden", "a<div hidden>1<div hidden>2</div>3<dialog open>4</dialog></div>b", "ab"},
	{"hidden in a block that goes on", "<p>a <b>b<i hidden>1</b>2</i> c", "a b c"},
	{"hidden and reopened", "<p>a<i hidden>1<p>2</i>b", "a\nb"},
	{"hidden before a table", "<table hidden><tr><td>1</table>a<table><div hidden>2</div><tr><td>b</table>", "a\nb"},
	{"hidden in a drawing is an attribute of nothing", "<svg hidden>a</svg>", "a"},
	{"dialogs", "<p>a</p><dialog>1</dialog><dialog open>b</dialog><dialog open hidden>2</dialog><dialog open popover>c</dialog>", "a\nb\nc"},
	{"popovers", "<p>a</p><div popover>1</div><div popover=manual>2</div>", "a"},
	{"details are text", "<details><summary>a</summary>b</details>", "a\nb"},
	{"ruby", "<ruby>暗<rp>(</rp><rt>あん</rt><rp>)</rp>号<rt>ごう</ruby>の話", "暗号の話"},
	{"ruby with bases and containers", "a <ruby><rb>b<rb>c<rt>1<rt>2<rtc><rt>3</rtc></ruby>d", "a bcd"},
	{"texts of a drawing", "<svg><desc>1</desc><metadata><x>2</x></metadata><text>a</text><text>b<tspan>c</tspan></text></svg>", "a b c"},
	{"nothing", "", ""},
	{"only space", " \n <p> </p>", ""},
}

func TestText(t *testing.T) {
	for _, test := range textTable {
		t.Run(test.name, func(t *testing.T) {
			withScanAndTree(t, test.html, func(t *testing.T, c Content) {
				if c.Text != test.want {
					t.Errorf("text %q, want %q", c.Text, test.want)
				}
			})
		})
	}
}

var metaTable = []struct {
	name, html string
	want       Content
}{
	{"title", "<title> A \n <b>b</b> &amp; c </title><title>second</title>", Content{Title: "A <b>b</b> & c"}},
	{"base and links of a drawing", `<svg><base href=/b/><link rel=canonical href=c></svg>`, Content{}},
	{"title of a drawing", "<svg><title>drawing</title></svg>", Content{}},
	{"title from Open Graph", `<meta property="OG:Title" content="A"><title> </title>`, Content{Title: "A"}},
	{"description and keywords", `<META NAME=Description CONTENT=" d  d "><meta name=keywords content=k,l>`, Content{Description: "d d", Keywords: "k,l"}},
	{"description from Open Graph", `<meta property=og:description content=g>`, Content{Description: "g"}},
	{"description before Open Graph", `<meta property=og:description content=g><meta name=description content=d>`, Content{Description: "d"}},
	{"the first that says something", `<meta name=description content=""><meta name=description content=x><meta name=description content=y>`, Content{Description: "x"}},
	{"robots, all of them", `<meta name=ROBOTS content="NoIndex"><meta name=robots content="nofollow">`, Content{RobotsMeta: "noindex, nofollow"}},
	{"robots, those for us, and not for others", `<meta name=Spoor content="NoArchive"><meta name=googlebot content="nofollow"><meta name=robots content="all">`, Content{RobotsMeta: "noarchive, all"}},
	{"language", `<html lang=" en_GB ">`, Content{Lang: "en-GB"}},
	{"language of XHTML", `<html xml:lang="de">`, Content{Lang: "de"}},
	{"language from meta", `<meta http-equiv=Content-Language content="fr, en">`, Content{Lang: "fr"}},
	{"what is no language", `<html lang="no way!">`, Content{}},
	{"canonical", `<base href=/b/><link rel="x CANONICAL" href="c?#f">`, Content{Canonical: "http://example.org/b/c?"}},
	{"canonical elsewhere than the web", `<link rel=canonical href="mailto:a@b">`, Content{}},
}

func TestMetaElements(t *testing.T) {
	for _, test := range metaTable {
		t.Run(test.name, func(t *testing.T) {
			withScanAndTree(t, test.html, func(t *testing.T, c Content) {
				c.Charset, c.Text, c.Simhash = "", "", ""
				if d := cmp.Diff(test.want, c); d != "" {
					t.Error(d)
				}
			})
		})
	}
}

// long returns a text of n words.
func long(word string, n int) string { return strings.TrimSpace(strings.Repeat(word+" ", n)) }

var linkTable = []struct {
	name, html string
	want       []wire.Link
}{
	{"resolved, canonical, in order", `<a href=b>1</a><a href="//A.org">2</a><a href="?q">3</a>`, []wire.Link{
		{URL: "http://example.org/dir/b", Anchor: "1"},
		{URL: "http://a.org/", Anchor: "2"},
		{URL: "http://example.org/dir/page.html?q", Anchor: "3"},
	}},
	{"http and https only", `<a href=mailto:a@b>1</a><a href="javascript:x">2</a><a href=ftp://x/>3</a><a href="https://x/">4</a><a href="http://">5</a>`, []wire.Link{
		{URL: "https://x/", Anchor: "4"},
	}},
	{"places in the same page are no links, the page itself is", `<a href="#top">1</a><a href="">2</a><a href=" #x">3</a><a href="page.html#y">4</a>`, []wire.Link{
		{URL: here, Anchor: "4"},
	}},
	{"base, wherever it stands", `<a href=x>1</a><a href="#y">2</a><base href="/b/"><base href="/c/">`, []wire.Link{
		{URL: "http://example.org/b/x", Anchor: "1"},
		{URL: "http://example.org/b/", Anchor: "2"},
	}},
	{"an empty base counts", `<base href=""><base href="/c/"><a href=x>1</a>`, []wire.Link{
		{URL: "http://example.org/dir/x", Anchor: "1"},
	}},
	{"an invalid base counts", `<base target=t><base href="http://["><base href="/c/"><a href=x>1</a>`, []wire.Link{
		{URL: "http://example.org/dir/x", Anchor: "1"},
	}},
	{"base that is none", `<base href="javascript:"><a href=x>1</a>`, []wire.Link{
		{URL: "http://example.org/dir/x", Anchor: "1"},
	}},
	{"frames, areas, refresh", `<meta http-equiv=Refresh content="0; URL='r'"><map><area href=m alt=" a  b "><area alt=c></map><iframe src=i title=t></iframe><iframe src="about:blank"></iframe>`, []wire.Link{
		{URL: "http://example.org/dir/r", Tag: "meta"},
		{URL: "http://example.org/dir/m", Anchor: "a b", Tag: "area"},
		{URL: "http://example.org/dir/i", Anchor: "t", Tag: "iframe"},
	}},
	{"a frameset", `<frameset><frame src=a><frame src=b></frameset>`, []wire.Link{
		{URL: "http://example.org/dir/a", Tag: "frame"},
		{URL: "http://example.org/dir/b", Tag: "frame"},
	}},
	{"a refresh without target", `<meta http-equiv=refresh content="5">`, nil},
	{"the longest anchor wins, the first keeps the place", `<a href=x>a</a><a href=y>y</a><a href="x#f" rel=r>longer</a><a href=x>equal!</a>`, []wire.Link{
		{URL: "http://example.org/dir/x", Anchor: "longer", Rel: "r"},
		{URL: "http://example.org/dir/y", Anchor: "y"},
	}},
	{"images speak where there is no text", `<a href=x><img alt="one"> <img alt=" t  wo"></a><a href=y><img alt=no>yes</a><a href=z title=" z "><img></a>`, []wire.Link{
		{URL: "http://example.org/dir/x", Anchor: "one t wo"},
		{URL: "http://example.org/dir/y", Anchor: "yes"},
		{URL: "http://example.org/dir/z", Anchor: "z"},
	}},
	{"rel in lower case", `<a rel=" NoFollow  UGC" href=x>x</a>`, []wire.Link{
		{URL: "http://example.org/dir/x", Anchor: "x", Rel: "nofollow ugc"},
	}},
	{"other languages, which readers see before they see link elements", `<link rel="Alternate" hreflang=de href="/de" title="auf Deutsch"><link rel=alternate hreflang=x-default href=/><link rel=alternate hreflang=fr href=/fr title="en français, s'il vous plaît"><link rel=alternate hreflang=en href=page.html><link rel="alternate stylesheet" hreflang=de href=/css><link rel=alternate hreflang="??" href=/no><link rel=alternate type=application/rss+xml href=/feed><a href=/fr lang=fr>fr</a><a hreflang=pt_BR href=/pt>pt</a>`, []wire.Link{
		{URL: "http://example.org/de", Anchor: "auf Deutsch", Rel: "alternate", Hreflang: "de", Tag: "link"},
		{URL: "http://example.org/", Rel: "alternate", Hreflang: "x-default", Tag: "link"},
		{URL: "http://example.org/fr", Anchor: "fr", Hreflang: "fr"},
		{URL: "http://example.org/pt", Anchor: "pt", Hreflang: "pt-BR"},
	}},
	{"the next and the previous page", `<LINK REL="Next" HREF=3><link rel="x prev" href=1 title="Chapter 1"><link rel=next href="#up"><link rel=stylesheet href=s><link rel=next><a href=1>back</a>`, []wire.Link{
		{URL: "http://example.org/dir/3", Rel: "next", Tag: "link"},
		{URL: "http://example.org/dir/1", Anchor: "back"},
	}},
	{"rel of paid links and of links in comments", `<a rel="sponsored" href=x>x</a><a rel="UGC NoFollow" href=y>y</a>`, []wire.Link{
		{URL: "http://example.org/dir/x", Anchor: "x", Rel: "sponsored"},
		{URL: "http://example.org/dir/y", Anchor: "y", Rel: "ugc nofollow"},
	}},
	{"a link that is not closed", `<a href=x>one two<p><a href=y>three`, []wire.Link{
		{URL: "http://example.org/dir/x", Anchor: "one two"},
		{URL: "http://example.org/dir/y", Anchor: "three"},
	}},
	{"names are no links", `<a name=x>one</a> <a href=y>two</a>`, []wire.Link{
		{URL: "http://example.org/dir/y", Anchor: "two"},
	}},
	{"links in noscript, not in template or comment", `<noscript><a href=x>x</a></noscript><template><a href=y>y</a></template><!--<a href=z>z</a>-->`, []wire.Link{
		{URL: "http://example.org/dir/x", Anchor: "x"},
	}},
	{"broken attributes", `<a class="q" href = ' x ' href=y onclick="a>b">x</a`, []wire.Link{
		{URL: "http://example.org/dir/x", Anchor: "x"},
	}},
}

func TestLinks(t *testing.T) {
	for _, test := range linkTable {
		t.Run(test.name, func(t *testing.T) {
			withScanAndTree(t, test.html, func(t *testing.T, c Content) {
				for i := range test.want {
					if test.want[i].Tag == "" {
						test.want[i].Tag = "a"
					}
				}
				ignore := cmpopts.IgnoreFields(wire.Link{}, "Path", "Context")
				if d := cmp.Diff(test.want, c.Links, ignore, cmpopts.IgnoreUnexported(wire.Link{})); d != "" {
					t.Error(d)
				}
			})
		})
	}
}

var contextTable = []struct{ name, html, want string }{
	{"before and after", "<p>one <a href=x>link</a> two", "one\ntwo"},
	{"its block only", "zero<p>one <a href=x>link</a> two<p>three", "one\ntwo"},
	{"inline elements and lines are no blocks", "<li>one<br><b>two <a href=x>link</a></b>, three<br>four</li>", "one two\n, three four"},
	{"only before", "<table><tr><td>one <a href=x>link</a></td><td>two", "one\n"},
	{"only after", "<table><tr><td>one<td><a href=x>link</a> two", "\ntwo"},
	{"nothing", "<li>one<li><a href=x>link</a><li>two", ""},
	{"around a link that holds blocks", "<div>one <a href=x><h2>link</h2><p>more</p></a> two</div>", "one\ntwo"},
	{"other links are words too", "<p><a href=w>w</a> <a href=x>link</a> <a href=z>z</a>", "w\nz"},
	{"no more than 25 words", "<p>" + long("b", 30) + " <a href=x>link</a> " + long("a", 30), long("b", 25) + "\n" + long("a", 25)},
	{"beside the word", "<p>pre<a href=x>link</a>post", "pre\npost"},
}

func TestContext(t *testing.T) {
	for _, test := range contextTable {
		t.Run(test.name, func(t *testing.T) {
			withScanAndTree(t, test.html, func(t *testing.T, c Content) {
				for _, l := range c.Links {
					if l.URL != "http://example.org/dir/x" {
						continue
					}
					if l.Context != test.want {
						t.Errorf("context %q, want %q", l.Context, test.want)
					}
					return
				}
				t.Error("no link")
			})
		})
	}
}

func TestContextAcrossBlocks(t *testing.T) {
	x := NewExtractor()
	x.AcrossBlocks = true
	for _, test := range []struct{ name, html, want string }{
		{"blocks before and after", "<h1>zero</h1><p>one <a href=x>link</a> two<p>three", "zero one\ntwo three"},
		{"no more than 25 words", "<p>" + long("b", 30) + "<ul><li><a href=x>link</a></ul>" + long("a", 30), long("b", 25) + "\n" + long("a", 25)},
		{"what is in the head is not in the text", "<link rel=next href=x><p>one", ""},
		{"a link that does not end", "<p>one<p><a href=x>two", "one\n"},
		{"nothing", "<a href=x>link</a>", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := x.Extract(Document{URL: here, ContentType: "text/html", Body: []byte(test.html)})
			if len(c.Links) != 1 || c.Links[0].Context != test.want {
				t.Errorf("links %+v, want one in %q", c.Links, test.want)
			}
		})
	}
}

func TestPath(t *testing.T) {
	const html = `<html class=no-js><body><div class=" menu  wide"><ul><li><a class=w-1/2 href=x>x</a></ul></div>`
	withScanAndTree(t, html, func(t *testing.T, c Content) {
		if got, want := c.Links[0].Path, "html.no-js/body/div.menu/ul/li/a.w-1_2"; got != want {
			t.Errorf("path %q, want %q", got, want)
		}
	})
	const odd = `<html><body><div CLASS=a class=b><p class class=b><i data-x=1 classs=c id=2 cLass="&amp;d e"><svg class="f"><a xlink:href=y></a></svg><a href=x>x</a>`
	withScanAndTree(t, odd, func(t *testing.T, c Content) {
		if got, want := c.Links[0].Path, "html/body/div.a/p/i.&d/svg.f/a"; got != want {
			t.Errorf("path %q, want %q", got, want)
		}
		if got, want := c.Links[1].Path, "html/body/div.a/p/i.&d/a"; got != want {
			t.Errorf("path %q, want %q", got, want)
		}
	})
	deep := extract(strings.Repeat("<div class=some-long-name>", 100) + "<a href=x>x</a>")
	if p := deep.Links[0].Path; len(p) > MaxPath || !strings.HasPrefix(p, "div.some-long-name/div.") || !strings.HasSuffix(p, "/a") {
		t.Errorf("a long path is %q", p)
	}
}

func TestOutDegree(t *testing.T) {
	c := extract(`<a href=x>1</a><a href="x#2">2</a><a href=y>3</a><a href=page.html>4</a><a href=mailto:z@z>5</a>`)
	if c.OutDegree != 2 || len(c.Links) != 3 {
		t.Errorf("out-degree %d of %d links, want 2 of 3", c.OutDegree, len(c.Links))
	}
	if want := "1 2 3 4 5"; c.AnchorText != want {
		t.Errorf("anchors %q, want %q", c.AnchorText, want)
	}
}

func TestLinkBase(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"https://other.example/a/", "https://other.example/a/x http://y/"},
		{"", "http://y/"},
		{"nonsense", "http://y/"},
	} {
		c := NewExtractor().Extract(Document{URL: test.url, Body: []byte(`<a href=x>1</a><a href=http://y>2</a>`)})
		var urls []string
		for _, l := range c.Links {
			urls = append(urls, l.URL)
		}
		if got := strings.Join(urls, " "); got != test.want {
			t.Errorf("page at %q: links %q, want %q", test.url, got, test.want)
		}
	}
}

func TestOtherTypes(t *testing.T) {
	const markupText = `<p>a <a href=x>b</a>`
	for _, test := range []struct {
		contentType, body, text string
		links                   int
	}{
		{"text/html; charset=x", markupText, "a b", 1},
		{"Application/XHTML+XML", markupText, "a b", 1},
		{"application/xml", `<?xml version="1.0"?>` + markupText, "a b", 1},
		{"text/plain", markupText, "<p>a <a href=x>b</a>", 0},
		{"application/pdf", markupText, "", 0},
		{"image/svg+xml", markupText, "", 0},
		{"application/json", `{"a":1}`, "", 0},
		{"", markupText, "a b", 1},
		{"", "just words < 1", "just words < 1", 0},
		{"", "%PDF-1.4 <a href=x>", "", 0},
		{"", "GIF89a\x00\x00<a href=x>", "", 0},
		{"", "\xFF\xFE<\x00p\x00>\x00a\x00", "a", 0},
		{"text/html", "", "", 0},
		{"text/html, text/html; charset=x", markupText, "a b", 1},
		{"*/*", markupText, "a b", 1},
		{"html", markupText, "a b", 1},
		{"application/x-unheard-of", markupText, "", 0},
	} {
		c := NewExtractor().Extract(Document{URL: here, ContentType: test.contentType, Body: []byte(test.body)})
		if c.Text != test.text || len(c.Links) != test.links {
			t.Errorf("%q as %q: text %q and %d links, want %q and %d", test.body, test.contentType, c.Text, len(c.Links), test.text, test.links)
		}
	}
}

func TestXML(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       Content
	}{
		{"elements that end where they begin", `<html><head><title/><script src="x"/></head><body><a name="n"/>one<br/>two<p/><iframe src='y'/>three</body></html>`,
			Content{Text: "one\ntwo\nthree"}},
		{"CDATA", `<p>a<![CDATA[ <b> &amp; ]]>c<![CDATA[]]>d</p><![CDATA[e`, Content{Text: "a <b> &amp; cd\ne"}},
		{"scripts in CDATA", `<script>//<![CDATA[
			a < b && "</script>" //]]></script><style>/*<![CDATA[*/ p > a /*]]>*/</style><p>c</p>`, Content{Text: "c"}},
		{"drawings", `<svg><g><g/><text>a</text></g></svg><p>b</p>`, Content{Text: "a\nb"}},
		{"feeds", `<rss xml:lang="de"><channel><title>A</title><item><title>B</title><description><![CDATA[<p>c</p>]]></description></item></channel></rss>`,
			Content{Title: "A", Text: "<p>c</p>"}},
		{"nothing of that", `<title>T</title><p>a</p>`, Content{Title: "T", Text: "a"}},
		{"torn", `<p/><a`, Content{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, contentType := range []string{"application/xhtml+xml", ""} {
				body := []byte(`<?xml version="1.0"?>` + test.body)
				c := NewExtractor().Extract(Document{URL: here, ContentType: contentType, Body: body})
				if c.Title != test.want.Title || c.Text != test.want.Text {
					t.Errorf("as %q: title %q, text %q; want %q, %q", contentType, c.Title, c.Text, test.want.Title, test.want.Text)
				}
			}
		})
	}
}

// selectorsOf parses valid selectors.
func selectorsOf(tb testing.TB, list ...string) (selectors []Selector) {
	tb.Helper()
	for _, s := range list {
		selector, err := ParseSelector(s)
		if err != nil {
			tb.Fatal(err)
		}
		selectors = append(selectors, selector)
	}
	return selectors
}

func TestSelectors(t *testing.T) {
	selectors := selectorsOf(t, "z=h2, h1", "a=.x > b", "none=video", "raw=script", "a=i", "title=title", "svg=foreignObject p")
	c := extract(`<title>T</title><h1> One  <p>two</h1><div class=x><b>b</b><p><b>not</b></div><i>i<i>j</i></i><h2>Three</h2><script>{"k": 1}</script><h2></h2><svg><foreignObject><p>in a drawing</p></foreignObject></svg>`, selectors...)
	want := []wire.Values{
		{Name: "a", Values: []string{"b", "ij", "j"}},
		{Name: "raw", Values: []string{`{"k": 1}`}},
		{Name: "svg", Values: []string{"in a drawing"}},
		{Name: "title", Values: []string{"T"}},
		{Name: "z", Values: []string{"One two", "Three"}},
	}
	if d := cmp.Diff(want, c.Fields); d != "" {
		t.Error(d)
	}
}

func TestBadSelectors(t *testing.T) {
	for s, want := range map[string]string{
		"h1":     "no = between",
		"=h1":    "no name before",
		"x=":     "no selector after",
		"x=h1[":  `in "h1["`,
		"x=a:zz": "unknown pseudoclass",
		"x=p}":   `in "p}"`,
	} {
		if _, err := ParseSelector(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", s, err, want)
		}
	}
}

func TestContentIsIndependentOfPage(t *testing.T) {
	const html = `<html lang=de><title>T &amp; t</title><link rel=canonical href="http://example.org/c"><link rel=alternate hreflang=fr href="http://example.org/fr">` +
		`<p class=c>one <a href="http://example.org/x?a&amp;b" title=t>two</a><a href="http://example.org/y"><img alt=A></a> three`
	x := NewExtractor()
	body := []byte(html)
	got := x.Extract(Document{URL: here, Body: body})
	want := NewExtractor().Extract(Document{URL: here, Body: []byte(html)})
	clear(body)
	x.Extract(Document{URL: here, Body: []byte(strings.Repeat(`<html lang=zz><a class=q href="http://other/?x&amp;y" hreflang=zz>zz</a><title>Z&lt;`, 10))})
	if d := cmp.Diff(want, got, cmp.AllowUnexported(wire.Link{})); d != "" {
		t.Error(d)
	}
}

func TestLinksReuseMemory(t *testing.T) {
	x := NewExtractor()
	read := func(html string, memory []wire.Link) []wire.Link {
		return x.Extract(Document{URL: "http://a.example/", ContentType: "text/html", Body: []byte(html), IsUTF8: true, Links: memory}).Links
	}
	const two = `<a href=x rel=next>ex</a> <a href=http://a.example/y hreflang=de>why</a>`
	want := read(two, nil)
	memory := make([]wire.Link, 5)
	for i := range memory {
		memory[i] = wire.Link{URL: "http://old.example/", Rel: "ugc", Hreflang: "fr", Archived: wire.False}
	}
	got := read(two, memory[:1])
	if !reflect.DeepEqual(got, want) || &got[0] != &memory[0] {
		t.Errorf("%+v, want %+v in the memory that was given", got, want)
	}
	isEmpty := func(l wire.Link) bool { return reflect.DeepEqual(l, wire.Link{}) }
	if behind := memory[len(got):]; !isEmpty(behind[0]) || !isEmpty(behind[1]) || !isEmpty(behind[2]) {
		t.Errorf("%+v is left of earlier pages, whose texts it keeps", behind)
	}
	if got := read("no link", memory); len(got) != 0 || cap(got) != cap(memory) || !isEmpty(memory[0]) || !isEmpty(memory[1]) {
		t.Errorf("%d links in room for %d, before %+v", len(got), cap(got), memory)
	}
	if got := read(two, memory[:0:1]); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
