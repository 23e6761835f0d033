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

// parseClaim parses a labelled digest. It accepts all common spellings of the label (sha1,
// SHA-1). The digest may be hexadecimal, base32, or base64 with either alphabet, padded or not;
// its length determines which. A digest without label is a SHA-1. For a malformed digest, parseClaim
// returns a claim that is always wrong.
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

// is reports whether the sum of h is the claimed digest.
func (c *claim) is(h hash.Hash) bool { return bytes.Equal(h.Sum(nil), c.sum) }

// Digest fields.
const (
	blockDigest   = "WARC-Block-Digest"
	payloadDigest = "WARC-Payload-Digest"
)

// A payloadForm is the form of a body from which a payload digest was computed.
type payloadForm int

const (
	unchunked payloadForm = iota // the body has no chunks
	chunked                      // with its chunks, as received
	dechunked                    // without its chunks
)

// A checker computes the digests of the block that is written to it, and compares them with the
// digests in the header of the record.
type checker struct {
	unknown []error // digests that cannot be checked
	block   *claim
	payload *claim

	blockSum hash.Hash
	sum      hash.Hash // digest of the payload as stored in the block
	http     bool      // the header of an HTTP message, which is not payload, is being read
	head     []byte    // the part of this header that was read
	empty    bool      // the current line of the header is empty so far
	chunks   *dechunker
	start    []byte // the first maxStart bytes of the block
}

// maxStart is the number of bytes of a block that a checker keeps to check the status line.
const maxStart = 64

// reset prepares the checker for the block of a record with that header.
func (c *checker) reset(h Header) {
	*c = checker{unknown: c.unknown[:0], head: c.head[:0], start: c.start[:0]}
	c.block, c.blockSum = c.claim(h, blockDigest)
	if h.Get("WARC-Type") == "revisit" {
		return // the payload is in another record
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
		c.http = false // too long for a header, so all of the block is payload
		c.sum.Write(c.head)
	}
	return nil
}

// form returns the form of the payload that has the claimed digest. ok is false if no form has
// this digest.
func (c *checker) form() (form payloadForm, ok bool) {
	switch {
	case c.payload == nil:
		return unchunked, true
	case c.http: // the header does not end: either the whole block is header, or the whole block is payload
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

// wrong returns the claims that do not match the data.
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

// A dechunker removes the chunk framing of the data that is written to it, like dechunk, and adds
// the content of the chunks to sum.
type dechunker struct {
	sum   hash.Hash
	line  []byte // the first line of a chunk, while it is incomplete
	left  uint64 // number of bytes of the chunk that are left
	state chunkState
}

type chunkState int

const (
	chunkSizeLine chunkState = iota
	chunkData
	chunkCR // before the line break after a chunk, which may be missing
	chunkLF
	chunkNone // after a malformed chunk: all following data is content
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
