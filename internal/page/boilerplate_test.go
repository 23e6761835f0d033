package page

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// prose returns n paragraphs of filler.
func prose(n int) string {
	return strings.Repeat("<p>Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua.", n)
}

// menu is a list of links.
const menu = `<ul><li><a href=/>Home</a><li><a href=/news>Latest news</a><li><a href=/about>About us</a><li><a href=/contact>Contact</a></ul>`

// mainTable holds pages of many designs, with words that must and must not be in their main
// content.
var mainTable = []struct {
	name, html string
	in, out    []string
}{
	{"a page of the nineties", `<center>` + menu + `</center><h1>My thesis</h1>` + prose(2) + `<hr><a href=/>Back</a> <a href=x>Next</a><address><a href=m>me</a></address>`,
		[]string{"My thesis", "Lorem"}, []string{"Latest news", "Back", "Next"}},
	{"tables for layout", `<table><tr><td>` + menu + `<td><h2>Report</h2>` + prose(3) + `<td>Votes<br>12<br>34</table>`,
		[]string{"Report", "Lorem"}, []string{"Latest news", "About us"}},
	{"elements of HTML5", `<header><nav>` + menu + `</nav></header><main><article><h1>Head</h1>` + prose(3) + `<p>Short.</p>` + prose(1) + `<aside><p>Read another of our articles, which is about something else and just as long as this.</aside></article></main><footer><p>Copyright 2020 by the owners of this site, who reserve all of their rights and then some more of them.</footer>`,
		[]string{"Head", "Short.", "Lorem"}, []string{"another of our", "Copyright", "About us"}},
	{"names of classes", `<div class="site-header navBar">` + menu + `</div><div id=entry-content>` + prose(3) + `</div><div class=wrap><div id="commentList" class="Comments"><p>I have always said that this is how it would end, and nobody ever wanted to listen to me about it.</div></div>`,
		[]string{"Lorem"}, []string{"always said", "About us"}},
	{"names that are wrong", `<body class="page has-sidebar nav-open"><div class="content-with-footer"><div class=sidebar-layout>` + prose(5) + `</div></div>`,
		[]string{"Lorem"}, nil},
	{"names that would take it all away", `<div class=menu><div class=login>` + prose(5) + `</div></div>`,
		[]string{"Lorem"}, nil},
	{"several articles, of which none is the one", `<article><h2>One</h2>` + prose(1) + `</article><article><h2>Two</h2>` + prose(1) + `</article><article><h2>Three</h2>` + prose(1) + `</article>`,
		[]string{"One", "Two", "Three"}, nil},
	{"a heading without a text", `<main>` + prose(3) + `<h3>Related stories</h3>` + menu + `</main>`,
		[]string{"Lorem"}, []string{"Related", "Latest"}},
	{"links in a text", `<main>` + prose(1) + `<p>As <a href=1>others have shown</a>, and as we have <a href=2>said before</a>, this need not be the case at all.` + prose(1) + `</main>`,
		[]string{"others have shown"}, nil},
	{"a table of links in an article", `<main><h1>Head</h1>By me` + prose(3) + `<h2>Services</h2><table><tr><td><a href=a>Clipboard</a><td>copies<tr><td><a href=b>Cookies</a><td>remembers</table>` + menu + `</main>`,
		[]string{"By me", "Services", "Clipboard", "remembers"}, []string{"About us"}},
	{"a list of links with an introduction", `<div class=nav>` + menu + `</div>` + prose(2) + strings.Repeat(`<li><a href=1>Homework of the first week</a> <a href=2>and its solution</a>`, 30),
		[]string{"Lorem", "Homework"}, []string{"About us"}},
	{"Chinese", `<div class=nav><a href=/>首页</a> <a href=n>新闻</a></div><div><p>这样的掌声、这样的感动，如今已经传遍河北大地。为深入学习优秀毕业生群体的先进事迹、大力弘扬社会主义核心价值体系。<p>如今，学习的热潮正在全省各地深入开展。廊坊以巡演为契机，在全市大中专院校和中小学组织开展活动。</div>`,
		[]string{"掌声", "热潮"}, []string{"首页", "新闻"}},
	{"a page that is nothing but links", menu, []string{"Home", "Contact"}, nil},
	{"links and the date of the page", menu + `<p>This page was last changed on 30 September 1996.`, []string{"Home", "Contact", "September"}, nil},
	{"a few words", `<p>Moved.`, []string{"Moved."}, nil},
	{"nothing", ``, nil, nil},
}

func TestMainContent(t *testing.T) {
	x := NewExtractor()
	x.MainContent = true
	for _, test := range mainTable {
		t.Run(test.name, func(t *testing.T) {
			html := "<title>Title</title>" + test.html
			c, whole := x.Extract(Document{URL: here, ContentType: "text/html", Body: []byte(html)}), extract(html)
			for _, s := range test.in {
				if !strings.Contains(c.Text, s) {
					t.Errorf("%q is not in %q", s, c.Text)
				}
			}
			for _, s := range test.out {
				if strings.Contains(c.Text, s) {
					t.Errorf("%q is in %q", s, c.Text)
				}
			}
			lines := func(s string) []string { return slices.Sorted(strings.SplitSeq(s, "\n")) }
			if all := append(lines(c.Text), lines(c.Boilerplate)...); c.Boilerplate != "" {
				if slices.Sort(all); !slices.Equal(all, lines(whole.Text)) {
					t.Errorf("main content %q and boilerplate %q are not the text", c.Text, c.Boilerplate)
				}
			} else if c.Text != whole.Text {
				t.Errorf("no boilerplate, but the text is %q", c.Text)
			}
			if c.Simhash != new(wordSet).simhash(c.Text, nil) {
				t.Error("the fingerprint is not that of the text")
			}
			if c.Title != "Title" || c.AnchorText != whole.AnchorText || len(c.Links) != len(whole.Links) {
				t.Errorf("title %q, anchors %q and %d links are not those of the page", c.Title, c.AnchorText, len(c.Links))
			}
		})
	}
}

func TestMainContentOfPlainText(t *testing.T) {
	const text = "One.\nTwo.\nThree."
	x := NewExtractor()
	x.MainContent = true
	if c := x.Extract(Document{ContentType: "text/plain", Body: []byte(text)}); strings.Fields(c.Text)[2] != "Three." {
		t.Errorf("text %q, want %q", c.Text, text)
	}
}

// TestClassify covers every path of the decision tree. A number is a number of words of text;
// after a plus, of words of links.
func TestClassify(t *testing.T) {
	type block struct{ words, linked int }
	for _, test := range []struct {
		previous, current, next block
		want                    bool
	}{
		{block{5, 0}, block{10, 4}, block{99, 0}, false}, // more than a third is links
		{block{5, 0}, block{9, 3}, block{5, 0}, true},    // a third is not
		{block{4, 0}, block{16, 0}, block{15, 0}, false},
		{block{5, 0}, block{16, 0}, block{15, 0}, true},
		{block{4, 0}, block{16, 0}, block{16, 0}, true},
		{block{4, 0}, block{17, 0}, block{0, 0}, true},
		{block{9, 5}, block{16, 0}, block{15, 0}, true}, // five ninths
		{block{9, 6}, block{40, 0}, block{17, 0}, false},
		{block{9, 6}, block{40, 0}, block{18, 0}, true},
		{block{9, 6}, block{41, 0}, block{0, 0}, true},
	} {
		lines := []line{{words: test.previous.words, linked: test.previous.linked}, {words: test.current.words, linked: test.current.linked}, {words: test.next.words, linked: test.next.linked}}
		classify(lines)
		if lines[1].content != test.want {
			t.Errorf("%+v is content: %v", test, lines[1].content)
		}
	}
}

func TestRegionNames(t *testing.T) {
	for names, want := range map[string]regionKind{
		"": 0, "x": 0, "entry-content": articleRegion, "articleBody": articleRegion, "nav main": articleRegion, "site-nav": boilerplateRegion,
		"siteNav": boilerplateRegion, "NAV_2": boilerplateRegion, "navy": 0, "canavan": 0, "advertisement": 0, "kommentare": boilerplateRegion,
		"commentcommentcommentcomment": 0, "ad": boilerplateRegion, "ümain": articleRegion, "-": 0,
	} {
		if got := namedAs(names); got != want {
			t.Errorf("%q is named as %d, want %d", names, got, want)
		}
	}
}

// FuzzMainContent checks that main content consists of lines of the text, in order.
func FuzzMainContent(f *testing.F) {
	for _, test := range mainTable {
		f.Add(test.html)
	}
	x := NewExtractor()
	x.MainContent = true
	f.Fuzz(func(t *testing.T, html string) {
		doc := Document{URL: here, ContentType: "text/html", Charset: "utf-8", Body: []byte(html)}
		c, whole := x.Extract(doc), NewExtractor().Extract(doc)
		if !utf8.ValidString(c.Text) || (c.Text == "") != (whole.Text == "") {
			t.Fatalf("%q of %q", c.Text, whole.Text)
		}
		lines := strings.Split(whole.Text, "\n")
		for l := range strings.SplitSeq(c.Text, "\n") {
			i := slices.Index(lines, l)
			if i < 0 {
				t.Fatalf("%q is no line of %q", l, whole.Text)
			}
			lines = lines[i+1:]
		}
		if len(c.Links) != len(whole.Links) || c.Title != whole.Title {
			t.Errorf("%d links and title %q, of the whole page %d and %q", len(c.Links), c.Title, len(whole.Links), whole.Title)
		}
	})
}
