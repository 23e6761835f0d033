package warc

import (
	"errors"
	"log/slog"
	"slices"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
)

// index is warc index.
type index struct {
	*command
	write bool
	temp  string
}

func newIndex(c *command) func() error {
	x := &index{command: c}
	c.flags.BoolVar(&x.write, "w", false, "write the index of each archive beside it")
	c.flags.StringVar(&x.temp, "temp", "", "`directory` for temporary files of large indexes (default: that of the system)")
	return x.run
}

func (x *index) run() error {
	report := func(path string, err error) {
		switch {
		case errors.Is(err, archive.ErrIndexDamaged):
			x.log.Warn("replaced a damaged index", "archive", path)
		case !x.fault(path, err):
			x.skipArchive(path, err)
		}
	}
	var meta archive.Meta
	var err error
	if x.write {
		meta, err = x.writeFiles(report)
	} else {
		meta, err = archive.WriteIndex(x.stdout, archive.Volumes(x.files(), x.stdin), x.temp, report)
	}
	if err != nil {
		return err
	}
	x.tally.In, x.tally.Out = meta.Records, meta.Captures
	x.tally.Close(slog.Int64("faults", meta.Faults))
	if x.skipped != nil {
		return x.skipped
	}
	return x.errIfEmpty(meta.Records, meta.Faults)
}

// writeFiles writes the index of each archive beside it.
func (x *index) writeFiles(report func(string, error)) (total archive.Meta, err error) {
	if len(x.args) == 0 {
		return total, filter.Usagef("no archives given\nhint: warc index -w FILE...")
	}
	paths, err := archive.Files(x.args)
	if err != nil {
		return total, err
	}
	if slices.Contains(paths, archive.Input) {
		return total, filter.Usagef("-w cannot write an index for stdin")
	}
	return archive.WriteIndexFiles(paths, report)
}
