package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"spoor/cmd/internal/filter"
	"spoor/internal/wire"
)

// TestAPageIsKnownAgainAfterManyOthers would fail if pages were remembered by memory that
// the next record is read into.
func TestAPageIsKnownAgainAfterManyOthers(t *testing.T) {
	var in strings.Builder
	for range 2 {
		for i := range 500 {
			fmt.Fprintf(&in, "http://a.example/%s\n", strings.Repeat("x", i))
		}
	}
	var out bytes.Buffer
	var paid account
	p := passage{stream: filter.Stream{Want: wire.Address, Limit: wire.DefaultLimit}}
	tally := filter.NewTally(filter.Logger(t.Output(), "test", "text"))
	err := p.each(strings.NewReader(in.String()), &out, tally, func(rec *wire.Record) (string, int64) {
		if paid.buy(rec, addressed(rec)).repeated {
			return sayRepeated, paid.spent
		}
		return sayUnlabelled, paid.spent
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n") {
		want := sayUnlabelled
		if i >= 500 {
			want = sayRepeated
		}
		if got := verdictOf([]byte(line)); got != want {
			t.Fatalf("line %d: %s, want %s", i+1, got, want)
		}
	}
	if tally.Out != 1000 || paid.spent != 1000 {
		t.Errorf("%d records, %d spent", tally.Out, paid.spent)
	}
}

func TestWhatAQueryCostsIsBounded(t *testing.T) {
	for cost, want := range map[int]int64{math.MinInt: 1, -1: 1, 0: 1, 1: 1, 12: 12, math.MaxInt: maxCost} {
		var paid account
		for range 3 {
			if p := paid.buy(&wire.Record{Query: "words", Cost: cost}, identity{}); p.cost != want || !p.query {
				t.Errorf("cost %d: %+v", cost, p)
			}
		}
		if paid.spent != 3*want || paid.queries != 3 {
			t.Errorf("cost %d: spent %d for %d queries", cost, paid.spent, paid.queries)
		}
	}
}

func TestCurvesAreToldAtPointsFromOneToT(t *testing.T) {
	for _, budget := range []int{1, 2, 199, 200, 201, 1145, 100_000} {
		costs := points(budget)
		if len(costs) != min(budget, maxPoints) || costs[0] != 1 || costs[len(costs)-1] != budget {
			t.Errorf("T %d: %d points from %d to %d", budget, len(costs), costs[0], costs[len(costs)-1])
		}
		for i := 1; i < len(costs); i++ {
			if costs[i] <= costs[i-1] {
				t.Fatalf("T %d: %d behind %d", budget, costs[i], costs[i-1])
			}
		}
	}
	var at []int
	for cost := range milestones(2500) {
		at = append(at, cost)
	}
	if fmt.Sprint(at) != "[100 200 500 1000 2000]" {
		t.Errorf("%v", at)
	}
	for range milestones(99) {
		t.Error("a milestone behind T")
	}
}

// brokenWriter takes nothing.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, fmt.Errorf("no room") }

func TestWhatCannotBeWrittenIsAnError(t *testing.T) {
	p := passage{stream: filter.Stream{Limit: wire.DefaultLimit}}
	tally := filter.NewTally(filter.Logger(t.Output(), "test", "text"))
	err := p.each(strings.NewReader("http://a.example/\n"), brokenWriter{}, tally, func(*wire.Record) (string, int64) { return sayFree, 0 })
	if err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("%v", err)
	}
}
