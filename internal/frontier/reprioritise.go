package frontier

import (
	"cmp"
	"errors"
	"math"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// This file changes what a URL is wanted for within a generation, where the rules
// would keep the highest priority. The record that asks for the URL is added once
// more, with the new priority and a revision that is one higher: of two records of a
// generation that of the higher revision wins. So what add is given stays
// independent of order and repetition, and only the command looks at what is there.

// The errors of [Store.Reprioritise] about a URL.
var (
	ErrUnknown = errors.New("is not in the store")
	ErrSettled = errors.New("does not wait: it is visited or skipped")
)

// Reprioritise gives the URL of rec the priority of rec, null included, and tells
// what it made of it, as [Store.Add] does; the error of what is refused may be
// [ErrUnknown] or [ErrSettled]. A record of a later generation still wins over it.
func (s *Store) Reprioritise(rec *wire.Record) (Verdict, error) {
	if s.failed != nil {
		return Failed, s.failed
	}
	u, err := weburl.Parse(rec.URL)
	if err != nil {
		return Refused, err
	}
	id, ok := s.x.find(u)
	if !ok || !s.x.isKnown(id) {
		return Refused, ErrUnknown
	}
	h := s.x.hot.at(id)
	if h.flags&(flagProposed|flagFinished) != flagProposed {
		return Refused, ErrSettled
	}
	null := rec.Priority.Kind == wire.Null
	if null == (h.flags&flagWithdrawn != 0) && (null || rec.Priority.Or(0) == h.priority) {
		return Known, nil
	}
	line, err := s.log.line(s.x.cold.at(id).proposal)
	if err != nil {
		return s.fail(err)
	}
	var proposal wire.Record
	if err := s.decoder.decode(line, &proposal); err != nil {
		return s.fail(err)
	}
	if h.flags&flagFromUnfinal != 0 {
		proposal.Drop(wire.Fetch | wire.Parse | wire.Score | wire.Body)
	}
	proposal.Priority = rec.Priority
	proposal.Revision = int(revision(&proposal)) + 1
	proposal.Touch(wire.Address)
	return s.Add(&proposal)
}

// revision is how often the priority of rec was changed.
func revision(rec *wire.Record) uint32 { return uint32(clamp(rec.Revision, math.MaxInt32-1)) }

// compareRevisions compares f with the wish of id. It is needed only where one of
// them was reprioritised, so the index has no room for what decides.
func (s *Store) compareRevisions(f *update, id uint32) (int, error) {
	current := uint32(0)
	if s.x.hot.at(id).flags&flagRevised != 0 {
		line, err := s.log.line(s.x.cold.at(id).proposal)
		if err != nil {
			return 0, err
		}
		var rec wire.Record
		if err := s.decoder.decode(line, &rec); err != nil {
			return 0, err
		}
		current = revision(&rec)
	}
	return cmp.Compare(f.revision, current), nil
}
