package archive

import (
	"bytes"
	"io"
	"os"
)

// spoolMemory is how many bytes a spool holds before it turns to a file.
const spoolMemory = 4 << 20

// A spool keeps bytes until it is known what is to become of them: in memory
// while they are few, else in a temporary file.
type spool struct {
	dir     string // of the file; empty: that of the system
	mem     []byte
	file    *os.File // nil until it was needed once
	spilled bool     // everything is in the file
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

// ReadAt reads what was written since the last reset.
func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	if s.spilled {
		return io.NewSectionReader(s.file, 0, s.size).ReadAt(p, off)
	}
	return bytes.NewReader(s.mem).ReadAt(p, off)
}

// section is n bytes from off on.
func (s *spool) section(off, n int64) *io.SectionReader { return io.NewSectionReader(s, off, n) }

// reset empties the spool.
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
