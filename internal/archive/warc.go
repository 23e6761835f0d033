package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxHeader bounds the named fields of a record, or of an HTTP message, in bytes.
const maxHeader = 1 << 20

// A Field is one named field of a record, or one line of an HTTP header.
type Field struct{ Name, Value string }

// A Header is the named fields of a record in their order.
type Header []Field

// Get is the value of the first field of that name, in whatever case, or "".
func (h Header) Get(name string) string {
	for i := range h {
		if len(h[i].Name) == len(name) && strings.EqualFold(h[i].Name, name) {
			return h[i].Value
		}
	}
	return ""
}

// Values are the values of all fields of that name, in whatever case.
func (h Header) Values(name string) []string {
	var values []string
	for i := range h {
		if len(h[i].Name) == len(name) && strings.EqualFold(h[i].Name, name) {
			values = append(values, h[i].Value)
		}
	}
	return values
}

// A Record is one record of a WARC or ARC file. It belongs to the [Reader] that
// read it, until that reads the next one; the strings of the header may be kept.
//
// A record of an ARC file has the fields that a WARC file would have for it:
// WARC-Type (response for a page, warcinfo for the description of the file),
// WARC-Target-URI, WARC-Date, WARC-IP-Address, Content-Type and Content-Length.
type Record struct {
	Version string // as in the version line: "1.1"; "ARC" in an ARC file
	Header  Header

	// ContentLength is the length of the block as the record claims it.
	ContentLength int64

	// Offset is where in the file the record begins, or the gzip member or zstd
	// frame that holds it.
	Offset int64

	// Skip is the number of unpacked bytes that stand before the record in its
	// member: 0 in any file that has one record a member.
	Skip int64

	// Length is the number of bytes that the record takes in the file, with the
	// empty lines behind it. It is known after [Record.Close], and only if no
	// other record shares the member; otherwise it is 0.
	Length int64

	r      *Reader
	left   int64 // bytes of the block not yet read
	begin  int64 // of the block, in the unpacked bytes of the member
	short  error // why the block ended early
	closed bool
}

// Type is the kind of record: response, request, warcinfo, …
func (r *Record) Type() string { return r.Header.Get("WARC-Type") }

// ID is the identifier of the record, in angle brackets as it stands there.
func (r *Record) ID() string { return r.Header.Get("WARC-Record-ID") }

// TargetURI is the address that the record is about, without the angle brackets
// that wget, after an early draft, writes around it.
func (r *Record) TargetURI() string { return unbracket(r.Header.Get("WARC-Target-URI")) }

// truncated is why the block is only a part of what there was: as the record says,
// or that it is a segment, of which the rest is in records of type continuation.
func (r *Record) truncated() string {
	why := r.Header.Get("WARC-Truncated")
	if why == "" && r.Header.Get("WARC-Segment-Number") != "" {
		return "length"
	}
	return why
}

func unbracket(s string) string {
	if strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") {
		return s[1 : len(s)-1]
	}
	return s
}

// Date is when the record was made; the zero time if it does not say.
func (r *Record) Date() time.Time {
	t, _ := parseDate(r.Header.Get("WARC-Date"))
	return t
}

// parseDate reads a date as the standard has them, of any precision (W3C's profile of
// ISO 8601), or one of the 14 digits of the drafts. A short one is the beginning of
// the time that it stands for.
func parseDate(s string) (t time.Time, ok bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", time.DateOnly, "2006-01", "2006", timestampLayout} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// Read reads the block. It returns [io.ErrUnexpectedEOF] where the file, or the
// member, ends before the block does.
func (r *Record) Read(p []byte) (int, error) {
	if r.left <= 0 || r.closed {
		return 0, io.EOF
	}
	if r.short != nil {
		return 0, io.ErrUnexpectedEOF
	}
	for {
		n, err := r.r.out.Read(p[:min(int64(len(p)), r.left)])
		r.left -= int64(n)
		if err != nil && (err != io.EOF || !r.r.continues()) {
			r.short = err
			err = io.ErrUnexpectedEOF
		} else {
			err = nil
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// Close passes over what is left of the record, settles its Length and returns
// its fault, a *FormatError, if it has one: it is torn, or its Content-Length
// is wrong. The error of the file itself is returned as it is.
func (r *Record) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	return r.r.finish(r)
}

// A Reader reads the records of a WARC or ARC file. The zero value is ready for
// [Reader.Reset].
//
// The time it takes is bounded by the bytes that the file unpacks to, and its
// memory by its buffers, the window of the compression and the largest header
// allowed.
type Reader struct {
	m       members
	out     *bufio.Reader // over m, or m.in where nothing is packed
	unpack  *bufio.Reader
	count   counter // of what went into out
	started bool    // a member is open and more may stand in it
	alone   bool    // the record is the only one of its member so far
	lost    bool    // no record where one should begin: look for the next

	rec      Record
	arena    []byte
	fields   []Field
	finished error
}

// NewReader returns a Reader of r. If r is an [io.Seeker], records inside one
// that claims to be longer than it is are found, too.
func NewReader(r io.Reader) (*Reader, error) {
	w := new(Reader)
	return w, w.Reset(r)
}

// Reset makes the Reader read from r, and recognise by its first bytes how it
// is packed.
func (r *Reader) Reset(src io.Reader) error {
	return r.reset(src, 0, unknown)
}

func (r *Reader) reset(src io.Reader, base int64, f format) error {
	r.started, r.alone, r.lost, r.finished = false, true, false, nil
	r.rec = Record{closed: true}
	err := r.m.reset(src, base, f)
	if err != nil && err != io.EOF {
		return err
	}
	if r.m.format == plain || err == io.EOF {
		r.m.format, r.started, r.out = plain, true, r.m.in
		return nil
	}
	r.count = counter{r: &r.m}
	if r.unpack == nil {
		r.unpack = bufio.NewReaderSize(&r.count, bufferSize)
	} else {
		r.unpack.Reset(&r.count)
	}
	r.out = r.unpack
	return nil
}

// at is the position in the unpacked bytes: of the member, or of the file if it
// is plain.
func (r *Reader) at() int64 {
	if r.m.format == plain {
		return r.m.pos()
	}
	return r.count.n - int64(r.out.Buffered())
}

// Next returns the next record. Faults of the file come as *[FormatError],
// after which Next can be called again; [io.EOF] is the end, and any other
// error is of the file itself and final.
func (r *Reader) Next() (*Record, error) {
	if !r.rec.closed {
		if err := r.rec.Close(); err != nil {
			return nil, err
		}
	}
	if r.finished != nil {
		return nil, r.finished
	}
	rec, err := r.next()
	if err != nil {
		if _, ok := errors.AsType[*FormatError](err); !ok {
			r.finished = err
		}
	}
	return rec, err
}

func (r *Reader) next() (*Record, error) {
	for {
		if !r.started {
			if err := r.enter(); err != nil {
				return nil, err
			}
		}
		if r.lost {
			r.lost = false
			r.scan()
		}
		rec, err := r.read()
		if err == io.EOF && r.m.format != plain && r.m.failed == nil {
			r.started = false // the end of the member
			continue
		}
		return rec, err
	}
}

// scan moves to the next line that begins a record, or to the end of the member.
func (r *Reader) scan() {
	for {
		if found, _ := r.begins(); found {
			return
		}
		for {
			_, err := r.out.ReadSlice('\n')
			if err == nil {
				break
			}
			if err != bufio.ErrBufferFull {
				return
			}
		}
	}
}

// read reads the header of a record. The end of the member is io.EOF.
func (r *Reader) read() (*Record, error) {
	skip := r.at()
	if err := r.blank(); err != nil {
		if r.m.failed != nil {
			return nil, r.broken()
		}
		return nil, err
	}
	offset := r.m.start
	if r.m.format == plain {
		offset, skip = r.at(), 0
	}
	if found, err := r.begins(); !found {
		switch {
		case r.m.failed != nil:
			return nil, r.broken()
		case err != nil && err != io.EOF:
			return nil, err
		}
		r.lost = true
		return nil, &FormatError{offset, r.stranger()}
	}
	r.rec = Record{Offset: offset, Skip: skip, r: r, closed: true}
	header := r.header
	if r.m.dialect == arc {
		header = r.arcHeader
	}
	if err := header(); err != nil {
		if r.m.failed != nil {
			return nil, r.broken()
		}
		r.lost = true
		return nil, &FormatError{offset, err}
	}
	r.rec.closed = false
	return &r.rec, nil
}

// stranger is what to say of bytes that begin no record.
func (r *Reader) stranger() error {
	if head, _ := r.out.Peek(4); r.m.dialect == undecided && isZip(head) {
		return errors.New("a zip file (hint: a WACZ is read from a file, not from a pipe or from inside another)")
	}
	return errors.New("no record where one should begin")
}

// broken is the fault of a member that cannot be unpacked to its end.
func (r *Reader) broken() error {
	fault := &FormatError{r.m.start, r.m.failed}
	r.m.failed, r.m.open, r.started = nil, false, false
	if r.m.format == zstded && r.m.frame.drain() == nil {
		return fault // its frame is whole, so its end is known
	}
	if err := r.m.resync(); err != nil {
		r.finished = err
	}
	return fault
}

// blank passes over empty lines.
func (r *Reader) blank() error {
	for {
		b, err := r.out.ReadByte()
		if err != nil {
			return err
		}
		if b != '\r' && b != '\n' {
			return r.out.UnreadByte()
		}
	}
}

// header reads the version line and the named fields.
func (r *Reader) header() error {
	r.arena, r.fields = r.arena[:0], r.fields[:0]
	version, err := r.line()
	if err != nil {
		return err
	}
	r.arena = append(r.arena, version...)
	versionEnd := len(r.arena)
	// Names and values become substrings of one string, so remember where they
	// lie until all of them are here.
	type span struct{ name, colon, end int }
	var few [24]span
	spans := few[:0]
	for {
		line, err := r.line()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			break
		}
		if len(r.arena)+len(line) > maxHeader {
			return fmt.Errorf("header longer than %d bytes", maxHeader)
		}
		if line[0] == ' ' || line[0] == '\t' {
			if n := len(spans); n > 0 {
				r.arena = append(append(r.arena, ' '), bytes.TrimSpace(line)...)
				spans[n-1].end = len(r.arena)
			}
			continue
		}
		colon := bytes.IndexByte(line, ':')
		if colon <= 0 {
			continue // says nothing; the rest of the header may still be good
		}
		at := len(r.arena)
		r.arena = append(r.arena, line...)
		spans = append(spans, span{at, at + colon, len(r.arena)})
	}
	all := string(r.arena)
	r.rec.Version = strings.TrimSpace(all[len("WARC/"):versionEnd])
	for _, s := range spans {
		r.fields = append(r.fields, Field{strings.TrimSpace(all[s.name:s.colon]), strings.TrimSpace(all[s.colon+1 : s.end])})
	}
	r.rec.Header = r.fields
	length := r.rec.Header.Get("Content-Length")
	n, err := strconv.ParseInt(length, 10, 64)
	switch {
	case length == "":
		return errors.New("record without Content-Length")
	case err != nil || n < 0:
		return fmt.Errorf("Content-Length %.40q is no length", length)
	}
	r.rec.ContentLength, r.rec.left = n, n
	r.rec.begin = r.at()
	return nil
}

// line reads a line without its end. It is valid until the next read.
func (r *Reader) line() ([]byte, error) {
	line, err := r.out.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		return nil, fmt.Errorf("header line longer than %d bytes", bufferSize)
	}
	if err == io.EOF {
		return nil, errors.New("header torn")
	}
	if err != nil {
		return nil, err
	}
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, nil
}

// continues goes on to the next member in the middle of a block, which some
// programs have cut at the size of their buffers. It tells whether the member is
// part of the block; if it begins a record, the block is short.
func (r *Reader) continues() bool {
	if r.m.format == plain || r.m.failed != nil {
		return false
	}
	if head, _ := r.m.in.Peek(4); formatOf(head) != r.m.format {
		return false // the end, or rubbish that is reported when its turn comes
	}
	if r.enter() != nil {
		r.started = false
		return false
	}
	found, _ := r.begins()
	return !found
}

// enter opens the next member.
func (r *Reader) enter() error {
	if err := r.m.next(); err != nil {
		return err
	}
	r.count = counter{r: &r.m}
	r.out.Reset(&r.count)
	r.started, r.alone = true, true
	return nil
}

// finish passes over the rest of the record and finds out where it ends.
func (r *Reader) finish(rec *Record) error {
	for rec.left > 0 && rec.short == nil {
		n, err := r.out.Discard(int(min(rec.left, 1<<30)))
		rec.left -= int64(n)
		if err != nil && (err != io.EOF || !r.continues()) {
			rec.short = err
		}
	}
	if rec.short != nil {
		return r.torn(rec)
	}
	err := r.blank()
	switch {
	case err == nil:
	case r.m.failed != nil:
		return r.broken()
	case err != io.EOF:
		r.finished = err
		return err
	}
	if r.m.format == plain {
		rec.Length = r.at() - rec.Offset
	} else if err == io.EOF {
		if r.alone && rec.Skip == 0 {
			rec.Length = r.m.pos() - rec.Offset
		}
		r.started = false
	}
	r.alone = false
	if err == io.EOF {
		return nil
	}
	if found, _ := r.begins(); !found {
		return r.overrun(rec)
	}
	return nil
}

// torn deals with a block that is shorter than the record says.
func (r *Reader) torn(rec *Record) error {
	have := rec.ContentLength - rec.left
	switch {
	case r.m.failed != nil:
		return r.broken()
	case rec.short != io.EOF:
		r.finished = rec.short
		return rec.short
	}
	fault := &FormatError{rec.Offset, fmt.Errorf("Content-Length is %d but the %s ends after %d bytes", rec.ContentLength, r.container(), have)}
	if r.m.format == plain {
		r.m.rewind(rec.begin)
		r.lost = true
	} else if head, _ := r.out.Peek(1); len(head) == 0 {
		r.started = false // else we stand before the record of the next member
	}
	return fault
}

func (r *Reader) container() string {
	return [...]string{"file", "file", "gzip member", "zstd frame"}[r.m.format]
}

// overrun deals with bytes behind the block that begin no record. The block may
// be longer than the record says; or it is shorter, and the next record was
// taken for its end.
func (r *Reader) overrun(rec *Record) error {
	fault := &FormatError{rec.Offset, fmt.Errorf("Content-Length is %d but no record begins behind the block", rec.ContentLength)}
	if r.m.format == plain {
		rec.Length = 0
		r.m.rewind(rec.begin)
	}
	r.lost = true
	return fault
}
