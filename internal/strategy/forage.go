package strategy

// This file is forage, a strategy of this project: a policy for links that is learned during the
// crawl, from the pages that were fetched. doc/results/forage.md describes why it was chosen, and
// the contribution of each part.
//
//	forage.go            reading pages, choosing addresses
//	forage_memory.go     the stored words of pages and links
//	forage_sites.go      which lines of pages are menus of their site
//	forage_model.go      models, fitted to the memory whenever the crawl has grown by a twenty-fifth
//	forage_signals.go    thirteen signals of a waiting address, computed by the models
//	forage_twins.go      which addresses lead to pages that are known
//	forage_queries.go    the queries, if there is a search
//	forage_policy.go     the weights of the signals, and the islands that compete
//	package relevance    the relevance of a page
//	package ridge        the value of a link, predicted from its words
//
// No part of it uses labels.

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"spoor/internal/genetic"
	"spoor/internal/graph"
	"spoor/internal/relevance"
	"spoor/internal/ridge"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

type forage struct {
	pool

	Window  int  // minimum number of addresses in a generation
	Islands bool // whether a plain policy competes
	Queries bool // whether queries are emitted

	// Parts that may be omitted, to measure what they contribute.
	TrustSeeds bool // whether seeds that have words of the query are examples
	SkipCopies bool // whether addresses of probable copies are held back
	Background bool // whether the words of the query are weighted by a background

	foraged
	policy
	asking
	at      extent           // extent of the crawl when the models were last fitted
	model   *forageModel     // nil before the first fit, and after a restoration
	pageFit *relevance.Model // of the latest fit; nil like model
	last    float64          // estimated relevance of the page that was visited last; NaN: none
	held    int              // addresses of probable copies that the last generation held back
	links   linkFeatures
	twins   twins

	kindFeatures []ridge.Feature // scratch of kind

	// By stem; from the topic file.
	common     map[string]float64 // share of the background documents that contain the stem
	classifier map[string]float64 // weight of the stem, if the topic has examples

	examples map[string]bool // fetched pages that the user has named, see teach
}

// An extent is the size of the crawl at some time.
type extent struct{ pages, aliases, terms, addresses int }

func newForage() Strategy {
	s := &forage{Window: 5, Islands: true, TrustSeeds: true, SkipCopies: true, Background: true, last: math.NaN()}
	s.IgnoreMenus, s.query.Feedback = true, 0.3
	s.crawl = &s.memory
	s.terms.most, s.paths.most, s.directories.of.most = maxTerms, maxTagPaths, maxDirectories
	s.forms.most = maxForms
	s.words.Know(knownLinkWords)
	s.parts = []part{&s.foraged, &s.policy, &s.asking, s}
	return s
}

func (s *forage) Params() []Param {
	return []Param{
		{Name: "window", Doc: "number of addresses in each of the first generations; later a tenth of all pages", Value: &s.Window, Range: [2]float64{1, 1e9}},
		{Name: "islands", Doc: "a plain policy competes for the addresses of a generation", Value: &s.Islands},
		{Name: "queries", Doc: "a search is asked for pages of the topic", Value: &s.Queries},
		{Name: "ignore-menus", Doc: "lines that half of the pages of a site have are no text of a page", Value: &s.IgnoreMenus},
		{Name: "skip-copies", Doc: "addresses that probably lead to copies of fetched pages are held back", Value: &s.SkipCopies},
		{Name: "trust-seeds", Doc: "seeds that have words of the query are examples of relevant pages", Value: &s.TrustSeeds},
		{Name: "feedback", Doc: "weight of the similarity to the pages with the best scores, beside the query", Value: &s.query.Feedback, Range: [2]float64{0, 100}},
		{Name: "background", Doc: "words of the query are weighted by the topic's background, not by the crawl", Value: &s.Background},
	}
}

// aim sets the words of the query. The topic's table is not used.
func (s *forage) aim(t *topic.Topic) (err error) {
	if s.analyzer, err = t.Analyzer(); err != nil {
		return err
	}
	fresh := s.terms.len() == 0
	s.user = keywords(t)
	s.termOf, s.query.Terms, s.query.Weights = nil, nil, nil
	for _, k := range t.Keywords {
		for _, term := range s.append(nil, k.Text, maxTitleTerms) {
			if i := slices.Index(s.query.Terms, term); i >= 0 {
				s.query.Weights[i] = max(s.query.Weights[i], k.Weight)
				continue
			}
			s.query.Terms, s.query.Weights = append(s.query.Terms, term), append(s.query.Weights, k.Weight)
		}
	}
	words, err := t.Analyzer() // a separate one: the background has many words that no page has
	if err != nil {
		return err
	}
	s.common = nil
	if s.Background {
		s.common, _ = t.Background(words)
	}
	s.classifier = nil
	if t.Classifier != nil {
		s.classifier = map[string]float64{}
		for _, f := range t.Classifier.Features {
			s.classifier[f.Name] = f.Weight
		}
	}
	if fresh { // deltas omit the terms of the query: aim adds them again
		s.terms.saved = s.terms.len()
	}
	return nil
}

// teach sets the examples. The models are fitted again to the pages of the last fit, as after a restoration.
func (s *forage) teach(relevant map[string]bool) {
	if !maps.Equal(relevant, s.examples) {
		s.examples, s.model, s.pageFit = relevant, nil, nil
	}
}

// named returns the user's judgements of the pages of the last fit, by their index in s.pages. Pages and other
// addresses of pages that came later are left out, so that a restored strategy fits the same model.
func (s *forage) named() map[int]relevance.Named {
	if len(s.examples) == 0 {
		return nil
	}
	places := map[graph.ID]int{}
	for place := range s.at.pages {
		places[s.pages[place].node], places[s.pages[place].final] = place, place
	}
	for _, a := range s.aliases[:s.at.aliases] {
		places[a.node] = int(a.place)
	}
	list := map[int]relevance.Named{}
	for _, url := range slices.Sorted(maps.Keys(s.examples)) { // several may be addresses of one page
		node, ok := s.web.Find(url)
		if !ok {
			continue
		}
		if place, ok := places[node]; ok {
			if list[place] = relevance.Irrelevant; s.examples[url] {
				list[place] = relevance.Relevant
			}
		}
	}
	return list
}

// Visit stores a page.
func (s *forage) Visit(rec *wire.Record) {
	s.last = math.NaN()
	if place, ok := s.visitNew(rec); ok {
		s.foraged.learn(rec, place, s.linksOn(rec, place))
		if s.Queries {
			s.storeTitle(rec, place)
		}
		if s.at.pages > 0 {
			s.last = s.pageModel().Relevance(&s.doc(place).Page)
		}
	}
}

func (s *forage) copies() int { return s.held }

// estimate returns the relevance of the page that was visited last, by the latest fit: it has not seen
// the page.
func (s *forage) estimate() (relevance float64, ok bool) {
	return s.last, !math.IsNaN(s.last)
}

// Breed proposes the waiting addresses that the islands choose. The first generations are small,
// because their information is more important than speed.
func (s *forage) Breed(n int, rng *rand.Rand) (next []Address) {
	quota := min(s.startBreed(n), max(s.Window, len(s.pages)/10))
	s.learn()
	if waiting := s.waiting(); quota > 0 && len(waiting.ids) > 0 {
		chosen := s.choose(waiting, quota)
		keys := map[uint64]int32{}
		for i, c := range chosen {
			id := waiting.ids[c.at]
			if s.isRepeat(id, keys) {
				continue
			}
			s.twinsOf(id, func(k twinKey) bool {
				keys[k.fetchedKey()] = 1
				return true
			})
			a := s.proposeAt(id, rankPriority(i, len(chosen)), s.reasons(waiting, c.at)...)
			a.Operator = c.island()
			if s.web.InDegree(id) > 1 {
				a.Parents = s.parentURLs(id)
			}
			next = append(next, a)
			s.log = append(s.log, decision{id, c.islands})
		}
	}
	if s.Queries {
		if query, ok := s.ask(rng); ok {
			next = append(next, query)
		}
	}
	s.endGeneration()
	return next
}

// maxWaiting is the largest number of waiting addresses whose signals are computed. If more
// addresses wait, the addresses with the most relevant parents are chosen.
const maxWaiting = 8000

// waiting returns the addresses to choose from, with their signals, in the order of their discovery.
// It includes addresses of pages that are probably known only if there are no others.
func (s *forage) waiting() *waitingLinks {
	w := new(waitingLinks)
	s.countTwins()
	var repeats []graph.ID
	add := func(id graph.ID) {
		switch {
		case !s.isFree(id):
		case s.isRepeat(id, s.twins.fetched):
			repeats = append(repeats, id)
		default:
			w.ids = append(w.ids, id)
		}
	}
	for _, id := range s.model.waiting {
		add(id)
	}
	for id := s.at.addresses; id < s.web.Len(); id++ {
		add(graph.ID(id))
	}
	s.held = len(repeats)
	if len(w.ids) == 0 {
		w.ids, s.held = repeats, 0
	}
	if len(w.ids) == 0 { // all addresses of the last fit are fetched, but that fit omitted some
		w.ids = slices.Collect(s.freeAddresses())
	}
	w.ids = s.likeliest(w.ids, len(s.pages))
	s.weigh(w)
	return w
}

// likeliest returns at most maxWaiting of the given ids, in the order of their discovery: those whose
// best parent is the most relevant. It considers only parents whose place is below end.
func (s *forage) likeliest(ids []graph.ID, end int) []graph.ID {
	if len(ids) <= maxWaiting {
		return ids
	}
	relevance := make([]float64, len(ids))
	for i, id := range ids {
		relevance[i] = s.bestParentRelevance(id, end)
	}
	places := genetic.Truncate(relevance, maxWaiting)
	slices.Sort(places)
	chosen := make([]graph.ID, len(places))
	for i, place := range places {
		chosen[i] = ids[place]
	}
	return chosen
}

// code encodes or decodes the extent of the last fit. The models are fitted again when needed.
func (s *forage) code(c *codec) {
	integer(c, &s.at.pages)
	integer(c, &s.at.aliases)
	integer(c, &s.at.terms)
	integer(c, &s.at.addresses)
	c.check(0 <= s.at.pages && s.at.pages <= len(s.pages) && 0 <= s.at.aliases && s.at.aliases <= len(s.aliases) &&
		0 <= s.at.terms && s.at.terms <= s.terms.len() && 0 <= s.at.addresses && s.at.addresses <= s.web.Len())
	c.check(len(s.found) == 0 || int(s.found[len(s.found)-1]) < len(s.pages))
	if c.reading {
		s.model, s.pageFit, s.fitted = nil, nil, s.at.pages
	}
}
