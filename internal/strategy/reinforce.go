package strategy

// This file implements the spider of
//
//	J. Rennie and A. McCallum, "Using reinforcement learning to spider the Web
//	efficiently", ICML 1999, pp. 335–343.
//
// The value Q of a link is the discounted sum of the rewards of an optimal crawl that begins with it:
// the page fetched t steps after it counts γᵗ if it is relevant. The spider follows the link with the
// highest Q, which it predicts from the words of the link. For this, the links of known pages are put
// into bins by Q, and naive Bayes learns the words of each bin b:
//
//	P(w|b) = (1 + N(w, b)) / (|V| + Σ_v N(v, b))
//	P(b|link) ∝ P(b) · Π_w P(w|b)
//	Q(link) = Σ_b P(b|link) · mean Q of the links in b
//
//	paper       here           meaning
//	γ           Gamma          discount of a step; 0: immediate reward only
//	bins        Bins           three or five in the paper
//	Q           harvest        value of a link that was followed
//	P(w|b)      model.bayes    from links that were followed
//
// The paper learns before the crawl, from sites that are known completely. Here the examples are the
// links that the crawl has followed, and Q counts the rewards that are known so far, so pages that were
// not fetched give none. All values are computed again when the crawl has grown. Before
// links to pages of different values are known, links are followed in best-first order. linearq, which
// also learns long-term values, predicts them by a linear function of scores, not from words. The full
// text was not available.
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

type reinforce struct {
	pool

	Gamma  float64 // γ
	Bins   int
	Every  int // pages between two trainings, in a small crawl
	Window int // latest links that are examples

	words    linkWords
	links    linkStore
	examples []followed
	fresh    []int // places of the pages of the examples since the last delta
	trained  int   // pages known at the last training
	model    valueModel
	renewed  bool      // whether the model is newer than the last delta
	values   []float64 // by graph.ID: Q, NaN until it is computed; derived
}

// A followed link led to the page at place.
type followed struct {
	place    int
	features []feature
}

// A valueModel predicts Q from the words of a link. The zero value is untrained.
type valueModel struct {
	bayes
	bins []valueBin
}

// A valueBin holds links of similar Q.
type valueBin struct {
	links uint32
	mean  float64 // mean Q
	prior float64 // ln P(b); derived
}

// Limits of an optimal crawl (row b).
const (
	maxHarvest = 12   // pages fetched: with γ = ½ later rewards change Q by less than 0.001
	maxReached = 200  // pages
	maxFollow  = 1000 // links
)

const maxBins = 10

func newReinforce() Strategy {
	s := &reinforce{Gamma: 0.5, Bins: 3, Every: 25, Window: 10_000}
	s.parts = []part{&s.links, s}
	return s
}

func (s *reinforce) Params() []Param {
	return []Param{
		{Name: "gamma", Doc: "discount of a reward for each step; 0: only the next page counts", Value: &s.Gamma, Range: unit},
		{Name: "bins", Doc: "classes of links, by Q: with k bins, at least 1, gamma, … gamma^(k-2), and less", Value: &s.Bins, Range: [2]float64{2, maxBins}},
		{Name: "every", Doc: "pages between two trainings, or a quarter of those of the last training if that is more", Value: &s.Every, Range: [2]float64{1, 1e9}},
		{Name: "window", Doc: "number of latest links to learn from", Value: &s.Window, Range: [2]float64{1, 1e6}},
	}
}

func (s *reinforce) aim(t *topic.Topic) error { return s.words.aim(t) }

// Visit stores the words of the new links.
func (s *reinforce) Visit(rec *wire.Record) {
	place, ok := s.visit(rec)
	if !ok {
		return
	}
	for id, link := range s.unfetchedLinks(rec, place) {
		s.links.addNew(id, link, &s.words)
	}
}

// Breed proposes the links with the highest Q or, before the first training, the links on the pages
// with the highest scores.
func (s *reinforce) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.learn()
	name, score := "parent", s.parentScore
	if s.model.ready() {
		for len(s.values) < s.web.Len() {
			s.values = append(s.values, math.NaN())
		}
		name, score = "q", s.value
	}
	next = s.bestBy(quota, name, score)
	s.endGeneration()
	return next
}

// value returns Q of an unfetched link.
func (s *reinforce) value(id graph.ID) float64 {
	if math.IsNaN(s.values[id]) {
		s.values[id] = s.model.value(s.links.of(id))
	}
	return s.values[id]
}

// learn adds the links to this generation's pages to the examples, and trains if it is due.
func (s *reinforce) learn() {
	for place := s.firstPage; place < len(s.pages); place++ {
		if p := &s.pages[place]; !p.failed && s.links.has(p.node) {
			s.take(place)
			s.fresh = append(s.fresh, place)
		}
	}
	s.links.drop(&s.memory)
	if !trainingDue(len(s.pages), s.trained, s.Every) {
		return
	}
	s.trained, s.renewed = len(s.pages), true
	if m := s.train(); m.ready() {
		s.model, s.values = m, nil
	}
}

// take makes the link to the page at place an example.
func (s *reinforce) take(place int) {
	s.examples = append(s.examples, followed{place, s.links.of(s.pages[place].node)})
	s.examples = s.examples[max(0, len(s.examples)-s.Window):]
}

// A reached page is a page that an optimal crawl may fetch.
type reached struct {
	place   int
	from    int // the page with the link, by place in the list
	fetched bool
}

// harvest returns Q of a link to the page at place, from the pages that were fetched. The optimal crawl
// goes to the nearest relevant page, and then to the next by its distance from the first page (row b).
func (s *reinforce) harvest(place int) (q float64) {
	list, known := []reached{{place: place, fetched: true}}, map[int]bool{place: true}
	if s.pages[place].relevant {
		q = 1
	}
	links, step, discount := 0, 0, 1.0
	for i := 0; i < len(list); i++ {
		p := &s.pages[list[i].place]
		if p.relevant {
			for k := i; !list[k].fetched; k = list[k].from { // the path to the page
				list[k].fetched = true
				step, discount = step+1, float64(discount*s.Gamma)
			}
			if step > maxHarvest {
				break
			}
			if i > 0 {
				q += discount
			}
		}
		for id := range s.web.Children(p.node) {
			if links++; links > maxFollow || len(list) == maxReached {
				break
			}
			if at, fetched := s.page(id); fetched && !known[at] && !s.pages[at].failed {
				known[at] = true
				list = append(list, reached{place: at, from: i})
			}
		}
	}
	return q
}

// bin returns the bin of a link: the number of the bounds 1, γ, γ², … above Q (row a).
func (s *reinforce) bin(q float64) (bin int) {
	for bound := 1.0; bin < s.Bins-1 && q < bound; bin++ {
		bound *= s.Gamma
	}
	return bin
}

// train returns a model of the examples, or the zero value if all of them are in one bin.
func (s *reinforce) train() (m valueModel) {
	m.bins = make([]valueBin, s.Bins)
	counts := map[feature]float64{}
	bins := make([]int, len(s.examples))
	for i, e := range s.examples {
		q := s.harvest(e.place)
		bins[i] = s.bin(q)
		m.bins[bins[i]].links++
		m.bins[bins[i]].mean += q
		for _, f := range e.features {
			counts[f]++
		}
	}
	used := 0
	for i := range m.bins {
		if b := &m.bins[i]; b.links > 0 {
			used++
			b.mean /= float64(b.links)
		}
	}
	if used < 2 {
		return valueModel{}
	}
	m.bayes = newBayes(heaviest(counts), s.Bins)
	for i, e := range s.examples {
		for _, f := range e.features {
			m.learn(bins[i], f, 1)
		}
	}
	m.prepare()
	return m
}

func (m *valueModel) ready() bool { return len(m.bins) > 0 }

// prepare computes what is derived from the counts.
func (m *valueModel) prepare() {
	m.bayes.prepare()
	all := 0.0
	for _, b := range m.bins {
		all += float64(b.links)
	}
	for i := range m.bins {
		if b := &m.bins[i]; b.links > 0 {
			b.prior = rounded(math.Log(float64(b.links) / all))
		}
	}
}

// value returns the predicted Q of a link with these features, rounded to millionths.
func (m *valueModel) value(features []feature) float64 {
	var logs [maxBins]float64
	for i, b := range m.bins {
		logs[i] = b.prior
	}
	for _, f := range features {
		for i, l := range m.of(f) {
			logs[i] += l
		}
	}
	highest := math.Inf(-1)
	for i, b := range m.bins {
		if b.links > 0 {
			highest = max(highest, logs[i])
		}
	}
	sum, all := 0.0, 0.0
	for i, b := range m.bins {
		if b.links > 0 {
			p := math.Exp(logs[i] - highest)
			sum, all = sum+float64(p*b.mean), all+p
		}
	}
	return millionths(sum / all)
}

// code encodes or decodes the pages whose links became examples, and the model if it changed.
func (s *reinforce) code(c *codec) {
	each(c, s.fresh, func(place *int) {
		if c.index(place, len(s.pages)); c.check(true) {
			s.take(*place)
		}
	})
	s.fresh = s.fresh[:0]
	if c.check(true) {
		s.links.drop(&s.memory)
		s.links.dropGone()
	}
	if c.bool(&s.renewed); s.renewed {
		c.index(&s.trained, len(s.pages)+1)
		s.model.bins = each(c, s.model.bins, func(b *valueBin) {
			integer(c, &b.links)
			c.finite(&b.mean)
		})
		s.model.classes = len(s.model.bins)
		s.model.bayes.code(c)
		c.check(!s.model.ready() || slices.ContainsFunc(s.model.bins, func(b valueBin) bool { return b.links > 0 }))
		if c.check(len(s.model.bins) == 0 || len(s.model.bins) == s.Bins) {
			s.model.prepare()
			s.values = nil
		}
	}
	s.renewed = false
}
