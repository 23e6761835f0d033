package fitness

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"spoor/internal/text"
)

// This file implements a logistic classifier of pages, trained on examples by
// [Train]: the probability that a page is about the topic.
//
//	s = bias + Σ weight_f · √(count_f / length)
//	p = 1 / (1 + exp(−(slope · s + intercept)))
//
// A feature f is a stem, or two consecutive stems, ignoring silent terms between them. Title,
// meta elements and visible text have the same weight; the words of anchors are part of the text. The
// length of a page is its number of scored terms. So the stems of a page are a vector of length 1, and
// the similarity of two pages is the similarity of their word distributions (the Hellinger
// affinity). Slope and intercept turn s into a probability (Calibrate).
//
// The probability assumes a web in which pages of the topic are as frequent as among the
// examples. If they are rarer, as on nearly every web, p is too high, and only the order of
// the pages is meaningful.
//
// The promise of a text is the gain in probability from its words: max(0, p − p₀) / (1 − p₀),
// where p is the probability of a page with this text, and p₀ the probability of an empty page.
// The promise is 0 for a text without known words, or with words that indicate other topics. A
// link has the promises of its anchor, its context and its address. Its score is the promise of
// the three texts together.

// ClassifierThreshold is the default of the lowest probability of a relevant page.
const ClassifierThreshold = 0.5

// A Model is a trained classifier.
type Model struct {
	Bias             float64
	Slope, Intercept float64   // calibration; the slope is not negative
	Threshold        float64   // the lowest probability of a relevant page
	Features         []Feature // in no particular order

	Training Training // report of the training; not used to classify
}

// A Feature is one stem or two consecutive stems, with a weight. The weight is positive if pages with
// the feature are more probably about the topic.
type Feature struct {
	Name   string // the stems, joined by a space
	Weight float64
}

// A Classifier is the measure. Like its target it is not safe for concurrent use.
type Classifier struct {
	target           *Target
	bias             float64
	slope, intercept float64
	empty            float64 // p₀
	threshold        float64
	names            []string
	weights          []float64
	alone            []int32          // by term index: the feature that consists of this term, or none
	begins, ends     []bool           // by term index: whether a feature of two stems begins or ends with it
	pairs            map[uint64]int32 // by both terms: the feature

	counts []float64 // scratch, by feature
	found  []int32   // scratch: features with a count, in order of appearance
	length int       // scratch
}

// maxWords is the maximum number of terms read of a page.
const maxWords = 1 << 14

// large is the limit for the numbers of a model, so that sums of their products are finite.
const large = 1e60

// NewClassifier returns the measure for a target and a model that was trained for it. The stems of
// the model must be made by the target's analyzer.
func NewClassifier(t *Target, m *Model) (*Classifier, error) {
	for _, v := range []float64{m.Bias, m.Slope, m.Intercept} {
		if !(math.Abs(v) < large) {
			return nil, fmt.Errorf("%v is out of range for a model", v)
		}
	}
	if !(m.Threshold >= 0 && m.Threshold <= 1) {
		return nil, fmt.Errorf("threshold %v is not from 0 to 1", m.Threshold)
	}
	if m.Slope < 0 {
		return nil, fmt.Errorf("slope %v is negative: more relevant pages would have lower scores", m.Slope)
	}
	c := &Classifier{
		target: t, bias: m.Bias, slope: m.Slope, intercept: m.Intercept, threshold: m.Threshold,
		counts: make([]float64, len(m.Features)),
		pairs:  make(map[uint64]int32),
	}
	stems := make([][]text.Term, len(m.Features))
	for i, f := range m.Features {
		if !(math.Abs(f.Weight) < large) {
			return nil, fmt.Errorf("feature %q: %v is out of range for a model", f.Name, f.Weight)
		}
		c.names = append(c.names, f.Name)
		c.weights = append(c.weights, f.Weight)
		for stem := range strings.SplitSeq(f.Name, " ") {
			if stem == "" || len(stems[i]) == 2 {
				return nil, fmt.Errorf("feature %q is not one stem, or two joined by a space\nhint: features are made by training", f.Name)
			}
			stems[i] = append(stems[i], t.analyzer.Stem(stem))
		}
	}
	t.analyzer.Keep()
	c.alone = make([]int32, t.analyzer.Len())
	c.begins, c.ends = make([]bool, len(c.alone)), make([]bool, len(c.alone))
	for i := range c.alone {
		c.alone[i] = none
	}
	for i, s := range stems {
		twice := false
		if len(s) == 1 {
			at := &c.alone[s[0].Index()]
			twice, *at = *at != none, int32(i)
		} else {
			key := pair(s[0], s[1])
			_, twice = c.pairs[key]
			c.pairs[key] = int32(i)
			c.begins[s[0].Index()], c.ends[s[1].Index()] = true, true
		}
		if twice {
			return nil, errors.New("two features called " + m.Features[i].Name)
		}
	}
	c.empty = c.probability(c.bias)
	return c, nil
}

// Threshold returns the threshold of the model.
func (c *Classifier) Threshold() float64 { return c.threshold }

// pair returns two terms as one number.
func pair(a, b text.Term) uint64 { return uint64(a)<<32 | uint64(b) }

// Page returns p, in [0, 1], or 0 if the page has no words.
func (c *Classifier) Page(r *Reading) float64 {
	c.read(r)
	if c.length == 0 {
		return 0
	}
	return c.probability(c.score())
}

// Explain returns slope · weight · √(count / length) of every feature that occurs, in units of
// log-odds, and the value of an empty page as "(bias)": the parts sum to log(p / (1 − p)).
// A negative part lowers the probability.
func (c *Classifier) Explain(r *Reading) []Reason {
	c.read(r)
	if c.length == 0 {
		return nil
	}
	reasons := []Reason{{"(bias)", 1, c.bias, float64(c.slope*c.bias) + c.intercept}}
	for _, f := range c.found {
		reasons = append(reasons, Reason{c.names[f], c.counts[f], c.weights[f],
			c.slope * c.weights[f] * math.Sqrt(c.counts[f]/float64(c.length))})
	}
	return sorted(reasons)
}

// Link returns the promise of a link. For the score, a word is counted separately in each of the
// texts that contain it.
func (c *Classifier) Link(l *LinkReading) Promise {
	return Promise{
		Anchor:  c.promise(&l.anchor),
		Context: c.promise(&l.context),
		URL:     c.promise(&l.url),
		Score:   c.promise(&l.anchor, &l.context, &l.url),
	}
}

// promise returns the gain in probability of the concatenated texts. No pair of stems spans two
// texts.
func (c *Classifier) promise(texts ...*passage) float64 {
	c.reset()
	for _, p := range texts {
		c.add(p.terms)
	}
	if len(c.found) == 0 || c.empty == 1 {
		return 0
	}
	return max(0, c.probability(c.score())-c.empty) / (1 - c.empty)
}

// read counts the features of a page.
func (c *Classifier) read(r *Reading) {
	c.reset()
	for _, z := range prose {
		c.add(r.zones[z].terms)
	}
}

// prose are the zones whose terms are features.
var prose = [...]Zone{Title, Meta, Body}

func (c *Classifier) reset() {
	for _, f := range c.found {
		c.counts[f] = 0
	}
	c.found, c.length = c.found[:0], 0
}

func (c *Classifier) add(terms []text.Term) {
	before := text.Gap
	begun := false // whether the previous term begins a feature
	for _, term := range terms {
		if term.Silent() {
			continue
		}
		if c.length == maxWords {
			return
		}
		c.length++
		i := term.Index()
		if i >= len(c.alone) {
			begun = false
			continue
		}
		if f := c.alone[i]; f != none {
			c.count(f)
		}
		if begun && c.ends[i] {
			if f, ok := c.pairs[pair(before, term)]; ok {
				c.count(f)
			}
		}
		before, begun = term, c.begins[i]
	}
}

func (c *Classifier) count(f int32) {
	if c.counts[f] == 0 {
		c.found = append(c.found, f)
	}
	c.counts[f]++
}

// score returns s of the counted features, summed in order of appearance.
func (c *Classifier) score() float64 {
	if len(c.found) == 0 {
		return c.bias
	}
	sum := 0.0
	for _, f := range c.found {
		sum += float64(c.weights[f] * math.Sqrt(c.counts[f]))
	}
	return c.bias + sum/math.Sqrt(float64(c.length))
}

// probability returns p of a page whose score is s.
func (c *Classifier) probability(s float64) float64 {
	return Sigmoid(float64(c.slope*s) + c.intercept)
}
