package fitness

import (
	"math"

	"spoor/internal/text"
)

// This file implements the relevance of
//
//	H. Fan, G. Zeng and X. Li, "Crawling Strategy of Focused Crawler Based on
//	Niche Genetic Algorithm", Eighth IEEE International Conference on
//	Dependable, Autonomic and Secure Computing, 2009, pp. 591–594,
//
// the vector space measure in which a word weighs by the tag it stands in.
//
//	paper  here             meaning
//	q_i    Keyword.Weight   weight of the topic's keyword i
//	x_i                     how often keyword i occurs in the page, over how often the most frequent one does
//	W(i)   Zone.Weight      weight of the tag: title 5, a 3, meta 2, others 1
//	β_i                     x_i · W(i)
//	S      VSM.Page         Σ q_i β_i / √(Σ q_i² · Σ β_i²)
//	S0     VSMThreshold     0.05
//
// The paper's W(i) is one number a word, but a word can stand in several tags.
// We weigh every occurrence by its own tag, β_i = Σ W / max count; Literal has
// the largest of the tags count for all occurrences. Dividing by the largest
// count multiplies β by a number, which leaves S as it is, so it is not done.
//
// S0 is all but empty for topics of few keywords: a page that has one keyword,
// once, has S = q_i / |q|, which for the paper's own topic is 0.101 at least.

// VSMThreshold is S0, the score from which a page is relevant.
const VSMThreshold = 0.05

// A Zone is a part of a page whose words weigh alike.
type Zone uint8

// The zones. The words of anchors stand in the body too, and count in both.
const (
	Title Zone = iota
	Anchor
	Meta
	Body
	zones
)

// Weight is W, how much a word counts that stands in the zone.
func (z Zone) Weight() float64 { return [zones]float64{5, 3, 2, 1}[z] }

// A Page is what a measure reads of a page.
type Page struct {
	Title       string
	Anchors     string // the words of all links
	Description string // of the meta elements
	Keywords    string // of the meta elements
	Text        string // all visible text
}

// A Norm is what the page's vector has entries for, by whose length S is
// divided.
type Norm uint8

// The norms.
const (
	TopicNorm Norm = iota // the topic's keywords: the paper's reading
	PageNorm              // all terms of the page, so that other words pull S down; expressions have entries beside their words
)

// VSM is the measure. Like its target it is for one goroutine.
type VSM struct {
	Norm    Norm
	Literal bool // the paper's W(i), one for each keyword; made for TopicNorm

	target *Target
	counts [zones][]float64 // by keyword
	beta   []float64        // by keyword
	page   text.Vector      // with PageNorm: the terms that are no keyword
	single []bool           // by term index: the term alone is a keyword
}

// NewVSM is the measure for a target.
func NewVSM(t *Target) *VSM {
	v := &VSM{target: t, beta: make([]float64, len(t.keywords)), single: make([]bool, len(t.first))}
	for z := range v.counts {
		v.counts[z] = make([]float64, len(t.keywords))
	}
	for _, k := range t.keywords {
		if len(k.terms) == 1 {
			v.single[k.terms[0].Index()] = true
		}
	}
	return v
}

// Page is S, in [0, 1]: 0 for a page without any of the keywords, an empty one
// included, and 1 if the page has them in the proportions of their weights and,
// with [PageNorm], nothing else.
func (v *VSM) Page(p *Page) float64 {
	v.target.analyzer.Trim()
	v.page.Reset()
	for z := range v.counts {
		clear(v.counts[z])
	}
	v.add(Title, p.Title)
	v.add(Anchor, p.Anchors)
	v.add(Meta, p.Description)
	v.add(Meta, p.Keywords)
	v.add(Body, p.Text)
	for k := range v.beta {
		if v.Literal {
			v.beta[k] = v.literal(k)
		} else {
			v.beta[k] = v.weighted(k)
		}
	}
	return v.target.cosine(v.beta, v.page.SumSquares())
}

// add counts the words of a zone.
func (v *VSM) add(z Zone, s string) {
	terms := v.target.read(s)
	v.target.count(v.counts[z], terms)
	if v.Norm != PageNorm {
		return
	}
	for _, term := range terms {
		if i := term.Index(); i >= len(v.single) || !v.single[i] {
			v.page.Add(term, z.Weight())
		}
	}
}

// weighted is β of keyword k: the sum over its occurrences of W.
func (v *VSM) weighted(k int) float64 {
	sum := 0.0
	for z := range zones {
		sum += v.counts[z][k] * z.Weight()
	}
	return sum
}

// literal is β of keyword k with one W for all its occurrences. An occurrence
// in an anchor stands in the body too and is counted once.
func (v *VSM) literal(k int) float64 {
	w := 0.0
	for z := range zones {
		if v.counts[z][k] > 0 {
			w = max(w, z.Weight())
		}
	}
	return w * (v.counts[Title][k] + v.counts[Meta][k] + max(v.counts[Anchor][k], v.counts[Body][k]))
}

// cosine is Σ q β / √(Σ q² · (Σ β² + rest)), where rest is Σ β² over what is no
// keyword; 0 if no keyword occurs. Counts are whole numbers, so that the sums
// over β are exact.
func (t *Target) cosine(beta []float64, rest float64) float64 {
	dot, square := 0.0, rest
	for k, b := range beta {
		dot += float64(t.keywords[k].weight * b)
		square += float64(b * b)
	}
	if dot == 0 {
		return 0
	}
	return min(dot/t.norm/math.Sqrt(square), 1)
}
