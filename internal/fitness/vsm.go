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
//	S0     VSMThreshold     0.05; a page with S > S0 is relevant
//
// The paper's W(i) is one number per word, but a word can occur in several tags. We weight every
// occurrence by its own tag, β_i = Σ W / max count; with Literal the highest weight of its tags
// applies to all occurrences. An occurrence in an anchor is also in the body, and counts once, as
// one in the anchor. The division by the largest count cancels in S and is omitted.
//
// S0 has little effect for topics of few keywords: a page with one occurrence of one keyword
// has S = q_i / |q|, which is at least 0.101 for the paper's own topic.

// VSMThreshold is S0: a page is relevant if its score is greater.
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

// Threshold returns the lowest score above [VSMThreshold].
func (v *VSM) Threshold() float64 { return math.Nextafter(VSMThreshold, 1) }

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
			v.beta[k] = literal(r.counts(k))
		} else {
			v.beta[k] = weighted(r.counts(k))
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
		var counts [zones]float64
		for z, n := range words.of(term) {
			counts[z] = float64(n)
		}
		w := weighted(counts)
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

// counts returns the occurrences of keyword k in each zone.
func (r *Reading) counts(k int) (counts [zones]float64) {
	for z := range zones {
		counts[z] = r.zones[z].counts[k]
	}
	return counts
}

// outside returns the occurrences of a word in each zone, where those in the body are outside of
// anchors. Anchors may have more occurrences than the body, if the body is the main content only.
func outside(counts [zones]float64) [zones]float64 {
	counts[Body] = max(0, counts[Body]-counts[Anchor])
	return counts
}

// weighted returns β of a word: the sum of W over its occurrences.
func weighted(counts [zones]float64) (sum float64) {
	for z, n := range outside(counts) {
		sum += float64(n * Zone(z).Weight())
	}
	return sum
}

// literal returns β of a word with one W for all its occurrences.
func literal(counts [zones]float64) float64 {
	n, w := 0.0, 0.0
	for z, of := range outside(counts) {
		if n += of; of > 0 {
			w = max(w, Zone(z).Weight())
		}
	}
	return float64(n * w)
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
