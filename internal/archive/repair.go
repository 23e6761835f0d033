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

	"spoor/internal/lock"
)

// RepairOptions are the parameters of [RepairFile] and [RepairInPlace].
type RepairOptions struct {
	// Temp is a directory for temporary files, about as large as what the
	// largest gzip member or zstd frame unpacks to; empty: that of the system.
	Temp string

	// Report, if not nil, is called for each thing that is done.
	Report func(Repair)
}

// A Repair is one thing that was done to an archive.
type Repair struct {
	Offset int64  `json:"offset"` // in the archive as it was
	Kind   string `json:"kind"`   // of what was wrong, as in a [Finding]
	ID     string `json:"record_id,omitempty"`
	Detail string `json:"detail"`
}

// Repaired counts what became of the records of an archive.
type Repaired struct {
	Whole   int64 // kept byte for byte
	Mended  int64 // kept, but for some of their fields or their end
	LeftOut int64 // that could not be
	Bytes   int64 // of the repaired archive
	Repairs int64 // 0: nothing was wrong
}

// RepairFile writes a repaired copy of a WARC file, packed as the file is.
//
// Records that are whole are kept byte for byte, packing included. A record with
// the wrong length gets the right one if that is known: its digest tells, or
// nothing else can stand between it and the next. Records that share a gzip member
// or zstd frame get one each. A digest that is wrong is left out of its record,
// since what it was made of is gone; an identifier that is missing or was there
// before is replaced. What is left out of the copy: rubbish, records that are torn
// or lack a type or a date, and of a torn member what does not belong to a whole
// record.
//
// A [Verifier] finds no fault with the copy, and repairing it again changes
// nothing. The error is [ErrNotWARC] if there is no record at all.
func RepairFile(ctx context.Context, w io.Writer, src io.ReaderAt, size int64, o RepairOptions) (Repaired, error) {
	return newRepairer(ctx, w, src, size, o).run()
}

func newRepairer(ctx context.Context, w io.Writer, src io.ReaderAt, size int64, o RepairOptions) *repairer {
	out := bufio.NewWriterSize(w, 1<<20)
	return &repairer{
		ctx:     ctx,
		options: o,
		src:     src,
		size:    size,
		flush:   out.Flush,
		out:     &countingWriter{w: out},
		block:   spool{dir: o.Temp},
		seen:    map[uint64]struct{}{},
		buf:     make([]byte, bufferSize),
		window:  make([]byte, 0, bufferSize),
		again:   maxRewind,
	}
}

// RepairInPlace repairs an archive where it lies, if anything is wrong with it; what
// it was stays beside it, with .bak behind its name. A file that was being written
// (.open) by somebody who is gone gets its name without that, which is a repair, too.
// It returns the name.
// The error is lock.ErrHeld if somebody is still writing.
func RepairInPlace(ctx context.Context, path string, o RepairOptions) (name string, n Repaired, err error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return path, n, err
	}
	defer f.Close()
	if err := lock.Try(f, true); err != nil {
		return path, n, fmt.Errorf("%s: %w", path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return path, n, err
	}
	name = strings.TrimSuffix(path, openSuffix)
	if name != path {
		if err := free(name); err != nil {
			return path, n, err
		}
	}
	part, err := os.OpenFile(name+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm()|0o200)
	if err != nil {
		return path, n, err
	}
	defer os.Remove(part.Name())
	n, err = RepairFile(ctx, part, f, info.Size(), o)
	if err == nil && n.Repairs > 0 {
		err = part.Sync()
	}
	if err = cmp.Or(err, part.Close()); err != nil {
		return path, n, err
	}
	if n.Repairs == 0 {
		if name != path {
			err = os.Rename(path, name)
		}
	} else {
		err = replace(path, part.Name(), name)
	}
	if err == nil {
		err = syncDir(filepath.Dir(name))
	}
	if err == nil && name != path {
		os.Remove(path + indexSuffix) // of the file under its former name
		n.Repairs++
		if o.Report != nil {
			o.Report(Repair{Kind: KindName, Detail: fmt.Sprintf("its name is %s now", filepath.Base(name))})
		}
	}
	return name, n, err
}

// free is an error if something has that name.
func free(name string) error {
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s is in the way (hint: move it elsewhere)", name)
	}
	return nil
}

// isSame tells whether two names are of one file, neither a link to the other.
func isSame(a, b string) bool {
	one, err := os.Lstat(a)
	if err != nil {
		return false
	}
	other, err := os.Lstat(b)
	return err == nil && os.SameFile(one, other)
}

// replace sets the file at path aside and puts another at name. Where a file can
// have two names there is one at path or name at any time.
func replace(path, other, name string) error {
	backup := path + ".bak"
	if !isSame(path, backup) { // as when we were killed just here
		if err := free(backup); err != nil {
			return err
		}
		if os.Link(path, backup) != nil {
			if err := os.Rename(path, backup); err != nil {
				return err
			}
		}
	}
	if err := os.Rename(other, name); err != nil || name == path {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

type repairer struct {
	Repaired
	ctx     context.Context
	options RepairOptions
	src     io.ReaderAt
	size    int64
	out     *countingWriter
	flush   func() error // of out
	format  format
	m       members
	unpack  *bufio.Reader // over m
	block   spool         // what a member unpacks to
	gz      *gzip.Writer
	zs      *zstd.Encoder
	reader  Reader // of headers
	check   checker
	seen    map[uint64]struct{} // identifiers
	buf     []byte
	window  []byte // of the data of a group
	again   int64  // bytes that may still be read because a record claims them
}

func (r *repairer) report(offset int64, kind, id, format string, args ...any) {
	r.Repairs++
	if r.options.Report != nil {
		r.options.Report(Repair{offset, kind, id, fmt.Sprintf(format, args...)})
	}
}

// dropped reports bytes that are not in the copy.
func (r *repairer) dropped(begin, end int64, why string) {
	if end > begin {
		r.report(begin, KindFormat, "", "left out %d bytes: %s", end-begin, why)
	}
}

func (r *repairer) run() (Repaired, error) {
	defer r.block.Close()
	err := r.repair()
	if err == nil && r.size > 0 && r.Whole+r.Mended+r.LeftOut == 0 {
		err = fmt.Errorf("%w: there is no record in it", ErrNotWARC)
	}
	if err == nil {
		err = r.flush()
	}
	r.Bytes = r.out.n
	return r.Repaired, err
}

func (r *repairer) repair() error {
	whole := io.NewSectionReader(r.src, 0, r.size)
	g := &group{repairer: r, data: r.src, size: r.size}
	if isZip(g.peek(0, len("PK\x03\x04"))) {
		return fmt.Errorf("%w but a zip file (hint: unzip it, and repair what is below archive/)", ErrNotWARC)
	}
	err := r.m.reset(whole, 0, unknown)
	if err != nil && err != io.EOF {
		return err
	}
	switch r.format = r.m.format; {
	case r.format == unknown:
		return nil // empty
	case r.format != plain:
		return r.members()
	case isVersion(g.peek(0, versionLen)):
		return g.split()
	}
	if at, err := g.boundary(0); err != nil {
		return err
	} else if at < r.size {
		return g.split()
	}
	// Perhaps members, of which the first is torn at its beginning.
	if _, err := whole.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r.format = gzipped
	if err := r.m.reset(whole, 0, gzipped); err != nil {
		return err
	}
	return r.members()
}

// members repairs a packed file.
func (r *repairer) members() error {
	r.unpack = bufio.NewReaderSize(&r.m, bufferSize)
	end := int64(0) // of what has been dealt with
	opened := false // the next member is
	for {
		if !opened {
			err := r.m.next()
			if fault, ok := errors.AsType[*FormatError](err); ok {
				r.dropped(end, r.m.pos(), fault.Err.Error())
				end = r.m.pos()
				continue
			}
			if err == io.EOF {
				r.dropped(end, r.m.pos(), "nothing that belongs to a record")
				return nil
			}
			if err != nil {
				return err
			}
			r.unpack.Reset(&r.m)
		}
		begin := r.m.start
		if end == 0 && r.m.dict != nil {
			if err := r.copy(r.out, r.src, 0, begin); err != nil {
				return err
			}
		} else {
			r.dropped(end, begin, "nothing that belongs to a record")
		}
		g := &group{repairer: r, packed: true, base: begin}
		var err error
		if opened, err = g.fill(); err != nil {
			return err
		}
		if end, err = g.finish(); err != nil {
			return err
		}
	}
}

// copy copies bytes of src.
func (r *repairer) copy(w io.Writer, src io.ReaderAt, begin, end int64) error {
	n, err := io.CopyBuffer(onlyWriter{w}, reading{r.ctx, io.NewSectionReader(src, begin, end-begin)}, r.buf)
	if err == nil && n < end-begin {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// A group is a run of bytes in which whole records should stand: a plain file, or
// what a member unpacks to, with the members behind it that go on in the middle of
// a block.
type group struct {
	*repairer
	data   io.ReaderAt
	size   int64
	packed bool
	base   int64 // of the member in the file; 0 if the file is plain
	end    int64 // of the last member in the file
	torn   error // why the member could not be unpacked to its end
	spread bool  // over several members
	opened bool  // the member behind it is

	at int64 // where in data the window is

	pieces  int
	waiting piece // the first, until it is known whether it is alone
	clean   bool  // nothing was left out
}

// fill unpacks the member that is open, and splits it.
func (g *group) fill() (opened bool, err error) {
	g.block.reset()
	g.data = &g.block
	if err := g.more(); err != nil {
		return false, err
	}
	return g.opened, g.split()
}

// more adds what the open member unpacks to.
func (g *group) more() error {
	_, err := io.CopyBuffer(onlyWriter{&g.block}, reading{g.ctx, g.unpack}, g.buf)
	g.size, g.torn, g.end = g.block.size, g.m.failed, g.m.pos()
	g.window = g.window[:0]
	return err
}

// continues adds the member behind, if there is one that begins no record.
func (g *group) continues() (bool, error) {
	if !g.packed || g.torn != nil || g.opened {
		return false, nil
	}
	if head, _ := g.m.in.Peek(4); formatOf(head) != g.format {
		return false, nil
	}
	err := g.m.next()
	if _, ok := errors.AsType[*FormatError](err); ok || err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	g.unpack.Reset(&g.m)
	if head, _ := g.unpack.Peek(versionLen); isVersion(head) {
		g.opened = true
		return false, nil
	}
	g.spread = true
	return true, g.more()
}

// finish writes what waits and finds the next member. It returns the offset in
// the file up to which everything has been dealt with.
func (g *group) finish() (end int64, err error) {
	switch {
	case g.pieces == 1 && g.clean && g.waiting.exact && !g.spread && g.torn == nil:
		g.Whole++
		if err := g.copy(g.out, g.src, g.base, g.end); err != nil {
			return 0, err
		}
	case g.pieces == 1:
		if err := g.write(g.waiting); err != nil {
			return 0, err
		}
	}
	switch {
	case g.size == 0 && g.torn == nil:
		g.dropped(g.base, g.end, "an empty member")
	case g.pieces > 1:
		g.report(g.base, KindMember, "", "%d records of one member got one each", g.pieces)
	case g.spread && g.pieces == 1:
		g.report(g.base, KindMember, "", "a record of several members got one")
	}
	if g.torn == nil {
		return g.end, nil
	}
	why := g.torn
	g.m.failed, g.m.open = nil, false
	if g.format != zstded || g.m.frame.drain() != nil {
		if err := g.m.resync(); err != nil {
			return 0, err
		}
	}
	g.report(g.base, KindFormat, "", "left out a torn member of %d bytes, but for what is whole in it: %v", g.m.pos()-g.base, why)
	return g.m.pos(), nil
}

// versionLen is how many bytes tell a version line.
const versionLen = len("WARC/1.1")

// peek is at most n bytes at an offset; fewer at the end. They are valid until
// the next call.
func (g *group) peek(off int64, n int) []byte {
	b := g.ahead(off, n)
	return b[:min(n, len(b))]
}

// ahead is what is at hand from an offset on, n bytes at least but at the end.
func (g *group) ahead(off int64, n int) []byte {
	have := int64(len(g.window))
	if off < g.at || off+int64(n) > g.at+have && g.at+have < g.size || off > g.at+have {
		k, _ := g.data.ReadAt(g.window[:min(int64(cap(g.window)), max(g.size-off, 0))], off) // whoever copies will fail
		g.window, g.at = g.window[:k], off
	}
	return g.window[off-g.at:]
}

// boundary is the first place, not before from, where a record seems to begin, or
// the end: a version line at the beginning of a line, or anywhere if a field of a
// record follows, as when something was appended to a torn record.
func (g *group) boundary(from int64) (int64, error) {
	const enough = len("WARC/1.1\r\nContent-")
	lineStart := from == 0 || string(g.peek(from-1, 1)) == "\n" // at the beginning of b
	for at := from; at < g.size; {
		b := g.ahead(at, enough)
		if len(b) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		i := bytes.Index(b, []byte("WARC/"))
		switch {
		case i < 0:
			i = max(len(b)-len("WARC/")+1, 1)
		case i > 0 && len(b)-i < enough && at+int64(len(b)) < g.size:
			// Look again when all of it is here.
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

// isAppended tells whether b is a version line with a field behind it.
func isAppended(b []byte) bool {
	line := bytes.TrimLeft(b[versionLen:], "\r\n")
	return len(line) < len(b)-versionLen && (bytes.HasPrefix(line, []byte("WARC-")) || bytes.HasPrefix(line, []byte("Content-")))
}

// A piece is a record to be written.
type piece struct {
	pos, begin, length int64 // of the header and the block, in the group
	drop               []string
	add                []Field
	exact              bool // all of it stands there as it should be
}

// split writes the records of the group; the first of a member waits.
func (g *group) split() error {
	g.clean = true
	for pos := int64(0); ; {
		begin := pos
		for b := g.peek(pos, 1); len(b) > 0 && (b[0] == '\r' || b[0] == '\n'); b = g.peek(pos, 1) {
			pos++
		}
		if pos > begin {
			g.clean = false
			g.report(g.base+g.plain(begin), KindEnd, "", "left out %d bytes of empty lines", pos-begin)
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

// plain is an offset in a plain file, and 0 in a member.
func (g *group) plain(off int64) int64 {
	if g.packed {
		return 0
	}
	return off
}

// skip leaves out bytes.
func (g *group) skip(pos, next int64, why string) {
	switch {
	case !g.packed:
		g.dropped(pos, next, why)
	case g.torn == nil || next < g.size: // else finish tells of it
		g.report(g.base, KindFormat, "", "left out %d unpacked bytes: %s", next-pos, why)
	}
	g.clean = false
}

// record deals with the record at pos and returns where it ends.
func (g *group) record(pos int64) (int64, error) {
	if !isVersion(g.peek(pos, versionLen)) {
		next, err := g.boundary(pos)
		g.skip(pos, next, "no record")
		return next, err
	}
	next, err := g.boundary(pos + int64(versionLen))
	if err != nil {
		return 0, err
	}
	rec, err := g.header(pos, next)
	if fault, ok := errors.AsType[*FormatError](err); ok {
		g.skip(pos, next, fault.Err.Error())
		return next, nil
	} else if err != nil {
		return 0, err
	}
	p := piece{pos: pos, begin: g.reader.at()}
	size := g.size
	for rec.ContentLength > g.size-p.begin {
		if added, err := g.continues(); err != nil {
			return 0, err
		} else if !added {
			break
		}
	}
	if next == size && size < g.size {
		if next, err = g.boundary(max(p.begin, size-int64(versionLen))); err != nil {
			return 0, err
		}
	}
	claimed := rec.ContentLength
	length, wrong, ok, err := g.measure(rec.Header, p.begin, claimed, next)
	if err != nil {
		return 0, err
	}
	if !ok {
		g.LeftOut++
		g.skip(pos, next, "a torn record")
		return next, nil
	}
	p.length = length
	next = p.begin + length
	if string(g.peek(next, len(blockEnd))) == blockEnd {
		next += int64(len(blockEnd))
		p.exact = true
	}
	return next, g.mend(p, rec, claimed, wrong)
}

// header reads the header at pos, which ends before the next record begins. A
// record that says nothing of its length has -1.
func (g *group) header(pos, next int64) (*Record, error) {
	if err := g.reader.reset(io.NewSectionReader(g.data, pos, next-pos), pos, plain); err != nil {
		return nil, err
	}
	rec, err := g.reader.Next()
	if _, ok := errors.AsType[*FormatError](err); ok && g.reader.rec.Header != nil {
		rec, err = &g.reader.rec, nil
		rec.ContentLength = -1
	}
	return rec, err
}

// measure finds out how long a block is: as long as the record claims, if what
// follows it or its digest agrees; else up to the next record, if the two stand as
// they should. wrong are the digests that are not those of the block.
func (g *group) measure(h Header, begin, claimed, next int64) (length int64, wrong []*claim, ok bool, err error) {
	fits := claimed >= 0 && claimed <= g.size-begin
	well := fits && g.endsWell(begin+claimed)
	if well {
		if wrong, err = g.sums(h, begin, claimed); err != nil || !g.check.denies(wrong) {
			return claimed, wrong, true, err
		}
	}
	inside, proper, known := g.upTo(begin, next)
	if well {
		if known && inside < claimed && g.afford(claimed) {
			if other, err := g.sums(h, begin, inside); err != nil || g.check.confirms(other) {
				return inside, other, true, err
			}
		}
		return claimed, wrong, true, nil
	}
	mayClaim := fits && g.afford(claimed) // unless a digest is against it
	if mayClaim {
		if wrong, err = g.sums(h, begin, claimed); err != nil || g.check.confirms(wrong) {
			return claimed, wrong, true, err
		}
		mayClaim = !g.check.denies(wrong)
	}
	var other []*claim
	if known {
		if other, err = g.sums(h, begin, inside); err != nil || g.check.confirms(other) {
			return inside, other, true, err
		}
		known = !g.check.denies(other)
	}
	switch {
	case mayClaim && string(g.peek(begin+claimed, len(blockEnd))) == blockEnd:
		return claimed, wrong, true, nil
	case known && proper:
		return inside, other, true, nil
	case mayClaim && g.endsSomehow(begin+claimed):
		return claimed, wrong, true, nil
	}
	return inside, other, known, nil
}

// afford tells whether so many bytes may be read because a record claims them,
// though it may be that the next does again. Without an end to that, a file of
// nothing but such claims would take time in the square of its size.
func (g *group) afford(n int64) bool {
	ok := g.again >= n
	if ok {
		g.again -= n
	}
	return ok
}

// endsWell tells whether the block that ends there is followed by two empty lines
// and a record or the end.
func (g *group) endsWell(end int64) bool {
	b := g.peek(end, len(blockEnd)+versionLen)
	rest, ok := bytes.CutPrefix(b, []byte(blockEnd))
	return ok && (isVersion(rest) || end+int64(len(blockEnd)) == g.size)
}

// endsSomehow tells whether nothing but some empty lines, or none, stands between
// the end of a block and a record or the end.
func (g *group) endsSomehow(end int64) bool {
	const many = 64
	b := g.peek(end, many+versionLen)
	rest := bytes.TrimLeft(b, "\r\n")
	return isVersion(rest) || len(rest) == 0 && end+int64(len(b)) == g.size
}

// upTo is the length of the block that begins there if it ends where the next
// record, or the end, says. It is proper if two empty lines stand between them; else
// it is known only of a member that is whole, which holds what its writer wanted it
// to.
func (g *group) upTo(begin, next int64) (length int64, proper, known bool) {
	whole := next < g.size || g.torn == nil
	end := next - int64(len(blockEnd))
	if end >= begin && string(g.peek(end, len(blockEnd))) == blockEnd {
		return end - begin, whole, whole
	}
	return next - begin, false, g.packed && next == g.size && whole
}

// sums computes the digests of a block and returns those that are wrong.
func (g *group) sums(h Header, begin, length int64) ([]*claim, error) {
	g.check.reset(h)
	if !g.check.claims() {
		return nil, nil
	}
	if err := g.copy(&g.check, g.data, begin, begin+length); err != nil {
		return nil, err
	}
	return g.check.wrong(), nil
}

// confirms tells whether a digest shows that the block ends where it should. That
// of a body without its chunks does not: anything may follow the last chunk.
func (c *checker) confirms(wrong []*claim) bool {
	if c.block != nil && !slices.Contains(wrong, c.block) {
		return true
	}
	form, ok := c.form()
	return c.payload != nil && ok && form != dechunked
}

// denies tells whether there are digests and all speak against the block.
func (c *checker) denies(wrong []*claim) bool {
	return c.claims() && (c.block == nil || slices.Contains(wrong, c.block)) && (c.payload == nil || slices.Contains(wrong, c.payload))
}

// mend sees to the header of a record and has it written.
func (g *group) mend(p piece, rec *Record, claimed int64, wrong []*claim) error {
	offset, id := g.base+g.plain(p.pos), rec.ID()
	for _, f := range checkFields(rec) {
		if f.warning || f.field == "WARC-Record-ID" {
			continue
		}
		g.LeftOut++
		g.clean = false
		g.report(offset, KindField, id, "left out a record: %s", f.detail)
		return nil
	}
	set := func(name, value string) {
		p.drop, p.add, p.exact = append(p.drop, name), append(p.add, Field{name, value}), false
	}
	if claimed != p.length {
		was := "nothing"
		if claimed >= 0 {
			was = strconv.FormatInt(claimed, 10)
		}
		g.report(offset, KindFormat, id, "Content-Length is %d, where it was %s", p.length, was)
		set("Content-Length", strconv.FormatInt(p.length, 10))
	} else if !p.exact {
		g.report(offset, KindEnd, id, "two empty lines end the record")
	}
	for _, c := range wrong {
		if c.field == payloadDigest && rec.truncated() != "" {
			continue // may be of what was cut off, too
		}
		g.report(offset, KindDigest, id, "left out %s %.200s, which is not that of the record", c.field, c.text)
		p.drop, p.exact = append(p.drop, c.field), false
	}
	key := idKey(id)
	if _, twice := g.seen[key]; id == "" || twice {
		was := id
		id = madeID(g.seen, "%d %d %d", g.Whole+g.Mended, p.pos, p.length)
		key = idKey(id)
		kind := KindDuplicate
		if was == "" {
			kind = KindField
		}
		g.report(offset, kind, was, "WARC-Record-ID is %s now", id)
		set("WARC-Record-ID", id)
	}
	if len(g.seen) < maxIDs {
		g.seen[key] = struct{}{}
	}
	g.pieces++
	switch {
	case g.packed && g.pieces == 1:
		g.waiting = p
		return nil
	case g.packed && g.pieces == 2:
		if err := g.write(g.waiting); err != nil {
			return err
		}
	}
	return g.write(p)
}

// write writes a record: in a member of its own, if the file is packed.
func (g *group) write(p piece) error {
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

// member begins a member for so many bytes. Closing it ends it.
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

// nopCloser is a member of a plain file.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// edited is the header of a record with some fields changed; all others stay as
// they stand.
func (g *group) edited(p piece) ([]byte, error) {
	header := make([]byte, p.begin-p.pos)
	if _, err := io.ReadFull(io.NewSectionReader(g.data, p.pos, p.begin-p.pos), header); err != nil || len(p.drop) == 0 {
		return header, err
	}
	var out []byte
	dropping := false
	for line := range bytes.Lines(header) {
		if text, _, _ := cutLine(line); len(text) == 0 {
			break
		}
		// A line without a name says nothing, and what is folded behind it belongs
		// to the field before, as it does for a Reader.
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
