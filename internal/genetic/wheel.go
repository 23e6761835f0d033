package genetic

import "math/rand/v2"

// A Wheel is a roulette wheel whose weights can change. Setting a weight and drawing a place
// take logarithmic time.
//
// It is a Fenwick tree (P. Fenwick, "A new data structure for cumulative frequency tables",
// Software: Practice and Experience 24(3), 1994). A change sums a node again from its children
// instead of adding a difference, so rounding errors do not accumulate, and wheels with equal
// weights are equal, whatever their history.
type Wheel struct {
	weights []float64 // by place
	sums    []float64 // sums[i-1] is the sum of places i-lowest(i) to i-1
}

// NewWheel returns a wheel with these weights. Weights that are not positive are treated as 0; the
// maximum is 1e300.
func NewWheel(weights []float64) *Wheel {
	w := &Wheel{make([]float64, len(weights)), make([]float64, len(weights))}
	for i, x := range weights {
		w.weights[i] = weight(x)
		w.sum(i + 1)
	}
	return w
}

// Weight returns the weight at a place, or 0 beyond the end.
func (w *Wheel) Weight(place int) float64 {
	if place < len(w.weights) {
		return w.weights[place]
	}
	return 0
}

// Set sets the weight at a place, with the same limits as NewWheel.
func (w *Wheel) Set(place int, x float64) {
	if x = weight(x); x == w.weights[place] {
		return
	}
	w.weights[place] = x
	for i := place + 1; i <= len(w.sums); i += lowest(i) {
		w.sum(i)
	}
}

// sum computes the sum of node i.
func (w *Wheel) sum(i int) {
	s := w.weights[i-1]
	for part, end := 1, lowest(i); part < end; part <<= 1 {
		s += w.sums[i-part-1]
	}
	w.sums[i-1] = s
}

// lowest returns the lowest bit that is set in i.
func lowest(i int) int { return i & -i }

// Total returns the sum of all weights.
func (w *Wheel) Total() float64 {
	var s float64
	for i := len(w.sums); i > 0; i -= lowest(i) {
		s += w.sums[i-1]
	}
	return s
}

// Spin draws a place in proportion to its weight. ok is false if all weights are 0.
func (w *Wheel) Spin(rng *rand.Rand) (place int, ok bool) {
	total := w.Total()
	if total == 0 {
		return 0, false
	}
	for {
		place = w.find(float64(rng.Float64() * total))
		if w.Weight(place) > 0 {
			return place, true
		}
		// Rounding errors led past the end, or to a place without weight.
	}
}

// find returns the first place at which the cumulative weight exceeds x.
func (w *Wheel) find(x float64) int {
	step := 1
	for step <= len(w.sums)/2 {
		step <<= 1
	}
	place := 0
	for ; step > 0; step >>= 1 {
		if next := place + step; next <= len(w.sums) && w.sums[next-1] <= x {
			x -= w.sums[next-1]
			place = next
		}
	}
	return place
}
