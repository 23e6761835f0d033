package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// commit writes the summary of a generation, and does no more than that.
func commit(t *testing.T, d Dir, s *Summary) string {
	t.Helper()
	line, err := s.Line()
	if err != nil {
		t.Fatal(err)
	}
	name := d.File(s.Generation, Stats)
	testfile.Write(t, name, line)
	return string(line)
}

// summaries are those of three generations.
func summaries() []*Summary {
	one, two, three := NewSummary(1), NewSummary(2), NewSummary(3)
	one.Outcomes, one.Cost, one.Relevant, one.Addresses, one.Seconds = 1, 1, 1, 40, 0.5
	one.Operators["seed"] = Yield{1, 1}
	two.Outcomes, two.Cost, two.Failed, two.Relevant, two.Addresses, two.Seconds = 9, 8, 2, 3, 7, 0.25
	two.Errors["robots"], two.Errors["timeout"] = 1, 1
	two.Operators["seed"], two.Operators["link"] = Yield{2, 1}, Yield{6, 2}
	three.Outcomes, three.Errors["robots"] = 2, 2
	three.Operators["link"] = Yield{}
	return []*Summary{one, two, three}
}

func TestTotalsAdd(t *testing.T) {
	t3 := NewTotals()
	for _, s := range summaries() {
		t3.Add(s)
	}
	want := &Totals{
		Generation: 3, Fetched: 9, Failed: 2, Relevant: 4, Seconds: 0.75,
		Errors:    map[string]int{"robots": 3, "timeout": 1},
		Operators: map[string]Yield{"seed": {3, 2}, "link": {6, 2}},
		Harvests:  []int{1000, 375}, // the third cost nothing
		Last:      summaries()[2],
	}
	if !reflect.DeepEqual(t3, want) {
		t.Errorf("got  %+v\nwant %+v", t3, want)
	}
	long := NewTotals()
	for g := range maxHarvests + 5 {
		long.Add(&Summary{Generation: g + 1, Outcomes: 1, Cost: 1000, Relevant: g})
	}
	if n := len(long.Harvests); n != maxHarvests || long.Harvests[0] != 5 || long.Harvests[n-1] != maxHarvests+4 {
		t.Errorf("the last harvests are %v", long.Harvests)
	}
}

// What the strategy estimates is counted under its name, and drawn in place of the harvest.
func TestEstimatesAreCounted(t *testing.T) {
	all := NewTotals()
	for g, values := range [][]float64{nil, {0.25, 0.5}, {0.125}, nil} {
		s := newSummary(g+1, "forage")
		for _, v := range append(values, -1) {
			rec := &wire.Record{URL: "http://a.test/", StatusCode: 200, Scores: []wire.Scored{{Name: "bm25", Value: 7}}, Relevant: wire.True}
			if v >= 0 {
				rec.SetScore("forage", v)
			}
			s.Count(rec)
		}
		all.Add(s)
	}
	if all.Estimated != 3 || all.Estimates != 8750 || !slices.Equal(all.Harvests, []int{375, 125}) {
		t.Errorf("%d estimates, sum %d, curve %v", all.Estimated, all.Estimates, all.Harvests)
	}
	if got, none := meanEstimate(all.Estimates, all.Estimated), meanEstimate(0, 0); got != "0.292" || none != "–" {
		t.Errorf("mean %s, of none %s", got, none)
	}
}

// The words of records may come from strangers.
func TestKindsOfRecordsAreBounded(t *testing.T) {
	s, all := NewSummary(1), NewTotals()
	for i := range 3 * maxKinds {
		s.Count(&wire.Record{URL: "http://a.test/", Error: fmt.Sprint("error ", i), Operator: fmt.Sprint("operator ", i)})
	}
	s.Count(&wire.Record{URL: "http://a.test/", Error: strings.Repeat("x", maxKindLength+1)})
	if n := s.Errors[otherKind]; n != 2*maxKinds+1 || len(s.Errors) != maxKinds+1 || len(s.Operators) != maxKinds+1 {
		t.Errorf("%d errors of other kinds, %d kinds, %d operators", n, len(s.Errors), len(s.Operators))
	}
	for i := range 3 {
		next := NewSummary(i + 2)
		for k := range maxKinds {
			next.Errors[fmt.Sprint(i, " ", k)] = 1
		}
		all.Add(next)
	}
	if n := all.Errors[otherKind]; n != 2*maxKinds || len(all.Errors) != maxKinds+1 {
		t.Errorf("%d errors of other kinds in all, %d kinds", n, len(all.Errors))
	}
}

func TestTotalsWithChangesNothing(t *testing.T) {
	t1, one := NewTotals(), NewTotals()
	t1.Add(summaries()[0])
	one.Add(summaries()[0])
	if with := t1.with(summaries()[1]); with.Fetched != 9 || with.Errors["timeout"] != 1 {
		t.Errorf("%+v", with)
	}
	if !reflect.DeepEqual(t1, one) {
		t.Errorf("the totals have changed: %+v", t1)
	}
}

func TestTotalsExhausted(t *testing.T) {
	page := func() *Summary { return &Summary{Outcomes: 1} }
	for _, test := range []struct {
		name string
		list []*Summary
		want bool
	}{
		{"nothing done yet", nil, false},
		{"pages, and no address", []*Summary{page()}, false},
		{"empty, but new addresses", []*Summary{page(), {Addresses: 1}}, false},
		{"empty, and nothing new", []*Summary{page(), {}}, true},
		{"empty twice", []*Summary{page(), {Addresses: 1}, {Addresses: 1}}, true},
		{"empty, then pages, then empty", []*Summary{{Addresses: 1}, page(), {Addresses: 1}}, false},
	} {
		totals := NewTotals()
		for _, s := range test.list {
			totals.Add(s)
		}
		if got := totals.exhausted(); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestLoadTotals(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(t *testing.T, d Dir) // what is wrong with the files
		want   int                       // generations
	}{
		{"missing", func(t *testing.T, d Dir) { os.Remove(d.Path(totalsFile)) }, 3},
		{"empty", func(t *testing.T, d Dir) { os.Truncate(d.Path(totalsFile), 0) }, 3},
		{"torn", func(t *testing.T, d Dir) { os.Truncate(d.Path(totalsFile), 40) }, 3},
		{"one behind", func(t *testing.T, d Dir) { totalsOf(summaries()[:2]).save(d) }, 3},
		{"of another run", func(t *testing.T, d Dir) { totalsOf(nil).save(d) }, 3},
		{"ahead", func(t *testing.T, d Dir) { os.Remove(d.File(3, Stats)) }, 2},
		{"far ahead", func(t *testing.T, d Dir) { os.RemoveAll(d.Generations()) }, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := Dir(t.TempDir())
			var lines []string
			for _, s := range summaries() {
				lines = append(lines, commit(t, d, s))
			}
			if err := totalsOf(summaries()).save(d); err != nil {
				t.Fatal(err)
			}
			test.before(t, d)
			for _, from := range []string{"the summaries", "totals.json"} {
				got, err := d.LoadTotals()
				if err != nil {
					t.Fatal(err)
				}
				if want := totalsOf(summaries()[:test.want]); !reflect.DeepEqual(got, want) {
					t.Errorf("from %s: got  %+v\nwant %+v", from, got, want)
				}
			}
			log, err := os.ReadFile(d.Path(LogFile))
			if want := strings.Join(lines[:test.want], ""); err != nil || string(log) != want {
				t.Errorf("%s: %v\n%s\nwant\n%s", LogFile, err, log, want)
			}
		})
	}
}

func totalsOf(list []*Summary) *Totals {
	t := NewTotals()
	for _, s := range list {
		t.Add(s)
	}
	return t
}

// While totals.json agrees with the summaries, these are not read again.
func TestLoadTotalsReadsOneFile(t *testing.T) {
	d := Dir(t.TempDir())
	for _, s := range summaries() {
		commit(t, d, s)
	}
	if err := totalsOf(summaries()).save(d); err != nil {
		t.Fatal(err)
	}
	testfile.Check(t, os.Truncate(d.File(1, Stats), 0))
	if got, err := d.LoadTotals(); err != nil || got.Fetched != 9 {
		t.Errorf("%+v, %v", got, err)
	}
	os.Remove(d.Path(totalsFile))
	if got, err := d.LoadTotals(); err == nil || !strings.Contains(err.Error(), d.File(1, Stats)) {
		t.Errorf("a summary that cannot be read: %+v, %v", got, err)
	}
}

// The budget of a day counts the generations of that day, also when they are read again.
func TestBudgetOfADay(t *testing.T) {
	totals := NewTotals()
	c := &Crawl{Settings: &Settings{PerDay: 30}, Totals: totals, View: &View{Out: io.Discard}}
	today := c.Settings.today(time.Now())
	for _, test := range []struct {
		day  string
		cost int
		want int
	}{
		{"2026-01-01", 30, 30}, {"2026-01-02", 10, 30}, {today, 12, 18}, {today, 17, 1}, {today, 5, 0},
	} {
		sum := NewSummary(totals.Generation + 1)
		sum.Day, sum.Cost = test.day, test.cost
		totals.Add(sum)
		if got := c.leaseLimit(); got != test.want {
			t.Errorf("after %d more on %s: %d addresses may be leased, not %d", test.cost, test.day, got, test.want)
		}
	}
}

// Of the refused seeds the first is named, without control characters and not at any length.
func TestRefusedSeeds(t *testing.T) {
	s := NewSummary(0)
	if got := s.refusedSeeds(); got != "" {
		t.Errorf("without any: %q", got)
	}
	refuse := func(url string) {
		s.Count(&wire.Record{URL: url})
		s.Refuse(url, errors.New("no scheme"))
	}
	s.Count(&wire.Record{URL: "http://a.test/"})
	refuse("\x1b[2J" + strings.Repeat("a", 300))
	if got := s.refusedSeeds(); !strings.HasPrefix(got, "1 of 2 seeds was refused: ") || !strings.HasSuffix(got, "aaa…: no scheme") || len(got) > 260 || strings.Contains(got, "\x1b") {
		t.Errorf("one: %q", got)
	}
	refuse("b.test")
	if got := s.refusedSeeds(); !strings.HasPrefix(got, "2 of 3 seeds were refused: the first is ") || strings.Contains(got, "b.test") {
		t.Errorf("two: %q", got)
	}
}

// The growth of the table is that of the last topic file. Partitions have a table each.
func TestGrowthIsCounted(t *testing.T) {
	d := Dir(t.TempDir())
	if name, err := d.LastTopic(); name != "" || err != nil {
		t.Errorf("no generations: %q, %v", name, err)
	}
	all := NewTotals()
	c := &Crawl{Totals: all, Stages: Stages{{"score", "score | topic -expand tunnel -windows x", true}}}
	for g, test := range []struct{ file, want, text string }{
		{"", "", "the weight table did not grow: no page scored as high"},
		{`{"format":"spoor-topic","growth":{"limit":0.9,"pages":1,"known":1,"words":0}}`, `,"growth":{"limit":0.9,"pages":1,"known":1,"words":0}`, "grew by 0 words: 1 page scored 0.9 or more, and the best word of 1 was"},
		{`{"keywords":[]}`, "", "grew by 0 words: 1 page"},
		{`{"growth":{"limit":0.9,"pages":4,"known":2,"words":3}}`, `,"growth":{"limit":0.9,"pages":4,"known":2,"words":3}`, "grew by 3 words: 4 pages scored 0.9 or more, and the best word of 2 was"},
		{"", "", "grew by 3 words: 4 pages"},
	} {
		s := NewSummary(g + 1)
		if test.file != "" {
			testfile.Check(t, os.MkdirAll(d.File(g+1, ""), 0o777))
			testfile.Write(t, d.File(g+1, Topic), test.file)
		}
		testfile.Check(t, s.setGrowth(d.File(g+1, Topic)))
		if line, err := s.Line(); err != nil || !strings.Contains(string(line), `"waiting":0`+test.want+"}") {
			t.Errorf("%s, %v, want %s", line, err, test.want)
		}
		if all.Add(s); !strings.Contains(c.growth(), test.text) {
			t.Errorf("%q, want %q", c.growth(), test.text)
		}
	}
	if name, err := d.LastTopic(); name != d.File(4, Topic) || err != nil {
		t.Errorf("%q, %v", name, err)
	}
	if c.Stages, c.Totals = nil, NewTotals(); c.growth() != "" {
		t.Errorf("without -expand: %q", c.growth())
	}
	testfile.Write(t, d.File(4, Topic), `{"growth":7}`)
	if err := NewSummary(4).setGrowth(d.File(4, Topic)); err == nil || !strings.Contains(err.Error(), d.File(4, Topic)) {
		t.Error(err)
	}
	for _, test := range []struct{ a, b, want *topic.Growth }{
		{nil, nil, nil},
		{&topic.Growth{Limit: 0.7, Pages: 3, Known: 1, Words: 2}, nil, &topic.Growth{Limit: 0.7, Pages: 3, Known: 1, Words: 2}},
		{&topic.Growth{Limit: 0.7, Pages: 3, Known: 1, Words: 2}, &topic.Growth{Limit: 0.7, Pages: 30, Known: 10, Words: 20}, &topic.Growth{Limit: 0.7, Pages: 33, Known: 11, Words: 22}},
	} {
		if got := addGrowth(test.a, test.b); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v and %+v: %+v", test.a, test.b, got)
		}
	}
}
