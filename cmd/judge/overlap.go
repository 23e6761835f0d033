package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/closedweb"
	"spoor/internal/judge"
	"spoor/internal/wire"
)

const overlapManual = `
judge overlap - how much of what crawls have fetched they have in common

Usage: judge overlap [flags] RUN RUN...

In:   run directories of scripts/crawl, or files of records (or addresses), a crawl
      each; of a directory that was judged verdicts.ndjson.zst or order.ndjson.zst is read
Out:  for each two of them a line as {"a":"bestfirst","b":"niche","overlap":0.52};
      with -format markdown a table

The overlap of two crawls is the superposition ratio of Fan, Zeng and Li (2009): pages
that both have fetched, of those that either has. It tells how different crawls are,
not how good. Each is cut after -t units of cost. With -relevant only pages count that
the judge has called relevant: the crawls must have been judged.

A crawl is called by the last element of its path, without endings, or NAME where the
argument is NAME=RUN. Crawls of the same name are different samples of it: the first
of one name is held against the first of another, the second against the second, and
the mean is told. All must then have as many.

Example:

    judge overlap -t 1000 -format markdown runs/bestfirst runs/niche runs/hits

Exit status: 0 done, 1 failed, 2 misuse.
`

// overlap prints how much crawls have in common.
func overlap(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	fs := filter.Flags("judge overlap", overlapManual, stderr)
	onlyRelevant := fs.Bool("relevant", false, "count only pages that the judge has called relevant")
	cut := fs.Int("t", 0, "cut crawls after `n` units of cost (default: the shortest's)")
	format := fs.String("format", "ndjson", "`format`: ndjson, markdown")
	limit := filter.Size(wire.DefaultLimit)
	fs.Var(&limit, "limit", "longest line accepted, in `bytes` (KiB, MiB)")
	runs, err := filter.ParseMixed(fs, args)
	switch {
	case err != nil:
		return err
	case *format != "ndjson" && *format != "markdown":
		return filter.Usagef("-format %q: it is ndjson or markdown", *format)
	case *cut < 0 || *cut > judge.MaxBudget:
		return filter.Usagef("-t %d: it is a number from 0 to %d", *cut, judge.MaxBudget)
	}
	names, crawls, err := crawlsByName(runs)
	if err != nil {
		return err
	}
	samples := make([][][]int32, len(crawls[names[0]]))
	for i := range samples {
		orders := closedweb.OrderReader{OnlyRelevant: *onlyRelevant}
		for _, name := range names {
			order, err := readOrder(&orders, crawls[name][i], limit)
			if err != nil {
				return err
			}
			samples[i] = append(samples[i], order)
		}
	}
	pairs := judge.Overlaps(names, samples, *cut)
	out := bufio.NewWriter(stdout) // which keeps the first error
	if *format == "markdown" {
		judge.WriteOverlaps(out, names, pairs)
	} else {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		for _, p := range pairs {
			if err := enc.Encode(p); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// crawlsByName returns the names of crawls in the order of the arguments, and the files
// with the records of each crawl by name. There are as many crawls of each name.
func crawlsByName(args []string) (names []string, crawls map[string][][]string, err error) {
	crawls = map[string][][]string{}
	for _, arg := range args {
		name, path, named := strings.Cut(arg, "=")
		if !named || exists(arg) { // a path may contain =
			path = arg
			name, _, _ = strings.Cut(filepath.Base(filepath.Clean(path)), ".")
		}
		files := []string{path}
		if isRunDir(path) {
			if files, err = briefFiles(path); err != nil {
				return nil, nil, err
			}
		}
		if crawls[name] == nil {
			names = append(names, name)
		}
		crawls[name] = append(crawls[name], files)
	}
	if len(names) < 2 {
		return nil, nil, filter.Usagef("which crawls? judge overlap RUN RUN...\nhint: NAME=RUN calls a crawl by a name")
	}
	first := names[0]
	for _, name := range names {
		if len(crawls[name]) != len(crawls[first]) {
			return nil, nil, filter.Usagef("of %s there are %d crawls, of %s %d: as many of each can be held against each other", first, len(crawls[first]), name, len(crawls[name]))
		}
	}
	return names, crawls, nil
}

// readOrder reads what a crawl has fetched.
func readOrder(orders *closedweb.OrderReader, files []string, limit filter.Size) ([]int32, error) {
	f, err := filter.Open(nil, files)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := wire.NewReader(filter.Addresses(f), wire.Address|wire.Fetch)
	r.Limit = int(limit)
	order, err := orders.Read(r)
	if errors.Is(err, closedweb.ErrNoVerdict) {
		return nil, fmt.Errorf("%s: %w, which -relevant goes by\nhint: judge … -brief -tee RUN/verdicts.ndjson.zst writes them", files[0], err)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(files, ", "), err)
	}
	return order, nil
}
