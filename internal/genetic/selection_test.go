package genetic

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// chi2 is the χ² statistic of what was counted; cells of which nothing is expected
// must be empty.
func chi2(t *testing.T, counts []int, expected []float64) (sum float64) {
	t.Helper()
	for i, e := range expected {
		if e == 0 {
			if counts[i] != 0 {
				t.Errorf("cell %d was drawn %d times, but has no weight", i, counts[i])
			}
			continue
		}
		difference := float64(counts[i]) - e
		sum += difference * difference / e
	}
	return sum
}

// Critical values of χ² that a fair draw exceeds once in a thousand runs, by
// degrees of freedom. The seeds are fixed, so a test passes always or never.
var critical = map[int]float64{2: 13.82, 3: 16.27, 4: 18.47, 5: 20.52, 9: 27.88, 11: 31.26, 19: 43.82}

func fair(t *testing.T, name string, counts []int, expected []float64) {
	t.Helper()
	degrees := -1
	for _, e := range expected {
		if e > 0 {
			degrees++
		}
	}
	limit, ok := critical[degrees]
	if !ok {
		t.Fatalf("no critical value for %d degrees of freedom", degrees)
	}
	if x := chi2(t, counts, expected); x > limit {
		t.Errorf("%s: χ² is %.1f at %d degrees of freedom, above %.2f: %v", name, x, degrees, limit, counts)
	}
}

func scaled(total float64, shares ...float64) []float64 {
	var sum float64
	for _, s := range shares {
		sum += s
	}
	out := make([]float64, len(shares))
	for i, s := range shares {
		out[i] = total * s / sum
	}
	return out
}

func TestRouletteIsProportional(t *testing.T) {
	const draws = 40000
	for _, test := range []struct {
		name     string
		weights  []float64
		expected []float64
	}{
		{"proportional", []float64{1, 2, 0, 3, 4}, []float64{1, 2, 0, 3, 4}},
		{"weightless ends", []float64{0, 5, 1, 2, 0}, []float64{0, 5, 1, 2, 0}},
		{"nothing weighs anything", []float64{0, 0, 0}, []float64{1, 1, 1}},
		{"no numbers", []float64{math.NaN(), 1, -3, 1, 2}, []float64{0, 1, 0, 1, 2}},
		{"too heavy for a sum", []float64{math.Inf(1), math.MaxFloat64, 1e300}, []float64{1, 1, 1}},
		{"tiny", []float64{1e-300, 2e-300, 3e-300}, []float64{1, 2, 3}},
	} {
		rng := rand.New(rand.NewPCG(11, 0))
		counts := make([]int, len(test.weights))
		for _, place := range Roulette(rng, test.weights, draws) {
			counts[place]++
		}
		fair(t, "Roulette: "+test.name, counts, scaled(draws, test.expected...))

		// A single index of Accept, and of a wheel, has the same distribution.
		clear(counts)
		for range draws {
			counts[Accept(rng, test.weights, 1)[0]]++
		}
		fair(t, "Accept: "+test.name, counts, scaled(draws, test.expected...))

		wheel := NewWheel(test.weights)
		clear(counts)
		for range draws {
			if place, ok := wheel.Spin(rng); ok {
				counts[place]++
			} else if wheel.Total() != 0 {
				t.Fatalf("%s: a wheel with the total %g returned no place", test.name, wheel.Total())
			}
		}
		if wheel.Total() != 0 {
			fair(t, "Spin: "+test.name, counts, scaled(draws, test.expected...))
		}
	}
}

// Without replacement, the second of weights 1, 2, 3 depends on the first:
// P(i, j) = w_i/6 · w_j/(6 − w_i).
func TestAcceptIsProportional(t *testing.T) {
	const draws = 60000
	rng := rand.New(rand.NewPCG(12, 0))
	weights := []float64{1, 2, 3}
	counts := make([]int, 9)
	var expected []float64
	for i, wi := range weights {
		for j, wj := range weights {
			if i == j {
				wj = 0
			}
			expected = append(expected, draws*wi/6*wj/(6-wi))
		}
	}
	for range draws {
		places := Accept(rng, weights, 2)
		counts[3*places[0]+places[1]]++
	}
	fair(t, "two of three", counts, expected)
}

func TestAcceptDrawsZeroWeightsLast(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 0))
		got := Accept(rng, []float64{0, 1, 0, 1e-9, -2, 7}, 6)
		slices.Sort(got[:3])
		slices.Sort(got[3:])
		if want := []int{1, 3, 5, 0, 2, 4}; !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v in any order of the halves", seed, got, want)
		}
	}
}

func TestSelectionSizesAndIndexes(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		weights := make([]float64, rng.IntN(12))
		for i := range weights {
			weights[i] = max(0, rng.Float64()-.3)
		}
		n := rng.IntN(20) - 3
		want := max(0, n)
		if len(weights) == 0 {
			want = 0
		}
		got := Roulette(rng, weights, n)
		if len(got) != want {
			t.Fatalf("seed %d: Roulette drew %d of %d places, want %d", seed, len(got), len(weights), want)
		}
		if want > 0 && (slices.Min(got) < 0 || slices.Max(got) >= len(weights)) {
			t.Fatalf("seed %d: Roulette drew %v of %d places", seed, got, len(weights))
		}
		got = Accept(rng, weights, n)
		if want = min(want, len(weights)); len(got) != want {
			t.Fatalf("seed %d: Accept drew %d of %d places, want %d", seed, len(got), len(weights), want)
		}
		slices.Sort(got)
		if len(slices.Compact(slices.Clone(got))) != len(got) || want > 0 && (got[0] < 0 || got[want-1] >= len(weights)) {
			t.Fatalf("seed %d: Accept drew %v of %d places", seed, got, len(weights))
		}
	}
}
