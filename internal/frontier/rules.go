package frontier

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"time"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// This file says what a record means for the state. Every rule takes the larger
// of two things under an order that does not depend on which came first, so the
// state does not depend on the order of the records, and a record that is added
// again changes nothing. What changes nothing need not be in the log either.

const (
	maxParents = 16 // the smallest by URL
	maxHops    = 20 // of a chain of redirects
	maxRetries = 3  // more failures than that and an address is given up
)

// A fact is what a record says, in the terms of the index.
type update struct {
	url        weburl.URL
	class      uint8 // classNone: an address
	generation uint32
	depth      uint16
	retries    uint8 // failed attempts, this one included
	revision   uint32
	visits     uint32 // final outcomes before this one; 0: an address, or untried
	withdrawn  bool
	priority   float64
	operator   string
	niche      string
	reason     string
	parents    []string
	hops       []weburl.URL // what else the outcome is an outcome of
	delayedURL weburl.URL   // whose host asks not to be asked before
	delayUntil uint32
	simhash    uint64 // of the page; 0: none
	due        uint32
	rec        *wire.Record
	line       []byte // as it stands in the log; see Store.lineOf
}

// read makes f the fact that rec states. The error is about rec: it cannot be
// accepted.
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
		priority:   rec.Priority.Or(0) + 0, // a negative zero becomes a zero
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
	if f.class != classFailed { // only a failure gives up: it is the reason
		f.retries = min(f.retries, maxRetries)
	}
	return nil
}

func clamp(n, limit int) int { return max(0, min(n, limit)) }

// outcome adds what an outcome says.
func (f *update) setOutcome(rec *wire.Record) {
	before := seconds(rec.NotBefore)
	f.delayUntil, f.delayedURL = before, f.url
	if u, err := weburl.Parse(rec.FinalURL); err == nil {
		f.delayedURL = u
	}
	f.reason = rec.Error
	if f.reason == "" {
		f.reason = strconv.Itoa(rec.StatusCode)
	}
	f.visits = visits(rec)
	switch {
	case rec.Excluded():
		f.class, f.visits = classExcluded, 0
	case rec.Error == wire.ErrorBudget:
		f.class, f.visits = classBudget, 0
	case !rec.Final():
		f.class = classFailed
		f.retries++
		f.due = before
		if at := seconds(rec.Timestamp); before == 0 && at != 0 {
			wait := backOff(int(f.retries))
			if f.visits > 0 && f.retries > maxRetries { // it was there, and may be again
				wait = max(wait, revisitInterval(rec))
			}
			f.due = addSeconds(at, wait)
		}
		if f.visits > 0 {
			f.due = max(f.due, 1) // 0 would be never
		}
	case rec.Error != "":
		f.class = classRefused
		if f.visits > 0 {
			f.due = nextVisit(rec)
		}
	default:
		f.class, f.reason, f.due = classDone, "", nextVisit(rec)
		f.simhash, _ = strconv.ParseUint(rec.Simhash, 16, 64) // 0 if it is none
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

// backOff is how long to wait after the nth failure: a minute, doubling to a day.
func backOff(n int) time.Duration {
	return min(time.Minute<<min(n-1, 20), 24*time.Hour)
}

// seconds reads RFC 3339 as seconds since 1970, rounded up; 0 if it is no time.
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

// apply changes the index by f, whose line stands or will stand at p, and tells
// whether anything changed.
func (s *Store) apply(f *update, p place) (changed bool, err error) {
	x := s.x
	id, isNew := x.intern(f.url)
	changed, err = s.applyProposal(id, f, p)
	if err != nil {
		return changed, err
	}
	changed = s.merge(id, f) || changed || isNew
	if f.class == classNone {
		return changed, nil
	}
	outcomeChanged, err := s.applyOutcome(id, f, p, true)
	if err != nil {
		return changed, err
	}
	changed = outcomeChanged || changed
	for _, u := range f.hops {
		id, _ := x.intern(u)
		outcomeChanged, err := s.applyOutcome(id, f, p, false)
		if err != nil {
			return changed, err
		}
		changed = outcomeChanged || changed
	}
	return changed, nil
}

// remain changes the index by what counts of f even if other records tell more: its
// parents, its attempts, the end of a lease, and when the host wants to be asked.
func (s *Store) merge(id uint32, f *update) (changed bool) {
	x := s.x
	changed = s.addParents(id, f.parents)
	if (f.class != classNone || f.retries > 0) && f.hasMoreRetries(x.history(id)) {
		p := x.mutableHistory(id)
		p.retries, p.retriesVisit, changed = f.retries, f.visits, true
		if f.class == classFailed {
			x.hot.at(id).flags &^= flagLeased // that attempt is over
		}
		x.updateFinished(id)
	}
	h := x.hot.at(id)
	if f.class == classBudget && (h.flags&flagLeasedByClock != 0 || h.flags&flagLeasedByGeneration != 0 && x.history(id).lease == f.generation) {
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

// applyRest applies what is left of a line that was dropped.
func (s *Store) applyResidue(f *update) {
	id, _ := s.x.intern(f.url)
	s.merge(id, f)
}

// triedMore tells whether f knows of more failures than p, or of a later visit:
// failures before that do not count, nor those of a visit that has come to its end.
func (f *update) hasMoreRetries(p history) bool {
	ended := p.class >= classRefused && p.visits == f.visits
	return f.visits > p.retriesVisit || f.visits == p.retriesVisit && f.retries > p.retries && !ended
}

// rank orders what may be the wish for a URL: the address section of a final
// outcome, which says what brought the URL in, before any address, and that
// before the address section of another outcome.
func (f *update) proposalRank() int {
	switch {
	case f.class >= classRefused:
		return 2
	case f.class == classNone:
		return 1
	}
	return 0
}

// rank is that of the wish that h has.
func (h *hot) proposalRank() int {
	switch {
	case h.flags&flagFromFinal != 0:
		return 2
	case h.flags&flagFromUnfinal == 0:
		return 1
	}
	return 0
}

// wish takes f as the wish for a URL if it is the better one: by rank, then the
// later generation, the higher revision (see reprioritise.go), the higher priority
// (a withdrawal is below all), the smaller depth, and, so that it is always the
// same, the smaller digest of the line.
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
			-compareBools(f.withdrawn, h.flags&flagWithdrawn != 0),
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
	c.proposal, c.generation, c.depth, c.lineHash = p, f.generation, f.depth, lineHash
	c.operator = uint8(s.x.operators.number(f.operator))
	h.priority = f.priority
	h.niche = s.x.niches.number(f.niche)
	h.flags &^= flagWithdrawn | flagFromUnfinal | flagFromFinal | flagRevised
	h.flags |= flagProposed
	if h.flags&flagHistory != 0 || f.due != 0 {
		if e := s.x.mutableHistory(id); e.class < classFailed { // else the failure tells how long to wait
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

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// told takes f as the outcome of a URL if it tells more than the one that is known:
// that of a later visit, then the higher class, then one of the URL itself before one
// that redirected to it, then more attempts, the later generation, the later time,
// the later change that a sitemap tells, and the larger line.
func (s *Store) applyOutcome(id uint32, f *update, p place, own bool) (bool, error) {
	h, old := s.x.hot.at(id), s.x.history(id)
	visits := f.visits
	if !own { // they are of the URL that redirected here
		visits = 0
	}
	order := cmp.Or(
		cmp.Compare(visits, old.visits),
		cmp.Compare(f.class, old.class),
		compareBools(own, h.flags&flagOwnOutcome != 0))
	if order == 0 && p != old.outcome {
		var err error
		if order, err = s.compareOutcomes(f, old.outcome); err != nil {
			return false, err
		}
	}
	if order <= 0 {
		return false, nil
	}
	s.recordChange(id)
	e := s.x.mutableHistory(id)
	e.class, e.outcome, e.visits = f.class, p, visits
	if f.class >= classFailed {
		e.due = f.due
	}
	if f.class >= classRefused && visits == e.retriesVisit {
		e.retries = 0
	}
	e.reason = s.x.reasons.number(f.reason)
	e.simhash = 0
	if own {
		e.simhash = f.simhash
	}
	h.flags &^= flagOwnOutcome
	if own {
		h.flags |= flagOwnOutcome
		if f.class >= classRefused {
			h.flags &^= flagLeased
		}
	}
	s.x.updateFinished(id)
	return true, nil
}

// compareOutcomes compares f with the outcome whose line is at p. It is needed
// only where a URL has two outcomes of the same kind, which is rare, so the index
// has no room for what decides.
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
	if err := s.decoder.decode(mine, &a); err != nil {
		return 0, err
	}
	if err := s.decoder.decode(theirs, &b); err != nil {
		return 0, err
	}
	return cmp.Or(
		cmp.Compare(a.Retries, b.Retries),
		cmp.Compare(a.Generation, b.Generation),
		cmp.Compare(a.Timestamp, b.Timestamp),
		cmp.Compare(parseLastMod(a.LastMod), parseLastMod(b.LastMod)),
		bytes.Compare(mine, theirs)), nil
}

// inherit adds parents to those of a URL and keeps the smallest.
func (s *Store) addParents(id uint32, parents []string) (changed bool) {
	if len(parents) == 0 {
		return false
	}
	x := s.x
	var all [maxParents + 1]uint32
	n := copy(all[:], x.parents(id))
	for _, p := range parents {
		u, err := weburl.Parse(p)
		if err != nil {
			continue
		}
		parent, _ := x.intern(u)
		i := 0
		for i < n && x.less(all[i], parent) {
			i++
		}
		if i == maxParents || i < n && all[i] == parent {
			continue
		}
		copy(all[i+1:n+1], all[i:n])
		all[i] = parent
		n = min(n+1, maxParents)
		changed = true
	}
	if changed {
		x.setParents(id, all[:n])
	}
	return changed
}
