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
	"net/http"
	"strings"

	"spoor/internal/message"
)

// A claim is the value of a digest field.
type claim struct {
	field     string
	text      string
	algorithm string // "md5", "sha1", "sha256" or "sha512"
	make      func() hash.Hash
	sum       []byte // nil if the digest is malformed
}

// parseClaim parses a labelled digest. It accepts all common spellings of the label (sha1,
// SHA-1). The digest may be hexadecimal, base32, or base64 with either alphabet, padded or not;
// its length determines which. A digest without label is a SHA-1. For a malformed digest, parseClaim
// returns a claim that is always wrong.
func parseClaim(field, text string) (*claim, error) {
	label, sum, ok := strings.Cut(text, ":")
	if !ok {
		label, sum = "sha1", text
	}
	c := &claim{field: field, text: text, algorithm: strings.ToLower(strings.ReplaceAll(label, "-", ""))}
	switch c.algorithm {
	case "md5":
		c.make = md5.New
	case "sha1":
		c.make = sha1.New
	case "sha256":
		c.make = sha256.New
	case "sha512":
		c.make = sha512.New
	default:
		return nil, fmt.Errorf("%s %.200q has an algorithm that is not supported", field, text)
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
	sum      hash.Hash   // digest of the payload as stored in the block
	chunks   *payloadSum // digest of the payload without its chunks; nil if it has none

	http   bool   // the header of an HTTP message, which is not payload, is being read
	head   []byte // the part of the header that was read
	final  int    // length of the interim responses in head
	status int    // status of a response; 0 if it is invalid
}

// reset prepares the checker for the block of a record with that header.
func (c *checker) reset(h Header) {
	*c = checker{unknown: c.unknown[:0], head: c.head[:0]}
	c.block, c.blockSum = c.claim(h, blockDigest)
	c.http = strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "application/http")
	if strings.EqualFold(h.Get("WARC-Type"), "revisit") {
		return // the payload is in another record
	}
	c.payload, c.sum = c.claim(h, payloadDigest)
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
	if c.block != nil {
		c.blockSum.Write(p)
	}
	rest := p
	if c.http {
		rest = c.header(p)
	}
	if c.payload != nil {
		c.sum.Write(rest)
	}
	if c.chunks != nil {
		c.chunks.Write(rest)
	}
	return len(p), nil
}

// header reads the header of the message from p, and returns what follows it.
func (c *checker) header(p []byte) []byte {
	searched := len(c.head) - c.final
	c.head = append(c.head, p...)
	for {
		unread := c.head[c.final:]
		n := message.Length(unread, searched)
		if n == 0 {
			break
		}
		head, _ := message.Parse(unread[:n])
		c.final, searched = c.final+n, 0
		if head.IsInterim() {
			continue
		}
		c.http, c.status = false, parseHead(c.head[:c.final]).StatusCode
		if c.payload != nil && message.IsChunked(head.Header) {
			c.chunks = &payloadSum{c.payload.make(), new(message.Chunks)}
		}
		return c.head[c.final:]
	}
	if len(c.head) > maxHeader {
		// It is too long for a header, so all of the block is payload.
		c.http, c.status = false, parseHead(c.head).StatusCode
		return c.head
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
	return dechunked, c.payload.is(c.chunks)
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

// A payloadSum computes the digest of a payload: the body without its chunks (WARC 1.1, section
// 6.3.2). The body is written to it.
type payloadSum struct {
	hash.Hash
	chunks *message.Chunks // nil: the body has no chunks
}

// newPayloadSum returns a payloadSum that uses h, for a body that was received with that header.
func newPayloadSum(h hash.Hash, header http.Header) *payloadSum {
	s := &payloadSum{Hash: h}
	if message.IsChunked(header) {
		s.chunks = new(message.Chunks)
	}
	return s
}

func (s *payloadSum) Write(p []byte) (int, error) {
	if s.chunks == nil {
		return s.Hash.Write(p)
	}
	for rest := p; len(rest) > 0 && !s.chunks.Ended(); {
		content, n := s.chunks.Next(rest)
		s.Hash.Write(content)
		rest = rest[n:]
	}
	return len(p), nil
}

// Sum ends the body.
func (s *payloadSum) Sum(b []byte) []byte {
	if s.chunks != nil {
		content, _ := s.chunks.Close()
		s.Hash.Write(content)
		s.chunks = nil
	}
	return s.Hash.Sum(b)
}
