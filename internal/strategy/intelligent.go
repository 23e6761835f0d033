package strategy

// This file implements the learning crawler of
//
//	C. C. Aggarwal, F. Al-Garawi and P. S. Yu, "Intelligent crawling on the World
//	Wide Web with arbitrary predicates", WWW 2001, pp. 96–105; ACM Transactions
//	on Information Systems 19 (3), 2001.
//
// While it crawls, it learns which properties of a link change the probability that its page is
// relevant. The interest ratio of a property E for relevance C, from the pages fetched so far, is
//
//	I(C, E) = P(C|E) / P(C)
//
// and a link is valued by the ratios of four kinds of evidence:
//
//	content   Π I(C, w) over the words w of the page with the link
//	url       Π I(C, w) over the words w of the address
//	link      Π over the pages with the link: I(C, the page is relevant) or I(C, it is irrelevant)
//	sibling   share of relevant pages among known siblings / P(C)
//
//	value = Π_k I_k ^ weight_k
//
// Only words count whose share of relevant pages is at least t standard deviations from P(C), if
// words and relevance were independent:
//
//	|P(C|w) − P(C)| ≥ t · √(P(C) (1 − P(C)) / n(w)),   n(w): number of pages with w
//
// and words of a single page do not count. The weights are such that the four kinds are balanced: each is
// divided by the mean of |ln I_k| of the waiting links for which I_k is not 1.
//
//	paper        here              meaning
//	P(C)         model.share       share of relevant pages
//	I(C, w)      model.words       of significant words, as logarithms
//	t            Significance
//	weights      Weights           of the balanced kinds, 1 in the paper
//
// Before pages of both kinds are known, links are followed in best-first order; the paper begins at
// random. The full text was not available.
//
// Comments name rows of the table in doc/design/papers.md, which lists what else is open.

import (
	"math"
	"math/rand/v2"
	"strings"

	"spoor/internal/graph"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

type intelligent struct {
	pool

	Weights      [evidences]float64
	Significance float64 // t
	Every        int     // pages between two trainings, in a small crawl

	words   pageWords
	trained int // pages known at the last training
	model   interests
	renewed bool // whether the model is newer than the last delta

	// Derived from the model and the pages.
	content []float64 // by place: ln I of the words of the page
	url     []float64 // by graph.ID: ln I of the words of the address
}

// The kinds of evidence, sorted by name.
const (
	evidenceContent = iota
	evidenceLink
	evidenceSibling
	evidenceURL
	evidences
)

var evidenceNames = [evidences]string{"content", "link", "sibling", "url"}

// interests are interest ratios. The zero value is untrained.
type interests struct {
	share float64    // P(C)
	from  [2]float64 // ln I of a link from an irrelevant page, and from a relevant one
	words []weighted // ln I of significant words
	index map[feature]float64
}

func newIntelligent() Strategy {
	s := &intelligent{Weights: [evidences]float64{1, 1, 1, 1}, Significance: 2, Every: 25}
	s.parts = []part{&s.words, s}
	return s
}

func (s *intelligent) Params() []Param {
	weight := [2]float64{0, 1000}
	return []Param{
		{Name: "content", Doc: "weight of the words of the page with the link", Value: &s.Weights[evidenceContent], Range: weight},
		{Name: "url", Doc: "weight of the words of the address", Value: &s.Weights[evidenceURL], Range: weight},
		{Name: "link", Doc: "weight of how relevant the pages with the link are", Value: &s.Weights[evidenceLink], Range: weight},
		{Name: "sibling", Doc: "weight of the share of relevant pages among siblings", Value: &s.Weights[evidenceSibling], Range: weight},
		{Name: "significance", Doc: "standard deviations from chance of the words that count (t)", Value: &s.Significance, Range: [2]float64{0, 100}},
		{Name: "every", Doc: "pages between two trainings, or a quarter of those of the last training if that is more", Value: &s.Every, Range: [2]float64{1, 1e9}},
	}
}

func (s *intelligent) aim(t *topic.Topic) error { return s.words.aim(t) }

// Visit stores the words of the page.
func (s *intelligent) Visit(rec *wire.Record) {
	if place, ok := s.visitNew(rec); ok {
		s.words.add(place, rec)
	}
}

// Breed proposes the links with the highest interest ratio or, before the first training, the links on
// the pages with the highest scores.
func (s *intelligent) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.learn()
	if s.model.share == 0 {
		next = s.bestFirst(quota)
		s.endGeneration()
		return next
	}
	s.read()
	known, good := s.siblings()
	weights := s.balance(known, good)
	value := func(id graph.ID) (ln [evidences]float64, sum float64) {
		ln = s.evidence(id, known, good)
		for k := range ln {
			ln[k] = float64(ln[k] * weights[k])
			sum += ln[k]
		}
		return ln, sum
	}
	for _, id := range s.best(quota, func(id graph.ID) float64 { _, sum := value(id); return sum }) {
		ln, sum := value(id)
		var reasons []wire.Scored
		for k, name := range evidenceNames {
			reasons = append(reasons, wire.Scored{Name: name, Value: ln[k]})
		}
		next = append(next, s.proposeAt(id, sum, reasons...))
	}
	s.endGeneration()
	return next
}

// balance returns the weights of the four kinds of evidence: those of the parameters, divided by the
// mean of |ln I| of the free addresses that have such evidence (row d).
func (s *intelligent) balance(known, good []int) (weights [evidences]float64) {
	var sums, n [evidences]float64
	for id := range s.freeAddresses() {
		for k, ln := range s.evidence(id, known, good) {
			if ln != 0 {
				sums[k], n[k] = sums[k]+math.Abs(ln), n[k]+1
			}
		}
	}
	for k, sum := range sums {
		if sum > 0 {
			weights[k] = s.Weights[k] * n[k] / sum
		}
	}
	return weights
}

// evidence returns the logarithms of the four ratios of an address. It reads the first maxParentsRead parents
// only, and the words of the first one (row b).
func (s *intelligent) evidence(id graph.ID, known, good []int) (ln [evidences]float64) {
	parents, siblings, relevant := 0, 0, 0
	for parent := range s.web.Parents(id) {
		place, fetched := s.page(parent)
		if !fetched {
			continue
		}
		if parents == 0 {
			ln[evidenceContent] = s.content[place]
		}
		if parents++; parents > maxParentsRead {
			break
		}
		ln[evidenceLink] += s.model.from[kindOfPage(&s.pages[place])]
		siblings, relevant = siblings+known[place], relevant+good[place]
	}
	ln[evidenceSibling] = s.model.ratio(relevant, siblings)
	ln[evidenceURL] = s.url[id]
	return ln
}

func kindOfPage(p *page) int {
	if p.relevant {
		return 1
	}
	return 0
}

// siblings returns, by place, the number of links of the page to known pages, and to relevant ones.
func (s *intelligent) siblings() (known, good []int) {
	known, good = make([]int, len(s.pages)), make([]int, len(s.pages))
	for place := range s.pages {
		if s.pages[place].failed {
			continue
		}
		for id := range s.web.Children(s.pages[place].node) {
			if at, fetched := s.page(id); fetched && !s.pages[at].failed {
				known[place]++
				good[place] += kindOfPage(&s.pages[at])
			}
		}
	}
	return known, good
}

// read computes the evidence of the words of new pages and addresses.
func (s *intelligent) read() {
	for place := len(s.content); place < len(s.pages); place++ {
		sum := 0.0
		for _, w := range s.words.of(place) {
			sum += s.model.index[w.word]
		}
		s.content = append(s.content, sum)
	}
	for id := len(s.url); id < s.web.Len(); id++ {
		sum := 0.0
		for _, f := range s.tokens(graph.ID(id)) {
			sum += s.model.index[f]
		}
		s.url = append(s.url, sum)
	}
}

// tokens returns the words of an address, with those of its host.
func (s *intelligent) tokens(id graph.ID) []feature {
	_, rest, _ := strings.Cut(s.web.URL(id), "://")
	return s.words.stems(nil, inURL, rest, readURL)
}

// ratio returns ln I of evidence that n pages have, good of which are relevant, with one more page that
// is relevant with the probability P(C) (row c).
func (m *interests) ratio(good, n int) float64 {
	return rounded(math.Log((float64(good) + m.share) / (float64(n) + 1) / m.share))
}

// learn trains if it is due, and if pages of both kinds are known.
func (s *intelligent) learn() {
	if !trainingDue(len(s.pages), s.trained, s.Every) {
		return
	}
	s.trained, s.renewed = len(s.pages), true
	if m := s.train(); m.share > 0 {
		s.model, s.content, s.url = m, nil, nil
	}
}

// train returns the interest ratios of the fetched pages, or the zero value if all or none of them are
// relevant.
func (s *intelligent) train() (m interests) {
	counts := map[feature]*[2]int{} // pages with the word: irrelevant and relevant ones
	var links [2][2]int             // by kind of the page with the link, and kind of its target
	var pages [2]int
	for place := range s.pages {
		p := &s.pages[place]
		if p.failed {
			continue
		}
		kind, first := kindOfPage(p), true
		pages[kind]++
		count := func(f feature) {
			if counts[f] == nil {
				counts[f] = new([2]int)
			}
			counts[f][kind]++
		}
		for parent := range s.web.Parents(p.node) {
			at, fetched := s.page(parent)
			if !fetched {
				continue
			}
			if first {
				first = false
				for _, w := range s.words.of(at) {
					count(w.word)
				}
			}
			links[kindOfPage(&s.pages[at])][kind]++
		}
		for _, f := range s.tokens(p.node) {
			count(f)
		}
	}
	if pages[0] == 0 || pages[1] == 0 {
		return interests{}
	}
	m.share = float64(pages[1]) / float64(pages[0]+pages[1])
	for kind, to := range links {
		m.from[kind] = m.ratio(to[1], to[0]+to[1])
	}
	deviation := math.Sqrt(m.share * (1 - m.share))
	significant := map[feature]float64{}
	for f, n := range counts {
		all := float64(n[0] + n[1])
		if z := math.Abs(float64(n[1])/all-m.share) * math.Sqrt(all) / deviation; all >= leastWords && z >= s.Significance {
			significant[f] = z
		}
	}
	for _, f := range heaviest(significant) {
		m.words = append(m.words, weighted{f, m.ratio(counts[f][1], counts[f][0]+counts[f][1])})
	}
	m.prepare()
	return m
}

// prepare builds the lookup table.
func (m *interests) prepare() {
	m.index = make(map[feature]float64, len(m.words))
	for _, w := range m.words {
		m.index[w.feature] = w.weight
	}
}

// code encodes or decodes the model if it changed.
func (s *intelligent) code(c *codec) {
	if c.bool(&s.renewed); s.renewed {
		c.index(&s.trained, len(s.pages)+1)
		m := &s.model
		for _, v := range [...]*float64{&m.share, &m.from[0], &m.from[1]} {
			c.finite(v)
		}
		m.words = each(c, m.words, func(w *weighted) {
			c.uint32((*uint32)(&w.feature))
			c.finite(&w.weight)
		})
		if c.check(m.share == 0 || 1e-12 < m.share && m.share < 1) { // so that logarithms are finite
			m.prepare()
			s.content, s.url = nil, nil
		}
	}
	s.renewed = false
}
