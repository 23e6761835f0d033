package frontier

import (
	"bytes"
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
)

// This file is the log: segment files of checksummed frames, the truth that the
// index is derived from. doc/frontier-format.md describes the same bytes.

const (
	segmentMagic   = "spoorlog"
	segmentVersion = 1
	segmentHeader  = 32 // bytes before the first frame
	frameHeader    = 20 // bytes before the payload of a frame

	segmentSize = 64 << 20 // a segment of this size gets no more frames
	blockSize   = 32 << 10 // lines are packed when they come to this many bytes
	maxRecord   = 1 << 19  // bytes of a record that is added
	maxLine     = 1 << 20  // bytes of a line in the log; one that is handed out has more parents
	maxFrame    = blockSize + maxLine + 1
	maxSegment  = 1 << 28 // what a place can address
)

// The kinds of frames.
const (
	frameRecords = 1 + iota // lines that were added
	frameBatch              // a header line, then the lines that were handed out
	frameMark               // nothing: all before it is on disk
	frameGap                // what is left of a damaged region after a repair
	frameKinds   = iota
)

// The codecs of a payload.
const (
	codecPlain = iota
	codecZstd
	codecs
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A place is where a line stands in the log: the segment's number, the frame's
// offset in the segment and the line's number in the frame. The zero place is
// none.
type place uint64

func placeOf(segment uint32, offset int64, line int) place {
	return place(segment)<<44 | place(offset)<<16 | place(line)
}

func (p place) segment() uint32 { return uint32(p >> 44) }
func (p place) offset() int64   { return int64(p>>16) & (maxSegment - 1) }
func (p place) line() int       { return int(p & 0xffff) }
func (p place) frame() place    { return p &^ 0xffff }

// A frame is one unit of the log: it is there whole or not at all.
type frame struct {
	kind, codec uint8
	lines       int
	raw         int   // bytes of the payload once unpacked
	synced      int64 // offset up to which the segment was on disk when this was written
	payload     []byte
}

// errFrame says that there is no whole frame at an offset.
var errFrame = errors.New("no valid frame")

// parseFrame reads the frame that b begins with and returns its size.
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

// appendFrame appends f to b, ready to be written.
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

// A Damage is a region of the log that cannot be read although it was
// acknowledged once.
type Damage struct {
	Segment string `json:"segment"` // name of the file
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length"`
}

func (d *Damage) Error() string {
	return fmt.Sprintf("%s is damaged: %d bytes at %d cannot be read\nhint: frontier check -repair sets them aside and keeps everything else", d.Segment, d.Length, d.Offset)
}

// behind tells what follows a region of b that begins at and cannot be read. The
// next valid frame begins at next, or at the end of b. The region was
// acknowledged if a frame behind it says that the segment was on disk beyond at,
// which is base further in the segment than in b.
func behind(b []byte, base, at int64) (next int64, acknowledged bool) {
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

// file is what the log writes to: an *os.File, or in tests one that fails.
type file interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

// log is the log of an open store.
type log struct {
	dir     string
	id      uint64 // of the store, in every segment
	limit   int64  // a segment of this size gets no more frames
	open    func(name string, at int64) (file, error)
	numbers []uint32 // of the segments, ascending without a gap

	// Writing.
	out    file // the last segment; nil until something is written
	number uint32
	offset int64 // where the next frame goes
	synced int64
	dirty  bool   // frames were written since the last sync
	block  []byte // lines that are in no frame yet
	lines  int
	buf    []byte
	enc    *zstd.Encoder
	err    error // the first failure; nothing is written after it

	// Reading.
	dec    *zstd.Decoder
	in     map[uint32]*os.File
	packed []byte // a frame as it was read
	cache  [cacheSize]block
	oldest int
}

const cacheSize = 8

// block is an unpacked frame of lines.
type block struct {
	frame  place
	data   []byte
	starts []int // of the lines, and one more
}

func segmentName(number uint32) string { return fmt.Sprintf("%08d.log", number) }

func (l *log) path(number uint32) string { return filepath.Join(l.dir, segmentName(number)) }

// list finds the segments in the directory.
func (l *log) list() error {
	names, err := os.ReadDir(l.dir)
	if err != nil {
		return err
	}
	l.numbers = l.numbers[:0]
	for _, n := range names {
		var number uint32
		if base, ok := strings.CutSuffix(n.Name(), ".log"); ok {
			if _, err := fmt.Sscanf(base, "%d", &number); err == nil && n.Name() == segmentName(number) {
				l.numbers = append(l.numbers, number)
			}
		}
	}
	slices.Sort(l.numbers)
	for i, n := range l.numbers {
		if n != uint32(i)+1 {
			return fmt.Errorf("%s is missing\nhint: restore it from a copy; without it the store has lost what it held", segmentName(uint32(i)+1))
		}
	}
	return nil
}

// load reads a segment from offset from on, or from its first frame, and checks
// its header. It returns nil if the creation of the segment was not finished.
func (l *log) load(number uint32, from int64) ([]byte, error) {
	f, err := os.Open(l.path(number))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, min(info.Size(), segmentHeader))
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, err
	}
	if len(head) < segmentHeader || info.Size() == segmentHeader && !bytes.HasPrefix(head, []byte(segmentMagic)) {
		return nil, nil
	}
	id, err := parseSegment(head, number)
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

// parseSegment reads the header of a segment.
func parseSegment(b []byte, number uint32) (id uint64, err error) {
	switch {
	case string(b[:8]) != segmentMagic || crc32.Checksum(b[:28], castagnoli) != binary.LittleEndian.Uint32(b[28:]):
		return 0, errors.New("is no segment of a frontier, or its header is damaged\nhint: restore it from a copy")
	case binary.LittleEndian.Uint32(b[8:]) != segmentVersion:
		return 0, fmt.Errorf("has version %d of the format\nhint: this program reads version %d; use the one that wrote the store", binary.LittleEndian.Uint32(b[8:]), segmentVersion)
	case binary.LittleEndian.Uint32(b[12:]) != number:
		return 0, fmt.Errorf("says it is segment %d\nhint: do not rename the files of a store", binary.LittleEndian.Uint32(b[12:]))
	}
	return binary.LittleEndian.Uint64(b[16:]), nil
}

func appendSegment(b []byte, number uint32, id uint64) []byte {
	start := len(b)
	b = append(b, segmentMagic...)
	b = binary.LittleEndian.AppendUint32(b, segmentVersion)
	b = binary.LittleEndian.AppendUint32(b, number)
	b = binary.LittleEndian.AppendUint64(b, id)
	b = binary.LittleEndian.AppendUint32(b, 0)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// scan calls each with every frame that b holds, one behind the other, and
// returns where they end. The error is errFrame if that is before the end of b.
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

// unpack returns the lines of a frame; the bytes are good until the next call
// with the same dst.
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

// line returns the line at p. The bytes are good until the next call.
func (l *log) line(p place) ([]byte, error) {
	b, err := l.blockOf(p)
	if err != nil {
		return nil, fmt.Errorf("%s, byte %d: %w\nhint: frontier check finds out what is wrong", segmentName(p.segment()), p.offset(), err)
	}
	if n := p.line(); n < len(b.starts)-1 {
		return b.data[b.starts[n] : b.starts[n+1]-1], nil
	}
	return nil, fmt.Errorf("%s, byte %d: line %d is missing\nhint: frontier check finds out what is wrong", segmentName(p.segment()), p.offset(), p.line())
}

func (l *log) blockOf(p place) (*block, error) {
	if l.lines > 0 && p.frame() == placeOf(l.number, l.offset, 0) {
		return &block{data: l.block, starts: starts(nil, l.block)}, nil
	}
	for i := range l.cache {
		if l.cache[i].frame == p.frame() {
			return &l.cache[i], nil
		}
	}
	f := l.in[p.segment()]
	if f == nil {
		var err error
		if f, err = os.Open(l.path(p.segment())); err != nil {
			return nil, err
		}
		if l.in == nil {
			l.in = map[uint32]*os.File{}
		}
		l.in[p.segment()] = f
	}
	head := slices.Grow(l.packed[:0], blockSize)[:frameHeader]
	if _, err := f.ReadAt(head, p.offset()); err != nil {
		return nil, noFrame(err)
	}
	n := int(binary.LittleEndian.Uint32(head[4:]))
	if n > maxFrame {
		return nil, errFrame
	}
	head = slices.Grow(head, n)[:frameHeader+n]
	if _, err := f.ReadAt(head[frameHeader:], p.offset()+frameHeader); err != nil {
		return nil, noFrame(err)
	}
	l.packed = head
	fr, _, err := parseFrame(head)
	if err != nil {
		return nil, err
	}
	if fr.kind != frameRecords {
		return nil, errFrame
	}
	b := &l.cache[l.oldest]
	l.oldest = (l.oldest + 1) % cacheSize
	b.frame = 0
	if b.data, err = l.unpack(b.data, fr); err != nil {
		return nil, err
	}
	b.starts = starts(b.starts[:0], b.data)
	b.frame = p.frame()
	return b, nil
}

// noFrame is err, or errFrame if the file ended.
func noFrame(err error) error {
	if errors.Is(err, io.EOF) {
		return errFrame
	}
	return err
}

// starts appends the offsets of the lines of b, and its length.
func starts(s []int, b []byte) []int {
	s = append(s, 0)
	for at := 0; at < len(b); {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		s = append(s, at)
	}
	return s
}

// begin makes the log ready for writing at offset, where the last segment ends;
// what stands behind it is cut off. synced is how much of the segment is known to
// be on disk; dirty says that more may be in it than that.
func (l *log) begin(offset, synced int64, dirty bool) error {
	if len(l.numbers) == 0 {
		return l.create(1)
	}
	l.number = l.numbers[len(l.numbers)-1]
	if offset < segmentHeader { // its creation was not finished
		l.numbers = l.numbers[:len(l.numbers)-1]
		return l.create(l.number)
	}
	l.offset, l.synced, l.dirty = offset, synced, dirty
	info, err := os.Stat(l.path(l.number))
	if err == nil && info.Size() > offset {
		if err = l.writer(); err == nil {
			err = l.out.Truncate(offset)
		}
	}
	return err
}

// writer opens the last segment, if it is not open.
func (l *log) writer() error {
	if l.out != nil || l.err != nil {
		return l.err
	}
	l.out, l.err = l.open(l.path(l.number), l.offset)
	return l.err
}

// openFile opens a segment for writing at offset at.
func openFile(name string, at int64) (file, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// create begins the segment called number. It is on disk, name and all, before
// anything is written to it.
func (l *log) create(number uint32) error {
	if l.out != nil {
		if err := l.out.Close(); err != nil {
			return l.fail(err)
		}
		l.out = nil
	}
	out, err := l.open(l.path(number), 0)
	if err != nil {
		return l.fail(err)
	}
	l.out, l.number = out, number
	_, err = out.Write(appendSegment(nil, number, l.id))
	if err == nil {
		err = out.Sync()
	}
	if err == nil {
		err = syncDir(l.dir)
	}
	if err != nil {
		out.Truncate(0)
		return l.fail(err)
	}
	l.numbers = append(l.numbers, number)
	l.offset, l.synced = segmentHeader, segmentHeader
	return nil
}

// next returns the place where the next line will stand.
func (l *log) next() (place, error) {
	if len(l.block) >= blockSize || l.lines > 0xfffe {
		if err := l.flush(); err != nil {
			return 0, err
		}
	}
	if l.lines == 0 && l.offset >= l.limit {
		if err := l.sync(); err != nil {
			return 0, err
		}
		if err := l.create(l.number + 1); err != nil {
			return 0, err
		}
	}
	return placeOf(l.number, l.offset, l.lines), l.err
}

// append adds a line, at the place that next gave.
func (l *log) append(line []byte) {
	l.block = append(append(l.block, line...), '\n')
	l.lines++
}

// flush writes the lines that are in no frame yet.
func (l *log) flush() error {
	if l.lines == 0 {
		return l.err
	}
	err := l.write(frameRecords, l.block, l.lines)
	l.block, l.lines = l.block[:0], 0
	return err
}

// write writes one frame.
func (l *log) write(kind uint8, data []byte, lines int) error {
	if err := l.writer(); err != nil {
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
		l.buf = l.enc.EncodeAll(data, slices.Grow(l.buf[:0], frameHeader)[:frameHeader])
		if packed := l.buf[frameHeader:]; len(packed) < len(data) {
			f.codec, f.payload = codecZstd, packed // which is in its place already
		}
	}
	l.buf = appendFrame(l.buf[:0], f)
	if _, err := l.out.Write(l.buf); err != nil {
		l.out.Truncate(l.offset) // if this fails too, the next to open cuts it off
		return l.fail(err)
	}
	l.offset += int64(len(l.buf))
	l.dirty = true
	return nil
}

// sync returns when all that was added is on disk.
func (l *log) sync() error {
	if err := l.flush(); err != nil {
		return err
	}
	if !l.dirty {
		return nil
	}
	if err := l.writer(); err != nil {
		return err
	}
	if err := l.out.Sync(); err != nil {
		return l.fail(err)
	}
	l.dirty, l.synced = false, l.offset
	return nil
}

// fail remembers the first error: after a failed write or sync nobody knows what
// is on disk, so nothing more is written or acknowledged.
func (l *log) fail(err error) error {
	if l.err == nil {
		l.err = fmt.Errorf("writing %s: %w", segmentName(l.number), err)
	}
	return l.err
}

// close ends writing and reading. If something was written, a mark tells the
// next reader that all of it had been on disk.
func (l *log) close() error {
	var errs []error
	if l.out != nil {
		if l.err == nil {
			l.write(frameMark, nil, 0) // not needed, so nobody minds if it fails
		}
		errs = append(errs, l.out.Close())
	}
	for _, f := range l.in {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
