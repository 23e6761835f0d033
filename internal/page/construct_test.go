package page

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// oddTable holds pages whose tree differs from what the tags suggest.
var oddTable = []struct{ name, html string }{
	{"text and a paragraph in a table", `a<table>b<tr><td>c</td>d<p><a href=x>e</a></table>f`},
	{"a link in a row", `<table><tr><a href=x>1<td>2</a><a href=y>3</table>4`},
	{"a table in a table, and text in both", `<table>1<tr>2<td>3<table>4<tr><td>5</table>6</table>7`},
	{"formatting around blocks", `<b>1<p>2<a href=x>3</a></b>4<a href=y>5</a></p>6`},
	{"a link around blocks", `<a href=x>1<div>2<p>3</a>4<a href=y>5</div>6`},
	{"links in links", `<a href=x>1<p>2<a href=y>3<div><a href=z>4`},
	{"images in a link that is taken apart", `<a href=x title=t><img alt=1><p><img alt=2></a><img alt=3>`},
	{"more formatting than is taken along", `<b><i><u><s><tt><p><a href=x>1</b>2<a href=y>3`},
	{"formatting out of a table", `<b><table><tr><i></b>1<td><a href=x>2</table><a href=y>3`},
	{"four alike", `<p><font size=1 color=2><font color=2 size=1><font size=1 color=2><font size="1" color=2><p><a href=x>1`},
	{"formatting in a cell", `<b>1<table><td><a href=x>2</b>3</table><a href=y>4`},
	{"formatting in an object", `<a href=x>1<object>2<a href=y>3</object>4</a>5`},
	{"nobr in nobr", `<nobr>1<nobr>2<p></nobr><a href=x>3`},
	{"what was hidden comes out", `<b><datalist><p>1</b>2<rp>3<rp><p>4`},
	{"a form that ends in a table", `<form><table><form><tr></form><td><a href=x>1</form>2`},
	{"a form around a paragraph", `<form><p>1</form><a href=x>2</p>3`},
	{"a body that is described late", `<a href=x>1</a><body class=c><html class=d lang=de><a href=y>2`},
	{"two languages", `<html xml:lang=fr><html lang=de>`},
	{"head after head", `<head></head> <link rel=next href=x><title>1</title> <meta http-equiv=refresh content="0;y">2`},
	{"a newline that does not count", "<b></p><pre>\n<div><a href=x>1</a></div></pre><pre> \n<div><a href=y>2"},
	{"quirks", `<p><table><tr><td><a href=x>1`},
	{"no quirks", `<!doctype html><p><table><tr><td><a href=x>1`},
	{"selections", `<select><option>1<optgroup>2<option>3<select><a href=x>4<input>5<hr>6`},
	{"lists", `<ul><li>1<ul><li>2</ul><li><div><li>3</div><a href=x>4<dl><dt>5<dd>6<dt>7`},
	{"headings", `<h1>1<h2><a href=x>2</h3>3`},
	{"buttons", `<p><button>1<p>2<button>3</p><a href=x>4`},
	{"ruby", `<ruby>1<rb>2<rt>3<rp>4<rtc>5<rt><a href=x>6`},
	{"templates", `<template><tr><td><a href=x>1</template><a href=y>2<template><template><b></template>`},
	{"noscript", `<head><noscript><link rel=next href=x><p>1</noscript><noscript><title>2</title></noscript>`},
	{"titles", `<svg><title>1</title></svg><title>2</title><svg><desc><title>3`},
	{"links in drawings", `<svg><a xlink:href=x href=y xlink:title=t><text>1</text></a><linearGradient><a href=z>2</svg>3`},
	{"HTML in drawings", `<svg><foreignObject><p class=c><a href=x>1</foreignObject><p>2</svg>3`},
	{"HTML in formulas", `<math><mi><a href=x>1</a><mglyph><annotation-xml encoding="Text/HTML"><p>2</annotation-xml><annotation-xml><svg>3`},
	{"drawings that end", `<svg><g><font face=x>1<svg><font x=y>2</font></g><![CDATA[<a>]]>3`},
	{"frames", `<html><frameset><frame src=x><noframes><body class=c><a href=y>1</a></body></noframes></frameset>2`},
	{"frames in a body", `<div><a href=x></a><frameset><frame src=y></frameset><a href=z>1`},
	{"no frames", `<head><noframes><a href=x>1</a></noframes></head><body>2<noframes><a href=y>3`},
	{"after the end", `1</body><a href=x>2</html><!-- --> <p>3</body>4`},
	{"nothing ends", `<title>1`},
	{"end tags only", `</p></br></a></table></body>1</html>`},
	{"zeros", "<p>\x00<a href=\"x\x00\">1\x00</a><table>\x00 <svg>\x00"},
	{"plain text", `<a href=x>1<plaintext><a href=y>2`},
}

func TestOddPagesAgreeWithTree(t *testing.T) {
	x := NewExtractor()
	for _, test := range oddTable {
		t.Run(test.name, func(t *testing.T) {
			doc := Document{URL: here, ContentType: "text/html", Charset: "utf-8", Body: []byte(test.html)}
			if !agree(t, x, &doc) {
				t.Error("the scan is not sure")
			}
		})
	}
}

func TestRandomTagsAgreeWithTree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := NewExtractor()
	withNodes := 0
	const pages = 20_000
	for range pages {
		some := make([]string, 3+r.IntN(20))
		for i := range some {
			some[i] = soup[r.IntN(len(soup))]
		}
		var b strings.Builder
		for range r.IntN(60) {
			b.WriteString(some[r.IntN(len(some))])
		}
		doc := Document{URL: here, ContentType: "text/html", Charset: "utf-8", Body: []byte(b.String())}
		if !agree(t, x, &doc) || t.Failed() {
			t.Fatalf("%q", doc.Body)
		}
		if x.construction.outline != nil {
			withNodes++
		}
	}
	t.Logf("%d pages, %d with nodes", pages, withNodes)
}

func TestRefusedPagesAgreeWithTree(t *testing.T) {
	x := NewExtractor()
	for _, test := range []struct {
		name, html string
		want       refusal
	}{
		{"as deep as may be", strings.Repeat("<div>", maxDepth-2) + "1", accepted},
		{"deeper", strings.Repeat("<div>", maxDepth-1) + "1", tooDeep},
		{"deeper by elements that are made anew", "<p>" + numbered("<b a=%d>", 300) + "</p><p>" + numbered("<i a=%d>", 300), tooDeep},
		{"large", "<p>" + numbered("<font size=%d>", 400) + strings.Repeat("<p>x", 3000), tooLarge},
		{"large because of attributes", numbered("<body a%d>", 2000), tooLarge},
		{"small", "<p>" + numbered("<font size=%d>", 400) + strings.Repeat("<p>x", 100), accepted},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc := Document{URL: here, ContentType: "text/html", Charset: "utf-8", Body: []byte(test.html)}
			agree(t, x, &doc)
			if got := x.construction.refused; got != test.want {
				t.Errorf("refusal %d, want %d", got, test.want)
			}
		})
	}
}
