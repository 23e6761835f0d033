package genetic

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// sphere is the classic function with its maximum, 0, in the middle.
func sphere(x []float64) (f float64) {
	for _, v := range x {
		f -= v * v
	}
	return f
}

// jaccard is how much the signs of an organism have in common with a query of its
// first three genes.
func jaccard(x []float64) float64 {
	var both, either float64
	for i, v := range x {
		if bit, query := v >= 0, i < 3; bit && query {
			both++
			either++
		} else if bit || query {
			either++
		}
	}
	return both / either
}

func ecosystem(rng *rand.Rand, organisms, dimensions int, low, high float64, f func([]float64) float64) *Ecosystem {
	e := &Ecosystem{Low: low, High: high, Fitness: f}
	for range organisms {
		x := make([]float64, dimensions)
		for d := range x {
			x[d] = low + rng.Float64()*(high-low)
		}
		e.Organisms = append(e.Organisms, x)
	}
	return e
}

func TestEcosystemNeverGetsWorseAndStaysInBounds(t *testing.T) {
	for seed := range uint64(120) {
		rng := rand.New(rand.NewPCG(seed, 0))
		organisms, dimensions := 2+rng.IntN(10), 1+rng.IntN(12)
		evaluations := 0
		f := []func([]float64) float64{sphere, jaccard}[seed%2]
		e := ecosystem(rng, organisms, dimensions, -1, 2, func(x []float64) float64 {
			evaluations++
			for _, v := range x {
				if !(v >= -1 && v <= 2) {
					t.Fatalf("seed %d: an organism left its bounds: %v", seed, x)
				}
			}
			return f(x)
		})
		e.Literal = seed%3 == 0
		phases := 4
		if e.Literal {
			phases = 3 // a clone is as fit as it was
		}
		_, before := e.Best()
		if evaluations != organisms {
			t.Fatalf("seed %d: %d evaluations of %d organisms", seed, evaluations, organisms)
		}
		for iteration := range 5 {
			old := slices.Clone(e.fitness)
			e.Evolve(rng)
			place, now := e.Best()
			if now < before || f(e.Organisms[place]) != now {
				t.Fatalf("seed %d: the best fell from %g to %g, or is not %g", seed, before, now, f(e.Organisms[place]))
			}
			before = now
			if want := organisms + phases*organisms*(iteration+1); evaluations != want {
				t.Fatalf("seed %d: %d evaluations after %d iterations, want %d", seed, evaluations, iteration+1, want)
			}
			for i, x := range e.Organisms {
				if len(x) != dimensions || e.fitness[i] < old[i] || e.fitness[i] != f(x) {
					t.Fatalf("seed %d: organism %d got worse or has another fitness", seed, i)
				}
			}
		}
		if len(e.Organisms) != organisms {
			t.Fatalf("seed %d: %d organisms of %d", seed, len(e.Organisms), organisms)
		}
	}
}

func TestEcosystemFindsMaximum(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		e := ecosystem(rng, 10, 5, -10, 10, sphere)
		for range 60 {
			e.Evolve(rng)
		}
		if _, f := e.Best(); f < -1e-6 {
			t.Errorf("seed %d: the best of 60 iterations on the sphere is %g", seed, f)
		}
		e = ecosystem(rng, 10, 8, -1, 1, jaccard)
		for range 60 {
			e.Evolve(rng)
		}
		if _, f := e.Best(); f != 1 {
			t.Errorf("seed %d: the best of 60 iterations has %g of the query", seed, f)
		}
	}
}

// A generator that always says the same: of its 64 bits, Float64 reads the lower
// 53, and IntN(1) and IntN(2) the lowest. Here that bit is 0, so the benefit
// factors are 1, and two organisms have only each other.
type told uint64

func (s told) Uint64() uint64 { return uint64(s) }

const (
	half          = told(1 << 52)
	threeQuarters = told(1<<52 | 1<<51)
)

// x = (0), (4), f(x) = x, in [−8, 8].
//
// All draws ½: r = ½, s = 2·½ − 1 = 0.
// Turn of the first, best 4. Mutualism: MV = 2; 0 + ½(4 − 2) = 1 and 4 + ½(4 − 2)
// = 5, both fitter. Commensalism: nothing. Parasitism: ⌈½⌉ = 1 dimension anew,
// −8 + ½·16 = 0, against 5.
// Turn of the second, best 5. MV = 3; 5 + ½(5 − 3) = 6 and 1 + 1 = 2.
//
// All draws ¾: r = ¾, s = ½.
// First, best 4. MV = 2; 1.5 and 5.5. 1.5 + ½(4 − 5.5) = 0.75, less fit. ⌈¼⌉ = 1
// dimension, −8 + ¾·16 = 4, against 5.5.
// Second, best 5.5. MV = 3.5; 5.5 + ¾·2 = 7 and 1.5 + 1.5 = 3. 7 + ½(5.5 − 3) =
// 8.25, held at 8. The parasite 4 replaces 3.
//
// The same, literally: the clone of 5.5 replaces 1.5, and nothing can change.
func TestTheThreePhasesByHand(t *testing.T) {
	for _, test := range []struct {
		name    string
		draw    told
		literal bool
		want    [][]float64
	}{
		{"one half", half, false, [][]float64{{2}, {6}}},
		{"three quarters", threeQuarters, false, [][]float64{{4}, {8}}},
		{"literal", threeQuarters, true, [][]float64{{5.5}, {5.5}}},
	} {
		e := &Ecosystem{Organisms: [][]float64{{0}, {4}}, Low: -8, High: 8, Literal: test.literal,
			Fitness: func(x []float64) float64 { return x[0] }}
		e.Evolve(rand.New(test.draw))
		if diff := gocmp.Diff(test.want, e.Organisms); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestSingleOrganismIsUnchanged(t *testing.T) {
	e := &Ecosystem{Organisms: [][]float64{{.5}}, Low: -1, High: 1, Fitness: sphere}
	e.Evolve(rand.New(rand.NewPCG(1, 0)))
	if place, f := e.Best(); place != 0 || f != -.25 || e.Organisms[0][0] != .5 {
		t.Errorf("organism %d: %v, fitness %g", place, e.Organisms, f)
	}
	var none Ecosystem
	none.Evolve(nil)
	if place, _ := none.Best(); place != -1 {
		t.Errorf("the best of nobody is %d", place)
	}
}

func TestNaNFitnessIsLowest(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	e := ecosystem(rng, 6, 3, -1, 1, func(x []float64) float64 { return math.Sqrt(x[0] - .2) })
	e.Organisms[0][0] = -1
	e.Organisms[1][0] = .3
	if place, f := e.Best(); place == 0 || math.IsNaN(f) {
		t.Errorf("the best is %d with %g", place, f)
	}
	for range 30 {
		e.Evolve(rng)
	}
	for i, f := range e.fitness {
		if math.IsInf(f, 0) {
			t.Errorf("organism %d was never replaced", i)
		}
	}
}
