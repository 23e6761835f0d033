package frontier

import (
	"fmt"
	"time"

	"spoor/internal/wire"
)

// This file is the budgets of hosts and niches: how many pages each may give in the
// whole crawl. What is more than that is withheld as long as answers are awaited that
// may come to nothing, and barred when the budget is spent: then it is skipped, with
// the budget for its reason. Which addresses a host spends its budget on is decided
// when they are handed out, so that they are its best.

// A budget is what may still be handed out. What a person asks for is not limited.
type budget struct {
	x                     *index
	perHost, perNiche     int      // 0: any number
	hostPages, nichePages []uint32 // how many of each were handed out, and have an answer or await it
}

// admits tells whether e is within the budget if a batch has so many of its host and
// niche already.
func (b *budget) admits(e candidate, ofHost, ofNiche int) bool {
	p := history{}
	if b != nil {
		p = b.x.history(e.id)
	}
	if b == nil || b.x.isSeed(e.id) || p.class == classFailed || p.isFinal() { // a page is counted once, however often it is tried
		return true
	}
	return (b.perHost == 0 || int(b.hostPages[e.host])+ofHost < b.perHost) &&
		(b.perNiche == 0 || int(b.nichePages[e.niche])+ofNiche < b.perNiche)
}

// nicheOf is the niche of a URL; one that has none that is known is in that of its
// host. The number of all niches that are not known apart is other.
func (x *index) nicheOf(h *hot, other uint16) uint32 {
	if h.niche != 0 && h.niche != other {
		return uint32(h.niche)
	}
	return maxNames + h.host
}

// budget counts what was spent, and bars what waits of hosts and niches that have
// nothing left. It is nil if there are no limits.
func (s *Store) newBudget(q Request) (*budget, error) {
	if q.MaxPerHost == 0 && q.MaxPerNiche == 0 {
		return nil, nil
	}
	x := s.x
	generation := s.nextGeneration - 1
	if q.Generation >= 0 {
		generation = uint64(q.Generation)
	}
	b := &budget{x, q.MaxPerHost, q.MaxPerNiche, make([]uint32, x.hosts.n), make([]uint32, maxNames+x.hosts.n)}
	free, other := x.freeReasons(), x.niches.numbers[otherName]
	var leased []*hot
	for id := range uint32(x.len()) {
		h := x.hot.at(id)
		if h.flags&flagHistory == 0 {
			continue
		}
		p := x.history(id)
		switch {
		case p.class >= classFailed && p.class != classExcluded && h.flags&flagOwnOutcome != 0 && !free[p.reason]:
			b.hostPages[h.host]++
			b.nichePages[x.nicheOf(h, other)]++
		case h.flags&flagLeased != 0 && s.leased(h, p.lease, generation, q.Now):
			leased = append(leased, h)
		}
	}
	if err := s.excludeOverBudget(b, generation, q.Now); err != nil {
		return nil, err
	}
	for _, h := range leased {
		b.hostPages[h.host]++
		b.nichePages[x.nicheOf(h, other)]++
	}
	return b, nil
}

// freeReasons tells of every reason whether nobody was asked for it.
func (x *index) freeReasons() []bool {
	free := make([]bool, len(x.reasons.list))
	for i, reason := range x.reasons.list {
		free[i] = (&wire.Record{Error: reason}).Free()
	}
	return free
}

// barSpent bars what waits where the answers alone use up the budget.
func (s *Store) excludeOverBudget(b *budget, generation uint64, now time.Time) error {
	x := s.x
	other := x.niches.numbers[otherName]
	var verdicts []exclusion
	for id := range uint32(x.len()) {
		h := x.hot.at(id)
		if h.flags&(flagProposed|flagFinished|flagWithdrawn) != flagProposed || x.isSeed(id) {
			continue
		}
		if p := x.history(id); p.class >= classFailed || s.leased(h, p.lease, generation, now) {
			continue
		}
		switch {
		case b.perHost > 0 && int(b.hostPages[h.host]) >= b.perHost:
			verdicts = append(verdicts, exclusion{id, wire.ErrorHostBudget, fmt.Sprintf("the host has given %d pages", b.perHost)})
		case b.perNiche > 0 && int(b.nichePages[x.nicheOf(h, other)]) >= b.perNiche:
			verdicts = append(verdicts, exclusion{id, wire.ErrorNicheBudget, fmt.Sprintf("the niche has given %d pages", b.perNiche)})
		}
	}
	return s.exclude(verdicts)
}
