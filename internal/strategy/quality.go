package strategy

// This file implements neural prioritisation:
//
//	F. Pezzuti, S. MacAvaney and N. Tonellotto, "Neural Prioritisation for Web Crawling",
//	ICTIR 2025 (arXiv 2506.16146); the program is fpezzuti/neural_crawling.
//
// Pages of high quality link to pages of high quality, so the quality of a page is the priority of
// its links. The authors estimate it with a neural model. Here it is the score of the page, which
// any score stage can compute.
//
//	paper, program  here           priority of a link
//	qscore          page.score     quality of a page
//	QFirst          policy=first   quality of the first fetched page with the link
//	QMin            policy=min     lowest quality of the fetched pages with the link
//	QOracle         policy=target  quality of its target, if a stage sets the link's score to it
//
// bestfirst takes the highest quality of the pages with the link. With QMin the priority of a waiting
// link may fall, so the strategy is a pool. The comments name the rows of the table in
// doc/design/papers.md.

import (
	"math/rand/v2"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type quality struct {
	pool

	Policy string

	parent []int32 // by graph.ID: place of the page that gives the priority, plus one; derived
	read   int     // pages included in parent
	own    column  // with policy=target: the highest score of a link to the address
}

// Policies: which page's quality is the priority of a link.
const (
	ofFirst  = "first"
	ofMin    = "min"
	ofTarget = "target"
)

func newQuality() Strategy {
	s := &quality{Policy: ofFirst}
	s.parts = []part{&s.own}
	return s
}

func (s *quality) Params() []Param {
	return []Param{
		{Name: "policy", Doc: "priority of a link: quality of the first page with the link, the lowest quality of its pages, or the link's own score", Value: &s.Policy,
			Words: []string{ofFirst, ofMin, ofTarget}},
	}
}

func (s *quality) Visit(rec *wire.Record) {
	place, ok := s.visit(rec)
	if !ok || s.Policy != ofTarget {
		return
	}
	for id, link := range s.unfetchedLinks(rec, place) {
		s.own.raise(id, bounded(link.Score.Or(0)))
	}
}

// Breed proposes the links with the highest priorities, of equal ones the oldest (row b).
func (s *quality) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.readPages()
	for _, id := range s.eligible(quota, s.priority) {
		via := &s.pages[s.parent[id]-1]
		a := s.propose(id, wire.Scored{Name: "quality", Value: s.priority(id)})
		a.Via, a.Depth = s.web.URL(via.node), via.depth+1
		next = append(next, a)
	}
	s.endGeneration()
	return next
}

// readPages updates parent with the new pages, in fetch order.
func (s *quality) readPages() {
	s.parent = grown(s.parent, s.web.Len())
	for ; s.read < len(s.pages); s.read++ {
		p := &s.pages[s.read] // without a score it has 0 (row a)
		if p.failed {
			continue // it may have been fetched later
		}
		for id := range s.web.Children(p.node) {
			if at := s.parent[id]; at == 0 || s.Policy == ofMin && p.score < s.pages[at-1].score {
				s.parent[id] = int32(s.read) + 1
			}
		}
	}
}

// priority returns the priority of a link, or notEligible if no page links to id.
func (s *quality) priority(id graph.ID) float64 {
	switch {
	case s.parent[id] == 0:
		return notEligible
	case s.Policy == ofTarget:
		return s.own.at(id)
	}
	return s.pages[s.parent[id]-1].score
}
