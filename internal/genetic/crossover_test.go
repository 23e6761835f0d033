package genetic

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCrossoverOfVectorsKeepsEveryGeneInItsPlace(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		a, b := make([]int, rng.IntN(9)), []int(nil)
		for i := range a {
			a[i] = i
			b = append(b, 100+i)
		}
		wasA, wasB := slices.Clone(a), slices.Clone(b)
		for name, cross := range map[string]func(*rand.Rand, []int, []int) ([]int, []int){
			"OnePoint": OnePoint[int], "Uniform": Uniform[int],
		} {
			c, d := cross(rng, a, b)
			if len(c) != len(a) || len(d) != len(b) {
				t.Fatalf("seed %d: %s made %d and %d genes of %d", seed, name, len(c), len(d), len(a))
			}
			changes := 0
			for i := range a {
				if !(c[i] == a[i] && d[i] == b[i]) && !(c[i] == b[i] && d[i] == a[i]) {
					t.Fatalf("seed %d: %s made %v and %v", seed, name, c, d)
				}
				if i > 0 && (c[i] == a[i]) != (c[i-1] == a[i-1]) {
					changes++
				}
			}
			if name == "OnePoint" && len(a) > 1 && (changes != 1 || c[0] != a[0]) {
				t.Fatalf("seed %d: OnePoint cut %d times: %v", seed, changes, c)
			}
			if !slices.Equal(a, wasA) || !slices.Equal(b, wasB) {
				t.Fatalf("seed %d: %s changed its parents", seed, name)
			}
		}
	}
}

func TestCutsAndSwapsAreEven(t *testing.T) {
	const draws, length = 40000, 6
	rng := rand.New(rand.NewPCG(21, 0))
	a, b := make([]bool, length), []bool{true, true, true, true, true, true}
	cuts, swapped := make([]int, length), make([]int, length)
	for range draws {
		c, _ := OnePoint(rng, a, b)
		cuts[slices.Index(c, true)]++
		c, _ = Uniform(rng, a, b)
		for i, x := range c {
			if x {
				swapped[i]++
			}
		}
	}
	fair(t, "cuts", cuts, scaled(draws, 0, 1, 1, 1, 1, 1))
	for i, n := range swapped { // 3.29 standard deviations, once in a thousand
		if d := float64(n) - draws/2; d*d > 3.29*3.29*draws/4 {
			t.Errorf("gene %d changed sides %d times of %d", i, n, draws)
		}
	}
}

func TestSetsAreDealtAnew(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		a, b := Sample(rng, 20, rng.IntN(12)), Sample(rng, 20, rng.IntN(12))
		wasA, wasB := slices.Clone(a), slices.Clone(b)
		c, d := Exchange(rng, a, b)
		if len(c) != len(a) || len(d) != len(b) {
			t.Fatalf("seed %d: %v and %v became %v and %v", seed, a, b, c, d)
		}
		for x := range 20 {
			inA, inB, inC, inD := slices.Contains(a, x), slices.Contains(b, x), slices.Contains(c, x), slices.Contains(d, x)
			if inA && inB && !(inC && inD) || inA != inB && inC == inD || !inA && !inB && (inC || inD) {
				t.Fatalf("seed %d: %d of %v and %v: %v and %v", seed, x, a, b, c, d)
			}
		}
		if !slices.Equal(a, wasA) || !slices.Equal(b, wasB) {
			t.Fatalf("seed %d: the parents changed", seed)
		}
	}
}

// Of six that only one parent has, three go to each child: 20 ways, all alike.
func TestEveryDealIsEquallyLikely(t *testing.T) {
	const draws = 40000
	rng := rand.New(rand.NewPCG(22, 0))
	ways := map[[3]int]int{}
	for range draws {
		c, _ := Exchange(rng, []int{0, 9, 1, 2}, []int{3, 4, 5, 9})
		if c[0] != 9 {
			t.Fatalf("what both have is not first: %v", c)
		}
		slices.Sort(c[1:])
		ways[[3]int(c[1:])]++
	}
	var counts []int
	for _, n := range ways {
		counts = append(counts, n)
	}
	if len(counts) != 20 {
		t.Fatalf("%d ways to deal, want 20", len(counts))
	}
	fair(t, "deals", counts, scaled(draws, slices.Repeat([]float64{1}, 20)...))
}

func TestBitsFlipAsOftenAsTheyShould(t *testing.T) {
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
