package fitness

import (
	"errors"
	"fmt"
	"math"
)

// This file implements BM25 as the second fitness of
//
//	A. J. Wilson, H. Armanto, Gunawan and Tanwijaya, 2021 (genetic algorithm and
//	symbiotic organisms search, eq. 4):
//
//	Σ IDF(q_i) · f (k1 + 1) / (f + k1 (1 − b + b |D| / avgdl))
//
//	paper   here                        meaning
//	q_i     the keywords of the target  words of the query
//	f       Reason.Count                occurrences of q_i in title and text
//	|D|     BM25                        number of scored terms in title and text
//	avgdl   Statistics.AverageLength    mean |D| of the corpus: the example pages, or a background
//	k1, b   K1, B                       1.5 (the paper has 1.2 to 2.0) and 0.75
//	IDF     BM25                        ln(1 + (N − n + ½) / (n + ½)), not given in the paper
//	N, n    Statistics.Documents, .DF   number of pages of the corpus, and of its pages with q_i
//
// The paper's formula has no weights of keywords; we multiply by the weights, unless Literal is set.
// For a query all weights are 1.
//
// In the short texts of links, frequencies and lengths carry no information. There k1 = 0: the
// value is the sum of weight · IDF over the keywords that occur, divided by the sum over all
// keywords, and so in [0, 1].

// K1 and B are the parameters of BM25.
const (
	K1 = 1.5
	B  = 0.75
)

// Statistics describe the corpus of the pages.
type Statistics struct {
	Documents     int     // N, at least 1
	AverageLength float64 // avgdl, above 0
	DF            []int   // n of each keyword, in the target's order, at most N
}

// BM25 is the measure. Its parts ([BM25.Explain]) sum to the score.
type BM25 struct {
	target  *Target
	average float64
	gain    []float64 // by keyword: IDF, times its weight
	sum     float64   // sum of gain
}

// NewBM25 returns the measure for a target and statistics of its keywords. If literal is set,
// weights are ignored, as in the paper's formula.
func NewBM25(t *Target, s Statistics, literal bool) (*BM25, error) {
	switch {
	case len(s.DF) != len(t.keywords):
		return nil, fmt.Errorf("there are statistics of %d keywords, want %d", len(s.DF), len(t.keywords))
	case s.Documents < 1:
		return nil, errors.New("the statistics have no documents")
	case !(s.AverageLength > 0) || math.IsInf(s.AverageLength, 0):
		return nil, fmt.Errorf("the average length of the documents is %v, want a number above 0", s.AverageLength)
	}
	b := &BM25{target: t, average: s.AverageLength, gain: make([]float64, len(s.DF))}
	for k, n := range s.DF {
		if n < 0 || n > s.Documents {
			return nil, fmt.Errorf("keyword %q is in %d documents of %d", t.keywords[k].text, n, s.Documents)
		}
		b.gain[k] = math.Log1p((float64(s.Documents-n) + 0.5) / (float64(n) + 0.5))
		if !literal {
			b.gain[k] *= t.keywords[k].weight
		}
		b.sum += b.gain[k]
	}
	return b, nil
}

// Threshold returns half the score of a page of average length with one occurrence of each
// keyword. The paper's threshold of 0.7 is for another scale.
func (b *BM25) Threshold() float64 { return b.sum / 2 }

// Page returns BM25, in [0, (k1 + 1)·Σ IDF). A page without any keyword has 0.
func (b *BM25) Page(r *Reading) float64 {
	sum, length := 0.0, b.length(r)
	for k := range b.gain {
		sum += b.part(r, k, length)
	}
	return sum
}

// Explain returns the summand of every keyword that occurs; Weight is its IDF times its weight
// in the topic.
func (b *BM25) Explain(r *Reading) []Reason {
	var reasons []Reason
	length := b.length(r)
	for k, gain := range b.gain {
		if f := r.occurrences(k); f > 0 {
			reasons = append(reasons, Reason{b.target.keywords[k].text, f, gain, b.part(r, k, length)})
		}
	}
	return sorted(reasons)
}

// length returns k1 (1 − b + b |D| / avgdl).
func (b *BM25) length(r *Reading) float64 {
	return float64(K1 * (1 - B + float64(B*float64(r.length())/b.average)))
}

// part returns the summand of keyword k.
func (b *BM25) part(r *Reading, k int, length float64) float64 {
	f := r.occurrences(k)
	return float64(b.gain[k] * f * (K1 + 1) / (f + length))
}

// Link returns the promise of a link by the neighbourhood of links.go, with BM25 at k1 = 0
// divided by its maximum.
func (b *BM25) Link(l *LinkReading) Promise {
	return shark(b.share(&l.anchor), b.share(&l.context), b.share(&l.url))
}

func (b *BM25) share(p *passage) float64 {
	if !p.found {
		return 0
	}
	sum := 0.0
	for k, n := range p.counts {
		if n > 0 {
			sum += b.gain[k]
		}
	}
	return min(sum/b.sum, 1)
}
