package strategy

// This file implements the focused crawler of
//
//	S. Chakrabarti, M. van den Berg and B. Dom, "Focused crawling: a new approach to
//	topic-specific Web resource discovery", Computer Networks 31, 1999, pp. 1623–1640.
//
// A classifier decides how relevant a page is, and which links are followed:
//
//	R(d) = Σ over good topics c of Pr(c | d)
//
//	soft focus   every link is followed; an unvisited link has the relevance of its page
//	hard focus   the links of a page are followed only if its best class, or an ancestor of that
//	             class, is good
//
// The next page is the first of the unvisited ones in the order
//
//	(numtries ascending, relevance descending, serverload ascending)
//
// A distiller computes hubs at intervals. Its edges are weighted by the relevance of their ends, and
// those within a server are omitted (row g):
//
//	a(v) = Σ over u → v of R(v)·h(u), if R(v) > ρ      h(u) = Σ over u → v of R(u)·a(v)
//
// Unvisited links of the best hubs are visited soon, whatever R(u) is.
//
//	paper            here           meaning
//	R(d)             page.score     the score of the stage, of whichever measure (row a)
//	best class good  page.relevant  the decision of the same measure (row b)
//	soft, hard       Rule
//	numtries                        left to fetch and the frontier (row c)
//	serverload       loads          pages requested from the server of the link
//	a, h             hubs           graph.HITS with √(R(u)·R(v)) as weight
//	ρ                page.relevant  only relevant pages are authorities (row e)
//	best hubs        bestHubs       the 10 % of the hubs with the highest h (row f)
//
// graph.HITS has one weight for both directions. With w = √(R(u)·R(v)), its authorities and hubs are
// those above, divided by √R: let D be the diagonal matrix of R, A the matrix of links, and
// W = D^½·A·D^½. For a′ = D^(−½)·a and h′ = D^(−½)·h, a = D·Aᵀ·h and h = D·A·a become a′ = Wᵀ·h′ and
// h′ = W·a′.
//
// The paper was not at hand; what is reconstructed is marked in the table of doc/design/papers.md,
// whose rows are named here. bestfirst is soft focus without serverload and distiller. hits fetches
// the links in the order of their authority; here hubs raise links in an order by relevance.

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

type focus struct {
	linkRank // Every: fetches between two distillations; 0: none

	Rule   string
	Parent string

	// Derived.
	from   []int32 // by graph.ID: place of the page that gives the relevance, plus one
	read   int     // pages included in from and loads
	hosts  hosts
	loads  []int  // by number of a host: pages requested
	raised []bool // by graph.ID: a link of one of the best hubs; nil: before the first distillation
}

// Rules and parents.
const (
	softFocus  = "soft"
	hardFocus  = "hard"
	bestParent = "best"
	lastParent = "last"
)

const (
	distillIterations = 30
	bestHubs          = 0.1 // share of the hubs whose links are raised
)

func newFocus() Strategy {
	s := &focus{linkRank: linkRank{Every: 100}, Rule: softFocus, Parent: bestParent}
	s.parts = []part{&s.linkRank}
	return s
}

func (s *focus) Params() []Param {
	return []Param{
		{Name: "rule", Doc: "soft: follow all links; hard: follow those of relevant pages only", Value: &s.Rule, Words: []string{softFocus, hardFocus}},
		{Name: "parent", Doc: "page that gives a link on several pages its relevance: the best one or the last one", Value: &s.Parent, Words: []string{bestParent, lastParent}},
		{Name: "distill", Doc: "fetches between two computations of hubs, whose links are raised; 0: none", Value: &s.Every, Range: whole},
	}
}

// Breed proposes the first links in the order of relevance and server load (row d).
func (s *focus) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	s.readPages()
	if s.Every > 0 && (s.due(s.Every) || s.raised == nil) {
		s.distill()
	}
	for _, id := range s.eligible(quota, s.order()) {
		via, raised := &s.pages[s.from[id]-1], 0.0
		if s.isRaised(id) {
			raised = 1
		}
		a := s.propose(id, wire.Scored{Name: "hub", Value: raised}, wire.Scored{Name: "relevance", Value: via.score},
			wire.Scored{Name: "serverload", Value: float64(s.load(id))})
		a.Via, a.Depth = s.web.URL(via.node), via.depth+1
		next = append(next, a)
	}
	s.endGeneration()
	return next
}

// readPages updates from and loads with the new pages, in fetch order.
func (s *focus) readPages() {
	s.hosts.fit(&s.web)
	s.from, s.loads = grown(s.from, s.web.Len()), grown(s.loads, len(s.hosts.number))
	for ; s.read < len(s.pages); s.read++ {
		p := &s.pages[s.read]
		s.loads[s.hosts.of[p.node]]++
		if p.failed || s.Rule == hardFocus && !p.relevant {
			continue
		}
		for id := range s.web.Children(p.node) {
			if at := s.from[id]; at == 0 || s.Parent == lastParent || p.score > s.pages[at-1].score {
				s.from[id] = int32(s.read) + 1
			}
		}
	}
}

// order returns the priority of links: the rank of the relevance, and a fraction that is smaller the
// more pages of the server were requested. Links of the best hubs have the highest rank.
func (s *focus) order() func(graph.ID) float64 {
	var scores []float64
	for _, p := range s.pages {
		scores = append(scores, p.score)
	}
	slices.Sort(scores)
	scores = slices.Compact(scores)
	return func(id graph.ID) float64 {
		if s.from[id] == 0 {
			return notEligible
		}
		rank := len(scores)
		if !s.isRaised(id) {
			rank, _ = slices.BinarySearch(scores, s.pages[s.from[id]-1].score)
		}
		return float64(rank) + 1/float64(1+s.load(id))
	}
}

func (s *focus) load(id graph.ID) int { return s.loads[s.hosts.of[id]] }

func (s *focus) isRaised(id graph.ID) bool { return int(id) < len(s.raised) && s.raised[id] }

// distill raises the links of the best hubs to other servers.
func (s *focus) distill() {
	hubs := s.hubs()
	var best []graph.ID
	for id, h := range hubs {
		if h > 0 {
			best = append(best, graph.ID(id))
		}
	}
	slices.SortFunc(best, func(a, b graph.ID) int { return cmp.Or(cmp.Compare(hubs[b], hubs[a]), cmp.Compare(a, b)) })
	s.raised = make([]bool, s.web.Len())
	for _, hub := range best[:int(math.Ceil(bestHubs*float64(len(best))))] {
		for id := range s.web.Children(hub) {
			s.raised[id] = s.raised[id] || s.isBetween(hub, id)
		}
	}
}

// hubs returns h of all addresses, by ID, at the snapshot.
func (s *focus) hubs() []float64 {
	same := s.sources()
	root, good := make([]float64, len(same)), make([]bool, len(same))
	for _, p := range s.snapshotPages() {
		root[p.node], good[p.node] = math.Sqrt(max(0, p.score)), p.relevant
	}
	_, hubs := graph.HITS{Iterations: distillIterations, Same: same, Weight: func(from, to graph.ID) float64 {
		if page := same[to]; good[page] && s.isBetween(from, to) {
			return root[from] * root[page]
		}
		return 0
	}}.Scores(&s.web, s.at.web)
	for id := range hubs {
		hubs[id] *= root[id]
	}
	return hubs
}

// isBetween reports whether a link leads to another server.
func (s *focus) isBetween(from, to graph.ID) bool { return s.hosts.of[from] != s.hosts.of[to] }
