package strategy

// This file is the policy of forage: an evolving population of weights for the signals, and the
// islands that share the addresses of a generation.

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"spoor/internal/genetic"
	"spoor/internal/graph"
)

// firstWeights are the weights before the evolution, without a prior.
var firstWeights = signalVector{
	sigParents: 0.3, sigSiblings: 0.8, sigSpread: 0.3, sigWords: 0.8, sigHub: 0.4,
	sigAnchor: 0.2, sigAddress: 0.2, sigContext: 0.2, sigTopic: 0.15, sigAddressTopic: 0.3,
	sigDirectory: 0.1, sigNew: 0.3, sigHost: 0.2,
}

// A policy is a population of weights, and the decisions by which it is evaluated.
type policy struct {
	initial    signalVector // the first weights
	weights    signalVector // weights in use: the mean of the fittest genomes
	population []genome
	log        []decision // the latest proposals, in their order
	savedLog   int
}

type genome []float64

// A decision is a proposal: an address, its signals at that time, and the islands that would have
// chosen it.
type decision struct {
	id      graph.ID
	z       signalVector
	islands uint8
}

// Constants of the evolution.
const (
	genomes         = 24
	fewestDecisions = 40    // decisions required for an evolution
	mostDecisions   = 2000  // decisions kept in the log
	evolutions      = 4     // evolutions per fit
	deployed        = 6     // number of fittest genomes whose mean is used
	firstDeviation  = 0.15  // standard deviation of the first population around firstWeights
	mutationRate    = 0.4   // probability that a weight mutates
	mutationStep    = 0.075 // standard deviation of a mutation
	blendAlpha      = 0.25
	outcomeDecay    = 0.99827 // weight of an outcome relative to the next one: half in 400
	priorDecisions  = 50      // weight of firstWeights, in decisions
)

// decided logs a proposal.
func (p *policy) decided(id graph.ID, z signalVector, islands uint8) {
	p.log = append(p.log, decision{id, z, islands})
}

// An answered decision has an outcome.
type answered struct {
	*decision
	place   int
	outcome float64 // relevance above the level, plus a share of the hub value
}

// logged returns the decisions whose pages were fetched before the last fit.
func (s *forage) logged() (list []answered) {
	for i := range s.log {
		d := &s.log[i]
		if place := int(s.model.places[d.id]) - 1; place >= 0 && place < len(s.model.outcome) {
			list = append(list, answered{d, place, s.model.outcome[place]})
		}
	}
	return list
}

// evolve evolves the population by the outcomes of the decisions.
func (p *policy) evolve(log []answered, rng *rand.Rand) {
	if len(log) < fewestDecisions {
		return
	}
	if p.population == nil {
		for i := range genomes {
			g := slices.Clone(genome(p.initial[:]))
			if i > 0 {
				genetic.Disturb(rng, g, 1, firstDeviation)
			}
			p.population = append(p.population, g.rounded())
		}
	}
	decay := make([]float64, len(log))
	for i, d := len(decay)-1, 1.0; i >= 0; i-- {
		decay[i] = d
		d = float64(d * outcomeDecay)
	}
	fitness := make([]float64, genomes)
	rate := func() {
		for i, g := range p.population {
			fitness[i] = fitnessOf(g, p.initial, log, decay)
		}
	}
	rate()
	for range evolutions {
		next := []genome{p.population[genetic.Truncate(fitness, 1)[0]]}
		for len(next) < genomes {
			a, b := p.population[genetic.Tournament(rng, fitness)], p.population[genetic.Tournament(rng, fitness)]
			child := genetic.Blend(rng, a, b, blendAlpha)
			genetic.Disturb(rng, child, mutationRate, mutationStep)
			next = append(next, genome(child).rounded())
		}
		p.population = next
		rate()
	}
	p.deploy(genetic.Truncate(fitness, deployed))
}

// rounded rounds a genome to the precision with which it is saved.
func (g genome) rounded() genome {
	for k := range g {
		g[k] = float64(float32(g[k]))
	}
	return g
}

// deploy sets the weights in use.
func (p *policy) deploy(fittest []int) {
	p.weights = signalVector{}
	for _, i := range fittest {
		for k, w := range p.population[i] {
			p.weights[k] += w / float64(len(fittest))
		}
	}
}

// fitnessOf returns how well the weights of g would have ordered the decisions: the correlation of
// the decisions' scores with the outcomes, weighted by the number of outcomes, minus a penalty for
// the distance from the first weights.
func fitnessOf(g genome, first signalVector, log []answered, decay []float64) float64 {
	var sum, x, y, xx, yy, xy float64
	for i := range log {
		score := 0.0
		for k, w := range g {
			score += float64(w * log[i].z[k])
		}
		d, out := decay[i], log[i].outcome
		sum += d
		x += float64(d * score)
		y += float64(d * out)
		xx += float64(float64(d*score) * score)
		yy += float64(float64(d*out) * out)
		xy += float64(float64(d*score) * out)
	}
	spread := float64((xx - float64(x*x)/sum) * (yy - float64(y*y)/sum))
	correlation := (xy - float64(x*y)/sum) / math.Sqrt(max(0, spread)+1e-12)
	moved := 0.0
	for k, w := range g {
		moved += float64((w - first[k]) * (w - first[k]))
	}
	return float64(correlation*float64(len(log))/priorDecisions) - moved
}

// Islands. Each has its own order of the waiting addresses.
const (
	islandWeighted = iota // by the weighted signals
	islandPlain           // by the most relevant parent and the words of the query
	islandBreadth         // in the order of discovery
	islandCount
)

var islandNames = [islandCount]string{"weighted", "plain", "breadth"}

// A choice is an address of a generation.
type choice struct {
	at      int // index in the waiting addresses
	by      int // the island that chose the address
	islands uint8
}

func (c choice) island() string { return islandNames[c.by] }

const (
	yieldScale       = 0.1 // difference of yields by which the odds of an island grow e-fold
	shareFirst       = 2.0 // log-odds of the weighted island before there are outcomes
	leastShare       = 0.02
	yieldDecay       = 0.985 // weight of a page relative to the next one
	yieldPrior       = 8     // pages
	yieldHubs        = 0.25
	diversityPenalty = 0.5
)

// choose returns the addresses of the next generation.
func (s *forage) choose(w *waitingLinks, n int) (chosen []choice) {
	scores := make([]float64, len(w.ids))
	for i := range w.z {
		for k, z := range w.z[i] {
			scores[i] += float64(s.weights[k] * z)
		}
	}
	weighted := s.diverse(w, scores, n)
	if !s.Islands {
		for _, at := range weighted {
			chosen = append(chosen, choice{at: at})
		}
		return chosen
	}
	oldest := make([]int, min(n, len(w.ids)))
	for i := range oldest {
		oldest[i] = i
	}
	return interleave([islandCount][]int{weighted, highestPlaces(w.plain, n), oldest}, s.shares(), n)
}

// yields returns the mean value of the pages of each island: of all pages that the island would have
// chosen, whichever island chose them. Recent pages have more weight.
func (s *forage) yields() (yields [islandCount]float64) {
	var weights [islandCount]float64
	sum, all, decay := 0.3, 1.0, 1.0
	m := s.model
	for i := len(s.log) - 1; i >= 0 && decay > 0.02; i-- {
		place := int(m.places[s.log[i].id]) - 1
		if place < 0 {
			continue
		}
		worth := m.relevance[place]
		if place < len(m.outcome) {
			worth += float64(yieldHubs / hubShare * (m.outcome[place] - (m.relevance[place] - m.level())))
		}
		for k := range yields {
			if s.log[i].islands>>k&1 == 1 {
				yields[k] += float64(decay * worth)
				weights[k] += decay
				sum += float64(decay * worth)
				all += decay
			}
		}
		decay = float64(decay * yieldDecay)
	}
	for k := range yields {
		yields[k] = (yields[k] + float64(yieldPrior*sum/all)) / (weights[k] + yieldPrior)
	}
	return yields
}

// shares returns the share of each island, by their yields.
func (s *forage) shares() (shares [islandCount]float64) {
	yields, sum := s.yields(), 0.0
	for k, y := range yields {
		odds := (y - yields[islandWeighted]) / yieldScale
		if k == islandWeighted {
			odds = shareFirst
		}
		shares[k] = rounded(math.Exp(odds))
		sum += shares[k]
	}
	for k := range shares {
		shares[k] = leastShare + float64((1-islandCount*leastShare)*(shares[k]/sum))
	}
	return shares
}

// interleave takes n addresses from the lists, in proportion to shares.
func interleave(lists [islandCount][]int, shares [islandCount]float64, n int) (chosen []choice) {
	marks := map[int]uint8{}
	for k, list := range lists {
		for _, at := range list[:min(len(list), int(float64(shares[k]*float64(n))+1.5))] {
			marks[at] |= 1 << k
		}
	}
	taken := map[int]bool{}
	var next [islandCount]int
	for len(chosen) < n {
		k, late := -1, math.Inf(1) // the island that is furthest behind its share
		for i, list := range lists {
			if next[i] < len(list) && (float64(next[i])+0.5)/shares[i] < late {
				k, late = i, (float64(next[i])+0.5)/shares[i]
			}
		}
		if k < 0 {
			break
		}
		at := lists[k][next[k]]
		next[k]++
		if !taken[at] {
			taken[at] = true
			chosen = append(chosen, choice{at, k, marks[at] | 1<<k})
		}
	}
	return chosen
}

// diverse returns the n best addresses, one after the other. Each address that is taken from a page
// lowers the scores of the other links of this page. The decrease is greater if fewer of its links
// were fetched.
func (s *forage) diverse(w *waitingLinks, scores []float64, n int) (chosen []int) {
	best := highestPlaces(scores, 6*n)
	used := make([]bool, len(best))
	taken := map[int32]float64{}
	for len(chosen) < min(n, len(best)) {
		pick, high := -1, math.Inf(-1)
		for i, at := range best {
			if used[i] {
				continue
			}
			cost, parents := 0.0, 0.0
			for a := range s.into(w.ids[at], len(s.pages)) {
				cost += taken[a.from] / (s.model.taken[a.from] + 2)
				parents++
			}
			if v := scores[at] - float64(diversityPenalty*cost)/max(1, parents); v > high {
				pick, high = i, v
			}
		}
		used[pick] = true
		chosen = append(chosen, best[pick])
		for a := range s.into(w.ids[best[pick]], len(s.pages)) {
			taken[a.from]++
		}
	}
	return chosen
}

// highestPlaces returns the places of the n highest scores, highest first. Equal scores are in the
// order of their places.
func highestPlaces(scores []float64, n int) []int {
	n = min(n, len(scores))
	worse := func(i, j int) int { return cmp.Or(cmp.Compare(scores[j], scores[i]), cmp.Compare(i, j)) }
	var top []int
	bound := -1 // the nth best so far, or -1 if there are fewer
	for i := range scores {
		if bound >= 0 && worse(i, bound) > 0 || n == 0 {
			continue
		}
		if top = append(top, i); len(top) == 2*n {
			slices.SortFunc(top, worse)
			top = top[:n]
			bound = top[n-1]
		}
	}
	slices.SortFunc(top, worse)
	return top[:min(n, len(top))]
}

// code writes or reads the decisions since the last delta, the population and the weights.
func (p *policy) code(c *codec) {
	if c.reading {
		p.savedLog = len(p.log)
	}
	signal := func(x *float64) {
		f := float32(*x)
		bits := math.Float32bits(f)
		c.uint32(&bits)
		f = math.Float32frombits(bits)
		if c.check(math.Abs(float64(f)) < 1e6); c.bad {
			f = 0
		}
		*x = float64(f)
	}
	list := p.log[p.savedLog:]
	if c.reading {
		list = nil
	}
	list = each(c, list, func(d *decision) {
		c.id(&d.id)
		c.byte(&d.islands)
		for k := range d.z {
			signal(&d.z[k])
		}
	})
	if c.check(true) {
		p.log = append(p.log, list...)
	}
	if len(p.log) > 2*mostDecisions {
		p.log = slices.Clone(p.log[len(p.log)-mostDecisions:])
	}
	p.savedLog = len(p.log)
	p.population = each(c, p.population, func(g *genome) {
		if c.reading {
			*g = make(genome, signals)
		}
		for k := range *g {
			signal(&(*g)[k])
		}
	})
	c.check(len(p.population) == 0 || len(p.population) == genomes)
	if len(p.population) == 0 {
		p.population = nil
	}
	for k := range p.weights {
		c.finite(&p.weights[k])
	}
}
