package strategy

import (
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// Of pages worth 0.8, 0.4 and 0.2 the median is 0.4, so a and b survive. Their
// links are worth x 0.8, y 0.8 + 0.4 and z 0.4; w is a link of c.
func firstOfQinChen(t *testing.T, seed uint64, n int, params ...string) []Address {
	s := made[*qinChen](t, "qinchen", params...)
	w := tiny{"a": "0.8 x y", "b": "0.4 y z", "c": "0.2 w x", "d": "!"}
	for _, a := range seeds("a", "b", "c", "d") {
		s.Visit(w.fetch(a, 1))
	}
	return s.Breed(n, rand.New(rand.NewPCG(seed, 1)))
}

func TestQinChenByHand(t *testing.T) {
	next := firstOfQinChen(t, 1, 4)
	want := map[string]float64{"x": 0.8, "y": 1.2, "z": 0.4, "w": 0.2}
	parents := map[string][]string{"x": {"a"}, "y": {"a", "b"}, "z": {"b"}, "w": {"c"}}
	via := map[string]string{"x": "a", "y": "a", "z": "b", "w": "c"}
	for i, a := range next {
		n := name(a.URL)
		var from []string
		for _, p := range a.Parents {
			from = append(from, name(p))
		}
		operator := opCrossover
		if n == "w" { // too few links of survivors
			operator = opRestart
		}
		if !equals(reason(t, a, "crossover"), want[n]) || gocmp.Diff(parents[n], from) != "" || name(a.Via) != via[n] ||
			a.Operator != operator || a.Priority != -float64(i) || a.Depth != 1 {
			t.Errorf("%+v", a)
		}
		delete(want, n)
	}
	if len(want) > 0 {
		t.Errorf("%v were not proposed", want)
	}
}

// One link of three is drawn: x, y, z with 2/6, 3/6, 1/6.
func TestQinChenDrawsByCrossover(t *testing.T) {
	const draws = 1200
	counts := map[string]float64{}
	for seed := range uint64(draws) {
		for _, a := range firstOfQinChen(t, seed, 1) {
			counts[name(a.URL)]++
		}
	}
	chi := 0.0
	for n, p := range map[string]float64{"x": 2. / 6, "y": 3. / 6, "z": 1. / 6} {
		expected := p * draws
		chi += (counts[n] - expected) * (counts[n] - expected) / expected
	}
	if chi > 13.8 || len(counts) != 3 { // p = 0.001 at two degrees of freedom
		t.Errorf("drawn %v, χ² = %.1f", counts, chi)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		scores []float64
		want   float64
	}{
		{nil, 0}, {[]float64{3}, 3}, {[]float64{1, 4}, 2.5}, {[]float64{1, 2, 9}, 2}, {[]float64{1, 2, 3, 4}, 2.5},
	} {
		if got := median(test.scores); got != test.want {
			t.Errorf("median of %v is %v, want %v", test.scores, got, test.want)
		}
	}
}

// In the second generation the survivors a and b compete with the newcomers: with
// 0.8, 0.4, 0.9 and 0.3 the median is 0.6, and a has no link left.
func TestQinChenSurvivors(t *testing.T) {
	s := made[*qinChen](t, "qinchen")
	w := tiny{"a": "0.8 x y", "b": "0.4 y z", "c": "0.2 w", "x": "0.9 v", "y": "0.3 u"}
	for _, a := range seeds("a", "b", "c") {
		s.Visit(w.fetch(a, 1))
	}
	s.Breed(0, rand.New(rand.NewPCG(1, 1)))
	for _, a := range seeds("x", "y") {
		s.Visit(w.fetch(a, 2))
	}
	next := s.Breed(1, rand.New(rand.NewPCG(1, 2)))
	if len(next) != 1 || name(next[0].URL) != "v" || len(s.population.ids) != 1 || name(s.web.URL(s.population.ids[0])) != "x" {
		t.Errorf("%+v of a population of %d", next, len(s.population.ids))
	}
}

func TestQinChenMutation(t *testing.T) {
	s := made[*qinChen](t, "qinchen", "mutation=3")
	var all []string
	for g := range 60 {
		for _, a := range s.Breed(5, rand.New(rand.NewPCG(2, uint64(g)))) {
			if a.URL != "" || a.Operator != opMutation || a.Priority <= 0 || (g+1)%3 != 0 {
				t.Errorf("generation %d: %+v", g+1, a)
			}
			all = append(all, a.Query)
		}
	}
	// Of two keywords there are three searches, and none comes twice.
	if len(all) != 3 || !strings.Contains(strings.Join(all, "|"), "genetic crawler") {
		t.Errorf("searches %q", all)
	}
	if next := firstOfQinChen(t, 1, 0, "mutation=0"); len(next) != 0 {
		t.Errorf("without mutation: %+v", next)
	}
}
