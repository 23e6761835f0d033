package topic

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"spoor/internal/text"
)

// This file makes keywords from example pages, for a topic without words of a user. The weight of a
// word is that of the table (learn.go) times the word's inverse document frequency in pages on all
// topics, as in BM25:
//
//	W = w / max w, w = tf · df · idf, idf = ln(1 + (N − n + ½) / (n + ½)),
//
// where n of N pages of the background have the word. Without a background, idf is 1. Words that do not
// distinguish positive from negative pages are left out, as from the table, and so are stop words, numbers and
// addresses. Lines that several pages have, such as menus and footers, are counted once: without negative
// pages their words would have the highest weights.

// ExampleKeywords is the number of keywords that topic makes from example pages. A query is seldom longer.
const ExampleKeywords = 10

// AddExampleKeywords adds the n words of the positive pages with the highest weights as keywords. It
// uses the section of [Topic.LearnBackground], if there is one. It is an error if the pages have no word
// that can be a keyword.
func (t *Topic) AddExampleKeywords(positive, negative []Page, n int) error {
	a, err := t.Analyzer()
	if err != nil {
		return err
	}
	l := learner{Topic: t, analyzer: a, positive: text.NewStatistics(a), negative: text.NewStatistics(a), maxWords: maxTerms}
	if err := cmp.Or(l.count(l.positive, withoutTemplate(positive)), l.count(l.negative, negative)); err != nil {
		return err
	}
	shares, documents := t.Background(a)
	var all []Keyword
	for _, term := range l.positive.Terms() {
		word, name := l.positive.Form(term), a.Name(term)
		terms := []string{name}
		if !strings.ContainsFunc(word, unicode.IsLetter) || !l.distinguishes(term) || t.find(terms) >= 0 {
			continue
		}
		idf := 1.0
		if documents > 0 {
			n := float64(shares[name] * float64(documents))
			idf = rounded(math.Log(1 + (float64(documents)-n+0.5)/(n+0.5))) // the last bits differ between machines
		}
		all = append(all, Keyword{Text: word, Weight: float64(l.positive.TF(term)) * float64(l.positive.DF(term)) * idf, Terms: terms})
	}
	if len(all) == 0 {
		return fmt.Errorf("the positive pages have no words in language %s that distinguish them\nhint: -query or -keyword says what the topic is, and -language und reads any language", t.Language)
	}
	slices.SortFunc(all, func(a, b Keyword) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Terms[0], b.Terms[0]))
	})
	highest := all[0].Weight
	for _, k := range all[:min(n, len(all))] {
		k.Weight = rounded(k.Weight / highest)
		t.Keywords = append(t.Keywords, k)
	}
	return nil
}

// withoutTemplate returns the pages without words that are addresses, and without lines that an earlier page
// has. Lines that differ only in digits are the same.
func withoutTemplate(pages []Page) []Page {
	firstPage := map[string]int{} // by line
	pages = slices.Clone(pages)
	for i := range pages {
		var text strings.Builder
		for line := range strings.Lines(pages[i].Text) {
			words := slices.DeleteFunc(strings.Fields(line), func(word string) bool { return strings.Contains(word, "://") || strings.Contains(word, "@") })
			line = strings.Join(words, " ")
			key := strings.Map(func(r rune) rune {
				if unicode.IsDigit(r) {
					return -1
				}
				return r
			}, line)
			first, known := firstPage[key]
			if !known {
				firstPage[key] = i
			}
			if !known || first == i {
				text.WriteString(line + "\n")
			}
		}
		pages[i].Text = text.String()
	}
	return pages
}
