package fitness

import (
	"errors"
	"fmt"
	"math"
)

// This file implements BM25 as the second fitness of
//
//	Alfonsus Wilson, H. Armanto, Gunawan and Tanwijaya, 2021 (genetic algorithm and
//	symbiotic organisms search, eq. 3):
//
//	Σ IDF(q_i) · f (k1 + 1) / (f + k1 (1 − b + b |D| / avgdl))
//
//	paper   here                        meaning
//	q_i     the keywords of the target  words of the query
//	f       Reason.Count                occurrences of q_i in title and text
//	|D|     BM25                        number of scored terms in title and text
//	avgdl   Statistics.AverageLength    mean |D| of the corpus: the example pages, or a background
//	k1, b   k1, literalB                1.5 (the paper has 1.2 to 2.0) and 0.75
//	IDF     BM25                        ln(1 + (N − n + ½) / (n + ½)), not given in the paper
//	N, n    Statistics.Documents, .DF   number of pages of the corpus, and of its pages with q_i
//
// The paper's formula is used if Literal is set. Otherwise
//
//   - a keyword's IDF is multiplied by its weight, which is 1 for the words of a query;
//   - an occurrence in the title counts as five, as in vsm.go, in f but not in |D|. This is the
//     weighted frequency of S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 Extension to
//     Multiple Weighted Fields", CIKM 2004;
//   - b is 0.9;
//   - the sum is multiplied by (m/M)^(2/M) if m of M keywords occur. So for two words, a page with
//     both is before a page that repeats one of them; a long query is rather a list of
//     alternatives, for which the factor is near 1.
//
// These were chosen by the queries of doc/results/measures.md and doc/results/words.md.
//
// In the short texts of links, frequencies and lengths carry no information. There k1 = 0: the
// value is the sum of weight · IDF over the keywords that occur, divided by the sum over all
// keywords, and so in [0, 1].

// The parameters of BM25.
const (
	k1          = 1.5
	b           = 0.9
	literalB    = 0.75
	titleWeight = 5
)

// Statistics describe the corpus of the pages.
type Statistics struct {
	Documents     int     // N, at least 1
	AverageLength float64 // avgdl, above 0
	DF            []int   // n of each keyword, in the target's order, at most N
}

// BM25 is the measure. Its parts ([BM25.Explain]) sum to the score.
type BM25 struct {
	target   *Target
	average  float64
	b        float64
	title    float64   // weight of an occurrence in the title
	gain     []float64 // by keyword: IDF, times its weight
	sum      float64   // sum of gain
	coverage []float64 // by number of keywords that occur: factor of the score
}

// NewBM25 returns the measure for a target and statistics of its keywords. If literal is set, it is
// the paper's formula.
func NewBM25(t *Target, s Statistics, literal bool) (*BM25, error) {
	switch {
	case len(s.DF) != len(t.keywords):
		return nil, fmt.Errorf("there are statistics of %d keywords, want %d", len(s.DF), len(t.keywords))
	case s.Documents < 1:
		return nil, errors.New("the statistics have no documents")
	case !(s.AverageLength > 0) || math.IsInf(s.AverageLength, 0):
		return nil, fmt.Errorf("the average length of the documents is %v, want a number above 0", s.AverageLength)
	}
	m := &BM25{target: t, average: s.AverageLength, b: b, title: titleWeight, gain: make([]float64, len(s.DF))}
	if literal {
		m.b, m.title = literalB, 1
	}
	for k, n := range s.DF {
		if n < 0 || n > s.Documents {
			return nil, fmt.Errorf("keyword %q is in %d documents of %d", t.keywords[k].text, n, s.Documents)
		}
		m.gain[k] = math.Log1p((float64(s.Documents-n) + 0.5) / (float64(n) + 0.5))
		if !literal {
			m.gain[k] *= t.keywords[k].weight
		}
		m.sum += m.gain[k]
	}
	for n := range len(s.DF) + 1 {
		c := 1.0
		if !literal {
			c = math.Pow(float64(n)/float64(len(s.DF)), 2/float64(len(s.DF)))
		}
		m.coverage = append(m.coverage, c)
	}
	return m, nil
}

// Threshold returns 0.4 times the score of a page of average length with one occurrence of each
// keyword in its text. In doc/results/measures.md, precision and recall balance there. The paper's
// threshold of 0.7 is for another scale.
func (m *BM25) Threshold() float64 { return 0.4 * m.sum }

// Page returns BM25, in [0, (k1 + 1)·Σ IDF]. A page without any keyword has 0.
func (m *BM25) Page(r *Reading) float64 {
	sum, found, length := 0.0, 0, m.length(r)
	for k := range m.gain {
		if f := m.frequency(r, k); f > 0 {
			sum += m.part(k, f, length)
			found++
		}
	}
	return sum * m.coverage[found]
}

// Explain returns the summand of every keyword that occurs; Weight is its IDF times its weight
// in the topic.
func (m *BM25) Explain(r *Reading) []Reason {
	var reasons []Reason
	length := m.length(r)
	for k, gain := range m.gain {
		if f := m.frequency(r, k); f > 0 {
			reasons = append(reasons, Reason{m.target.keywords[k].text, f, gain, m.part(k, f, length)})
		}
	}
	for i := range reasons {
		reasons[i].Part *= m.coverage[len(reasons)]
	}
	return sorted(reasons)
}

// frequency returns f of keyword k.
func (m *BM25) frequency(r *Reading, k int) float64 {
	return float64(m.title*r.zones[Title].counts[k]) + r.zones[Body].counts[k]
}

// length returns k1 (1 − b + b |D| / avgdl).
func (m *BM25) length(r *Reading) float64 {
	return float64(k1 * (1 - m.b + float64(m.b*float64(r.length())/m.average)))
}

// part returns the summand of keyword k with frequency f.
func (m *BM25) part(k int, f, length float64) float64 {
	return float64(m.gain[k] * f * (k1 + 1) / (f + length))
}

// Link returns the promise of a link by the neighbourhood of links.go, with BM25 at k1 = 0
// divided by its maximum.
func (m *BM25) Link(l *LinkReading) Promise {
	return shark(m.share(&l.anchor), m.share(&l.context), m.share(&l.url))
}

func (m *BM25) share(p *passage) float64 {
	if !p.found {
		return 0
	}
	sum := 0.0
	for k, n := range p.counts {
		if n > 0 {
			sum += m.gain[k]
		}
	}
	return min(sum/m.sum, 1)
}
