package archive

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"
)

// A claim is the value of a digest field.
type claim struct {
	field string
	text  string
	make  func() hash.Hash
	sum   []byte
}

// parseClaim parses a labelled digest. The label may be spelled in any way in use (sha1,
// SHA-1). The digest may be hexadecimal, base32, or base64 with either alphabet, padded or not,
// which its length tells apart. A digest without label is a SHA-1. A malformed digest is a
// claim that is always wrong.
func parseClaim(field, text string) (*claim, error) {
	c := &claim{field: field, text: text}
	label, sum, ok := strings.Cut(text, ":")
	if !ok {
		label, sum = "sha1", text
	}
	switch strings.ToLower(strings.ReplaceAll(label, "-", "")) {
	case "md5":
		c.make = md5.New
	case "sha1":
		c.make = sha1.New
	case "sha256":
		c.make = sha256.New
	case "sha512":
		c.make = sha512.New
	default:
		return nil, fmt.Errorf("%s %.200q is of an algorithm that is not known here", field, text)
	}
	sum = strings.TrimRight(strings.TrimSpace(sum), "=")
	b32, size := base32.StdEncoding.WithPadding(base32.NoPadding), c.make().Size()
	switch len(sum) {
	case hex.EncodedLen(size):
		c.sum, _ = hex.DecodeString(sum)
	case b32.EncodedLen(size):
		c.sum, _ = b32.DecodeString(strings.ToUpper(sum))
	case base64.RawStdEncoding.EncodedLen(size):
		c.sum, _ = base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(sum))
	}
	return c, nil
}

// is reports whether the sum of h is the claimed one.
func (c *claim) is(h hash.Hash) bool { return bytes.Equal(h.Sum(nil), c.sum) }

// Digest fields.
const (
	blockDigest   = "WARC-Block-Digest"
	payloadDigest = "WARC-Payload-Digest"
)

// A payloadForm says which form of a chunked body a payload digest was computed from.
type payloadForm int

const (
	unchunked payloadForm = iota // the body has no chunks
	chunked                      // as received
	dechunked
)

// A checker computes the digests of the block that is written to it, and compares them with
// those in the header of the record.
type checker struct {
	unknown []error // digests that cannot be checked
	block   *claim
	payload *claim

	blockSum hash.Hash
	sum      hash.Hash // of the payload as it is in the block
	http     bool      // the header of an HTTP message is being read, which is not payload
	head     []byte    // that header
	empty    bool      // the current line of it is empty so far
	chunks   *dechunker
	start    []byte // of the block, as far as a status line matters
}

// maxStart is how many bytes of a block a checker keeps to check its status line.
const maxStart = 64

// reset prepares the checker for the block of a record with that header.
func (c *checker) reset(h Header) {
	*c = checker{unknown: c.unknown[:0], head: c.head[:0], start: c.start[:0]}
	c.block, c.blockSum = c.claim(h, blockDigest)
	if h.Get("WARC-Type") == "revisit" {
		return // its payload is in another record
	}
	c.payload, c.sum = c.claim(h, payloadDigest)
	c.http = strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "application/http")
}

func (c *checker) claim(h Header, field string) (*claim, hash.Hash) {
	text := h.Get(field)
	if text == "" {
		return nil, nil
	}
	claim, err := parseClaim(field, text)
	if err != nil {
		c.unknown = append(c.unknown, err)
		return nil, nil
	}
	return claim, claim.make()
}

// claims returns the number of digests of the record that can be checked.
func (c *checker) claims() (n int) {
	for _, claim := range []*claim{c.block, c.payload} {
		if claim != nil {
			n++
		}
	}
	return n
}

func (c *checker) Write(p []byte) (int, error) {
	c.start = append(c.start, p[:min(len(p), maxStart-len(c.start))]...)
	if c.block != nil {
		c.blockSum.Write(p)
	}
	if c.payload == nil {
		return len(p), nil
	}
	rest := p
	if c.http {
		rest = c.header(p)
	}
	c.sum.Write(rest)
	if c.chunks != nil {
		c.chunks.Write(rest)
	}
	return len(p), nil
}

// header reads the header of the message from p, and returns what follows it.
func (c *checker) header(p []byte) []byte {
	for i, b := range p {
		switch b {
		case '\n':
			if c.empty {
				c.head = append(c.head, p[:i+1]...)
				c.http = false
				if isChunked(parseHead(c.head).Header) {
					c.chunks = &dechunker{sum: c.payload.make()}
				}
				return p[i+1:]
			}
			c.empty = true
		case '\r':
		default:
			c.empty = false
		}
	}
	if c.head = append(c.head, p...); len(c.head) > maxHeader {
		c.http = false // too long for a header
		c.sum.Write(c.head)
	}
	return nil
}

// form returns the form of the payload that has the claimed digest; ok is false if there is
// none.
func (c *checker) form() (form payloadForm, ok bool) {
	switch {
	case c.payload == nil:
		return unchunked, true
	case c.http: // the header does not end, so all of the block is header, or all of it payload
		empty := c.payload.make()
		ok = c.payload.is(empty)
		empty.Write(c.head)
		return unchunked, ok || c.payload.is(empty)
	case c.chunks == nil:
		return unchunked, c.payload.is(c.sum)
	case c.payload.is(c.sum):
		return chunked, true
	}
	return dechunked, c.payload.is(c.chunks.sum)
}

// wrong returns the claims that are not right.
func (c *checker) wrong() []*claim {
	var all []*claim
	if c.block != nil && !c.block.is(c.blockSum) {
		all = append(all, c.block)
	}
	if _, ok := c.form(); !ok {
		all = append(all, c.payload)
	}
	return all
}

// A dechunker removes the chunks of what is written to it, like dechunk, and adds the rest to
// sum.
type dechunker struct {
	sum   hash.Hash
	line  []byte // first line of a chunk, until it is complete
	left  uint64 // bytes left of the chunk
	state chunkState
}

type chunkState int

const (
	chunkSizeLine chunkState = iota
	chunkData
	chunkCR // the end of the line after a chunk follows, or is missing
	chunkLF
	chunkNone // malformed: everything that follows counts
	chunkEnd  // after the last chunk
)

// maxChunkLine limits the first line of a chunk, with its extensions, in bytes.
const maxChunkLine = 4 << 10

func (d *dechunker) Write(p []byte) {
	for len(p) > 0 {
		switch d.state {
		case chunkSizeLine:
			p = d.size(p)
		case chunkData:
			n := min(d.left, uint64(len(p)))
			d.sum.Write(p[:n])
			p = p[n:]
			if d.left -= n; d.left == 0 {
				d.state = chunkCR
			}
		case chunkCR:
			p, d.state = bytes.TrimPrefix(p, []byte("\r")), chunkLF
		case chunkLF:
			p, d.state = bytes.TrimPrefix(p, []byte("\n")), chunkSizeLine
		case chunkNone:
			d.sum.Write(p)
			return
		case chunkEnd:
			return
		}
	}
}

// size reads the first line of a chunk.
func (d *dechunker) size(p []byte) (rest []byte) {
	i := bytes.IndexByte(p, '\n')
	whole := i >= 0
	if !whole {
		i = len(p) - 1
	}
	d.line = append(d.line, p[:i+1]...)
	rest = p[i+1:]
	if !whole && len(d.line) <= maxChunkLine {
		return rest
	}
	size, _, _ := bytes.Cut(bytes.TrimRight(d.line, "\r\n"), []byte(";"))
	n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 62)
	switch {
	case err != nil || !whole:
		d.state = chunkNone
		d.sum.Write(d.line)
	case n == 0:
		d.state = chunkEnd
	default:
		d.state, d.left = chunkData, n
	}
	d.line = d.line[:0]
	return rest
}
