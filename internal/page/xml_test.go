package page

import (
	"fmt"
	"strings"
	"testing"
)

var xmlTable = []struct{ name, xml, title, text, link string }{
	{"a prefix of XHTML", `<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:head><h:title>T</h:title><h:script src="x"/></h:head><h:body><h:p>a<h:br/>b <h:a href="/x">c</h:a></h:p></h:body></h:html>`, "T", "a\nb c", "http://example.org/x"},
	{"a prefix that begins later", `<html><h:p>a</h:p><div xmlns:h='http://www.w3.org/1999/xhtml'><h:p>b</h:p></div></html>`, "", "a\nb", ""},
	{"a prefix of another namespace", `<html xmlns:h="http://example.org/"><body>a<h:script>b</h:script>c</body></html>`, "", "abc", ""},
	{"prefixes of SVG and MathML", `<html xmlns:s="http://www.w3.org/2000/svg" xmlns:m="http://www.w3.org/1998/Math/MathML"><s:svg><s:title>T</s:title><s:text>a</s:text></s:svg><m:math><m:mi>b</m:mi><m:annotation>c</m:annotation></m:math></html>`, "", "a b", ""},
	{"names that only begin with a prefix", `<html xmlns:h="http://www.w3.org/1999/xhtml"><h:>a</h:><h:1>b</h:1><hh:p>c</hh:p></html>`, "", "abc", ""},
	{"entities", `<!DOCTYPE html [<!ENTITY one "1"> <!ENTITY two '&one;+&one;'><!ENTITY t "<title>T</title>">]><html><head>&t;</head><body>&two; <a href="?&two;">&#38;one;</a> &three; &eacute;</body></html>`, "T", "1+1 &one; &three; é", "http://example.org/dir/page.html?1+1"},
	{"entities, an old doctype", `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd" [
		<!-- ]> "it's" --><?x ]> ?><!ELEMENT x (y|z)*><!ATTLIST p a CDATA "]>"><!ENTITY % p "<!ENTITY no '1'>">%p;
		<!ENTITY e SYSTEM "file:///etc/passwd"> <!ENTITY x "first"><!ENTITY x "second"><!ENTITY lt "no"> ] ><html><p>&x; &lt; &e; &no;</p></html>`, "", "first < &e; &no;", ""},
	{"character references in a declaration", `<!DOCTYPE html [<!ENTITY a "&#60;b>1&#x3c;/b>"><!ENTITY b "&#38;lt;">]><p>2&a;3&b;</p>`, "", "213<", ""},
	{"quotes and tags within an attribute", `<!DOCTYPE html [<!ENTITY q '"x'><!ENTITY g "<>">]><p><a title="&q;&g;" href="/&q;&g;">a</a></p>`, "", "a", "http://example.org/%22x%3C%3E"},
	{"not in comments and CDATA", `<!DOCTYPE html [<!ENTITY x "y">]><p><!-- &x; --><![CDATA[&x;]]>&x;</p>`, "", "&x;y", ""},
	{"entities of entities of themselves", `<!DOCTYPE html [<!ENTITY x "a&y;"><!ENTITY y "b&x;">]><p>&x;</p>`, "", "abababab&x;", ""},
	{"a subset without end", `<!DOCTYPE html [<!ENTITY x "y"><p>a</p>`, "", "a", ""},
	{"a subset without entities", `<!DOCTYPE html [<!ELEMENT p ANY>]><p>a</p>`, "", "a", ""},
	{"no subset", `<!DOCTYPE html><p>[a]&gt;</p>`, "", "[a]>", ""},
}

func TestNamespacesAndEntities(t *testing.T) {
	for _, test := range xmlTable {
		t.Run(test.name, func(t *testing.T) {
			c := NewExtractor().Extract(Document{URL: here, ContentType: "application/xhtml+xml", Body: []byte(`<?xml version="1.0"?>` + test.xml)})
			link := ""
			if len(c.Links) > 0 {
				link = c.Links[0].URL
			}
			if c.Title != test.title || c.Text != test.text || link != test.link {
				t.Errorf("title %q, text %q, link %q; want %q, %q, %q", c.Title, c.Text, link, test.title, test.text, test.link)
			}
		})
	}
}

func TestExpansionIsBounded(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString(`<!ENTITY l0 "lol">`)
	for i := range 20 {
		fmt.Fprintf(&laughs, `<!ENTITY l%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&l%d;", i), 10))
	}
	for name, page := range map[string]string{
		"exponential": `<!DOCTYPE html [` + laughs.String() + `]><p>&l7;&l20;</p>`,
		"quadratic":   `<!DOCTYPE html [<!ENTITY x "` + strings.Repeat("x", 50_000) + `">]><p>` + strings.Repeat("&x;", 50_000) + `</p>`,
		"many":        `<!DOCTYPE html [` + numbered(`<!ENTITY x%d "x">`, 10_000) + `]><p>` + numbered("&x%d;", 100_000) + `</p>`,
		"empty":       `<!DOCTYPE html [<!ENTITY y ""><!ENTITY x "` + strings.Repeat("&y;", 50_000) + `">]><p>` + strings.Repeat("&x;", 50_000) + `</p>`,
		"in tags":     `<!DOCTYPE html [<!ENTITY x "` + strings.Repeat("<", 50_000) + `">]><p a="` + strings.Repeat("&x;", 50_000) + `">a</p>`,
	} {
		const longest = len("&#34;") // of an escaped byte
		if got := expandEntities(page); got == page || len(got) > len(page)+longest*maxExpansion {
			t.Errorf("%s: %d bytes become %d", name, len(page), len(got))
		}
	}
}
