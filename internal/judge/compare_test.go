package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// trial returns a judged run.
func trial(name, topic, seeds string, seed int64, nauc float64) *Result {
	return &Result{
		V: 1, Name: name, Strategy: strings.Fields(name)[0], Track: "K", Web: "w", Topic: topic, Seeds: SeedSet(seeds), Seed: seed,
		Figures: Figures{T: 200, R: 10, NAUC: &nauc},
	}
}

// by returns the criterion called name.
func by(t testing.TB, name string) Criterion {
	t.Helper()
	c, err := ParseCriterion(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// compare returns the only table of results.
func compare(t testing.TB, results []*Result, o CompareOptions) *Table {
	t.Helper()
	if o.By.Name == "" {
		o.By = by(t, "nauc")
	}
	tables, err := Compare(results, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) != 1 {
		t.Fatalf("%d tables", len(tables))
	}
	return tables[0]
}

// a is better than b in course and everywhere in project; c has one unit. The values 0.2 and
// 0.4 of a's random seeds have the mean 0.3.
func small() []*Result {
	return []*Result{
		trial("a", "course", "easy", 1, 0.2), trial("a", "course", "easy", 2, 0.4), trial("a", "course", "hard", 1, 0.1),
		trial("a", "project", "easy", 1, 0.6), trial("a", "project", "hard", 1, 0.4),
		trial("b", "course", "easy", 1, 0.1), trial("b", "course", "hard", 1, 0.2),
		trial("b", "project", "easy", 1, 0.595), trial("b", "project", "hard", 1, 0.1),
		trial("c -x=1", "project", "hard", 1, 0.5),
	}
}

func TestMeanAveragesRandomSeedsThenUnitsThenTopics(t *testing.T) {
	table := compare(t, small(), CompareOptions{Tie: 0.01})
	type line struct {
		Name          string
		Units         int
		Mean          float64
		Topics, Seeds []Mean
	}
	var got []line
	for _, r := range table.Rows {
		l := line{r.Name, r.Units, r.Mean, nil, nil}
		for _, c := range r.Topics {
			l.Topics = append(l.Topics, c.Mean)
		}
		for _, c := range r.Seeds {
			l.Seeds = append(l.Seeds, c.Mean)
		}
		got = append(got, l)
	}
	want := []line{
		{"c -x=1", 1, 0.5, []Mean{{}, {0.5, 1}}, []Mean{{}, {0.5, 1}}},
		{"a", 4, 0.35, []Mean{{0.2, 2}, {0.5, 2}}, []Mean{{0.45, 2}, {0.25, 2}}},
		{"b", 4, 0.24875, []Mean{{0.15, 2}, {0.3475, 2}}, []Mean{{0.3475, 2}, {0.15, 2}}},
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if !slices.Equal(table.Topics, []string{"course", "project"}) || !slices.Equal(table.Seeds, []string{"easy", "hard"}) {
		t.Errorf("topics %v, seeds %v", table.Topics, table.Seeds)
	}
	if table.Units != 4 || table.Random != 2 || table.Runs != 10 || table.Without != 0 {
		t.Errorf("%d units, %d random seeds, %d runs, %d without", table.Units, table.Random, table.Runs, table.Without)
	}
}

// A topic with many seed sets has the same weight as one with few.
func TestTopicsHaveEqualWeight(t *testing.T) {
	results := []*Result{trial("a", "x", "1", 1, 1)}
	for i := range 9 {
		results = append(results, trial("a", "y", fmt.Sprint(i), 1, 0))
	}
	if got := compare(t, results, CompareOptions{}).Rows[0].Mean; got != 0.5 {
		t.Errorf("the mean is %v", got)
	}
}

func TestReferenceIsComparedInCommonUnits(t *testing.T) {
	table := compare(t, small(), CompareOptions{Reference: "b", Tie: 0.01})
	got := map[string]*Against{}
	for _, r := range table.Rows {
		got[r.Name] = r.Against
		if r.Against != nil {
			r.Against.Interval = nil // other tests look at it
		}
	}
	want := map[string]*Against{
		// Differences 0.2, -0.1, 0.005, 0.3: of 16 signs the ranks 1, 2, 3, 4 have, W⁻ is 2 or
		// less with 0, 1, 2. Of 16 pairs of units 0.1 is above none and equal two, 0.3 above
		// three, 0.4 above three, 0.6 above all.
		"a":      {Units: 4, Difference: 0.10125, P: 6. / 16, Holm: 2 * 6. / 16, A12: (1 + 3 + 3 + 4) / 16., Wins: 2, Ties: 1, Losses: 1},
		"b":      nil,
		"c -x=1": {Units: 1, Difference: 0.4, P: 1, Holm: 1, A12: 1, Wins: 1},
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestPairedByTopic(t *testing.T) {
	var results []*Result
	for i := range 5 {
		for _, seeds := range []string{"easy", "hard"} {
			results = append(results, trial("a", fmt.Sprint("topic-", i), seeds, 1, 0.5+float64(i)/10), trial("b", fmt.Sprint("topic-", i), seeds, 1, 0.4+float64(i)/20))
		}
	}
	for _, tt := range []struct {
		byTopic bool
		p       float64
		wins    int
	}{{false, 2. / 1024, 10}, {true, 2. / 32, 5}} {
		a := compare(t, results, CompareOptions{Reference: "b", Tie: 0.01, ByTopic: tt.byTopic}).Rows[0].Against
		if a.P != tt.p || a.Wins != tt.wins || a.Units != 10 {
			t.Errorf("by topic %v: p %v, %d wins of %d units; want %v and %d", tt.byTopic, a.P, a.Wins, a.Units, tt.p, tt.wins)
		}
	}
}

func TestEquivalenceNeedsMoreThanALargeP(t *testing.T) {
	near, far := small()[:0:0], small()[:0:0]
	for i := range 12 {
		topic, sign := fmt.Sprint("topic-", i), float64(i%2*2-1)
		near = append(near, trial("a", topic, "s", 1, 0.5+sign*0.008), trial("b", topic, "s", 1, 0.5))
		far = append(far, trial("a", topic, "s", 1, 0.5+sign*0.2), trial("b", topic, "s", 1, 0.5))
	}
	for _, tt := range []struct {
		name    string
		results []*Result
		want    bool
	}{{"near", near, true}, {"far", far, false}} {
		a := compare(t, tt.results, CompareOptions{Reference: "b", Tie: 0.01, Seed: 1}).Rows
		i := slices.IndexFunc(a, func(r Row) bool { return r.Name == "a" })
		if got := a[i].Against; got.Equivalent != tt.want || got.P < 0.5 {
			t.Errorf("%s: equivalent %v, p %v, %v", tt.name, got.Equivalent, got.P, *got.Interval)
		}
	}
}

func TestLowerIsBetterForCosts(t *testing.T) {
	results := small()
	for i, r := range results {
		cost := []float64{100, 140, 0, 50, 60, 0, 0, 150, 300, 20}[i]
		r.Cost50 = &cost
	}
	table := compare(t, results, CompareOptions{By: by(t, "cost_50"), Reference: "b", Tie: 0.01})
	var got []string
	for _, r := range table.Rows {
		got = append(got, fmt.Sprintf("%s %.4f", r.Name, r.Mean))
	}
	// A cost that was never reached, or reached after the budget, is 1: b has 1, 1, 0.75, 1.
	if want := []string{"c -x=1 0.1000", "a 0.5375", "b 0.9375"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if a := table.Rows[1].Against; a.Wins != 3 || a.Ties != 1 || a.A12 <= 0.5 || a.Difference >= 0 {
		t.Errorf("%+v", *a)
	}
}

func TestOnlyRowsRunEverywhereAreRanked(t *testing.T) {
	table := compare(t, append(small(), trial("d", "course", "easy", 1, 0.3), trial("d", "course", "hard", 1, 0.1), trial("d", "project", "easy", 1, 0.1), trial("d", "project", "hard", 1, 0.1)),
		CompareOptions{})
	got := map[string][]float64{}
	for _, r := range table.Rows {
		got[r.Name] = append([]float64{r.Rank}, r.Ranks...)
	}
	// In course a and d both have 0.2, b has 0.15.
	want := map[string][]float64{"a": {1.25, 1.5, 1}, "b": {2.5, 3, 2}, "d": {2.25, 1.5, 3}, "c -x=1": {0}}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	results := small()
	for _, r := range results {
		r.Cost50 = new(200 * (1 - *r.NAUC))
	}
	table = compare(t, results, CompareOptions{By: by(t, "cost_50")})
	if r := table.Rows[1]; r.Name != "a" || r.Rank != 1 {
		t.Errorf("%s, which found half the pages first, has the mean rank %v", r.Name, r.Rank)
	}
}

func TestOrderOfResultsDoesNotMatter(t *testing.T) {
	print := func(results []*Result) string {
		var b strings.Builder
		table := compare(t, results, CompareOptions{Reference: "b", Tie: 0.01, Seed: 1})
		for _, form := range []Form{Overall, Topics, Seeds, Ranks} {
			if err := WriteMarkdown(&b, []*Table{table}, form); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	results := small()
	want := print(results)
	slices.Reverse(results)
	if got := print(results); got != want {
		t.Errorf("backwards:\n%s\nforwards:\n%s", got, want)
	}
	if got := print(append(results, small()...)); got != want {
		t.Errorf("twice:\n%s\nonce:\n%s", got, want)
	}
}

func TestIntervalDoesNotDependOnOtherRows(t *testing.T) {
	all := compare(t, small(), CompareOptions{Seed: 1})
	alone := compare(t, slices.DeleteFunc(small(), func(r *Result) bool { return r.Name == "b" }), CompareOptions{Seed: 1})
	if a, b := *all.Rows[1].Interval, *alone.Rows[1].Interval; a != b {
		t.Errorf("%v among others, %v alone", a, b)
	}
}

func TestTracksAreNeverCompared(t *testing.T) {
	results := small()
	for _, r := range small() {
		if r.Track = "E"; r.Name != "b" {
			results = append(results, r)
		}
	}
	tables, err := Compare(results, CompareOptions{By: by(t, "nauc"), Reference: "b", Tie: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, table := range tables {
		for _, r := range table.Rows {
			got = append(got, fmt.Sprintf("%s %s %v", table.Track, r.Name, r.Against != nil))
		}
	}
	if want := []string{"E c -x=1 false", "E a false", "K c -x=1 true", "K a true", "K b false"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRunsWithoutValueDoNotCount(t *testing.T) {
	results := small()
	results[0].NAUC, results[9].NAUC = nil, nil
	table := compare(t, results, CompareOptions{})
	if table.Without != 2 || len(table.Rows) != 2 || table.Rows[0].Topics[0].Value != 0.25 {
		t.Errorf("%d without, %d rows, a has %v in course", table.Without, len(table.Rows), table.Rows[0].Topics[0].Value)
	}
}

func TestFurtherMeasuresMayBeMissing(t *testing.T) {
	results := small()
	results[3].Recall = new(0.5)
	rows := compare(t, results, CompareOptions{Also: []Criterion{by(t, "recall"), by(t, "spent")}}).Rows
	if diff := gocmp.Diff([]Mean{{0.5, 1}, {0, 4}}, rows[1].Also); diff != "" {
		t.Errorf("a: -want +got\n%s", diff)
	}
	if diff := gocmp.Diff([]Mean{{}, {0, 1}}, rows[0].Also); diff != "" {
		t.Errorf("c: -want +got\n%s", diff)
	}
}

func TestSameTopicOfTwoWebs(t *testing.T) {
	results := []*Result{trial("a", "x", "s", 1, 0.1), trial("a", "x", "s", 1, 0.5), trial("a", "y", "s", 1, 0.9)}
	results[1].Web = "v"
	table := compare(t, results, CompareOptions{})
	if want := []string{"x of v", "x of w", "y"}; !slices.Equal(table.Topics, want) {
		t.Errorf("%q, want %q", table.Topics, want)
	}
	if got := table.Rows[0].Topics[0].Value; got != 0.5 {
		t.Errorf("x of v has %v", got)
	}
}

func TestSightedMeans(t *testing.T) {
	results := small()
	for _, r := range results {
		if r.Seeing.NAUC = new(0.5); r.Topic == "course" {
			r.Seeing.NAUC, r.SeeingChildren.NAUC = new(0.7), new(0.8)
		}
	}
	table := compare(t, results, CompareOptions{})
	if table.Seeing == nil || math.Abs(*table.Seeing-0.6) > 1e-12 {
		t.Errorf("seeing %v", table.Seeing)
	}
	if table.SeeingChildren != nil {
		t.Errorf("%v of some topics is told as if it were of all", *table.SeeingChildren)
	}
	for _, r := range results {
		r.Harvest = r.NAUC
	}
	if table = compare(t, results, CompareOptions{By: by(t, "harvest")}); table.Seeing != nil {
		t.Error("their harvest is not measured")
	}
}

func TestIncomparableResults(t *testing.T) {
	with := func(change func([]*Result) []*Result) []*Result { return change(small()) }
	for _, tt := range []struct {
		name    string
		results []*Result
		o       CompareOptions
		want    string
	}{
		{"none", nil, CompareOptions{}, "there are no results"},
		{"other budgets", with(func(r []*Result) []*Result { r[5].T = 300; return r }), CompareOptions{},
			"course from easy was judged with T 200 and R 10, and with T 300 and R 10"},
		{"other labels, in another track", with(func(r []*Result) []*Result { r[5].R, r[5].Track = 9, "Q"; return r }), CompareOptions{},
			"course from easy was judged with T 200 and R 10, and with T 200 and R 9"},
		{"contradictions", append(small(), trial("a", "course", "easy", 2, 0.41)), CompareOptions{},
			"two results of a for course from easy with seed 2, and they differ"},
		{"another curve", with(func(r []*Result) []*Result {
			same := *r[0]
			same.HarvestAt = map[int]float64{100: 0.5}
			return append(r, &same)
		}), CompareOptions{}, "and they differ"},
		{"no reference", small(), CompareOptions{Reference: "d"}, `the reference "d" was not run; there are a, b, c -x=1`},
		{"no number", small(), CompareOptions{By: by(t, "recall")}, "none of 10 runs has a value for recall"},
	} {
		if tt.o.By.Name == "" {
			tt.o.By = by(t, "nauc")
		}
		if _, err := Compare(tt.results, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestNoCommonUnits(t *testing.T) {
	table := compare(t, []*Result{trial("a", "x", "s", 1, 0.1), trial("b", "y", "s", 1, 0.2)}, CompareOptions{Reference: "b", Tie: 0.01})
	if table.Rows[1].Name != "a" || table.Rows[1].Against != nil {
		t.Errorf("%+v", table.Rows[1])
	}
}
