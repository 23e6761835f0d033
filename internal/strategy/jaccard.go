package strategy

// This file implements the crawler of
//
//	D. Rane and M. Pathak, a focused crawler based on a genetic algorithm with the
//	Jaccard index of links and the content measure Dpr (jaccard in PAPERS.md),
//
// a design without parameters or results. A page is an individual; its fitness J is
// how like a reference page it is, by links and by words, which the score stage has
// worked out (score -fitness jaccard). What is relevant is expanded, and nothing
// else: the top links of such a page are selected and wait in a queue, those of the
// best page first. Crossover takes the links of the links that were selected, once
// they are fetched. At intervals mutation asks a search engine.
//
//	paper                here         meaning
//	J(P, R)              page.score   fitness of page R, P being the reference
//	score of a link      from         J of the best page that selected it
//	top links            Top          links that are selected of a page
//	crawl frontier       from         what is selected and not fetched
//	relevant-links log   log          pages that were expanded
//	visited set          memory       pages that were fetched
//	refined user query   refined      the words of the query that mean something
//	mutation             mutate       every Every fetches
//
// Where the paper is silent or contradicts itself we follow PAPERS.md: before a link
// links that more than half of a host's pages have are its template and no likeness, so
// what they add to J is taken out (row f); before a link
// is fetched, it has the score of its parent (row h), and of the links of one page,
// which that cannot tell apart, those come first whose words are more like the
// reference; among equals, and to the letter, the first that were discovered. Selection comes before crossover,
// and crossover before mutation (row i). A page is relevant when its J is no lower
// than the median of its generation up to then (row j); a generation that is short
// goes back into those before it, to twenty pages. The words of mutation are those
// of the query, with the two that the most relevant pages since the last mutation
// have among their most frequent ones; a query is asked once. Compat asks for the
// query alone.
//
// The focus is hard: the links of irrelevant pages are not followed. When nothing
// else is left we take those of the best pages (operator restart), where the paper's
// crawl ends; so does Compat.

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"spoor/internal/graph"
	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

type jaccard struct {
	pool

	Top       int     // links that are selected of a page
	Every     int     // fetches from one mutation to the next (M)
	Words     int     // words of relevant pages in a mutation's query
	Threshold float64 // J of a relevant page; 0 is the median
	Template  float64 // share of a host's pages above which a link is of its template
	Compat    bool

	template  template
	reference *topic.Reference // P; nil if it is not known

	from    column           // of what is selected: the place of the best page that did it, plus one
	promise column           // how like the reference the words of a link are, the best of several
	log     list             // the relevant pages
	mutated int              // pages there were at the last mutation
	mined   int              // how many of the log there were
	words   map[string]tally // those of relevant pages since the last mutation
	fresh   []counted        // what words has got since the last delta
	issued  queryLog         // queries, which are asked once

	query    string          // the refined query
	ignored  map[string]bool // stems that add nothing to it
	analyzer *text.Analyzer
	reading  *text.Statistics  // of the page that is looked at; nil if nothing is mined
	tops     map[int][]counted // by place: the most frequent words of this generation's pages
}

// A counted word is one of a page, as it is written there most often.
type counted struct {
	word string
	n    int
}

// A tally is what several pages say for a word.
type tally struct {
	pages int // that have it among their most frequent words
	n     int // how often it stands there
}

const (
	// shortGeneration is the fewest pages whose median is taken.
	shortGeneration = 20
	// topWords is how many of the most frequent words of a page are looked at.
	topWords = 10
)

func newJaccard() Strategy {
	return &jaccard{Top: 5, Every: 50, Words: 2, Template: 0.5, words: map[string]tally{}, tops: map[int][]counted{}}
}

func (s *jaccard) Params() []Param {
	return []Param{
		{Name: "top", Doc: "links that are selected of a relevant page", Value: &s.Top, Range: [2]float64{1, 1e6}},
		{Name: "mutation-every", Doc: "mutation: fetches from one query to the next, 0 for none (M)", Value: &s.Every, Range: [2]float64{0, 1e9}},
		{Name: "words", Doc: "mutation: words of relevant pages that join the query", Value: &s.Words, Range: [2]float64{0, topWords}},
		{Name: "threshold", Doc: "fitness J of a relevant page; 0 is the median of the generation", Value: &s.Threshold, Range: [2]float64{0, 1e9}},
		{Name: "template", Doc: "share of a host's pages above which a link they have is no likeness; 1 takes all links", Value: &s.Template, Range: [2]float64{0.1, 1}},
		{Name: "compat", Doc: "the paper to the letter: all links, of a page's links those discovered first, the user's query alone, no restart", Value: &s.Compat},
	}
}

// aim takes the reference, and the words of mutation's query.
func (s *jaccard) aim(t *topic.Topic) (err error) {
	if !s.Compat && s.Template < 1 {
		s.reference = t.Reference
	}
	var words []string
	for _, k := range t.Keywords {
		words = append(words, k.Text)
	}
	s.query = strings.Join(words, " ")
	if s.Compat || s.Words == 0 || s.Every == 0 {
		return nil
	}
	if s.analyzer, err = t.Analyzer(); err != nil {
		return err
	}
	s.ignored = map[string]bool{}
	for _, term := range s.analyzer.Append(nil, s.query) {
		s.ignored[s.analyzer.Name(term)] = true
	}
	for _, name := range t.Common {
		s.ignored[name] = true
	}
	s.reading = text.NewStatistics(s.analyzer)
	return nil
}

func (s *jaccard) Visit(rec *wire.Record) {
	place, ok := s.visitNew(rec)
	if !ok {
		return
	}
	s.strip(rec, &s.pages[place])
	for i := range rec.Links {
		id, known := s.web.Find(rec.Links[i].URL)
		if promise := rec.Links[i].Score.Or(0); known && promise > s.promise.at(id) {
			s.promise.set(id, promise)
		}
	}
	if s.reading != nil {
		s.tops[place] = s.mine(rec)
	}
}

// strip takes out of a page's J what links of templates add (row f), if it is J that
// steers.
func (s *jaccard) strip(rec *wire.Record, p *page) {
	if s.reference == nil {
		return
	}
	node := s.template.learn(rec)
	if slices.Contains(rec.Scores, wire.Scored{Name: "jaccard", Value: rec.Score.Or(-1)}) {
		all, stripped := s.template.likeness(node, s.reference.URL, s.reference.Links, s.Template)
		p.score = max(0, p.score+(stripped-all)/2) // J is half of Jlink, and half of D'
	}
}

// mine returns the most frequent words of a page that the query does not have.
func (s *jaccard) mine(rec *wire.Record) []counted {
	s.reading.Reset()
	known := s.analyzer.Len()
	if s.analyzer.Trim(); s.analyzer.Len() < known { // the terms have new numbers
		s.reading = text.NewStatistics(s.analyzer)
	}
	s.reading.Add(rec.Title, rec.Text)
	var all []counted
	for _, term := range s.reading.Terms() {
		if word := s.reading.Form(term); word != "" && !s.ignored[s.analyzer.Name(term)] {
			all = append(all, counted{word, s.reading.TF(term)})
		}
	}
	slices.SortFunc(all, func(a, b counted) int { return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.word, b.word)) })
	return slices.Clone(all[:min(topWords, len(all))])
}

// Breed is selection, crossover and mutation, in this order (row i).
func (s *jaccard) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	for _, place := range s.relevant() {
		s.log.ids = append(s.log.ids, s.pages[place].node)
		s.fresh = append(s.fresh, s.tops[place]...)
		s.selection(place)
	}
	clear(s.tops)
	for _, id := range s.eligible(quota, s.fitness) {
		place, _ := s.selector(id)
		next = append(next, s.propose(id, place, s.operator(place)))
	}
	if len(next) == 0 && len(s.pending.ids) == 0 && !s.Compat {
		for _, id := range s.eligible(quota, s.worth) {
			place, _ := s.bestParent(id)
			next = append(next, s.propose(id, place, opRestart))
		}
	}
	if s.Every > 0 && len(s.pages)-s.mutated >= s.Every {
		if a, ok := s.mutation(); ok {
			for _, other := range next { // or the queue would keep it out for ever
				a.Priority = max(a.Priority, 1+other.Priority)
			}
			next = append(next, a)
		}
	}
	s.endGeneration()
	return next
}

// relevant returns the places of this generation's pages whose fitness is not below the
// threshold, or without one not below the median of the pages up to and with them
// (row j).
func (s *jaccard) relevant() (places []int) {
	var window []float64 // sorted: what the median is taken of
	insert := func(score float64) {
		at, _ := slices.BinarySearch(window, score)
		window = slices.Insert(window, at, score)
	}
	var earlier []float64 // pages of earlier generations in the window, the latest first
	for place := s.firstPage - 1; place >= 0 && len(earlier) < shortGeneration-1; place-- {
		if p := &s.pages[place]; !p.failed {
			earlier = append(earlier, p.score)
			insert(p.score)
		}
	}
	for place := s.firstPage; place < len(s.pages); place++ {
		p := &s.pages[place]
		if p.failed {
			continue
		}
		if last := len(earlier) - 1; last >= 0 && len(window) >= shortGeneration {
			at, _ := slices.BinarySearch(window, earlier[last])
			window, earlier = slices.Delete(window, at, at+1), earlier[:last]
		}
		insert(p.score)
		limit := s.Threshold
		if limit == 0 {
			limit = (window[(len(window)-1)/2] + window[len(window)/2]) / 2
		}
		if p.score >= limit {
			places = append(places, place)
		}
	}
	return places
}

// selection puts the top links of a relevant page into the queue, of those that are
// not visited; what is there already is worth its best page.
func (s *jaccard) selection(place int) {
	var links []graph.ID
	for id := range s.web.Children(s.pages[place].node) {
		if s.isFree(id) {
			links = append(links, id)
		}
	}
	slices.Sort(links) // by discovery
	if !s.Compat {
		slices.SortStableFunc(links, func(a, b graph.ID) int { return cmp.Compare(s.promise.at(b), s.promise.at(a)) })
	}
	for _, id := range links[:min(s.Top, len(links))] {
		if best, ok := s.selector(id); !ok || s.pages[best].score < s.pages[place].score {
			s.from.set(id, float64(place+1))
		}
	}
}

// selector returns the place of the best page that selected id.
func (s *jaccard) selector(id graph.ID) (place int, ok bool) {
	v := s.from.at(id)
	if !(v >= 1 && v <= float64(len(s.pages))) {
		return 0, false
	}
	return int(v) - 1, true
}

// fitness returns the score of a link that is not fetched: that of its page (row h).
func (s *jaccard) fitness(id graph.ID) float64 {
	if place, ok := s.selector(id); ok {
		return s.pages[place].score
	}
	return notEligible
}

// worth returns the score of a link that nobody selected: that of the best page it is on.
func (s *jaccard) worth(id graph.ID) float64 {
	if place, ok := s.bestParent(id); ok {
		return s.pages[place].score
	}
	return notEligible
}

// operator returns what brings in the links of a page: crossover if it was selected
// itself, so that they are sub-links.
func (s *jaccard) operator(place int) string {
	if _, selected := s.selector(s.pages[place].node); selected {
		return opCrossover
	}
	return opLink
}

func (s *jaccard) propose(id graph.ID, place int, operator string) Address {
	s.markPending(id)
	score := s.pages[place].score
	a := s.address(id, place, operator, score)
	a.Reasons = []wire.Scored{{Name: "page", Value: score}, {Name: "words", Value: s.promise.at(id)}}
	return a
}

// mutation returns the query to ask now: the user's, and words of the pages that were
// relevant since the last mutation.
func (s *jaccard) mutation() (a Address, ok bool) {
	s.count(s.fresh)
	words := s.ranked()
	mined := s.log.ids[s.mined:]
	s.mutated, s.mined = len(s.pages), len(s.log.ids)
	clear(s.words)
	s.fresh = nil
	a = Address{Operator: opMutation, Priority: 1}
	if s.Compat {
		a.Query = s.query
		return a, a.Query != ""
	}
	n := min(s.Words, len(words))
	for first := 0; first+n <= len(words); first++ { // the best that was not asked yet
		query := strings.Join(append([]string{s.query}, words[first:first+n]...), " ")
		if query = strings.TrimSpace(query); query == "" || s.issued.has(query) {
			continue
		}
		s.issued.add(query)
		a.Query = query
		if n > 0 {
			for _, id := range mined[max(0, len(mined)-maxParents):] {
				a.Parents = append(a.Parents, s.web.URL(id))
			}
		}
		return a, true
	}
	return a, false
}

// count adds to what is known of words.
func (s *jaccard) count(words []counted) {
	for _, w := range words {
		t := s.words[w.word]
		s.words[w.word] = tally{t.pages + 1, t.n + w.n}
	}
}

// ranked returns the words of the relevant pages, those first that most pages have among
// their most frequent ones.
func (s *jaccard) ranked() []string {
	return slices.SortedFunc(maps.Keys(s.words), func(a, b string) int {
		x, y := s.words[a], s.words[b]
		return cmp.Or(cmp.Compare(y.pages, x.pages), cmp.Compare(y.n, x.n), strings.Compare(a, b))
	})
}

func (s *jaccard) AppendDelta(b []byte) []byte {
	b = s.appendDelta(b)
	b = s.from.appendDelta(b)
	b = s.promise.appendDelta(b)
	b = s.log.appendDelta(b)
	b = binary.AppendUvarint(b, uint64(s.mutated))
	b = binary.AppendUvarint(b, uint64(s.mined))
	b = binary.AppendUvarint(b, uint64(len(s.fresh)))
	for _, w := range s.fresh {
		b = appendText(b, w.word)
		b = binary.AppendUvarint(b, uint64(w.n))
	}
	s.count(s.fresh)
	s.fresh = nil
	b = s.issued.appendDelta(b)
	return s.template.appendDelta(b)
}

func (s *jaccard) Replay(b []byte) error {
	r, err := s.replay(b)
	if err != nil {
		return err
	}
	s.from.replay(&s.memory, r)
	s.promise.replay(&s.memory, r)
	s.log.replay(&s.memory, r)
	mutated, mined := r.uvarint(), r.uvarint()
	if mutated > uint64(len(s.pages)) || mined > uint64(len(s.log.ids)) {
		return errCorrupt
	}
	if int(mutated) != s.mutated {
		clear(s.words)
	}
	s.mutated, s.mined = int(mutated), int(mined)
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		s.count([]counted{{r.text(), int(r.uvarint())}})
	}
	s.issued.replay(&s.memory, r)
	if r.bad {
		return errCorrupt
	}
	r.b, err = s.template.replay(r.b)
	return cmp.Or(err, r.end())
}
