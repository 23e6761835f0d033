package frontier

import (
	"cmp"
	"math"
	"slices"
)

// This file is the policy of handing out: which of the addresses that may be
// handed out make a batch.
//
// A batch is chosen one address after the other. The next is always the one that
// is worth most among those that the limits, of one host and of one niche, still
// admit. Worth is priority; where a batch is shared it is priority divided by one
// more than what the address's host (or niche) has in the batch already. Dividing
// by 1, 2, 3, … is how seats are given to parties by highest averages (D'Hondt), and
// processors to processes by stride scheduling (Waldspurger and Weihl 1995): each
// gets its part of the batch in proportion to its priority. Hosts that are all
// different, or no sharing, leave the order by priority alone.
//
// Where limits and shares are of hosts alone, of niches alone, or of niches that each
// lie within a host, no other batch has more worth. Where a niche spans hosts and both
// are limited, the greedy choice has at least half of the priority of the best one
// (two partition matroids: a 2-system), or a third of its worth where it is shared
// (submodular).

// A Group is what addresses have in common that share a batch.
type Group uint8

// The groups.
const (
	NoGroup Group = iota
	ByHost
	ByNiche
)

// A candidate is an address that may be handed out.
type candidate struct {
	priority    float64
	id          uint32
	host, niche uint32
}

// A choice is a candidate in a batch, or what it would be there.
type weighted struct {
	candidate
	weight float64
	taken  int // of its group before it, where the batch is shared
}

// worth is what the address of a group is worth of which so many were taken.
func weightOf(priority float64, taken int) float64 {
	if priority < 0 {
		return priority * float64(taken+1)
	}
	return priority / float64(taken+1)
}

// A chooser chooses a batch. It is offered every candidate once, in any order, and
// keeps about twice as many as are asked for: whenever it holds more it lets those go
// that cannot come into the batch whatever else it is going to be offered.
type chooser struct {
	n       int
	limits  limits
	shareBy Group
	crossed bool                   // both hosts and niches matter
	before  func(a, b uint32) bool // whether one URL comes before another

	candidates  []candidate
	pruneAt     int      // let some go when so many are kept
	floorChoice weighted // what is behind it is not kept, once there is a floor
	minWeight   float64  // worth of the last
	kept        map[uint64]keptOf
}

// A prefix is what is kept of a key: how many, and the last of them.
type keptOf struct {
	last  candidate
	count int
}

// limits are how many of one host and of one niche a batch may have; 0: any number.
type limits struct {
	perHost, perNiche int
	budget            *budget // what the whole crawl may have of them
}

// before tells whether the URL of one address comes before that of another.
func newChooser(n int, l limits, share Group, before func(a, b uint32) bool) *chooser {
	return &chooser{
		n: n, limits: l, shareBy: share, before: before,
		crossed: (l.perHost > 0 || share == ByHost) && (l.perNiche > 0 || share == ByNiche),
		pruneAt: n + max(n, 1024), minWeight: math.Inf(-1), kept: map[uint64]keptOf{},
	}
}

// compare orders candidates: the higher priority first, then by URL.
func (c *chooser) compare(a, b candidate) int {
	switch {
	case a.priority != b.priority:
		return cmp.Compare(b.priority, a.priority)
	case a.id == b.id:
		return 0
	case c.before(a.id, b.id):
		return -1
	}
	return 1
}

// compareChoices orders choices: the higher worth first, then the group of which less
// was taken.
func (c *chooser) compareWeighted(a, b weighted) int {
	if order := cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.taken, b.taken)); order != 0 {
		return order
	}
	return c.compare(a.candidate, b.candidate)
}

// of is the group that e shares a batch in.
func (c *chooser) groupOf(e candidate) uint32 {
	switch c.shareBy {
	case ByHost:
		return e.host
	case ByNiche:
		return e.niche
	}
	return 0
}

// key is what e has in common with those that stand in its way alone: its host, its
// niche, or both.
func (c *chooser) key(e candidate) uint64 {
	switch {
	case c.crossed:
		return uint64(e.host)<<32 | uint64(e.niche)
	case c.limits.perNiche > 0 || c.shareBy == ByNiche:
		return uint64(e.niche)
	case c.limits.perHost > 0 || c.shareBy == ByHost:
		return uint64(e.host)
	}
	return 0
}

// line is a key of the group that e shares a batch in, and no other candidate's key.
func (c *chooser) groupKey(e candidate) uint64 { return uint64(c.groupOf(e))<<32 | math.MaxUint32 }

// most is how many of a key can come into the batch.
func (c *chooser) maxPerKey() int {
	most := c.n
	for _, limit := range []int{c.limits.perHost, c.limits.perNiche} {
		if limit > 0 {
			most = min(most, limit)
		}
	}
	return most
}

// offer offers e.
func (c *chooser) offer(e candidate) {
	if e.priority >= c.minWeight {
		c.consider(e)
	}
}

// consider keeps e, unless it is behind what is kept and cannot come into the batch.
func (c *chooser) consider(e candidate) {
	if c.isBelowFloor(e) {
		return
	}
	bounded := !math.IsInf(c.minWeight, -1)
	if p, ok := c.kept[c.key(e)]; ok && c.compare(p.last, e) < 0 {
		if p.count >= c.maxPerKey() || c.shareBy != NoGroup && !c.crossed &&
			bounded && c.compareWeighted(c.floorChoice, weighted{e, weightOf(e.priority, p.count), p.count}) < 0 {
			return
		}
	}
	if c.crossed && c.shareBy != NoGroup {
		if p := c.kept[c.groupKey(e)]; p.count >= 2*c.n && c.compare(p.last, e) < 0 {
			return
		}
	}
	c.candidates = append(c.candidates, e)
	if len(c.candidates) == c.pruneAt {
		c.prune()
	}
}

// prune lets go what cannot come into the batch.
func (c *chooser) prune() {
	if c.crossed {
		c.pruneCrossed()
	} else {
		c.keepBatch(c.choose())
	}
	clear(c.kept)
	for _, e := range c.candidates {
		c.count(c.key(e), e)
		if c.crossed && c.shareBy != NoGroup {
			c.count(c.groupKey(e), e)
		}
	}
}

// count counts e among what is kept of a key.
func (c *chooser) count(key uint64, e candidate) {
	p := c.kept[key]
	if p.count == 0 || c.compare(p.last, e) < 0 {
		p.last = e
	}
	p.count++
	c.kept[key] = p
}

// keep keeps a batch of what was offered until now. With one kind of group, what is
// not in it never will be: what is still to come makes nothing before it worth less.
func (c *chooser) keepBatch(batch []weighted) {
	c.candidates = c.candidates[:0]
	for _, b := range batch {
		c.candidates = append(c.candidates, b.candidate)
	}
	if len(batch) == c.n {
		c.floorChoice = batch[c.n-1]
		c.minWeight = c.floorChoice.weight
	}
}

// thin is for hosts and niches that are in each other's way: what stands before an
// address today may be refused tomorrow. Two things hold all the same.
//
// Of those of one host and niche only so many can come into a batch as the smaller
// limit says, and they are the first.
//
// And a greedy choice has at least half as many addresses as any other. If 2n can be
// chosen together before some address, n will be chosen before it. Where a batch is
// shared that is so of 2n of the same group, which come before it whatever their worth;
// and of 2n of which no two are of one group, which are worth their priority, or, with
// at most j of one group, at least a jth of what the least of them would be.
func (c *chooser) pruneCrossed() {
	slices.SortFunc(c.candidates, c.compare)
	of, most := map[uint64]int{}, c.maxPerKey()
	kept := slices.DeleteFunc(c.candidates, func(e candidate) bool {
		if of[c.key(e)] >= most || of[c.groupKey(e)] >= 2*c.n {
			return true
		}
		of[c.key(e)]++
		if c.shareBy != NoGroup {
			of[c.groupKey(e)]++
		}
		return false
	})
	for j, chosen := 1, 0; chosen < 2*c.n && (j == 1 || c.shareBy != NoGroup && j < 2*c.n); j *= 2 {
		t := c.limits.withGroupLimit(c.shareBy, j).tally(c.n)
		chosen = 0
		for _, e := range kept {
			if !t.admit(e) {
				continue
			}
			if chosen++; chosen == 2*c.n {
				if w := weightOf(e.priority, j-1); w > c.minWeight || w == c.minWeight && j == 1 {
					c.floorChoice, c.minWeight = weighted{e, w, j - 1}, w
				}
				break
			}
		}
	}
	c.candidates = slices.DeleteFunc(kept, c.isBelowFloor)
	c.pruneAt = max(c.pruneAt, 2*len(c.candidates))
}

// behind tells whether e is behind the last.
func (c *chooser) isBelowFloor(e candidate) bool {
	return e.priority < c.minWeight || e.priority == c.minWeight && !math.IsInf(c.minWeight, -1) && c.floorChoice.taken == 0 && c.compare(c.floorChoice.candidate, e) < 0
}

// atMost are the limits and one more, of what shares.
func (l limits) withGroupLimit(share Group, n int) limits {
	switch {
	case share == ByHost && (l.perHost == 0 || n < l.perHost):
		l.perHost = n
	case share == ByNiche && (l.perNiche == 0 || n < l.perNiche):
		l.perNiche = n
	}
	return l
}

// A tally counts what a batch has of hosts and niches.
type tally struct {
	limits
	hosts, niches map[uint32]int
}

// tally begins to count, with room for n if that is not too many.
func (l limits) tally(n int) tally {
	t, n := tally{limits: l}, min(n, 1<<12)
	if l.perHost > 0 {
		t.hosts = make(map[uint32]int, n)
	}
	if l.perNiche > 0 {
		t.niches = make(map[uint32]int, n)
	}
	return t
}

// admit counts e, unless a limit refuses it.
func (t tally) admit(e candidate) bool {
	if t.perHost > 0 && t.hosts[e.host] >= t.perHost || t.perNiche > 0 && t.niches[e.niche] >= t.perNiche {
		return false
	}
	if !t.budget.admits(e, t.hosts[e.host], t.niches[e.niche]) {
		return false
	}
	if t.perHost > 0 {
		t.hosts[e.host]++
	}
	if t.perNiche > 0 {
		t.niches[e.niche]++
	}
	return true
}

// A queue is what waits of one group, and its first.
type groupQueue struct {
	weighted
	waiting []candidate
}

// choose chooses the batch of what is kept, in the order in which its addresses are
// chosen.
func (c *chooser) choose() []weighted {
	slices.SortFunc(c.candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(c.groupOf(a), c.groupOf(b)), c.compare(a, b))
	})
	var queues []groupQueue // a heap
	for at := 0; at < len(c.candidates); {
		end := at + 1
		for end < len(c.candidates) && c.groupOf(c.candidates[end]) == c.groupOf(c.candidates[at]) {
			end++
		}
		e := c.candidates[at]
		queues = append(queues, groupQueue{weighted{e, e.priority, 0}, c.candidates[at+1 : end]})
		at = end
	}
	for i := len(queues)/2 - 1; i >= 0; i-- {
		c.siftDown(queues, i)
	}
	batch, t := make([]weighted, 0, min(c.n, len(c.candidates))), c.limits.tally(c.n)
	for len(queues) > 0 && len(batch) < c.n {
		first := &queues[0]
		if t.admit(first.candidate) {
			batch = append(batch, first.weighted)
			if c.shareBy != NoGroup {
				first.taken++
			}
		}
		if len(first.waiting) > 0 {
			first.candidate, first.waiting = first.waiting[0], first.waiting[1:]
			first.weight = weightOf(first.priority, first.taken)
		} else {
			*first = queues[len(queues)-1]
			queues = queues[:len(queues)-1]
		}
		c.siftDown(queues, 0)
	}
	return batch
}

// sink puts the ith queue of a heap where it belongs.
func (c *chooser) siftDown(queues []groupQueue, i int) {
	for {
		down := 2*i + 1
		if down+1 < len(queues) && c.compareWeighted(queues[down+1].weighted, queues[down].weighted) < 0 {
			down++
		}
		if down >= len(queues) || c.compareWeighted(queues[i].weighted, queues[down].weighted) <= 0 {
			return
		}
		queues[i], queues[down] = queues[down], queues[i]
		i = down
	}
}
