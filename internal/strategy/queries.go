package strategy

// This file holds the state of symbiosis.go that concerns words: the population of a
// generation, from which SOS breeds queries (sos.go), and between generations the queries
// issued so far, their results, and the centroid of the relevant pages.

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"spoor/internal/genetic"
	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// Limits of the state. The queries have no limit, because there is one per generation.
const (
	readText        = 256 << 10 // bytes of a page that are read
	populationTerms = 1 << 18   // terms of a generation; when it has more, its other pages are not read
	pageTerms       = 50        // terms of a relevant page that enter the centroid
	centroidTerms   = 1000      // terms of the centroid that are kept when it has twice as many
	beliefTrials    = 100       // results of queries with a word; when there are more, its counts are halved
	maxQueryLen     = 1 << 10   // maximum length in bytes of a query that is recognised
)

// queries breeds queries. It reads the pages of one generation after another.
type queries struct {
	Objective  string // forYield or forLikeness
	Iterations int    // of SOS; 0: depends on the objective
	Ecosystem  int    // maximum number of documents
	Words      int    // maximum number of words of a query; 0: depends on the objective
	Results    int    // results of a search

	analyzer *text.Analyzer
	user     []string           // terms of the user's query, in their order
	weight   map[string]float64 // by term: weight in the topic's table
	form     map[string]string  // by term: its written form in the query or the table

	population *text.Statistics // of this generation
	page       *text.Statistics // scratch
	documents  []document

	issued   [][]string        // the sorted terms of each query
	number   map[string]int    // by queryKey: index in issued
	yields   map[string]belief // by term
	centroid map[string]uint64 // by term: frequency on relevant pages, see read

	events []queryEvent      // since the last delta
	words  map[string]uint64 // additions to the centroid since the last delta
}

// A document is a page as an organism.
type document struct {
	place int // place of the page
	score float64
	top   text.Term   // the most frequent term; the first if several are equally frequent
	terms []text.Term // sorted
}

// queryKey returns a string that is equal for queries of the same terms, which are sorted.
func queryKey(terms []string) string { return strings.Join(terms, " ") }

// A belief counts the expected results of queries with a word (trials), and the results that were
// relevant and new (successes).
type belief struct{ trials, successes int }

// tried returns b after the given number of further trials, none of them successful yet. If there
// are too many trials, the counts are halved.
func (b belief) tried(trials int) belief {
	if b.trials >= beliefTrials {
		b = belief{b.trials / 2, b.successes / 2}
	}
	return belief{b.trials + trials, b.successes}
}

// success returns b after one of its trials succeeded.
func (b belief) success() belief { return belief{b.trials, min(b.successes+1, b.trials)} }

// A queryEvent is a query that was issued, or a new relevant page that a query found.
type queryEvent struct {
	line string // the query that was issued; "" for a page
	from int    // for a page: index in issued of the query that found the page
}

// aim sets the topic. The state between generations is kept.
func (s *queries) aim(t *topic.Topic) (err error) {
	if s.analyzer == nil {
		s.number, s.yields = map[string]int{}, map[string]belief{}
		s.centroid, s.words = map[string]uint64{}, map[string]uint64{}
	}
	if s.analyzer, err = t.Analyzer(); err != nil {
		return err
	}
	s.population, s.page = text.NewStatistics(s.analyzer), text.NewStatistics(s.analyzer)
	s.user, s.weight, s.form = nil, map[string]float64{}, map[string]string{}
	for _, k := range t.Keywords {
		for word := range text.Words(k.Text) {
			terms := s.terms(word)
			if len(terms) != 1 || s.weight[terms[0]] > 0 {
				continue
			}
			s.user = append(s.user, terms[0])
			s.weight[terms[0]], s.form[terms[0]] = 1, strings.ToLower(word)
		}
	}
	for _, e := range t.Table {
		s.weight[e.Term] = max(s.weight[e.Term], e.Weight)
		if _, written := s.form[e.Term]; !written && slices.Equal(s.terms(e.Word), []string{e.Term}) {
			s.form[e.Term] = e.Word
		}
	}
	return nil
}

// terms returns the distinct terms of a line, sorted.
func (s *queries) terms(line string) (names []string) {
	names = stems(s.analyzer, line)
	slices.Sort(names)
	return slices.Compact(names)
}

// read adds a page to the population. If the page is relevant, it adds the most frequent terms of the
// page to the centroid, in thousandths of the frequency of the most frequent term.
func (s *queries) read(place int, p *page, rec *wire.Record) {
	if len(s.population.Terms()) >= populationTerms {
		return
	}
	title := rec.Title[:min(len(rec.Title), readText)]
	body := rec.Text[:min(len(rec.Text), readText-len(title))]
	s.population.Add(title, body)
	s.page.Reset()
	s.page.Add(title, body)
	terms := slices.Clone(s.page.Terms())
	if len(terms) == 0 {
		return
	}
	slices.SortStableFunc(terms, func(a, b text.Term) int { return cmp.Compare(s.page.TF(b), s.page.TF(a)) })
	top := terms[0]
	if p.relevant {
		for _, t := range terms[:min(pageTerms, len(terms))] {
			s.words[s.analyzer.Name(t)] += uint64(1000 * s.page.TF(t) / s.page.TF(top))
		}
	}
	slices.Sort(terms)
	s.documents = append(s.documents, document{place, p.score, top, terms})
	if len(s.documents) >= 2*s.Ecosystem {
		s.fittest()
	}
}

// fittest keeps the Ecosystem documents with the highest scores. Of equal scores, the first documents
// are kept.
func (s *queries) fittest() {
	slices.SortFunc(s.documents, func(a, b document) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.place, b.place))
	})
	s.documents = s.documents[:min(s.Ecosystem, len(s.documents))]
}

// answer records the outcome of an address found by a query; success means a new relevant
// page. The query of the seeds is treated as issued.
func (s *queries) answer(rec *wire.Record, success bool) {
	if rec.Query == "" || len(rec.Query) > maxQueryLen {
		return
	}
	terms := s.terms(rec.Query)
	key := queryKey(terms)
	if _, known := s.number[key]; !known && rec.Operator == "seed" && len(terms) > 0 {
		s.record(queryEvent{line: rec.Query})
	}
	if i, known := s.number[key]; known && success {
		s.record(queryEvent{from: i})
	}
}

func (s *queries) record(e queryEvent) {
	s.events = append(s.events, e)
	s.apply(e)
}

// apply updates the beliefs. Results known before are never fetched, so they are trials without
// success.
func (s *queries) apply(e queryEvent) {
	if e.line == "" {
		for _, term := range s.issued[e.from] {
			s.yields[term] = s.yields[term].success()
		}
		return
	}
	terms := s.terms(e.line)
	if _, again := s.number[queryKey(terms)]; !again {
		s.number[queryKey(terms)] = len(s.issued)
		s.issued = append(s.issued, terms)
	}
	for _, term := range terms {
		s.yields[term] = s.yields[term].tried(s.Results)
	}
}

// learn adds the words of this generation's relevant pages to the centroid. The words with the lowest
// weights are dropped only when the centroid has twice centroidTerms words, so that a new word has
// time to gain weight.
func (s *queries) learn() {
	for term, n := range s.words {
		s.centroid[term] += n
	}
	if len(s.centroid) <= 2*centroidTerms {
		return
	}
	heaviest := slices.SortedFunc(maps.Keys(s.centroid), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.centroid[b], s.centroid[a]), cmp.Compare(a, b))
	})
	for _, term := range heaviest[centroidTerms:] {
		delete(s.centroid, term)
	}
}

// breed evolves an ecosystem of the population. It returns the query of the fittest organism
// whose query was not issued yet (row g) or, if again is set, of the fittest organism, and the
// places of the pages that its words come from. ok is false if the population has no words, or
// if all queries were issued before.
func (s *queries) breed(rng *rand.Rand, again bool) (a Address, sources []int, ok bool) {
	s.fittest()
	h := s.habitat(rng)
	if len(h.organisms) == 0 {
		return a, nil, false
	}
	e := genetic.Ecosystem{Organisms: h.organisms, Low: -1, High: 1, Fitness: h.fitness, Literal: again}
	for range cmp.Or(s.Iterations, map[string]int{forYield: 20, forLikeness: 3}[s.Objective]) {
		e.Evolve(rng)
	}
	fitness := make([]float64, len(h.organisms))
	for i, x := range h.organisms {
		fitness[i] = h.fitness(x)
	}
	for _, i := range genetic.Truncate(fitness, len(fitness)) {
		words := h.query(h.organisms[i])
		line := h.line(words)
		if _, asked := s.number[queryKey(s.terms(line))]; line == "" || asked && !again {
			continue
		}
		s.record(queryEvent{line: line})
		for d, top := range h.tops {
			if slices.Contains(words, top) {
				sources = append(sources, s.documents[d].place)
			}
		}
		return Address{Query: line, Operator: opMutation, Priority: queryPriority, Reasons: h.reasons(words, fitness[i])}, sources, true
	}
	return a, nil, false
}

// endGeneration forgets the population, and from time to time the words that it had.
func (s *queries) endGeneration() {
	s.documents = s.documents[:0]
	s.population.Reset()
	known := s.analyzer.Len()
	if s.analyzer.Trim(); s.analyzer.Len() < known { // the terms were renumbered
		s.population, s.page = text.NewStatistics(s.analyzer), text.NewStatistics(s.analyzer)
	}
}

// code encodes or decodes the events and words, from which everything else follows.
func (s *queries) code(c *codec) {
	each(c, s.events, func(e *queryEvent) {
		if c.text(&e.line); e.line == "" {
			c.index(&e.from, len(s.issued))
		}
		if c.check(true) {
			s.apply(*e)
		}
	})
	each(c, slices.Sorted(maps.Keys(s.words)), func(term *string) {
		c.text(term)
		n := s.words[*term]
		integer(c, &n)
		s.words[*term] = n
	})
	if c.check(true) {
		s.learn()
	}
	s.events = s.events[:0]
	clear(s.words)
}
