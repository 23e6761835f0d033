package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/page"
	"spoor/internal/wire"
)

const packManual = `
warc pack - make a WACZ file of archives

Usage: warc pack -o OUT.wacz [-scored FILE]... [-relevant] [flags] FILE...

In:   archives, or directories of them; records with scores (-scored)
Out:  a WACZ 1.1.1, which replayweb.page shows

Archives with one gzip member a record are packed as they are, others are made so.
The pages listed are all of HTML with status 200; or those in the scored records,
with title and score; or with -relevant those of them that are "relevant":true, and
then only their records are packed: request, response, metadata, the redirects that
led to them, the originals of revisits. A page is found by warc_filename and
warc_offset, or else by address, timestamp and digest, so FILE may have another name
or be a WACZ by now; none that is found is a failure. A page with several records is
listed once, with the best score. The same input makes the same bytes. The closing
line counts records (in), listed pages (out) and archives.

Example:

    cat crawl/generations/*/scored.ndjson.zst |
        warc pack -o found.wacz -relevant -scored - crawl/warc

Exit status: 0 done, 1 failed, 2 misuse, 3 disk full, 130 and 143 interrupted, with
nothing written.
`

// pack makes a WACZ file.
type pack struct {
	*command
	out      string
	scored   filter.Strings
	relevant bool
	title    string
	created  time.Time
	cache    string

	sought, found, calls int64 // pages
}

func newPack(c *command) func() error {
	p := &pack{command: c}
	c.flags.StringVar(&p.out, "o", "", "the `file` to write; needed")
	c.flags.Var(&p.scored, "scored", "list the pages in this `file` of scored records, with title and score (repeatable; gzip and zstd are unpacked, - is stdin)")
	c.flags.BoolVar(&p.relevant, "relevant", false, "with -scored: pack only the pages that are relevant")
	c.flags.StringVar(&p.title, "title", "", "`words` over the whole (default: the name of the file)")
	c.flags.Func("created", "the `time` (RFC 3339) that the file says it was made at (default: that of the newest record)", func(v string) (err error) {
		p.created, err = time.Parse(time.RFC3339, v)
		return err
	})
	c.flags.StringVar(&p.cache, "cache", filter.Cache(), "with -scored: `directory` for indexes of archives beside which nothing can be written")
	return p.run
}

func (p *pack) run() error {
	switch {
	case p.out == "":
		return filter.Usagef("where to? -o OUT.wacz")
	case len(p.args) == 0:
		return filter.Usagef("which archives? warc pack -o %s FILE...", p.out)
	case p.relevant && len(p.scored) == 0:
		return filter.Usagef("what is relevant? -scored FILE, or -scored - for stdin")
	case slices.Contains(p.args, archive.Input):
		return filter.Usagef("archives are read twice, so stdin cannot be one\nhint: save it to a file")
	}
	paths, err := archive.Files(p.args)
	if err != nil {
		return err
	}
	if err := apart(p.out, slices.Concat(paths, p.scored)); err != nil {
		return err
	}
	if p.title == "" {
		p.title = strings.TrimSuffix(filepath.Base(p.out), ".wacz")
	}
	ctx, stop := interruptible()
	defer stop()
	var size int64
	var archives int64
	err = writeFile(p.out, func(w io.Writer) error {
		packer := archive.NewPacker(w, archive.PackOptions{
			Title:    p.title,
			Software: "spoor/" + filter.Version,
			Created:  p.created,
			Temp:     filepath.Dir(p.out),
			Report:   func(path string, err error) { p.fault(path, err) },
		})
		defer packer.Abort()
		var err error
		if archives, err = p.fill(ctx, packer); err != nil {
			return err
		}
		err = packer.Close()
		p.tally.In, p.tally.Out, size = packer.Read(), packer.Pages(), packer.Size()
		return err
	})
	if err != nil {
		return err
	}
	if twice := p.calls - p.tally.Out; twice > 0 {
		p.tally.Skipped["duplicate"] = twice
	}
	p.tally.Close(slog.Int64("archives", archives), slog.Int64("bytes", size))
	return nil
}

// fill packs the archives, lists their pages, and tells how many archives there are.
func (p *pack) fill(ctx context.Context, packer *archive.Packer) (archives int64, err error) {
	var selection *archive.Selection
	if len(p.scored) > 0 {
		replay, err := archive.OpenReplay(p.args, archive.ReplayOptions{Index: archive.IndexOptions{Cache: p.cache}})
		if errors.Is(err, archive.ErrNotWARC) {
			err = fmt.Errorf("%w: %w", err, errHollow)
		}
		if err != nil {
			return 0, err
		}
		defer replay.Close()
		if p.relevant {
			selection = archive.NewSelection(replay)
		}
		if err := p.choose(replay, selection, packer); err != nil {
			return 0, err
		}
	}
	for v, err := range archive.Volumes(p.args, nil) {
		switch {
		case err != nil:
			if p.fault(v.Path, err) {
				continue
			}
		case selection == nil:
			err = packer.Archive(ctx, &v)
		case selection.From(&v):
			err = packer.Records(ctx, &v, func(rec *archive.Record) bool { return selection.Has(&v, rec) })
		default:
			continue
		}
		if err != nil {
			return archives, err
		}
		archives++
	}
	switch {
	case packer.Read() == 0:
		return archives, errHollow
	case len(p.scored) > 0:
		return archives, nil
	}
	return archives, p.detect(ctx, packer)
}

// maxNamed is how many of the pages that are not found are named.
const maxNamed = 5

// choose lists the pages of the scored records, and selects them if they are to be
// relevant. None is an error: what would be packed is not what was asked for.
func (p *pack) choose(replay *archive.Replay, selection *archive.Selection, packer *archive.Packer) error {
	err := p.each(func(rec *wire.Record) error {
		if selection != nil && !rec.Relevant.Value {
			p.tally.Skipped["not_relevant"]++
			return nil
		}
		p.sought++
		at, _ := time.Parse(time.RFC3339, rec.Timestamp) // without one the place counts, or the digest
		capture, ok := replay.Find(archive.Trace{URL: address(rec), Time: at, Digest: rec.Digest, Filename: rec.WARCFilename, Offset: rec.WARCOffset})
		if !ok {
			p.missing(rec)
			return nil
		}
		p.found++
		if selection != nil {
			var hops []string
			for _, hop := range rec.Redirects {
				hops = append(hops, hop.URL)
			}
			if err := selection.Add(capture, hops); err != nil {
				return err
			}
		}
		return p.page(packer, rec)
	})
	switch {
	case err != nil:
		return err
	case p.sought == 0 && selection != nil:
		return errors.New("no page to pack: none of the scored records is relevant\nhint: without -relevant everything is packed")
	case p.sought > 0 && p.found == 0:
		return fmt.Errorf("the archives hold none of the %d pages\nhint: name the archives that they were fetched from", p.sought)
	}
	return nil
}

// missing counts a page that the archives do not hold, and names the first few.
func (p *pack) missing(rec *wire.Record) {
	p.tally.Skipped["not_archived"]++
	switch n := p.tally.Skipped["not_archived"]; {
	case n <= maxNamed:
		p.log.Warn("left out a page that the archives do not hold", "url", address(rec), "warc_filename", rec.WARCFilename)
	case n == maxNamed+1:
		p.log.Warn("more such pages are counted, but not named")
	}
}

// address is that of the page in a record.
func address(rec *wire.Record) string {
	if rec.FinalURL != "" {
		return rec.FinalURL
	}
	return rec.URL
}

// page lists the page of a record.
func (p *pack) page(packer *archive.Packer, rec *wire.Record) error {
	p.calls++
	line := archive.PackedPage{URL: strings.Clone(address(rec)), Time: rec.Timestamp, Title: rec.Title,
		Generation: rec.Generation, Depth: rec.Depth, Operator: rec.Operator}
	if rec.Score.Kind == wire.Present {
		line.Score = &rec.Score.Value
	}
	if rec.Relevant.Kind == wire.Present {
		line.Relevant = &rec.Relevant.Value
	}
	for _, s := range rec.Scores {
		if line.Scores == nil {
			line.Scores = map[string]float64{}
		}
		line.Scores[s.Name] = s.Value
	}
	return packer.Page(line)
}

// each calls f with the scored records of pages.
func (p *pack) each(f func(*wire.Record) error) error {
	in, err := filter.Open(p.stdin, slices.Clone(p.scored))
	if err != nil {
		return err
	}
	defer in.Close()
	r := wire.NewReader(in, wire.Address|wire.Fetch|wire.Parse|wire.Score)
	var rec wire.Record
	for {
		err := r.Read(&rec)
		if bad, ok := errors.AsType[*wire.SyntaxError](err); ok {
			p.tally.Bad(bad)
			continue
		}
		if errors.Is(err, io.EOF) {
			return p.tally.Misfit()
		}
		if err != nil {
			return fmt.Errorf("reading scored records: %w", err)
		}
		p.tally.Count()
		if rec.StatusCode == 0 || rec.Error != "" {
			p.tally.Skipped["no_page"]++
			continue
		}
		if err := f(&rec); err != nil {
			return err
		}
	}
}

// maxHead is how much of a page is read for its title, in bytes.
const maxHead = 64 << 10

// detect lists all pages of HTML in the archives.
func (p *pack) detect(ctx context.Context, packer *archive.Packer) error {
	extractor := page.NewExtractor()
	html := archive.Filter{MIME: []string{"text/html", "application/xhtml+xml"}, Status: []int{200}}
	for found, err := range archive.All(p.args, html, archive.Limits{}) {
		if e := context.Cause(ctx); e != nil {
			return e
		}
		if found == nil {
			if _, fault := errors.AsType[*archive.FormatError](err); fault {
				continue // has been reported
			}
			return err
		}
		content := extractor.Extract(page.Document{
			URL:         found.URL,
			ContentType: found.ContentType(),
			Charset:     archive.Charset(found.Header.Get("Content-Type")),
			Body:        found.Body[:min(len(found.Body), maxHead)],
		})
		p.calls++
		err := packer.Page(archive.PackedPage{URL: found.URL, Time: found.Time.Format("2006-01-02T15:04:05.000Z"), Title: content.Title})
		if err != nil {
			return err
		}
	}
	return nil
}
