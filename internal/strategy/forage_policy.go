package strategy

// This file is the policy of forage: the weights of the signals, and the islands that share the
// addresses of a generation.

import (
	"container/heap"
	"math"
	"slices"

	"spoor/internal/genetic"
	"spoor/internal/graph"
)

var signalWeights = signalVector{
	sigParents: 0.3, sigSiblings: 0.8, sigSpread: 0.3, sigWords: 1.1, sigHub: 0.4,
	sigAnchor: 0.2, sigAddress: 0.2, sigContext: 0.2, sigTopic: 0.15, sigAddressTopic: 0.3,
	sigDirectory: 0.1, sigNew: 0.3, sigHost: 0.2,
}

// A policy holds the latest proposals, by which the islands are evaluated.
type policy struct {
	log      []decision // in the order of the proposals
	savedLog int
}

// A decision is a proposal: an address, and the islands that would have chosen it.
type decision struct {
	id      graph.ID
	islands uint8
}

const mostDecisions = 2000 // decisions kept in the log

// Islands. Each has its own order of the waiting addresses.
const (
	islandWeighted = iota // by the weighted signals
	islandPlain           // by the most relevant parent and the words of the query
	islandBreadth         // in the order of discovery
	islandCount
)

// islandWords holds the operators of the addresses that each island chose.
var islandWords = [islandCount]Word{
	{"weighted", "chosen by the sum of its reasons: what each signal adds to the score"},
	{"plain", "chosen by the most relevant page with the link, and the words of the query"},
	{"breadth", "chosen because it was discovered first"},
}

// A choice is an address of a generation.
type choice struct {
	at      int // index in the waiting addresses
	by      int // the island that chose the address
	islands uint8
}

func (c choice) island() string { return islandWords[c.by].Name }

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
			scores[i] += float64(signalWeights[k] * z)
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
	return interleave([islandCount][]int{weighted, genetic.Truncate(w.plain, n), oldest}, s.shares(), n)
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
	best := genetic.Truncate(scores, 6*n)
	taken := map[int32]float64{}
	lowered := func(at int) float64 {
		cost, parents := 0.0, 0.0
		for a := range s.into(w.ids[at], len(s.pages)) {
			cost += taken[a.from] / (s.model.taken[a.from] + 2)
			parents++
		}
		return scores[at] - float64(diversityPenalty*cost)/max(1, parents)
	}
	left := make(contenders, len(best)) // best is sorted, so this is a heap
	for i, at := range best {
		left[i] = contender{score: scores[at], rank: i}
	}
	for len(chosen) < min(n, len(best)) {
		first := &left[0]
		if first.since < len(chosen) { // scores never rise, so only the first must be up to date
			first.score, first.since = lowered(best[first.rank]), len(chosen)
			heap.Fix(&left, 0)
			continue
		}
		at := best[first.rank]
		heap.Pop(&left)
		chosen = append(chosen, at)
		for a := range s.into(w.ids[at], len(s.pages)) {
			taken[a.from]++
		}
	}
	return chosen
}

// A contender is an address that diverse may choose.
type contender struct {
	score float64
	rank  int // by the scores that were not lowered
	since int // number of addresses that had been chosen when the score was computed
}

// contenders is a heap of the addresses that are left: the highest score first, then the best rank.
type contenders []contender

func (c contenders) Len() int      { return len(c) }
func (c contenders) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c contenders) Less(i, j int) bool {
	return c[i].score > c[j].score || c[i].score == c[j].score && c[i].rank < c[j].rank
}
func (c *contenders) Push(x any) { *c = append(*c, x.(contender)) }
func (c *contenders) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// code writes or reads the decisions since the last delta.
func (p *policy) code(c *codec) {
	if c.reading {
		p.savedLog = len(p.log)
	}
	list := p.log[p.savedLog:]
	if c.reading {
		list = nil
	}
	list = each(c, list, func(d *decision) {
		c.id(&d.id)
		c.byte(&d.islands)
	})
	if c.check(true) {
		p.log = append(p.log, list...)
	}
	if len(p.log) > 2*mostDecisions {
		p.log = slices.Clone(p.log[len(p.log)-mostDecisions:])
	}
	p.savedLog = len(p.log)
}
