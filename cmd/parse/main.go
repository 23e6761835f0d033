// Parse reads pages: HTML in, its title, text and links out.
//
// # Usage
//
//	parse [-main] [-context block|page] [-select NAME=CSS]... [-within FILE]...
//	      [-keep-body] [flags] [FILE...] < pages
//
// # Records
//
// In: pages as fetch leaves them. Out: the same, one for one and in order, without
// the body (-keep-body keeps it) and with
//
//	title         of the page; og:title where there is none
//	description keywords   of its meta elements
//	robots_meta   what the page asks of crawlers, see below
//	lang          html[lang], else the Content-Language header, else what the text
//	              looks like; absent if that cannot be told
//	text          what can be read: words separated by a space, blocks by a newline
//	links         where it points, see below
//	anchor_text   the words of all anchors
//	out_degree    how many http and https addresses it points to, without itself
//	canonical     of <link rel=canonical>
//	simhash       64-bit fingerprint of the words of text, in hexadecimal: half of
//	              all words, half of those outside links, if there are 20 of them
//	charset       what the page was read as, in place of what the header said
//	fields        what the selectors found, by name
//
// Text is what a browser without scripts, frames and style sheets would show:
// noscript and noframes are in it; scripts, styles, comments and templates are
// not. Of text/plain the text is all there is; of what is neither text nor HTML
// nor XML nothing is. The charset is that of a byte order mark, of the header, of
// the page's own declaration, or what the bytes look like (UTF-8, an East Asian or
// Cyrillic charset, else windows-1252). Two declarations are not believed if the
// bytes prove them wrong: UTF-8, and a western charset over bytes that are UTF-8.
//
// Links are those of a, area, frame, iframe and meta refresh to http and https,
// and those of link to the same page in other languages (rel=alternate with a
// hreflang) and to the next or previous page (rel=next, rel=prev), relative to the
// page's <base> and to where redirects ended, canonical and each once, in order of
// appearance. Queries are in the page's charset, as browsers send them.
//
//	url           the target
//	anchor        its text, else the alt text of its images, else its title; of
//	              several links to one target the longest
//	context       up to 25 words before it and after it in its block, with a
//	              newline where the anchor stands; with -context page, in the
//	              blocks before and after, too
//	rel           in lower case: nofollow, ugc, sponsored, next, ...
//	hreflang      language of the target, or x-default, if the page tells
//	tag           a, area, frame, iframe, meta or link; link only where nothing
//	              that a reader sees leads there
//	path          elements from the root, each with its first class:
//	              html/body/div.menu/ul/li/a
//	archived      false if the archives of -within cannot answer it, else absent
//
// robots_meta is the content of all meta elements for robots, or for us by name
// (-agent), in lower case; before it stands what the X-Robots-Tag headers add, of
// noindex, nofollow and noarchive as far as they are addressed to everybody or to
// us. evolve obeys the nofollow in it. A link's own nofollow, in its rel, is a
// hint and no more.
//
// A record that has an error, no body or no url passes as it came; so does the
// record of a sitemap, whose links fetch -sitemaps has filled in. A body that is
// not the base64 it is said to be is the error http.
//
// # Main content
//
// -main leaves out of the text, and of the simhash, what surrounds the content of a
// page: navigation, advertisements, comments, notices. What is left is decided by
// the lengths of lines and how much of them is links (Kohlschütter, Fankhauser and
// Nejdl, WSDM 2010), by the elements of HTML for such parts, and by what authors
// call them. A page in which no main content is found keeps its text. Title, links,
// anchors and contexts are of the whole page.
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
//	$ fetch -archive web.warc.gz -all | parse -main | jq -r .text
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
// approximate. With -select the closing line counts them (flat), and with them
// pages that it would take seconds to search, such as one of 25,000 items in a row.
// XML is read as if it were HTML, but for CDATA and elements that end where they
// begin. Style sheets are not read, so hidden text is text. A language is
// told by its commonest words, of which a few dozen words of text hold enough, or
// by its script; some forty are known. Main content is told of articles; of a page
// of links or of many short posts it may be the wrong part.
package main

import (
	"errors"
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

Usage: parse [-main] [-context block|page] [-select NAME=CSS]... [-within FILE]...
             [-keep-body] [FILE...] < pages

In:   pages as fetch leaves them
Out:  the same, one for one, without the body and with title, description,
      keywords, lang, text, anchor_text, out_degree, links, canonical,
      robots_meta, simhash, charset and fields

Links are those of a, area, frame, iframe and meta refresh, and of link where it
is alternate with hreflang, next or prev, resolved, canonical and each once, with
anchor, context (25 words each side, a newline where the anchor stands), rel,
hreflang, tag and path (html/body/div.menu/ul/li/a). With -within they have
archived:false if the archives cannot answer them.

With -main, text is the main content of the page, without navigation and the like;
links stay whole. With -context page, a link's context goes on beyond its block.
lang is detected where the page does not declare it.

robots_meta holds the X-Robots-Tag header's noindex, nofollow, noarchive too. What is
addressed to the crawler that fetch -agent names is for us: give parse the same.

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
		p      = parser{agent: "spoor"}
		within filter.Strings
	)
	fs.Func("select", "fill the field NAME with the texts of what the selector matches, `NAME=CSS`; may be repeated", func(s string) error {
		selector, err := page.ParseSelector(s)
		p.selectors = append(p.selectors, selector)
		return err
	})
	fs.BoolVar(&p.main, "main", false, "leave out of text what is not the main content of the page")
	fs.Func("context", "take the words around a link from its block, which is the default, or from all of the page: `block|page`", func(s string) error {
		switch s {
		case "block", "page":
			p.acrossBlocks = s == "page"
			return nil
		}
		return errors.New("neither block nor page")
	})
	fs.Var(&within, "within", "mark the links that this WARC `file` or directory cannot answer; may be repeated")
	fs.Func("agent", "`name` under which pages may address us alone, as fetch -agent has it (default spoor)", func(s string) error {
		p.agent = strings.ToLower(robots.Token(s))
		return nil
	})
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
	selectors    []page.Selector
	main         bool
	acrossBlocks bool
	has          func(url string) bool // whether the closed world has it; nil: the world is open
	keepBody     bool
	agent        string // the product token of -agent, in lower case

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
	extractor.MainContent, extractor.AcrossBlocks, extractor.Agent = p.main, p.acrossBlocks, p.agent
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
		IsUTF8:      rec.BodyBase64 == "", // it was read as JSON
		Links:       rec.Links,
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
	rec.RobotsMeta = directives(p.agent, c.RobotsMeta, headers(rec, "x-robots-tag"))
	rec.Touch(wire.Parse)
	if c.Charset != "" && c.Charset != rec.Charset {
		rec.Charset = c.Charset
		rec.Touch(wire.Fetch)
	}
	if !p.keepBody {
		rec.Drop(wire.Body)
	}
}

// directives are those of the meta elements, and before them what the values of
// X-Robots-Tag restrict besides, as far as they are said to agent. Behind them it could be taken for what is
// addressed to a crawler that a meta element names.
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
