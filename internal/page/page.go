// Package page extracts the content of web pages: title, text, links, language and more from
// HTML of any age and quality.
//
// [Extractor.Extract] never fails. A page with the wrong charset, with a hundred thousand
// nested elements, or that is not HTML at all yields what can be extracted, possibly nothing.
// The output is always valid UTF-8 and bounded by the constants of this package.
//
// A page is parsed in one pass, without making a tree. The scanner (scan.go) finds the tokens
// of HTML; the construction (construct.go, modes.go, body.go) implements the standard's tree
// construction and determines where elements begin and end; the collector (collector.go)
// receives them in document order and interprets them. One real page in twenty has elements
// that the standard moves; such pages are parsed again with an outline of their nodes
// (outline.go). XML is rewritten as HTML first (xml.go). Pages whose tree would be too large
// are parsed in a simplified way, called guess mode.
//
// The result is the same, byte for byte, as with the tree of golang.org/x/net/html. That tree
// (tree.go) is made only for selectors, unless it would be too large.
//
// The package does not fetch pages, and leaves URLs to package weburl.
package page

import (
	"strings"

	"spoor/internal/wire"
)

// Limits on the content of one page, so that a record stays well below the limit for records
// even if every byte must be escaped.
const (
	MaxText    = 8 << 20 // bytes of text; what is beyond is ignored
	MaxAnchors = 1 << 20 // bytes of all anchors together
	MaxLinks   = 10_000  // links
	MaxAnchor  = 1000    // bytes of one anchor
	MaxContext = 1000    // bytes of one context
	MaxPath    = 500     // bytes of one tag path
	MaxMeta    = 4096    // bytes of title, description, keywords, robots
	MaxFields  = 1 << 20 // bytes of the values of all selectors together

	// maxLinkBytes bounds the links of a page together: ten thousand short references and a
	// base URL of eight thousand bytes make eighty megabytes.
	maxLinkBytes = 16 << 20

	// maxReferences bounds the references of a page, repetitions included.
	maxReferences = 10 * MaxLinks
)

// ContextWords is the number of words on each side of a link in its context.
const ContextWords = 25

// A Document is a page as fetched.
type Document struct {
	URL         string   // after redirects; the base of links
	ContentType string   // media type, with or without parameters; "" if unknown
	Charset     string   // from the Content-Type header; "" if missing
	Language    string   // Content-Language header; "" if missing
	Refresh     []string // Refresh header
	Body        []byte   // not modified and not retained
	IsUTF8      bool     // Body is known to be valid UTF-8

	Links []wire.Link // memory to reuse for Content.Links; its content is overwritten
}

// Content is the content of a page. The zero value stands for a page that is not text.
type Content struct {
	Title       string // of the first <title>, else og:title
	Description string // meta description, else og:description
	Keywords    string // meta keywords
	Lang        string // language tag, as written in html[lang], a meta element or Content-Language; else detected from Text

	// Text is the visible text. Words are separated by one space, blocks and lines by one newline.
	// It does not contain scripts, styles, comments, templates (except for declarative shadow
	// roots), sources of formulas, the readings of ruby, and elements that are hidden by an attribute
	// (see concealed.go). The content of noscript elements is text, because scripts are not run.
	Text string

	// Boilerplate is the text outside of the main content, in order, if the text is restricted to
	// the main content (see [Extractor.MainContent]).
	Boilerplate string

	// AnchorText is the anchors of all <a href> and <area> elements, in order and with
	// repetitions, separated by one space.
	AnchorText string

	// OutDegree is the number of distinct http and https targets, without the page itself.
	OutDegree int

	Links      []wire.Link // see [Extractor.Extract]
	Canonical  string      // target of <link rel=canonical>, in canonical form
	RobotsMeta string      // all meta robots elements, and those addressed to Agent, in lower case, joined by ", "
	Simhash    string      // 16 hexadecimal digits; see simhash.go: half from all words, half from those outside links
	Charset    string      // the charset used, by its name in the Encoding Standard

	// CharsetGuessed reports that the charset was guessed by the letters of the page, or is the
	// default: the page declares none, has no byte order mark, and is neither ASCII nor UTF-8.
	CharsetGuessed bool

	// Fields holds the values that the selectors matched, sorted by name. Selectors without a
	// match are missing.
	Fields []wire.Values

	// Missing holds the names of the fields that are missing because the selectors would take
	// more than [MaxSteps] steps on this page, sorted.
	Missing []string

	// NeedsBrowser reports that the page has almost no text, but large scripts, which would
	// make its text in a browser.
	NeedsBrowser bool

	// Flat reports that there is no tree for selectors, because it would be too deep or too
	// large. The page was parsed in guess mode, and the extent of unclosed elements is a guess.
	Flat bool
}

// An Extractor extracts pages. It reuses its memory, so it must not be used concurrently; the
// contents that it returns are independent of it.
type Extractor struct {
	// AcrossBlocks extends the contexts of links into neighbouring blocks, as papers do that
	// take a window around a link.
	AcrossBlocks bool

	// MainContent restricts the text to the main content of the page, without navigation,
	// advertisements, comments and notices. A page without recognizable main content keeps its
	// text, and so does a page that is not markup. Links, anchors and contexts are those of
	// the whole page.
	MainContent bool

	// LinksOnly omits what takes time and is not a link: Text, AnchorText, Simhash, and a language
	// that is not declared.
	LinksOnly bool

	// Agent is the name of this crawler, in lower case, for meta elements addressed to it; ""
	// for none.
	Agent string

	selectors []Selector
	search    search
	collector collector
	regions   regions

	construction construction
}

// NewExtractor returns an Extractor with the given selectors. Several of the same name add to
// one field, in order.
func NewExtractor(selectors ...Selector) *Extractor {
	return &Extractor{Agent: "spoor", selectors: sorted(selectors)}
}

// Extract extracts the content of a page.
//
// Links are the http and https targets of a[href], area[href], frame[src], iframe[src], meta
// refresh and the Refresh header (with the Tag meta), and of link[href] whose rel is alternate
// with a hreflang, next or prev. They are resolved against the document's base, the Refresh
// header against the page's URL, made canonical, and listed once each in order of first
// appearance. Of several references to one target, the one with the longest
// anchor provides anchor, context, rel, tag and path; the first, if several are equal. A link
// element never replaces another reference. A hreflang is kept whichever reference has it.
// References within the page (#top, or empty) are not links, nor are link elements that refer
// to their own page.
//
// An anchor is the link's text, else the alt text of its images, else its title attribute. A
// context is up to [ContextWords] words before and after the link in its block, the text
// between the nearest starts or ends of block elements, unless AcrossBlocks is set. A newline
// stands for the anchor; a link without surrounding words has no context. A path lists the
// elements from the root to the link, each with its first class (html/body/div.menu/ul/li/a);
// of a very long path the end is kept.
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
	x.construction.sized = len(x.selectors) > 0
	if len(doc.Refresh) > 0 {
		c.refreshHeader(&doc)
	}
	text, charset, guessed := doc.decode(kind != plain)
	if kind == xml {
		text = fromXML(text)
	}
	content := Content{Charset: charset, CharsetGuessed: guessed}
	switch {
	case kind == plain:
		c.text(text)
	case !x.construction.read(text, c):
		content.Flat = true
	case len(x.selectors) == 0:
	case x.construction.treeSize() > maxTree+4*len(text):
		content.Flat = true
	default:
		if root := tree(text); root != nil {
			content.Fields, content.Missing = x.fields(root)
		} else {
			content.Flat = true
		}
	}
	if x.AcrossBlocks {
		c.joinBlocks()
	}
	c.finish(&doc, &content, x.LinksOnly)
	return content
}

type kind int

const (
	other  kind = iota // not text
	plain              // text without markup
	markup             // HTML
	xml                // rewritten as HTML
)

const sniffLen = 1024

// kindOf returns the kind of a body: by its first declared type or, if that is missing or one
// that the MIME Sniffing Standard (section 7) ignores, by its content.
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

// sniff returns the kind of a body by its first bytes.
func sniff(body []byte) kind {
	head := string(body[:min(len(body), sniffLen)])
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

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
