package main

import (
	"bytes"
	"net/url"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"spoor/internal/page"
)

// A document is a page as fetched.
type document struct {
	url, contentType string
	body             []byte
}

// An extractor returns the text of a page, or "" if it finds none.
type extractor struct {
	name    string
	extract func(document) string
}

// reference is the index of the extractor with which the others are compared.
const reference = 1

// extractors returns the extractors that are compared. They are not safe for concurrent use.
func extractors() []extractor {
	return []extractor{
		{"all text", spoor(false)},
		{"parse -main", spoor(true)},
		{"trafilatura", trafilaturaText(false)},
		{"trafilatura, fallback", trafilaturaText(true)},
		{"readability", readabilityText},
	}
}

// spoor extracts as parse does, with links, language and all.
func spoor(main bool) func(document) string {
	x := page.NewExtractor()
	x.MainContent = main
	return func(d document) string {
		return x.Extract(page.Document{URL: d.url, ContentType: d.contentType, Body: d.body}).Text
	}
}

// trafilaturaText returns the text by trafilatura, without comments. With its fallback it also runs
// readability and a port of DOM Distiller, and compares the results. Dates are not looked for.
func trafilaturaText(fallback bool) func(document) string {
	return func(d document) string {
		tree, address, err := parse(d)
		if err != nil {
			return ""
		}
		result, err := trafilatura.ExtractDocument(tree, trafilatura.Options{
			OriginalURL:     address,
			EnableFallback:  fallback,
			ExcludeComments: true,
			HtmlDateMode:    trafilatura.Disabled,
		})
		if err != nil || result.ContentNode == nil {
			return ""
		}
		return blocks(result.ContentNode)
	}
}

// readabilityText returns the text by readability.
func readabilityText(d document) string {
	tree, address, err := parse(d)
	if err != nil {
		return ""
	}
	article, err := readability.FromDocument(tree, address)
	if err != nil || article.Node == nil {
		return ""
	}
	return blocks(article.Node)
}

// parse makes the tree of a page that the libraries take.
func parse(d document) (*html.Node, *url.URL, error) {
	address, err := url.Parse(d.url)
	if err != nil {
		return nil, nil, err
	}
	in, err := charset.NewReader(bytes.NewReader(d.body), d.contentType)
	if err != nil {
		return nil, nil, err
	}
	tree, err := html.Parse(in)
	return tree, address, err
}

// inline has the elements that do not begin a new line.
var inline = map[string]bool{
	"a": true, "abbr": true, "b": true, "bdi": true, "bdo": true, "cite": true, "code": true, "data": true,
	"del": true, "dfn": true, "em": true, "font": true, "hi": true, "i": true, "img": true, "ins": true,
	"kbd": true, "mark": true, "q": true, "s": true, "samp": true, "small": true, "span": true, "strike": true,
	"strong": true, "sub": true, "sup": true, "time": true, "tt": true, "u": true, "var": true, "wbr": true,
}

// blocks returns the text of a tree as parse writes it: words separated by a space, blocks by a newline.
func blocks(root *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(strings.Map(func(r rune) rune {
				if r == '\n' || r == '\r' {
					return ' '
				}
				return r
			}, n.Data))
			return
		}
		block := n.Type == html.ElementNode && !inline[n.Data]
		if block {
			b.WriteByte('\n')
		}
		for child := range n.ChildNodes() {
			walk(child)
		}
		if block {
			b.WriteByte('\n')
		}
	}
	walk(root)
	var lines []string
	for line := range strings.SplitSeq(b.String(), "\n") {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return strings.Join(lines, "\n")
}
