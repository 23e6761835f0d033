package genetic

import (
	"math"
	"math/rand/v2"
	"testing"
)

// An array is a wheel without a tree.
type array []float64

func (a *array) set(place int, w float64) {
	for len(*a) <= place {
		*a = append(*a, 0)
	}
	(*a)[place] = weight(w)
}

// agree compares a wheel with an array, and with a wheel that was made of the
// array at once.
func agree(t *testing.T, w *Wheel, a array) {
	t.Helper()
	if w.Len() != len(a) {
		t.Fatalf("%d places, want %d", w.Len(), len(a))
	}
	fresh := NewWheel(a)
	var sum, maxWeight float64
	last := 0
	for i, x := range a {
		if w.Weight(i) != x {
			t.Fatalf("place %d weighs %g, want %g", i, w.Weight(i), x)
		}
		if x > 0 {
			last = i
		}
		sum += x
		maxWeight = max(maxWeight, x)
	}
	if math.Abs(w.Total()-sum) > 1e-12*sum {
		t.Fatalf("all weigh %g, want %g", w.Total(), sum)
	}
	if w.Total() != fresh.Total() {
		t.Fatalf("all weigh %v, made at once %v", w.Total(), fresh.Total())
	}
	// Where the sums are far enough apart to tell, find is exact.
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
		t.Fatalf("a spin gave %d, %v of %v", place, ok, a)
	}
}

func TestWheelMatchesArray(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var w Wheel
		var a array
		agree(t, &w, a)
		for range rng.IntN(120) {
			place, x := rng.IntN(40), rng.Float64()
			if rng.IntN(4) == 0 {
				x = 0
			}
			w.Set(place, x)
			a.set(place, x)
		}
		agree(t, &w, a)
		for i := range a { // without replacement, down to nothing
			w.Set(i, 0)
			a[i] = 0
		}
		if w.Total() != 0 {
			t.Fatalf("seed %d: an empty wheel weighs %g", seed, w.Total())
		}
		agree(t, &w, a)
	}
}

func TestWeightBeyondTheEndIsZero(t *testing.T) {
	var w Wheel
	w.Set(2, 1)
	if w.Weight(0) != 0 || w.Weight(99) != 0 || w.Len() != 3 {
		t.Errorf("weights %g and %g, %d places", w.Weight(0), w.Weight(99), w.Len())
	}
}

func FuzzWheel(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 2, 3, 200, 255, 0, 0})
	f.Add([]byte{7, 128, 7, 0})
	f.Add([]byte{31, 251, 30, 252, 29, 253, 28, 254})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var w Wheel
		var a array
		for len(ops) >= 2 {
			x := math.Ldexp(float64(ops[1]), int(ops[1])/8)
			switch ops[1] {
			case 251:
				x = math.NaN()
			case 252:
				x = -1
			case 253:
				x = math.Inf(1)
			case 254:
				x = math.SmallestNonzeroFloat64
			}
			w.Set(int(ops[0]), x)
			a.set(int(ops[0]), x)
			ops = ops[2:]
		}
		agree(t, &w, a)
	})
}

func BenchmarkWheel100000(b *testing.B) {
	var w Wheel
	rng := rand.New(rand.NewPCG(1, 0))
	for i := range 100000 {
		w.Set(i, rng.Float64())
	}
	b.Run("Set", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w.Set(rng.IntN(100000), rng.Float64())
		}
	})
	b.Run("Spin", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w.Spin(rng)
		}
	})
	b.Run("Build", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			NewWheel(w.weights)
		}
	})
}
