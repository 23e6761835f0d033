package archive

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"slices"
	"strconv"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"spoor/internal/message"
)

// Default levels of compression. At level 6, klauspost/compress needs less than half the time
// of the standard library for 4 % more bytes. zstd at level 1 compresses large pages as well in
// half the time.
const (
	DefaultLevel     = 6
	DefaultZstdLevel = 1
)

// Stored is the level of gzip members that are not compressed.
const Stored = -1

const (
	warcVersion = "WARC/1.1\r\n"
	warcDate    = "2006-01-02T15:04:05.000Z"
)

// A digester computes digests and formats them as other tools do, and as the annotated WARC 1.1
// recommends: SHA-1 in base32, but SHA-256 in lower-case hexadecimal, because in base32 it would
// need padding.
type digester struct {
	label string
	new   func() hash.Hash
	text  func(dst, sum []byte) []byte // appends sum to dst
}

func newDigester(name string) (digester, error) {
	switch name {
	case "", "sha1":
		return digester{"sha1:", sha1.New, base32.StdEncoding.AppendEncode}, nil
	case "sha256":
		return digester{"sha256:", sha256.New, hex.AppendEncode}, nil
	}
	return digester{}, fmt.Errorf("digest %q is not known (hint: sha1 or sha256)", name)
}

// label returns the labelled form of a SHA-1.
func label(sum []byte) string {
	return "sha1:" + base32.StdEncoding.EncodeToString(sum)
}

// A uuid is the identifier of a record: version 4 of RFC 9562.
type uuid [16]byte

// appendURN appends the identifier in the form of the WARC-Record-ID field.
func (u *uuid) appendURN(b []byte) []byte {
	b = append(b, "<urn:uuid:"...)
	for i, part := range [...][]byte{u[:4], u[4:6], u[6:8], u[8:10], u[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	return append(b, '>')
}

// A buffer is an io.Writer that appends.
type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// An encoder encodes and compresses the records of one exchange, each as one member.
type encoder struct {
	digester
	hash    hash.Hash
	deflate *flate.Writer // nil for zstd
	fast    *flate.Writer // for records that are mostly headers
	store   *flate.Writer // does not compress
	zstd    *zstd.Encoder // shared with other encoders

	out   buffer // the members
	head  []byte // header of a record
	block []byte // block of type warc-fields
	whole []byte // the whole record, for zstd
	sum   []byte // digest of a block or a URL

	payload []byte // digest of the payload
	digest  string // labelled digest of the payload
	dated   time.Time
	date    []byte  // WARC-Date field of dated
	ids     [3]uuid // identifiers of the records
	since   int64   // value of Writer.writes when encoding of the exchange began
}

// newEncoder returns an encoder that writes zstd frames. If frames is nil, the encoder writes gzip
// members with a level from 1 to 9, or [Stored].
func newEncoder(d digester, frames *zstd.Encoder, level int) *encoder {
	e := &encoder{digester: d, hash: d.new(), zstd: frames}
	if frames == nil {
		if level == Stored {
			level = flate.NoCompression
		}
		e.deflate, _ = flate.NewWriter(&e.out, level) // fails only for levels that do not exist
		e.fast, _ = flate.NewWriter(&e.out, min(level, flate.BestSpeed))
		e.store, _ = flate.NewWriter(&e.out, flate.NoCompression)
	}
	return e
}

// newFrames returns an encoder of zstd frames that follow Zstandard Compression for WARC Files
// 1.0 of the IIPC: with content size and checksum, and a window of at most 8 MiB. The levels of
// zstd are mapped to four: up to 2, up to 5, up to 9, and above.
func newFrames(level int) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderCRC(true), zstd.WithWindowSize(8<<20),
		zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)))
}

// maxKeptBuffer is the largest buffer that is kept for the next exchange.
const maxKeptBuffer = 4 << 20

func (e *encoder) reset() {
	if cap(e.out) > maxKeptBuffer {
		e.out = nil
	}
	if cap(e.whole) > maxKeptBuffer {
		e.whole = nil
	}
	e.out = e.out[:0]
}

// take computes the digest of the payload of an exchange.
func (e *encoder) take(x *Exchange) {
	e.hash.Reset()
	sum := payloadSum{Hash: e.hash}
	if x.Chunked {
		sum.chunks = new(message.Chunks)
	}
	sum.Write(x.Body)
	e.payload = sum.Sum(e.payload[:0])
	e.sum = e.text(append(e.sum[:0], e.label...), e.payload)
	e.digest = string(e.sum)
}

// start starts the header of a record.
func (e *encoder) start(kind string, id *uuid, date time.Time) {
	e.head = append(e.head[:0], warcVersion...)
	e.field("WARC-Type", kind)
	e.identifier("WARC-Record-ID", id)
	if len(e.date) == 0 || !date.Equal(e.dated) {
		e.dated, e.date = date, date.UTC().AppendFormat(e.date[:0], "WARC-Date: "+warcDate+"\r\n")
	}
	e.head = append(e.head, e.date...)
}

// field adds a field unless its value is empty.
func (e *encoder) field(name, value string) {
	if value != "" {
		e.head = appendField(e.head, name, value)
	}
}

func (e *encoder) identifier(name string, id *uuid) {
	e.head = append(append(e.head, name...), ": "...)
	e.head = append(id.appendURN(e.head), "\r\n"...)
}

// end completes the header of a record whose block is head and body, and compresses the record.
func (e *encoder) end(media string, head, body []byte) {
	e.hash.Reset()
	e.hash.Write(head)
	e.hash.Write(body)
	e.sum = e.hash.Sum(e.sum[:0])
	e.head = append(append(e.head, "WARC-Block-Digest: "...), e.label...)
	e.head = append(e.text(e.head, e.sum), "\r\n"...)
	e.field("Content-Type", media)
	e.head = append(e.head, "Content-Length: "...)
	e.head = append(strconv.AppendInt(e.head, int64(len(head)+len(body)), 10), "\r\n\r\n"...)
	if e.zstd != nil {
		e.whole = append(append(append(append(e.whole[:0], e.head...), head...), body...), recordEnd...)
		e.out = e.zstd.EncodeAll(e.whole, e.out)
		return
	}
	e.member(head, body)
}

var recordEnd = []byte("\r\n\r\n")

// member appends the record as a gzip member (RFC 1952). It stores a body that is already
// compressed, but compresses the headers before it at the fastest level: a higher level would save
// a few bytes, and take more time than the rest of the record.
func (e *encoder) member(head, body []byte) {
	const (
		unknownOS = 255
		small     = 1 << 10 // bytes of a body
	)
	e.out = append(e.out, gzipMagic[0], gzipMagic[1], gzipMagic[2], 0, 0, 0, 0, 0, 0, 0)
	e.out[len(e.out)-1] = unknownOS
	stored := isCompressed(body)
	if stored { // grow once: growing in steps would leave several copies of a long body
		e.out = slices.Grow(e.out, len(body)+len(body)/1024+len(head)+len(e.head)+1024)
	}
	var sum uint32
	size := 0
	deflate := e.deflate
	if stored || len(body) <= small {
		deflate = e.fast
	}
	deflate.Reset(&e.out)
	for i, part := range [...][]byte{e.head, head, body, recordEnd} {
		sum = crc32.Update(sum, crc32.IEEETable, part)
		size += len(part)
		z := deflate
		if stored && i >= 2 {
			if z = e.store; i == 2 {
				deflate.Flush() // ends at a byte boundary; writing to memory cannot fail
				z.Reset(&e.out)
			}
		}
		z.Write(part)
	}
	if stored {
		e.store.Close()
	} else {
		deflate.Close()
	}
	e.out = binary.LittleEndian.AppendUint32(e.out, sum)
	e.out = binary.LittleEndian.AppendUint32(e.out, uint32(size))
}

// isCompressed reports whether a body seems to be compressed or encrypted: it is a gzip member,
// or all bytes of a sample from its middle have about the same frequency. It does not use the
// headers of the response.
func isCompressed(body []byte) bool {
	const minSample, maxSample = 256, 2048
	if bytes.HasPrefix(body, gzipMagic) {
		return true
	}
	sample := body
	if len(body) > maxSample {
		sample = body[(len(body)-maxSample)/2:][:maxSample]
	}
	if len(sample) < minSample {
		return false
	}
	var count [256]int
	for _, c := range sample {
		count[c]++
	}
	// The probability that two random bytes of the sample are equal is 1/256 if all bytes have
	// the same frequency, and about 1/15 in text.
	pairs := 0
	for _, n := range count {
		pairs += n * (n - 1)
	}
	return pairs < len(sample)*(len(sample)-1)/128
}
