package strategy

// This file implements the PageRank order of
//
//	Cho, Garcia-Molina and Page, "Efficient crawling through URL ordering", Computer
//	Networks and ISDN Systems 30(1–7), 1998, pp. 161–172,
//
// in the form used by topical crawlers for comparison (Menczer, Pant and Srinivasan): the value of a
// link is the rank that its parents pass on to it,
//
//	priority(u) = Σ over fetched pages p → u of PR(p)/out(p)
//
// where PR is the PageRank of all known addresses, fetched or not (internal/graph), and out(p)
// the number of known links of p. With topic=true the surfer teleports to fetched pages only,
// in proportion to their scores (Haveliwala, "Topic-sensitive PageRank", WWW 2002), which
// focuses the order; plain PageRank is not focused.
//
//	papers             here       meaning
//	d                  Damping    probability that the surfer follows a link
//	every 25 pages     Every      fetches between two computations, or 1 % of all fetched
//	                              pages if that is more
//	PR(p)              ranks      ranks at the last computation
//	Σ PR(p)/out(p)     share      value of a link
//	teleport           relevance  uniform, or the scores of the fetched pages (Topic)
//
// Between two computations new links get their share of the old ranks; a page unknown at the
// last computation passes on no rank. Links of equal value are fetched in the order of their
// discovery.

import (
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type pageRank struct {
	linkRank

	Damping float64
	Topic   bool

	ranks []float64 // by ID, at the snapshot; derived
}

const (
	// rankTolerance is the sum of absolute changes at which the iteration ends.
	rankTolerance = 1e-10
	// rankIterations is enough to reach rankTolerance at a damping of 0.9.
	rankIterations = 230
	// The ranks are recomputed when at least 1/rankShare of the fetched pages are new.
	rankShare = 100
)

func newPageRank() Strategy {
	s := &pageRank{linkRank: linkRank{Every: 25}, Damping: 0.85}
	s.parts = []part{&s.linkRank}
	return s
}

func (s *pageRank) Params() []Param {
	return []Param{
		{Name: "damping", Doc: "probability of following a link", Value: &s.Damping, Range: [2]float64{0, 0.999}},
		{Name: "every", Doc: "fetches between two computations of the ranks, or 1 % of all if that is more", Value: &s.Every, Range: [2]float64{1, 1e9}},
		{Name: "topic", Doc: "teleport to fetched pages in proportion to their scores (topic-sensitive)", Value: &s.Topic},
	}
}

// Breed proposes the links with the highest share of rank.
func (s *pageRank) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	if s.due(max(s.Every, len(s.pages)/rankShare)) || s.ranks == nil {
		s.rank()
	}
	for _, id := range s.best(quota, s.share) {
		next = append(next, s.propose(id,
			wire.Scored{Name: "indegree", Value: float64(s.web.InDegree(id))},
			wire.Scored{Name: "rank", Value: s.share(id)}))
	}
	s.endGeneration()
	return next
}

func (s *pageRank) rank() {
	o := graph.PageRank{
		Damping: s.Damping, Same: s.sources(), Tolerance: rankTolerance, Iterations: rankIterations,
	}
	if s.Topic {
		o.Teleport = s.relevance()
	}
	s.ranks, _ = o.Ranks(&s.web, s.at.web)
}

// share returns the rank that the pages with a link to id pass on to it.
func (s *pageRank) share(id graph.ID) (sum float64) {
	for p := range s.web.Parents(id) {
		if int(p) < len(s.ranks) {
			sum += s.ranks[p] / float64(s.web.OutDegree(p))
		}
	}
	return sum
}
