package archive

import (
	"bytes"
	"io"
	"os"
)

// spoolMemory is the number of bytes from which a spool uses a file.
const spoolMemory = 4 << 20

// A spool is a temporary buffer, in memory while it is small and otherwise in a file.
type spool struct {
	dir     string // directory of the file; empty: the system's temporary directory
	mem     []byte
	file    *os.File // nil until needed
	spilled bool     // the content is in the file
	size    int64
}

func (s *spool) Write(p []byte) (int, error) {
	if !s.spilled && s.size+int64(len(p)) <= spoolMemory {
		s.mem = append(s.mem, p...)
		s.size += int64(len(p))
		return len(p), nil
	}
	if !s.spilled {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	n, err := s.file.WriteAt(p, s.size)
	s.size += int64(n)
	return n, err
}

func (s *spool) spill() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, ".warc-*"); err != nil {
			return err
		}
	}
	_, err = s.file.WriteAt(s.mem, 0)
	s.spilled = err == nil
	return err
}

// ReadAt reads data that was written since the last reset.
func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	if s.spilled {
		return io.NewSectionReader(s.file, 0, s.size).ReadAt(p, off)
	}
	return bytes.NewReader(s.mem).ReadAt(p, off)
}

// section returns a reader of the n bytes from off on.
func (s *spool) section(off, n int64) *io.SectionReader { return io.NewSectionReader(s, off, n) }

func (s *spool) reset() { s.mem, s.size, s.spilled = s.mem[:0], 0, false }

// Close removes the file.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if e := os.Remove(s.file.Name()); err == nil {
		err = e
	}
	s.file = nil
	return err
}
