package ridge

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// planted returns examples of a linear function of 30 sparse features and two dense ones.
func planted(n int) (examples []Example, targets, weights []float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	weights = make([]float64, 30)
	for k := range weights {
		weights[k] = rng.NormFloat64()
	}
	for range n {
		e := Example{Dense: []float64{rng.NormFloat64(), rng.NormFloat64()}, Weight: 1}
		y := 0.7 + 2*e.Dense[0] - e.Dense[1]
		for k := range weights {
			if rng.IntN(5) == 0 {
				x := float32(rng.Float64())
				e.Features = append(e.Features, Feature{int32(k), x})
				y += weights[k] * float64(x)
			}
		}
		examples, targets = append(examples, e), append(targets, y)
	}
	return examples, targets, weights
}

// weight returns the weight of feature k.
func weight(m *Model, k int) float64 { return m.Predict([]Feature{{int32(k), 1}}) - m.Bias }

func TestFitFindsAPlantedFunction(t *testing.T) {
	examples, targets, weights := planted(2000)
	m := NewDesign(examples).Fit(targets, Options{Precision: 1e-6, DensePrecision: 1e-6, Prior: make([]float64, 2), Passes: 200})
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 0.01 {
			t.Errorf("%s is %.4f, want %.4f", what, got, want)
		}
	}
	near("the bias", m.Bias, 0.7)
	near("dense weight 0", m.Dense[0], 2)
	near("dense weight 1", m.Dense[1], -1)
	for k, w := range weights {
		near("a sparse weight", weight(&m, k), w)
	}
	near("a prediction", m.Predict([]Feature{{3, 2}, {99, 5}}), 0.7+2*weights[3])
}

// At the minimum, the gradient of the objective is 0.
func TestFitMinimisesTheObjective(t *testing.T) {
	examples, targets, _ := planted(60)
	for i := range examples {
		examples[i].Weight = 0.5 + float64(i%3)
	}
	o := Options{Precision: 2, DensePrecision: 5, Prior: []float64{0.5, 0}, Passes: 500}
	m := NewDesign(examples).Fit(targets, o) // feature 30 never occurs
	sparse, dense, bias := make([]float64, 31), make([]float64, 2), -m.Bias
	for i, e := range examples {
		left := targets[i] - m.Predict(e.Features)
		for k, x := range e.Dense {
			left -= m.Dense[k] * x
		}
		for k, x := range e.Dense {
			dense[k] += e.Weight * left * x
		}
		for _, f := range e.Features {
			sparse[f.Index] += e.Weight * left * float64(f.Value)
		}
		bias += e.Weight * left
	}
	for k, g := range sparse {
		if g -= o.Precision * weight(&m, k); math.Abs(g) > 1e-6 {
			t.Errorf("gradient of sparse weight %d: %g", k, g)
		}
	}
	for k, g := range dense {
		if g -= o.DensePrecision * (m.Dense[k] - o.Prior[k]); math.Abs(g) > 1e-6 {
			t.Errorf("gradient of dense weight %d: %g", k, g)
		}
	}
	if math.Abs(bias) > 1e-6 {
		t.Errorf("gradient of the bias: %g", bias)
	}
}

// A fit depends on nothing before it, and nothing is fitted to no examples.
func TestFitsAreIndependent(t *testing.T) {
	examples, targets, _ := planted(50)
	o := Options{Precision: 1, DensePrecision: 1, Prior: []float64{0.3, 0.1}, Passes: 3}
	d := NewDesign(examples)
	first := d.Fit(targets, o)
	d.Fit(make([]float64, len(targets)), o)
	if again := d.Fit(targets, o); !reflect.DeepEqual(first, again) {
		t.Error("the second fit to the same targets differs")
	}
	m := NewDesign(nil).Fit(nil, o)
	if m.Bias != 0 || m.Predict([]Feature{{1, 1}}) != 0 || m.Dense[0] != 0.3 {
		t.Errorf("without examples the model is %+v", m)
	}
}
