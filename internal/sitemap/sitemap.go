// Package sitemap reads sitemaps (https://www.sitemaps.org/protocol.html): sitemaps and
// sitemap indexes in XML, plain text, and RSS 2.0, RSS 1.0 and Atom feeds, each of them
// optionally compressed with gzip.
//
// It does no I/O of its own, and yields entries one by one, in memory that does not grow
// with the file. The caller decides which entries to use: the protocol allows a sitemap to
// list only URLs of its own site, and of sites whose robots.txt lists the sitemap.
//
// Parsing is lenient. It uses only the names of entries and their fields, and ignores
// namespaces and the name of the root element. It accepts unclosed tags and bare ampersands;
// after any other syntax error, at most one entry is lost. It never expands entities that a
// DTD declares.
package sitemap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/transform"
)

// Limits of one file. The protocol defines the first two.
const (
	MaxEntries = 50_000   // number of entries, including entries without an address; the rest is not read
	MaxSize    = 50 << 20 // number of bytes after decompression; the rest is not read
	MaxLoc     = 8 << 10  // length of an address in bytes. The limit of the protocol is 2,048 characters, but longer addresses occur

	// maxRatio limits the compression ratio of gzip. It is checked from 1 MiB on. Deflate
	// reaches 1032; lists of addresses stay below 100.
	maxRatio = 1000
)

// Errors that end a file. They may be wrapped: use errors.Is.
var (
	ErrNoSitemap = errors.New("no sitemap") // no entry, and no root element of a sitemap or feed
	ErrTruncated = errors.New("the sitemap breaks off")
	ErrTooLong   = errors.New("the sitemap is longer than 50 MiB")
	ErrTooMany   = errors.New("the sitemap has more than 50,000 entries")
	ErrRatio     = errors.New("the gzip ratio of the sitemap exceeds 1000")
)

// A Kind is the format of an entry.
type Kind string

// An entry of an [Index] is the address of another sitemap; all others are addresses of
// pages.
const (
	Index  Kind = "sitemapindex"
	URLSet Kind = "urlset"
	Text   Kind = "text"
	RSS    Kind = "rss" // 2.0, 1.0 and earlier versions
	Atom   Kind = "atom"
)

// An Entry is one address in a sitemap.
type Entry struct {
	Kind Kind

	// Loc is the address as written, with entities decoded and white space around it
	// removed. It is valid UTF-8, not empty and at most MaxLoc bytes long. It is not
	// checked to be a URL, and may be relative.
	Loc string

	// LastMod is the time of the last change in UTC, in the form "2006-01-02" or
	// "2006-01-02T15:04:05Z", or "" if it is missing or cannot be parsed.
	LastMod string

	// Priority is the priority of the page within its site, in [0, 1]. If the entry has
	// no valid priority, Ranked is false and Priority is 0.5, the protocol's default.
	Priority float64
	Ranked   bool
}

// Entries yields the entries of the sitemap in r, in order. If the file could not be read to
// its end, the last value is an error of this package; [ErrTruncated] wraps errors of r.
// Entries without a usable address are skipped. A sitemap, index or feed in XML may be
// empty; for any other file without entries, Entries yields [ErrNoSitemap].
//
// The time is linear in the number of bytes read.
func Entries(r io.Reader) iter.Seq2[Entry, error] { return entries(r, MaxSize) }

// entries is like Entries, with the limit size instead of MaxSize.
func entries(r io.Reader, size int64) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := read(r, size, func(e Entry) error {
			if !yield(e, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			yield(Entry{}, err)
		}
	}
}

// errStop is returned by emit when the caller of [Entries] stops the iteration.
var errStop = errors.New("stopped")

// buffered is the size of read buffers.
const buffered = 32 << 10

// read detects the format of r and passes the entries to emit. If emit returns an error,
// read stops and returns it.
func read(r io.Reader, size int64, emit func(Entry) error) error {
	received := &counter{r: r}
	in := bufio.NewReaderSize(received, buffered)
	if head, _ := in.Peek(3); bytes.Equal(head, []byte{0x1f, 0x8b, 8}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return truncated(err)
		}
		in = bufio.NewReaderSize(&bounded{r: z, left: size, received: received}, buffered)
	} else {
		in = bufio.NewReaderSize(&bounded{r: in, left: size}, buffered)
	}
	in = decode(in)
	for {
		c, err := in.ReadByte()
		switch {
		case err == io.EOF:
			return ErrNoSitemap
		case err != nil:
			return truncated(err)
		case strings.IndexByte(whitespace, c) >= 0:
			continue
		}
		if err := in.UnreadByte(); err != nil {
			return err
		}
		if c == '<' {
			return readXML(in, emit)
		}
		return readText(in, emit)
	}
}

// decode converts the text to UTF-8 without a byte order mark. The encoding is determined
// by the mark, by NULs at the positions where UTF-16 has them, or by the XML declaration. It
// ignores a declaration of an unknown encoding, and a declaration of UTF-16 that was readable
// as ASCII, because that cannot be true.
func decode(in *bufio.Reader) *bufio.Reader {
	head, _ := in.Peek(256)
	name := ""
	switch {
	case bytes.HasPrefix(head, []byte("\ufeff")):
		_, _ = in.Discard(3) // cannot fail: Peek has read them
		return in
	case len(head) < 2:
	case head[0] == 0xfe && head[1] == 0xff || head[0] == 0 && head[1] != 0:
		name = "utf-16be"
	case head[0] == 0xff && head[1] == 0xfe || head[0] != 0 && head[1] == 0:
		name = "utf-16le"
	default:
		if _, name = charset.Lookup(declared(head)); strings.HasPrefix(name, "utf-") {
			name = ""
		}
	}
	enc, _ := charset.Lookup(name)
	if enc == nil || name == "replacement" { // the WHATWG name for encodings that must not be decoded
		return in
	}
	out := bufio.NewReaderSize(transform.NewReader(in, enc.NewDecoder()), buffered)
	if mark, _ := out.Peek(3); string(mark) == "\ufeff" {
		_, _ = out.Discard(3)
	}
	return out
}

// declared returns the encoding in the XML declaration, or "" if there is none.
func declared(head []byte) string {
	head = bytes.TrimLeft(head, "\t\r\n ")
	if !bytes.HasPrefix(head, []byte("<?xml")) {
		return ""
	}
	head, _, _ = bytes.Cut(head, []byte("?>"))
	_, after, _ := bytes.Cut(head, []byte("encoding"))
	after = bytes.TrimLeft(after, "\t\r\n =")
	if len(after) == 0 || after[0] != '"' && after[0] != '\'' {
		return ""
	}
	name, _, _ := bytes.Cut(after[1:], after[:1])
	return string(name)
}

// truncated wraps an error that ended a file in ErrTruncated, unless it is an error of
// this package.
func truncated(err error) error {
	switch {
	case err == io.EOF:
		return ErrTruncated
	case errors.Is(err, ErrTruncated) || errors.Is(err, ErrTooLong) || errors.Is(err, ErrRatio):
		return err
	}
	return fmt.Errorf("%w: %w", ErrTruncated, err)
}

// readText reads a list of addresses, one a line. It skips other lines: the protocol does
// not allow them, but some files contain comments.
func readText(in *bufio.Reader, emit func(Entry) error) error {
	found := 0
	var v value
	for {
		chunk, end, err := upToLineEnd(in)
		if v.add(chunk); !end && err == nil {
			continue
		}
		if err != nil && err != io.EOF {
			return truncated(err) // the address may be incomplete
		}
		if loc := v.String(); isAddress(loc) {
			if found++; found > MaxEntries {
				return ErrTooMany
			}
			if err := emit(Entry{Kind: Text, Loc: loc, Priority: 0.5}); err != nil {
				return err
			}
		}
		v.reset()
		switch {
		case err == nil:
		case found == 0:
			return ErrNoSitemap
		default:
			return nil
		}
	}
}

// isAddress reports whether s begins like an http or https URL.
func isAddress(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// upToLineEnd reads up to the first CR or LF, which it consumes but does not return. Then
// end is true. If the buffer contains no CR or LF, it returns the whole buffer. The chunk is
// valid until the next read.
func upToLineEnd(in *bufio.Reader) (chunk []byte, end bool, err error) {
	if _, err := in.Peek(1); err != nil {
		return nil, false, err
	}
	chunk, _ = in.Peek(in.Buffered())
	i := bytes.IndexAny(chunk, "\r\n")
	if i < 0 {
		_, err = in.Discard(len(chunk))
		return chunk, false, err
	}
	_, err = in.Discard(i + 1)
	return chunk[:i], true, err
}

// A counter counts the bytes read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// A bounded reader returns ErrTooLong if r yields more than left bytes, and ErrRatio if it
// yields more than maxRatio bytes for each byte received.
type bounded struct {
	r        io.Reader
	left     int64
	received *counter // counts received bytes; nil: the ratio is not limited
	n        int64    // number of bytes read
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		if n, err := io.ReadFull(b.r, p[:1]); n == 0 {
			return 0, err
		}
		return 0, ErrTooLong
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.n += int64(n)
	b.left -= int64(n)
	if b.received != nil && b.n > 1<<20 && b.n/maxRatio > b.received.n {
		return 0, ErrRatio
	}
	return n, err
}
