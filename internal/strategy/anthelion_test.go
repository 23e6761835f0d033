package strategy

import (
	"math"
	"math/rand/v2"
	"testing"

	"spoor/internal/graph"
)

// armsOf are hosts with one link each, of the scores given.
func armsOf(scores ...float64) (arms []*arm) {
	for i, score := range scores {
		arms = append(arms, &arm{host: int32(i), links: bestLinks{{graph.ID(i), score}}})
	}
	return arms
}

// The best host is chosen wherever it stands: it is not the last one that is worth
// anything (row a).
func TestBestHostIsChosenAtAnyIndex(t *testing.T) {
	for _, test := range []struct {
		scores []float64
		want   int
	}{
		{[]float64{0.9, 0.5, 0.7}, 0},
		{[]float64{0.5, 0.9, 0.7}, 1},
		{[]float64{0.5, 0.7, 0.9}, 2},
		{[]float64{0.5, 0.5, 0.5}, 0}, // the first among equals
	} {
		s := &anthelion{Value: byBest, record: make([]hostRecord, 3)}
		if at, value := s.choose(armsOf(test.scores...), 0, rand.New(rand.NewPCG(1, 1))); at != test.want || value != test.scores[test.want] {
			t.Errorf("%v: host %d of value %v, want host %d", test.scores, at, value, test.want)
		}
	}
}

func TestLambdaDecay(t *testing.T) {
	for _, test := range []struct {
		decay, pulls int
		want         float64
	}{
		{0, 1000, 0.6}, {100, 0, 0.6}, {100, 50, 0.4}, {100, 100, 0.3}, {100, 200, 0.2}, // row b: not 0
	} {
		s := &anthelion{Lambda: 0.6, Decay: test.decay}
		if got := s.lambda(test.pulls); math.Abs(got-test.want) > 1e-15 {
			t.Errorf("λ after %d pulls of %d: %v, want %v", test.pulls, test.decay, got, test.want)
		}
	}
}

func TestHostValues(t *testing.T) {
	h := hostRecord{good: 3, bad: 1, right: 2}
	for _, test := range []struct {
		value string
		want  float64
	}{
		{byBest, 0.5},
		{byRate, 2},        // 4 / 2
		{byRateBest, 1},    // · 0.5
		{byGoodBest, 1.5},  // 3 · 0.5
		{byHolistic, 0.48}, // 4/5 · 3/5
	} {
		s := &anthelion{Value: test.value}
		if got := s.value(h, 0.5, nil); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", test.value, got, test.want)
		}
	}
	s := &anthelion{Value: byHolistic}
	if got := s.value(hostRecord{}, 0.5, nil); got != 1 {
		t.Errorf("a host without pages is worth %v, want 1", got)
	}
}

// How often a host should be chosen is the integral over its draw of how probable
// it is that all others are worth less.
func TestThompsonSamplingMatchesProbabilities(t *testing.T) {
	record := []hostRecord{{good: 0, bad: 0}, {good: 4, bad: 1}, {good: 1, bad: 3}, {good: 0, bad: 5}, {good: 2, bad: 0}}
	for _, test := range []struct {
		value string
		best  []float64
	}{
		{byThompson, []float64{1, 1, 1, 1, 1}},
		{byThompsonBest, []float64{0.5, 0.4, 0.9, 1, 0.3}},
		{byThompsonBest, []float64{0.9, 0.8, 0.7, 0.6, 0.5}}, // most are passed over without a draw
	} {
		const n = 40_000
		s := &anthelion{Value: test.value, record: record}
		rng := rand.New(rand.NewPCG(5, 5))
		count := make([]float64, len(record))
		for range n {
			at, _ := s.choose(armsOf(test.best...), 0, rng)
			count[at]++
		}
		chi, sum := 0.0, 0.0
		for i := range record {
			p := chance(record, test.best, i)
			sum += p
			chi += (count[i] - n*p) * (count[i] - n*p) / (n * p)
		}
		if math.Abs(sum-1) > 1e-3 {
			t.Fatalf("chances sum to %v", sum)
		}
		if chi > 18.47 { // 4 degrees of freedom, 0.001
			t.Errorf("%s, best %v: hosts chosen %v, χ² = %.1f", test.value, test.best, count, chi)
		}
	}
}

// chance is how probable it is that host i has the greatest draw times best.
func chance(record []hostRecord, best []float64, i int) (p float64) {
	const steps = 4000
	density := func(h hostRecord, x float64) float64 {
		a, b := float64(h.good+1), float64(h.bad+1)
		return math.Gamma(a+b) / math.Gamma(a) / math.Gamma(b) * math.Pow(x, a-1) * math.Pow(1-x, b-1)
	}
	below := make([][]float64, len(record)) // distribution functions
	for j, h := range record {
		below[j] = make([]float64, steps+1)
		for k := range steps {
			below[j][k+1] = below[j][k] + density(h, (float64(k)+0.5)/steps)/steps
		}
	}
	for k := range steps {
		x := (float64(k) + 0.5) / steps
		q := density(record[i], x) / steps
		for j := range record {
			if j != i {
				at := min(1, x*best[i]/best[j]) * steps
				lower := min(steps-1, int(at))
				q *= below[j][lower] + (at-float64(lower))*(below[j][lower+1]-below[j][lower])
			}
		}
		p += q
	}
	return p
}

// One step by hand: both weights are 0, so p = ½ and g = ½; Σ g² = ¼, and each
// weight moves by rate · ½ / (1 + ½) = 1/6. Then p = 1 / (1 + exp(−1/3)) = 0.582570.
func TestClassifierUpdatesByHand(t *testing.T) {
	var l logistic
	l.fit(1, 0.5)
	f := []feature{7}
	if p := l.probability(f); p != 0.5 {
		t.Fatalf("p = %v before anything was learned", p)
	}
	l.learn(f, true)
	if got := l.weights; math.Abs(got[0]-1./6) > 1e-15 || got[0] != got[1] {
		t.Errorf("weights %v, want ⅙ and ⅙", got)
	}
	if p := l.probability(f); p != 0.58257 {
		t.Errorf("p = %v, want 0.58257", p)
	}
}

// Two hosts: one has ten links that the classifier likes, the other two. A half is
// what one may have, until the other has no more.
func TestHostShareLimitsGeneration(t *testing.T) {
	s := newAnthelion().(*anthelion)
	s.Value, s.Lambda = byBest, 0
	rich, poor := features(inAnchor, "good"), features(inAnchor, "bad")
	for i := range 12 {
		id := s.web.Intern(address([]string{"rich.test/", "poor.test/"}[i/10] + string(rune('a'+i))))
		s.links.add(id, [][]feature{rich, poor}[i/10])
	}
	s.startBreed(0)
	s.grow()
	s.learn()
	for range 20 {
		s.learner.learn(rich, true)
		s.learner.learn(poor, false)
	}
	for _, test := range []struct{ n, rich, poor int }{
		{4, 2, 2}, {3, 2, 1}, {8, 6, 2}, {12, 10, 2}, {20, 10, 2}, {0, 0, 0},
	} {
		var got [2]int
		for _, c := range s.pull(test.n, rand.New(rand.NewPCG(1, 1))) {
			got[c.id/10]++
		}
		if got != [2]int{test.rich, test.poor} {
			t.Errorf("%d addresses: %v of the two hosts, want %d and %d", test.n, got, test.rich, test.poor)
		}
	}
}
