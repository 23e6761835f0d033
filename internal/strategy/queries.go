package strategy

// This file is what symbiosis.go knows of words: the population of a generation, from
// which SOS breeds queries (sos.go), and what is remembered from one generation to the
// next: the queries that were asked, what they brought, and what the relevant pages
// are about.

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"spoor/internal/genetic"
	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// The memory is bounded by these, but for the queries, which are one a generation.
const (
	readText        = 256 << 10 // bytes of a page that are read
	populationTerms = 1 << 18   // terms of a generation after which no other page is read
	pageTerms       = 50        // terms of a relevant page that go into the centroid
	centroidTerms   = 1000      // terms of the centroid that stay when there are twice as many
	beliefTrials    = 100       // results of queries with a word that are remembered, or little more
	longestQuery    = 1 << 10   // bytes of a query that is recognised
)

// queries breeds queries. It reads the pages of one generation after the other.
type queries struct {
	Objective  string // forYield or forLikeness
	Iterations int    // of SOS; 0: as the objective has it
	Ecosystem  int    // most documents
	Words      int    // most words of a query; 0: as the objective has it
	Results    int    // of a search

	analyzer *text.Analyzer
	user     []string           // terms of the user, in their order
	weight   map[string]float64 // by term: in the topic's table
	form     map[string]string  // by term of the user or the table: how it is written there

	population *text.Statistics // of this generation
	page       *text.Statistics // scratch
	documents  []document

	issued   []issuedQuery
	number   map[string]int    // by issuedQuery.key: its place in issued
	yields   map[string]belief // by term
	centroid map[string]uint64 // by term: how frequent it is on relevant pages, see read

	events []queryEvent      // since the last delta
	words  map[string]uint64 // what the centroid has gained since then
}

// A document is a page as an organism sees it.
type document struct {
	place int // of the page
	score float64
	top   text.Term   // the most frequent, the first among equals
	terms []text.Term // sorted
}

// An issuedQuery is the terms of a query that was asked, sorted.
type issuedQuery struct{ terms []string }

// key returns the same for queries of the same words.
func (q issuedQuery) key() string { return strings.Join(q.terms, " ") }

// A belief is what is known of the yield of a word: so many results were to come of
// queries with it, and so many of them were relevant and new.
type belief struct{ trials, successes int }

// tried returns b after so many trials more, which are no successes yet. What is long ago
// counts half.
func (b belief) tried(trials int) belief {
	if b.trials >= beliefTrials {
		b = belief{b.trials / 2, b.successes / 2}
	}
	return belief{b.trials + trials, b.successes}
}

// success returns b after one of its trials was a success.
func (b belief) success() belief { return belief{b.trials, min(b.successes+1, b.trials)} }

// A queryEvent is a query that was asked, or a new relevant page that one brought.
type queryEvent struct {
	line string // what was asked
	from int    // or the place in issued of the query that brought the page
}

// A bredQuery is one to ask.
type bredQuery struct {
	line    string
	places  []int // of the pages that its words are from
	reasons []wire.Scored
}

// aim takes t for the topic. What is remembered stays.
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

// terms returns the names of the terms of a line, sorted, each once.
func (s *queries) terms(line string) (names []string) {
	names = stems(s.analyzer, line)
	slices.Sort(names)
	return slices.Compact(names)
}

// read takes a page into the population, and a relevant one into the centroid: each
// of its terms in thousandths of the most frequent one.
func (s *queries) read(place int, p *page, rec *wire.Record) {
	if len(s.population.Terms()) >= populationTerms { // more than people write
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

// fittest keeps as many documents as the ecosystem holds: those with the highest
// scores, the first among equals.
func (s *queries) fittest() {
	slices.SortFunc(s.documents, func(a, b document) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.place, b.place))
	})
	s.documents = s.documents[:min(s.Ecosystem, len(s.documents))]
}

// answer learns what came of a query: an address was fetched, and was a new relevant
// page or not. What the seeds were searched by was asked, too.
func (s *queries) answer(rec *wire.Record, success bool) {
	if rec.Query == "" || len(rec.Query) > longestQuery {
		return
	}
	q := issuedQuery{s.terms(rec.Query)}
	if _, known := s.number[q.key()]; !known && rec.Operator == "seed" && len(q.terms) > 0 {
		s.happen(queryEvent{line: rec.Query})
	}
	if i, known := s.number[q.key()]; known && success {
		s.happen(queryEvent{from: i})
	}
}

// happen notes an event.
func (s *queries) happen(e queryEvent) {
	s.events = append(s.events, e)
	s.experience(e)
}

// experience learns from an event. Of the results of a query nothing is heard of those
// that were known before: they count with it, and are no success.
func (s *queries) experience(e queryEvent) {
	if e.line == "" {
		for _, term := range s.issued[e.from].terms {
			s.yields[term] = s.yields[term].success()
		}
		return
	}
	q := issuedQuery{s.terms(e.line)}
	if _, again := s.number[q.key()]; !again {
		s.number[q.key()] = len(s.issued)
		s.issued = append(s.issued, q)
	}
	for _, term := range q.terms {
		s.yields[term] = s.yields[term].tried(s.Results)
	}
}

// learn makes what the relevant pages of this generation say part of the centroid.
func (s *queries) learn() { s.absorb(s.words) }

// absorb adds words to the centroid. The lightest are forgotten when they are many,
// and not at once, so that a new word has time to become heavy.
func (s *queries) absorb(words map[string]uint64) {
	for term, n := range words {
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

// breed lets an ecosystem of the population evolve. The query is that of its fittest
// organism that was not asked yet (row g), or with again, of its fittest. ok is false
// if the population has no words, or none of its organisms is new.
func (s *queries) breed(rng *rand.Rand, again bool) (q bredQuery, ok bool) {
	s.fittest()
	h := s.habitat(rng)
	if len(h.organisms) == 0 {
		return bredQuery{}, false
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
		if _, asked := s.number[issuedQuery{s.terms(line)}.key()]; line == "" || asked && !again {
			continue
		}
		s.happen(queryEvent{line: line})
		q = bredQuery{line: line, reasons: h.reasons(words, fitness[i])}
		for d, top := range h.tops {
			if slices.Contains(words, top) {
				q.places = append(q.places, s.documents[d].place)
			}
		}
		return q, true
	}
	return bredQuery{}, false
}

// endGeneration forgets the population, and from time to time the words that it had.
func (s *queries) endGeneration() {
	s.documents = s.documents[:0]
	s.population.Reset()
	known := s.analyzer.Len()
	if s.analyzer.Trim(); s.analyzer.Len() < known { // the terms have new numbers
		s.population, s.page = text.NewStatistics(s.analyzer), text.NewStatistics(s.analyzer)
	}
}

// appendDelta appends what happened; all that is remembered follows from it.
func (s *queries) appendDelta(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.events)))
	for _, e := range s.events {
		if b = appendText(b, e.line); e.line == "" {
			b = binary.AppendUvarint(b, uint64(e.from))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(s.words)))
	for _, term := range slices.Sorted(maps.Keys(s.words)) {
		b = appendText(b, term)
		b = binary.AppendUvarint(b, s.words[term])
	}
	s.events = s.events[:0]
	clear(s.words)
	return b
}

func (s *queries) replay(_ *memory, r *reader) {
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		e := queryEvent{line: r.text()}
		if e.line == "" {
			from := r.uvarint()
			if from >= uint64(len(s.issued)) {
				r.bad = true
				return
			}
			e.from = int(from)
		}
		s.experience(e)
	}
	words := map[string]uint64{}
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		term := r.text()
		words[term] += r.uvarint()
	}
	if !r.bad {
		s.absorb(words)
	}
}
