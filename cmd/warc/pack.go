package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/page"
	"spoor/internal/wire"
)

// pack makes a WACZ file.
type pack struct {
	*command
	out      string
	scored   filter.Strings
	title    string
	created  time.Time
	relevant bool
}

func newPack(c *command) action {
	p := &pack{command: c}
	c.flags.StringVar(&p.out, "o", "", "the `file` to write; needed")
	c.flags.Var(&p.scored, "scored", "list the pages in this `file` of scored records, with title and score (repeatable; gzip and zstd are unpacked, - is stdin)")
	c.flags.StringVar(&p.title, "title", "", "`words` over the whole (default: the name of the file)")
	c.flags.Func("created", "the `time` (RFC 3339) that the file says it was made at (default: that of the newest capture)", func(v string) (err error) {
		p.created, err = time.Parse(time.RFC3339, v)
		return err
	})
	return p.run
}

func (p *pack) run() (err error) {
	switch {
	case p.out == "":
		return filter.Usagef("where to? -o OUT.wacz")
	case len(p.args) == 0:
		return filter.Usagef("which archives? warc pack -o %s FILE...", p.out)
	}
	paths, err := archive.Files(p.args)
	if err != nil {
		return err
	}
	if p.title == "" {
		p.title = filepath.Base(p.out)
	}
	f, err := os.Create(p.out + ".part")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	buffered := bufio.NewWriterSize(f, 1<<20)
	packer := archive.NewPacker(buffered, archive.PackOptions{
		Title:    p.title,
		Software: "spoor/" + version,
		Created:  p.created,
		Temp:     filepath.Dir(p.out),
		Report:   p.fault,
	})
	defer packer.Abort()
	for _, path := range paths {
		if err := packer.Archive(path); err != nil {
			return err
		}
		p.tally.In++
	}
	if len(p.scored) > 0 {
		err = p.list(packer)
	} else {
		err = p.detect(packer, paths)
	}
	if err != nil {
		return err
	}
	if err := packer.Close(); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), p.out); err != nil {
		return err
	}
	p.tally.Close(slog.Int64("bytes", packer.Size()))
	return nil
}

// detect lists all pages of HTML in the archives.
func (p *pack) detect(packer *archive.Packer, paths []string) error {
	extractor := page.NewExtractor()
	html := archive.Filter{MIME: []string{"text/html", "application/xhtml+xml"}, Status: []int{200}}
	for found, err := range archive.All(paths, html, archive.Limits{}) {
		if found == nil {
			if _, fault := errors.AsType[*archive.FormatError](err); fault {
				continue // has been reported
			}
			return err
		}
		sent := found.Header.Get("Content-Type")
		content := extractor.Extract(page.Document{URL: found.URL, ContentType: found.ContentType(), Charset: archive.Charset(sent), Body: found.Body})
		err := packer.Page(archive.PackedPage{URL: found.URL, Time: found.Time.Format(time.RFC3339), Title: content.Title})
		if err != nil {
			return err
		}
		p.tally.Out++
	}
	return nil
}

// list lists the pages of the scored records.
func (p *pack) list(packer *archive.Packer) error {
	return p.each(func(rec *wire.Record) error {
		if rec.StatusCode == 0 || rec.Error != "" {
			p.tally.Skipped["no_page"]++
			return nil
		}
		found := archive.PackedPage{
			URL:      rec.URL,
			Time:     rec.Timestamp,
			Title:    rec.Title,
			Operator: rec.Operator,
		}
		if rec.FinalURL != "" {
			found.URL = rec.FinalURL
		}
		if rec.Score.Kind == wire.Present {
			found.Score = &rec.Score.Value
		}
		for _, s := range rec.Scores {
			if found.Scores == nil {
				found.Scores = map[string]float64{}
			}
			found.Scores[s.Name] = s.Value
		}
		if rec.Relevant.Kind == wire.Present {
			found.Relevant = &rec.Relevant.Value
		}
		p.tally.Out++
		return packer.Page(found)
	})
}

// each calls f with the scored records.
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
			return nil
		}
		if err == nil {
			err = f(&rec)
		}
		if err != nil {
			return fmt.Errorf("reading scored records: %w", err)
		}
	}
}
