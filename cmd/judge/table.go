package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/judge"
)

const tableManual = `
judge table - compare runs that were judged

Usage: judge table [flags] [FILE...] < results

In:   results.ndjson of scripts/compare, or files of judge -summary: a line a run, with
      name, track, web, topic, seeds (the set), seed (of chance), T, R and the measures
      of judge -summary. Without name the run is called by its directory (judge.json)
      or file, without topic by its label; seeds may be a number; the others may be
      absent
Out:  a table of Markdown a track, the best first, and what its columns mean; with
      -format ndjson a line a strategy

What is compared is the name: a strategy with its options. A unit is a topic and a set of
seeds; chance seeds are averaged in it, units in their topic, and topics in the mean. An
interval holds 95 % of 10,000 means of topics drawn with replacement, of sets of seeds
drawn in them, and of chance seeds drawn in those. With -reference every other name is
held against that one, in the units that both have: the difference and its interval; p of
Wilcoxon's signed-rank test (two-sided, exact up to 100 units, zeros by Pratt), adjusted
by Holm over the table, bold below 0.05; A12 of Vargha and Delaney; units that are
better, the same within -tie, and worse. ≈ marks what is equivalent within -tie, by two
one-sided tests. Units of one topic are more alike than units of two, which p does not
know: with many topics, use -pairs topics. Tracks are never compared with each other.

The forms of -format markdown:

    overall   the mean, its interval, and the reference
    topics    a column a topic, the best of each in bold
    seeds     a column a set of seeds
    ranks     the rank in each topic, the mean rank, and how far two must be apart
              (Friedman, Nemenyi)
    costs     harvest or recall at 100, 200, 500, … units of cost, as papers print it

Example:

    judge table -reference bestfirst results.ndjson
    judge table -form topics -measure harvest -also recall,self_harvest results.ndjson
    judge table -form costs results.ndjson
    judge table runs/*/judge.json
    grep '"track":"E"' results.ndjson | judge table -format ndjson | jq .mean

Exit status: 0 done; 1 failed, which is also that results contradict each other;
2 misuse.
`

// errNoResults is returned for input without any result.
var errNoResults = errors.New("no line is the result of a run\nhint: judge table reads results.ndjson, as scripts/compare writes it")

// table compares runs that were judged.
func table(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var o judge.CompareOptions
	var measure, also, pairs, form, format, log string
	var legend bool
	fs := filter.Flags("judge table", tableManual, stderr)
	fs.StringVar(&measure, "measure", "", "compare by this `measure`: "+strings.Join(criteria(), ", ")+" (default nauc, or harvest with -form costs)")
	fs.StringVar(&also, "also", "", "show the means of these `measures`, too, separated by commas")
	fs.StringVar(&o.Reference, "reference", "", "hold every other against the one of this `name`")
	fs.Float64Var(&o.Tie, "tie", 0.01, "units that differ by no more than `d` are the same")
	fs.StringVar(&pairs, "pairs", "units", "what is paired for p, A12 and who is better: `units`, or means of topics")
	fs.Uint64Var(&o.Seed, "seed", 1, "of the draws for intervals")
	fs.StringVar(&form, "form", string(judge.Overall), "`columns`: overall, topics, seeds, ranks, costs")
	fs.StringVar(&format, "format", "markdown", "`format`: markdown, ndjson")
	fs.BoolVar(&legend, "legend", true, "say below the tables what their columns mean")
	filter.LogFlag(fs, &log)
	files, err := filter.ParseMixed(fs, args)
	if err != nil {
		return err
	}
	if measure == "" {
		measure = "nauc"
		if form == string(judge.Costs) {
			measure = "harvest"
		}
	}
	if o.By, err = judge.ParseCriterion(measure); err != nil {
		return filter.Usagef("-measure: %w", err)
	}
	for name := range strings.SplitSeq(also, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		c, err := judge.ParseCriterion(name)
		if err != nil {
			return filter.Usagef("-also: %w", err)
		}
		o.Also = append(o.Also, c)
	}
	o.ByTopic = pairs == "topics"
	columns, err := judge.ParseForm(form, o.By)
	switch {
	case err != nil:
		return filter.Usagef("-form: %w", err)
	case columns == judge.Costs && o.Also != nil:
		return filter.Usagef("-also %s: -form costs shows one measure", also)
	case format != "markdown" && format != "ndjson":
		return filter.Usagef("-format %q: it is markdown or ndjson", format)
	case pairs != "units" && pairs != "topics":
		return filter.Usagef("-pairs %q: it is units or topics", pairs)
	case !(o.Tie >= 0) || math.IsInf(o.Tie, 0):
		return filter.Usagef("-tie %v: a difference is 0 or more", o.Tie)
	}

	results, err := readResults(stdin, files, filter.Logger(stderr, "judge table", log))
	if err != nil {
		return err
	}
	tables, err := judge.Compare(results, o)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(stdout)
	if format == "ndjson" {
		err = judge.WriteNDJSON(out, tables)
	} else if err = judge.WriteMarkdown(out, tables, columns); err == nil && legend {
		err = judge.WriteLegend(out, tables, columns)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// readResults reads the results in files, or those on stdin.
func readResults(stdin io.Reader, files []string, log *slog.Logger) (results []*judge.Result, err error) {
	strays := filter.Strays{Log: log}
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, file := range files {
		in, err := filter.Open(stdin, []string{file})
		if err != nil {
			return nil, err
		}
		defer in.Close()
		for r, err := range judge.Results(in, runName(file)) {
			if line, ok := errors.AsType[*judge.LineError](err); ok {
				strays.Report("skipped a line that is no result", "line", line.Line, "err", line.Err)
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("reading results: %w", err)
			}
			results = append(results, r)
		}
	}
	if len(results) == 0 {
		return nil, errNoResults
	}
	strays.Close()
	return results, nil
}

// runName returns the name of the run in a file that does not tell it: the directory of a
// judge.json, or the name of the file up to its first dot.
func runName(file string) string {
	switch {
	case file == "-":
		return "stdin"
	case filepath.Base(file) == "judge.json":
		if full, err := filepath.Abs(file); err == nil {
			return filepath.Base(filepath.Dir(full))
		}
	}
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return name
}

// criteria returns the names of all measures.
func criteria() (names []string) {
	for _, c := range judge.Criteria() {
		names = append(names, c.Name)
	}
	return names
}
