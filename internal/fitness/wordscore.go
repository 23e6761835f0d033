package fitness

import "math"

// This file implements the page score of
//
//	B. Saket and F. Behrang, "A New Crawling Method Based on AntNet Genetic and
//	Routing Algorithms", ISCCC 2009, eq. 1–6:
//
//	1  TF_i = freq_i / freq_max
//	2  wordscore_i = freq_i / N + α · TF_i
//	3  pagescore1 = Σ wordscore_i · weight_i
//	4  C = cos(wordscore, weight)
//	5  pagescore = C · pagescore1
//	6  linkscore1: the same of the words around a link
//
//	paper     here                        meaning
//	weight_i  Keyword.Weight              weight of keyword i, scaled to the sum 1
//	freq_i    Reason.Count                occurrences in title and text
//	freq_max  WordScore                   the same for the page's most frequent term
//	N         WordScore                   terms of title and text
//	α         Alpha                       4
//
// Stop words and other silent terms are neither in N nor in freq_max. The paper does not state the
// sum of the weights, but its mean scores, 0.33 to 0.70, are possible for weights with the sum 1.
// If literal is set, the weights are used as given, and N is the number of all words. The window of
// a link is its anchor with the words before and after it.

// Alpha is α, the share of the relative frequency in the score of a word.
const Alpha = 4

// WordScoreThreshold is the score from which a page is relevant, for weights with the sum 1.
// The paper names no threshold; this is the lowest of the mean scores reported for its crawlers.
const WordScoreThreshold = 0.33

// WordScore is the measure. Its parts ([WordScore.Explain]) sum to the score.
type WordScore struct {
	target  *Target
	literal bool
	weight  []float64 // by keyword
	sum     float64   // Σ weight
	length  float64   // √Σ weight²
	alpha   float64
	word    []float64 // by keyword: scratch
	window  passage   // scratch
}

// NewWordScore returns the measure for a target. Alpha must be finite and not negative. If
// literal is set, weights are used as given, and stop words count in N.
func NewWordScore(t *Target, alpha float64, literal bool) *WordScore {
	w := &WordScore{target: t, literal: literal, alpha: alpha, weight: make([]float64, len(t.keywords)), word: make([]float64, len(t.keywords))}
	sum := 0.0
	for _, k := range t.keywords {
		sum += k.weight
	}
	if literal {
		sum = 1
	}
	square := 0.0
	for i, k := range t.keywords {
		w.weight[i] = k.weight / sum
		w.sum += w.weight[i]
		square += float64(w.weight[i] * w.weight[i])
	}
	w.length = math.Sqrt(square)
	return w
}

// Threshold returns [WordScoreThreshold] times the sum of the weights.
func (w *WordScore) Threshold() float64 { return WordScoreThreshold * w.sum }

// Page returns the page score, in [0, 1 + α] if the weights sum to 1: 0 for a page without any
// keyword, also for an empty page.
func (w *WordScore) Page(r *Reading) float64 {
	c, one := w.page(r)
	return c * one
}

// Explain returns C·wordscore·weight of every keyword that occurs; Weight is the scaled
// weight.
func (w *WordScore) Explain(r *Reading) []Reason {
	var reasons []Reason
	c, _ := w.page(r)
	for k, s := range w.word {
		if s > 0 {
			reasons = append(reasons, Reason{w.target.keywords[k].text, r.occurrences(k), w.weight[k], c * s * w.weight[k]})
		}
	}
	return sorted(reasons)
}

// page returns C and pagescore1.
func (w *WordScore) page(r *Reading) (c, one float64) {
	clear(w.word)
	if !r.zones[Title].found && !r.zones[Body].found {
		return 0, 0
	}
	for k := range w.word {
		w.word[k] = r.occurrences(k)
	}
	n := r.length()
	if w.literal {
		n = len(r.zones[Title].terms) + len(r.zones[Body].terms)
	}
	return w.score(float64(n), float64(r.bag().maxCount()))
}

// Link returns the promise of a link. Its Score is linkscore1, the score of the window; Anchor,
// Context and URL are the scores of these texts. All are in [0, 1 + α], like page scores, to which
// strategies add them. As in the paper, Score ignores the address.
func (w *WordScore) Link(l *LinkReading) Promise {
	before, after := l.context.terms[:l.at], l.context.terms[l.at:]
	if len(after) > 0 {
		after = after[1:] // the Gap
	}
	w.window.terms = append(append(append(w.window.terms[:0], before...), l.anchor.terms...), after...)
	w.target.count(&w.window)
	return Promise{
		Anchor:  w.text(&l.anchor, len(l.anchor.terms)),
		Context: w.text(&l.context, len(before)+len(after)),
		URL:     w.text(&l.url, len(l.url.terms)),
		Score:   w.text(&w.window, len(w.window.terms)),
	}
}

// text returns the score of a text with the given number of words, stop words included.
func (w *WordScore) text(p *passage, words int) float64 {
	if !p.found {
		return 0
	}
	if !w.literal {
		words = p.words
	}
	copy(w.word, p.counts)
	c, one := w.score(float64(words), float64(w.target.bagOf(p).maxCount()))
	return c * one
}

// score replaces the frequencies in w.word by word scores, and returns C and pagescore1. n is the
// number of words of the text, most the frequency of its most frequent term.
func (w *WordScore) score(n, most float64) (c, one float64) {
	square := 0.0
	for k, f := range w.word {
		s := f/n + float64(w.alpha*(f/most))
		w.word[k] = s
		one += float64(s * w.weight[k])
		square += float64(s * s)
	}
	if one == 0 {
		return 0, 0
	}
	return min(one/w.length/math.Sqrt(square), 1), one
}
