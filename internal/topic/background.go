package topic

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"

	"spoor/internal/background"
	"spoor/internal/text"
)

// This file returns how frequent words are in general. For a topic of a few words, this shows which
// of them distinguish pages.

// backgroundSize is the largest number of terms in the section that [Topic.LearnBackground] makes.
const backgroundSize = 12_000

// Background returns, by stem, the share of pages in general that contain the stem, in (0, 1], and
// the number of pages that were counted. The shares are from the topic's section or, if the topic has
// no such section and its language is English, from package background. For other languages
// the map is empty and the number 0. Rare stems are missing.
//
// The analyzer must have the topic's language and stemmer. The words of package background are added
// to it. If the analyzer is restricted, only the stems that it already has get a share.
func (t *Topic) Background(a *text.Analyzer) (shares map[string]float64, documents int) {
	if g := t.General; g != nil {
		shares = make(map[string]float64)
		for _, s := range g.Vocabulary {
			for _, term := range s.Terms {
				shares[term] = float64(s.DF) / float64(g.Documents)
			}
		}
		return shares, g.Documents
	}
	if !t.isEnglish() {
		return nil, 0
	}
	return background.English(func(word string) string {
		name, _ := stem(a, word)
		return name
	}), background.Documents
}

// BackgroundLength returns the average length of the pages that [Topic.Background] counts, in
// terms that are not silent. Without such pages it is that of English ones.
func (t *Topic) BackgroundLength() float64 {
	if t.General != nil {
		return t.General.AverageLength
	}
	return background.AverageLength
}

// Guess returns the language of a query and the words to ignore in it; see [text.QueryLanguage].
func Guess(query string) (language string, ignored []string) {
	english := sync.OnceValue(func() map[string]float64 { return background.English(strings.Clone) })
	return text.QueryLanguage(query, func(word string) bool { return english()[word] > 0 })
}

func (t *Topic) isEnglish() bool { return cmp.Or(t.Language, text.DefaultLanguage) == "en" }

// LearnBackground replaces the section that [Topic.Background] reads by the document
// frequencies of the 12,000 most frequent terms of these pages, which should be on all
// topics. At least one must have words.
func (t *Topic) LearnBackground(pages []Page) error {
	a, err := t.Analyzer()
	if err != nil {
		return err
	}
	s := text.NewStatistics(a)
	l := learner{analyzer: a, maxWords: maxTerms}
	if err := l.count(s, pages); err != nil {
		return err
	}
	if s.Length() == 0 {
		return errors.New("the pages have no words")
	}
	terms := slices.Clone(s.Terms())
	slices.SortFunc(terms, func(x, y text.Term) int {
		return cmp.Or(cmp.Compare(s.DF(y), s.DF(x)), strings.Compare(a.Name(x), a.Name(y)))
	})
	g := &General{Documents: s.Documents(), AverageLength: float64(s.Length()) / float64(s.Documents())}
	for _, term := range terms[:min(len(terms), backgroundSize)] {
		df := s.DF(term)
		if n := len(g.Vocabulary); n == 0 || g.Vocabulary[n-1].DF != df {
			g.Vocabulary = append(g.Vocabulary, Shared{DF: df})
		}
		last := &g.Vocabulary[len(g.Vocabulary)-1]
		last.Terms = append(last.Terms, a.Name(term))
	}
	t.General = g
	return nil
}
