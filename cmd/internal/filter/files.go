package filter

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"spoor/internal/wire"
)

// readAhead is how much of a file is read at once. It is what a [wire.Reader] asks for, so
// that records come from the file without a copy on the way.
const readAhead = wire.ReadSize

// Open is the files one after the other; "-", or no file at all, is stdin. What
// is compressed by gzip or zstd is recognised by its first bytes, not its name.
func Open(stdin io.Reader, files []string) (io.ReadCloser, error) {
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files { // say so now rather than after hours
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

// chain reads files one after the other, each opened when its turn comes.
type chain struct {
	mu    sync.Mutex // held by a Read
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
	r := c.stdin
	c.close = func() error { return nil }
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		r, c.close = f, f.Close
	}
	d, err := Decompress(r)
	if err != nil {
		c.closeFile()
		return err
	}
	closeFile := c.close
	c.now, c.close = d, func() error { d.Close(); return closeFile() }
	return nil
}

// Close leaves the file open that a Read is still at, as one of an input that
// nobody ends may be when the command gives up: it is closed with the process.
func (c *chain) Close() error {
	if !c.mu.TryLock() {
		return nil
	}
	defer c.mu.Unlock()
	c.files = nil // a Read that comes late finds the end
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

// Decompress is r, or what gzip or zstd packed into it, told by its first bytes.
func Decompress(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, readAhead)
	head, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzip.NewReader(b)
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		d, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return io.NopCloser(b), nil
}

// Create makes a file, compressed if its name ends in .gz or .zst. Nothing is
// safe before Close has returned nil.
func Create(name string) (io.WriteCloser, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(strings.TrimSuffix(name, ".part"), ".gz"):
		return &packed{gzip.NewWriter(f), f}, nil
	case strings.HasSuffix(strings.TrimSuffix(name, ".part"), ".zst"):
		z, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1))
		if err != nil {
			f.Close()
			return nil, err
		}
		return &packed{z, f}, nil
	}
	return &packed{WriteCloser: nopCloser{f}, file: f}, nil
}

// nopCloser is a writer whose file is closed by packed.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// packed is what packs, with the file beneath it.
type packed struct {
	io.WriteCloser
	file *os.File
}

func (p *packed) Close() error {
	err := p.WriteCloser.Close()
	if info, serr := p.file.Stat(); serr == nil && info.Mode().IsRegular() { // a pipe cannot be synced
		err = errors.Join(err, p.file.Sync())
	}
	return errors.Join(err, p.file.Close())
}

// Tee is stdout with a copy into the file called name, if there is a name. What
// the copy holds is safe once close has returned nil.
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

// Addresses is r with every line that is no record but a plain URL made an
// address record, so that a list of URLs is accepted wherever records are. Lines
// that start with # become empty. One line comes out for every line that goes in,
// so line numbers stay true; lines that are records pass as they are.
func Addresses(r io.Reader) io.Reader {
	return &addresses{r: bufio.NewReaderSize(r, 1<<16), more: func() string { return "" }}
}

// firstSeed is the priority of the first address of a plain list of seeds.
const firstSeed int = 1e9

// Seeds is [Addresses] with operator seed and falling priorities: a list of seeds
// is wanted in its order, and before anything that was found.
func Seeds(r io.Reader) io.Reader {
	seeds := 0
	return &addresses{r: bufio.NewReaderSize(r, 1<<16), more: func() string {
		seeds++
		return fmt.Sprintf(`,"operator":"seed","priority":%d`, firstSeed+1-seeds)
	}}
}

type addresses struct {
	r      *bufio.Reader
	out    []byte // not given out yet
	err    error
	inside bool          // of a record, which passes as it is
	more   func() string // further fields of a record made of a plain URL
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
		a.inside = !whole // the rest of a long line passes too
	}
	n := copy(p, a.out)
	a.out = a.out[n:]
	return n, nil
}

// convert makes a record of a line that is a plain URL. A line too long for the
// buffer is no URL: it passes, for the reader of records to complain about.
func (a *addresses) convert(line []byte, whole bool) []byte {
	text := bytes.TrimSpace(line)
	switch {
	case a.inside, !whole, len(text) == 0, text[0] == '{':
		return line
	case text[0] == '#':
		return []byte{'\n'}
	}
	var out bytes.Buffer
	out.WriteString(`{"v":1,"url":`)
	enc := json.NewEncoder(&out) // ends with a newline
	enc.SetEscapeHTML(false)
	if enc.Encode(string(text)) != nil {
		return line // for the reader of records to complain about
	}
	out.Truncate(out.Len() - 1)
	out.WriteString(a.more() + "}\n")
	return out.Bytes()
}
