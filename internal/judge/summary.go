package judge

import "math"

// Figures are the measures of one crawl, in the format that judge -summary writes and judge table
// reads. A measure is nil if it is unknown.
type Figures struct {
	V         int   `json:"v"`         // 1
	T         int   `json:"T"`         // the budget: units of cost that are judged
	R         int   `json:"R"`         // relevant pages that can be reached by links from the seeds
	Reachable int   `json:"reachable"` // pages that can be reached by links from the seeds
	Fetched   int64 `json:"fetched"`   // total cost
	Cost      int64 `json:"cost"`      // same as Fetched
	Queries   int64 `json:"queries"`
	Free      int64 `json:"free"` // records that cost nothing

	Harvest        *float64 `json:"harvest"`               // relevant pages per unit of cost, in [0, 1]
	Recall         *float64 `json:"recall"`                // share of R that was found; above 1 if a search finds other pages
	AUC            *float64 `json:"auc"`                   // area under recall, over cost 1 to T
	AUCRandom      *float64 `json:"auc_random"`            // AUC of random crawls
	NAUC           *float64 `json:"nauc"`                  // 0 for a random crawl, 1 for the clairvoyant one
	AUCClairvoyant *float64 `json:"auc_clairvoyant_ratio"` // AUC divided by the AUC of the clairvoyant crawl
	AUCBound       *float64 `json:"auc_bound_ratio"`       // AUC divided by the AUC of the bound
	Cost50         *float64 `json:"cost_50"`               // cost of 50 % recall; 0 if it was not reached
	Cost80         *float64 `json:"cost_80"`
	Cost90         *float64 `json:"cost_90"`
	RelevantHosts  *float64 `json:"relevant_hosts"` // hosts with a relevant page that was found

	SelfHarvest *float64 `json:"self_harvest,omitempty"` // harvest according to the measure that steered the crawl
	MeanScore   *float64 `json:"mean_score,omitempty"`   // mean score of the pages by this measure

	// With classes: pages up to T that have nearly the words of an earlier one, and pages of traps.
	NearDuplicates *float64 `json:"near_duplicates,omitempty"`
	Traps          *float64 `json:"traps,omitempty"`

	// Cost up to T by the operator that chose the pages, or wrote the queries.
	Operators map[string]int64 `json:"operators,omitempty"`

	// Average precision of the pages that were fetched, in the order of each score that the crawl gave
	// them: of the measures of score, and of the estimate of a strategy under its name.
	AveragePrecision map[string]float64 `json:"average_precision,omitempty"`

	// The figures of greedy crawlers that see the relevance of every waiting link, and of the
	// links on its page.
	Seeing            Sighted  `json:"seeing"`
	SeeingChildren    Sighted  `json:"seeing_children"`
	ClairvoyantRecall *float64 `json:"clairvoyant_recall"` // recall of the clairvoyant crawl at T

	Label      string `json:"label"`                 // the label of relevant pages
	Seeds      int    `json:"seeds"`                 // seeds that are pages of the web
	SeedDigest string `json:"seed_digest,omitempty"` // tells sets of seeds apart
	Graph      string `json:"graph"`                 // where the links come from

	HarvestAt map[int]float64 `json:"harvest_at"` // by cost, up to the end of the crawl
	RecallAt  map[int]float64 `json:"recall_at"`  // by cost, up to the end of the crawl
}

// Sighted are the figures of a crawler that sees more than a real one can.
type Sighted struct {
	NAUC           *float64 `json:"nauc"`
	AUCClairvoyant *float64 `json:"auc_clairvoyant_ratio"` // AUC divided by the AUC of the clairvoyant crawl
	Recall         *float64 `json:"recall"`
}

// A Summary is what judge -summary writes.
type Summary struct {
	Figures
	Curves Curves `json:"curves"` // last: the longest
}

// Curves are numbers of relevant pages found, by cost.
type Curves struct {
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

// Summary returns the figures of a crawl, except those that cannot be computed from the order:
// Queries, Free, SelfHarvest, MeanScore, NearDuplicates, Traps, AveragePrecision, Label, SeedDigest
// and Graph. The order may be cut after the budget; spent is the cost of the whole crawl.
func (j *Judge) Summary(order []int32, spent int64) *Summary {
	m := j.Measure(order)
	m.Fetched = int(min(spent, math.MaxInt))
	seeing, children := j.Measure(j.Seeing()), j.Measure(j.SeeingChildren())
	clairvoyant, random := j.Clairvoyant(), j.Random()
	s := &Summary{Figures: Figures{
		V: 1, T: j.T, R: j.R, Reachable: j.Reachable, Seeds: j.seeds, Fetched: spent, Cost: spent,
		Harvest: Rounded(m.Harvest), Recall: Rounded(m.Recall),
		AUC: Rounded(m.AUC), AUCRandom: Rounded(m.AUCRandom), NAUC: Rounded(m.NAUC),
		AUCClairvoyant: Rounded(m.AUCClairvoyant), AUCBound: Rounded(m.AUCBound),
		Cost50: new(float64(m.Cost50)), Cost80: new(float64(m.Cost80)), Cost90: new(float64(m.Cost90)),
		RelevantHosts: new(float64(m.RelevantHosts)),
		Seeing:        newSighted(&seeing), SeeingChildren: newSighted(&children),
		ClairvoyantRecall: Rounded(ratio(float64(clairvoyant[j.T-1]), float64(j.R))),
		HarvestAt:         map[int]float64{}, RecallAt: map[int]float64{},
	}}
	for cost := range milestones(min(j.T, m.Fetched)) {
		s.HarvestAt[cost], s.RecallAt[cost] = round(m.HarvestAt(cost)), round(m.RecallAt(cost))
	}
	costs := curveCosts(j.T)
	s.Curves = Curves{
		Cost: costs, Run: at(m.Curve, costs),
		Random: roundAll(at(random.Mean, costs)), RandomLow: at(random.Low, costs), RandomHigh: at(random.High, costs),
		Clairvoyant: at(clairvoyant, costs), Bound: roundAll(at(j.Bound(), costs)),
		Seeing: at(seeing.Curve, costs), SeeingChildren: at(children.Curve, costs),
	}
	return s
}

func newSighted(m *Measures) Sighted {
	return Sighted{Rounded(m.NAUC), Rounded(m.AUCClairvoyant), Rounded(m.Recall)}
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

// maxPoints bounds the points of a curve in a summary.
const maxPoints = 200

// curveCosts returns the costs from 1 to t at which curves are given: all of them, or
// maxPoints evenly spaced ones.
func curveCosts(t int) []int {
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

// at returns the values of a curve at the given costs.
func at[N any](curve []N, costs []int) []N {
	values := make([]N, len(costs))
	for i, cost := range costs {
		values[i] = curve[cost-1]
	}
	return values
}

// round rounds to six decimals.
func round(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// Rounded returns v as summaries have it, with six decimals.
func Rounded(v float64) *float64 { return new(round(v)) }

func roundAll(v []float64) []float64 {
	for i := range v {
		v[i] = round(v[i])
	}
	return v
}
