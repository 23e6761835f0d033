package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/report"
	"spoor/internal/run"
)

// maxSmall bounds files that are read into memory. A topic file with a classifier has a few
// MiB.
const maxSmall = 64 << 20

// readRun reads a run directory.
func readRun(dir, name string, log *slog.Logger) (*report.Run, error) {
	s := &report.Source{Name: name, Fault: warner(log, "run", dir)}
	verdicts := "verdicts.ndjson.zst"
	var err error
	s.Generations, err = parts(dir)
	if errors.Is(err, fs.ErrNotExist) {
		verdicts = order
		s.Generations, err = jobParts(dir)
	}
	if info, e := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || e == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a run: it has neither generations nor %s\nhint: a run is the directory that scripts/crawl was given as -run", dir, order)
	}
	if err != nil {
		return nil, err
	}
	for _, small := range []struct {
		name string
		to   *[]byte
	}{
		{run.SettingsFile, &s.Settings}, {run.Topic, &s.Topic}, {run.StopReason, &s.StopReason}, {"judge.json", &s.Summary},
	} {
		if *small.to, err = read(filepath.Join(dir, small.name)); err != nil {
			return nil, err
		}
	}
	for _, long := range []struct {
		name string
		to   *io.Reader
	}{{run.StagesLog, &s.Stages}, {verdicts, &s.Verdicts}} {
		f, err := filter.OpenRegular(filepath.Join(dir, long.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		*long.to = f
	}
	r, err := report.Read(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return r, nil
}

// parts returns the generations of a run that have records.
func parts(dir string) ([]report.Part, error) {
	generations, err := run.Dir(dir).List()
	if err != nil {
		return nil, err
	}
	var list []report.Part
	for _, g := range generations {
		stats, err := read(g.Stats)
		if err != nil {
			return nil, err
		}
		list = append(list, report.Part{Number: g.Number, Stats: stats, Open: func() (io.ReadCloser, error) { return filter.OpenRegular(g.Scored) }})
	}
	return list, nil
}

// read returns the content of a small file, nil if it does not exist.
func read(name string) ([]byte, error) {
	b, err := atomicfile.ReadFile(name, maxSmall)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}
