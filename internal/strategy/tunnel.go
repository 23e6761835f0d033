package strategy

// This file implements the crawler of
//
//	A. Pal, D. S. Tomar and S. C. Shrivastava, "Effective Focused Crawling Based
//	on Content and Link Structure Analysis", International Journal of Computer
//	Science and Information Security 2 (1), 2009 (tunnel in doc/design/papers.md).
//
// Links of relevant pages are in a priority queue. Links of irrelevant pages are in the
// irrelevant table, each with a level: relevant pages are often found behind irrelevant pages,
// and the table tunnels through the irrelevant pages, a few levels deep.
//
//	LinkScore(j) = URLScore(j) + AnchorScore(j) + LinksFromRelevantPageDB(j)
//	               + Σ Relevance(parent_i)                                 (eq. 4)
//
//	paper                       here          meaning
//	Relevance(t, p)             page.score    score -fitness weighttable-tf (eq. 1–3)
//	relevancy limit             limit         a page with a greater relevance is relevant
//	URLScore(j)                 url           eq. 3 for the words of the address
//	AnchorScore(j)              anchor        eq. 3 for the words of the link, the best of several
//	LinksFromRelevantPageDB(j)  parentSums    number of relevant pages that link to j
//	Σ Relevance(parent_i)       parentSums    over all crawled pages that link to j
//	priority queue              queued        links of relevant pages
//	irrelevant table            level         links of irrelevant pages: their level, plus one
//	maxLevel                    MaxLevel      links of a higher level are not followed
//
// As printed, the table does not tunnel: the links of an irrelevant page inside the table are never
// used, the level is the same for all entries, and entries above maxLevel stay, so that the
// loop does not end. We do the following instead (letters are rows of the table in doc/design/papers.md). An
// entry leaves the table when it is fetched (b). If the page is relevant, its links go to the
// queue (d). If not, its links enter the table one level below the entry (a, c). The entry has siblings, the
// other links of the page that added it: those on its level whose score is not higher sink by one level.
// Entries compete with the queue, but each level halves their priority (e):
//
//	priority(entry) = LinkScore · 0.5^(level + 1)
//
// Compat is Table II of the paper, which differs from its code: entries stay when they are
// fetched; the whole table is emptied before the queue; links of relevant pages inside the table
// stay in the table, one level below; an irrelevant page adds no entries; instead all entries on its level
// whose score is not higher sink.
//
// When only links that sank too deep are left, the paper's crawl ends. Ours takes the best of these
// links (operator restart); with Compat it ends.

import (
	"math"
	"math/rand/v2"

	"spoor/internal/fitness"
	"spoor/internal/graph"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

type tunnel struct {
	pool

	Limit    float64 // relevancy limit; 0: derived from the seeds
	MaxLevel int     // maxLevel
	Count    string  // how the number of relevant parents is added (row f)
	Parents  string  // how the relevance of the parents is added
	Compat   bool    // Table II (rows b, c, d, e, g)

	limit  float64 // the relevancy limit: Limit or, if that is 0, derived from the seeds fetched so far
	seeded int     // number of seeds fetched so far
	sum    float64 // the limit is half of sum / seeded
	url    column  // URLScore
	anchor column  // AnchorScore
	queued column  // 1: is or was in the queue
	level  column  // level in the table, plus one
	parent column  // the page that added the entry, plus one

	topic *topic.Topic
	seeds []int        // places of this generation's seeds
	sums  []parentSums // by graph.ID, derived from the pages
}

// opTunnel is the operator of entries of the irrelevant table.
const opTunnel = "tunnel"

const (
	inNumber = "count"
	inLog1p  = "log1p"
	asSum    = "sum"
	asMean   = "mean"

	// The relevancy limit is limitShare of the seeds' mean relevance, within bounds
	// (row g).
	limitShare = 0.5
	limitLow   = 0.1
	limitHigh  = 0.6
)

func newTunnel() Strategy {
	s := &tunnel{MaxLevel: 2, Count: inNumber, Parents: asSum}
	s.parts = []part{&s.url, &s.anchor, &s.queued, &s.level, &s.parent, s}
	return s
}

func (s *tunnel) Params() []Param {
	return []Param{
		{Name: "limit", Doc: "a page is relevant when its relevance is greater; 0: half the mean of the seeds, from 0.1 to 0.6", Value: &s.Limit, Range: unit},
		{Name: "max-level", Doc: "links in the irrelevant table are followed to this level (maxLevel)", Value: &s.MaxLevel, Range: [2]float64{0, 64}},
		{Name: "count", Doc: "how the number of relevant pages that link to it is added to the score of a link", Value: &s.Count, Words: []string{inNumber, inLog1p}},
		{Name: "parents", Doc: "how the relevance of all pages that link to it is added", Value: &s.Parents, Words: []string{asSum, asMean}},
		{Name: "compat", Doc: "the paper's Table II and its relevancy limit: half the mean score of the seeds' addresses", Value: &s.Compat},
	}
}

// aim sets the topic. With Compat it is used to score the addresses of seeds.
func (s *tunnel) aim(t *topic.Topic) error {
	s.topic = t
	return nil
}

func (s *tunnel) Visit(rec *wire.Record) {
	before := len(s.pages)
	place, ok := s.visit(rec)
	if !ok || s.pages[place].failed {
		return
	}
	if place >= before && rec.Operator == "seed" {
		s.seeds = append(s.seeds, place)
	}
	for id, link := range s.knownLinks(rec) {
		s.url.set(id, scoreOf(link.Scores, "url")) // the topic's table may have grown
		s.anchor.raise(id, scoreOf(link.Scores, "anchor"))
	}
}

func (s *tunnel) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.setLimit()
	s.sums = make([]parentSums, s.web.Len())
	s.addPages(0, s.firstPage)
	for place := s.firstPage; place < len(s.pages); place++ {
		s.place(place)
	}
	s.addPages(s.firstPage, len(s.pages))
	for _, id := range s.choose(quota) {
		s.markPending(id)
		next = append(next, s.proposal(id))
	}
	if len(next) == 0 && len(s.pending.ids) == 0 && !s.Compat {
		for _, id := range s.eligible(quota, s.linkScore) {
			s.level.set(id, 0)
			s.markPending(id)
			next = append(next, s.proposal(id))
		}
	}
	s.seeds = nil
	s.endGeneration()
	return next
}

// setLimit updates the relevancy limit from the seeds, or from the first pages if no page is
// marked as a seed. If generations are smaller than the set of seeds, several generations update the
// limit, until all seeds are included (row g).
func (s *tunnel) setLimit() {
	if s.Limit > 0 {
		s.limit = s.Limit
		return
	}
	if len(s.seeds) == 0 && s.seeded == 0 {
		for place := s.firstPage; place < len(s.pages); place++ {
			if !s.pages[place].failed {
				s.seeds = append(s.seeds, place)
			}
		}
	}
	value := func(place int) float64 { return s.pages[place].score }
	if s.Compat && len(s.seeds) > 0 {
		value = s.addressScore()
	}
	for _, place := range s.seeds {
		s.sum += value(place)
		s.seeded++
	}
	s.limit = limitShare * s.sum / float64(max(1, s.seeded))
	if !s.Compat {
		s.limit = min(max(s.limit, limitLow), limitHigh)
	}
}

// addressScore returns the LinkScore of seeds, which have neither anchors nor parents: eq. 3
// for the words of their address (row g). It is 0 without a weight table.
func (s *tunnel) addressScore() func(place int) float64 {
	none := func(int) float64 { return 0 }
	a, err := s.topic.Analyzer()
	if err != nil {
		return none
	}
	var keywords []fitness.Keyword
	for _, k := range s.topic.Keywords {
		keywords = append(keywords, fitness.Keyword{Text: k.Text, Weight: k.Weight})
	}
	target, err := fitness.NewTarget(a, keywords)
	if err != nil {
		return none
	}
	measure, err := fitness.NewTunnelTable(target, tableOf(s.topic))
	if err != nil {
		return none
	}
	measure.Literal = true
	return func(place int) float64 {
		return measure.Link(target.ReadLink(&fitness.Link{URL: s.web.URL(s.pages[place].node)})).URL
	}
}

// relevant reports whether the relevance of a page is above the limit.
func (s *tunnel) relevant(place int) bool {
	p := &s.pages[place]
	return !p.failed && p.score > s.limit
}

// place puts the links of a fetched page into the queue or the table.
func (s *tunnel) place(place int) {
	p := &s.pages[place]
	if p.failed {
		return
	}
	level, inside := s.entry(p.node)
	switch relevant := s.relevant(place); {
	case relevant && inside && s.Compat:
		s.push(p.node, level+1) // rows a, d
	case relevant:
		for id := range s.web.Children(p.node) {
			s.queued.set(id, 1)
		}
	case inside:
		s.sink(p.node, level)
		if !s.Compat && level < s.MaxLevel {
			s.push(p.node, level+1) // row c
		}
	default:
		s.push(p.node, 0)
	}
	if !s.Compat {
		s.level.set(p.node, 0) // row b
	}
}

// entry returns the level of id in the table. inside is false if the level is too deep or, without
// Compat, if id is in the queue.
func (s *tunnel) entry(id graph.ID) (level int, inside bool) {
	level = int(s.level.at(id)) - 1
	inside = level >= 0 && level <= s.MaxLevel
	if s.Compat {
		return level, inside
	}
	return level, inside && s.queued.at(id) == 0
}

// push adds the links of a page to the table. Entries stay with the page that added them,
// unless they get a lower level.
func (s *tunnel) push(page graph.ID, level int) {
	for id := range s.web.Children(page) {
		if !s.isFree(id) || s.queued.at(id) == 1 && !s.Compat {
			continue
		}
		if had := s.level.at(id); had == 0 || float64(level+1) < had {
			s.level.set(id, float64(level+1))
			s.parent.set(id, float64(page)+1)
		}
	}
}

// addedBy returns the place of the page that added an entry.
func (s *tunnel) addedBy(id graph.ID) (place int, ok bool) {
	if v := s.parent.at(id); v >= 1 && v <= float64(s.web.Len()) {
		return s.page(graph.ID(v - 1))
	}
	return 0, false
}

// sink moves entries down by one level after id, an entry of the given level, turned out to be
// irrelevant. It moves the entries of this level with no higher score that the same page added or,
// with Compat, those in the whole table including id. Its scores are the old ones, by which id was chosen:
// the pages of this generation are added later.
func (s *tunnel) sink(id graph.ID, level int) {
	score := s.linkScore(id)
	lower := func(other graph.ID) {
		if s.level.at(other) != float64(level+1) {
			return
		}
		if own := s.linkScore(other); own <= score && own != notEligible {
			s.level.set(other, float64(level+2))
		}
	}
	if s.Compat {
		for other := range graph.ID(s.web.Len()) {
			lower(other)
		}
		return
	}
	place, ok := s.addedBy(id)
	if !ok {
		return
	}
	for other := range s.web.Children(s.pages[place].node) {
		if s.parent.at(other) == s.parent.at(id) && s.isFree(other) {
			lower(other)
		}
	}
}

// parentSums holds the parts of eq. 4 that depend on the crawled pages.
type parentSums struct {
	relevant int     // relevant pages that link to the address
	parents  int     // all pages that link to the address
	sum      float64 // relevance of all of them
}

// addPages adds the pages from place from to end to the sums of their links. One pass over all
// links is faster than looking up the parents of each. A page that links twice counts once,
// because the graph stores a link once (row j).
func (s *tunnel) addPages(from, end int) {
	for place := from; place < end; place++ {
		p := &s.pages[place]
		if now, _ := s.page(p.node); now != place {
			continue // it was fetched again later
		}
		relevant := s.relevant(place)
		for id := range s.web.Children(p.node) {
			to := &s.sums[id]
			to.parents++
			to.sum += p.score
			if relevant {
				to.relevant++
			}
		}
	}
}

// add returns the two summands of eq. 4 that depend on the crawled pages (row f).
func (s *tunnel) add(p parentSums) (count, parents float64) {
	count, parents = float64(p.relevant), p.sum
	if s.Count == inLog1p {
		count = rounded(math.Log1p(count))
	}
	if s.Parents == asMean {
		parents /= float64(max(1, p.parents))
	}
	return count, parents
}

// linkScore returns eq. 4 for the pages added so far, or notEligible if none of them links to
// id.
func (s *tunnel) linkScore(id graph.ID) float64 {
	if s.sums[id].parents == 0 {
		return notEligible
	}
	count, parents := s.add(s.sums[id])
	return s.url.at(id) + s.anchor.at(id) + count + parents
}

// choose returns n addresses to fetch, best first. With Compat the queue is used only when the
// table is empty.
func (s *tunnel) choose(n int) []graph.ID {
	if !s.Compat {
		return s.eligible(n, s.priority)
	}
	chosen := s.eligible(n, func(id graph.ID) float64 {
		if _, inside := s.entry(id); inside {
			return s.linkScore(id)
		}
		return notEligible
	})
	if len(chosen) > 0 {
		return chosen
	}
	return s.eligible(n, s.priority)
}

// priority returns the score of a link in the queue, halved by every level in the table (row
// e).
func (s *tunnel) priority(id graph.ID) float64 {
	level, inside := s.entry(id)
	score := s.linkScore(id)
	switch {
	case inside && !s.Compat && score != notEligible:
		return math.Ldexp(score, -level-1)
	case s.queued.at(id) == 1:
		return score
	}
	return notEligible
}

// proposal returns a proposal to fetch id with its reasons.
func (s *tunnel) proposal(id graph.ID) Address {
	count, parents := s.add(s.sums[id])
	level, inside := s.entry(id)
	reasons := []wire.Scored{{Name: "anchor", Value: s.anchor.at(id)}}
	operator, priority := opRestart, s.linkScore(id)
	switch {
	case inside:
		operator = opTunnel
		reasons = append(reasons, wire.Scored{Name: "level", Value: float64(level)})
		if !s.Compat {
			priority = s.priority(id)
		}
	case s.queued.at(id) == 1:
		operator = opLink
	}
	reasons = append(reasons, wire.Scored{Name: "parents", Value: parents},
		wire.Scored{Name: "relevant", Value: count}, wire.Scored{Name: "url", Value: s.url.at(id)})
	via, _ := s.bestParent(id)
	if place, ok := s.addedBy(id); ok && inside {
		via = place
	}
	return s.address(id, via, operator, priority, reasons...)
}

func (s *tunnel) code(c *codec) {
	integer(c, &s.seeded)
	c.float(&s.sum)
}
