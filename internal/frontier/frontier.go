// Package frontier implements the durable queue of a crawl: the known URLs, whether they wait or
// are leased, and their outcomes.
//
// A [Store] is a directory with a log of all added and leased records in checksummed frames
// (doc/design/formats.md). The index in memory is derived from the log; a snapshot of the
// index makes opening fast. Data that [Store.Commit] acknowledged survives kill -9 at any
// moment, and power loss if the disk honours fsync.
//
// The state does not depend on the order in which records were added, and adding a record again
// does not change it; see rules.go. There is one exception: the lastmod of a sitemap is not kept if
// it is added before the outcome of its page (see applyLastMod). The current time is always a
// parameter.
package frontier

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// Options are the options of [Open].
type Options struct {
	Create       bool          // create the store if it does not exist
	ReadOnly     bool          // do not write, and share the lock with other readers
	Wait         time.Duration // how long to wait for the lock
	Yield        bool          // let other waiting processes acquire the lock first, also during Compact
	Holder       string        // description of this process for those waiting for the lock
	ExcludeTraps bool          // exclude crawler traps; see traps.go
	Scope        Scope         // exclude URLs that do not belong to the crawl; nil: exclude none; see scope.go
	RecheckScope bool          // check all waiting URLs again, because the rules have changed

	segmentSize int64                 // 0: the constant segmentSize
	disk        disk                  // nil: osDisk
	shouldYield func(dir string) bool // called at each frame of Compact; nil: yieldEveryTurn if Yield, else never
}

// A Store is an open frontier. It is not safe for concurrent use.
type Store struct {
	dir     string
	options Options
	lock    *os.File // nil: not needed
	log     *log
	x       *index
	opened  Opened

	update     update
	rec        wire.Record
	line       []byte // the last line that was encoded
	payload    []byte // lines of the last frame that was read
	lineStarts []int  // starts of the lines in payload
	partial    *batch // batch whose last frame was not read yet
	prefetched uint64 // sum of the values that Prefetch read, so that the reads are not optimised away

	shortened      int
	lastBatch      place // the latest batch leased or replayed by this process
	trapsPending   bool  // whether records were added since traps were last excluded
	changed        changedURLs
	scope          scopeState
	excluded       int
	running        *runningCounts // nil: Counts was not called
	nextGeneration uint64         // 1 + the latest leased generation; 0: none
	unsaved        int            // records added since the snapshot
	snapshotAt     int64          // log.written at the last snapshot
	compactedSize  int64          // bytes of the log after its last compaction; 0: unknown or never compacted
	failed         error
}

// Opened describes what opening a store found.
type Opened struct {
	Snapshot  error // why an existing snapshot was not used and the index was rebuilt
	Replayed  int   // lines of the log that were not in the snapshot
	Truncated int64 // bytes of an incomplete tail of the log, which was never acknowledged
}

// Opened returns what opening the store found.
func (s *Store) Opened() Opened { return s.opened }

// Sections are the sections of a record that [Store.Add] requires to be decoded.
const Sections = stateSections | wire.Score

// stateSections are the sections that determine the state.
const stateSections = wire.Address | wire.Fetch | wire.Parse

// Open opens the store in dir. The error is a [*Damage] if acknowledged data in the log
// cannot be read, and a [*Locked] if another process holds the lock.
func Open(dir string, o Options) (s *Store, err error) {
	if o.shouldYield == nil && o.Yield {
		o.shouldYield = yieldEveryTurn()
	}
	s = newStore(dir, o)
	if o.Create && !o.ReadOnly {
		if err := s.log.disk.mkdir(dir); err != nil {
			return nil, fmt.Errorf("creating the store: %w", err)
		}
	}
	if err := requireStore(dir, o.Create); err != nil {
		return nil, err
	}
	if err := s.attach(); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// newStore returns a store before its lock is acquired and its log and index are loaded.
func newStore(dir string, o Options) *Store {
	return &Store{dir: dir, options: o, log: newLog(dir, o)}
}

// attach acquires the lock, and loads the log and the index.
func (s *Store) attach() (err error) {
	s.log = newLog(s.dir, s.options)
	s.lastBatch, s.unsaved, s.snapshotAt, s.changed, s.trapsPending = 0, 0, 0, changedURLs{}, true
	s.scope = scopeState{}
	if s.lock, err = acquire(s.dir, s.options); err != nil {
		return err
	}
	if err := s.log.findSegments(); err != nil { // under the lock, so no other process can change them
		return err
	}
	return s.loadIndex(true)
}

// yield closes the store, so that waiting processes can open it, and opens it again. Afterwards
// URLs may have other numbers (IDs) in the index.
func (s *Store) yield() error {
	err := s.Close()
	if _, only := errors.AsType[*SnapshotError](err); err == nil || only {
		err = s.attach()
	} else {
		s.lock = nil
	}
	if err != nil {
		s.failed = err
	}
	return err
}

// requireStore returns an error if there is no store in dir and create is false. It also returns
// an error if dir is the directory of a crawl, whose store is in dir/frontier.
func requireStore(dir string, create bool) error {
	numbers, err := segmentNumbers(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || len(numbers) > 0 {
		return err
	}
	inRun := filepath.Join(dir, "frontier")
	if numbers, _ := segmentNumbers(inRun); len(numbers) > 0 {
		return fmt.Errorf("there is no store in %s\nhint: the store of this crawl is -store %s", dir, inRun)
	}
	if create {
		return err
	}
	return fmt.Errorf("there is no store in %s\nhint: frontier add -store %s creates one", dir, dir)
}

// loadIndex builds the index from the log, and from the snapshot if useSnapshot is set and
// it is valid, and prepares the log for writing.
func (s *Store) loadIndex(useSnapshot bool) error {
	var from logPosition
	s.freeIndex()
	if useSnapshot {
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
	for _, b := range s.x.batches {
		s.nextGeneration = max(s.nextGeneration, b.generation+1)
	}
	if s.options.ReadOnly {
		return nil
	}
	s.removeObsolete()
	return s.log.openForAppend(end.offset, end.synced, end.dirty)
}

// newIndex creates the index of a store without records.
func (s *Store) newIndex() error {
	if s.log.id == 0 {
		var b [8]byte
		rand.Read(b[:]) // never fails
		s.log.id = binary.LittleEndian.Uint64(b[:]) | 1
	}
	s.x = newIndex(s.log.id)
	return nil
}

type logPosition struct {
	segment uint32 // 0: nothing was read
	offset  int64
	synced  int64 // offset up to which the segment is known to be on disk
	dirty   bool  // whether the segment may hold more than that
}

// replay applies the frames of the log after from, and returns the end of the log.
func (s *Store) replay(from logPosition) (logPosition, error) {
	at := from
	for i, number := range s.log.numbers {
		if s.log.spanOf(number).from < s.log.spanOf(from.segment).from {
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
		if err == errFrame { // scan returns it unwrapped; applyFrame wraps it
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

func (s *Store) applyFrame(number uint32, at int64, f frame) error {
	if f.kind != frameBatch {
		s.partial = nil // an incomplete batch is ignored
	}
	if f.kind != frameRecords && f.kind != frameBatch && f.kind != frameForgotten && f.kind != frameResidue {
		return nil
	}
	if err := s.unpackLines(f); err != nil {
		return err
	}
	s.opened.Replayed += f.lines
	s.unsaved += f.lines
	switch f.kind {
	case frameBatch:
		return s.applyBatch(placeOf(number, at, 0))
	case frameForgotten:
		return s.applyForgotten()
	}
	return s.eachUpdate(0, func(i int, _ []byte) error {
		if f.kind == frameResidue {
			s.applyResidue(&s.update)
			return nil
		}
		_, err := s.apply(&s.update, placeOf(number, at, i))
		return err
	})
}

// unpackLines decompresses a frame into s.payload and finds its lines.
func (s *Store) unpackLines(f frame) (err error) {
	if s.payload, err = s.log.unpack(s.payload, f); err != nil {
		return err
	}
	s.lineStarts = lineStarts(s.lineStarts[:0], s.payload)
	if n := len(s.lineStarts) - 1; n != f.lines {
		return fmt.Errorf("%d lines instead of %d", n, f.lines)
	}
	return nil
}

// eachUpdate decodes each line in s.payload, beginning with line first, into s.update, and calls f
// for it.
func (s *Store) eachUpdate(first int, f func(i int, line []byte) error) error {
	for i := first; i < len(s.lineStarts)-1; i++ {
		line := s.payload[s.lineStarts[i] : s.lineStarts[i+1]-1]
		err := decode(line, &s.rec)
		if err == nil {
			err = s.update.set(&s.rec)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", i, err)
		}
		s.update.line = line
		if err := f(i, line); err != nil {
			return err
		}
	}
	return nil
}

// A Verdict is the result of [Store.Add].
type Verdict int

// The results of adding a record.
const (
	Changed Verdict = iota // the record changed the state
	Known                  // the record changed nothing
	Query                  // the record is a query without URL, which is not stored
	Refused                // the record is invalid; the error is the reason
	Failed                 // the store failed and cannot be used any more; the error is the reason
)

// Add adds an address or an outcome. rec must have been read with at least [Sections], and may
// be changed. The record is durable after [Store.Commit].
//
// An address longer than half a mebibyte is refused. An outcome of that length is shortened
// instead (see shorten.go) and counted by [Store.Shortened], because its URL would otherwise
// be requested again and again.
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

// add adds a record with a URL. Unlike Add it never writes a snapshot: Commit calls add for
// exclusions, and checkpoint calls Commit before it writes a snapshot, so add would call itself.
func (s *Store) add(rec *wire.Record) (Verdict, error) {
	if rec.IsOutcome() {
		rec.Brief()
	}
	verdict := Known
	if rec.LastMod != "" && !rec.IsOutcome() {
		var err error
		if verdict, err = s.applyLastMod(rec); err != nil {
			return verdict, err
		}
	}
	f := &s.update
	if err := f.set(rec); err != nil {
		return Refused, err
	}
	if f.class != classNone || f.retries > 0 || len(f.parents) > 0 { // encode now: apply would find an error only after it has changed the index
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
		return verdict, nil
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

// MaxPrefetch is the largest number of URLs for one call of [Store.Prefetch].
const MaxPrefetch = 64

// Prefetch reads the parts of the index that adding the URLs will read, so that the cache misses
// overlap. It ignores URLs after the first [MaxPrefetch]. It only saves time.
func (s *Store) Prefetch(urls []string) {
	if s.x != nil {
		s.prefetched += s.x.prefetch(urls[:min(len(urls), MaxPrefetch)])
	}
}

// Shortened returns the number of outcomes that were shortened to fit into the log.
func (s *Store) Shortened() int { return s.shortened }

func (s *Store) fail(err error) (Verdict, error) {
	s.failed = err
	return Failed, err
}

// errLine is wrapped by errors about a record that cannot be stored as a line of the log.
var errLine = errors.New("cannot be kept")

// lineOf returns the line of an update. The line is encoded on first use: most links of a crawl
// are known already, and their lines are never needed.
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

// encode returns rec as a line of the log, without newline. The line is valid until the next call.
func (s *Store) encode(rec *wire.Record) ([]byte, error) {
	var err error
	if s.line, err = rec.Append(s.line[:0]); err != nil {
		return nil, fmt.Errorf("%w: %w", errLine, err)
	}
	line := trimState(bytes.TrimSuffix(s.line, []byte("\n")))
	if len(line) > maxLine {
		return nil, fmt.Errorf("%w: longer than %d bytes", errLine, maxLine)
	}
	return line, nil
}

// Commit excludes URLs that are out of scope and, if the store was opened with ExcludeTraps, traps.
// It returns when everything added before is on disk.
func (s *Store) Commit() error {
	if s.failed != nil {
		return s.failed
	}
	if err := s.excludeURLs(); err != nil {
		s.failed = err
		return err
	}
	if err := s.log.sync(); err != nil {
		s.failed = err
	}
	return s.failed
}

// snapshotInterval is the number of bytes written to the log between two snapshots. After a kill,
// about this many bytes are replayed.
const snapshotInterval = 64 << 20

// checkpoint writes a snapshot if snapshotInterval bytes were written since the last one.
// Every line of the log must have been applied to the index.
func (s *Store) checkpoint() error {
	if s.log.written-s.snapshotAt < snapshotInterval {
		return nil
	}
	if err := s.Commit(); err != nil {
		return err
	}
	s.snapshotAt = s.log.written
	s.saveSnapshot() // if it fails, Close tries again and returns the error
	return nil
}

// Close commits, writes the snapshot if it is out of date, and releases the lock. If only the
// snapshot could not be written, the error is a [*SnapshotError]; nothing is lost.
func (s *Store) Close() error {
	var err error
	if !s.options.ReadOnly {
		err = s.Commit()
		if err == nil && s.isSnapshotStale() {
			err = s.saveSnapshot()
		}
	}
	return errors.Join(err, s.release())
}

// isSnapshotStale reports whether replaying the records since the snapshot costs more than
// writing a new one.
func (s *Store) isSnapshotStale() bool { return s.unsaved > max(2048, s.x.len()/32) }

func (s *Store) release() error {
	err := s.log.close()
	s.freeIndex()
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}

func (s *Store) freeIndex() {
	s.running = nil
	if s.x != nil {
		s.x.free()
		s.x = nil
	}
}

func (s *Store) readRecord(p place, rec *wire.Record) error {
	line, err := s.log.line(p)
	if err != nil {
		return err
	}
	return decode(line, rec)
}

// decode decodes a line of the log.
func decode(line []byte, rec *wire.Record) error { return rec.Restore(line, stateSections) }

// lookup returns the number of a known URL.
func (s *Store) lookup(url string) (id uint32, ok bool) {
	u, err := weburl.Parse(url)
	if err != nil {
		return 0, false
	}
	id, ok = s.x.find(u)
	return id, ok && s.x.isKnown(id)
}
