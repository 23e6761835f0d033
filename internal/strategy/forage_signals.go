package strategy

// This file computes the signals of waiting addresses by the models of forage.

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"spoor/internal/graph"
	"spoor/internal/ridge"
	"spoor/internal/wire"
)

// The signals of an address, which signalNames describes. If several pages link to the address, anchor,
// context and topic are the best values of all pages.
const (
	sigParents = iota
	sigSiblings
	sigSpread
	sigWords
	sigHub
	sigAnchor
	sigAddress
	sigContext
	sigTopic
	sigAddressTopic
	sigDirectory
	sigNew
	sigHost
	signals
)

// signalNames holds the names of the signals as reasons, and what they measure.
var signalNames = [signals]Word{
	sigParents:      {"parents", "mean relevance of the pages that link to the address"},
	sigSiblings:     {"siblings", "mean relevance of the fetched pages that these pages link to"},
	sigSpread:       {"spread", "relevance of the neighbourhood in the link graph"},
	sigWords:        {"words", "relevance predicted from the words of the links, by ridge regression"},
	sigHub:          {"hub", "hub value predicted from the words of the links"},
	sigAnchor:       {"anchor", "words of the query in anchors"},
	sigAddress:      {"address", "words of the query in the address"},
	sigContext:      {"context", "words of the query around links"},
	sigTopic:        {"topic", "words of the topic in anchors"},
	sigAddressTopic: {"path", "words of the topic in the address"},
	sigDirectory:    {"directory", "mean relevance of the pages in the same directory"},
	sigNew:          {"single", "1 if only one page links to the address"},
	sigHost:         {"host", "1 over the root of: number of pages of the host, plus one"},
}

// signalWords returns the reasons of forage, sorted by name.
func signalWords() []Word {
	return slices.SortedFunc(slices.Values(signalNames[:]), func(a, b Word) int { return strings.Compare(a.Name, b.Name) })
}

type signalVector [signals]float64

// waitingLinks are the addresses to choose from.
type waitingLinks struct {
	ids   []graph.ID
	z     []signalVector // standardised
	plain []float64      // scores of the plain policy
}

// Dense inputs of the model of links. The weights of words explain only what is left.
const (
	denseParents = iota
	denseBest
	denseSiblings
	denseAnchor
	denseAddress
	denseContext
	denseTopic
	denseMany
	denses
)

// densePrior holds the prior means of the weights of the dense inputs.
var densePrior = [denses]float64{denseParents: 0.5, denseAnchor: 0.2, denseAddress: 0.1}

// topicParents is the number of pages whose anchors are compared with the topic.
const topicParents = 8

// evidence returns the dense inputs of an address, computed from the pages before the place end that
// link to it. If the address was fetched, its own relevance is not used.
func (s *forage) evidence(m *forageModel, id graph.ID, end int) (x [denses]float64) {
	s.fromPages(&x, m, id, end)
	s.fromWords(&x, m, id, end)
	return x
}

// fromPages sets the inputs that depend on the relevance of pages. They change with every page.
func (s *forage) fromPages(x *[denses]float64, m *forageModel, id graph.ID, end int) {
	parents, siblings, n := 0.0, 0.0, 0.0
	own, fetched := 0.0, 0.0
	if place := m.places[id]; place > 0 {
		own, fetched = m.relevance[place-1], 1
	}
	for a := range s.into(id, end) {
		r := m.relevance[a.from]
		parents += r
		x[denseBest] = max(x[denseBest], r)
		prior := float64(0.5*m.level()) + float64(0.5*r) + s.promise(m, a.from)
		siblings += (m.harvest[a.from]-own+float64(shrinkSiblings*prior))/(m.taken[a.from]-fetched+shrinkSiblings) - m.level()
		n++
	}
	if n > 0 {
		x[denseParents] = (parents - float64(n*m.level())) / (n + shrinkParents)
		x[denseSiblings] = siblings / (n + shrinkParents)
		x[denseMany] = n / (n + 3)
	}
}

// fromWords sets the inputs that depend only on the words of links.
func (s *forage) fromWords(x *[denses]float64, m *forageModel, id graph.ID, end int) {
	n, last := 0, int32(-1)
	for a := range s.into(id, end) {
		if n++; a.said == last { // the same words again
			continue
		}
		last = a.said
		words := s.wordsOn(a)
		x[denseAnchor] = max(x[denseAnchor], m.matched(words.anchor))
		x[denseContext] = max(x[denseContext], m.matched(words.context))
		if n <= topicParents {
			if t := m.likeTopic(words.anchor); math.Abs(t) > math.Abs(x[denseTopic]) {
				x[denseTopic] = t
			}
		}
	}
	if n > 0 {
		x[denseAddress] = m.matched(s.wordsOfAddress(id))
	}
}

// cachedWords caches the values that the models of a fit compute from the words of the links to an
// address. They are valid until another page links to the address.
type cachedWords struct {
	parents                         int32 // number of linking pages for which the values are valid
	anchor, address, context, topic float64
	addressTopic                    float64
	words, hub                      float64
}

// wordsOf returns the values computed from the words of all links to an address.
func (s *forage) wordsOf(m *forageModel, id graph.ID) cachedWords {
	parents := int32(s.web.InDegree(id))
	if w, ok := m.links[id]; ok && w.parents == parents {
		return w
	}
	var x [denses]float64
	s.fromWords(&x, m, id, len(s.pages))
	features := s.features(id, len(s.pages))
	w := cachedWords{parents: parents, anchor: x[denseAnchor], address: x[denseAddress], context: x[denseContext], topic: x[denseTopic],
		words: m.words.Predict(features), hub: m.hub.Predict(features)}
	w.addressTopic = m.likeTopic(s.wordsOfAddress(id))
	m.links[id] = w
	return w
}

// matched returns how much of the query is among terms, in [0, 1): w/(1 + w), where w is the total
// weight of the words of the query that occur. The mean weight of a word is 1. The terms of the query
// have the lowest numbers.
func (m *forageModel) matched(terms []int32) float64 {
	w := 0.0
	for i, t := range terms {
		if int(t) < len(m.asked) && !slices.Contains(terms[:i], t) {
			w += m.asked[t]
		}
	}
	return w / (w + 1)
}

// likeTopic returns the similarity of terms to the topic: the mean of their weights in the topic,
// weighted by idf, times ten.
func (m *forageModel) likeTopic(terms []int32) float64 {
	sum, all := 0.0, 0.0
	for _, t := range terms {
		idf := m.pages.IDF(t)
		all += idf
		if int(t) < len(m.pages.Topic) {
			sum += float64(m.pages.Topic[t] * idf)
		}
	}
	if all == 0 {
		return 0
	}
	return 10 * sum / all
}

// weigh computes the signals of all waiting addresses.
func (s *forage) weigh(w *waitingLinks) {
	m := s.model
	w.z, w.plain = make([]signalVector, len(w.ids)), make([]float64, len(w.ids))
	for i, id := range w.ids {
		x := &w.z[i]
		var dense [denses]float64
		s.fromPages(&dense, m, id, len(s.pages))
		said := s.wordsOf(m, id)
		x[sigParents], x[sigSiblings] = dense[denseParents], dense[denseSiblings]
		x[sigAnchor], x[sigAddress], x[sigContext], x[sigTopic] = said.anchor, said.address, said.context, said.topic
		x[sigSpread] = s.spreadTo(m, id)
		x[sigWords], x[sigHub], x[sigAddressTopic] = said.words, said.hub, said.addressTopic
		if said.parents == 1 {
			x[sigNew] = 1
		}
		x[sigDirectory], x[sigHost] = s.inDirectory(m, id)
		near := said.context
		if said.anchor > 0 {
			near = 1
		}
		w.plain[i] = float64(0.5*dense[denseBest]) + float64(0.4*said.anchor) + float64(0.1*near)
	}
	w.standardise()
}

// spreadTo returns the relevance that is spread to an address. For an address discovered since the
// last fit, it is computed from the parents.
func (s *forage) spreadTo(m *forageModel, id graph.ID) float64 {
	if int(id) < len(m.spread) {
		return m.spread[id]
	}
	sum, n := 0.0, 0.0
	for a := range s.into(id, len(s.pages)) {
		from := s.pages[a.from].node
		value := float64((1 - spreadShare) * (m.relevance[a.from] - m.level()))
		if int(from) < len(m.spread) {
			value = m.spread[from]
		}
		sum += value / math.Sqrt(float64(max(1, s.web.OutDegree(from))))
		n++
	}
	return float64(spreadShare*sum) / math.Sqrt(max(1, n))
}

// inDirectory returns the mean relevance, above the level, of the pages in the directory of an
// address, and how new the host is. The mean of a directory with few pages is shrunk towards the mean
// of the directory that contains it.
func (s *forage) inDirectory(m *forageModel, id graph.ID) (above, novelty float64) {
	var inner [maxLevels + 1]int32
	n := 0
	for d := s.directory[id]; d >= 0 && n < len(inner); d = s.outer[d] {
		inner[n] = d
		n++
	}
	mean := m.level()
	for i := n - 1; i >= 0; i-- {
		d := inner[i]
		mean = (m.inDir[d] + float64(shrinkFolders*mean)) / (m.ofDir[d] + shrinkFolders)
	}
	if n > 0 {
		novelty = 1 / math.Sqrt(1+m.ofDir[inner[n-1]])
	}
	return mean - m.level(), novelty
}

// highZ is the number of standard deviations above which the effect of a signal is damped.
const highZ = 3

// standardise replaces each signal by its distance from the mean, in standard deviations.
func (w *waitingLinks) standardise() {
	n := float64(len(w.z))
	for k := range signals {
		mean, square := 0.0, 0.0
		for i := range w.z {
			mean += w.z[i][k] / n
		}
		for i := range w.z {
			d := w.z[i][k] - mean
			square += float64(d*d) / n
		}
		deviation := math.Sqrt(square)
		for i := range w.z {
			x := &w.z[i][k]
			if deviation < 1e-9 {
				*x = 0
				continue
			}
			if *x = (*x - mean) / deviation; *x > highZ {
				*x = highZ + math.Log1p(*x-highZ)
			}
			*x = float64(float32(*x)) // as it is saved, and the same on every machine
		}
	}
}

// reasons returns what each signal adds to the score of an address.
func (s *forage) reasons(w *waitingLinks, at int) (reasons []wire.Scored) {
	for k, z := range w.z[at] {
		if part := math.Round(1000*float64(signalWeights[k]*z)) / 1000; part != 0 {
			reasons = append(reasons, wire.Scored{Name: signalNames[k].Name, Value: part})
		}
	}
	slices.SortFunc(reasons, func(a, b wire.Scored) int { return strings.Compare(a.Name, b.Name) })
	return reasons
}

// bestParentRelevance returns the relevance of the most relevant page before the place end that links
// to an address.
func (s *forage) bestParentRelevance(id graph.ID, end int) (best float64) {
	for a := range s.into(id, end) {
		best = max(best, s.model.relevance[a.from])
	}
	return best
}

// Kinds of features of a link, in the three lowest bits of a feature's index.
const (
	featureAnchor = iota
	featureURL
	featureContext
	featurePath
	featureDirectory
	featureLetters
	featureKinds = 8
)

// Weights of features, before the vector is scaled to length 1 (all but directories and letters).
const (
	anchorWeight    = 1
	urlWeight       = 0.7
	contextWeight   = 0.3
	pathWeight      = 0.5
	directoryWeight = 0.25
	featureParents  = 24 // pages whose anchors are features
	letters         = 4  // consecutive letters of an address that are a feature
	letterBuckets   = 1 << 15
)

// linkFeatures caches the features of links to an address until another page links to the address.
type linkFeatures struct {
	of      map[graph.ID]cachedFeatures
	scratch []ridge.Feature
	groups  []int32 // scratch of letters
}

type cachedFeatures struct {
	parents  int32 // number of linking pages for which features is valid
	features []ridge.Feature
}

// mostCached is the largest number of addresses whose features are cached: some 10 MB.
const mostCached = 2 * maxWaiting

func (l *linkFeatures) reset() {
	if l.of == nil || len(l.of) >= mostCached {
		l.of = map[graph.ID]cachedFeatures{}
	}
}

// features returns the sparse features of the links to an address on the pages before the one at
// place end.
func (s *forage) features(id graph.ID, end int) []ridge.Feature {
	n := int32(0)
	for range s.into(id, end) {
		if n++; n == featureParents {
			break
		}
	}
	if c, ok := s.links.of[id]; ok && c.parents == n {
		return c.features
	}
	s.links.scratch = s.appendFeatures(s.links.scratch[:0], id, end)
	f := slices.Clone(s.links.scratch)
	if _, ok := s.links.of[id]; ok || len(s.links.of) < mostCached {
		s.links.of[id] = cachedFeatures{n, f}
	}
	return f
}

// appendFeatures appends the features to the empty slice f.
func (s *forage) appendFeatures(f []ridge.Feature, id graph.ID, end int) []ridge.Feature {
	add := func(kind int32, number int32, weight float32) {
		f = append(f, ridge.Feature{Index: number*featureKinds + kind, Value: weight})
	}
	n := 0
	for a := range s.into(id, end) {
		words := s.wordsOn(a)
		for _, t := range words.anchor {
			add(featureAnchor, t, anchorWeight)
		}
		if n < contextParents {
			for _, t := range words.context {
				add(featureContext, t, contextWeight)
			}
			if words.path >= 0 {
				add(featurePath, words.path, pathWeight)
			}
		}
		if n++; n == featureParents {
			break
		}
	}
	if n > 0 {
		for _, t := range s.wordsOfAddress(id) {
			add(featureURL, t, urlWeight)
		}
	}
	f = distinct(f)
	square := 0.0
	for _, x := range f {
		square += float64(float64(x.Value) * float64(x.Value))
	}
	for i := range f {
		f[i].Value = float32(float64(f[i].Value) / math.Sqrt(square))
	}
	for d := s.directory[id]; d >= 0; d = s.outer[d] {
		add(featureDirectory, d, directoryWeight)
	}
	return s.letters(f, id)
}

// distinct sorts features by index and removes duplicates.
func distinct(f []ridge.Feature) []ridge.Feature {
	slices.SortFunc(f, func(a, b ridge.Feature) int { return cmp.Compare(a.Index, b.Index) })
	return slices.CompactFunc(f, func(a, b ridge.Feature) bool { return a.Index == b.Index })
}

// letters appends the groups of consecutive letters in the path of an address, because addresses
// often have no separators between words.
func (s *forage) letters(f []ridge.Feature, id graph.ID) []ridge.Feature {
	path := "/" + strings.ToLower(pathAndQuery(s.web.URL(id))) + "/"
	groups := s.links.groups[:0]
	for i := range len(path) - letters + 1 {
		groups = append(groups, int32(fnv64(path[i:i+letters])%letterBuckets))
	}
	s.links.groups = groups
	slices.Sort(groups)
	groups = slices.Compact(groups)
	value := float32(1 / math.Sqrt(float64(len(groups))))
	for _, bucket := range groups {
		f = append(f, ridge.Feature{Index: bucket*featureKinds + featureLetters, Value: value})
	}
	return f
}
