package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"spoor/internal/atomicfile"
)

// This file implements the snapshot: the memory of the index with a header. A snapshot is derived
// from the log. So it is written without fsync, verified before use, and may be deleted at any time.

const (
	snapshotName    = "index"
	snapshotMagic   = "spoorsnp"
	snapshotVersion = 8
	snapshotHeader  = 192
	byteOrder       = 0x01020304 // written in the byte order of the machine
	alignment       = 64         // alignment of every section, in bytes
)

// A SnapshotError is returned when the snapshot could not be written. Nothing is lost; only
// the next opening takes longer.
type SnapshotError struct{ Err error }

func (e *SnapshotError) Error() string {
	return "writing the snapshot (nothing is lost, but opening takes longer): " + e.Err.Error()
}

// Unwrap returns e.Err.
func (e *SnapshotError) Unwrap() error { return e.Err }

// A section is a part of the index that a snapshot holds.
type section interface {
	elementSize() int
	memory() [][]byte         // in pieces
	adopt(a *arena, b []byte) // uses b as the memory
}

const sections = 14

// sections returns the sections in the order of the file.
func (x *index) sections() [sections]section {
	return [sections]section{
		&x.hot, &x.cold, &x.urlTable, &x.histories,
		&x.dirs, &x.dirTable, &x.hosts, &x.hostTable,
		&x.batches, &x.parentLists, &x.text,
		&x.operators, &x.reasons, &x.niches,
	}
}

// snapshotFields is the header after the magic.
type snapshotFields struct {
	order, version uint32
	id             uint64
	segment        uint64 // the snapshot includes the log up to offset in this segment
	offset         uint64
	counts         [sections]uint64 // elements of each section
	segments       uint64           // hash of the numbers of all segments up to this segment
	lastPosition   uint64           // position of this segment
	compactedSize  uint64           // bytes of the log after its last compaction; 0: never compacted
	bodyChecksum   uint64           // checksum of all sections
	headerChecksum uint64           // checksum of the header before this field
}

var _ [snapshotHeader - 8]byte = [unsafe.Sizeof(snapshotFields{})]byte{}

// bytesOf returns the memory of s.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// sliceOf is the inverse of bytesOf. b must be aligned for T.
func sliceOf[T any](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// padding returns the number of bytes to add to n to align the next section.
func padding(n uint64) uint64 { return -n & (alignment - 1) }

// saveSnapshot syncs the log and writes the snapshot. The sync includes the mark of the previous
// process, which may not be on disk: a snapshot is valid only with the whole log before it.
func (s *Store) saveSnapshot() error {
	s.log.dirty = s.log.dirty || s.log.synced < s.log.offset
	if err := s.log.sync(); err != nil {
		return err
	}
	part := filepath.Join(s.dir, snapshotName+".part")
	err := s.writeSnapshot(part)
	if err == nil {
		err = s.log.disk.rename(part, filepath.Join(s.dir, snapshotName))
	}
	if err != nil {
		s.log.disk.remove(part)
		return &SnapshotError{err}
	}
	s.unsaved = 0
	return nil
}

func (s *Store) writeSnapshot(name string) error {
	f, err := createFile(s.log.disk, name)
	if err != nil {
		return err
	}
	h := snapshotFields{
		order: byteOrder, version: snapshotVersion, id: s.log.id,
		segment: uint64(s.log.number), offset: uint64(s.log.offset), segments: s.log.segmentsHash(s.log.number),
		lastPosition: uint64(s.log.spanOf(s.log.number).to), compactedSize: uint64(s.compactedSize),
	}
	// The header is written last, since it has the checksum of the sections.
	_, err = f.Write(make([]byte, snapshotHeader))
	var sum uint32
	write := func(b []byte) {
		if err == nil && len(b) > 0 {
			sum = crc32.Update(sum, castagnoli, b)
			_, err = f.Write(b)
		}
	}
	for i, section := range s.x.sections() {
		size := uint64(0)
		for _, b := range section.memory() {
			size += uint64(len(b))
			write(b)
		}
		write(make([]byte, padding(size)))
		h.counts[i] = size / uint64(section.elementSize())
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return err
	}
	h.bodyChecksum = uint64(sum)
	head := append([]byte(snapshotMagic), bytesOf([]snapshotFields{h})...)
	binary.NativeEndian.PutUint64(head[snapshotHeader-8:], uint64(crc32.Checksum(head[:snapshotHeader-8], castagnoli)))
	if f, err = s.log.disk.open(name, 0); err != nil {
		return err
	}
	_, err = f.Write(head)
	return errors.Join(err, f.Close())
}

// loadSnapshot loads the index from the snapshot, and sets from to the position up to which it
// includes the log. On error the index stays nil.
func (s *Store) loadSnapshot(from *logPosition) error {
	f, err := atomicfile.OpenFile(filepath.Join(s.dir, snapshotName), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := readSnapshot(f)
	if err != nil {
		return fmt.Errorf("%s: %w", snapshotName, err)
	}
	x, h, err := parseSnapshot(b)
	if err == nil {
		err = s.fits(h)
	}
	if err != nil {
		if x != nil {
			x.free()
		}
		freeMemory(b)
		return fmt.Errorf("%s: %w", snapshotName, err)
	}
	s.x, x.snapshot = x, b
	s.log.id, s.compactedSize = h.id, int64(h.compactedSize)
	*from = logPosition{segment: uint32(h.segment), offset: int64(h.offset), synced: int64(h.offset)}
	return nil
}

// readSnapshot returns the content of a snapshot in memory of its own. The file is not mapped: if
// another program truncated it later, a read of the mapping would kill the process.
func readSnapshot(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var head [snapshotHeader]byte
	if _, err := f.ReadAt(head[:], 0); err != nil && err != io.EOF {
		return nil, err
	}
	h, err := parseSnapshotHeader(head[:])
	if err != nil {
		return nil, err
	}
	if size, ok := h.size(); !ok || info.Size() != size { // check this before allocating size bytes
		return nil, errSnapshotDamaged
	}
	b := allocate(int(info.Size()))
	adviseHugePages(b)
	const part = 4 << 20
	var next atomic.Int64
	var failed atomic.Pointer[error]
	parallel((len(b)+part-1)/part, func(int) {
		for failed.Load() == nil {
			at := next.Add(part) - part
			if at >= int64(len(b)) {
				return
			}
			if _, err := io.ReadFull(io.NewSectionReader(f, at, part), b[at:min(at+part, int64(len(b)))]); err != nil {
				failed.Store(&err)
			}
		}
	})
	if err := failed.Load(); err != nil {
		freeMemory(b)
		return nil, *err
	}
	return b, nil
}

// size returns the size of a snapshot with this header, and false if it does not fit in memory.
func (h *snapshotFields) size() (n int64, ok bool) {
	n = snapshotHeader
	for i, section := range new(index).sections() {
		size := uint64(section.elementSize())
		if h.counts[i] > uint64(math.MaxInt-alignment-n)/size {
			return 0, false
		}
		n += int64(h.counts[i]*size + padding(h.counts[i]*size))
	}
	return n, true
}

// fits returns an error if the snapshot does not belong to the log. It returns a [*Damage] if the
// snapshot belongs to the log, but the log is shorter than when the snapshot was written:
// acknowledged data was lost.
func (s *Store) fits(h snapshotFields) error {
	if h.segment == 0 || h.segment >= maxSegments || h.offset < segmentHeader || h.offset > 1<<32 || s.log.id != 0 && s.log.id != h.id {
		return errors.New("does not belong to this log")
	}
	number := uint32(h.segment)
	if n := len(s.log.numbers); n > 0 && (number > s.log.maxNumber || h.lastPosition > uint64(s.log.spanOf(s.log.numbers[n-1]).to)) {
		// Segment numbers only grow, and compaction keeps positions, so the segment was lost.
		return &Damage{segmentName(number), 0, int64(h.offset)}
	}
	if !slices.Contains(s.log.numbers, number) {
		return errRewritten
	}
	info, err := os.Stat(s.log.path(number))
	switch {
	case err != nil:
		return err
	case info.Size() < int64(h.offset): // this segment was not compacted, whatever happened to others
		return &Damage{segmentName(number), info.Size(), int64(h.offset) - info.Size()}
	case h.segments != s.log.segmentsHash(number):
		return errRewritten
	}
	return nil
}

// segmentsHash returns a hash of the numbers of the segments up to segment last. The places in a
// snapshot are valid as long as this hash stays the same.
func (l *log) segmentsHash(last uint32) uint64 {
	return hash64(0, unsafeString(bytesOf(l.numbers[:slices.Index(l.numbers, last)+1])))
}

var errSnapshotDamaged = errors.New("is damaged")

// errRewritten is returned when the log was compacted after the snapshot was written, and the
// process was killed before it wrote a new snapshot. This is not a fault of the store.
var errRewritten = errors.New("was made of other segments")

// parseSnapshot returns the index in b. The index uses the memory of b. All references in the
// index are checked, so that any content of b is safe to use.
func parseSnapshot(b []byte) (x *index, h snapshotFields, err error) {
	if h, err = parseSnapshotHeader(b); err != nil {
		return nil, h, err
	}
	body := b[snapshotHeader:]
	var sum uint32
	var summing sync.WaitGroup
	summing.Go(func() { sum = crc32.Checksum(body, castagnoli) })
	x = newIndex(h.id)
	ok := x.adoptSections(h.counts, body) && x.isValid()
	summing.Wait() // in any case, since the caller frees b
	if !ok || sum != uint32(h.bodyChecksum) {
		x.free()
		return nil, h, errSnapshotDamaged
	}
	return x, h, nil
}

func parseSnapshotHeader(b []byte) (h snapshotFields, err error) {
	if len(b) < snapshotHeader || string(b[:8]) != snapshotMagic {
		return h, errSnapshotDamaged
	}
	copy(bytesOf(unsafe.Slice(&h, 1)), b[8:])
	switch {
	case h.order != byteOrder:
		return h, errors.New("was written on another kind of machine")
	case h.version != snapshotVersion:
		return h, fmt.Errorf("has version %d of the format", h.version)
	case h.headerChecksum != uint64(crc32.Checksum(b[:snapshotHeader-8], castagnoli)):
		return h, errSnapshotDamaged
	}
	return h, nil
}

// adoptSections uses the sections in b as the memory of the index, and reports whether b holds
// exactly these sections.
func (x *index) adoptSections(counts [sections]uint64, b []byte) bool {
	for i, section := range x.sections() {
		size := uint64(section.elementSize())
		if counts[i] > uint64(len(b))/size {
			return false
		}
		n := counts[i] * size
		section.adopt(&x.memory, b[:n:n])
		b = b[min(n+padding(n), uint64(len(b))):]
	}
	return len(b) == 0
}

func (l *batchList) elementSize() int { return int(unsafe.Sizeof(batchPlace{})) }
func (l *batchList) memory() [][]byte { return [][]byte{bytesOf(*l)} }

func (l *batchList) adopt(_ *arena, b []byte) { *l = slices.Clone(sliceOf[batchPlace](b)) }

func (t *table) elementSize() int { return 8 }
func (t *table) memory() [][]byte { return [][]byte{bytesOf(t.slots)} }

func (t *table) adopt(_ *arena, b []byte) {
	t.slots, t.adopted, t.n = sliceOf[uint64](b), true, 0
	for _, s := range t.slots {
		if s != 0 {
			t.n++
		}
	}
}

func (n *nameTable) elementSize() int { return 1 }
func (n *nameTable) memory() [][]byte { return [][]byte{[]byte(strings.Join(n.list, "\n"))} }

// adopt reads the names in b; isValid checks them.
func (n *nameTable) adopt(_ *arena, b []byte) {
	*n = newNames(n.limit)
	n.list = strings.Split(string(b), "\n")
	for i, name := range n.list[:min(len(n.list), n.limit)] {
		n.numbers[name] = uint16(i)
	}
}

// isValid reports whether all references within the index are valid.
func (x *index) isValid() bool {
	if x.cold.n != x.hot.n || x.histories.n == 0 || *x.histories.at(0) != (history{}) || x.parentLists.n == 0 ||
		!x.urlTable.isValid(x.hot.n) || !x.dirTable.isValid(x.dirs.n) || !x.hostTable.isValid(x.hosts.n) ||
		!x.operators.isValid() || !x.reasons.isValid() || !x.niches.isValid() {
		return false
	}
	return forAll(x.hosts.n, func(i uint32) bool { return x.isValidText(x.hosts.at(i).text) }) &&
		forAll(x.dirs.n, func(i uint32) bool {
			d := x.dirs.at(i)
			return int64(d.host) < int64(x.hosts.n) && x.isValidText(d.text)
		}) &&
		forAll(x.histories.n, func(i uint32) bool {
			p := x.histories.at(i)
			return p.class < classes && int(p.reason) < len(x.reasons.list) && (p.parents == 0 || x.isValidParents(p.parents))
		}) &&
		forAll(x.hot.n, func(i uint32) bool {
			h, c := x.hot.at(i), x.cold.at(i)
			return int64(c.dir) < int64(x.dirs.n) && h.host == x.dirs.at(c.dir).host && int(h.niche) < len(x.niches.list) &&
				int(c.operator) < len(x.operators.list) && x.isValidSuffix(c) &&
				(h.flags&flagHistory == 0 || c.history != 0 && int64(c.history) < int64(x.histories.n))
		})
}

// forAll reports whether ok returns true for every number below n. It runs on all processors.
func forAll(n int, ok func(uint32) bool) bool {
	var next, fails atomic.Int64
	check := func(int) {
		for fails.Load() == 0 {
			at := next.Add(chunkSize) - chunkSize
			for i := at; i < min(at+chunkSize, int64(n)); i++ {
				if !ok(uint32(i)) {
					fails.Store(1)
					return
				}
			}
			if at+chunkSize >= int64(n) {
				return
			}
		}
	}
	parallel((n+chunkSize-1)/chunkSize, check)
	return fails.Load() == 0
}

// isValid reports whether a table has n numbers, all below n, and an empty slot.
func (t *table) isValid(n int) bool {
	for _, s := range t.slots {
		if s != 0 && uint64(uint32(s)-1) >= uint64(n) {
			return false
		}
	}
	return t.n == n && (n == 0 || n < len(t.slots))
}

func (n *nameTable) isValid() bool { return n.list[0] == "" && len(n.list) <= n.limit }

// isValidText reports whether ref refers to text within one chunk.
func (x *index) isValidText(ref uint64) bool {
	at, n := ref>>16, ref&0xffff
	return n == 0 || at+n <= uint64(x.text.n) && at&(chunkSize-1)+n <= chunkSize
}

// isValidSuffix reports whether the suffix of a URL is within one chunk of the text.
func (x *index) isValidSuffix(c *cold) bool {
	at := uint64(c.suffixHigh)<<32 | uint64(c.suffix)
	if at >= uint64(x.text.n) {
		return false
	}
	b := x.text.chunks[at>>chunkBits][at&(chunkSize-1):]
	n := 1 + uint64(b[0])
	if b[0] >= 0x80 {
		if len(b) < 2 {
			return false
		}
		n = 2 + (uint64(b[0]&0x7f) | uint64(b[1])<<7)
	}
	return at+n <= uint64(x.text.n) && n <= uint64(len(b))
}

func (x *index) isValidParents(at uint32) bool {
	if int64(at) >= int64(x.parentLists.n) {
		return false
	}
	n := int(*x.parentLists.at(at))
	if n > maxParents || int(at)+1+listCapacity(n) > x.parentLists.n || int(at&(chunkSize-1))+1+listCapacity(n) > chunkSize {
		return false
	}
	for _, id := range x.parentLists.slice(uint64(at)+1, n) {
		if int64(id) >= int64(x.hot.n) {
			return false
		}
	}
	return true
}
