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
type choice struct {
	candidate
	worth float64
	taken int // of its group before it, where the batch is shared
}

// worth is what the address of a group is worth of which so many were taken.
func worth(priority float64, taken int) float64 {
	if priority < 0 {
		return priority * float64(taken+1)
	}
	return priority / float64(taken+1)
}

// A chooser chooses a batch. It is offered every candidate once, in any order, and
// keeps about twice as many as are asked for: whenever it holds more it lets those go
// that cannot come into the batch whatever else it is going to be offered.
type chooser struct {
	n        int
	limits   limits
	share    Group
	crossing bool                   // both hosts and niches matter
	before   func(a, b uint32) bool // whether one URL comes before another

	kept  []candidate
	full  int     // let some go when so many are kept
	last  choice  // what is behind it is not kept, once there is a floor
	floor float64 // worth of the last
	keys  map[uint64]prefix
}

// A prefix is what is kept of a key: how many, and the last of them.
type prefix struct {
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
		n: n, limits: l, share: share, before: before,
		crossing: (l.perHost > 0 || share == ByHost) && (l.perNiche > 0 || share == ByNiche),
		full:     n + max(n, 1024), floor: math.Inf(-1), keys: map[uint64]prefix{},
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
func (c *chooser) compareChoices(a, b choice) int {
	if order := cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(a.taken, b.taken)); order != 0 {
		return order
	}
	return c.compare(a.candidate, b.candidate)
}

// of is the group that e shares a batch in.
func (c *chooser) of(e candidate) uint32 {
	switch c.share {
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
	case c.crossing:
		return uint64(e.host)<<32 | uint64(e.niche)
	case c.limits.perNiche > 0 || c.share == ByNiche:
		return uint64(e.niche)
	case c.limits.perHost > 0 || c.share == ByHost:
		return uint64(e.host)
	}
	return 0
}

// line is a key of the group that e shares a batch in, and no other candidate's key.
func (c *chooser) line(e candidate) uint64 { return uint64(c.of(e))<<32 | math.MaxUint32 }

// most is how many of a key can come into the batch.
func (c *chooser) most() int {
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
	if e.priority >= c.floor {
		c.consider(e)
	}
}

// consider keeps e, unless it is behind what is kept and cannot come into the batch.
func (c *chooser) consider(e candidate) {
	if c.behind(e) {
		return
	}
	bounded := !math.IsInf(c.floor, -1)
	if p, ok := c.keys[c.key(e)]; ok && c.compare(p.last, e) < 0 {
		if p.count >= c.most() || c.share != NoGroup && !c.crossing &&
			bounded && c.compareChoices(c.last, choice{e, worth(e.priority, p.count), p.count}) < 0 {
			return
		}
	}
	if c.crossing && c.share != NoGroup {
		if p := c.keys[c.line(e)]; p.count >= 2*c.n && c.compare(p.last, e) < 0 {
			return
		}
	}
	c.kept = append(c.kept, e)
	if len(c.kept) == c.full {
		c.prune()
	}
}

// prune lets go what cannot come into the batch.
func (c *chooser) prune() {
	if c.crossing {
		c.thin()
	} else {
		c.keep(c.choose())
	}
	clear(c.keys)
	for _, e := range c.kept {
		c.count(c.key(e), e)
		if c.crossing && c.share != NoGroup {
			c.count(c.line(e), e)
		}
	}
}

// count counts e among what is kept of a key.
func (c *chooser) count(key uint64, e candidate) {
	p := c.keys[key]
	if p.count == 0 || c.compare(p.last, e) < 0 {
		p.last = e
	}
	p.count++
	c.keys[key] = p
}

// keep keeps a batch of what was offered until now. With one kind of group, what is
// not in it never will be: what is still to come makes nothing before it worth less.
func (c *chooser) keep(batch []choice) {
	c.kept = c.kept[:0]
	for _, b := range batch {
		c.kept = append(c.kept, b.candidate)
	}
	if len(batch) == c.n {
		c.last = batch[c.n-1]
		c.floor = c.last.worth
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
func (c *chooser) thin() {
	slices.SortFunc(c.kept, c.compare)
	of, most := map[uint64]int{}, c.most()
	kept := slices.DeleteFunc(c.kept, func(e candidate) bool {
		if of[c.key(e)] >= most || of[c.line(e)] >= 2*c.n {
			return true
		}
		of[c.key(e)]++
		if c.share != NoGroup {
			of[c.line(e)]++
		}
		return false
	})
	for j, chosen := 1, 0; chosen < 2*c.n && (j == 1 || c.share != NoGroup && j < 2*c.n); j *= 2 {
		t := c.limits.atMost(c.share, j).tally(c.n)
		chosen = 0
		for _, e := range kept {
			if !t.admit(e) {
				continue
			}
			if chosen++; chosen == 2*c.n {
				if w := worth(e.priority, j-1); w > c.floor || w == c.floor && j == 1 {
					c.last, c.floor = choice{e, w, j - 1}, w
				}
				break
			}
		}
	}
	c.kept = slices.DeleteFunc(kept, c.behind)
	c.full = max(c.full, 2*len(c.kept))
}

// behind tells whether e is behind the last.
func (c *chooser) behind(e candidate) bool {
	return e.priority < c.floor || e.priority == c.floor && !math.IsInf(c.floor, -1) && c.last.taken == 0 && c.compare(c.last.candidate, e) < 0
}

// atMost are the limits and one more, of what shares.
func (l limits) atMost(share Group, n int) limits {
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
type queue struct {
	choice
	rest []candidate
}

// choose chooses the batch of what is kept, in the order in which its addresses are
// chosen.
func (c *chooser) choose() []choice {
	slices.SortFunc(c.kept, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(c.of(a), c.of(b)), c.compare(a, b))
	})
	var queues []queue // a heap
	for at := 0; at < len(c.kept); {
		end := at + 1
		for end < len(c.kept) && c.of(c.kept[end]) == c.of(c.kept[at]) {
			end++
		}
		e := c.kept[at]
		queues = append(queues, queue{choice{e, e.priority, 0}, c.kept[at+1 : end]})
		at = end
	}
	for i := len(queues)/2 - 1; i >= 0; i-- {
		c.sink(queues, i)
	}
	batch, t := make([]choice, 0, min(c.n, len(c.kept))), c.limits.tally(c.n)
	for len(queues) > 0 && len(batch) < c.n {
		first := &queues[0]
		if t.admit(first.candidate) {
			batch = append(batch, first.choice)
			if c.share != NoGroup {
				first.taken++
			}
		}
		if len(first.rest) > 0 {
			first.candidate, first.rest = first.rest[0], first.rest[1:]
			first.worth = worth(first.priority, first.taken)
		} else {
			*first = queues[len(queues)-1]
			queues = queues[:len(queues)-1]
		}
		c.sink(queues, 0)
	}
	return batch
}

// sink puts the ith queue of a heap where it belongs.
func (c *chooser) sink(queues []queue, i int) {
	for {
		down := 2*i + 1
		if down+1 < len(queues) && c.compareChoices(queues[down+1].choice, queues[down].choice) < 0 {
			down++
		}
		if down >= len(queues) || c.compareChoices(queues[i].choice, queues[down].choice) <= 0 {
			return
		}
		queues[i], queues[down] = queues[down], queues[i]
		i = down
	}
}
