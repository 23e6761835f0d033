package archive

import (
	"bufio"
	"bytes"
	"io"
	"slices"
)

// Of members that are larger than this, packed or unpacked, nothing is unpacked ahead.
const (
	mostPacked   = 1 << 20
	mostUnpacked = 4 << 20
)

// Of those who read here and there many may do so at once: they take smaller members only,
// and keep no more memory for the next.
const (
	fewPacked   = 256 << 10
	fewUnpacked = 256 << 10
)

// An ahead is a gzip member that was unpacked as a whole before any of it is read, which
// is twice as fast.
type ahead struct {
	inflater
	read int // bytes of it that were read
}

// Read reads it. At first it gives few bytes: they hold the head of a record, and whoever has
// read that takes the block from where it lies.
func (a *ahead) Read(p []byte) (int, error) {
	const few = 2 << 10
	if a.read == 0 {
		p = p[:min(len(p), few)]
	}
	n := copy(p, a.out[a.read:a.n])
	a.read += n
	if a.read == a.n {
		return n, io.EOF
	}
	return n, nil
}

// room makes room for n bytes, if that is more than there is and not too much.
func (a *ahead) room(n int) bool {
	if n <= len(a.out)-inflateSlack || len(a.out) == mostUnpacked+inflateSlack {
		return false
	}
	out := make([]byte, min(n, mostUnpacked)+inflateSlack)
	copy(out, a.out[:a.n])
	a.out = out
	return true
}

// unpack unpacks the member that begins here as a whole. Where that cannot be done nothing
// was taken, and it is for the library, with all that is to be said of it.
func (m *members) unpack() bool {
	if m.ahead == nil {
		m.ahead = new(ahead)
	}
	a := m.ahead
	a.start()
	if m.most < mostPacked && len(a.out) > fewUnpacked {
		a.out = nil
	}
	size := m.promised()
	if m.length > m.most || size > mostUnpacked {
		return false
	}
	a.room(int(size))
	defer func() { a.in = nil }()
	for {
		a.in, _ = m.in.Peek(m.in.Buffered())
		more := false
		switch a.run() {
		case done:
			m.in.Discard(a.at / 8)
			a.read = 0
			return true
		case short:
			more = m.more()
		case full:
			more = a.room(2 * len(a.out))
		}
		if !more {
			if m.most < mostPacked {
				a.out = nil
			}
			return false
		}
	}
}

// promised is about how many bytes the member will become, as it says at its end, if it is known
// where that is; or as many as many do.
func (m *members) promised() int64 {
	n := m.length
	if n == 0 || n > m.most { // unknown, or too large in any case
		return bufferSize
	}
	for m.in.Buffered() < n {
		if !m.more() {
			return bufferSize
		}
	}
	m.length = 0
	b, _ := m.in.Peek(n)
	return promised("gzip", b)
}

// give leaves the memory of the member to whoever has a part of it, and ends it.
func (m *members) give() { m.ahead.out, m.whole, m.open = nil, false, false }

// more reads on once, behind what is there: who writes slowly is not waited for when a member
// is whole.
func (m *members) more() bool {
	_, err := m.in.Peek(m.in.Buffered() + 1)
	switch {
	case err == nil:
		return true
	case err != bufio.ErrBufferFull:
		m.src.err = err // for whoever reads up to there
		return false
	case m.in.Size() >= m.most:
		return false
	}
	b, _ := m.in.Peek(m.in.Buffered())
	m.src.unread(slices.Clone(b))
	m.in = bufio.NewReaderSize(&m.src, min(max(4*m.in.Size(), m.length), m.most))
	return m.more()
}

// A rereader counts the bytes that were read through it, and takes back what was read too early.
type rereader struct {
	counter
	back bytes.Reader
	err  error // behind them
}

func (r *rereader) Read(p []byte) (n int, err error) {
	switch {
	case r.back.Len() > 0:
		n, err = r.back.Read(p)
		r.n += int64(n)
		if r.back.Len() == 0 {
			r.back.Reset(nil)
		}
	case r.err != nil:
		err, r.err = r.err, nil
	default:
		n, err = r.counter.Read(p)
	}
	return n, err
}

// unread takes the last bytes that were read back.
func (r *rereader) unread(b []byte) {
	r.back.Reset(b)
	r.n -= int64(len(b))
}
