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

// DefaultMaxSize is the size at which a file is closed and the next begun.
const DefaultMaxSize = 1_000_000_000

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

	// Zstd makes files of zstd frames, named .warc.zst, instead of gzip members:
	// of large pages as small in half the time, but fewer programs read them. There
	// is no dictionary, so that zstd itself unpacks the file.
	Zstd bool

	// Level is of gzip, from 1, the fastest, to 9, the smallest, or [Stored]; with
	// Zstd of zstd, from 1 to 22. 0 means [DefaultLevel] or [DefaultZstdLevel].
	Level int

	// Known asks earlier archives for a capture of that URL whose payload has
	// that digest, or for the newest one if digest is empty. It names a response
	// or a resource, never a revisit, and is called by several goroutines at
	// once. Nil: there are no earlier archives.
	Known func(url, digest string) (Original, bool)

	// Info is written at the head of each file: software, operator, robots,
	// http-header-user-agent, … The writer itself adds format, conformsTo and
	// hostname.
	Info []Field

	// Cut, if not nil, is told the path of a file that was closed in good order and
	// whose end is not whole any more, where the writer would have gone on with it.
	// It is left alone.
	Cut func(path string)

	// Now is the clock; nil means [time.Now].
	Now func() time.Time

	// Random is where record identifiers come from; nil means crypto/rand.
	Random io.Reader
}

// A Writer writes WARC 1.1 files, one gzip member or zstd frame a record. The
// file in work has a name that ends in ".open" and is locked; it is renamed when
// it is full and when the writer is closed. Later writers with the same prefix go
// on with the newest file, if its end is whole. It is safe for concurrent use, and packs the records
// of concurrent calls at the same time.
//
// The digest of a payload is that of the body as received, chunks and coding
// included. A payload of at least [MinRevisit] bytes that was written before
// with this prefix, for whatever address and by whatever process, becomes a
// revisit. Where things were written is noted in PREFIX.captures, which can be
// lost without harm.
type Writer struct {
	options  WriterOptions
	suffix   string
	ledger   *ledger
	encoders sync.Pool     // of *encoder, a megabyte each
	packing  chan struct{} // of those in use: one a processor, and one that waits for the disk
	readers  sync.Pool     // of *Reader
	files    sync.Map      // from the checksums of the names of the files to the names

	mu     sync.Mutex
	file   *os.File
	name   string // without directory and openSuffix
	sum    uint32 // of the name
	serial int
	size   int64
	last   int64  // where the last exchange begins; 0: none was written
	writes int64  // exchanges
	mark   int64  // see markEvery
	info   string // identifier of the warcinfo record
	broken error  // nothing can be written any more
}

// NewWriter opens the newest file with the prefix, or makes one. Files that a
// killed process left open lose their torn tail, if they have one, and nothing
// else. A file whose end is torn although it was closed is not gone on with.
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
	w.readers.New = func() any { return &Reader{m: members{streaming: true}} }
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

// draw draws the identifiers of the records that e packs next.
func (w *Writer) draw(e *encoder) error {
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

// Write writes an exchange: a response, or a revisit if the payload was written
// before, with the request and the metadata that belong to it. When it returns
// without error all of it has been handed to the operating system, so that it
// outlives this process; [Writer.Sync] makes it outlive the machine.
//
// If it fails, as on a full disk (syscall.ENOSPC), nothing of the exchange is in
// the file and what was there before is whole.
func (w *Writer) Write(x *Exchange) (Location, error) {
	w.packing <- struct{}{}
	defer func() { <-w.packing }()
	e := w.encoders.Get().(*encoder)
	defer func() {
		e.reset()
		w.encoders.Put(e)
	}()
	e.take(x.Body)
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
	// While we packed, somebody may have written the payload, or begun a file.
	was := to
	if to == (reference{}) && once(x) && w.writes != e.since {
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

// ready makes a file ready to be written to, and e to pack for it. It returns
// the name of the file and the identifier of its warcinfo record.
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
	return w.name, w.info, w.draw(e)
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
	if w.last > 0 { // so that who goes on with the file need not read more of it
		w.ledger.put(markKey(w.name), position{w.sum, w.last})
	}
	err := w.finish(f, w.name, w.size)
	if e := w.ledger.close(); err == nil {
		err = e
	}
	return err
}
