package main

import (
	"fmt"
	"log/slog"

	"spoor/internal/archive"
)

const verifyManual = `
warc verify - check archives

Usage: warc verify [flags] [FILE...]

In:   archives, directories of them, or stdin
Out:  a line for each thing that is wrong: FILE:OFFSET: kind: words; with -json an
      object

Kinds: format (torn, rubbish, wrong length), end (not two empty lines behind a
record), member (not one record a gzip member or zstd frame), field (missing, or no
date), digest, duplicate (identifier), reference (to a record that is not there),
package (a WACZ that does not hold what it says), limit (not checked). What may be
meant so, and loses nothing, is a warning. Of the kind format the first thousand of a
file are printed.

Example:

    warc verify crawl/warc || warc repair -w crawl/warc

Exit status: 0 nothing is wrong but for warnings, 1 something is (with -strict a
warning, too) or could not be read, 2 misuse, 3 disk full.
`

// verify checks archives.
type verify struct {
	*command
	json, strict bool

	mendable int64 // faults of files that repair takes
	printed  printed
}

func newVerify(c *command) func() error {
	v := &verify{command: c, printed: printed{}}
	c.flags.BoolVar(&v.json, "json", false, "print an object for each thing that is wrong")
	c.flags.BoolVar(&v.strict, "strict", false, "a warning ends the command with status 1, too")
	return v.run
}

func (c *verify) run() error {
	var failed error // to print
	v := archive.Verifier{Report: func(f archive.Finding) {
		if failed == nil {
			failed = c.print(&f)
		}
	}}
	paths, err := archive.Files(c.files())
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := c.file(&v, path); err != nil {
			c.leftOut(path, err)
		}
		if failed != nil {
			return failed
		}
	}
	v.Close()
	if failed != nil {
		return failed
	}
	c.tally.In = v.Records
	c.tally.Out = v.Faults + v.Warnings
	c.tally.Close(slog.Int64("bytes", v.Bytes), slog.Int64("faults", v.Faults), slog.Int64("warnings", v.Warnings),
		slog.Int64("digests", v.Digests), slog.Int64("payloads_chunked", v.Chunked), slog.Int64("payloads_dechunked", v.Dechunked),
		slog.Int64("records_without_digest", v.Unchecked))
	switch {
	case c.unread != nil:
		return c.unread
	case c.mendable > 0:
		return fmt.Errorf("faults: %d\nhint: warc repair writes a copy of a WARC file without them", v.Faults)
	case v.Faults > 0:
		return fmt.Errorf("faults: %d", v.Faults)
	case c.strict && v.Warnings > 0:
		return fmt.Errorf("warnings: %d, and -strict", v.Warnings)
	}
	return nil
}

// file checks one file, and of a WACZ what it says of the files in it.
func (c *verify) file(v *archive.Verifier, path string) error {
	if path != archive.Input {
		if err := v.Package(path); err != nil {
			return err
		}
	}
	for volume, err := range archive.Volumes([]string{path}, c.stdin) {
		if err == nil {
			before := v.Mendable
			err = v.File(volume.Path, volume.Data)
			if volume.Path == path { // a WACZ is not repaired
				c.mendable += v.Mendable - before
			}
		} else {
			err = v.Fault(volume.Path, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *verify) print(f *archive.Finding) error {
	if !c.printed.takes(f.File, f.Kind, &f.Detail) {
		return nil
	}
	if c.json {
		return writeJSON(c.stdout, f)
	}
	kind := f.Kind
	if f.Warning {
		kind += " (warning)"
	}
	url := f.URL
	if url != "" {
		url = " [" + url + "]"
	}
	_, err := fmt.Fprintf(c.stdout, "%s:%d: %s: %s%s\n", f.File, f.Offset, kind, tame(f.Detail), tame(url))
	return err
}
