package frontier

import (
	"cmp"
	"errors"
	"math"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// This file changes the priority of a URL within a generation; the rules alone would keep the
// highest priority. The proposal is added again with the new priority and the next higher revision;
// of two records of a generation, the record with the higher revision takes precedence. So the state
// still does not depend on the order and repetition of records. Only this command depends on the
// current state.

// Errors returned by [Store.Reprioritise].
var (
	ErrUnknown = errors.New("is not in the store")
	ErrSettled = errors.New("does not wait: it was visited or skipped")
)

// Reprioritise sets the priority of a URL to the priority of rec, which may be null, and returns
// the same results as [Store.Add]. The error of a refused record may be [ErrUnknown] or
// [ErrSettled]. A record of a later generation overrides the priority.
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
	var proposal wire.Record
	if err := s.readRecord(s.x.cold.at(id).proposal, &proposal); err != nil {
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

// revision returns the number of times that the priority of rec was changed.
func revision(rec *wire.Record) uint32 { return uint32(clamp(rec.Revision, math.MaxInt32-1)) }

// compareRevisions compares the revisions of f and of the proposal of id. Revisions are not in the
// index, because few URLs are reprioritised.
func (s *Store) compareRevisions(f *update, id uint32) (int, error) {
	current := uint32(0)
	if s.x.hot.at(id).flags&flagRevised != 0 {
		var rec wire.Record
		if err := s.readRecord(s.x.cold.at(id).proposal, &rec); err != nil {
			return 0, err
		}
		current = revision(&rec)
	}
	return cmp.Compare(f.revision, current), nil
}
