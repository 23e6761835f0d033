// Package collection packs archives into WACZ files, with a list of the pages in them, or into WARC files.
package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"spoor/internal/archive"
	"spoor/internal/page"
	"spoor/internal/wire"
)

// Options are the parameters of [Write].
type Options struct {
	archive.PackOptions
	Archives []string // files and directories, see [archive.Files]

	// Scored, if not nil, calls f with the records of the pages to list. If it is nil, all
	// HTML pages with status 200 are listed.
	Scored   func(f func(*wire.Record) error) error
	WARC     bool                 // write a WARC file compressed with gzip, without a list of pages
	Relevant bool                 // pack only relevant pages, with the redirects to them
	NotFound func(*wire.Record)   // called for each page that the archives do not hold, or hold only damaged
	Index    archive.IndexOptions // used only if Scored is set
}

// A Result holds the counts of a call of [Write].
type Result struct {
	Archives    int64 // packed archives
	Records     int64 // records that were read from the archives
	Repacked    int64 // records that were written, with Options.WARC
	Pages       int64 // listed pages
	Duplicates  int64 // records of pages that were listed already
	Wanted      int64 // scored records of pages to list, with Options.Scored
	NotRelevant int64 // scored records that are not relevant, with Options.Relevant
	Bytes       int64 // size of the WACZ file
}

// A writer holds the state of a call of Write.
type writer struct {
	Options
	Result
	packer    *archive.Packer
	replay    *archive.Replay    // used only if Scored is set
	selection *archive.Selection // nil without Relevant
	listed    int64              // number of calls of packer.Page
}

// Write writes a WACZ file to w, or a WARC file with Options.WARC. If it returns an error, the counts are not complete.
func Write(ctx context.Context, w io.Writer, o Options) (Result, error) {
	c := &writer{Options: o}
	if o.WARC {
		c.packer = archive.NewWARCPacker(w, o.PackOptions)
	} else {
		c.packer = archive.NewPacker(w, o.PackOptions)
	}
	defer c.packer.Abort()
	if o.Scored != nil {
		replay, err := archive.OpenReplay(o.Archives, archive.ReplayOptions{Index: o.Index})
		if errors.Is(err, archive.ErrNotWARC) {
			err = fmt.Errorf("%w: %w", err, archive.ErrNoRecords)
		}
		if err != nil {
			return c.Result, err
		}
		defer replay.Close()
		c.replay = replay
		if o.Relevant {
			c.selection = archive.NewSelection(replay)
		}
		if err := c.listScored(); err != nil {
			return c.Result, err
		}
	}
	err := c.packArchives(ctx)
	c.Records = c.packer.Read()
	if err == nil && c.Records == 0 {
		err = archive.ErrNoRecords
	}
	if err == nil && !o.WARC {
		err = c.readHTML(ctx)
	}
	err = cmp.Or(err, c.packer.Close())
	c.Pages, c.Bytes = c.packer.Pages(), c.packer.Size()
	c.Repacked = c.packer.Repacked()
	c.Duplicates = c.listed - c.Pages
	return c.Result, err
}

// packArchives packs the archives or, with Relevant, the selected records.
func (c *writer) packArchives(ctx context.Context) error {
	for v, err := range archive.Volumes(c.Options.Archives, nil) {
		switch _, fault := errors.AsType[*archive.FormatError](err); {
		case fault:
			c.Report(v.Path, err)
			continue
		case err != nil:
		case c.selection == nil:
			err = c.packer.Archive(ctx, &v)
		case c.selection.From(&v):
			err = c.packer.Records(ctx, &v, func(rec *archive.Record) bool { return c.selection.Has(&v, rec) })
		default:
			continue
		}
		if err != nil {
			return err
		}
		c.Result.Archives++
	}
	return nil
}

// listScored lists and selects the pages of the scored records. It returns an error if the
// archives hold none of them.
func (c *writer) listScored() error {
	var found int64
	err := c.Scored(func(rec *wire.Record) error {
		if c.selection != nil && !rec.Relevant.Value {
			c.NotRelevant++
			return nil
		}
		c.Wanted++
		date, _ := time.Parse(time.RFC3339, rec.Timestamp) // without a date, the offset or the digest must match
		capture, ok := c.replay.Find(archive.Trace{URL: URL(rec), Time: date, Digest: rec.Digest, Filename: rec.WARCFilename, Offset: rec.WARCOffset})
		if !ok || c.replay.Damaged(capture) {
			c.NotFound(rec)
			return nil
		}
		found++
		target, err := c.replay.Target(capture)
		if err != nil {
			return err
		}
		if c.selection != nil {
			var hops []string
			for _, hop := range rec.Redirects {
				hops = append(hops, hop.URL)
			}
			if err := c.selection.Add(capture, hops); err != nil {
				return err
			}
		}
		return c.listRecord(rec, target)
	})
	switch {
	case err != nil:
		return err
	case c.Wanted == 0 && c.selection != nil:
		return errors.New("no page to pack: none of the scored records is relevant\nhint: without -relevant everything is packed")
	case c.Wanted > 0 && found == 0:
		return fmt.Errorf("the archives hold none of the %d pages\nhint: name the archives that they were fetched from", c.Wanted)
	}
	return nil
}

// URL returns the address of the page in a record, at the end of the redirects.
func URL(rec *wire.Record) string { return cmp.Or(rec.FinalURL, rec.URL) }

// listRecord lists the page of a record, with its URL as archived.
func (c *writer) listRecord(rec *wire.Record, target string) error {
	c.listed++
	line := archive.PackedPage{URL: target, Time: rec.Timestamp, Title: rec.Title,
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
	return c.packer.Page(line)
}

// readHTML reads all HTML pages with status 200, for the spellings of URLs in their links. Without
// Scored, it lists the pages.
func (c *writer) readHTML(ctx context.Context) error {
	const maxHead = 64 << 10 // number of bytes of a page that are searched for its title
	extractor := page.NewExtractor()
	html := archive.Filter{MIME: []string{"text/html", "application/xhtml+xml"}, Status: []int{200}}
	for found, err := range archive.All(c.Options.Archives, html, archive.Limits{}) {
		if e := context.Cause(ctx); e != nil {
			return e
		}
		if found == nil {
			if _, fault := errors.AsType[*archive.FormatError](err); fault {
				continue // the error was reported when the archive was packed
			}
			return err
		}
		if found.Damage != nil {
			continue // its record was left out
		}
		c.addSpellings(found)
		if c.Scored != nil {
			continue
		}
		content := extractor.Extract(page.Document{
			URL:         found.URL,
			ContentType: found.ContentType(),
			Charset:     found.Charset(),
			Body:        found.Body[:min(len(found.Body), maxHead)],
		})
		c.listed++
		err := c.packer.Page(archive.PackedPage{URL: found.Target, Time: found.Time.Format("2006-01-02T15:04:05.000Z"), Title: content.Title})
		if err != nil {
			return err
		}
	}
	return nil
}
