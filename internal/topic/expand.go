package topic

import (
	"errors"

	"spoor/internal/text"
	"spoor/internal/weburl"
)

// This file grows the weight table during a crawl, as Wilson et al. and Pal et al. do (see
// learn.go): a page with a very high score adds one of its words to the table, with its
// score as the weight. The table may grow beyond the size of the first table.
//
// If literal is set, the word is the best one of the page, with document frequencies of the example
// pages. This adds few words or none: the best word of a page that resembles the table is usually in
// the table, and a word that no example has is worth 0. By default it is the best word that
// is not in the table, and the page counts as one more document with its words. Words that are
// common to the positive and the negative examples are skipped, unless literal is set. A page adds one
// word, however often it is read.

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
	limit    float64
	literal  bool
	analyzer *text.Analyzer
	page     *text.Statistics // statistics of the page being added
	df       map[string]int
	common   map[string]bool
	present  map[string]bool
	added    map[string]bool // addresses of the pages that have added a word
}

// Expand returns an expansion of the topic's table by pages with a score of limit or more. If literal
// is set, it follows the papers literally. The rule Symbiosis needs the topic's vocabulary.
func (t *Topic) Expand(r Rule, limit float64, literal bool) (*Expansion, error) {
	if r == Symbiosis && len(t.Vocabulary) == 0 {
		return nil, errors.New("the topic has no vocabulary, which -expand needs\nhint: topic -positive makes it from example pages")
	}
	a, err := t.Analyzer()
	if err != nil {
		return nil, err
	}
	e := &Expansion{
		topic: t, rule: r, limit: limit, literal: literal, analyzer: a, page: text.NewStatistics(a),
		df: make(map[string]int), common: make(map[string]bool), present: make(map[string]bool), added: make(map[string]bool),
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
		if entry.Origin == Expanded {
			e.added[entry.URL] = true
		}
	}
	return e, nil
}

// Add adds the word that the rule chooses from p, and returns the new entry. It returns nil if the
// relevance is below the limit, or if the page has no word to add. It counts the page in the topic's
// section [Growth]. Pages must be added in the order in which they were fetched. The relevance, at most
// 1, becomes the weight.
func (e *Expansion) Add(p *Page, relevance float64) *Entry {
	url, err := weburl.Canonical(p.URL)
	if err != nil || !(relevance > 0 && relevance >= e.limit) || e.added[url] || len(e.topic.Table) >= maxTable {
		return nil
	}
	if e.topic.Growth == nil {
		e.topic.Growth = new(Growth)
	}
	growth := e.topic.Growth
	growth.Limit = rounded(e.limit)
	growth.Pages++
	e.page.Reset()
	known := e.analyzer.Len()
	if e.analyzer.Trim(); e.analyzer.Len() < known { // the numbers of terms have changed
		e.page = text.NewStatistics(e.analyzer)
	}
	e.page.Add(p.Title, p.Text)
	term, ok := top(e.analyzer, e.page, e.weight)
	if ok && e.present[e.analyzer.Name(term)] {
		growth.Known++
		if ok = !e.literal; ok {
			term, ok = top(e.analyzer, e.page, func(t text.Term) int {
				if e.present[e.analyzer.Name(t)] {
					return 0
				}
				return e.weight(t)
			})
		}
	}
	if !ok {
		return nil
	}
	name := e.analyzer.Name(term)
	e.present[name], e.added[url] = true, true
	growth.Words++
	entry := Entry{Term: name, Word: e.page.Form(term), Weight: min(rounded(relevance), 1), DF: e.df[name], Origin: Expanded, URL: url}
	e.topic.Table = append(e.topic.Table, entry)
	return &entry
}

// weight returns what a word of the page is worth to the rule; 0 for a word that cannot be added.
func (e *Expansion) weight(t text.Term) int {
	name := e.analyzer.Name(t)
	switch {
	case e.common[name] && !e.literal:
		return 0
	case e.rule == Tunnel:
		return e.page.TF(t)
	case e.literal:
		return e.page.TF(t) * e.df[name]
	}
	return e.page.TF(t) * (e.df[name] + 1)
}
