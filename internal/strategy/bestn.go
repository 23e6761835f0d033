package strategy

// This file implements Best-N-First (Pant, Srinivasan and Menczer, "Exploration versus
// exploitation in topic driven crawlers", 2002; Menczer, Pant and Srinivasan, "Topical web
// crawlers", 2004): best-first search that fetches the N best links as a batch before it reads
// the results. A larger N explores more; N = 256 was the best of the crawlers that do not
// adapt.
//
//	papers      here      meaning
//	N           N         links of a batch
//	MAX_BUFFER  Buffer    capacity of the waitlist; the lowest links are evicted
//	frontier    waitlist  links from which the next batch is chosen
//	            batch     links that are being fetched, best first
//	sim(T, p)   score     value of a link: the score of its best page
//
// A batch larger than a generation is fetched over several generations. The next batch is
// chosen when all links of the last one were fetched or have failed; until then only the
// waitlist grows.
//
// An evicted link returns when another page links to it. The papers' crawls end before their
// frontier is empty. If ours runs out of links, evicted links refill the waitlist (operator
// restart).

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"spoor/internal/graph"
)

type bestN struct {
	pool

	N      int
	Buffer int // MAX_BUFFER

	waitlist list
	batch    list
	given    int  // links of the batch that were proposed
	again    bool // the batch consists of evicted links
}

func newBestN() Strategy {
	s := &bestN{N: 256, Buffer: 256}
	s.parts = []part{&s.waitlist, &s.batch, s}
	return s
}

func (s *bestN) Params() []Param {
	return []Param{
		{Name: "n", Doc: "links that are fetched before the order changes (N)", Value: &s.N, Range: [2]float64{1, 1e9}},
		{Name: "buffer", Doc: "links that may wait; the lowest are evicted (MAX_BUFFER)", Value: &s.Buffer, Range: [2]float64{1, 1e9}},
	}
}

func (s *bestN) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.buffer()
	if s.given == len(s.batch.ids) && len(s.pending.ids) == 0 {
		s.refill()
	}
	operator := opLink
	if s.again {
		operator = opRestart
	}
	for ; quota > 0 && s.given < len(s.batch.ids); s.given++ {
		id := s.batch.ids[s.given]
		if best, ok := s.bestParent(id); ok && s.isFree(id) {
			s.markPending(id)
			next = append(next, s.address(id, best, operator, s.pages[best].score))
			quota--
		}
	}
	s.endGeneration()
	return next
}

// buffer adds the new links to the waitlist. If there are too many, it evicts the links with the
// lowest scores.
func (s *bestN) buffer() {
	s.waitlist.ids = slices.DeleteFunc(s.waitlist.ids, func(id graph.ID) bool { return !s.isFree(id) })
	listed := make([]bool, s.web.Len())
	for _, id := range slices.Concat(s.batch.ids[s.given:], s.waitlist.ids) {
		listed[id] = true
	}
	for _, p := range s.pages[s.firstPage:] {
		for id := range s.web.Children(p.node) {
			if s.isFree(id) && !listed[id] {
				listed[id] = true
				s.waitlist.ids = append(s.waitlist.ids, id)
			}
		}
	}
	if len(s.waitlist.ids) > s.Buffer {
		s.sort(s.waitlist.ids)
		s.waitlist.ids = s.waitlist.ids[:s.Buffer]
	}
}

// refill starts the next batch.
func (s *bestN) refill() {
	s.again = len(s.waitlist.ids) == 0
	if s.again {
		s.waitlist.ids = s.best(s.Buffer, s.linkedScore)
	}
	s.sort(s.waitlist.ids)
	n := min(s.N, len(s.waitlist.ids))
	s.batch.ids, s.given = slices.Clone(s.waitlist.ids[:n]), 0
	s.waitlist.ids = slices.Delete(s.waitlist.ids, 0, n)
}

// sort sorts ids by score, best first. Equal scores are in the order of discovery.
func (s *bestN) sort(ids []graph.ID) {
	slices.SortFunc(ids, func(a, b graph.ID) int {
		return cmp.Or(cmp.Compare(s.linkedScore(b), s.linkedScore(a)), cmp.Compare(a, b))
	})
}

func (s *bestN) code(c *codec) {
	c.index(&s.given, len(s.batch.ids)+1)
	c.bool(&s.again)
}
