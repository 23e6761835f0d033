package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"spoor/internal/atomicfile"
	"spoor/internal/lock"
)

// RepairOptions are the parameters of [RepairFile] and [RepairInPlace].
type RepairOptions struct {
	File string // name of the archive in repairs
	Out  string // name of the copy; RepairFile returns an *[OutputNameError] if its suffix is that of another compression

	// Temp is the directory for temporary files, which can be as large as the largest
	// decompressed gzip member or zstd frame. Empty means the system's temporary directory.
	Temp string

	// Report, if not nil, is called for each repair.
	Report func(Repair)
}

// A Repair is one change to an archive.
type Repair struct {
	File   string `json:"filename"`
	Offset int64  `json:"offset"` // offset in the original
	Kind   string `json:"kind"`   // kind of the fault, as in a [Finding]
	ID     string `json:"record_id,omitempty"`
	URL    string `json:"url,omitempty"`
	Detail string `json:"detail"`
}

// String returns the repair as a line, with control characters escaped.
func (r Repair) String() string {
	return Finding{File: r.File, Offset: r.Offset, Kind: r.Kind, URL: r.URL, Detail: r.Detail}.String()
}

// Repaired counts the records of a repaired archive.
type Repaired struct {
	Whole   int64 // records that were copied byte for byte
	Mended  int64 // records with changed fields or a changed end
	LeftOut int64
	Repairs int64 // number of repairs; 0 if there were no faults
	Before  int64 // size of the file, in bytes
	After   int64 // size of the copy, in bytes
}

// RepairFile writes a repaired copy of a WARC file, compressed like the original.
//
// Complete records are copied byte for byte, with their compression. A wrong length is
// corrected if a digest or the next record determines the correct length. Records that share a
// gzip member or zstd frame get separate members or frames. Wrong digests are removed; identifiers
// that are missing or not unique are replaced. The copy omits data that is not part of a record,
// truncated records, and records without type or date.
//
// A [Verifier] finds no faults in the copy, and repairing the copy changes nothing. RepairFile
// returns [ErrNotWARC] if there is no record.
func RepairFile(ctx context.Context, w io.Writer, src io.ReaderAt, size int64, o RepairOptions) (Repaired, error) {
	out := &countingWriter{w: w}
	n, err := newRepairer(ctx, out, src, size, o).run()
	n.Before, n.After = size, out.n
	return n, err
}

func newRepairer(ctx context.Context, w io.Writer, src io.ReaderAt, size int64, o RepairOptions) *repairer {
	return &repairer{
		ctx:     ctx,
		options: o,
		src:     src,
		size:    size,
		out:     bufio.NewWriterSize(w, 1<<20),
		spool:   spool{dir: o.Temp},
		seen:    map[uint64]struct{}{},
		buf:     make([]byte, bufferSize),
		window:  make([]byte, 0, bufferSize),
		budget:  maxRewind,
	}
}

// RepairInPlace repairs the archive at path, and keeps the original beside it with the suffix
// .bak if there was a fault. An abandoned file that is still named .open is renamed, which
// is counted as a repair. RepairInPlace returns lock.ErrHeld if the file is being written.
func RepairInPlace(ctx context.Context, path string, o RepairOptions) (n Repaired, err error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return n, err
	}
	defer f.Close()
	if err := lock.Try(f, true); err != nil {
		return n, fmt.Errorf("%s: %w", path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return n, err
	}
	name := strings.TrimSuffix(path, openSuffix)
	if name != path {
		if err := checkFree(name); err != nil {
			return n, err
		}
	}
	part, err := atomicfile.OpenFile(name+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm()|0o200)
	if err != nil {
		return n, err
	}
	defer os.Remove(part.Name())
	repair := o
	if backup := path + ".bak"; checkFree(backup) != nil && !isSame(path, backup) {
		repair.Report = nil // a repair would fail, so none is made
	}
	n, err = RepairFile(ctx, part, f, info.Size(), repair)
	if err == nil && n.Repairs > 0 {
		err = part.Sync()
	}
	if err = cmp.Or(err, part.Close()); err != nil {
		return n, err
	}
	if n.Repairs == 0 {
		if name != path {
			err = os.Rename(path, name)
		}
	} else {
		err = replace(path, part.Name(), name)
	}
	if err == nil {
		err = atomicfile.SyncDir(filepath.Dir(name))
	}
	if err == nil && name != path {
		removeIndex(path) // the index beside the old name
		n.Repairs++
		if o.Report != nil {
			o.Report(Repair{File: o.File, Kind: KindName, Detail: fmt.Sprintf("its name is %s now", filepath.Base(name))})
		}
	}
	return n, err
}

// checkFree returns an error if a file with that name exists.
func checkFree(name string) error {
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s exists (hint: move it elsewhere)", name)
	}
	return nil
}

// isSame reports whether two names are hard links to the same file.
func isSame(a, b string) bool {
	one, err := os.Lstat(a)
	if err != nil {
		return false
	}
	other, err := os.Lstat(b)
	return err == nil && os.SameFile(one, other)
}

// replace renames the file at path to path.bak, and the file repaired to name. At any time
// there is a file at path or at name, if the file system has hard links.
func replace(path, repaired, name string) error {
	backup := path + ".bak"
	if !isSame(path, backup) { // they are the same after a crash at this point
		if err := checkFree(backup); err != nil {
			return err
		}
		if os.Link(path, backup) != nil {
			if err := os.Rename(path, backup); err != nil {
				return err
			}
		}
	}
	if err := os.Rename(repaired, name); err != nil || name == path {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// A repairer holds the state of one call of RepairFile.
type repairer struct {
	Repaired
	ctx     context.Context
	options RepairOptions
	src     io.ReaderAt
	size    int64
	out     *bufio.Writer
	format  format
	file    Reader // reads members, not records
	spool   spool  // content of a member
	gz      *gzip.Writer
	zs      *zstd.Encoder
	headers Reader
	check   checker
	seen    map[uint64]struct{} // hashes of the identifiers of earlier records
	checked int64               // length of the block in check
	buf     []byte
	window  []byte // buffer for a part of a segment
	budget  int64  // number of bytes that may still be read because of a claimed length
	changed bool   // the last member was not copied byte for byte
}

// A recordName identifies a record in a [Repair]; the zero value if no header could be read.
type recordName struct{ id, url string }

func (r *repairer) report(offset int64, kind string, about recordName, format string, args ...any) {
	r.Repairs++
	if r.options.Report != nil {
		r.options.Report(Repair{r.options.File, offset, kind, about.id, about.url, fmt.Sprintf(format, args...)})
	}
}

// leftOut reports bytes that the copy omits.
func (r *repairer) leftOut(begin, end int64, why string) {
	r.leftOutRecord(begin, end, recordName{}, why)
}

func (r *repairer) leftOutRecord(begin, end int64, about recordName, why string) {
	if end > begin {
		r.report(begin, KindFormat, about, "left out %d bytes: %s", end-begin, why)
	}
}

func (r *repairer) run() (Repaired, error) {
	defer r.spool.Close()
	err := r.repair()
	if err == nil && r.size > 0 && r.Whole+r.Mended+r.LeftOut == 0 {
		err = fmt.Errorf("%w: there is no record in it", ErrNotWARC)
	}
	if err == nil {
		err = r.out.Flush()
	}
	return r.Repaired, err
}

// An OutputNameError is returned if the suffix of a copy is that of another compression.
type OutputNameError struct {
	Name        string
	Compression string // such as "compressed with gzip"
	Suffix      string // the suffix of such files
}

func (e *OutputNameError) Error() string {
	return fmt.Sprintf("%s is no name for a copy, which is %s, like the original", e.Name, e.Compression)
}

// checkName returns an error if the name of the copy contradicts its compression.
func (r *repairer) checkName() error {
	e := &OutputNameError{r.options.Out, "not compressed", ".warc"}
	switch r.format {
	case gzipped:
		e.Compression, e.Suffix = "compressed with gzip", ".warc.gz"
	case zstded:
		e.Compression, e.Suffix = "compressed with zstd", ".warc.zst"
	}
	suffix := filepath.Ext(e.Name)
	if slices.Contains([]string{".warc", ".gz", ".zst"}, suffix) && suffix != filepath.Ext(e.Suffix) {
		return e
	}
	return nil
}

func (r *repairer) repair() error {
	whole := io.NewSectionReader(r.src, 0, r.size)
	g := &segment{repairer: r, data: r.src, size: r.size}
	if isZip(g.peek(0, len("PK\x03\x04"))) {
		return fmt.Errorf("%w but a zip file (hint: unzip it, and repair what is below archive/)", ErrNotWARC)
	}
	if err := r.file.reset(whole, 0, unknown); err != nil {
		return err
	}
	switch r.format = r.file.m.format; {
	case r.format != plain:
		if err := r.checkName(); err != nil {
			return err
		}
		return r.members()
	case isVersion(g.peek(0, versionLen)):
		return g.plain()
	}
	if at, err := g.boundary(0); err != nil {
		return err
	} else if at < r.size {
		return g.plain()
	}
	// The file may be a gzip file whose start is lost.
	if _, err := whole.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r.format = gzipped
	if err := r.file.reset(whole, 0, gzipped); err != nil {
		return err
	}
	return r.members()
}

// plain repairs a file that is not compressed.
func (g *segment) plain() error {
	if err := g.checkName(); err != nil {
		return err
	}
	return g.split()
}

// members repairs a compressed file.
func (r *repairer) members() error {
	m := &r.file.m
	end := int64(0) // offset in the file up to which all data has been handled
	for {
		if !r.file.started {
			err := r.file.enter()
			if fault, ok := errors.AsType[*FormatError](err); ok {
				r.leftOut(end, m.pos(), fault.Err.Error())
				end = m.pos()
				continue
			}
			if err == io.EOF {
				return r.skippable(end, m.pos())
			}
			if err != nil {
				return err
			}
		}
		begin := m.start
		if err := r.skippable(end, begin); err != nil {
			return err
		}
		r.spool.reset()
		g := &segment{repairer: r, data: &r.spool, compressed: true, base: begin}
		err := g.more()
		if err == nil {
			err = g.split()
		}
		if err == nil {
			end, err = g.finish()
		}
		if err != nil {
			return err
		}
	}
}

// skippable copies skippable zstd frames, such as a dictionary or the seek table of the record
// before. It omits them if that record was changed.
func (r *repairer) skippable(begin, end int64) error {
	if r.changed {
		r.leftOut(begin, end, "frames without data after a record that was changed")
		return nil
	}
	return r.copy(r.out, r.src, begin, end)
}

func (r *repairer) copy(w io.Writer, src io.ReaderAt, begin, end int64) error {
	n, err := io.CopyBuffer(onlyWriter{w}, reading{r.ctx, io.NewSectionReader(src, begin, end-begin)}, r.buf)
	if err == nil && n < end-begin {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// A segment is a sequence of bytes that should consist of complete records: an uncompressed
// file, or the content of a member and of following members that continue its last block.
type segment struct {
	*repairer
	data       io.ReaderAt
	size       int64
	compressed bool
	base       int64 // offset of the member in the file; 0 if the file is not compressed
	end        int64 // offset in the file of the end of the last member
	torn       error // why the member could not be decompressed to its end; nil if it could

	at int64 // position of the window in data

	last     recordName // the last record whose header was read
	pieces   int        // number of records
	first    piece      // first record of a member; written when it is known whether others follow
	complete bool       // no data was omitted
}

// more appends the content of the open member.
func (g *segment) more() error {
	_, err := io.CopyBuffer(onlyWriter{&g.spool}, reading{g.ctx, g.file.out}, g.buf)
	g.file.started = false
	g.size, g.torn, g.end = g.spool.size, g.file.m.failed, g.file.m.pos()
	g.window = g.window[:0]
	return err
}

// appendMember appends the next member if open opens it. It reports whether it appended the member.
func (g *segment) appendMember(open func() bool) (bool, error) {
	if !g.compressed || g.file.started {
		return false, nil
	}
	g.file.m.dialect = warc // a block may contain lines that look like ARC records
	more := open()
	g.file.m.dialect = undecided
	if !more {
		return false, nil
	}
	return true, g.more()
}

// endsBlank reports whether the segment ends within the empty lines after a block that ends at end.
func (g *segment) endsBlank(end int64) bool {
	tail := g.peek(end, len(blockEnd))
	return len(tail) < len(blockEnd) && strings.HasPrefix(blockEnd, string(tail))
}

// finish writes the first record if that is the only one, and finds the next member. It returns
// the offset in the file up to which all data has been handled.
func (g *segment) finish() (end int64, err error) {
	g.changed = g.pieces != 1 || !g.complete || !g.first.exact || g.torn != nil
	switch {
	case !g.changed:
		g.Whole++
		if err := g.copy(g.out, g.src, g.base, g.end); err != nil {
			return 0, err
		}
	case g.pieces == 1:
		if err := g.write(g.first); err != nil {
			return 0, err
		}
	}
	switch {
	case g.size == 0 && g.torn == nil:
		g.leftOut(g.base, g.end, "an empty member")
	case g.pieces > 1:
		g.report(g.base, KindMember, recordName{}, "%d records of one member got one each", g.pieces)
	}
	if g.torn == nil {
		return g.end, nil
	}
	g.file.skipBroken()
	end = g.file.m.pos()
	g.report(g.base, KindFormat, g.last, "left out a torn member of %d bytes, except for its complete records: %v", end-g.base, g.torn)
	return end, g.file.finished
}

const (
	versionLen  = len("WARC/1.1")
	appendedLen = len("WARC/1.1\r\nContent-") // enough bytes for isAppended
)

// peek returns n bytes at an offset, or fewer at the end of the segment. The bytes are valid until
// the next call.
func (g *segment) peek(off int64, n int) []byte {
	b := g.view(off, n)
	return b[:min(n, len(b))]
}

// view returns the buffered bytes from an offset on. There are at least n bytes, or fewer at the end
// of the segment.
func (g *segment) view(off int64, n int) []byte {
	have := int64(len(g.window))
	if off < g.at || off+int64(n) > g.at+have && g.at+have < g.size || off > g.at+have {
		k, _ := g.data.ReadAt(g.window[:min(int64(cap(g.window)), max(g.size-off, 0))], off) // copying the record will return the error again
		g.window, g.at = g.window[:k], off
	}
	return g.window[off-g.at:]
}

// boundary returns the first position at or after from where a record seems to begin, or the
// end of the segment. A record begins with a version at the start of a line. The version may be
// within a line if a field of a record follows; this occurs if a record was appended to a file that
// ended in a truncated record.
func (g *segment) boundary(from int64) (int64, error) {
	lineStart := from == 0 || string(g.peek(from-1, 1)) == "\n" // at the beginning of b
	for at := from; at < g.size; {
		b := g.view(at, appendedLen)
		if len(b) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		i := bytes.Index(b, []byte("WARC/"))
		switch {
		case i < 0:
			i = max(len(b)-len("WARC/")+1, 1)
		case i > 0 && len(b)-i < appendedLen && at+int64(len(b)) < g.size:
			// Test again when the whole line is in the window.
		case isVersion(b[i:]) && (i == 0 && lineStart || i > 0 && b[i-1] == '\n' || isAppended(b[i:])):
			return at + int64(i), nil
		default:
			i++
		}
		lineStart = b[i-1] == '\n'
		at += int64(i)
	}
	return g.size, nil
}

// isAppended reports whether b begins with a version line and a field of a record.
func isAppended(b []byte) bool {
	line := bytes.TrimLeft(b[versionLen:], "\r\n")
	return len(line) < len(b)-versionLen && (bytes.HasPrefix(line, []byte("WARC-")) || bytes.HasPrefix(line, []byte("Content-")))
}

// A piece is a record to be written.
type piece struct {
	pos, begin, length int64    // position of the header, and position and length of the block
	drop               []string // fields to remove
	add                []Field
	exact              bool // the record can be copied unchanged
}

// split writes the records of the segment, except for the first record of a member.
func (g *segment) split() error {
	g.complete = true
	for pos := int64(0); ; {
		begin := pos
		for b := g.peek(pos, 1); len(b) > 0 && (b[0] == '\r' || b[0] == '\n'); b = g.peek(pos, 1) {
			pos++
		}
		if pos > begin {
			g.complete = false
			g.report(g.base+g.plainOffset(begin), KindEnd, recordName{}, "left out %d bytes of empty lines", pos-begin)
		}
		if pos >= g.size {
			return nil
		}
		next, err := g.record(pos)
		if err != nil {
			return err
		}
		pos = next
	}
}

// plainOffset returns off in an uncompressed file, and 0 in a member.
func (g *segment) plainOffset(off int64) int64 {
	if g.compressed {
		return 0
	}
	return off
}

// skip omits the bytes from pos to next, and reports this.
func (g *segment) skip(pos, next int64, about recordName, why string) {
	switch {
	case !g.compressed:
		g.leftOutRecord(pos, next, about, why)
	case g.torn == nil || next < g.size: // otherwise finish reports it
		g.report(g.base, KindFormat, about, "left out %d unpacked bytes: %s", next-pos, why)
	}
	g.complete = false
}

// record writes or omits the record at pos, and returns the position of its end.
func (g *segment) record(pos int64) (int64, error) {
	if !isVersion(g.peek(pos, versionLen)) {
		next, err := g.boundary(pos)
		g.skip(pos, next, recordName{}, "no record")
		return next, err
	}
	next, err := g.boundary(pos + int64(versionLen))
	if err != nil {
		return 0, err
	}
	rec, err := g.header(pos, next)
	for err != nil && next == g.size && g.mayRead(next-pos) { // the header may continue in the next member
		if added, e := g.appendMember(g.file.openContinuation); e != nil {
			return 0, e
		} else if !added {
			break
		}
		if next, err = g.boundary(pos + int64(versionLen)); err == nil {
			rec, err = g.header(pos, next)
		}
	}
	if end := min(g.size, next+bufferSize); err != nil && next < g.size && string(g.peek(next-1, 1)) != "\n" && g.mayRead(end-pos) {
		// Perhaps a field ends like a version line.
		if rec, err = g.header(pos, end); err == nil {
			if next, err = g.boundary(g.headers.at()); err != nil {
				return 0, err
			}
		}
	}
	if fault, ok := errors.AsType[*FormatError](err); ok {
		g.skip(pos, next, recordName{}, fault.Err.Error())
		return next, nil
	} else if err != nil {
		return 0, err
	}
	g.last = recordName{rec.ID(), rec.TargetURI()}
	p := piece{pos: pos, begin: g.headers.at()}
	size := g.size
	for added := true; added; {
		switch end := p.begin + rec.ContentLength; {
		case end > g.size:
			added, err = g.appendMember(g.file.openContinuation)
		case g.endsBlank(end):
			added, err = g.appendMember(g.file.openBlank)
		default:
			added = false
		}
		if err != nil {
			return 0, err
		}
	}
	if next == size && size < g.size {
		if next, err = g.boundary(max(p.begin, size-int64(versionLen))); err != nil {
			return 0, err
		}
	}
	claimed := rec.ContentLength
	length, ok, err := g.measure(rec.Header, p.begin, claimed, next)
	if err != nil {
		return 0, err
	}
	if !ok {
		g.LeftOut++
		g.skip(pos, next, g.last, "a torn record")
		return next, nil
	}
	p.length = length
	next = p.begin + length
	if string(g.peek(next, len(blockEnd))) == blockEnd {
		next += int64(len(blockEnd))
		p.exact = true
	}
	return next, g.mend(p, rec, claimed)
}

// header reads the header at pos, which ends before the next record. If it has no valid
// Content-Length, the ContentLength of the record is -1.
func (g *segment) header(pos, next int64) (*Record, error) {
	if err := g.headers.reset(io.NewSectionReader(g.data, pos, next-pos), pos, plain); err != nil {
		return nil, err
	}
	rec, err := g.headers.Next()
	if _, ok := errors.AsType[*FormatError](err); ok && g.headers.rec.Header != nil && g.headers.rec.Offset == pos { // otherwise it is torn
		rec, err = &g.headers.rec, nil
		rec.ContentLength = -1
	}
	return rec, err
}

// measure determines the length of the block at begin. It returns the claimed length if a digest
// or the bytes after the block confirm this length. Otherwise it returns the length up to the next
// record, if a digest or two empty lines confirm that. ok is false if neither is confirmed.
func (g *segment) measure(h Header, begin, claimed, next int64) (length int64, ok bool, err error) {
	fits := claimed >= 0 && claimed <= g.size-begin
	endsWell := fits && g.endsWell(begin+claimed)
	if endsWell {
		if a, err := g.digests(h, begin, claimed); err != nil || a != denied {
			return claimed, true, err
		}
	}
	upTo, proper, known := g.lengthToNext(begin, next)
	if endsWell {
		if known && upTo < claimed && g.mayRead(claimed) {
			if a, err := g.digests(h, begin, upTo); err != nil || a == confirmed {
				return upTo, true, err
			}
		}
		return claimed, true, nil
	}
	try := fits && g.mayRead(claimed)
	if try {
		a, err := g.digests(h, begin, claimed)
		if err != nil || a == confirmed {
			return claimed, true, err
		}
		try = a != denied
	}
	if known {
		a, err := g.digests(h, begin, upTo)
		if err != nil || a == confirmed {
			return upTo, true, err
		}
		known = a != denied
	}
	switch {
	case try && string(g.peek(begin+claimed, len(blockEnd))) == blockEnd:
		return claimed, true, nil
	case known && proper:
		return upTo, true, nil
	case try && g.endsInBlankLines(begin+claimed):
		return claimed, true, nil
	}
	return upTo, known, nil
}

// mayRead reports whether n bytes may be read because a record claims this length. There is a
// limit, because many records can claim the same bytes: without it, the time would be quadratic in
// the size of the file.
func (g *segment) mayRead(n int64) bool {
	ok := g.budget >= n
	if ok {
		g.budget -= n
	}
	return ok
}

// endsWell reports whether a block that ends at end is followed by two empty lines, and then by a
// record or the end of the segment.
func (g *segment) endsWell(end int64) bool {
	b := g.peek(end, len(blockEnd)+versionLen)
	rest, ok := bytes.CutPrefix(b, []byte(blockEnd))
	return ok && (isVersion(rest) || end+int64(len(blockEnd)) == g.size)
}

// endsInBlankLines reports whether there are only a few empty lines between the end of a block
// and a record or the end of the segment.
func (g *segment) endsInBlankLines(end int64) bool {
	const maxEmpty = 64
	b := g.peek(end, maxEmpty+versionLen)
	rest := bytes.TrimLeft(b, "\r\n")
	return isVersion(rest) || len(rest) == 0 && end+int64(len(b)) == g.size
}

// lengthToNext returns the length of the block at begin on the assumption that the block extends to
// the next record. proper reports whether two empty lines are between them. Without two empty lines,
// the length is known only if a complete member ends there.
func (g *segment) lengthToNext(begin, next int64) (length int64, proper, known bool) {
	whole := next < g.size || g.torn == nil
	end := next - int64(len(blockEnd))
	if end >= begin && string(g.peek(end, len(blockEnd))) == blockEnd {
		return end - begin, whole, whole
	}
	return next - begin, false, g.compressed && next == g.size && whole
}

// An agreement is the result of comparing the digests of a record with a block of a given length.
type agreement int

const (
	unclear   agreement = iota
	confirmed           // at least one digest matches
	denied              // no digest matches
)

// digests computes the digests of a block of the given length, and compares them with the digests
// of the record. A payload digest without the chunks does not confirm a length, because any data may
// follow the last chunk.
func (g *segment) digests(h Header, begin, length int64) (agreement, error) {
	g.check.reset(h)
	g.checked = length
	if g.check.claims() == 0 {
		return unclear, nil
	}
	if err := g.copy(&g.check, g.data, begin, begin+length); err != nil {
		return unclear, err
	}
	right := g.check.claims() - len(g.check.wrong())
	form, ok := g.check.form()
	switch {
	case right == 0:
		return denied, nil
	case right == 1 && g.check.payload != nil && ok && form == dechunked:
		return unclear, nil
	}
	return confirmed, nil
}

// mend writes a record without its faults, or omits it.
func (g *segment) mend(p piece, rec *Record, claimed int64) error {
	if g.checked != p.length { // measure has tried other lengths
		if _, err := g.digests(rec.Header, p.begin, p.length); err != nil {
			return err
		}
	}
	offset, id := g.base+g.plainOffset(p.pos), rec.ID()
	faults := checkRecord(rec, &g.check)
	if _, known := g.seen[idKey(id)]; id != "" && known {
		faults = append(faults, recordFault{kind: KindDuplicate, field: recordID})
	}
	for _, f := range faults {
		if f.kind == KindField && !f.warning && f.field != recordID {
			g.LeftOut++
			g.complete = false
			g.report(offset, KindField, g.last, "left out a record: %s", f.detail)
			return nil
		}
	}
	set := func(name, value string) {
		p.drop, p.add, p.exact = append(p.drop, name), append(p.add, Field{name, value}), false
	}
	if claimed != p.length {
		was := "nothing"
		if claimed >= 0 {
			was = strconv.FormatInt(claimed, 10)
		}
		g.report(offset, KindFormat, g.last, "Content-Length is %d, where it was %s", p.length, was)
		set("Content-Length", strconv.FormatInt(p.length, 10))
	} else if !p.exact {
		g.report(offset, KindEnd, g.last, "two empty lines end the record")
	}
	for _, f := range faults {
		if f.kind == KindDigest && !f.warning {
			g.report(offset, KindDigest, g.last, "left out %s %.200s, which is not that of the record", f.field, rec.Header.Get(f.field))
			p.drop, p.exact = append(p.drop, f.field), false
		}
	}
	for _, f := range faults {
		if f.field == recordID && !f.warning { // the identifier is missing or not unique
			id = derivedID(g.seen, "%d %d %d", g.Whole+g.Mended, p.pos, p.length)
			g.report(offset, f.kind, g.last, "WARC-Record-ID is %s now", id)
			set(recordID, id)
		}
	}
	if len(g.seen) < maxIDs {
		g.seen[idKey(id)] = struct{}{}
	}
	g.pieces++
	switch {
	case g.compressed && g.pieces == 1:
		g.first = p
		return nil
	case g.compressed && g.pieces == 2:
		if err := g.write(g.first); err != nil {
			return err
		}
	}
	return g.write(p)
}

// write writes a record. If the file is compressed, the record gets its own member.
func (g *segment) write(p piece) error {
	if p.exact {
		g.Whole++
	} else {
		g.Mended++
	}
	header, err := g.edited(p)
	if err != nil {
		return err
	}
	w, err := g.member(int64(len(header)) + p.length + int64(len(blockEnd)))
	if err == nil {
		_, err = w.Write(header)
	}
	if err == nil {
		err = g.copy(w, g.data, p.begin, p.begin+p.length)
	}
	if err == nil {
		_, err = io.WriteString(w, blockEnd)
	}
	if err == nil {
		err = w.Close()
	}
	return err
}

// member starts a member for size bytes of content. Close ends the member.
func (r *repairer) member(size int64) (w io.WriteCloser, err error) {
	switch r.format {
	case gzipped:
		if r.gz == nil {
			r.gz, err = gzip.NewWriterLevel(r.out, DefaultLevel)
			return r.gz, err
		}
		r.gz.Reset(r.out)
		return r.gz, nil
	case zstded:
		if r.zs == nil {
			if r.zs, err = newFrames(DefaultZstdLevel); err != nil {
				return nil, err
			}
		}
		r.zs.ResetContentSize(r.out, size)
		return r.zs, nil
	}
	return nopCloser{r.out}, nil
}

// nopCloser takes the place of a member in an uncompressed file.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// edited returns the header of a record with its changed fields.
func (g *segment) edited(p piece) ([]byte, error) {
	header := make([]byte, p.begin-p.pos)
	if _, err := io.ReadFull(io.NewSectionReader(g.data, p.pos, p.begin-p.pos), header); err != nil || len(p.drop) == 0 {
		return header, err
	}
	var out []byte
	dropping := false
	for line := range bytes.Lines(header) {
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			break
		}
		// A line without a name is ignored, and a folded line after it continues the field
		// before, as in a Reader.
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && len(name) > 0 && line[0] != ' ' && line[0] != '\t' {
			dropping = slices.ContainsFunc(p.drop, func(s string) bool {
				return strings.EqualFold(s, strings.TrimSpace(string(name)))
			})
		}
		if !dropping {
			out = append(out, line...)
		}
	}
	for _, f := range p.add {
		out = appendField(out, f.Name, f.Value)
	}
	return append(out, '\r', '\n'), nil
}
