package archive

import (
	"errors"
	"io"
	"os"
	"sync"
)

const (
	// unpackAfter is the number of bytes of a member that are decompressed and dropped before the member
	// is decompressed into a temporary file.
	unpackAfter = 256 << 20

	// maxUnpacked limits the temporary files of an archive, in bytes.
	maxUnpacked = 16 << 30
)

// unpackedMembers holds decompressed members with many records, because every other access to one of their
// records decompresses the member from its beginning: an archive may be a single zstd frame.
type unpackedMembers struct {
	mu    sync.Mutex
	known map[memberPlace]*unpackedMember
	size  int64 // of all temporary files, in bytes
}

type memberPlace struct {
	source int
	offset int64
}

// An unpackedMember is a decompressed member, and the state of the reader at its end.
type unpackedMember struct {
	dropped int64  // number of bytes that were decompressed and dropped
	spool   *spool // nil until dropped exceeds unpackAfter, or if the member is too large
	end     int64  // offset in the file
	failed  error
	frame   frame
}

// get returns the member of a capture if it is decompressed already, or if so much of it was dropped that
// it is decompressed now. Otherwise it returns nil.
func (u *unpackedMembers) get(c Capture, in *source, dir string) *unpackedMember {
	if c.Skip == 0 || in.format == plain {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	place := memberPlace{c.source, c.Offset}
	m := u.known[place]
	if m == nil {
		if u.known == nil {
			u.known = map[memberPlace]*unpackedMember{}
		}
		m = new(unpackedMember)
		u.known[place] = m
	}
	tried := m.dropped > unpackAfter
	m.dropped += c.Skip
	if !tried && m.dropped > unpackAfter {
		u.unpack(m, c, in, dir)
	}
	if m.spool == nil {
		return nil
	}
	return m
}

// unpack decompresses a member into a temporary file in dir. If this fails, such as for want of space,
// the member is read without.
func (u *unpackedMembers) unpack(m *unpackedMember, c Capture, in *source, dir string) {
	r := new(Reader)
	r.m.dict = in.dict
	if r.reset(io.NewSectionReader(in.data, c.Offset, in.data.Size()-c.Offset), c.Offset, in.format) != nil || r.m.next() != nil {
		return
	}
	if dir != "" && os.MkdirAll(dir, 0o700) != nil {
		return
	}
	s := &spool{dir: dir}
	if _, err := io.CopyN(s, &r.m, maxUnpacked-u.size+1); err != io.EOF {
		s.Close()
		return
	}
	u.size += s.size
	m.spool, m.end, m.failed, m.frame = s, r.m.pos(), r.m.failed, r.m.frame
}

// Close removes the temporary files.
func (u *unpackedMembers) Close() error {
	var errs []error
	for _, m := range u.known {
		if m.spool != nil {
			errs = append(errs, m.spool.Close())
		}
	}
	return errors.Join(errs...)
}

// enterUnpacked opens the next member, which was decompressed before, and continues after n decompressed bytes of it.
func (r *Reader) enterUnpacked(u *unpackedMember, n int64) error {
	if err := r.enter(); err != nil {
		return err
	}
	n = min(n, u.spool.size)
	r.m.unpacked, r.m.content = u, u.spool.section(n, u.spool.size-n)
	r.count.n = n
	return nil
}

// endUnpacked moves to the end of the unpacked member.
func (m *members) endUnpacked() error {
	u := m.unpacked
	m.unpacked, m.content, m.open = nil, nil, false
	if _, err := m.seeker.Seek(u.end-m.base, io.SeekStart); err != nil {
		m.failed = err
		return io.EOF
	}
	m.src = counter{r: m.src.r, n: u.end - m.base}
	m.in.Reset(&m.src)
	m.failed, m.frame = u.failed, u.frame
	m.frame.in = m.in
	return io.EOF
}
