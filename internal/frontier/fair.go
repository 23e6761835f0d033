package frontier

import (
	"cmp"
	"math"
	"slices"
)

// This file chooses which of the due addresses make a batch.
//
// A batch is chosen one address at a time: always the address with the greatest weight among the
// addresses that the limits per host and niche still admit. The weight is the priority. In a shared
// batch the priority is divided by 1 plus the number of addresses of the same host (or niche) that
// are already in the batch. Dividing by 1, 2, 3, … is the method of highest
// averages (D'Hondt) for apportioning seats to parties, and stride scheduling of processes
// (Waldspurger and Weihl 1995): each host's share of the batch is proportional to its
// priority. If all hosts differ, the order is the order by priority.
//
// The batch has the greatest possible total weight if limits and sharing concern only hosts,
// only niches, or niches that each lie within a host. If a niche spans hosts and both are
// limited, the batch has at least half of the greatest possible total priority or, if it is shared, a
// third of the greatest possible weight. These are the bounds of the greedy algorithm for two partition matroids
// (a 2-system), and for a submodular weight.

// A Group determines which addresses form a group when a batch is shared.
type Group uint8

// The groupings.
const (
	NoGroup Group = iota
	ByHost
	ByNiche
)

// A candidate is an address that may be leased.
type candidate struct {
	priority    float64
	id          uint32
	host, niche uint32
}

// A weighted is a candidate with its weight in a batch.
type weighted struct {
	candidate
	weight float64
	taken  int // number of earlier addresses of its group in a shared batch
}

// weightOf returns the weight of an address if taken addresses of its group are in the batch.
func weightOf(priority float64, taken int) float64 {
	if priority < 0 {
		return priority * float64(taken+1)
	}
	return priority / float64(taken+1)
}

// A chooser chooses a batch. Each candidate is offered once, in any order. The chooser keeps
// about twice as many candidates as the batch has. If there are more, it drops candidates that
// cannot be in the batch, whatever is offered later.
type chooser struct {
	n           int
	limits      limits
	shareBy     Group
	crossed     bool // limits or sharing concern both hosts and niches
	compareURLs func(a, b uint32) int

	candidates  []candidate
	pruneAt     int      // number of candidates at which some are dropped
	floorChoice weighted // candidates after it are dropped, if minWeight is set
	minWeight   float64  // weight of floorChoice; -Inf: not set
	kept        map[uint64]keptOf
}

// A keptOf counts the candidates with the same key, and holds the last of these candidates.
type keptOf struct {
	last  candidate
	count int
}

// limits are the largest numbers of addresses of one host and one niche in a batch; 0: no limit.
type limits struct {
	perHost, perNiche int
	budget            *budget // budget of the whole crawl
}

func newChooser(n int, l limits, share Group, compareURLs func(a, b uint32) int) *chooser {
	return &chooser{
		n: n, limits: l, shareBy: share, compareURLs: compareURLs,
		crossed: (l.perHost > 0 || share == ByHost) && (l.perNiche > 0 || share == ByNiche),
		pruneAt: n + max(n, 1024), minWeight: math.Inf(-1), kept: map[uint64]keptOf{},
	}
}

// compare orders candidates by descending priority, then by URL.
func (c *chooser) compare(a, b candidate) int {
	if a.priority != b.priority {
		return cmp.Compare(b.priority, a.priority)
	}
	return c.compareURLs(a.id, b.id)
}

// compareWeighted orders choices by descending weight, then by ascending number of addresses
// taken of the group, then by compare.
func (c *chooser) compareWeighted(a, b weighted) int {
	if order := cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.taken, b.taken)); order != 0 {
		return order
	}
	return c.compare(a.candidate, b.candidate)
}

// groupOf returns the group of e in a shared batch.
func (c *chooser) groupOf(e candidate) uint32 {
	switch c.shareBy {
	case ByHost:
		return e.host
	case ByNiche:
		return e.niche
	}
	return 0
}

// key identifies the candidates that compete with e under the same limits: candidates of the same
// host, the same niche, or both.
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

// groupKey returns a key for the group of e in a shared batch. It differs from all keys
// returned by key.
func (c *chooser) groupKey(e candidate) uint64 { return uint64(c.groupOf(e))<<32 | math.MaxUint32 }

// maxPerKey returns the largest number of candidates of one key in the batch.
func (c *chooser) maxPerKey() int {
	n := c.n
	for _, limit := range []int{c.limits.perHost, c.limits.perNiche} {
		if limit > 0 {
			n = min(n, limit)
		}
	}
	return n
}

func (c *chooser) offer(e candidate) {
	if e.priority >= c.minWeight {
		c.consider(e)
	}
}

// consider keeps e unless it cannot be in the batch because of better candidates.
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

// prune drops the candidates that cannot be in the batch.
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

func (c *chooser) count(key uint64, e candidate) {
	p := c.kept[key]
	if p.count == 0 || c.compare(p.last, e) < 0 {
		p.last = e
	}
	p.count++
	c.kept[key] = p
}

// keepBatch keeps a batch chosen from the candidates so far. If only one kind of group
// matters, candidates outside this batch cannot be in the final batch: later candidates never raise
// the weight of earlier candidates.
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

// pruneCrossed is prune for limits or sharing by both hosts and niches. Here a candidate may be
// refused because of a candidate that is offered later. Two bounds are still valid.
//
// Of the candidates with the same host and niche, only the best can be in the batch, at most as many
// as the smaller limit allows.
//
// A greedy choice has at least half as many addresses as any other choice. So if 2n candidates that
// could all be in one batch come before an address, n are chosen before it. In a shared
// batch this is true for 2n candidates of one group, which come before the address whatever their
// weight. It is also true for 2n candidates of different groups: their weight is their priority or, with at
// most j of one group, at least a jth of it.
func (c *chooser) pruneCrossed() {
	slices.SortFunc(c.candidates, c.compare)
	counts, maxPerKey := map[uint64]int{}, c.maxPerKey()
	kept := slices.DeleteFunc(c.candidates, func(e candidate) bool {
		if counts[c.key(e)] >= maxPerKey || counts[c.groupKey(e)] >= 2*c.n {
			return true
		}
		counts[c.key(e)]++
		if c.shareBy != NoGroup {
			counts[c.groupKey(e)]++
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

// isBelowFloor reports whether e comes after the floor choice.
func (c *chooser) isBelowFloor(e candidate) bool {
	return e.priority < c.minWeight || e.priority == c.minWeight && !math.IsInf(c.minWeight, -1) && c.floorChoice.taken == 0 && c.compare(c.floorChoice.candidate, e) < 0
}

// withGroupLimit returns the limits with at most n addresses of one group.
func (l limits) withGroupLimit(share Group, n int) limits {
	switch {
	case share == ByHost && (l.perHost == 0 || n < l.perHost):
		l.perHost = n
	case share == ByNiche && (l.perNiche == 0 || n < l.perNiche):
		l.perNiche = n
	}
	return l
}

// A tally counts the addresses of each host and niche in a batch.
type tally struct {
	limits
	hosts, niches map[uint32]int
}

// tally returns an empty tally for a batch of n addresses.
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

// admit counts e and returns true, or returns false if a limit is reached.
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

// A groupQueue holds the candidates of one group: the next candidate, and the following ones.
type groupQueue struct {
	weighted
	waiting []candidate
}

// choose chooses the batch from the candidates kept, in order.
func (c *chooser) choose() []weighted {
	slices.SortFunc(c.candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(c.groupOf(a), c.groupOf(b)), c.compare(a, b))
	})
	var queues []groupQueue // a heap by compareWeighted
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

// siftDown restores the heap order below the ith queue.
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
