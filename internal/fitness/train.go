package fitness

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// This file trains the classifier of classifier.go on pages that are about the topic and pages
// that are not:
//
//  1. Features are the stems and pairs of stems of at least two pages, and of the topic's
//     keywords.
//  2. The prior is the topic: its keywords have the mean weight 1, and only deviations from
//     them are penalised. The fewer the examples, the more the keywords decide.
//  3. The penalty (λ of train_logistic.go) is chosen by cross-validation, to minimise the loss
//     of the held-out pages.
//  4. The same held-out pages calibrate the probabilities.
//
// Training is deterministic and does not depend on the order of the examples, which are sorted
// by content. Duplicate pages are ignored.

// TrainOptions are the options of training; the zero value is the default.
type TrainOptions struct {
	Features int // maximum number of features kept; 0 means 4096
}

// A Training reports how a model was trained.
type Training struct {
	Positives, Negatives int     // distinct examples with words
	Features             int     // number of features before the smallest weights were dropped
	Penalty              float64 // λ
	Folds                int     // number of folds of the cross-validation; 0 if there was none
	Right                int     // number of correctly classified examples, held out if Folds > 0
	Loss                 float64 // mean loss of an example in nats, held out if Folds > 0
	Chance               float64 // mean loss if the probability is always the share of positive examples
}

// Limits of training.
const (
	keptFeatures = 1 << 12 // default of TrainOptions.Features
	maxFolds     = 10
	minFolds     = 3
	foldedPages  = 20_000 // maximum of examples times folds, if there are more than minFolds folds
)

// noise times the largest absolute weight is the limit below which a weight is considered a rounding
// error of the optimisation, and its feature is dropped.
const noise = 1e-6

// penalties are the values of λ to choose from, the largest first. Because the vector of a page
// has length 1, the largest penalty outweighs dozens of examples, and a single example outweighs the
// smallest penalty.
var penalties = [...]float64{30, 10, 3, 1, 0.3, 0.1, 0.03, 0.01}

// Train trains a model on pages that are about the topic, and pages that are not. Pages
// without words are skipped, and about ten thousand words of each page are read. It is an error if
// either kind has no page. If a kind has a single page, there is no cross-validation, and the
// highest penalty is used.
func Train(t *Target, positive, negative []Page, o TrainOptions) (*Model, error) {
	if o.Features < 0 {
		return nil, fmt.Errorf("%d features cannot be kept", o.Features)
	}
	c, err := newCorpus(t, positive, negative)
	if err != nil {
		return nil, err
	}
	keep := cmp.Or(o.Features, keptFeatures)
	all := make([]int, c.x.rows())
	for i := range all {
		all[i] = i
	}
	m := &Model{Threshold: ClassifierThreshold}
	m.Training = Training{Positives: c.positives, Negatives: len(all) - c.positives, Features: len(c.names)}
	_, _, m.Training.Chance = Calibrate(make([]float64, len(all)), c.positive)
	f := c.newFit(all)
	if m.Training.Folds = folds(c.positives, len(all)-c.positives); m.Training.Folds > 1 {
		c.validate(m, keep)
		f.penalty = m.Training.Penalty
		f.solve()
	} else {
		m.Training.Folds, m.Training.Penalty = 0, penalties[0]
		f.penalty = penalties[0]
		f.solve()
		weights, scores := c.kept(f, keep), make([]float64, len(all))
		for i := range scores {
			scores[i] = c.x.dot(i, weights) + f.bias
		}
		m.Slope, m.Intercept, m.Training.Loss = Calibrate(scores, c.positive)
		m.Training.Right = c.right(m, scores)
	}
	weights, heaviest := c.kept(f, keep), 0.0
	for _, w := range weights {
		heaviest = max(heaviest, math.Abs(w))
	}
	for k, w := range weights {
		if math.Abs(w) > noise*heaviest {
			m.Features = append(m.Features, Feature{c.names[k], rounded(w)})
		}
	}
	slices.SortFunc(m.Features, func(a, b Feature) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)), strings.Compare(a.Name, b.Name))
	})
	m.Bias, m.Slope, m.Intercept = rounded(f.bias), rounded(m.Slope), rounded(m.Intercept)
	return m, nil
}

// folds returns the number of folds: many examples need fewer, which saves time.
func folds(positives, negatives int) int {
	return min(positives, negatives, maxFolds, max(minFolds, foldedPages/(positives+negatives)))
}

// rounded returns v rounded to six significant digits, so that it does not depend on the
// precision of a processor.
func rounded(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	return v
}

// newFit returns the problem of learning from some of the examples.
func (c *corpus) newFit(rows []int) *fit {
	targets := make([]float64, len(c.positive))
	for i, yes := range c.positive {
		if yes {
			targets[i] = 1
		}
	}
	return newFit(c.x, c.offset, targets, rows)
}

// kept returns the sums of the weights of f and the prior. It keeps the given number of largest sums;
// all others are 0.
func (c *corpus) kept(f *fit, keep int) []float64 {
	weights := make([]float64, len(f.weights))
	for k, w := range f.weights {
		weights[k] = c.prior[k] + w
	}
	if keep >= len(weights) {
		return weights
	}
	order := make([]int, len(weights))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(math.Abs(weights[b]), math.Abs(weights[a])), cmp.Compare(a, b))
	})
	for _, k := range order[keep:] {
		weights[k] = 0
	}
	return weights
}

// validate performs the cross-validation: it sets the penalty and the calibration of m that fit the
// held-out examples best. All folds have the same shares of positive and negative examples.
func (c *corpus) validate(m *Model, keep int) {
	folds := m.Training.Folds
	fold, next := make([]int, len(c.positive)), [2]int{}
	for i, yes := range c.positive {
		kind := 0
		if yes {
			kind = 1
		}
		fold[i] = next[kind] % folds
		next[kind]++
	}
	fits := make([]*fit, folds)
	for k := range fits {
		var rest []int
		for i, f := range fold {
			if f != k {
				rest = append(rest, i)
			}
		}
		fits[k] = c.newFit(rest)
	}
	scores := make([]float64, len(fold))
	m.Training.Loss = math.Inf(1)
	for _, penalty := range penalties {
		var wg sync.WaitGroup
		for k, f := range fits {
			wg.Go(func() {
				f.penalty = penalty
				f.solve() // starting from the solution for the previous penalty
				weights := c.kept(f, keep)
				for i := range scores {
					if fold[i] == k {
						scores[i] = c.x.dot(i, weights) + f.bias
					}
				}
			})
		}
		wg.Wait()
		slope, intercept, loss := Calibrate(scores, c.positive)
		if loss < m.Training.Loss {
			m.Slope, m.Intercept = slope, intercept
			m.Training.Penalty, m.Training.Loss, m.Training.Right = penalty, loss, c.right(m, scores)
		}
	}
}

// right returns the number of examples that m classifies correctly, by their scores.
func (c *corpus) right(m *Model, scores []float64) int {
	n := 0
	for i, s := range scores {
		if (Sigmoid(float64(m.Slope*s)+m.Intercept) >= m.Threshold) == c.positive[i] {
			n++
		}
	}
	return n
}
