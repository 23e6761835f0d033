package frontier

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// This file defines the effect of a record on the state. Each rule chooses the maximum of two
// values under a total order, so the state does not depend on the order of records, and adding
// a record again does not change it. A record without an effect is not written to the log.

const (
	maxParents = 16 // parents of a URL; the first in alphabetical order are kept
	maxHops    = 20 // redirects in a chain
	maxRetries = 3  // a URL with more failures is given up
)

// An update is a record, decoded to the fields of the index.
type update struct {
	url        weburl.URL
	class      uint8 // of the outcome; classNone for an address
	generation uint32
	depth      uint16
	retries    uint8 // failed attempts, including this one
	revision   uint32
	visits     uint32 // final outcomes before this one; 0 for an address
	withdrawn  bool
	priority   float64
	operator   string
	niche      string
	reason     string
	parents    []string
	hops       []weburl.URL // redirects: other URLs with the same outcome
	delayedURL weburl.URL   // the host of this URL must not be requested before delayUntil
	delayUntil uint32       // second; 0: no delay
	simhash    uint64       // simhash of the page; 0: unknown
	due        uint32
	returned   bool // unfetched
	rec        *wire.Record
	line       []byte // line of the record in the log; nil until Store.lineOf encodes it
}

// set sets f from rec. It returns an error if rec is invalid.
func (f *update) set(rec *wire.Record) error {
	u, err := weburl.Parse(rec.URL)
	if err != nil {
		return err
	}
	if rec.URL != u.String() {
		rec.URL = u.String()
		rec.Touch(wire.Address)
	}
	*f = update{
		url:        u,
		generation: uint32(clamp(rec.Generation, math.MaxUint32-1)),
		depth:      uint16(clamp(rec.Depth, math.MaxUint16)),
		retries:    uint8(clamp(rec.Retries, math.MaxUint8-1)),
		revision:   revision(rec),
		withdrawn:  rec.Priority.Kind == wire.Null,
		priority:   rec.Priority.Or(0) + 0, // turns negative zero into zero
		operator:   rec.Operator,
		niche:      rec.Niche,
		parents:    rec.Parents,
		hops:       f.hops[:0],
		rec:        rec,
	}
	if rec.IsOutcome() {
		f.setOutcome(rec)
	} else {
		f.due = seconds(rec.NotBefore)
	}
	if f.class != classFailed { // only a failure can be the reason for giving up
		f.retries = min(f.retries, maxRetries)
	}
	return nil
}

func clamp(n, limit int) int { return max(0, min(n, limit)) }

func (f *update) setOutcome(rec *wire.Record) {
	delayUntil := seconds(rec.NotBefore)
	f.delayUntil, f.delayedURL = delayUntil, f.url
	if u, err := weburl.Parse(rec.FinalURL); err == nil {
		f.delayedURL = u
	}
	f.reason = rec.Error
	if f.reason == "" {
		f.reason = strconv.Itoa(rec.StatusCode)
	}
	f.visits = visits(rec)
	f.returned = rec.Error == wire.ErrorBudget
	switch {
	case rec.Excluded():
		f.class, f.visits = classExcluded, 0
		if rec.Error == wire.ErrorScopeDepth {
			f.reason = depthReason(rec.ErrorDetail)
		}
	case f.returned && delayUntil != 0 && f.delayedURL.Host() != f.url.Host():
		// The address redirects to a host that must not be requested yet. The delay of this
		// host alone does not prevent that the address is leased again at once.
		f.class, f.due = classFailed, delayUntil
	case f.returned:
		f.class, f.visits = classBudget, 0
	case !rec.Final():
		f.class = classFailed
		f.retries++
		f.due = delayUntil
		if at := seconds(rec.Timestamp); delayUntil == 0 && at != 0 {
			wait := backOff(int(f.retries))
			if f.visits > 0 && f.retries > maxRetries { // the page existed before, and may exist again
				wait = max(wait, revisitInterval(rec))
			}
			f.due = addSeconds(at, wait)
		}
		if f.visits > 0 {
			f.due = max(f.due, 1) // 0 would mean never
		}
	case rec.Error != "":
		f.class = classRefused
		if f.visits > 0 {
			f.due = nextVisit(rec)
		}
	default:
		f.class, f.reason, f.due = classDone, "", nextVisit(rec)
		f.simhash, _ = strconv.ParseUint(rec.Simhash, 16, 64) // 0 if invalid
	}
	if f.class < classRefused {
		return
	}
	if f.delayedURL != f.url {
		f.hops = append(f.hops, f.delayedURL)
	}
	for i := range rec.Redirects[:min(len(rec.Redirects), maxHops)] {
		if u, err := weburl.Parse(rec.Redirects[i].URL); err == nil && u != f.url {
			f.hops = append(f.hops, u)
		}
	}
}

// backOff returns how long to wait after the nth failure: a minute, doubling up to a day.
func backOff(n int) time.Duration {
	return min(time.Minute<<min(n-1, 20), 24*time.Hour)
}

// seconds parses an RFC 3339 time as Unix seconds, rounded up; it returns 0 if s is invalid.
func seconds(s string) uint32 {
	if s == "" {
		return 0
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0
	}
	return secondsOf(t)
}

func secondsOf(t time.Time) uint32 {
	n := t.Unix()
	if t.Nanosecond() > 0 {
		n++
	}
	return uint32(max(0, min(n, math.MaxUint32)))
}

func addSeconds(at uint32, d time.Duration) uint32 {
	return uint32(min(int64(at)+int64(d/time.Second), math.MaxUint32))
}

// apply applies an update, whose line is or will be at p, and reports whether anything
// changed.
func (s *Store) apply(f *update, p place) (changed bool, err error) {
	x := s.x
	id, isNew := x.intern(f.url)
	err = s.recount(id, func() error {
		var err error
		if changed, err = s.applyProposal(id, f, p); err != nil {
			return err
		}
		changed = s.merge(id, f) || changed || isNew
		if f.class == classNone {
			return nil
		}
		outcomeChanged, err := s.applyOutcome(id, f, p, true)
		changed = outcomeChanged || changed
		return err
	})
	for i := 0; i < len(f.hops) && err == nil; i++ {
		id, _ := x.intern(f.hops[i])
		err = s.recount(id, func() error {
			outcomeChanged, err := s.applyOutcome(id, f, p, false)
			changed = outcomeChanged || changed
			return err
		})
	}
	return changed, err
}

// merge applies the fields of f that are valid even if another record takes precedence: parents,
// failed attempts, the end of a lease, and the delay of a host.
func (s *Store) merge(id uint32, f *update) (changed bool) {
	x := s.x
	changed = s.addParents(id, f.parents)
	if (f.class != classNone || f.retries > 0) && f.hasMoreRetries(x.history(id)) {
		p := x.mutableHistory(id)
		p.retries, p.retriesVisit, changed = f.retries, f.visits, true
		if f.class == classFailed && !f.returned {
			x.hot.at(id).flags &^= flagLeased // the attempt ended
		}
		x.updateFinished(id)
	}
	h := x.hot.at(id)
	if f.returned && (h.flags&flagLeasedByClock != 0 || h.flags&flagLeasedByGeneration != 0 && x.history(id).lease == f.generation) {
		h.flags &^= flagLeased
		changed = true
	}
	if f.delayUntil != 0 {
		if h := x.hosts.at(x.internHost(f.delayedURL.Host())); f.delayUntil > h.notBefore {
			h.notBefore, changed = f.delayUntil, true
		}
	}
	return changed
}

func (s *Store) applyResidue(f *update) {
	id, _ := s.x.intern(f.url)
	s.merge(id, f)
}

// hasMoreRetries reports whether f has more failures than p or belongs to a later visit.
// Failures of earlier visits and of completed visits are ignored.
func (f *update) hasMoreRetries(p history) bool {
	ended := p.class >= classRefused && p.visits == f.visits
	return f.visits > p.retriesVisit || f.visits == p.retriesVisit && f.retries > p.retries && !ended
}

// proposalRank returns the precedence of f as the proposal of a URL. It is highest for the
// address section of a final outcome, which holds why the URL was requested, lower for an
// address, and lowest for the address section of any other outcome.
func (f *update) proposalRank() int {
	switch {
	case f.class >= classRefused:
		return 2
	case f.class == classNone:
		return 1
	}
	return 0
}

// proposalRank returns the precedence of the current proposal.
func (h *hot) proposalRank() int {
	switch {
	case h.flags&flagFromFinal != 0:
		return 2
	case h.flags&flagFromUnfinal == 0:
		return 1
	}
	return 0
}

// applyProposal makes f the proposal of a URL if it takes precedence: by rank, then by the
// later generation, the higher revision (see reprioritise.go), the higher priority (a
// withdrawal is lower than any), the smaller depth, and, to break ties, the smaller hash of
// the line.
func (s *Store) applyProposal(id uint32, f *update, p place) (bool, error) {
	h, c := s.x.hot.at(id), s.x.cold.at(id)
	order := 1
	if h.flags&flagProposed != 0 {
		order = cmp.Or(
			cmp.Compare(f.proposalRank(), h.proposalRank()),
			cmp.Compare(f.generation, c.generation))
		if order == 0 && (f.revision > 0 || h.flags&flagRevised != 0) {
			var err error
			if order, err = s.compareRevisions(f, id); err != nil {
				return false, err
			}
		}
		order = cmp.Or(order,
			cmp.Compare(boolToInt(h.flags&flagWithdrawn != 0), boolToInt(f.withdrawn)),
			cmp.Compare(f.priority, h.priority),
			-cmp.Compare(f.depth, c.depth))
	}
	if order < 0 {
		return false, nil
	}
	line, err := s.lineOf(f)
	if err != nil {
		return false, err
	}
	lineHash := uint32(hash64(0, unsafeString(line)) >> 32)
	if order == 0 && lineHash >= c.lineHash {
		return false, nil
	}
	if h.flags&(flagProposed|flagWithdrawn) == flagProposed && s.isBeforeLastBatch(c.proposal) {
		h.flags |= flagTrapChecked
	}
	s.recordChange(id)
	s.recordProposal(id)
	c.proposal, c.generation, c.depth, c.lineHash = p, f.generation, f.depth, lineHash
	c.operator = uint8(s.x.operators.number(f.operator))
	h.priority = f.priority
	h.niche = s.x.niches.number(f.niche)
	h.flags &^= flagWithdrawn | flagFromUnfinal | flagFromFinal | flagRevised
	h.flags |= flagProposed
	if h.flags&flagHistory != 0 || f.due != 0 {
		if e := s.x.mutableHistory(id); e.class < classFailed { // otherwise the outcome determines when it is due
			e.due = f.due
		}
	}
	if f.revision > 0 {
		h.flags |= flagRevised
	}
	if f.withdrawn {
		h.flags |= flagWithdrawn
	}
	switch f.proposalRank() {
	case 2:
		h.flags |= flagFromFinal
	case 0:
		h.flags |= flagFromUnfinal
	}
	s.x.updateFinished(id)
	return true, nil
}

// applyOutcome makes f the outcome of a URL if it takes precedence: by the later visit, then the
// higher class, then an outcome of the URL itself over one of a URL that redirects to it, then
// more retries, the later generation, the later timestamp, the later lastmod, and, to break
// ties, the larger line.
func (s *Store) applyOutcome(id uint32, f *update, p place, isOwn bool) (bool, error) {
	h, current := s.x.hot.at(id), s.x.history(id)
	visits := f.visits
	if !isOwn { // f has the number of visits of the URL that redirects here
		visits = 0
	}
	order := cmp.Or(
		cmp.Compare(visits, current.visits),
		cmp.Compare(f.class, current.class),
		cmp.Compare(boolToInt(isOwn), boolToInt(h.flags&flagOwnOutcome != 0)))
	if order == 0 && p != current.outcome {
		var err error
		if order, err = s.compareOutcomes(f, current.outcome); err != nil {
			return false, err
		}
	}
	if order <= 0 {
		return false, nil
	}
	s.recordChange(id)
	history := s.x.mutableHistory(id)
	history.class, history.outcome, history.visits = f.class, p, visits
	if f.class >= classFailed {
		history.due = f.due
	}
	if f.class >= classRefused && visits == history.retriesVisit {
		history.retries = 0
	}
	history.reason = s.x.reasons.number(f.reason)
	history.simhash = 0
	if isOwn {
		history.simhash = f.simhash
	}
	h.flags &^= flagOwnOutcome
	if isOwn {
		h.flags |= flagOwnOutcome
		if f.class >= classRefused {
			h.flags &^= flagLeased
		}
	}
	s.x.updateFinished(id)
	return true, nil
}

// compareOutcomes compares f with the outcome at p. Both have the same visit and class. This case
// is rare, so the deciding fields are not in the index.
func (s *Store) compareOutcomes(f *update, p place) (int, error) {
	mine, err := s.lineOf(f)
	if err != nil {
		return 0, err
	}
	theirs, err := s.log.line(p)
	if err != nil || bytes.Equal(mine, theirs) {
		return 0, err
	}
	var a, b wire.Record
	if err := decode(mine, &a); err != nil {
		return 0, err
	}
	if err := decode(theirs, &b); err != nil {
		return 0, err
	}
	return cmp.Or(
		cmp.Compare(a.Retries, b.Retries),
		cmp.Compare(a.Generation, b.Generation),
		cmp.Compare(a.Timestamp, b.Timestamp),
		cmp.Compare(parseLastMod(a.LastMod), parseLastMod(b.LastMod)),
		bytes.Compare(mine, theirs)), nil
}

// addParents adds parents to a URL, keeps the first maxParents in alphabetical order, and reports
// whether the parents of the URL changed.
func (s *Store) addParents(id uint32, parents []string) (changed bool) {
	if len(parents) == 0 {
		return false
	}
	x := s.x
	var memory [maxParents + 1]uint32
	merged := append(memory[:0], x.parents(id)...)
	for _, p := range parents {
		u, err := weburl.Parse(p)
		if err != nil {
			continue
		}
		parent, _ := x.intern(u)
		i, ok := slices.BinarySearchFunc(merged, parent, x.compareURLs)
		if ok || i == maxParents {
			continue
		}
		merged = slices.Insert(merged, i, parent)
		merged = merged[:min(len(merged), maxParents)]
		changed = true
	}
	if changed {
		x.setParents(id, merged)
	}
	return changed
}
