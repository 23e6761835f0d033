package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"spoor/internal/weburl"
)

// maxHeader limits the header of a record, or of an HTTP message, in bytes.
const maxHeader = 1 << 20

// A Field is a named field of a record, or a line of an HTTP header.
type Field struct{ Name, Value string }

// A Header holds the named fields of a record in their order.
type Header []Field

// Get returns the value of the first field with that name, or "". Names are case-insensitive.
func (h Header) Get(name string) string {
	for i := range h {
		if len(h[i].Name) == len(name) && strings.EqualFold(h[i].Name, name) {
			return h[i].Value
		}
	}
	return ""
}

// Values returns the values of all fields with that name. Names are case-insensitive.
func (h Header) Values(name string) []string {
	var values []string
	for i := range h {
		if len(h[i].Name) == len(name) && strings.EqualFold(h[i].Name, name) {
			values = append(values, h[i].Value)
		}
	}
	return values
}

// A Record is a record of a WARC or ARC file. It is valid until its [Reader] reads the next
// record; the strings of the header remain valid.
//
// A record of an ARC file gets the corresponding fields of a WARC record: WARC-Type (response
// for a page, warcinfo for the description of the file), WARC-Target-URI, WARC-Date,
// WARC-IP-Address, Content-Type and Content-Length.
type Record struct {
	Version string // the version in the version line, such as "1.1"; "ARC" in an ARC file
	Header  Header

	// ContentLength is the length of the block according to the header.
	ContentLength int64

	// Offset is the position in the file: of the record or, if it is compressed, of its gzip
	// member or zstd frame.
	Offset int64

	// Skip is the number of decompressed bytes before the record in its member. It is 0 if each
	// record has its own member.
	Skip int64

	// Length is the number of bytes of the record in the file, with the empty lines after it.
	// [Record.Close] sets it. It is 0 if other records share the member.
	Length int64

	r      *Reader
	head   int64  // length of the header, decompressed
	left   int64  // number of bytes of the block that were not read yet
	begin  int64  // position of the block in the file or decompressed member
	spread bool   // the record is in several members
	end    []byte // the first bytes of the empty lines after the block; set by Close
	short  error  // why the block ended before ContentLength; nil if it did not
	closed bool
}

// Type returns the kind of record in lower case: response, request, warcinfo, …
func (r *Record) Type() string { return strings.ToLower(r.Header.Get("WARC-Type")) }

// ID returns the identifier of the record, in angle brackets as in the header.
func (r *Record) ID() string { return r.Header.Get("WARC-Record-ID") }

// TargetURI returns the address of the record. It removes the angle brackets that wget writes
// around the address, following an early draft of the standard.
func (r *Record) TargetURI() string { return unbracket(r.Header.Get("WARC-Target-URI")) }

// target returns the URL of a capture with the escapes it was archived with. Browsers request this
// spelling from replayers. It returns "" for a malformed URL.
func (r *Record) target() string {
	url, _ := weburl.ResolveSpelled(weburl.URL{}, r.TargetURI())
	return url
}

// truncated returns why the block is incomplete: the reason in the header, or "length" for the
// first segment of a record that continues in continuation records. It returns "" for a complete
// block.
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

// Date returns the date of the record, or the zero time if there is none.
func (r *Record) Date() time.Time {
	t, _ := parseDate(r.Header.Get("WARC-Date"))
	return t
}

// parseDate parses a date of any precision that the standard allows (W3C's profile of ISO 8601), or
// the 14 digits of the drafts, or what some programs write: a space in place of the T, or no zone,
// which means UTC. For a date of low precision it returns the start of the period.
func parseDate(s string) (t time.Time, ok bool) {
	if t, ok = parseStandardDate(s); ok {
		return t, true
	}
	s = strings.Replace(strings.ToUpper(strings.TrimSpace(s)), " ", "T", 1)
	if t, ok = parseStandardDate(s); ok {
		return t, true
	}
	return parseLayouts(s, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05Z0700", timestampLayout)
}

// parseStandardDate parses a date that WARC 1.1 allows.
func parseStandardDate(s string) (t time.Time, ok bool) {
	return parseLayouts(s, time.RFC3339Nano, "2006-01-02T15:04Z07:00", time.DateOnly, "2006-01", "2006")
}

func parseLayouts(s string, layouts ...string) (t time.Time, ok bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// Read reads the block. It returns [io.ErrUnexpectedEOF] if the file or member ends before the
// end of the block.
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
		if err != nil && (err != io.EOF || !r.r.openContinuation()) {
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

// Close skips the rest of the record and sets its Length. It returns a *FormatError if the
// record is truncated or its Content-Length is wrong, or the error of reading the file.
func (r *Record) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	return r.r.finish(r)
}

// A Reader reads the records of a WARC or ARC file. The zero value is ready for [Reader.Reset].
//
// Time is linear in the decompressed size of the file. Memory is limited by the buffers, the
// window of the compression and the longest header allowed.
type Reader struct {
	m       members
	out     *bufio.Reader // decompressed data: unpack, or m.in if the file is not compressed
	unpack  *bufio.Reader
	count   counter // counts the bytes that were read from the member, including the buffer of out
	started bool    // a member is open and may contain more records
	alone   bool    // the current record is the first of its member
	lost    bool    // no record begins at the current position: search for the next record
	pending bool    // the header of rec was read after that of a torn record

	rec      Record
	arena    []byte
	fields   []Field
	finished error
}

// NewReader returns a Reader of r. If r is an [io.Seeker], it also finds records inside a
// record whose length is too large.
func NewReader(r io.Reader) (*Reader, error) {
	w := new(Reader)
	return w, w.Reset(r)
}

// Reset makes the Reader read src. The compression is detected from the first bytes.
func (r *Reader) Reset(src io.Reader) error {
	return r.reset(src, 0, unknown)
}

func (r *Reader) reset(src io.Reader, base int64, f format) error {
	r.started, r.alone, r.lost, r.pending, r.finished = false, true, false, false, nil
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

// at returns the position in the decompressed member, or in a file that is not compressed.
func (r *Reader) at() int64 {
	if r.m.format == plain {
		return r.m.pos()
	}
	return r.count.n - int64(r.out.Buffered())
}

// Next returns the next record. If it returns a *[FormatError], the file has a fault, and Next can
// be called again. Any other error is final; at the end of the file it is [io.EOF].
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
	if r.pending {
		r.pending, r.alone, r.rec.closed = false, false, false
		return &r.rec, nil
	}
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
			r.started = false // end of the member
			continue
		}
		return rec, err
	}
}

// all yields the records. It yields a fault as a *[FormatError], and continues with the next
// record; any other error is final.
func (r *Reader) all() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for {
			rec, err := r.Next()
			if err == io.EOF {
				return
			}
			_, fault := errors.AsType[*FormatError](err)
			if !yield(rec, err) || err != nil && !fault {
				return
			}
		}
	}
}

// scan moves to the next line that begins a record, or to the end of the member.
func (r *Reader) scan() {
	if r.m.dialect == warc {
		r.scanVersions()
		return
	}
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

// scanVersions is scan for WARC files. As in [Repair], the version of a record may be within a line if
// a field follows, so that stray bytes between two records do not cost the second one. Text in
// the block of a broken record that looks like a record is taken for one, within a line as at its beginning.
func (r *Reader) scanVersions() {
	for before := byte('\n'); ; {
		b, _ := r.out.Peek(appendedLen)
		if len(b) == 0 || isVersion(b) && (before == '\n' || isAppended(b)) {
			return
		}
		before = b[0]
		r.out.Discard(1)
		skipped, err := r.out.ReadSlice('W')
		if err == nil {
			r.out.UnreadByte()
			skipped = skipped[:len(skipped)-1]
		} else if err != bufio.ErrBufferFull {
			return
		}
		if n := len(skipped); n > 0 {
			before = skipped[n-1]
		}
	}
}

// read reads the header of a record. It returns io.EOF at the end of the member.
func (r *Reader) read() (*Record, error) {
	skip := r.at()
	if err := r.blank(); err != nil {
		if r.m.failed != nil {
			return nil, r.skipBroken()
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
			return nil, r.skipBroken()
		case err != nil && err != io.EOF:
			return nil, err
		}
		r.lost = true
		return nil, &FormatError{offset, r.errNoRecord()}
	}
	r.rec = Record{Offset: offset, Skip: skip, r: r, closed: true}
	header := r.header
	if r.m.dialect == arc {
		header = r.arcHeader
	}
	if err := header(); err != nil {
		if r.m.failed != nil {
			return nil, r.skipBroken()
		}
		r.pending = errors.Is(err, errTorn)
		r.lost = !r.pending
		return nil, &FormatError{offset, err}
	}
	r.rec.closed = false
	return &r.rec, nil
}

// errNoRecord returns the error for a position at which no record begins.
func (r *Reader) errNoRecord() error {
	if head, _ := r.out.Peek(4); r.m.dialect == undecided && isZip(head) {
		return errors.New("a zip file (hint: a WACZ is read from a file, not from a pipe or from inside another)")
	}
	why := errors.New("no record where one should begin")
	if r.m.dialect == undecided {
		why = fmt.Errorf("%w, or its beginning is damaged: %w", ErrNotWARC, why)
	}
	return why
}

// skipBroken moves to the next member after a member that cannot be decompressed to its end, and
// returns the fault of that member.
func (r *Reader) skipBroken() error {
	why := r.m.failed
	if why == io.ErrUnexpectedEOF {
		why = fmt.Errorf("the %s breaks off: %w", r.container(), why)
	}
	fault := &FormatError{r.m.start, why}
	r.m.failed, r.m.open, r.started = nil, false, false
	if r.m.format == zstded && r.m.frame.drain() == nil {
		return fault // the frame is complete, so its end is known
	}
	if err := r.m.resync(); err != nil {
		r.finished = err
	}
	return fault
}

// blank skips empty lines.
func (r *Reader) blank() error {
	_, err := r.blanks(nil)
	return err
}

// blanks skips empty lines, and appends their first bytes to those before: enough to see whether
// there are more than two lines.
func (r *Reader) blanks(before []byte) ([]byte, error) {
	for {
		b, err := r.out.ReadByte()
		if err != nil {
			return before, err
		}
		if b != '\r' && b != '\n' {
			return before, r.out.UnreadByte()
		}
		if len(before) <= len(blockEnd) {
			before = append(before, b)
		}
	}
}

// errTorn is returned for a record whose header is cut off by another record. That record is whole.
var errTorn = errors.New("header torn: another record begins in it")

// header reads the version line and the named fields. If another record begins in the header, it
// reads that record instead, and returns errTorn. This occurs if a record was appended to a file
// that ended in a truncated record.
func (r *Reader) header() error {
	r.arena, r.fields = r.arena[:0], r.fields[:0]
	start := r.at()
	first, err := r.line()
	if err != nil {
		return err
	}
	r.arena = append(r.arena, first...)
	versionEnd := len(r.arena)
	// Names and values become substrings of one string; spans holds their positions until that
	// string is complete.
	type span struct{ name, colon, end int }
	var array [24]span
	spans := array[:0]
	var torn tear
	var tears []tear // after torn, possibly
	if n := len(first) - versionLen; n >= versionLen && isVersion(first[n:]) {
		torn = tear{member: r.m.start, at: start + int64(n), head: int64(n), version: n}
	}
	for {
		member, start, head := r.m.start, r.at(), r.rec.head
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
		at, n := len(r.arena), max(len(line)-versionLen, 0)
		if isVersion(line) {
			colon, n = 0, 0
		}
		ends := isVersion(line[n:])
		if ends || colon > 0 { // otherwise ignore a line without a name
			r.arena = append(r.arena, line...)
		}
		if colon > 0 {
			spans = append(spans, span{at, at + colon, len(r.arena)})
		}
		t := tear{len(spans), member, start + int64(n), head + int64(n), at + n, colon <= 0}
		switch {
		case ends && n == 0: // no field begins with a version
			torn, tears = t, nil
		case ends && len(tears) < maxTears:
			tears = append(tears, t)
		}
	}
	all := string(r.arena)
	r.rec.Version = strings.TrimSpace(all[len("WARC/"):versionEnd])
	for _, s := range spans {
		r.fields = append(r.fields, Field{strings.TrimSpace(all[s.name:s.colon]), strings.TrimSpace(all[s.colon+1 : s.end])})
	}
	r.rec.Header = r.fields
	for _, t := range tears {
		if t.divides(r.fields[torn.field:t.field], r.fields[t.field:]) {
			torn = t
		}
	}
	var fault error
	if torn.at > 0 {
		fault = errTorn
		r.rec.Header, r.rec.Version = r.fields[torn.field:], all[torn.version+len("WARC/"):][:len("1.1")]
		r.rec.head -= torn.head
		if r.m.format == plain {
			r.rec.Offset = torn.at
		} else {
			r.rec.Offset, r.rec.Skip = torn.member, torn.at
		}
	}
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
	return fault
}

// A tear is a place in a header where another record may begin: a line that ends in a version.
type tear struct {
	field   int   // index of the first field after it
	member  int64 // offset of the member
	at      int64 // position of the version in the member, or in a file that is not compressed
	head    int64 // number of bytes of the header before the version
	version int   // position of the version in the lines that were kept
	noField bool  // the line is not a field
}

// maxTears limits the fields of a header that are examined because they end in a version.
const maxTears = 16

// divides reports whether another record begins at the tear between those fields. An address may
// end like a version line, so a field that a record has only once must occur before and after it.
func (t tear) divides(before, after Header) bool {
	for _, name := range []string{"WARC-Type", recordID, "WARC-Date", "Content-Length", "WARC-Target-URI"} {
		if after.Get(name) != "" && (t.noField || before.Get(name) != "") {
			return true
		}
	}
	return false
}

// line reads a line and returns it without the line break. The line is valid until the next read.
func (r *Reader) line() ([]byte, error) {
	line, err := r.out.ReadSlice('\n')
	for err == io.EOF {
		start := bytes.Clone(line) // the line may continue in the next member
		if !r.openContinuation() {
			break
		}
		line, err = r.out.ReadSlice('\n')
		if line = append(start, line...); len(line) > bufferSize {
			err = bufio.ErrBufferFull
		}
	}
	r.rec.head += int64(len(line))
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

// openContinuation opens the next member in the middle of a block, because some programs split
// blocks at the size of their buffers. It reports whether the member continues the block. It returns
// false if the member begins with a record: then the block is shorter than its Content-Length.
func (r *Reader) openContinuation() bool {
	if r.m.format == plain || r.m.failed != nil {
		return false
	}
	if head, _ := r.m.in.Peek(4); formatOf(head) != r.m.format {
		return false // the end of the file, or data that is reported later
	}
	if r.enter() != nil {
		r.started = false
		return false
	}
	found, _ := r.begins()
	r.rec.spread = r.rec.spread || !found
	return !found
}

// openBlank opens the next member after the block of a record, and reports whether it consists of
// empty lines that end the record.
func (r *Reader) openBlank() bool {
	spread := r.rec.spread
	if r.openContinuation() {
		b, _ := r.out.Peek(len(blockEnd) + 1)
		if len(b) > 0 && len(b) <= len(blockEnd) && len(bytes.Trim(b, "\r\n")) == 0 {
			return true
		}
	}
	r.rec.spread = spread
	return false
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

// finish skips the rest of the record and determines where the record ends.
func (r *Reader) finish(rec *Record) error {
	for rec.left > 0 && rec.short == nil {
		n, err := r.out.Discard(int(min(rec.left, 1<<30)))
		rec.left -= int64(n)
		if err != nil && (err != io.EOF || !r.openContinuation()) {
			rec.short = err
		}
	}
	if rec.short != nil {
		return r.handleShort(rec)
	}
	rec.end = rec.end[:0]
	var err error
	for more := true; more; {
		rec.end, err = r.blanks(rec.end)
		switch {
		case err == nil:
		case r.m.failed != nil:
			return r.skipBroken()
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
		// If there are not two empty lines, the next member may have them.
		more = err == io.EOF && r.m.dialect == warc && len(rec.end) < len(blockEnd) && r.openBlank()
	}
	if err == io.EOF {
		return nil
	}
	r.alone = false
	if found, _ := r.begins(); !found {
		return r.handleOverrun(rec)
	}
	return nil
}

// handleShort handles a block that is shorter than its Content-Length, and returns the error.
func (r *Reader) handleShort(rec *Record) error {
	have := rec.ContentLength - rec.left
	switch {
	case r.m.failed != nil:
		return r.skipBroken()
	case rec.short != io.EOF:
		r.finished = rec.short
		return rec.short
	}
	fault := &FormatError{rec.Offset, fmt.Errorf("Content-Length is %d but the %s ends after %d bytes", rec.ContentLength, r.container(), have)}
	if r.m.format == plain {
		r.m.rewind(rec.begin)
		r.lost = true
	} else if head, _ := r.out.Peek(1); len(head) == 0 {
		r.started = false // otherwise openContinuation has opened the member of the next record
	}
	return fault
}

func (r *Reader) container() string {
	return [...]string{"file", "file", "gzip member", "zstd frame"}[r.m.format]
}

// handleOverrun handles a block after which no record begins, and returns the error. Either the
// block is longer than its Content-Length, or it is shorter, and the next record was read as a part
// of the block.
func (r *Reader) handleOverrun(rec *Record) error {
	fault := &FormatError{rec.Offset, fmt.Errorf("Content-Length is %d but no record begins behind the block", rec.ContentLength)}
	if r.m.format == plain {
		rec.Length = 0
		r.m.rewind(rec.begin)
	} else if r.scan(); r.m.failed != nil {
		if found, _ := r.begins(); !found {
			return r.skipBroken() // the damage of the member is the reason, and one fault
		}
	}
	r.lost = true
	return fault
}
