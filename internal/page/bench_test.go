package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"spoor/internal/testfile"

	"golang.org/x/net/html"
)

// benchmark runs read on pages, one after the other: on 311 saved pages of the 2010s, if the
// shared data is there, and on a synthetic one.
func benchmark(b *testing.B, read func(doc *Document)) {
	over := func(b *testing.B, docs []Document) {
		size := 0
		for i := range docs {
			size += len(docs[i].Body)
		}
		b.SetBytes(int64(size / len(docs))) // a page is an operation
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			read(&docs[i%len(docs)])
			i++
		}
	}
	b.Run("modern", func(b *testing.B) {
		var docs []Document
		archived(b, testfile.Shared(b, "webs/modern.warc.gz"), func(doc Document) { docs = append(docs, doc) })
		over(b, docs)
	})
	b.Run("synthetic", func(b *testing.B) { over(b, []Document{synthetic()}) })
}

func BenchmarkExtract(b *testing.B) {
	x := NewExtractor()
	benchmark(b, func(doc *Document) { x.Extract(*doc) })
}

// BenchmarkParse makes the tree of golang.org/x/net/html only.
func BenchmarkParse(b *testing.B) {
	benchmark(b, func(doc *Document) {
		if _, err := html.Parse(bytes.NewReader(doc.Body)); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkScan collects pages without finishing their content.
func BenchmarkScan(b *testing.B) {
	var (
		c collector
		t construction
	)
	benchmark(b, func(doc *Document) {
		text, _, _ := doc.decode(true)
		c.reset()
		t.read(text, &c)
	})
}

// synthetic returns a page of about 150 kB with 140 links, the average of the 2010s.
func synthetic() Document {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Made up</title><meta name="description" content="A page"></head><body>`)
	for i := range 140 {
		fmt.Fprintf(&b, `<div class="card card-%d" data-id="%d" style="margin:0"><h2 class="title"><a href="/article/%d?ref=home" class="link" title="Article">Article number %d</a></h2>`, i%7, i, i, i)
		fmt.Fprintf(&b, `<p class="teaser">Some words &amp; <b>more</b> words, %s</p><script>window.x = {"id": %d, "html": "<b>no</b>"};</script>`, strings.Repeat("and some more of them ", 8), i)
		fmt.Fprintf(&b, `<ul class="tags">%s</ul><!-- %s --></div>`, strings.Repeat(`<li class="tag"><span class="t">tag</span></li>`, 6), strings.Repeat("x", 200))
	}
	b.WriteString("</body></html>")
	return Document{URL: here, ContentType: "text/html", Charset: "utf-8", Body: []byte(b.String())}
}
