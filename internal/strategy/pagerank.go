package strategy

// This file implements the PageRank order of
//
//	Cho, Garcia-Molina and Page, "Efficient crawling through URL ordering", Computer
//	Networks and ISDN Systems 30(1–7), 1998, pp. 161–172,
//
// as the topical crawlers' papers compare with it (Menczer, Pant and Srinivasan): a link
// is worth what the pages that it stands on pass on to it,
//
//	priority(u) = Σ over fetched pages p → u of PR(p)/out(p)
//
// where PR is the PageRank of all that is known, fetched or not (internal/graph), and
// out(p) the links of p that are known. With topic=true the surfer teleports to the
// fetched pages only, each as likely as its score is high (Haveliwala, "Topic-sensitive
// PageRank", WWW 2002): the order is focused then, and plain PageRank is not.
//
//	papers             here       meaning
//	d                  Damping    probability that the surfer follows a link
//	every 25 pages     Every      when ranks are worked out anew, or after 1 % of the
//	                              fetched pages, if that is more
//	PR(p)              ranks      of the web when they were worked out
//	Σ PR(p)/out(p)     share      what a link is worth; out(p): links that are known
//	teleport           relevance  uniform, or the scores of the fetched pages (Topic)
//
// In between, new links get their share of the old ranks; a page that was not known
// when these were worked out passes nothing on yet. Links of equal worth go in the order
// of their discovery.

import (
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type pageRank struct {
	linkRank

	Damping float64
	Topic   bool

	ranks []float64 // by ID, of s.at; derived
}

const (
	// rankTolerance is the sum of what the last iteration changed: so small that two
	// links which differ in it are equal for all that is known.
	rankTolerance = 1e-10
	// rankIterations are enough for that at a damping of 0.9.
	rankIterations = 230
	// rankShare is the part of the fetched pages that must be new: a hundredth.
	rankShare = 100
)

func newPageRank() Strategy { return &pageRank{linkRank: linkRank{Every: 25}, Damping: 0.85} }

func (s *pageRank) Params() []Param {
	return []Param{
		{Name: "damping", Doc: "probability of following a link", Value: &s.Damping, Range: [2]float64{0, 0.999}},
		{Name: "every", Doc: "fetches after which ranks are worked out anew, or 1 % of all if that is more", Value: &s.Every, Range: [2]float64{1, 1e9}},
		{Name: "topic", Doc: "teleport to fetched pages in proportion to their scores (topic-sensitive)", Value: &s.Topic},
	}
}

func (s *pageRank) Visit(rec *wire.Record) { s.visit(rec) }

// Breed proposes the links that get most rank passed on.
func (s *pageRank) Breed(n int, _ *rand.Rand) (next []Address) {
	room := s.settle(n)
	if s.due(max(s.Every, len(s.pages)/rankShare)) || s.ranks == nil {
		s.rank()
	}
	for _, id := range s.best(room, s.share) {
		next = append(next, s.choose(id,
			wire.Scored{Name: "indegree", Value: float64(s.web.InDegree(id))},
			wire.Scored{Name: "rank", Value: s.share(id)}))
	}
	s.endGeneration()
	return next
}

// rank works the ranks out.
func (s *pageRank) rank() {
	o := graph.PageRank{
		Damping: s.Damping, Same: s.sources(), Tolerance: rankTolerance, Iterations: rankIterations,
	}
	if s.Topic {
		o.Teleport = s.relevance()
	}
	s.ranks, _ = o.Ranks(&s.web, s.at.web)
}

// share returns what the pages with a link to id pass on to it.
func (s *pageRank) share(id graph.ID) (sum float64) {
	for p := range s.web.Parents(id) {
		if int(p) < len(s.ranks) {
			sum += s.ranks[p] / float64(s.web.OutDegree(p))
		}
	}
	return sum
}

func (s *pageRank) Replay(b []byte) error {
	s.ranks = nil
	return s.linkRank.Replay(b)
}
