package strategy

// This file implements the genetic algorithm of
//
//	J. Qin and H. Chen, "Using genetic algorithm in building domain-specific
//	collections: an experiment in the nanotechnology domain", HICSS 2005,
//
// reconstructed from its abstract and from later papers about it:
//
//	B. W. Yohanes, Handoko and H. K. Wardana, "Focused crawler optimization using
//	genetic algorithm", TELKOMNIKA 9(3), 2011, pp. 403–410,
//
// and Saket and Behrang (antnet.go). Individuals are pages; their fitness is their similarity
// with a lexicon of the domain. The fit survive; crossover draws links by the fitness of the
// survivors that contain them; mutation, at intervals, asks search engines for words of the
// lexicon, to reach communities that no link leads to.
//
//	paper                  here          meaning
//	fitness(p)             page.score    similarity of page p with the lexicon
//	population             population    the survivors, at most Population
//	threshold              median        minimum fitness of survivors
//	Crossover(u)           crossover     Σ fitness(p) over survivors p with the link u
//	roulette               Accept        P(u) = Crossover(u) / Σ Crossover
//	lexicon                keywords      the keywords of the topic
//	mutation               mutate        a search for some keywords at random
//
// Comments name rows of the table in doc/design/papers.md, which lists what is not known about the paper,
// and what this implementation does.

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"spoor/internal/genetic"
	"spoor/internal/graph"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

type qinChen struct {
	pool

	Population int
	Mutation   int
	Words      int

	keywords []string

	generation int
	turns      int  // addresses proposed so far; priorities are first in, first out
	population list // pages
	issued     queryLog
}

func newQinChen() Strategy {
	s := &qinChen{Population: 50, Mutation: 5, Words: 4}
	s.parts = []part{(*counter)(&s.generation), (*counter)(&s.turns), &s.population, &s.issued, s}
	return s
}

func (s *qinChen) Params() []Param {
	return []Param{
		{Name: "population", Doc: "maximum number of survivors", Value: &s.Population, Range: [2]float64{1, 1e6}},
		{Name: "mutation", Doc: "generations between two searches, 0 for none", Value: &s.Mutation, Range: whole},
		{Name: "words", Doc: "maximum number of keywords in a search", Value: &s.Words, Range: [2]float64{1, 64}},
	}
}

func (s *qinChen) aim(t *topic.Topic) error {
	s.keywords = keywords(t)
	return nil
}

func (s *qinChen) Breed(n int, rng *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.generation++
	s.selection()
	next = s.crossover(quota, rng)
	next = append(next, s.restart(quota-len(next))...)
	if q := s.mutate(rng); q != "" {
		next = append(next, Address{Query: q, Operator: opMutation, Priority: 1})
	}
	s.endGeneration()
	return next
}

// fitness returns the fitness of the page of id, or 0 if there is none.
func (s *qinChen) fitness(id graph.ID) float64 {
	if place, fetched := s.page(id); fetched {
		return s.pages[place].score
	}
	return 0
}

// selection chooses the survivors from the last survivors and this generation's pages: rows a,
// b and d.
func (s *qinChen) selection() {
	candidates := slices.Clone(s.population.ids)
	old := map[graph.ID]bool{}
	for _, id := range candidates {
		old[id] = true
	}
	for _, p := range s.pages[s.firstPage:] {
		if !p.failed && !old[p.node] {
			candidates = append(candidates, p.node)
		}
	}
	scores := make([]float64, len(candidates))
	for i, id := range candidates {
		scores[i] = s.fitness(id)
	}
	slices.Sort(scores)
	threshold := median(scores)
	survivors := slices.DeleteFunc(candidates, func(id graph.ID) bool {
		return s.fitness(id) < threshold || !s.fertile(id)
	})
	slices.SortStableFunc(survivors, func(a, b graph.ID) int { return cmp.Compare(s.fitness(b), s.fitness(a)) })
	s.population.ids = survivors[:min(s.Population, len(survivors))]
}

// fertile reports whether a page has a free link.
func (s *qinChen) fertile(id graph.ID) bool {
	for child := range s.web.Children(id) {
		if s.isFree(child) {
			return true
		}
	}
	return false
}

// median returns the median of sorted scores, or 0 if there are none.
func median(scores []float64) float64 {
	if len(scores) == 0 {
		return 0
	}
	return (scores[(len(scores)-1)/2] + scores[len(scores)/2]) / 2
}

// crossover draws links of the survivors, in proportion to the summed fitness of the survivors
// that contain them.
func (s *qinChen) crossover(quota int, rng *rand.Rand) (next []Address) {
	var links []graph.ID
	var sums []float64
	at := map[graph.ID]int{} // index in links
	bred := map[graph.ID]bool{}
	for _, parent := range s.population.ids {
		bred[parent] = true
		for id := range s.web.Children(parent) {
			if !s.isFree(id) {
				continue
			}
			i, found := at[id]
			if !found {
				i = len(links)
				at[id] = i
				links, sums = append(links, id), append(sums, 0)
			}
			sums[i] += s.fitness(parent)
		}
	}
	for _, i := range genetic.Accept(rng, sums, quota) {
		next = append(next, s.propose(links[i], opCrossover, sums[i], func(parent graph.ID) bool { return bred[parent] }))
	}
	return next
}

// restart proposes links of any page if the survivors have too few: row g.
func (s *qinChen) restart(quota int) (next []Address) {
	for _, id := range s.best(quota, s.sum) {
		next = append(next, s.propose(id, opRestart, s.sum(id), func(graph.ID) bool { return true }))
	}
	return next
}

// sum returns the summed fitness of all pages that link to id.
func (s *qinChen) sum(id graph.ID) (sum float64) {
	for parent := range s.web.Parents(id) {
		sum += s.fitness(parent)
	}
	return sum
}

// propose returns a proposal to fetch id; its parents are the pages that bred.
func (s *qinChen) propose(id graph.ID, operator string, sum float64, bred func(graph.ID) bool) Address {
	s.markPending(id)
	a := Address{URL: s.web.URL(id), Operator: operator, Priority: -float64(s.turns),
		Reasons: []wire.Scored{{Name: "crossover", Value: sum}}}
	s.turns++
	var best float64
	for parent := range s.web.Parents(id) {
		place, fetched := s.page(parent)
		if !fetched || !bred(parent) {
			continue
		}
		url := s.web.URL(parent)
		if p := s.pages[place]; a.Via == "" || p.score > best {
			a.Via, a.Depth, best = url, p.depth+1, p.score
		}
		if len(a.Parents) < maxParents {
			a.Parents = append(a.Parents, url)
		}
	}
	return a
}

// mutate returns a search for keywords drawn at random, or "" if none is due: row f.
func (s *qinChen) mutate(rng *rand.Rand) string {
	if s.Mutation == 0 || s.generation%s.Mutation != 0 {
		return ""
	}
	query := drawQuery(rng, s.keywords, 1+rng.IntN(min(s.Words, len(s.keywords))))
	if !s.issued.add(query) {
		return ""
	}
	return query
}

func (s *qinChen) code(c *codec) { c.check(s.allFetched(s.population.ids)) }
