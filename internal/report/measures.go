package report

import (
	"encoding/json"
	"fmt"
	"math"
)

// points is how many a curve of our own has.
const points = 200

// A summary is what a judge says of a run, as JSON.
type summary struct {
	T                 int
	R                 int
	Cost              int
	Reachable         int
	Label             string
	Seeds             int
	Graph             string
	Harvest           float64
	Recall            float64
	NAUC              float64
	AUC               float64
	AUCRandom         float64  `json:"auc_random"`
	AUCClairvoyant    float64  `json:"auc_clairvoyant"`
	AUCBound          float64  `json:"auc_bound"`
	Cost50            int      `json:"cost_50"`
	Cost80            int      `json:"cost_80"`
	Cost90            int      `json:"cost_90"`
	RelevantHosts     int      `json:"relevant_hosts"`
	SelfHarvest       *float64 `json:"self_harvest"`
	MeanScore         *float64 `json:"mean_score"`
	Seeing            *reference
	SeeingChildren    *reference `json:"seeing_children"`
	ClairvoyantRecall float64    `json:"clairvoyant_recall"`
	Agreement         *agreement
	Curves            struct {
		Cost           []int
		Run            []float64
		Random         []float64
		RandomLow      []float64 `json:"random_low"`
		RandomHigh     []float64 `json:"random_high"`
		Clairvoyant    []float64
		Bound          []float64
		Seeing         []float64
		SeeingChildren []float64 `json:"seeing_children"`
	}
}

type agreement struct {
	HeldOut        bool `json:"held_out"`
	Pages, Both    int
	OnlyCrawl      int `json:"only_crawl"`
	OnlyClassifier int `json:"only_classifier"`
	Neither        int
	Precision      float64
	Recall         float64
	F1             float64
	Kappa          float64
}

type reference struct {
	NAUC           float64
	AUCClairvoyant float64 `json:"auc_clairvoyant"`
	Recall         float64
}

// judge reads what a judge says in the end. A classifier in the place of labels is no
// judge: its verdicts are not looked at.
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
			c.run.Agreement = new(Agreement(*s.Agreement))
			c.run.Judged = false
		default:
			c.run.Measures, c.run.Curves = s.measures(), s.lines()
		}
	}
	if c.run.Judged {
		c.verdicts = newVerdicts(c.source.Verdicts)
	}
}

// curve makes a curve of the records, where there is none of a judge.
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

// lists are the curves that may be there.
func (s *summary) lists() []*[]float64 {
	l := &s.Curves
	return []*[]float64{&l.Run, &l.Random, &l.RandomLow, &l.RandomHigh, &l.Clairvoyant, &l.Bound, &l.Seeing, &l.SeeingChildren}
}

// check tells what is wrong with the numbers, and thins out curves that are too long.
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
			return fmt.Errorf("cost %d in the curves does not rise", c)
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

// thinned is at most MaxPoints of the values, the last among them.
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

func (s *summary) measures() *Measures {
	return &Measures{
		T: s.T, R: s.R, Reachable: s.Reachable,
		Spent: min(s.T, s.Cost), Relevant: int(math.Round(min(1, max(0, s.Recall)) * float64(s.R))),
		Label: clean(s.Label, maxName), Seeds: s.Seeds, Graph: clean(s.Graph, maxName),
		Harvest: s.Harvest, Recall: s.Recall, NAUC: s.NAUC,
		AUC: s.AUC, AUCRandom: s.AUCRandom, AUCClairvoyant: s.AUCClairvoyant, AUCBound: s.AUCBound,
		Cost50: s.Cost50, Cost80: s.Cost80, Cost90: s.Cost90,
		RelevantHosts: s.RelevantHosts, SelfHarvest: orNaN(s.SelfHarvest), MeanScore: orNaN(s.MeanScore),
		Seeing: s.Seeing.measures(), SeeingChildren: s.SeeingChildren.measures(),
		ClairvoyantRecall: s.ClairvoyantRecall,
	}
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func (r *reference) measures() *Reference {
	if r == nil {
		return nil
	}
	return &Reference{NAUC: r.NAUC, AUCClairvoyant: r.AUCClairvoyant, Recall: r.Recall}
}

func (s *summary) lines() Curves {
	l := &s.Curves
	return Curves{
		By: ByLabels, R: s.R, Cost: l.Cost, Run: l.Run,
		Random: l.Random, RandomLow: l.RandomLow, RandomHigh: l.RandomHigh,
		Clairvoyant: l.Clairvoyant, Bound: l.Bound, Seeing: l.Seeing, SeeingChildren: l.SeeingChildren,
	}
}
