package strategy

// This file implements InfoSpiders, of
//
//	F. Menczer and R. K. Belew, "Adaptive retrieval agents: internalizing local
//	context and scaling up to the Web", Machine Learning 39, 2000, pp. 203–242,
//
// in the form of a crawler that searches best-first locally:
//
//	F. Menczer, G. Pant and P. Srinivasan, "Topical web crawlers: evaluating
//	adaptive algorithms", ACM TOIT 4 (4), 2004, pp. 378–419.
//
// Only the abstracts of the papers were available. The algorithm (links drawn by exp(β·L),
// energy, cost and payoff, death below 0, division above a threshold with the energy split,
// mutation of the offspring) is taken from the authors' slides,
// https://carl.cs.indiana.edu/fil/IS/slides.html. They name no values, so the values of all
// parameters are reconstructed.
//
// A population of spiders crawls. A spider has keywords, a small neural net that estimates the
// value of a link from the keywords around it, links that it found, and energy. It follows one
// of its links, pays for the fetch, gains the score of the page, and learns from the error of
// its estimate. A spider without energy dies. A spider with enough energy divides, and the
// offspring adopts a word of the page on which this happened. So the population moves to relevant
// regions and adapts to their vocabulary.
//
//	in_k      = Σ over occurrences of k of 1/dist(k, link)
//	L         = σ(b + Σ_j v_j·σ(b_j + Σ_k w_jk·in_k))
//	P(link i) = exp(β·L_i) / Σ exp(β·L)                 over the spider's links
//	E        ← E + payoff − c
//	target    = payoff + μ·max L over the links of the page, at most 1
//	w        ← w + η·(target − L)·∂L/∂w                 back-propagation
//
//	symbol   here        meaning                            value, reconstructed
//	β        Beta        greed                              4
//	θ        Theta       energy at which a spider divides   2; born with θ/2
//	c        Cost        energy cost of a fetch             0.05
//	payoff   page.score  score of the page                  the steering measure
//	μ        Discount    share of later payoff              0.5
//	η        Rate        learning rate                      0.5
//	         Population  maximum number of spiders          256
//	         Links       maximum links of a spider          64
//	         Keywords    maximum keywords of a spider       10
//	         Hidden      neurons of the hidden layer        3
//
// Comments refer to the rows of the table in doc/design/papers.md, which lists what the papers leave
// open and what this implementation does.
//
// Exponentials are rounded to single precision: their last bits differ between machines, and
// choices depend on them.

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"spoor/internal/genetic"
	"spoor/internal/graph"
	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

type infoSpiders struct {
	pool

	Beta, Theta, Cost, Discount, Rate   float64
	Population, Links, Keywords, Hidden int

	analyzer *text.Analyzer
	topic    []string          // stems of the topic
	index    map[text.Term]int // by term: its index in words
	terms    []text.Term       // scratch

	words   []string  // stems that are or were keywords of a spider
	turns   int       // turns of all spiders so far
	births  int       // number of spiders so far
	spiders []*spider // living spiders by birth
	arrived []arrival // of this generation

	savedWords int
	dead       []int // births of saved spiders that died since the last delta
}

// A spider is an individual.
type spider struct {
	birth     int // number, from 1
	turn      int // its last turn
	energy    float64
	words     []int // keywords, as indexes into words
	net       net
	links     []trail
	target    trail // the link that it is following
	following bool  // whether it is following one

	saved, changed bool
	savedLinks     []graph.ID
}

// A trail is a link with the signals of a spider's keywords around it.
type trail struct {
	id    graph.ID
	input []signal
}

// A signal is the strength of a keyword near a link.
type signal struct {
	keyword  int // index in the spider's words
	strength float32
}

// An arrival is an outcome that spiders react to.
type arrival struct {
	spider  *spider // the spider that requested it, or nil
	score   float64
	links   []trail
	newWord string // the page's most frequent word that is not a keyword of the spider
}

const (
	// maxStrength is the maximum strength of a signal.
	maxStrength = 10

	// maxEnergy is the maximum absolute energy of a spider.
	maxEnergy = 1e9

	// maxInherited is the maximum number of words of the topic that a spider without a parent
	// starts with.
	maxInherited = 64
)

func newInfoSpiders() Strategy {
	s := &infoSpiders{Beta: 4, Theta: 2, Cost: 0.05, Discount: 0.5, Rate: 0.5,
		Population: 256, Links: 64, Keywords: 10, Hidden: 3}
	s.parts = []part{s}
	return s
}

func (s *infoSpiders) Params() []Param {
	some := [2]float64{1, 10_000}
	return []Param{
		{Name: "beta", Doc: "greed: a link is followed in proportion to exp(beta·estimate)", Value: &s.Beta, Range: [2]float64{0, 100}},
		{Name: "theta", Doc: "energy above which a spider divides; it is born with half of it", Value: &s.Theta, Range: [2]float64{1e-6, 1e6}},
		{Name: "cost", Doc: "energy cost of a fetch; a page pays its score", Value: &s.Cost, Range: [2]float64{0, 1e6}},
		{Name: "discount", Doc: "share of the best link's estimate in the learning target of a page", Value: &s.Discount, Range: unit},
		{Name: "rate", Doc: "learning rate", Value: &s.Rate, Range: unit},
		{Name: "population", Doc: "maximum number of spiders", Value: &s.Population, Range: some},
		{Name: "links", Doc: "maximum links of a spider", Value: &s.Links, Range: some},
		{Name: "keywords", Doc: "maximum keywords of a spider", Value: &s.Keywords, Range: [2]float64{1, 1000}},
		{Name: "hidden", Doc: "neurons of the hidden layer", Value: &s.Hidden, Range: [2]float64{1, 1000}},
	}
}

func (s *infoSpiders) aim(t *topic.Topic) (err error) {
	if s.analyzer, err = t.Analyzer(); err != nil {
		return err
	}
	s.index = nil // its terms belong to the previous analyzer
	keywords := slices.Clone(t.Keywords)
	slices.SortStableFunc(keywords, func(a, b topic.Keyword) int { return cmp.Compare(b.Weight, a.Weight) })
	for _, k := range keywords {
		for _, stem := range stems(s.analyzer, k.Text) {
			if len(s.topic) < maxInherited && !slices.Contains(s.topic, stem) {
				s.topic = append(s.topic, stem)
			}
		}
	}
	return nil
}

// begin adds the words to the analyzer, after a state was restored.
func (s *infoSpiders) begin() {
	if s.index != nil {
		return
	}
	for _, stem := range s.topic {
		s.wordIndex(stem)
	}
	s.index = map[text.Term]int{}
	for i, w := range s.words {
		s.index[s.analyzer.Stem(w)] = i
	}
	s.analyzer.Keep()
}

// wordIndex returns the index of a stem in words. It adds a new stem; texts are matched with a new
// stem from the next generation on.
func (s *infoSpiders) wordIndex(stem string) int {
	at := slices.Index(s.words, stem)
	if at < 0 {
		at = len(s.words)
		s.words = append(s.words, stem)
		s.index = nil
	}
	return at
}

// Visit reads a page for the spider that requested it; Breed updates the spiders.
func (s *infoSpiders) Visit(rec *wire.Record) {
	s.begin()
	known := len(s.pages)
	place, ok := s.visit(rec)
	if !ok {
		return
	}
	id, _ := s.web.Find(rec.URL)
	a, fresh := arrival{spider: s.follower(id)}, place >= known && !s.pages[place].failed
	if a.spider == nil && !fresh {
		return
	}
	if fresh {
		a.score = s.pages[place].score
		words := s.inherited()
		if a.spider != nil {
			words = a.spider.words
		}
		s.analyzer.Trim()
		a.links = s.trailsOf(rec, place, words)
		if a.spider != nil && s.energyAfter(a.spider, a.score) > s.Theta {
			a.newWord = s.frequentWord(rec, words)
		}
	}
	s.arrived = append(s.arrived, a)
}

// follower returns the spider that follows a link to id, or nil.
func (s *infoSpiders) follower(id graph.ID) *spider {
	for _, sp := range s.spiders {
		if sp.following && sp.target.id == id {
			return sp
		}
	}
	return nil
}

// inherited returns the keywords of a spider without a parent.
func (s *infoSpiders) inherited() (words []int) {
	for _, stem := range s.topic {
		words = append(words, s.wordIndex(stem))
	}
	return words
}

// energyAfter returns the energy of sp after a page with this payoff.
func (s *infoSpiders) energyAfter(sp *spider, payoff float64) float64 {
	return max(-maxEnergy, min(sp.energy+(payoff-s.Cost), maxEnergy))
}

// trailsOf returns the links of a page with the signals of words around them, row f.
func (s *infoSpiders) trailsOf(rec *wire.Record, place int, words []int) (links []trail) {
	seen := map[graph.ID]bool{}
	strength := make([]float64, len(words))
	for id, link := range s.linksOn(rec, place) {
		if seen[id] {
			continue
		}
		seen[id] = true
		clear(strength)
		before, after, _ := strings.Cut(link.Context, "\n")
		s.addSignals(strength, words, link.Anchor, func(int, int) int { return 1 })
		s.addSignals(strength, words, before, func(i, n int) int { return 1 + n - i })
		s.addSignals(strength, words, after, func(i, _ int) int { return 2 + i })
		t := trail{id: id}
		for k, x := range strength {
			if x > 0 {
				t.input = append(t.input, signal{k, float32(min(x, maxStrength))})
			}
		}
		links = append(links, t)
	}
	return links
}

// addSignals adds the inverse distances of the keywords in a text to strength. distance
// returns the distance of word i of n.
func (s *infoSpiders) addSignals(strength []float64, words []int, text string, distance func(i, n int) int) {
	s.terms = s.analyzer.Append(s.terms[:0], text)
	for i, t := range s.terms {
		if word, ok := s.index[t]; ok {
			if k := slices.Index(words, word); k >= 0 {
				strength[k] += 1 / float64(distance(i, len(s.terms)))
			}
		}
	}
}

// frequentWord returns the stem of the most frequent word of a page that is not in words. If several
// are equally frequent, it returns the first.
func (s *infoSpiders) frequentWord(rec *wire.Record, words []int) string {
	s.terms = s.analyzer.Append(s.analyzer.Append(s.terms[:0], rec.Title), rec.Text)
	counts := make([]int, s.analyzer.Len())
	for _, t := range s.terms {
		word, ok := s.index[t]
		if !t.Silent() && !(ok && slices.Contains(words, word)) {
			counts[t.Index()]++
		}
	}
	best := text.Gap
	for _, t := range s.terms {
		if !t.Silent() && counts[t.Index()] > counts[best.Index()] {
			best = t
		}
	}
	return s.analyzer.Name(best)
}

// Breed updates the spiders that have arrived: they gain energy, learn, divide and die, and
// then follow their next links.
func (s *infoSpiders) Breed(n int, rng *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	for _, a := range s.arrived {
		s.handle(a, rng)
	}
	s.arrived = nil
	following := false
	for _, sp := range s.spiders {
		if _, fetched := s.page(sp.target.id); sp.following && fetched { // the page was fetched, but not by this spider: row k
			sp.following, sp.changed = false, true
		}
		following = following || sp.following
	}
	next = s.crawl(quota, rng)
	if len(next) == 0 && !following {
		next = s.restart(quota)
	}
	s.endGeneration()
	return next
}

func (s *infoSpiders) handle(a arrival, rng *rand.Rand) {
	sp := a.spider
	if sp == nil {
		if len(s.spiders) < s.Population {
			words := s.inherited()
			sp = s.addSpider(&spider{energy: s.Theta / 2, words: words, net: randomNet(rng, s.Hidden, len(words))})
			s.addLinks(sp, a.links)
		}
		return
	}
	if !sp.following {
		return // two outcomes of one address
	}
	sp.following, sp.changed = false, true
	sp.energy = s.energyAfter(sp, a.score)
	best := 0.0
	for _, l := range a.links {
		best = max(best, sp.net.estimate(l.input))
	}
	sp.net.learn(sp.target.input, max(0, min(a.score+float64(s.Discount*best), 1)), s.Rate)
	s.addLinks(sp, a.links)
	switch {
	case sp.energy < 0:
		s.removeSpider(sp)
	case sp.energy > s.Theta && len(s.spiders) < s.Population:
		s.divide(sp, a.newWord, rng)
	}
}

func (s *infoSpiders) addSpider(sp *spider) *spider {
	s.births++
	s.turns++
	sp.birth, sp.turn, sp.changed = s.births, s.turns, true
	s.spiders = append(s.spiders, sp)
	return sp
}

func (s *infoSpiders) removeSpider(sp *spider) {
	at := slices.Index(s.spiders, sp)
	s.spiders = slices.Delete(s.spiders, at, at+1)
	if sp.saved {
		s.dead = append(s.dead, sp.birth)
	}
}

// addLinks adds links to the links of sp, up to Links: row h.
func (s *infoSpiders) addLinks(sp *spider, links []trail) {
	known := map[graph.ID]bool{}
	all := slices.Clip(sp.links)
	for _, l := range all {
		known[l.id] = true
	}
	for _, l := range links {
		if !known[l.id] {
			all = append(all, l)
		}
	}
	all = slices.DeleteFunc(all, func(l trail) bool { return !s.isFree(l.id) })
	if len(all) > s.Links {
		estimates := make([]float64, len(all))
		for i, l := range all {
			estimates[i] = sp.net.estimate(l.input)
		}
		keep := genetic.Truncate(estimates, s.Links)
		slices.Sort(keep) // in the order in which they were found
		for to, from := range keep {
			all[to] = all[from]
		}
		all = all[:s.Links]
	}
	sp.links = all
}

// divide splits sp into a parent and a child: rows i and j.
func (s *infoSpiders) divide(sp *spider, newWord string, rng *rand.Rand) {
	sp.energy /= 2
	child := &spider{energy: sp.energy, words: slices.Clone(sp.words), net: sp.net.clone()}
	var mine []trail
	for i, l := range sp.links {
		if i%2 == 0 {
			mine = append(mine, l)
		} else {
			child.links = append(child.links, trail{l.id, slices.Clone(l.input)})
		}
	}
	sp.links = mine
	s.mutate(child, newWord, rng)
	s.addSpider(child)
}

// mutate adds a keyword to sp.
func (s *infoSpiders) mutate(sp *spider, newWord string, rng *rand.Rand) {
	if newWord == "" {
		return
	}
	word := s.wordIndex(newWord)
	if len(sp.words) < s.Keywords {
		sp.words = append(sp.words, word)
		sp.net.grow(rng)
		return
	}
	weakest := sp.net.weakest()
	sp.words[weakest] = word
	sp.net.renew(weakest, rng)
	for i, l := range sp.links { // signals of the new word are unknown there
		sp.links[i].input = slices.DeleteFunc(l.input, func(x signal) bool { return x.keyword == weakest })
	}
}

// crawl lets spiders follow one link each, up to the size of the generation: row b.
func (s *infoSpiders) crawl(quota int, rng *rand.Rand) (next []Address) {
	idle := slices.DeleteFunc(slices.Clone(s.spiders), func(sp *spider) bool { return sp.following })
	slices.SortFunc(idle, func(a, b *spider) int { return cmp.Compare(a.turn, b.turn) })
	for _, sp := range idle {
		if len(next) == quota {
			break
		}
		sp.changed = true
		sp.links = slices.DeleteFunc(sp.links, func(l trail) bool { return !s.isFree(l.id) }) // row c
		if len(sp.links) == 0 {
			s.removeSpider(sp) // row d
			continue
		}
		next = append(next, s.step(sp, rng))
	}
	return next
}

// step lets sp follow a link.
func (s *infoSpiders) step(sp *spider, rng *rand.Rand) Address {
	weights := make([]float64, len(sp.links))
	sum := 0.0
	for i, l := range sp.links {
		weights[i] = exp(s.Beta * sp.net.estimate(l.input))
		sum += weights[i]
	}
	at := genetic.Roulette(rng, weights, 1)[0]
	sp.target, sp.following = sp.links[at], true
	sp.links = slices.Delete(sp.links, at, at+1)
	s.turns++
	sp.turn = s.turns
	a := s.propose(sp.target.id, opLink)
	a.Reasons = []wire.Scored{
		{Name: "energy", Value: sp.energy}, {Name: "estimate", Value: sp.net.estimate(sp.target.input)},
		{Name: "probability", Value: weights[at] / sum}, {Name: "spider", Value: float64(sp.birth)},
	}
	return a
}

// restart proposes the links of the best pages: row e.
func (s *infoSpiders) restart(quota int) (next []Address) {
	for _, id := range s.best(quota, s.parentScore) {
		s.turns++
		next = append(next, s.propose(id, opRestart))
	}
	return next
}

// propose returns a proposal to fetch id; priorities are first in, first out.
func (s *infoSpiders) propose(id graph.ID, operator string) Address {
	s.markPending(id)
	place, ok := s.bestParent(id)
	if !ok {
		return Address{URL: s.web.URL(id), Operator: operator, Priority: -float64(s.turns)}
	}
	return s.address(id, place, operator, -float64(s.turns))
}

func (s *infoSpiders) code(c *codec) {
	integer(c, &s.turns)
	integer(c, &s.births)
	s.words = append(s.words[:s.savedWords], each(c, s.words[s.savedWords:], c.text)...)
	s.savedWords = len(s.words)
	each(c, s.dead, func(birth *int) {
		integer(c, birth)
		if at, ok := s.find(*birth); c.check(ok) {
			s.spiders = slices.Delete(s.spiders, at, at+1)
		}
	})
	s.dead = nil
	changed := slices.DeleteFunc(slices.Clone(s.spiders), func(sp *spider) bool { return !sp.changed })
	each(c, changed, func(p **spider) {
		birth := 0
		if !c.reading {
			birth = (*p).birth
		}
		integer(c, &birth)
		at, known := s.find(birth)
		// Births are in order.
		if c.check(known || at == len(s.spiders) && at < s.Population) && !known {
			s.spiders = append(s.spiders, &spider{birth: birth})
		}
		if !c.bad {
			s.codeSpider(c, s.spiders[at])
		}
	})
}

// find returns the index of the spider with this birth, or the index at which to insert it.
func (s *infoSpiders) find(birth int) (at int, ok bool) {
	return slices.BinarySearchFunc(s.spiders, birth, func(sp *spider, birth int) int { return cmp.Compare(sp.birth, birth) })
}

// codeSpider encodes or decodes sp. Only the changes of its links are saved, because most links stay
// in their order.
func (s *infoSpiders) codeSpider(c *codec, sp *spider) {
	before := len(sp.words)
	integer(c, &sp.turn)
	c.finite(&sp.energy)
	sp.words = each(c, sp.words, func(w *int) { c.index(w, len(s.words)) })
	if c.check(len(sp.words) <= len(c.b)/s.Hidden) {
		c.check(len(sp.links) == 0 || len(sp.words) == before) // the number of keywords of a spider does not change after its birth
		sp.net = newNet(s.Hidden, len(sp.words))
	}
	if c.bad {
		return
	}
	sp.net.weights(c.finite)
	stay, kept := make([]bool, len(sp.savedLinks)), 0
	for i, id := range sp.savedLinks {
		if stay[i] = kept < len(sp.links) && sp.links[kept].id == id; stay[i] {
			kept++
		}
	}
	c.bits(&stay, len(stay))
	if c.reading {
		kept = 0
		for i, stays := range stay {
			if stays {
				sp.links[kept] = sp.links[i]
				kept++
			}
		}
	}
	one := func(t *trail) { t.code(c, len(sp.words)) }
	sp.links = append(sp.links[:kept], each(c, sp.links[kept:], one)...)
	var target []trail
	if sp.following {
		target = []trail{sp.target}
	}
	target = each(c, target, one)
	c.check(len(target) <= 1)
	if sp.following = len(target) > 0; sp.following {
		sp.target = target[0]
	}
	sp.saved, sp.changed, sp.savedLinks = true, false, sp.savedLinks[:0]
	for _, l := range sp.links {
		sp.savedLinks = append(sp.savedLinks, l.id)
	}
}

// code encodes or decodes a link of a spider with the given number of keywords.
func (t *trail) code(c *codec, keywords int) {
	c.id(&t.id)
	t.input = each(c, t.input, func(x *signal) {
		strength := math.Float32bits(x.strength)
		c.index(&x.keyword, keywords)
		c.uint32(&strength)
		x.strength = math.Float32frombits(strength)
		c.check(0 <= x.strength && x.strength <= maxStrength)
	})
}

// A net is a feed-forward net with one hidden layer and one output.
type net struct {
	hidden [][]float64 // of each neuron: the bias, then the weight of each keyword
	output []float64   // the bias, then the weight of each neuron
}

// newNet returns a net with zero weights.
func newNet(hidden, keywords int) net {
	n := net{hidden: make([][]float64, hidden), output: make([]float64, 1+hidden)}
	for j := range n.hidden {
		n.hidden[j] = make([]float64, 1+keywords)
	}
	return n
}

// Centres of the initial weights: σ(−2 + 4·σ(−2)) = 0.18, and with a word in the anchor σ(−2 +
// 4·σ(−2 + 4)) = 0.82; row g.
const (
	netBias   = -2
	netWeight = 4
)

// around returns a uniform random number from x/2 to 3x/2.
func around(rng *rand.Rand, x float64) float64 { return x * (0.5 + float64(rng.Float64())) }

func randomNet(rng *rand.Rand, hidden, keywords int) net {
	n := newNet(hidden, keywords)
	for j := range n.hidden {
		n.hidden[j][0] = around(rng, netBias)
		for k := range keywords {
			n.hidden[j][1+k] = around(rng, netWeight)
		}
		n.output[1+j] = around(rng, netWeight/float64(hidden))
	}
	n.output[0] = around(rng, netBias)
	return n
}

func (n net) clone() net {
	c := net{output: slices.Clone(n.output)}
	for _, w := range n.hidden {
		c.hidden = append(c.hidden, slices.Clone(w))
	}
	return c
}

// weights calls visit for every weight.
func (n net) weights(visit func(*float64)) {
	for _, neuron := range slices.Concat(n.hidden, [][]float64{n.output}) {
		for k := range neuron {
			visit(&neuron[k])
		}
	}
}

// grow adds a keyword.
func (n net) grow(rng *rand.Rand) {
	for j := range n.hidden {
		n.hidden[j] = append(n.hidden[j], around(rng, netWeight))
	}
}

// renew replaces the weights of a keyword by random ones.
func (n net) renew(keyword int, rng *rand.Rand) {
	for j := range n.hidden {
		n.hidden[j][1+keyword] = around(rng, netWeight)
	}
}

// weakest returns the keyword with the smallest sum of absolute weights. If several sums are equal,
// it returns the last keyword.
func (n net) weakest() (keyword int) {
	least := math.Inf(1)
	for k := range len(n.hidden[0]) - 1 {
		sum := 0.0
		for j := range n.hidden {
			sum += math.Abs(n.hidden[j][1+k])
		}
		if sum <= least {
			keyword, least = k, sum
		}
	}
	return keyword
}

// estimate returns L.
func (n net) estimate(input []signal) float64 {
	sum := n.output[0]
	for j := range n.hidden {
		sum += float64(n.output[1+j] * n.neuron(j, input))
	}
	return sigmoid(sum)
}

// neuron returns the output of a hidden neuron.
func (n net) neuron(j int, input []signal) float64 {
	sum := n.hidden[j][0]
	for _, x := range input {
		sum += float64(n.hidden[j][1+x.keyword] * float64(x.strength))
	}
	return sigmoid(sum)
}

// learn is a step of back-propagation.
func (n net) learn(input []signal, target, rate float64) {
	l := n.estimate(input)
	delta := float64(rate * (target - l) * l * (1 - l))
	for j := range n.hidden {
		h := n.neuron(j, input)
		inner := float64(delta * n.output[1+j] * h * (1 - h))
		n.output[1+j] += float64(delta * h)
		n.hidden[j][0] += inner
		for _, x := range input {
			n.hidden[j][1+x.keyword] += float64(inner * float64(x.strength))
		}
	}
	n.output[0] += delta
}

func sigmoid(x float64) float64 { return 1 / (1 + exp(-x)) }

// exp returns e to the x rounded to single precision.
func exp(x float64) float64 { return float64(float32(math.Exp(min(x, 80)))) }
