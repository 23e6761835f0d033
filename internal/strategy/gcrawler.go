package strategy

// This file implements a crawler after
//
//	M. Shokouhi, P. Chubak and Z. Raeesy, "Enhancing focused crawling with genetic
//	algorithms", ITCC 2005.
//
// It is reconstructed, because the paper was not available. It is only known that a
// genetic algorithm estimates the best path and expands the initial keywords during the crawl,
// without training and without relevance feedback. Everything else is our design. The keywords are a
// weight table that grows by the words of very similar pages (topic -expand tunnel). An
// individual is a subset of the keywords, as a bit string. The fittest subset scores pages and links
// of a best-first search.
//
//	sim(S, p)   = Σ over k in S of w_k·c_kp / √(Σ over k in S of w_k² · Σ over all k of c_kp²)
//	fitness(S)  = mean of sim(S, p) over the last G pages p
//	worth(link) = (1 − λ)·sim(best S, page) + λ·sim(best S, anchor and address)
//
//	symbol  here                 meaning
//	k       words                a word of the table
//	w_k     weights              its weight in the present topic
//	c_kp    wordCounts           occurrences of k in page p; those in the title count twice
//	S       genome               a subset of the table: one bit for each word
//	best S  genomes[0]           the fittest of the population
//	G       Window               20
//	pc, pm  Crossover, Mutation  0.8 for one-point crossover, 0.02 for each bit
//	λ       Link                 share of the words of a link, 0.5
//
// Comments name rows of the table in doc/design/papers.md, which lists what is not known about the paper,
// and what this implementation does.

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"spoor/internal/fitness"
	"spoor/internal/genetic"
	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

type gcrawler struct {
	memory

	Population int
	Window     int
	Crossover  float64
	Mutation   float64
	Link       float64

	analyzer *text.Analyzer
	table    []fitness.Entry   // table of the topic
	index    map[text.Term]int // by term: its index in words
	weights  []float64         // by index in words; 0 if no longer in the table
	terms    []text.Term       // scratch
	at       []int             // scratch of read, by index in words: its index in the result, plus one

	words   []string     // stems, in the order in which they entered
	genomes [][]bool     // the population, the fittest first; empty before the first generation
	window  []wordCounts // the last pages
	worth   column       // best value of a link so far

	saved  struct{ words, window int } // length of words in the last delta, and new pages in window
	offers offers
}

// wordCounts holds the words of the table in a text.
type wordCounts []wordCount

type wordCount struct {
	word  int // index in words
	count float64
}

func newGcrawler() Strategy {
	s := &gcrawler{Population: 20, Window: 20, Crossover: 0.8, Mutation: 0.02, Link: 0.5}
	s.parts = []part{s, &s.worth}
	return s
}

func (s *gcrawler) Params() []Param {
	some := [2]float64{1, 10_000}
	return []Param{
		{Name: "population", Doc: "subsets of the table", Value: &s.Population, Range: some},
		{Name: "window", Doc: "number of latest pages that a subset is measured by", Value: &s.Window, Range: some},
		{Name: "pc", Doc: "probability of crossover of two parents", Value: &s.Crossover, Range: unit},
		{Name: "pm", Doc: "probability that a bit flips", Value: &s.Mutation, Range: unit},
		{Name: "link", Doc: "share of a link's own words in its value; the rest is its page's", Value: &s.Link, Range: unit},
	}
}

func (s *gcrawler) aim(t *topic.Topic) (err error) {
	if s.analyzer, err = t.Analyzer(); err != nil {
		return err
	}
	if s.table, s.index = tableOf(t), nil; s.table == nil {
		s.table = keywordTable(t, s.analyzer)
	}
	return nil
}

// tableOf returns the weight table of t without the entries that come from the query alone.
func tableOf(t *topic.Topic) (table []fitness.Entry) {
	for _, e := range t.Table {
		if e.Origin != topic.FromQuery {
			table = append(table, fitness.Entry{Term: e.Term, Weight: e.Weight})
		}
	}
	return table
}

// keywordTable returns the words of the keywords with their weights (row g).
func keywordTable(t *topic.Topic, a *text.Analyzer) (table []fitness.Entry) {
	for _, k := range t.Keywords {
		for _, stem := range stems(a, k.Text) {
			if !slices.ContainsFunc(table, func(e fitness.Entry) bool { return e.Term == stem }) {
				table = append(table, fitness.Entry{Term: stem, Weight: k.Weight})
			}
		}
	}
	return table
}

// stems returns the stems of the words of s that are not stop words.
func stems(a *text.Analyzer, s string) (names []string) {
	for _, t := range a.Append(nil, s) {
		if !t.Silent() {
			names = append(names, a.Name(t))
		}
	}
	return names
}

// begin updates words and the population to the topic, after a state was restored: row e.
func (s *gcrawler) begin() {
	if s.index != nil {
		return
	}
	s.index = map[text.Term]int{}
	places := map[string]int{}
	for i, w := range s.words {
		places[w] = i
	}
	s.weights = make([]float64, len(s.words))
	for _, e := range s.table {
		if _, known := places[e.Term]; !known {
			places[e.Term] = len(s.words)
			s.words, s.weights = append(s.words, e.Term), append(s.weights, 0)
			for i := range s.genomes {
				s.genomes[i] = append(s.genomes[i], true)
			}
		}
		s.weights[places[e.Term]] = e.Weight
		s.index[s.analyzer.Stem(e.Term)] = places[e.Term]
	}
	s.analyzer.Keep()
}

// read counts the words of the table in a text. Words of the title are counted twice.
func (s *gcrawler) read(title, body string) (out wordCounts) {
	if len(s.index) == 0 {
		return nil
	}
	s.at = grown(s.at, len(s.words))
	for i, part := range []string{title, body} {
		s.terms = s.analyzer.Append(s.terms[:0], part)
		for _, t := range s.terms {
			word, ok := s.index[t]
			if !ok {
				continue
			}
			if s.at[word] == 0 {
				out = append(out, wordCount{word: word})
				s.at[word] = len(out)
			}
			out[s.at[word]-1].count += float64(2 - i)
		}
	}
	for _, o := range out {
		s.at[o.word] = 0
	}
	return out
}

// A subset is a genome with the squared length of its vector.
type subset struct {
	genome []bool // nil: the whole table
	square float64
}

func (s *gcrawler) subset(genome []bool) subset {
	out := subset{genome: genome}
	for i, w := range s.weights {
		if genome == nil || genome[i] {
			out.square += float64(w * w)
		}
	}
	return out
}

// similarity returns sim(S, p).
func (s *gcrawler) similarity(in subset, p wordCounts) float64 {
	var dot, square float64
	for _, o := range p {
		square += float64(o.count * o.count)
		if in.genome == nil || in.genome[o.word] {
			dot += float64(o.count * s.weights[o.word])
		}
	}
	if !(dot > 0) {
		return 0
	}
	return min(dot/math.Sqrt(square)/math.Sqrt(in.square), 1)
}

// leader returns the steering genome: before the first generation, the whole table.
func (s *gcrawler) leader() []bool {
	if len(s.genomes) == 0 {
		return nil
	}
	return s.genomes[0]
}

func (s *gcrawler) Visit(rec *wire.Record) {
	s.begin()
	place, ok := s.visitNew(rec)
	if !ok {
		return
	}
	s.analyzer.Trim()
	page := s.read(rec.Title, rec.Text)
	s.window = append(s.window, page)
	s.saved.window++
	leader := s.subset(s.leader())
	near := s.similarity(leader, page)
	for id, link := range s.unfetchedLinks(rec, place) {
		_, rest, _ := strings.Cut(link.URL, "://")
		own := s.similarity(leader, s.read("", link.Anchor+" "+rest))
		worth := float64((1-s.Link)*near) + float64(s.Link*own)
		if worth > s.worth.at(id) || int(id) >= s.firstID && !s.offers.has(id) {
			s.worth.set(id, worth)
			s.offers.put(id, s.address(id, place, opLink, worth,
				wire.Scored{Name: "link", Value: own}, wire.Scored{Name: "page", Value: near}))
		}
	}
}

func (s *gcrawler) Breed(_ int, rng *rand.Rand) []Address {
	s.begin()
	s.window = s.window[max(0, len(s.window)-s.Window):]
	s.saved.window = min(s.saved.window, len(s.window))
	if len(s.window) > 0 && len(s.words) > 0 {
		s.evolve(rng)
	}
	next := s.offers.take(&s.memory)
	s.endGeneration()
	return next
}

// evolve breeds the next population and moves its fittest genome to the front.
func (s *gcrawler) evolve(rng *rand.Rand) {
	for len(s.genomes) < s.Population { // row c
		genome := make([]bool, len(s.words))
		for i := range genome {
			genome[i] = len(s.genomes) == 0 || rng.IntN(2) == 1
		}
		s.genomes = append(s.genomes, genome)
	}
	scores := s.fitness(s.genomes)
	next := [][]bool{s.genomes[genetic.Truncate(scores, 1)[0]]} // row d
	parents := genetic.Roulette(rng, scores, s.Population+s.Population%2)
	for i := 0; len(next) < s.Population; i += 2 {
		c, d := slices.Clone(s.genomes[parents[i]]), slices.Clone(s.genomes[parents[i+1]])
		if rng.Float64() < s.Crossover {
			c, d = genetic.OnePoint(rng, c, d)
		}
		genetic.Flip(rng, c, s.Mutation)
		genetic.Flip(rng, d, s.Mutation)
		next = append(next, c, d)
	}
	next = next[:s.Population]
	best := genetic.Truncate(s.fitness(next), 1)[0]
	next[0], next[best] = next[best], next[0]
	s.genomes = next
}

func (s *gcrawler) fitness(genomes [][]bool) []float64 {
	scores := make([]float64, len(genomes))
	for i, genome := range genomes {
		in := s.subset(genome)
		for _, p := range s.window {
			scores[i] += s.similarity(in, p)
		}
		scores[i] /= float64(len(s.window))
	}
	return scores
}

func (s *gcrawler) code(c *codec) {
	s.words = append(s.words[:s.saved.words], each(c, s.words[s.saved.words:], c.text)...)
	known := len(s.window) - s.saved.window
	s.window = append(s.window[:known], each(c, s.window[known:], func(p *wordCounts) {
		*p = each(c, *p, func(o *wordCount) {
			count := uint64(o.count)
			c.index(&o.word, len(s.words))
			integer(c, &count)
			o.count = float64(count)
		})
	})...)
	s.window = s.window[max(0, len(s.window)-s.Window):]
	s.genomes = each(c, s.genomes, func(genome *[]bool) { c.bits(genome, len(s.words)) })
	c.check(len(s.genomes) == 0 || len(s.genomes) == s.Population)
	s.saved.words, s.saved.window = len(s.words), 0
}
