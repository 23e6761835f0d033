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
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"spoor/internal/weburl"
)

const (
	waczVersion = "1.1.1"

	// An index of at most maxPlainIndex captures is packed as plain text, which all readers
	// search correctly. A larger index is split into compressed blocks of indexBlock lines, which
	// readers load when needed. Readers compute the key of a block in slightly different ways
	// (whether "/a/" ends in a slash), so they may search the wrong block.
	maxPlainIndex = 20_000
	indexBlock    = 3_000
)

// PackOptions are the parameters of a [Packer].
type PackOptions struct {
	Title    string
	Software string

	// Created is the creation time in the description. Zero means the time of the newest
	// capture, so that the same archives result in the same package.
	Created time.Time

	// Temp is the directory for temporary files, which are as large as the archives that must
	// be recompressed. Empty means the system's temporary directory.
	Temp string

	// Report, if not nil, is called for each fault of an archive.
	Report func(archive string, err error)
}

// A PackedPage is a line of the list of pages.
type PackedPage struct {
	ID         string             `json:"id"` // computed from URL and Time if empty
	URL        string             `json:"url"`
	Time       string             `json:"ts"` // time of the capture, RFC 3339
	Title      string             `json:"title,omitempty"`
	Score      *float64           `json:"score,omitempty"`
	Scores     map[string]float64 `json:"scores,omitempty"`
	Relevant   *bool              `json:"relevant,omitempty"`
	Generation int                `json:"generation,omitempty"`
	Depth      int                `json:"depth,omitempty"`
	Operator   string             `json:"operator,omitempty"`
}

// A Packer writes a WACZ file (Web Archive Collection Zipped, version 1.1.1): archives, their
// index, a list of pages, and a description with digests. The index lists URLs as archived. It
// omits 304 responses and partial 206 responses. Memory does not grow with the archives.
//
// A Packer returned by [NewWARCPacker] writes a WARC file of the records instead.
//
// The same calls write the same bytes.
type Packer struct {
	options  PackOptions
	warc     bool
	zip      *ziparchive.Writer
	out      *countingWriter
	names    map[string]bool // names of archives
	lines    sorter
	captures int64
	newest   string // timestamp of the newest capture
	pages    spool
	listed   map[pageKey]listedPage
	spelled  map[string][]string // other spellings of canonical URLs

	spelledSize int // of spelled, in bytes

	read    int64 // number of records that were read
	packed  int64 // number of records that were repacked
	files   []resource
	scratch []byte
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
		listed:  map[pageKey]listedPage{},
		spelled: map[string][]string{},
		scratch: make([]byte, 1<<20),
	}
}

// NewWARCPacker returns a Packer that writes the records to a WARC file, each in its own gzip member. It
// ignores the title, the creation time and the pages.
func NewWARCPacker(w io.Writer, o PackOptions) *Packer {
	p := NewPacker(w, o)
	p.warc = true
	return p
}

// Size returns the number of bytes written.
func (p *Packer) Size() int64 { return p.out.n }

// Read returns the number of records read from archives.
func (p *Packer) Read() int64 { return p.read }

// Repacked returns the number of records that were written each in its own gzip member. Records of
// copied archives are not among them.
func (p *Packer) Repacked() int64 { return p.packed }

// Pages returns the number of listed pages.
func (p *Packer) Pages() int64 { return int64(len(p.listed)) }

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// maxSpelled limits the other spellings of URLs, in bytes. Further ones are not in the index.
const maxSpelled = 32 << 20

// Spelling adds another spelling of a canonical URL, as in a link: replayers compare URLs letter by
// letter, so the captures of the URL are listed in the index under both.
func (p *Packer) Spelling(url, spelling string) {
	size := len(url) + len(spelling) + 64
	if p.spelledSize+size > maxSpelled || len(p.spelled[url]) == 8 || slices.Contains(p.spelled[url], spelling) {
		return
	}
	p.spelledSize += size
	p.spelled[url] = append(p.spelled[url], spelling)
}

// addSpellings adds lines for the other spellings of the URLs in the index.
func (p *Packer) addSpellings() error {
	if len(p.spelled) == 0 {
		return nil
	}
	sorted := spool{dir: p.options.Temp}
	defer sorted.Close()
	w := bufio.NewWriter(&sorted)
	if err := cmp.Or(p.lines.write(w), w.Flush()); err != nil {
		return err
	}
	p.lines.close()
	p.lines = sorter{dir: p.options.Temp, chunk: chunkSize}
	return p.take(&sorted, func(line []byte) error {
		c, err := parseLine(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			return err
		}
		archived := c.URL
		url, err := weburl.Canonical(archived)
		for _, spelling := range p.spelled[url] {
			if c.URL = spelling; err != nil || spelling == archived {
				continue
			}
			// The key is that of ReplayWeb.page, which searches compressed indexes, and does not
			// decode escapes.
			key, rest, _ := bytes.Cut(c.appendLine(nil), []byte(" "))
			host, _, _ := bytes.Cut(key, []byte(")"))
			_, path, _ := strings.Cut(spelling[len("https://"):], "/")
			if err := p.lines.add(fmt.Appendf(nil, "%s)/%s %s", host, strings.ToLower(path), rest)); err != nil {
				return err
			}
		}
		return p.lines.add(line)
	})
}

// Archive packs a volume. Readers require that each record has its own gzip member. If this is so,
// and no record is damaged, Archive copies the volume; otherwise it recompresses the whole records. It
// first saves a pipe to a temporary file.
func (p *Packer) Archive(ctx context.Context, v *Volume) error {
	if p.warc {
		return p.Records(ctx, v, nil)
	}
	data, ok := v.Data.(*io.SectionReader)
	if !ok {
		file := spool{dir: p.options.Temp}
		defer file.Close()
		if _, err := io.CopyBuffer(onlyWriter{&file}, reading{ctx, v.Data}, p.scratch); err != nil {
			return fmt.Errorf("%s: %w", v.Path, err)
		}
		data = file.section(0, file.size)
	}
	// The lines are used only if the volume can be copied.
	lines := spool{dir: p.options.Temp}
	defer lines.Close()
	w := bufio.NewWriter(&lines)
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
	if err := cmp.Or(w.Flush(), p.take(&lines, p.lines.add)); err != nil {
		return err
	}
	p.count(found)
	p.read += found.Records
	return p.store(ctx, "archive/"+name, data)
}

// Records packs the records of a volume that keep selects (all records if keep is nil), each in its
// own gzip member. It omits truncated records.
func (p *Packer) Records(ctx context.Context, v *Volume, keep func(*Record) bool) error {
	if p.warc {
		return p.repack(ctx, p.out, v, keep)
	}
	packed := spool{dir: p.options.Temp}
	defer packed.Close()
	if err := p.repack(ctx, &packed, v, keep); err != nil {
		return err
	}
	name, data := p.name(v.Name), packed.section(0, packed.size)
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

// repack writes each record in its own gzip member.
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
				p.packed++
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

// reading is a reader that fails when its context is done.
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

// onlyReader hides all other methods of a reader, so that io.CopyBuffer uses the buffer.
type onlyReader struct{ io.Reader }

// writeRecord writes a record with the header of rec and another block. It adds fields that an ARC
// record does not have.
func writeRecord(w io.Writer, rec *Record, block io.Reader, length int64) error {
	b := []byte(warcVersion)
	if rec.Version == "ARC" {
		id := derivedID(nil, "%d %s %s", rec.Offset, rec.TargetURI(), rec.Header.Get("WARC-Date"))
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

// derivedID returns an identifier that is computed from the arguments, and differs from all identifiers
// in known.
func derivedID(known map[uint64]struct{}, format string, args ...any) string {
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

// name returns the name of an archive in the package. The name is unique, and contains only characters
// that all readers accept.
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

// errShared is returned for a volume in which not every record has its own gzip member, or with damaged
// records, which must not be copied.
var errShared = errors.New("records share their members, or are damaged")

// indexed counts what was found in a volume.
type indexed struct {
	Meta
	newest string // timestamp
}

func (p *Packer) count(found indexed) {
	p.captures += found.Captures
	p.newest = max(p.newest, found.newest)
}

// index adds the index lines of a volume. If copied is true, it returns errShared for an ARC record,
// for a record that shares its gzip member, and for damage.
func (p *Packer) index(ctx context.Context, v *Volume, name string, copied bool, add func([]byte) error) (found indexed, err error) {
	b := indexer{name: name, add: add, meta: &found.Meta, packed: true}
	for rec, err := range v.Records() {
		if err == nil {
			found.Records++
			err = context.Cause(ctx)
		}
		if err == nil {
			if copied && (rec.r.m.format != gzipped || rec.Version == "ARC") {
				return found, errShared
			}
			if date := rec.Date(); !date.IsZero() {
				found.newest = max(found.newest, date.Format(timestampLayout))
			}
			if err = b.take(rec); copied && (rec.Length == 0 || rec.spread) {
				return found, errShared
			}
		}
		if fault, ok := errors.AsType[*FormatError](err); ok {
			if copied && rec == nil {
				return found, errShared
			}
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

// take calls add with each line.
func (p *Packer) take(lines *spool, add func([]byte) error) error {
	r := run{r: bufio.NewReader(lines.section(0, lines.size))}
	for {
		err := r.next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = add(r.line)
		}
		if err != nil {
			return err
		}
	}
}

// Page adds a page to the list. If several pages have the same ID, the first with the best score is
// listed. Each page uses about 70 bytes of memory.
func (p *Packer) Page(page PackedPage) error {
	if page.ID == "" {
		sum := sha256.Sum256([]byte(page.URL + " " + page.Time))
		page.ID = hex.EncodeToString(sum[:10])
	}
	line := listedPage{at: p.pages.size, score: math.Inf(-1)}
	if page.Score != nil {
		line.score = *page.Score
	}
	sum := sha256.Sum256([]byte(page.ID))
	key := pageKey(sum[:len(pageKey{})])
	if before, twice := p.listed[key]; twice && before.score >= line.score {
		return nil
	}
	err := writeJSON(&p.pages, page)
	line.length = p.pages.size - line.at
	p.listed[key] = line
	return err
}

// A pageKey is a hash of the ID of a page.
type pageKey [16]byte

type listedPage struct {
	at, length int64 // position in the spool, which also contains replaced lines
	score      float64
}

// writeListed writes the lines that were not replaced, in the order in which they were added.
func (p *Packer) writeListed(w io.Writer) error {
	lines := slices.SortedFunc(maps.Values(p.listed), func(a, b listedPage) int { return cmp.Compare(a.at, b.at) })
	for _, line := range lines {
		if _, err := io.CopyN(w, p.pages.section(line.at, line.length), line.length); err != nil {
			return noEOF(err)
		}
	}
	return nil
}

// writeJSON writes v as one line.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// create starts a file of the package. All files get the earliest time that a zip file can
// represent.
func (p *Packer) create(path string, method uint16) (*entryWriter, error) {
	w, err := p.zip.CreateHeader(&ziparchive.FileHeader{Name: path, Method: method, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
	sum := sha256.New()
	return &entryWriter{path, sum, countingWriter{w: io.MultiWriter(w, sum)}}, err
}

type entryWriter struct {
	path string
	sum  hash.Hash
	countingWriter
}

// done adds the file to the description.
func (p *Packer) done(e *entryWriter) {
	p.files = append(p.files, resource{e.path[strings.LastIndexByte(e.path, '/')+1:], e.path, labelSHA256(e.sum), e.n})
}

func labelSHA256(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// store adds a file without compression.
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

// onlyWriter hides all other methods of a writer, so that io.CopyBuffer uses the buffer.
type onlyWriter struct{ io.Writer }

// Close writes the index, the list of pages and the description, and removes temporary files.
// The package is complete only if Close returns nil.
func (p *Packer) Close() error {
	defer p.Abort()
	if p.warc {
		return nil
	}
	for _, step := range []func() error{p.addSpellings, p.writeIndex, p.writePages, p.describe, p.zip.Close} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Abort removes the temporary files of a package that will not be completed.
func (p *Packer) Abort() {
	p.lines.close()
	p.pages.Close()
}

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
	fmt.Fprintf(&b.dir, "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": %q}\n", indexName) // cannot fail: the line is short and stays in memory
	if err := cmp.Or(p.lines.write(&b), b.flush()); err != nil {
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

// blocks writes an index as gzip members of indexBlock lines, and a secondary index of their
// first lines.
type blocks struct {
	w      io.Writer
	dir    spool
	first  []byte // key and timestamp of the first line of the block
	lines  int
	buf    bytes.Buffer // the block
	packed bytes.Buffer
	at     int64
}

const indexName = "index.cdx.gz"

// Write adds a line.
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
		created, _ = time.Parse(timestampLayout, p.newest) // zero if there is no capture
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
