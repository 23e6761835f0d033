package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// points is the number of points of a curve that is made from records.
const points = 200

// A summary is the output of judge -summary.
type summary struct {
	Measures
	SelfHarvest *float64 `json:"self_harvest"` // nil if the crawl did not score its pages
	MeanScore   *float64 `json:"mean_score"`
	Agreement   *Agreement
	Curves      Curves
}

// judge reads the judge's summary. If a classifier took the place of labels, the verdicts are
// ignored.
func (c *collector) judge() {
	c.run.Judged = c.source.Verdicts != nil
	if len(c.source.Summary) > 0 {
		var s summary
		err := json.Unmarshal(c.source.Summary, &s)
		if err == nil {
			err = s.check()
		}
		switch {
		case err != nil:
			c.fault(fmt.Errorf("the judge's summary: %w", err))
		case s.Agreement != nil:
			c.run.Agreement = s.Agreement
			c.run.Judged = false
		default:
			c.run.Measures, c.run.Curves = s.measures(), s.Curves
			c.run.Curves.By, c.run.Curves.R = ByLabels, s.R
		}
	}
	if c.run.Judged {
		c.verdicts = newVerdicts(c.source.Verdicts)
	}
}

// curve makes a curve from the records, if the judge has written none.
func (c *collector) curve() {
	if c.run.Curves.By != "" {
		return
	}
	by := ByMeasure
	if c.run.Judged {
		by = ByLabels
	}
	line := Curves{By: by}
	n := min(points, c.run.Fetched)
	finds := 0
	for i := 1; i <= n; i++ {
		cost := int(math.Round(float64(c.run.Fetched) * float64(i) / float64(n)))
		for finds < len(c.finds) && c.finds[finds] <= cost {
			finds++
		}
		line.Cost = append(line.Cost, cost)
		line.Run = append(line.Run, float64(finds))
	}
	c.run.Curves = line
}

// lists returns all curves except the costs.
func (s *summary) lists() []*[]float64 {
	l := &s.Curves
	return []*[]float64{&l.Run, &l.Random, &l.RandomLow, &l.RandomHigh, &l.Clairvoyant, &l.Bound, &l.Seeing, &l.SeeingChildren}
}

// check returns an error if the numbers are inconsistent. It reduces the points of curves that are
// too long.
func (s *summary) check() error {
	if min(s.T, s.R, s.Cost) < 0 || max(s.T, s.R, s.Cost) > maxCost {
		return fmt.Errorf("one of T %d, R %d and cost %d is not from 0 to %d", s.T, s.R, s.Cost, maxCost)
	}
	cost := s.Curves.Cost
	if len(s.Curves.Run) != len(cost) {
		return fmt.Errorf("a curve has %d points for %d costs", len(s.Curves.Run), len(cost))
	}
	for i, c := range cost {
		if c < 1 || i > 0 && c <= cost[i-1] {
			return fmt.Errorf("cost %d in the curves is not larger than the one before", c)
		}
	}
	for _, list := range s.lists() {
		if len(*list) != 0 && len(*list) != len(cost) {
			return fmt.Errorf("a curve has %d points for %d costs", len(*list), len(cost))
		}
		*list = thinned(*list)
	}
	s.Curves.Cost = thinned(cost)
	return nil
}

// thinned returns at most MaxPoints of the values, including the last.
func thinned[T any](list []T) []T {
	if len(list) <= MaxPoints {
		return list
	}
	few := make([]T, MaxPoints)
	for i := range few {
		few[i] = list[(i+1)*len(list)/MaxPoints-1]
	}
	return few
}

// measures returns the measures for the page.
func (s *summary) measures() *Measures {
	m := s.Measures
	m.Label, m.Graph, m.SeedDigest = clean(s.Label, maxName), clean(s.Graph, maxName), clean(s.SeedDigest, maxName)
	m.SelfHarvest, m.MeanScore = orNaN(s.SelfHarvest), orNaN(s.MeanScore)
	m.AveragePrecision = nil
	for _, name := range slices.Sorted(maps.Keys(s.AveragePrecision)) {
		if m.AveragePrecision == nil {
			m.AveragePrecision = map[string]float64{}
		}
		if len(m.AveragePrecision) < maxShownScores {
			m.AveragePrecision[clean(name, maxName)] = s.AveragePrecision[name]
		}
	}
	return &m
}

// maxShownScores limits the scores whose average precision is shown.
const maxShownScores = 16

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
