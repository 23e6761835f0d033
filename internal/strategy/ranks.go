package strategy

import "spoor/internal/graph"

// A linkRank is a pool whose order is worked out from all links, now and then.
type linkRank struct {
	pool
	Every int // fetches after which it is worked out anew

	at    moment // when it was
	fresh bool   // since the last delta
}

// A moment is how much a crawl knew at a time.
type moment struct {
	web         graph.Mark
	pages, same int
}

// due reports whether so many fetches have passed that ranks are to be worked out
// anew. Then now is the moment of which they are to be: Replay cannot bring ranks back,
// but the web that they were worked out from.
func (s *linkRank) due(fetches int) bool {
	if s.at != (moment{}) && len(s.pages)-s.at.pages < fetches {
		return false
	}
	s.look()
	s.fresh = true
	return true
}

// look makes now the moment.
func (s *linkRank) look() { s.at = moment{s.web.Mark(), len(s.pages), len(s.same)} }

// seen returns the pages that were known then.
func (s *linkRank) seen() []page { return s.pages[:s.at.pages] }

// sources are, by ID, the addresses under which the links of the pages were recorded
// that had been fetched then: what leads to another name of a page leads to the page.
func (s *linkRank) sources() []graph.ID {
	by := make([]graph.ID, s.at.web.Len())
	for id := range by {
		by[id] = graph.ID(id)
	}
	for _, p := range s.seen() {
		by[p.final] = p.node
	}
	for _, t := range s.same[:s.at.same] {
		by[t.node] = s.pages[t.place].node
	}
	return by
}

// relevance is, by ID, the score of the pages that were known then.
func (s *linkRank) relevance() []float64 {
	by := make([]float64, s.at.web.Len())
	for _, p := range s.seen() {
		by[p.node] = p.score
	}
	return by
}

func (s *linkRank) AppendDelta(b []byte) []byte {
	b = s.appendDelta(b)
	if s.fresh {
		s.fresh = false
		return append(b, 1)
	}
	return append(b, 0)
}

func (s *linkRank) Replay(b []byte) error {
	r, err := s.replay(b)
	if err != nil {
		return err
	}
	fresh := r.byte()
	if r.bad || fresh > 1 || len(r.b) > 0 {
		return errCorrupt
	}
	if fresh == 1 {
		s.look()
	}
	return nil
}
