package archive

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// DefaultMaxSize is the default size at which a file is closed and a new one is created.
const DefaultMaxSize = 1_000_000_000

// WriterOptions are the parameters of a [Writer].
type WriterOptions struct {
	// Prefix is the directory of the files and the start of their names: "dir/crawl" makes
	// dir/crawl-20261120071100-00000-host.warc.gz.
	Prefix string

	// Host is the name of this machine, which is a part of the names of files.
	Host string

	// MaxSize is the size in bytes at which a new file is created; 0 means [DefaultMaxSize].
	MaxSize int64

	// Digest is the algorithm of payload and block digests: sha1, which is the default, or
	// sha256.
	Digest string

	// Zstd selects zstd frames in files named .warc.zst, instead of gzip members. Large pages
	// are compressed to the same size in half the time, but fewer programs read such files. No
	// dictionary is used, so the zstd command can decompress them.
	Zstd bool

	// Level is the level of gzip, from 1 (fastest) to 9 (smallest), or [Stored]. With Zstd it is
	// the level of zstd, from 1 to 22. 0 means [DefaultLevel] or [DefaultZstdLevel].
	Level int

	// Known, if not nil, looks up a capture of the URL in earlier archives: a capture whose
	// payload has the digest, or the newest capture if digest is empty. It must return a response
	// or a resource, never a revisit, and be safe for concurrent use.
	Known func(url, digest string) (Original, bool)

	// Info is written to the warcinfo record of each file: software, operator, robots,
	// http-header-user-agent, … The writer adds format, conformsTo and hostname.
	Info []Field

	// Cut, if not nil, is called with the path of a file to which the writer does not append: a closed
	// file whose end is truncated, or a file whose content does not match its name.
	Cut func(path string)

	// Rotated, if not nil, is called after a full file was closed. It must not block.
	Rotated func()

	// Now returns the current time; nil means [time.Now].
	Now func() time.Time

	// Random is the source of record identifiers; nil means crypto/rand.
	Random io.Reader
}

// A Writer writes WARC 1.1 files with one gzip member or zstd frame per record. While a file is
// written, it is locked and its name ends in ".open"; it is renamed when it is full and when
// the writer is closed. A new writer with the same prefix appends to the newest file, if the
// end of that file is complete. A Writer is safe for concurrent use, and compresses the records of
// concurrent calls in parallel.
//
// The payload digest is computed from the body without its chunks, but with its content coding. If
// a payload of at least [MinRevisit] bytes was already written with this prefix, for any URL and by
// any process, a revisit is written. Positions of payloads are stored in PREFIX.captures; if that
// file is lost, the only effect is that payloads are written again.
type Writer struct {
	options  WriterOptions
	suffix   string
	ledger   *ledger
	encoders sync.Pool     // of *encoder
	packing  chan struct{} // limits the encoders in use to one per processor, and one more that waits for the disk
	readers  sync.Pool     // of *Reader
	files    sync.Map      // names of files by their checksums

	mu     sync.Mutex
	file   *os.File
	name   string // name of the file without directory and openSuffix
	sum    uint32 // checksum of the name
	serial int
	size   int64
	last   int64  // offset of the last exchange; 0 if none was written
	writes int64  // number of exchanges written
	mark   int64  // see markEvery
	info   string // identifier of the warcinfo record
	broken error  // error after which nothing can be written
}

// NewWriter opens the newest file with the prefix, or creates a file. If a killed process left a
// file open, NewWriter cuts off a truncated record at its end. It does not append to a closed file
// with a truncated end.
func NewWriter(o WriterOptions) (*Writer, error) {
	if o.MaxSize <= 0 {
		o.MaxSize = DefaultMaxSize
	}
	switch {
	case o.Level == 0 && o.Zstd:
		o.Level = DefaultZstdLevel
	case o.Level == 0:
		o.Level = DefaultLevel
	case o.Zstd && (o.Level < 1 || o.Level > 22):
		return nil, fmt.Errorf("zstd has no level %d (hint: 1 to 22)", o.Level)
	case !o.Zstd && o.Level != Stored && (o.Level < 1 || o.Level > 9):
		return nil, fmt.Errorf("gzip has no level %d (hint: 1 to 9)", o.Level)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	o.Host = hostPart(o.Host)
	digester, err := newDigester(o.Digest)
	if err != nil {
		return nil, err
	}
	if base := filepath.Base(o.Prefix); o.Prefix == "" || strings.HasSuffix(o.Prefix, "/") || base == "." {
		return nil, fmt.Errorf("prefix %q names no file (hint: give a directory and the beginning of a name, as in warc/crawl)", o.Prefix)
	}
	w := &Writer{options: o, suffix: gzipSuffix, packing: make(chan struct{}, runtime.GOMAXPROCS(0)+1)}
	var frames *zstd.Encoder
	if o.Zstd {
		w.suffix = zstdSuffix
		if frames, err = newFrames(o.Level); err != nil {
			return nil, err
		}
	}
	w.encoders.New = func() any { return newEncoder(digester, frames, o.Level) }
	w.readers.New = func() any { return new(Reader) }
	if err := os.MkdirAll(filepath.Dir(o.Prefix), 0o777); err != nil {
		return nil, err
	}
	if w.ledger, err = openLedger(o.Prefix + ledgerSuffix); err != nil {
		return nil, fmt.Errorf("opening the list of captures: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.resume(); err != nil {
		w.ledger.close()
		return nil, err
	}
	return w, nil
}

// newIDs sets the identifiers of the next records of e.
func (w *Writer) newIDs(e *encoder) error {
	for i := range e.ids {
		id := &e.ids[i]
		if _, err := io.ReadFull(w.options.Random, id[:]); err != nil {
			return fmt.Errorf("drawing a record identifier: %w", err)
		}
		id[6] = id[6]&0x0f | 0x40
		id[8] = id[8]&0x3f | 0x80
	}
	return nil
}

// Write writes an exchange: a response, or a revisit if the payload is known, with its request
// and metadata. When Write returns nil, everything has been written to the operating system and
// survives a crash of the process. A file survives a crash of the machine when it was closed.
//
// If Write fails, for example on a full disk (syscall.ENOSPC), the file does not change.
func (w *Writer) Write(x *Exchange) (Location, error) {
	w.packing <- struct{}{}
	defer func() { <-w.packing }()
	e := w.encoders.Get().(*encoder)
	defer func() {
		e.reset()
		w.encoders.Put(e)
	}()
	e.take(x)
	name, info, err := w.ready(e)
	if err != nil {
		return Location{}, err
	}
	to := w.original(e, x, name)
	at := e.exchange(x, info, to)

	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return Location{}, err
	}
	// Another goroutine may have written the payload, or created a new file.
	was := to
	if to == (reference{}) && isRevisitable(x) && w.writes != e.since {
		to = w.written(e, x, e.digest, w.name)
	}
	if to != was || info != w.info {
		at = e.exchange(x, w.info, to)
	}
	offset := w.size
	if err := w.append(e.out); err != nil {
		return Location{}, err
	}
	w.last = offset
	w.writes++
	w.remember(e, x, position{w.sum, offset}, at.Revisit)
	if x.NoArchive == "" {
		at.Filename, at.Offset = w.name, offset
	}
	return at, nil
}

// ready prepares the file and e for a record. It returns the name of the file and the
// identifier of its warcinfo record.
func (w *Writer) ready(e *encoder) (name, info string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return "", "", err
	}
	if w.size >= w.options.MaxSize {
		if err := w.rotate(); err != nil {
			return "", "", err
		}
	}
	e.since = w.writes
	return w.name, w.info, w.newIDs(e)
}

func (w *Writer) usable() error {
	if w.broken != nil {
		return w.broken
	}
	if w.file == nil {
		return fmt.Errorf("writing to a WARC file: %w", os.ErrClosed)
	}
	return nil
}

// append appends complete members to the file, or nothing.
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

// Close closes the file. Later writes fail.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	if w.last > 0 { // the next writer must only read the file from this offset on
		w.ledger.put(markKey(w.name), position{w.sum, w.last})
	}
	err := w.finish(f, w.name, w.size)
	if e := w.ledger.close(); err == nil {
		err = e
	}
	return err
}
