package strategy

import "spoor/internal/graph"

// A linkRank is a pool ordered by a rank that is computed from all links at intervals.
type linkRank struct {
	pool
	Every int // fetches between two computations

	at       snapshot // snapshot of the last computation
	computed bool     // whether ranks were computed since the last delta
}

// A snapshot is the extent of the crawl at some time.
type snapshot struct {
	web            graph.Mark
	pages, aliases int
}

// due reports whether the ranks must be recomputed, because this number of pages was fetched since
// the last computation; if so, it takes the snapshot for the computation. Only the snapshot is saved:
// after a restoration, the ranks are computed again.
func (s *linkRank) due(fetches int) bool {
	if s.at != (snapshot{}) && len(s.pages)-s.at.pages < fetches {
		return false
	}
	s.takeSnapshot()
	s.computed = true
	return true
}

func (s *linkRank) takeSnapshot() { s.at = snapshot{s.web.Mark(), len(s.pages), len(s.aliases)} }

func (s *linkRank) snapshotPages() []page { return s.pages[:s.at.pages] }

// sources maps every address, by ID, to the address under which the links of its page were
// recorded, at the snapshot. Links to an alias of a page count as links to the page.
func (s *linkRank) sources() []graph.ID {
	by := make([]graph.ID, s.at.web.Len())
	for id := range by {
		by[id] = graph.ID(id)
	}
	for _, p := range s.snapshotPages() {
		by[p.final] = p.node
	}
	for _, t := range s.aliases[:s.at.aliases] {
		by[t.node] = s.pages[t.place].node
	}
	return by
}

// relevance returns the scores of the pages known at the snapshot, by ID.
func (s *linkRank) relevance() []float64 {
	by := make([]float64, s.at.web.Len())
	for _, p := range s.snapshotPages() {
		by[p.node] = p.score
	}
	return by
}

func (s *linkRank) code(c *codec) {
	if c.bool(&s.computed); s.computed && c.reading {
		s.takeSnapshot()
	}
	s.computed = false
}
