package graph

import (
	"math"
	"testing"
)

// On a ring all nodes have two links: a label spreads evenly to both sides, and what is spread is a
// fixed point of the equation.
func TestSpread(t *testing.T) {
	const n = 9
	ring := func(yield func(u, v int32) bool) {
		for v := range int32(n) {
			if !yield(v, (v+1)%n) {
				return
			}
		}
	}
	labels := make([]float64, n)
	labels[0] = 1
	f := Spread(ring, labels, 0.8, 200)
	for v := range n {
		if want := 0.8*(f[(v+1)%n]+f[(v+n-1)%n])/2 + 0.2*labels[v]; math.Abs(f[v]-want) > 1e-9 {
			t.Errorf("node %d has %g, the equation says %g", v, f[v], want)
		}
		if math.Abs(f[v]-f[(n-v)%n]) > 1e-12 {
			t.Errorf("node %d has %g, its mirror image %g", v, f[v], f[(n-v)%n])
		}
	}
	for v := range n / 2 {
		if f[v+1] >= f[v] {
			t.Errorf("node %d has %g, and %d, which is farther away, %g", v, f[v], v+1, f[v+1])
		}
	}
	// A round reaches one link farther.
	if f := Spread(ring, labels, 0.8, 2); f[2] == 0 || f[3] != 0 {
		t.Errorf("after two rounds: %v", f)
	}
	lonely := func(func(u, v int32) bool) {}
	if f := Spread(lonely, []float64{1, 0}, 0.8, 3); f[0] != 1-0.8 && math.Abs(f[0]-0.2) > 1e-12 || f[1] != 0 {
		t.Errorf("without links: %v", f)
	}
}
