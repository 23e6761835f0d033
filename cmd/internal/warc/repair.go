package warc

import (
	"cmp"
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
	"spoor/internal/atomicfile"
	"spoor/internal/lock"
)

// errEmptyFile is returned for a file of 0 bytes.
var errEmptyFile = errors.New("the file is empty")

// repair is warc repair.
type repair struct {
	*command
	out   string
	force bool
	write bool
	json  bool

	total    archive.Repaired
	limit    archive.FindingLimit
	writeErr error
}

func newRepair(c *command) func() error {
	r := &repair{command: c}
	c.flags.StringVar(&r.out, "o", "", "write the repaired copy to `file`")
	c.flags.BoolVar(&r.force, "force", false, "with -o: replace an existing file")
	c.flags.BoolVar(&r.write, "w", false, "replace the files, and keep the originals as FILE.bak")
	c.flags.BoolVar(&r.json, "json", false, "print a JSON object per repair")
	return r.run
}

func (r *repair) run() error {
	switch {
	case (r.out == "") == !r.write:
		return filter.Usagef("no output given\nhint: -o OUT for a copy, -w to replace the files")
	case len(r.args) == 0:
		return filter.Usagef("no archives given\nhint: warc repair -w FILE...")
	case !r.write && len(r.args) > 1:
		return filter.Usagef("-o takes one archive, but there are %d\nhint: -w repairs each in place", len(r.args))
	}
	ctx, stop := filter.NotifyContext(interrupted)
	defer stop()
	repair := r.copy
	if r.write {
		paths, err := archive.Files(r.args)
		if err != nil {
			return err
		}
		repair = func(ctx context.Context) error { return r.inPlace(ctx, paths) }
	}
	err := repair(ctx)
	if err == nil || r.write {
		n := r.total
		r.tally.In, r.tally.Out = n.Whole+n.Mended+n.LeftOut, n.Whole+n.Mended
		if n.LeftOut > 0 {
			r.tally.Skipped["left_out"] = n.LeftOut
		}
		r.tally.Close(slog.Int64("whole", n.Whole), slog.Int64("repairs", n.Repairs),
			slog.Int64("bytes_before", n.Before), slog.Int64("bytes_after", n.After))
	}
	return err
}

// inPlace repairs files in place. Files that cannot be repaired, such as those without records, are
// left alone, and make it fail in the end.
func (r *repair) inPlace(ctx context.Context, paths []string) (failed error) {
	for _, path := range paths {
		if path == archive.Input {
			return filter.Usagef("stdin cannot be replaced")
		}
		if !slices.Contains(r.args, path) && !strings.Contains(filepath.Base(path), ".warc") {
			r.tally.Skipped["no_warc"]++ // an ARC or WACZ in a directory
			continue
		}
		n, err := archive.RepairInPlace(ctx, path, r.options(path, filepath.Dir(path)))
		switch err = r.result(path, n, err); {
		case errors.Is(err, archive.ErrNotWARC), errors.Is(err, errEmptyFile):
			failed = cmp.Or(failed, err)
			r.tally.Skipped["no_warc"]++
			r.log.Warn("left alone what holds no record", "archive", path)
		case errors.Is(err, lock.ErrHeld):
			r.tally.Skipped["in_use"]++
			r.log.Warn("left alone what is being written", "archive", path)
		case err != nil && (ctx.Err() != nil || r.writeErr != nil || filter.ExitStatus(err) == filter.StatusDiskFull):
			return err
		case err != nil:
			failed = cmp.Or(failed, err)
			r.tally.Skipped["not_repaired"]++
			r.log.Warn("left alone what cannot be repaired", "archive", path, "err", err)
		}
	}
	return failed
}

// copy writes a repaired copy.
func (r *repair) copy(ctx context.Context) error {
	path := r.args[0]
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file (hint: -w takes directories)", path)
	}
	f, err := archive.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return err
	}
	if err := checkOutput(r.out, r.force, []string{path}); err != nil {
		return err
	}
	return atomicfile.Write(r.out, func(w io.Writer) error {
		o := r.options(path, filepath.Dir(r.out))
		o.Out = r.out
		n, err := archive.RepairFile(ctx, w, f, info.Size(), o)
		if name, ok := errors.AsType[*archive.OutputNameError](err); ok {
			return filter.Usagef("%w\nhint: -o NAME%s", err, name.Suffix)
		}
		if err == nil && n.Whole+n.Mended == 0 && n.LeftOut > 0 {
			err = errors.New("no record is whole")
		}
		return r.result(path, n, err)
	})
}

// options returns options that print the repairs of a file.
func (r *repair) options(path, temp string) archive.RepairOptions {
	return archive.RepairOptions{File: path, Temp: temp, Report: func(x archive.Repair) {
		if r.writeErr == nil && r.limit.Allow(path, x.Kind, &x.Detail) {
			r.writeErr = r.printLine(r.json, x)
		}
	}}
}

// result counts the repairs of a file, unless there was an error.
func (r *repair) result(path string, n archive.Repaired, err error) error {
	if err == nil && n.Before == 0 && n.Repairs == 0 {
		err = errEmptyFile
	}
	if err != nil {
		return fmt.Errorf("repairing %s: %w", path, err)
	}
	r.total.Whole += n.Whole
	r.total.Mended += n.Mended
	r.total.LeftOut += n.LeftOut
	r.total.Repairs += n.Repairs
	r.total.Before += n.Before
	r.total.After += n.After
	if n.After > n.Before {
		r.log.Info("larger than before, because each record is compressed alone: so it can be read at its offset",
			"archive", path, "bytes_before", n.Before, "bytes_after", n.After)
	}
	return r.writeErr
}
