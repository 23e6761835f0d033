package strategy

// This file implements GAFC, the focused crawler with a niche genetic algorithm, from
//
//	Huilian Fan, Guangpu Zeng and Xianli Li, "Crawling Strategy of Focused Crawler Based on Niche
//	Genetic Algorithm", DASC 2009, pp. 591–594 (niche in doc/design/papers.md).
//
// An individual is an address; its fitness S is the similarity of its page and the topic,
// computed by the score stage. Relevant pages are hubs if they have many links, and
// authorities otherwise. The children of hubs breed by crossover; links that are co-located
// with links to authorities enter by mutation; every niche (a host, or a host with its first
// directories) loses its worst members.
//
//	paper             here             meaning
//	wait_queue        queue            the individuals of this generation
//	S0                Threshold        a page with S > S0 is relevant
//	URL_NUMBER        HubLinks         a relevant page with more links is a hub
//	hub_urls          hubs             relevant pages whose children breed
//	authority_urls    authorities      relevant pages that attract mutation
//	temp_hashURL, V1  children         links of the hubs
//	pc                Crossover        share of V1 that breeds (Vc)
//	V2                colocated        links beside a link to an authority
//	pm                Mutation         share of V2 that is taken (Vm)
//	Vn                offspring        Vc ∪ Vm
//
// The paper downloads all of V1 before it selects from V1 (step 4 of the paper). So a generation
// of the paper takes two passes of the pipeline, or more if a pass is smaller than V1: first the
// queue is fetched, then the children. Children that are selected are not fetched again.
//
// Where the paper is silent or contradicts itself we follow doc/design/papers.md. The comments below name
// the rows of its table.

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"spoor/internal/genetic"
	"spoor/internal/graph"
	"spoor/internal/niche"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

type nicheGA struct {
	memory

	Threshold   float64 // S0
	HubLinks    int     // URL_NUMBER
	Crossover   float64 // pc
	Mutation    float64 // pm
	Knockout    float64 // share of a niche that is eliminated
	KnockoutN   int     // number of members eliminated instead of a share, if positive
	NicheMin    int     // smaller niches lose no members
	NicheDirs   int     // directories in the key of a niche
	Cocitation  string  // siblings or parents: the two readings of V2 (row g)
	Authorities bool    // authorities breed too (row j)
	Lazy        bool    // children are chosen before they are fetched (row e)
	Compat      bool    // follow the paper literally (rows f, k, p)

	pass        pass
	numProposed int    // addresses proposed so far; earlier ones have higher priorities
	queue       list   // individuals to select from, once all are fetched
	children    list   // V1, in the pass that fetches it
	mutants     list   // Vm, in the pass that fetches it (compat)
	chosen      list   // Vc, in the pass that fetches Vm (compat)
	authorities list   // relevant pages of this generation that are not hubs
	unsolicited list   // pages that the strategy did not propose, to be added to the next queue
	eliminated  list   // members eliminated from niches, kept for a restart
	queued      list   // all addresses that were ever in a queue: "visited" in the paper
	bred        list   // pages whose links were used
	state       []mark // by graph.ID, derived from the lists

	predicted column // by graph.ID: the best score of the links to the address (lazy)

	next []Address // proposals of this call of Breed
}

// A pass determines which addresses must be fetched before the next step.
type pass uint8

const (
	selecting pass = iota // the queue
	breeding              // the children of the hubs
	mutating              // the mutants, before the knock-out (compat)
)

func (p *pass) code(c *codec) { c.byte((*byte)(p)) }

// A mark is the set of the lists that contain an address.
type mark uint8

const (
	isQueued  mark = 1 << iota // in queued
	isAwaited                  // in queue, children or mutants
	isBred                     // in bred
)

const (
	siblings = "siblings"
	parents  = "parents"

	// predictionDecay is the predicted score of a mutant, divided by the score of its best
	// parent (row f).
	predictionDecay = 0.5
)

func newNiche() Strategy {
	s := &nicheGA{
		Threshold: 0.05, HubLinks: 15,
		Crossover: 0.6, Mutation: 0.4,
		Knockout: 0.10, NicheMin: 10,
		Cocitation: siblings,
	}
	s.parts = []part{&s.pass, (*counter)(&s.numProposed), &s.queue, &s.children, &s.mutants, &s.chosen,
		&s.authorities, &s.unsolicited, &s.eliminated, &s.queued, &s.bred, &s.predicted, s}
	return s
}

func (s *nicheGA) Params() []Param {
	return []Param{
		{Name: "s0", Doc: "a page is relevant when its score is greater", Value: &s.Threshold, Range: unit},
		{Name: "hub-links", Doc: "a relevant page with more links is a hub (URL_NUMBER)", Value: &s.HubLinks, Range: whole},
		{Name: "pc", Doc: "crossover: share of the hubs' children that breed", Value: &s.Crossover, Range: unit},
		{Name: "pm", Doc: "mutation: share of the links beside authorities that are taken", Value: &s.Mutation, Range: unit},
		{Name: "knockout", Doc: "share of a niche that is eliminated", Value: &s.Knockout, Range: unit},
		{Name: "knockout-n", Doc: "number eliminated instead of a share, if positive", Value: &s.KnockoutN, Range: whole},
		{Name: "niche-min", Doc: "smaller niches lose no members", Value: &s.NicheMin, Range: whole},
		{Name: "niche-dirs", Doc: "a niche is the host and this many directories", Value: &s.NicheDirs, Range: [2]float64{0, 64}},
		{Name: "cocitation", Doc: "mutate into the siblings of links to authorities, or into the pages with these links", Value: &s.Cocitation, Words: []string{siblings, parents}},
		{Name: "expand-authorities", Doc: "authorities breed like hubs", Value: &s.Authorities},
		{Name: "lazy", Doc: "choose children by their links, before they are fetched", Value: &s.Lazy},
		{Name: "compat", Doc: "literally as in the paper: mutants are fetched before the knock-out, no second chance for the eliminated, no restart", Value: &s.Compat},
	}
}

func (s *nicheGA) Visit(rec *wire.Record) {
	if place, ok := s.visit(rec); ok && s.Lazy && !s.pages[place].failed {
		for id, link := range s.knownLinks(rec) {
			s.predicted.raise(id, link.Score.Or(0))
		}
	}
}

// Breed runs steps of the algorithm until the next step needs a page that was not fetched yet.
func (s *nicheGA) Breed(n int, rng *rand.Rand) []Address {
	s.next = nil
	s.derive()
	if !s.anyOutcome {
		s.failAwaited()
	}
	s.adopt()
	for more := true; more && s.answered(); {
		switch s.pass {
		case selecting:
			hubs := s.selection()
			s.breed(hubs, rng)
		case breeding:
			s.reproduce(s.crossover(), rng)
		case mutating:
			s.survive(s.chosen.ids, s.individuals(s.mutants.ids))
		}
		if s.pass == selecting && len(s.queue.ids) == 0 {
			more = !s.Compat && s.restart(n) // row p
		}
	}
	s.endGeneration()
	return s.next
}

// awaited returns the addresses that must be fetched before the next step.
func (s *nicheGA) awaited() *list {
	switch s.pass {
	case breeding:
		return &s.children
	case mutating:
		return &s.mutants
	}
	return &s.queue
}

// answered reports whether all awaited addresses were fetched or failed.
func (s *nicheGA) answered() bool {
	return s.allFetched(s.awaited().ids)
}

// failAwaited marks awaited addresses as failed: the frontier is empty.
func (s *nicheGA) failAwaited() {
	for _, id := range s.awaited().ids {
		if _, fetched := s.page(id); !fetched {
			s.fail(id)
		}
	}
}

// adopt adds the pages that the strategy did not propose, such as seeds, to the queue if it is
// awaited, and to unsolicited (for the next queue) otherwise.
func (s *nicheGA) adopt() {
	into := &s.unsolicited
	if s.pass == selecting {
		into = &s.queue
		s.queue.ids = append(s.queue.ids, s.unsolicited.ids...)
		s.unsolicited.ids = nil
	}
	for _, p := range s.pages[s.firstPage:] {
		if s.state[p.node]&(isQueued|isAwaited) == 0 {
			s.state[p.node] |= isAwaited
			into.ids = append(into.ids, p.node)
		}
	}
}

// selection is steps 1 to 3: the relevant pages of the queue become hubs or authorities, and all
// members of the queue are marked as visited.
func (s *nicheGA) selection() (hubs []graph.ID) {
	s.authorities.ids = nil
	for _, id := range s.queue.ids {
		place, _ := s.page(id)
		p := s.pages[place]
		if p.failed { // if a later attempt succeeds, the page is unsolicited
			s.state[id] &^= isAwaited
			continue
		}
		s.markVisited(id)
		if id != p.node { // id is an alias: select its page only once
			if s.state[p.node]&isQueued != 0 {
				continue
			}
			s.markVisited(p.node)
		}
		if !(p.score > s.Threshold) || s.state[p.node]&isBred != 0 {
			continue
		}
		if p.degree > s.HubLinks {
			hubs = append(hubs, p.node)
			continue
		}
		s.authorities.ids = append(s.authorities.ids, p.node)
	}
	s.queue.ids = nil
	return hubs
}

// markVisited marks id as visited in the sense of the paper: id was in the queue.
func (s *nicheGA) markVisited(id graph.ID) {
	s.state[id] &^= isAwaited
	if s.state[id]&isQueued == 0 {
		s.state[id] |= isQueued
		s.queued.ids = append(s.queued.ids, id)
	}
}

// breed is step 4: the links of the hubs are the children. All children are fetched or, with
// Lazy, only those that crossover selects.
func (s *nicheGA) breed(hubs []graph.ID, rng *rand.Rand) {
	families := hubs
	if s.Authorities {
		families = slices.Concat(hubs, s.authorities.ids)
	}
	s.children.ids = nil
	for _, parent := range families {
		s.markBred(parent)
		for child := range s.web.Children(parent) {
			if s.state[child]&(isQueued|isAwaited) == 0 {
				s.state[child] |= isAwaited
				s.children.ids = append(s.children.ids, child)
			}
		}
	}
	if s.Lazy {
		s.reproduce(s.crossover(), rng)
		return
	}
	s.pass = breeding
	for _, child := range s.children.ids {
		s.propose(child, opChild)
	}
}

// individuals returns the ids that did not fail, and marks all ids as no longer awaited.
func (s *nicheGA) individuals(ids []graph.ID) []graph.ID {
	return slices.DeleteFunc(ids, func(id graph.ID) bool {
		s.state[id] &^= isAwaited
		place, fetched := s.page(id)
		return fetched && s.pages[place].failed
	})
}

// crossover is step 5: it returns the ⌊pc·n⌋ children with the highest scores. n is the number of
// children without those that failed.
func (s *nicheGA) crossover() (chosen []graph.ID) {
	nodes := s.individuals(s.children.ids)
	s.children.ids = nil
	slices.SortFunc(nodes, func(a, b graph.ID) int { return cmp.Compare(s.web.URL(a), s.web.URL(b)) })
	scores := make([]float64, len(nodes))
	for i, id := range nodes {
		scores[i] = s.fitness(id)
	}
	for _, place := range genetic.Truncate(scores, genetic.Share(len(nodes), s.Crossover)) {
		chosen = append(chosen, nodes[place])
	}
	return chosen
}

// fitness returns S or, before the page is fetched, a prediction: half the score of the best
// parent (row f) or, with Lazy, the mean of the scores of the best parent and the link.
func (s *nicheGA) fitness(id graph.ID) float64 {
	if place, fetched := s.page(id); fetched {
		return s.pages[place].score
	}
	parent, ok := s.bestParent(id)
	switch {
	case !ok:
		return 0
	case s.Lazy:
		return (s.pages[parent].score + s.predicted.at(id)) / 2
	}
	return s.pages[parent].score * predictionDecay
}

// reproduce is steps 6 and 7: mutants join the children that crossover chose.
func (s *nicheGA) reproduce(chosen []graph.ID, rng *rand.Rand) {
	v2 := s.colocated(chosen)
	var mutants []graph.ID
	for _, place := range genetic.Sample(rng, len(v2), genetic.Share(len(v2), s.Mutation)) {
		mutants = append(mutants, v2[place])
	}
	if !s.Compat {
		s.survive(chosen, mutants)
		return
	}
	s.pass = mutating
	s.chosen.ids, s.mutants.ids = chosen, mutants
	for _, id := range mutants {
		s.state[id] |= isAwaited
		s.propose(id, opMutation)
	}
}

// colocated returns V2, without visited addresses (rows g, h): the crawled pages that link to an
// authority of this generation (the parameter cocitation is parents), or all links on these pages
// (siblings).
func (s *nicheGA) colocated(chosen []graph.ID) (v2 []graph.ID) {
	seen := map[graph.ID]bool{}
	for _, id := range chosen {
		seen[id] = true
	}
	add := func(id graph.ID) {
		place, fetched := s.page(id)
		if s.state[id]&isQueued == 0 && !seen[id] && !(fetched && s.pages[place].failed) {
			seen[id] = true
			v2 = append(v2, id)
		}
	}
	done := map[graph.ID]bool{} // parents, which may link to several authorities
	for _, authority := range s.authorities.ids {
		place, _ := s.page(authority)
		for _, name := range slices.Compact([]graph.ID{authority, s.pages[place].final}) {
			for parent := range s.web.Parents(name) {
				if done[parent] {
					continue
				}
				done[parent] = true
				if s.Cocitation == parents {
					add(parent)
					continue
				}
				for sibling := range s.web.Children(parent) {
					add(sibling)
				}
			}
		}
	}
	return v2
}

// survive is step 8: every niche of the offspring loses its worst members, which are kept for
// a restart. The remaining members are the next queue.
func (s *nicheGA) survive(chosen, mutants []graph.ID) {
	offspring := slices.Concat(chosen, mutants)
	members := make([]niche.Member, len(offspring))
	for i, id := range offspring {
		s.state[id] &^= isAwaited
		members[i] = niche.Member{Niche: s.niche(id), Score: s.fitness(id), Tie: s.web.URL(id)}
	}
	stay, gone := niche.KnockOut(members, niche.Rule{Fraction: s.Knockout, Count: s.KnockoutN, MinSize: s.NicheMin})
	for _, i := range gone {
		if !s.Compat { // row k: the paper forgets them
			s.eliminated.ids = append(s.eliminated.ids, offspring[i])
		}
	}
	for _, i := range stay {
		if i < len(chosen) {
			s.enqueue(offspring[i], opCrossover)
		} else {
			s.enqueue(offspring[i], opMutation)
		}
	}
	s.pass = selecting
	s.chosen.ids, s.mutants.ids = nil, nil
	s.queue.ids = append(s.queue.ids, s.unsolicited.ids...)
	s.unsolicited.ids = nil
}

// restart fills the queue when no individual survived. The paper stops in this case (row p).
// restart takes the eliminated individuals. If there are none, it takes the links of pages that
// never bred, relevant or not, best page first, until the queue has n members. It reports whether
// the queue has members.
func (s *nicheGA) restart(n int) bool {
	again := func(id graph.ID) {
		place, fetched := s.page(id)
		if s.state[id]&(isQueued|isAwaited) == 0 && !(fetched && s.pages[place].failed) {
			s.enqueue(id, opRestart)
		}
	}
	for _, id := range s.eliminated.ids {
		again(id)
	}
	s.eliminated.ids = nil
	if len(s.queue.ids) > 0 {
		return true
	}
	var unbred []page
	for _, p := range s.pages {
		if s.state[p.node]&isBred == 0 && s.web.Expanded(p.node) {
			unbred = append(unbred, p)
		}
	}
	slices.SortFunc(unbred, func(a, b page) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(s.web.URL(a.node), s.web.URL(b.node)))
	})
	for _, p := range unbred {
		if len(s.queue.ids) >= max(1, n) {
			break
		}
		s.markBred(p.node)
		for child := range s.web.Children(p.node) {
			again(child)
		}
	}
	return len(s.queue.ids) > 0
}

func (s *nicheGA) markBred(id graph.ID) {
	s.state[id] |= isBred
	s.bred.ids = append(s.bred.ids, id)
}

func (s *nicheGA) enqueue(id graph.ID, operator string) {
	s.state[id] |= isAwaited
	s.queue.ids = append(s.queue.ids, id)
	s.propose(id, operator)
}

// propose proposes id, unless its page was fetched. The priority is lower than in all earlier
// proposals.
func (s *nicheGA) propose(id graph.ID, operator string) {
	if _, fetched := s.page(id); fetched {
		return
	}
	best, _ := s.bestParent(id)
	a := s.address(id, best, operator, -float64(s.numProposed))
	a.Niche = s.niche(id)
	a.Parents = s.parentURLs(id)
	s.numProposed++
	s.next = append(s.next, a)
}

func (s *nicheGA) niche(id graph.ID) string { return weburl.Niche(s.web.URL(id), s.NicheDirs) }

func (s *nicheGA) code(c *codec) { c.check(s.pass <= mutating && s.allFetched(s.authorities.ids)) }

// derive computes the marks from the lists.
func (s *nicheGA) derive() {
	if s.state == nil {
		s.state = make([]mark, s.web.Len())
		for _, id := range s.queued.ids {
			s.state[id] |= isQueued
		}
		for _, id := range s.bred.ids {
			s.state[id] |= isBred
		}
		for _, id := range slices.Concat(s.queue.ids, s.children.ids, s.mutants.ids, s.unsolicited.ids) {
			s.state[id] |= isAwaited
		}
	}
	s.state = grown(s.state, s.web.Len())
}
