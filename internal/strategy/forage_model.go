package strategy

// This file fits the models of forage.

import (
	"maps"
	"math"
	"slices"

	"spoor/internal/graph"
	"spoor/internal/relevance"
	"spoor/internal/ridge"
)

// A forageModel holds the models fitted to the pages of an extent, and their results for these and
// for newer pages.
type forageModel struct {
	places  []int32    // by graph.ID: the place of its page plus one, at the extent; newer pages are added
	waiting []graph.ID // waiting addresses at the extent, at most maxWaiting
	known   int        // number of pages that are included in the fields below
	alias   int        // number of aliases that are included

	pages     *relevance.Model
	asked     []float64 // by term of the query: its weight; the mean weight is 1
	relevance []float64 // by place
	spread    []float64 // by graph.ID; addresses discovered after the extent have no value

	harvest, taken []float64 // by place: total relevance and number of the fetched pages that the page links to
	promises       []float64 // by place: see promise; NaN: not yet computed
	inDir, ofDir   []float64 // by directory: total relevance and number of its pages

	kinds      ridge.Model // which pages link to relevant pages
	words, hub ridge.Model // which links lead to relevant pages; which lead to pages that link to relevant pages
	links      map[graph.ID]cachedWords
	hubLevel   float64   // mean hub value
	outcome    []float64 // by place: value of having fetched the page
}

const (
	mostExamples   = 5000 // examples to which a model is fitted
	mostSeeds      = 100
	shrinkSiblings = 2.0 // weight of the prior of a harvest, in pages
	shrinkParents  = 0.5
	shrinkFolders  = 4.0
	spreadShare    = 0.8 // α
	spreadRounds   = 8
	titleWeight    = 0.4 // weight of a word of the title among the features of a page
	hubHalf        = 3.0 // relevant links of a page whose hub value is one half
	hubDiscount    = 0.7 // factor of the expected relevance of waiting links
	hubShare       = 0.5 // share of the hub value in the outcome of a page
	passes         = 6
	linkPrecision  = 2.0 // precision of the weights of the features of links
	kindPrecision  = 1.0 // precision of the weights of the features of pages
)

// level returns the estimated relevance of irrelevant pages.
func (m *forageModel) level() float64 { return m.pages.Level }

// learn fits the models if the crawl has grown by a twenty-fifth, and computes their results for new
// pages.
func (s *forage) learn() {
	s.fitDirectories(&s.web)
	due := len(s.pages) > s.at.pages+s.at.pages/25
	if due {
		s.settle()
		s.at, s.pageFit = extent{len(s.pages), len(s.aliases), s.terms.len(), s.web.Len()}, nil
	}
	if due || s.model == nil {
		s.fitModels()
	}
	s.follow()
}

func (s *forage) fitModels() {
	m := &forageModel{places: make([]int32, s.web.Len()), relevance: make([]float64, s.at.pages), links: map[graph.ID]cachedWords{}}
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

// exampleIndexes returns the indexes of the examples, of n, to which a model is fitted: all or, if there
// are too many, mostExamples of them: half are the latest, half at equal distances among the others.
func exampleIndexes(n int) (chosen []int) {
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

// pageModel returns the model of pages, which it fits if necessary.
func (s *forage) pageModel() *relevance.Model {
	if s.pageFit != nil {
		return s.pageFit
	}
	var seeds, pages []relevance.Page
	places, named := exampleIndexes(s.at.pages), s.named()
	places = slices.AppendSeq(places, maps.Keys(named))
	slices.Sort(places)
	for _, place := range slices.Compact(places) {
		d := s.doc(place)
		if d == nil {
			continue
		}
		p := clonePage(&d.Page)
		p.Named = named[place]
		if p.Named != relevance.Irrelevant && s.pages[place].depth == 0 && len(seeds) < mostSeeds && !s.isFound(place) {
			seeds = append(seeds, p)
		} else {
			pages = append(pages, p)
		}
	}
	q := s.query
	q.Share, q.Classifier = s.byTerm(s.common), s.byTerm(s.classifier)
	trusted := 0
	if s.TrustSeeds {
		trusted = len(seeds)
	}
	s.pageFit = relevance.New(q, slices.Concat(seeds, pages), trusted, s.at.terms)
	return s.pageFit
}

// fitRelevance fits the model of pages, and estimates the relevance of all.
func (s *forage) fitRelevance(m *forageModel) {
	m.pages = s.pageModel()
	sum := 0.0
	for i := range s.query.Terms {
		m.asked = append(m.asked, float64(s.query.Weights[i]*m.pages.QueryIDF(i)))
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

func clonePage(p *relevance.Page) relevance.Page {
	return relevance.Page{Counts: slices.Clone(p.Counts), Length: p.Length, Query: slices.Clone(p.Query)}
}

// byTerm returns the numbers of stems in a list by term, or nil if there are none.
func (s *forage) byTerm(numbers map[string]float64) (list []float64) {
	if len(numbers) == 0 {
		return nil
	}
	list = make([]float64, s.at.terms)
	for i := range list {
		list[i] = numbers[s.terms.names.At(i)]
	}
	return list
}

// count sums up the relevance of pages by the pages that link to them, and by directory.
func (s *forage) count(m *forageModel) {
	n := s.at.pages
	m.harvest, m.taken = make([]float64, n), make([]float64, n)
	m.inDir, m.ofDir = make([]float64, len(s.outer)), make([]float64, len(s.outer))
	for place := range n {
		for to := range s.from(place) {
			if at := m.places[to]; at > 0 {
				m.harvest[place] += m.relevance[at-1]
				m.taken[place]++
			}
		}
		m.addToDirectories(s, place)
	}
}

func (m *forageModel) addToDirectories(s *forage, place int) {
	for d := s.directory[s.pages[place].node]; d >= 0; d = s.outer[d] {
		m.inDir[d] += m.relevance[place]
		m.ofDir[d]++
	}
}

// follow adds the pages that are newer than the extent to the results of the last fit.
func (s *forage) follow() {
	m := s.model
	m.places = grown(m.places, s.web.Len())
	m.inDir, m.ofDir = grown(m.inDir, len(s.outer)), grown(m.ofDir, len(s.outer))
	n := len(s.pages)
	m.relevance, m.harvest, m.taken = grown(m.relevance, n), grown(m.harvest, n), grown(m.taken, n)
	// An alias counts for the pages after it, whether they were fetched in the same process or the model
	// was fitted again in between.
	addAliases := func() {
		for ; m.alias < len(s.aliases) && int(s.aliases[m.alias].since) <= m.known; m.alias++ {
			a := s.aliases[m.alias]
			m.places[a.node] = a.place + 1
		}
	}
	for ; m.known < n; m.known++ {
		addAliases()
		place := m.known
		p := &s.pages[place]
		if d := s.doc(place); d != nil {
			m.relevance[place] = m.pages.Relevance(&d.Page)
			for id := range s.from(place) {
				if to := m.places[id]; to > 0 {
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
	addAliases()
}

// fitKinds fits which kinds of pages link to relevant pages, by the words of text and title.
func (s *forage) fitKinds(m *forageModel) {
	design, targets := s.kindExamples(m)
	m.kinds = design.Fit(targets, ridge.Options{Precision: kindPrecision, Passes: passes})
}

// promise returns the predicted relevance, above the level, of pages that this kind of page links to. It
// is computed when it is first asked for: of a large crawl, few pages link to addresses that matter.
func (s *forage) promise(m *forageModel, place int32) float64 {
	for len(m.promises) <= int(place) {
		m.promises = append(m.promises, math.NaN())
	}
	p := &m.promises[place]
	if math.IsNaN(*p) {
		*p = 0
		if d := s.doc(int(place)); d != nil {
			*p = m.kinds.Predict(s.kind(m, d))
		}
	}
	return *p
}

// kindExamples returns the pages whose links were fetched and, as targets, the mean relevance, above
// the level, of the pages that each links to.
func (s *forage) kindExamples(m *forageModel) (design *ridge.Design, targets []float64) {
	var examples []ridge.Example
	for _, place := range exampleIndexes(s.at.pages) {
		if d := s.doc(place); d != nil && m.taken[place] > 0 {
			examples = append(examples, ridge.Example{Features: slices.Clone(s.kind(m, d)), Weight: m.taken[place] / (m.taken[place] + 2)})
			targets = append(targets, m.harvest[place]/m.taken[place]-m.level())
		}
	}
	return ridge.NewDesign(examples), targets
}

// Kinds of features of a page. The index of a feature is the number of its term times pageFeatureKinds,
// plus the kind.
const (
	pageFeatureText = iota
	pageFeatureTitle
	pageFeatureKinds
)

// kind returns the features of a page: the terms of the page, and the terms of its title. They are
// valid until the next call.
func (s *forage) kind(m *forageModel, d *forageDoc) []ridge.Feature {
	features := s.kindFeatures[:0]
	m.pages.Vector(&d.Page).Each(func(term int32, weight float64) {
		features = append(features, ridge.Feature{Index: pageFeatureKinds*term + pageFeatureText, Value: float32(weight)})
	})
	title := slices.Clone(d.title)
	slices.Sort(title)
	for _, t := range slices.Compact(title) {
		features = append(features, ridge.Feature{Index: pageFeatureKinds*t + pageFeatureTitle, Value: titleWeight})
	}
	s.kindFeatures = features
	return features
}

// fitSpread spreads the relevance of pages over links, in both directions. Addresses discovered since
// the extent have no value, also when a restored model is fitted later.
func (s *forage) fitSpread(m *forageModel) {
	nodes := make([]int32, s.at.addresses) // by graph.ID: the address of the page
	for id := range nodes {
		nodes[id] = int32(id)
		if place := m.places[id]; place > 0 {
			nodes[id] = int32(s.pages[place-1].node)
		}
	}
	links := func(yield func(u, v int32) bool) {
		for place := range s.at.pages {
			from := int32(s.pages[place].node)
			for id := range s.from(place) {
				if !yield(from, nodes[id]) {
					return
				}
			}
		}
	}
	labels := make([]float64, s.at.addresses)
	for place := range s.at.pages {
		labels[s.pages[place].node] = m.relevance[place] - m.level()
	}
	m.spread = graph.Spread(links, labels, spreadShare, spreadRounds)
}

// linkExamples returns, for the pages that were fetched, the links to each page as they were before
// it was fetched, and the places of the pages.
func (s *forage) linkExamples(m *forageModel) (design *ridge.Design, places []int) {
	var examples []ridge.Example
	for _, place := range exampleIndexes(s.at.pages) {
		id := s.pages[place].node
		if !s.isLinked(id, place) {
			continue
		}
		dense := s.evidence(m, id, place)
		examples = append(examples, ridge.Example{Features: s.features(id, place), Dense: dense[:], Weight: 1})
		places = append(places, place)
	}
	return ridge.NewDesign(examples), places
}

// fitLinks fits the models that predict the value of a link.
func (s *forage) fitLinks(m *forageModel) {
	design, places := s.linkExamples(m)
	targets := make([]float64, len(places))
	for i, place := range places {
		targets[i] = m.relevance[place] - m.level()
	}
	m.words = design.Fit(targets, ridge.Options{Precision: linkPrecision, DensePrecision: 20, Prior: densePrior[:], Passes: passes})
	hubs := s.hubs(m)
	for i, place := range places {
		targets[i] = hubs[place] - m.hubLevel
	}
	m.hub = design.Fit(targets, ridge.Options{Precision: linkPrecision, DensePrecision: 20, Prior: make([]float64, len(densePrior)), Passes: passes})
	m.outcome = hubs
	for place := range m.outcome {
		m.outcome[place] = m.relevance[place] - m.level() + float64(hubShare*(hubs[place]-m.hubLevel))
	}
}

// hubs returns the hub values of the pages that models are fitted to. The value depends on the
// relevance of the linked pages that were fetched later, and on the expected relevance of waiting
// links. Other pages get the mean hub value.
func (s *forage) hubs(m *forageModel) []float64 {
	values := make([]float64, s.at.pages)
	expected := make([]float64, len(m.places)) // by graph.ID, of waiting links; 0: not yet computed
	chosen := exampleIndexes(s.at.pages)
	for _, place := range chosen {
		if !s.has(place) {
			continue
		}
		sum := 0.0
		for id := range s.from(place) {
			switch to := int(m.places[id]) - 1; {
			case to > place:
				sum += m.relevance[to]
			case to < 0:
				if expected[id] == 0 {
					expected[id] = s.expected(m, id)
				}
				sum += float64(hubDiscount * expected[id])
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
