package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/report"
	"spoor/internal/run"
)

// maxSmall bounds files that are read into memory. A topic file with a classifier has a few
// MiB.
const maxSmall = 64 << 20

// readRun reads the directories of a crawl.
func readRun(dirs run.Dirs, name string, log *slog.Logger) (*report.Run, error) {
	dir := string(dirs[0])
	s := &report.Source{Name: name, Fault: warner(log, "run", dir)}
	verdicts := "verdicts.ndjson.zst"
	generations, missing, err := dirs.List()
	if err == nil {
		s.Generations, err = parts(generations)
	}
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
	if len(generations) > 0 {
		estimates, err := dirs.Estimates(filter.OpenRegular)
		if err != nil {
			return nil, err
		}
		s.Estimate = estimates.Add
	}
	for _, m := range missing {
		log.Warn("generations are missing", "run", dir, "partitions", m.Partitions, "generations", m.Generations)
	}
	last := dirs[0] // a partition that has moved was interrupted in its former directory
	if len(generations) > 0 {
		last = generations[len(generations)-1].Dir
	}
	topic, err := last.LastTopic()
	if err != nil {
		return nil, err
	}
	for _, small := range []struct {
		name string
		to   *[]byte
	}{
		{dirs.Find(run.SettingsFile), &s.Settings}, {cmp.Or(topic, dirs.Find(run.Topic)), &s.Topic},
		{last.Path(run.StopReason), &s.StopReason}, {dirs[0].Path(run.Judged), &s.Summary},
	} {
		if *small.to, err = read(small.name); err != nil {
			return nil, err
		}
	}
	for _, long := range []struct {
		names []string
		to    *io.Reader
	}{{dirs.Files(run.StagesLog), &s.Stages}, {[]string{dirs[0].Path(verdicts)}, &s.Verdicts}} {
		var files []io.Reader
		for _, name := range long.names {
			f, err := filter.OpenRegular(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			defer f.Close()
			files = append(files, f, strings.NewReader("\n")) // the last line may be torn
		}
		if files != nil {
			*long.to = io.MultiReader(files...)
		}
	}
	r, err := report.Read(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if r.Measures != nil && !r.Judged {
		log.Warn(run.Judged+" without "+verdicts+": operators, niches, signals, hosts and pages are by the measure of the crawl", "run", dir,
			"hint", "judge -brief -tee "+filepath.Join(dir, verdicts)+" …")
	}
	return r, nil
}

// parts returns the parts of the report that generations are.
func parts(generations []run.Generation) ([]report.Part, error) {
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
