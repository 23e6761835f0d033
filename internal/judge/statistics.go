package judge

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// grain is the resolution of comparisons. Measures have six decimals. In their means, decimals
// after the ninth are rounding errors, which must not make equal values differ.
const grain = 1e-9

// grains returns v as a whole number of grains.
func grains(v float64) float64 { return math.Round(v / grain) }

// mean returns the mean of values, which must not be empty.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// exactPairs is the largest number of pairs for which Wilcoxon computes the exact distribution,
// with about 500,000 additions for 100 pairs. For more pairs the error of the approximation is
// smaller than the last digit that is printed.
const exactPairs = 100

// Wilcoxon returns the two-sided p-value of the signed-rank test that paired differences
// are distributed symmetrically around 0:
//
//	W⁺ = Σ rank(|d|) over d > 0,  p = 2·min(P(W ≤ W⁺), P(W ≥ W⁺)), at most 1
//
// Differences of the same size share the mean of their ranks; zeros are ranked and then
// dropped, after Pratt. Up to 100 differences the distribution is exact, ties included;
// for more it is the normal approximation with Pratt's and the tie correction, and with
// continuity correction. The result is 1 if all differences are 0.
//
// Source: F. Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics
// Bulletin 1 (1945), 80–83; J. W. Pratt, "Remarks on Zeros and Ties in the Wilcoxon
// Signed Rank Procedures", J. Am. Stat. Assoc. 54 (1959), 655–667.
func Wilcoxon(differences []float64) float64 {
	d := make([]float64, len(differences))
	for i, v := range differences {
		d[i] = grains(v)
	}
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	var ranks []int // doubled, so that the mean of two ranks is an integer
	var above, total int
	for i, j := 0, 0; i < len(d); i = j {
		for j = i; j < len(d) && math.Abs(d[j]) == math.Abs(d[i]); j++ {
		}
		if d[i] == 0 {
			continue
		}
		rank := i + 1 + j
		for _, v := range d[i:j] {
			ranks = append(ranks, rank)
			total += rank
			if v > 0 {
				above += rank
			}
		}
	}
	tail := min(above, total-above) // the distribution is symmetric
	if len(ranks) == 0 {
		return 1
	}
	if len(d) <= exactPairs {
		return min(1, 2*signedRanks(ranks, total, tail))
	}
	squares := 0.0
	for _, r := range ranks {
		squares += float64(float64(r) * float64(r))
	}
	// Ranks are doubled, so the continuity correction of 1/2 is 1.
	z := max(0, (float64(float64(total)/2)-float64(tail)-1)/math.Sqrt(squares/4))
	return math.Erfc(z / math.Sqrt2)
}

// signedRanks returns the probability that the sum of ranks is at most tail, if each is
// included with probability 1/2; total is the sum of all ranks.
func signedRanks(ranks []int, total, tail int) float64 {
	p := make([]float64, total+1)
	p[0] = 1
	sum := 0
	for _, r := range ranks {
		sum += r
		for s := sum; s >= 0; s-- {
			p[s] = float64(p[s] / 2)
			if s >= r {
				p[s] += float64(p[s-r] / 2)
			}
		}
	}
	below := 0.0
	for _, v := range p[:tail+1] {
		below += v
	}
	return below
}

// Holm adjusts p-values for multiple comparisons, so that the probability of at least one false
// positive is the same as for a single test: the smallest of m p-values is multiplied by m, the
// next by m−1, and so on; the results are made monotonic and at most 1. They are
// returned in the order of p.
//
// Source: S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scand.
// J. Stat. 6 (1979), 65–70.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := make([]float64, len(p))
	least := 0.0
	for i, which := range order {
		least = max(least, min(1, float64(len(p)-i)*p[which]))
		adjusted[which] = least
	}
	return adjusted
}

// A12 returns the probability that a value of x is larger than a value of y. A tie is counted as
// one half:
//
//	A₁₂ = (#(x > y) + #(x = y)/2) / (|x|·|y|)
//
// It is 1/2 if x or y is empty. Vargha and Delaney call 0.56 a small effect, 0.64 a
// medium one, and 0.71 a large one.
//
// Source: A. Vargha and H. D. Delaney, "A Critique and Improvement of the CL Common
// Language Effect Size Statistics of McGraw and Wong", J. Educ. Behav. Stat. 25
// (2000), 101–132.
func A12(x, y []float64) float64 {
	if len(x) == 0 || len(y) == 0 {
		return 0.5
	}
	sorted := make([]float64, len(y))
	for i, v := range y {
		sorted[i] = grains(v)
	}
	slices.Sort(sorted)
	halves := 0
	for _, v := range x {
		v = grains(v)
		below, _ := slices.BinarySearch(sorted, v)
		upTo, _ := slices.BinarySearchFunc(sorted, v, func(a, b float64) int {
			if a <= b {
				return -1
			}
			return 1
		})
		halves += below + upTo
	}
	return float64(halves) / 2 / float64(len(x)) / float64(len(y))
}

// Friedman ranks the values of each block, 1 for the largest, where ties share the mean of
// their ranks. It returns the mean ranks, the p-value of the hypothesis that they are all
// equal, and the critical distance: under this hypothesis, the probability that any two mean ranks
// are further apart is 5 %. Both are computed from 10,000 random permutations of the ranks in each
// block, so they are also valid for few blocks and for ties, unlike the tables of Friedman and
// Nemenyi. All blocks must have the same length.
//
// Source: M. Friedman, "The Use of Ranks to Avoid the Assumption of Normality Implicit in
// the Analysis of Variance", J. Am. Stat. Assoc. 32 (1937), 675–701; P. Nemenyi,
// "Distribution-free Multiple Comparisons" (1963), as in J. Demšar, "Statistical
// Comparisons of Classifiers over Multiple Data Sets", J. Mach. Learn. Res. 7 (2006), 1–30.
func Friedman(blocks [][]float64, seed uint64) (ranks []float64, p, distance float64) {
	if len(blocks) == 0 || len(blocks[0]) == 0 {
		return nil, 1, 0
	}
	doubled := make([][]int, len(blocks)) // ranks, doubled so that the mean of two is an integer
	for i, block := range blocks {
		doubled[i] = doubleRanks(block)
	}
	sums := make([]int, len(blocks[0]))
	// The sum of squares is a monotonic function of Friedman's statistic.
	spread := func() (squares, width int) {
		clear(sums)
		for _, block := range doubled {
			for j, r := range block {
				sums[j] += r
			}
		}
		for _, s := range sums {
			squares += s * s
		}
		return squares, slices.Max(sums) - slices.Min(sums)
	}
	squares, _ := spread()
	for _, s := range sums {
		ranks = append(ranks, float64(s)/2/float64(len(blocks)))
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	more := 1 // the observed ranks are one of the permutations
	widths := make([]int, draws)
	for i := range widths {
		for _, block := range doubled {
			rng.Shuffle(len(block), func(a, b int) { block[a], block[b] = block[b], block[a] })
		}
		s, width := spread()
		if s >= squares {
			more++
		}
		widths[i] = width
	}
	slices.Sort(widths)
	return ranks, float64(more) / (draws + 1), float64(widths[draws*95/100-1]) / 2 / float64(len(blocks))
}

// doubleRanks returns the ranks of values, doubled: 2 for the largest.
func doubleRanks(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	size := func(i int) float64 { return grains(values[order[i]]) }
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(grains(values[b]), grains(values[a])) })
	ranks := make([]int, len(values))
	for i, j := 0, 0; i < len(order); i = j {
		for j = i; j < len(order) && size(j) == size(i); j++ {
		}
		for _, which := range order[i:j] {
			ranks[which] = i + 1 + j
		}
	}
	return ranks
}

// An Interval is a confidence interval.
type Interval struct {
	Low  float64
	High float64
}

// A unit is one seed set of one topic. It has a value for every random seed and, in a comparison,
// the values of the reference, which are subtracted.
type unit struct{ own, other []float64 }

// value returns the mean of own over the random seeds, minus the mean of other if there is one.
func (u unit) value() float64 {
	if u.other == nil {
		return mean(u.own)
	}
	return mean(u.own) - mean(u.other)
}

// A sample holds units by topic. Every topic has at least one.
type sample [][]unit

// mean returns the mean of the means of the topics: every topic has the same weight, however many
// seed sets it has.
func (s sample) mean() float64 {
	sum := 0.0
	for _, units := range s {
		topic := 0.0
		for _, u := range units {
			topic += u.value()
		}
		sum += topic / float64(len(units))
	}
	return sum / float64(len(s))
}

func (s sample) size() (n int) {
	for _, units := range s {
		n += len(units)
	}
	return n
}

// paired returns the values of the units, or of the topics, averaged over random seeds.
func (s sample) paired(byTopic bool) (own, other []float64) {
	for _, units := range s {
		first := len(own)
		for _, u := range units {
			own, other = append(own, mean(u.own)), append(other, mean(u.other))
		}
		if byTopic {
			own = append(own[:first], mean(own[first:]))
			other = append(other[:first], mean(other[first:]))
		}
	}
	return own, other
}

// resample returns the mean of a bootstrap sample: topics, seed sets of these topics, and random
// seeds of these sets are drawn with replacement.
func (s sample) resample(rng *rand.Rand) float64 {
	drawn := func(values []float64) float64 {
		if len(values) == 1 {
			return values[0]
		}
		sum := 0.0
		for range values {
			sum += values[rng.IntN(len(values))]
		}
		return sum / float64(len(values))
	}
	sum := 0.0
	for range s {
		units := s[rng.IntN(len(s))]
		topic := 0.0
		for range units {
			u := units[rng.IntN(len(units))]
			topic += drawn(u.own)
			if u.other != nil {
				topic -= drawn(u.other)
			}
		}
		sum += topic / float64(len(units))
	}
	return sum / float64(len(s))
}

// The number of draws of a bootstrap, and how many per 1,000 are cut off at each end for
// intervals of 95 % and of 90 %. The latter belong to two one-sided tests at 5 %.
const (
	draws        = 10_000
	cut95, cut90 = 25, 50
)

// bootstrap returns the sorted means of resamples of s. It is nil for a single value.
//
// The intervals are too narrow if there are few topics and these differ. With normally distributed
// values and 6 units per topic, 95 % intervals contained the true mean in 84 % of cases for
// 5 topics whose means differ twice as much as their units, in 95 % for 30 such topics, and
// in 98 % for 5 topics that do not differ.
//
// Source: A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their
// Application" (1997), section 3.8.
func (s sample) bootstrap(seed uint64) []float64 {
	if len(s) == 1 && len(s[0]) == 1 && len(s[0][0].own) == 1 && len(s[0][0].other) <= 1 {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	means := make([]float64, draws)
	for i := range means {
		means[i] = s.resample(rng)
	}
	slices.Sort(means)
	return means
}

// percentiles returns the interval that remains if cut of 1,000 sorted means are removed at each
// end.
func percentiles(means []float64, cut int) *Interval {
	if means == nil {
		return nil
	}
	n := len(means) * cut / 1000
	return &Interval{means[n-1], means[len(means)-n]}
}
