// Package sitemap reads the lists of addresses that sites publish for crawlers,
// as https://www.sitemaps.org/protocol.html has them: sitemaps and indexes of
// sitemaps in XML, plain text, RSS 2.0, RSS 1.0 and Atom feeds, each of them with
// gzip around it or without.
//
// It is pure: bytes in, entries out, one by one, in memory that does not grow with
// the file. Where sitemaps are asked for, and which of their entries are believed,
// is the business of others. The protocol lets a sitemap speak of its own site
// only, or of the sites whose robots.txt name it.
//
// Nothing is strict. Namespaces and the name of the root element do not matter,
// only which element stands in which; a tag that is not closed, a bare ampersand or
// a stray < costs an entry at most. Entities that a DTD declares are never
// expanded, and nothing outside the file is ever looked at.
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

// Bounds of one file. The first two are the protocol's.
const (
	MaxEntries = 50_000   // entries, those without an address included; the rest is not read
	MaxSize    = 50 << 20 // bytes without gzip; what follows is not read
	MaxLoc     = 8 << 10  // bytes of an address. The protocol says 2,048 characters; longer ones are in use

	// maxRatio is how many bytes one byte of gzip may become once more than
	// 1 MiB is read. Deflate reaches 1032, lists of addresses stay below 100.
	maxRatio = 1000
)

// Why a file has no more entries. They may have more to say, so ask errors.Is.
var (
	ErrNoSitemap = errors.New("no sitemap") // there was no entry
	ErrTruncated = errors.New("the sitemap breaks off")
	ErrTooLong   = errors.New("the sitemap is longer than 50 MiB")
	ErrTooMany   = errors.New("the sitemap has more than 50,000 entries")
	ErrRatio     = errors.New("the sitemap becomes more than a thousand times as long without gzip")
)

// A Kind is a format.
type Kind string

// The kinds. An entry of an [Index] is the address of another sitemap; those of
// all others are addresses of pages.
const (
	Index  Kind = "sitemapindex"
	URLSet Kind = "urlset"
	Text   Kind = "text"
	RSS    Kind = "rss" // 2.0 and 1.0, and those before
	Atom   Kind = "atom"
)

// An Entry is what a sitemap says of one address.
type Entry struct {
	Kind Kind // of the place where it stands

	// Loc is the address as written, without the white space around it and
	// with entities resolved. It is not empty, valid UTF-8 and at most MaxLoc
	// bytes long. Nobody has checked that it is an address; it may be relative.
	Loc string

	// LastMod is when the page changed, "2006-01-02" or "2006-01-02T15:04:05Z",
	// always UTC; "" if that is not said or cannot be understood.
	LastMod string

	// Priority is the rank of the page among those of its site, in [0, 1]. The
	// protocol's default is 0.5; Ranked tells whether a valid one was given.
	Priority float64
	Ranked   bool

	// ChangeFreq is one of the protocol's seven words, such as "daily", or "".
	ChangeFreq string
}

// Entries reads the file in r. It yields the entries in order and, unless the
// file was read to its end, as the last of all an error with the zero Entry: one
// of this package's, or [ErrTruncated] around the error of r. A sitemap without
// entries is no error. Where an element has no usable address it is skipped.
//
// r is read once. The time taken is linear in the bytes read.
func Entries(r io.Reader) iter.Seq2[Entry, error] { return entries(r, MaxSize) }

// entries is Entries with another bound than MaxSize.
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

// errStop is given by whoever wants no more entries.
var errStop = errors.New("enough")

// buffered is how many bytes are looked at together.
const buffered = 32 << 10

// read finds out what r is and tells emit its entries. It ends at the first error
// of emit.
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
		case isSpace(c):
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

// decode makes the text UTF-8 without byte order mark. The mark decides, or zeros
// where UTF-16 has them, then the XML declaration. A declaration of UTF-16 that
// comes to be read here is wrong, and one of an unknown encoding says nothing.
func decode(in *bufio.Reader) *bufio.Reader {
	head, _ := in.Peek(256)
	name := ""
	switch {
	case bytes.HasPrefix(head, []byte("\ufeff")):
		_, _ = in.Discard(3) // which were peeked at
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
	if enc == nil || name == "replacement" { // the standard's word for what must not be decoded
		return in
	}
	out := bufio.NewReaderSize(transform.NewReader(in, enc.NewDecoder()), buffered)
	if mark, _ := out.Peek(3); string(mark) == "\ufeff" {
		_, _ = out.Discard(3)
	}
	return out
}

// declared is the encoding that an XML declaration names, "" if none does.
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

// truncated says that a file ended because of err, unless err says so already.
func truncated(err error) error {
	switch {
	case err == io.EOF:
		return ErrTruncated
	case errors.Is(err, ErrTooLong) || errors.Is(err, ErrRatio):
		return err
	}
	return fmt.Errorf("%w: %w", ErrTruncated, err)
}

// readText reads a list of addresses, one a line. Other lines are skipped: the
// protocol knows none, but people write comments.
func readText(in *bufio.Reader, emit func(Entry) error) error {
	found := 0
	var v value
	for {
		chunk, end, err := upTo(in, "\r\n")
		if v.add(chunk); !end && err == nil {
			continue
		}
		if err != nil && err != io.EOF {
			return truncated(err) // and with it half an address
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

// isAddress tells whether s begins like an http or https URL.
func isAddress(s string) bool {
	return hasPrefixFold(s, "http://") || hasPrefixFold(s, "https://")
}

// upTo reads up to the first of the delimiters, which is read but not returned;
// end tells that it is there. Without it comes what the buffer has. The chunk is
// good until the next read. An error comes without bytes.
func upTo(in *bufio.Reader, delimiters string) (chunk []byte, end bool, err error) {
	if _, err := in.Peek(1); err != nil {
		return nil, false, err
	}
	chunk, _ = in.Peek(in.Buffered())
	var i int
	if len(delimiters) == 1 {
		i = bytes.IndexByte(chunk, delimiters[0])
	} else {
		i = bytes.IndexAny(chunk, delimiters)
	}
	if i < 0 {
		_, err = in.Discard(len(chunk))
		return chunk, false, err
	}
	_, err = in.Discard(i + 1)
	return chunk[:i], true, err
}

// A counter counts what was read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded is a reader of so many bytes, and of at most maxRatio for each that was
// received. Only if there is one more is that an error.
type bounded struct {
	r        io.Reader
	left     int64
	received *counter // nil: as many as are read
	n        int64    // bytes read
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
