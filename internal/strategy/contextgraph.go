package strategy

// This file implements the context focused crawler of
//
//	M. Diligenti, F. M. Coetzee, S. Lawrence, C. L. Giles and M. Gori, "Focused
//	crawling using context graphs", VLDB 2000, pp. 527–534.
//
// It estimates how many links lie between a page and the next target. The context graph of a target
// has layers: layer 0 is the target, and layer i has the pages that link to pages of layer i − 1.
// Merged by layer, the graphs of all targets teach one class for each layer. A page is represented
// by its reduced TF-IDF: of the words of the vocabulary V, which are those of the layers 0 and 1, the
// forty with the highest TF-IDF, with inverse document frequencies of the Web in general. Naive Bayes
// with equal priors decides between the classes,
//
//	P(w|i) = (1 + N(w, i)) / (|V| + Σ_v N(v, i))
//	L(p|i) = (1 / Σ_w N(w, p)) · Σ_w N(w, p) ln P(w|i)
//
// and a page p belongs to the layer i of the highest L, or to no layer (other) if L is below the
// threshold of i: the lowest L of the pages that taught i. There is a queue of pages for each layer and
// one for the others, sorted by L. The links of the first page of the first queue that is not empty are
// followed.
//
//	paper               here              meaning
//	N                   Layers            the last layer
//	40                  Words             components of the reduced TF-IDF
//	V                   model.words       vocabulary
//	confidence          model.thresholds  lowest L of the layer
//	queue, likelihood   rank              place of a page in the queues
//
// The paper builds the graphs before the crawl, from given targets, with the backlinks of a search
// engine. A crawl has no such engine, so the graphs are built from the crawl itself: targets are the
// fetched pages that the score stage calls relevant, and the layers follow from the links between
// fetched pages. The model is trained again when the crawl has grown. Before there are targets and pages that link to them,
// links are followed in best-first order. The full text was not available.
//
// Comments name rows of the table in doc/design/papers.md, which lists what else is open.

import (
	"math"
	"math/rand/v2"
	"slices"

	"spoor/internal/graph"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

type contextGraph struct {
	pool

	Layers int     // N
	Words  int     // components of the reduced TF-IDF
	Other  float64 // share of the pages of a layer that are below its threshold
	Every  int     // pages between two trainings, in a small crawl
	Seeds  bool    // seeds are targets, too

	words   pageWords
	trained int // pages known at the last training
	model   layerModel
	renewed bool // whether the model is newer than the last delta

	// Derived from the model and the pages.
	ranks []layerRank // by place
	first []int32     // by graph.ID: place of the page with the link that is first in the queues, plus one
}

// A layerModel assigns pages to layers. The zero value is untrained.
type layerModel struct {
	bayes
	thresholds []float64 // by layer, of exp(L); 2 for a layer without pages
}

// A layerRank is the place of a page in the queues.
type layerRank struct {
	layer      int     // Layers + 1: other
	likelihood float64 // exp(L), in [0, 1): the geometric mean of P(w|i)
}

// value returns a number that is greater for pages that are earlier in the queues.
func (r layerRank) value() float64 { return r.likelihood - float64(r.layer) }

func newContextGraph() Strategy {
	s := &contextGraph{Layers: 3, Words: 40, Every: 25}
	s.parts = []part{&s.words, s}
	return s
}

func (s *contextGraph) Params() []Param {
	return []Param{
		{Name: "layers", Doc: "the last layer: links between a page and the next target", Value: &s.Layers, Range: [2]float64{1, 10}},
		{Name: "words", Doc: "words of a page, those with the highest TF-IDF", Value: &s.Words, Range: [2]float64{1, maxPageWords}},
		{Name: "other", Doc: "share of the pages of a layer that are less likely than its threshold (0 in the paper)", Value: &s.Other, Range: [2]float64{0, 0.99}},
		{Name: "every", Doc: "pages between two trainings, or a quarter of those of the last training if that is more", Value: &s.Every, Range: [2]float64{1, 1e9}},
		{Name: "seeds", Doc: "seeds are targets whatever their scores are", Value: &s.Seeds},
	}
}

func (s *contextGraph) aim(t *topic.Topic) error { return s.words.aim(t) }

// Visit stores the words of the page.
func (s *contextGraph) Visit(rec *wire.Record) {
	if place, ok := s.visitNew(rec); ok {
		s.words.add(place, rec)
	}
}

// Breed proposes the links of the pages that are first in the queues or, before the first training,
// of the pages with the highest scores.
func (s *contextGraph) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.learn()
	if !s.model.ready() {
		next = s.bestFirst(quota)
		s.endGeneration()
		return next
	}
	s.rank()
	for _, id := range s.best(quota, func(id graph.ID) float64 { return s.rankOf(id).value() }) {
		r := s.rankOf(id)
		a := s.proposeAt(id, r.value(), wire.Scored{Name: "layer", Value: float64(r.layer)}, wire.Scored{Name: "likelihood", Value: r.likelihood})
		if place := s.first[id]; place > 0 {
			p := &s.pages[place-1]
			a.Via, a.Depth = s.web.URL(p.node), p.depth+1
		}
		next = append(next, a)
	}
	s.endGeneration()
	return next
}

// learn trains if it is due, and if the layers 0 and 1 have pages.
func (s *contextGraph) learn() {
	if !trainingDue(len(s.pages), s.trained, s.Every) {
		return
	}
	s.trained, s.renewed = len(s.pages), true
	layers := s.layers()
	if slices.Contains(layers, 0) && slices.Contains(layers, 1) {
		s.model = s.train(layers)
		s.ranks, s.first = s.ranks[:0], nil
	}
}

// layers returns the layer of each page: the number of links between it and the next target, or -1 if
// there are more than Layers, or if no target is known to follow (row b).
func (s *contextGraph) layers() []int {
	layers := make([]int, len(s.pages))
	for place := range s.pages {
		p := &s.pages[place]
		layers[place] = -1
		if !p.failed && (p.relevant || s.Seeds && p.depth == 0) {
			layers[place] = 0
		}
	}
	for layer := 1; layer <= s.Layers; layer++ {
		for place := range s.pages {
			if p := &s.pages[place]; layers[place] < 0 && !p.failed && s.leadsTo(p.node, layers, layer-1) {
				layers[place] = layer
			}
		}
	}
	return layers
}

// leadsTo reports whether the page node has a link to a page of the layer.
func (s *contextGraph) leadsTo(node graph.ID, layers []int, layer int) bool {
	for id := range s.web.Children(node) {
		if place, fetched := s.page(id); fetched && layers[place] == layer {
			return true
		}
	}
	return false
}

// train returns a model of the pages in the given layers.
func (s *contextGraph) train(layers []int) (m layerModel) {
	weights := map[feature]float64{}
	for place, layer := range layers {
		if layer == 0 || layer == 1 {
			for _, w := range s.words.of(place) {
				weights[w.word] += float64(w.count)
			}
		}
	}
	for w := range weights {
		weights[w] *= s.words.idf(w)
	}
	m.bayes = newBayes(heaviest(weights), s.Layers+1)
	for place, layer := range layers {
		if layer >= 0 {
			for _, w := range s.reduced(&m, place) {
				m.learn(layer, w.word, int(w.count))
			}
		}
	}
	m.prepare()
	of := make([][]float64, s.Layers+1)
	for place, layer := range layers {
		if layer >= 0 {
			if l, ok := m.likelihood(s.reduced(&m, place), layer); ok {
				of[layer] = append(of[layer], l)
			}
		}
	}
	for _, l := range of {
		threshold := 2.0
		if slices.Sort(l); len(l) > 0 {
			threshold = l[int(s.Other*float64(len(l)))]
		}
		m.thresholds = append(m.thresholds, threshold)
	}
	return m
}

// reduced returns the reduced TF-IDF of the page at place, without the factor IDF (row d).
func (s *contextGraph) reduced(m *layerModel, place int) (words []pageWord) {
	for _, w := range s.words.of(place) {
		if m.of(w.word) != nil {
			words = append(words, w)
		}
	}
	return s.words.reduce(words, s.Words)
}

func (m *layerModel) ready() bool { return len(m.thresholds) > 0 }

// likelihood returns exp(L) of a page in a layer. ok is false if the page has no words.
func (m *layerModel) likelihood(words []pageWord, layer int) (l float64, ok bool) {
	n := 0
	for _, w := range words {
		l += float64(float64(w.count) * m.of(w.word)[layer])
		n += int(w.count)
	}
	if n == 0 {
		return 0, false
	}
	return min(rounded(math.Exp(l/float64(n))), 1-1e-6), true
}

// classify returns the layer of a page with the given words. A page without words is in no layer.
func (m *layerModel) classify(words []pageWord) layerRank {
	best := layerRank{layer: -1}
	for layer, threshold := range m.thresholds {
		if threshold > 1 {
			continue // no pages
		}
		if l, ok := m.likelihood(words, layer); ok && l > best.likelihood {
			best = layerRank{layer, l}
		}
	}
	if best.layer < 0 || best.likelihood < m.thresholds[best.layer] {
		best.layer = len(m.thresholds)
	}
	return best
}

// rank puts the pages that are new, or all pages after a training, into the queues.
func (s *contextGraph) rank() {
	s.first = grown(s.first, s.web.Len())
	for place := len(s.ranks); place < len(s.pages); place++ {
		r := s.model.classify(s.reduced(&s.model, place))
		s.ranks = append(s.ranks, r)
		if p := &s.pages[place]; !p.failed {
			for id := range s.web.Children(p.node) {
				if at := s.first[id]; at == 0 || r.value() > s.ranks[at-1].value() {
					s.first[id] = int32(place) + 1
				}
			}
		}
	}
}

// rankOf returns the rank of the first page with a link to id. Without such a page it is after all ranks of
// pages.
func (s *contextGraph) rankOf(id graph.ID) layerRank {
	if place := s.first[id]; place > 0 {
		return s.ranks[place-1]
	}
	return layerRank{layer: len(s.model.thresholds) + 1}
}

// code encodes or decodes the model if it changed.
func (s *contextGraph) code(c *codec) {
	if c.bool(&s.renewed); s.renewed {
		c.index(&s.trained, len(s.pages)+1)
		s.model.classes = s.Layers + 1
		s.model.bayes.code(c)
		s.model.thresholds = each(c, s.model.thresholds, c.finite)
		c.check(len(s.model.thresholds) == 0 || len(s.model.thresholds) == s.Layers+1)
		if c.reading {
			s.ranks, s.first = s.ranks[:0], nil
		}
	}
	s.renewed = false
}
