package frontier

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"spoor/internal/wire"
)

// stateField introduces the state at the end of an exported line.
const stateField = `,"state":"`

// trimState removes the state at the end of an exported line, so that an export can be added
// to a store.
func trimState(line []byte) []byte {
	i := max(0, bytes.LastIndexByte(line, ','))
	name, ok := bytes.CutPrefix(line[i:], []byte(stateField))
	if !ok {
		return line
	}
	name, _ = bytes.CutSuffix(name, []byte(`"}`))
	if _, err := ParseState(string(name)); err != nil {
		return line
	}
	return append(line[:i], '}')
}

// Export writes one record for every known URL to w, in the order of the log, with its state
// as of now at the end of the line. If states are given, it writes only URLs in these states. Each
// line is one call of Write. A skipped URL has the reason as error or status. If the lines are added
// to another store, in any order, the other store has the same state, except for leases, which are
// not exported.
func (s *Store) Export(w io.Writer, now time.Time, states ...State) error {
	x := s.x
	ids := make([]uint32, 0, x.len())
	for id := range uint32(x.len()) {
		if x.isKnown(id) && (len(states) == 0 || slices.Contains(states, s.state(id, now))) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(s.log.position(x.exportPlace(a)), s.log.position(x.exportPlace(b))), cmp.Compare(a, b))
	})
	for _, id := range ids {
		line, err := s.export(id, now)
		if err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// exportPlace returns the place of the line that the export of a URL is based on.
func (x *index) exportPlace(id uint32) place {
	h, p := x.hot.at(id), x.history(id)
	if h.flags&flagProposed == 0 || p.isFinal() && h.flags&flagOwnOutcome != 0 {
		return p.outcome
	}
	return x.cold.at(id).proposal
}

// export returns the exported line of a URL, with its newline. The line is the final outcome of the
// URL itself or, if there is none, the proposal with the fields of the outcome.
func (s *Store) export(id uint32, now time.Time) ([]byte, error) {
	h, c, p := s.x.hot.at(id), s.x.cold.at(id), s.x.history(id)
	var rec, other wire.Record
	if err := s.readRecord(s.x.exportPlace(id), &rec); err != nil {
		return nil, err
	}
	switch {
	case p.outcome == 0, p.outcome == c.proposal:
	case p.class == classExcluded && h.flags&flagFinished == 0: // a seed, which is requested although it was excluded before
	case h.flags&(flagProposed|flagOwnOutcome) == 0: // known only as the target of a redirect
		other, rec = rec, wire.Record{URL: s.x.url(id), Via: rec.URL, Generation: rec.Generation, Depth: rec.Depth, Operator: "redirect"}
		setOutcome(&rec, &other)
	case s.x.exportPlace(id) != p.outcome:
		if err := s.readRecord(p.outcome, &other); err != nil {
			return nil, err
		}
		if h.flags&flagFromUnfinal != 0 {
			rec.Drop(wire.Fetch)
		}
		if rec.Visits != int(p.visits) { // the visits before the outcome, not before the proposal
			rec.Visits = int(p.visits)
			rec.Touch(wire.Address)
		}
		setOutcome(&rec, &other)
	}
	retries := int(p.retries)
	if p.class == classFailed {
		retries-- // the outcome itself is one of them
	}
	if p.class < classRefused || h.flags&flagOwnOutcome == 0 {
		s.setDerived(id, &rec, retries)
	} else {
		s.setDerived(id, &rec, rec.Retries)
	}
	b, err := s.encode(&rec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.x.url(id), err)
	}
	b = append(b[:len(b)-1], stateField...)
	b = append(b, s.state(id, now).String()...)
	return append(b, '"', '}', '\n'), nil
}

// setOutcome copies the outcome of other to rec, shortened so that the line is not too long.
func setOutcome(rec, other *wire.Record) {
	rec.Timestamp, rec.StatusCode = other.Timestamp, other.StatusCode
	rec.Error, rec.ErrorDetail, rec.NotBefore = clip(other.Error), clip(other.ErrorDetail), other.NotBefore
	if other.FinalURL != rec.URL {
		rec.FinalURL = other.FinalURL
	}
	rec.Touch(wire.Fetch)
}

const maxLineage = 10_000

// Lineage writes the exported lines of a URL and its ancestors to w: first the URL itself,
// then the page that it was found on and its parents, and so on back to the seeds. The nearest
// ancestors come first, and each URL is written once.
func (s *Store) Lineage(w io.Writer, url string, now time.Time) error {
	first, ok := s.lookup(url)
	if !ok {
		return fmt.Errorf("%s is not in the store\nhint: frontier export lists what is", url)
	}
	queue, seen := []uint32{first}, map[uint32]bool{first: true}
	for i := 0; i < len(queue) && i < maxLineage; i++ {
		line, err := s.export(queue[i], now)
		if err != nil {
			return err
		}
		var rec wire.Record
		if err := decode(bytes.TrimSuffix(line, []byte("\n")), &rec); err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
		for _, name := range append([]string{rec.Via}, rec.Parents...) {
			if id, ok := s.lookup(name); ok && !seen[id] {
				seen[id] = true
				queue = append(queue, id)
			}
		}
	}
	return nil
}
