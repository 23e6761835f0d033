package frontier

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"spoor/internal/atomicfile"
)

// This file implements the log: segment files of checksummed frames. The index is derived from it.
// doc/design/formats.md describes the bytes.

const (
	segmentMagic   = "spoorlog"
	segmentVersion = 2
	segmentHeader  = 40 // bytes before the first frame
	frameHeader    = 20 // bytes before the payload of a frame

	segmentSize  = 16 << 20 // a segment of at least this size gets no more frames
	blockSize    = 32 << 10 // lines are written as a frame once they have this many bytes
	maxAddedLine = 1 << 19  // bytes of an added record
	maxLine      = 1 << 20  // bytes of a line in the log; more than maxAddedLine, because a line of a batch has the parents from all records of its URL
	maxFrame     = blockSize + maxLine + 1
	maxSegment   = 1 << 28 // bytes of a segment; a place has 28 bits for the offset
	maxSegments  = 1 << 20 // limit of segment numbers; a place has 20 bits for them
)

// The kinds of frames.
const (
	frameRecords   = 1 + iota // added lines
	frameBatch                // a header line, then the leased lines
	frameMark                 // empty: everything before it is on disk
	frameGap                  // overwrites a damaged region after a repair
	frameForgotten            // URLs whose records before this frame are ignored
	frameResidue              // lines dropped by compaction, some of whose fields are still used (doc/design/formats.md)
	frameKinds     = iota
)

// The codecs of a payload.
const (
	codecPlain = iota
	codecZstd
	codecs
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A place is the address of a line in the log: segment number, offset of the frame in the
// segment, and number of the line in the frame. The zero place is no line.
type place uint64

func placeOf(segment uint32, offset int64, line int) place {
	return place(segment)<<44 | place(offset)<<16 | place(line)
}

func (p place) segment() uint32 { return uint32(p >> 44) }
func (p place) offset() int64   { return int64(p>>16) & (maxSegment - 1) }
func (p place) line() int       { return int(p & 0xffff) }
func (p place) frame() place    { return p &^ 0xffff }

// A frame is the unit of writing: after a crash, an incomplete frame is ignored.
type frame struct {
	kind, codec uint8
	lines       int
	raw         int   // bytes of the uncompressed payload
	synced      int64 // offset up to which the segment was known to be on disk when the frame was written
	payload     []byte
}

// checkHint is the hint of errors about a log that cannot be read.
const checkHint = "\nhint: frontier check finds out what is wrong"

// errFrame is returned when there is no complete frame at an offset.
var errFrame = errors.New("no valid frame")

// parseFrame parses the frame at the beginning of b and returns its size.
func parseFrame(b []byte) (f frame, size int, err error) {
	if len(b) < frameHeader {
		return f, 0, errFrame
	}
	n := int64(binary.LittleEndian.Uint32(b[4:]))
	f = frame{
		kind:   b[18],
		codec:  b[19],
		lines:  int(binary.LittleEndian.Uint16(b[16:])),
		raw:    int(binary.LittleEndian.Uint32(b[8:])),
		synced: int64(binary.LittleEndian.Uint32(b[12:])),
	}
	limit := int64(maxFrame)
	if f.kind == frameGap {
		limit = maxSegment
	}
	if f.kind == 0 || f.kind > frameKinds || f.codec >= codecs || f.raw > maxFrame || n > limit || n > int64(len(b)-frameHeader) {
		return f, 0, errFrame
	}
	size = frameHeader + int(n)
	if crc32.Checksum(b[4:size], castagnoli) != binary.LittleEndian.Uint32(b) {
		return f, 0, errFrame
	}
	f.payload = b[frameHeader:size]
	return f, size, nil
}

func appendFrame(b []byte, f frame) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.payload)))
	b = binary.LittleEndian.AppendUint32(b, uint32(f.raw))
	b = binary.LittleEndian.AppendUint32(b, uint32(f.synced))
	b = binary.LittleEndian.AppendUint16(b, uint16(f.lines))
	b = append(b, f.kind, f.codec)
	b = append(b, f.payload...)
	binary.LittleEndian.PutUint32(b[start:], crc32.Checksum(b[start+4:], castagnoli))
	return b
}

// A Damage is an error about acknowledged data in the log that cannot be read.
type Damage struct {
	Segment string `json:"segment"` // name of the file
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length"`
}

func (d *Damage) Error() string {
	return fmt.Sprintf("%s is damaged: %d bytes at %d cannot be read\nhint: frontier check -repair sets them aside, or an index that is wrong about them, and keeps everything else", d.Segment, d.Length, d.Offset)
}

// nextFrame returns the offset of the first valid frame after the unreadable offset at, or
// len(b). The unreadable region was acknowledged if a later frame records that the segment was
// synced beyond offset at. b begins at offset base of the segment.
func nextFrame(b []byte, base, at int64) (next int64, acknowledged bool) {
	next = int64(len(b))
	for p := at + 1; p+frameHeader <= int64(len(b)); {
		f, size, err := parseFrame(b[p:])
		if err != nil {
			p++
			continue
		}
		next = min(next, p)
		if f.synced > base+at {
			return next, true
		}
		p += int64(size)
	}
	return next, false
}

type log struct {
	dir        string
	id         uint64 // random number of the store, in every segment; 0 if not known yet
	limit      int64  // a segment of at least this size gets no more frames
	disk       disk
	numbers    []uint32 // segment numbers, in the order of the positions of the segments
	spans      []span   // by segment number; zero for numbers that are not in use
	maxNumber  uint32   // the highest number in the directory
	superseded []uint32 // segments replaced by a compacted one, to be removed

	// Writing.
	out         file // the last segment; nil until it is written to
	number      uint32
	offset      int64  // offset of the next frame
	synced      int64  // offset up to which the segment is on disk
	written     int64  // bytes written by this process
	dirty       bool   // whether frames were written since the last sync
	block       []byte // lines not yet written
	blockKind   uint8  // kind of the frame of block; 0 means frameRecords
	blockLines  int
	writeBuffer []byte
	enc         *zstd.Encoder
	err         error // the first write error; nothing is written after an error

	// Reading.
	dec        *zstd.Decoder
	readers    map[uint32]*os.File
	readBuffer []byte // for the frame being read
	cache      [cacheSize]lineBlock
	evictNext  int
}

const cacheSize = 8

// A lineBlock is an uncompressed frame of lines.
type lineBlock struct {
	frame      place
	data       []byte
	lineStarts []int // offsets of the lines, then the length of data
}

// position returns p with the position of its segment instead of the number of the segment. Lines
// are ordered by position, because a compacted segment has a higher number than later segments.
func (l *log) position(p place) place {
	return place(l.spanOf(p.segment()).from)<<44 | p&(1<<44-1)
}

// spanOf returns the positions of a segment, or zero if it is not part of the log.
func (l *log) spanOf(number uint32) span {
	if int(number) < len(l.spans) {
		return l.spans[number]
	}
	return span{}
}

func (l *log) setSpan(number uint32, at span) {
	for int(number) >= len(l.spans) {
		l.spans = append(l.spans, span{})
	}
	l.spans[number] = at
}

func segmentName(number uint32) string { return fmt.Sprintf("%08d.log", number) }

func (l *log) path(number uint32) string { return filepath.Join(l.dir, segmentName(number)) }

// A span is the range of positions of a segment in the log, from 1. A segment has one
// position; a compacted segment has the positions of all segments that it replaces.
type span struct{ from, to uint32 }

// newLog returns a log that was not read yet.
func newLog(dir string, o Options) *log {
	l := &log{dir: dir, limit: cmp.Or(min(o.segmentSize, segmentSize), segmentSize), disk: o.disk}
	if l.disk == nil {
		l.disk = osDisk{}
	}
	return l
}

// segmentNumbers returns the numbers of the segment files in a directory, ascending.
func segmentNumbers(dir string) (numbers []uint32, err error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		var number uint32
		if base, ok := strings.CutSuffix(n.Name(), ".log"); ok {
			if _, err := fmt.Sscanf(base, "%d", &number); err == nil && n.Name() == segmentName(number) {
				if number >= maxSegments { // no store writes it, and memory is used for each number below
					return nil, fmt.Errorf("%s: the number is not below %d\nhint: restore the store from a copy", filepath.Join(dir, n.Name()), maxSegments)
				}
				numbers = append(numbers, number)
			}
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// findSegments finds the segments in the directory and their order. Where spans overlap, the
// segment with the highest number is used; the others were compacted and will be removed.
func (l *log) findSegments() error {
	numbers, err := segmentNumbers(l.dir)
	if err != nil {
		return err
	}
	l.numbers, l.superseded, l.spans, l.maxNumber = l.numbers[:0], nil, nil, 0
	last, torn := uint32(0), uint32(0)
	for i, n := range slices.Backward(numbers) {
		l.maxNumber = max(l.maxNumber, n)
		at, err := l.readSpan(n)
		switch {
		case err != nil:
			return err
		case at == (span{}) && i == len(numbers)-1: // its creation was not finished
			torn = n
			continue
		}
		covered := slices.IndexFunc(l.numbers, func(m uint32) bool { return at.from <= l.spans[m].to && l.spans[m].from <= at.to })
		if covered >= 0 {
			l.superseded = append(l.superseded, n)
			continue
		}
		l.numbers = append(l.numbers, n)
		l.setSpan(n, at)
		last = max(last, at.to)
	}
	if torn != 0 {
		l.numbers = append(l.numbers, torn)
		l.setSpan(torn, span{last + 1, last + 1})
	}
	slices.SortFunc(l.numbers, func(a, b uint32) int { return cmp.Compare(l.spans[a].from, l.spans[b].from) })
	expected := uint32(1)
	for _, n := range l.numbers {
		if at := l.spans[n]; at.from != expected || at.to < at.from {
			return fmt.Errorf("%s is missing from the log\nhint: restore it from a copy; without it the store has lost what it held", segmentName(expected))
		}
		expected = l.spans[n].to + 1
	}
	return nil
}

// readSpan reads the span of a segment. It is zero if the creation of the segment was not
// finished.
func (l *log) readSpan(number uint32) (span, error) {
	f, err := atomicfile.OpenFile(l.path(number), os.O_RDONLY, 0)
	if err != nil {
		return span{}, err
	}
	defer f.Close()
	head := make([]byte, segmentHeader+1)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return span{}, err
	}
	if isUnfinished(head[:min(n, segmentHeader)], int64(n)) {
		if n == segmentHeader { // an empty compacted segment may be followed by others
			if b := mendHeader(head[:n], number); b != nil {
				_, at, err := parseSegment(b, number)
				return at, err
			}
		}
		return span{}, nil
	}
	id, at, err := parseSegment(head[:segmentHeader], number)
	if err != nil && mendHeader(head[:segmentHeader], number) != nil {
		return span{}, &Damage{segmentName(number), 0, segmentHeader}
	}
	if err != nil {
		return span{}, fmt.Errorf("%s %w", segmentName(number), err)
	}
	l.id = id
	return at, nil
}

// isUnfinished reports whether the creation of a segment of size bytes that begins with head
// was interrupted. The header is on disk before the first frame is written.
func isUnfinished(head []byte, size int64) bool {
	if len(head) < segmentHeader || size > segmentHeader {
		return len(head) < segmentHeader
	}
	return crc32.Checksum(head[:segmentHeader-4], castagnoli) != binary.LittleEndian.Uint32(head[segmentHeader-4:])
}

// readSegment reads a segment from the offset from, and checks its header. It returns nil if
// the creation of the segment was not finished.
func (l *log) readSegment(number uint32, from int64) ([]byte, error) {
	f, err := atomicfile.OpenFile(l.path(number), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSegment+frameHeader+maxFrame {
		return nil, fmt.Errorf("%s has %d bytes, more than a segment can have\nhint: restore it from a copy", segmentName(number), info.Size())
	}
	head := make([]byte, min(info.Size(), segmentHeader))
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, err
	}
	if isUnfinished(head, info.Size()) {
		return nil, nil
	}
	id, _, err := parseSegment(head, number)
	if err == nil && l.id != 0 && id != l.id {
		err = errors.New("belongs to another store\nhint: every store has a directory of its own")
	}
	if err != nil {
		return nil, fmt.Errorf("%s %w", segmentName(number), err)
	}
	l.id = id
	if from > info.Size() {
		return nil, &Damage{segmentName(number), info.Size(), from - info.Size()}
	}
	b := make([]byte, info.Size()-from)
	_, err = f.ReadAt(b, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

func parseSegment(b []byte, number uint32) (id uint64, at span, err error) {
	u32 := func(i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }
	switch {
	case string(b[:8]) != segmentMagic || crc32.Checksum(b[:segmentHeader-4], castagnoli) != u32(segmentHeader-4):
		return 0, at, errors.New("is not a segment of a frontier, or more than one byte of its header is damaged, so that its place in the log is not known\nhint: restore it from a copy")
	case u32(8) != segmentVersion:
		return 0, at, fmt.Errorf("has version %d of the format\nhint: this program reads version %d; use the one that wrote the store", u32(8), segmentVersion)
	case u32(12) != number:
		return 0, at, fmt.Errorf("has number %d in its header\nhint: do not rename the files of a store", u32(12))
	}
	return binary.LittleEndian.Uint64(b[16:]), span{u32(24), u32(28)}, nil
}

// mendHeader returns the header of a segment as it was before one byte was damaged. The
// checksum identifies the byte and its value: in 40 bytes, no two changes of one byte have the
// same effect on it. If more bytes are damaged mendHeader returns nil, because the span of a
// segment cannot be inferred from the others: a segment that seems to fill a gap may have replaced
// more segments than the gap suggests, and a segment that fills no gap may itself have been
// replaced.
func mendHeader(head []byte, number uint32) []byte {
	b := slices.Clone(head)
	for i := range b {
		for range 255 {
			b[i]++
			if _, _, err := parseSegment(b, number); err == nil {
				return b
			}
		}
		b[i]++
	}
	return nil
}

func appendSegment(b []byte, number uint32, id uint64, at span) []byte {
	start := len(b)
	b = append(b, segmentMagic...)
	b = binary.LittleEndian.AppendUint32(b, segmentVersion)
	b = binary.LittleEndian.AppendUint32(b, number)
	b = binary.LittleEndian.AppendUint64(b, id)
	b = binary.LittleEndian.AppendUint32(b, at.from)
	b = binary.LittleEndian.AppendUint32(b, at.to)
	b = binary.LittleEndian.AppendUint32(b, 0)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// scan calls each with every frame of b and returns the offset after the last. The error is
// errFrame if that is before the end of b.
func scan(b []byte, each func(at int64, f frame) error) (end int64, err error) {
	for end < int64(len(b)) {
		f, size, err := parseFrame(b[end:])
		if err == nil {
			err = each(end, f)
		}
		if err != nil {
			return end, err
		}
		end += int64(size)
	}
	return end, nil
}

// unpack returns the uncompressed payload of a frame, in the memory of dst if it fits.
func (l *log) unpack(dst []byte, f frame) ([]byte, error) {
	if f.codec == codecPlain {
		return append(dst[:0], f.payload...), nil
	}
	if l.dec == nil {
		var err error
		l.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFrame))
		if err != nil {
			return nil, err
		}
	}
	b, err := l.dec.DecodeAll(f.payload, dst[:0])
	if err == nil && len(b) != f.raw {
		err = fmt.Errorf("%d bytes instead of %d", len(b), f.raw)
	}
	return b, err
}

// newReader returns a log for reading lines on another goroutine while nobody writes.
func (l *log) newReader() *log {
	return &log{dir: l.dir, number: l.number, offset: l.offset, block: l.block, blockLines: l.blockLines}
}

// line returns the line at p, which is valid until the next call.
func (l *log) line(p place) ([]byte, error) {
	b, err := l.readBlock(p)
	if err != nil {
		return nil, fmt.Errorf("%s, byte %d: %w"+checkHint, segmentName(p.segment()), p.offset(), err)
	}
	if n := p.line(); n < len(b.lineStarts)-1 {
		return b.data[b.lineStarts[n] : b.lineStarts[n+1]-1], nil
	}
	return nil, fmt.Errorf("%s, byte %d: line %d is missing"+checkHint, segmentName(p.segment()), p.offset(), p.line())
}

// readBlock returns the frame of the line at p, from the cache if possible.
func (l *log) readBlock(p place) (*lineBlock, error) {
	if l.blockLines > 0 && p.frame() == placeOf(l.number, l.offset, 0) {
		return &lineBlock{data: l.block, lineStarts: lineStarts(nil, l.block)}, nil
	}
	for i := range l.cache {
		if l.cache[i].frame == p.frame() {
			return &l.cache[i], nil
		}
	}
	f := l.readers[p.segment()]
	if f == nil {
		var err error
		if f, err = atomicfile.OpenFile(l.path(p.segment()), os.O_RDONLY, 0); err != nil {
			return nil, err
		}
		if l.readers == nil {
			l.readers = map[uint32]*os.File{}
		}
		l.readers[p.segment()] = f
	}
	head := slices.Grow(l.readBuffer[:0], blockSize)[:frameHeader]
	if _, err := f.ReadAt(head, p.offset()); err != nil {
		return nil, frameError(err)
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxFrame {
		return nil, errFrame
	}
	n := int(size)
	head = slices.Grow(head, n)[:frameHeader+n]
	if _, err := f.ReadAt(head[frameHeader:], p.offset()+frameHeader); err != nil {
		return nil, frameError(err)
	}
	l.readBuffer = head
	fr, _, err := parseFrame(head)
	if err != nil {
		return nil, err
	}
	if fr.kind != frameRecords {
		return nil, errFrame
	}
	b := &l.cache[l.evictNext]
	l.evictNext = (l.evictNext + 1) % cacheSize
	b.frame = 0
	if b.data, err = l.unpack(b.data, fr); err != nil {
		return nil, err
	}
	b.lineStarts = lineStarts(b.lineStarts[:0], b.data)
	b.frame = p.frame()
	return b, nil
}

// frameError returns errFrame for the end of a file, and other errors as they are.
func frameError(err error) error {
	if errors.Is(err, io.EOF) {
		return errFrame
	}
	return err
}

// lineStarts appends the offsets of the lines of b to s, and the length of b.
func lineStarts(s []int, b []byte) []int {
	s = append(s, 0)
	for line := range bytes.Lines(b) {
		if line[len(line)-1] == '\n' {
			s = append(s, s[len(s)-1]+len(line))
		}
	}
	return s
}

// openForAppend prepares writing at offset, the end of the last frame, and truncates what
// follows. synced is the offset up to which the segment is known to be on disk; dirty reports
// whether the segment may hold frames after synced that are not on disk.
func (l *log) openForAppend(offset, synced int64, dirty bool) error {
	if len(l.numbers) == 0 {
		return l.createSegment(1, span{1, 1})
	}
	l.number = l.numbers[len(l.numbers)-1]
	if offset < segmentHeader { // the creation was not finished
		l.numbers = l.numbers[:len(l.numbers)-1]
		return l.createSegment(l.number, l.spanOf(l.number))
	}
	l.offset, l.synced, l.dirty = offset, synced, dirty
	info, err := os.Stat(l.path(l.number))
	if err == nil && info.Size() > offset {
		if err = l.openWriter(); err == nil {
			err = l.out.Truncate(offset)
		}
	}
	return err
}

// openWriter opens the last segment for writing if it is not open.
func (l *log) openWriter() error {
	if l.out != nil || l.err != nil {
		return l.err
	}
	l.out, l.err = l.disk.open(l.path(l.number), l.offset)
	return l.err
}

var errTooManySegments = fmt.Errorf("the store has used up all %d segment numbers\nhint: export it with frontier export, and import that into a new store", maxSegments)

// createSegment creates a segment and makes it the one to write to. Its header and its name
// are on disk before a frame is written.
func (l *log) createSegment(number uint32, at span) error {
	if number >= maxSegments {
		return l.fail(errTooManySegments)
	}
	if l.out != nil {
		if err := l.out.Close(); err != nil {
			return l.fail(err)
		}
		l.out = nil
	}
	out, err := l.disk.open(l.path(number), 0)
	if err != nil {
		return l.fail(err)
	}
	l.out, l.number = out, number
	_, err = out.Write(appendSegment(nil, number, l.id, at))
	if err == nil {
		err = out.Sync()
	}
	if err == nil {
		err = l.disk.sync(l.dir)
	}
	if err != nil {
		out.Truncate(0)
		return l.fail(err)
	}
	l.numbers = append(l.numbers, number)
	l.setSpan(number, at)
	l.maxNumber = max(l.maxNumber, number)
	l.offset, l.synced = segmentHeader, segmentHeader
	return nil
}

// nextPlace returns the place of the next line to be appended.
func (l *log) nextPlace() (place, error) {
	if len(l.block) >= blockSize || l.blockLines > 0xfffe {
		if err := l.flush(); err != nil {
			return 0, err
		}
	}
	if l.blockLines == 0 && l.offset >= l.limit {
		if err := l.roll(); err != nil {
			return 0, err
		}
	}
	return placeOf(l.number, l.offset, l.blockLines), l.err
}

// roll syncs the last segment and creates the next one.
func (l *log) roll() error {
	l.dirty = true // sync even if nothing was written: the previous process may have left an unsynced mark, and a torn one is accepted only in the last segment
	if err := l.sync(); err != nil {
		return err
	}
	at := l.spanOf(l.number).to + 1
	return l.createSegment(l.maxNumber+1, span{at, at})
}

// appendLine adds a line, at the place returned by nextPlace.
func (l *log) appendLine(line []byte) {
	l.block = append(append(l.block, line...), '\n')
	l.blockLines++
}

// flush writes the lines not yet written as a frame.
func (l *log) flush() error {
	if l.blockLines == 0 {
		return l.err
	}
	err := l.writeFrame(max(l.blockKind, frameRecords), l.block, l.blockLines)
	l.block, l.blockLines = l.block[:0], 0
	return err
}

func (l *log) writeFrame(kind uint8, data []byte, lines int) error {
	if err := l.openWriter(); err != nil {
		return err
	}
	f := frame{kind: kind, lines: lines, raw: len(data), synced: l.synced, payload: data}
	if len(data) > 256 {
		if l.enc == nil {
			if l.enc, l.err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
				zstd.WithEncoderCRC(false), zstd.WithWindowSize(64<<10), zstd.WithLowerEncoderMem(true)); l.err != nil {
				return l.err
			}
		}
		l.writeBuffer = l.enc.EncodeAll(data, slices.Grow(l.writeBuffer[:0], frameHeader)[:frameHeader])
		if packed := l.writeBuffer[frameHeader:]; len(packed) < len(data) {
			f.codec, f.payload = codecZstd, packed // appendFrame copies it onto itself
		}
	}
	l.writeBuffer = appendFrame(l.writeBuffer[:0], f)
	if _, err := l.out.Write(l.writeBuffer); err != nil {
		l.out.Truncate(l.offset) // if this fails too, the next process truncates it
		return l.fail(err)
	}
	l.offset += int64(len(l.writeBuffer))
	l.written += int64(len(l.writeBuffer))
	l.dirty = true
	return nil
}

// sync writes pending lines and syncs the segment.
func (l *log) sync() error {
	if err := l.flush(); err != nil {
		return err
	}
	if !l.dirty {
		return nil
	}
	if err := l.openWriter(); err != nil {
		return err
	}
	if err := l.out.Sync(); err != nil {
		return l.fail(err)
	}
	l.dirty, l.synced = false, l.offset
	return nil
}

// fail records the first error. After a failed write or sync it is unknown what is on disk,
// so nothing more is written or acknowledged.
func (l *log) fail(err error) error {
	if l.err == nil {
		l.err = fmt.Errorf("writing %s: %w", segmentName(l.number), err)
	}
	return l.err
}

// close closes all files. If something was written it adds a mark, which tells readers that
// everything before it is on disk.
func (l *log) close() error {
	var errs []error
	if l.out != nil {
		if l.err == nil {
			l.writeFrame(frameMark, nil, 0) // optional, so errors do not matter
		}
		errs = append(errs, l.out.Close())
	}
	for _, f := range l.readers {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
