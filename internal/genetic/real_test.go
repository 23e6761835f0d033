package genetic

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The fittest of n wins if it is drawn at all: with probability 1 - (1 - 1/n)².
func TestTournamentPrefersTheFitter(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 0))
	wins := make([]int, 4)
	const draws = 40000
	for range draws {
		wins[Tournament(rng, []float64{3, 1, 4, 2})]++
	}
	fair(t, "winners", wins, scaled(draws, 5, 1, 7, 3))
}

// A child's numbers are uniform on the interval of its parents, extended on both sides.
func TestBlendStaysNearTheParents(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 0))
	a, b := []float64{0, 5}, []float64{1, 5}
	bins := make([]int, 6)
	const draws = 30000
	for range draws {
		c := Blend(rng, a, b, 0.25)
		if c[1] != 5 {
			t.Fatalf("a number that both parents have became %g", c[1])
		}
		i := int(math.Floor((c[0] + 0.25) / 0.25))
		if i < 0 || i >= len(bins) {
			t.Fatalf("%g is not between -0.25 and 1.25", c[0])
		}
		bins[i]++
	}
	fair(t, "children", bins, scaled(draws, 1, 1, 1, 1, 1, 1))
}

func TestDisturb(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 0))
	moved, square := 0, 0.0
	const draws = 40000
	for range draws {
		x := []float64{2}
		if Disturb(rng, x, 0.4, 0.5); x[0] != 2 {
			moved++
			square += (x[0] - 2) * (x[0] - 2)
		}
	}
	if rate := float64(moved) / draws; math.Abs(rate-0.4) > 0.01 {
		t.Errorf("%.3f of the numbers were moved, want 0.4", rate)
	}
	if deviation := math.Sqrt(square / float64(moved)); math.Abs(deviation-0.5) > 0.02 {
		t.Errorf("the deviation is %.3f, want 0.5", deviation)
	}
}
