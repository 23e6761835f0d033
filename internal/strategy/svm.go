package strategy

import (
	"math"
	"math/rand/v2"
)

// This file trains linear support vector machines by dual coordinate descent:
//
//	C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A
//	dual coordinate descent method for large-scale linear SVM", ICML 2008, pp.
//	408–415, algorithm 1, which LIBLINEAR also uses (R.-E. Fan et al., Journal
//	of Machine Learning Research 9, 2008, pp. 1871–1874).
//
// The loss is squared (L2), and the bias is the weight of a feature that all examples
// have, so the bias is penalised like the other weights:
//
//	min ½|w|² + C · Σ max(0, 1 − yᵢ w·xᵢ)²
//
// Features are boolean: xᵢ is the list of the features that are set.

// Limits of the search. With thousands of contradictory examples svmWork ends the search after half
// a second, at a loss a few percent above the minimum.
const (
	svmRounds = 1000       // maximum number of passes over the examples
	svmWork   = 50_000_000 // maximum number of features visited
)

// trainSVM returns a weight for each of width features, and the bias. An example is a list of
// distinct features below width; rng decides the order of the examples in each round. Training
// ends when the projected gradients of all examples differ by less than tolerance.
func trainSVM(examples [][]int32, positive []bool, width int, c, tolerance float64, rng *rand.Rand) (weights []float64, bias float64) {
	weights = make([]float64, width)
	alpha := make([]float64, len(examples)) // multiplier of each example
	order := make([]int, len(examples))
	for i := range order {
		order[i] = i
	}
	work := 1
	for _, x := range examples {
		work += len(x) + 1
	}
	diagonal := 1 / (2 * c)
	for range min(svmRounds, max(1, svmWork/work)) {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		highest, lowest := math.Inf(-1), math.Inf(1)
		for _, i := range order {
			y := -1.0
			if positive[i] {
				y = 1
			}
			sum := bias
			for _, k := range examples[i] {
				sum += weights[k]
			}
			gradient := float64(y*sum) - 1 + float64(diagonal*alpha[i])
			projected := gradient
			if alpha[i] == 0 {
				projected = min(gradient, 0)
			}
			highest, lowest = max(highest, projected), min(lowest, projected)
			if projected == 0 {
				continue
			}
			before := alpha[i]
			alpha[i] = max(0, before-gradient/(float64(len(examples[i])+1)+diagonal))
			step := float64(y * (alpha[i] - before))
			bias += step
			for _, k := range examples[i] {
				weights[k] += step
			}
		}
		if highest-lowest < tolerance {
			break
		}
	}
	return weights, bias
}
