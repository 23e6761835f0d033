package strategy

import (
	"errors"
	"iter"
	"slices"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

// memory is the state that every strategy keeps: the link graph, and the pages fetched with
// their results.
type memory struct {
	web    graph.Graph
	pages  []page  // in fetch order
	pageOf []int32 // by graph.ID: place in pages plus one; 0: not fetched
	bestOf []int32 // by graph.ID: place of the best page that links to it plus one; derived
	ranked int     // pages included in bestOf

	firstID    int     // ID of the first address discovered in this generation
	firstPage  int     // place of the first page of this generation
	anyOutcome bool    // whether this generation had an outcome, including addresses returned unfetched
	aliases    []alias // addresses that turned out to be known pages
	parts      []part  // other state of the strategy; see AppendDelta

	saved struct {
		web            graph.Mark
		pages, aliases int
	}
}

// A page is an address that was requested.
type page struct {
	node   graph.ID
	final  graph.ID // the address at the end of redirects; node if there were none
	score  float64  // 0 if the request failed
	degree int      // distinct links on the whole page, archived or not
	depth  int
	failed bool

	relevant bool // according to the steering measure
}

// highestScore is the upper limit for scores of records, so that sums and squares stay finite.
const highestScore = 1e100

// bounded returns x limited to the range of scores.
func bounded(x float64) float64 { return max(-highestScore, min(x, highestScore)) }

// An alias is another address of the page at place.
type alias struct {
	node  graph.ID
	place int32
	since int32 // number of pages known when the alias was added
}

// Visit is the method of strategies that store nothing else of a record, and Params of strategies
// without parameters.
func (m *memory) Visit(rec *wire.Record) { m.visit(rec) }
func (m *memory) Params() []Param        { return nil }

func (m *memory) outcomes() int { return len(m.pages) }

// visit records the outcome rec and returns the place of its page. ok is false if rec is not
// an outcome or was returned unfetched.
func (m *memory) visit(rec *wire.Record) (place int, ok bool) {
	m.anyOutcome = m.anyOutcome || rec.IsOutcome()
	if !rec.IsOutcome() || rec.Error == wire.ErrorBudget {
		return 0, false
	}
	place = m.learn(rec)
	for _, hop := range rec.Redirects { // these addresses have an outcome too; the first is rec itself
		id := m.web.Intern(hop.URL)
		m.grow()
		if at, fetched := m.page(id); !fetched || at != place {
			m.addAlias(id, place)
		}
	}
	return place, true
}

// learn is visit for the first and the last address of a chain of redirects.
func (m *memory) learn(rec *wire.Record) (place int) {
	node := m.web.Intern(rec.URL)
	final := node
	if rec.FinalURL != "" {
		final = m.web.Intern(rec.FinalURL)
	}
	m.grow()
	if known, ok := m.page(final); ok && !m.pages[known].failed {
		if p := m.pages[known]; final != node {
			m.addAlias(node, known)
			return known
		} else if p.node != node && p.final == node { // the page was first fetched through a redirect
			return known
		}
	}
	failed := rec.Error != "" || rec.StatusCode/100 != 2
	p := page{node: node, final: final, degree: rec.OutDegree, depth: rec.Depth, failed: failed}
	if !failed {
		p.score, p.relevant = bounded(rec.Score.Or(0)), rec.Relevant == wire.True
	}
	place = m.add(p)
	if failed {
		return place
	}
	var links []graph.ID
	for i := range rec.Links {
		link := &rec.Links[i]
		if link.Archived == wire.False {
			continue // the target is not in the archive
		}
		if to := m.web.Intern(link.URL); to != node && to != final {
			links = append(links, to)
		}
	}
	m.grow()
	m.web.Expand(node, links)
	return place
}

// add records p as the page of its addresses.
func (m *memory) add(p page) (place int) {
	place = len(m.pages)
	m.pages = append(m.pages, p)
	m.pageOf[p.node] = int32(place) + 1
	m.pageOf[p.final] = int32(place) + 1
	return place
}

// addAlias makes node another address of a known page.
func (m *memory) addAlias(node graph.ID, place int) {
	m.aliases = append(m.aliases, alias{node, int32(place), int32(len(m.pages))})
	m.pageOf[node] = int32(place) + 1
}

// fail records that node will not be fetched.
func (m *memory) fail(node graph.ID) { m.add(page{node: node, final: node, failed: true}) }

// grow extends pageOf to the addresses that are new to the graph.
func (m *memory) grow() {
	m.pageOf = append(m.pageOf, make([]int32, m.web.Len()-len(m.pageOf))...)
}

// page returns the place of node's page, if it was fetched.
func (m *memory) page(node graph.ID) (place int, ok bool) {
	place = int(m.pageOf[node]) - 1
	return place, place >= 0
}

func (m *memory) allFetched(ids []graph.ID) bool {
	return !slices.ContainsFunc(ids, func(id graph.ID) bool { return m.pageOf[id] == 0 })
}

// bestParent returns the place of the page with the highest score that links to node; if scores are
// equal, of the first page. ok is false if no page links to node. bestParent may only be called by
// Breed, when the whole generation is known.
func (m *memory) bestParent(node graph.ID) (place int, ok bool) {
	m.rankParents()
	place = int(m.bestOf[node]) - 1
	return max(0, place), place >= 0
}

// rankParents updates bestOf with the new pages. Each link of a crawl is processed only once.
func (m *memory) rankParents() {
	m.bestOf = grown(m.bestOf, m.web.Len())
	for ; m.ranked < len(m.pages); m.ranked++ {
		p := &m.pages[m.ranked]
		if p.failed {
			continue
		}
		for id := range m.web.Children(p.node) {
			if best := m.bestOf[id]; best == 0 || p.score > m.pages[best-1].score {
				m.bestOf[id] = int32(m.ranked) + 1
			}
		}
	}
}

// address returns a proposal to fetch node, found on the page at place.
func (m *memory) address(node graph.ID, place int, operator string, priority float64, reasons ...wire.Scored) Address {
	via := &m.pages[place]
	return Address{
		URL:      m.web.URL(node),
		Via:      m.web.URL(via.node),
		Operator: operator,
		Depth:    via.depth + 1,
		Priority: priority,
		Reasons:  reasons,
	}
}

func (m *memory) endGeneration() {
	m.rankParents()
	m.firstID, m.firstPage, m.anyOutcome = m.web.Len(), len(m.pages), false
}

const (
	flagFailed = 1 << iota
	flagMoved  // the final address of the page differs
	flagRelevant
)

func (p *page) flags() (flags byte) {
	if p.failed {
		flags |= flagFailed
	}
	if p.final != p.node {
		flags |= flagMoved
	}
	if p.relevant {
		flags |= flagRelevant
	}
	return flags
}

func (p *page) code(c *codec) {
	flags := p.flags()
	c.byte(&flags)
	c.id(&p.node)
	if flags&flagMoved != 0 {
		c.id(&p.final)
	} else {
		p.final = p.node
	}
	c.float(&p.score)
	integer(c, &p.degree)
	integer(c, &p.depth)
	p.failed, p.relevant = flags&flagFailed != 0, flags&flagRelevant != 0
}

// code writes the changes since the last delta, or restores them in their original order; then it
// does the same for parts, and for the parts of the strategy.
func (m *memory) code(c *codec, parts []part) {
	c.graph(&m.web, &m.saved.web)
	m.grow()
	pages := each(c, m.pages[m.saved.pages:], func(p *page) { p.code(c) })
	aliases := each(c, m.aliases[m.saved.aliases:], func(a *alias) {
		c.id(&a.node)
		integer(c, &a.place)
		integer(c, &a.since)
	})
	if c.check(true) {
		for _, a := range aliases {
			n := int(a.since) - len(m.pages)
			if !c.check(0 <= n && n <= len(pages) && 0 <= a.place && a.place < a.since) {
				return
			}
			m.addPages(pages[:n])
			pages = pages[n:]
			m.addAlias(a.node, int(a.place))
		}
		m.addPages(pages)
	}
	m.saved.pages, m.saved.aliases = len(m.pages), len(m.aliases)
	for _, p := range slices.Concat(parts, m.parts) {
		if c.bad {
			return
		}
		p.code(c)
	}
}

func (m *memory) addPages(pages []page) {
	for _, p := range pages {
		m.add(p)
	}
}

var errCorrupt = errors.New("the state is damaged")

// AppendDelta appends the delta of the memory, and then the deltas of the strategy's parts.
func (m *memory) AppendDelta(b []byte) []byte { return m.appendDelta(b) }

// Replay restores what AppendDelta wrote.
func (m *memory) Replay(b []byte) error { return m.replay(b) }

// appendDelta is AppendDelta with further parts before the parts of the strategy.
func (m *memory) appendDelta(b []byte, parts ...part) []byte {
	c := codec{b: b, web: &m.web}
	m.code(&c, parts)
	return c.b
}

// replay restores what appendDelta wrote.
func (m *memory) replay(b []byte, parts ...part) error {
	c := codec{b: b, reading: true, web: &m.web}
	m.code(&c, parts)
	if c.bad || len(c.b) > 0 {
		return errCorrupt
	}
	m.endGeneration()
	return nil
}

// visitNew records the outcome rec. ok is true if rec is a new page that was fetched; place is the
// place of this page.
func (m *memory) visitNew(rec *wire.Record) (place int, ok bool) {
	known := len(m.pages)
	place, ok = m.visit(rec)
	return place, ok && place >= known && !m.pages[place].failed
}

// knownLinks yields the links of rec whose addresses are known, in their order on the page. An
// address may occur twice.
func (m *memory) knownLinks(rec *wire.Record) iter.Seq2[graph.ID, *wire.Link] {
	return func(yield func(graph.ID, *wire.Link) bool) {
		for i := range rec.Links {
			link := &rec.Links[i]
			if id, known := m.web.Find(link.URL); known && !yield(id, link) {
				return
			}
		}
	}
}

// linksOn yields the known links of rec, the page at place, that lead to other pages and can
// be fetched.
func (m *memory) linksOn(rec *wire.Record, place int) iter.Seq2[graph.ID, *wire.Link] {
	return func(yield func(graph.ID, *wire.Link) bool) {
		p := m.pages[place]
		for id, link := range m.knownLinks(rec) {
			if link.Archived != wire.False && id != p.node && id != p.final && !yield(id, link) {
				return
			}
		}
	}
}

// unfetchedLinks yields the links of linksOn whose targets were not fetched yet. It yields none if
// the page failed.
func (m *memory) unfetchedLinks(rec *wire.Record, place int) iter.Seq2[graph.ID, *wire.Link] {
	return func(yield func(graph.ID, *wire.Link) bool) {
		if m.pages[place].failed {
			return
		}
		for id, link := range m.linksOn(rec, place) {
			if m.pageOf[id] == 0 && !yield(id, link) {
				return
			}
		}
	}
}

// addressOf returns a proposal to fetch id, found on its best parent, with the given reasons.
func (m *memory) addressOf(id graph.ID, priority float64, reasons ...wire.Scored) Address {
	if place, ok := m.bestParent(id); ok {
		return m.address(id, place, opLink, priority, reasons...)
	}
	return Address{URL: m.web.URL(id), Operator: opLink, Depth: 1, Priority: priority, Reasons: reasons}
}

// parentURLs returns the addresses of the first pages that link to id.
func (m *memory) parentURLs(id graph.ID) (urls []string) {
	for parent := range m.web.Parents(id) {
		if len(urls) == maxParents {
			break
		}
		urls = append(urls, m.web.URL(parent))
	}
	return urls
}

// parentScore returns the score of the best page that links to id.
func (m *memory) parentScore(id graph.ID) float64 {
	if place, ok := m.bestParent(id); ok {
		return m.pages[place].score
	}
	return 0
}

// scoreOf returns the bounded score called name, or 0 if there is none.
func scoreOf(scores []wire.Scored, name string) float64 {
	for _, s := range scores {
		if s.Name == name {
			return bounded(s.Value)
		}
	}
	return 0
}
