package archive

import (
	ziparchive "archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
)

const (
	waczVersion = "1.1.1"

	// An index of at most so many captures is packed as it is, which every
	// reader searches rightly; a larger one as blocks of so many lines, which
	// are loaded when they are needed. Readers make the key of a block in ways
	// that differ in small things (whether "/a/" ends in a slash), so that they
	// may look for an address in the wrong block.
	maxPlainIndex = 20_000
	indexBlock    = 3_000
)

// PackOptions are the parameters of a [Packer].
type PackOptions struct {
	Title    string
	Software string

	// Created is when the package says that it was made; zero means the time of
	// its newest capture, so that the same archives make the same package.
	Created time.Time

	// Temp is a directory for temporary files, about as large as the archives
	// that cannot be packed as they are; empty: that of the system.
	Temp string

	// Report, if not nil, is called for each fault of an archive.
	Report func(archive string, err error)
}

// A PackedPage is a line of the list of pages: what a reader begins with.
type PackedPage struct {
	ID         string             `json:"id"` // made of URL and Time if empty
	URL        string             `json:"url"`
	Time       string             `json:"ts"` // RFC 3339, of the capture
	Title      string             `json:"title,omitempty"`
	Score      *float64           `json:"score,omitempty"`
	Scores     map[string]float64 `json:"scores,omitempty"`
	Relevant   *bool              `json:"relevant,omitempty"`
	Generation int                `json:"generation,omitempty"`
	Depth      int                `json:"depth,omitempty"`
	Operator   string             `json:"operator,omitempty"`
}

// A Packer writes a WACZ file (Web Archive Collection Zipped, version 1.1.1):
// archives, an index of all of them, a list of pages, and a description with a
// digest of each. Memory does not grow with the archives.
//
// The same calls make the same bytes.
type Packer struct {
	options  PackOptions
	zip      *ziparchive.Writer
	out      *countingWriter
	names    map[string]bool // of archives
	lines    sorter
	captures int64
	newest   string // timestamp
	pages    spool
	listed   map[pageKey]listed
	read     int64 // records
	files    []resource
	scratch  []byte
}

// A resource is a file in the package.
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// NewPacker returns a Packer that writes to w.
func NewPacker(w io.Writer, o PackOptions) *Packer {
	out := &countingWriter{w: w}
	return &Packer{
		options: o,
		zip:     ziparchive.NewWriter(out),
		out:     out,
		names:   map[string]bool{},
		lines:   sorter{dir: o.Temp, chunk: chunkSize},
		pages:   spool{dir: o.Temp},
		listed:  map[pageKey]listed{},
		scratch: make([]byte, 1<<20),
	}
}

// Size is how many bytes have been written.
func (p *Packer) Size() int64 { return p.out.n }

// Read is how many records of the archives have been read.
func (p *Packer) Read() int64 { return p.read }

// Pages is how many pages are listed.
func (p *Packer) Pages() int64 { return int64(len(p.listed)) }

// A countingWriter counts what passes.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// Archive packs a volume: as it is if that is one gzip member a record, as readers
// need it, else its records, each in a member of its own. A pipe is read to a
// temporary file first.
func (p *Packer) Archive(ctx context.Context, v *Volume) error {
	data, ok := v.Data.(*io.SectionReader)
	if !ok {
		file, err := p.temp()
		if err != nil {
			return err
		}
		defer file.Close()
		n, err := io.CopyBuffer(onlyWriter{file}, reading{ctx, v.Data}, p.scratch)
		if err != nil {
			return fmt.Errorf("%s: %w", v.Path, err)
		}
		data = io.NewSectionReader(file, 0, n)
	}
	// The lines count only when it is known that all records are alone.
	lines, err := p.temp()
	if err != nil {
		return err
	}
	defer lines.Close()
	w := bufio.NewWriter(lines)
	name := p.name(v.Name)
	found, err := p.index(ctx, &Volume{Path: v.Path, Data: data}, name, true, func(line []byte) error {
		_, err := w.Write(line)
		return err
	})
	if _, e := data.Seek(0, io.SeekStart); err == nil {
		err = e
	}
	if errors.Is(err, errShared) {
		return p.Records(ctx, &Volume{Path: v.Path, Name: v.Name, Data: data}, nil)
	}
	if err != nil {
		return err
	}
	if err := cmp.Or(w.Flush(), p.take(lines)); err != nil {
		return err
	}
	p.count(found)
	p.read += found.Records
	return p.store(ctx, "archive/"+name, data)
}

// A tempFile is removed when it is closed.
type tempFile struct{ *os.File }

func (f tempFile) Close() error { return cmp.Or(f.File.Close(), os.Remove(f.Name())) }

func (p *Packer) temp() (tempFile, error) {
	f, err := os.CreateTemp(p.options.Temp, ".warc-*")
	return tempFile{f}, err
}

// Records packs the records of a volume that keep tells to, nil means all, each
// in a gzip member of its own. Records that are torn are left out.
func (p *Packer) Records(ctx context.Context, v *Volume, keep func(*Record) bool) error {
	packed, err := p.temp()
	if err != nil {
		return err
	}
	defer packed.Close()
	if err := p.repack(ctx, packed, v, keep); err != nil {
		return err
	}
	n, err := packed.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	name, data := p.name(v.Name), io.NewSectionReader(packed, 0, n)
	found, err := p.index(ctx, &Volume{Path: v.Path, Data: data}, name, false, p.lines.add)
	if err != nil {
		return err
	}
	p.count(found)
	if _, err := data.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return p.store(ctx, "archive/"+name, data)
}

// repack writes records, each in a gzip member of its own.
func (p *Packer) repack(ctx context.Context, w io.Writer, v *Volume, keep func(*Record) bool) error {
	block := spool{dir: p.options.Temp}
	defer block.Close()
	out := bufio.NewWriterSize(w, 1<<20)
	gz, err := gzip.NewWriterLevel(out, DefaultLevel)
	if err != nil {
		return err
	}
	for rec, err := range v.Records() {
		if err == nil {
			p.read++
			err = context.Cause(ctx)
		}
		if err == nil && (keep == nil || keep(rec)) {
			block.reset()
			if _, err = io.CopyBuffer(onlyWriter{&block}, onlyReader{rec}, p.scratch); err == nil || err == io.ErrUnexpectedEOF {
				err = rec.Close()
			}
			if err == nil {
				gz.Reset(out)
				err = cmp.Or(writeRecord(gz, rec, block.section(0, block.size), block.size), gz.Close())
			}
		}
		if fault, ok := errors.AsType[*FormatError](err); ok {
			p.report(v.Path, fault)
		} else if err != nil {
			return err
		}
	}
	return out.Flush()
}

// reading is a reader that fails once its context has ended.
type reading struct {
	ctx context.Context
	io.Reader
}

func (r reading) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// onlyReader hides what else a reader can do, so that io.CopyBuffer uses the buffer.
type onlyReader struct{ io.Reader }

// writeRecord writes a record with the header of rec and another block. What was
// an ARC record gets what it lacks.
func writeRecord(w io.Writer, rec *Record, block io.Reader, length int64) error {
	b := []byte(warcVersion)
	if rec.Version == "ARC" {
		id := madeID(nil, "%d %s %s", rec.Offset, rec.TargetURI(), rec.Header.Get("WARC-Date"))
		b = appendField(b, "WARC-Record-ID", id)
	} else {
		b = append(append(b[:0], "WARC/"+rec.Version...), '\r', '\n')
	}
	for _, f := range rec.Header {
		if !strings.EqualFold(f.Name, "Content-Length") {
			b = appendField(b, f.Name, f.Value)
		}
	}
	b = appendField(b, "Content-Length", strconv.FormatInt(length, 10))
	_, err := w.Write(append(b, '\r', '\n'))
	if err == nil {
		_, err = io.Copy(w, block)
	}
	if err == nil {
		_, err = io.WriteString(w, blockEnd)
	}
	return err
}

// madeID is an identifier made of what there is, the same each time; if it is
// among those that are known, another.
func madeID(known map[uint64]struct{}, format string, args ...any) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(fmt.Appendf(nil, format, args...), " %d", n))
		made := uuid(sum[:len(uuid{})])
		made[6] = made[6]&0x0f | 0x80 // version 8 of RFC 9562
		made[8] = made[8]&0x3f | 0x80
		id := string(made.appendURN(nil))
		if _, taken := known[idKey(id)]; !taken {
			return id
		}
	}
}

// name is a name in the package for an archive, which no other has and every
// reader takes.
func (p *Packer) name(base string) string {
	base = strings.TrimSuffix(base[strings.LastIndexByte(base, '/')+1:], openSuffix)
	base = strings.Map(func(c rune) rune {
		if c == '\\' || c == utf8.RuneError || unicode.IsControl(c) {
			return '_'
		}
		return c
	}, base)
	for _, suffix := range []string{".gz", ".zst", ".warc", ".arc"} {
		base = strings.TrimSuffix(base, suffix)
	}
	name := base + ".warc.gz"
	for n := 2; p.names[name]; n++ {
		name = fmt.Sprintf("%s-%d.warc.gz", base, n)
	}
	return name
}

// errShared says that a file is not one gzip member a record.
var errShared = errors.New("records share their members")

// indexed counts what was found in an archive.
type indexed struct {
	Meta
	newest string // timestamp
}

func (p *Packer) count(found indexed) {
	p.captures += found.Captures
	p.newest = max(p.newest, found.newest)
}

// index makes the lines of an archive. If it is to be packed as it is, a record
// that is not alone in a gzip member is errShared, and so is an ARC record.
func (p *Packer) index(ctx context.Context, v *Volume, name string, asIs bool, add func([]byte) error) (found indexed, err error) {
	b := indexer{name: name, add: add, meta: &found.Meta}
	for rec, err := range v.Records() {
		if err == nil {
			found.Records++
			err = context.Cause(ctx)
		}
		if err == nil {
			if asIs && (rec.r.m.format != gzipped || rec.Version == "ARC") {
				return found, errShared
			}
			if date := rec.Date(); !date.IsZero() {
				found.newest = max(found.newest, date.Format(timestampLayout))
			}
			if err = b.take(rec); err == nil && asIs && (rec.Length == 0 || rec.r.m.start != rec.Offset) {
				return found, errShared
			}
		}
		if fault, ok := errors.AsType[*FormatError](err); ok {
			p.report(v.Path, fault)
		} else if err != nil {
			return found, err
		}
	}
	return found, b.settle()
}

func (p *Packer) report(name string, err error) {
	if p.options.Report != nil {
		p.options.Report(name, err)
	}
}

// take adds the lines in f to the index.
func (p *Packer) take(f tempFile) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := run{r: bufio.NewReader(f.File)}
	for {
		err := r.next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = p.lines.add(r.line)
		}
		if err != nil {
			return err
		}
	}
}

// Page adds a page to the list. Of several with the same ID the one with the best
// score stays, the first of those. It takes about 60 bytes of memory.
func (p *Packer) Page(page PackedPage) error {
	if page.ID == "" {
		sum := sha256.Sum256([]byte(page.URL + " " + page.Time))
		page.ID = hex.EncodeToString(sum[:10])
	}
	line := listed{p.pages.size, math.Inf(-1)}
	if page.Score != nil {
		line.score = *page.Score
	}
	sum := sha256.Sum256([]byte(page.ID))
	key := pageKey(sum[:len(pageKey{})])
	if before, twice := p.listed[key]; twice && before.score >= line.score {
		return nil
	}
	p.listed[key] = line
	return writeJSON(&p.pages, page)
}

// A pageKey stands for the ID of a page.
type pageKey [16]byte

// A listed page is a line of the list that is to come.
type listed struct {
	at    int64 // in the spool, which also holds lines that a better one replaced
	score float64
}

// writeListed writes the lines that stay, in their order.
func (p *Packer) writeListed(w io.Writer) error {
	places := make([]int64, 0, len(p.listed))
	for _, line := range p.listed {
		places = append(places, line.at)
	}
	slices.Sort(places)
	in := bufio.NewReader(p.pages.section(0, p.pages.size))
	at := int64(0)
	for _, place := range places {
		for stays := false; !stays; {
			stays = at == place
			for {
				b, err := in.ReadSlice('\n')
				if err != nil && err != bufio.ErrBufferFull {
					return noEOF(err)
				}
				at += int64(len(b))
				if stays {
					if _, err := w.Write(b); err != nil {
						return err
					}
				}
				if err == nil {
					break
				}
			}
		}
	}
	return nil
}

// writeJSON writes v as one line.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// create begins a file of the package. All have the oldest time that a zip file
// can say.
func (p *Packer) create(path string, method uint16) (*entryWriter, error) {
	w, err := p.zip.CreateHeader(&ziparchive.FileHeader{Name: path, Method: method, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
	return &entryWriter{path: path, w: w, sum: sha256.New()}, err
}

// An entryWriter is a file of the package that is being written.
type entryWriter struct {
	path string
	w    io.Writer
	sum  hash.Hash
	n    int64
}

func (e *entryWriter) Write(b []byte) (int, error) {
	n, err := e.w.Write(b)
	e.sum.Write(b[:n])
	e.n += int64(n)
	return n, err
}

// done lists the file among the resources.
func (p *Packer) done(e *entryWriter) {
	p.files = append(p.files, resource{e.path[strings.LastIndexByte(e.path, '/')+1:], e.path, labelSHA256(e.sum), e.n})
}

func labelSHA256(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// store packs a file without compressing it.
func (p *Packer) store(ctx context.Context, path string, src io.Reader) error {
	if name, ok := strings.CutPrefix(path, "archive/"); ok {
		p.names[name] = true
	}
	e, err := p.create(path, ziparchive.Store)
	if err == nil {
		_, err = io.CopyBuffer(onlyWriter{e}, reading{ctx, src}, p.scratch)
	}
	p.done(e)
	return err
}

// onlyWriter hides what else a writer can do, so that io.CopyBuffer uses the buffer.
type onlyWriter struct{ io.Writer }

// Close writes the index, the list of pages and the description, and removes
// the temporary files. The package is not whole before it has returned nil.
func (p *Packer) Close() error {
	defer p.Abort()
	for _, step := range []func() error{p.writeIndex, p.writePages, p.describe, p.zip.Close} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Abort removes the temporary files of a package that is not to be finished.
func (p *Packer) Abort() {
	p.lines.close()
	p.pages.Close()
}

// writeIndex writes the lines of all archives.
func (p *Packer) writeIndex() error {
	if p.captures <= maxPlainIndex {
		e, err := p.create("indexes/index.cdxj", ziparchive.Deflate)
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(e, 1<<16)
		err = cmp.Or(p.lines.write(w), w.Flush())
		p.done(e)
		return err
	}
	e, err := p.create("indexes/index.cdx.gz", ziparchive.Store)
	if err != nil {
		return err
	}
	b := blocks{w: e, dir: spool{dir: p.options.Temp}}
	defer b.dir.Close()
	if err := cmp.Or(b.head(), p.lines.write(&b), b.flush()); err != nil {
		return err
	}
	p.done(e)
	if e, err = p.create("indexes/index.idx", ziparchive.Deflate); err != nil {
		return err
	}
	_, err = io.Copy(e, b.dir.section(0, b.dir.size))
	p.done(e)
	return err
}

// blocks writes an index as gzip members of indexBlock lines, and another of
// their first lines.
type blocks struct {
	w      io.Writer
	dir    spool
	first  []byte // key and timestamp of the block
	lines  int
	buf    bytes.Buffer // the block
	packed bytes.Buffer
	at     int64
}

const indexName = "index.cdx.gz"

func (b *blocks) head() error {
	_, err := fmt.Fprintf(&b.dir, "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": %q}\n", indexName)
	return err
}

// Write takes one line.
func (b *blocks) Write(line []byte) (int, error) {
	if b.lines == 0 {
		key, rest, _ := bytes.Cut(line, []byte(" "))
		timestamp, _, _ := bytes.Cut(rest, []byte(" "))
		b.first = slices.Concat(key, []byte(" "), timestamp)
	}
	b.buf.Write(line)
	if b.lines++; b.lines < indexBlock {
		return len(line), nil
	}
	return len(line), b.flush()
}

// flush writes the block.
func (b *blocks) flush() error {
	if b.lines == 0 {
		return nil
	}
	b.packed.Reset()
	gz, err := gzip.NewWriterLevel(&b.packed, DefaultLevel)
	if err != nil {
		return err
	}
	if _, err := gz.Write(b.buf.Bytes()); err != nil {
		return err
	}
	if err := gz.Close(); err != nil {
		return err
	}
	sum := sha256.Sum256(b.packed.Bytes())
	if _, err := fmt.Fprintf(&b.dir, "%s {\"offset\": %d, \"length\": %d, \"digest\": \"sha256:%x\", \"filename\": %q}\n",
		b.first, b.at, b.packed.Len(), sum, indexName); err != nil {
		return err
	}
	b.at += int64(b.packed.Len())
	b.lines = 0
	b.buf.Reset()
	_, err = b.w.Write(b.packed.Bytes())
	return err
}

// writePages writes the list of pages.
func (p *Packer) writePages() error {
	e, err := p.create("pages/pages.jsonl", ziparchive.Deflate)
	if err != nil {
		return err
	}
	head := struct {
		Format string `json:"format"`
		ID     string `json:"id"`
		Title  string `json:"title"`
	}{"json-pages-1.0", "pages", "All Pages"}
	if err := writeJSON(e, head); err != nil {
		return err
	}
	w := bufio.NewWriterSize(e, 1<<16)
	err = cmp.Or(p.writeListed(w), w.Flush())
	p.done(e)
	return err
}

// describe writes the description and its digest.
func (p *Packer) describe() error {
	created := p.options.Created
	if created.IsZero() {
		created, _ = time.Parse(timestampLayout, p.newest) // no capture: the zero time
	}
	text, err := json.MarshalIndent(struct {
		Profile   string     `json:"profile"`
		Version   string     `json:"wacz_version"`
		Title     string     `json:"title"`
		Created   string     `json:"created"`
		Software  string     `json:"software"`
		Resources []resource `json:"resources"`
	}{"data-package", waczVersion, p.options.Title, created.UTC().Format(time.RFC3339), p.options.Software, p.files}, "", "  ")
	if err != nil {
		return err
	}
	e, err := p.create(descriptionName, ziparchive.Deflate)
	if err != nil {
		return err
	}
	if _, err := e.Write(append(text, '\n')); err != nil {
		return err
	}
	digest, err := p.create(descriptionSum, ziparchive.Deflate)
	if err != nil {
		return err
	}
	return writeJSON(digest, struct {
		Path string `json:"path"`
		Hash string `json:"hash"`
	}{descriptionName, labelSHA256(e.sum)})
}
