package archive

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A format is the compression of a file.
type format int

const (
	unknown format = iota
	plain          // not compressed
	gzipped        // gzip members, usually one per record
	zstded         // zstd frames, usually one per record
)

const (
	bufferSize = 64 << 10

	// maxDictionary limits the dictionary in the first frame of a .warc.zst file.
	maxDictionary = 16 << 20

	// maxWindow limits the window of a zstd frame: zstd --ultra --long=27 uses this size.
	maxWindow = 128 << 20

	// maxRewind limits how many bytes of a file are read a second time to find records inside
	// a record whose Content-Length is too large. Without this limit, the time for a file that
	// consists of such records would be quadratic.
	maxRewind = 1 << 30
)

const (
	zstdMagic     = 0xFD2FB528
	zstdSkippable = 0x184D2A50 // first of the magic numbers up to 0x184D2A5F
	zstdDict      = 0x184D2A5D // skippable frame that holds a dictionary
)

var gzipMagic = []byte{0x1f, 0x8b, 0x08}

// A counter counts the bytes read through it. After the first error of r, it returns this error
// again, because bufio.Reader.Peek drops it.
type counter struct {
	r    io.Reader
	n    int64
	err  error
	most int // limit of the next Read, which doubles it; 0: no limit
}

func (c *counter) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if c.most >= len(p) {
		c.most = 0
	} else if c.most > 0 {
		p = p[:c.most]
		c.most *= 2
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.err = err
	return n, err
}

// members decompresses a file one gzip member or zstd frame at a time. Read returns io.EOF
// at the end of a member; next opens the next member. Below, "member" also means a frame.
type members struct {
	src     counter
	in      *bufio.Reader // reads from src
	format  format
	dialect dialect
	base    int64 // offset in the file of the first byte of src
	start   int64 // offset in the file of the current member
	open    bool  // a member is being read
	failed  error // why the current member could not be read to its end

	seeker  io.Seeker // nil if src cannot seek
	rewinds int64     // number of bytes that were read again so far

	gz    *gzip.Reader
	probe *probe

	zs    *zstd.Decoder
	dict  []byte
	frame frame

	unpacked *unpackedMember // the current member, if it was decompressed before
	content  io.Reader       // the rest of it
}

// reset starts to read r, whose first byte is at offset base of the file. An unknown
// format is detected from the first bytes.
func (m *members) reset(r io.Reader, base int64, f format) error {
	m.src = counter{r: r}
	if m.in == nil {
		m.in = bufio.NewReaderSize(&m.src, bufferSize)
	} else {
		m.in.Reset(&m.src)
	}
	m.seeker, m.rewinds, m.unpacked = nil, 0, nil
	if s, ok := r.(io.Seeker); ok {
		if at, err := s.Seek(0, io.SeekCurrent); err == nil && at == 0 {
			m.seeker = s
		}
	}
	m.base, m.start, m.open, m.failed, m.format, m.dialect = base, base, false, nil, f, undecided
	if f == unknown {
		head, err := m.in.Peek(4)
		if len(head) == 0 {
			return err
		}
		m.format = formatOf(head)
	}
	return nil
}

func formatOf(head []byte) format {
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return gzipped
	case isFrame(head):
		return zstded
	default:
		return plain
	}
}

func isFrame(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	v := binary.LittleEndian.Uint32(head)
	return v == zstdMagic || v&^0xF == zstdSkippable
}

// pos returns the offset in the file of the next byte to be consumed.
func (m *members) pos() int64 { return m.base + m.src.n - int64(m.in.Buffered()) }

// next opens the next member. If no member begins at the current position, it returns a
// *FormatError, and moves to the next position where a member begins. At the end of the file
// it returns io.EOF.
func (m *members) next() error {
	m.open = false
	for {
		head, err := m.in.Peek(4)
		if len(head) == 0 {
			return err
		}
		m.start = m.pos()
		if m.format == zstded {
			switch skipped, err := m.skippable(head); {
			case err != nil:
				return err
			case skipped:
				continue
			}
		}
		if err := m.begin(head); err != nil {
			fault := &FormatError{m.start, err}
			if err := m.resync(); err != nil {
				return err
			}
			return fault
		}
		m.open, m.failed = true, nil
		return nil
	}
}

// resync moves to the next member that begins after the first byte of a broken member. It also
// searches inside the extent that the broken member claims, because other members may be there.
func (m *members) resync() error {
	if m.pos() == m.start {
		m.in.Discard(1)
	}
	m.rewind(m.start + 1)
	if err := m.seek(); err != io.EOF {
		return err
	}
	return nil
}

// rewind moves back to an offset of the file. It does nothing if the file cannot seek or maxRewind
// would be exceeded.
func (m *members) rewind(offset int64) {
	again := m.pos() - offset
	if m.seeker == nil || again <= 0 || m.rewinds+again > maxRewind {
		return
	}
	if _, err := m.seeker.Seek(offset-m.base, io.SeekStart); err != nil {
		return
	}
	m.rewinds += again
	// A file of nothing but broken members is rewound after each: filling the buffer would cost more
	// than reading the member.
	m.src = counter{r: m.src.r, n: offset - m.base, most: 4 << 10}
	m.in.Reset(&m.src)
}

// begin opens the member at the current position, whose first bytes are head.
func (m *members) begin(head []byte) (err error) {
	switch m.format {
	case gzipped:
		if !bytes.HasPrefix(head, gzipMagic) {
			return errors.New("no gzip member where one should begin")
		}
		if m.gz, err = newGzipReader(m.in); err != nil {
			return fmt.Errorf("reading the header of a gzip member: %w", noEOF(err))
		}
		return nil
	case zstded:
		if !isFrame(head) {
			return errors.New("no zstd frame where one should begin")
		}
		m.frame = frame{in: m.in}
		if m.zs == nil {
			options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow)}
			if m.dict != nil {
				options = append(options, zstd.WithDecoderDicts(m.dict))
			}
			m.zs, err = zstd.NewReader(&m.frame, options...)
		} else {
			err = m.zs.Reset(&m.frame)
		}
		return err
	default:
		return nil
	}
}

// newGzipReader returns a reader of the gzip member at the start of in. It reads nothing after the
// member, so the offset of the next member is known. Readers are not reused: after Reset, a corrupt
// block may be decoded with the codes of an earlier member, and the result would depend on the data
// that was read before.
func newGzipReader(in flate.Reader) (*gzip.Reader, error) {
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return z, nil
}

// Read reads the current member. If an error ends the member early, Read stores it in m.failed
// and returns io.EOF.
func (m *members) Read(p []byte) (n int, err error) {
	if !m.open {
		return 0, io.EOF
	}
	if m.unpacked != nil {
		if n, err = m.content.Read(p); err == io.EOF {
			err = m.endUnpacked()
		}
		return n, err
	}
	switch m.format {
	case gzipped:
		n, err = m.gz.Read(p)
	case zstded:
		n, err = m.zs.Read(p)
	}
	if err != nil {
		m.open = false
		if err != io.EOF {
			m.failed = noEOF(err)
			err = io.EOF
		} else if m.format == zstded {
			m.failed = m.frame.drain() // the decoder accepts a truncated frame header as the end
		}
	}
	return n, err
}

// noEOF returns err, or io.ErrUnexpectedEOF in place of io.EOF.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// seek moves to the next position where a member can begin, or to the end of the file.
func (m *members) seek() error {
	const window = 4 << 10 // enough bytes of a member to detect whether it begins with a record
	magic := gzipMagic
	if m.format == zstded {
		magic = []byte{0x28, 0xB5, 0x2F, 0xFD}
	}
	for {
		b, err := m.in.Peek(window)
		if len(b) == 0 {
			return err
		}
		i := bytes.Index(b, magic)
		if i < 0 {
			m.in.Discard(max(len(b)-len(magic)+1, 1))
			continue
		}
		m.in.Discard(i)
		b, _ = m.in.Peek(window)
		if m.plausible(b) {
			return nil
		}
		m.in.Discard(1)
	}
}

// plausible reports whether b begins a member that begins with a record.
func (m *members) plausible(b []byte) bool {
	if m.format != gzipped {
		return true // the magic number of zstd is long enough to be certain
	}
	if m.probe == nil {
		m.probe = new(probe)
	}
	n := m.probe.read(b, 8)
	if m.dialect != warc && n == 8 && isLetter(m.probe.first[0]) {
		n = m.probe.read(b, len(m.probe.first)) // an ARC record is recognized by its first line
	}
	return m.dialect.isRecord(m.probe.first[:n])
}

// A probe decompresses the first bytes of a gzip member.
type probe struct {
	src   bytes.Reader
	first [2 << 10]byte
}

// read decompresses up to limit bytes into p.first and returns how many there are.
func (p *probe) read(member []byte, limit int) int {
	p.src.Reset(member)
	z, err := newGzipReader(&p.src)
	if err != nil {
		return 0
	}
	n, _ := io.ReadFull(z, p.first[:limit])
	return n
}

// skippable skips a frame without data, and reports whether there was one. If the first frame
// holds a dictionary, skippable keeps it.
func (m *members) skippable(head []byte) (bool, error) {
	if len(head) < 4 {
		return false, nil
	}
	magic := binary.LittleEndian.Uint32(head)
	if magic&^0xF != zstdSkippable {
		return false, nil
	}
	var b [8]byte
	if _, err := io.ReadFull(m.in, b[:]); err != nil {
		return false, &FormatError{m.start, errors.New("zstd frame torn")}
	}
	size := int64(binary.LittleEndian.Uint32(b[4:]))
	if magic == zstdDict && m.start == 0 {
		return true, m.readDict(size)
	}
	if _, err := io.CopyN(io.Discard, m.in, size); err != nil {
		return false, &FormatError{m.start, errors.New("zstd frame torn")}
	}
	return true, nil
}

// readDict reads a dictionary, which may itself be compressed.
func (m *members) readDict(size int64) error {
	if size > maxDictionary {
		return &FormatError{m.start, fmt.Errorf("zstd dictionary of %d bytes, at most %d are allowed", size, maxDictionary)}
	}
	dict := make([]byte, size)
	if _, err := io.ReadFull(m.in, dict); err != nil {
		return &FormatError{m.start, errors.New("zstd dictionary torn")}
	}
	if isFrame(dict) {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDictionary))
		if err != nil {
			return err
		}
		defer d.Close()
		if dict, err = d.DecodeAll(dict, nil); err != nil {
			return &FormatError{m.start, fmt.Errorf("unpacking the zstd dictionary: %w", err)}
		}
	}
	m.dict, m.zs = dict, nil
	return nil
}

// A frame reads the bytes of one zstd frame and nothing after it, so the offset of the
// next frame is known. It finds the end by the block headers (RFC 8878, section 3.1.1).
type frame struct {
	in       *bufio.Reader
	state    frameState
	left     int64 // number of bytes of the current part that are left
	checksum bool  // the frame ends with a checksum
}

type frameState int

const (
	frameHeader frameState = iota
	frameBlock             // a block header is next
	frameLast              // the last block is being read
	frameEnd
)

func (f *frame) Read(p []byte) (int, error) {
	for f.left == 0 {
		if err := f.advance(); err != nil {
			return 0, err
		}
	}
	n, err := f.in.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	return n, noEOF(err)
}

// advance determines the length of the next part. It does not consume any bytes, because Read
// must return them.
func (f *frame) advance() error {
	switch f.state {
	case frameHeader:
		b, err := f.in.Peek(5)
		if err != nil {
			return noEOF(err)
		}
		if binary.LittleEndian.Uint32(b) != zstdMagic {
			return errors.New("no zstd frame")
		}
		descriptor := b[4]
		singleSegment := descriptor>>5&1 == 1
		size := [4]int64{0, 2, 4, 8}[descriptor>>6] // frame content size
		if singleSegment && size == 0 {
			size = 1
		}
		if !singleSegment {
			size++ // window descriptor
		}
		size += [4]int64{0, 1, 2, 4}[descriptor&3] // dictionary ID
		f.checksum = descriptor>>2&1 == 1
		f.left = 5 + size
		f.state = frameBlock
	case frameBlock:
		b, err := f.in.Peek(3)
		if err != nil {
			return noEOF(err)
		}
		h := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		f.left = 3 + int64(h>>3)
		switch h >> 1 & 3 {
		case 1: // one byte, repeated
			f.left = 4
		case 3:
			return errors.New("reserved zstd block type")
		}
		if h&1 == 1 {
			f.state = frameLast
		}
	case frameLast:
		f.state = frameEnd
		if f.checksum {
			f.left = 4
		}
	case frameEnd:
		return io.EOF
	}
	return nil
}

func (f *frame) drain() error {
	_, err := io.Copy(io.Discard, f)
	return err
}
