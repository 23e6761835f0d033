package strategy

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

// A pool is the memory of a strategy that chooses exactly the addresses of the next generation, and
// so proposes at most as many addresses as a generation fetches. A known address that is neither
// fetched nor pending is free.
type pool struct {
	memory
	pending list // proposed addresses without an outcome, in the order of the proposals
	last    int  // number of addresses in pending that the last generation proposed

	isPending []bool // by graph.ID, derived from pending

	foreign func(url string) bool // reports whether another partition fetches an address; nil: no partitions
}

// setForeign implements partitioned.
func (p *pool) setForeign(foreign func(url string) bool) { p.foreign = foreign }

// isForeign reports whether another partition fetches id. The pool gets no outcome of a foreign
// address.
func (p *pool) isForeign(id graph.ID) bool { return p.foreign != nil && p.foreign(p.web.URL(id)) }

// startBreed begins Breed for a generation of n addresses and returns the number of addresses to
// propose. It removes addresses with an outcome from pending, or all addresses if the frontier was
// empty. The number is n without the addresses of the last generation that are still pending. Older
// pending addresses are not subtracted, because they may never be fetched. Foreign addresses stay
// pending, and are not subtracted either.
func (p *pool) startBreed(n int) (quota int) {
	earlier := len(p.pending.ids) - p.last
	p.isPending = make([]bool, p.web.Len())
	kept := p.pending.ids[:0]
	for i, id := range p.pending.ids {
		_, fetched := p.page(id)
		foreign := !fetched && p.isForeign(id)
		if !fetched && !foreign && !p.anyOutcome {
			p.fail(id)
			fetched = true
		}
		if fetched {
			continue
		}
		kept = append(kept, id)
		p.isPending[id] = true
		if i >= earlier && !foreign {
			n--
		}
	}
	p.pending.ids, p.last = kept, 0
	return max(0, n)
}

// isFree reports whether id is neither fetched nor pending.
func (p *pool) isFree(id graph.ID) bool {
	_, fetched := p.page(id)
	return !fetched && !p.isPending[id]
}

// freeAddresses yields the free addresses in the order of their discovery.
func (p *pool) freeAddresses() iter.Seq[graph.ID] {
	return func(yield func(graph.ID) bool) {
		for id := range graph.ID(p.web.Len()) {
			if p.isFree(id) && !yield(id) {
				return
			}
		}
	}
}

func (p *pool) markPending(id graph.ID) {
	p.isPending[id] = true
	p.pending.ids = append(p.pending.ids, id)
	p.last++
}

// best returns the n free addresses with the highest scores, highest first. Of equal scores, the
// address discovered first is first.
func (p *pool) best(n int, score func(graph.ID) float64) []graph.ID {
	if n = min(n, p.web.Len()); n <= 0 {
		return nil
	}
	type scored struct {
		id    graph.ID
		score float64
	}
	worse := func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) }
	var top []scored // candidates
	var last scored  // the worst of the n best so far, if full
	full := false
	for id := range p.freeAddresses() {
		s := scored{id, score(id)}
		if full && worse(s, last) > 0 {
			continue
		}
		if top = append(top, s); len(top) >= 2*n {
			slices.SortFunc(top, worse)
			top = top[:n]
			last, full = top[n-1], true
		}
	}
	slices.SortFunc(top, worse)
	ids := make([]graph.ID, 0, n)
	for _, s := range top[:min(n, len(top))] {
		ids = append(ids, s.id)
	}
	return ids
}

// code encodes or decodes the pool's own state.
func (p *pool) code(c *codec) {
	p.pending.code(c)
	c.index(&p.last, len(p.pending.ids)+1)
}

// AppendDelta and Replay are the methods of memory, extended by the pool's own state.
func (p *pool) AppendDelta(b []byte) []byte { return p.appendDelta(b, p) }
func (p *pool) Replay(b []byte) error       { return p.replay(b, p) }

// rankPriority returns the priority of the i-th of n chosen addresses: 1 for the first, and
// always above 0.
func rankPriority(i, n int) float64 { return float64(n-i) / float64(n) }

// notEligible is the priority of an address that must not be fetched.
const notEligible = -math.MaxFloat64

// linkedScore returns the score of the best page that links to id, or notEligible if there is
// none.
func (p *pool) linkedScore(id graph.ID) float64 {
	if place, ok := p.bestParent(id); ok {
		return p.pages[place].score
	}
	return notEligible
}

// eligible returns the n free addresses with the highest priorities, without those whose
// priority is notEligible.
func (p *pool) eligible(n int, priority func(graph.ID) float64) []graph.ID {
	ids := p.best(n, priority)
	for len(ids) > 0 && priority(ids[len(ids)-1]) == notEligible {
		ids = ids[:len(ids)-1]
	}
	return ids
}

// proposeAt returns a proposal to fetch the free address id with the given priority.
func (p *pool) proposeAt(id graph.ID, priority float64, reasons ...wire.Scored) Address {
	p.markPending(id)
	return p.addressOf(id, priority, reasons...)
}

// propose is proposeAt with a priority lower than the priorities of all earlier proposals.
func (p *pool) propose(id graph.ID, reasons ...wire.Scored) Address {
	a := p.proposeAt(id, -float64(len(p.pages)+p.last+1), reasons...)
	if p.web.InDegree(id) > 1 {
		a.Parents = p.parentURLs(id)
	}
	return a
}

// bestFirst proposes the n links on the pages with the highest scores. Learners begin with them.
func (p *pool) bestFirst(n int) (next []Address) {
	return p.bestBy(n, "parent", p.parentScore)
}

// bestBy proposes the n links with the highest scores, which are named as the reason.
func (p *pool) bestBy(n int, name string, score func(graph.ID) float64) (next []Address) {
	for _, id := range p.best(n, score) {
		value := score(id)
		next = append(next, p.proposeAt(id, value, wire.Scored{Name: name, Value: value}))
	}
	return next
}

// trainingDue reports whether a strategy that was trained after a number of pages is to be trained again:
// after every further pages, or a quarter of those of the last training if that is more.
func trainingDue(pages, trained, every int) bool { return pages-trained >= max(every, trained/4) }
