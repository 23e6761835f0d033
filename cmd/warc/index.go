package main

import (
	"cmp"
	"fmt"
	"log/slog"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
)

const indexManual = `
warc index - index archives

Usage: warc index [flags] [FILE...]

In:   archives, directories of them, or stdin
Out:  the CDXJ lines of all, sorted by bytes: SURT, timestamp, JSON; with -w nothing

With -w each archive gets its index, FILE.cdxj, beside it, as fetch -archive makes
it; one that is up to date stays.

Example:

    warc index crawl/warc > crawl.cdxj

Exit status: 0 done, 1 failed, also that an archive could not be read, which is
reported and left out; 2 misuse, 3 disk full.
`

// index indexes archives.
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
			x.leftOut(path, err)
		}
	}
	if x.write {
		return x.beside(report)
	}
	meta, err := archive.WriteIndex(x.stdout, archive.Volumes(x.files(), x.stdin), x.temp, report)
	if err != nil {
		return err
	}
	return x.close(meta)
}

// beside writes indexes beside their archives.
func (x *index) beside(report func(string, error)) error {
	if len(x.args) == 0 {
		return filter.Usagef("of which archives? warc index -w FILE...")
	}
	paths, err := archive.Files(x.args)
	if err != nil {
		return err
	}
	var all archive.Meta
	for _, path := range paths {
		if path == archive.Input {
			return filter.Usagef("nothing can be written beside stdin")
		}
		i, err := archive.OpenIndex(path, archive.IndexOptions{Report: report})
		if err != nil {
			x.leftOut(path, err)
			continue
		}
		if i.Path == "" {
			return fmt.Errorf("writing the index of %s: %w", path, i.Lost)
		}
		all.Records += i.Meta.Records
		all.Captures += i.Meta.Captures
		all.Faults += i.Meta.Faults
		if err := i.Close(); err != nil {
			return err
		}
	}
	return x.close(all)
}

func (x *index) close(meta archive.Meta) error {
	x.tally.In, x.tally.Out = meta.Records, meta.Captures
	x.tally.Close(slog.Int64("faults", meta.Faults))
	return cmp.Or(x.unread, hollow(meta.Records, meta.Faults))
}
