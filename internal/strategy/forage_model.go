package strategy

// This file fits the models of forage.

import (
	"math/rand/v2"
	"slices"

	"spoor/internal/graph"
	"spoor/internal/relevance"
	"spoor/internal/ridge"
)

// A forageModel is what is learned from the pages of an extent, and what follows from it for the
// pages since.
type forageModel struct {
	places  []int32    // by graph.ID: the place of its page plus one, at the extent; later ones are added
	waiting []graph.ID // at the extent, at most maxWaiting
	known   int        // pages that are included in what follows
	alias   int        // and aliases

	pages     *relevance.Model
	asked     []float64 // by term of the query: its weight; the mean of all is 1
	relevance []float64 // by place
	spread    []float64 // by graph.ID; addresses discovered later have none

	harvest, taken []float64 // by place: the relevance of the fetched pages that it links to, and their number
	promise        []float64 // by place: what pages of its kind link to, above the level
	inDir, ofDir   []float64 // by directory: the relevance of its pages, and their number

	kinds      ridge.Model // which pages lead to relevant ones
	words, hub ridge.Model // which links do, and which lead to pages that do
	links      map[graph.ID]heldWords
	hubLevel   float64   // mean hub value
	outcome    []float64 // by place: what fetching it was worth

	expected [priorLists]int // features of the prior that the models have
}

const (
	mostExamples   = 5000 // that a model is fitted to
	mostSeeds      = 100
	shrinkSiblings = 2.0 // pages that the prior of a harvest counts as
	shrinkParents  = 0.5
	shrinkFolders  = 4.0
	spreadShare    = 0.8 // α
	spreadRounds   = 8
	titleWeight    = 0.4 // of a title's word among the features of a page
	hubHalf        = 3.0 // relevant links of a page whose hub value is one half
	hubDiscount    = 0.7 // of links that wait
	hubShare       = 0.5 // of the hub value in what fetching a page was worth
	passes         = 6
	linkPrecision  = 2.0 // of the weights of a link's features
	kindPrecision  = 1.0 // of those of a page
)

// level is the relevance of what is not relevant.
func (m *forageModel) level() float64 { return m.pages.Level }

// learn fits the models if the crawl has grown by a twenty-fifth, and brings what follows from them up
// to date.
func (s *forage) learn(rng *rand.Rand) {
	s.fitDirectories(&s.web)
	due := len(s.pages) > s.at.pages+s.at.pages/25
	if due {
		s.at = extent{len(s.pages), len(s.aliases), len(s.terms.names), s.web.Len()}
	}
	if due || s.model == nil {
		s.fitModels()
	}
	s.follow()
	if due && s.Evolve {
		s.evolve(s.logged(), rng)
	}
}

// fitModels fits all models to the extent.
func (s *forage) fitModels() {
	m := &forageModel{places: make([]int32, s.web.Len()), relevance: make([]float64, s.at.pages), links: map[graph.ID]heldWords{}}
	s.model = m
	s.links.reset()
	for ; m.known < s.at.pages; m.known++ {
		p := &s.pages[m.known]
		m.places[p.node], m.places[p.final] = int32(m.known)+1, int32(m.known)+1
	}
	for ; m.alias < s.at.aliases; m.alias++ {
		a := s.aliases[m.alias]
		m.places[a.node] = a.place + 1
	}
	s.fitRelevance(m)
	s.count(m)
	s.fitKinds(m)
	s.fitSpread(m)
	s.fitLinks(m)
	for id := range graph.ID(s.at.addresses) {
		if m.places[id] == 0 {
			m.waiting = append(m.waiting, id)
		}
	}
	m.waiting = s.likeliest(m.waiting, s.at.pages)
}

// latest returns which of n things a model is fitted to: all, or half of them the latest and half
// at equal distances among the others.
func latest(n int) (chosen []int) {
	if n <= mostExamples {
		for i := range n {
			chosen = append(chosen, i)
		}
		return chosen
	}
	early := n - mostExamples/2
	for i := range mostExamples / 2 {
		chosen = append(chosen, i*early/(mostExamples/2))
	}
	for i := early; i < n; i++ {
		chosen = append(chosen, i)
	}
	return chosen
}

// doc returns the forageDoc at place, or nil if the page failed.
func (s *forage) doc(place int) *forageDoc {
	if place >= len(s.docs) || s.pages[place].failed {
		return nil
	}
	return &s.docs[place]
}

// fitRelevance fits the model of pages, and estimates the relevance of all.
func (s *forage) fitRelevance(m *forageModel) {
	var seeds, pages []relevance.Page
	for _, place := range latest(s.at.pages) {
		d := s.doc(place)
		switch {
		case d == nil:
		case s.pages[place].depth == 0 && len(seeds) < mostSeeds && !s.isFound(place):
			seeds = append(seeds, d.Page)
		default:
			pages = append(pages, d.Page)
		}
	}
	q := s.query
	q.Share, q.Classifier = s.byTerm(s.common), s.byTerm(s.classifier)
	m.pages = relevance.New(q, slices.Concat(seeds, pages), len(seeds), s.at.terms)
	sum := 0.0
	for i, t := range q.Terms {
		m.asked = append(m.asked, float64(q.Weights[i]*m.pages.IDF(t)))
		sum += m.asked[i]
	}
	for i := range m.asked {
		m.asked[i] *= float64(len(m.asked)) / sum
	}
	for place := range m.relevance {
		if d := s.doc(place); d != nil {
			m.relevance[place] = m.pages.Relevance(&d.Page)
		}
	}
}

// byTerm returns numbers of stems by term, nil if there are none.
func (s *forage) byTerm(numbers map[string]float64) (list []float64) {
	if len(numbers) == 0 {
		return nil
	}
	for _, name := range s.terms.names[:s.at.terms] {
		list = append(list, numbers[name])
	}
	return list
}

// count sums up the relevance of pages by the pages that link to them, and by directory.
func (s *forage) count(m *forageModel) {
	n := s.at.pages
	m.harvest, m.taken, m.promise = make([]float64, n), make([]float64, n), make([]float64, n)
	m.inDir, m.ofDir = make([]float64, len(s.outer)), make([]float64, len(s.outer))
	for i := range s.arcs {
		a := &s.arcs[i]
		if int(a.from) >= n {
			break
		}
		if place := m.places[a.to]; place > 0 {
			m.harvest[a.from] += m.relevance[place-1]
			m.taken[a.from]++
		}
	}
	for place := range n {
		m.addToDirectories(s, place)
	}
}

func (m *forageModel) addToDirectories(s *forage, place int) {
	for d := s.directory[s.pages[place].node]; d >= 0; d = s.outer[d] {
		m.inDir[d] += m.relevance[place]
		m.ofDir[d]++
	}
}

// follow includes the pages that are newer than the extent in what was counted at the last fit.
func (s *forage) follow() {
	m := s.model
	s.expect(m)
	m.places = grown(m.places, s.web.Len())
	m.inDir, m.ofDir = grown(m.inDir, len(s.outer)), grown(m.ofDir, len(s.outer))
	n := len(s.pages)
	m.relevance, m.harvest, m.taken, m.promise = grown(m.relevance, n), grown(m.harvest, n), grown(m.taken, n), grown(m.promise, n)
	for ; m.known < n; m.known++ {
		place := m.known
		p := &s.pages[place]
		if d := s.doc(place); d != nil {
			m.relevance[place] = m.pages.Relevance(&d.Page)
			m.promise[place] = m.kinds.Predict(s.kind(m, d))
			for _, a := range s.arcs[d.arcs[0]:d.arcs[1]] {
				if to := m.places[a.to]; to > 0 {
					m.harvest[place] += m.relevance[to-1]
					m.taken[place]++
				}
			}
		}
		for a := range s.into(p.node, place) {
			m.harvest[a.from] += m.relevance[place]
			m.taken[a.from]++
		}
		m.addToDirectories(s, place)
		m.places[p.node], m.places[p.final] = int32(place)+1, int32(place)+1
	}
	for ; m.alias < len(s.aliases); m.alias++ {
		a := s.aliases[m.alias]
		m.places[a.node] = a.place + 1
	}
}

// fitKinds fits which kind of page leads to relevant ones, by its words and those of its title.
func (s *forage) fitKinds(m *forageModel) {
	design, targets := s.kindExamples(m)
	m.kinds = design.Fit(targets, ridge.Options{Precision: kindPrecision, Passes: passes, Sparse: s.priors(m, priorKinds, s.kindWidth())})
	for place := range s.at.pages {
		if d := s.doc(place); d != nil {
			m.promise[place] = m.kinds.Predict(s.kind(m, d))
		}
	}
}

// kindExamples returns the pages whose links were fetched, and the mean relevance of what each has led
// to, above the level.
func (s *forage) kindExamples(m *forageModel) (design *ridge.Design, targets []float64) {
	var examples []ridge.Example
	for _, place := range latest(s.at.pages) {
		if d := s.doc(place); d != nil && m.taken[place] > 0 {
			examples = append(examples, ridge.Example{Features: s.kind(m, d), Weight: m.taken[place] / (m.taken[place] + 2)})
			targets = append(targets, m.harvest[place]/m.taken[place]-m.level())
		}
	}
	return ridge.NewDesign(examples, s.kindWidth()), targets
}

// Kinds of features of a page. The index of a feature is the number of its term times pageFeatureKinds,
// plus the kind.
const (
	pageFeatureText = iota
	pageFeatureTitle
	pageFeatureKinds
)

// kindWidth returns a number above the index of all features of pages.
func (s *forage) kindWidth() int { return pageFeatureKinds * len(s.terms.names) }

// kind returns the features of a page: its terms, and those of its title.
func (s *forage) kind(m *forageModel, d *forageDoc) (features []ridge.Feature) {
	features = make([]ridge.Feature, 0, len(d.Counts)+len(d.title))
	m.pages.Vector(&d.Page).Each(func(term int32, weight float64) {
		features = append(features, ridge.Feature{Index: pageFeatureKinds*term + pageFeatureText, Value: float32(weight)})
	})
	title := slices.Clone(d.title)
	slices.Sort(title)
	for _, t := range slices.Compact(title) {
		features = append(features, ridge.Feature{Index: pageFeatureKinds*t + pageFeatureTitle, Value: titleWeight})
	}
	return features
}

// fitSpread spreads the relevance of pages over links, in both directions. Addresses discovered since
// the extent have no value, also when a restored model is fitted later.
func (s *forage) fitSpread(m *forageModel) {
	node := func(id graph.ID) int32 { // the address of the page
		if place := m.places[id]; place > 0 {
			return int32(s.pages[place-1].node)
		}
		return int32(id)
	}
	links := graph.NewCSR(s.at.addresses, func(yield func(from, to int32) bool) {
		for i := range s.arcs {
			a := &s.arcs[i]
			if int(a.from) >= s.at.pages {
				return
			}
			from, to := int32(s.pages[a.from].node), node(a.to)
			if !yield(from, to) || !yield(to, from) {
				return
			}
		}
	})
	labels := make([]float64, s.at.addresses)
	for place := range s.at.pages {
		labels[s.pages[place].node] = m.relevance[place] - m.level()
	}
	m.spread = graph.Spread(&links, labels, spreadShare, spreadRounds)
}

// linkExamples returns the links of the pages that were fetched, as they were before, and the places of
// these pages.
func (s *forage) linkExamples(m *forageModel) (design *ridge.Design, places []int) {
	var examples []ridge.Example
	for _, place := range latest(s.at.pages) {
		id := s.pages[place].node
		if int(id) >= len(s.first) || s.first[id] == 0 || int(s.arcs[s.first[id]-1].from) >= place {
			continue
		}
		dense := s.evidence(m, id, place)
		examples = append(examples, ridge.Example{Features: s.features(id, place), Dense: dense[:], Weight: 1})
		places = append(places, place)
	}
	return ridge.NewDesign(examples, s.featureWidth()), places
}

// fitLinks fits what links lead to.
func (s *forage) fitLinks(m *forageModel) {
	design, places := s.linkExamples(m)
	targets := make([]float64, len(places))
	for i, place := range places {
		targets[i] = m.relevance[place] - m.level()
	}
	m.words = design.Fit(targets, ridge.Options{Precision: linkPrecision, DensePrecision: 20, Prior: densePrior[:], Passes: passes, Sparse: s.priors(m, priorRelevant, s.featureWidth())})
	hubs := s.hubs(m)
	for i, place := range places {
		targets[i] = hubs[place] - m.hubLevel
	}
	m.hub = design.Fit(targets, ridge.Options{Precision: linkPrecision, DensePrecision: 20, Prior: make([]float64, len(densePrior)), Passes: passes, Sparse: s.priors(m, priorHubs, s.featureWidth())})
	m.outcome = hubs
	for place := range m.outcome {
		m.outcome[place] = m.relevance[place] - m.level() + float64(hubShare*(hubs[place]-m.hubLevel))
	}
}

// hubs returns the hub values of the pages that models are fitted to: the relevance of what each has led
// to and, as far as its links wait, may lead to. Others have the mean.
func (s *forage) hubs(m *forageModel) []float64 {
	values := make([]float64, s.at.pages)
	expected := make([]float64, len(m.places)) // by graph.ID, of waiting links; 0: not yet computed
	chosen := latest(s.at.pages)
	for _, place := range chosen {
		d := s.doc(place)
		if d == nil {
			continue
		}
		sum := 0.0
		for _, a := range s.arcs[d.arcs[0]:d.arcs[1]] {
			switch to := int(m.places[a.to]) - 1; {
			case to > place:
				sum += m.relevance[to]
			case to < 0:
				if expected[a.to] == 0 {
					expected[a.to] = s.expected(m, a.to)
				}
				sum += float64(hubDiscount * expected[a.to])
			}
		}
		values[place] = sum / (sum + hubHalf)
	}
	m.hubLevel = 0
	for _, place := range chosen {
		m.hubLevel += values[place] / float64(len(chosen))
	}
	for place, next := 0, 0; place < len(values); place++ {
		if next < len(chosen) && chosen[next] == place {
			next++
		} else {
			values[place] = m.hubLevel
		}
	}
	return values
}

// expected returns the relevance that is expected of a waiting address.
func (s *forage) expected(m *forageModel, id graph.ID) float64 {
	dense := s.evidence(m, id, s.at.pages)
	words := m.words.Predict(s.features(id, s.at.pages))
	return max(0.001, min(m.level()+float64(0.5*words)+float64(0.5*dense[denseSiblings]), 1))
}
