package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/cmd/internal/measure"
	"spoor/internal/fitness"
	"spoor/internal/topic"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// Limits of the examples of one kind.
const (
	maxText     = 4 << 20   // bytes of one text, as score has it
	maxExamples = 256 << 20 // bytes of all texts
	maxReasons  = 20        // that are told why records are left out
)

// examples are the pages of some files, as parse leaves them.
type examples struct {
	pages []fitness.Page
	urls  map[string]bool
	size  int
	out   map[string]int // records left out, by reason
	raw   int            // of those: pages that have not been parsed
	strays
}

// strays are lines that are no record.
type strays struct {
	lines int
	first error // what the first of them is
}

func (s *strays) add(bad error) {
	if s.lines++; s.first == nil {
		s.first = bad
	}
}

// report tells of them, once; whence is where they came from, if it is known.
func (s *strays) report(stderr io.Writer, whence string) {
	if s.lines > 0 {
		fmt.Fprintf(stderr, "topic: %sskipped %d lines that are no record: %v\n", whence, s.lines, s.first)
	}
}

// readExamples reads the pages of files given with the flag called name. A page
// that is there twice counts once.
func readExamples(name string, files []string, stdin io.Reader, stderr io.Writer) (*examples, error) {
	e := &examples{urls: make(map[string]bool), out: make(map[string]int)}
	for _, file := range files {
		if err := e.read(file, stdin); err != nil {
			return nil, fmt.Errorf("-%s %s: %w", name, file, err)
		}
	}
	e.report(stderr, "-"+name+": ")
	for _, reason := range slices.Sorted(maps.Keys(e.out)) {
		fmt.Fprintf(stderr, "topic: -%s: left out %d: %s\n", name, e.out[reason], reason)
	}
	switch {
	case len(e.pages) > 0:
		return e, nil
	case e.raw > 0:
		return nil, fmt.Errorf("-%s: no page in %s has been parsed\nhint: parse %[2]s > parsed.ndjson, and give that", name, strings.Join(files, " "))
	}
	return nil, fmt.Errorf("-%s: no page with words in %s\nhint: example pages are what parse prints: fetch urls.txt | parse > pages.ndjson", name, strings.Join(files, " "))
}

func (e *examples) read(file string, stdin io.Reader) error {
	return eachRecord(stdin, []string{file}, func(rec *wire.Record) error {
		if reason := oneLine(e.add(rec)); reason != "" {
			if e.out[reason] == 0 && len(e.out) >= maxReasons {
				reason = "for other reasons"
			}
			e.out[reason]++
		}
		if e.size > maxExamples {
			return fmt.Errorf("more than %d MiB of text\nhint: some hundred pages are enough", maxExamples>>20)
		}
		return nil
	}, func(bad *wire.SyntaxError) { e.strays.add(fmt.Errorf("%s: %w", file, bad)) })
}

// add keeps the page of a record, or says why not.
func (e *examples) add(rec *wire.Record) string {
	switch {
	case rec.URL == "":
		return "no page, but a query"
	case rec.Error != "":
		return "error " + rec.Error
	case measure.Failed(rec):
		return fmt.Sprintf("status %d", rec.StatusCode)
	case e.urls[rec.URL]:
		return "given twice"
	case raw(rec):
		e.raw++
		return "not parsed"
	case rec.Title == "" && rec.Text == "":
		return "no words"
	}
	p := measure.Page(rec, nil)
	for _, s := range []*string{&p.URL, &p.Title, &p.Anchors, &p.Description, &p.Keywords, &p.Text} {
		*s = strings.Clone(cut(*s)) // the record is read into again
		e.size += len(*s)
	}
	for i, l := range p.Links {
		p.Links[i] = strings.Clone(l)
		e.size += len(l)
	}
	e.pages = append(e.pages, p)
	e.urls[p.URL] = true
	return ""
}

// cut is what is read of a text.
func cut(s string) string { return s[:min(len(s), maxText)] }

// canonical is an address of the command line as records have it; what is none
// is left as it is, and will not be found.
func canonical(url string) string {
	if c, err := weburl.Canonical(url); err == nil {
		return c
	}
	return url
}

// raw reports whether a record is a page that has not been parsed.
func raw(rec *wire.Record) bool {
	return rec.Title == "" && rec.Text == "" && (rec.Body != "" || rec.BodyBase64 != "")
}

// forTopic is the pages as package topic reads them.
func (e *examples) forTopic() []topic.Page {
	pages := make([]topic.Page, len(e.pages))
	for i, p := range e.pages {
		pages[i] = topic.Page{URL: p.URL, Title: p.Title, Text: p.Text, Links: p.Links}
	}
	return pages
}

// both is the address of a page that is in both sets, if there is one.
func both(a, b *examples) string {
	for _, p := range a.pages {
		if b.urls[p.URL] {
			return p.URL
		}
	}
	return ""
}

// eachRecord reads the records of files, or of stdin. Lines that are no record
// are reported to bad.
func eachRecord(stdin io.Reader, files []string, do func(*wire.Record) error, bad func(*wire.SyntaxError)) error {
	in, err := filter.Open(stdin, files)
	if err != nil {
		return err
	}
	defer in.Close()
	r := wire.NewReader(in, wire.All)
	var rec wire.Record
	for {
		err := r.Read(&rec)
		line, isLine := errors.AsType[*wire.SyntaxError](err)
		switch {
		case err == nil:
			if err := do(&rec); err != nil {
				return err
			}
		case isLine:
			bad(line)
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}
