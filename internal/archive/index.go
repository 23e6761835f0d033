package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"spoor/internal/lock"
	"spoor/internal/message"
	"spoor/internal/weburl"
)

// indexVersion is stored in the first line of each index. An index with another version is rebuilt.
const indexVersion = 6

// indexSuffix is the suffix of the index beside an archive.
const indexSuffix = ".cdxj"

// timestampLayout is the layout of timestamps in an index, in UTC.
const timestampLayout = "20060102150405"

// A Meta is the first line of an index, after "!meta ". It describes the archive and sorts
// before all keys.
type Meta struct {
	Version  int    `json:"spoor-cdxj"`
	Size     int64  `json:"size"`     // size of the archive in bytes
	Modified int64  `json:"mtime"`    // modification time of the archive, in nanoseconds since 1970
	Bytes    int64  `json:"bytes"`    // size of the index in bytes, to detect a truncated index
	Records  int64  `json:"records"`  // number of records of any type in the archive
	Captures int64  `json:"captures"` // number of lines of the index, without the first
	Faults   int64  `json:"faults"`   // number of faults that the reader found
	CRC32C   uint32 `json:"crc32c"`   // checksum of the lines after the first
}

// An Index is a sorted CDXJ file:
//
//	com,example)/a 20260102030405 {"url":"http://example.com/a","mime":"text/html","status":"200","digest":"…","length":"1043","offset":"333","filename":"x.warc.gz"}
//
// It has the format of pywb with three differences: url is canonical; "redirect" is the canonical
// target of a redirect; "partial" marks a part of a page; and for a record that shares its gzip
// member, length is 0 and "skip" is the number of decompressed bytes before the record. A WACZ has
// one index for all its archives: filename is the name of the archive inside, and offset is
// relative to its start.
//
// An index contains the responses to GET: http and https responses, resources and revisits.
// Lookups search the file on disk.
//
// The file may come from an untrusted source. A [Replay] compares each line that it uses with the
// record, and rebuilds the index if they differ. A Replay does not detect missing lines; a
// [Verifier] does.
type Index struct {
	Meta     Meta
	Path     string // path of the file; empty if the index could not be written
	WriteErr error  // why the index could not be written

	data    []byte
	first   int // offset of the first key
	release func() error
	file    os.FileInfo // describes the file at Path

	lookups    atomic.Int64 // until the filter is made
	filterOnce sync.Once
	filter     keyFilter // see mayHave

	// If the file is truncated while it is mapped, or does not match the archive, the index is
	// rebuilt, once.
	build   func(why error) (*Index, error)
	once    sync.Once
	rebuilt atomic.Pointer[Index]
	failed  error // why the index could not be rebuilt
}

// IndexOptions are the options of [OpenIndex].
type IndexOptions struct {
	// Cache is the directory in which indexes are written. It is created if necessary. If Cache is
	// "" or cannot be written, indexes are kept in memory.
	Cache string

	// Beside writes the index beside the archive instead, but never replaces a file of another
	// program.
	Beside bool

	// Report, if not nil, is called for each fault that is found while an archive is indexed.
	Report func(archive string, err error)
}

// OpenIndex opens the index of an archive, beside the archive or in the cache. It builds the index
// if there is none, or if the size or modification time of the archive has changed. If several
// processes open the same index, one builds it and the others wait.
func OpenIndex(archive string, o IndexOptions) (*Index, error) {
	info, err := os.Stat(archive)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file, so records cannot be looked up in it (hint: save it to a regular file, or read all of it)", archive)
	}
	beside := archive + indexSuffix
	places := []string{beside}
	if o.Cache != "" {
		full, err := filepath.Abs(archive)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(full))
		places = append(places, filepath.Join(o.Cache, hex.EncodeToString(sum[:8])+"-"+filepath.Base(archive)+indexSuffix))
	}
	for _, path := range places {
		x, err := openIndex(path, info)
		if err == nil {
			if path != beside {
				MarkUsed(path)
			}
			return x.backedBy(archive, o), nil
		}
		if errors.Is(err, ErrIndexDamaged) && o.Report != nil {
			o.Report(archive, err)
		}
	}
	place := places[len(places)-1]
	if o.Beside {
		place = beside
	} else if place == beside {
		place = "" // there is no cache
	}
	if place == "" {
		return indexInMemory(archive, info, o.Report)
	}
	x, err := buildIndex(archive, place, info, o.Report)
	if full, ok := errors.AsType[*placeError](err); ok {
		if x, err = indexInMemory(archive, info, o.Report); err == nil {
			x.WriteErr = full.error
			return x, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if place != beside {
		sweep(o.Cache)
	}
	return x.backedBy(archive, o), nil
}

// metaStart is the start of the first line of an index.
const metaStart = `!meta {"spoor-cdxj"`

// isOwnIndex reports whether a file is an index that this package has written.
func isOwnIndex(path string) bool {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return startsAsIndex(f)
}

// startsAsIndex reports whether a file starts like an index that this package has written.
func startsAsIndex(f *os.File) bool {
	var head [len(metaStart)]byte
	_, err := f.ReadAt(head[:], 0)
	return err == nil && string(head[:]) == metaStart
}

// removeIndex removes the index beside an archive, unless another program has written it.
func removeIndex(archive string) {
	if path := archive + indexSuffix; isOwnIndex(path) {
		os.Remove(path)
	}
}

// maxUnused is the time for which a file in the cache is kept after its last use.
const maxUnused = 90 * 24 * time.Hour

// MarkUsed sets the time of a file in the cache to now, at most once a day.
func MarkUsed(path string) {
	info, err := os.Stat(path)
	if now := time.Now(); err == nil && now.Sub(info.ModTime()) > 24*time.Hour {
		os.Chtimes(path, now, now) // the file only remains for a shorter time if this fails
	}
}

// cachedFile matches the names of indexes and of link graphs in a cache.
var cachedFile = regexp.MustCompile(`^[0-9a-f]{16}-.*\.(cdxj|graph)(\.part|\.lock)?$`)

// sweep removes the files from a cache that were not used for a long time.
func sweep(cache string) {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !cachedFile.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > maxUnused {
			os.Remove(filepath.Join(cache, e.Name()))
		}
	}
}

// indexInMemory builds the index of an archive in memory.
func indexInMemory(archive string, info os.FileInfo, report func(string, error)) (*Index, error) {
	var b bytes.Buffer
	b.Write(metaLine(Meta{}))
	meta, err := writeIndex(&b, archive, "", info, report)
	if err != nil {
		return nil, err
	}
	copy(b.Bytes(), metaLine(meta))
	return newIndex(b.Bytes(), noRelease)
}

// backedBy sets the archive from which the index is rebuilt if the index file was truncated or does not
// match the archive.
func (x *Index) backedBy(archive string, o IndexOptions) *Index {
	x.build = func(why error) (*Index, error) {
		why = fmt.Errorf("%s: %w: %w", x.Path, why, ErrIndexDamaged)
		if o.Report != nil {
			o.Report(archive, why)
		}
		y, err := x.replace(archive, o)
		if err != nil {
			err = fmt.Errorf("%w, which failed: %w", why, err)
			if o.Report != nil {
				o.Report(archive, err)
			}
			return nil, err
		}
		return y, nil
	}
	return x
}

// replace removes the index file and rebuilds the index of the archive. If the file cannot be removed,
// it builds the index in memory. If another process has replaced the file, it uses the new file.
func (x *Index) replace(archive string, o IndexOptions) (*Index, error) {
	if now, err := os.Stat(x.Path); err == nil && os.SameFile(now, x.file) {
		err = os.Remove(x.Path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			info, err := os.Stat(archive)
			if err != nil {
				return nil, err
			}
			return indexInMemory(archive, info, o.Report)
		}
	}
	return OpenIndex(archive, o)
}

// current returns the rebuilt index, or x if the index was not rebuilt.
func (x *Index) current() *Index {
	if y := x.rebuilt.Load(); y != nil {
		return y
	}
	return x
}

// rebuild rebuilds the index because of the error why, unless it was rebuilt before, and returns the new
// index. If that fails, it returns an index without lines.
func (x *Index) rebuild(why error) *Index {
	x.once.Do(func() {
		y := &Index{release: noRelease}
		if x.build != nil {
			if z, err := x.build(why); err != nil {
				x.failed = err
			} else {
				y = z
			}
		}
		x.rebuilt.Store(y)
	})
	return x.rebuilt.Load()
}

// noRelease is the release function of an index in memory. It does nothing.
func noRelease() error { return nil }

// WriteIndexFiles writes the index of each archive beside the archive, unless the archive has no records.
// It calls report for each fault, for each archive that cannot be read and, with [ErrIndexDamaged], for each
// damaged index, which it replaces.
func WriteIndexFiles(paths []string, report func(path string, err error)) (total Meta, err error) {
	for _, path := range paths {
		x, err := OpenIndex(path, IndexOptions{Beside: true, Report: report})
		if err != nil {
			report(path, err)
			continue
		}
		if x.Path == "" {
			return total, fmt.Errorf("writing the index of %s: %w", path, x.WriteErr)
		}
		total.Records += x.Meta.Records
		total.Captures += x.Meta.Captures
		total.Faults += x.Meta.Faults
		if err := x.Close(); err != nil {
			return total, err
		}
		if x.Meta.Records == 0 {
			removeIndex(path)
		}
	}
	return total, nil
}

// A placeError is returned if an index cannot be written at a path; OpenIndex then tries the next
// path.
type placeError struct{ error }

func (e *placeError) Unwrap() error { return e.error }

// ErrIndexDamaged is reported for an index that belongs to the archive, but was changed.
var ErrIndexDamaged = errors.New("the index is damaged, and is built again from the archive")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// isWhole reports whether the lines of the index begin as lines do, are sorted and have the number and
// checksum in the first line. It returns false if the file is truncated meanwhile.
func (x *Index) isWhole() (ok bool) {
	defer recoverFault(&ok)()
	lines := x.data[x.first:]
	if crc32.Checksum(lines, castagnoli) != x.Meta.CRC32C {
		return false
	}
	var n int64
	var last []byte
	for at := 0; at < len(lines); n++ {
		end := lineEnd(lines, at)
		line := lines[at:end]
		if bytes.Compare(last, line) > 0 || !beginsLine(line) {
			return false
		}
		last, at = line, end+1
	}
	return n == x.Meta.Captures && n <= x.Meta.Records && x.Meta.Faults >= 0
}

// beginsLine reports whether line begins with a SURT, a timestamp and a URL. A capture whose line
// begins otherwise could not be looked up, and therefore would never be compared with the archive.
func beginsLine(line []byte) bool {
	_, rest, _ := bytes.Cut(line, []byte(" "))
	timestamp, object, _ := bytes.Cut(rest, []byte(" "))
	// A year before 0 or after 9999, by a zone, makes a timestamp longer.
	return len(timestamp) >= len(timestampLayout) && bytes.HasPrefix(object, []byte(`{"url":"`))
}

// recoverFault turns faults in memory that is mapped from a truncated file into panics. Without it such
// a fault would end the process. The caller must defer the returned function, which recovers the panic
// and sets ok to false.
func recoverFault(ok *bool) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		switch err := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // see [debug.SetPanicOnFault]
			*ok = false
		default:
			panic(err)
		}
	}
}

// openIndex opens the index at path if it matches the archive.
func openIndex(path string, archive os.FileInfo) (*Index, error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > 1<<40 {
		return nil, fmt.Errorf("%s is no index", path)
	}
	data, release, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil, err
	}
	x, err := newIndex(data, release)
	switch {
	case err != nil:
	case !x.Meta.of(archive):
		err = fmt.Errorf("%s is out of date", path)
	case x.Meta.Bytes != info.Size() || !x.isWhole():
		err = fmt.Errorf("%s: %w", path, ErrIndexDamaged)
	}
	if err != nil {
		release()
		return nil, err
	}
	x.Path, x.file = path, info
	return x, nil
}

func (m Meta) of(archive os.FileInfo) bool {
	return m.Version == indexVersion && m.Size == archive.Size() && m.Modified == archive.ModTime().UnixNano()
}

func newIndex(data []byte, release func() error) (*Index, error) {
	line, _, ok := bytes.Cut(data, []byte("\n"))
	text, found := bytes.CutPrefix(line, []byte("!meta "))
	if !ok || !found {
		return nil, errors.New("index without its first line")
	}
	x := &Index{data: data, first: len(line) + 1, release: release}
	if err := json.Unmarshal(text, &x.Meta); err != nil {
		return nil, fmt.Errorf("first line of the index: %w", err)
	}
	return x, nil
}

// buildIndex builds the index at path. It locks the temporary file, so that only one process builds the
// index.
func buildIndex(archive, path string, info os.FileInfo, report func(string, error)) (*Index, error) {
	if _, err := os.Lstat(path); err == nil && !isOwnIndex(path) {
		return nil, &placeError{fmt.Errorf("%s was written by another program (hint: move it elsewhere; warc index FILE prints an index instead)", path)}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, &placeError{err}
	}
	part := path + ".part"
	for {
		f, err := openFile(part, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, &placeError{err}
		}
		if err := lock.Wait(f); err != nil {
			f.Close()
			return nil, &placeError{err}
		}
		if !isAt(f, part) {
			// Another process finished the index while this process waited.
			f.Close()
			if x, err := openIndex(path, info); err == nil {
				return x, nil
			}
			continue
		}
		// From here on no other process renames the file.
		old, err := f.Stat()
		if err == nil && old.Size() > 0 && !startsAsIndex(f) {
			err = fmt.Errorf("%s was written by another program (hint: move it elsewhere)", part)
		}
		if err != nil {
			f.Close()
			return nil, &placeError{err}
		}
		x, err := fillIndex(f, archive, path, info, report)
		if err != nil {
			os.Remove(part)
		}
		if e := f.Close(); err == nil && e != nil {
			err = e
		}
		return x, err
	}
}

// fillIndex writes the index to f, which is locked, and renames it to path.
func fillIndex(f *os.File, archive, path string, info os.FileInfo, report func(string, error)) (*Index, error) {
	if x, err := openIndex(path, info); err == nil {
		os.Remove(f.Name())
		return x, nil
	}
	if err := f.Truncate(0); err != nil {
		return nil, &placeError{err}
	}
	// The first line contains numbers that are known only at the end.
	w := bufio.NewWriterSize(f, 1<<20)
	if _, err := w.Write(metaLine(Meta{})); err != nil {
		return nil, &placeError{err}
	}
	sum := crc32.New(castagnoli)
	meta, err := writeIndex(io.MultiWriter(w, sum), archive, filepath.Dir(path), info, report)
	if err != nil {
		return nil, err
	}
	meta.CRC32C = sum.Sum32()
	if err := w.Flush(); err != nil {
		return nil, &placeError{err}
	}
	if meta.Bytes, err = f.Seek(0, io.SeekCurrent); err != nil {
		return nil, &placeError{err}
	}
	if _, err := f.WriteAt(metaLine(meta), 0); err != nil {
		return nil, &placeError{err}
	}
	if err := f.Sync(); err != nil { // the other lines must be durable before the first line is written
		return nil, &placeError{err}
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return nil, &placeError{err}
	}
	return openIndex(path, info)
}

// metaLine returns the first line, padded with spaces so that it always has the same length.
func metaLine(m Meta) []byte {
	text, _ := json.Marshal(m) // numbers only: cannot fail
	return fmt.Appendf(nil, "%-255s\n", "!meta "+string(text))
}

// isAt reports whether path is the name of the open file.
func isAt(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// writeIndex writes the sorted lines of an archive. It uses a small multiple of chunkSize of
// memory; more lines are sorted in temporary files in dir.
func writeIndex(w io.Writer, archive, dir string, info os.FileInfo, report func(string, error)) (Meta, error) {
	meta := Meta{Version: indexVersion, Size: info.Size(), Modified: info.ModTime().UnixNano()}
	s := sorter{dir: dir, chunk: chunkSize}
	defer s.close()
	fault := func(name string, err error) {
		meta.Faults++
		if report != nil {
			report(name, err)
		}
	}
	var r Reader
	for v, err := range Volumes([]string{archive}, nil) {
		if _, ok := errors.AsType[*FormatError](err); ok {
			fault(v.Path, err)
			continue
		}
		if err != nil {
			return meta, err
		}
		if err := v.index(&r, &s, &meta, fault); err != nil {
			return meta, fmt.Errorf("indexing %w", err)
		}
	}
	if err := s.write(w); err != nil {
		return meta, &placeError{err}
	}
	return meta, nil
}

// index adds lines for all captures among the records of a reader.
func (b *indexer) index(r *Reader, fault func(error)) error {
	for rec, err := range r.all() {
		if err == nil {
			b.meta.Records++
			err = b.take(rec)
		}
		if f, ok := errors.AsType[*FormatError](err); ok {
			fault(f)
		} else if err != nil {
			return err
		}
	}
	return b.settle()
}

// An indexer creates index lines from records. It delays the line of each response until it has read
// the next record. That may be the request, which excludes the response if its method is not GET.
type indexer struct {
	name    string // name of the archive
	add     func([]byte) error
	meta    *Meta
	waiting *entry
	request request
	packed  bool // lines are for other programs, see [Packer]
	buf     []byte
	line    []byte
}

// A request holds the identifiers that link a request record to its response.
type request struct {
	id         string
	concurrent []string
	method     string
}

// An entry is a capture with the identifiers of its record and of concurrent records.
type entry struct {
	id         string
	concurrent []string
	target     string // URL as archived
	Capture
}

func (r *request) isFor(e *entry) bool {
	return r.id != "" && slices.Contains(e.concurrent, r.id) || e.id != "" && slices.Contains(r.concurrent, e.id)
}

// take adds the line of a record if it is a capture.
func (b *indexer) take(rec *Record) error {
	switch rec.Type() {
	case "request":
		method := method(rec) // "" does not exclude the response
		b.request = request{rec.ID(), rec.Header.Values("WARC-Concurrent-To"), method}
		if b.waiting != nil && b.request.isFor(b.waiting) && method != "" && method != http.MethodGet {
			b.waiting = nil
		}
	case "response", "resource", "revisit":
		e, err := b.entry(rec)
		if e == nil {
			return cmp.Or(err, rec.Close())
		}
		if fault := e.finish(rec); fault != nil {
			if _, ok := errors.AsType[*FormatError](fault); !ok {
				return fault
			}
			err = cmp.Or(err, fault)
		}
		if err := b.settle(); err != nil {
			return err
		}
		if !b.request.isFor(e) || b.request.method == "" || b.request.method == http.MethodGet {
			b.waiting = e
		}
		return err
	}
	return rec.Close()
}

// settle adds the delayed line, if there is one.
func (b *indexer) settle() error {
	e := b.waiting
	if e == nil {
		return nil
	}
	b.waiting = nil
	if b.packed {
		if e.Status == http.StatusNotModified || e.Partial && e.Status == http.StatusPartialContent {
			return nil
		}
		e.URL = e.target
	}
	b.meta.Captures++
	b.line = e.appendLine(b.line[:0])
	if err := b.add(b.line); err != nil {
		return &placeError{err}
	}
	return nil
}

// entry returns the capture in a record, or nil if the record is not a capture of a web page.
func (b *indexer) entry(rec *Record) (*entry, error) {
	url, err := weburl.Canonical(rec.TargetURI())
	if err != nil {
		return nil, unusable(rec, err)
	}
	if cap(b.buf) == 0 {
		b.buf = make([]byte, bufferSize)
	}
	n, err := io.ReadFull(rec, b.buf[:cap(b.buf)])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	e := &entry{id: rec.ID(), concurrent: rec.Header.Values("WARC-Concurrent-To"), target: rec.target()}
	var resp *Response
	e.Capture, resp = describeCapture(rec, url, b.buf[:n])
	e.Filename = b.name
	if e.Digest == "" && !e.Revisit() {
		h := newPayloadSum(sha1.New(), resp.Header)
		h.Write(resp.Raw)
		if _, err := io.CopyBuffer(h, rec, b.buf); err != nil && err != io.ErrUnexpectedEOF {
			return nil, err
		}
		e.Digest = label(h.Sum(nil))
	}
	return e, nil
}

// describeCapture derives the capture of a canonical URL from the header of a record and the first
// [bufferSize] bytes of its block. It also returns the header and the start of the body, as
// received. It does not set Filename and Length. Digest is empty if the record has none.
func describeCapture(rec *Record, url string, head []byte) (c Capture, resp *Response) {
	c = Capture{URL: url, Timestamp: rec.Date().Format(timestampLayout), Offset: rec.Offset, Skip: rec.Skip, Digest: rec.Header.Get("WARC-Payload-Digest")}
	resp = &Response{Raw: head}
	kind := rec.Type()
	switch {
	case kind == "resource":
		c.Status, c.MIME = http.StatusOK, message.MediaType(rec.Header.Get("Content-Type"))
	case kind == "revisit" && len(head) == 0:
		c.MIME = revisitMIME
	default:
		resp = parseHead(head)
		c.Status, c.MIME = resp.StatusCode, message.MediaType(resp.Header["Content-Type"]...)
		c.Redirect = redirect(url, resp)
		c.Partial = resp.StatusCode == http.StatusPartialContent && !isWholeRange(resp.Header.Get("Content-Range"))
		if kind == "revisit" {
			c.MIME = revisitMIME
		}
	}
	if kind != "revisit" { // the block of a revisit is always incomplete
		c.Partial = c.Partial || rec.truncated() != ""
	}
	return c, resp
}

// finish closes the record of a capture, and sets what is known only then.
func (c *Capture) finish(rec *Record) error {
	err := rec.Close()
	c.Length = rec.Length
	c.Partial = c.Partial || rec.short != nil && !c.Revisit()
	return err
}

// isWholeRange reports whether a Content-Range is that of a whole page, as "bytes 0-99/100".
func isWholeRange(s string) bool {
	s, ok := strings.CutPrefix(strings.ToLower(s), "bytes 0-")
	last, size, _ := strings.Cut(s, "/")
	n, err := strconv.ParseInt(last, 10, 64)
	return ok && err == nil && size == strconv.FormatInt(n+1, 10)
}

// unusable returns the fault of a capture with a malformed URL. It returns nil for records of other
// schemes (dns:, ftp:, metadata: and so on).
func unusable(rec *Record, why error) error {
	switch scheme, _, _ := strings.Cut(rec.TargetURI(), "://"); strings.ToLower(scheme) {
	case "http", "https":
		return &FormatError{rec.Offset, fmt.Errorf("a capture with an invalid URL, %.100q: %w", rec.TargetURI(), why)}
	}
	return nil
}

// revisitMIME is the media type of revisits in an index.
const revisitMIME = "warc/revisit"

// redirect returns the canonical target of a redirect, or "".
func redirect(url string, r *Response) string {
	location := message.Location(r.StatusCode, r.Header)
	if location == "" {
		return ""
	}
	base, err := weburl.Parse(url)
	if err != nil {
		return ""
	}
	to, err := weburl.Resolve(base, location)
	if err != nil {
		return ""
	}
	return to.String()
}

// A Capture is a line of an index: a response in an archive.
type Capture struct {
	URL       string // canonical
	Timestamp string // 14 digits, UTC
	MIME      string // media type; "warc/revisit" for a revisit; empty if the response has no media type
	Status    int    // 0 for a revisit without HTTP header
	Digest    string // labelled digest of the payload: "sha1:…"; empty if unknown
	Redirect  string // canonical target, if the response is a redirect
	Filename  string // name of the archive without directory; in a WACZ, of the archive inside
	Offset    int64
	Length    int64 // length of the record in the file; 0 if it shares its member with others
	Skip      int64 // number of decompressed bytes before the record in its member
	Partial   bool  // the page is incomplete: status 206 without the whole, WARC-Truncated, or a torn record

	archive int // index in Replay.archives
	source  int // index in archived.sources
}

// Revisit reports whether the capture is a revisit, whose payload is in another record.
func (c *Capture) Revisit() bool { return c.MIME == revisitMIME }

// Time returns the time of the capture in seconds; zero if its record has no date.
func (c *Capture) Time() time.Time {
	t, _ := time.Parse(timestampLayout, c.Timestamp)
	return t
}

func (c *Capture) appendLine(b []byte) []byte {
	b = append(b, weburl.SURT(c.URL)...)
	b = append(b, ' ')
	b = append(b, c.Timestamp...)
	b = appendMember(b, " {", "url", c.URL)
	b = appendMember(b, ",", "mime", cmp.Or(c.MIME, "-"))
	status := "-"
	if c.Status > 0 {
		status = strconv.Itoa(c.Status)
	}
	b = appendMember(b, ",", "status", status)
	b = appendMember(b, ",", "digest", cmp.Or(strings.TrimPrefix(c.Digest, "sha1:"), "-"))
	b = appendMember(b, ",", "length", strconv.FormatInt(c.Length, 10))
	b = appendMember(b, ",", "offset", strconv.FormatInt(c.Offset, 10))
	b = appendMember(b, ",", "filename", c.Filename)
	if c.Redirect != "" {
		b = appendMember(b, ",", "redirect", c.Redirect)
	}
	if c.Skip > 0 {
		b = appendMember(b, ",", "skip", strconv.FormatInt(c.Skip, 10))
	}
	if c.Partial {
		b = appendMember(b, ",", "partial", "true")
	}
	return append(b, '}', '\n')
}

func appendMember(b []byte, before, name, value string) []byte {
	b = append(b, before...)
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return appendString(b, value)
}

// appendString appends a JSON string. It replaces invalid UTF-8, which would make the index
// unreadable for other programs.
func appendString(b []byte, s string) []byte {
	s = strings.ToValidUTF8(s, "\uFFFD")
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c == 0x7f:
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// indexed returns the capture as it would be read from an index: without invalid UTF-8, and with empty
// values in place of "-", which means in an index that there is no value.
func (c *Capture) indexed() Capture {
	line := c.appendLine(nil)
	d, _ := parseLine(line[:len(line)-1]) // cannot fail: appendLine wrote the line
	d.archive, d.source = c.archive, c.source
	return d
}

func parseLine(line []byte) (Capture, error) {
	_, rest, ok := bytes.Cut(line, []byte(" "))
	timestamp, text, found := bytes.Cut(rest, []byte(" "))
	if !ok || !found {
		return Capture{}, errors.New("not a line of an index")
	}
	var v struct {
		URL, MIME, Status, Digest, Length, Offset, Filename, Redirect, Skip, Partial string
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return Capture{}, fmt.Errorf("line of an index: %w", err)
	}
	c := Capture{URL: v.URL, Timestamp: string(timestamp), MIME: v.MIME, Redirect: v.Redirect, Filename: v.Filename, Partial: v.Partial == "true"}
	if c.MIME == "-" {
		c.MIME = ""
	}
	c.Status, _ = strconv.Atoi(v.Status) // "-" is 0
	switch {
	case v.Digest == "-":
	case strings.Contains(v.Digest, ":"):
		c.Digest = v.Digest
	default:
		c.Digest = "sha1:" + v.Digest
	}
	var err error
	for _, number := range []struct {
		text string
		n    *int64
	}{{v.Length, &c.Length}, {v.Offset, &c.Offset}, {cmp.Or(v.Skip, "0"), &c.Skip}} {
		if *number.n, err = strconv.ParseInt(number.text, 10, 64); err != nil || *number.n < 0 {
			return Capture{}, fmt.Errorf("line of an index: %.40q is no number of bytes", number.text)
		}
	}
	return c, nil
}

// Close closes the index.
func (x *Index) Close() error {
	x.data = nil
	err := errors.Join(x.failed, x.release())
	if y := x.rebuilt.Load(); y != nil {
		err = errors.Join(err, y.Close())
	}
	return err
}

// search returns the offset of the first line that is not less than key.
func (x *Index) search(key []byte) int {
	lines := x.data[x.first:]
	next := func(i int) int { // returns the start of the first line that begins at or after i
		if i == 0 {
			return 0
		}
		return min(lineEnd(lines, i-1)+1, len(lines))
	}
	i := sort.Search(len(lines), func(i int) bool {
		line := lines[next(i):]
		// If a line is shorter than the key, its newline compares less than any byte of a key.
		return len(line) == 0 || bytes.Compare(line[:min(len(key), len(line))], key) >= 0
	})
	return x.first + next(i)
}

func lineEnd(data []byte, begin int) int {
	if i := bytes.IndexByte(data[begin:], '\n'); i >= 0 {
		return begin + i
	}
	return len(data)
}

// lines yields the lines of a key, oldest first.
func (x *Index) lines(key indexKey) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		// Several URLs can have the same key; their lines differ after the timestamp.
		var more [256]byte
		want := append(appendMember(append(more[:0], ' '), "{", "url", key.url), ',')
		for at := x.search(key.surt); at < len(x.data); {
			end := lineEnd(x.data, at)
			line := x.data[at:end]
			if !bytes.HasPrefix(line, key.surt) {
				return
			}
			rest := line[len(key.surt):]
			if i := bytes.IndexByte(rest, ' '); i >= 0 && bytes.HasPrefix(rest[i:], want) && !yield(line) {
				return
			}
			at = end + 1
		}
	}
}

// Has reports whether the archive has a capture of a canonical URL.
func (x *Index) Has(url string) bool { return x.hasKey(newIndexKey(url)) }

func (x *Index) hasKey(key indexKey) bool {
	x = x.current()
	if !x.mayHave(key) {
		return false
	}
	has, ok := x.has(key)
	if !ok {
		has, _ = x.rebuild(errTruncated).has(key)
	}
	return has
}

// errTruncated is the reason for rebuilding an index whose file was truncated.
var errTruncated = errors.New("it was truncated while it was read")

// has is like hasKey, but sets ok to false if the file was truncated.
func (x *Index) has(key indexKey) (has, ok bool) {
	defer recoverFault(&ok)()
	for range x.lines(key) {
		has = true
		break
	}
	return has, !x.isTruncated()
}

// Lookup appends the captures of a canonical URL to dst, oldest first.
func (x *Index) Lookup(dst []Capture, url string) []Capture {
	return x.lookupKey(dst, newIndexKey(url))
}

func (x *Index) lookupKey(dst []Capture, key indexKey) []Capture {
	x = x.current()
	if !x.mayHave(key) {
		return dst
	}
	all, err := x.lookup(dst, key)
	if err != nil {
		all, _ = x.rebuild(err).lookup(dst, key)
	}
	return all
}

// lookup is like lookupKey, but returns an error if the file was truncated, or if a line cannot be parsed.
func (x *Index) lookup(dst []Capture, key indexKey) (_ []Capture, err error) {
	ok := true
	defer func() {
		if !ok {
			err = errTruncated
		}
	}()
	defer recoverFault(&ok)()
	for line := range x.lines(key) {
		c, err := parseLine(line)
		if err != nil {
			ok = !x.isTruncated()
			return dst, err
		}
		dst = append(dst, c)
	}
	ok = !x.isTruncated()
	return dst, nil
}

// isTruncated reports whether the file was truncated within the last page of the mapped memory. Then the
// memory ends in a zero byte instead of a newline. If the file was truncated before the last page,
// reading causes a fault (see recoverFault).
func (x *Index) isTruncated() bool { return len(x.data) > 0 && x.data[len(x.data)-1] != '\n' }

// Digest returns the labelled digest of a payload: "sha1:" and base32.
func Digest(payload []byte) string {
	sum := sha1.Sum(payload)
	return label(sum[:])
}
