package strategy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// oneWayNetwork returns a network with one way through it: Q = 4·λ(0.5·λ(2·x₀) − 1.5) + 0.3. The first
// hidden neuron of each layer is used, the others have weights of 0.
func oneWayNetwork() (n qNetwork) {
	n[0], n[firstW2], n[firstBias2], n[firstW3], n[bias3] = 2, 0.5, -1.5, 4, 0.3
	return n
}

// For x₀ = 1, h₁ = 2 and z₂ = 0.5·2 − 1.5 = −0.5, so h₂ = −0.05 and Q = −0.2 + 0.3 = 0.1.
// For x₀ = 0, h₂ = −0.15 and Q = −0.3.
func TestQByHand(t *testing.T) {
	n := oneWayNetwork()
	for x, want := range map[vector]float64{{100}: 0.1, {0}: -0.3, {0: 100, 5: 100}: 0.1} {
		if got := n.value(x); math.Abs(got-want) > 1e-12 {
			t.Errorf("Q of %v is %v, want %v", x, got, want)
		}
	}
}

// One step from oneWayNetwork at x₀ = 1, with the target 1.1: Q − y = −1, and the derivative of the
// squared error by Q is −2. The derivatives of Q:
//
//	b₃     1
//	w₃₀    h₂ = −0.05
//	b₂₀    w₃₀ · slope = 4 · 0.1 = 0.4
//	W₂₀₀   0.4 · h₁ = 0.8
//	b₁₀    0.4 · W₂₀₀ · 1 = 0.2, and W₁₀₀ the same, as x₀ = 1
//
// Gradients are these times −2, and −1 at least: −1 (not −2), 0.1, −0.8, −1 (not −1.6), −0.4 and
// −0.4. At its first step, Adam's m/(1 − β₁) is g, and √(v/(1 − β₂)) is |g|, so that each weight moves
// by rate · g/(|g| + ε): by the rate, upwards except for w₃₀.
func TestTrainingStepByHand(t *testing.T) {
	a := agent{online: oneWayNetwork(), power1: 1, power2: 1}
	a.fit([]vector{{100}}, []float64{1.1}, 0.001)
	for _, test := range []struct {
		name           string
		at             int
		gradient, want float64
	}{
		{"b3", bias3, -1, 0.301}, {"w3", firstW3, 0.1, 3.999}, {"b2", firstBias2, -0.8, -1.499},
		{"W2", firstW2, -1, 0.501}, {"b1", firstBias1, -0.4, 0.001}, {"W1", 0, -0.4, 2.001},
		{"an unused weight", 7, 0, 0},
	} {
		if got := a.online[test.at]; math.Abs(got-test.want) > 1e-6 {
			t.Errorf("%s is %v, want %v", test.name, got, test.want)
		}
		if got := a.m[test.at]; math.Abs(got-0.1*test.gradient) > 1e-7 {
			t.Errorf("%s: m is %v, want %v", test.name, got, 0.1*test.gradient)
		}
		if got := a.v[test.at]; math.Abs(got-0.001*test.gradient*test.gradient) > 1e-7 {
			t.Errorf("%s: v is %v, want %v", test.name, got, 0.001*test.gradient*test.gradient)
		}
	}
	if math.Abs(a.power1-0.9) > 1e-15 || math.Abs(a.power2-0.999) > 1e-15 {
		t.Errorf("powers of β are %v and %v", a.power1, a.power2)
	}
}

// The gradient of a random network is what differences of Q are.
func TestGradientFollowsDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var n, g qNetwork
	n.initialise(rng)
	x := vector{100, 50, 30, 0, 100, 0, 50, 0, 73}
	var l layers
	n.forward(x, &l)
	n.addGradient(&l, 1, &g)
	for i := range n {
		const h = 1e-6
		up, down := n, n
		up[i] += h
		down[i] -= h
		if want := (up.value(x) - down.value(x)) / (2 * h); math.Abs(g[i]-want) > 1e-6 {
			t.Fatalf("the derivative by weight %d is %v, differences say %v", i, g[i], want)
		}
	}
}

// The network prefers x₀ = 1 (0.1 above −0.3). The target network has the opposite sign: it values the
// choice of the network at −0.1, though it would choose the other, for 0.3.
func TestTargetNetworkValuesChoiceOfTheOther(t *testing.T) {
	a := agent{online: oneWayNetwork()}
	for i, w := range oneWayNetwork() {
		if i >= firstW3 {
			a.target[i] = -w
		} else {
			a.target[i] = w
		}
	}
	if got := a.next([]vector{{0}, {100}}); math.Abs(got+0.1) > 1e-12 {
		t.Errorf("the best action is worth %v, want -0.1", got)
	}
}

// A network learns a function that is not linear: whether one of two features is set, but not both.
func TestNetworkLearnsExclusiveOr(t *testing.T) {
	var a agent
	a.ready(rand.New(rand.NewPCG(3, 3)))
	x, y := []vector{{0, 0}, {100, 0}, {0, 100}, {100, 100}}, []float64{0, 1, 1, 0}
	for range 1000 {
		a.fit(x, y, 0.01)
	}
	for i := range x {
		if q := a.online.value(x[i]); math.Abs(q-y[i]) > 0.05 {
			t.Errorf("Q of %v is %v, want %v", x[i], q, y[i])
		}
	}
}

// A delta has the weights only if they have changed, and restores them exactly.
func TestAgentIsSavedIfItChanged(t *testing.T) {
	var a, back agent
	a.ready(rand.New(rand.NewPCG(4, 4)))
	for step := range 4 {
		w := codec{}
		a.code(&w)
		if most := []int{2 + 16 + 4*4*qWeights, 2, 2 + 16 + 3*4*qWeights, 2 + 4*qWeights}[step]; len(w.b) != most {
			t.Errorf("step %d: a delta of %d bytes, want %d", step, len(w.b), most)
		}
		r := codec{b: w.b, reading: true}
		back.code(&r)
		if r.bad || len(r.b) > 0 || back != a {
			t.Fatalf("step %d: the agent was not restored", step)
		}
		switch step {
		case 1:
			a.fit([]vector{{1, 2, 3}}, []float64{7}, 0.1)
		case 2:
			a.updateTarget()
		}
	}
}

// A damaged weight is refused: no weight is NaN, infinite or negative under a root.
func TestDamagedWeightsAreRefused(t *testing.T) {
	for name, harm := range map[string]func(*agent){
		"NaN":        func(a *agent) { a.online[3] = math.NaN() },
		"infinite":   func(a *agent) { a.target[3] = math.Inf(1) },
		"negative v": func(a *agent) { a.v[3] = -0.1 },
		"power":      func(a *agent) { a.power1 = 0 },
	} {
		var a, back agent
		a.ready(rand.New(rand.NewPCG(4, 4)))
		harm(&a)
		w := codec{}
		a.code(&w)
		r := codec{b: w.b, reading: true}
		if back.code(&r); !r.bad {
			t.Errorf("%s: restored", name)
		}
	}
}
