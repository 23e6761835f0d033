package strategy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSVMOfOneOrTwoExamples(t *testing.T) {
	// One example with one feature: w = b = v minimises v² + C(1 − 2v)², so
	// v = 2C / (1 + 4C).
	for _, c := range []float64{0.1, 1, 10} {
		w, b := trainSVM([][]int32{{0}}, []bool{true}, 1, c, 1e-12, rand.New(rand.NewPCG(1, 1)))
		if want := 2 * c / (1 + 4*c); math.Abs(w[0]-want) > 1e-9 || math.Abs(b-want) > 1e-9 {
			t.Errorf("C = %v: w = %v, b = %v, want %v", c, w[0], b, want)
		}
		// Two opposite examples, each with a feature of its own: w = (v, -v) and b = 0
		// minimise v² + 2C(1 − v)², so v = 2C / (1 + 2C).
		w, b = trainSVM([][]int32{{0}, {1}}, []bool{true, false}, 2, c, 1e-12, rand.New(rand.NewPCG(1, 1)))
		if want := 2 * c / (1 + 2*c); math.Abs(w[0]-want) > 1e-9 || math.Abs(w[1]+want) > 1e-9 || math.Abs(b) > 1e-9 {
			t.Errorf("C = %v: w = %v, b = %v, want ±%v and 0", c, w, b, want)
		}
	}
}

// The primal problem is convex, so its minimum is where its gradient is 0.
func TestDualDescentFindsTheMinimum(t *testing.T) {
	const width = 6
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var examples [][]int32
		var positive []bool
		for range 15 {
			var x []int32
			for k := range int32(width) {
				if rng.IntN(3) == 0 {
					x = append(x, k)
				}
			}
			examples, positive = append(examples, x), append(positive, rng.IntN(2) == 0)
		}
		c := math.Ldexp(1, int(seed%5)-2)
		w, bias := trainSVM(examples, positive, width, c, 1e-10, rng)
		for k, slope := range primalGradient(examples, positive, w, bias, c) {
			if math.Abs(slope) > 1e-6 {
				t.Fatalf("problem %d: the slope in direction %d is %v", seed, k, slope)
			}
		}
	}
}

// primalGradient returns the gradient of (|w|² + b²)/2 + C Σ max(0, 1 − y(w·x + b))² by w and b.
func primalGradient(examples [][]int32, positive []bool, w []float64, b, c float64) []float64 {
	g := append(slices.Clone(w), b)
	for i, x := range examples {
		y := -1.0
		if positive[i] {
			y = 1
		}
		sum := b
		for _, k := range x {
			sum += w[k]
		}
		pull := 2 * c * max(0, 1-y*sum) * y
		g[len(w)] -= pull
		for _, k := range x {
			g[k] -= pull
		}
	}
	return g
}
