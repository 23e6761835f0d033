package strategy

// This file implements the focused crawler with a genetic algorithm whose mutation is
// symbiotic organisms search (SOS), from
//
//	Alfonsus Wilson, H. Armanto, Gunawan and Tanwijaya, a focused crawler with a genetic algorithm
//	and symbiotic organisms search, 2021 (symbiosis in doc/design/papers.md; this describes the
//	paper, whose title is not known).
//
// The population is the pages of a generation; the fitness of a page is its relevance,
// computed by the score stage. A roulette wheel selects pages, whose links are the offspring:
// the value of a link is the summed fitness of all pages that contain it, and the best links are the
// crawl queue. Mutation reaches pages that no link leads to: SOS breeds a query from the words of
// the population (queries.go, sos.go), and its search results join the next generation.
//
//	paper           here           meaning
//	f_i             weights        fitness of page i in the roulette: its score plus a bias
//	0.05            Bias           the bias
//	P_i = f_i/Σf_j  roulette       probability of page i (eq. 4)
//	Crossover(µ)    worths         Σ fitness of the pages that contain link µ (eq. 5)
//	filter          Factor         the best K = Factor · Population of these links are kept
//	crawl queue     queued         links that were kept and are to be fetched
//	–               Selection      share of the population that the roulette selects
//
// The rest of the paper is elsewhere: the weight table and its growth in internal/topic, and its
// cosine and BM25 in internal/fitness (eq. 1 to 3); the harvest rate (eq. 6) in internal/judge.
//
// A link that was kept but not fetched, because the generation was smaller than the queue,
// stays in the queue, and its value grows with the number of pages that contain it. When the
// queue is empty, the paper's crawl would end; here the best of the other known links are fetched
// (operator restart).
//
// Where the paper is silent or contradicts itself we follow doc/design/papers.md. The comments name the
// rows of its table.

import (
	"math/rand/v2"
	"slices"

	"spoor/internal/genetic"
	"spoor/internal/graph"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

type symbiosis struct {
	pool

	Bias       float64 // added to the scores in the roulette
	Selection  float64 // share of the population that is selected
	Population int     // number of pages for which Factor keeps links
	Factor     float64 // number of links kept of a generation, as a multiple of Population
	Every      int     // generations between two queries; 0: none
	Compat     bool    // follow the paper literally

	queries queries // state of the mutation

	generation int  // number of generations so far
	queued     list // all links that were ever in the crawl queue

	isQueued []bool    // by graph.ID, derived from queued
	worths   []float64 // by graph.ID: crossover value of a link (eq. 5), derived from the pages
}

func newSymbiosis() Strategy {
	s := &symbiosis{
		Bias: 0.05, Selection: 0.5, Population: 50, Factor: 1, Every: 1,
		queries: queries{Objective: forYield, Ecosystem: 20, Results: 10},
	}
	s.parts = []part{(*counter)(&s.generation), &s.queued, &s.queries}
	return s
}

func (s *symbiosis) Params() []Param {
	whole := [2]float64{0, 1e6}
	return []Param{
		{Name: "bias", Doc: "bias that the roulette adds to every fitness", Value: &s.Bias, Range: unit},
		{Name: "selection", Doc: "share of the population that the roulette selects", Value: &s.Selection, Range: unit},
		{Name: "population", Doc: "pages for which queue-factor keeps links; more if evolve -n is more", Value: &s.Population, Range: [2]float64{1, 1e6}},
		{Name: "queue-factor", Doc: "crossover: links kept of a generation, as a multiple of the population", Value: &s.Factor, Range: [2]float64{0, 1000}},
		{Name: "mutation-every", Doc: "mutation: generations between two queries, 0 for none", Value: &s.Every, Range: whole},
		{Name: "objective", Doc: "what queries are bred for: new relevant results, or likeness to the user's words", Value: &s.queries.Objective, Words: []string{forYield, forLikeness}},
		{Name: "iterations", Doc: "iterations of SOS; 0 is 20 for yield and 3 for literal", Value: &s.queries.Iterations, Range: [2]float64{0, 1000}},
		{Name: "ecosystem", Doc: "organisms of SOS: the fittest documents of the population", Value: &s.queries.Ecosystem, Range: [2]float64{2, 1000}},
		{Name: "words", Doc: "maximum words of a query; 0 is 6 for yield and 8 for literal", Value: &s.queries.Words, Range: [2]float64{0, 64}},
		{Name: "results", Doc: "results of a search, including known addresses", Value: &s.queries.Results, Range: [2]float64{1, 1000}},
		{Name: "compat", Doc: "literally as in the paper: crossover of fitness with its bias, SOS for likeness without tabu, no restart", Value: &s.Compat},
	}
}

func (s *symbiosis) aim(t *topic.Topic) error {
	if s.Compat {
		s.queries.Objective = forLikeness
	}
	return s.queries.aim(t)
}

func (s *symbiosis) Visit(rec *wire.Record) {
	known := len(s.pages)
	place, ok := s.visit(rec)
	if !ok {
		return
	}
	p := &s.pages[place]
	fresh := place >= known && !p.failed
	s.queries.answer(rec, fresh && p.relevant)
	if fresh {
		s.queries.read(place, p, rec)
	}
}

// Breed is selection, crossover and mutation.
func (s *symbiosis) Breed(n int, rng *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.generation++
	s.derive()
	s.queries.learn()
	selected := s.roulette(rng)
	s.crossover(selected, n)
	operator, chosen := opCrossover, s.eligible(quota, s.queueValue)
	if len(chosen) == 0 && !s.Compat {
		operator, chosen = opRestart, s.best(quota, func(id graph.ID) float64 { return s.worths[id] })
	}
	for i, id := range chosen {
		s.markPending(id)
		next = append(next, s.propose(id, operator, 1-float64(i)/float64(len(chosen))))
	}
	if s.Every > 0 && s.generation%s.Every == 0 {
		if a, sources, ok := s.queries.breed(rng, s.Compat); ok {
			for _, place := range sources[:min(len(sources), maxParents)] {
				a.Parents = append(a.Parents, s.web.URL(s.pages[place].node))
			}
			next = append(next, a)
		}
	}
	s.queries.endGeneration()
	s.endGeneration()
	return next
}

// queryPriority is above the priority of all links, which is in (0, 1]: search results are
// fetched first.
const queryPriority = 2

// roulette selects from the population, without replacement (row o), in proportion to fitness
// plus bias. If a score exceeds 1, as with BM25, all scores are divided by the highest score (row e).
func (s *symbiosis) roulette(rng *rand.Rand) (selected []*page) {
	var population []*page
	highest := 1.0
	for i := s.firstPage; i < len(s.pages); i++ {
		if p := &s.pages[i]; !p.failed {
			population = append(population, p)
			highest = max(highest, p.score)
		}
	}
	weights := make([]float64, len(population))
	for i, p := range population {
		weights[i] = max(0, p.score)/highest + s.Bias
	}
	for _, i := range genetic.Accept(rng, weights, genetic.Share(len(population), s.Selection)) {
		selected = append(selected, population[i])
	}
	return selected
}

// crossover adds the best links of the selected pages to the queue; of equal links, those
// discovered first (row f).
func (s *symbiosis) crossover(selected []*page, n int) {
	var links []graph.ID
	for _, parent := range selected {
		for id := range s.web.Children(parent.node) {
			if s.isFree(id) {
				links = append(links, id)
			}
		}
	}
	slices.Sort(links)
	links = slices.Compact(links)
	values := make([]float64, len(links))
	for i, id := range links {
		values[i] = s.worths[id]
	}
	population := s.Population
	if !s.Compat { // otherwise the queue could be too small to fill a generation
		population = max(population, n)
	}
	for _, i := range genetic.Truncate(values, int(float64(population)*s.Factor)) {
		if id := links[i]; !s.isQueued[id] {
			s.isQueued[id] = true
			s.queued.ids = append(s.queued.ids, id)
		}
	}
}

func (s *symbiosis) queueValue(id graph.ID) float64 {
	if s.isQueued[id] {
		return s.worths[id]
	}
	return notEligible
}

// propose returns a proposal to fetch id, with the pages that contain it.
func (s *symbiosis) propose(id graph.ID, operator string, priority float64) Address {
	best, _ := s.bestParent(id)
	a := s.address(id, best, operator, priority,
		wire.Scored{Name: "crossover", Value: s.worths[id]}, wire.Scored{Name: "pages", Value: float64(s.web.InDegree(id))})
	a.Parents = s.parentURLs(id)
	return a
}

// derive computes the queue and the value of every link: the summed fitness of all fetched pages
// that contain it, which with Compat includes the bias (row d). One pass over all links is faster than
// looking up the parents of each.
func (s *symbiosis) derive() {
	s.isQueued = make([]bool, s.web.Len())
	for _, id := range s.queued.ids {
		s.isQueued[id] = true
	}
	bias := 0.0
	if s.Compat {
		bias = s.Bias
	}
	s.worths = make([]float64, s.web.Len())
	for id := range graph.ID(s.web.Len()) {
		place, fetched := s.page(id)
		if !fetched {
			continue
		}
		fitness := max(0, s.pages[place].score) + bias
		for child := range s.web.Children(id) {
			s.worths[child] += fitness
		}
	}
}
