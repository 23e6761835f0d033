package strategy

// This file implements the focused crawler of
//
//	B. Saket and F. Behrang, "A New Crawling Method Based on AntNet Genetic and
//	Routing Algorithms", ISCCC 2009, Proc. of CSIT vol. 1, IACSIT Press, 2011
//	(antnet in PAPERS.md; the citation is from a public index).
//
// The score of a link foretells the score of the page behind it. When that page
// is fetched and surprises, the links beside the one that led there are
// corrected, as ants that come back correct the routing tables of AntNet. The next
// links are drawn from all that are known by a roulette wheel; now and then two
// keywords are searched for.
//
//	F1–F5   the page score                                            fitness/wordscore.go
//	F6      linkscore1, the same of the words around a link           fitness/wordscore.go
//	F7      linkscore2 = pagescore + β · linkscore1                   promise
//	F8      linkscore3 = linkscore2 · (1 + 1/pagedepth)               promise
//	F9      linkscore = MAX(linkscore3, old) + γ · MIN(linkscore3, old)   meet
//	F10     p_L = linkscore_L / Σ linkscore of the unvisited          wheel
//
//	the correction, of a page d that was fetched for its link score L_d  surprise, correct
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
//	Δmax                 DeltaMax · spread        the most that one step changes a score
//	threshold            differences              mean |difference| of the pages before
//	old, linkscore       scores                   by address
//	pagedepth            page.depth + 1           1 for seeds
//	mutation             MutationEvery, Keywords  searches for keywords drawn evenly
//	K                    evolve -n                links that are drawn for a generation
//
// A link is unvisited until it is drawn. Its score then stays, and is the L_d of
// its page: a score "at the time of selection". Pages that nobody drew, seeds and
// search results, were not foretold and correct nothing.
//
// pagedepth is the shortest way that is known when the links of a page are read
// (row f); a shorter one that is found later counts for pages that are read after
// that. Scores are changed by contact with another page only, never worked out
// again.

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"spoor/internal/genetic"
	"spoor/internal/graph"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// antNet is the crawler.
type antNet struct {
	pool

	Beta, Gamma   float64
	Delta         float64
	DeltaMax      float64 // in standard deviations of the link scores (row d)
	Levels        int     // how far up a correction reaches (row h)
	Pressure      float64 // the exponent of a score on the wheel (row n)
	Calibration   string  // how link scores are brought to the scale of page scores (row a)
	MutationEvery int     // generations
	Keywords      int     // in a query
	Compat        bool    // as the paper has it (rows a, g, o)

	words []string // the topic's keywords, as the user wrote them

	scores column // by address: linkscore, corrected
	tops   column // by address: the highest linkscore3
	gains  column // by page: what corrections have added to its score (levels > 1)

	spread      moments // of the link scores that F9 gave
	differences moments // of |difference|
	kappa       ratio
	recent      pairs // the last maxForetold, if the calibration is isotonic
	issued      queryLog
	generations int
	turns       int // addresses and queries so far: first in, first out

	steps []int // by graph.ID, 0 between two corrections
}

// Calibrations.
const (
	calibrateRatio    = "ratio"
	calibrateIsotonic = "isotonic"
	calibrateNone     = "none"
)

const (
	// kappaDecay is what is left of an old page in κ when a new one has come.
	kappaDecay = 0.99
	// patience is how many pages are compared before one corrects (row b).
	patience = 10
	// leastShare of the mean link score is the least that any link has (row e).
	leastShare = 1e-6
	// maxForetold is how many pages the isotonic calibration looks back.
	maxForetold = 500
	// reach is how many links one correction looks at, and how many on its way up
	// at each level, so that pages which all link to each other cost no more time
	// than others.
	reach = 1 << 18
	// queryDraws is how often keywords are drawn for a query that is new.
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
	unit := [2]float64{0, 1}
	return []Param{
		{Name: "beta", Doc: "weight of the words around a link beside the score of its page", Value: &s.Beta, Range: [2]float64{0, 1e6}},
		{Name: "gamma", Doc: "what the lesser scores of a link count beside its highest", Value: &s.Gamma, Range: unit},
		{Name: "delta", Doc: "share of a surprise by which links are corrected; 0 corrects nothing", Value: &s.Delta, Range: unit},
		{Name: "delta-max", Doc: "the most that one step changes a score, in standard deviations of link scores", Value: &s.DeltaMax, Range: [2]float64{0, 1e6}},
		{Name: "levels", Doc: "how far up a correction reaches: 1 is the pages that link to the surprise", Value: &s.Levels, Range: [2]float64{1, 8}},
		{Name: "pressure", Doc: "exponent of link scores on the roulette wheel", Value: &s.Pressure, Range: [2]float64{0, 16}},
		{Name: "calibration", Doc: "how link scores foretell page scores", Value: &s.Calibration, Words: []string{calibrateRatio, calibrateIsotonic, calibrateNone}},
		{Name: "mutation-every", Doc: "generations from one search for keywords to the next; 0 never searches", Value: &s.MutationEvery, Range: [2]float64{0, 1e9}},
		{Name: "keywords", Doc: "keywords in a search", Value: &s.Keywords, Range: [2]float64{1, 16}},
		{Name: "compat", Doc: "the paper to the letter: no calibration, link scores in order of arrival, searches that repeat", Value: &s.Compat},
	}
}

func (s *antNet) aim(t *topic.Topic) error {
	s.words = nil
	for _, k := range t.Keywords {
		s.words = append(s.words, k.Text)
	}
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
		s.surprise(*p)
	}
	s.read(rec, place)
}

// retries reports whether rec comes of an address that was drawn and failed before: its
// page was foretold, too, by the score that the link has kept.
func (s *antNet) retries(rec *wire.Record) bool {
	id, known := s.web.Find(rec.URL)
	if !known || rec.Operator != opLink {
		return false
	}
	place, fetched := s.page(id)
	return fetched && s.pages[place].failed
}

// read gives the links of the page at place their scores: F7 to F9.
func (s *antNet) read(rec *wire.Record, place int) {
	p := s.pages[place]
	around := map[graph.ID]float64{} // linkscore1; of a link that stands twice, the higher
	for id, link := range s.linksOn(rec, place) {
		around[id] = max(around[id], min(link.Score.Or(0), highestScore))
	}
	for id := range s.web.Children(p.node) {
		if s.isFree(id) {
			s.meet(id, s.promise(s.pageScore(p.node), around[id], p.depth))
		}
	}
}

// promise is F7 and F8: linkscore3 of a link on a page of that score and depth.
func (s *antNet) promise(pageScore, linkScore1 float64, depth int) float64 {
	linkScore2 := pageScore + float64(s.Beta*linkScore1)
	pageDepth := float64(max(0, depth)) + 1 // row f
	return float64(linkScore2 * (1 + 1/pageDepth))
}

// meet is F9: another page with a link to id gives it linkScore3. The paper's
// form depends on the order in which the pages come, if there are more than two;
// ours is MAX + γ · Σ others in any order (row g), of which a new score adds what
// it exceeds the maximum by, and γ of the lesser one. For a link that is new,
// old = 0, and both are linkScore3.
func (s *antNet) meet(id graph.ID, linkScore3 float64) {
	old := s.scores.at(id)
	score := max(linkScore3, old) + float64(s.Gamma*min(linkScore3, old))
	if !s.Compat {
		top := s.tops.at(id)
		score = old + max(linkScore3-top, 0) + float64(s.Gamma*min(linkScore3, top))
		s.tops.set(id, max(linkScore3, top))
	}
	s.scores.set(id, score)
	s.spread.add(score)
}

// surprise compares the page p with what was foretold of it, lets it correct
// others if the difference is above the mean, and learns from it.
func (s *antNet) surprise(p page) {
	foreseen := foretold{s.scores.at(p.node), p.score}
	if expected, ok := s.calibrated(); ok {
		difference := p.score - expected(foreseen.link)
		if s.differences.n >= patience && math.Abs(difference) > s.differences.mean {
			s.correct(p, difference)
		}
		s.differences.add(math.Abs(difference))
	}
	s.kappa.add(foreseen)
	if s.calibration() == calibrateIsotonic {
		s.recent.add(foreseen)
		s.recent.fresh++
	}
}

// correct changes the links beside those to p, and with more than one level those
// on the pages above, each level by δ of the one below (row h). Then, too, the
// pages themselves change: that is what is compared when the next page comes.
//
// A link that stands on several of these pages changes as often, as printed (row p).
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
	left := reach
	for range s.Levels {
		share *= s.Delta
		step := max(-limit, min(float64(share*difference)/units, limit))
		var links []graph.ID
		level = s.above(level, seen)
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
			s.scores.set(id, max(s.scores.at(id)+float64(step*float64(s.steps[id])), s.least()))
			s.steps[id] = 0
		}
	}
}

// above returns the pages that link to any of level and were not seen, as far as a
// correction reaches.
func (s *antNet) above(level []graph.ID, seen map[graph.ID]bool) (pages []graph.ID) {
	left := reach
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

// pageScore returns the score of a page with what corrections have added to it.
func (s *antNet) pageScore(node graph.ID) float64 {
	place, fetched := s.page(node)
	if !fetched {
		return 0
	}
	return max(0, s.pages[place].score+s.gains.at(node))
}

// least returns the least score of a link: what corrections leave, and what a link that
// promises nothing weighs on the wheel (row e).
func (s *antNet) least() float64 { return float64(leastShare * s.spread.mean) }

// calibration returns the one in force.
func (s *antNet) calibration() string {
	if s.Compat {
		return calibrateNone
	}
	return s.Calibration
}

// calibrated returns the page score that a link score foretells (row a). ok is false if
// no page has told yet.
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

// units returns how much of a page score a unit of link score is worth. It is 0 if no
// page has had any score: then every surprise is greater than any step.
func (s *antNet) units() float64 {
	if s.calibration() == calibrateNone {
		return 1
	}
	return s.kappa.value()
}

// Breed is the mutation, every so many generations, and F10.
func (s *antNet) Breed(n int, rng *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.generations++
	if s.MutationEvery > 0 && s.generations%s.MutationEvery == 0 {
		if query := s.query(rng); query != "" {
			next = append(next, Address{Query: query, Operator: opMutation, Priority: s.turn()})
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

// wheel has the unvisited links, by address, each with the weight of its score. If
// no link promises anything, all weigh the same. Scores are raised to the pressure as
// shares of the mean, so that they neither vanish nor outgrow the wheel.
func (s *antNet) wheel() *genetic.Wheel {
	weights := make([]float64, s.web.Len())
	least := s.least()
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

// link proposes id: found on the page where it was seen first, as deep as the
// shortest way there, with all pages that brought it.
func (s *antNet) link(id graph.ID) Address {
	var a Address
	for parent := range s.web.Parents(id) {
		place, fetched := s.page(parent)
		if !fetched {
			continue
		}
		if a.URL == "" {
			a = s.address(id, place, opLink, s.turn())
		}
		a.Depth = min(a.Depth, s.pages[place].depth+1)
		if len(a.Parents) < maxParents {
			a.Parents = append(a.Parents, s.web.URL(parent))
		}
	}
	if a.URL == "" { // no page has it: a redirect led there, or the state is strange
		a = Address{URL: s.web.URL(id), Operator: opLink, Priority: s.turn()}
	}
	return a
}

// turn returns the priority of what is proposed next: in the order of the proposals.
func (s *antNet) turn() float64 {
	s.turns++
	return -float64(s.turns)
}

// query returns keywords drawn evenly, in the order of the topic. One that was asked
// brings nothing new and costs as much, so it is not asked again, unless by the
// letter (row o); it is empty if there is none.
func (s *antNet) query(rng *rand.Rand) string {
	if len(s.words) == 0 {
		return ""
	}
	for range queryDraws {
		places := genetic.Sample(rng, len(s.words), s.Keywords)
		slices.Sort(places)
		var words []string
		for _, place := range places {
			words = append(words, s.words[place])
		}
		query := strings.Join(words, " ")
		if s.Compat {
			return query
		}
		if !s.issued.has(query) {
			s.issued.add(query)
			return query
		}
	}
	return ""
}

func (s *antNet) Replay(b []byte) error {
	s.isPending = nil
	return s.pool.Replay(b)
}

// Moments are the mean and the spread of a growing number of numbers (B. Welford,
// Technometrics 4(3), 1962).
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

// deviation returns the standard deviation, 0 of nothing.
func (m *moments) deviation() float64 { return math.Sqrt(m.squares / float64(max(1, m.n))) }

func (m *moments) appendDelta(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.n))
	return appendFloat(appendFloat(b, m.mean), m.squares)
}

func (m *moments) replay(_ *memory, r *reader) {
	*m = moments{int(r.uvarint()), r.float(), r.float()}
	if m.n < 0 || !(m.mean >= 0) || !(m.squares >= 0) {
		r.bad = true
	}
}

// A foretold is a page with the score of the link for which it was fetched.
type foretold struct{ link, page float64 }

// pairs is the last pages that were foretold.
type pairs struct {
	last  []foretold
	fresh int // how many of them are in no delta
}

func (p *pairs) add(f foretold) {
	p.last = append(p.last, f)
	p.last = p.last[max(0, len(p.last)-maxForetold):]
}

func (p *pairs) appendDelta(b []byte) []byte {
	fresh := p.last[len(p.last)-min(p.fresh, len(p.last)):]
	b = binary.AppendUvarint(b, uint64(len(fresh)))
	for _, f := range fresh {
		b = appendFloat(appendFloat(b, f.link), f.page)
	}
	p.fresh = 0
	return b
}

func (p *pairs) replay(_ *memory, r *reader) {
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		p.add(foretold{r.float(), r.float()})
	}
}

// A ratio is κ, what page scores are to link scores, in the mean of the last
// hundred or so.
type ratio struct{ page, link float64 }

func (k *ratio) add(f foretold) {
	k.page = float64(kappaDecay*k.page) + f.page
	k.link = float64(kappaDecay*k.link) + f.link
}

func (k *ratio) appendDelta(b []byte) []byte { return appendFloat(appendFloat(b, k.page), k.link) }
func (k *ratio) replay(_ *memory, r *reader) { *k = ratio{r.float(), r.float()} }

func (k *ratio) value() float64 {
	if k.link == 0 {
		return 1
	}
	return k.page / k.link
}

// isotonic returns the step function that never falls and is nearest to the pairs in
// squares (pool adjacent violators: M. Ayer et al., Annals of Mathematical
// Statistics 26(4), 1955). Below the first step it is that step.
func isotonic(pairs []foretold) func(link float64) float64 {
	type step struct {
		from, sum, n float64
	}
	// Pairs with one link fall, so they are pooled.
	pairs = slices.SortedFunc(slices.Values(pairs), func(a, b foretold) int {
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
