package main

import (
	"cmp"
	"fmt"
	"log/slog"

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
		if !x.fault(path, err) {
			x.skipArchive(path, err)
		}
	}
	if x.write {
		return x.writeFiles(report)
	}
	meta, err := archive.WriteIndex(x.stdout, archive.Volumes(x.files(), x.stdin), x.temp, report)
	if err != nil {
		return err
	}
	return x.close(meta)
}

// writeFiles writes the index of each archive beside it.
func (x *index) writeFiles(report func(string, error)) error {
	if len(x.args) == 0 {
		return filter.Usagef("no archives given\nhint: warc index -w FILE...")
	}
	paths, err := archive.Files(x.args)
	if err != nil {
		return err
	}
	var total archive.Meta
	for _, path := range paths {
		if path == archive.Input {
			return filter.Usagef("-w cannot write an index for stdin")
		}
		i, err := archive.OpenIndex(path, archive.IndexOptions{Report: report})
		if err != nil {
			x.skipArchive(path, err)
			continue
		}
		if i.Path == "" {
			return fmt.Errorf("writing the index of %s: %w", path, i.WriteErr)
		}
		total.Records += i.Meta.Records
		total.Captures += i.Meta.Captures
		total.Faults += i.Meta.Faults
		if err := i.Close(); err != nil {
			return err
		}
	}
	return x.close(total)
}

func (x *index) close(meta archive.Meta) error {
	x.tally.In, x.tally.Out = meta.Records, meta.Captures
	x.tally.Close(slog.Int64("faults", meta.Faults))
	return cmp.Or(x.skipped, errIfEmpty(meta.Records, meta.Faults))
}
