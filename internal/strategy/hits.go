package strategy

// This file implements a crawler that uses hubs and authorities, of
//
//	Kleinberg, "Authoritative sources in a hyperlinked environment", Journal of the
//	ACM 46(5), 1999, pp. 604–632,
//
// over the whole crawl: the base set is the fetched pages and the frontier. The value of a link is
// the sum of the hub scores of its parents,
//
//	priority(u) = authority(u) = Σ over fetched pages p → u of w(p,u)·hub(p)
//
// Plain HITS drifts to the most densely linked part of the web. guard=true, the default,
// counters topic drift as in
//
//	Bharat and Henzinger, "Improved algorithms for topic distillation in a
//	hyperlinked environment", SIGIR 1998, pp. 104–111, and
//	Chakrabarti, van den Berg and Dom, "Focused crawling: a new approach to
//	topic-specific Web resource discovery", Computer Networks 31, 1999:
//
// links are weighted by the relevance of their page, and links within a host have the weight 0.
// With guard=false every w is 1.
//
//	papers     here         meaning
//	k          Iterations   number of iterations
//	           Every        fetches between two computations
//	h(p)       hubs         hub scores at the last computation
//	w(p,u)     weight       the score of p; 0 within a host
//
// If no link between hosts has a positive weight, links within hosts are used: otherwise a web of one
// host would have no order. Pages fetched since the last computation have no hub score yet. Links of
// equal value are fetched in the order of their discovery.

import (
	"math/rand/v2"
	"slices"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type hits struct {
	linkRank

	Iterations int
	Guard      bool

	hubs   []float64                       // by ID, at the snapshot; derived
	weight func(from, to graph.ID) float64 // used to compute hubs; nil: 1
	hosts  hosts                           // derived
}

func newHITS() Strategy {
	s := &hits{linkRank: linkRank{Every: 25}, Iterations: 30, Guard: true}
	s.parts = []part{&s.linkRank}
	return s
}

func (s *hits) Params() []Param {
	return []Param{
		{Name: "every", Doc: "fetches between two computations of the hubs", Value: &s.Every, Range: [2]float64{1, 1e9}},
		{Name: "iterations", Doc: "iterations of hubs and authorities", Value: &s.Iterations, Range: [2]float64{1, 1000}},
		{Name: "guard", Doc: "weight links by the relevance of their page, and ignore those within a host", Value: &s.Guard},
	}
}

// Breed proposes the links with the highest authority.
func (s *hits) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.hosts.fit(&s.web)
	if s.due(s.Every) || s.hubs == nil {
		s.computeHubs()
	}
	for _, id := range s.best(quota, s.authority) {
		next = append(next, s.propose(id,
			wire.Scored{Name: "authority", Value: s.authority(id)},
			wire.Scored{Name: "indegree", Value: float64(s.web.InDegree(id))}))
	}
	s.endGeneration()
	return next
}

func (s *hits) computeHubs() {
	sources := s.sources()
	run := func(weight func(from, to graph.ID) float64) bool {
		s.weight = weight
		_, s.hubs = graph.HITS{Iterations: s.Iterations, Weight: weight, Same: sources}.Scores(&s.web, s.at.web)
		return slices.ContainsFunc(s.hubs, func(h float64) bool { return h > 0 })
	}
	if !s.Guard {
		run(nil)
		return
	}
	relevance := s.relevance()
	byPage := func(from, _ graph.ID) float64 { return relevance[from] }
	home := slices.Clone(s.hosts.of) // host of the final address
	for _, p := range s.snapshotPages() {
		home[p.node] = s.hosts.of[p.final]
	}
	between := func(from, to graph.ID) float64 {
		if to := s.hosts.of[to]; to == s.hosts.of[from] || to == home[from] {
			return 0
		}
		return byPage(from, to)
	}
	if !run(between) {
		run(byPage)
	}
}

// authority returns the weighted sum of the hub scores of the pages that link to id.
func (s *hits) authority(id graph.ID) (sum float64) {
	for p := range s.web.Parents(id) {
		switch {
		case int(p) >= len(s.hubs) || s.hubs[p] == 0:
		case s.weight == nil:
			sum += s.hubs[p]
		default:
			sum += float64(s.weight(p, id) * s.hubs[p])
		}
	}
	return sum
}
