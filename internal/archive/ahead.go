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

// keptUnpacked is how much memory is kept for the next member by those who read here and
// there, of whom there may be many.
const keptUnpacked = 256 << 10

// An ahead is a gzip member that was unpacked as a whole before any of it is read, which
// is twice as fast.
type ahead struct {
	inflater
	ready bool // there is one
	read  int  // bytes of it that were read
}

// Read reads it. Of the first bytes there are few: whoever only wants the head of a record, to
// see that the rest need not be copied, is spared the copy of it.
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

// room makes room for twice as much.
func (a *ahead) room() bool {
	n := min(max(2*len(a.out), bufferSize), mostUnpacked+inflateSlack)
	if n <= len(a.out) {
		return false
	}
	a.out = append(make([]byte, 0, n), a.out[:a.n]...)[:n]
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
	if m.most == bufferSize && len(a.out) > keptUnpacked {
		a.out = nil
	}
	if a.out == nil {
		a.room()
	}
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
			more = a.room()
		}
		if !more {
			return false
		}
	}
}

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
	m.in = bufio.NewReaderSize(&m.src, min(4*m.in.Size(), m.most))
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
