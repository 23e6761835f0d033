package strategy

// This file implements the similarity-based crawler of
//
//	J. Cho, H. Garcia-Molina and L. Page, "Efficient crawling through URL ordering", Computer
//	Networks and ISDN Systems 30(1–7), 1998, pp. 161–172,
//
// the "modified crawling algorithm" with two queues. The paper was not at hand; doc/design/papers.md
// lists what is uncertain, and comments name its rows.
//
//	while hot_queue or url_queue is not empty
//	    url = the first of hot_queue or, if it is empty, of url_queue
//	    for each new link u of url
//	        if the anchor or the address of u has a word of the topic, or
//	           distance_from_hotpage(u) < 3
//	            u enters hot_queue
//	        else
//	            u enters url_queue
//	    reorder both queues
//
// A page is hot if its title has a word of the topic, or its text has at least ten. The distance of
// u is the number of links on the shortest known path from a hot page.
//
//	paper                   here          meaning
//	hot_queue               hot           addresses in it; the others wait in url_queue
//	"computer"              words         any word of the topic's keywords (row a)
//	10                      Occurrences   words in the text of a hot page (row e)
//	distance_from_hotpage   distance
//	3                       Distance      0: only anchors and addresses count (row b)
//	reorder_queue           Order         the same order in both queues (row d)
//	IB′(u)                  backlink      number of fetched pages with a link to u, as in indegree
//	IR′(u)                  pagerank      rank that these pages pass on to u, as in pagerank (row f)
//	IL(u)                   location      addresses with fewer slashes first
//
// indegree, pagerank and breadthfirst are the paper's first algorithm, which has one queue. No score
// steers any of them: this strategy looks for the words itself.

import (
	"math/rand/v2"
	"strings"

	"spoor/internal/graph"
	"spoor/internal/text"
	"spoor/internal/topic"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

type hotQueue struct {
	pageRank // its order is one of four

	Order       string
	Occurrences int
	Distance    int

	analyzer *text.Analyzer
	words    map[text.Term]bool // words of the topic
	terms    []text.Term        // scratch

	hot      column // 1: in the hot queue
	distance column // links from the nearest hot page, if fewer than Distance; 0: more
}

// Orders within the queues.
const (
	byBacklinks = "backlink"
	byRank      = "pagerank"
	byDiscovery = "breadthfirst"
	byLocation  = "location"
)

func newHotQueue() Strategy {
	s := &hotQueue{Order: byDiscovery, Occurrences: 10, Distance: 3}
	s.Every, s.Damping = 25, 0.85
	s.parts = []part{&s.linkRank, &s.hot, &s.distance}
	return s
}

func (s *hotQueue) Params() []Param {
	return []Param{
		{Name: "order", Doc: "order of both queues: number of pages with the link, PageRank, discovery, or fewest slashes in the address", Value: &s.Order,
			Words: []string{byBacklinks, byRank, byDiscovery, byLocation}},
		{Name: "distance", Doc: "addresses fewer than this number of links from a hot page enter the hot queue; 0: only those with a word", Value: &s.Distance, Range: [2]float64{0, 64}},
		{Name: "occurrences", Doc: "a page without a word in its title is hot if its text has this number of words", Value: &s.Occurrences, Range: [2]float64{1, 1e9}},
		{Name: "every", Doc: "with order=pagerank: fetches between two computations of the ranks, or 1 % of all if that is more", Value: &s.Every, Range: [2]float64{1, 1e9}},
	}
}

// aim sets the words: the stems of all keywords, without stop words.
func (s *hotQueue) aim(t *topic.Topic) (err error) {
	if s.analyzer, err = t.Analyzer(); err != nil {
		return err
	}
	s.words = map[text.Term]bool{}
	for _, k := range t.Keywords {
		for _, stem := range stems(s.analyzer, k.Text) {
			s.words[s.analyzer.Stem(stem)] = true
		}
	}
	s.analyzer.Keep()
	return nil
}

// Visit assigns the new links of a page to the queues.
func (s *hotQueue) Visit(rec *wire.Record) {
	known := s.web.Len()
	place, ok := s.visitNew(rec)
	if !ok {
		return
	}
	s.analyzer.Trim()
	distance := s.childDistance(rec, s.pages[place].node)
	for id, link := range s.unfetchedLinks(rec, place) {
		if before := s.distance.at(id); distance > 0 && (before == 0 || distance < before) {
			s.distance.set(id, distance)
		}
		if int(id) < known { // it is in a queue (row c)
			continue
		}
		if distance > 0 || s.count(clip(link.Anchor, readAnchor)) > 0 || s.count(weburl.Host(link.URL)+" "+pathAndQuery(link.URL)) > 0 {
			s.hot.set(id, 1)
		}
	}
}

// childDistance returns the distance of the links of a page, or 0 if it is not below Distance.
func (s *hotQueue) childDistance(rec *wire.Record, page graph.ID) float64 {
	child := 1.0
	if !s.isHot(rec) {
		own := s.distance.at(page)
		if own == 0 {
			return 0
		}
		child += own
	}
	if child < float64(s.Distance) {
		return child
	}
	return 0
}

// isHot reports whether a page is about the topic.
func (s *hotQueue) isHot(rec *wire.Record) bool {
	return s.count(clip(rec.Title, readText)) > 0 || s.count(clip(rec.Text, readText)) >= s.Occurrences
}

// count returns the number of words of the topic in a text.
func (s *hotQueue) count(passage string) (n int) {
	s.terms = s.analyzer.Append(s.terms[:0], passage)
	for _, t := range s.terms {
		if s.words[t] {
			n++
		}
	}
	return n
}

// Breed proposes the first links of the hot queue, and then of the other.
func (s *hotQueue) Breed(n int, _ *rand.Rand) (next []Address) {
	quota := s.startBreed(n)
	if s.Order == byRank && (s.due(max(s.Every, len(s.pages)/rankShare)) || s.ranks == nil) {
		s.rank()
	}
	for _, queue := range []float64{1, 0} {
		for _, id := range s.eligible(quota-len(next), func(id graph.ID) float64 {
			if s.hot.at(id) != queue {
				return notEligible
			}
			return s.value(id)
		}) {
			next = append(next, s.propose(id, s.reasons(id)...))
		}
	}
	s.endGeneration()
	return next
}

// value returns the importance of an address in the order of its queue.
func (s *hotQueue) value(id graph.ID) float64 {
	switch s.Order {
	case byBacklinks:
		return float64(s.web.InDegree(id))
	case byRank:
		return s.share(id)
	case byLocation:
		return -float64(strings.Count(s.web.URL(id), "/"))
	}
	return -float64(id)
}

func (s *hotQueue) reasons(id graph.ID) (reasons []wire.Scored) {
	if d := s.distance.at(id); d > 0 {
		reasons = append(reasons, wire.Scored{Name: "distance", Value: d})
	}
	return append(reasons, wire.Scored{Name: "hot", Value: s.hot.at(id)}, wire.Scored{Name: "value", Value: s.value(id)})
}
