package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"spoor/cmd/internal/filter"
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

// A crawler is crawls of one name.
type crawler struct {
	name  string
	files [][]string // of each of its crawls
}

// overlap prints how much crawls have in common.
func overlap(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	var o overlapping
	fs := filter.Flags("judge overlap", overlapManual, stderr)
	fs.BoolVar(&o.relevant, "relevant", false, "count only pages that the judge has called relevant")
	fs.IntVar(&o.t, "t", 0, "cut crawls after `n` units of cost (default: the shortest's)")
	format := fs.String("format", "ndjson", "`format`: ndjson, markdown")
	o.limit = wire.DefaultLimit
	fs.Var(&o.limit, "limit", "longest line accepted, in `bytes` (KiB, MiB)")
	runs, err := filter.ParseMixed(fs, args)
	switch {
	case err != nil:
		return err
	case *format != "ndjson" && *format != "markdown":
		return filter.Usagef("-format %q: it is ndjson or markdown", *format)
	case o.t < 0 || o.t > judge.MaxBudget:
		return filter.Usagef("-t %d: it is a number from 0 to %d", o.t, judge.MaxBudget)
	}
	crawlers, err := crawlersOf(runs)
	if err != nil {
		return err
	}
	pairs, err := o.pairs(crawlers)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(stdout)
	if *format == "markdown" {
		overlapTable(out, crawlers, pairs)
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

// crawlersOf sorts the arguments by name.
func crawlersOf(runs []string) (all []*crawler, err error) {
	for _, run := range runs {
		name, path, named := strings.Cut(run, "=")
		if _, err := os.Stat(run); err == nil || !named { // a path may have a = in it
			path = run
			name, _, _ = strings.Cut(filepath.Base(filepath.Clean(path)), ".")
		}
		files := []string{path}
		if isRun(path) {
			if files, err = fetched(path); err != nil {
				return nil, err
			}
		}
		i := slices.IndexFunc(all, func(c *crawler) bool { return c.name == name })
		if i < 0 {
			i = len(all)
			all = append(all, &crawler{name: name})
		}
		all[i].files = append(all[i].files, files)
	}
	if len(all) < 2 {
		return nil, filter.Usagef("which crawls? judge overlap RUN RUN...\nhint: NAME=RUN calls a crawl by a name")
	}
	for _, c := range all {
		if len(c.files) != len(all[0].files) {
			return nil, filter.Usagef("of %s there are %d crawls, of %s %d: as many of each can be held against each other", all[0].name, len(all[0].files), c.name, len(c.files))
		}
	}
	return all, nil
}

// fetched are the files that tell what a run has fetched: in brief if it was judged.
func fetched(run string) ([]string, error) {
	for _, name := range []string{"verdicts.ndjson.zst", "order.ndjson.zst"} {
		file := filepath.Join(run, name)
		if _, err := os.Stat(file); err == nil {
			return []string{file}, nil
		}
	}
	return generations(run)
}

// An overlapping holds crawls against each other.
type overlapping struct {
	relevant bool
	t        int
	limit    filter.Size
}

// A pair is the overlap of two crawlers.
type pair struct {
	A       string  `json:"a"`
	B       string  `json:"b"`
	Overlap float64 `json:"overlap"`
}

// pairs are the overlaps of any two crawlers: means over their crawls.
func (o *overlapping) pairs(crawlers []*crawler) ([]pair, error) {
	var pairs []pair
	for i, a := range crawlers {
		for _, b := range crawlers[i+1:] {
			pairs = append(pairs, pair{A: a.name, B: b.name})
		}
	}
	samples := len(crawlers[0].files)
	for sample := range samples {
		orders := make([][]int32, len(crawlers))
		number := numbers{}
		for i, c := range crawlers {
			var err error
			if orders[i], err = o.order(c.files[sample], number); err != nil {
				return nil, err
			}
		}
		cut := o.t
		if cut == 0 {
			cut = len(slices.MinFunc(orders, func(a, b []int32) int { return len(a) - len(b) }))
		}
		p := 0
		for i, a := range orders {
			for _, b := range orders[i+1:] {
				pairs[p].Overlap += judge.Overlap(a[:min(cut, len(a))], b[:min(cut, len(b))]) / float64(samples)
				p++
			}
		}
	}
	for i := range pairs {
		pairs[i].Overlap = round(pairs[i].Overlap)
	}
	return pairs, nil
}

// order is what a crawl has fetched for each unit of cost: the number of a page that
// counts, or none.
func (o *overlapping) order(files []string, number numbers) (order []int32, err error) {
	f, err := filter.Open(nil, files)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines bytes.Buffer
	w := wire.NewWriter(&lines)
	r := wire.NewReader(filter.Addresses(f), wire.Address|wire.Fetch)
	r.Limit = int(o.limit)
	var rec wire.Record
	var paid account
	for {
		err := r.Read(&rec)
		switch {
		case errors.Is(err, io.EOF):
			return order, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", strings.Join(files, ", "), err)
		}
		id := addressed(&rec)
		p := paid.buy(&rec, id)
		page := none
		if !p.query && p.cost > 0 && !p.repeated {
			page = number.of(id.key)
			if o.relevant {
				lines.Reset()
				if err := errors.Join(w.Write(&rec), w.Flush()); err != nil {
					return nil, err
				}
				switch verdictOf(lines.Bytes()) {
				case "":
					return nil, fmt.Errorf("%s: a record has no verdict, which -relevant goes by\nhint: judge … -brief -tee RUN/verdicts.ndjson.zst writes them", files[0])
				case sayRelevant:
				default:
					page = none
				}
			}
		}
		for range min(p.cost, int64(judge.MaxBudget-len(order))) {
			order = append(order, page)
		}
	}
}

// overlapTable prints the overlaps as the paper's Table I has them, in percent.
func overlapTable(w io.Writer, crawlers []*crawler, pairs []pair) {
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	fmt.Fprint(w, "| |")
	for _, c := range crawlers {
		fmt.Fprintf(w, " %s |", cell(c.name))
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("--:|", len(crawlers)))
	for _, a := range crawlers {
		fmt.Fprintf(w, "| %s |", cell(a.name))
		for _, b := range crawlers {
			share := 1.0
			for _, p := range pairs {
				if p.A == a.name && p.B == b.name || p.A == b.name && p.B == a.name {
					share = p.Overlap
				}
			}
			fmt.Fprintf(w, " %.0f %% |", 100*share)
		}
		fmt.Fprintln(w)
	}
}
