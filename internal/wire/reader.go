package wire

import (
	"bytes"
	"fmt"
	"io"
)

// DefaultLimit is the default limit of the length of a line, in bytes.
const DefaultLimit = 64 << 20

const (
	bufferSize = 256 << 10 // initial buffer of a Reader, which grows for longer lines
	copySize   = 32 << 10  // shorter lines are always copied; otherwise each would keep a whole buffer in memory
)

// ReadSize is the maximum number of bytes that a [Reader] reads at once. With larger reads there
// would be more bytes after a line, which must be copied.
const ReadSize = 32 << 10

// A Reader reads records, one JSON object a line.
//
// It decodes the wanted sections, and always url, query, status_code and error. It
// checks the syntax of all other members, except for the escapes of the body. It is
// stricter than encoding/json: names are case-sensitive, decoded strings must be
// UTF-8, and numbers and times must be in the range that doc/record.schema.json states.
// If several members have the same name, the last member is used. A null is the same as a
// missing member, except that [Float] and [Bool] store it. Within headers, fields, scores and
// reasons, a null is ignored, so an earlier value with the same name is kept.
//
// A link without a URL, or with a scheme other than http and https, is dropped, because it cannot
// be followed. [Record.DroppedLinks] returns the number of such links.
//
// The memory for a line is limited in proportion to its length. A line whose lists have so many
// elements that they need more memory is refused with [ErrTooLarge].
type Reader struct {
	// Limit is the maximum length of a line in bytes, without the newline. Longer
	// lines are skipped in bounded memory. NewReader sets it to DefaultLimit.
	Limit int

	src     io.Reader
	want    Section
	buf     []byte
	at, end int   // buf[at:end] was read from src but not consumed
	seen    int   // buf[at:seen] has no newline
	line    int64 // number of the last line
	err     error // error of src, returned after the lines that were read before it
}

// NewReader returns a Reader of the records in src that decodes the wanted sections.
func NewReader(src io.Reader, want Section) *Reader {
	return &Reader{Limit: DefaultLimit, src: src, want: want}
}

// Read reads the next record into rec. It skips empty lines and ignores white space
// around a line and a byte order mark at its start; the last line needs no newline.
//
// Read returns io.EOF at the end, a [*SyntaxError] for a line that is not a record, or
// an error of the source. After a SyntaxError, the next Read reads the next line. After an
// error rec is empty, unless [SyntaxError.Outcome] is set.
func (r *Reader) Read(rec *Record) error {
	for {
		rec.Reset()
		err := r.next(rec)
		if err != nil {
			return err
		}
		line := rec.raw.line
		if len(line) == 0 {
			continue
		}
		if err := rec.decode(r.want, false); err != nil {
			return &SyntaxError{r.line, err, rec.salvage(line, err)}
		}
		return nil
	}
}

// Unmarshal decodes the wanted sections of a line into r, as a [Reader] does. It copies the
// line. After an error r is empty.
func (r *Record) Unmarshal(line []byte, want Section) error {
	return r.unmarshal(line, want, false)
}

// Restore is like [Record.Unmarshal], but also accepts invalid numbers and times, because earlier
// versions stored such values.
func (r *Record) Restore(line []byte, want Section) error {
	return r.unmarshal(line, want, true)
}

func (r *Record) unmarshal(line []byte, want Section, unchecked bool) error {
	r.Reset()
	r.raw.buf = append(r.raw.buf[:0], trim(line)...)
	r.raw.line = r.raw.buf
	return r.decode(want, unchecked)
}

// salvage fills r with a failed outcome (see [SyntaxError.Outcome]) for a line that could not be decoded
// because of err. It keeps the fetch section if that is valid. If the line is not an outcome or its
// address is malformed, salvage returns false and empties r.
func (r *Record) salvage(line []byte, err error) bool {
	for _, valid := range []Section{Address | Fetch, Address} {
		r.Reset()
		r.raw.line = line
		d := decoder{line: line, arena: r.raw.arena, wantedOnly: true}
		if r.decodeWith(&d, valid) != nil {
			continue
		}
		if !r.IsOutcome() || r.URL == "" {
			break
		}
		status, reason := r.StatusCode, r.Error
		r.Drop(All &^ valid)
		r.StatusCode, r.Error = status, reason
		if r.Error == "" {
			r.Error, r.ErrorDetail = ErrorMalformed, err.Error()
		}
		r.Touch(Fetch)
		return true
	}
	r.Reset()
	return false
}

// decode decodes the line of r. After an error r is empty.
func (r *Record) decode(want Section, unchecked bool) error {
	d := decoder{line: r.raw.line, arena: r.raw.arena, unchecked: unchecked}
	return r.decodeWith(&d, want)
}

func (r *Record) decodeWith(d *decoder, want Section) error {
	err := d.record(r, want)
	r.raw.arena, r.raw.droppedLinks = d.arena, d.dropped
	if err != nil {
		r.Reset()
	}
	return err
}

// Buffered reports whether the buffer contains a complete line that is not empty, so
// that the next Read does not block. It skips empty lines.
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

// next stores the next line, without white space around it, as the line of rec.
func (r *Reader) next(rec *Record) error {
	for {
		i := r.newline()
		if i < 0 && r.err == nil {
			if r.end-r.at > r.Limit+1 { // + 1 for a carriage return
				return r.discard()
			}
			r.fill()
			continue
		}
		rest := i + 1
		if i < 0 {
			if r.err != io.EOF || r.at == r.end {
				return r.streamError()
			}
			i, rest = r.end, r.end
		}
		r.line++
		line := trim(r.buf[r.at:i])
		if len(line) > r.Limit {
			r.at = rest
			return &SyntaxError{Line: r.line, Err: tooLong(r.Limit)}
		}
		r.setLine(rec, line, rest)
		return nil
	}
}

func (r *Reader) streamError() error {
	if r.err == io.EOF {
		return io.EOF
	}
	if r.line == 0 {
		return fmt.Errorf("reading records: %w", r.err)
	}
	return fmt.Errorf("reading records after line %d: %w", r.line, r.err)
}

// setLine stores line in rec; the next line starts at rest. If the line is shorter than copySize, or
// if at least as many bytes follow it in the buffer, setLine copies the line to the buffer of rec. Otherwise it copies
// the bytes after the line, and swaps the buffers of r and rec.
func (r *Reader) setLine(rec *Record, line []byte, rest int) {
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

// fill reads into the buffer, and grows it if it is full.
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

// discard skips the rest of a line that is too long. The buffer contains the start of the line.
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
	return &SyntaxError{Line: r.line, Err: tooLong(r.Limit)}
}

// TrimBOM returns a line, or a whole text, without the byte order mark at its start, which some
// editors and spreadsheets write. A mark is at the start of any line where files were concatenated.
func TrimBOM[T string | []byte](line T) T {
	if len(line) >= 3 && line[0] == 0xEF && line[1] == 0xBB && line[2] == 0xBF {
		return line[3:]
	}
	return line
}

// trim returns line without the white space around it and byte order marks before it.
func trim(line []byte) []byte {
	for len(line) > 0 && (space(line[0]) || line[0] == 0xEF) {
		n := len(line)
		if line = TrimBOM(line); len(line) < n {
			continue
		}
		if line[0] == 0xEF { // another character
			break
		}
		line = line[1:]
	}
	for len(line) > 0 && space(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	return line
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
