package judge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// CompareOptions controls how runs are compared.
type CompareOptions struct {
	By        Criterion
	Also      []Criterion // further measures whose means are shown
	Reference string      // the name that all others are compared with; "" for none
	Tie       float64     // a difference of at most Tie is a tie; the protocol requires 0.01
	ByTopic   bool        // p, A₁₂, wins, ties and losses compare means of topics instead of units
	Seed      uint64      // random seed of the bootstrap and of Friedman's test
}

// A Table compares the runs of one track. Crawlers of different tracks get different
// information, so tracks are never compared.
type Table struct {
	CompareOptions
	Track   string
	Topics  []string // in the order of Row.Topics
	Seeds   []string // names of seed sets, in the order of Row.Seeds
	Costs   []int    // ascending, in the order of Row.HarvestAt and Row.RecallAt
	Runs    int      // runs with a value
	Units   int      // units (a topic and a seed set) in which a run has a value
	Random  int      // the largest number of random seeds of a name in a unit
	Without int      // runs without a value for the criterion, which are ignored
	Rows    []Row    // the best first

	// Seeing is the mean of the crawler that sees the relevance of waiting links.
	// SeeingChildren is the mean of the crawler that sees one link further. Both are nil if
	// unknown.
	Seeing, SeeingChildren *float64

	// Friedman is the p-value of Friedman's test that the ranks by topic are all the same,
	// for the rows that were run everywhere. Distance is Nemenyi's critical distance of mean
	// ranks at 5 %.
	Friedman, Distance float64

	topics []unitKey

	repeated, constant int // rows with several random seeds in a unit; those of them whose values do not depend on the seed
}

// A Row holds the results of one name.
type Row struct {
	Name      string
	Units     int       // units in which the name has a value
	Mean      float64   // mean of the means of the topics
	Interval  *Interval // 95 % confidence interval of the mean; nil for a single run
	Rank      float64   // mean rank in the topics, 1 for the best; 0 if a unit has no value
	Ranks     []float64 // by topic; nil if a unit has no value
	Also      []Mean
	Against   *Against // comparison with the reference; nil for the reference itself, or if there is none
	Topics    []Cell
	Seeds     []Cell
	HarvestAt []Mean // by cost: mean harvest of the runs that have a value
	RecallAt  []Mean // by cost: mean recall of the runs that have a value
}

// A Mean is a mean over a number of units. If Units is 0 there is no mean.
type Mean struct {
	Value float64
	Units int
}

// A Cell holds the means of one topic or one seed set.
type Cell struct {
	Mean
	Also []Mean
}

// Against compares a row with the reference, in the units in which both have values.
type Against struct {
	Units      int
	Difference float64   // difference of the means
	Interval   *Interval // 95 % confidence interval of the difference
	P          float64   // p-value of Wilcoxon's signed-rank test over units (or topics)
	Holm       float64   // P, corrected for the number of rows
	A12        float64   // probability that a unit (or topic) of this row is better than one of the reference
	Wins       int       // units (or topics) in which this row is better by more than Tie
	Ties       int
	Losses     int

	// Equivalent reports whether the difference is shown to be at most Tie, by two one-sided
	// tests at 5 %: the 90 % interval of the difference lies within ±Tie. A large P alone does
	// not show this.
	Equivalent bool
}

// A unitKey identifies a unit: a topic of a web and a seed set.
type unitKey struct{ topic, web, seeds string }

func (p unitKey) compare(q unitKey) int {
	return cmp.Or(cmp.Compare(p.topic, q.topic), cmp.Compare(p.web, q.web), cmp.Compare(p.seeds, q.seeds))
}

// runs holds the results of one name in one track, by unit. The results of a unit are sorted by
// random seed.
type runs map[unitKey][]*Result

// Compare returns a table for every track, sorted by the name of the track. The order of
// the results does not matter, and duplicates are ignored. It is an error if results contradict
// each other, if the results of a unit were judged with different T or R, if no result has a value
// for the criterion, or if no track has the reference.
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
		return nil, fmt.Errorf("none of %d runs has a value for %s", len(results), o.By.Name)
	case len(tables) == 0:
		return nil, errors.New("there are no results to compare")
	case !found:
		return nil, fmt.Errorf("the reference %q was not run; there are %s", o.Reference, strings.Join(slices.Sorted(maps.Keys(names)), ", "))
	}
	return tables, nil
}

// ErrDiffer is wrapped by the error of [Compare] if two results of the same run have different
// values.
var ErrDiffer = errors.New("they differ")

// group groups results by track, name and unit.
func group(results []*Result) (map[string]map[string]runs, error) {
	tracks := map[string]map[string]runs{}
	budgets := map[unitKey]*Result{}
	for _, r := range results {
		at := unitKey{r.Topic, r.Web, string(r.Seeds)}
		if b := budgets[at]; b == nil {
			budgets[at] = r
		} else if b.T != r.T || b.R != r.R {
			return nil, fmt.Errorf("%s from %s was judged with T %d and R %d, and with T %d and R %d: these cannot be compared",
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
			return nil, fmt.Errorf("there are two results of %s for %s from %s with seed %d, and %w", r.Name, r.Topic, r.Seeds, r.Seed, ErrDiffer)
		}
	}
	return tracks, nil
}

// agree reports whether two results of the same run have the same values.
func agree(a, b *Result) bool {
	for _, c := range Criteria() {
		v, w := c.value(a), c.value(b)
		if (v == nil) != (w == nil) || v != nil && *v != *w {
			return false
		}
	}
	return maps.Equal(a.HarvestAt, b.HarvestAt) && maps.Equal(a.RecallAt, b.RecallAt)
}

func newTable(track string, all map[string]runs, o CompareOptions) *Table {
	t := &Table{CompareOptions: o, Track: track}
	places := map[unitKey]bool{}
	counted := map[string]runs{} // results with a value
	for name, runs := range all {
		for at, repeats := range runs {
			with := slices.DeleteFunc(slices.Clone(repeats), func(r *Result) bool { return o.By.value(r) == nil })
			t.Without += len(repeats) - len(with)
			if len(with) == 0 {
				continue
			}
			if counted[name] == nil {
				counted[name] = map[unitKey][]*Result{}
			}
			counted[name][at] = with
			places[at] = true
			t.Random = max(t.Random, len(with))
			t.Runs += len(with)
		}
	}
	order := slices.SortedFunc(maps.Keys(places), unitKey.compare)
	t.Units = len(order)
	t.columns(order, counted)
	t.Seeing = t.sighted(order, counted, func(r *Result) *Sighted { return &r.Seeing })
	t.SeeingChildren = t.sighted(order, counted, func(r *Result) *Sighted { return &r.SeeingChildren })

	for _, name := range slices.Sorted(maps.Keys(counted)) {
		row := t.row(name, order, counted[name])
		if reference := counted[o.Reference]; reference != nil && name != o.Reference {
			row.Against = t.compareWith(order, counted[name], reference)
		}
		t.Rows = append(t.Rows, row)
		t.countConstant(counted[name])
	}
	t.adjustP()
	t.rank()
	slices.SortStableFunc(t.Rows, func(a, b Row) int {
		return t.compareValues(b.Mean, a.Mean)
	})
	return t
}

// countConstant counts a row in repeated and constant.
func (t *Table) countConstant(units runs) {
	repeated, varies := false, false
	for _, repeats := range units {
		for _, r := range repeats[1:] {
			repeated = true
			varies = varies || grains(*t.By.value(r)) != grains(*t.By.value(repeats[0]))
		}
	}
	if repeated {
		t.repeated++
	}
	if repeated && !varies {
		t.constant++
	}
}

// compareValues returns a positive number if a is better than b, a negative number if b is better,
// and 0 if they are equal.
func (t *Table) compareValues(a, b float64) int {
	if t.By.Lower {
		a, b = b, a
	}
	return cmp.Compare(grains(a), grains(b))
}

// columns sets the topics, the seed sets and the costs of the table.
func (t *Table) columns(order []unitKey, counted map[string]runs) {
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
		for _, repeats := range runs {
			for _, r := range repeats {
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

func (t *Table) row(name string, order []unitKey, all runs) Row {
	own := newSample(order, func(at unitKey) unit { return unit{own: values(all[at], t.By.value)} })
	row := Row{Name: name, Units: own.size(), Mean: own.mean(), Interval: percentiles(own.bootstrap(t.Seed), cut95)}
	row.Also = t.also(order, all)
	cell := func(in func(unitKey) bool) Cell {
		some := slices.DeleteFunc(slices.Clone(order), func(at unitKey) bool { return !in(at) })
		return Cell{meanOf(some, all, t.By.value), t.also(some, all)}
	}
	for _, topic := range t.topics {
		row.Topics = append(row.Topics, cell(func(at unitKey) bool { return at.ofTopic() == topic }))
	}
	for _, seeds := range t.Seeds {
		row.Seeds = append(row.Seeds, cell(func(at unitKey) bool { return at.seeds == seeds }))
	}
	for _, cost := range t.Costs {
		row.HarvestAt = append(row.HarvestAt, meanOf(order, all, func(r *Result) *float64 { return known(r.HarvestAt, cost) }))
		row.RecallAt = append(row.RecallAt, meanOf(order, all, func(r *Result) *float64 { return known(r.RecallAt, cost) }))
	}
	return row
}

// known returns the value at a cost, or nil if there is none.
func known(at map[int]float64, cost int) *float64 {
	if v, ok := at[cost]; ok {
		return &v
	}
	return nil
}

// also returns the means of the further measures.
func (t *Table) also(order []unitKey, all runs) []Mean {
	var means []Mean
	for _, c := range t.Also {
		means = append(means, meanOf(order, all, c.value))
	}
	return means
}

func (t *Table) compareWith(order []unitKey, all, reference runs) *Against {
	pairs := newSample(order, func(at unitKey) unit {
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

// adjustP corrects the p-values of the table for multiple comparisons.
func (t *Table) adjustP() {
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

// rank ranks, in every topic, the rows that have a value in every unit.
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

// sighted returns the mean, over all units, of a crawler that sees more than a real one can, or nil
// if a unit has no value. All runs of a unit have the same value.
func (t *Table) sighted(order []unitKey, counted map[string]runs, which func(*Result) *Sighted) *float64 {
	if t.By.sighted == nil {
		return nil
	}
	s := newSample(order, func(at unitKey) unit {
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

// ofTopic returns the place without its seeds.
func (p unitKey) ofTopic() unitKey { return unitKey{topic: p.topic, web: p.web} }

// newSample returns a sample of the units, in the given order. Units without values are omitted.
func newSample(order []unitKey, number func(unitKey) unit) sample {
	var s sample
	var last unitKey
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

// meanOf returns the mean of a value of runs over units.
func meanOf(order []unitKey, all runs, value func(*Result) *float64) Mean {
	s := newSample(order, func(at unitKey) unit { return unit{own: values(all[at], value)} })
	if len(s) == 0 {
		return Mean{}
	}
	return Mean{s.mean(), s.size()}
}

func values(repeats []*Result, value func(*Result) *float64) []float64 {
	var all []float64
	for _, r := range repeats {
		if v := value(r); v != nil {
			all = append(all, *v)
		}
	}
	return all
}
