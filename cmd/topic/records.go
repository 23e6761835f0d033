package main

import (
	"errors"
	"fmt"
	"io"

	"spoor/cmd/internal/filter"
	"spoor/internal/wire"
)

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

// raw reports whether a record is a page that has not been parsed.
func raw(rec *wire.Record) bool {
	return rec.Title == "" && rec.Text == "" && (rec.Body != "" || rec.BodyBase64 != "")
}

// maxText bounds what is read of one text, in bytes, as score has it.
const maxText = 4 << 20

// cut is what is read of a text.
func cut(s string) string { return s[:min(len(s), maxText)] }
