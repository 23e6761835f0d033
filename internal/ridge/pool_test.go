package ridge

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// The weights of three groups have the variance 1, and the groups share a part of each weight. Pool
// finds how large that part is, and its priors predict a fourth group as well as the theory says.
func TestPoolFindsWhatGroupsShare(t *testing.T) {
	for _, want := range []float64{0.1, 0.5, 0.8} {
		rng := rand.New(rand.NewPCG(1, uint64(100*want)))
		estimates := make([][]Estimate, 20_000)
		next := make([]float64, len(estimates))
		for k := range estimates {
			common := math.Sqrt(want) * rng.NormFloat64()
			draw := func() float64 { return common + math.Sqrt(1-want)*rng.NormFloat64() }
			for range 3 {
				e := 0.2 + 0.7*rng.Float64()
				// Of a ridge fit with noise of variance σ² and n examples, λ = σ² and e = n/(n + λ).
				estimates[k] = append(estimates[k], Estimate{e*draw() + math.Sqrt(e*(1-e))*rng.NormFloat64(), e})
			}
			next[k] = draw()
		}
		priors, share := Pool(estimates)
		if math.Abs(share-want) > 0.03 {
			t.Errorf("the share is %.3f, want %.3f", share, want)
		}
		off, expected, zero := 0.0, 0.0, 0.0
		for k, p := range priors {
			off += (next[k] - p.Mean) * (next[k] - p.Mean) / float64(len(priors))
			zero += next[k] * next[k] / float64(len(priors))
			expected += 1 / p.Precision / float64(len(priors))
		}
		if math.Abs(off-expected) > 0.03 || off >= zero {
			t.Errorf("share %.1f: priors are off by %.3f in the square, by their precision %.3f, and 0 by %.3f", want, off, expected, zero)
		}
	}
}

// Groups that share nothing give no prior.
func TestPoolOfNothingInCommon(t *testing.T) {
	for _, estimates := range [][][]Estimate{
		nil,
		{nil, nil},
		{{{1, 0.5}}, {{-1, 0.5}}},
		{{{1, 0.5}, {-1, 0.5}}, {{0.5, 0.1}, {-0.2, 0.9}}},
		{{{0, 1}, {0, 1}}},
	} {
		priors, share := Pool(estimates)
		if share != 0 || !reflect.DeepEqual(priors, make([]Prior, len(estimates))) {
			t.Errorf("Pool(%v) = %v, %v", estimates, priors, share)
		}
	}
}
