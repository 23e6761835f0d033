package wire

import (
	"bytes"
	"fmt"
	"io"
)

// DefaultLimit is how many bytes a line may have unless told otherwise.
const DefaultLimit = 64 << 20

const (
	bufferSize = 256 << 10 // what a Reader begins with; longer lines make it grow
	copySize   = 32 << 10  // shorter lines are copied, whatever follows: a record is not to keep a buffer for them
)

// ReadSize is how much a [Reader] reads at once: what follows a line is often copied.
const ReadSize = 32 << 10

// A Reader reads records, one JSON object a line.
//
// It decodes only the sections that it was asked for, and url, query,
// status_code and error always. The syntax of everything else is checked as
// well, but for the body, of which only the end is looked for. In two ways it
// is stricter than encoding/json: names are matched with their case, and a
// decoded string that is not UTF-8 is refused rather than mended. Of two
// members with the same name the last one counts. A null counts as absent;
// [Float] and [Bool] remember it.
type Reader struct {
	// Limit is how many bytes a line may have, without its end; a longer one
	// is skipped in bounded memory. NewReader sets it to DefaultLimit.
	Limit int

	src     io.Reader
	want    Section
	buf     []byte
	at, end int // buf[at:end] was read and is not handed out yet
	seen    int // buf[at:seen] has no newline
	line    int64
	err     error // of src, told when all that came before it is used up
}

// NewReader returns a Reader that decodes the wanted sections of the records in
// src.
func NewReader(src io.Reader, want Section) *Reader {
	return &Reader{Limit: DefaultLimit, src: src, want: want}
}

// Read reads the next record into rec. Empty lines are skipped; the last line
// needs no newline; a carriage return before it does no harm.
//
// The error is io.EOF at the end, a [*SyntaxError] for a line that is no record
// (the next Read goes on with the next line), and anything else if the stream
// broke. After an error rec is empty.
func (r *Reader) Read(rec *Record) error {
	for {
		rec.Reset()
		err := r.next(rec)
		if err != nil {
			return err
		}
		if len(rec.raw.line) == 0 {
			continue
		}
		d := decoder{line: rec.raw.line, arena: rec.raw.arena}
		err = d.record(rec, r.want)
		rec.raw.arena = d.arena
		if err != nil {
			rec.Reset()
			return &SyntaxError{r.line, err}
		}
		return nil
	}
}

// Buffered tells whether a whole line that is not empty has been read from the
// source already, so that the next Read will not wait.
func (r *Reader) Buffered() bool {
	for {
		i := r.newline()
		if i < 0 {
			return false
		}
		if len(trim(r.buf[r.at:i])) > 0 {
			return true
		}
		r.line++
		r.at = i + 1
	}
}

// newline returns the index of the first newline in the buffer, or -1.
func (r *Reader) newline() int {
	r.seen = max(r.seen, r.at)
	i := bytes.IndexByte(r.buf[r.seen:r.end], '\n')
	if i < 0 {
		r.seen = r.end
		return -1
	}
	r.seen += i
	return r.seen
}

// next makes the next line, trimmed, the line of rec.
func (r *Reader) next(rec *Record) error {
	for {
		i := r.newline()
		if i < 0 && r.err == nil {
			if r.end-r.at > r.Limit+1 { // one for a carriage return
				return r.discard()
			}
			r.fill()
			continue
		}
		rest := i + 1
		if i < 0 {
			if r.err != io.EOF || r.at == r.end {
				return r.failed()
			}
			i, rest = r.end, r.end
		}
		r.line++
		line := trim(r.buf[r.at:i])
		if len(line) > r.Limit {
			r.at = rest
			return &SyntaxError{r.line, tooLong(r.Limit)}
		}
		r.give(rec, line, rest)
		return nil
	}
}

func (r *Reader) failed() error {
	if r.err == io.EOF {
		return io.EOF
	}
	return fmt.Errorf("reading records after line %d: %w", r.line, r.err)
}

// give hands line to rec; the buffer goes on at rest. Either the line is copied
// into the record's memory or, if that is shorter, what follows the line is
// copied and the record takes the buffer in exchange for its own.
func (r *Reader) give(rec *Record, line []byte, rest int) {
	left := r.end - rest
	if len(line) < copySize || len(line) <= left {
		rec.raw.buf = append(rec.raw.buf[:0], line...)
		rec.raw.line = rec.raw.buf
		r.at = rest
		return
	}
	buf := rec.raw.buf[:cap(rec.raw.buf)]
	if len(buf) < max(left, bufferSize) {
		buf = make([]byte, max(left, bufferSize))
	}
	copy(buf, r.buf[rest:r.end])
	rec.raw.buf, rec.raw.line = r.buf, line
	r.buf, r.at, r.end, r.seen = buf, 0, left, 0
}

// fill reads more into the buffer, which grows if it is full.
func (r *Reader) fill() {
	if r.at > 0 {
		r.end = copy(r.buf, r.buf[r.at:r.end])
		r.seen -= r.at
		r.at = 0
	}
	if r.end == len(r.buf) {
		buf := make([]byte, max(2*len(r.buf), bufferSize))
		copy(buf, r.buf[:r.end])
		r.buf = buf
	}
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:min(r.end+ReadSize, len(r.buf))])
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// discard skips a line that is too long, of which the buffer holds the
// beginning.
func (r *Reader) discard() error {
	r.line++
	for {
		r.at, r.end, r.seen = 0, 0, 0
		r.fill()
		if i := r.newline(); i >= 0 {
			r.at = i + 1
			break
		}
		if r.err != nil {
			r.at = r.end
			break
		}
	}
	return &SyntaxError{r.line, tooLong(r.Limit)}
}

// trim removes white space around a line.
func trim(line []byte) []byte {
	for len(line) > 0 && space(line[0]) {
		line = line[1:]
	}
	for len(line) > 0 && space(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	return line
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
