package filter

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/term"

	"spoor/internal/atomicfile"
	"spoor/internal/wire"
)

// readAhead is the size of reads from files. It equals the size of reads of a [wire.Reader], which then
// reads from the file without copying.
const readAhead = wire.ReadSize

// IsTerminal reports whether r is a terminal.
func IsTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Open returns a reader of the concatenated files; "-", or no file at all, is stdin. Files
// compressed by gzip or zstd are recognized by their first bytes and decompressed.
func Open(stdin io.Reader, files []string) (io.ReadCloser, error) {
	if len(files) == 0 {
		files = []string{"-"}
		if IsTerminal(stdin) {
			stderr := Text(os.Stderr)
			fmt.Fprintf(stderr, "%[1]s: reading addresses or records from the terminal, one a line; Ctrl-D ends the input (%[1]s -h)\n", filepath.Base(os.Args[0]))
		}
	}
	for _, name := range files { // fail now rather than after hours
		if name == "-" {
			continue
		}
		info, err := os.Stat(name)
		switch {
		case err == nil && info.IsDir():
			return nil, fmt.Errorf("%s is a directory, and files are read\nhint: name the files in it", name)
		case err != nil && strings.HasPrefix(name, "-"):
			return nil, fmt.Errorf("%w\nhint: flags stand before the files", err)
		case err != nil && strings.Contains(name, "://"):
			return nil, fmt.Errorf("%w\nhint: addresses are read from files or stdin: echo %s |", err, name)
		case err != nil:
			return nil, err
		}
	}
	return &chain{stdin: stdin, files: files}, nil
}

// A chain reads files one after the other. It opens a file when the file before it has ended.
type chain struct {
	mu    sync.Mutex // locked during Read
	stdin io.Reader
	files []string
	now   io.Reader
	close func() error
}

func (c *chain) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if c.now == nil {
			if len(c.files) == 0 {
				return 0, io.EOF
			}
			if err := c.open(c.files[0]); err != nil {
				return 0, err
			}
			c.files = c.files[1:]
		}
		n, err := c.now.Read(p)
		if errors.Is(err, io.EOF) {
			if err = c.closeFile(); n == 0 && err == nil {
				continue
			}
		}
		return n, err
	}
}

func (c *chain) open(name string) error {
	open := func() (io.ReadCloser, error) { return OpenFile(name) }
	if name == "-" {
		open = func() (io.ReadCloser, error) { return Decompress(c.stdin) }
	}
	d, err := open()
	if err != nil {
		return err
	}
	b := bufio.NewReaderSize(d, 16) // longer reads bypass it
	if head, _ := b.Peek(5); string(head) == "WARC/" || bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		if name == "-" {
			name = "FILE"
		}
		return errors.Join(fmt.Errorf("the input is an archive, and its pages are read by fetch\nhint: fetch -archive %s -all |", name), d.Close())
	}
	c.now, c.close = b, d.Close
	return nil
}

// OpenFile opens a file, and decompresses it like [Decompress]. Its errors contain the name of the
// file. An empty file named .gz or .zst is an error: it was truncated, for example by a power cut,
// because compressors write some bytes even if there is no data.
func OpenFile(name string) (io.ReadCloser, error) { return decompressed(os.Open(name)) }

// OpenRegular is like OpenFile, but for the files of a directory that may have an untrusted origin: see
// [atomicfile.OpenFile].
func OpenRegular(name string) (io.ReadCloser, error) {
	return decompressed(atomicfile.OpenFile(name, os.O_RDONLY, 0))
}

// OpenInput is like [OpenFile], but for a file that is the value of a flag. It also returns an error
// for a named pipe or a device, and for a file that is too large to be the right one.
func OpenInput(name string) (io.ReadCloser, error) {
	return decompressed(atomicfile.OpenInput(name, atomicfile.MaxInput))
}

func decompressed(f *os.File, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, err
	}
	name := f.Name()
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && info.Size() == 0 && (strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst")) {
		err = errTruncated
	}
	var d io.ReadCloser
	if err == nil {
		d, err = Decompress(f)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &openedFile{d, f, name}, nil
}

// errTruncated is returned for a compressed file that ends within its first bytes.
var errTruncated = errors.New("the file is truncated: its compressed data is missing\nhint: restore it from a copy, or remove it to go on without its records")

// An openedFile is an open file whose read errors contain its name.
type openedFile struct {
	io.ReadCloser
	file *os.File
	name string
}

func (o *openedFile) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w", o.name, err)
	}
	return n, err
}

func (o *openedFile) Close() error { return errors.Join(o.ReadCloser.Close(), o.file.Close()) }

// Close closes the current file, unless a Read of this file is blocked. This occurs if a command fails
// while it waits for input; the file is then closed when the process ends.
func (c *chain) Close() error {
	if !c.mu.TryLock() {
		return nil
	}
	defer c.mu.Unlock()
	c.files = nil // a later Read returns io.EOF
	return c.closeFile()
}

// closeFile closes the file that is being read, if there is one.
func (c *chain) closeFile() error {
	if c.close == nil {
		return nil
	}
	err := c.close()
	c.now, c.close = nil, nil
	return err
}

// Decompress returns a reader of r that decompresses gzip and zstd, which it recognizes by the first
// bytes.
func Decompress(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, readAhead)
	head, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	const gzipMagic, zstdMagic = "\x1f\x8b", "\x28\xb5\x2f\xfd"
	switch {
	case bytes.HasPrefix(head, []byte(gzipMagic)):
		return gzip.NewReader(b)
	case len(head) > 0 && len(head) < len(zstdMagic) && (strings.HasPrefix(zstdMagic, string(head)) || string(head) == gzipMagic[:1]):
		return nil, errTruncated
	case string(head) == zstdMagic:
		return newZstdReader(b)
	}
	return io.NopCloser(b), nil
}

// A zstdReader decompresses zstd with a decoder from decoders, and puts it back when it is closed.
type zstdReader struct{ d *zstd.Decoder }

// decoders holds decoders that are not in use. Each has a window of several megabytes, and clearing a new
// one takes longer than decompressing a file of a small generation.
var decoders sync.Pool

func newZstdReader(r io.Reader) (*zstdReader, error) {
	if d, ok := decoders.Get().(*zstd.Decoder); ok {
		return &zstdReader{d}, d.Reset(r)
	}
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	return &zstdReader{d}, err
}

func (z *zstdReader) Read(p []byte) (int, error) {
	if z.d == nil {
		return 0, zstd.ErrDecoderClosed
	}
	return z.d.Read(p)
}

func (z *zstdReader) Close() error {
	if z.d != nil && z.d.Reset(nil) == nil {
		decoders.Put(z.d)
	}
	z.d = nil
	return nil
}

// A zstdWriter compresses with an encoder from encoders, and puts it back when it is closed.
type zstdWriter struct{ *zstd.Encoder }

// encoders holds encoders that are not in use: evolve creates two files a window, and the tables of a
// new encoder have several megabytes.
var encoders sync.Pool

func newZstdWriter(w io.Writer) (*zstdWriter, error) {
	if e, ok := encoders.Get().(*zstd.Encoder); ok {
		e.Reset(w)
		return &zstdWriter{e}, nil
	}
	// The default window of 8 MiB doubles the memory of evolve.
	e, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
	return &zstdWriter{e}, err
}

func (z *zstdWriter) Close() error {
	if z.Encoder == nil {
		return nil
	}
	err := z.Encoder.Close()
	z.Reset(nil) // forgets the file
	encoders.Put(z.Encoder)
	z.Encoder = nil
	return err
}

// Create creates a file, and compresses it if its name ends in .gz or .zst. The content is on
// disk when Close has returned nil.
func Create(name string) (io.WriteCloser, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(strings.TrimSuffix(name, ".part"), ".gz"):
		return &compressedFile{gzip.NewWriter(f), f}, nil
	case strings.HasSuffix(strings.TrimSuffix(name, ".part"), ".zst"):
		z, err := newZstdWriter(f)
		if err != nil {
			f.Close()
			return nil, err
		}
		return &compressedFile{z, f}, nil
	}
	return &compressedFile{WriteCloser: nopCloser{f}, file: f}, nil
}

// A nopCloser is a writer whose Close does nothing: compressedFile closes the file.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// A compressedFile is a compressor and its file.
type compressedFile struct {
	io.WriteCloser
	file *os.File
}

func (p *compressedFile) Close() error {
	err := p.WriteCloser.Close()
	if info, serr := p.file.Stat(); serr == nil && info.Mode().IsRegular() { // a pipe cannot be synced
		err = errors.Join(err, p.file.Sync())
	}
	return errors.Join(err, p.file.Close())
}

// Tee returns a writer to stdout and, if name is not empty, to that file. The copy is on disk
// when close has returned nil.
func Tee(stdout io.Writer, name string) (out io.Writer, close func() error, err error) {
	if name == "" {
		return stdout, func() error { return nil }, nil
	}
	file, err := Create(name)
	if err != nil {
		return nil, nil, err
	}
	return io.MultiWriter(stdout, file), func() error {
		if err := file.Close(); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		return nil
	}, nil
}

// Addresses returns a reader that converts lines with a plain URL to address records, so that
// lists of URLs are accepted wherever records are. A fragment is removed, because the url of a record
// has none. Lines that begin with # become empty lines. Records and line numbers do not change.
func Addresses(r io.Reader) io.Reader {
	return &addresses{r: bufio.NewReaderSize(r, 1<<16), more: func() string { return "" }}
}

// firstSeed is the priority of the first address of a plain list of seeds.
const firstSeed int = 1e9

// Seeds is [Addresses] with operator seed and decreasing priorities: seeds are fetched in the
// order of their list, and before all addresses that are discovered.
func Seeds(r io.Reader) io.Reader {
	seeds := 0
	return &addresses{r: bufio.NewReaderSize(r, 1<<16), more: func() string {
		seeds++
		return fmt.Sprintf(`,"operator":"seed","priority":%d`, firstSeed+1-seeds)
	}}
}

type addresses struct {
	r      *bufio.Reader
	out    []byte // converted bytes that were not returned yet
	err    error
	inside bool          // the position is within a long line, which is not changed
	more   func() string // returns further fields of a record for a plain URL
}

func (a *addresses) Read(p []byte) (int, error) {
	for len(a.out) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		var line []byte
		line, a.err = a.r.ReadSlice('\n')
		whole := a.err == nil
		if errors.Is(a.err, bufio.ErrBufferFull) {
			a.err = nil
		}
		a.out = a.convert(line, whole || errors.Is(a.err, io.EOF))
		a.inside = !whole
	}
	n := copy(p, a.out)
	a.out = a.out[n:]
	return n, nil
}

// convert converts a line with a plain URL to a record. A line longer than the buffer is not
// changed; the reader of records will report it.
func (a *addresses) convert(line []byte, whole bool) []byte {
	text := bytes.TrimSpace(wire.TrimBOM(line))
	switch {
	case a.inside, !whole, len(text) == 0, text[0] == '{':
		return line
	case text[0] == '#':
		return []byte{'\n'}
	}
	text, _, _ = bytes.Cut(text, []byte("#"))
	text = bytes.TrimSpace(text)
	var out bytes.Buffer
	out.WriteString(`{"v":1,"url":`)
	enc := json.NewEncoder(&out) // ends with a newline
	enc.SetEscapeHTML(false)
	if enc.Encode(string(text)) != nil {
		return line // the reader of records will report it
	}
	out.Truncate(out.Len() - 1)
	out.WriteString(a.more() + "}\n")
	return out.Bytes()
}
