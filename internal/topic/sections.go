package topic

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"spoor/internal/text"
	"spoor/internal/weburl"
)

// This file defines the sections of a topic that are made from example pages, the order in
// which they are written, and the checks when they are read.

// Statistics describe the example pages, positive and negative, as a sample of the pages of a
// crawl.
type Statistics struct {
	Documents     int     `json:"documents"`      // N, at least 1
	AverageLength float64 `json:"average_length"` // above 0: terms of title and text that are not silent, see package text
}

// An Origin is the source of an entry of the table.
type Origin string

// The origins. A measure that includes the words of the query (weighttable) uses all entries;
// if a term has two entries, it uses the entry from the query. Other measures ignore entries from
// the query.
const (
	FromQuery Origin = "query"     // a word of a keyword, with weight 1
	FromPages Origin = "page"      // a word with one of the highest tf · df over the positive examples
	Expanded  Origin = "expansion" // added by a page of the crawl
)

// An Entry is a word of the weight table. The table has one entry for a term, and a second one if
// the term is also a word of the query.
type Entry struct {
	Term   string  `json:"term"`          // the stem that is matched
	Word   string  `json:"word"`          // the stem's most frequent form, lower case
	Weight float64 `json:"weight"`        // in (0, 1]
	DF     int     `json:"df,omitempty"`  // positive examples that have the term
	Origin Origin  `json:"origin"`        // source of the entry
	URL    string  `json:"url,omitempty"` // address of the page that added the entry, if Expanded
}

// A Growth counts the pages that were relevant enough to add a word to the table since it was made.
type Growth struct {
	Limit float64 `json:"limit"` // the score that they reach; the latest, if it has changed
	Pages int     `json:"pages"`
	Known int     `json:"known"` // pages whose best word was in the table already
	Words int     `json:"words"` // words that were added; at most Pages
}

// Shared holds the terms with the same document frequency among the positive examples.
type Shared struct {
	DF    int      `json:"df"` // at least 1
	Terms []string `json:"terms"`
}

// A Reference is the page that others are compared with.
type Reference struct {
	URL    string   `json:"url"`
	Counts int      `json:"counts"` // how often keywords occur in title and text
	Links  []string `json:"links"`  // canonical addresses that the page links to, each once, sorted
	Terms  []string `json:"terms"`  // stems of title and text, each once, sorted
}

// A Classifier is a logistic model of pages and the calibration of its output, see package
// fitness.
type Classifier struct {
	Bias      float64   `json:"bias"`
	Slope     float64   `json:"slope"`
	Intercept float64   `json:"intercept"`
	Threshold float64   `json:"threshold"` // in [0, 1]
	Positives int       `json:"positives"` // positive and negative pages of the training, at least 1 of each
	Negatives int       `json:"negatives"`
	Features  []Feature `json:"features"`
}

// A Feature is a term, or several consecutive terms, with a weight. A negative weight means that
// pages with the feature are less probably about the topic.
type Feature struct {
	Name   string  `json:"name"` // stems, joined by a space
	Weight float64 `json:"weight"`
}

// General holds the document frequencies of a collection of pages on all topics.
type General struct {
	Documents     int      `json:"documents"`      // at least 1
	AverageLength float64  `json:"average_length"` // above 0, as in [Statistics]
	Vocabulary    []Shared `json:"vocabulary"`     // the most frequent terms
}

// Limits of the sections of a file, far above what topic writes.
const (
	maxTable    = 20_000
	maxTerms    = 1 << 20 // terms of the vocabulary; also of the reference
	maxLinks    = 1 << 17
	maxFeatures = 1 << 18
	maxTerm     = 256 // bytes of a stem
	maxGram     = 8   // stems of a feature
	maxCount    = 1 << 40
)

// order sorts the lists of the sections in the order in which they are written. An empty table,
// vocabulary or list of common terms becomes nil; nil lists of the other sections become empty lists.
func (t *Topic) order() {
	if len(t.Table) == 0 {
		t.Table = nil
	}
	if len(t.Vocabulary) == 0 {
		t.Vocabulary = nil
	}
	if len(t.Common) == 0 {
		t.Common = nil
	}
	slices.Sort(t.Common)
	orderVocabulary(t.Vocabulary)
	if g := t.General; g != nil {
		g.Vocabulary = append([]Shared{}, g.Vocabulary...)
		orderVocabulary(g.Vocabulary)
	}
	slices.SortFunc(t.Table, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Term, b.Term), -strings.Compare(string(a.Origin), string(b.Origin)))
	})
	if r := t.Reference; r != nil {
		r.Links, r.Terms = append([]string{}, r.Links...), append([]string{}, r.Terms...)
		slices.Sort(r.Links)
		slices.Sort(r.Terms)
	}
	if c := t.Classifier; c != nil {
		c.Features = append([]Feature{}, c.Features...)
		slices.SortFunc(c.Features, func(a, b Feature) int {
			return cmp.Or(cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)), strings.Compare(a.Name, b.Name))
		})
	}
}

func orderVocabulary(v []Shared) {
	slices.SortFunc(v, func(a, b Shared) int { return cmp.Compare(b.DF, a.DF) })
	for _, s := range v {
		slices.Sort(s.Terms)
	}
}

// checkSections returns an error if a section of a topic is invalid. The keywords must be valid. It
// sets the terms of entries that were written by hand.
func (t *Topic) checkSections(a *text.Analyzer) error {
	documents := 0
	if s := t.Statistics; s != nil {
		documents = s.Documents
		if err := checkCollection(documents, s.AverageLength); err != nil {
			return fmt.Errorf("statistics: %w", err)
		}
	}
	for _, k := range t.Keywords {
		if err := checkDF(k.DF, documents); err != nil {
			return fmt.Errorf("keyword %q: %w", k.Text, err)
		}
	}
	if err := t.checkTable(a, documents); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	if g := t.Growth; g != nil && (!ValidThreshold(g.Limit) || g.Pages < 0 || g.Pages > maxCount || min(g.Known, g.Words) < 0 || max(g.Known, g.Words) > g.Pages) {
		return fmt.Errorf("growth: %+v: want a limit of at least 0, at most %d pages, and at most as many known and added words as pages", *g, maxCount)
	}
	if err := checkVocabulary(t.Vocabulary, documents); err != nil {
		return fmt.Errorf("vocabulary: %w", err)
	}
	if err := checkTerms(t.Common, make(map[string]bool)); err != nil {
		return fmt.Errorf("common: %w", err)
	}
	if t.Reference != nil {
		if err := t.Reference.check(); err != nil {
			return fmt.Errorf("reference: %w", err)
		}
	}
	if t.Classifier != nil {
		if err := t.Classifier.check(); err != nil {
			return fmt.Errorf("classifier: %w", err)
		}
	}
	if g := t.General; g != nil {
		if err := cmp.Or(checkCollection(g.Documents, g.AverageLength), checkVocabulary(g.Vocabulary, g.Documents)); err != nil {
			return fmt.Errorf("background: %w", err)
		}
	}
	return nil
}

// checkCollection checks the size of a collection of pages.
func checkCollection(documents int, averageLength float64) error {
	switch {
	case documents < 1 || documents > maxCount:
		return fmt.Errorf("%d documents", documents)
	case !(averageLength > 0) || averageLength > maxCount:
		return fmt.Errorf("average length %v is not above 0", averageLength)
	}
	return nil
}

// checkDF checks a document frequency.
func checkDF(df, documents int) error {
	if df < 0 || df > documents {
		return fmt.Errorf("df %d is not within the %d documents", df, documents)
	}
	return nil
}

func (t *Topic) checkTable(a *text.Analyzer, documents int) error {
	if len(t.Table) > maxTable {
		return fmt.Errorf("more than %d entries", maxTable)
	}
	type key struct {
		term  string
		query bool
	}
	seen := make(map[key]bool, len(t.Table))
	for i := range t.Table {
		e := &t.Table[i]
		term, ok := stem(a, e.Word)
		if !ok {
			return fmt.Errorf("%q is not a word that is matched\nhint: the word of an entry must be a single word, and not a stop word", e.Word)
		}
		if e.Term == "" {
			e.Term = term
		}
		if e.Term != term {
			return fmt.Errorf("%q: its term is %q here, the file says %q\nhint: after editing the word, delete the term beside it", e.Word, term, e.Term)
		}
		if !(e.Weight > 0 && e.Weight <= 1) {
			return fmt.Errorf("%q: weight %v is not above 0 and at most 1", e.Word, e.Weight)
		}
		if err := checkDF(e.DF, documents); err != nil {
			return fmt.Errorf("%q: %w", e.Word, err)
		}
		switch e.Origin {
		case FromQuery, FromPages:
			if e.URL != "" {
				return fmt.Errorf("%q: origin %s has no url", e.Word, e.Origin)
			}
		case Expanded:
			if err := canonical(e.URL); err != nil {
				return fmt.Errorf("%q: %w", e.Word, err)
			}
		default:
			return fmt.Errorf("%q: origin %q is none of %s, %s, %s", e.Word, e.Origin, FromQuery, FromPages, Expanded)
		}
		k := key{e.Term, e.Origin == FromQuery}
		if seen[k] {
			return fmt.Errorf("%q: there is another entry of the term %q\nhint: leave one of them", e.Word, e.Term)
		}
		seen[k] = true
	}
	return nil
}

// stem returns the only term that matches word, if it is a single word that is not a stop
// word.
func stem(a *text.Analyzer, word string) (string, bool) {
	terms := a.Append(nil, word)
	if len(terms) != 1 || terms[0].Silent() {
		return "", false
	}
	return a.Name(terms[0]), true
}

// canonical checks that an address is canonical.
func canonical(url string) error {
	c, err := weburl.Canonical(url)
	if err != nil {
		return fmt.Errorf("url %q: %w", url, err)
	}
	if c != url {
		return fmt.Errorf("url %q is not canonical: want %s", url, c)
	}
	return nil
}

func checkVocabulary(v []Shared, documents int) error {
	groups, terms := make(map[int]bool), make(map[string]bool)
	for _, s := range v {
		if err := checkDF(s.DF, documents); err != nil {
			return err
		}
		if s.DF == 0 || groups[s.DF] || len(s.Terms) == 0 {
			return fmt.Errorf("df %d: want a df of 1 or more, at most one entry for each, and terms in each entry", s.DF)
		}
		groups[s.DF] = true
		if err := checkTerms(s.Terms, terms); err != nil {
			return err
		}
	}
	return nil
}

// checkTerms checks that the terms can be stems and are not in seen, and adds them to seen.
func checkTerms(terms []string, seen map[string]bool) error {
	if len(seen)+len(terms) > maxTerms {
		return fmt.Errorf("more than %d terms", maxTerms)
	}
	for _, s := range terms {
		if !isTerm(s) {
			return fmt.Errorf("%q is not a term", s)
		}
		if seen[s] {
			return fmt.Errorf("term %q is there twice", s)
		}
		seen[s] = true
	}
	return nil
}

// isTerm reports whether s may be a stem. It does not compare s with the stem of s, because
// stemming a stem may change it.
func isTerm(s string) bool {
	return s != "" && len(s) <= maxTerm && !strings.ContainsAny(s, " \t\n\r")
}

func (r *Reference) check() error {
	if err := canonical(r.URL); err != nil {
		return err
	}
	if r.Counts < 0 || r.Counts > maxCount {
		return fmt.Errorf("counts %d is not a number from 0", r.Counts)
	}
	if len(r.Links) > maxLinks {
		return fmt.Errorf("more than %d links", maxLinks)
	}
	seen := make(map[string]bool, len(r.Links))
	for _, l := range r.Links {
		if err := canonical(l); err != nil {
			return fmt.Errorf("links: %w", err)
		}
		if seen[l] {
			return fmt.Errorf("link %s is there twice", l)
		}
		seen[l] = true
	}
	return checkTerms(r.Terms, make(map[string]bool))
}

func (c *Classifier) check() error {
	for _, v := range []float64{c.Bias, c.Slope, c.Intercept} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("bias, slope and intercept must be finite")
		}
	}
	switch {
	case !(c.Threshold >= 0 && c.Threshold <= 1):
		return fmt.Errorf("threshold %v is not from 0 to 1", c.Threshold)
	case c.Positives < 1 || c.Negatives < 1 || c.Positives > maxCount || c.Negatives > maxCount:
		return fmt.Errorf("%d positive and %d negative pages are too few to learn from", c.Positives, c.Negatives)
	case len(c.Features) > maxFeatures:
		return fmt.Errorf("more than %d features", maxFeatures)
	}
	seen := make(map[string]bool, len(c.Features))
	for _, f := range c.Features {
		stems := 0
		for s := range strings.SplitSeq(f.Name, " ") {
			if stems++; !isTerm(s) || stems > maxGram {
				return fmt.Errorf("feature %q is not a list of stems separated by spaces", f.Name)
			}
		}
		if f.Weight == 0 || math.IsNaN(f.Weight) || math.IsInf(f.Weight, 0) {
			return fmt.Errorf("feature %q: weight %v is not a finite number other than 0", f.Name, f.Weight)
		}
		if seen[f.Name] {
			return fmt.Errorf("feature %q is there twice", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}
