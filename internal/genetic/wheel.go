package genetic

import "math/rand/v2"

// A Wheel is a roulette wheel whose weights change: to set one and to draw one
// take logarithmic time, whatever the number of places. The zero Wheel has no
// places.
//
// It is a Fenwick tree (P. Fenwick, "A new data structure for cumulative frequency
// tables", Software: Practice and Experience 24(3), 1994). A node is summed afresh
// from those below it and not corrected by a difference, so that rounding does not
// add up, and equal weights make an equal wheel, whatever they were before.
type Wheel struct {
	weights []float64 // by place
	sums    []float64 // sums[i-1] is of the places i-lowest(i) to i-1
}

// NewWheel returns the wheel with these weights, by place: what many calls of Set make,
// sooner.
func NewWheel(weights []float64) *Wheel {
	w := &Wheel{make([]float64, len(weights)), make([]float64, len(weights))}
	for i, x := range weights {
		w.weights[i] = weight(x)
		w.sum(i + 1)
	}
	return w
}

// Len returns how many places there are.
func (w *Wheel) Len() int { return len(w.weights) }

// Weight returns the weight of a place, which is 0 where there is none.
func (w *Wheel) Weight(place int) float64 {
	if place < len(w.weights) {
		return w.weights[place]
	}
	return 0
}

// Set makes x the weight of a place, and makes the places up to it. What is not a
// positive number weighs nothing; 1e300 is the highest weight.
func (w *Wheel) Set(place int, x float64) {
	for len(w.weights) <= place { // a last node is part of no other
		w.weights, w.sums = append(w.weights, 0), append(w.sums, 0)
		w.sum(len(w.weights))
	}
	if x = weight(x); x == w.weights[place] {
		return
	}
	w.weights[place] = x
	for i := place + 1; i <= len(w.sums); i += lowest(i) {
		w.sum(i)
	}
}

// sum makes the sum of node i.
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

// Spin draws a place in proportion to its weight. ok is false if no place has any.
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
		// Rounding led past the edge of the last place, or of a weightless one.
	}
}

// find returns the place at which the sum of the weights exceeds x.
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
