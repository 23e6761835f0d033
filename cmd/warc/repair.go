package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/lock"
)

const repairManual = `
warc repair - write archives without what is wrong with them

Usage: warc repair -o OUT FILE
       warc repair -w FILE...

In:   WARC files, or with -w directories of them, in which ARC and WACZ are passed over
Out:  a line for each thing that was done: FILE:OFFSET: kind: words; with -json an
      object

Whole records are kept byte for byte. Left out are a torn end, rubbish, records
without type or date, and digests that are wrong; lengths are corrected where the
truth is known; records that share a gzip member get one each. Verify finds no fault
with the result, and repairing it changes nothing. Of the kind format the first
thousand of a file are printed.

With -w what FILE was stays beside it as FILE.bak, if there was something to do, and
FILE.open that nobody writes any more gets its name (kind name). A file that is being
written is left alone.

Example:

    warc repair -w crawl/warc

Exit status: 0 done, whatever there was to do; 1 failed, as when there is no record
at all; 2 misuse; 3 disk full; 130 and 143 interrupted: the file it was at is as it
was.
`

// repair repairs archives.
type repair struct {
	*command
	out   string
	write bool
	json  bool

	whole, repairs int64
	printed        printed
}

func newRepair(c *command) func() error {
	r := &repair{command: c, printed: printed{}}
	c.flags.StringVar(&r.out, "o", "", "write the repaired copy to `file`")
	c.flags.BoolVar(&r.write, "w", false, "replace the files, and keep what they were as FILE.bak")
	c.flags.BoolVar(&r.json, "json", false, "print an object for each thing that was done")
	return r.run
}

func (r *repair) run() (err error) {
	switch {
	case (r.out == "") == !r.write:
		return filter.Usagef("where to? -o OUT for a copy, -w in place")
	case len(r.args) == 0:
		return filter.Usagef("which archives? warc repair -w FILE...")
	case !r.write && len(r.args) > 1:
		return filter.Usagef("-o takes one archive, but there are %d\nhint: -w repairs each in place", len(r.args))
	}
	ctx, stop := interruptible()
	defer stop()
	if !r.write {
		return r.copy(ctx, r.args[0])
	}
	paths, err := archive.Files(r.args)
	if err != nil {
		return err
	}
	var failed error
	for _, path := range paths {
		if path == archive.Input {
			return filter.Usagef("stdin cannot be replaced")
		}
		if !slices.Contains(r.args, path) && !strings.Contains(filepath.Base(path), ".warc") {
			r.tally.Skipped["no_warc"]++ // an ARC or WACZ in a directory
			continue
		}
		lines := r.lines(path, filepath.Dir(path))
		_, n, err := archive.RepairInPlace(ctx, path, lines.options)
		switch err = lines.end(err); {
		case errors.Is(err, archive.ErrNotWARC):
			failed = err
			r.tally.Skipped["no_warc"]++
			r.log.Warn("left alone what holds no record", "archive", path)
		case errors.Is(err, lock.ErrHeld):
			r.tally.Skipped["in_use"]++
			r.log.Warn("left alone what is being written", "archive", path)
		case err != nil:
			return err
		default:
			r.count(n)
		}
	}
	r.close()
	return failed
}

// copy writes a repaired copy.
func (r *repair) copy(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file (hint: -w takes directories)", path)
	}
	if err := apart(r.out, []string{path}); err != nil {
		return err
	}
	lines := r.lines(path, filepath.Dir(r.out))
	var n archive.Repaired
	err = writeFile(r.out, func(w io.Writer) error {
		n, err = archive.RepairFile(ctx, w, f, info.Size(), lines.options)
		return lines.end(err)
	})
	if err != nil {
		return err
	}
	r.count(n)
	r.close()
	return nil
}

// lines print what is done to a file.
type lines struct {
	options archive.RepairOptions
	path    string
	err     error
}

func (r *repair) lines(path, temp string) *lines {
	l := &lines{path: path}
	l.options = archive.RepairOptions{Temp: temp, Report: func(x archive.Repair) {
		if l.err != nil || !r.printed.takes(path, x.Kind, &x.Detail) {
			return
		}
		if r.json {
			l.err = writeJSON(r.stdout, struct {
				File string `json:"filename"`
				archive.Repair
			}{path, x})
		} else {
			_, l.err = fmt.Fprintf(r.stdout, "%s:%d: %s: %s\n", path, x.Offset, x.Kind, tame(x.Detail))
		}
	}}
	return l
}

// end is what came of the file.
func (l *lines) end(err error) error {
	if err != nil {
		return fmt.Errorf("repairing %s: %w", l.path, err)
	}
	return l.err
}

func (r *repair) count(n archive.Repaired) {
	r.tally.In += n.Whole + n.Mended + n.LeftOut
	r.tally.Out += n.Whole + n.Mended
	if n.LeftOut > 0 {
		r.tally.Skipped["left_out"] += n.LeftOut
	}
	r.whole += n.Whole
	r.repairs += n.Repairs
}

func (r *repair) close() {
	r.tally.Close(slog.Int64("whole", r.whole), slog.Int64("repairs", r.repairs))
}
