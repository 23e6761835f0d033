package strategy

// This file starts forage from a prior. The prior sets the mean and the precision of the weights of
// words in the three models of ridge regression, and the first weights of the signals.

import (
	"errors"
	"fmt"

	"spoor/internal/ridge"
)

// featureNames and kindNames are the names of the places of words in priors, by kind of feature of a
// link and of a page.
var (
	featureNames = [featureDirectory]string{featureAnchor: "anchor", featureURL: "address", featureContext: "context", featurePath: "path"}
	kindNames    = [pageFeatureKinds]string{pageFeatureText: "text", pageFeatureTitle: "title"}
)

// A foragePrior is a prior, and those of its features whose words have appeared in the crawl.
type foragePrior struct {
	digest       string // "" without a prior
	words        [priorLists]map[priorWord]ridge.Prior
	known        [priorLists][]priorFeature
	terms, paths int // sizes of the vocabularies that were searched for known
}

type priorWord struct{ in, word string }

type priorFeature struct {
	index int32
	prior ridge.Prior
}

func (s *forage) origin() string { return s.prior.digest }

func (s *forage) start(p *Prior) error {
	if len(s.pages) > 0 {
		return errors.New("a prior cannot be set after the first page")
	}
	if p.Language != s.language || p.Stemmer != s.stemmer {
		return fmt.Errorf("the prior has the words of language %q, stemmer %q, and the topic those of %q, %q\nhint: learn from crawls with the same language and stemmer", p.Language, p.Stemmer, s.language, s.stemmer)
	}
	digest, err := p.digest()
	if err != nil {
		return err
	}
	s.prior = foragePrior{digest: digest}
	for k, name := range signalNames {
		s.initial[k] = p.Signals[name]
	}
	s.weights = s.initial
	for i, l := range p.lists() {
		s.prior.words[i] = map[priorWord]ridge.Prior{}
		for _, e := range *l.list {
			s.prior.words[i][priorWord{e.In, e.Word}] = ridge.Prior{Mean: e.Weight, Precision: e.Precision}
		}
	}
	return nil
}

// find adds the words that have appeared since the last call to the known words.
func (p *foragePrior) find(terms, paths []string) {
	add := func(list int, in, word string, index int32) {
		if prior, ok := p.words[list][priorWord{in, word}]; ok {
			p.known[list] = append(p.known[list], priorFeature{index, prior})
		}
	}
	for ; p.terms < len(terms); p.terms++ {
		for kind, in := range featureNames[:featurePath] {
			add(priorRelevant, in, terms[p.terms], int32(p.terms*featureKinds+kind))
			add(priorHubs, in, terms[p.terms], int32(p.terms*featureKinds+kind))
		}
		for kind, in := range kindNames {
			add(priorKinds, in, terms[p.terms], int32(p.terms*pageFeatureKinds+kind))
		}
	}
	for ; p.paths < len(paths); p.paths++ {
		index := int32(p.paths*featureKinds + featurePath)
		add(priorRelevant, featureNames[featurePath], paths[p.paths], index)
		add(priorHubs, featureNames[featurePath], paths[p.paths], index)
	}
}

// priors returns the priors of a model whose features, all that have appeared, are below width. It
// returns nil without a prior.
func (s *forage) priors(m *forageModel, list, width int) []ridge.Prior {
	if s.prior.digest == "" {
		return nil
	}
	s.prior.find(s.terms.names, s.paths.names)
	priors := make([]ridge.Prior, width)
	for _, f := range s.prior.known[list] {
		priors[f.index] = f.prior
	}
	m.expected[list] = len(s.prior.known[list])
	return priors
}

// expect sets the weights of features that have appeared since the fit to their prior means. A fit
// does the same for a feature that no example has. So it does not matter whether a feature appeared
// before or after the fit, for example after a restoration.
func (s *forage) expect(m *forageModel) {
	if s.prior.digest == "" {
		return
	}
	s.prior.find(s.terms.names, s.paths.names)
	for list, model := range [priorLists]*ridge.Model{priorRelevant: &m.words, priorHubs: &m.hub, priorKinds: &m.kinds} {
		known := s.prior.known[list]
		for ; m.expected[list] < len(known); m.expected[list]++ {
			f := known[m.expected[list]]
			model.Sparse = grown(model.Sparse, int(f.index)+1)
			model.Sparse[f.index] = f.prior.Mean
		}
	}
}
