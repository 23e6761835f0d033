package genetic

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestOnePointKeepsGenePositions(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		a, b := make([]int, rng.IntN(9)), []int(nil)
		for i := range a {
			a[i] = i
			b = append(b, 100+i)
		}
		wasA, wasB := slices.Clone(a), slices.Clone(b)
		c, d := OnePoint(rng, a, b)
		if len(c) != len(a) || len(d) != len(b) {
			t.Fatalf("seed %d: %d and %d genes of %d", seed, len(c), len(d), len(a))
		}
		cuts := 0
		for i := range a {
			if !(c[i] == a[i] && d[i] == b[i]) && !(c[i] == b[i] && d[i] == a[i]) {
				t.Fatalf("seed %d: children %v and %v", seed, c, d)
			}
			if i > 0 && (c[i] == a[i]) != (c[i-1] == a[i-1]) {
				cuts++
			}
		}
		if len(a) > 1 && (cuts != 1 || c[0] != a[0]) {
			t.Fatalf("seed %d: cut %d times: %v", seed, cuts, c)
		}
		if !slices.Equal(a, wasA) || !slices.Equal(b, wasB) {
			t.Fatalf("seed %d: the parents changed", seed)
		}
	}
}

func TestCutsAreUniform(t *testing.T) {
	const draws, length = 40000, 6
	rng := rand.New(rand.NewPCG(21, 0))
	a, b := make([]bool, length), slices.Repeat([]bool{true}, length)
	cuts := make([]int, length)
	for range draws {
		c, _ := OnePoint(rng, a, b)
		cuts[slices.Index(c, true)]++
	}
	fair(t, "cuts", cuts, scaled(draws, 0, 1, 1, 1, 1, 1))
}

func TestFlipRate(t *testing.T) {
	const draws, p = 40000, .1
	rng := rand.New(rand.NewPCG(23, 0))
	flipped := 0
	for range draws {
		bits := []bool{true, false, true}
		Flip(rng, bits, p)
		for i, was := range []bool{true, false, true} {
			if bits[i] != was {
				flipped++
			}
		}
	}
	// A binomial of 120,000: 12,000 ± 104; 3.29 standard deviations.
	if d := float64(flipped) - 3*draws*p; d*d > 3.29*3.29*3*draws*p*(1-p) {
		t.Errorf("%d of %d bits flipped at %g", flipped, 3*draws, p)
	}
	bits := []bool{true, false}
	Flip(rng, bits, 0)
	if !slices.Equal(bits, []bool{true, false}) {
		t.Error("bits flipped at 0")
	}
	Flip(rng, bits, 1)
	if !slices.Equal(bits, []bool{false, true}) {
		t.Error("bits did not flip at 1")
	}
}
