// Parse reads pages: HTML in, its title, text and links out.
//
// # Usage
//
//	parse [-select NAME=CSS]... [-within FILE]... [-keep-body] [flags] [FILE...] < pages
//
// # Records
//
// In: pages as fetch leaves them. Out: the same, one for one and in order, without
// the body (-keep-body keeps it) and with
//
//	title         of the page; og:title where there is none
//	description keywords   of its meta elements
//	robots_meta   what the page asks of crawlers, see below
//	lang          html[lang], else the Content-Language header
//	text          what can be read: words separated by a space, blocks by a newline
//	links         where it points, see below
//	anchor_text   the words of all anchors
//	out_degree    how many http and https addresses it points to, without itself
//	canonical     of <link rel=canonical>
//	simhash       64-bit fingerprint of the words of text, in hexadecimal
//	charset       what the page was read as, in place of what the header said
//	fields        what the selectors found, by name
//
// Text is what a browser without scripts, frames and style sheets would show:
// noscript and noframes are in it; scripts, styles, comments and templates are
// not. Of text/plain the text is all there is; of what is neither text nor HTML
// nor XML nothing is. The charset is that of a byte order mark, of the header, of
// the page's own declaration, or what the bytes look like; a declaration that the
// bytes prove wrong is not believed.
//
// Links are those of a, area, frame, iframe and meta refresh to http and https,
// relative to the page's <base> and to where redirects ended, canonical and each
// once, in order of appearance:
//
//	url           the target
//	anchor        its text, else the alt text of its images, else its title; of
//	              several links to one target the longest
//	context       up to 25 words before it and after it in its block, with a
//	              newline where the anchor stands
//	rel           in lower case
//	tag           a, area, frame, iframe or meta
//	path          elements from the root, each with its first class:
//	              html/body/div.menu/ul/li/a
//	archived      false if the archives of -within cannot answer it, else absent
//
// robots_meta is the content of all meta elements for robots, or for spoor by
// name, in lower case; before it stands what the X-Robots-Tag headers add, of
// noindex, nofollow and noarchive as far as they are addressed to everybody or to
// spoor. evolve obeys the nofollow in it. A link's own nofollow, in its rel, is a
// hint and no more.
//
// A record that has an error, no body or no url passes as it came; so does the
// record of a sitemap, whose links fetch -sitemaps has filled in. A body that is
// not the base64 it is said to be is the error http.
//
// # Selectors
//
// -select NAME=CSS fills the field NAME with the texts of all elements that match,
// in order; several selectors may share a name. In the text of an element that is
// not shown by itself, such as a script, everything counts.
//
// # Archives
//
// -within FILE closes the world: every link stays, so that what is counted over
// links does not change, but those that none of the archives can answer are
// marked, and evolve does not follow them. A directory stands for all archives in
// it.
//
// # Example
//
//	$ fetch -archive web.warc.gz -all | parse -select heading=h1,h2 | head -n 1
//
// # Exit status
//
// 0 done, 1 failed, 2 misuse, 3 disk full.
//
// # Limitations
//
// A page has at most 10,000 links and 8 MiB of text. Pages nested deeper than 512
// elements, and pages whose tree would be far larger than themselves, are read
// without a tree: links, text and meta are as usual, fields are absent, paths
// approximate; with -select the closing line counts them (flat). XML is read as
// if it were HTML. Style sheets are not read, so hidden text is text.
package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/page"
	"spoor/internal/robots"
	"spoor/internal/wire"
)

const manual = `
parse - read pages: HTML in, title, text and links out

Usage: parse [-select NAME=CSS]... [-within FILE]... [FILE...] < pages

In:   pages as fetch leaves them
Out:  the same, one for one, without the body and with title, description,
      keywords, lang, text, anchor_text, out_degree, links, canonical,
      robots_meta, simhash, charset and fields

Links are those of a, area, frame, iframe and meta refresh, resolved, canonical
and each once, with anchor, context (25 words each side, a newline where the
anchor stands), rel, tag and path (html/body/div.menu/ul/li/a). With -within they
have archived:false if the archives cannot answer them.

robots_meta holds the X-Robots-Tag header's noindex, nofollow, noarchive too.

A record with an error, without body or without url passes as it came, and so
does that of a sitemap.

Example:

    fetch -archive web.warc.gz -all | parse -select heading=h1,h2 | head -n 1

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full. go doc ./cmd/parse tells more.
`

func main() { filter.Main("parse", run) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	fs := filter.Flags("parse", manual, stderr)
	var (
		p      parser
		within filter.Strings
	)
	fs.Func("select", "fill the field NAME with the texts of what the selector matches, `NAME=CSS`; may be repeated", func(s string) error {
		selector, err := page.ParseSelector(s)
		p.selectors = append(p.selectors, selector)
		return err
	})
	fs.Var(&within, "within", "mark the links that this WARC `file` or directory cannot answer; may be repeated")
	fs.BoolVar(&p.keepBody, "keep-body", false, "pass the body on")
	cache := fs.String("cache", filter.Cache(), "`directory` for indexes of archives beside which nothing can be written")
	s := filter.Stream{Name: "parse", Stdout: stdout, Stderr: stderr, Want: wire.Address | wire.Fetch | wire.Body}
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
				if faults.Tell(file) {
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
	return s.Each(p.newWork)
}

// A parser is what all workers share.
type parser struct {
	selectors []page.Selector
	has       func(url string) bool // whether the closed world has it; nil: the world is open
	keepBody  bool

	pages, links, outside, flat, broken atomic.Int64
}

// notes are for the closing line.
func (p *parser) notes() []slog.Attr {
	notes := []slog.Attr{slog.Int64("pages", p.pages.Load()), slog.Int64("links", p.links.Load())}
	if p.has != nil {
		notes = append(notes, slog.Int64("not_archived", p.outside.Load()))
	}
	if len(p.selectors) > 0 {
		notes = append(notes, slog.Int64("flat", p.flat.Load()))
	}
	if n := p.broken.Load(); n > 0 {
		notes = append(notes, slog.Int64("broken_bodies", n))
	}
	return notes
}

// newWork returns the work of one worker.
func (p *parser) newWork() func(*wire.Record) error {
	extractor := page.NewExtractor(p.selectors...)
	return func(rec *wire.Record) error {
		p.parse(extractor, rec)
		return nil
	}
}

// parse fills the parse section of a record that has a page.
func (p *parser) parse(extractor *page.Extractor, rec *wire.Record) {
	if rec.URL == "" || rec.Error != "" || rec.Body == "" && rec.BodyBase64 == "" {
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
		Body:        body,
	}
	if doc.URL == "" {
		doc.URL = rec.URL
	}
	if sent := header(rec, "content-type"); sent != "" {
		if doc.ContentType == "" {
			doc.ContentType = sent
		}
		if doc.Charset == "" {
			doc.Charset = archive.Charset(sent)
		}
	}
	c := extractor.Extract(doc)
	p.pages.Add(1)
	p.links.Add(int64(len(c.Links)))
	if c.Flat {
		p.flat.Add(1)
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
	rec.RobotsMeta = directives(c.RobotsMeta, headers(rec, "x-robots-tag"))
	rec.Touch(wire.Parse)
	if c.Charset != "" && c.Charset != rec.Charset {
		rec.Charset = c.Charset
		rec.Touch(wire.Fetch)
	}
	if !p.keepBody {
		rec.Drop(wire.Body)
	}
}

// crawler is the name under which a page may address directives to us alone.
const crawler = "spoor"

// directives are those of the meta elements, and before them what the values of
// X-Robots-Tag restrict besides. Behind them it could be taken for what is
// addressed to a crawler that a meta element names.
func directives(meta string, sent []string) string {
	if len(sent) == 0 {
		return meta
	}
	d, have := robots.XRobotsTag(crawler, sent), robots.Meta(crawler, "robots", meta)
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

// header is the first value of a header field, by its lower-case name.
func header(rec *wire.Record, name string) string {
	if values := headers(rec, name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// headers are all values of a header field, by its lower-case name.
func headers(rec *wire.Record, name string) []string {
	for _, h := range rec.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Values
		}
	}
	return nil
}
