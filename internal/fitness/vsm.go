package fitness

import (
	"math"
)

// This file implements the relevance of
//
//	H. Fan, G. Zeng and X. Li, "Crawling Strategy of Focused Crawler Based on
//	Niche Genetic Algorithm", Eighth IEEE International Conference on
//	Dependable, Autonomic and Secure Computing, 2009, pp. 591–594,
//
// the vector space measure in which the tag around a word sets its weight.
//
//	paper  here             meaning
//	q_i    Keyword.Weight   weight of the topic's keyword i
//	x_i                     occurrences of keyword i in the page, over those of the most frequent keyword
//	W(i)   Zone.Weight      weight of the tag: title 5, a 3, meta 2, others 1
//	β_i                     x_i · W(i)
//	S      VSM.Page         Σ q_i β_i / √(Σ q_i² · Σ β_i²)
//	S0     VSMThreshold     0.05
//
// The paper's W(i) is one number per word, but a word can occur in several tags. We weight every
// occurrence by its own tag, β_i = Σ W / max count; with Literal the highest weight of its tags
// applies to all occurrences. The division by the largest count cancels in S and is omitted.
//
// S0 has little effect for topics of few keywords: a page with one occurrence of one keyword
// has S = q_i / |q|, which is at least 0.101 for the paper's own topic.

// VSMThreshold is S0, the score from which a page is relevant.
const VSMThreshold = 0.05

// Weight returns W, the weight of words in the zone.
func (z Zone) Weight() float64 { return [zones]float64{5, 3, 2, 1}[z] }

// A Norm determines the entries of the page's vector. S is divided by the length of this vector.
type Norm uint8

// The norms.
const (
	TopicNorm Norm = iota // the topic's keywords, as in the paper
	PageNorm              // all terms of the page, so that other words lower S; an expression and its words all have entries
)

// VSM is the measure. Its parts ([VSM.Explain]) sum to S.
type VSM struct {
	Norm    Norm
	Literal bool // use the paper's W(i), one number for each keyword; intended for TopicNorm

	target *Target
	beta   []float64 // by keyword
	single []bool    // by term index: the term alone is a keyword
}

// NewVSM returns the measure for a target.
func NewVSM(t *Target) *VSM {
	v := &VSM{target: t, beta: make([]float64, len(t.keywords)), single: make([]bool, len(t.first))}
	for _, k := range t.keywords {
		if len(k.terms) == 1 {
			v.single[k.terms[0].Index()] = true
		}
	}
	return v
}

// Threshold returns [VSMThreshold].
func (v *VSM) Threshold() float64 { return VSMThreshold }

// Page returns S, in [0, 1]: 0 for a page without any keyword, and 1 if the page has the
// keywords in the proportions of their weights and, with [PageNorm], nothing else.
func (v *VSM) Page(r *Reading) float64 {
	return v.cosine(v.vector(r))
}

func (v *VSM) cosine(dot, length float64) float64 {
	if dot == 0 {
		return 0
	}
	return min(dot/v.target.norm/length, 1)
}

// Explain returns q·β / (|q|·|β|) of every keyword that occurs; Count is β.
func (v *VSM) Explain(r *Reading) []Reason {
	var reasons []Reason
	_, length := v.vector(r)
	for i, b := range v.beta {
		if k := &v.target.keywords[i]; b > 0 {
			reasons = append(reasons, Reason{k.text, b, k.weight, k.weight * b / v.target.norm / length})
		}
	}
	return sorted(reasons)
}

// vector sets β, and returns Σ q β and √Σ β² over all entries of the page's vector. Counts are
// integers, so the sums over β are exact.
func (v *VSM) vector(r *Reading) (dot, length float64) {
	for k := range v.beta {
		if v.Literal {
			v.beta[k] = r.literal(k)
		} else {
			v.beta[k] = r.weighted(k)
		}
	}
	others := 0.0
	if v.Norm == PageNorm {
		others = v.otherSquares(r.bag())
	}
	return v.product(others)
}

// otherSquares returns Σ β² over the words that are not keywords.
func (v *VSM) otherSquares(words *bag) (sum float64) {
	for _, term := range words.terms {
		if i := term.Index(); i < len(v.single) && v.single[i] {
			continue
		}
		w := 0.0
		for z, n := range words.of(term) {
			w += float64(float64(n) * Zone(z).Weight())
		}
		sum += float64(w * w)
	}
	return sum
}

// product returns Σ q β and √(Σ β² + others).
func (v *VSM) product(others float64) (dot, length float64) {
	square := others
	for k, b := range v.beta {
		dot += float64(v.target.keywords[k].weight * b)
		square += float64(b * b)
	}
	return dot, math.Sqrt(square)
}

// weighted returns β of keyword k: the sum of W over its occurrences.
func (r *Reading) weighted(k int) float64 {
	sum := 0.0
	for z := range zones {
		sum += float64(r.zones[z].counts[k] * z.Weight())
	}
	return sum
}

// literal returns β of keyword k with one W for all its occurrences. An occurrence in an
// anchor is also in the body and is counted once.
func (r *Reading) literal(k int) float64 {
	w := 0.0
	for z := range zones {
		if r.zones[z].counts[k] > 0 {
			w = max(w, z.Weight())
		}
	}
	return w * (r.zones[Title].counts[k] + r.zones[Meta].counts[k] + max(r.zones[Anchor].counts[k], r.zones[Body].counts[k]))
}

// Link returns the promise of a link by the neighbourhood of links.go, with S of each text,
// with equal weights for all words and the same norm.
func (v *VSM) Link(l *LinkReading) Promise {
	return shark(v.similarity(&l.anchor), v.similarity(&l.context), v.similarity(&l.url))
}

// similarity returns S of a text with equal weights for all words.
func (v *VSM) similarity(p *passage) float64 {
	if !p.found {
		return 0
	}
	copy(v.beta, p.counts)
	others := 0.0
	if v.Norm == PageNorm {
		others = v.otherSquares(v.target.bagOf(p))
	}
	return v.cosine(v.product(others))
}
