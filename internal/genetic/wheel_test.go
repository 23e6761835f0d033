package genetic

import (
	"math"
	"math/rand/v2"
	"testing"
)

// checkWheel compares a wheel with the weights that it should have, and with a new wheel of
// these weights.
func checkWheel(t *testing.T, w *Wheel, a []float64) {
	t.Helper()
	fresh := NewWheel(a)
	var sum, maxWeight float64
	last := 0
	for i, x := range a {
		if w.Weight(i) != x {
			t.Fatalf("the weight of place %d is %g, want %g", i, w.Weight(i), x)
		}
		if x > 0 {
			last = i
		}
		sum += x
		maxWeight = max(maxWeight, x)
	}
	if math.Abs(w.Total()-sum) > 1e-12*sum {
		t.Fatalf("the total is %g, want %g", w.Total(), sum)
	}
	if w.Total() != fresh.Total() {
		t.Fatalf("the total is %v, that of a new wheel %v", w.Total(), fresh.Total())
	}
	// find is exact except for weights that are lost in the rounding of the sums.
	sum = 0
	for i, x := range a {
		if x == 0 || x < 1e-6*maxWeight {
			sum += x
			continue
		}
		for _, at := range []float64{sum + x/4, sum + x/2} {
			if got := w.find(at); got != i {
				t.Fatalf("find(%g) = %d, want %d of %v", at, got, i, a)
			}
		}
		sum += x
	}
	rng := rand.New(rand.NewPCG(3, 0))
	place, ok := w.Spin(rng)
	if ok != (w.Total() > 0) || ok && (place > last || a[place] == 0) {
		t.Fatalf("Spin returned %d, %v for %v", place, ok, a)
	}
}

func TestWheelMatchesArray(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		a := make([]float64, rng.IntN(40))
		w := NewWheel(a)
		checkWheel(t, w, a)
		for range 3 * len(a) {
			place, x := rng.IntN(len(a)), rng.Float64()
			if rng.IntN(4) == 0 {
				x = []float64{0, -1, math.NaN(), math.Inf(1)}[rng.IntN(4)]
			}
			w.Set(place, x)
			a[place] = weight(x)
		}
		checkWheel(t, w, a)
		for i := range a { // as in drawing without replacement
			w.Set(i, 0)
			a[i] = 0
		}
		if w.Total() != 0 {
			t.Fatalf("seed %d: the total of an empty wheel is %g", seed, w.Total())
		}
		checkWheel(t, w, a)
	}
}

func TestWeightBeyondTheEndIsZero(t *testing.T) {
	w := NewWheel([]float64{0, 0, 1})
	if w.Weight(2) != 1 || w.Weight(3) != 0 || w.Weight(99) != 0 {
		t.Errorf("weights %g, %g and %g, want 1, 0 and 0", w.Weight(2), w.Weight(3), w.Weight(99))
	}
}
