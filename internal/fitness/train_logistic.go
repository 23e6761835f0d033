package fitness

import "math"

// This file fits logistic models to examples: it minimises
//
//	f(w, b) = ½λ·|w|² + Σ log(1 + exp(z)) − t·z,  z = o + b + w·x,
//
// over the examples, where x is the example, t in [0, 1] its degree of membership in the topic,
// and o the prior of z. The bias b is not penalised. The function is smooth and, except in b,
// strictly convex, so it is minimised by Newton's method with steps found by conjugate
// gradients, as in
//
//	C.-J. Lin, R. C. Weng and S. S. Keerthi, "Trust region Newton method for
//	large-scale logistic regression", Journal of Machine Learning Research 9,
//	2008, pp. 627–650,
//
// with a backtracking line search (Armijo) instead of a trust region. It is deterministic.

// A matrix is a sparse matrix with a row for each example: row i has the entries from start[i]
// to start[i+1].
type matrix struct {
	start []int
	index []int32 // column, below width
	value []float64
	width int
}

func (m *matrix) rows() int { return len(m.start) - 1 }

func (m *matrix) end() { m.start = append(m.start, len(m.value)) }

func (m *matrix) dot(i int, w []float64) float64 {
	from, to := m.start[i], m.start[i+1]
	value, sum := m.value[from:to], 0.0
	for k, column := range m.index[from:to] {
		sum += float64(value[k] * w[column])
	}
	return sum
}

func (m *matrix) add(w []float64, i int, a float64) {
	from, to := m.start[i], m.start[i+1]
	value := m.value[from:to]
	for k, column := range m.index[from:to] {
		w[column] += float64(a * value[k])
	}
}

// Sigmoid returns the probability with log-odds z.
func Sigmoid(z float64) float64 {
	if z >= 0 {
		return 1 / (1 + math.Exp(-z))
	}
	e := math.Exp(z)
	return e / (1 + e)
}

// lossOf returns log(1 + exp(z)) − t·z, the loss of log-odds z if the true value is t.
func lossOf(z, t float64) float64 {
	return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - float64(t*z)
}

// A fit is an optimisation problem and its best solution so far.
type fit struct {
	x       *matrix
	offset  []float64 // o, by row; nil for zeros
	target  []float64 // t, by row
	chosen  []int     // the rows to learn from
	penalty float64   // λ

	weights []float64 // by column
	bias    float64

	scratch struct {
		odds, curvature              []float64 // by place in chosen
		gradient, step               []float64 // by column, the bias last, as in all following fields
		residual, direction, product []float64 // vectors of the conjugate gradients; product is H·direction
		previous                     []float64 // weights before the line search
	}
}

// Limits of the optimisation. They are only reached with extreme numbers.
const (
	maxNewton   = 100 // Newton steps
	maxCG       = 250 // steps of the conjugate gradients in each Newton step
	maxHalvings = 30  // halvings of a Newton step, in the line search
)

// minDecrement is the Newton decrement at which the optimisation ends, in units of the loss of
// one example.
const minDecrement = 1e-7

// newFit returns a fit of all-zero weights.
func newFit(x *matrix, offset, target []float64, chosen []int) *fit {
	f := &fit{x: x, offset: offset, target: target, chosen: chosen, weights: make([]float64, x.width)}
	s := &f.scratch
	s.odds, s.curvature = make([]float64, len(chosen)), make([]float64, len(chosen))
	for _, v := range []*[]float64{&s.gradient, &s.step, &s.residual, &s.direction, &s.product, &s.previous} {
		*v = make([]float64, x.width+1)
	}
	return f
}

// score returns z of row i.
func (f *fit) score(i int) float64 {
	z := f.x.dot(i, f.weights) + f.bias
	if f.offset != nil {
		z += f.offset[i]
	}
	return z
}

// loss returns f, and sets the odds of the chosen rows.
func (f *fit) loss() float64 {
	sum := f.penalty / 2 * dot(f.weights, f.weights)
	for k, i := range f.chosen {
		z := f.score(i)
		f.scratch.odds[k] = z
		sum += lossOf(z, f.target[i])
	}
	return sum
}

// solve minimises f, starting from the current weights.
func (f *fit) solve() {
	s := &f.scratch
	last := len(f.weights)
	loss := f.loss()
	for range maxNewton {
		f.differentiate()
		f.solveStep()
		descent := -dot(s.gradient, s.step)
		if !(descent > minDecrement) {
			return
		}
		copy(s.previous, f.weights)
		s.previous[last] = f.bias
		down := false
		for half := 0; half < maxHalvings && !down; half++ {
			size := math.Ldexp(1, -half)
			for k := range f.weights {
				f.weights[k] = s.previous[k] + float64(size*s.step[k])
			}
			f.bias = s.previous[last] + float64(size*s.step[last])
			if l := f.loss(); l <= loss-float64(1e-4*size*descent) {
				loss, down = l, true
			}
		}
		if !down { // the limit of precision
			copy(f.weights, s.previous)
			f.bias = s.previous[last]
			return
		}
	}
}

// differentiate sets the gradient, and the curvature of the loss of every chosen row.
func (f *fit) differentiate() {
	s := &f.scratch
	last := len(f.weights)
	for k, w := range f.weights {
		s.gradient[k] = f.penalty * w
	}
	s.gradient[last] = 0
	for k, i := range f.chosen {
		p := Sigmoid(s.odds[k])
		s.curvature[k] = p * (1 - p)
		f.x.add(s.gradient, i, p-f.target[i])
		s.gradient[last] += p - f.target[i]
	}
}

// solveStep sets the step to an approximate solution of H·step = −gradient, by conjugate
// gradients.
func (f *fit) solveStep() {
	s := &f.scratch
	clear(s.step)
	for k, g := range s.gradient {
		s.residual[k], s.direction[k] = -g, -g
	}
	left := dot(s.residual, s.residual)
	norm := math.Sqrt(left)
	for tolerance, n := min(0.1, math.Sqrt(norm))*norm, 0; math.Sqrt(left) > tolerance && n < maxCG; n++ {
		f.multiply()
		curvature := dot(s.direction, s.product)
		if !(curvature > 0) { // flat: all probabilities are 0 or 1
			return
		}
		size := left / curvature
		for k := range s.step {
			s.step[k] += float64(size * s.direction[k])
			s.residual[k] -= float64(size * s.product[k])
		}
		before := left
		left = dot(s.residual, s.residual)
		for k, r := range s.residual {
			s.direction[k] = r + float64(left/before*s.direction[k])
		}
	}
}

// multiply sets product to H·direction.
func (f *fit) multiply() {
	s := &f.scratch
	last := len(f.weights)
	for k := range f.weights {
		s.product[k] = f.penalty * s.direction[k]
	}
	s.product[last] = 0
	for k, i := range f.chosen {
		a := float64(s.curvature[k] * (f.x.dot(i, s.direction) + s.direction[last]))
		f.x.add(s.product, i, a)
		s.product[last] += a
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for k, v := range a {
		sum += float64(v * b[k])
	}
	return sum
}

// Calibrate returns the slope and intercept with which Sigmoid(slope·score + intercept) is the
// probability that an example is positive, and the mean loss of these probabilities in nats. It
// implements
//
//	J. Platt, "Probabilistic outputs for support vector machines and comparisons
//	to regularized likelihood methods", Advances in Large Margin Classifiers,
//	2000, pp. 61–74,
//
// with the paper's smoothed targets: (N₊ + 1) / (N₊ + 2) for positive examples, 1 / (N₋ + 2) for
// others. The search is the robust one of H.-T. Lin, C.-J. Lin and R. C. Weng, "A note on
// Platt's probabilistic outputs for support vector machines", Machine Learning 68, 2007, pp.
// 267–276: Newton steps with backtracking, on a loss that cannot overflow, as in fit. The sign of
// the slope is ours: examples with higher scores are more probably positive. If the examples
// contradict this, the slope is 0, and the probability is the share of the positive examples.
func Calibrate(scores []float64, positive []bool) (slope, intercept, loss float64) {
	n, positives, mean := float64(len(scores)), 0.0, 0.0
	for i, s := range scores {
		mean += s / n
		if positive[i] {
			positives++
		}
	}
	spread := 0.0
	for _, s := range scores {
		spread += float64((s-mean)*(s-mean)) / n
	}
	spread = math.Sqrt(spread)
	if !(spread > 1e-12*math.Abs(mean)) {
		spread = 0
	}
	x := &matrix{start: []int{0}, width: 1}
	targets, all := make([]float64, len(scores)), make([]int, len(scores))
	for i, s := range scores {
		if spread > 0 {
			x.index, x.value = append(x.index, 0), append(x.value, (s-mean)/spread)
		}
		x.end()
		all[i] = i
		targets[i] = 1 / (n - positives + 2)
		if positive[i] {
			targets[i] = (positives + 1) / (positives + 2)
		}
	}
	f := newFit(x, nil, targets, all)
	f.penalty = 1e-9
	f.solve()
	if f.weights[0] <= 0 && spread > 0 {
		flat := make([]float64, len(scores))
		return Calibrate(flat, positive)
	}
	for i := range scores {
		t := 0.0
		if positive[i] {
			t = 1
		}
		loss += lossOf(f.score(i), t) / n
	}
	if spread == 0 {
		return 0, f.bias, loss
	}
	slope = f.weights[0] / spread
	return slope, f.bias - float64(slope*mean), loss
}
