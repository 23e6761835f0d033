package strategy

// This file implements the crawler of
//
//	Devendra Tanaji Rane and Ganesh R. Pathak, "Focused Web Crawler with Genetic Algorithm – An
//	Approach to Web Mining", International Journal of Applied Engineering and Technology 7 (1), 2017,
//	pp. 19–31 (jaccard in doc/design/papers.md; the citation is from a public index),
//
// a design without parameters or results. A page is an individual; its fitness J is its
// similarity with a reference page, by links and by words, computed by the score stage (score
// -fitness jaccard). Only relevant pages are expanded: their top links are selected and queued,
// those of the best page first. Crossover takes the links of selected links once these are
// fetched. Mutation asks a search engine at intervals.
//
//	paper                here         meaning
//	J(P, R)              page.score   fitness of page R, P being the reference
//	score of a link      from         J of the best page that selected it
//	top links            Top          links selected of a page
//	crawl frontier       from         selected links that are not fetched
//	relevant-links log   log          pages that were expanded
//	visited set          memory       pages that were fetched
//	refined user query   query        the words of the query without stop words
//	mutation             mutation     every Every fetches, and when the queue is empty
//
// Where the paper is silent or contradicts itself we follow doc/design/papers.md:
//
//   - Links that occur on more than half of a host's pages belong to its template and say
//     nothing about similarity, so they are removed from J (row f).
//   - Before a link is fetched it has the score of its parent (row h). The links of one page
//     are ordered by the similarity of their words and the reference. Equal links, and with
//     Compat all links, are in the order of their discovery.
//   - Selection precedes crossover, and crossover precedes mutation (row i).
//   - A page is relevant if its J is at least the median of its generation so far (row j). A
//     generation of fewer than twenty pages is extended by pages of earlier ones.
//   - A mutation searches for the words of the query and for two words of relevant pages: the
//     words that are among the most frequent words of most pages found relevant since the last
//     mutation. No query is issued twice. With Compat only the user's query is issued, every time.
//
// The focus is hard: links of irrelevant pages are not followed. When the queue is empty, mutation is
// due at once, because search results are the paper's only other source of links. Also, all relevant
// pages select their next links. When they have none, links of the best irrelevant pages are fetched
// (operator restart). With Compat there is only the mutation, and the crawl ends if it finds nothing
// new.

import (
	"cmp"
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

	Top       int     // number of links of a page that are selected
	Every     int     // fetches between two mutations (M)
	Words     int     // words of relevant pages in a mutation's query
	Threshold float64 // minimum J of a relevant page; 0: the median
	Template  float64 // share of a host's pages above which a link belongs to its template
	Compat    bool

	template  template
	reference *topic.Reference // P; nil if unknown

	from      column           // of selected links: the place of the best page that selected them, plus one
	linkScore column           // similarity of a link's words and the reference, the best of several
	log       list             // the relevant pages
	mutated   int              // number of pages at the last mutation
	mined     int              // length of log at the last mutation
	words     map[string]tally // words of pages found relevant since the last mutation
	fresh     []counted        // additions to words since the last delta
	issued    queryLog         // queries, each of which is issued once

	query    string          // the refined query
	ignored  map[string]bool // stems that are not added to query
	analyzer *text.Analyzer
	reading  *text.Statistics  // scratch of mine; nil if words are not mined
	tops     map[int][]counted // by place: the most frequent words of this generation's pages
}

// counted is a word of a page in its most frequent form.
type counted struct {
	word string
	n    int
}

// A tally counts a word over several pages.
type tally struct {
	pages int // number of pages with the word among their most frequent words
	n     int // number of occurrences in these pages
}

const (
	// shortGeneration is the minimum number of pages for a median.
	shortGeneration = 20
	// topWords is the number of most frequent words mined from a page.
	topWords = 10
)

func newJaccard() Strategy {
	s := &jaccard{Top: 5, Every: 50, Words: 2, Template: 0.5, words: map[string]tally{}, tops: map[int][]counted{}}
	s.parts = []part{&s.from, &s.linkScore, &s.log, s, &s.issued, &s.template}
	return s
}

func (s *jaccard) Params() []Param {
	return []Param{
		{Name: "top", Doc: "links selected of a relevant page", Value: &s.Top, Range: [2]float64{1, 1e6}},
		{Name: "mutation-every", Doc: "mutation: fetches between two queries, fewer if the queue is empty, 0 for none (M)", Value: &s.Every, Range: whole},
		{Name: "words", Doc: "mutation: words of relevant pages added to the query", Value: &s.Words, Range: [2]float64{0, topWords}},
		{Name: "threshold", Doc: "minimum fitness J of a relevant page; 0: the median of the generation", Value: &s.Threshold, Range: whole},
		{Name: "template", Doc: "share of a host's pages above which a link of theirs is ignored as template; 1 uses all links", Value: &s.Template, Range: [2]float64{0.1, 1}},
		{Name: "compat", Doc: "literally as in the paper: all links count, those discovered first are selected, the user's query alone, no restart", Value: &s.Compat},
	}
}

// aim sets the reference, and the words of mutation's query.
func (s *jaccard) aim(t *topic.Topic) (err error) {
	if !s.Compat && s.Template < 1 {
		s.reference = t.Reference
	}
	s.query = strings.Join(keywords(t), " ")
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
	for id, link := range s.knownLinks(rec) {
		s.linkScore.raise(id, link.Score.Or(0))
	}
	if s.reading != nil {
		s.tops[place] = s.mine(rec)
	}
}

// strip removes from a page's J the share of template links (row f), if J steers.
func (s *jaccard) strip(rec *wire.Record, p *page) {
	if s.reference == nil {
		return
	}
	node := s.template.learn(rec)
	if slices.Contains(rec.Scores, wire.Scored{Name: "jaccard", Value: rec.Score.Or(-1)}) {
		all, stripped := s.template.likeness(node, s.reference.URL, s.reference.Links, s.Template)
		p.score = max(0, p.score+float64((stripped-all)/2)) // J is half of Jlink, and half of D'
	}
}

// mine returns the most frequent words of a page that are not in the query.
func (s *jaccard) mine(rec *wire.Record) []counted {
	s.reading.Reset()
	known := s.analyzer.Len()
	if s.analyzer.Trim(); s.analyzer.Len() < known { // the terms were renumbered
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
	selected := s.eligible(quota, s.fitness)
	queueEmpty := len(selected) == 0 && len(s.pending.ids) == 0
	if queueEmpty && !s.Compat {
		for _, id := range s.log.ids {
			place, _ := s.page(id)
			s.selection(place)
		}
		selected = s.eligible(quota, s.fitness)
	}
	for _, id := range selected {
		place, _ := s.selector(id)
		next = append(next, s.propose(id, place, s.operator(place)))
	}
	if len(next) == 0 && len(s.pending.ids) == 0 && !s.Compat {
		for _, id := range s.eligible(quota, s.linkedScore) {
			place, _ := s.bestParent(id)
			next = append(next, s.propose(id, place, opRestart))
		}
	}
	if since := len(s.pages) - s.mutated; s.Every > 0 && (since >= s.Every || queueEmpty && since > 0) {
		if a, ok := s.mutation(); ok {
			for _, other := range next { // otherwise the queue could delay it forever
				a.Priority = max(a.Priority, 1+other.Priority)
			}
			next = append(next, a)
		}
	}
	s.endGeneration()
	return next
}

// relevant returns the places of this generation's pages whose fitness reaches the threshold. Without
// a threshold, the limit is the median of the pages up to and including the page (row j).
func (s *jaccard) relevant() (places []int) {
	var earlier []float64 // pages of earlier generations in the window, the latest first
	for place := s.firstPage - 1; place >= 0 && len(earlier) < shortGeneration-1; place-- {
		if p := &s.pages[place]; !p.failed {
			earlier = append(earlier, p.score)
		}
	}
	window := slices.Sorted(slices.Values(earlier)) // the scores of the median
	for place := s.firstPage; place < len(s.pages); place++ {
		p := &s.pages[place]
		if p.failed {
			continue
		}
		if last := len(earlier) - 1; last >= 0 && len(window) >= shortGeneration {
			at, _ := slices.BinarySearch(window, earlier[last])
			window, earlier = slices.Delete(window, at, at+1), earlier[:last]
		}
		at, _ := slices.BinarySearch(window, p.score)
		window = slices.Insert(window, at, p.score)
		if p.score >= cmp.Or(s.Threshold, median(window)) {
			places = append(places, place)
		}
	}
	return places
}

// selection queues the unvisited top links of a relevant page; links in the queue keep their
// best page.
func (s *jaccard) selection(place int) {
	var links []graph.ID
	for id := range s.web.Children(s.pages[place].node) {
		if s.isFree(id) {
			links = append(links, id)
		}
	}
	slices.Sort(links) // by discovery
	if !s.Compat {
		slices.SortStableFunc(links, func(a, b graph.ID) int { return cmp.Compare(s.linkScore.at(b), s.linkScore.at(a)) })
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

// fitness returns the score of a selected link: the score of its page (row h).
func (s *jaccard) fitness(id graph.ID) float64 {
	if place, ok := s.selector(id); ok {
		return s.pages[place].score
	}
	return notEligible
}

// operator returns crossover for the links of a page that was itself selected, and link
// otherwise.
func (s *jaccard) operator(place int) string {
	if _, selected := s.selector(s.pages[place].node); selected {
		return opCrossover
	}
	return opLink
}

func (s *jaccard) propose(id graph.ID, place int, operator string) Address {
	s.markPending(id)
	score := s.pages[place].score
	return s.address(id, place, operator, score,
		wire.Scored{Name: "page", Value: score}, wire.Scored{Name: "words", Value: s.linkScore.at(id)})
}

// mutation returns the query to issue: the user's query, with words of the pages found relevant
// since the last mutation.
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
	for first := 0; first+n <= len(words); first++ { // the best words whose query was not issued yet
		query := strings.Join(append([]string{s.query}, words[first:first+n]...), " ")
		if query = strings.TrimSpace(query); query == "" || !s.issued.add(query) {
			continue
		}
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

func (s *jaccard) count(words []counted) {
	for _, w := range words {
		t := s.words[w.word]
		s.words[w.word] = tally{t.pages + 1, t.n + w.n}
	}
}

// ranked returns the words of the relevant pages, sorted by the number of pages that have them
// among their most frequent words.
func (s *jaccard) ranked() []string {
	return slices.SortedFunc(maps.Keys(s.words), func(a, b string) int {
		x, y := s.words[a], s.words[b]
		return cmp.Or(cmp.Compare(y.pages, x.pages), cmp.Compare(y.n, x.n), strings.Compare(a, b))
	})
}

// code encodes or decodes the words for the next mutation.
func (s *jaccard) code(c *codec) {
	before := s.mutated
	c.index(&s.mutated, len(s.pages)+1)
	c.index(&s.mined, len(s.log.ids)+1)
	if s.mutated != before {
		clear(s.words)
	}
	s.count(each(c, s.fresh, func(w *counted) {
		c.text(&w.word)
		integer(c, &w.n)
	}))
	s.fresh = nil
}
