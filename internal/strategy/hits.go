package strategy

// This file implements a crawler that goes by hubs and authorities, of
//
//	Kleinberg, "Authoritative sources in a hyperlinked environment", Journal of the
//	ACM 46(5), 1999, pp. 604–632,
//
// over all that a crawl knows: the base set are the fetched pages and the frontier. A
// link is worth what the pages that it stands on are worth as hubs,
//
//	priority(u) = authority(u) = Σ over fetched pages p → u of w(p,u)·hub(p)
//
// Plain HITS drifts to whatever part of a web is linked most densely. guard=true, the
// default, guards against it as
//
//	Bharat and Henzinger, "Improved algorithms for topic distillation in a
//	hyperlinked environment", SIGIR 1998, pp. 104–111, and
//	Chakrabarti, van den Berg and Dom, "Focused crawling: a new approach to
//	topic-specific Web resource discovery", Computer Networks 31, 1999
//
// do: links count as much as the page that they stand on is relevant, and links within
// a host do not count at all (a site's links to itself recommend nothing). With
// guard=false every w is 1.
//
//	papers     here         meaning
//	k          Iterations   how often both are worked out from one another
//	           Every        fetches after which they are worked out anew
//	h(p)       hubs         of the web when they were worked out
//	w(p,u)     weight       the score of p, 0 within a host
//
// Where no link between hosts counts, those within hosts do: in a web of one host the
// rule would leave nothing. Pages that were fetched since hubs were worked out have none
// yet. Links of equal worth, such as 0, go in the order of their discovery.

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

	hubs   []float64                       // by ID, of s.at; derived
	weight func(from, to graph.ID) float64 // as they were worked out with; nil: 1
	hosts  hosts                           // derived
}

func newHITS() Strategy {
	return &hits{linkRank: linkRank{Every: 25}, Iterations: 30, Guard: true}
}

func (s *hits) Params() []Param {
	return []Param{
		{Name: "every", Doc: "fetches after which hubs are worked out anew", Value: &s.Every, Range: [2]float64{1, 1e9}},
		{Name: "iterations", Doc: "how often hubs and authorities are worked out from one another", Value: &s.Iterations, Range: [2]float64{1, 1000}},
		{Name: "guard", Doc: "links count as much as their page is relevant, and not within a host", Value: &s.Guard},
	}
}

func (s *hits) Visit(rec *wire.Record) { s.visit(rec) }

// Breed proposes the links with the highest authority.
func (s *hits) Breed(n int, _ *rand.Rand) (next []Address) {
	room := s.settle(n)
	s.hosts.fit(&s.web)
	if s.due(s.Every) || s.hubs == nil {
		s.distil()
	}
	for _, id := range s.best(room, s.authority) {
		next = append(next, s.choose(id,
			wire.Scored{Name: "authority", Value: s.authority(id)},
			wire.Scored{Name: "indegree", Value: float64(s.web.InDegree(id))}))
	}
	s.endGeneration()
	return next
}

// distil works the hubs out.
func (s *hits) distil() {
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
	home := slices.Clone(s.hosts.of) // where redirects from an address end
	for _, p := range s.seen() {
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

// authority returns what the pages with a link to id, as hubs, say for it.
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

func (s *hits) Replay(b []byte) error {
	s.hubs = nil
	return s.linkRank.Replay(b)
}
