package topic

import (
	"errors"

	"spoor/internal/text"
	"spoor/internal/weburl"
)

// This file grows the weight table during a crawl, as Wilson et al. and Pal et al. do (see
// learn.go): a page with a very high score adds one of its words to the table, with its
// score as the weight. A page adds nothing if the word is already in the table. In addition,
// words that are common to the positive and the negative examples are skipped. The table may
// grow beyond the size of the first table, and document frequencies are still taken from the
// example pages.

// A Rule chooses the word that a page adds. Rules are named after the strategies of the papers.
type Rule uint8

// The known rules.
const (
	Symbiosis Rule = iota // Wilson et al.: the word with the highest tf · df; the words of the query are in the table
	Tunnel                // Pal et al.: the most frequent word; the words of the query are not in the table
)

// Threshold returns the lowest score of a page that adds a word.
func (r Rule) Threshold() float64 { return [...]float64{0.7, 0.9}[r] }

// An Expansion grows the table of a topic. It is not safe for concurrent use.
type Expansion struct {
	topic    *Topic
	rule     Rule
	analyzer *text.Analyzer
	page     *text.Statistics // statistics of the page being added
	df       map[string]int
	common   map[string]bool
	present  map[string]bool
}

// Expand returns an expansion of the topic's table. The rule Symbiosis needs the topic's
// vocabulary.
func (t *Topic) Expand(r Rule) (*Expansion, error) {
	if r == Symbiosis && len(t.Vocabulary) == 0 {
		return nil, errors.New("the topic has no vocabulary, which -expand needs\nhint: topic -positive makes it from example pages")
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

// Add adds the word that the rule chooses from p, and returns the new entry. It returns nil if
// the word is already in the table. Pages must be added in the order in which they were fetched,
// and only if their relevance reaches the threshold. The relevance, at most 1, becomes the weight.
func (e *Expansion) Add(p *Page, relevance float64) *Entry {
	url, err := weburl.Canonical(p.URL)
	if err != nil || !(relevance > 0) || len(e.topic.Table) >= maxTable {
		return nil
	}
	e.page.Reset()
	known := e.analyzer.Len()
	if e.analyzer.Trim(); e.analyzer.Len() < known { // the numbers of terms have changed
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
