package judge

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/run"
)

// isRunDir reports whether an argument is a run directory.
func isRunDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// crawlDirs returns the directories of the crawl that args are: one run directory, or nodes. It
// returns nil if they are something else.
func crawlDirs(args []string) (dirs run.Dirs) {
	for _, arg := range args {
		if !isRunDir(arg) || len(args) > 1 && !run.Dir(arg).IsNode() {
			return nil
		}
		dirs = append(dirs, run.Dir(arg))
	}
	return dirs
}

// scoredFiles returns the files with the records of a crawl, in order.
func scoredFiles(dirs run.Dirs, log *slog.Logger) (files []string, err error) {
	generations, missing, err := dirs.List()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if len(generations) == 0 {
		return nil, fmt.Errorf("%s holds no generation that is scored\nhint: a run directory is what scripts/crawl -run DIR makes", string(dirs[0]))
	}
	for _, m := range missing {
		log.Warn("generations are missing", "partitions", m.Partitions, "generations", m.Generations)
	}
	for _, g := range generations {
		files = append(files, g.Scored)
	}
	return files, nil
}

// estimates returns what the strategy of a crawl thought of pages, nil without a run directory.
func estimates(dirs run.Dirs) (*run.Estimates, error) {
	if dirs == nil {
		return nil, nil
	}
	return dirs.Estimates(filter.OpenRegular)
}

// stopReason returns why a crawl ended, "" if it is unknown.
func stopReason(dirs run.Dirs) string {
	if dirs == nil {
		return ""
	}
	reason, err := atomicfile.ReadFile(dirs.Find(run.StopReason), maxStopReason)
	if err != nil {
		return "" // most arguments of judge have no such file
	}
	return strings.TrimSpace(string(reason))
}

// maxStopReason bounds the file with the reason, in bytes.
const maxStopReason = 1 << 10

// recordFiles returns the files to read for the arguments of judge: those of one crawl, or the
// arguments themselves.
func recordFiles(args []string, log *slog.Logger) ([]string, error) {
	if dirs := crawlDirs(args); dirs != nil {
		return scoredFiles(dirs, log)
	}
	if i := slices.IndexFunc(args, isRunDir); i >= 0 {
		return nil, filter.Usagef("%s is a run directory: one crawl is judged at a time", args[i])
	}
	return args, nil
}

// briefFiles returns the smallest files with what a run has fetched, in order.
func briefFiles(dir string, log *slog.Logger) ([]string, error) {
	for _, name := range []string{"verdicts.ndjson.zst", "order.ndjson.zst"} {
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s: it is a %s, not a regular file", file, atomicfile.Kind(info.Mode()))
		}
		if !errors.Is(err, os.ErrNotExist) {
			return []string{file}, err
		}
	}
	return scoredFiles(run.Dirs{run.Dir(dir)}, log)
}
