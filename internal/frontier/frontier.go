// Package frontier is the durable queue of a crawl: which addresses are known,
// which wait, which were handed out, and what came of them.
//
// A [Store] is a directory. Its truth is a log of the very records that were
// added and handed out, in checksummed frames (doc/frontier-format.md); the index
// in memory is derived from the log, and a snapshot of it makes opening fast.
// What [Store.Commit] acknowledged survives kill -9 at any moment, and power loss
// as far as the disk keeps what fsync promised.
//
// The state does not depend on the order in which records were added, nor on how
// often: see rules.go for what decides. The exception is a lastmod that is told of a
// page before its outcome is: it is not kept (see hint). Time is a parameter everywhere.
package frontier

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// Options tell how a store is opened.
type Options struct {
	Create       bool          // make the store if there is none
	ReadOnly     bool          // change nothing, share the lock with other readers
	Wait         time.Duration // how long to wait for another process to let go
	Yield        bool          // let all others that wait go first, also in the midst of Compact
	Holder       string        // what this process tells those that wait for it
	ExcludeTraps bool          // bar addresses that are traps; see bars.go

	segmentSize int64                 // size of a segment; 0: segmentSize
	disk        disk                  // nil: the system's
	shouldYield func(dir string) bool // whether Compact gives way; nil: polite if Behind, else never
}

// A Store is an open frontier. It is not safe for concurrent use.
type Store struct {
	dir      string
	options  Options
	readOnly bool
	lock     *storeLock
	log      *log
	x        *index
	unmap    func() error
	opened   Opened

	update     update
	rec        wire.Record
	decoder    lineDecoder
	line       lineBuffer
	writer     *wire.Writer // writes to line
	payload    []byte       // a frame of the log
	lineStarts []int        // of its lines
	partial    *batch       // whose end was not read yet
	prefetched uint64       // what Expect read, so that it has to

	shortened      int
	lastBatch      place // the latest batch of those that were handed out or replayed here
	excludeTraps   bool  // bar what is a trap
	trapsPending   bool  // there may be something to bar
	changed        changedURLs
	excluded       int
	nextGeneration uint64 // 1 + the latest generation that was handed out; 0: none
	unsaved        int    // records since the snapshot
	snapshotAt     int64  // what the process had written to the log when it wrote a snapshot
	compactedSize  int64  // bytes of the log when it was compacted; 0: never, or not known
	failed         error
}

// Opened is what opening a store found.
type Opened struct {
	Snapshot  error // why the snapshot was not used, if it was there; the index was rebuilt
	Replayed  int   // lines read that the snapshot did not have
	Truncated int64 // bytes of an unfinished write, never acknowledged, cut off
}

// Opened tells what opening found.
func (s *Store) Opened() Opened { return s.opened }

// Sections are what [Store.Add] needs decoded of the records it is given.
const Sections = stateSections | wire.Score

// decoded are the sections that tell the state.
const stateSections = wire.Address | wire.Fetch | wire.Parse

// Open opens the store in dir. The error is a [*Damage] if the log cannot be read
// to its end although it was acknowledged, and [*Locked] if another process has it.
func Open(dir string, o Options) (s *Store, err error) {
	if o.segmentSize == 0 {
		o.segmentSize = segmentSize
	}
	if o.disk == nil {
		o.disk = osDisk{}
	}
	if o.shouldYield == nil && o.Yield {
		o.shouldYield = yieldEveryTurn()
	}
	if o.Create && !o.ReadOnly {
		if err := o.disk.mkdir(dir); err != nil {
			return nil, fmt.Errorf("making the store: %w", err)
		}
	}
	s = &Store{dir: dir, options: o, readOnly: o.ReadOnly, excludeTraps: o.ExcludeTraps}
	s.init()
	numbers, err := (&log{dir: dir}).segmentNumbers()
	switch none := errors.Is(err, fs.ErrNotExist) || err == nil && len(numbers) == 0; {
	case none && (!o.Create || isRunDirectory(dir)):
		return nil, errNoStore(dir)
	case err != nil:
		return nil, err
	}
	if err := s.attach(); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// take takes the store from nobody, or from the process that had it, and makes the
// index and the log ready.
func (s *Store) attach() (err error) {
	o := s.options
	s.log = &log{dir: s.dir, limit: min(o.segmentSize, segmentSize), disk: o.disk}
	s.unmap = func() error { return nil }
	s.lastBatch, s.unsaved, s.snapshotAt, s.changed, s.trapsPending = 0, 0, 0, changedURLs{}, true
	if s.lock, err = acquire(s.dir, o); err != nil {
		return err
	}
	if err := s.log.findSegments(); err != nil { // another process may have had it until now
		return err
	}
	return s.loadIndex(true)
}

// giveWay lets those have the store that wait for it, and takes it again. What was
// known of the index does not hold any more: a URL may have another number.
func (s *Store) yield() error {
	err := s.Close()
	if _, only := errors.AsType[*SnapshotError](err); err == nil || only {
		err = s.attach()
	} else {
		s.lock, s.unmap = nil, func() error { return nil }
	}
	if err != nil {
		s.failed = err
	}
	return err
}

func (s *Store) init() { s.writer = wire.NewWriter(&s.line) }

// noStore says that there is no store in dir, and where it is if dir is a crawl's.
func errNoStore(dir string) error {
	hint := fmt.Sprintf("frontier add -store %s makes one", dir)
	if isRunDirectory(dir) {
		hint = "-store " + filepath.Join(dir, runStoreName) + " is one"
	}
	return fmt.Errorf("there is no store in %s\nhint: %s", dir, hint)
}

// runStore is where the directory of a crawl has its store.
const runStoreName = "frontier"

// isRun tells whether dir is the directory of a crawl.
func isRunDirectory(dir string) bool {
	numbers, _ := (&log{dir: filepath.Join(dir, runStoreName)}).segmentNumbers()
	return len(numbers) > 0
}

// restore makes the index from the snapshot, if there is one and it may be used,
// and the log, and makes the log ready for more.
func (s *Store) loadIndex(snapshot bool) error {
	var from logPosition
	s.freeIndex()
	if snapshot {
		err := s.loadSnapshot(&from)
		if lost, ok := errors.AsType[*Damage](err); ok {
			return lost
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errRewritten) {
			s.opened.Snapshot = err
		}
	}
	end, err := s.replay(from)
	if err != nil {
		return err
	}
	if s.x == nil { // an empty log
		if err := s.newIndex(); err != nil {
			return err
		}
	}
	for _, h := range s.x.batches {
		s.nextGeneration = max(s.nextGeneration, h.generation+1)
	}
	if s.readOnly {
		return nil
	}
	s.removeObsolete()
	return s.log.openForAppend(end.offset, end.synced, end.dirty)
}

// newStore begins the index of a store without records.
func (s *Store) newIndex() error {
	if s.log.id == 0 {
		var b [8]byte
		rand.Read(b[:]) // never fails
		s.log.id = binary.LittleEndian.Uint64(b[:]) | 1
	}
	s.x = newIndex(s.log.id)
	return nil
}

// position is how far the log was read.
type logPosition struct {
	segment uint32 // 0: not at all
	offset  int64
	synced  int64
	dirty   bool
}

// replay applies what the log holds behind from.
func (s *Store) replay(from logPosition) (logPosition, error) {
	at := from
	for i, number := range s.log.numbers {
		if s.log.spans[number].from < s.log.spans[from.segment].from {
			continue
		}
		if number != from.segment || from.segment == 0 {
			at = logPosition{segment: number, offset: segmentHeader, synced: segmentHeader}
		}
		isLast := i == len(s.log.numbers)-1
		b, err := s.log.readSegment(number, at.offset)
		if err != nil {
			return at, err
		}
		if b == nil {
			if !isLast {
				return at, &Damage{segmentName(number), 0, segmentHeader}
			}
			at.offset = 0
			continue
		}
		if s.x == nil {
			s.x = newIndex(s.log.id)
		}
		base := at.offset
		end, err := scan(b, func(off int64, f frame) error {
			at.synced = max(at.synced, f.synced)
			at.dirty = f.kind != frameMark
			if err := s.applyFrame(number, base+off, f); err != nil {
				return fmt.Errorf("%s, byte %d: %w", segmentName(number), base+off, err)
			}
			return nil
		})
		at.offset = base + end
		if err == errFrame { // here, and not where a line was looked up
			next, acknowledged := nextFrame(b, base, end)
			if acknowledged || !isLast {
				return at, &Damage{segmentName(number), at.offset, next - end}
			}
			s.opened.Truncated = int64(len(b)) - end
			at.dirty = true
		} else if err != nil {
			return at, err
		}
	}
	s.partial = nil
	return at, nil
}

// applyFrame applies what a frame of the log says.
func (s *Store) applyFrame(number uint32, at int64, f frame) error {
	if f.kind != frameBatch {
		s.partial = nil // one that did not come to its end
	}
	if f.kind != frameRecords && f.kind != frameBatch && f.kind != frameForgotten && f.kind != frameResidue {
		return nil
	}
	var err error
	if s.payload, err = s.log.unpack(s.payload, f); err != nil {
		return err
	}
	lines := lineStarts(s.lineStarts[:0], s.payload)
	s.lineStarts = lines
	if len(lines)-1 != f.lines {
		return fmt.Errorf("%d lines instead of %d", len(lines)-1, f.lines)
	}
	s.opened.Replayed += f.lines
	s.unsaved += f.lines
	switch f.kind {
	case frameBatch:
		return s.applyBatch(placeOf(number, at, 0), s.payload, lines)
	case frameForgotten:
		return s.applyForgotten(s.payload, lines)
	}
	for i := range f.lines {
		line := s.payload[lines[i] : lines[i+1]-1]
		if err := s.decoder.decode(line, &s.rec); err != nil {
			return fmt.Errorf("line %d: %w", i, err)
		}
		if err := s.update.set(&s.rec); err != nil {
			return fmt.Errorf("line %d: %w", i, err)
		}
		s.update.line = line
		if f.kind == frameResidue {
			s.applyResidue(&s.update)
			continue
		}
		if _, err := s.apply(&s.update, placeOf(number, at, i)); err != nil {
			return err
		}
	}
	return nil
}

// A Verdict is what [Store.Add] made of a record.
type Verdict int

// The verdicts.
const (
	Changed Verdict = iota // the state is another one now
	Known                  // it says nothing new
	Query                  // a query without URL, which is not for this store
	Refused                // it cannot be accepted; the error says why
	Failed                 // the store cannot go on; the error says why
)

// Add adds an address or an outcome. rec must have been read with at least
// [Sections]; it may be changed. What was added counts after [Store.Commit].
//
// An address that is longer than half a mebibyte is refused. An outcome is not,
// or its URL would be asked for again and again: it is shortened until it fits
// (see shorten.go), and counted by [Store.Shortened].
func (s *Store) Add(rec *wire.Record) (Verdict, error) {
	if s.failed != nil {
		return Failed, s.failed
	}
	if rec.URL == "" {
		return Query, nil
	}
	if err := s.checkpoint(); err != nil {
		return s.fail(err)
	}
	return s.add(rec)
}

// add adds a record that has a URL, and writes no snapshot: what is decided at a
// commit, of which a snapshot is a part, is added by it.
func (s *Store) add(rec *wire.Record) (Verdict, error) {
	if rec.IsOutcome() {
		rec.Brief()
	}
	hinted := Known
	if rec.LastMod != "" && !rec.IsOutcome() {
		var err error
		if hinted, err = s.applyLastMod(rec); err != nil {
			return hinted, err
		}
	}
	f := &s.update
	if err := f.set(rec); err != nil {
		return Refused, err
	}
	if f.class != classNone || f.retries > 0 || len(f.parents) > 0 { // others are refused before they change anything
		_, err := s.lineOf(f)
		if errors.Is(err, errLine) && f.class != classNone {
			err = s.shorten(f)
		}
		if err != nil {
			return Refused, err
		}
	}
	p, err := s.log.nextPlace()
	if err != nil {
		return s.fail(err)
	}
	changed, err := s.apply(f, p)
	switch {
	case errors.Is(err, errLine):
		return Refused, err
	case err != nil:
		return s.fail(err)
	case !changed:
		return hinted, nil
	}
	line, err := s.lineOf(f)
	if err != nil {
		return s.fail(err)
	}
	s.log.appendLine(line)
	s.unsaved++
	s.trapsPending = true
	return Changed, nil
}

// MostExpected is how many URLs [Store.Expect] looks up at once.
const MaxPrefetch = 64

// Expect tells which URLs are going to be added next, at most [MostExpected] of them.
// It changes nothing but the time that adding them takes: memory is asked for all
// of them at once, where one after the other would wait for it.
func (s *Store) Prefetch(urls []string) {
	if s.x != nil {
		s.prefetched += s.x.prefetch(urls[:min(len(urls), MaxPrefetch)])
	}
}

// Shortened is how many outcomes were kept without all that they said.
func (s *Store) Shortened() int { return s.shortened }

func (s *Store) fail(err error) (Verdict, error) {
	s.failed = err
	return Failed, err
}

// errLine is wrapped by the errors about a record that cannot be a line of the log.
var errLine = errors.New("cannot be kept")

// lineOf is the line of a fact. It is made when it is asked for first: most links
// of a crawl are known, and nobody asks for theirs.
func (s *Store) lineOf(f *update) (_ []byte, err error) {
	if f.line == nil {
		line, err := s.encode(f.rec)
		if err != nil {
			return nil, err
		}
		if len(line) > maxAddedLine {
			return nil, fmt.Errorf("%w: longer than %d bytes", errLine, maxAddedLine)
		}
		f.line = line
	}
	return f.line, nil
}

// encode is the line of rec as it stands in the log.
func (s *Store) encode(rec *wire.Record) ([]byte, error) {
	s.line = s.line[:0]
	if err := s.writer.Write(rec); err != nil {
		return nil, fmt.Errorf("%w: %w", errLine, err)
	}
	if err := s.writer.Flush(); err != nil {
		return nil, err
	}
	line := trimState(bytes.TrimSuffix(s.line, []byte("\n")))
	if len(line) > maxLine {
		return nil, fmt.Errorf("%w: longer than %d bytes", errLine, maxLine)
	}
	return line, nil
}

// Commit returns when everything that was added before is on disk, and what it
// makes a trap is barred.
func (s *Store) Commit() error {
	if s.failed != nil {
		return s.failed
	}
	if err := s.excludeTrapURLs(); err != nil {
		s.failed = err
		return err
	}
	if err := s.log.sync(); err != nil {
		s.failed = err
	}
	return s.failed
}

// tail is how much a process writes to the log before it writes another snapshot:
// what has to be read again if it is killed.
const snapshotInterval = 64 << 20

// checkpoint writes a snapshot if much was written since the last one. What is in
// the log must be in the index.
func (s *Store) checkpoint() error {
	if s.log.written-s.snapshotAt < snapshotInterval {
		return nil
	}
	if err := s.Commit(); err != nil {
		return err
	}
	s.snapshotAt = s.log.written
	s.saveSnapshot() // if it fails Close tries again, and tells
	return nil
}

// Close commits, writes the snapshot if it has become stale, and lets go of the
// store. The snapshot is derived: if it alone could not be written nothing is
// lost, and the error is a [*SnapshotError].
func (s *Store) Close() error {
	var err error
	if !s.readOnly {
		err = s.Commit()
		if err == nil && s.isSnapshotStale() {
			err = s.saveSnapshot()
		}
	}
	return errors.Join(err, s.release())
}

// stale tells whether replaying what the snapshot lacks would take longer than
// writing a new one is worth.
func (s *Store) isSnapshotStale() bool { return s.unsaved > max(2048, s.x.len()/32) }

func (s *Store) release() error {
	err := s.log.close()
	s.freeIndex()
	return errors.Join(err, s.unmap(), s.lock.release())
}

// drop gives back the memory of the index.
func (s *Store) freeIndex() {
	if s.x != nil {
		s.x.free()
		s.x = nil
	}
}

// lineBuffer collects what is written to it.
type lineBuffer []byte

func (b *lineBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// A decoder decodes single lines.
type lineDecoder struct {
	line        []byte
	newlineRead bool // the newline behind feed was read too
	r           *wire.Reader
}

func (d *lineDecoder) decode(line []byte, rec *wire.Record) error {
	if d.r == nil {
		d.r = wire.NewReader(d, stateSections)
	}
	if len(line) == 0 {
		return errors.New("empty line")
	}
	d.line, d.newlineRead = line, false
	return d.r.Read(rec)
}

// Read gives the reader the line, its newline, and no more than that, ever.
func (d *lineDecoder) Read(p []byte) (n int, err error) {
	switch {
	case len(d.line) > 0:
		n = copy(p, d.line)
		d.line = d.line[n:]
	case d.newlineRead:
		return 0, io.ErrUnexpectedEOF
	}
	if len(d.line) == 0 && n < len(p) {
		p[n], d.newlineRead = '\n', true
		n++
	}
	return n, nil
}

// lookup returns the entry of a URL that is known.
func (s *Store) lookup(url string) (id uint32, ok bool) {
	u, err := weburl.Parse(url)
	if err != nil {
		return 0, false
	}
	id, ok = s.x.find(u)
	return id, ok && s.x.isKnown(id)
}
