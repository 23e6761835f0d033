package fitness

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"spoor/internal/text"
)

// This file implements the relevance by a table of weighted words, from
//
//	A. Pal, D. S. Tomar and S. C. Shrivastava, "Effective Focused Crawling Based
//	on Content and Link Structure Analysis", International Journal of Computer
//	Science and Information Security 2 (1), 2009 (eq. 1–3), and of
//	Alfonsus Wilson, H. Armanto, Gunawan and Tanwijaya, 2021 (genetic algorithm and
//	symbiotic organisms search, eq. 1 and 2), which multiplies the same relevance by the number of documents:
//
//	papers  here            meaning
//	t       the table       words of the topic
//	w_kt    Entry.Weight    weight of word k in the table, the largest being 1
//	f_kp    2 and 1         weight of the place: title, text
//	w_kp    WeightTable     weight of word k in the page:
//	                        tunnel (Pal)        2·tf_title + tf_body
//	                        symbiosis (Wilson)  (2·tf_title + tf_body)·df_k
//	df_k    Entry.DF        documents of the first population that have word k
//	        Page            Σ w_kt·w_kp / √(Σ w_kt² · Σ w_kp²)
//
// The papers add the weights of the places (3 for a word in both), and do not state whether more
// occurrences have more weight. We count each occurrence. With Literal each place is counted once,
// and in Wilson's form the places are multiplied by tf·df, with tf over the whole page.
//
// Σ w_kp² is over the words of the table (Pal: "the weight of words in page
// corresponding to the keyword in the table"); with PageNorm over all words.
//
// The 0.05 that Wilson adds to the relevance belongs to the roulette of the strategy and is not
// included.
//
// Links: Pal scores a link by its address and its anchor, each by the formula above; Wilson by
// the pages that contain it. A measure has no access to these pages, so the neighbourhood of
// links.go is used instead.

// TableThreshold is the minimum score of a relevant page: the middle of the limits in Pal's
// runs, 0.3 to 0.5. Wilson gives no threshold; 0.7 in Wilson's paper is for pages that extend
// the table.
const TableThreshold = 0.4

// An Entry is a word of the weight table.
type Entry struct {
	Term   string  // its stem
	Word   string  // its written form, or "" if unknown
	Weight float64 // not negative; entries with 0 only supply their DF to PageNorm
	DF     int     // number of documents that contain the word; 0 means 1
}

// WeightTable is the measure. Its parts ([WeightTable.Explain]) sum to the
// score.
type WeightTable struct {
	Norm    Norm
	Literal bool // each place counts once

	byDocuments bool // Wilson's form
	target      *Target
	entries     []Entry
	length      float64     // √Σ w_kt²
	entry       []int32     // by term index: its entry, or none
	tf          [][2]uint32 // by entry: occurrences in the title, and in the text
	present     []int32     // the entries whose tf is not zero, in order of appearance
}

// NewTunnelTable returns the measure in Pal's form. Entries must have distinct terms and
// finite weights that are not negative, at least one of them positive.
func NewTunnelTable(t *Target, table []Entry) (*WeightTable, error) {
	return newWeightTable(t, table, false)
}

// NewSymbiosisTable returns the measure in Wilson's form, with the same requirements.
func NewSymbiosisTable(t *Target, table []Entry) (*WeightTable, error) {
	return newWeightTable(t, table, true)
}

func newWeightTable(t *Target, table []Entry, byDocuments bool) (*WeightTable, error) {
	w := &WeightTable{byDocuments: byDocuments, target: t, entries: table, tf: make([][2]uint32, len(table))}
	square := 0.0
	for i, e := range table {
		if !(e.Weight >= 0) || math.IsInf(e.Weight, 0) || e.DF < 0 {
			return nil, fmt.Errorf("table: %q has the weight %v and is in %d documents", e.Term, e.Weight, e.DF)
		}
		if !w.put(t.analyzer.Stem(e.Term), int32(i)) {
			return nil, fmt.Errorf("table: duplicate term %q", e.Term)
		}
		square += float64(e.Weight * e.Weight)
	}
	w.length = math.Sqrt(square)
	if w.length == 0 || math.IsInf(w.length, 0) {
		return nil, errors.New("table: the weights are all zero, or too small or too large to be squared")
	}
	t.analyzer.Keep()
	return w, nil
}

// put sets the entry of a term. It returns false if the term already has an entry.
func (w *WeightTable) put(t text.Term, entry int32) bool {
	for t.Index() >= len(w.entry) {
		w.entry = append(w.entry, none)
	}
	e := &w.entry[t.Index()]
	if *e != none {
		return false
	}
	*e = entry
	return true
}

// Threshold returns [TableThreshold].
func (w *WeightTable) Threshold() float64 { return TableThreshold }

// Page returns the relevance, in [0, 1]: 0 for a page without any word of the table, and 1 if
// the page has them in the proportions of their weights and, with [PageNorm], nothing else.
func (w *WeightTable) Page(r *Reading) float64 {
	return w.cosine(w.vector(r))
}

// Explain returns w_kt·w_kp of every word of the table that occurs, divided by the lengths of
// both vectors; Count is w_kp.
func (w *WeightTable) Explain(r *Reading) []Reason {
	var reasons []Reason
	dot, length := w.vector(r)
	if dot == 0 {
		return nil
	}
	for _, i := range w.present {
		if e := &w.entries[i]; e.Weight > 0 {
			weight := w.weight(w.tf[i][0], w.tf[i][1], e.DF)
			reasons = append(reasons, Reason{cmp.Or(e.Word, e.Term), weight, e.Weight, e.Weight * weight / w.length / length})
		}
	}
	return sorted(reasons)
}

// Link returns the promise of a link. In Pal's form its Score is the mean of URL and Anchor:
// the first two terms of the paper's link score, halved to stay in [0, 1].
func (w *WeightTable) Link(l *LinkReading) Promise {
	anchor, context, url := w.similarity(&l.anchor), w.similarity(&l.context), w.similarity(&l.url)
	if w.byDocuments {
		return shark(anchor, context, url)
	}
	return Promise{Anchor: anchor, Context: context, URL: url, Score: (url + anchor) / 2}
}

// similarity returns the relevance of a text as body.
func (w *WeightTable) similarity(p *passage) float64 {
	w.reset()
	w.count(1, p)
	others := 0.0
	if w.Norm == PageNorm && len(w.present) > 0 {
		others = w.otherSquares(w.target.bagOf(p))
	}
	return w.cosine(w.product(others))
}

// vector counts the words of the page, and returns Σ w_kt·w_kp and √Σ w_kp².
func (w *WeightTable) vector(r *Reading) (dot, length float64) {
	w.reset()
	w.count(0, &r.zones[Title])
	w.count(1, &r.zones[Body])
	others := 0.0
	if w.Norm == PageNorm && len(w.present) > 0 {
		others = w.otherSquares(r.bag())
	}
	return w.product(others)
}

func (w *WeightTable) reset() {
	for _, i := range w.present {
		w.tf[i] = [2]uint32{}
	}
	w.present = w.present[:0]
}

// count counts the terms of p in a place: 0 is the title, 1 the text.
func (w *WeightTable) count(place int, p *passage) {
	for _, term := range p.terms {
		index := term.Index()
		if index >= len(w.entry) || w.entry[index] == none {
			continue
		}
		i := w.entry[index]
		if w.tf[i] == [2]uint32{} {
			w.present = append(w.present, i)
		}
		w.tf[i][place]++
	}
}

// product returns Σ w_kt·w_kp over the table, and √(Σ w_kp² + others). The w_kp are integers, so
// that the second sum is exact.
func (w *WeightTable) product(others float64) (dot, length float64) {
	square := others
	for _, i := range w.present {
		e := &w.entries[i]
		if e.Weight == 0 {
			continue
		}
		weight := w.weight(w.tf[i][0], w.tf[i][1], e.DF)
		dot += float64(e.Weight * weight)
		square += float64(weight * weight)
	}
	return dot, math.Sqrt(square)
}

// otherSquares returns Σ w_kp² over the words that are not in the table.
func (w *WeightTable) otherSquares(words *bag) float64 {
	sum := 0.0
	for _, term := range words.terms {
		df := 1
		if i := term.Index(); i < len(w.entry) && w.entry[i] != none {
			e := &w.entries[w.entry[i]]
			if e.Weight > 0 {
				continue
			}
			df = e.DF
		}
		counts := words.of(term)
		weight := w.weight(counts[Title], counts[Body], df)
		sum += float64(weight * weight)
	}
	return sum
}

// weight returns w_kp of a word that occurs title times in the title, body times in the text, and in
// df documents.
func (w *WeightTable) weight(title, body uint32, df int) float64 {
	weight := 2*float64(title) + float64(body)
	if w.Literal {
		weight = 2*float64(min(title, 1)) + float64(min(body, 1))
	}
	if w.byDocuments {
		weight *= float64(max(df, 1))
		if w.Literal {
			weight *= float64(title) + float64(body)
		}
	}
	return weight
}

func (w *WeightTable) cosine(dot, length float64) float64 {
	if dot == 0 {
		return 0
	}
	return min(dot/w.length/length, 1)
}
