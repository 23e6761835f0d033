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

// This file compacts the log. A few segments at a time are rewritten as one, without lines
// that no longer affect the state: records replaced by later ones, and batches before the last
// two generations. Some fields of a dropped record may still affect the state (see merge in
// rules.go); they are kept in a short line, the residue, at the same position.
//
// The new segment is first built in memory. A line that has no effect now cannot have an effect
// later, whatever is added, so other processes may use the store meanwhile. Then the segment
// is written to a file with an unused number; its header names the segments that it replaces. The
// segment is valid when the file is renamed; the replaced segments are removed when the new name is
// on disk. Only then the index gets the new places, so an earlier failure changes nothing. A
// snapshot records the segments that it was computed from, and is not used with other segments.

// A Compaction is the progress and the result of compacting a log.
type Compaction struct {
	Segments int   `json:"segments"` // segments read
	Lines    int   `json:"lines"`    // lines in them
	Dropped  int   `json:"dropped"`  // lines dropped
	Before   int64 `json:"before"`   // bytes of the replaced segments
	After    int64 `json:"after"`    // bytes of the segments that replace them

	begun bool
	done  uint32 // position of the last segment that was read
	end   uint32 // position of the last segment to read
}

// framesPerTurn is the minimum number of frames read between two calls of yield, so that
// compaction makes progress even if there are always waiting processes. A frame has about 32
// KiB of lines.
const framesPerTurn = 64

// yieldEveryTurn returns a function that, called for each frame, reports when to yield to
// waiting processes.
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

// maxCompactInputs is the largest number of segments read in one step.
const maxCompactInputs = 8

// Compact rewrites the next few segments and reports whether there are more. The store may be
// used between two calls. A call takes about as long as reading 16 MiB of log, or up to eight
// times as long if most lines are dropped. After the last segment it writes a snapshot.
//
// Records added after the first call are not compacted. If the store was opened with Yield,
// Compact closes it for waiting processes and opens it again after them; the error is a
// [*Locked] if this takes longer than the option Wait.
func (s *Store) Compact(c *Compaction) (more bool, err error) {
	if s.options.ReadOnly {
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
		c.begun, c.end = true, s.log.spanOf(s.log.number).from-1
	}
	r := compactor{store: s, total: c, parentsWritten: map[uint64]bool{}, batches: map[place]batchMove{}}
	r.out = &log{id: s.log.id, limit: maxSegment, out: &r.file, offset: segmentHeader, synced: segmentHeader}
	r.file.data = make([]byte, segmentHeader)
	for _, n := range s.log.numbers {
		at := s.log.spanOf(n) // zero if another process has replaced this segment
		if at.from <= c.done || at.to > c.end {
			continue
		}
		if len(r.inputs) > 0 && at.from != r.span.to+1 {
			break
		}
		if err := r.addSegment(n, at); err != nil {
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
	if r.dropped > 0 || len(r.inputs) > 1 { // otherwise nothing would change
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

// LogSize returns the size of the log in bytes.
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

// Compacted returns the size of the log in bytes after its last compaction, or 0 if it was never
// compacted or the size is unknown.
func (s *Store) Compacted() int64 { return s.compactedSize }

// A relocation is the move of a line that a URL refers to. The segment of the new place is
// still 0.
type relocation struct{ from, to place }

// A batchMove is the new place of a batch. The new place of a dropped batch is where the batch would
// have been written.
type batchMove struct {
	to      place
	dropped bool
}

type compactor struct {
	store  *Store
	total  *Compaction
	out    *log
	file   memoryFile // the new segment
	inputs []uint32   // numbers of the segments
	span   span       // of all inputs

	relocations    [][]relocation // for each input, by ascending place
	batches        map[place]batchMove
	residue        [][]byte        // of the lines dropped since the last batch
	parentsWritten map[uint64]bool // by the hash of a URL; parents are written once
	lines, dropped int
}

// A memoryFile is a segment without a number.
type memoryFile struct{ data []byte }

func (d *memoryFile) Write(p []byte) (int, error) {
	d.data = append(d.data, p...)
	return len(p), nil
}
func (d *memoryFile) Truncate(n int64) error { d.data = d.data[:n]; return nil }
func (d *memoryFile) Sync() error            { return nil }
func (d *memoryFile) Close() error           { return nil }

func (r *compactor) addSegment(number uint32, at span) error {
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
		return fmt.Errorf("compacting %s: %w"+checkHint, segmentName(number), err)
	}
	return r.flush()
}

func (r *compactor) addFrame(at place, f frame) error {
	s := r.store
	if f.kind != frameBatch {
		s.partial = nil // an incomplete batch is ignored
	}
	if s.options.shouldYield != nil && s.partial == nil && s.options.shouldYield(s.dir) {
		if err := s.yield(); err != nil {
			return err
		}
	}
	if f.kind == frameMark || f.kind == frameGap {
		return nil
	}
	if err := s.unpackLines(f); err != nil {
		return err
	}
	if r.lines += f.lines; f.kind == frameBatch {
		r.lines-- // its header
	}
	switch f.kind {
	case frameForgotten:
		if err := r.flush(); err != nil {
			return err
		}
		clear(r.parentsWritten) // for the forgotten URLs, residue before this frame is ignored
		return r.out.writeFrame(frameForgotten, s.payload, f.lines)
	case frameBatch:
		return r.addBatchFrame(at)
	}
	return s.eachUpdate(0, func(i int, line []byte) error {
		return r.addLine(at+place(i), line, f.kind == frameResidue)
	})
}

// addLine keeps the line of s.update if a URL refers to the line, and otherwise only its residue.
func (r *compactor) addLine(at place, line []byte, isResidue bool) error {
	x, f := r.store.x, &r.store.update
	id, ok := x.find(f.url)
	var to place
	if !isResidue && ok {
		var err error
		keepFor := func(id uint32) {
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
		keepFor(id)
		for _, u := range f.hops {
			if hop, ok := x.find(u); ok {
				keepFor(hop)
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
		residue, err := r.residueOf(id, f)
		if err != nil {
			return err
		}
		if residue != nil {
			r.residue = append(r.residue, residue)
			if isResidue && len(residue) == len(line) {
				return nil
			}
		}
	}
	r.dropped++
	return nil
}

// residueOf returns the residue of a dropped record, or nil if none is needed.
func (r *compactor) residueOf(id uint32, f *update) ([]byte, error) {
	x := r.store.x
	h, p := x.hot.at(id), x.history(id)
	rec := wire.Record{V: 1, URL: f.url.String(), Generation: int(f.generation), Retries: f.rec.Retries, Visits: f.rec.Visits}
	finished := h.flags&flagFinished != 0
	needed := f.retries > 0 && f.retries == p.retries
	switch { // whether f ended a lease, or prevents that a repeated failure ends one
	case !finished:
		needed = needed || f.retries > 0 || f.returned
	case h.flags&flagOwnOutcome != 0: // the URL may be leased for a revisit
		needed = needed || f.retries > 0 && p.class == classFailed && f.visits == p.visits || f.returned
	}
	if f.class != classNone {
		rec.StatusCode, rec.Error = f.rec.StatusCode, f.rec.Error
	}
	if host, ok := x.findHost(f.delayedURL.Host()); f.delayUntil != 0 && ok && f.delayUntil == x.hosts.at(host).notBefore {
		rec.NotBefore, rec.FinalURL, needed = f.rec.NotBefore, f.delayedURL.String(), true
	}
	if d := hash64(x.hashSeed, rec.URL); len(f.parents) > 0 && !r.parentsWritten[d] {
		r.parentsWritten[d] = true
		for _, parent := range x.parents(id) {
			rec.Parents, needed = append(rec.Parents, x.url(parent)), true
		}
	}
	if !needed {
		return nil, nil
	}
	line, err := r.store.encode(&rec)
	return slices.Clone(line), err
}

func (x *index) findHost(name string) (uint32, bool) {
	n, _, ok := x.hostTable.find(hash64(x.hashSeed, name)>>32, func(n uint32) bool { return string(x.hostName(n)) == name })
	return n, ok
}

// addBatchFrame reads a frame of a batch. After the last frame it writes the batch if it is still
// needed.
func (r *compactor) addBatchFrame(at place) error {
	s := r.store
	b, err := s.readBatch(at)
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

// dropEndedLeases removes the lines of a batch that are no longer needed. The batches of the last
// two generations are kept whole, the batches of earlier generations are dropped. In a batch without
// a generation, the addresses that it still leases are kept; the other addresses may have been
// leased again by a generation that is dropped.
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
		if err := decode(line[:len(line)-1], &s.rec); err != nil {
			return err
		}
		if id, ok := s.lookup(s.rec.URL); ok {
			h := s.x.hot.at(id)
			asked := h.flags&flagFinished == 0 || h.flags&flagOwnOutcome != 0 // or leased for a revisit
			if asked && h.flags&flagLeasedByClock != 0 && s.x.history(id).lease == b.leaseEnd {
				kept = append(kept, line)
			}
		}
	}
	b.lines = kept
	return nil
}

// flush writes the kept lines, and then the residue of the dropped lines.
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

// install puts the new segment in the place of its inputs, if they still exist.
func (r *compactor) install() error {
	s, l := r.store, r.store.log
	for _, n := range r.inputs {
		if l.spanOf(n) == (span{}) {
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
	appendSegment(r.file.data[:0], number, l.id, r.span)
	if err := writeFile(l.disk, part, r.file.data); err != nil {
		l.disk.remove(part)
		return err
	}
	if err = l.disk.rename(part, l.path(number)); err == nil {
		err = l.disk.sync(s.dir)
	}
	if err != nil { // the next process may find the old segments or the new one
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
		l.setSpan(n, span{})
	}
	r.total.After += r.out.offset
	i := slices.Index(l.numbers, r.inputs[0])
	l.numbers = slices.Replace(l.numbers, i, i+len(r.inputs), number)
	l.setSpan(number, r.span)
	l.maxNumber, l.superseded = number, append(l.superseded, r.inputs...)
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
	s.unsaved = max(s.unsaved, s.x.len(), 2048) + 1 // the snapshot no longer belongs to this log
	s.removeObsolete()
	return nil
}

// inSegment returns p, which has no segment yet, with its segment.
func inSegment(segment uint32, p place) place { return placeOf(segment, 0, 0) | p }

// newPlace returns the place of the line that was at p, given the number of the new segment.
// It returns false if the line was dropped.
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

// checkReferences returns an error if a line that a URL refers to was dropped.
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
	return fmt.Errorf("compacting %s: the line at byte %d is still needed"+checkHint, segmentName(p.segment()), p.offset())
}

// updateReferences updates the places that URLs refer to.
func (r *compactor) updateReferences(number uint32) {
	x := r.store.x
	forAll(x.len(), func(id uint32) bool {
		cold := x.cold.at(id)
		if to, _ := r.newPlace(cold.proposal, number); to != cold.proposal {
			cold.proposal = to
		}
		outcome := x.history(id).outcome
		if to, _ := r.newPlace(outcome, number); to != outcome {
			x.mutableHistory(id).outcome = to
		}
		return true
	})
}

// removeObsolete removes superseded segments and unfinished files. A file that cannot be
// removed does no harm; the next process tries again.
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
