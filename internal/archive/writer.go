package archive

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"spoor/internal/lock"
)

const (
	// DefaultMaxSize is the size at which a file is closed and the next begun.
	DefaultMaxSize = 1_000_000_000

	// MinRevisit is the size of a payload, in bytes, below which it is written
	// again rather than referred to: the reference would hardly be smaller.
	MinRevisit = 1 << 10

	// maxPayloads is how many payloads a writer remembers; the oldest are
	// forgotten first. It takes about 300 bytes for each.
	maxPayloads = 1 << 17

	// level is of gzip. Level 6 is where klauspost's deflate is as small as that
	// of the standard library to within 3 %, at more than twice its speed.
	level = 6

	openSuffix = ".open"

	warcVersion    = "WARC/1.1\r\n"
	conformsTo     = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
	revisitProfile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
)

// A WriterOptions are the parameters of a [Writer].
type WriterOptions struct {
	// Prefix is where files go and how their names begin: "dir/crawl" makes
	// dir/crawl-20261120071100-00000-host.warc.gz.
	Prefix string

	// Host is the name of this machine, which ends the names of files.
	Host string

	// MaxSize is the size in bytes at which the next file is begun; 0 means
	// [DefaultMaxSize].
	MaxSize int64

	// Digest is how payloads and blocks are digested: sha1, which is what ""
	// means, or sha256.
	Digest string

	// Zstd makes files of zstd frames, named .warc.zst, instead of gzip members.
	Zstd bool

	// Known asks earlier archives for a capture of that URL whose payload has
	// that digest, or for the newest one if digest is empty. It names a response
	// or a resource, never a revisit, and is called by several goroutines at
	// once. Nil: there are no earlier archives.
	Known func(url, digest string) (Original, bool)

	// Info is written at the head of each file: software, operator, robots,
	// http-header-user-agent, … The writer itself adds format, conformsTo and
	// hostname.
	Info []Field

	// Now is the clock; nil means [time.Now].
	Now func() time.Time

	// Random is where record identifiers come from; nil means crypto/rand.
	Random io.Reader
}

// An Original is the capture that a revisit refers to.
type Original struct {
	URL  string
	Date time.Time
	ID   string // of its record, in angle brackets; may be empty
}

// An Exchange is one request with its answer.
type Exchange struct {
	URL  string    // that was asked for
	Time time.Time // of the request
	IP   string    // of the server; may be empty

	Request []byte // as sent; empty: none is written
	Head    []byte // of the response, with the empty line at its end
	Body    []byte // as received

	// Truncated is length, time or disconnect if the body is not all that the
	// server had to say.
	Truncated string

	// Protocols are what the exchange went over, as in the WARC-Protocol field:
	// http/1.1 or h2, and tls/1.3. May be empty.
	Protocols []string

	// NotModified says that this is the answer 304 to a conditional request: it
	// becomes a revisit of the capture that the server confirms.
	NotModified bool

	// NoArchive, if not empty, is why the answer must not be kept, as in
	// "robots meta tag". Of the exchange nothing is written but a metadata
	// record that says so.
	NoArchive string

	Metadata Metadata
}

// Metadata is what else is known of a capture: how the crawl came by it. Zero
// values are not written, but for the generation.
type Metadata struct {
	Via        string // URL of the page it was found on
	Depth      int    // links from a seed
	Redirects  int    // redirects from the address that was to be fetched
	FetchTime  time.Duration
	Operator   string
	Generation int
	Priority   *float64 // nil: none
	Parents    []string // URLs
	Unverified string   // why the server's certificate is not to be trusted
}

// A Location is where a capture was written. If it was not ([Exchange.NoArchive])
// there is only the digest.
type Location struct {
	Filename string // without directory, as it will be when the file is closed
	Offset   int64  // of the response or revisit
	Length   int64
	Digest   string // of the payload: "sha1:…"
	Revisit  bool   // the payload had been written before and is referred to
}

// A Writer writes WARC 1.1 files, one gzip member a record. The file in work
// has a name that ends in ".open" and is locked; it is renamed when it is full
// and when the writer is closed. Later writers with the same prefix go on with
// the newest file. It is safe for concurrent use, and packs the records of
// concurrent calls at the same time.
//
// The digest of a payload is that of the body as received, chunks and coding
// included. A payload of at least [MinRevisit] bytes that this writer has
// written before, for whatever address, becomes a revisit.
type Writer struct {
	options WriterOptions
	packers sync.Pool // of *packer

	mu     sync.Mutex
	file   *os.File
	name   string // without directory and suffix
	serial int
	size   int64
	broken error // nothing can be written any more
	seen   map[payload]first
	order  []payload // in which they were seen: a ring once it is full
	oldest int
}

type payload [sha1.Size]byte

// first is the capture that a revisit refers to.
type first struct{ id, url, date string }

// NewWriter opens the newest file with the prefix, or makes one. Files that a
// killed process left open lose their torn tail, if they have one, and nothing
// else.
func NewWriter(o WriterOptions) (*Writer, error) {
	if o.MaxSize <= 0 {
		o.MaxSize = DefaultMaxSize
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	o.Host = hostPart(o.Host)
	w := &Writer{options: o, seen: map[payload]first{}}
	w.packers.New = func() any {
		p := new(packer)
		p.gz, _ = gzip.NewWriterLevel(&p.out, level) // fails only for levels that do not exist
		return p
	}
	if base := filepath.Base(o.Prefix); o.Prefix == "" || strings.HasSuffix(o.Prefix, "/") || base == "." {
		return nil, fmt.Errorf("prefix %q names no file (hint: give a directory and the beginning of a name, as in warc/crawl)", o.Prefix)
	}
	if err := os.MkdirAll(filepath.Dir(o.Prefix), 0o777); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.resume(); err != nil {
		return nil, err
	}
	return w, nil
}

// hostPart is what of a host name can stand in a file name.
func hostPart(host string) string {
	host = strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' {
			return c
		}
		return '_'
	}, host)
	return cmp.Or(strings.Trim(host, "."), "localhost")
}

// A part is one file of a writer.
type part struct {
	name   string // without directory and openSuffix
	serial int
	open   bool
}

// parts are the files with the prefix, the newest last.
func (w *Writer) parts() ([]part, error) {
	dir, base := filepath.Split(w.options.Prefix)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil, err
	}
	var all []part
	for _, e := range entries {
		name, open := strings.CutSuffix(e.Name(), openSuffix)
		rest, ok := strings.CutPrefix(name, base+"-")
		if !ok || !strings.HasSuffix(rest, ".warc.gz") || len(rest) < len("20060102150405-00000-") {
			continue
		}
		serial, err := strconv.ParseUint(rest[15:20], 10, 32)
		if _, e := time.Parse("20060102150405", rest[:14]); e != nil || err != nil || rest[14] != '-' || rest[20] != '-' {
			continue
		}
		all = append(all, part{name, int(serial), open})
	}
	slices.SortFunc(all, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.serial, b.serial), strings.Compare(a.name, b.name))
	})
	return all, nil
}

func (w *Writer) path(name string) string {
	return filepath.Join(filepath.Dir(w.options.Prefix), name)
}

// resume goes on with the newest file if nobody else does, and closes those
// that nobody goes on with.
func (w *Writer) resume() error {
	parts, err := w.parts()
	if err != nil {
		return err
	}
	serial := 0
	for i, p := range parts {
		newest := i == len(parts)-1
		serial = p.serial + 1
		if !p.open && (!newest || !w.roomIn(p)) {
			continue
		}
		f, size, err := w.claim(p)
		if errors.Is(err, lock.ErrHeld) || errors.Is(err, os.ErrNotExist) {
			continue // somebody is writing or closing it
		}
		if err != nil {
			return err
		}
		if newest && size < w.options.MaxSize {
			w.file, w.name, w.serial, w.size = f, p.name, p.serial, size
			if size == 0 {
				return w.begin()
			}
			return nil
		}
		if err := w.finish(f, p.name, size); err != nil {
			return err
		}
	}
	return w.create(serial)
}

// roomIn tells whether a closed file may grow.
func (w *Writer) roomIn(p part) bool {
	info, err := os.Stat(w.path(p.name))
	return err == nil && info.Size() < w.options.MaxSize
}

// claim opens and locks a file that exists, gives it its open name and cuts off
// its torn tail.
func (w *Writer) claim(p part) (f *os.File, size int64, err error) {
	name := w.path(p.name)
	if p.open {
		name += openSuffix
	}
	f, err = openFile(name, os.O_RDWR)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := lock.Try(f, true); err != nil {
		return nil, 0, err
	}
	if !isAt(f, name) {
		return nil, 0, lock.ErrHeld // somebody closed it between our two calls
	}
	if !p.open {
		info, err := f.Stat()
		if err != nil {
			return nil, 0, err
		}
		// It was closed in good order, so its end is whole.
		return f, info.Size(), os.Rename(name, name+openSuffix)
	}
	size, err = wholeMembers(f)
	if err != nil {
		return nil, 0, fmt.Errorf("looking for the torn tail of %s: %w", name, err)
	}
	return f, size, f.Truncate(size)
}

// wholeMembers is the length of a file up to the end of its last whole record.
func wholeMembers(file io.ReadSeeker) (int64, error) {
	r, err := NewReader(file)
	if err != nil {
		return 0, err
	}
	var size int64
	for {
		rec, err := r.Next()
		if err == nil {
			err = rec.Close()
		}
		if err == io.EOF {
			return size, nil
		}
		if err == nil {
			size = max(size, rec.Offset+rec.Length)
		} else if _, ok := errors.AsType[*FormatError](err); !ok {
			return 0, err
		}
	}
}

// create makes a new file with that serial number or the next one that is free.
func (w *Writer) create(serial int) error {
	for ; ; serial++ {
		name := fmt.Sprintf("%s-%s-%05d-%s.warc.gz", filepath.Base(w.options.Prefix), w.options.Now().UTC().Format("20060102150405"), serial, w.options.Host)
		path := w.path(name) + openSuffix
		f, err := openFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := lock.Try(f, true); err != nil || !isAt(f, path) {
			f.Close()
			if err == nil || errors.Is(err, lock.ErrHeld) {
				continue // another writer took it for one that was left
			}
			return err
		}
		w.file, w.name, w.serial, w.size = f, name, serial, 0
		return w.begin()
	}
}

// begin writes the record that heads a file. A file without it is removed.
func (w *Writer) begin() error {
	info := append(slices.Clone(w.options.Info),
		Field{"format", "WARC File Format 1.1"},
		Field{"conformsTo", conformsTo},
		Field{"hostname", w.options.Host},
	)
	ids, err := w.ids(1)
	if err == nil {
		p := w.packers.Get().(*packer)
		defer w.packers.Put(p)
		p.reset()
		p.record(&record{kind: "warcinfo", id: ids[0], date: date(w.options.Now()), media: "application/warc-fields", filename: w.name}, warcFields(info), nil)
		err = w.append(p.out.Bytes())
	}
	if err != nil {
		w.file.Close()
		os.Remove(w.path(w.name) + openSuffix)
		w.file, w.broken = nil, err
	}
	return err
}

// ids draws identifiers of records: UUIDs of version 4 (RFC 9562).
func (w *Writer) ids(n int) ([]string, error) {
	ids := make([]string, n)
	for i := range ids {
		var b [16]byte
		if _, err := io.ReadFull(w.options.Random, b[:]); err != nil {
			return nil, fmt.Errorf("drawing a record identifier: %w", err)
		}
		b[6] = b[6]&0x0f | 0x40
		b[8] = b[8]&0x3f | 0x80
		h := hex.EncodeToString(b[:])
		ids[i] = "<urn:uuid:" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:] + ">"
	}
	return ids, nil
}

func date(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Write writes an exchange: a response, or a revisit if the payload was written
// before, with the request and the metadata that belong to it. When it returns
// without error all of it has been handed to the operating system, so that it
// outlives this process; [Writer.Sync] makes it outlive the machine.
//
// If it fails, as on a full disk (syscall.ENOSPC), nothing of the exchange is in
// the file and what was there before is whole.
func (w *Writer) Write(x *Exchange) (Location, error) {
	sum := payload(sha1.Sum(x.Body))
	once := len(x.Body) >= MinRevisit && x.Truncated == "" // is enough
	w.mu.Lock()
	ids, err := w.ids(3)
	original, known := w.seen[sum]
	w.mu.Unlock()
	if err != nil {
		return Location{}, err
	}
	known = known && once
	p := w.packers.Get().(*packer)
	defer w.packers.Put(p)
	at := p.exchange(x, ids, sum, original, known)

	w.mu.Lock()
	defer w.mu.Unlock()
	if original, ok := w.seen[sum]; ok && once && !known {
		known = true // somebody wrote it while we packed
		at = p.exchange(x, ids, sum, original, known)
	}
	if w.broken != nil {
		return Location{}, w.broken
	}
	if w.file == nil {
		return Location{}, fmt.Errorf("writing to a WARC file: %w", os.ErrClosed)
	}
	if w.size >= w.options.MaxSize {
		if err := w.rotate(); err != nil {
			return Location{}, err
		}
	}
	at.Filename, at.Offset = w.name, w.size
	if err := w.append(p.out.Bytes()); err != nil {
		return Location{}, err
	}
	if once && !known {
		w.remember(sum, first{ids[0], x.URL, date(x.Time)})
	}
	return at, nil
}

// exchange packs the records of an exchange: as a revisit of the original if its
// payload is known.
func (p *packer) exchange(x *Exchange, ids []string, sum payload, original first, known bool) Location {
	p.reset()
	at := Location{Digest: label(sum[:]), Revisit: known}
	captured := record{
		kind: "response", id: ids[0], date: date(x.Time), url: x.URL, ip: x.IP,
		media: "application/http; msgtype=response", payload: at.Digest, truncated: x.Truncated,
	}
	if known {
		captured.kind, captured.truncated, captured.refers = "revisit", "length", original
		p.record(&captured, x.Head, nil)
	} else {
		p.record(&captured, x.Head, x.Body)
	}
	at.Length = int64(p.out.Len())
	if len(x.Request) > 0 {
		p.record(&record{kind: "request", id: ids[1], date: captured.date, url: x.URL, ip: x.IP, media: "application/http; msgtype=request", concurrent: ids[0]}, x.Request, nil)
	}
	p.record(&record{kind: "metadata", id: ids[2], date: captured.date, url: x.URL, media: "application/warc-fields", concurrent: ids[0]}, warcFields(x.Metadata.fields()), nil)
	return at
}

// remember keeps a payload in mind that was not, and forgets the oldest if there
// are too many.
func (w *Writer) remember(sum payload, f first) {
	if len(w.order) < maxPayloads {
		w.order = append(w.order, sum)
	} else {
		delete(w.seen, w.order[w.oldest])
		w.order[w.oldest] = sum
		w.oldest = (w.oldest + 1) % maxPayloads
	}
	w.seen[sum] = f
}

// append writes whole members at the end of the file, or nothing.
func (w *Writer) append(members []byte) error {
	_, err := w.file.WriteAt(members, w.size)
	if err != nil {
		if e := w.file.Truncate(w.size); e != nil {
			w.broken = fmt.Errorf("%s has a torn tail: %w (hint: it is cut off when the next run with this prefix begins)", w.name, err)
			return w.broken
		}
		return fmt.Errorf("writing an archive: %w", err)
	}
	w.size += int64(len(members))
	return nil
}

// rotate closes the file that is full and begins the next.
func (w *Writer) rotate() error {
	f := w.file
	w.file = nil
	if err := w.finish(f, w.name, w.size); err != nil {
		w.broken = err
		return err
	}
	if err := w.create(w.serial + 1); err != nil {
		w.broken = err
		return err
	}
	return nil
}

// finish closes a file and takes the suffix from its name. A file in which
// nothing is left is removed.
func (w *Writer) finish(f *os.File, name string, size int64) error {
	open := w.path(name) + openSuffix
	err := f.Sync()
	if err == nil && size == 0 {
		err = os.Remove(open)
	} else if err == nil {
		err = os.Rename(open, w.path(name))
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = syncDir(filepath.Dir(open))
	}
	if err != nil {
		return fmt.Errorf("closing an archive: %w", err)
	}
	return nil
}

// Sync makes all that was written outlive a failure of the machine.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	return w.file.Sync()
}

// Close closes the file in good order. Writes after it fail.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	return w.finish(f, w.name, w.size)
}

// fields are the fields of the metadata record.
func (m *Metadata) fields() []Field {
	var all []Field
	add := func(name, value string) {
		if value != "" {
			all = append(all, Field{name, value})
		}
	}
	add("via", m.Via)
	add("hopsFromSeed", hops(m.Depth, m.Redirects))
	if m.FetchTime > 0 {
		add("fetchTimeMs", strconv.FormatInt(m.FetchTime.Milliseconds(), 10))
	}
	add("operator", m.Operator)
	add("generation", strconv.Itoa(m.Generation))
	if m.Priority != nil {
		add("priority", strconv.FormatFloat(*m.Priority, 'g', -1, 64))
	}
	for _, p := range m.Parents {
		add("parent", p)
	}
	add("unverified-certificate", m.Unverified)
	return all
}

// hops is the path from the seed in the letters of Heritrix, L for a link and R
// for a redirect; of a long one only the number and the end.
func hops(links, redirects int) string {
	const most = 50
	links, redirects = max(links, 0), max(redirects, 0)
	n := links + redirects
	all := strings.Repeat("L", min(links, most)) + strings.Repeat("R", min(redirects, most))
	if n <= most {
		return all
	}
	return strconv.Itoa(n-most) + "+" + all[len(all)-most:]
}

// warcFields is a block of application/warc-fields.
func warcFields(fields []Field) []byte {
	var b []byte
	for _, f := range fields {
		b = appendField(b, f.Name, f.Value)
	}
	return b
}

// appendField appends a line of a header; strangers cannot end it early.
func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, oneLine(value)...)
	return append(b, '\r', '\n')
}

// label is a SHA-1 with its label.
func label(sum []byte) string {
	return "sha1:" + base32.StdEncoding.EncodeToString(sum)
}

// A record is the header of a record to be written. Empty fields are left out.
type record struct {
	kind, id, date, url, ip, media string
	payload                        string // digest
	truncated                      string
	concurrent                     string // identifier
	filename                       string
	refers                         first
}

// A packer packs the records of one exchange, each into a member of its own.
type packer struct {
	out  bytes.Buffer
	gz   *gzip.Writer
	head []byte
}

// keepPacked is the largest buffer that is kept for the next exchange.
const keepPacked = 4 << 20

func (p *packer) reset() {
	if p.out.Cap() > keepPacked {
		p.out = bytes.Buffer{}
	}
	p.out.Reset()
}

// record packs a record whose block is head and body together.
func (p *packer) record(r *record, head, body []byte) {
	block := sha1.New()
	block.Write(head)
	block.Write(body)
	b := append(p.head[:0], warcVersion...)
	add := func(name, value string) {
		if value != "" {
			b = appendField(b, name, value)
		}
	}
	add("WARC-Type", r.kind)
	add("WARC-Record-ID", r.id)
	add("WARC-Date", r.date)
	add("WARC-Filename", r.filename)
	add("WARC-Target-URI", r.url)
	add("WARC-IP-Address", r.ip)
	add("WARC-Concurrent-To", r.concurrent)
	if r.refers.id != "" {
		add("WARC-Profile", revisitProfile)
		add("WARC-Refers-To", r.refers.id)
		add("WARC-Refers-To-Target-URI", r.refers.url)
		add("WARC-Refers-To-Date", r.refers.date)
	}
	add("WARC-Truncated", r.truncated)
	add("WARC-Payload-Digest", r.payload)
	add("WARC-Block-Digest", digest(block))
	add("Content-Type", r.media)
	add("Content-Length", strconv.Itoa(len(head)+len(body)))
	b = append(b, '\r', '\n')
	p.head = b

	p.gz.Reset(&p.out)
	for _, part := range [][]byte{b, head, body, []byte("\r\n\r\n")} {
		p.gz.Write(part) // into memory: cannot fail
	}
	p.gz.Close()
}
