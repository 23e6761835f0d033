// Package fitness says how near a page is to a topic, and what a link promises:
// one measure a file, each with its source.
//
// A [Target] reads a page once, for any number of measures of it ([Target.Read]).
// All measures see the same terms (see package text), know nothing of records,
// files or topics as files, and are functions of their arguments alone: the
// same page has the same value whatever was measured before it. Values lie in
// [0, 1] unless a measure says otherwise, larger is nearer, and none is ever
// NaN.
package fitness

import (
	"errors"
	"fmt"
	"math"

	"spoor/internal/text"
)

// A Keyword is an expression of one or more words that tells of a topic, and
// its weight, which is above 0.
type Keyword struct {
	Text   string
	Weight float64
}

// A Target is a topic made ready to be found in text: its keywords as terms of
// one analyzer. It keeps scratch memory and is not safe for concurrent use, nor
// are the measures that share it.
type Target struct {
	analyzer *text.Analyzer
	keywords []expression
	first    []int32      // by term index: the first keyword that begins with the term, or none
	begins   [1 << 8]bool // by the lowest byte of a term: whether first has any such
	norm     float64      // |q| = √Σ q²

	reading Reading     // scratch
	link    LinkReading // scratch
	words   bag         // scratch of bagOf
	spare   []byte      // scratch
}

// An expression is a keyword as it is matched.
type expression struct {
	text   string
	weight float64
	terms  []text.Term
	next   int32 // the next keyword with the same first term, or none
}

const none = -1

// NewTarget prepares keywords to be found by a, in whose terms they stay. A
// keyword of several words is found where its words follow one another, in any
// inflection but in this order, stop words included. It is an error if there is
// no keyword, or one that has only stop words, or one whose weight is not above
// 0 and finite.
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

// Narrow leaves the words that neither a keyword nor a measure made so far asks for untold from
// one another, which takes less time and memory. It is for measures that ask for no others: not
// for [WordScore], [Jaccard] and [PageNorm], which count all words of a page, nor for [Train].
func (t *Target) Narrow() { t.analyzer.Restrict() }
