package judge

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/closedweb"
	"spoor/internal/comparison"
	"spoor/internal/judge"
	"spoor/internal/wire"
)

//go:embed manual_published.md
var publishedManual string

// published compares published values with comparisons.
func published(args []string, _ io.Reader, stdout, stderr io.Writer) error {
	var log filter.LogOptions
	fs := filter.Flags("judge published", publishedManual, stderr)
	filter.LogFlags(fs, &log)
	files, err := filter.ParseMixed(fs, args)
	if err != nil {
		return err
	}
	if len(files) != 2 {
		return filter.Usagef("a file of values and a directory of comparisons are needed: judge published FILE DIR")
	}
	f, err := filter.OpenInput(files[0])
	if err != nil {
		return err
	}
	defer f.Close()
	values, err := judge.ReadPublished(f)
	if err != nil {
		return fmt.Errorf("%s: %w\nhint: judge published -help=all describes the file", files[0], err)
	}
	p := publisher{dir: files[1], log: filter.Logger(stderr, "judge published", log)}
	findings := make([][]*judge.Finding, len(values.Papers))
	for i, paper := range values.Papers {
		for t := range paper.Tables {
			finding, err := p.compare(&paper.Tables[t])
			if err != nil {
				return fmt.Errorf("%s: %s: %w", paper.Name, paper.Tables[t].Title, err)
			}
			findings[i] = append(findings[i], finding)
		}
	}
	out := bufio.NewWriter(filter.Text(stdout))
	if err := judge.WritePublished(out, values, findings); err != nil {
		return err
	}
	return out.Flush()
}

// A publisher reads comparisons.
type publisher struct {
	dir string
	log *slog.Logger
}

func (p *publisher) compare(t *judge.PublishedTable) (*judge.Finding, error) {
	labels, err := p.results(t.Plan, "")
	if err != nil {
		return nil, err
	}
	own := labels
	switch {
	case t.Own == judge.OverlapMeasure:
		own, err = p.overlaps(t, labels)
	case t.Judge != "":
		own, err = p.results(t.Plan, "."+t.Judge)
	}
	if err != nil {
		return nil, err
	}
	return t.Compare(own, labels, 1)
}

func (p *publisher) results(plan, suffix string) ([]*judge.Result, error) {
	return readResults(nil, []string{filepath.Join(p.dir, plan, "results"+suffix+".ndjson")}, p.log)
}

// overlaps returns a result for every pair of crawlers in every unit, whose harvest is their overlap.
func (p *publisher) overlaps(t *judge.PublishedTable, results []*judge.Result) (pairs []*judge.Result, err error) {
	orders := map[*judge.Result][]int32{}
	reader := closedweb.OrderReader{}
	order := func(r *judge.Result) (order []int32, err error) {
		if order, ok := orders[r]; ok {
			return order, nil
		}
		file := filepath.Join(comparison.JobDir(filepath.Join(p.dir, t.Plan), r), "order.ndjson.zst")
		order, err = readOrder(&reader, []string{file}, filter.Size(wire.DefaultLimit))
		orders[r] = order
		return order, err
	}
	for _, row := range t.Rows {
		first, second, _ := strings.Cut(row.Crawler, judge.PairSeparator)
		for _, a := range results {
			for _, b := range results {
				if a.Name != first || b.Name != second || a.Topic != b.Topic || a.Web != b.Web || a.Seeds != b.Seeds || a.Seed != b.Seed {
					continue
				}
				x, err := order(a)
				if err != nil {
					return nil, err
				}
				y, err := order(b)
				if err != nil {
					return nil, err
				}
				n := min(len(x), len(y))
				pair := *a
				pair.Name = row.Crawler
				pair.Harvest = judge.Rounded(judge.Overlap(x[:n], y[:n]))
				pairs = append(pairs, &pair)
			}
		}
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("no two of these crawlers were run with the same topic, seeds and random seed")
	}
	return pairs, nil
}
