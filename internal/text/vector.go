package text

// A Vector holds a number for each of some terms, the others being zero. It is
// made to be filled and emptied again, page after page, without allocating.
// Silent terms have no place in it.
type Vector struct {
	weight []float64 // by Index
	terms  []Term    // the terms with an entry, in the order they came
}

// Add adds w, which must be positive, to the entry of t. Adding to a silent
// term does nothing.
func (v *Vector) Add(t Term, w float64) {
	if t.Silent() {
		return
	}
	i := t.Index()
	if i >= len(v.weight) {
		v.weight = append(v.weight, make([]float64, i+1-len(v.weight))...)
	}
	if v.weight[i] == 0 {
		v.terms = append(v.terms, t)
	}
	v.weight[i] += w
}

// SumSquares is Σ w² over the entries, summed in the order in which their terms
// were first added: the page's own, unlike the order of the terms' numbers.
func (v *Vector) SumSquares() float64 {
	sum := 0.0
	for _, t := range v.terms {
		w := v.weight[t.Index()]
		sum += float64(w * w)
	}
	return sum
}

// Reset removes all entries.
func (v *Vector) Reset() {
	for _, t := range v.terms {
		v.weight[t.Index()] = 0
	}
	v.terms = v.terms[:0]
}
