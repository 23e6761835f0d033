package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/judge"
	"spoor/internal/wire"
)

// A trial judges one crawl by labels.
type trial struct {
	account
	*world
	*judge.Judge
	seeds int
	order []int32 // a page for every unit of cost, up to T

	// What the crawl's own measure says of the pages that were found up to T.
	decided, ownRelevant, scored int64
	scores                       float64
}

// newTrial sets a trial up: the web, its labels and the seeds.
func (o *options) newTrial(log *slog.Logger) (*trial, error) {
	w, err := o.openWorld(log)
	if err != nil {
		return nil, err
	}
	if w.marks.unknown > 0 {
		log.Warn("labels of addresses that are not in the web count for nothing", "labels", w.marks.lines, "unknown", w.marks.unknown)
	}
	seeds, unknown, err := seedsOf(o.seeds, int(o.stream.Limit), w.find)
	if err != nil {
		return nil, err
	}
	if unknown > 0 {
		log.Warn("seeds that are not in the web count for nothing", "seeds", unknown+len(seeds), "unknown", unknown)
	}
	if len(seeds) == 0 {
		return nil, fmt.Errorf("no seed of %s is in the web\nhint: is it the web that was crawled?", o.seeds)
	}
	j, err := judge.New(w.web, seeds, judge.Options{T: o.t})
	if err != nil {
		return nil, err
	}
	if j.R == 0 {
		return nil, fmt.Errorf("no page with the label %q can be reached from the seeds: there is nothing to be found", o.label)
	}
	return &trial{world: w, Judge: j, seeds: len(seeds)}, nil
}

// printBudget prints what a crawl may spend.
func (t *trial) printBudget(stdout io.Writer) error {
	return json.NewEncoder(stdout).Encode(struct {
		V         int `json:"v"`
		T         int
		R         int
		Reachable int `json:"reachable"`
		Seeds     int `json:"seeds"`
	}{1, t.T, t.R, t.Reachable, t.seeds})
}

// run judges the records of in.
func (t *trial) run(o *options, in io.Reader, stdout io.Writer, log *slog.Logger) error {
	tally := filter.NewTally(log)
	err := o.each(in, stdout, tally, t.say)
	if err == nil {
		err = tally.Misfit()
	}
	if err != nil {
		tally.Close()
		return err
	}
	s := t.summary(o.label)
	log.Info("judged", s.attrs()...)
	if o.summary != "" {
		err = writeJSON(o.summary, s)
	}
	tally.Close(slog.Int64("spent", t.spent), slog.Int64("free", t.free), slog.Int64("queries", t.queries))
	return err
}

// say is the verdict on a record, and what was spent until then.
func (t *trial) say(rec *wire.Record) (verdict string, spent int64) {
	id := identity{page: none}
	if rec.URL != "" {
		id = t.page(rec)
	}
	within := t.spent < int64(t.T)
	p := t.buy(rec, id)
	for range min(p.cost, int64(t.T-len(t.order))) {
		t.order = append(t.order, id.page)
	}
	switch {
	case p.query:
		return "", t.spent
	case p.cost == 0:
		return sayFree, t.spent
	case p.repeated:
		return sayRepeated, t.spent
	}
	if within {
		t.listen(rec)
	}
	if id.page == none {
		return sayUnlabelled, t.spent
	}
	return t.marks.of[id.page].String(), t.spent
}

// listen notes what the crawl itself thinks of a page.
func (t *trial) listen(rec *wire.Record) {
	if rec.Relevant.Kind == wire.Present {
		t.decided++
		if rec.Relevant.Value {
			t.ownRelevant++
		}
	}
	if rec.Score.Kind == wire.Present {
		t.scored++
		t.scores += rec.Score.Value
	}
}

// A summary is what is said of a crawl in the end.
type summary struct {
	V         int   `json:"v"`
	T         int   `json:"T"`
	R         int   `json:"R"`
	Reachable int   `json:"reachable"`
	Fetched   int64 `json:"fetched"`
	Cost      int64 `json:"cost"`
	Queries   int64 `json:"queries"`
	Free      int64 `json:"free"`

	Harvest        float64 `json:"harvest"`
	Recall         float64 `json:"recall"`
	AUC            float64 `json:"auc"`
	AUCRandom      float64 `json:"auc_random"`
	NAUC           float64 `json:"nauc"`
	AUCClairvoyant float64 `json:"auc_clairvoyant"`
	AUCBound       float64 `json:"auc_bound"`
	Cost50         int     `json:"cost_50"`
	Cost80         int     `json:"cost_80"`
	Cost90         int     `json:"cost_90"`
	RelevantHosts  int     `json:"relevant_hosts"`

	SelfHarvest *float64 `json:"self_harvest,omitempty"`
	MeanScore   *float64 `json:"mean_score,omitempty"`

	Seeing            sighted `json:"seeing"`
	SeeingChildren    sighted `json:"seeing_children"`
	ClairvoyantRecall float64 `json:"clairvoyant_recall"`

	Label string `json:"label"`
	Seeds int    `json:"seeds"`
	Graph string `json:"graph"`

	HarvestAt map[int]float64 `json:"harvest_at"`
	RecallAt  map[int]float64 `json:"recall_at"`
	Curves    curves          `json:"curves"` // last: the longest
}

// sighted is what a crawler reaches that sees more than one can.
type sighted struct {
	NAUC           float64 `json:"nauc"`
	AUCClairvoyant float64 `json:"auc_clairvoyant"`
	Recall         float64 `json:"recall"`
}

// curves are relevant pages at some costs.
type curves struct {
	Cost           []int     `json:"cost"`
	Run            []int     `json:"run"`
	Random         []float64 `json:"random"`
	RandomLow      []int     `json:"random_low"`
	RandomHigh     []int     `json:"random_high"`
	Clairvoyant    []int     `json:"clairvoyant"`
	Bound          []float64 `json:"bound"`
	Seeing         []int     `json:"seeing"`
	SeeingChildren []int     `json:"seeing_children"`
}

// maxPoints is how many points of a curve are told.
const maxPoints = 200

func (t *trial) summary(label string) *summary {
	m := t.Measure(t.order)
	m.Fetched = int(min(t.spent, math.MaxInt))
	seeing, children := t.Measure(t.Seeing()), t.Measure(t.SeeingChildren())
	clairvoyant, band := t.Clairvoyant(), t.Random()
	s := &summary{
		V: 1, T: t.T, R: t.R, Reachable: t.Reachable,
		Fetched: t.spent, Cost: t.spent, Queries: t.queries, Free: t.free,
		Harvest: round(m.Harvest), Recall: round(m.Recall),
		AUC: round(m.AUC), AUCRandom: round(m.AUCRandom), NAUC: round(m.NAUC),
		AUCClairvoyant: round(m.AUCClairvoyant), AUCBound: round(m.AUCBound),
		Cost50: m.Cost50, Cost80: m.Cost80, Cost90: m.Cost90, RelevantHosts: m.RelevantHosts,
		Seeing: newSighted(&seeing), SeeingChildren: newSighted(&children),
		ClairvoyantRecall: round(float64(clairvoyant[t.T-1]) / float64(t.R)),
		Label:             label, Seeds: t.seeds, Graph: t.graph,
		HarvestAt: map[int]float64{}, RecallAt: map[int]float64{},
	}
	if t.decided > 0 {
		s.SelfHarvest = new(round(float64(t.ownRelevant) / float64(max(1, min(int64(t.T), t.spent)))))
	}
	if t.scored > 0 {
		s.MeanScore = new(round(t.scores / float64(t.scored)))
	}
	for cost := range milestones(t.T) {
		s.HarvestAt[cost], s.RecallAt[cost] = round(m.HarvestAt(cost)), round(m.RecallAt(cost))
	}
	costs := points(t.T)
	s.Curves = curves{
		Cost: costs, Run: at(m.Curve, costs),
		Random: rounded(at(band.Mean, costs)), RandomLow: at(band.Low, costs), RandomHigh: at(band.High, costs),
		Clairvoyant: at(clairvoyant, costs), Bound: rounded(at(t.Bound(), costs)),
		Seeing: at(seeing.Curve, costs), SeeingChildren: at(children.Curve, costs),
	}
	return s
}

func newSighted(m *judge.Measures) sighted {
	return sighted{round(m.NAUC), round(m.AUCClairvoyant), round(m.Recall)}
}

// attrs are the measures for the log.
func (s *summary) attrs() []any {
	attrs := []any{slog.Int("T", s.T), slog.Int("R", s.R),
		slog.Float64("harvest", s.Harvest), slog.Float64("recall", s.Recall), slog.Float64("nauc", s.NAUC),
		slog.Float64("auc_clairvoyant", s.AUCClairvoyant), slog.Float64("auc_bound", s.AUCBound)}
	if s.SelfHarvest != nil {
		attrs = append(attrs, slog.Float64("self_harvest", *s.SelfHarvest))
	}
	return attrs
}

// milestones yields 100, 200, 500, 1000 and so on up to t.
func milestones(t int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for decade := 100; decade <= t; decade *= 10 {
			for _, n := range [...]int{1, 2, 5} {
				if cost := n * decade; cost > t || !yield(cost) {
					return
				}
			}
		}
	}
}

// points are the costs from 1 to t at which curves are told: all, or maxPoints that
// are as far from each other as can be.
func points(t int) []int {
	n := min(t, maxPoints)
	costs := make([]int, n)
	for i := range costs {
		costs[i] = 1
		if n > 1 {
			costs[i] += i * (t - 1) / (n - 1)
		}
	}
	return costs
}

// at is a curve at some costs.
func at[N any](curve []N, costs []int) []N {
	some := make([]N, len(costs))
	for i, cost := range costs {
		some[i] = curve[cost-1]
	}
	return some
}

// round leaves six digits behind the point.
func round(v float64) float64 { return math.Round(v*1e6) / 1e6 }

func rounded(v []float64) []float64 {
	for i := range v {
		v[i] = round(v[i])
	}
	return v
}

// writeJSON writes v into a file, on one line.
func writeJSON(name string, v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		err = atomicfile.Write(name, func(w io.Writer) error {
			_, err := w.Write(append(line, '\n'))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("-summary: %w", err)
	}
	return nil
}
