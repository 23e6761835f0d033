package report

import (
	"math"
	"slices"
	"strings"

	"spoor/internal/wire"
)

// A node is a step of a lineage that is being traced.
type node struct {
	step   Step
	parent string // address of the page that led to this step; "" for a seed or query
	next   *node  // node of the parent
}

func (c *collector) newNode(rec *wire.Record, good bool) *node {
	s := Step{
		URL:        strings.Clone(clean(rec.URL, maxShown)),
		Known:      true,
		Title:      strings.Clone(clean(rec.Title, maxWords)),
		Generation: rec.Generation,
		Operator:   strings.Clone(clean(rec.Operator, maxName)),
		Query:      strings.Clone(clean(rec.Query, maxWords)),
		Score:      rec.Score.Or(math.NaN()),
		Relevant:   good,
	}
	for _, p := range rec.Parents[:min(MaxParents, len(rec.Parents))] {
		s.Parents = append(s.Parents, strings.Clone(clean(p, maxShown)))
	}
	s.Reasons = reasons(rec)
	if s.Reasons == nil && s.Query != "" && rec.Via == "" {
		s.Reasons = c.queries[s.Query]
	}
	n := &node{step: s}
	switch {
	case rec.Via != "":
		n.parent = cloneAddress(rec.Via)
	case rec.Query == "" && len(rec.Parents) > 0:
		n.parent = cloneAddress(rec.Parents[0])
	}
	return n
}

// reasons returns the numbers for which a strategy chose a record.
func reasons(rec *wire.Record) (list []Reason) {
	for _, r := range rec.Reasons[:min(MaxReasons, len(rec.Reasons))] {
		list = append(list, Reason{strings.Clone(clean(r.Name, maxName)), r.Value})
	}
	return list
}

// maxQueries is the largest number of queries of a run that are stored.
const maxQueries = 5000

func (c *collector) rememberQuery(rec *wire.Record) {
	words := clean(rec.Query, maxWords)
	if _, twice := c.queries[words]; !twice && len(c.queries) < maxQueries {
		c.queries[strings.Clone(words)] = reasons(rec)
	}
}

// lineage returns the steps from n on. If there are too many, it omits steps before the last one.
func (n *node) lineage() []Step {
	var steps []Step
	length, last := 0, n
	for ; n != nil; n = n.next {
		if length++; length < MaxSteps {
			steps = append(steps, n.step)
		}
		last = n
	}
	if length >= MaxSteps {
		s := last.step
		s.Omitted = length - MaxSteps
		steps = append(steps, s)
	}
	return steps
}

// isPage reports whether a record can be a step of a lineage before the last one.
func isPage(rec *wire.Record) bool { return rec.Error == "" && rec.StatusCode != 0 }

// backward traces the lineages of the pages that are shown. The page that led to another page
// is of an earlier generation, so reading the generations once in reverse order finds all steps.
// If an address has several earlier records, backward uses the latest. It skips generations that
// cannot have a step: most of them, in a crawl of many.
func (c *collector) backward() error {
	waiting := slices.Clone(c.pages) // pages of later generations are traced first
	slices.SortStableFunc(waiting, func(a, b *candidate) int { return b.turn - a.turn })
	wanted, hashes := map[string]*node{}, map[uint32]int{}
	want := func(n *node) {
		if n.parent == "" {
			return
		}
		next := wanted[n.parent]
		if next == nil {
			next = &node{step: Step{URL: clean(n.parent, maxShown), Score: math.NaN()}}
			wanted[n.parent] = next
			hashes[hashAddress(n.parent)]++
		}
		n.next = next
	}
	var found []*node // nodes of this generation; their parents are of earlier generations
	for i := len(c.turns) - 1; i >= 0; i-- {
		for len(waiting) > 0 && waiting[0].turn > i {
			want(waiting[0].node)
			waiting = waiting[1:]
		}
		for _, n := range found {
			want(n)
		}
		found = found[:0]
		t, at := &c.turns[i], -1
		if !t.hasAny(hashes) {
			continue
		}
		trace := func(rec *wire.Record) {
			at++
			if !isPage(rec) {
				return
			}
			for _, url := range [...]string{rec.URL, rec.FinalURL} {
				n := wanted[url]
				if n == nil {
					continue
				}
				delete(wanted, url)
				hashes[hashAddress(url)]--
				name := n.step.URL
				*n = *c.newNode(rec, at < len(t.good) && t.good[at])
				n.step.URL = name
				found = append(found, n)
			}
		}
		for _, p := range t.parts {
			if err := p.each(func(error) {}, trace); err != nil {
				return err
			}
		}
	}
	return nil
}
