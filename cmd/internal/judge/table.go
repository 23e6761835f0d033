package judge

import (
	"bufio"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/judge"
)

//go:embed manual_table.md
var tableManual string

// table compares runs that were judged.
func table(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var o judge.CompareOptions
	var measure, also, pairs, form string
	var log filter.LogOptions
	var legend bool
	fs := filter.Flags("judge table", tableManual, stderr)
	fs.StringVar(&measure, "measure", "", "compare by this `measure` (default nauc, or harvest with -form costs); they are "+strings.Join(judge.CriterionNames(), ", "))
	fs.StringVar(&also, "also", "", "also show the means of these `measures`; separated by commas")
	fs.StringVar(&o.Reference, "reference", "", "compare all others with this `name`")
	fs.Float64Var(&o.Tie, "tie", 0.01, "differences up to `d` are ties")
	fs.StringVar(&pairs, "pairs", "units", "what to pair for p, A12, wins and losses, `units` or topics; topics are the means of their units")
	fs.Uint64Var(&o.Seed, "seed", 1, "seed of the random draws for intervals")
	fs.StringVar(&form, "form", string(judge.Overall), "`columns`: overall, topics, seeds, ranks, costs")
	fs.BoolVar(&legend, "legend", true, "explain the columns below the tables")
	filter.LogFlags(fs, &log)
	files, err := filter.ParseMixed(fs, args)
	if err != nil {
		return err
	}
	if measure == "" && form == string(judge.Costs) {
		measure = "harvest"
	}
	if o.By, err = judge.ParseCriterion(cmp.Or(measure, "nauc")); err != nil {
		return filter.Usagef("-measure: %w", err)
	}
	for name := range strings.FieldsFuncSeq(also, func(r rune) bool { return r == ',' || r == ' ' }) {
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
	case pairs != "units" && pairs != "topics":
		return filter.Usagef("-pairs %q: want units or topics", pairs)
	case !(o.Tie >= 0) || math.IsInf(o.Tie, 0):
		return filter.Usagef("-tie %v: want a number from 0", o.Tie)
	}

	results, err := readResults(stdin, files, filter.Logger(stderr, "judge table", log))
	if err != nil {
		return err
	}
	tables, err := judge.Compare(results, o)
	if errors.Is(err, judge.ErrDiffer) && slices.ContainsFunc(results, func(r *judge.Result) bool { return r.Name == runName("-") }) {
		err = fmt.Errorf("%w\nhint: give summaries as files: a result without a name is called by its file or directory", err)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(stdout)
	if err := judge.WriteMarkdown(filter.Text(out), tables, columns); err != nil {
		return err
	}
	if legend {
		if err := judge.WriteLegend(filter.Text(out), tables, columns); err != nil {
			return err
		}
	}
	return out.Flush()
}

// readResults reads the results in files, or those on stdin.
func readResults(stdin io.Reader, files []string, log *slog.Logger) (results []*judge.Result, err error) {
	warnings := filter.LineWarnings{Log: log}
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
				warnings.Report("skipped a line that is not a result", "line", line.Line, "err", line.Err)
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("reading results: %w", err)
			}
			results = append(results, r)
		}
	}
	if len(results) == 0 {
		return nil, errors.New("no line is a result\nhint: judge table reads results.ndjson of scripts/compare, and files of judge -summary")
	}
	warnings.Close()
	return results, nil
}

// runName returns the name of the run in a file that does not contain it: the directory of a
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
