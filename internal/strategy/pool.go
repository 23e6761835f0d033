package strategy

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

// A pool is the memory of a strategy that chooses by itself what is fetched now,
// and so proposes no more than that: what it knows of, and has neither seen nor
// asked for, is free.
type pool struct {
	memory
	asked list // proposed and not answered, in the order of the proposals
	last  int  // how many of these the last generation proposed

	isAsked []bool // by graph.ID, derived from asked
}

// settle begins Breed and returns how many addresses there are to propose, for n to be
// fetched in the next generation. What was answered is asked for no more, and if the
// frontier had nothing left, nothing else will come. What the last generation proposed
// and did not get takes its turn in the next one; what was proposed earlier than that
// may never come, and takes nobody's.
func (p *pool) settle(n int) (room int) {
	earlier := len(p.asked.ids) - p.last
	p.isAsked = make([]bool, p.web.Len())
	kept := p.asked.ids[:0]
	for i, id := range p.asked.ids {
		_, fetched := p.page(id)
		if !fetched && !p.heard {
			p.fail(id)
			fetched = true
		}
		if fetched {
			continue
		}
		kept = append(kept, id)
		p.isAsked[id] = true
		if i >= earlier {
			n--
		}
	}
	p.asked.ids, p.last = kept, 0
	return max(0, n)
}

// free reports whether id is neither fetched nor asked for.
func (p *pool) free(id graph.ID) bool {
	_, fetched := p.page(id)
	return !fetched && !p.isAsked[id]
}

// waiting returns the free addresses in the order of their discovery.
func (p *pool) waiting() iter.Seq[graph.ID] {
	return func(yield func(graph.ID) bool) {
		for id := range graph.ID(p.web.Len()) {
			if p.free(id) && !yield(id) {
				return
			}
		}
	}
}

// ask remembers that id is proposed.
func (p *pool) ask(id graph.ID) {
	p.isAsked[id] = true
	p.asked.ids = append(p.asked.ids, id)
	p.last++
}

// best returns the n free addresses with the highest scores, highest first, the one that
// was discovered first among equals.
func (p *pool) best(n int, score func(graph.ID) float64) []graph.ID {
	if n = min(n, p.web.Len()); n <= 0 {
		return nil
	}
	type scored struct {
		id    graph.ID
		score float64
	}
	worse := func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) }
	var top []scored // those that may be among the best
	var last scored  // the worst of the n best so far, once there are more
	full := false
	for id := range p.waiting() {
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

func (p *pool) appendDelta(b []byte) []byte {
	b = p.memory.appendDelta(b)
	b = p.asked.appendDelta(b)
	return binary.AppendUvarint(b, uint64(p.last))
}

// AppendDelta and Replay are those of memory, with what the pool adds to it.
func (p *pool) AppendDelta(b []byte) []byte { return appendParts(p.appendDelta(b), p.parts) }

func (p *pool) Replay(b []byte) error {
	r, err := p.replay(b)
	if err != nil {
		return err
	}
	return r.parts(&p.memory)
}

func (p *pool) replay(b []byte) (r *reader, err error) {
	if r, err = p.memory.replay(b); err != nil {
		return nil, err
	}
	p.asked.replay(&p.memory, r)
	p.last = int(r.uvarint())
	if r.bad || p.last > len(p.asked.ids) || p.last < 0 {
		return nil, errCorrupt
	}
	return r, nil
}

// turn returns the priority of the address that was chosen as number i of n: of the
// first it is 1, and all are above 0.
func turn(i, n int) float64 { return float64(n-i) / float64(n) }

// eligible returns the best by priority, without those that have never.
func (p *pool) eligible(room int, priority func(graph.ID) float64) []graph.ID {
	ids := p.best(min(room, p.web.Len()), priority)
	for len(ids) > 0 && priority(ids[len(ids)-1]) == never {
		ids = ids[:len(ids)-1]
	}
	return ids
}

// choose proposes the free address id, to be fetched after all that was chosen before
// it, for these reasons.
func (p *pool) choose(id graph.ID, reasons ...wire.Scored) Address {
	p.ask(id)
	a := p.found(id, -float64(len(p.pages)+p.last), reasons...)
	if p.web.InDegree(id) > 1 {
		a.Parents = p.parentURLs(id)
	}
	return a
}
