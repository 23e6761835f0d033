package frontier

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"spoor/internal/weburl"
)

// A Finding is the result of [Check].
type Finding struct {
	Segments  int       `json:"segments"`
	Frames    int       `json:"frames"`
	Lines     int       `json:"lines"`
	URLs      int       `json:"urls"`
	Gaps      int       `json:"gaps"` // damaged regions that earlier repairs set aside
	Truncated int64     `json:"cut"`  // bytes of an incomplete tail, which was never acknowledged
	Damaged   []*Damage `json:"damaged,omitempty"`
	Repaired  []string  `json:"repaired,omitempty"` // files with the regions that were set aside
	Index     string    `json:"index,omitempty"`    // the fault of the snapshot, which was rebuilt
}

// Wrong reports whether there is unrepaired damage, or the snapshot was wrong.
func (f *Finding) Wrong() bool { return len(f.Damaged) > len(f.Repaired) || f.Index != "" }

// Check reads the whole log of the store in dir, compares the snapshot with it, and rebuilds
// the snapshot if they differ. With repair it moves each damaged region of the log to a file
// beside its segment, so that the store can be opened without the records in it.
func Check(dir string, o Options, repair bool) (f *Finding, err error) {
	o.Create, o.ReadOnly = false, false
	if err := requireStore(dir, false); err != nil {
		return nil, err
	}
	s := newStore(dir, o)
	if s.lock, err = acquire(dir, o); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.release()) }()
	f = &Finding{}
	for err = s.log.findSegments(); err != nil; err = s.log.findSegments() {
		d, ok := errors.AsType[*Damage](err)
		if !ok {
			return nil, err
		}
		f.Damaged = append(f.Damaged, d)
		if !repair { // the order of the segments is unknown
			return f, nil
		}
		if err := s.repairHeader(f, d); err != nil {
			return f, err
		}
	}
	f.Segments = len(s.log.numbers)
	lost := s.missingLog()
	for i := range s.log.numbers {
		if err := s.checkSegment(f, i, lost, repair); err != nil {
			return f, err
		}
	}
	if lost != nil {
		f.Damaged = append(f.Damaged, lost)
		if repair {
			name := snapshotName + ".damaged"
			err := s.log.disk.rename(filepath.Join(dir, snapshotName), filepath.Join(dir, name))
			if err == nil {
				err = s.log.disk.sync(dir)
			}
			if err != nil {
				return f, err
			}
			f.Repaired = append(f.Repaired, name)
		}
	}
	if f.Wrong() {
		return f, nil
	}
	return f, s.checkIndex(f, o)
}

// missingLog returns the part of the log that the snapshot includes and the files do not, or nil if
// nothing is missing. A snapshot is written after the log is synced.
func (s *Store) missingLog() *Damage {
	err := s.loadSnapshot(new(logPosition))
	s.freeIndex()
	lost, _ := errors.AsType[*Damage](err)
	return lost
}

// checkSegment reads all lines of the ith segment, and reports or repairs what cannot be
// read. If lost is not nil, everything in the segment was acknowledged.
func (s *Store) checkSegment(f *Finding, i int, lost *Damage, repair bool) error {
	number := s.log.numbers[i]
	isLast := i == len(s.log.numbers)-1
	b, err := s.log.readSegment(number, segmentHeader)
	if err != nil {
		return err
	}
	if b == nil {
		if isLast {
			return nil
		}
		d := &Damage{segmentName(number), 0, segmentHeader}
		f.Damaged = append(f.Damaged, d)
		if repair {
			return s.repairHeader(f, d)
		}
		return nil
	}
	for at := int64(0); at < int64(len(b)); {
		end, err := scan(b[at:], func(off int64, fr frame) error { return s.checkFrame(f, fr) })
		at += end
		if err == nil {
			break
		}
		_, size, whole := parseFrame(b[at:])
		next, acknowledged := at+int64(size), true
		if whole != nil {
			next, acknowledged = nextFrame(b, segmentHeader, at)
			acknowledged = acknowledged || !isLast || lost != nil
			for next-at < frameHeader && next < int64(len(b)) { // a gap needs a header
				_, size, _ := parseFrame(b[next:])
				next += int64(max(1, size))
			}
		}
		if !acknowledged {
			f.Truncated = int64(len(b)) - at
			break
		}
		d := &Damage{segmentName(number), segmentHeader + at, next - at}
		f.Damaged = append(f.Damaged, d)
		if repair {
			region := b[at:next]
			var gap []byte
			if next < int64(len(b)) {
				gap = appendFrame(nil, frame{kind: frameGap, payload: make([]byte, max(0, len(region)-frameHeader))})
			}
			if err := s.repair(f, number, d.Offset, region, gap); err != nil {
				return err
			}
		}
		at = next
	}
	return nil
}

// repairHeader rewrites the header of a segment, and keeps the old one in a file.
func (s *Store) repairHeader(f *Finding, d *Damage) error {
	b, err := os.ReadFile(filepath.Join(s.dir, d.Segment))
	if err != nil {
		return err
	}
	var number uint32
	if _, err := fmt.Sscanf(d.Segment, "%d", &number); err != nil {
		return err
	}
	return s.repair(f, number, 0, b[:segmentHeader], mendHeader(b[:segmentHeader], number))
}

// repair copies a damaged region of a segment to a file of its own, and overwrites it; without
// a replacement it truncates the segment instead.
func (s *Store) repair(f *Finding, number uint32, at int64, region, replacement []byte) error {
	name := fmt.Sprintf("%08d-%d.damaged", number, at)
	if err := writeFile(s.log.disk, filepath.Join(s.dir, name), region); err != nil {
		return err
	}
	out, err := s.log.disk.open(s.log.path(number), at)
	if err != nil {
		return err
	}
	if replacement == nil {
		err = out.Truncate(at)
	} else {
		_, err = out.Write(replacement)
	}
	if err == nil {
		err = out.Sync()
	}
	f.Repaired = append(f.Repaired, name)
	return errors.Join(err, out.Close())
}

func (s *Store) checkFrame(f *Finding, fr frame) error {
	f.Frames++
	switch fr.kind {
	case frameGap:
		f.Gaps++
		return nil
	case frameMark:
		return nil
	}
	if err := s.unpackLines(fr); err != nil {
		return err
	}
	first := 0
	switch fr.kind {
	case frameForgotten:
		f.Lines += fr.lines
		return s.eachForgotten(func(weburl.URL) {})
	case frameBatch:
		first = 1
		if _, err := s.readBatch(0); err != nil {
			return err
		}
	}
	f.Lines += fr.lines - first
	return s.eachUpdate(first, func(int, []byte) error { return nil })
}

// checkIndex compares the index that opening the store would load with an index built from the log
// alone. If they differ, it saves the index from the log.
func (s *Store) checkIndex(f *Finding, o Options) error {
	o.ReadOnly = true
	old := newStore(s.dir, o)
	defer func() { old.release() }()
	opened := old.log.findSegments()
	if opened == nil {
		opened = old.loadIndex(true)
	}
	if err := s.loadIndex(false); err != nil {
		return err
	}
	for id := range uint32(s.x.len()) {
		if s.x.isKnown(id) {
			f.URLs++
		}
	}
	switch {
	case len(f.Repaired) > 0: // the snapshot is older than the repair
	case opened != nil:
		f.Index = opened.Error()
	case old.opened.Snapshot != nil:
		f.Index = old.opened.Snapshot.Error()
	default:
		f.Index = firstDifference(old, s)
	}
	_, err := os.Stat(filepath.Join(s.dir, snapshotName))
	if f.Index != "" || len(f.Repaired) > 0 || errors.Is(err, fs.ErrNotExist) {
		return s.saveSnapshot()
	}
	return nil
}

// firstDifference describes a difference between the states of two stores, or returns "" if there
// is none.
func firstDifference(a, b *Store) string {
	for _, pair := range [][2]*Store{{a, b}, {b, a}} {
		for id := range uint32(pair[0].x.len()) {
			if !pair[0].x.isKnown(id) {
				continue
			}
			u := pair[0].x.url(id)
			if pair[0].stateSummary(u) != pair[1].stateSummary(u) {
				return "the index and the log disagree about " + u
			}
		}
	}
	return ""
}

// stateSummary returns all data of a URL in the index, as text for comparison.
func (s *Store) stateSummary(url string) string {
	id, ok := s.lookup(url)
	if !ok {
		return ""
	}
	x := s.x
	h, c, p := x.hot.at(id), x.cold.at(id), x.history(id)
	var b bytes.Buffer
	// Compaction may drop the lines that set these two flags.
	flags := h.flags &^ (flagHistory | flagTrapChecked)
	if flags&(flagFinished|flagOwnOutcome) == flagFinished || flags&flagLeasedByGeneration != 0 && uint64(p.lease) != s.nextGeneration-1 { // the lease has ended
		flags &^= flagLeased
	}
	if flags&flagLeased == 0 {
		p.lease = 0
	}
	fmt.Fprintln(&b, s.state(id, time.Unix(0, 0)), math.Float64bits(h.priority), flags, c.generation, c.depth, c.lineHash, c.proposal)
	fmt.Fprintln(&b, p.outcome, p.due, p.lease, p.retries, p.class, p.simhash, p.visits)
	fmt.Fprintln(&b, x.operators.list[c.operator], x.niches.list[h.niche], x.reasons.list[p.reason], x.hosts.at(h.host).notBefore)
	for _, parent := range x.parents(id) {
		fmt.Fprintln(&b, x.url(parent))
	}
	return b.String()
}
