// Parse extracts the title, text, links and other content of web pages.
//
// # Usage
//
//	parse [-main] [-context block|page] [-select NAME=CSS]... [-within FILE]...
//	      [-keep-body] [flags] [FILE...] < pages
//
// # Records
//
// Input: pages as written by fetch. Output: one record for each input record, in order,
// without the body (unless -keep-body is given) and with
//
//	title         title element; og:title if it is missing
//	description keywords   of the meta elements
//	robots_meta   directives for crawlers, see below
//	lang          html[lang], else the Content-Language header, else detected from the
//	              text; absent if unknown
//	text          visible text: words separated by a space, blocks by a newline
//	links         see below
//	anchor_text   the words of all anchors
//	out_degree    number of distinct http and https targets, without the page itself
//	canonical     of <link rel=canonical>
//	simhash       64-bit fingerprint of the words of text, in hexadecimal: half from
//	              all words, half from those outside links (if there are 20 such words)
//	charset       charset that was used, replacing that of the header
//	needs_browser true if scripts would make the text, see below
//	fields        values matched by the selectors, by name
//
// The text is what a browser without scripts, frames and style sheets shows, including noscript
// and noframes elements and declarative shadow roots (template shadowrootmode), without
// scripts, styles, comments and other templates.
// For text/plain only the text is extracted; for other types than text, HTML and XML nothing.
// The charset is that of a byte order mark, of the header, of the page's own declaration, or
// detected (UTF-8, an East Asian or Cyrillic charset, else windows-1252). A declared UTF-8 is
// ignored if most non-ASCII characters are not UTF-8; a declared western charset is ignored
// if the page is valid UTF-8.
//
// Links are the http and https targets of the elements a, area, frame, iframe and meta refresh,
// of the Refresh header (even of an empty page), and of link elements for the same page in
// other languages (rel=alternate with a hreflang) and for the next or previous page (rel=next,
// rel=prev). They are canonicalised and deduplicated, in order of appearance. <base> applies to
// all but the Refresh header; otherwise they are relative to the page's URL after redirects.
// Queries are encoded in the page's charset, as by browsers.
//
//	url           the target
//	anchor        the link's text, else the alt text of its images, else its title; the
//	              longest of several links to one target
//	context       up to 25 words before and after it in its block, with a newline in
//	              place of the anchor; with -context page, also from the blocks around
//	rel           in lower case: nofollow, ugc, sponsored, next, ...
//	hreflang      language of the target, or x-default, if given
//	tag           a, area, frame, iframe, meta or link; "link" is given only if no
//	              visible element has the same target
//	path          elements from the root, each with its first class:
//	              html/body/div.menu/ul/li/a
//	archived      false if the archives of -within do not have the target, else absent
//
// robots_meta is the content of all meta elements for robots, or for the crawler named by
// -agent, in lower case, preceded by noindex, nofollow and noarchive if X-Robots-Tag headers
// add them for all crawlers or this one. evolve obeys nofollow in it. The rel of a link is
// only a hint.
//
// Records with an error, without body or without url are passed through unchanged, and so are
// records of sitemaps, whose links fetch -sitemaps has filled in. A body_base64 that is not
// valid gives the error http.
//
// needs_browser marks pages that show almost nothing without scripts: their text, without
// noscript elements, has fewer than 200 bytes, and their scripts have at least 2,000 bytes, and
// at least 100 times as many as that text. All scripts in other files together count as 10,000
// bytes. Pages with frames are not marked. parse runs no scripts; render -only-marked does,
// after parse -keep-body and before another parse. The last line on stderr counts the marked
// pages.
//
// # Main content
//
// -main restricts the text and the simhash to the main content of the page, without
// navigation, advertisements, comments and notices. It is recognized by the lengths of lines
// and their share of link text (Kohlschütter, Fankhauser and Nejdl, WSDM 2010), by HTML's
// sectioning elements, and by common class names and ids. A page without recognizable main
// content keeps its text. Title, links, anchors and contexts are those of the whole page.
//
// # Selectors
//
// -select NAME=CSS sets the field NAME to the texts of all elements that match, in order.
// Several selectors may have the same name. An element that matches is read even if it is not
// visible, such as a script.
//
// All selectors together may take 2^28 steps on a page, which is some seconds. A step is roughly
// the inspection of one sibling. Only hostile pages, and lists of about 16,000 elements searched
// with :nth-child and the like, reach the limit. At the limit, the field being searched and all
// fields later in alphabetical order are missing: error_detail lists them (error stays empty),
// and the last line on stderr counts such pages as incomplete_fields.
//
// # Other types
//
// -convert TYPE=COMMAND passes the bodies of a type through a command; its manual (parse -h) has
// recipes. The links of its output are resolved against the page's URL. Without a conversion such
// pages have no text.
//
// # Archives
//
// With -within FILE, links that none of the archives can answer are marked with
// archived:false, and evolve does not follow them. They are not removed, so that statistics
// over links do not change. A directory stands for all archives in it.
//
// # Example
//
//	$ fetch -archive web.warc.gz -all | parse -select heading=h1,h2 | head -n 1
//	$ fetch -archive web.warc.gz -all | parse -main | jq -r .text
//
// # Exit status
//
// 0 done, 1 failed, 2 misuse, 3 disk full.
//
// # Limitations
//
// A page has at most 10,000 links and 8 MiB of text. Pages with elements nested deeper than 512, and
// pages whose tree would be far larger than the page, are parsed without a tree. With -select a tree
// may take an estimated 80 MiB and four times the size of the page, which is some 300,000 elements
// and texts. Without a tree links, text and meta elements are as usual, fields are absent, and paths
// are approximate. With -select, the last line on stderr counts them as flat. XML is parsed as HTML,
// except for CDATA and self-closing elements. Style sheets are not read, so text that they hide is
// included. Languages are detected by their most common words, which takes a few dozen words of text,
// or by their script; some forty are known. Main content is designed for articles; for a list of
// links or of short posts it may be wrong.
package parse

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/message"
	"spoor/internal/page"
	"spoor/internal/robots"
	"spoor/internal/wire"
)

const manual = `
parse - extract the title, text and links of pages

Usage: parse [-main] [-context block|page] [-select NAME=CSS]... [-within FILE]...
             [-keep-body] [FILE...] < pages

In:   pages as written by fetch
Out:  the same records in order, without the body and with title, description,
      keywords, lang, text, anchor_text, out_degree, links, canonical,
      robots_meta, simhash, charset, needs_browser and fields

Links come from the elements a, area, frame, iframe and meta refresh, from the Refresh
header (tag meta, no path), and from link elements with rel next, prev, or alternate
with a hreflang. Links are canonicalised and deduplicated. Each has anchor, context
(25 words on each side, a newline in place of the anchor), rel, hreflang, tag and path
(html/body/div.menu/ul/li/a). With -within, links that the archives do not have get
archived:false.

Matching the selectors of -select on a page is limited to 2^28 steps, which is some seconds.
At the limit, the remaining fields are missing: error_detail lists them (error stays empty),
and the last line on stderr counts such pages as incomplete_fields.

With -main, text is the main content of the page, without navigation and the like;
links are those of the whole page. With -context page, contexts extend beyond
blocks. lang is detected if the page does not declare it.

With -convert TYPE=COMMAND, a body of that type is the stdin of a shell command, whose
stdout is parsed instead: as HTML if it begins with a tag, else as text. The command gets
nothing else of the page. -convert-time, -convert-memory (on Linux; elsewhere nothing limits
memory) and -convert-output limit it; at a limit it is killed, and so are processes that it
leaves behind, unless they leave its process group (setsid). -j commands run at a time. If one fails or prints nothing, the page has no
text, and error_detail says why (error stays empty). Recipes:

    -convert 'application/pdf=pdftotext -q - -'
    -convert 'application/msword=catdoc -d utf-8'
    -convert 'application/vnd.openxmlformats-officedocument.wordprocessingml.document=pandoc --sandbox -f docx -t html'

needs_browser marks pages that show almost nothing without scripts: under 200 bytes of
text, without noscript, and scripts of at least 2,000 bytes and 100 times the text;
those in other files together count as 10,000 bytes. render -only-marked runs their
scripts, between parse -keep-body and another parse.

robots_meta also has noindex, nofollow and noarchive from X-Robots-Tag headers. To
include directives for this crawler, give the same -agent as to fetch.

Records with an error, without body or without url, and records of sitemaps, are
passed through unchanged.

Example:

    fetch -archive web.warc.gz -all | parse -select heading=h1,h2 | head -n 1

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full.
`

// Command is the command parse.
var Command = filter.Command{Name: "parse", Manual: manual, Run: run}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	fs := filter.Flags("parse", manual, stderr)
	var (
		p      = parser{agent: "spoor"}
		within filter.Strings
	)
	fs.Func("select", "set the field NAME to the texts of the elements that match, `NAME=CSS`; may be repeated", func(s string) error {
		selector, err := page.ParseSelector(s)
		p.selectors = append(p.selectors, selector)
		return err
	})
	fs.BoolVar(&p.main, "main", false, "restrict the text to the main content of the page")
	fs.Func("context", "whether contexts end with the link's block or with the page: `block|page` (default block)", func(s string) error {
		switch s {
		case "block", "page":
			p.acrossBlocks = s == "page"
			return nil
		}
		return errors.New("neither block nor page")
	})
	fs.Var(&within, "within", "mark links that this archive `file` or directory does not have; may be repeated")
	fs.Func("agent", "`name` of the crawler in directives, as for fetch (default spoor)", func(s string) error {
		p.agent = strings.ToLower(robots.Token(s))
		return nil
	})
	fs.BoolVar(&p.keepBody, "keep-body", false, "keep the body")
	p.convert = converters{time: 30 * time.Second, memory: 1 << 30, output: 32 << 20}
	fs.Func("convert", "convert bodies of a media type with a command, and parse its output, `TYPE=COMMAND`; may be repeated", p.convert.add)
	fs.DurationVar(&p.convert.time, "convert-time", p.convert.time, "maximum `time` of a command of -convert for a body")
	fs.Var((*filter.Size)(&p.convert.memory), "convert-memory", "maximum memory of each process of -convert in `bytes`, on Linux")
	fs.Var((*filter.Size)(&p.convert.output), "convert-output", "maximum output of -convert for a body in `bytes`")
	cache := fs.String("cache", filter.Cache(), "`directory` for indexes of archives")
	s := filter.Stream{Name: "parse", Stdout: stdout, Stderr: stderr, Want: wire.Address | wire.Fetch | wire.Parse | wire.Body}
	s.Flags(fs)
	if err := filter.Parse(fs, args); err != nil {
		return err
	}
	if len(within) > 0 {
		log := filter.Logger(stderr, "parse", s.Log)
		faults := filter.Faults{Log: log}
		replay, err := archive.OpenReplay(within, archive.ReplayOptions{Index: archive.IndexOptions{
			Cache: *cache,
			Report: func(file string, err error) {
				if faults.ShouldLog(file) {
					log.Warn("fault in an archive", "file", file, "err", err)
				}
			},
		}})
		if err != nil {
			return fmt.Errorf("-within: %w", err)
		}
		defer replay.Close()
		p.has = replay.Has
	}
	in, err := filter.Open(stdin, fs.Args())
	if err != nil {
		return err
	}
	defer in.Close()
	s.Stdin = in
	s.Notes = p.notes
	err = s.Each(p.newWork)
	if n := p.pdfs.Load(); n > 0 {
		filter.Logger(stderr, "parse", s.Log).Warn("PDF files were not read", "files", n, "hint", "-convert 'application/pdf=pdftotext -q - -', and fetch -mime +application/pdf")
	}
	return err
}

// A parser holds what all workers share.
type parser struct {
	selectors    []page.Selector
	main         bool
	acrossBlocks bool
	has          func(url string) bool // reports whether the archives of -within have a URL; nil without -within
	keepBody     bool
	agent        string // product token of -agent, in lower case
	convert      converters

	pages, links, outside, flat, incomplete, broken, unconverted, shells, pdfs atomic.Int64
}

// notes returns the counts for the closing line.
func (p *parser) notes() []slog.Attr {
	notes := []slog.Attr{slog.Int64("pages", p.pages.Load()), slog.Int64("links", p.links.Load())}
	if p.has != nil {
		notes = append(notes, slog.Int64("not_archived", p.outside.Load()))
	}
	if len(p.selectors) > 0 {
		notes = append(notes, slog.Int64("flat", p.flat.Load()))
	}
	if n := p.incomplete.Load(); n > 0 {
		notes = append(notes, slog.Int64("incomplete_fields", n))
	}
	if n := p.shells.Load(); n > 0 {
		notes = append(notes, slog.Int64("needs_browser", n))
	}
	if n := p.unconverted.Load(); n > 0 {
		notes = append(notes, slog.Int64("not_converted", n))
	}
	if n := p.broken.Load(); n > 0 {
		notes = append(notes, slog.Int64("broken_bodies", n))
	}
	return notes
}

const typePDF = "application/pdf"

// newWork returns the function of one worker.
func (p *parser) newWork() func(*wire.Record) error {
	extractor := page.NewExtractor(p.selectors...)
	extractor.MainContent, extractor.AcrossBlocks, extractor.Agent = p.main, p.acrossBlocks, p.agent
	return func(rec *wire.Record) error {
		p.parse(extractor, rec)
		return nil
	}
}

// parse fills in the parse section of a record with a body.
func (p *parser) parse(extractor *page.Extractor, rec *wire.Record) {
	if strings.HasPrefix(rec.ContentType, typePDF) && p.convert.command(typePDF) == "" {
		p.pdfs.Add(1)
	}
	if rec.URL == "" || rec.Error != "" || !isPage(rec) {
		return
	}
	body, err := rec.Bytes()
	if err != nil {
		p.broken.Add(1)
		rec.Error, rec.ErrorDetail = wire.ErrorHTTP, err.Error()
		rec.Touch(wire.Fetch)
		rec.Drop(wire.Body)
		return
	}
	doc := page.Document{
		URL:         rec.FinalURL,
		ContentType: rec.ContentType,
		Charset:     rec.Charset,
		Language:    header(rec, "content-language"),
		Refresh:     headers(rec, "refresh"),
		Body:        body,
		IsUTF8:      rec.BodyBase64 == "", // the JSON decoder has checked it
		Links:       rec.Links,
	}
	if doc.URL == "" {
		doc.URL = rec.URL
	}
	media, charset := message.ContentType(headers(rec, "content-type")...)
	doc.ContentType, doc.Charset = cmp.Or(doc.ContentType, media), cmp.Or(doc.Charset, charset)
	command := p.convert.command(message.MediaType(doc.ContentType))
	if command != "" {
		if err := p.convert.convert(command, &doc); err != nil {
			p.unconverted.Add(1)
			note(rec, fmt.Sprintf("parse: converting %s: %v", message.MediaType(doc.ContentType), err))
			doc.Body = nil
		}
	}
	c := extractor.Extract(doc)
	p.pages.Add(1)
	p.links.Add(int64(len(c.Links)))
	if c.Flat {
		p.flat.Add(1)
	}
	if len(c.Missing) > 0 {
		p.incomplete.Add(1)
		note(rec, fmt.Sprintf("parse: the selectors take more than %d steps; fields missing: %s", page.MaxSteps, strings.Join(c.Missing, ", ")))
	}
	if p.has != nil {
		for i := range c.Links {
			if !p.has(c.Links[i].URL) {
				c.Links[i].Archived = wire.False
				p.outside.Add(1)
			}
		}
	}
	rec.Title, rec.Description, rec.Keywords = c.Title, c.Description, c.Keywords
	rec.Lang, rec.Text, rec.AnchorText = c.Lang, c.Text, c.AnchorText
	rec.OutDegree, rec.Links = c.OutDegree, c.Links
	rec.Canonical, rec.Simhash, rec.Fields = c.Canonical, c.Simhash, c.Fields
	rec.RobotsMeta = directives(p.agent, c.RobotsMeta, headers(rec, "x-robots-tag"))
	rec.NeedsBrowser = wire.Bool{}
	if c.NeedsBrowser {
		p.shells.Add(1)
		rec.NeedsBrowser = wire.True
	}
	rec.Touch(wire.Parse)
	if c.Charset != "" && c.Charset != rec.Charset && command == "" {
		rec.Charset = c.Charset
		rec.Touch(wire.Fetch)
	}
	if !p.keepBody {
		rec.Drop(wire.Body)
	}
}

// isPage reports whether the record can be parsed: it has a body, or it is an empty page with a
// Refresh header that was not parsed before.
func isPage(rec *wire.Record) bool {
	return rec.Body != "" || rec.BodyBase64 != "" ||
		rec.ContentLength == 0 && rec.StatusCode != 304 && rec.Simhash == "" && len(rec.Links) == 0 && len(headers(rec, "refresh")) > 0
}

// note adds a detail to a record, which has no error by it.
func note(rec *wire.Record, detail string) {
	switch {
	case rec.ErrorDetail == "":
		rec.ErrorDetail = detail
	case !strings.Contains(rec.ErrorDetail, detail): // of an earlier parse -keep-body
		rec.ErrorDetail += "; " + detail
	}
	rec.Touch(wire.Fetch)
}

// directives returns the directives that X-Robots-Tag headers add for agent, followed by the
// content of the meta elements. In the opposite order, they could be read as addressed to a
// crawler that a meta element names.
func directives(agent, meta string, sent []string) string {
	if len(sent) == 0 {
		return meta
	}
	d, have := robots.XRobotsTag(agent, sent), robots.Meta(agent, "robots", meta)
	added := robots.Directives{
		NoIndex:   d.NoIndex && !have.NoIndex,
		NoFollow:  d.NoFollow && !have.NoFollow,
		NoArchive: d.NoArchive && !have.NoArchive,
	}.String()
	if added == "" || meta == "" {
		return added + meta
	}
	return added + ", " + meta
}

// header returns the first value of a header field, by its lower-case name.
func header(rec *wire.Record, name string) string {
	if values := headers(rec, name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// headers returns all values of a header field, by its lower-case name.
func headers(rec *wire.Record, name string) []string {
	for _, h := range rec.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Values
		}
	}
	return nil
}
