// Package page reads a web page: HTML of any age and quality in, what a crawler
// wants to know of it out.
//
// [Extractor.Extract] never fails. A page that is declared in the wrong
// charset, is nested a hundred thousand deep or is not HTML at all gives what
// can be had from it, which may be nothing. Everything that comes out is valid
// UTF-8 and bounded by the constants of this package, whatever came in.
//
// A page is read in one pass. The scanner (scan.go) finds the tokens of HTML; the
// construction (construct.go, modes.go, body.go) knows from them, as the
// standard's parsers do, which elements there are and where they begin and end;
// the collector (collector.go) is told of them in document order, and alone
// decides what they mean. No tree is made for that. Where the standard moves
// things about, which of real pages happens in one of twenty, the page is read
// once more, and the order of its nodes is noted first (outline.go). XML is
// rewritten before (xml.go), and what would be a tree of millions is guessed at.
//
// What comes out is to the byte what the tree of golang.org/x/net/html would
// give. That tree (tree.go) is only made to ask selectors, and not of pages for
// which it would be refused or become far larger than they are.
//
// The package does not fetch, follow or judge; what a URL is, it leaves to
// package weburl.
package page

import (
	"strings"

	"spoor/internal/wire"
)

// Limits on what comes out of one page, so that a record stays well below the
// longest line of the wire even when every byte of it must be escaped.
const (
	MaxText    = 8 << 20 // bytes of text; the words beyond are not read
	MaxAnchors = 1 << 20 // bytes of all anchors' words
	MaxLinks   = 10_000  // links
	MaxAnchor  = 1000    // bytes of one anchor
	MaxContext = 1000    // bytes of one context
	MaxPath    = 500     // bytes of one tag path
	MaxMeta    = 4096    // bytes of title, description, keywords, robots
	MaxFields  = 1 << 20 // bytes of all that the selectors of one page found

	// maxLinkBytes bounds the links of a page together: ten thousand short
	// references against a base of eight thousand bytes are eighty megabytes.
	maxLinkBytes = 16 << 20

	// maxReferences bounds how many places of a page are looked at for links,
	// repetitions included.
	maxReferences = 10 * MaxLinks
)

// ContextWords is how many words of its block a link's context takes on each
// side of it.
const ContextWords = 25

// A Document is a page as it came.
type Document struct {
	URL         string // where it was found, after redirects; links are relative to it
	ContentType string // media type, with or without parameters; "" if unknown
	Charset     string // as the Content-Type header declared it; "" if it did not
	Language    string // Content-Language header; "" if there was none
	Body        []byte // not changed, not kept
	IsUTF8      bool   // that Body is valid UTF-8 is known

	Links []wire.Link // memory that Content.Links may take; what is in it is lost
}

// Content is what stands in a page. The zero value is a page of which nothing
// is known, because it is not text.
type Content struct {
	Title       string // of the first <title>; og:title where that is missing
	Description string // meta description; og:description where that is missing
	Keywords    string // meta keywords
	Lang        string // language tag, as written: html[lang], or Content-Language; else what Text looks like

	// Text is the visible text. Words are separated by one space, blocks and
	// lines by one newline. It has no script, style, comment, template or
	// formula source; what stands in noscript is text, for a crawler runs no
	// scripts.
	Text string

	// AnchorText is the anchors of all <a href> and <area>, in order and with
	// repetitions, links or not, separated by one space.
	AnchorText string

	// OutDegree counts the distinct http and https targets, without the page.
	OutDegree int

	Links      []wire.Link // see [Extractor.Extract]
	Canonical  string      // target of <link rel=canonical>, canonical
	RobotsMeta string      // all meta robots and those of our name, lower case, joined by ", "
	Simhash    string      // 16 hexadecimal digits; see [Simhash]: half of all words, half of those outside links
	Charset    string      // what the page was read as, a name of the Encoding Standard

	// Fields is what the selectors found, sorted by name. A selector that
	// found nothing is absent.
	Fields []wire.Values

	// Flat tells that there is no tree to ask the selectors of, because it would
	// be too deep, too large or too dear to search. In the former two cases, what
	// stands in elements that were not closed is a guess.
	Flat bool
}

// An Extractor reads pages. It keeps its scratch memory, so it serves one
// goroutine at a time; the contents that it returns are independent of it.
type Extractor struct {
	// AcrossBlocks lets the contexts of links go on into the blocks before and
	// after, which is how papers draw a window around a link.
	AcrossBlocks bool

	// MainContent leaves out of the text what is not the main content of the
	// page: navigation, advertisements, comments, notices. A page in which no
	// main content is found keeps its text, and so does what is not markup.
	// Links, anchors and contexts are of the whole page.
	MainContent bool

	// Agent is the name, in lower case, under which a page may address its meta
	// robots to us alone; "" if it has none for us.
	Agent string

	selectors []Selector
	collector collector
	regions   regions

	construction construction
}

// NewExtractor returns an Extractor that also asks the given selectors. Several
// of the same name add to one field, in their order.
func NewExtractor(selectors ...Selector) *Extractor {
	return &Extractor{Agent: "spoor", selectors: sorted(selectors)}
}

// Extract reads one page.
//
// Links are the http and https targets of a[href], area[href], frame[src],
// iframe[src], meta refresh (whose Tag is meta), and of link[href] where its rel
// is alternate with a hreflang, next or prev, resolved against the document's
// base and canonical, in order of first appearance and each once: of several
// places that point to one target the longest anchor wins, with its context,
// rel, tag and path; the first of equals. A link element wins over no other, and
// what any of them tells of the target's language is kept. A reference to a
// place inside the same page (#top, or nothing) is no link, and neither is a
// link element that leads to its own page.
//
// An anchor is the link's text, else the alt text of its images, else its title
// attribute. A context is up to [ContextWords] words before the link and as
// many after it, inside its block, which is the run of text between the nearest
// starts or ends of block elements, unless AcrossBlocks is set. The anchor
// itself is not repeated: a newline stands in its place, so before + anchor +
// after can be had again; a link that has no words around it has no context. A
// path names the elements from the root to the link, each with its first class
// (html/body/div.menu/ul/li/a); of a very long one the end is kept.
func (x *Extractor) Extract(doc Document) Content {
	kind := kindOf(doc.ContentType, doc.Body)
	if kind == other {
		return Content{}
	}
	c := &x.collector
	c.agent, c.regions = x.Agent, nil
	if x.MainContent && kind != plain {
		c.regions = &x.regions
	}
	c.reset()
	text, charset := doc.decode(kind != plain)
	if kind == xml {
		text = fromXML(text)
	}
	content := Content{Charset: charset}
	switch {
	case kind == plain:
		c.text(text)
	case !x.construction.read(text, c):
		content.Flat = true
	case len(x.selectors) == 0:
	case x.construction.latest > mostNodes:
		content.Flat = true
	default:
		if root := tree(text); root != nil && isSelectable(root) {
			content.Fields = x.fields(root)
		} else {
			content.Flat = true
		}
	}
	if x.AcrossBlocks {
		c.joinBlocks()
	}
	c.finish(&doc, &content)
	return content
}

// What a body is.
type kind int

const (
	other  kind = iota // nothing to read
	plain              // text without markup
	markup             // HTML
	xml                // read as if it were HTML
)

// sniffed is how far kindOf looks into a body of unknown type.
const sniffed = 1024

// kindOf tells what to do with a body. The declared type decides, of several the
// first; a body without one, or of a type that the MIME Sniffing Standard (section
// 7) does not believe, is looked at.
func kindOf(contentType string, body []byte) kind {
	end := strings.IndexAny(contentType, ";,")
	if end < 0 {
		end = len(contentType)
	}
	switch mediaType := strings.ToLower(strings.TrimSpace(contentType[:end])); mediaType {
	case "text/html":
		return markup
	case "text/plain":
		return plain
	case "application/xml", "text/xml":
		return xml
	case "unknown/unknown", "application/unknown", "*/*":
		return sniff(body)
	default:
		switch {
		case strings.IndexByte(mediaType, '/') < 0:
			return sniff(body)
		case strings.HasSuffix(mediaType, "+xml") && !strings.HasPrefix(mediaType, "image/"):
			return xml
		}
		return other
	}
}

// sniff tells markup from text from neither by the beginning of a body.
func sniff(body []byte) kind {
	head := string(body[:min(len(body), sniffed)])
	_, marked := bom(body)
	switch {
	case strings.HasPrefix(head, "%PDF-"), strings.HasPrefix(head, "%!PS"):
		return other
	case !marked && wideMarkup(head) == "" && strings.IndexByte(head, 0) >= 0:
		return other
	}
	head = strings.ReplaceAll(head, "\x00", "") // UTF-16
	for {
		_, after, found := strings.Cut(head, "<")
		switch {
		case !found:
			return plain
		case strings.HasPrefix(after, "?xml"):
			return xml
		case after != "" && (isLetter(after[0]) || strings.IndexByte("!?/", after[0]) >= 0):
			return markup
		}
		head = after
	}
}

// isLetter reports whether c is an ASCII letter.
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
