// Package ridge fits linear models of many sparse features and a few dense ones: ridge regression
// (Hoerl and Kennard, "Ridge regression: biased estimation for nonorthogonal problems",
// Technometrics 12, 1970) by coordinate descent (Friedman, Hastie and Tibshirani, "Regularization
// paths for generalized linear models via coordinate descent", Journal of Statistical Software
// 33(1), 2010).
//
// A fit depends on its arguments only, and not on earlier fits.
package ridge

// A Feature is a sparse feature that an example has, with its value.
type Feature struct {
	Index int32
	Value float32
}

// An Example is a row of the regression.
type Example struct {
	Features []Feature // with distinct indexes
	Dense    []float64 // as many for each example
	Weight   float64   // above 0; the error of the example counts this often
}

// Options set how strongly weights are regularised towards their priors. Apart from the bias, a
// precision of λ has the effect of λ examples of weight 1 in which only this feature is not 0, with
// the value 1, and the target is the prior.
type Options struct {
	Precision      float64   // λ of sparse weights; above 0
	DensePrecision float64   // λ of dense weights; above 0
	Prior          []float64 // of the dense weights
	Sparse         []Prior   // of the sparse weights, by feature index; nil for none
	Passes         int       // over all weights
}

// A Prior is what was known of a sparse weight before the fit. The zero value stands for nothing.
type Prior struct {
	Mean      float64
	Precision float64 // in units of Options.Precision; 0 stands for 1
}

// A Model is a linear function.
type Model struct {
	Bias   float64
	Sparse []float64 // by feature index
	Dense  []float64
}

// A Design holds examples by feature, so that several targets can be fitted to them.
type Design struct {
	examples []Example
	width    int
	order    []int32 // features, in the order of their first example
	start    []int32 // by feature: index of its first cell; its cells end where those of the next feature in order begin
	cells    []cell
}

// A cell is the value of a feature in an example.
type cell struct {
	example int32
	value   float32
}

// NewDesign returns a design of examples whose features have indexes below width.
func NewDesign(examples []Example, width int) *Design {
	d := &Design{examples: examples, width: width}
	count := make([]int32, width)
	total := 0
	for i := range examples {
		for _, f := range examples[i].Features {
			if count[f.Index] == 0 {
				d.order = append(d.order, f.Index)
			}
			count[f.Index]++
			total++
		}
	}
	d.start = make([]int32, width)
	at := int32(0)
	for _, k := range d.order {
		d.start[k] = at
		at += count[k]
	}
	d.cells = make([]cell, total)
	next := count // its counts are no longer needed
	for _, k := range d.order {
		next[k] = d.start[k]
	}
	for i := range examples {
		for _, f := range examples[i].Features {
			d.cells[next[f.Index]] = cell{int32(i), f.Value}
			next[f.Index]++
		}
	}
	return d
}

// Fit returns the model that minimises
//
//	Σ weightᵢ (targetᵢ − bias − Σ sparse·features − Σ dense·dense)² + bias² + λ Σ pₖ (sparseₖ − meanₖ)² + λ' Σ (dense − prior)²
//
// as far as o.Passes passes reach. The mean of a sparse weight is 0, and its p is 1, unless o.Sparse
// has others. The weight of a feature that no example has is its mean.
func (d *Design) Fit(targets []float64, o Options) Model {
	m := Model{Sparse: make([]float64, d.width), Dense: make([]float64, len(o.Prior))}
	copy(m.Dense, o.Prior)
	for k := range o.Sparse {
		m.Sparse[k] = o.Sparse[k].Mean
	}
	left := make([]float64, len(targets)) // residuals
	for i, y := range targets {
		left[i] = y
		for k, w := range m.Dense {
			left[i] -= float64(w * d.examples[i].Dense[k])
		}
		if o.Sparse != nil {
			left[i] -= m.Predict(d.examples[i].Features)
		}
	}
	for range o.Passes {
		d.fitBias(&m, left)
		for k := range m.Dense {
			d.fitDense(&m, left, k, o)
		}
		for at, k := range d.order {
			end := len(d.cells)
			if at+1 < len(d.order) {
				end = int(d.start[d.order[at+1]])
			}
			prior := Prior{Precision: o.Precision}
			if o.Sparse != nil {
				prior.Mean = o.Sparse[k].Mean
				if p := o.Sparse[k].Precision; p > 0 {
					prior.Precision *= p
				}
			}
			d.fitSparse(&m, left, k, d.cells[d.start[k]:end], prior)
		}
	}
	return m
}

// Evidence returns Σ weight · value² of each feature over the examples: how many examples of weight
// 1 and value 1 its weight rests on.
func (d *Design) Evidence() []float64 {
	sums := make([]float64, d.width)
	for i := range d.examples {
		for _, f := range d.examples[i].Features {
			sums[f.Index] += float64(d.examples[i].Weight * float64(float64(f.Value)*float64(f.Value)))
		}
	}
	return sums
}

func (d *Design) fitBias(m *Model, left []float64) {
	sum, weights := -m.Bias, 1.0
	for i, e := range left {
		w := d.examples[i].Weight
		sum += float64(w * e)
		weights += w
	}
	step := sum / weights
	m.Bias += step
	for i := range left {
		left[i] -= step
	}
}

func (d *Design) fitDense(m *Model, left []float64, k int, o Options) {
	gradient, curvature := float64(o.DensePrecision*(o.Prior[k]-m.Dense[k])), o.DensePrecision
	for i, e := range left {
		x := d.examples[i].Dense[k]
		wx := float64(d.examples[i].Weight * x)
		gradient += float64(e * wx)
		curvature += float64(x * wx)
	}
	step := gradient / curvature
	m.Dense[k] += step
	for i := range left {
		left[i] -= float64(step * d.examples[i].Dense[k])
	}
}

func (d *Design) fitSparse(m *Model, left []float64, k int32, cells []cell, prior Prior) {
	gradient, curvature := float64(prior.Precision*(prior.Mean-m.Sparse[k])), prior.Precision
	for _, c := range cells {
		x := float64(c.value)
		wx := float64(d.examples[c.example].Weight * x)
		gradient += float64(left[c.example] * wx)
		curvature += float64(x * wx)
	}
	step := gradient / curvature
	if step == 0 {
		return
	}
	m.Sparse[k] += step
	for _, c := range cells {
		left[c.example] -= float64(step * float64(c.value))
	}
}

// Predict returns the bias and what the sparse features add to it, without the dense ones.
// Features that the model does not know add nothing.
func (m *Model) Predict(features []Feature) float64 {
	sum := m.Bias
	for _, f := range features {
		if int(f.Index) < len(m.Sparse) {
			sum += float64(m.Sparse[f.Index] * float64(f.Value))
		}
	}
	return sum
}
