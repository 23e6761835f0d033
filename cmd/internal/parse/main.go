// Package parse is the command parse, which extracts the title, text and links of pages.
package parse

import (
	"cmp"
	_ "embed"
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

//go:embed manual.md
var manual string

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
	fs.Func("context", "a link's context ends with its `block|page` (default block)", func(s string) error {
		switch s {
		case "block", "page":
			p.acrossBlocks = s == "page"
			return nil
		}
		return errors.New("neither block nor page")
	})
	fs.Var(&within, "within", "mark links that this archive `file` or directory lacks; may be repeated")
	fs.Func("agent", "`name` of the crawler in directives, as for fetch (default spoor)", func(s string) error {
		p.agent = strings.ToLower(robots.Token(s))
		return nil
	})
	fs.BoolVar(&p.keepBody, "keep-body", false, "keep the body")
	p.convert = converters{time: 30 * time.Second, memory: 1 << 30, output: 32 << 20}
	fs.Func("convert", "parse the output of a shell command for bodies of a media type, `TYPE=COMMAND`; may be repeated", p.convert.add)
	fs.DurationVar(&p.convert.time, "convert-time", p.convert.time, "maximum `time` of a command of -convert for a body")
	fs.Var((*filter.Size)(&p.convert.memory), "convert-memory", "maximum memory of a process of -convert, in `bytes`; only on Linux")
	fs.Var((*filter.Size)(&p.convert.output), "convert-output", "maximum output of -convert for a body, in `bytes`")
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
	if n := p.bodiless.Load(); n > 0 && p.pages.Load() == 0 {
		filter.Logger(stderr, "parse", s.Log).Warn("no page has a body", "pages", n, "hint", "fetch comes before parse, and no stage between them may drop the body")
	}
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

	pages, links, outside, flat, incomplete, broken, unconverted, shells, pdfs, bodiless atomic.Int64
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
	if rec.URL == "" || rec.Error != "" {
		return
	}
	if !isPage(rec) {
		if rec.StatusCode == 200 && rec.ContentLength > 0 && !rec.Has(wire.Parse) {
			p.bodiless.Add(1)
		}
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
	if rec.CharsetGuessed == wire.True { // by an earlier parse
		doc.Charset = ""
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
	rec.CharsetGuessed = wire.Bool{}
	if c.CharsetGuessed && command == "" {
		rec.CharsetGuessed = wire.True
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
