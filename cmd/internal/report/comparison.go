package report

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"

	"spoor/cmd/internal/filter"
	"spoor/internal/comparison"
	"spoor/internal/judge"
	"spoor/internal/report"
)

// comparing holds the flags of a comparison.
type comparing struct{ reference, measure, published string }

// The other parameters have the defaults of judge table.
const (
	tie  = 0.01 // smaller differences are ties
	draw = 1    // the random seed of the bootstrap
)

// read compares the results in a file.
func (how comparing) read(name string, log *slog.Logger) (*report.Comparison, error) {
	by, err := judge.ParseCriterion(how.measure)
	if err != nil {
		return nil, filter.Exit(filter.StatusMisuse, err)
	}
	results, err := readResults(name, log)
	if err != nil {
		return nil, err
	}
	if how.reference == "" {
		how.reference = planned(name, results)
	}
	addLastHarvest(results)
	tables, err := judge.Compare(results, judge.CompareOptions{By: by, Reference: how.reference, Tie: tie, Seed: draw})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c := &report.Comparison{
		Name: filepath.Base(name), Reference: how.reference,
		Measure: by.Name, Title: by.Title, Meaning: by.Meaning, Lower: by.Lower, Tie: tie,
	}
	for _, t := range tables {
		c.Tracks = append(c.Tracks, makeTrack(t))
	}
	if how.published != "" {
		c.Figures, err = figures(how.published, filepath.Dir(name), log)
	}
	return c, err
}

// readResults reads the results that scripts/compare has written.
func readResults(name string, log *slog.Logger) ([]*judge.Result, error) {
	f, err := filter.OpenInput(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	warn := warner(log, "results", name)
	var list []*judge.Result
	for r, err := range judge.Results(f, "") {
		if bad, ok := errors.AsType[*judge.LineError](err); ok {
			warn(bad)
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// planned returns the reference of the plan beside the results of compare, "" if there is none among
// the results.
func planned(name string, results []*judge.Result) string {
	reference, err := comparison.ReadReference(filepath.Join(filepath.Dir(name), "plan"))
	if err != nil || !slices.ContainsFunc(results, func(r *judge.Result) bool { return r.Name == reference }) {
		return ""
	}
	return reference
}

// addLastHarvest adds the harvest at T to the harvest at round costs, if all results have the same T:
// otherwise the mean at a cost would be of few crawls.
func addLastHarvest(results []*judge.Result) {
	if slices.ContainsFunc(results, func(r *judge.Result) bool { return r.T != results[0].T || r.Harvest == nil }) {
		return
	}
	for _, r := range results {
		if r.HarvestAt == nil {
			r.HarvestAt = map[int]float64{}
		}
		if r.Reaches(r.T) {
			r.HarvestAt[r.T] = *r.Harvest
		}
	}
}

// makeTrack converts a table for the page.
func makeTrack(t *judge.Table) report.Track {
	track := report.Track{
		Name: t.Track, Runs: t.Runs, Units: t.Units, Topics: t.Topics, Costs: t.Costs,
		Seeing: orNaN(t.Seeing), SeeingChildren: orNaN(t.SeeingChildren),
	}
	for i := range t.Rows {
		row := &t.Rows[i]
		nan := math.NaN()
		s := report.Strategy{
			Name: row.Name, Units: row.Units, Mean: row.Mean, Low: nan, High: nan,
			Difference: nan, DiffLow: nan, DiffHigh: nan, A12: nan, P: nan,
			Harvest: curve(t, row),
		}
		if row.Interval != nil {
			s.Low, s.High = row.Interval.Low, row.Interval.High
		}
		for _, cell := range row.Topics {
			s.Topics = append(s.Topics, value(cell.Mean))
		}
		if a := row.Against; a != nil {
			s.Difference, s.A12, s.P = a.Difference, a.A12, a.Holm
			s.Wins, s.Ties, s.Losses = a.Wins, a.Ties, a.Losses
			if a.Interval != nil {
				s.DiffLow, s.DiffHigh = a.Interval.Low, a.Interval.High
			}
		}
		track.Strategies = append(track.Strategies, s)
	}
	return track
}

// curve returns the mean harvest of a row by cost. It is NaN where more crawls of another row have reached the
// cost.
func curve(t *judge.Table, row *judge.Row) []float64 {
	var list []float64
	for i, m := range row.HarvestAt {
		v := value(m)
		if slices.ContainsFunc(t.Rows, func(r judge.Row) bool { return r.HarvestAt[i].Units > m.Units }) {
			v = math.NaN()
		}
		list = append(list, v)
	}
	return list
}

// value returns the value of a mean, NaN if it is missing.
func value(m judge.Mean) float64 {
	if m.Units == 0 {
		return math.NaN()
	}
	return m.Value
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
