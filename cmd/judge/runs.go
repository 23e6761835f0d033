package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"spoor/cmd/internal/filter"
	"spoor/internal/wire"
)

// scored is what a generation of a run directory has fetched.
const scored = "scored.ndjson.zst"

// isRun tells whether an argument is a run directory.
func isRun(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// generations are the files with what a run has fetched, in order.
func generations(run string) ([]string, error) {
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
		file := filepath.Join(dir, e.Name(), scored)
		if _, missing := os.Stat(file); err == nil && missing == nil {
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

// fetches are the files to read for the arguments: those of one run directory, or the
// arguments as they are.
func fetches(args []string) ([]string, error) {
	if len(args) == 1 && isRun(args[0]) {
		return generations(args[0])
	}
	if i := slices.IndexFunc(args, isRun); i >= 0 {
		return nil, filter.Usagef("%s is a run directory: one crawl is judged at a time", args[i])
	}
	return args, nil
}

// seedsOf reads a file of seeds: addresses, or records with one, a line each. Each
// page comes once.
func seedsOf(name string, limit int, find func(address string) identity) (seeds []int32, unknown int, err error) {
	f, err := filter.Open(nil, []string{name})
	if err != nil {
		return nil, 0, fmt.Errorf("-seeds: %w", err)
	}
	defer f.Close()
	r := wire.NewReader(filter.Addresses(f), 0)
	r.Limit = limit
	var rec wire.Record
	seen := map[int32]bool{}
	for {
		err := r.Read(&rec)
		switch {
		case errors.Is(err, io.EOF):
			return seeds, unknown, nil
		case err != nil:
			return nil, 0, fmt.Errorf("-seeds: %s: %w", name, err)
		case rec.URL == "":
			continue // a query
		}
		if page := find(rec.URL).page; page == none {
			unknown++
		} else if !seen[page] {
			seen[page] = true
			seeds = append(seeds, page)
		}
	}
}
