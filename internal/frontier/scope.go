package frontier

import (
	"slices"
	"strconv"
	"strings"

	"spoor/internal/trap"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// This file excludes URLs that do not belong to the crawl.
//
// As for traps, nothing is decided when a URL is added, because the decision may depend on the hosts
// of the seeds, and seeds may be added last. [Store.Commit] decides on all URLs proposed since the
// last batch was leased; the next batch is leased after the decision. An exclusion is a record in
// the log, an outcome without a fetch, so that replaying the log runs no rules.
//
// There are three kinds of exclusions. A URL without include rule, or on another host
// (out_of_scope), waits again if it is added as a seed. A URL that is too many links away from
// a seed (scope_depth) waits again if it is added as a seed, or proposed at a smaller depth. A URL
// that a rule excludes (scope_excluded) stays excluded, even if it is a seed. [Store.Forget] ends
// exclusions of all kinds.

// A Scope decides which URLs belong to a crawl.
type Scope interface {
	// NeedsSeeds reports whether decisions depend on the seeds, which AddSeed then receives.
	NeedsSeeds() bool
	AddSeed(u weburl.URL)

	// Decide returns why a URL at a depth does not belong to the crawl: one of the errors
	// out_of_scope, scope_excluded and scope_depth, and the rule. For scope_depth the rule is
	// "depth N", where N is the greatest depth that belongs to the crawl.
	Decide(u weburl.URL, depth int, isSeed bool) (reason, rule string)
}

// A scopeState holds the URLs to decide on at the next commit.
type scopeState struct {
	proposed []uint32 // since the last commit, with duplicates
	complete bool     // whether that is all of them
}

// recordProposal notes that a URL has a new proposal.
func (s *Store) recordProposal(id uint32) {
	t := &s.scope
	if s.options.Scope == nil || !t.complete {
		return
	}
	t.proposed = append(t.proposed, id)
	if len(t.proposed) > s.x.len()+1<<16 { // mostly duplicates
		*t = scopeState{}
	}
}

// excludeOutOfScope excludes the URLs proposed since the last commit that are out of scope. The
// first commit after the store was opened decides on all URLs proposed since the last batch, or on
// all that wait.
func (s *Store) excludeOutOfScope() error {
	scope := s.options.Scope
	if scope == nil || s.options.ReadOnly {
		return nil
	}
	t := &s.scope
	all := s.options.RecheckScope && !t.complete
	if !t.complete {
		since := s.lastBatchPosition()
		t.proposed = t.proposed[:0]
		for id := range uint32(s.x.len()) {
			if all || s.log.position(s.x.cold.at(id).proposal) > since || scope.NeedsSeeds() && s.x.isSeed(id) {
				t.proposed = append(t.proposed, id)
			}
		}
	}
	slices.Sort(t.proposed)
	t.proposed = slices.Compact(t.proposed)
	if scope.NeedsSeeds() {
		for _, id := range t.proposed {
			if s.x.isSeed(id) {
				u, err := weburl.Parse(s.x.url(id))
				if err != nil {
					return err
				}
				scope.AddSeed(u)
			}
		}
	}
	var exclusions []exclusion
	for _, id := range t.proposed {
		if !s.isWaiting(id) {
			continue
		}
		u, err := weburl.Parse(s.x.url(id))
		if err != nil {
			return err
		}
		isSeed := s.x.isSeed(id)
		reason, rule := scope.Decide(u, int(s.x.cold.at(id).depth), isSeed)
		switch {
		case reason == "" || isSeed && reason != wire.ErrorScopeExcluded:
		case reason == wire.ErrorScopeDepth && !all && s.x.hot.at(id).flags&flagTrapChecked != 0:
			// It waited at a smaller depth before, and is only proposed again.
		default:
			exclusions = append(exclusions, exclusion{id, trap.Rule(reason), rule})
		}
	}
	if err := s.exclude(exclusions); err != nil {
		return err
	}
	t.proposed, t.complete = t.proposed[:0], true
	s.options.RecheckScope = false
	return nil
}

// isWaiting reports whether a URL waits to be requested and is not leased.
func (s *Store) isWaiting(id uint32) bool {
	h := s.x.hot.at(id)
	return h.flags&(flagProposed|flagFinished|flagWithdrawn|flagLeased) == flagProposed && s.x.history(id).class <= classExcluded
}

// depthReason returns the reason of an exclusion by depth, which has the greatest depth that is
// permitted: "scope_depth 3" for the rule "depth 3".
func depthReason(rule string) string {
	n, err := strconv.ParseUint(strings.TrimPrefix(rule, "depth "), 10, 16)
	if err != nil {
		return wire.ErrorScopeDepth
	}
	return wire.ErrorScopeDepth + " " + strconv.FormatUint(n, 10)
}

// staysExcluded reports whether the exclusion in p of a URL holds for its proposal.
func (x *index) staysExcluded(id uint32, p *history) bool {
	reason := x.reasons.list[p.reason]
	if reason == wire.ErrorScopeExcluded {
		return true
	}
	if x.isSeed(id) {
		return false
	}
	if limit, ok := strings.CutPrefix(reason, wire.ErrorScopeDepth+" "); ok {
		n, err := strconv.Atoi(limit)
		return err != nil || int(x.cold.at(id).depth) > n
	}
	return true
}
