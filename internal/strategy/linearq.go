package strategy

// This file implements a crawler that uses reinforcement learning:
//
//	M. Han, P.-H. Wuillemin and P. Senellart, "Focused crawling through
//	reinforcement learning", ICWE 2018, LNCS 10845, pp. 261–278.
//
// To follow a link is an action a in the state s of the page that contains it. Its value, with
// everything it leads to, is a linear function:
//
//	Q(s, a) = w · x(s, a)
//
// where x has eight measurements, each one-hot encoded in five bins. The link with the highest
// Q is followed, and with probability ε any link. When its page was fetched, with reward r,
//
//	w ← w + α · (r + γ · max Q(s', a') − Q(s, a)) · x(s, a)
//
// over the links a' of that page s'; a relevant page ends the episode, so that the target is r
// alone.
//
//	paper                             here              meaning
//	page relevance                    stateRelevance    the score of the page
//	relevance change                  stateChange       relative to the trail that led there
//	avg. relevance of parents         stateParents      of pages that link to the page
//	avg. relevance of relevant ones   stateGood         of the relevant pages among them
//	distance from a relevant page     stateDistance     links since the last relevant page
//	link relevance                    actionPromise     the predicted score of the link
//	the two averages                  actionParents, …  of pages that link to its target
//	α, γ, ε                           Alpha, …
//	w                                 weights           initially all 0.01
//
// The full text was not available. The constants are from a public re-implementation
// (yuanz4/IntelliCrawler): α 0.01, γ 0.9, ε 0.1, rewards 30 and -1, bins of a fifth, changes
// binned at 0.1 and 0.3, a trail that is the mean of the previous trail and the page, distances
// in tenths. Comments name rows of the table in doc/design/papers.md, which lists the differences.

import (
	"math"
	"math/rand/v2"
	"slices"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type linearQ struct {
	pool

	Alpha   float64 // α, learning rate
	Gamma   float64 // γ, discount
	Epsilon float64 // ε, probability of following any link
	Good    float64 // reward of a relevant page
	Bad     float64 // reward of any other page
	Update  string  // when links are valued

	weights linearWeights
	codes   column // code of a link, plus one
	values  column // Q of a link when it was found

	trails, changes, distances column // of pages
}

// The measurements, each in five bins.
const (
	stateRelevance = iota
	stateChange
	stateParents
	stateGood
	stateDistance
	actionPromise
	actionParents
	actionGood
	measurements
	binsEach = 5
)

// A code is the bins of the eight measurements.
type code [measurements]uint8

// When links are valued.
const (
	asynchronous = "asynchronous" // when they are found
	synchronous  = "synchronous"  // whenever the weights change
	moderated    = "moderated"    // when they are found; updates are multiplied by 1−γ
)

const (
	firstWeight    = 0.01
	trailShare     = 0.5 // share of the page in its trail
	maxDistance    = 10  // links from a relevant page, or more
	maxParentsRead = 64  // parents of an address (row a), which bounds the cost of menus
	maxWeight      = 1e9 // maximum absolute value, so that weights stay finite if the learning rate is too high
)

func newLinearQ() Strategy {
	s := &linearQ{Alpha: 0.01, Gamma: 0.9, Epsilon: 0.1, Good: 30, Bad: -1, Update: asynchronous}
	for i := range s.weights.w {
		s.weights.w[i] = firstWeight
	}
	s.parts = []part{&s.codes, &s.values, &s.trails, &s.changes, &s.distances, &s.weights}
	return s
}

func (s *linearQ) Params() []Param {
	reward := [2]float64{-1e6, 1e6}
	return []Param{
		{Name: "alpha", Doc: "learning rate", Value: &s.Alpha, Range: unit},
		{Name: "gamma", Doc: "discount of the rewards after a link", Value: &s.Gamma, Range: unit},
		{Name: "epsilon", Doc: "probability of following any link at random", Value: &s.Epsilon, Range: unit},
		{Name: "good", Doc: "reward of a relevant page", Value: &s.Good, Range: reward},
		{Name: "bad", Doc: "reward of any other", Value: &s.Bad, Range: reward},
		{Name: "update", Doc: "value links when they are found, again after every update, or when found, with smaller steps", Value: &s.Update,
			Words: []string{asynchronous, synchronous, moderated}},
	}
}

// Visit values the links of the page, and updates the weights for the link that led to it.
func (s *linearQ) Visit(rec *wire.Record) {
	before := len(s.pages)
	place, ok := s.visit(rec)
	if !ok {
		return
	}
	p := s.pages[place]
	isNew := len(s.pages) > before
	if isNew && !p.failed {
		s.measure(place)
	}
	x, next := s.state(place), math.Inf(-1)
	for id, link := range s.unfetchedLinks(rec, place) {
		x[actionPromise] = bin(link.Score.Or(0)) // row e
		x[actionParents], x[actionGood] = s.parents(id)
		q := s.q(x)
		next = max(next, q) // row c
		if s.codes.at(id) == 0 || q > s.values.at(id) {
			s.codes.set(id, float64(x.pack()+1))
			s.values.set(id, q) // row d
		}
	}
	if packed := s.codes.at(p.node); packed > 0 && isNew {
		target := s.Bad
		if p.relevant {
			target = s.Good
		} else if !math.IsInf(next, -1) {
			target += float64(s.Gamma * next)
		}
		s.learn(unpack(uint32(packed)-1), target)
	}
}

// learn moves Q of x towards target.
func (s *linearQ) learn(x code, target float64) {
	step := s.Alpha * (target - s.q(x))
	if s.Update == moderated {
		step *= 1 - s.Gamma
	}
	for i, b := range x {
		w := &s.weights.w[i*binsEach+int(b)]
		*w = max(-maxWeight, min(*w+float64(step), maxWeight))
	}
	s.weights.changed = true
}

func (s *linearQ) q(x code) (sum float64) {
	for i, b := range x {
		sum += s.weights.w[i*binsEach+int(b)]
	}
	return sum
}

// measure computes the trail of the page at place, its change relative to the best parent's
// trail, and its distance from the last relevant page (row b).
func (s *linearQ) measure(place int) {
	p := &s.pages[place]
	trail, distance, change := 0.0, float64(maxDistance), 0.0
	for parent := range s.web.Parents(p.node) {
		if at, fetched := s.page(parent); fetched && at < place {
			node := s.pages[at].node
			trail = max(trail, s.trails.at(node))
			distance = min(distance, s.distances.at(node)+1)
			change = p.score - trail
		}
	}
	if p.relevant {
		distance = 0
	}
	s.trails.set(p.node, float64(trailShare*p.score)+float64((1-trailShare)*trail))
	s.changes.set(p.node, change)
	s.distances.set(p.node, distance)
}

// state returns the measurements of the page at place. The measurements of the action are not set.
func (s *linearQ) state(place int) (x code) {
	p := &s.pages[place]
	x[stateRelevance] = bin(p.score)
	x[stateChange] = binChange(s.changes.at(p.node))
	x[stateParents], x[stateGood] = s.parents(p.node)
	x[stateDistance] = bin(s.distances.at(p.node) / maxDistance)
	return x
}

// parents returns the bins of two mean scores: of the pages that link to id, and of the relevant
// pages among them.
func (s *linearQ) parents(id graph.ID) (all, good uint8) {
	var sum, n, sumGood, nGood float64
	for parent := range s.web.Parents(id) {
		at, fetched := s.page(parent)
		if !fetched || s.pages[at].failed {
			continue
		}
		if n == maxParentsRead {
			break
		}
		score := s.pages[at].score
		sum, n = sum+score, n+1
		if s.pages[at].relevant {
			sumGood, nGood = sumGood+score, nGood+1
		}
	}
	return bin(sum / max(1, n)), bin(sumGood / max(1, nGood))
}

// bin returns the fifth of [0, 1] that contains v.
func bin(v float64) uint8 {
	if !(v > 0) {
		return 0
	}
	return uint8(min(binsEach-1, v*binsEach))
}

// binChange returns the bin of a change in [-1, 1]: small, better, much better, worse, much
// worse.
func binChange(v float64) uint8 {
	switch {
	case v > 0.3:
		return 2
	case v > 0.1:
		return 1
	case v < -0.3:
		return 4
	case v < -0.1:
		return 3
	}
	return 0
}

func (x code) pack() (n uint32) {
	for i := len(x) - 1; i >= 0; i-- {
		n = n*binsEach + uint32(x[i])
	}
	return n
}

func unpack(n uint32) (x code) {
	for i := range x {
		x[i] = uint8(n % binsEach)
		n /= binsEach
	}
	return x
}

// Breed proposes the links with the highest Q, and some random ones.
func (s *linearQ) Breed(n int, rng *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	greedy := s.best(quota, s.value)
	var others []graph.ID // all free addresses, once one of them is drawn
	for range len(greedy) {
		var id graph.ID
		drawn := rng.Float64() < s.Epsilon
		if drawn {
			if others == nil {
				others = slices.Collect(s.freeAddresses())
			}
			for id = graph.None; id == graph.None || !s.isFree(id); {
				k := rng.IntN(len(others))
				id = others[k]
				others[k] = others[len(others)-1]
				others = others[:len(others)-1]
			}
		} else {
			for id = greedy[0]; !s.isFree(id); id = greedy[0] {
				greedy = greedy[1:]
			}
		}
		reasons := []wire.Scored{{Name: "q", Value: s.value(id)}}
		if drawn {
			reasons = append(reasons, wire.Scored{Name: "random", Value: 1})
		}
		next = append(next, s.proposeAt(id, rankPriority(len(next), quota), reasons...))
	}
	s.endGeneration()
	return next
}

// value returns Q of an unfetched link.
func (s *linearQ) value(id graph.ID) float64 {
	if packed := s.codes.at(id); s.Update == synchronous && packed > 0 {
		return s.q(unpack(uint32(packed) - 1))
	}
	return s.values.at(id)
}

// linearWeights are saved when they have changed.
type linearWeights struct {
	w       [measurements * binsEach]float64
	changed bool // whether the weights changed since the last delta
}

func (l *linearWeights) code(c *codec) {
	if c.bool(&l.changed); l.changed {
		for i := range l.w {
			c.finite(&l.w[i])
		}
	}
	l.changed = false
}
