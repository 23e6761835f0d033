// Package ridge fits linear models of many sparse features and a few dense ones: ridge regression
// (Hoerl and Kennard, "Ridge regression: biased estimation for nonorthogonal problems",
// Technometrics 12, 1970) by coordinate descent (Friedman, Hastie and Tibshirani, "Regularization
// paths for generalized linear models via coordinate descent", Journal of Statistical Software
// 33(1), 2010).
//
// A fit depends only on its arguments, not on earlier fits.
package ridge

// A Feature is a sparse feature that an example has, with its value.
type Feature struct {
	Index int32
	Value float32
}

// An Example is a row of the regression.
type Example struct {
	Features []Feature // with distinct indexes
	Dense    []float64 // the same number of values in each example
	Weight   float64   // factor of the squared error of this example; above 0
}

// Options set how strongly weights are regularised towards their priors. A precision of λ has the
// effect of λ more examples of weight 1 whose target is the prior, in which this feature is 1, all
// others are 0, and the bias is not used.
type Options struct {
	Precision      float64   // λ of sparse weights; above 0
	DensePrecision float64   // λ of dense weights; above 0
	Prior          []float64 // prior means of the dense weights; those of sparse weights are 0
	Passes         int       // number of passes over all weights
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
	start    []int32 // by feature: index of its first cell; its cells end before those of the next feature in order
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
//	Σ weightᵢ (targetᵢ − bias − Σ sparse·features − Σ dense·dense)² + bias² + λ Σ sparse² + λ' Σ (dense − prior)²
//
// approximately: it stops after o.Passes passes. The weight of a feature that no example has is 0.
func (d *Design) Fit(targets []float64, o Options) Model {
	m := Model{Sparse: make([]float64, d.width), Dense: make([]float64, len(o.Prior))}
	copy(m.Dense, o.Prior)
	residuals := make([]float64, len(targets))
	for i, y := range targets {
		residuals[i] = y
		for k, w := range m.Dense {
			residuals[i] -= float64(w * d.examples[i].Dense[k])
		}
	}
	for range o.Passes {
		d.fitBias(&m, residuals)
		for k := range m.Dense {
			d.fitDense(&m, residuals, k, o)
		}
		for at, k := range d.order {
			end := len(d.cells)
			if at+1 < len(d.order) {
				end = int(d.start[d.order[at+1]])
			}
			d.fitSparse(&m, residuals, k, d.cells[d.start[k]:end], o.Precision)
		}
	}
	return m
}

func (d *Design) fitBias(m *Model, residuals []float64) {
	sum, weights := -m.Bias, 1.0
	for i, e := range residuals {
		w := d.examples[i].Weight
		sum += float64(w * e)
		weights += w
	}
	step := sum / weights
	m.Bias += step
	for i := range residuals {
		residuals[i] -= step
	}
}

func (d *Design) fitDense(m *Model, residuals []float64, k int, o Options) {
	gradient, curvature := float64(o.DensePrecision*(o.Prior[k]-m.Dense[k])), o.DensePrecision
	for i, e := range residuals {
		x := d.examples[i].Dense[k]
		wx := float64(d.examples[i].Weight * x)
		gradient += float64(e * wx)
		curvature += float64(x * wx)
	}
	step := gradient / curvature
	m.Dense[k] += step
	for i := range residuals {
		residuals[i] -= float64(step * d.examples[i].Dense[k])
	}
}

func (d *Design) fitSparse(m *Model, residuals []float64, k int32, cells []cell, precision float64) {
	gradient, curvature := float64(-precision*m.Sparse[k]), precision
	for _, c := range cells {
		x := float64(c.value)
		wx := float64(d.examples[c.example].Weight * x)
		gradient += float64(residuals[c.example] * wx)
		curvature += float64(x * wx)
	}
	step := gradient / curvature
	if step == 0 {
		return
	}
	m.Sparse[k] += step
	for _, c := range cells {
		residuals[c.example] -= float64(step * float64(c.value))
	}
}

// Predict returns the bias plus the sum of the sparse features times their weights, without the
// dense features. Features whose index is outside the model are ignored.
func (m *Model) Predict(features []Feature) float64 {
	sum := m.Bias
	for _, f := range features {
		if int(f.Index) < len(m.Sparse) {
			sum += float64(m.Sparse[f.Index] * float64(f.Value))
		}
	}
	return sum
}
