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
		at := place{r.Topic, r.Web, string(r.Seeds)}
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
		v, w := c.value(a), c.value(b)
		if (v == nil) != (w == nil) || v != nil && *v != *w {
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
			with := slices.DeleteFunc(slices.Clone(chance), func(r *Result) bool { return o.By.value(r) == nil })
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
		row.HarvestAt = append(row.HarvestAt, meanOf(order, all, func(r *Result) *float64 { return known(r.HarvestAt, cost) }))
		row.RecallAt = append(row.RecallAt, meanOf(order, all, func(r *Result) *float64 { return known(r.RecallAt, cost) }))
	}
	return row
}

// known is a number at a cost, nil if it is not there.
func known(at map[int]float64, cost int) *float64 {
	if v, ok := at[cost]; ok {
		return &v
	}
	return nil
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
func meanOf(order []place, all runs, value func(*Result) *float64) Mean {
	s := pick(order, func(at place) unit { return unit{own: values(all[at], value)} })
	if len(s) == 0 {
		return Mean{}
	}
	return Mean{s.mean(), s.size()}
}

// values is a number of every run that has it.
func values(chance []*Result, value func(*Result) *float64) []float64 {
	var all []float64
	for _, r := range chance {
		if v := value(r); v != nil {
			all = append(all, *v)
		}
	}
	return all
}
