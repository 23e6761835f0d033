package frontier

import (
	"slices"
	"time"
)

// Counts are those of [Stats] that a crawl needs after every generation. See [Store.Counts].
type Counts struct {
	URLs         int
	Waiting      int
	Visited      int
	HostsVisited int
	Reasons      map[string]int // of skipped URLs: the error or the status
}

// Counts returns counts as of now. The first call scans all URLs, as [Store.Stats] does. Later
// calls take a time that does not depend on the number of URLs, unless a URL is leased without a
// generation.
func (s *Store) Counts(now time.Time) Counts {
	x := s.x
	if s.running == nil {
		s.running = &runningCounts{}
		for id := range uint32(x.len()) {
			s.running.add(x.hot.at(id).host, s.classify(id), 1)
		}
	}
	r := s.running
	c := Counts{URLs: r.urls, Waiting: r.states[Waiting], Visited: r.states[Visited], HostsVisited: r.hosts, Reasons: map[string]int{}}
	x.reasons.addCounts(c.Reasons, r.reasons)
	if r.leasedByClock > 0 {
		for id := range uint32(x.len()) {
			if category := s.classify(id); category.leasedByClock && s.state(id, now) == Leased {
				c.Waiting--
			}
		}
	}
	return c
}

// A category is what runningCounts counts of a URL. Time does not change it.
type category struct {
	known         bool
	state         State // Waiting if leasedByClock
	leasedByClock bool  // the state is Leased until the lease ends, and Waiting afterwards
	reason        uint16
}

func (s *Store) classify(id uint32) category {
	if !s.x.isKnown(id) {
		return category{}
	}
	c := category{known: true, state: s.state(id, time.Unix(1<<40, 0))}
	switch c.state {
	case Waiting:
		c.leasedByClock = s.x.hot.at(id).flags&flagLeasedByClock != 0
	case Skipped:
		c.reason = s.x.history(id).reason
	}
	return c
}

// runningCounts are the counts of all URLs. They are updated with every change of a category, from
// the first call of Counts on.
type runningCounts struct {
	urls          int
	states        [states]int
	leasedByClock int
	reasons       []int    // by number of the reason
	visited       []uint32 // visited URLs of each host
	hosts         int      // hosts with a visited URL
}

// add adds n, 1 or -1, URLs of a category.
func (r *runningCounts) add(host uint32, c category, n int) {
	if !c.known {
		return
	}
	r.urls += n
	r.states[c.state] += n
	if c.leasedByClock {
		r.leasedByClock += n
	}
	switch c.state {
	case Skipped:
		if missing := int(c.reason) + 1 - len(r.reasons); missing > 0 {
			r.reasons = append(r.reasons, make([]int, missing)...)
		}
		r.reasons[c.reason] += n
	case Visited:
		if missing := int(host) + 1 - len(r.visited); missing > 0 {
			r.visited = slices.Grow(r.visited, missing)[:int(host)+1]
		}
		before := r.visited[host]
		r.visited[host] += uint32(n)
		r.hosts += boolToInt(r.visited[host] > 0) - boolToInt(before > 0)
	}
}

// recount calls change, which may change the category of a URL, and updates the counts.
func (s *Store) recount(id uint32, change func() error) error {
	if s.running == nil {
		return change()
	}
	before := s.classify(id)
	err := change()
	if after := s.classify(id); after != before {
		host := s.x.hot.at(id).host
		s.running.add(host, before, -1)
		s.running.add(host, after, 1)
	}
	return err
}

// endLeases updates the counts when the leases of a generation end, because a later one was leased.
func (r *runningCounts) endLeases() {
	if r != nil {
		r.states[Waiting] += r.states[Leased]
		r.states[Leased] = 0
	}
}
