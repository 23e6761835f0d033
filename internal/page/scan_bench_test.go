package page

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// scanAll reads a page as the lane does: all text, of links and meta elements
// the attributes.
func scanAll(z *scanner, page string) (n int) {
	z.reset(page)
	for {
		switch z.next() {
		case endOfPage:
			return n
		case textToken:
			n += len(z.text())
		case startTag:
			switch z.name {
			case atom.A:
				for _, name := range []string{"href", "title", "rel"} {
					value, _ := z.attr(name)
					n += len(value)
				}
			case atom.Meta:
				for _, name := range []string{"name", "property", "content", "http-equiv"} {
					value, _ := z.attr(name)
					n += len(value)
				}
			}
			if state := enterBy(z.name); state != data {
				z.enter(state)
			}
		}
	}
}

// BenchmarkScanner reads text, links and meta elements.
func BenchmarkScanner(b *testing.B) {
	var z scanner
	benchmark(b, func(doc *Document) { scanAll(&z, view(doc.Body)) })
}

// BenchmarkScannerNext is tokens alone, nothing in them read.
func BenchmarkScannerNext(b *testing.B) {
	var z scanner
	benchmark(b, func(doc *Document) {
		z.reset(view(doc.Body))
		for kind := z.next(); kind != endOfPage; kind = z.next() {
			if kind == startTag {
				if state := enterBy(z.name); state != data {
					z.enter(state)
				}
			}
		}
	})
}

// BenchmarkTokenizer reads the same as BenchmarkScanner by html.Tokenizer, in
// its cheapest way.
func BenchmarkTokenizer(b *testing.B) {
	benchmark(b, func(doc *Document) {
		n := 0
		z := html.NewTokenizer(strings.NewReader(view(doc.Body)))
		for {
			switch z.Next() {
			case html.ErrorToken:
				return
			case html.TextToken:
				n += len(z.Text())
			case html.StartTagToken, html.SelfClosingTagToken:
				tag, more := z.TagName()
				switch atom.Lookup(tag) {
				case atom.A, atom.Meta:
					for more {
						var value []byte
						_, value, more = z.TagAttr()
						n += len(value)
					}
				}
			}
		}
	})
}

// BenchmarkTokenizerNext is the tokens of html.Tokenizer alone.
func BenchmarkTokenizerNext(b *testing.B) {
	benchmark(b, func(doc *Document) {
		z := html.NewTokenizer(strings.NewReader(view(doc.Body)))
		for z.Next() != html.ErrorToken {
		}
	})
}
