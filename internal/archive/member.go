package archive

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A format is the way in which records are packed into a file.
type format int

const (
	unknown format = iota
	plain          // records one after the other
	gzipped        // gzip members, usually one a record
	zstded         // zstd frames, usually one a record
)

const (
	bufferSize = 64 << 10

	// A dictionary is in the first frame of a .warc.zst and at most this large.
	maxDictionary = 16 << 20

	// A frame that asks for a larger window is refused. zstd --ultra --long=27
	// asks for this much.
	maxWindow = 128 << 20

	// maxRewind bounds how many bytes are read twice to look for records inside
	// one that claims to be longer than it is. Without it a file of nothing but
	// such claims would take time in the square of its size.
	maxRewind = 1 << 30
)

const (
	zstdMagic     = 0xFD2FB528
	zstdSkippable = 0x184D2A50 // to 0x184D2A5F
	zstdDict      = 0x184D2A5D // skippable frame that holds a dictionary
)

var gzipMagic = []byte{0x1f, 0x8b, 0x08}

// counter counts the bytes that were read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// members unpacks a file one member (or frame) after the other. Reading ends
// with io.EOF at the end of each; next goes on to the one behind it.
type members struct {
	src     rereader
	in      *bufio.Reader
	format  format
	dialect dialect
	base    int64 // offset in the file of the first byte of src
	start   int64 // offset in the file of the current member
	open    bool  // a member is being read
	failed  error // why the current member could not be read to its end

	seeker  io.Seeker // nil if src cannot go back
	rewinds int64     // bytes that were read again

	gz     gunzip
	ahead  *ahead
	whole  bool // the current member is in it
	few    bool // of most members only the first bytes are wanted
	most   int  // bytes of a file that may be read ahead
	length int  // of the first member, packed; 0 if that is not known
	probe  *probe

	zs    *zstd.Decoder
	dict  []byte
	frame frame
}

// reset starts at the first byte of r, which is at offset base in its file. An
// unknown format is recognised by the first bytes.
func (m *members) reset(r io.Reader, base int64, f format) error {
	m.src = rereader{counter: counter{r: r}}
	if m.in == nil || f == unknown && m.in.Size() > bufferSize {
		m.in = bufio.NewReaderSize(&m.src, bufferSize)
	} else {
		m.in.Reset(&m.src)
	}
	m.seeker, m.rewinds = nil, 0
	if s, ok := r.(io.Seeker); ok {
		if at, err := s.Seek(0, io.SeekCurrent); err == nil && at == 0 {
			m.seeker = s
		}
	}
	m.base, m.start, m.open, m.failed, m.format, m.dialect = base, base, false, nil, f, undecided
	m.whole, m.most, m.length = false, fewPacked, 0
	if f == unknown {
		m.most = mostPacked
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

// pos is the offset in the file of the next byte that no member has taken.
func (m *members) pos() int64 { return m.base + m.src.n - int64(m.in.Buffered()) }

// next opens the member that follows. If what follows is no member, it returns
// a *FormatError once and looks for the next one when it is called again.
// It returns io.EOF at the end of the file.
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

// resync looks for the next member behind the first byte of one that is broken:
// what was taken for it may be more than its own bytes.
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

// rewind goes back to an offset of the file, if the file allows it and not too
// much was read again yet.
func (m *members) rewind(offset int64) {
	again := m.pos() - offset
	if m.seeker == nil || again <= 0 || m.rewinds+again > maxRewind {
		return
	}
	if _, err := m.seeker.Seek(offset-m.base, io.SeekStart); err != nil {
		return
	}
	m.rewinds += again
	m.src = rereader{counter: counter{r: m.src.r, n: offset - m.base}}
	if m.format == gzipped && m.in.Size() > bufferSize {
		m.in = bufio.NewReaderSize(&m.src, bufferSize) // a long member made it larger: so much is read again each time
		return
	}
	m.in.Reset(&m.src)
}

func (m *members) begin(head []byte) (err error) {
	switch m.format {
	case gzipped:
		if !bytes.HasPrefix(head, gzipMagic) {
			return errors.New("no gzip member where one should begin")
		}
		if m.whole = !m.few && m.unpack(); m.whole {
			return nil
		}
		// The library keeps the codes of the last member, and reads with them where a
		// broken one has none: what is said of it would depend on what was read before.
		m.gz = gunzip{}
		return m.gz.reset(m.in)
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

// Read reads the current member. The error that ends it early is kept, too, for
// whoever asks why.
func (m *members) Read(p []byte) (n int, err error) {
	if !m.open {
		return 0, io.EOF
	}
	switch m.format {
	case gzipped:
		if m.whole {
			n, err = m.ahead.Read(p)
		} else {
			n, err = m.gz.Read(p)
		}
	case zstded:
		n, err = m.zs.Read(p)
	}
	if err != nil {
		m.open = false
		if err != io.EOF {
			m.failed = noEOF(err)
			err = io.EOF
		} else if m.format == zstded {
			m.failed = m.frame.drain() // the decoder takes a torn header for the end
		}
	}
	return n, err
}

// noEOF is err, where the end of the file comes as a surprise.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// seek moves to the next place where a member can begin, or to the end.
func (m *members) seek() error {
	const window = 4 << 10 // the first bytes of a member that tell a record from chance
	for {
		b, err := m.in.Peek(window)
		if len(b) == 0 {
			return err
		}
		i := m.candidate(b)
		if i < 0 {
			m.in.Discard(max(len(b)-3, 1)) // a magic may lie across the windows
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

func (m *members) candidate(b []byte) int {
	if m.format == gzipped {
		return bytes.Index(b, gzipMagic)
	}
	return bytes.Index(b, []byte{0x28, 0xB5, 0x2F, 0xFD})
}

// plausible tells whether the member at b begins a record.
func (m *members) plausible(b []byte) bool {
	if m.format != gzipped {
		return true // four bytes of magic are enough
	}
	if m.probe == nil {
		m.probe = &probe{in: bufio.NewReader(nil)}
	}
	n := m.probe.begin(b, 8)
	if m.dialect != warc && n == 8 && isLetter(m.probe.first[0]) {
		n = m.probe.begin(b, len(m.probe.first)) // the first line of an ARC record
	}
	return m.dialect.isRecord(m.probe.first[:n])
}

// A probe looks ahead whether a gzip magic is the start of a record.
type probe struct {
	src   bytes.Reader
	in    *bufio.Reader
	gz    gunzip
	first [2 << 10]byte
}

// begin unpacks the first bytes of the member at b and tells how many there are.
func (p *probe) begin(b []byte, most int) int {
	p.src.Reset(b)
	p.in.Reset(&p.src)
	if p.gz.reset(p.in) != nil {
		return 0
	}
	n, _ := io.ReadFull(&p.gz, p.first[:most])
	return n
}

// skippable passes over a frame that holds no data, keeping the dictionary if
// it is one.
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
		if size > maxDictionary {
			return false, &FormatError{m.start, fmt.Errorf("zstd dictionary of %d bytes, at most %d are allowed", size, maxDictionary)}
		}
		dict := make([]byte, size)
		if _, err := io.ReadFull(m.in, dict); err != nil {
			return false, &FormatError{m.start, errors.New("zstd dictionary torn")}
		}
		if isFrame(dict) {
			d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDictionary))
			if err != nil {
				return false, err
			}
			dict, err = d.DecodeAll(dict, nil)
			d.Close()
			if err != nil {
				return false, &FormatError{m.start, fmt.Errorf("unpacking the zstd dictionary: %w", err)}
			}
		}
		m.dict, m.zs = dict, nil
		return true, nil
	}
	if _, err := io.CopyN(io.Discard, m.in, size); err != nil {
		return false, &FormatError{m.start, errors.New("zstd frame torn")}
	}
	return true, nil
}

// A frame reads the bytes of one zstd frame and no byte more, which is how the
// offset of the next one is known. It follows the frame by its block headers
// (RFC 8878, section 3.1.1).
type frame struct {
	in    *bufio.Reader
	state frameState
	left  int64 // bytes of the current part
	sum   bool  // a checksum ends the frame
}

type frameState int

const (
	frameHeader frameState = iota
	frameBlock             // a block header follows
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

// advance finds out how long the next part is, from bytes that Read will
// return as part of it.
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
		d := b[4] // frame header descriptor
		single := d>>5&1 == 1
		size := [4]int64{0, 2, 4, 8}[d>>6]
		if single && size == 0 {
			size = 1
		}
		if !single {
			size++ // window descriptor
		}
		size += [4]int64{0, 1, 2, 4}[d&3] // dictionary id
		f.sum = d>>2&1 == 1
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
		if f.sum {
			f.left = 4
		}
	case frameEnd:
		return io.EOF
	}
	return nil
}

// drain reads to the end of the frame.
func (f *frame) drain() error {
	_, err := io.Copy(io.Discard, f)
	return err
}
