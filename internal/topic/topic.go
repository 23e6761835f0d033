// Package topic defines the topic of a crawl as a file that people can read, compare and keep under
// version control.
//
// A topic file contains expressions in the user's words, each with the terms that match it.
// Package fitness computes how relevant a page is to a topic.
package topic

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"spoor/internal/text"
)

// Format and Version identify a topic file.
const (
	Format  = "spoor-topic"
	Version = 1
)

// A Topic describes the content of relevant pages. The sections after its keywords are made from
// example pages, and each may be absent.
type Topic struct {
	Format     string      `json:"format"`               // [Format]
	Version    int         `json:"version"`              // [Version]
	Query      string      `json:"query,omitempty"`      // the user's words, only for people
	Language   string      `json:"language"`             // ISO 639-1 code of the language of the words
	Stemmer    string      `json:"stemmer"`              // a stemmer of the language, see package text
	Threshold  *float64    `json:"threshold,omitempty"`  // lowest score of a relevant page; nil: the default of the fitness measure
	Keywords   []Keyword   `json:"keywords"`             // matched expressions, never empty
	Statistics *Statistics `json:"statistics,omitempty"` // statistics of all example pages
	Table      []Entry     `json:"table,omitempty"`      // words of the topic, weighted by the positive examples
	Growth     *Growth     `json:"growth,omitempty"`     // how many words pages of the crawl have added to the table
	Vocabulary []Shared    `json:"vocabulary,omitempty"` // terms, grouped by the number of positive examples that contain them
	Common     []string    `json:"common,omitempty"`     // terms that the negative examples also contain, see learn.go
	Reference  *Reference  `json:"reference,omitempty"`  // the page that others are compared with
	Classifier *Classifier `json:"classifier,omitempty"` // trained on the examples
	General    *General    `json:"background,omitempty"` // word frequencies in pages on all topics, see [Topic.Background]
}

// A Keyword is a word, or several consecutive words, of the topic.
type Keyword struct {
	Text   string   `json:"text"`         // as the user wrote it
	Weight float64  `json:"weight"`       // from 1e-100 to 1e100
	Terms  []string `json:"terms"`        // the terms that match: stems, and the stop words between them
	DF     int      `json:"df,omitempty"` // number of example pages that contain the keyword; 0 without Statistics
}

// New returns an empty topic for the given language and stemmer; empty names mean the defaults of
// package text.
func New(language, stemmer string) (*Topic, error) {
	if language == "" {
		language = text.DefaultLanguage
	}
	if _, err := text.New(language, stemmer); err != nil {
		return nil, err
	}
	if stemmer == "" {
		stemmer = text.Stemmers(language)[0]
	}
	return &Topic{Format: Format, Version: Version, Language: language, Stemmer: stemmer}, nil
}

// Analyzer returns a new analyzer for the topic's words and the pages compared with them.
func (t *Topic) Analyzer() (*text.Analyzer, error) { return text.New(t.Language, t.Stemmer) }

// AddKeyword adds an expression of one or more words. The weight must be from 1e-100 to
// 1e100. It is an error if the expression has no word that can be matched, or if the topic has a
// keyword that is matched by the same terms.
func (t *Topic) AddKeyword(expression string, weight float64) error {
	a, err := t.Analyzer()
	if err != nil {
		return err
	}
	if err := checkWeight(expression, weight); err != nil {
		return err
	}
	expression = strings.ToValidUTF8(expression, "\uFFFD") // a topic file can hold only valid UTF-8
	terms, err := spell(a, expression)
	if err != nil {
		return err
	}
	if i := t.find(terms); i >= 0 {
		return fmt.Errorf("keywords %q and %q are matched by the same terms (%s)\nhint: give one of them",
			t.Keywords[i].Text, expression, strings.Join(terms, " "))
	}
	t.Keywords = append(t.Keywords, Keyword{Text: expression, Weight: weight, Terms: terms})
	return nil
}

// The limits of keyword weights, chosen so that the sum of the squares of many weights is finite and above 0.
const (
	minWeight = 1e-100
	maxWeight = 1e100
)

// checkWeight checks the weight of a keyword.
func checkWeight(keyword string, weight float64) error {
	switch {
	case !(weight > 0):
		return fmt.Errorf("keyword %q: weight %v is not above 0", keyword, weight)
	case weight < minWeight || weight > maxWeight:
		return fmt.Errorf("keyword %q: weight %v is not from %v to %v\nhint: weights are relative; 1 is the default", keyword, weight, minWeight, maxWeight)
	}
	return nil
}

// AddQuery adds every word of query with weight 1, except those to ignore, in lower case, and returns
// the words that are not added because they cannot be matched, such as stop words. A word is not
// added if the topic already has its term, with any weight.
func (t *Topic) AddQuery(query string, ignore ...string) (ignored []string, err error) {
	a, err := t.Analyzer()
	if err != nil {
		return nil, err
	}
	query = strings.ToValidUTF8(query, "\uFFFD") // a topic file can hold only valid UTF-8
	before := len(t.Keywords)
	known := false
	for word := range text.Words(query) {
		terms, err := spell(a, word)
		switch {
		case err != nil, slices.Contains(ignore, strings.ToLower(word)):
			if !slices.Contains(ignored, word) {
				ignored = append(ignored, word)
			}
		case t.find(terms) >= 0:
			known = true
		default:
			t.Keywords = append(t.Keywords, Keyword{Text: word, Weight: 1, Terms: terms})
		}
	}
	if len(t.Keywords) == before && !known {
		return ignored, fmt.Errorf("query %q: it has no words that count\nhint: use words that distinguish pages about the topic from others", query)
	}
	t.Query = strings.Join(strings.Fields(t.Query+" "+query), " ")
	return ignored, nil
}

// find returns the index of the keyword with these terms, or -1 if there is none.
func (t *Topic) find(terms []string) int {
	return slices.IndexFunc(t.Keywords, func(k Keyword) bool { return slices.Equal(k.Terms, terms) })
}

// spell returns the names of the terms that match expression.
func spell(a *text.Analyzer, expression string) ([]string, error) {
	var names []string
	counts := false
	for _, term := range a.Append(nil, expression) {
		if term == text.Gap {
			return nil, fmt.Errorf("keyword %q: a number of more than four digits, or a word too long, is never matched\nhint: leave it out", expression)
		}
		names = append(names, a.Name(term))
		counts = counts || !term.Silent()
	}
	if !counts {
		return nil, fmt.Errorf("keyword %q: it has only stop words and single characters\nhint: use a longer expression or leave it out", expression)
	}
	return names, nil
}

// ValidThreshold reports whether v can be a topic's threshold: finite and not negative.
func ValidThreshold(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }
