package strategy

// This file learns a prior from finished crawls. For each crawl, the models are fitted to all of its
// pages, with the crawl's own estimates of relevance and without a prior. The prior is the part of the
// weights that several webs have in common, computed by ridge.Pool.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"spoor/internal/ridge"
)

// maxPooled is the largest number of words in a list of a learned prior.
const maxPooled = 5000

// A Learner learns a prior from finished crawls. The zero value has no crawls.
type Learner struct {
	language, stemmer string
	pages             int
	found             []*findings
}

// Add adds a crawl. run is its strategy, restored from the journal; it must not be used afterwards.
func (l *Learner) Add(run Strategy) error {
	s, ok := run.(*forage)
	switch {
	case !ok:
		return errors.New("only crawls of the strategy forage can be learned from")
	case len(s.pages) == 0:
		return errors.New("it has no pages")
	case len(l.found) > 0 && (s.language != l.language || s.stemmer != l.stemmer):
		return fmt.Errorf("it has the words of language %q, stemmer %q, and the runs before it those of %q, %q\nhint: make a prior for each language", s.language, s.stemmer, l.language, l.stemmer)
	}
	l.language, l.stemmer = s.language, s.stemmer
	l.pages += len(s.pages)
	l.found = append(l.found, s.findings())
	return nil
}

// Prior returns a prior from what the crawls of different webs have in common. If all crawls are of
// one web, it uses what the crawls with different queries have in common.
func (l *Learner) Prior() (*Prior, error) {
	webs := grouped(l.found, sameWeb)
	groups := webs
	if len(webs) == 1 {
		groups = grouped(l.found, func(a, b *findings) bool { return a.query == b.query })
	}
	if len(groups) < 2 {
		return nil, errors.New("a prior is what crawls of different webs or queries have in common\nhint: give at least two such runs")
	}
	p := &Prior{Format: PriorFormat, Version: PriorVersion, Language: l.language, Stemmer: l.stemmer,
		Runs: len(l.found), Webs: len(webs), Pages: l.pages, Signals: map[string]float64{}}
	for k, list := range p.lists() {
		*list.list = pooled(groups, k)
	}
	for k, name := range signalNames {
		p.Signals[name] = firstWeights[k]
	}
	for _, e := range pooled(groups, findingSignals) {
		p.Signals[e.Word] = decimal(p.Signals[e.Word]+e.Weight, 1e6)
	}
	return p, p.check()
}

// findings holds the estimates of a crawl, its query and its hosts.
type findings struct {
	query string             // stems of the query
	hosts map[string]float64 // by host: its share of the pages
	lists [findingLists]map[priorWord]ridge.Estimate
}

// findingSignals is the list of the signals: the differences of their weights from firstWeights.
const (
	findingSignals = priorLists
	findingLists   = priorLists + 1
)

// findings fits the models to the whole crawl.
func (s *forage) findings() *findings {
	s.prior = foragePrior{}
	s.fitDirectories(&s.web)
	s.at = extent{len(s.pages), len(s.aliases), len(s.terms.names), s.web.Len()}
	s.fitModels()
	f := &findings{hosts: map[string]float64{}}
	for _, t := range s.query.Terms {
		f.query += s.terms.names[t] + " "
	}
	for _, p := range s.pages {
		if d := s.hostDirectory(p.node); d >= 0 {
			f.hosts[s.directories.of.names[d]] += 1 / float64(len(s.pages))
		}
	}
	m := s.model
	links, _ := s.linkExamples(m)
	pages, _ := s.kindExamples(m)
	f.lists[priorRelevant] = s.estimates(m.words, links, linkPrecision, featureKinds, featureNames[:featureDirectory])
	f.lists[priorHubs] = s.estimates(m.hub, links, linkPrecision, featureKinds, featureNames[:featureDirectory])
	f.lists[priorKinds] = s.estimates(m.kinds, pages, kindPrecision, pageFeatureKinds, kindNames[:])
	f.lists[findingSignals] = s.signalEstimates()
	return f
}

// estimates returns the weights of a model by words. Words of the query are omitted, because the next
// crawl has another query. precision is the precision of the fit. The index of a feature is the number
// of its word times kinds, plus its kind.
func (s *forage) estimates(m ridge.Model, d *ridge.Design, precision float64, kinds int, names []string) map[priorWord]ridge.Estimate {
	list := map[priorWord]ridge.Estimate{}
	for k, evidence := range d.Evidence() {
		number, kind := k/kinds, k%kinds
		if evidence == 0 || kind >= len(names) {
			continue
		}
		words := s.terms.names
		if names[kind] == featureNames[featurePath] {
			words = s.paths.names
		} else if slices.Contains(s.query.Terms, int32(number)) {
			continue
		}
		if word := words[number]; utf8.ValidString(word) && len(word) <= maxLearnedWord {
			list[priorWord{names[kind], word}] = ridge.Estimate{Weight: m.Sparse[k], Reliability: evidence / (evidence + precision)}
		}
	}
	return list
}

// signalEstimates fits, by ridge regression, the weights of signals that best predict the outcomes of
// decisions, and returns their differences from firstWeights. Outcomes are scaled so that the first
// weights fit best.
func (s *forage) signalEstimates() map[priorWord]ridge.Estimate {
	log := s.logged()
	if len(log) < fewestDecisions {
		return nil
	}
	n := float64(len(log))
	scores, outcomes := make([]float64, len(log)), make([]float64, len(log))
	x, y, mean := 0.0, 0.0, signalVector{}
	for i := range log {
		for k, z := range log[i].z {
			scores[i] += float64(firstWeights[k] * z)
			mean[k] += z / n
		}
		outcomes[i] = log[i].outcome
		x += scores[i] / n
		y += outcomes[i] / n
	}
	xx, xy := 0.0, 0.0
	for i := range scores {
		xx += float64((scores[i] - x) * (scores[i] - x))
		xy += float64((scores[i] - x) * (outcomes[i] - y))
	}
	if !(xx > 0) || !(xy > 0) {
		return nil
	}
	slope := xy / xx
	examples, targets, noise := make([]ridge.Example, len(log)), make([]float64, len(log)), 0.0
	var evidence signalVector
	for i := range log {
		dense := make([]float64, signals)
		for k, z := range log[i].z {
			dense[k] = z - mean[k]
			evidence[k] += float64(dense[k] * dense[k])
		}
		examples[i] = ridge.Example{Dense: dense, Weight: 1}
		targets[i] = (outcomes[i] - y) / slope
		e := targets[i] - (scores[i] - x)
		noise += float64(e*e) / n
	}
	precision := noise / (firstDeviation * firstDeviation)
	m := ridge.NewDesign(examples, 0).Fit(targets, ridge.Options{DensePrecision: precision, Prior: firstWeights[:], Passes: signalPasses})
	list := map[priorWord]ridge.Estimate{}
	for k, name := range signalNames {
		if evidence[k] > 0 {
			list[priorWord{"", name}] = ridge.Estimate{Weight: m.Dense[k] - firstWeights[k], Reliability: evidence[k] / (evidence[k] + precision)}
		}
	}
	return list
}

const signalPasses = 50

// grouped returns crawls in groups. A crawl is in the group of the first crawl that is the same.
func grouped(found []*findings, same func(a, b *findings) bool) (groups [][]*findings) {
	for _, f := range found {
		i := slices.IndexFunc(groups, func(g []*findings) bool { return same(f, g[0]) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}

// sameWeb reports whether two crawls have more than half of their pages on the same hosts, host by host.
func sameWeb(a, b *findings) bool { return overlap(a.hosts, b.hosts) > 0.5 }

// overlap returns the common part of two distributions, in [0, 1].
func overlap(a, b map[string]float64) (sum float64) {
	for _, host := range slices.Sorted(maps.Keys(a)) {
		sum += min(a[host], b[host])
	}
	return sum
}

// pooled returns a list of the prior: the words that several groups have. The estimates of a group are
// the means of the estimates of its crawls. The words of each place are pooled separately.
func pooled(groups [][]*findings, list int) []Learned {
	byWord := map[priorWord][]ridge.Estimate{}
	for _, group := range groups {
		mean := map[priorWord]ridge.Estimate{}
		for _, f := range group {
			for word, e := range f.lists[list] {
				m := mean[word]
				m.Weight += e.Weight / float64(len(group))
				m.Reliability += e.Reliability / float64(len(group))
				mean[word] = m
			}
		}
		for word, e := range mean {
			byWord[word] = append(byWord[word], e)
		}
	}
	byPlace := map[string][]priorWord{}
	for word := range byWord {
		byPlace[word.in] = append(byPlace[word.in], word)
	}
	learned := []Learned{}
	for _, in := range slices.Sorted(maps.Keys(byPlace)) {
		words := byPlace[in]
		slices.SortFunc(words, func(a, b priorWord) int { return cmp.Compare(a.word, b.word) })
		estimates := make([][]ridge.Estimate, len(words))
		for i, w := range words {
			estimates[i] = byWord[w]
		}
		priors, share := ridge.Pool(estimates)
		if share == 0 {
			continue
		}
		for i, p := range priors {
			e := Learned{in, words[i].word, decimal(p.Mean, 1e6), decimal(min(p.Precision, maxPriorPrecision), 1e3)}
			if len(estimates[i]) > 1 && e.Weight != 0 {
				learned = append(learned, e)
			}
		}
	}
	if len(learned) > maxPooled {
		slices.SortStableFunc(learned, func(a, b Learned) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
		learned = learned[:maxPooled]
		slices.SortFunc(learned, compareLearned)
	}
	return learned
}

// decimal rounds x to a multiple of 1/unit.
func decimal(x, unit float64) float64 { return math.Round(float64(x*unit)) / unit }
