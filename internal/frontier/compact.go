package frontier

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"spoor/internal/wire"
)

// This file makes the log shorter. A few segments at a time are written anew as one,
// without what no longer decides anything: records that later ones have replaced,
// and batches before the last two generations. What still counts of a record that
// goes (see remain in rules.go) stays as a line of a few members, where it was.
//
// That is done in memory. What it drops decides nothing later either, whatever is added,
// so the store may change hands meanwhile. Then the new segment is written beside the
// others, under a number that was never used, and says which it stands for. It becomes
// one of the log when it is renamed, and from then on those do not count; they are
// removed when its name is on disk. Only then the index learns the new places, so a
// failure before leaves everything as it was. A snapshot knows which segments it was made of, and is not used with others.

// A Compaction is how far the log was rewritten, and what came of it.
type Compaction struct {
	Segments int   `json:"segments"` // that were read
	Lines    int   `json:"lines"`    // that were in them
	Dropped  int   `json:"dropped"`  // of these
	Before   int64 `json:"before"`   // bytes of the segments that were rewritten
	After    int64 `json:"after"`    // bytes of what they have become

	begun bool
	done  uint32 // the last position that was looked at
	end   uint32 // the last position that is looked at
}

// turn is how many frames, of some 32 KiB of lines each, are read at least before others
// have the store again: or who asks all the time would never let it come to its end.
const framesPerTurn = 64

// polite tells, being asked at every frame, when to give way to others that wait.
func yieldEveryTurn() func(dir string) bool {
	read := 0
	return func(dir string) bool {
		if read++; read < framesPerTurn || !hasWaiters(dir) {
			return false
		}
		read = 0
		return true
	}
}

// compactInputs is how many segments are read at most in one step.
const maxCompactInputs = 8

// Compact rewrites the next few segments, and tells whether there are more. Between
// two calls the store may be used for anything. Each takes about as long as reading
// what the log has of 16 MiB, or of eight times as much where hardly anything is left of
// it; after the last one a snapshot is written.
//
// It does not rewrite what is added after the first call. If the store was opened with
// Behind, it gives way to other processes that wait for the store, closes it for that, and
// goes on when they have had it. The error is a [*Locked] if it did not come back in time.
func (s *Store) Compact(c *Compaction) (more bool, err error) {
	if s.readOnly {
		return false, errors.New("the store was opened for reading only")
	}
	if err := s.Commit(); err != nil {
		return false, err
	}
	if !c.begun {
		if s.log.offset > segmentHeader {
			if err := s.log.roll(); err != nil {
				s.failed = err
				return false, err
			}
		}
		c.begun, c.end = true, s.log.spans[s.log.number].from-1
	}
	r := compactor{store: s, total: c, parentsWritten: map[uint64]bool{}, batches: map[place]batchMove{}}
	r.out = &log{id: s.log.id, limit: maxSegment, out: &r.file, offset: segmentHeader, synced: segmentHeader}
	r.file.lineBuffer = make([]byte, segmentHeader)
	for _, n := range s.log.numbers {
		at := s.log.spans[n] // nothing, if another process has rewritten it meanwhile
		if at.from <= c.done || at.to > c.end {
			continue
		}
		if len(r.inputs) > 0 && at.from != r.span.to+1 {
			break
		}
		if err := r.readSegment(n, at); err != nil {
			return false, err
		}
		if len(r.inputs) == maxCompactInputs || r.out.offset >= s.log.limit/2 {
			break
		}
	}
	if len(r.inputs) == 0 {
		s.compactedSize, err = s.LogSize()
		if err != nil || c.Before == 0 {
			return false, err
		}
		return false, s.saveSnapshot()
	}
	if r.dropped > 0 || len(r.inputs) > 1 { // else there is nothing to win
		if err := r.install(); err != nil {
			return false, err
		}
		c.Dropped += r.dropped
	}
	c.done = r.span.to
	c.Segments += len(r.inputs)
	c.Lines += r.lines
	return true, nil
}

// LogSize is how many bytes the log has on disk.
func (s *Store) LogSize() (n int64, err error) {
	for _, number := range s.log.numbers {
		info, err := os.Stat(s.log.path(number))
		if err != nil {
			return 0, err
		}
		n += info.Size()
	}
	return n, nil
}

// Compacted is how many bytes the log had when it was compacted last, as far as is
// known, and 0 if it never was.
func (s *Store) Compacted() int64 { return s.compactedSize }

// A move is of a line to which a URL refers. Where it is now has no segment yet.
type relocation struct{ from, to place }

// moved is what has become of a batch, and where it is or would be.
type batchMove struct {
	to      place
	dropped bool
}

// A rewriting is of a few segments to one.
type compactor struct {
	store  *Store
	total  *Compaction
	out    *log
	file   memoryFile // that it writes to
	inputs []uint32
	span   span // of all of them

	relocations    [][]relocation // of each of them, ascending
	batches        map[place]batchMove
	residue        [][]byte        // what is left of lines since the last batch
	parentsWritten map[uint64]bool // digests of URLs whose parents were told
	lines, dropped int
}

// A draft is a segment that has no number yet.
type memoryFile struct{ lineBuffer }

func (d *memoryFile) Truncate(n int64) error { d.lineBuffer = d.lineBuffer[:n]; return nil }
func (d *memoryFile) Sync() error            { return nil }
func (d *memoryFile) Close() error           { return nil }

// read rewrites a segment.
func (r *compactor) readSegment(number uint32, at span) error {
	b, err := r.store.log.readSegment(number, segmentHeader)
	if err != nil {
		return err
	}
	if len(r.inputs) == 0 {
		r.span.from = at.from
	}
	r.span.to = at.to
	r.inputs, r.relocations = append(r.inputs, number), append(r.relocations, nil)
	_, err = scan(b, func(at int64, f frame) error {
		return r.addFrame(placeOf(number, segmentHeader+at, 0), f)
	})
	if r.store.failed != nil {
		return r.store.failed
	}
	if err != nil {
		return fmt.Errorf("rewriting %s: %w\nhint: frontier check finds out what is wrong", segmentName(number), err)
	}
	return r.flush()
}

// frame rewrites a frame.
func (r *compactor) addFrame(at place, f frame) (err error) {
	s := r.store
	if f.kind != frameBatch {
		s.partial = nil // one that did not come to its end
	}
	if s.options.shouldYield != nil && s.partial == nil && s.options.shouldYield(s.dir) {
		if err := s.yield(); err != nil {
			return err
		}
	}
	if f.kind == frameMark || f.kind == frameGap {
		return nil
	}
	if s.payload, err = s.log.unpack(s.payload, f); err != nil {
		return err
	}
	data, lines := s.payload, lineStarts(nil, s.payload)
	if r.lines += f.lines; f.kind == frameBatch {
		r.lines-- // its header
	}
	switch f.kind {
	case frameForgotten:
		if err := r.flush(); err != nil {
			return err
		}
		clear(r.parentsWritten) // what was told before it counts no longer
		return r.out.writeFrame(frameForgotten, data, f.lines)
	case frameBatch:
		return r.addBatchFrame(at, data, lines)
	}
	for i := range f.lines {
		line := data[lines[i] : lines[i+1]-1]
		if err := s.decoder.decode(line, &s.rec); err != nil {
			return err
		}
		if err := s.update.set(&s.rec); err != nil {
			return err
		}
		if err := r.addLine(at+place(i), line, f.kind == frameResidue); err != nil {
			return err
		}
	}
	return nil
}

// line keeps the line of s.fact, if a URL refers to it, or what is left of it.
func (r *compactor) addLine(at place, line []byte, isRest bool) error {
	x, f := r.store.x, &r.store.update
	id, ok := x.find(f.url)
	var to place
	if !isRest && ok {
		var err error
		refer := func(id uint32) {
			if err != nil || x.cold.at(id).proposal != at && x.history(id).outcome != at {
				return
			}
			if to == 0 {
				if to, err = r.out.nextPlace(); err != nil {
					return
				}
				r.out.appendLine(line)
			}
		}
		refer(id)
		for _, u := range f.hops {
			if hop, ok := x.find(u); ok {
				refer(hop)
			}
		}
		if err != nil {
			return err
		}
	}
	if to != 0 {
		moves := &r.relocations[len(r.relocations)-1]
		*moves = append(*moves, relocation{at, to})
		return nil
	}
	if ok {
		rest, err := r.residueOf(id, f)
		if err != nil {
			return err
		}
		if rest != nil {
			r.residue = append(r.residue, rest)
			if isRest && len(rest) == len(line) {
				return nil
			}
		}
	}
	r.dropped++
	return nil
}

// restOf is what a record that goes leaves behind, as a line; nil if nothing.
func (r *compactor) residueOf(id uint32, f *update) ([]byte, error) {
	x := r.store.x
	h, p := x.hot.at(id), x.history(id)
	rest := wire.Record{V: 1, URL: f.url.String(), Generation: int(f.generation), Retries: f.rec.Retries, Visits: f.rec.Visits}
	over := h.flags&flagFinished != 0
	counts := f.retries > 0 && f.retries == p.retries
	switch { // what may have ended a lease, or kept a failure told twice from doing so
	case !over:
		counts = counts || f.retries > 0 || f.class == classBudget
	case h.flags&flagOwnOutcome != 0: // it may be visited once more
		counts = counts || f.retries > 0 && p.class == classFailed && f.visits == p.visits || f.class == classBudget
	}
	if f.class != classNone {
		rest.StatusCode, rest.Error = f.rec.StatusCode, f.rec.Error
	}
	if host, ok := x.findHost(f.delayedURL.Host()); f.delayUntil != 0 && ok && f.delayUntil == x.hosts.at(host).notBefore {
		rest.NotBefore, rest.FinalURL, counts = f.rec.NotBefore, f.delayedURL.String(), true
	}
	if d := hash64(x.hashSeed, rest.URL); len(f.parents) > 0 && !r.parentsWritten[d] {
		r.parentsWritten[d] = true
		for _, parent := range x.parents(id) {
			rest.Parents, counts = append(rest.Parents, x.url(parent)), true
		}
	}
	if !counts {
		return nil, nil
	}
	line, err := r.store.encode(&rest)
	return slices.Clone(line), err
}

// findHost returns the number of a host.
func (x *index) findHost(name string) (uint32, bool) {
	n, _, ok := x.hostTable.find(hash64(x.hashSeed, name)>>32, func(n uint32) bool { return string(x.hostName(n)) == name })
	return n, ok
}

// batchFrame takes a frame of a batch, and writes the batch behind its last, if it still
// counts.
func (r *compactor) addBatchFrame(at place, data []byte, lines []int) error {
	s := r.store
	b, err := s.readBatch(at, data, lines)
	if b == nil || err != nil {
		return err
	}
	all := len(b.lines)
	if err := r.dropEndedLeases(b); err != nil {
		return err
	}
	r.dropped += all - len(b.lines)
	if len(b.lines) == 0 {
		to, err := r.out.nextPlace()
		r.batches[b.place] = batchMove{to, true}
		return err
	}
	if err := r.flush(); err != nil {
		return err
	}
	to, err := r.out.writeBatch(b)
	r.batches[b.place] = batchMove{to, false}
	return err
}

// keep leaves what still counts in a batch: all of it if it is one of the last two
// generations, none of it if it is an earlier one, and without a generation the
// addresses that it leases, because others may have been leased again since by what
// is dropped.
func (r *compactor) dropEndedLeases(b *batch) error {
	s := r.store
	if b.generation >= 0 {
		later := 0
		for _, h := range s.x.batches {
			if h.generation > uint64(b.generation) {
				later++
			}
		}
		if later >= 2 {
			b.lines = nil
		}
		return nil
	}
	var kept [][]byte
	for _, line := range b.lines {
		if err := s.decoder.decode(line[:len(line)-1], &s.rec); err != nil {
			return err
		}
		if id, ok := s.lookup(s.rec.URL); ok {
			h := s.x.hot.at(id)
			asked := h.flags&flagFinished == 0 || h.flags&flagOwnOutcome != 0 // or asked once more
			if asked && h.flags&flagLeasedByClock != 0 && s.x.history(id).lease == b.leaseEnd {
				kept = append(kept, line)
			}
		}
	}
	b.lines = kept
	return nil
}

// flush writes the lines that are kept, and then what is left of the others.
func (r *compactor) flush() error {
	if err := r.out.flush(); err != nil {
		return err
	}
	r.out.blockKind = frameResidue
	for _, line := range r.residue {
		if _, err := r.out.nextPlace(); err != nil {
			return err
		}
		r.out.appendLine(line)
	}
	err := r.out.flush()
	r.residue, r.out.blockKind = nil, 0
	return err
}

// finish puts the new segment in the place of those that it was made of, if they are
// still there.
func (r *compactor) install() error {
	s, l := r.store, r.store.log
	for _, n := range r.inputs {
		if l.spans[n] == (span{}) {
			return nil
		}
	}
	number := l.maxNumber + 1
	if number >= maxSegments {
		return errTooManySegments
	}
	err := r.checkReferences()
	if err != nil {
		return err
	}
	part := l.path(number) + ".part"
	appendSegment(r.file.lineBuffer[:0], number, l.id, r.span)
	if err := writeFile(l.disk, part, r.file.lineBuffer); err != nil {
		l.disk.remove(part)
		return err
	}
	if err = l.disk.rename(part, l.path(number)); err == nil {
		err = l.disk.sync(s.dir)
	}
	if err != nil { // nobody knows which of them the next to open finds
		s.failed = l.fail(err)
		return s.failed
	}
	for _, n := range r.inputs {
		if info, err := os.Stat(l.path(n)); err == nil {
			r.total.Before += info.Size()
		}
		if f := l.readers[n]; f != nil {
			f.Close()
			delete(l.readers, n)
		}
		delete(l.spans, n)
	}
	r.total.After += r.out.offset
	i := slices.Index(l.numbers, r.inputs[0])
	l.numbers = slices.Replace(l.numbers, i, i+len(r.inputs), number)
	l.spans[number], l.maxNumber, l.superseded = r.span, number, append(l.superseded, r.inputs...)
	r.updateReferences(number)
	if b, ok := r.batches[s.lastBatch]; ok {
		s.lastBatch = inSegment(number, b.to)
	}
	s.changed.complete = false
	s.x.batches = slices.DeleteFunc(s.x.batches, func(h batchPlace) bool { return r.batches[h.place].dropped })
	for i := range s.x.batches {
		h := &s.x.batches[i]
		if b, ok := r.batches[h.place]; ok {
			h.place = inSegment(number, b.to)
		}
	}
	s.unsaved = max(s.unsaved, s.x.len(), 2048) + 1 // no snapshot fits this log
	s.removeObsolete()
	return nil
}

// in is a place that has no segment yet, in one.
func inSegment(segment uint32, p place) place { return placeOf(segment, 0, 0) | p }

// now is where what stood at p is once the new segment has its number: at p, if it was
// not rewritten. It tells whether it is anywhere.
func (r *compactor) newPlace(p place, number uint32) (place, bool) {
	i := slices.Index(r.inputs, p.segment())
	if p == 0 || i < 0 {
		return p, true
	}
	j, ok := slices.BinarySearchFunc(r.relocations[i], p, func(m relocation, p place) int { return cmp.Compare(m.from, p) })
	if !ok {
		return p, false
	}
	return inSegment(number, r.relocations[i][j].to), true
}

// complete finds out whether all that a URL refers to is still there.
func (r *compactor) checkReferences() error {
	var lost atomic.Uint64
	isThere := func(p place) bool {
		_, ok := r.newPlace(p, 0)
		if !ok {
			lost.Store(uint64(p))
		}
		return ok
	}
	x := r.store.x
	if forAll(x.len(), func(id uint32) bool { return isThere(x.cold.at(id).proposal) && isThere(x.history(id).outcome) }) {
		return nil
	}
	p := place(lost.Load())
	return fmt.Errorf("rewriting %s: byte %d is needed still\nhint: frontier check finds out what is wrong", segmentName(p.segment()), p.offset())
}

// rebind has every URL refer to what is where it was now.
func (r *compactor) updateReferences(number uint32) {
	x := r.store.x
	forAll(x.len(), func(id uint32) bool {
		c := x.cold.at(id)
		if to, _ := r.newPlace(c.proposal, number); to != c.proposal { // what stays is not written: it is mapped
			c.proposal = to
		}
		outcome := x.history(id).outcome
		if to, _ := r.newPlace(outcome, number); to != outcome {
			x.mutableHistory(id).outcome = to
		}
		return true
	})
}

// tidy removes segments for which others stand, and what was never finished. What
// cannot be removed does no harm, and is found by the next to open.
func (s *Store) removeObsolete() {
	for _, n := range s.log.superseded {
		s.log.disk.remove(s.log.path(n))
	}
	s.log.superseded = nil
	names, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, n := range names {
		if strings.HasSuffix(n.Name(), ".part") {
			s.log.disk.remove(filepath.Join(s.dir, n.Name()))
		}
	}
}
