package exchange

import (
	"strconv"
	"time"

	"spoor/internal/run"
)

// A ledger holds the commits of the latest generations. From them it decides what the partitions do in
// the next generation. All partitions have the same commits, so they all decide the same.
//
// Generation g begins when all partitions have committed g-1-lag: the barrier.
type ledger struct {
	s       *Settings
	commits map[int][]*Commit // by generation, then by partition; nil if there is no commit yet
}

func newLedger(s *Settings) *ledger { return &ledger{s: s, commits: map[int][]*Commit{}} }

// add adds a commit. If the ledger has a commit of that partition and generation, it keeps the first.
func (l *ledger) add(c *Commit) {
	of := l.commits[c.Generation]
	if of == nil {
		of = make([]*Commit, l.s.Partitions)
		l.commits[c.Generation] = of
	}
	if of[c.Partition] == nil {
		of[c.Partition] = c
	}
}

// missing returns the partitions whose commit of generation g is missing.
func (l *ledger) missing(g int) (list []int) {
	of := l.commits[g]
	for p := range l.s.Partitions {
		if of == nil || of[p] == nil {
			list = append(list, p)
		}
	}
	return list
}

// history returns the number of generations before the barrier that a decision depends on.
func (l *ledger) history() int { return max(rewarded, run.MostEmpty*(l.s.Lag+1)) }

// rewarded is the number of generations whose relevant pages determine the shares by reward.
const rewarded = 10

// first returns the first generation that the decision about generation next depends on.
func (l *ledger) first(next int) int { return max(1, next-1-l.s.Lag-l.history()) }

// forget removes the commits that are not needed for decisions about generation next and later ones.
func (l *ledger) forget(next int) {
	for g := range l.commits {
		if g < l.first(next)-l.s.Lag {
			delete(l.commits, g)
		}
	}
}

// A decision says what all partitions do in a generation.
type decision struct {
	total int       // addresses of all partitions
	n     []int     // addresses of each partition
	end   string    // why the crawl ends before the generation; "" if it does not
	due   time.Time // when the generation begins, if no partition has a due address; otherwise zero
}

// decide decides about generation next. The ledger must hold all commits of the generations from
// l.first(next) to next-1-lag. If there is a reason to end the crawl, there are no shares.
func (l *ledger) decide(next int) decision {
	known := next - 1 - l.s.Lag // the last generation that all partitions have committed
	if known >= 1 {
		if end, due := l.end(known); end != "" {
			return decision{end: end, n: make([]int, l.s.Partitions)}
		} else if !due.IsZero() {
			d := l.share(next, known)
			d.due = due
			return d
		}
	}
	if l.s.Generations > 0 && next > l.s.Generations {
		return decision{end: run.EndGenerations, n: make([]int, l.s.Partitions)}
	}
	return l.share(next, known)
}

// end returns the reason to end the crawl after generation known, "" if there is none. In this case, if
// no partition has a due address, it returns when the next address becomes due.
func (l *ledger) end(known int) (reason string, due time.Time) {
	stop := false
	for _, c := range l.commits[known] {
		stop = stop || c.Stop
	}
	switch {
	case l.s.Pages > 0 && l.spent(known) >= l.s.Pages:
		return run.EndPages, due
	case stop:
		return run.EndStopped, due
	}
	// From a generation without outcomes the strategies learn that no address is left; then they may
	// propose more. With a lag, addresses of earlier generations can still be on their way.
	idle, added := 0, 0
	for g := known; g >= 1 && l.commits[g] != nil && l.outcomes(g) == 0; g-- {
		idle++
		if idle <= l.s.Lag+1 {
			for _, c := range l.commits[g] {
				added += c.Added
			}
		}
	}
	if idle <= l.s.Lag {
		return "", due
	}
	var at time.Time
	for _, c := range l.commits[known] {
		d, _ := parseTime(c.Due) // checked by parseCommit
		a, _ := parseTime(c.At)
		if !d.IsZero() && (due.IsZero() || d.Before(due)) {
			due = d
		}
		if a.After(at) {
			at = a
		}
	}
	switch {
	case !due.IsZero() && due.Sub(at).Seconds() > l.s.Patience:
		return run.EndNotDue, time.Time{}
	case !due.IsZero():
		return "", due
	case added == 0 || idle >= run.MostEmpty*(l.s.Lag+1):
		return run.EndEmpty, time.Time{}
	}
	return "", time.Time{}
}

// outcomes returns the number of outcomes of all partitions in a generation.
func (l *ledger) outcomes(g int) (n int) {
	for _, c := range l.commits[g] {
		n += c.Outcomes
	}
	return n
}

// spent returns the cost of all partitions up to generation g.
func (l *ledger) spent(g int) (cost int) {
	for _, c := range l.commits[g] {
		cost += c.Spent
	}
	return cost
}

// total returns how many addresses all partitions together fetch in generation g. It assumes that the
// generations between the barrier and g cost as much as they may, so the budget is never exceeded.
func (l *ledger) total(g int) int {
	if of := l.commits[g]; of != nil {
		for _, c := range of {
			if c != nil {
				return c.Total
			}
		}
	}
	total := l.s.Partitions * l.s.Size
	if l.s.Pages == 0 {
		return total
	}
	known := max(0, g-1-l.s.Lag)
	left := l.s.Pages - l.spent(known)
	for between := known + 1; between < g; between++ {
		left -= l.total(between)
	}
	return max(0, min(total, left))
}

// share divides the addresses of generation next among the partitions, given the commits up to
// generation known.
func (l *ledger) share(next, known int) decision {
	d := decision{total: l.total(next)}
	if l.s.Share == ByPriority && known >= 1 {
		best := make([][]float64, l.s.Partitions)
		for p, c := range l.commits[known] {
			best[p] = c.Best
		}
		d.n = shareByPriority(d.total, best)
		return d
	}
	partitions := make([]record, l.s.Partitions)
	send := func(blocks []Block) {
		for _, b := range blocks {
			if p, err := strconv.Atoi(b.To); err == nil && 0 <= p && p < len(partitions) {
				partitions[p].waiting += b.Records
			}
		}
	}
	if known < 1 {
		send(l.s.Seeds)
	}
	for g := known; g > known-rewarded && g >= 1; g-- {
		for p, c := range l.commits[g] {
			partitions[p].relevant += c.Relevant
			partitions[p].cost += c.Cost
			if g == known {
				partitions[p].waiting += c.Waiting
				for _, b := range c.Blocks {
					if b.To != strconv.Itoa(p) { // Waiting includes its own blocks
						send([]Block{b})
					}
				}
			}
		}
	}
	d.n = shareByReward(next, d.total, partitions)
	return d
}
