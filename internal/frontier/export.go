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
func cutState(line []byte) []byte {
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
	x := s.x
	ids := make([]uint32, 0, x.len())
	for id := range uint32(x.len()) {
		if x.at(id).known() {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b uint32) int {
		p, q := x.at(a), x.at(b)
		return cmp.Or(cmp.Compare(p.main(), q.main()), cmp.Compare(a, b))
	})
	for _, id := range ids {
		line, err := s.export(x.at(id), now)
		if err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// main is the place of the line that e's export is made of.
func (e *entry) main() place {
	if e.wish == 0 || e.class >= classRefused && e.flags&flagOwn != 0 {
		return e.outcome
	}
	return e.wish
}

// export is the line of one URL, newline included. It is the outcome if that is
// the URL's own and final. Otherwise it is the wish, together with what is known
// of the outcome.
func (s *Store) export(e *entry, now time.Time) ([]byte, error) {
	line, err := s.log.line(e.main())
	if err != nil {
		return nil, err
	}
	var rec, other wire.Record
	if err := s.lines.decode(line, &rec); err != nil {
		return nil, err
	}
	switch {
	case e.outcome == 0, e.outcome == e.wish:
	case e.wish == 0 && e.flags&flagOwn == 0: // known as the end of a redirect
		other, rec = rec, wire.Record{URL: s.x.url(e), Via: rec.URL, Generation: rec.Generation, Depth: rec.Depth, Operator: "redirect"}
		answer(&rec, &other)
	case e.main() != e.outcome:
		if line, err = s.log.line(e.outcome); err != nil {
			return nil, err
		}
		if err := s.lines.decode(line, &other); err != nil {
			return nil, err
		}
		if e.flags&flagEcho != 0 {
			rec.Drop(wire.Fetch)
		}
		answer(&rec, &other)
	}
	retries := int(e.retries)
	if e.class == classFailed {
		retries-- // the outcome counts itself
	}
	if e.class < classRefused || e.flags&flagOwn == 0 {
		s.complete(e, &rec, retries)
	} else {
		s.complete(e, &rec, rec.Retries)
	}
	b, err := s.encode(&rec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.x.url(e), err)
	}
	b = append(b[:len(b)-1], stateField...)
	b = append(b, s.state(e, now).String()...)
	return append(b, '"', '}', '\n'), nil
}

// answer gives rec the outcome of another record: what came of asking for its
// URL, in few enough words for both to fit into a line.
func answer(rec, other *wire.Record) {
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
		line, err := s.export(s.x.at(queue[i]), now)
		if err != nil {
			return err
		}
		var rec wire.Record
		if err := s.lines.decode(bytes.TrimSuffix(line, []byte("\n")), &rec); err != nil {
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
