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
	Dense  []float64
	index  *index
	sparse []float64 // by number of the feature in index
}

// A Design holds examples by feature, so that several targets can be fitted to them.
type Design struct {
	examples []Example
	index    *index
	ends     []int32 // by number of the feature: the index after its last cell
	cells    []cell
}

// A cell is the value of a feature in an example.
type cell struct {
	example int32
	value   float32
}

// An index numbers features in the order in which they are added. It takes 4 bytes for each feature
// whose index is near that of one that was added, and little for all others.
type index struct {
	blocks  []int32 // by index of a feature / blockSize: number of its block plus one; 0 for none
	numbers []int32 // in blocks of blockSize: number of the feature plus one; 0 for none
	n       int32
}

const blockSize = 64

// find returns the number of a feature, or -1.
func (x *index) find(feature int32) int32 {
	b := int(feature / blockSize)
	if b >= len(x.blocks) || x.blocks[b] == 0 {
		return -1
	}
	return x.numbers[(x.blocks[b]-1)*blockSize+feature%blockSize] - 1
}

// add returns the number of a feature, which it adds if it is new.
func (x *index) add(feature int32) int32 {
	b := int(feature / blockSize)
	if b >= len(x.blocks) {
		x.blocks = append(x.blocks, make([]int32, b+1-len(x.blocks))...)
	}
	if x.blocks[b] == 0 {
		x.numbers = append(x.numbers, make([]int32, blockSize)...)
		x.blocks[b] = int32(len(x.numbers) / blockSize)
	}
	number := &x.numbers[(x.blocks[b]-1)*blockSize+feature%blockSize]
	if *number == 0 {
		x.n++
		*number = x.n
	}
	return *number - 1
}

// NewDesign returns a design of examples.
func NewDesign(examples []Example) *Design {
	d := &Design{examples: examples, index: new(index)}
	var count []int32 // by number of a feature
	for i := range examples {
		for _, f := range examples[i].Features {
			k := d.index.add(f.Index)
			if int(k) == len(count) {
				count = append(count, 0)
			}
			count[k]++
		}
	}
	total := int32(0)
	d.ends = count
	for k, n := range count {
		d.ends[k] = total // the start of the cells of k, until these are filled in
		total += n
	}
	d.cells = make([]cell, total)
	for i := range examples {
		for _, f := range examples[i].Features {
			k := d.index.find(f.Index)
			d.cells[d.ends[k]] = cell{int32(i), f.Value}
			d.ends[k]++
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
	m := Model{index: d.index, sparse: make([]float64, len(d.ends)), Dense: make([]float64, len(o.Prior))}
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
		start := int32(0)
		for k, end := range d.ends {
			d.fitSparse(&m.sparse[k], residuals, d.cells[start:end], o.Precision)
			start = end
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

func (d *Design) fitSparse(weight *float64, residuals []float64, cells []cell, precision float64) {
	gradient, curvature := float64(-precision**weight), precision
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
	*weight += step
	for _, c := range cells {
		residuals[c.example] -= float64(step * float64(c.value))
	}
}

// Predict returns the bias plus the sum of the sparse features times their weights, without the
// dense features. Features that no example had are ignored.
func (m *Model) Predict(features []Feature) float64 {
	sum := m.Bias
	for _, f := range features {
		if k := m.index.find(f.Index); k >= 0 {
			sum += float64(m.sparse[k] * float64(f.Value))
		}
	}
	return sum
}
