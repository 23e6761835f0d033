package topic

import (
	"errors"

	"spoor/internal/text"
	"spoor/internal/weburl"
)

// This file grows the weight table while a crawl goes on, as Wilson et al. and
// Pal et al. do (see learn.go): a page that is very near to the topic brings one
// word of its own into the table, with the nearness of the page as its weight. We
// pass over words that are common to the positive and the negative examples, which
// made the table without them. If the word is there already the page brings nothing. How many words come in
// is not bounded by the size that the table had first, and the number of
// documents that have a word stays what it was over the example pages.

// A Rule is a paper's choice of the word that a page brings.
type Rule uint8

// The rules.
const (
	Symbiosis Rule = iota // Wilson et al.: the word with the highest tf · df; the words of the query are in the table
	Tunnel                // Pal et al.: the most frequent word; the words of the query are not in the table
)

// Threshold is the nearness from which a page brings a word.
func (r Rule) Threshold() float64 { return [...]float64{0.7, 0.9}[r] }

// An Expansion grows the table of a topic. It is for one goroutine.
type Expansion struct {
	topic    *Topic
	rule     Rule
	analyzer *text.Analyzer
	page     *text.Statistics // of the page that is looked at
	df       map[string]int
	common   map[string]bool
	present  map[string]bool
}

// Expand prepares the topic's table to be grown. By the rule Symbiosis this
// takes the topic's vocabulary.
func (t *Topic) Expand(r Rule) (*Expansion, error) {
	if r == Symbiosis && len(t.Vocabulary) == 0 {
		return nil, errors.New("the topic has no vocabulary, by which words are chosen\nhint: topic -positive makes one from example pages")
	}
	a, err := t.Analyzer()
	if err != nil {
		return nil, err
	}
	e := &Expansion{
		topic: t, rule: r, analyzer: a, page: text.NewStatistics(a),
		df: make(map[string]int), common: make(map[string]bool), present: make(map[string]bool),
	}
	for _, s := range t.Vocabulary {
		for _, term := range s.Terms {
			e.df[term] = s.DF
		}
	}
	for _, term := range t.Common {
		e.common[term] = true
	}
	for _, entry := range t.Table {
		if entry.Origin != FromQuery || r == Symbiosis {
			e.present[entry.Term] = true
		}
	}
	return e, nil
}

// Add adds the word that p brings, unless it is there. Pages are to come in the
// order in which they were fetched, and only those whose relevance, which is
// above 0 and becomes the weight, reaches the threshold; a weight is at most 1.
// What Add returns is the new entry, or nil.
func (e *Expansion) Add(p *Page, relevance float64) *Entry {
	url, err := weburl.Canonical(p.URL)
	if err != nil || !(relevance > 0) || len(e.topic.Table) >= maxTable {
		return nil
	}
	e.page.Reset()
	known := e.analyzer.Len()
	if e.analyzer.Trim(); e.analyzer.Len() < known { // the terms have new numbers
		e.page = text.NewStatistics(e.analyzer)
	}
	e.page.Add(p.Title, p.Text)
	term, ok := top(e.analyzer, e.page, func(t text.Term) int {
		name := e.analyzer.Name(t)
		switch {
		case e.common[name]:
			return 0
		case e.rule == Tunnel:
			return e.page.TF(t)
		}
		return e.page.TF(t) * e.df[name]
	})
	name := e.analyzer.Name(term)
	if !ok || e.present[name] {
		return nil
	}
	e.present[name] = true
	entry := Entry{Term: name, Word: e.page.Form(term), Weight: min(rounded(relevance), 1), DF: e.df[name], Origin: Expanded, URL: url}
	e.topic.Table = append(e.topic.Table, entry)
	return &entry
}
