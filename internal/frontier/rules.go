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
type fact struct {
	url      weburl.URL
	class    uint8 // classNone: an address
	asked    uint32
	depth    uint16
	retries  uint8 // failed attempts, this one included
	null     bool
	priority float64
	operator string
	reason   string
	parents  []string
	hops     []weburl.URL // what else the outcome is an outcome of
	asks     weburl.URL   // whose host asks not to be asked before
	before   uint32
	due      uint32
	rec      *wire.Record
	line     []byte // as it stands in the log; see Store.lineOf
}

// read makes f the fact that rec states. The error is about rec: it cannot be
// accepted.
func (f *fact) read(rec *wire.Record) error {
	u, err := weburl.Parse(rec.URL)
	if err != nil {
		return err
	}
	if rec.URL != u.String() {
		rec.URL = u.String()
		rec.Touch(wire.Address)
	}
	*f = fact{
		url:      u,
		asked:    uint32(clamp(rec.Generation, math.MaxUint32-1)),
		depth:    uint16(clamp(rec.Depth, math.MaxUint16)),
		retries:  uint8(clamp(rec.Retries, math.MaxUint8-1)),
		null:     rec.Priority.Kind == wire.Null,
		priority: rec.Priority.Or(0) + 0, // a negative zero becomes a zero
		operator: rec.Operator,
		parents:  rec.Parents,
		hops:     f.hops[:0],
		rec:      rec,
	}
	if rec.IsOutcome() {
		f.outcome(rec)
	}
	return nil
}

func clamp(n, limit int) int { return max(0, min(n, limit)) }

// outcome adds what an outcome says.
func (f *fact) outcome(rec *wire.Record) {
	before := seconds(rec.NotBefore)
	f.before, f.asks = before, f.url
	if u, err := weburl.Parse(rec.FinalURL); err == nil {
		f.asks = u
	}
	f.reason = rec.Error
	if f.reason == "" {
		f.reason = strconv.Itoa(rec.StatusCode)
	}
	switch {
	case rec.Error == wire.ErrorBudget:
		f.class = classBudget
	case !rec.Final():
		f.class = classFailed
		f.retries++
		f.due = before
		if at := seconds(rec.Timestamp); before == 0 && at != 0 {
			f.due = later(at, backOff(int(f.retries)))
		}
	case rec.Error != "":
		f.class = classRefused
	default:
		f.class, f.reason = classDone, ""
	}
	if f.class < classRefused {
		return
	}
	if f.asks != f.url {
		f.hops = append(f.hops, f.asks)
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

func later(at uint32, d time.Duration) uint32 {
	return uint32(min(int64(at)+int64(d/time.Second), math.MaxUint32))
}

// apply changes the index by f, whose line stands or will stand at p, and tells
// whether anything changed.
func (s *Store) apply(f *fact, p place) (changed bool, err error) {
	x := s.x
	id, fresh := x.intern(f.url)
	changed, err = s.wish(x.at(id), f, p)
	if err != nil {
		return changed, err
	}
	changed = s.inherit(id, f.parents) || changed || fresh
	e := x.at(id)
	if f.retries > e.retries {
		e.retries, changed = f.retries, true
		if f.class == classFailed {
			e.flags &^= flagLeased // that attempt is over
		}
	}
	if f.class == classNone {
		return changed, nil
	}
	if f.class == classBudget && (e.flags&flagByClock != 0 || e.flags&flagByNumber != 0 && e.lease == f.asked) {
		e.flags &^= flagLeased
		changed = true
	}
	if f.before != 0 {
		if h := &x.hosts[x.internHost(f.asks.Host())]; f.before > h.notBefore {
			h.notBefore, changed = f.before, true
		}
	}
	told, err := s.told(e, f, p, true)
	if err != nil {
		return changed, err
	}
	changed = told || changed
	for _, u := range f.hops {
		id, _ := x.intern(u)
		told, err := s.told(x.at(id), f, p, false)
		if err != nil {
			return changed, err
		}
		changed = told || changed
	}
	return changed, nil
}

// rank orders what may be the wish for a URL: the address section of a final
// outcome, which says what brought the URL in, before any address, and that
// before the address section of another outcome.
func (f *fact) rank() int {
	switch {
	case f.class >= classRefused:
		return 2
	case f.class == classNone:
		return 1
	}
	return 0
}

// rank is that of the wish that e has.
func (e *entry) rank() int {
	switch {
	case e.flags&flagBrought != 0:
		return 2
	case e.flags&flagEcho == 0:
		return 1
	}
	return 0
}

// wish takes f as the wish for e if it is the better one: by rank, then the later generation, the higher priority (a withdrawal is below
// all), the smaller depth, and, so that it is always the same, the smaller digest
// of the line.
func (s *Store) wish(e *entry, f *fact, p place) (bool, error) {
	order := 1
	if e.wish != 0 {
		order = cmp.Or(
			cmp.Compare(f.rank(), e.rank()),
			cmp.Compare(f.asked, e.asked),
			-boolCompare(f.null, e.flags&flagNull != 0),
			cmp.Compare(f.priority, e.priority),
			-cmp.Compare(f.depth, e.depth))
	}
	if order < 0 {
		return false, nil
	}
	line, err := s.lineOf(f)
	if err != nil {
		return false, err
	}
	tie := uint32(digest(0, unsafeString(line)) >> 32)
	if order == 0 && tie >= e.tie {
		return false, nil
	}
	e.wish, e.asked, e.priority, e.depth, e.tie = p, f.asked, f.priority, f.depth, tie
	e.operator = s.x.name(f.operator)
	e.flags &^= flagNull | flagEcho | flagBrought
	if f.null {
		e.flags |= flagNull
	}
	switch f.rank() {
	case 2:
		e.flags |= flagBrought
	case 0:
		e.flags |= flagEcho
	}
	return true, nil
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// told takes f as the outcome of e if it tells more than the one that is known:
// the higher class, then one of the URL itself before one that redirected to it,
// then more attempts, the later generation, the later time, and the larger line.
func (s *Store) told(e *entry, f *fact, p place, own bool) (bool, error) {
	order := cmp.Or(
		cmp.Compare(f.class, e.class),
		boolCompare(own, e.flags&flagOwn != 0))
	if order == 0 && p != e.outcome {
		var err error
		if order, err = s.compareOutcomes(f, e.outcome); err != nil {
			return false, err
		}
	}
	if order <= 0 {
		return false, nil
	}
	e.class, e.outcome, e.due = f.class, p, f.due
	e.reason = s.x.name(f.reason)
	e.flags &^= flagOwn
	if own {
		e.flags |= flagOwn
	}
	return true, nil
}

// compareOutcomes compares f with the outcome whose line is at p. It is needed
// only where a URL has two outcomes of the same kind, which is rare, so the index
// has no room for what decides.
func (s *Store) compareOutcomes(f *fact, p place) (int, error) {
	mine, err := s.lineOf(f)
	if err != nil {
		return 0, err
	}
	theirs, err := s.log.line(p)
	if err != nil || bytes.Equal(mine, theirs) {
		return 0, err
	}
	var a, b wire.Record
	if err := s.lines.decode(mine, &a); err != nil {
		return 0, err
	}
	if err := s.lines.decode(theirs, &b); err != nil {
		return 0, err
	}
	return cmp.Or(
		cmp.Compare(a.Retries, b.Retries),
		cmp.Compare(a.Generation, b.Generation),
		cmp.Compare(a.Timestamp, b.Timestamp),
		bytes.Compare(mine, theirs)), nil
}

// inherit adds parents to those of an entry and keeps the smallest by URL.
func (s *Store) inherit(id uint32, parents []string) (changed bool) {
	if len(parents) == 0 {
		return false
	}
	x := s.x
	var all [maxParents + 1]uint32
	n := copy(all[:], x.list(x.at(id)))
	for _, p := range parents {
		u, err := weburl.Parse(p)
		if err != nil {
			continue
		}
		parent, _ := x.intern(u)
		e := x.at(parent)
		i := 0
		for i < n && x.less(x.at(all[i]), e) {
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
	if !changed {
		return false
	}
	e := x.at(id)
	if old := x.list(e); len(old) == n {
		copy(old, all[:n])
		return true
	}
	e.parents = uint32(len(x.lists))
	x.lists = append(append(x.lists, uint32(n)), all[:n]...)
	return true
}
