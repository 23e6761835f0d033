package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"spoor/cmd/internal/filter"
	"spoor/internal/run"
)

// isRunDir reports whether an argument is a run directory.
func isRunDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// scoredFiles returns the files with the records of a run directory, one a generation, in order.
func scoredFiles(dir string) (files []string, err error) {
	generations, err := run.Dir(dir).List()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if len(generations) == 0 {
		return nil, fmt.Errorf("%s holds no generation that is scored\nhint: a run directory is what scripts/crawl -run DIR makes", dir)
	}
	for _, g := range generations {
		files = append(files, g.Scored)
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

// briefFiles returns the smallest files with what a run has fetched, in order.
func briefFiles(dir string) ([]string, error) {
	for _, name := range []string{"verdicts.ndjson.zst", "order.ndjson.zst"} {
		if file := filepath.Join(dir, name); exists(file) {
			return []string{file}, nil
		}
	}
	return scoredFiles(dir)
}
