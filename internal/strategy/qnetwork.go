package strategy

// This file holds the Q-network of tres.go and its training: a perceptron with two hidden layers,
//
//	h₁ = λ(W₁·x + b₁),  h₂ = λ(W₂·h₁ + b₂),  Q(x) = w₃·h₂ + b₃,
//	λ(z) = z if z > 0, otherwise 0.1·z,
//
// trained by Adam (D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR
// 2015), which for each weight w with the gradient g computes
//
//	m ← β₁·m + (1 − β₁)·g,  v ← β₂·v + (1 − β₂)·g²,
//	w ← w − rate · m/(1 − β₁ᵗ) / (√(v/(1 − β₂ᵗ)) + ε).
//
// Weights are rounded to 32 bits, as which they are saved. Products are rounded before they are
// added, so that all machines compute the same weights.

import (
	"math"
	"math/rand/v2"
)

// Sizes of the layers.
const (
	inputs  = 9
	hidden1 = 30
	hidden2 = 15
)

// Positions of the parts of a qNetwork.
const (
	firstBias1  = inputs * hidden1 // after W₁, a row for each neuron
	firstW2     = firstBias1 + hidden1
	firstBias2  = firstW2 + hidden1*hidden2
	firstW3     = firstBias2 + hidden2
	bias3       = firstW3 + hidden2
	qWeights    = bias3 + 1
	leak        = 0.1 // of λ
	maxGradient = 1   // the absolute value of a gradient is limited to this
	beta1       = 0.9
	beta2       = 0.999
	adamEpsilon = 1e-7
	maxQWeight  = 1e4 // maximum absolute value, so that Q stays finite
)

// A vector is the input of the network: features in hundredths.
type vector [inputs]uint8

// A qNetwork holds W₁, b₁, W₂, b₂, w₃ and b₃.
type qNetwork [qWeights]float64

// layers are the inputs of a network and the outputs of its hidden layers.
type layers struct {
	x  [inputs]float64
	h1 [hidden1]float64
	h2 [hidden2]float64
}

// initialise draws the weights (Glorot and Bengio, AISTATS 2010, uniform). Biases are 0.
func (n *qNetwork) initialise(rng *rand.Rand) {
	draw := func(w []float64, in, out int) {
		limit := math.Sqrt(6 / float64(in+out))
		for i := range w {
			w[i] = single(2 * limit * (float64(rng.Float64()) - 0.5))
		}
	}
	*n = qNetwork{}
	draw(n[:firstBias1], inputs, hidden1)
	draw(n[firstW2:firstBias2], hidden1, hidden2)
	draw(n[firstW3:bias3], hidden2, 1)
}

// single returns x rounded to 32 bits.
func single(x float64) float64 { return float64(float32(x)) }

func leaky(z float64) float64 {
	if z > 0 {
		return z
	}
	return leak * z
}

// slope returns the derivative of λ where λ has the value h.
func slope(h float64) float64 {
	if h > 0 {
		return 1
	}
	return leak
}

// value returns Q(x).
func (n *qNetwork) value(x vector) float64 {
	var l layers
	return n.forward(x, &l)
}

// forward returns Q(x) and sets l.
func (n *qNetwork) forward(x vector, l *layers) float64 {
	for i, v := range x {
		l.x[i] = float64(v) / 100
	}
	for j := range l.h1 {
		l.h1[j] = leaky(dot(n[j*inputs:][:inputs], l.x[:], n[firstBias1+j]))
	}
	for k := range l.h2 {
		l.h2[k] = leaky(dot(n[firstW2+k*hidden1:][:hidden1], l.h1[:], n[firstBias2+k]))
	}
	return dot(n[firstW3:bias3], l.h2[:], n[bias3])
}

// dot returns sum + w·x.
func dot(w, x []float64, sum float64) float64 {
	for i, v := range x {
		sum += float64(w[i] * v)
	}
	return sum
}

// addGradient adds d · ∂Q/∂w to g, for each weight, at the input for which l was computed.
func (n *qNetwork) addGradient(l *layers, d float64, g *qNetwork) {
	var d1 [hidden1]float64
	g[bias3] += d
	for k, h := range l.h2 {
		g[firstW3+k] += float64(d * h)
		dk := float64(d * n[firstW3+k] * slope(h))
		g[firstBias2+k] += dk
		for j, h := range l.h1 {
			g[firstW2+k*hidden1+j] += float64(dk * h)
			d1[j] += float64(dk * n[firstW2+k*hidden1+j])
		}
	}
	for j, h := range l.h1 {
		dj := float64(d1[j] * slope(h))
		g[firstBias1+j] += dj
		for i, x := range l.x {
			g[j*inputs+i] += float64(dj * x)
		}
	}
}

// An agent is a network with the state of its training: double Q-learning (H. van Hasselt, A. Guez
// and D. Silver, "Deep reinforcement learning with double Q-learning", AAAI 2016).
type agent struct {
	online, target qNetwork
	m, v           qNetwork
	power1, power2 float64 // β₁ᵗ and β₂ᵗ; 0 before the weights are drawn

	trained, copied bool // since the last delta: whether online, m and v changed, and target
}

// ready draws the weights unless they were drawn before.
func (a *agent) ready(rng *rand.Rand) {
	if a.power1 > 0 {
		return
	}
	a.online.initialise(rng)
	a.power1, a.power2, a.trained = 1, 1, true
	a.updateTarget()
}

func (a *agent) updateTarget() { a.target, a.copied = a.online, true }

// next returns Q'(argmax Q), the value of the best of some actions: the network chooses it, and the
// target network values it.
func (a *agent) next(actions []vector) float64 {
	var best vector
	highest := math.Inf(-1)
	for _, x := range actions {
		if q := a.online.value(x); q > highest {
			best, highest = x, q
		}
	}
	return a.target.value(best)
}

// fit makes one step of Adam on the mean of (Q(x) − y)² over examples.
func (a *agent) fit(examples []vector, y []float64, rate float64) {
	var g qNetwork
	var l layers
	for i, x := range examples {
		q := a.online.forward(x, &l)
		a.online.addGradient(&l, 2*(q-y[i])/float64(len(examples)), &g)
	}
	a.power1 *= beta1
	a.power2 *= beta2
	for i := range g {
		d := max(-maxGradient, min(g[i], maxGradient))
		a.m[i] = single(float64(beta1*a.m[i]) + float64((1-beta1)*d))
		a.v[i] = single(float64(beta2*a.v[i]) + float64((1-beta2)*d*d))
		step := rate * (a.m[i] / (1 - a.power1)) / (math.Sqrt(a.v[i]/(1-a.power2)) + adamEpsilon)
		a.online[i] = single(max(-maxQWeight, min(a.online[i]-step, maxQWeight)))
	}
	a.trained = true
}

// code encodes or decodes the weights that have changed.
func (a *agent) code(c *codec) {
	if c.bool(&a.trained); a.trained {
		for _, power := range []*float64{&a.power1, &a.power2} {
			c.float(power)
			c.check(0 < *power && *power <= 1)
		}
		a.online.code(c, maxQWeight)
		a.m.code(c, maxGradient)
		a.v.code(c, maxGradient)
		for _, v := range a.v {
			c.check(v >= 0)
		}
	}
	if c.bool(&a.copied); a.copied {
		a.target.code(c, maxQWeight)
	}
	a.trained, a.copied = false, false
}

// code encodes or decodes n, whose absolute values are at most limit.
func (n *qNetwork) code(c *codec, limit float64) {
	for i, w := range n {
		bits := math.Float32bits(float32(w))
		c.uint32(&bits)
		if n[i] = float64(math.Float32frombits(bits)); !(math.Abs(n[i]) <= limit) {
			c.check(false)
			n[i] = 0
		}
	}
}
