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

	"spoor/internal/wire"
)

// A Result is one run that was judged: a line of NDJSON, as scripts/compare writes
// it. What it has no field for is passed over.
type Result struct {
	V        int    `json:"v"`        // 1
	Name     string `json:"name"`     // what is compared: a strategy and its options, as "niche -compat"
	Strategy string `json:"strategy"` // the strategy alone
	Track    string `json:"track"`    // what crawlers are given: K keywords, E examples too, Q a search too
	Web      string `json:"web"`      // the archive
	Topic    string `json:"topic"`    // what is sought in it
	Label    string `json:"label"`    // what people call a relevant page
	Seeds    string `json:"seeds"`    // the set of seeds
	Seed     int64  `json:"seed"`     // of chance
	Stop     string `json:"stop"`     // why the crawl ended

	T       int `json:"T"`       // the budget: units of cost that are judged
	R       int `json:"R"`       // relevant pages that links reach from the seeds
	Fetched int `json:"fetched"` // pages
	Cost    int `json:"cost"`    // spent in all

	Harvest        *float64 `json:"harvest"`         // relevant pages per unit of cost, in [0, 1]
	Recall         *float64 `json:"recall"`          // of the R relevant pages
	AUC            *float64 `json:"auc"`             // area under recall, over cost 1 to T
	NAUC           *float64 `json:"nauc"`            // 0 a random crawl, 1 the clairvoyant one
	AUCClairvoyant *float64 `json:"auc_clairvoyant"` // AUC as a share of the clairvoyant crawl's
	AUCBound       *float64 `json:"auc_bound"`       // AUC as a share of what no crawl passes
	Cost50         *float64 `json:"cost_50"`         // cost at which half the R pages were found; 0 never
	Cost80         *float64 `json:"cost_80"`         // four fifths
	Cost90         *float64 `json:"cost_90"`         // nine tenths
	RelevantHosts  *float64 `json:"relevant_hosts"`  // hosts with a relevant page that was found
	SelfHarvest    *float64 `json:"self_harvest"`    // harvest, if the crawl's own measure is believed
	MeanScore      *float64 `json:"mean_score"`      // of that measure, over the pages

	HarvestAt map[int]float64 `json:"harvest_at"` // by cost
	RecallAt  map[int]float64 `json:"recall_at"`

	// What greedy crawlers reach that see the relevance of every link that waits,
	// and of the links behind it.
	Seeing         Sighted `json:"seeing"`
	SeeingChildren Sighted `json:"seeing_children"`
}

// Sighted is what a crawler reaches that sees more than one can.
type Sighted struct {
	NAUC           *float64 `json:"nauc"`
	AUCClairvoyant *float64 `json:"auc_clairvoyant"`
	Recall         *float64 `json:"recall"`
}

// Bounds of a line of results: bytes, bytes of a name in it, costs, and size of a
// number. What comparisons write stays far below.
const (
	maxLine   = 1 << 20
	maxName   = 200
	maxCosts  = 64
	maxNumber = 1e12
)

// Results reads runs that were judged. It yields a [*wire.SyntaxError] for a bad
// line and goes on; any other error, such as a line of more than 1 MiB, is the last
// thing it yields. Empty lines are nothing.
func Results(r io.Reader) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 1<<16), maxLine)
		n := int64(0)
		for lines.Scan() {
			n++
			if len(strings.TrimSpace(lines.Text())) == 0 {
				continue
			}
			result, err := parseResult(lines.Bytes())
			if err != nil {
				err = &wire.SyntaxError{Line: n, Err: err}
			}
			if !yield(result, err) {
				return
			}
		}
		if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield(nil, fmt.Errorf("line %d: longer than %d bytes, so no result of a run", n+1, maxLine))
		} else if err != nil {
			yield(nil, err)
		}
	}
}

func parseResult(line []byte) (*Result, error) {
	r := new(Result)
	if err := json.Unmarshal(line, r); err != nil {
		return nil, err
	}
	if r.V != 1 {
		return nil, fmt.Errorf("v is %d: results have version 1", r.V)
	}
	for _, s := range []struct{ key, value string }{
		{"name", r.Name}, {"strategy", r.Strategy}, {"track", r.Track}, {"web", r.Web}, {"topic", r.Topic}, {"label", r.Label},
		{"seeds", r.Seeds}, {"stop", r.Stop},
	} {
		switch {
		case s.value == "" && (s.key == "name" || s.key == "topic"):
			return nil, fmt.Errorf("no %s: this is no result of a run", s.key)
		case len(s.value) > maxName || !utf8.ValidString(s.value):
			return nil, fmt.Errorf("%s is longer than %d bytes, or no text", s.key, maxName)
		}
	}
	if r.T <= 0 || r.T > MaxBudget || r.R < 0 || r.Cost < 0 {
		return nil, fmt.Errorf("nothing was judged: T is %d, R %d and cost %d", r.T, r.R, r.Cost)
	}
	if len(r.HarvestAt) > maxCosts || len(r.RecallAt) > maxCosts {
		return nil, fmt.Errorf("more than %d costs", maxCosts)
	}
	for _, c := range Criteria() {
		if v, ok := c.value(r); ok && math.Abs(v) > maxNumber {
			return nil, fmt.Errorf("%s is %g", c.Name, v)
		}
	}
	for _, at := range []map[int]float64{r.HarvestAt, r.RecallAt} {
		for cost, v := range at {
			if cost <= 0 || v < 0 || v > 1 {
				return nil, fmt.Errorf("%g at cost %d is no share of anything", v, cost)
			}
		}
	}
	return r, nil
}

// A Criterion is a measure by which runs are compared.
type Criterion struct {
	Name    string // as in a result: nauc
	Title   string // for people: nAUC
	Meaning string // what it is, for a sentence
	Lower   bool   // less is better
	Signed  bool   // may be negative, and is printed with its sign
	Digits  int    // printed behind the point

	value   func(*Result) (v float64, ok bool)
	sighted func(*Sighted) *float64 // nil where such crawlers are not measured so
	at      func(*Row) []Mean       // by cost; nil where that is not known
}

// Criteria are all measures by which runs can be compared.
func Criteria() []Criterion {
	plain := func(field func(*Result) *float64) func(*Result) (float64, bool) {
		return func(r *Result) (float64, bool) {
			if v := field(r); v != nil {
				return *v, true
			}
			return 0, false
		}
	}
	// Costs are shares of the budget, for budgets differ; all of it stands for never.
	share := func(field func(*Result) *float64) func(*Result) (float64, bool) {
		return func(r *Result) (float64, bool) {
			switch v := field(r); {
			case v == nil:
				return 0, false
			case *v <= 0:
				return 1, true
			default:
				return min(1, *v/float64(r.T)), true
			}
		}
	}
	return []Criterion{
		{Name: "nauc", Title: "nAUC", Signed: true, Digits: 3, Meaning: "the area under recall over cost, where 0 is a random crawl and 1 a clairvoyant one",
			value: plain(func(r *Result) *float64 { return r.NAUC }), sighted: func(s *Sighted) *float64 { return s.NAUC }},
		{Name: "auc_clairvoyant", Title: "AUC / clairvoyant", Digits: 3, Meaning: "the area under recall over cost, as a share of what a clairvoyant crawl has",
			value: plain(func(r *Result) *float64 { return r.AUCClairvoyant }), sighted: func(s *Sighted) *float64 { return s.AUCClairvoyant }},
		{Name: "auc_bound", Title: "AUC / bound", Digits: 3, Meaning: "the area under recall over cost, as a share of a bound that no crawl passes",
			value: plain(func(r *Result) *float64 { return r.AUCBound })},
		{Name: "auc", Title: "AUC", Digits: 3, Meaning: "the area under recall over cost",
			value: plain(func(r *Result) *float64 { return r.AUC })},
		{Name: "harvest", Title: "harvest", Digits: 3, Meaning: "relevant pages per unit of cost, which is the precision of the crawl",
			value: plain(func(r *Result) *float64 { return r.Harvest }), at: func(r *Row) []Mean { return r.HarvestAt }},
		{Name: "recall", Title: "recall", Digits: 3, Meaning: "the share of the relevant pages within reach that was found",
			value: plain(func(r *Result) *float64 { return r.Recall }), sighted: func(s *Sighted) *float64 { return s.Recall }, at: func(r *Row) []Mean { return r.RecallAt }},
		{Name: "cost_50", Title: "cost to 50 %", Lower: true, Digits: 3, Meaning: "the share of the budget until half the relevant pages were found, all of it if they never were",
			value: share(func(r *Result) *float64 { return r.Cost50 })},
		{Name: "cost_80", Title: "cost to 80 %", Lower: true, Digits: 3, Meaning: "the share of the budget until 80 % of the relevant pages were found, all of it if they never were",
			value: share(func(r *Result) *float64 { return r.Cost80 })},
		{Name: "cost_90", Title: "cost to 90 %", Lower: true, Digits: 3, Meaning: "the share of the budget until 90 % of the relevant pages were found, all of it if they never were",
			value: share(func(r *Result) *float64 { return r.Cost90 })},
		{Name: "relevant_hosts", Title: "relevant hosts", Digits: 1, Meaning: "the hosts on which relevant pages were found",
			value: plain(func(r *Result) *float64 { return r.RelevantHosts })},
		{Name: "self_harvest", Title: "self-harvest", Digits: 3, Meaning: "harvest as the measure says that steered the crawl, which judges itself",
			value: plain(func(r *Result) *float64 { return r.SelfHarvest })},
		{Name: "mean_score", Title: "mean score", Digits: 3, Meaning: "the mean score of the pages by the measure that steered the crawl",
			value: plain(func(r *Result) *float64 { return r.MeanScore })},
		{Name: "spent", Title: "spent", Digits: 2, Meaning: "the share of the budget that was spent; a crawl may end early",
			value: func(r *Result) (float64, bool) { return min(1, float64(r.Cost)/float64(r.T)), true }},
	}
}

// ParseCriterion is the criterion called name.
func ParseCriterion(name string) (Criterion, error) {
	var names []string
	for _, c := range Criteria() {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Criterion{}, fmt.Errorf("no measure %q; there are %s", name, strings.Join(names, ", "))
}

// CompareOptions say how runs are compared.
type CompareOptions struct {
	By        Criterion
	Also      []Criterion // whose means stand beside
	Reference string      // the name that all others are held against; "" for none
	Tie       float64     // differences up to it, and it, are ties; the protocol says 0.01
	ByTopic   bool        // what is paired for p, A₁₂, wins, ties and losses are means of topics, not units
	Seed      uint64      // of the bootstrap's draws
}

// A Table compares what was run in one track. Tracks are given different things and
// are never compared.
type Table struct {
	CompareOptions
	Track   string
	Topics  []string // the order of Row.Topics
	Seeds   []string // sets of seeds by name, the order of Row.Seeds
	Costs   []int    // rising, the order of Row.HarvestAt and Row.RecallAt
	Runs    int      // that count
	Units   int      // pairs of a topic and a set of seeds in which anything was run
	Chance  int      // the most chance seeds that a unit has
	Without int      // runs that have no number for the criterion: they do not count
	Rows    []Row    // the best first

	// Means that crawlers reach which see the relevance of the links that wait, and
	// of those behind them. Nil if that is not known.
	Seeing, SeeingChildren *float64

	// Of the ranks by topic of the rows that were run everywhere: the p-value of
	// Friedman's test that they are all the same, and how far two mean ranks must be
	// apart to differ, after Nemenyi, at 5 %.
	Friedman, Distance float64

	topics []place
}

// A Row is what one name has reached.
type Row struct {
	Name, Strategy string
	Units          int       // in which it was run
	Mean           float64   // of the means of the topics
	Interval       *Interval // where the mean lies with 95 % confidence; nil for a single run
	Rank           float64   // mean rank in the topics, 1 for the best; 0 if it was not run everywhere
	Ranks          []float64 // in the topics; nil if it was not run everywhere
	Also           []Mean
	Against        *Against // nil for the reference, and where there is none
	Topics         []Cell
	Seeds          []Cell
	HarvestAt      []Mean // harvest at each cost that a run was judged at
	RecallAt       []Mean
}

// A Mean is a mean and of how many units it is; of none, there is no mean.
type Mean struct {
	Value float64
	Units int
}

// A Cell is the criterion and what is shown also, in one topic or from one set of seeds.
type Cell struct {
	Mean
	Also []Mean
}

// Against is how a row stands against the reference, in the units that both have.
type Against struct {
	Units      int
	Difference float64   // of the means
	Interval   *Interval // where it lies with 95 % confidence
	P          float64   // of Wilcoxon's test over units, or topics
	Holm       float64   // P adjusted over all rows of the table
	A12        float64   // how often a unit, or topic, of this is better than one of the reference
	Wins       int       // units, or topics, that are better by more than a tie
	Ties       int
	Losses     int

	// Whether the difference is no more than a tie, by two one-sided tests at 5 %: its
	// interval of 90 % lies within. That p is large says only that nothing was found.
	Equivalent bool
}

// place is a unit: a topic of a web and a set of seeds.
type place struct{ topic, web, seeds string }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.topic, q.topic), cmp.Compare(p.web, q.web), cmp.Compare(p.seeds, q.seeds))
}

// runs are the results of one name in one track, by place, sorted by chance seed.
type runs map[place][]*Result

// Compare compares results: a table for every track, by name of the track. The
// order of the results does not matter. Results that are there twice count once; it
// is an error if they contradict each other, if one place was judged in two
// ways, if nothing has a number for the criterion, or if no track has the
// reference.
func Compare(results []*Result, o CompareOptions) ([]*Table, error) {
	tracks, err := group(results)
	if err != nil {
		return nil, err
	}
	var tables []*Table
	found := o.Reference == ""
	names := map[string]bool{}
	for _, track := range slices.Sorted(maps.Keys(tracks)) {
		t := newTable(track, tracks[track], o)
		for _, row := range t.Rows {
			names[row.Name] = true
			found = found || row.Name == o.Reference
		}
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	switch {
	case len(tables) == 0 && len(results) > 0:
		return nil, fmt.Errorf("none of %d runs has a number for %s", len(results), o.By.Name)
	case len(tables) == 0:
		return nil, errors.New("there are no results to compare")
	case !found:
		return nil, fmt.Errorf("the reference %q was not run; there are %s", o.Reference, strings.Join(slices.Sorted(maps.Keys(names)), ", "))
	}
	return tables, nil
}

// group sorts results by track, name and place.
func group(results []*Result) (map[string]map[string]runs, error) {
	tracks := map[string]map[string]runs{}
	budgets := map[place]*Result{}
	for _, r := range results {
		at := place{r.Topic, r.Web, r.Seeds}
		if b := budgets[at]; b == nil {
			budgets[at] = r
		} else if b.T != r.T || b.R != r.R {
			return nil, fmt.Errorf("%s from %s was judged with T %d and R %d, and with T %d and R %d: these do not compare",
				r.Topic, r.Seeds, b.T, b.R, r.T, r.R)
		}
		if tracks[r.Track] == nil {
			tracks[r.Track] = map[string]runs{}
		}
		if tracks[r.Track][r.Name] == nil {
			tracks[r.Track][r.Name] = runs{}
		}
		all := tracks[r.Track][r.Name]
		i, there := slices.BinarySearchFunc(all[at], r.Seed, func(x *Result, seed int64) int { return cmp.Compare(x.Seed, seed) })
		if !there {
			all[at] = slices.Insert(all[at], i, r)
		} else if !agree(all[at][i], r) {
			return nil, fmt.Errorf("there are two results of %s for %s from %s with seed %d, and they differ", r.Name, r.Topic, r.Seeds, r.Seed)
		}
	}
	return tracks, nil
}

// agree tells whether two results of the same run say the same.
func agree(a, b *Result) bool {
	for _, c := range Criteria() {
		v, has := c.value(a)
		w, had := c.value(b)
		if has != had || v != w {
			return false
		}
	}
	return maps.Equal(a.HarvestAt, b.HarvestAt) && maps.Equal(a.RecallAt, b.RecallAt)
}

func newTable(track string, all map[string]runs, o CompareOptions) *Table {
	t := &Table{CompareOptions: o, Track: track}
	places := map[place]bool{}
	counted := map[string]runs{} // what has a number
	for name, runs := range all {
		for at, chance := range runs {
			with := slices.DeleteFunc(slices.Clone(chance), func(r *Result) bool { _, ok := o.By.value(r); return !ok })
			t.Without += len(chance) - len(with)
			if len(with) == 0 {
				continue
			}
			if counted[name] == nil {
				counted[name] = map[place][]*Result{}
			}
			counted[name][at] = with
			places[at] = true
			t.Chance = max(t.Chance, len(with))
			t.Runs += len(with)
		}
	}
	order := slices.SortedFunc(maps.Keys(places), place.compare)
	t.Units = len(order)
	t.columns(order, counted)
	t.Seeing = t.sighted(order, counted, func(r *Result) *Sighted { return &r.Seeing })
	t.SeeingChildren = t.sighted(order, counted, func(r *Result) *Sighted { return &r.SeeingChildren })

	for _, name := range slices.Sorted(maps.Keys(counted)) {
		row := t.row(name, order, counted[name])
		if reference := counted[o.Reference]; reference != nil && name != o.Reference {
			row.Against = t.against(order, counted[name], reference)
		}
		t.Rows = append(t.Rows, row)
	}
	t.adjust()
	t.rank()
	slices.SortStableFunc(t.Rows, func(a, b Row) int {
		return t.better(b.Mean, a.Mean)
	})
	return t
}

// better compares two numbers: it is positive if a is the better one.
func (t *Table) better(a, b float64) int {
	if t.By.Lower {
		a, b = b, a
	}
	return cmp.Compare(grains(a), grains(b))
}

// columns finds the topics, the sets of seeds and the costs that there are.
func (t *Table) columns(order []place, counted map[string]runs) {
	seeds, costs, called := map[string]bool{}, map[int]bool{}, map[string]int{}
	for _, at := range order {
		seeds[at.seeds] = true
		if topic := at.ofTopic(); len(t.topics) == 0 || t.topics[len(t.topics)-1] != topic {
			t.topics = append(t.topics, topic)
			called[topic.topic]++
		}
	}
	for _, topic := range t.topics {
		name := topic.topic
		if called[name] > 1 {
			name += " of " + topic.web
		}
		t.Topics = append(t.Topics, name)
	}
	t.Seeds = slices.Sorted(maps.Keys(seeds))
	for _, runs := range counted {
		for _, chance := range runs {
			for _, r := range chance {
				for cost := range r.HarvestAt {
					costs[cost] = true
				}
				for cost := range r.RecallAt {
					costs[cost] = true
				}
			}
		}
	}
	t.Costs = slices.Sorted(maps.Keys(costs))
}

// row is how one name did.
func (t *Table) row(name string, order []place, all runs) Row {
	own := pick(order, func(at place) unit { return unit{own: values(all[at], t.By.value)} })
	row := Row{Name: name, Units: own.size(), Mean: own.mean(), Interval: percentiles(own.bootstrap(t.Seed), cut95)}
	for _, at := range slices.Backward(order) { // one name is one strategy; if not, the first
		if chance := all[at]; chance != nil {
			row.Strategy = chance[0].Strategy
		}
	}
	row.Also = t.also(order, all)
	cell := func(in func(place) bool) Cell {
		some := slices.DeleteFunc(slices.Clone(order), func(at place) bool { return !in(at) })
		return Cell{meanOf(some, all, t.By.value), t.also(some, all)}
	}
	for _, topic := range t.topics {
		row.Topics = append(row.Topics, cell(func(at place) bool { return at.ofTopic() == topic }))
	}
	for _, seeds := range t.Seeds {
		row.Seeds = append(row.Seeds, cell(func(at place) bool { return at.seeds == seeds }))
	}
	for _, cost := range t.Costs {
		row.HarvestAt = append(row.HarvestAt, meanOf(order, all, func(r *Result) (v float64, ok bool) {
			v, ok = r.HarvestAt[cost]
			return v, ok
		}))
		row.RecallAt = append(row.RecallAt, meanOf(order, all, func(r *Result) (v float64, ok bool) {
			v, ok = r.RecallAt[cost]
			return v, ok
		}))
	}
	return row
}

// also is the means of what stands beside the criterion.
func (t *Table) also(order []place, all runs) []Mean {
	var means []Mean
	for _, c := range t.Also {
		means = append(means, meanOf(order, all, c.value))
	}
	return means
}

// against holds the runs of one name against those of the reference.
func (t *Table) against(order []place, all, reference runs) *Against {
	pairs := pick(order, func(at place) unit {
		u := unit{values(all[at], t.By.value), values(reference[at], t.By.value)}
		if u.other == nil {
			u.own = nil
		}
		return u
	})
	a := &Against{Units: pairs.size()}
	if a.Units == 0 {
		return nil
	}
	a.Difference = pairs.mean()
	means := pairs.bootstrap(t.Seed)
	a.Interval = percentiles(means, cut95)
	if i := percentiles(means, cut90); i != nil {
		a.Equivalent = grains(max(-i.Low, i.High)) <= grains(t.Tie)
	}
	own, other := pairs.paired(t.ByTopic)
	differences := make([]float64, len(own))
	for i := range own {
		d := own[i] - other[i]
		differences[i] = d
		switch {
		case math.Abs(grains(d)) <= grains(t.Tie):
			a.Ties++
		case (d > 0) != t.By.Lower:
			a.Wins++
		default:
			a.Losses++
		}
	}
	a.P = Wilcoxon(differences)
	if a.A12 = A12(own, other); t.By.Lower {
		a.A12 = A12(other, own)
	}
	return a
}

// adjust corrects the p-values of a table for their number.
func (t *Table) adjust() {
	var p []float64
	for _, row := range t.Rows {
		if row.Against != nil {
			p = append(p, row.Against.P)
		}
	}
	p = Holm(p)
	for _, row := range t.Rows {
		if row.Against != nil {
			row.Against.Holm, p = p[0], p[1:]
		}
	}
}

// rank ranks the rows that were run everywhere in every topic.
func (t *Table) rank() {
	var rows []*Row
	for i := range t.Rows {
		if t.Rows[i].Units == t.Units {
			rows = append(rows, &t.Rows[i])
		}
	}
	var blocks [][]float64
	for i := range t.topics {
		var block []float64
		for _, row := range rows {
			v := row.Topics[i].Value
			if t.By.Lower {
				v = -v
			}
			block = append(block, v)
		}
		for j, double := range doubleRanks(block) {
			rows[j].Ranks = append(rows[j].Ranks, float64(double)/2)
		}
		blocks = append(blocks, block)
	}
	means, p, distance := Friedman(blocks, t.Seed)
	for j, rank := range means {
		rows[j].Rank = rank
	}
	t.Friedman, t.Distance = p, distance
}

// sighted is the mean, over all places, of what a crawler reaches that sees more.
// Every run from a place says the same of it.
func (t *Table) sighted(order []place, counted map[string]runs, which func(*Result) *Sighted) *float64 {
	if t.By.sighted == nil {
		return nil
	}
	s := pick(order, func(at place) unit {
		for _, name := range slices.Sorted(maps.Keys(counted)) {
			for _, r := range counted[name][at] {
				if v := t.By.sighted(which(r)); v != nil {
					return unit{own: []float64{*v}}
				}
			}
		}
		return unit{}
	})
	if s.size() < len(order) {
		return nil
	}
	return new(s.mean())
}

// ofTopic is the place without its seeds.
func (p place) ofTopic() place { return place{topic: p.topic, web: p.web} }

// pick makes a sample of places in their order; units without numbers are left out.
func pick(order []place, number func(place) unit) sample {
	var s sample
	var last place
	for _, at := range order {
		u := number(at)
		if len(u.own) == 0 {
			continue
		}
		if topic := at.ofTopic(); len(s) == 0 || topic != last {
			s, last = append(s, nil), topic
		}
		s[len(s)-1] = append(s[len(s)-1], u)
	}
	return s
}

// meanOf is the mean of some places of what runs have.
func meanOf(order []place, all runs, value func(*Result) (float64, bool)) Mean {
	s := pick(order, func(at place) unit { return unit{own: values(all[at], value)} })
	if len(s) == 0 {
		return Mean{}
	}
	return Mean{s.mean(), s.size()}
}

// values is a number of every run that has it.
func values(chance []*Result, value func(*Result) (float64, bool)) []float64 {
	var all []float64
	for _, r := range chance {
		if v, ok := value(r); ok {
			all = append(all, v)
		}
	}
	return all
}
