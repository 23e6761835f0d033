package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"spoor/cmd/internal/filter"
)

// isRunDir reports whether an argument is a run directory.
func isRunDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// scoredFiles returns the files with the records of a run directory, one a generation, in order.
func scoredFiles(run string) ([]string, error) {
	dir := filepath.Join(run, "generations")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	type generation struct {
		number int
		file   string
	}
	var all []generation
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if file := filepath.Join(dir, e.Name(), "scored.ndjson.zst"); err == nil && exists(file) {
			all = append(all, generation{n, file})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no generation that is scored\nhint: a run directory is what scripts/crawl -run DIR makes", run)
	}
	slices.SortFunc(all, func(a, b generation) int { return cmp.Compare(a.number, b.number) })
	files := make([]string, len(all))
	for i, g := range all {
		files[i] = g.file
	}
	return files, nil
}

// recordFiles returns the files to read for the arguments of judge: those of one run
// directory, or the arguments themselves.
func recordFiles(args []string) ([]string, error) {
	if len(args) == 1 && isRunDir(args[0]) {
		return scoredFiles(args[0])
	}
	if i := slices.IndexFunc(args, isRunDir); i >= 0 {
		return nil, filter.Usagef("%s is a run directory: one crawl is judged at a time", args[i])
	}
	return args, nil
}

// briefFiles returns the smallest files that tell what a run has fetched.
func briefFiles(run string) ([]string, error) {
	for _, name := range []string{"verdicts.ndjson.zst", "order.ndjson.zst"} {
		if file := filepath.Join(run, name); exists(file) {
			return []string{file}, nil
		}
	}
	return scoredFiles(run)
}
