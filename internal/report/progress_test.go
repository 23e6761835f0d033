package report

import (
	"fmt"
	"strings"
	"testing"
)

func TestProgressMergesGenerations(t *testing.T) {
	for _, n := range []int{0, 1, MaxGenerations, MaxGenerations + 1, 10_000} {
		var p Progress
		fetched, relevant := 0, 0
		for i := range n {
			p.Add(&Generation{First: i + 1, Last: i + 1, Fetched: 3 + i%2, Relevant: i % 3, Operators: []Yield{
				{"link", 2, i % 3}, {fmt.Sprintf("rare %d", i%300), 1 + i%2, 0}}})
			fetched, relevant = fetched+3+i%2, relevant+i%3
		}
		r := p.Run()
		if len(r.Generations) > MaxGenerations || n > 0 && len(r.Generations) < min(n, MaxGenerations/2) {
			t.Errorf("%d generations are drawn as %d", n, len(r.Generations))
		}
		sum, next := Yield{}, 1
		operators := map[string]Yield{}
		for i, g := range r.Generations {
			if g.First != next || g.Last < g.First {
				t.Errorf("%d generations: %d to %d follow %d", n, g.First, g.Last, next-1)
			}
			next = g.Last + 1
			sum.Fetched += g.Fetched
			sum.Relevant += g.Relevant
			for _, y := range g.Operators {
				o := operators[y.Name]
				operators[y.Name] = Yield{y.Name, o.Fetched + y.Fetched, o.Relevant + y.Relevant}
			}
			if r.Curves.Cost[i] != sum.Fetched || r.Curves.Run[i] != float64(sum.Relevant) {
				t.Errorf("%d generations: the curve is at %d, %g", n, r.Curves.Cost[i], r.Curves.Run[i])
			}
		}
		if sum.Fetched != fetched || sum.Relevant != relevant || r.Fetched != fetched || next != n+1 {
			t.Errorf("%d generations: %+v, up to %d; want %d, %d", n, sum, next-1, fetched, relevant)
		}
		if len(r.Operators) > MaxOperators+1 || n > 0 && len(p.operators.words) > 257 {
			t.Errorf("%d operators, %d names", len(r.Operators), len(p.operators.words))
		}
		for _, y := range r.Operators {
			if operators[y.Name] != y {
				t.Errorf("%d generations: %+v in total, %+v by generation", n, y, operators[y.Name])
			}
		}
		c := r.Charts()
		if drawn := c.Operators != ""; drawn != (n > 0) || (c.Found != "") != (n > 1) {
			t.Errorf("%d generations: %+v", n, c)
		}
	}
}

func TestChartsEscapeNames(t *testing.T) {
	var p Progress
	for i := range 2 {
		p.Add(&Generation{First: i + 1, Last: i + 1, Fetched: 2, Operators: []Yield{{`<script>alert("1")</script>`, 1, 1}, {"", 1, 0}}})
	}
	c := p.Run().Charts()
	if text := string(c.Found + c.Rate + c.Operators); strings.Contains(text, "<script") || !strings.Contains(text, "&lt;script") || !strings.Contains(text, "unknown") {
		t.Error(text)
	}
}
