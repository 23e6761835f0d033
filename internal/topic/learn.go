package topic

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/text"
	"spoor/internal/weburl"
)

// This file makes the sections of a topic from example pages. The weight table
// is defined by
//
//	A. Pal, D. S. Tomar and S. C. Shrivastava, "Effective Focused Crawling Based
//	on Content and Link Structure Analysis", International Journal of Computer
//	Science and Information Security 2(1), 2009,
//
// and of Wilson, Armanto, Gunawan and Tanwijaya (2021, a genetic algorithm with
// symbiotic organisms search), who add the words of the query with weight 1:
//
//	W = w / max w, w = tf · df,
//
// where tf is the number of occurrences of a word in all positive pages together and df
// the number of positive pages that have it; the words with the highest w are kept.
//
// This favours words that are in all pages, whatever their topic. If there are negative
// pages, words that occur in them are common and are omitted. The exception are words that are
// significantly more frequent in positive pages, at the 5 % level of the odds ratio:
//
//	ln o⁺ − ln o⁻ > 1.645 √(1/(df⁺+½) + 1/(N⁺−df⁺+½) + 1/(df⁻+½) + 1/(N⁻−df⁻+½)),
//	where o = (df + ½) / (N − df + ½).
//
// A comparison of the odds without a significance test would keep words of navigation and
// footers that are missing from one negative page by chance.
//
// The reference page is defined by Rane and Pathak (a genetic algorithm with the Jaccard
// index), who do not describe how it is chosen. Here it is the positive page nearest to the
// query, by the cosine of the word counts of the page and the weights of the keywords.

// TableSize is the size of the table of Pal et al., in words.
const TableSize = 50

// A Page is an example page.
type Page struct {
	URL, Title, Text string
	Links            []string // addresses that the page links to
}

// LearnOptions control [Topic.Learn].
type LearnOptions struct {
	Size      int    // words of the table, without the words of the query; from 1 to 10,000
	Reference string // address of the reference page; empty: the positive page nearest to the query
	// Literal makes the table of Wilson et al.: the words of the query and, of each page, the
	// word with the highest tf · df. Negative pages have no influence on the words, and the
	// first positive page is the reference.
	Literal bool
}

// Learn makes all sections except the classifier and the background again, from example pages. At
// least one positive page must have words.
//
// The statistics, and the document frequencies of keywords, are computed from all pages: among
// the positive pages alone the words of the topic would be the most frequent ones, and have the
// lowest inverse document frequency. Everything else is computed from the positive pages, whose
// common words are determined by the negative pages.
func (t *Topic) Learn(positive, negative []Page, o LearnOptions) error {
	if o.Size < 1 || o.Size > maxTable/2 {
		return fmt.Errorf("a table of %d words: from 1 to %d are possible", o.Size, maxTable/2)
	}
	a, err := t.Analyzer()
	if err != nil {
		return err
	}
	l := learner{
		Topic: t, analyzer: a, options: o,
		positive: text.NewStatistics(a), negative: text.NewStatistics(a), page: text.NewStatistics(a),
		maxWords: maxTerms,
	}
	if err := errors.Join(l.count(l.positive, positive), l.count(l.negative, negative)); err != nil {
		return err
	}
	if l.positive.Length() == 0 {
		return fmt.Errorf("the positive pages have no words in language %s\nhint: -language und reads any language", t.Language)
	}
	n := len(positive) + len(negative)
	t.Statistics = &Statistics{n, float64(l.positive.Length()+l.negative.Length()) / float64(n)}
	t.Table, t.Growth = append(l.queryEntries(), l.pageEntries(positive)...), nil
	t.Vocabulary, t.Common = l.vocabulary(), l.common()
	l.keywords(slices.Concat(positive, negative))
	err = l.reference(positive)
	t.order()
	return err
}

// A learner holds the data that the steps of Learn share.
type learner struct {
	*Topic
	analyzer           *text.Analyzer
	options            LearnOptions
	positive, negative *text.Statistics
	page               *text.Statistics // statistics of the page being read
	maxWords           int              // limit of different words of the examples
	wanted             [][]text.Term    // by keyword: the terms that match it
	terms              []text.Term      // scratch
}

// count adds pages to statistics.
func (l *learner) count(s *text.Statistics, pages []Page) error {
	for i := range pages {
		s.Add(pages[i].Title, pages[i].Text)
		if l.analyzer.Len() > l.maxWords {
			return fmt.Errorf("the example pages have more than %d different words\nhint: leave out pages that are not text, such as %s", l.maxWords, pages[i].URL)
		}
	}
	return nil
}

// queryEntries returns an entry for each word of the keywords.
func (l *learner) queryEntries() []Entry {
	query := text.NewStatistics(l.analyzer)
	for _, k := range l.Keywords {
		query.Add(k.Text)
	}
	var entries []Entry
	for _, term := range query.Terms() {
		if word := cmp.Or(l.positive.Form(term), query.Form(term)); word != "" {
			entries = append(entries, Entry{
				Term: l.analyzer.Name(term), Word: word, Weight: 1, DF: l.positive.DF(term), Origin: FromQuery,
			})
		}
	}
	return entries
}

// pageEntries returns the entries for words of the positive pages.
func (l *learner) pageEntries(positive []Page) []Entry {
	type weighed struct {
		text.Term
		name string
		w    float64
	}
	var all []weighed
	for _, term := range l.positive.Terms() {
		if l.positive.Form(term) != "" && l.distinguishes(term) {
			all = append(all, weighed{term, l.analyzer.Name(term), float64(l.positive.TF(term)) * float64(l.positive.DF(term))})
		}
	}
	slices.SortFunc(all, func(a, b weighed) int { return cmp.Or(cmp.Compare(b.w, a.w), strings.Compare(a.name, b.name)) })
	if len(all) == 0 {
		return nil
	}
	chosen := all[:min(l.options.Size, len(all))]
	if l.options.Literal {
		tops := make(map[text.Term]bool)
		for i := range positive {
			l.page.Reset()
			l.page.Add(positive[i].Title, positive[i].Text)
			if top, ok := top(l.analyzer, l.page, func(t text.Term) int { return l.page.TF(t) * l.positive.DF(t) }); ok {
				tops[top] = true
			}
		}
		chosen = slices.DeleteFunc(slices.Clone(all), func(w weighed) bool { return !tops[w.Term] })
	}
	entries := make([]Entry, len(chosen))
	for i, c := range chosen {
		entries[i] = Entry{
			Term: c.name, Word: l.positive.Form(c.Term), Weight: rounded(c.w / all[0].w), DF: l.positive.DF(c.Term), Origin: FromPages,
		}
	}
	return entries
}

// significance is the number of standard errors that log odds must differ by: the
// one-sided 5 % level.
const significance = 1.645

// distinguishes reports whether a term distinguishes positive pages from negative ones. It
// returns true for a term that is in no negative page and, with Literal, for all terms.
func (l *learner) distinguishes(t text.Term) bool {
	if l.options.Literal || l.negative.DF(t) == 0 {
		return true
	}
	with, without := shares(l.positive, t)
	negWith, negWithout := shares(l.negative, t)
	ratio := math.Log(with/without) - math.Log(negWith/negWithout)
	return ratio > significance*math.Sqrt(1/with+1/without+1/negWith+1/negWithout)
}

// shares returns how many documents have t and how many do not, each plus 1/2.
func shares(s *text.Statistics, t text.Term) (with, without float64) {
	return float64(s.DF(t)) + 0.5, float64(s.Documents()-s.DF(t)) + 0.5
}

// top returns the term of page with the highest weight above 0 that can be written to a
// file. Ties are broken by name.
func top(a *text.Analyzer, page *text.Statistics, weight func(text.Term) int) (best text.Term, ok bool) {
	most := 0
	for _, t := range page.Terms() {
		w := weight(t)
		if w > most || w == most && ok && a.Name(t) < a.Name(best) {
			if page.Form(t) != "" {
				best, most, ok = t, w, true
			}
		}
	}
	return best, ok
}

// rounded returns v with six significant digits, for readability.
func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64) // v is a number
	return r
}

// vocabulary returns all terms of the positive pages. If there are too many, it omits the rarest
// terms.
func (l *learner) vocabulary() []Shared {
	byDF := make([][]string, l.positive.Documents()+1)
	for _, t := range l.positive.Terms() {
		df := l.positive.DF(t)
		byDF[df] = append(byDF[df], l.analyzer.Name(t))
	}
	var v []Shared
	for df, room := len(byDF)-1, maxTerms; df > 0 && room > 0; df-- {
		terms := byDF[df]
		slices.Sort(terms)
		if terms = terms[:min(room, len(terms))]; len(terms) > 0 {
			v = append(v, Shared{df, terms})
			room -= len(terms)
		}
	}
	return v
}

// common returns the terms of the positive pages that do not distinguish them.
func (l *learner) common() (names []string) {
	for _, t := range l.positive.Terms() {
		if !l.distinguishes(t) {
			names = append(names, l.analyzer.Name(t))
		}
	}
	return names
}

// keywords counts the pages that have each keyword.
func (l *learner) keywords(pages []Page) {
	for k := range l.Keywords {
		l.Keywords[k].DF = 0
		l.wanted = append(l.wanted, l.analyzer.Append(nil, l.Keywords[k].Text))
	}
	for i := range pages {
		for k, n := range l.occurrences(&pages[i]) {
			if n > 0 {
				l.Keywords[k].DF++
			}
		}
	}
}

// occurrences returns how often each keyword occurs in the title and the text of p.
func (l *learner) occurrences(p *Page) []int {
	counts := make([]int, len(l.wanted))
	for _, s := range []string{p.Title, p.Text} {
		l.terms = l.analyzer.Append(l.terms[:0], s)
		for k, want := range l.wanted {
			for i := 0; i+len(want) <= len(l.terms); i++ {
				if slices.Equal(l.terms[i:i+len(want)], want) {
					counts[k]++
				}
			}
		}
	}
	return counts
}

// reference chooses the reference page.
func (l *learner) reference(positive []Page) error {
	p := &positive[0]
	switch {
	case l.options.Reference != "":
		i := slices.IndexFunc(positive, func(p Page) bool { return p.URL == l.options.Reference })
		if i < 0 {
			return fmt.Errorf("the reference page %s is not among the positive pages", l.options.Reference)
		}
		p = &positive[i]
	case !l.options.Literal:
		p = l.nearest(positive)
	}
	r := &Reference{}
	var err error
	if r.URL, err = weburl.Canonical(p.URL); err != nil {
		return fmt.Errorf("the reference page %.200q: %w", p.URL, err)
	}
	for _, n := range l.occurrences(p) {
		r.Counts += n
	}
	for _, link := range p.Links {
		if c, err := weburl.Canonical(link); err == nil && c != r.URL {
			r.Links = append(r.Links, c)
		}
	}
	slices.Sort(r.Links)
	r.Links = slices.Compact(r.Links)
	r.Links = r.Links[:min(maxLinks, len(r.Links))]
	l.page.Reset()
	l.page.Add(p.Title, p.Text)
	for _, t := range l.page.Terms() {
		r.Terms = append(r.Terms, l.analyzer.Name(t))
	}
	slices.Sort(r.Terms)
	r.Terms = r.Terms[:min(maxTerms, len(r.Terms))]
	l.Reference = r
	return nil
}

// nearest returns the page with the highest cosine to the keywords, of those with a valid address
// if there are any. Ties are broken by address.
func (l *learner) nearest(pages []Page) *Page {
	best := &pages[0]
	highest := -1.0
	for i := range pages {
		p := &pages[i]
		if _, err := weburl.Canonical(p.URL); err != nil {
			continue
		}
		l.page.Reset()
		l.page.Add(p.Title, p.Text)
		if c := l.cosine(); c > highest || c == highest && p.URL < best.URL {
			best, highest = p, c
		}
	}
	return best
}

// cosine returns Σ q·tf / √Σ tf² of the page being read, where q is the weight of the
// keyword to which a word belongs. The factor |q| is the same for all pages, and is omitted.
func (l *learner) cosine() float64 {
	dot, square := 0.0, 0.0
	for _, k := range l.Keywords {
		for _, t := range l.analyzer.Append(nil, k.Text) {
			dot += float64(k.Weight * float64(l.page.TF(t)))
		}
	}
	for _, t := range l.page.Terms() {
		tf := float64(l.page.TF(t))
		square += float64(tf * tf)
	}
	if dot == 0 {
		return 0
	}
	return dot / math.Sqrt(square)
}
