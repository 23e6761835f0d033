package frontier

import (
	"fmt"
	"strings"
	"time"

	"spoor/internal/wire"
)

// This file limits the number of pages of each host and niche in the whole crawl. While fetched
// pages and leased URLs together reach the limit, no further URLs are leased. When the fetched pages
// alone reach the limit, the remaining URLs are excluded with the budget as the reason. URLs are
// chosen when they are leased, so the budget is used for the best URLs.

// A budget holds the limits of hosts and niches, and the numbers of pages that use them up. Seeds
// are not limited.
type budget struct {
	x                     *index
	perHost, perNiche     int      // 0: any number
	hostPages, nichePages []uint32 // pages fetched, and addresses leased
}

// admits reports whether e is within the budget of a batch that has ofHost and ofNiche
// addresses of its host and niche. A nil budget admits everything.
func (b *budget) admits(e candidate, ofHost, ofNiche int) bool {
	p := history{}
	if b != nil {
		p = b.x.history(e.id)
	}
	if b == nil || b.x.isSeed(e.id) || p.class == classFailed || p.isFinal() { // a page is counted once, however often it is requested
		return true
	}
	return (b.perHost == 0 || int(b.hostPages[e.host])+ofHost < b.perHost) &&
		(b.perNiche == 0 || int(b.nichePages[e.niche])+ofNiche < b.perNiche)
}

// nicheOf returns the number of a URL's niche. A URL without a known niche belongs to a niche
// of its host. other is the number of the name that replaces all unknown niches.
func (x *index) nicheOf(h *hot, other uint16) uint32 {
	if h.niche != 0 && h.niche != other {
		return uint32(h.niche)
	}
	return maxNames + h.host
}

// newBudget returns the budget of a request, and excludes the URLs of hosts and niches whose budget
// is used up. It returns nil if there are no limits.
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

// freeReasons reports for each reason whether an outcome with this reason needs no request.
func (x *index) freeReasons() []bool {
	free := make([]bool, len(x.reasons.list))
	for i, reason := range x.reasons.list {
		free[i] = strings.HasPrefix(reason, wire.ErrorScopeDepth) || (&wire.Record{Error: reason}).Free()
	}
	return free
}

// excludeOverBudget excludes waiting URLs whose host or niche has used up its budget.
func (s *Store) excludeOverBudget(b *budget, generation uint64, now time.Time) error {
	x := s.x
	other := x.niches.numbers[otherName]
	var exclusions []exclusion
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
			exclusions = append(exclusions, exclusion{id, wire.ErrorHostBudget, fmt.Sprintf("the host has given %d pages", b.perHost)})
		case b.perNiche > 0 && int(b.nichePages[x.nicheOf(h, other)]) >= b.perNiche:
			exclusions = append(exclusions, exclusion{id, wire.ErrorNicheBudget, fmt.Sprintf("the niche has given %d pages", b.perNiche)})
		}
	}
	return s.exclude(exclusions)
}
