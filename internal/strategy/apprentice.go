package strategy

// This file implements an apprentice: a classifier of links that is trained online, by the
// pages that the links have led to. The idea is from
//
//	S. Chakrabarti, K. Punera and M. Subramanyam, "Accelerated focused crawling
//	through online relevance feedback", WWW 2002, pp. 148–159,
//
// in which a critic, which reads pages, teaches an apprentice, which reads links. The algorithm is
// from ACHE,
//
//	L. Barbosa and J. Freire, "An adaptive crawler for locating hidden-web entry
//	points", WWW 2007, pp. 441–450,
//
// as published by its authors as a program (VIDA-NYU/ache). The critic is the measure of the
// score stage.
//
//	ACHE                    here              meaning
//	learning limit          Every             pages between two trainings
//	around, url, anchor     inContext, …      where a word of a link occurs
//	100, 150, 150           Around, …         words of each kind that are features
//	FilterData(n, 2)        leastWords        rarer words are ignored
//	Sampler(5000)           Reservoir         examples kept of each kind
//	C                       Cost              of the support vector machine
//	LinkClassifierBaseline  parentScore       before the first training
//
// If the program leaves something open or is wrong, we follow doc/design/papers.md. The comments name the
// rows of its table.

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"spoor/internal/fitness"
	"spoor/internal/graph"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

type apprentice struct {
	pool

	Every               int     // pages between two trainings, in a small crawl
	Around, Path, Texts int     // words of context, address and anchor that are features
	Reservoir           int     // examples kept of each kind
	Cost                float64 // C

	words    linkWords
	links    linkStore
	kinds    [2]sample // links that led to irrelevant pages, and to relevant ones
	trained  int       // pages known at the last training
	model    linkModel
	retained []example // examples since the last delta
	renewed  bool      // whether the model is newer than the last delta
}

// A sample is a uniform sample of the examples of one kind.
type sample struct {
	links [][]feature
	seen  int // number of examples from which the sample was drawn
}

// An example is a link that led to a page, and its slot in the sample. The slot is 0 if the link
// was not sampled.
type example struct{ page, slot int }

// A linkModel estimates the probability that a link leads to a relevant page. The zero value
// is untrained.
type linkModel struct {
	weights          []weighted // by feature
	bias             float64
	slope, intercept float64
	maybe            []uint64 // a Bloom filter of the features with a weight
	index            map[feature]float64
}

type weighted struct {
	feature feature
	weight  float64
}

const (
	leastWords  = 2    // examples in which a feature must occur
	leastLinks  = 2    // examples of each kind that training requires
	svmAccuracy = 1e-7 // tolerance of the gradients
)

func newApprentice() Strategy {
	s := &apprentice{Every: 50, Around: 100, Path: 150, Texts: 150, Reservoir: 5000, Cost: 1}
	s.parts = []part{&s.links, s}
	return s
}

func (s *apprentice) Params() []Param {
	words := [2]float64{0, 10_000}
	return []Param{
		{Name: "every", Doc: "pages between two trainings, or a tenth of all if that is more (500 in ACHE)", Value: &s.Every, Range: [2]float64{1, 1e9}},
		{Name: "around", Doc: "words of contexts that are features: the most frequent", Value: &s.Around, Range: words},
		{Name: "url", Doc: "words of addresses that are features", Value: &s.Path, Range: words},
		{Name: "anchor", Doc: "words of anchors that are features", Value: &s.Texts, Range: words},
		{Name: "reservoir", Doc: "examples kept of links to relevant pages, and as many of others", Value: &s.Reservoir, Range: [2]float64{1, 1e6}},
		{Name: "c", Doc: "cost of a wrong answer in training (C)", Value: &s.Cost, Range: [2]float64{1e-6, 1e6}},
	}
}

func (s *apprentice) aim(t *topic.Topic) error { return s.words.aim(t) }

// Visit stores the words of the new links.
func (s *apprentice) Visit(rec *wire.Record) {
	place, ok := s.visit(rec)
	if !ok {
		return
	}
	for id, link := range s.unfetchedLinks(rec, place) {
		s.links.addNew(id, link, &s.words)
	}
}

// Breed proposes the links with the highest probability of a relevant page (row a) or, before the
// first training, the links on the pages with the highest scores.
func (s *apprentice) Breed(n int, rng *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.learn(rng)
	name, score := "parent", s.parentScore
	if s.model.ready() {
		name, score = "classifier", func(id graph.ID) float64 { return s.model.probability(s.links.of(id)) }
	}
	next = s.bestBy(quota, name, score)
	s.endGeneration()
	return next
}

// learn adds the links to this generation's pages to the examples, and trains if it is due
// (row d). A model that scores all links alike is discarded (row f).
func (s *apprentice) learn(rng *rand.Rand) {
	for at := s.firstPage; at < len(s.pages); at++ {
		if e := (example{page: at}); s.isExample(at) {
			e.slot = s.kind(at).draw(s.Reservoir, rng)
			s.take(e)
			s.retained = append(s.retained, e)
		}
	}
	s.links.drop(&s.memory)
	good, bad := s.kinds[1].links, s.kinds[0].links
	if len(s.pages)-s.trained < max(s.Every, len(s.pages)/10) || min(len(good), len(bad)) < leastLinks {
		return
	}
	s.trained = len(s.pages)
	if len(bad) > len(good) {
		picked := rng.Perm(len(bad))[:len(good)] // row b
		slices.Sort(picked)
		bad = make([][]feature, len(good))
		for i, k := range picked {
			bad[i] = s.kinds[0].links[k]
		}
	}
	if m := s.train(good, bad, rng); m.ready() {
		s.model = m
	}
	s.renewed = true
}

// isExample reports whether a link with known words led to the page at place.
func (s *apprentice) isExample(place int) bool {
	p := &s.pages[place]
	return !p.failed && s.links.has(p.node)
}

// kind returns the sample for the page at place.
func (s *apprentice) kind(place int) *sample {
	if s.pages[place].relevant {
		return &s.kinds[1]
	}
	return &s.kinds[0]
}

// draw returns the slot of one more example: a new slot, the slot of an example to be replaced, or 0
// (reservoir sampling; Vitter 1985, algorithm R).
func (k *sample) draw(size int, rng *rand.Rand) (slot int) {
	if len(k.links) < size {
		return len(k.links) + 1
	}
	if i := rng.IntN(k.seen + 1); i < size {
		return i + 1
	}
	return 0
}

// take stores an example in its slot. ok is false if there is no such slot.
func (s *apprentice) take(e example) (ok bool) {
	k := s.kind(e.page)
	k.seen++
	features := s.links.of(s.pages[e.page].node)
	switch {
	case e.slot == 0:
	case e.slot == len(k.links)+1:
		k.links = append(k.links, features)
	case e.slot <= len(k.links):
		k.links[e.slot-1] = features
	default:
		return false
	}
	return true
}

// train returns a model of links that led to relevant pages (good) and links that did not
// (bad).
func (s *apprentice) train(good, bad [][]feature, rng *rand.Rand) (m linkModel) {
	links := slices.Concat(good, bad)
	vocabulary := s.vocabulary(links)
	column := make(map[feature]int32, len(vocabulary))
	for i, f := range vocabulary {
		column[f] = int32(i)
	}
	examples, positive := make([][]int32, len(links)), make([]bool, len(links))
	for i, features := range links {
		positive[i] = i < len(good)
		for _, f := range features {
			if k, ok := column[f]; ok {
				examples[i] = append(examples[i], k)
			}
		}
	}
	weights, bias := trainSVM(examples, positive, len(vocabulary), s.Cost, svmAccuracy, rng)
	scores := make([]float64, len(examples))
	for i, e := range examples {
		scores[i] = bias
		for _, k := range e {
			scores[i] += weights[k]
		}
	}
	m.bias = bias
	m.slope, m.intercept, _ = fitness.Calibrate(scores, positive)
	for i, w := range weights {
		if w != 0 {
			m.weights = append(m.weights, weighted{vocabulary[i], w})
		}
	}
	m.prepare()
	return m
}

// vocabulary returns the most frequent features of links, limited for each place, sorted.
func (s *apprentice) vocabulary(links [][]feature) (words []feature) {
	count := map[feature]int{}
	for _, features := range links {
		for _, f := range features {
			count[f]++
		}
	}
	var of [places][]feature
	for f, n := range count {
		if n >= leastWords {
			of[f.place()] = append(of[f.place()], f)
		}
	}
	for in, most := range [...]int{inContext: s.Around, inURL: s.Path, inAnchor: s.Texts} {
		slices.SortFunc(of[in], func(a, b feature) int {
			return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
		})
		words = append(words, of[in][:min(most, len(of[in]))]...)
	}
	slices.Sort(words)
	return words
}

func (m *linkModel) ready() bool { return m.slope > 0 && len(m.weights) > 0 }

// maybeBits is the size of the Bloom filter.
const maybeBits = 1 << 16

// prepare builds the lookup tables.
func (m *linkModel) prepare() {
	m.maybe = make([]uint64, maybeBits/64)
	m.index = make(map[feature]float64, len(m.weights))
	for _, w := range m.weights {
		bit := w.feature % maybeBits
		m.maybe[bit/64] |= 1 << (bit % 64)
		m.index[w.feature] = w.weight
	}
}

// probability returns the probability that a link with these features leads to a relevant
// page.
func (m *linkModel) probability(features []feature) float64 {
	sum := m.bias
	for _, f := range features {
		if bit := f % maybeBits; m.maybe[bit/64]&(1<<(bit%64)) != 0 {
			sum += m.index[f]
		}
	}
	return millionths(fitness.Sigmoid(float64(m.slope*sum) + m.intercept))
}

// millionths returns p rounded to six decimals, so that it does not depend on how a machine
// computes exponentials.
func millionths(p float64) float64 { return math.Round(p*1e6) / 1e6 }

func (m *linkModel) code(c *codec) {
	m.weights = each(c, m.weights, func(w *weighted) {
		c.uint32((*uint32)(&w.feature))
		c.float(&w.weight)
	})
	for _, v := range [...]*float64{&m.bias, &m.slope, &m.intercept} {
		c.float(v)
	}
	m.prepare()
}

// code encodes or decodes the pages that became examples, and the model if it changed.
func (s *apprentice) code(c *codec) {
	each(c, s.retained, func(e *example) {
		c.index(&e.page, len(s.pages))
		c.index(&e.slot, s.Reservoir+1)
		if c.check(true) {
			c.check(s.take(*e))
		}
	})
	s.retained = s.retained[:0]
	if c.check(true) {
		s.links.drop(&s.memory)
		s.links.dropGone()
	}
	if c.bool(&s.renewed); s.renewed {
		c.index(&s.trained, len(s.pages)+1)
		s.model.code(c)
	}
	s.renewed = false
}
