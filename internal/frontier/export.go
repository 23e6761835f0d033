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

// stateField is how the state stands at the end of an exported line.
const stateField = `,"state":"`

// cutState removes the state that an export put at the end of a line, so that
// what was exported can be added again and exported again.
func trimState(line []byte) []byte {
	i := max(0, bytes.LastIndexByte(line, ','))
	name, ok := bytes.CutPrefix(line[i:], []byte(stateField))
	if !ok {
		return line
	}
	name, _ = bytes.CutSuffix(name, []byte(`"}`))
	for state := range states {
		if string(name) == state.String() {
			return append(line[:i], '}')
		}
	}
	return line
}

// Export writes one record for every known URL to w, in the order of the log,
// with its state as of now at the end of the line. Each line alone carries the
// state of its URL: a store to which the lines are added, in any order, is in the
// same state but for leases, which are not records.
func (s *Store) Export(w io.Writer, now time.Time) error {
	return s.exportStates(w, now, func(State) bool { return true })
}

// Skipped writes the same of those URLs that are skipped, with the reason as error
// or status: refused, given up after their retries, or barred.
func (s *Store) Skipped(w io.Writer, now time.Time) error {
	return s.exportStates(w, now, func(st State) bool { return st == Skipped })
}

// exportThose exports the URLs in some states.
func (s *Store) exportStates(w io.Writer, now time.Time, want func(State) bool) error {
	x := s.x
	ids := make([]uint32, 0, x.len())
	for id := range uint32(x.len()) {
		if x.isKnown(id) && want(s.state(id, now)) {
			ids = append(ids, id)
		}
	}
	order := s.log.order()
	slices.SortFunc(ids, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(order(x.exportPlace(a)), order(x.exportPlace(b))), cmp.Compare(a, b))
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

// main is the place of the line that the export of a URL is made of.
func (x *index) exportPlace(id uint32) place {
	h, p := x.hot.at(id), x.history(id)
	if h.flags&flagProposed == 0 || p.isFinal() && h.flags&flagOwnOutcome != 0 {
		return p.outcome
	}
	return x.cold.at(id).proposal
}

// export is the line of one URL, newline included. It is the outcome if that is
// the URL's own and final. Otherwise it is the wish, together with what is known
// of the outcome.
func (s *Store) export(id uint32, now time.Time) ([]byte, error) {
	h, c, p := s.x.hot.at(id), s.x.cold.at(id), s.x.history(id)
	line, err := s.log.line(s.x.exportPlace(id))
	if err != nil {
		return nil, err
	}
	var rec, other wire.Record
	if err := s.decoder.decode(line, &rec); err != nil {
		return nil, err
	}
	switch {
	case p.outcome == 0, p.outcome == c.proposal:
	case p.class == classExcluded && h.flags&flagFinished == 0: // a person asks for it all the same
	case h.flags&(flagProposed|flagOwnOutcome) == 0: // known as the end of a redirect
		other, rec = rec, wire.Record{URL: s.x.url(id), Via: rec.URL, Generation: rec.Generation, Depth: rec.Depth, Operator: "redirect"}
		setOutcome(&rec, &other)
	case s.x.exportPlace(id) != p.outcome:
		if line, err = s.log.line(p.outcome); err != nil {
			return nil, err
		}
		if err := s.decoder.decode(line, &other); err != nil {
			return nil, err
		}
		if h.flags&flagFromUnfinal != 0 {
			rec.Drop(wire.Fetch)
		}
		if rec.Visits != int(p.visits) { // before the outcome, not before what asks for the URL
			rec.Visits = int(p.visits)
			rec.Touch(wire.Address)
		}
		setOutcome(&rec, &other)
	}
	retries := int(p.retries)
	if p.class == classFailed {
		retries-- // the outcome counts itself
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

// answer gives rec the outcome of another record: what came of asking for its
// URL, in few enough words for both to fit into a line.
func setOutcome(rec, other *wire.Record) {
	rec.Timestamp, rec.StatusCode = other.Timestamp, other.StatusCode
	rec.Error, rec.ErrorDetail, rec.NotBefore = clip(other.Error), clip(other.ErrorDetail), other.NotBefore
	if other.FinalURL != rec.URL {
		rec.FinalURL = other.FinalURL
	}
	rec.Touch(wire.Fetch)
}

// maxLineage bounds the ancestors of a URL that are told.
const maxLineage = 10_000

// Lineage writes where a URL came from to w: its own exported line first, then
// those of the page it was found on and of its parents, and so on back to the
// seeds, nearest first, each once.
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
		if err := s.decoder.decode(bytes.TrimSuffix(line, []byte("\n")), &rec); err != nil {
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
