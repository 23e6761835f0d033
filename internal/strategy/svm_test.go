package strategy

import (
	"math"
	"math/rand/v2"
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

// The same minimum is found by walking down the gradient of the primal problem, in
// small steps.
func TestDualDescentMatchesPlainDescent(t *testing.T) {
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
		got, bias := trainSVM(examples, positive, width, c, 1e-10, rng)
		got = append(got, bias)
		want := plainSVM(examples, positive, width, c)
		for k := range got {
			if math.Abs(got[k]-want[k]) > 1e-6 {
				t.Fatalf("problem %d: weight %d is %v, want %v", seed, k, got[k], want[k])
			}
		}
	}
}

// plainSVM is gradient descent; the last weight is the bias.
func plainSVM(examples [][]int32, positive []bool, width int, c float64) []float64 {
	w := make([]float64, width+1)
	steepest := 1 + 2*c*float64(len(examples)*(width+1))
	for range 200_000 {
		g := append([]float64(nil), w...)
		for i, x := range examples {
			y := -1.0
			if positive[i] {
				y = 1
			}
			sum := w[width]
			for _, k := range x {
				sum += w[k]
			}
			if slack := 1 - y*sum; slack > 0 {
				g[width] -= 2 * c * slack * y
				for _, k := range x {
					g[k] -= 2 * c * slack * y
				}
			}
		}
		length := 0.0
		for k := range w {
			w[k] -= g[k] / steepest
			length += g[k] * g[k]
		}
		if length < 1e-22 {
			break
		}
	}
	return w
}
