package page

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"spoor/internal/wire"
)

// FuzzExtract checks the guarantees of Extract, with and without selectors, and that its
// results do not depend on the page before.
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
	for _, test := range xmlTable {
		f.Add([]byte(test.xml), "application/xhtml+xml", "", here)
	}
	for _, test := range guessTable {
		charset, _, _ := strings.Cut(test.charsets, " ")
		enc, _ := lookup(charset)
		body, err := encoding.ReplaceUnsupported(enc.NewEncoder()).String(test.text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(body), "text/html", "", here)
	}
	f.Add([]byte("<a href=x>y"), "text/plain", "", here)
	selectors := selectorsOf(f, "a=a, title", "b=:has(p) ~ *", "c=*:not(div):nth-child(2n+1)")
	x := NewExtractor(selectors...)
	f.Fuzz(func(t *testing.T, body []byte, contentType, charset, url string) {
		doc := Document{URL: url, ContentType: contentType, Charset: charset, Language: charset, Body: body}
		want := NewExtractor(selectors...).Extract(doc)
		check(t, want)
		doc.Body = bytes.Clone(body)
		got := x.Extract(doc)
		clear(doc.Body)
		x.Extract(Document{URL: here, ContentType: "text/html", Body: []byte(`<html lang=zz class=z><title>&zeta;</title><p><a href="z&amp;z">z`)})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("of a used extractor, and after the page is gone, there is %+v, not %+v", got, want)
		}
	})
}

// soup holds tags that are hard to combine.
var soup = strings.Split(`<a href=x>|<a href=y class=c>|<a name=z>|</a>|<b>|<b class=d>|</b>|<i>|</i>|<font size=1>|</font>|<nobr>|</nobr>|`+
	`<p>|</p>|<p class=e>|<div>|</div>|<div class=f>|<h1>|</h2>|<ul>|<li>|</li>|</ul>|<dl>|<dt>|<dd>|</dl>|<pre>|</pre>|<form>|</form>|`+
	`<table>|</table>|<tbody>|</tbody>|<tr>|</tr>|<td>|</td>|<th>|<caption>|</caption>|<colgroup>|<col>|</colgroup>|<thead>|<tfoot>|`+
	`<select>|</select>|<option>|<optgroup>|<input>|<input type=hidden>|<button>|</button>|<textarea>|</textarea>|<object>|</object>|<marquee>|</marquee>|`+
	`<ruby>|<rb>|<rt>|<rp>|<rtc>|</ruby>|<span>|</span>|<span class=g>|<x-y>|</x-y>|<datalist>|</datalist>|<audio>|</audio>|`+
	`<html lang=de class=h>|<html xml:lang=fr>|</html>|<head>|</head>|<body class=i>|<body>|</body>|<title>|</title>|<meta name=keywords content=k>|`+
	`<meta http-equiv=refresh content="0;u">|<base href=/b/>|<link rel=next href=n>|<style>|</style>|<script>|</script>|<noscript>|</noscript>|`+
	`<noembed>|</noembed>|<iframe src=f>|</iframe>|<template>|</template>|<xmp>|</xmp>|<plaintext>|<listing>|<noframes>|</noframes>|<frameset>|</frameset>|<frame src=g>|`+
	`<svg>|</svg>|<svg/>|<desc>|</desc>|<foreignObject>|</foreignObject>|<svg title=j>|<math>|</math>|<mi>|</mi>|<mglyph>|<annotation-xml encoding=text/html>|<annotation-xml>|</annotation-xml>|<![CDATA[c]]>|`+
	`<img alt=l>|<image alt=m>|<area href=o alt=p>|<br>|</br>|<hr>|<wbr>|<param>|<address>|<center>|</center>|<search>|<summary>|`+
	`one|two three|  |`+"\n|\r\n|\x00|&#13;"+`|&nbsp;|<!-- -->|<!doctype html>|<!doctype x>|</>|<?x>|&amp;|<font color=1>|<a xlink:href=q href=r>|<big>|</big>|<em>|</em>|<template shadowrootmode=open>|<font-face>|<p hidden>|<b HIDDEN>|<a href=s hidden>|<div popover>|<i hidden=until-found>|<dialog>|<dialog open>|</dialog>|<text>|</text>|<metadata>|</metadata>`, "|")

// FuzzSoup compares the content of pages of hard tags with that by the tree of
// golang.org/x/net/html.
func FuzzSoup(f *testing.F) {
	f.Add([]byte{13, 0, 15, 200, 3, 201, 34, 202, 36, 203})
	x := NewExtractor()
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 400 {
			return
		}
		var b strings.Builder
		for _, c := range choices {
			b.WriteString(soup[int(c)%len(soup)])
		}
		agree(t, x, &Document{URL: here, ContentType: "text/html", Charset: "utf-8", Body: []byte(b.String())})
	})
}

// agree fails the test if the content differs from that by the tree, unless the page was
// parsed in guess mode, and reports whether it was compared.
func agree(t *testing.T, x *Extractor, doc *Document) bool {
	t.Helper()
	got := x.Extract(*doc)
	want, ok := byTree(doc, x)
	switch {
	case !ok && !got.Flat:
		t.Errorf("%q: the tree is refused, the scan is sure of %+v", doc.Body, got)
	case got.Flat:
		return false
	case ok:
		if d := cmp.Diff(want, got, cmp.AllowUnexported(wire.Link{})); d != "" {
			t.Errorf("%.3000q (-tree +scan):\n%s", doc.Body, d)
		}
	}
	return true
}
