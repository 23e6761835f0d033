package judge

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Result is one judged run, as a line of JSON: the [Figures] that judge -summary writes,
// and the members that identify the run, which scripts/compare adds. Unknown members are ignored.
type Result struct {
	V        int     `json:"v"`        // 1
	Name     string  `json:"name"`     // a strategy and its options, such as "niche -compat"
	Strategy string  `json:"strategy"` // the strategy alone
	Track    string  `json:"track"`    // information given to the crawler: K keywords, E also examples, Q also a search
	Web      string  `json:"web"`      // the archive
	Topic    string  `json:"topic"`    // the topic of the crawl; the label if absent
	Label    string  `json:"label"`    // the label of relevant pages
	Seeds    SeedSet `json:"seeds"`
	Seed     int64   `json:"seed"` // seed of the random numbers
	Stop     string  `json:"stop"` // why the crawl ended

	EvolveCommand string `json:"evolve_command,omitempty"` // the strategy, if it is a program of the user
	ScoreCommand  string `json:"score_command,omitempty"`  // the user's program that replaces score

	Figures // its V, Label and Seeds are hidden by the fields above
}

// Reaches reports whether a run has a value at a cost: it has spent that much, or the cost is its budget and it
// ended because the next step, such as a query, would have exceeded the budget.
func (r *Result) Reaches(cost int) bool {
	return r.Cost >= int64(cost) || r.Stop == "pages" && cost == r.T
}

// A SeedSet is the name of a set of seeds. judge -summary writes the number of seeds and a digest
// instead of a name; they are read as a name such as "5 seeds 1f0c27ab".
type SeedSet string

// UnmarshalJSON reads a name or a number of seeds.
func (s *SeedSet) UnmarshalJSON(b []byte) error {
	var n uint32
	if json.Unmarshal(b, &n) != nil {
		return json.Unmarshal(b, (*string)(s))
	}
	if *s = SeedSet(fmt.Sprintf("%d seeds", n)); n == 1 {
		*s = "1 seed"
	}
	return nil
}

// Limits of a line of results, far above the lines that comparisons write.
const (
	maxLine   = 1 << 20 // bytes
	maxName   = 200     // bytes of a name
	maxCosts  = 64      // members of harvest_at or recall_at
	maxNumber = 1e12    // absolute value
)

// A LineError reports a line that is not a judged run.
type LineError struct {
	Line int64 // line number, from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns e.Err.
func (e *LineError) Unwrap() error { return e.Err }

// Results reads judged runs, one per line. It yields a [*LineError] for a bad line and
// continues; it ends after any other error, such as a line of more than 1 MiB. Empty lines are
// skipped. A run without a name gets the given name.
func Results(r io.Reader, name string) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 1<<16), maxLine)
		n := int64(0)
		for lines.Scan() {
			n++
			if len(strings.TrimSpace(lines.Text())) == 0 {
				continue
			}
			result, err := parseResult(lines.Bytes(), name)
			if err != nil {
				err = &LineError{Line: n, Err: err}
			}
			if !yield(result, err) {
				return
			}
		}
		if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield(nil, fmt.Errorf("line %d: longer than %d bytes, so not a result", n+1, maxLine))
		} else if err != nil {
			yield(nil, err)
		}
	}
}

func parseResult(line []byte, name string) (*Result, error) {
	r := new(Result)
	if err := json.Unmarshal(line, r); err != nil {
		return nil, err
	}
	if r.V != 1 {
		return nil, fmt.Errorf("v is %d: results have version 1", r.V)
	}
	if r.SeedDigest != "" {
		r.Seeds += SeedSet(" " + r.SeedDigest)
	}
	r.Name, r.Topic = cmp.Or(r.Name, name), cmp.Or(r.Topic, r.Label)
	for _, s := range []struct{ key, value string }{
		{"name", r.Name}, {"strategy", r.Strategy}, {"track", r.Track}, {"web", r.Web}, {"topic", r.Topic}, {"label", r.Label},
		{"seeds", string(r.Seeds)}, {"stop", r.Stop},
	} {
		switch {
		case s.value == "" && (s.key == "name" || s.key == "topic"):
			return nil, fmt.Errorf("no %s: not a result", s.key)
		case len(s.value) > maxName || !utf8.ValidString(s.value):
			return nil, fmt.Errorf("%s is longer than %d bytes, or not UTF-8", s.key, maxName)
		}
	}
	if r.T <= 0 || r.T > MaxBudget || r.R < 0 || r.Cost < 0 {
		return nil, fmt.Errorf("nothing was judged: T is %d, R %d and cost %d", r.T, r.R, r.Cost)
	}
	if len(r.HarvestAt) > maxCosts || len(r.RecallAt) > maxCosts {
		return nil, fmt.Errorf("more than %d costs", maxCosts)
	}
	for _, c := range Criteria() {
		if v := c.value(r); v != nil && math.Abs(*v) > maxNumber {
			return nil, fmt.Errorf("%s is %g", c.Name, *v)
		}
	}
	for _, at := range []struct {
		curve map[int]float64
		most  float64
	}{{r.HarvestAt, 1}, {r.RecallAt, maxNumber}} {
		for _, cost := range slices.Sorted(maps.Keys(at.curve)) {
			if v := at.curve[cost]; cost <= 0 || v < 0 || v > at.most {
				return nil, fmt.Errorf("%g at cost %d is not a share", v, cost)
			}
		}
	}
	return r, nil
}

// A Criterion is a measure by which runs are compared.
type Criterion struct {
	Name    string // as in a result, such as nauc
	Title   string // as in tables, such as nAUC
	Meaning string // a phrase for legends
	Lower   bool   // whether less is better
	Signed  bool   // whether it may be negative, and is printed with its sign
	Digits  int    // decimals that are printed

	value   func(*Result) *float64  // nil if unknown
	sighted func(*Sighted) *float64 // the value of a crawler that sees links; nil if not computed
	at      func(*Row) []Mean       // by cost; nil if unknown
}

// Criteria returns all measures by which runs can be compared.
func Criteria() []Criterion {
	// Costs are shares of the budget, because budgets differ; 1 means never.
	share := func(cost *float64, r *Result) *float64 {
		switch {
		case cost == nil:
			return nil
		case *cost <= 0:
			return new(1.)
		default:
			return new(min(1, *cost/float64(r.T)))
		}
	}
	return []Criterion{
		{Name: "nauc", Title: "nAUC", Signed: true, Digits: 3, Meaning: "the area under recall over cost, where 0 is a random crawl and 1 a clairvoyant one",
			value: func(r *Result) *float64 { return r.NAUC }, sighted: func(s *Sighted) *float64 { return s.NAUC }},
		{Name: "auc_clairvoyant_ratio", Title: "AUC / clairvoyant", Digits: 3, Meaning: "the area under recall over cost, as a share of that of a clairvoyant crawl",
			value: func(r *Result) *float64 { return r.AUCClairvoyant }, sighted: func(s *Sighted) *float64 { return s.AUCClairvoyant }},
		{Name: "auc_bound_ratio", Title: "AUC / bound", Digits: 3, Meaning: "the area under recall over cost, as a share of an upper bound for all crawls",
			value: func(r *Result) *float64 { return r.AUCBound }},
		{Name: "auc", Title: "AUC", Digits: 3, Meaning: "the area under recall over cost",
			value: func(r *Result) *float64 { return r.AUC }},
		{Name: "harvest", Title: "harvest", Digits: 3, Meaning: "relevant pages per unit of cost, which is the precision of the crawl",
			value: func(r *Result) *float64 { return r.Harvest }, at: func(r *Row) []Mean { return r.HarvestAt }},
		{Name: "recall", Title: "recall", Digits: 3, Meaning: "the share of the reachable relevant pages that was found",
			value: func(r *Result) *float64 { return r.Recall }, sighted: func(s *Sighted) *float64 { return s.Recall }, at: func(r *Row) []Mean { return r.RecallAt }},
		{Name: "cost_50", Title: "cost to 50 %", Lower: true, Digits: 3, Meaning: "the share of the budget that was spent when half of the relevant pages were found, 1 if they never were",
			value: func(r *Result) *float64 { return share(r.Cost50, r) }},
		{Name: "cost_80", Title: "cost to 80 %", Lower: true, Digits: 3, Meaning: "the share of the budget that was spent when 80 % of the relevant pages were found, 1 if they never were",
			value: func(r *Result) *float64 { return share(r.Cost80, r) }},
		{Name: "cost_90", Title: "cost to 90 %", Lower: true, Digits: 3, Meaning: "the share of the budget that was spent when 90 % of the relevant pages were found, 1 if they never were",
			value: func(r *Result) *float64 { return share(r.Cost90, r) }},
		{Name: "relevant_hosts", Title: "relevant hosts", Digits: 1, Meaning: "the number of hosts on which relevant pages were found",
			value: func(r *Result) *float64 { return r.RelevantHosts }},
		{Name: "self_harvest", Title: "self-harvest", Digits: 3, Meaning: "harvest by the measure that steered the crawl, which so judges itself",
			value: func(r *Result) *float64 { return r.SelfHarvest }},
		{Name: "mean_score", Title: "mean score", Digits: 3, Meaning: "the mean score of the pages by the measure that steered the crawl",
			value: func(r *Result) *float64 { return r.MeanScore }},
		{Name: "near_duplicates", Title: "near-duplicates", Lower: true, Digits: 1, Meaning: "the number of pages that have nearly the words of one fetched before",
			value: func(r *Result) *float64 { return r.NearDuplicates }},
		{Name: "traps", Title: "traps", Lower: true, Digits: 1, Meaning: "the number of pages of traps, such as calendars",
			value: func(r *Result) *float64 { return r.Traps }},
		{Name: "ap_gain", Title: "AP − AP of the score", Signed: true, Digits: 3, Meaning: "the average precision of the strategy's own estimate of pages, less that of the best measure of the score stage",
			value: (*Result).precisionGain},
		{Name: "spent", Title: "spent", Digits: 2, Meaning: "the share of the budget that was spent; a crawl may end early",
			value: func(r *Result) *float64 { return new(min(1, float64(r.Cost)/float64(r.T))) }},
	}
}

// precisionGain returns how much better the estimate of the strategy orders the pages than any score of
// them; nil if there is no such estimate, or no score.
func (r *Result) precisionGain() *float64 {
	own, ok := r.AveragePrecision[r.Strategy]
	best := math.Inf(-1)
	for name, v := range r.AveragePrecision {
		if name != r.Strategy {
			best = max(best, v)
		}
	}
	if !ok || math.IsInf(best, -1) {
		return nil
	}
	return Rounded(own - best)
}

// CriterionNames returns the names of all criteria.
func CriterionNames() (names []string) {
	for _, c := range Criteria() {
		names = append(names, c.Name)
	}
	return names
}

// ParseCriterion returns the criterion called name.
func ParseCriterion(name string) (Criterion, error) {
	for _, c := range Criteria() {
		if c.Name == name {
			return c, nil
		}
	}
	return Criterion{}, fmt.Errorf("no measure %q; there are %s", name, strings.Join(CriterionNames(), ", "))
}
