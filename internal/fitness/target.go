// Package fitness measures the relevance of pages to a topic, and predicts the relevance of link
// targets. Each file is one measure, with its source.
//
// A [Target] reads a page once for any number of measures ([Target.Read]). All measures use
// the same terms (see package text), are independent of records, files and topic files, and
// are functions of their arguments only: the value of a page does not depend on pages measured
// before. Values are in [0, 1] unless a measure is documented otherwise; a higher value is more
// relevant, and no value is NaN.
package fitness

import (
	"errors"
	"fmt"
	"math"

	"spoor/internal/text"
)

// A Keyword is an expression of one or more words that describes a topic, with a positive
// weight.
type Keyword struct {
	Text   string
	Weight float64
}

// A Target is a topic prepared for matching: its keywords as terms of one analyzer. It has
// scratch memory; it and the measures that share it are not safe for concurrent use.
type Target struct {
	analyzer *text.Analyzer
	keywords []expression
	first    []int32      // by term index: the first keyword that begins with the term, or none
	begins   [1 << 8]bool // by the lowest byte of a term: whether any keyword begins with such a term
	norm     float64      // |q| = √Σ q²

	reading Reading     // scratch
	link    LinkReading // scratch
	words   bag         // scratch of bagOf
	spare   []byte      // scratch
}

// An expression is a keyword as terms.
type expression struct {
	text   string
	weight float64
	terms  []text.Term
	next   int32 // the next keyword with the same first term, or none
}

const none = -1

// NewTarget returns a target with these keywords, in terms of a. A keyword of several words
// matches consecutive words in this order, including stop words, in any inflection. It is an error
// if there is no keyword, if a keyword consists of stop words only, or if a weight is not
// positive and finite.
func NewTarget(a *text.Analyzer, keywords []Keyword) (*Target, error) {
	if len(keywords) == 0 {
		return nil, errors.New("a topic without keywords")
	}
	t := &Target{analyzer: a}
	sum := 0.0
	for _, k := range keywords {
		if !(k.Weight > 0) || math.IsInf(k.Weight, 0) {
			return nil, fmt.Errorf("keyword %q: weight %v is not above 0 and finite", k.Text, k.Weight)
		}
		terms := a.Append(nil, k.Text)
		counts := false
		for _, term := range terms {
			if term == text.Gap {
				return nil, fmt.Errorf("keyword %q: a number of more than four digits, or a word too long, is never matched", k.Text)
			}
			counts = counts || !term.Silent()
		}
		if !counts {
			return nil, fmt.Errorf("keyword %q: nothing but stop words", k.Text)
		}
		t.keywords = append(t.keywords, expression{k.Text, k.Weight, terms, none})
		sum += float64(k.Weight * k.Weight)
	}
	t.norm = math.Sqrt(sum)
	if t.norm == 0 || math.IsInf(t.norm, 0) {
		return nil, errors.New("the weights of the keywords are too small or too large to be squared")
	}
	a.Keep()
	t.first = make([]int32, a.Len())
	for i := range t.first {
		t.first[i] = none
	}
	for i := len(t.keywords) - 1; i >= 0; i-- {
		begin := t.keywords[i].terms[0]
		head := &t.first[begin.Index()]
		t.keywords[i].next, *head = *head, int32(i)
		t.begins[uint8(begin)] = true
	}
	return t, nil
}

// Restrict restricts the analyzer to the words of keywords and of the measures made so far, and
// does not distinguish other words, which saves time and memory. It must not be used with
// measures that count all words of a page ([WordScore], [Jaccard] and [PageNorm]) or with
// [Train].
func (t *Target) Restrict() { t.analyzer.Restrict() }
