package strategy

// This file implements the focused crawler of
//
//	B. Saket and F. Behrang, "A New Crawling Method Based on AntNet Genetic and
//	Routing Algorithms", ISCCC 2009, Proc. of CSIT vol. 1, IACSIT Press, 2011
//	(antnet in doc/design/papers.md; the citation is from a public index).
//
// The score of a link predicts the score of its target. When the target is fetched and its
// score differs, the other links of the pages that link to it are corrected, as returning ants
// correct the routing tables of AntNet. The next links are drawn from all known links by a
// roulette wheel; at intervals two keywords are searched for.
//
//	F1–F5   the page score                                            fitness/wordscore.go
//	F6      linkscore1, the same for the words around a link          fitness/wordscore.go
//	F7      linkscore2 = pagescore + β · linkscore1                   linkScore3
//	F8      linkscore3 = linkscore2 · (1 + 1/pagedepth)               linkScore3
//	F9      linkscore = MAX(linkscore3, old) + γ · MIN(linkscore3, old)   addParent
//	F10     p_L = linkscore_L / Σ linkscore of the unvisited          wheel
//
//	the correction, for a page d that was fetched for its link score L_d  compare, correct
//	difference = pagescore_d − L_d
//	if |difference| > threshold, for each page P that links to d:
//	  if pagescore_P < pagescore_d and difference > 0, or
//	     pagescore_P > pagescore_d and difference < 0:
//	    each unvisited link of P gains δ · difference, at most ±Δmax
//
//	paper                here                     meaning
//	β                    Beta                     4
//	γ (λ in its text)    Gamma                    0.25
//	δ                    Delta                    0.25
//	Δmax                 DeltaMax · spread        maximum change of a score in one step
//	threshold            differences              mean |difference| of the earlier pages
//	old, linkscore       scores                   by address
//	pagedepth            page.depth + 1           1 for seeds
//	mutation             MutationEvery, Keywords  searches for keywords drawn uniformly
//	K                    evolve -n                links drawn for a generation
//
// A link is unvisited until it is drawn. Then its score is frozen: it is L_d, the score "at the
// time of selection". Pages that were not drawn, such as seeds and search results, have no
// prediction and correct no links.
//
// pagedepth is the length of the shortest path known when the links of a page are read (row f). A
// shorter path found later affects only pages that are read afterwards. A score changes only through
// another page and is never recomputed.

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"spoor/internal/genetic"
	"spoor/internal/graph"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

type antNet struct {
	pool

	Beta, Gamma   float64
	Delta         float64
	DeltaMax      float64 // in standard deviations of the link scores (row d)
	Levels        int     // number of levels of parents that a correction reaches (row h)
	Pressure      float64 // the exponent of a score on the wheel (row n)
	Calibration   string  // how link scores are mapped to the scale of page scores (row a)
	MutationEvery int     // generations between two mutations
	Keywords      int     // number of keywords in a query
	Compat        bool    // follow the paper literally (rows a, g, o)

	words []string // the topic's keywords, as the user wrote them

	scores column // by address: linkscore, corrected
	tops   column // by address: the highest linkscore3
	gains  column // by page: sum of the corrections of its score (levels > 1)

	spread      moments // moments of the link scores after F9
	differences moments // moments of |difference|
	kappa       ratio
	recent      pairs // the last maxPredictions, if the calibration is isotonic
	issued      queryLog
	generations int
	turns       int // proposals so far; earlier ones have higher priorities

	steps []int // by graph.ID; scratch of correct, otherwise 0
}

// Calibrations.
const (
	calibrateRatio    = "ratio"
	calibrateIsotonic = "isotonic"
	calibrateNone     = "none"
)

const (
	// kappaDecay is the decay of κ per page.
	kappaDecay = 0.99
	// minCompared is the number of pages compared before corrections begin (row b).
	minCompared = 10
	// minShare times the mean link score is the minimum link score (row e).
	minShare = 1e-6
	// maxPredictions is the number of pages used by the isotonic calibration.
	maxPredictions = 500
	// maxReach is the maximum number of links that one correction visits, and the maximum
	// number of links that it follows to parents on each level. It limits the time of a
	// correction if all pages link to each other.
	maxReach = 1 << 18
	// queryDraws is the number of attempts to draw a new query.
	queryDraws = 32
)

func newAntNet() Strategy {
	s := &antNet{
		Beta: 4, Gamma: 0.25,
		Delta: 0.25, DeltaMax: 0.25, Levels: 1,
		Pressure: 1, Calibration: calibrateRatio,
		MutationEvery: 5, Keywords: 2,
	}
	s.parts = []part{&s.scores, &s.tops, &s.gains, &s.spread, &s.differences, &s.kappa, &s.recent,
		&s.issued, (*counter)(&s.generations), (*counter)(&s.turns)}
	return s
}

func (s *antNet) Params() []Param {
	return []Param{
		{Name: "beta", Doc: "weight of the words around a link beside the score of its page", Value: &s.Beta, Range: [2]float64{0, 1e6}},
		{Name: "gamma", Doc: "weight of the lower scores of a link, beside its highest", Value: &s.Gamma, Range: unit},
		{Name: "delta", Doc: "share of a prediction error by which links are corrected; 0 corrects nothing", Value: &s.Delta, Range: unit},
		{Name: "delta-max", Doc: "maximum change of a score in one step, in standard deviations of link scores", Value: &s.DeltaMax, Range: [2]float64{0, 1e6}},
		{Name: "levels", Doc: "levels of parents that a correction reaches; 1: the pages that link to the page", Value: &s.Levels, Range: [2]float64{1, 8}},
		{Name: "pressure", Doc: "exponent of link scores on the roulette wheel", Value: &s.Pressure, Range: [2]float64{0, 16}},
		{Name: "calibration", Doc: "how link scores predict page scores", Value: &s.Calibration, Words: []string{calibrateRatio, calibrateIsotonic, calibrateNone}},
		{Name: "mutation-every", Doc: "generations between two searches for keywords; 0 for none", Value: &s.MutationEvery, Range: whole},
		{Name: "keywords", Doc: "keywords in a search", Value: &s.Keywords, Range: [2]float64{1, 16}},
		{Name: "compat", Doc: "literally as in the paper: no calibration, link scores in order of arrival, repeated searches", Value: &s.Compat},
	}
}

func (s *antNet) aim(t *topic.Topic) error {
	s.words = keywords(t)
	return nil
}

func (s *antNet) Visit(rec *wire.Record) {
	if s.isPending == nil { // after Replay
		s.isPending = make([]bool, s.web.Len())
		for _, id := range s.pending.ids {
			s.isPending[id] = true
		}
	}
	retried := s.retries(rec)
	place, ok := s.visitNew(rec)
	s.isPending = grown(s.isPending, s.web.Len())
	if !ok {
		return
	}
	p := &s.pages[place]
	p.score = max(0, p.score)
	for parent := range s.web.Parents(p.node) {
		if at, fetched := s.page(parent); fetched {
			p.depth = min(p.depth, s.pages[at].depth+1)
		}
	}
	if retried || s.isPending[p.node] {
		s.compare(*p)
	}
	s.read(rec, place)
}

// retries reports whether rec is the outcome of an address that was drawn and failed before:
// its link has kept the score that predicts it.
func (s *antNet) retries(rec *wire.Record) bool {
	id, known := s.web.Find(rec.URL)
	if !known || rec.Operator != opLink {
		return false
	}
	place, fetched := s.page(id)
	return fetched && s.pages[place].failed
}

// read scores the links of the page at place: F7 to F9.
func (s *antNet) read(rec *wire.Record, place int) {
	p := s.pages[place]
	around := map[graph.ID]float64{} // linkscore1; the higher one if a link occurs twice
	for id, link := range s.linksOn(rec, place) {
		around[id] = max(around[id], min(link.Score.Or(0), highestScore))
	}
	for id := range s.web.Children(p.node) {
		if s.isFree(id) {
			s.addParent(id, s.linkScore3(s.pageScore(p.node), around[id], p.depth))
		}
	}
}

// linkScore3 is F7 and F8, for a link on a page with the given score and depth.
func (s *antNet) linkScore3(pageScore, linkScore1 float64, depth int) float64 {
	linkScore2 := pageScore + float64(s.Beta*linkScore1)
	pageDepth := float64(max(0, depth)) + 1 // row f
	return float64(linkScore2 * (1 + 1/pageDepth))
}

// addParent is F9: linkScore3 is the score of id on another page that links to id. If more than two
// pages link to id, the result of the paper's formula depends on their order. Ours is the maximum of
// the scores plus γ times the sum of the other scores, in any order (row g): if linkScore3 exceeds
// the old maximum the score grows by the excess, and in any case by γ times the smaller of
// linkScore3 and the old maximum. A new link has old = 0 and gets linkScore3 in both formulas.
func (s *antNet) addParent(id graph.ID, linkScore3 float64) {
	old := s.scores.at(id)
	score := max(linkScore3, old) + float64(s.Gamma*min(linkScore3, old))
	if !s.Compat {
		top := s.tops.at(id)
		score = old + max(linkScore3-top, 0) + float64(s.Gamma*min(linkScore3, top))
		s.tops.raise(id, linkScore3)
	}
	s.scores.set(id, score)
	s.spread.add(score)
}

// compare compares the page p with its prediction, corrects links if the difference is above
// the mean, and updates the calibration.
func (s *antNet) compare(p page) {
	predicted := prediction{s.scores.at(p.node), p.score}
	if expected, ok := s.calibrated(); ok {
		difference := p.score - expected(predicted.link)
		if s.differences.n >= minCompared && math.Abs(difference) > s.differences.mean {
			s.correct(p, difference)
		}
		s.differences.add(math.Abs(difference))
	}
	s.kappa.add(predicted)
	if s.calibration() == calibrateIsotonic {
		s.recent.add(predicted)
		s.recent.fresh++
	}
}

// correct changes the scores of the links on the pages that link to p. With more than one
// level it also changes the links on the pages that link to these pages, and so on; the change on
// each level is δ times the change on the level before (row h). With more than one level the scores
// of the pages themselves change too, for later comparisons.
//
// A link on several of these pages changes once for each of them, as printed (row p).
func (s *antNet) correct(p page, difference float64) {
	limit := float64(s.DeltaMax * s.spread.deviation())
	if limit == 0 || s.Delta == 0 {
		return
	}
	units := s.units()
	share := 1.0
	s.steps = grown(s.steps, s.web.Len())
	seen := map[graph.ID]bool{p.node: true, p.final: true}
	level := []graph.ID{p.node}
	left := maxReach
	for range s.Levels {
		share *= s.Delta
		step := max(-limit, min(float64(share*difference)/units, limit))
		var links []graph.ID
		level = s.parentsOf(level, seen)
		for _, parent := range level {
			score := s.pageScore(parent)
			if rises := score < p.score && difference > 0; !rises && !(score > p.score && difference < 0) { // row c
				continue
			}
			if s.Levels > 1 {
				s.gains.set(parent, s.gains.at(parent)+float64(share*difference))
			}
			for id := range s.web.Children(parent) {
				if left--; left < 0 {
					break
				}
				if s.isFree(id) {
					if s.steps[id] == 0 {
						links = append(links, id)
					}
					s.steps[id]++
				}
			}
		}
		for _, id := range links {
			s.scores.set(id, max(s.scores.at(id)+float64(step*float64(s.steps[id])), s.minScore()))
			s.steps[id] = 0
		}
	}
}

// parentsOf returns the pages that link to any of level and are not in seen. It follows at
// most maxReach links.
func (s *antNet) parentsOf(level []graph.ID, seen map[graph.ID]bool) (pages []graph.ID) {
	left := maxReach
	for _, id := range level {
		for parent := range s.web.Parents(id) {
			if left--; left < 0 {
				return pages
			}
			if !seen[parent] {
				seen[parent] = true
				pages = append(pages, parent)
			}
		}
	}
	return pages
}

// pageScore returns the score of a page with its corrections.
func (s *antNet) pageScore(node graph.ID) float64 {
	place, fetched := s.page(node)
	if !fetched {
		return 0
	}
	return max(0, s.pages[place].score+s.gains.at(node))
}

// minScore returns the minimum score of a link after corrections, and the minimum weight on
// the wheel (row e).
func (s *antNet) minScore() float64 { return float64(minShare * s.spread.mean) }

// calibration returns the calibration in force.
func (s *antNet) calibration() string {
	if s.Compat {
		return calibrateNone
	}
	return s.Calibration
}

// calibrated returns the page score that a link score predicts (row a). ok is false before the
// first comparison.
func (s *antNet) calibrated() (expected func(link float64) float64, ok bool) {
	switch s.calibration() {
	case calibrateNone:
		return func(link float64) float64 { return link }, true
	case calibrateIsotonic:
		return isotonic(s.recent.last), len(s.recent.last) > 0
	}
	kappa := s.kappa.value()
	return func(link float64) float64 { return float64(kappa * link) }, s.kappa.link > 0
}

// units returns the page score that corresponds to a link score of 1. It is 0 if no page has had a
// score yet; then every step is limited to Δmax.
func (s *antNet) units() float64 {
	if s.calibration() == calibrateNone {
		return 1
	}
	return s.kappa.value()
}

// Breed is the mutation, every MutationEvery generations, and F10.
func (s *antNet) Breed(n int, rng *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.generations++
	if s.MutationEvery > 0 && s.generations%s.MutationEvery == 0 {
		if query := s.query(rng); query != "" {
			next = append(next, Address{Query: query, Operator: opMutation, Priority: s.nextPriority()})
		}
	}
	wheel := s.wheel()
	expected, calibrated := s.calibrated()
	for range quota {
		total := wheel.Total()
		place, ok := wheel.Spin(rng)
		if !ok {
			break
		}
		a := s.link(graph.ID(place))
		a.Reasons = []wire.Scored{
			{Name: "linkscore", Value: s.scores.at(graph.ID(place))},
			{Name: "probability", Value: wheel.Weight(place) / total},
		}
		if calibrated {
			a.Reasons = slices.Insert(a.Reasons, 0, wire.Scored{Name: "expected", Value: expected(a.Reasons[0].Value)})
		}
		next = append(next, a)
		s.markPending(graph.ID(place))
		wheel.Set(place, 0)
	}
	s.endGeneration()
	return next
}

// wheel returns the unvisited links, by address, weighted by their scores. If no link has a
// score, all have the same weight. Scores are divided by the mean before the pressure is applied, to
// prevent underflow and overflow.
func (s *antNet) wheel() *genetic.Wheel {
	weights := make([]float64, s.web.Len())
	least := s.minScore()
	for id := range s.freeAddresses() {
		switch w := max(s.scores.at(id), least); {
		case least == 0:
			weights[id] = 1
		case s.Pressure == 1:
			weights[id] = w
		default:
			weights[id] = rounded(math.Pow(w/s.spread.mean, s.Pressure))
		}
	}
	return genetic.NewWheel(weights)
}

// link returns a proposal to fetch id. Via is the first fetched page that links to id, the depth is
// the depth of the shortest path, and the parents are the pages that link to id, up to maxParents.
func (s *antNet) link(id graph.ID) Address {
	var a Address
	for parent := range s.web.Parents(id) {
		place, fetched := s.page(parent)
		if !fetched {
			continue
		}
		if a.URL == "" {
			a = s.address(id, place, opLink, s.nextPriority())
		}
		a.Depth = min(a.Depth, s.pages[place].depth+1)
		if len(a.Parents) < maxParents {
			a.Parents = append(a.Parents, s.web.URL(parent))
		}
	}
	if a.URL == "" { // no page links to it: a redirect led there, or the state is damaged
		a = Address{URL: s.web.URL(id), Operator: opLink, Priority: s.nextPriority()}
	}
	return a
}

// nextPriority returns the priority of the next proposal, which is lower than all earlier priorities.
func (s *antNet) nextPriority() float64 {
	s.turns++
	return -float64(s.turns)
}

// query returns keywords drawn uniformly, in the order of the topic, or "" if it found no new query.
// A query would find nothing new at the same cost if it was repeated; only with Compat it may be
// repeated (row o).
func (s *antNet) query(rng *rand.Rand) string {
	for range queryDraws {
		query := drawQuery(rng, s.words, s.Keywords)
		if s.Compat || s.issued.add(query) {
			return query
		}
	}
	return ""
}

// moments holds the mean and variance of a growing set of numbers (B. Welford, Technometrics
// 4(3), 1962).
type moments struct {
	n       int
	mean    float64
	squares float64 // Σ (x − mean)²
}

func (m *moments) add(x float64) {
	m.n++
	before := x - m.mean
	m.mean += before / float64(m.n)
	m.squares += float64(before * (x - m.mean))
}

// deviation returns the standard deviation, or 0 if the set is empty.
func (m *moments) deviation() float64 { return math.Sqrt(m.squares / float64(max(1, m.n))) }

func (m *moments) code(c *codec) {
	integer(c, &m.n)
	c.float(&m.mean)
	c.float(&m.squares)
	c.check(m.n >= 0 && m.mean >= 0 && m.squares >= 0)
}

// A prediction is the score of a link, and the score of the page that was fetched for it.
type prediction struct{ link, page float64 }

// pairs holds the latest predictions.
type pairs struct {
	last  []prediction
	fresh int // predictions since the last delta
}

func (p *pairs) add(f prediction) {
	p.last = append(p.last, f)
	p.last = p.last[max(0, len(p.last)-maxPredictions):]
}

func (p *pairs) code(c *codec) {
	fresh := each(c, p.last[len(p.last)-min(p.fresh, len(p.last)):], func(f *prediction) {
		c.float(&f.link)
		c.float(&f.page)
	})
	if c.reading {
		for _, f := range fresh {
			p.add(f)
		}
	}
	p.fresh = 0
}

// A ratio is κ, the ratio of page scores to link scores, averaged over about the last hundred
// pages.
type ratio struct{ page, link float64 }

func (k *ratio) add(f prediction) {
	k.page = float64(kappaDecay*k.page) + f.page
	k.link = float64(kappaDecay*k.link) + f.link
}

func (k *ratio) code(c *codec) {
	c.float(&k.page)
	c.float(&k.link)
}

func (k *ratio) value() float64 {
	if k.link == 0 {
		return 1
	}
	return k.page / k.link
}

// isotonic returns the monotone step function with the least squared error (pool adjacent
// violators: M. Ayer et al., Annals of Mathematical Statistics 26(4), 1955). Below the first
// step it has the value of the first step.
func isotonic(pairs []prediction) func(link float64) float64 {
	type step struct {
		from, sum, n float64
	}
	// Pairs with equal link scores are sorted by descending page score, so that they are pooled.
	pairs = slices.SortedFunc(slices.Values(pairs), func(a, b prediction) int {
		return cmp.Or(cmp.Compare(a.link, b.link), cmp.Compare(b.page, a.page))
	})
	var steps []step
	for _, p := range pairs {
		last := step{p.link, p.page, 1}
		for len(steps) > 0 {
			before := steps[len(steps)-1]
			if before.sum/before.n < last.sum/last.n {
				break
			}
			last = step{before.from, before.sum + last.sum, before.n + last.n}
			steps = steps[:len(steps)-1]
		}
		steps = append(steps, last)
	}
	return func(link float64) float64 {
		at, found := slices.BinarySearchFunc(steps, link, func(s step, link float64) int { return cmp.Compare(s.from, link) })
		if !found {
			at = max(0, at-1)
		}
		return steps[at].sum / steps[at].n
	}
}
