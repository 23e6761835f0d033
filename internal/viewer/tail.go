package viewer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"spoor/internal/atomicfile"
)

// maxLine is the maximum length of a line of log.ndjson, in bytes. The longest that crawl writes, with
// all the names that a summary may have, is shorter.
const maxLine = 1 << 20

// A tail reads the lines that are appended to a file.
type tail struct {
	name   string
	info   os.FileInfo // of the file as it was read; nil before
	offset int64       // after the last complete line
	end    []byte      // the last bytes before offset, at most 64
}

// changed returns the time of the last change of the file, as it was read.
func (t *tail) changed() time.Time {
	if t.info == nil {
		return time.Time{}
	}
	return t.info.ModTime()
}

// read calls line with each new line that is complete, without its newline. If the file was replaced or
// truncated, or has disappeared, it calls reset before, and begins again. It reports whether it has
// called a function.
func (t *tail) read(reset func(), line func([]byte)) (called bool, err error) {
	info, err := os.Stat(t.name)
	if err == nil && t.info != nil && os.SameFile(info, t.info) && info.Size() == t.offset && info.ModTime().Equal(t.info.ModTime()) {
		return false, nil
	}
	begin := func() {
		if t.info != nil {
			reset()
			called = true
		}
		t.info, t.offset, t.end = nil, 0, nil
	}
	f, err := atomicfile.OpenFile(t.name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		begin()
		return called, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return false, err
	}
	if t.info != nil && (!os.SameFile(info, t.info) || info.Size() < t.offset || !t.continues(f)) {
		begin()
	}
	t.info = info
	if _, err := f.Seek(t.offset, io.SeekStart); err != nil {
		return called, err
	}
	for r := bufio.NewReaderSize(f, maxLine); ; {
		text, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF): // an incomplete line is read when it is complete
			return called, nil
		case errors.Is(err, bufio.ErrBufferFull):
			return called, fmt.Errorf("%s: a line at byte %d is longer than %d bytes", t.name, t.offset, maxLine)
		case err != nil:
			return called, err
		}
		t.offset += int64(len(text))
		t.end = append(t.end[:0], text[max(0, len(text)-64):]...)
		line(text[:len(text)-1])
		called = true
	}
}

// continues reports whether the file still has the bytes that were read last: a file that was created
// anew may have the number of one that was removed.
func (t *tail) continues(f io.ReaderAt) bool {
	b := make([]byte, len(t.end))
	_, err := f.ReadAt(b, t.offset-int64(len(b)))
	return (err == nil || errors.Is(err, io.EOF)) && bytes.Equal(b, t.end)
}

// A cached holds what was read from a file until the file changes.
type cached[T any] struct {
	info  os.FileInfo
	value T
	err   error
}

// get returns what load reads from the named file.
func (c *cached[T]) get(name string, load func() (T, error)) (T, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		info = nil
		if c.info == nil && c.err != nil {
			return c.value, c.err
		}
	case c.info != nil && os.SameFile(info, c.info) && info.Size() == c.info.Size() && info.ModTime().Equal(c.info.ModTime()):
		return c.value, c.err
	}
	c.info = info
	c.value, c.err = load()
	return c.value, c.err
}
