package judge

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/closedweb"
	"spoor/internal/judge"
	"spoor/internal/wire"
)

//go:embed manual_overlap.md
var overlapManual string

func overlap(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	fs := filter.Flags("judge overlap", overlapManual, stderr)
	onlyRelevant := fs.Bool("relevant", false, "count only pages that the judge has called relevant")
	cut := fs.Int("t", 0, "cut crawls after `n` units of cost (default: the cost of the shortest crawl)")
	format := fs.String("format", "ndjson", "`format`: ndjson, markdown")
	limit := filter.Size(wire.DefaultLimit)
	fs.Var(&limit, "limit", "longest line accepted, in `bytes` (KiB, MiB)")
	runs, err := filter.ParseMixed(fs, args)
	switch {
	case err != nil:
		return err
	case *format != "ndjson" && *format != "markdown":
		return filter.Usagef("-format %q: want ndjson or markdown", *format)
	case *cut < 0 || *cut > judge.MaxBudget:
		return filter.Usagef("-t %d: want a number from 0 to %d", *cut, judge.MaxBudget)
	}
	names, crawls, err := crawlsByName(runs, filter.Logger(stderr, "judge overlap", filter.LogOptions{}))
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
	if *format == "markdown" {
		return judge.WriteOverlaps(filter.Text(stdout), names, pairs)
	}
	out := bufio.NewWriter(stdout)
	return errors.Join(judge.WriteOverlapsNDJSON(out, pairs), out.Flush())
}

// crawlsByName returns the names of crawls in the order of the arguments, and the files
// with the records of each crawl by name. There are as many crawls of each name.
func crawlsByName(args []string, log *slog.Logger) (names []string, crawls map[string][][]string, err error) {
	crawls = map[string][][]string{}
	for _, arg := range args {
		name, path, named := strings.Cut(arg, "=")
		if !named || exists(arg) { // a path may contain =
			path = arg
			name, _, _ = strings.Cut(filepath.Base(filepath.Clean(path)), ".")
		}
		files := []string{path}
		if isRunDir(path) {
			if files, err = briefFiles(path, log); err != nil {
				return nil, nil, err
			}
		}
		if crawls[name] == nil {
			names = append(names, name)
		}
		crawls[name] = append(crawls[name], files)
	}
	if len(names) < 2 {
		return nil, nil, filter.Usagef("at least two crawls are needed: judge overlap RUN RUN...\nhint: NAME=RUN sets the name of a crawl")
	}
	for _, name := range names {
		if first := names[0]; len(crawls[name]) != len(crawls[first]) {
			return nil, nil, filter.Usagef("there are %[2]d crawls of %[1]s and %[4]d of %[3]s: there must be as many of each", first, len(crawls[first]), name, len(crawls[name]))
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
		return nil, fmt.Errorf("%s: %w, which -relevant needs\nhint: judge … -brief -tee RUN/verdicts.ndjson.zst writes them", files[0], err)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(files, ", "), err)
	}
	return order, nil
}
