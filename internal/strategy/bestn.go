package strategy

// This file implements Best-N-First (Pant, Srinivasan and Menczer, "Exploration
// versus exploitation in topic driven crawlers", 2002; Menczer, Pant and
// Srinivasan, "Topical web crawlers", 2004): best-first search that fetches the N
// best links as a batch before it looks at what they brought. A larger N explores
// more; N = 256 was the best of those crawlers that do not adapt.
//
//	papers      here      meaning
//	N           N         links of a batch
//	MAX_BUFFER  Buffer    links that wait, at most; the lowest are evicted
//	frontier    waitlist  the links that wait
//	            batch     the links that are fetched now, best first
//	sim(T, p)   score     a link is worth what its best page is worth
//
// A batch that is larger than a generation of the pipeline is handed out over
// several: the next one is made when everything of the last was answered, and
// until then only the buffer learns what comes in.
//
// What is evicted comes back when another page links to it. The papers' crawls end
// before their frontier does; where ours would, the links that were evicted fill
// the buffer again (operator restart).

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type bestN struct {
	pool

	N      int
	Buffer int // MAX_BUFFER

	waitlist list
	batch    list
	given    int  // how many of the batch were asked for
	again    bool // the batch is of links that were evicted
}

func newBestN() Strategy {
	s := &bestN{N: 256, Buffer: 256}
	s.parts = []part{&s.waitlist, &s.batch, (*counter)(&s.given), (*flag)(&s.again)}
	return s
}

func (s *bestN) Params() []Param {
	return []Param{
		{Name: "n", Doc: "links that are fetched before anything is ordered anew (N)", Value: &s.N, Range: [2]float64{1, 1e9}},
		{Name: "buffer", Doc: "links that may wait; the lowest are evicted (MAX_BUFFER)", Value: &s.Buffer, Range: [2]float64{1, 1e9}},
	}
}

func (s *bestN) Visit(rec *wire.Record) { s.visit(rec) }

func (s *bestN) Breed(n int, _ *rand.Rand) (next []Address) {
	room := s.settle(n)
	s.buffer()
	if s.given == len(s.batch.ids) && len(s.asked.ids) == 0 {
		s.refill()
	}
	operator := opLink
	if s.again {
		operator = opRestart
	}
	for ; room > 0 && s.given < len(s.batch.ids); s.given++ {
		id := s.batch.ids[s.given]
		if best, ok := s.bestParent(id); ok && s.free(id) {
			s.ask(id)
			next = append(next, s.address(id, best, operator, s.pages[best].score))
			room--
		}
	}
	s.endGeneration()
	return next
}

// buffer takes the new links in, and evicts the lowest if there are too many.
func (s *bestN) buffer() {
	s.waitlist.ids = slices.DeleteFunc(s.waitlist.ids, func(id graph.ID) bool { return !s.free(id) })
	listed := make([]bool, s.web.Len())
	for _, id := range slices.Concat(s.batch.ids[s.given:], s.waitlist.ids) {
		listed[id] = true
	}
	for _, p := range s.pages[s.fetched:] {
		for id := range s.web.Children(p.node) {
			if s.free(id) && !listed[id] {
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

// refill makes the next batch.
func (s *bestN) refill() {
	s.again = len(s.waitlist.ids) == 0
	if s.again {
		s.waitlist.ids = s.best(min(s.Buffer, s.web.Len()), s.score)
	}
	s.sort(s.waitlist.ids)
	n := min(s.N, len(s.waitlist.ids))
	s.batch.ids, s.given = slices.Clone(s.waitlist.ids[:n]), 0
	s.waitlist.ids = slices.Delete(s.waitlist.ids, 0, n)
}

// score returns what id is worth: what the best page is that links to it.
func (s *bestN) score(id graph.ID) float64 {
	if best, ok := s.bestParent(id); ok {
		return s.pages[best].score
	}
	return math.Inf(-1)
}

// sort sorts ids, the best first, and of equals the one that was discovered first.
func (s *bestN) sort(ids []graph.ID) {
	scores := make(map[graph.ID]float64, len(ids))
	for _, id := range ids {
		scores[id] = s.score(id)
	}
	slices.SortFunc(ids, func(a, b graph.ID) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
}

func (s *bestN) Replay(b []byte) error {
	if err := s.pool.Replay(b); err != nil {
		return err
	}
	if s.given < 0 || s.given > len(s.batch.ids) {
		return errCorrupt
	}
	return nil
}
