package page

import (
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// FuzzExtract holds the extractor to its promises, on both lanes, whatever
// comes in, and to giving the same for the same page after another.
func FuzzExtract(f *testing.F) {
	for _, test := range textTable {
		f.Add([]byte(test.html), "text/html", "utf-8", here)
	}
	for _, test := range metaTable {
		f.Add([]byte(test.html), "", "", here)
	}
	for _, test := range linkTable {
		f.Add([]byte(test.html), "application/xhtml+xml", "", "https://x.example/")
	}
	for _, test := range contextTable {
		f.Add([]byte(test.html), "text/html", "x-sjis", "")
	}
	for _, test := range charsetTable {
		f.Add([]byte(test.body), "text/html", test.declared, here)
	}
	f.Add([]byte("<a href=x>y"), "text/plain", "", here)
	selectors := []Selector{}
	for _, s := range []string{"a=a, title", "b=:has(p) ~ *", "c=*:not(div):nth-child(2n+1)"} {
		selector, err := ParseSelector(s)
		if err != nil {
			f.Fatal(err)
		}
		selectors = append(selectors, selector)
	}
	x := NewExtractor(selectors...)
	f.Fuzz(func(t *testing.T, body []byte, contentType, charset, url string) {
		doc := Document{URL: url, ContentType: contentType, Charset: charset, Language: charset, Body: body}
		first := x.Extract(doc)
		check(t, first)
		if fresh := NewExtractor(selectors...).Extract(doc); !reflect.DeepEqual(first, fresh) {
			t.Errorf("a used extractor gives %+v, a new one %+v", first, fresh)
		}
		text, _ := decode(body, charset, true)
		var c collector
		c.reset()
		c.tokens(text)
		var content Content
		c.finish(&doc, &content)
		check(t, content)
	})
}

// FuzzGuard looks for a page whose tree is larger than the guard thinks it can
// be: a beginning, and a part that is repeated so that it has consequences.
func FuzzGuard(f *testing.F) {
	f.Add("<p>"+numbered("<font size=%d>", 20), "<p>x")
	f.Add("<p>"+numbered("<font size=%d><object></font></object>", 45), "<p>x")
	f.Add("<b a><i b='>'><u c>", "<p></b><td>")
	f.Add("<table><tr><td>", "<b><table><i></b><p>")
	f.Add("<svg><font color=x>", "<p><nobr><a><b>x</b>")
	f.Add("<noscript><b><select><i a>", "</select><p><select>")
	f.Add("<frameset><noframes><b></noframes>", "<b><noframes></b>")
	f.Add("<template><b>", "<template><i></b></template><p>x")
	f.Fuzz(func(t *testing.T, once, again string) {
		if len(once) > 2000 || len(again) > 50 {
			return
		}
		page := once + strings.Repeat(again, 200)
		size := treeSize(page)
		base := 2*len(page) + 100
		bound, most := roughly(page)
		if size > base+min(bound, dearest) {
			t.Errorf("%d elements, roughly at most %d were expected", size, base+bound)
		}
		if n := closely(page, most); n <= dearest && size > base+n {
			t.Errorf("%d elements, at most %d were expected", size, base+n)
		}
	})
}

// FuzzAttributes holds the walker of the prescan and the guard to where the
// tokenizer ends a tag.
func FuzzAttributes(f *testing.F) {
	for _, s := range []string{"", " a=b c='d>' >x", `a="b"c=d/>`, " = = >", "/a/=b>", ` a = "b`, " a=b'>'>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s != "" && strings.IndexByte("\t\n\f\r />", s[0]) < 0 {
			return // it would go on with the name
		}
		page := "<font" + s
		z := html.NewTokenizer(strings.NewReader(page))
		kind := z.Next()
		raw := len(z.Raw())
		tag := attributes{rest: s}
		n := 0
		for tag.next() {
			n++
		}
		switch {
		case kind == html.ErrorToken:
			if tag.rest != "" {
				t.Errorf("the tag %q does not end, but is thought to end before %q", page, tag.rest)
			}
		case tag.rest != page[raw-1:]:
			t.Errorf("the tag %q ends before %q, not before %q", page, page[raw-1:], tag.rest)
		case n < len(z.Token().Attr):
			t.Errorf("the tag %q has more than %d attributes", page, n)
		}
	})
}
