package genetic

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTruncate(t *testing.T) {
	for _, test := range []struct {
		scores []float64
		n      int
		want   []int
	}{
		{nil, 3, []int{}},
		{[]float64{.2, .9, .5}, 0, []int{}},
		{[]float64{.2, .9, .5}, -1, []int{}},
		{[]float64{.2, .9, .5}, 2, []int{1, 2}},
		{[]float64{.5, .9, .5}, 3, []int{1, 0, 2}}, // equal scores keep their order
		{[]float64{.5}, 7, []int{0}},
	} {
		if got := Truncate(test.scores, test.n); !slices.Equal(got, test.want) {
			t.Errorf("Truncate(%v, %d) = %v, want %v", test.scores, test.n, got, test.want)
		}
	}
}

func TestSampleIsDistinct(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		total := rng.IntN(30)
		n := rng.IntN(35) - 2
		got := Sample(rng, total, n)
		if want := max(0, min(n, total)); len(got) != want {
			t.Fatalf("seed %d: %d of %d gave %d places", seed, n, total, len(got))
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != len(got) {
			t.Fatalf("seed %d: a place was drawn twice: %v", seed, got)
		}
		if len(got) > 0 && (got[0] < 0 || got[len(got)-1] >= total) {
			t.Fatalf("seed %d: a place outside 0..%d: %v", seed, total-1, got)
		}
	}
}

// Every place is drawn equally often, and stands first equally often. With 10
// cells the χ² of a fair draw exceeds 27.9 once in a thousand runs; the seed is
// fixed.
func TestSampleIsUniform(t *testing.T) {
	const total, n, draws = 10, 3, 30000
	rng := rand.New(rand.NewPCG(7, 0))
	var drawn, first [total]float64
	for range draws {
		places := Sample(rng, total, n)
		first[places[0]]++
		for _, place := range places {
			drawn[place]++
		}
	}
	chi2 := func(counts []float64, expected float64) (sum float64) {
		for _, c := range counts {
			sum += (c - expected) * (c - expected) / expected
		}
		return sum
	}
	if x := chi2(drawn[:], draws*n/total); x > 27.9 {
		t.Errorf("χ² of being drawn is %.1f", x)
	}
	if x := chi2(first[:], draws/total); x > 27.9 {
		t.Errorf("χ² of standing first is %.1f", x)
	}
}

func TestShareIsRoundedDownToAtLeastOne(t *testing.T) {
	for _, test := range []struct {
		n    int
		p    float64
		want int
	}{
		{0, .6, 0}, {10, 0, 0}, {10, -1, 0}, {1, .1, 1}, {9, .6, 5}, {10, .6, 6}, {10, 2, 10}, {100, .29, 29}, {50, .58, 29},
	} {
		if got := Share(test.n, test.p); got != test.want {
			t.Errorf("Share(%d, %g) = %d, want %d", test.n, test.p, got, test.want)
		}
	}
}

func TestTruncateIsAStableSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 300 {
		scores := make([]float64, rng.IntN(60))
		for i := range scores {
			scores[i] = float64(rng.IntN(10))
		}
		order := make([]int, len(scores))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int { return int(scores[j] - scores[i]) })
		n := rng.IntN(20)
		if want, got := order[:min(n, len(order))], Truncate(scores, n); !slices.Equal(want, got) {
			t.Fatalf("the %d highest of %v: %v, want %v", n, scores, got, want)
		}
	}
}
