package archive

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// level is of gzip. Level 6 is where klauspost's deflate is as small as that
	// of the standard library to within 3 %, at more than twice its speed.
	level = 6

	// denseLevel is for bodies that are compressed already. Level 1 looks at them
	// hardly at all, makes them no larger than level 6 would, and still packs the
	// header in front of them.
	denseLevel = 1

	warcVersion = "WARC/1.1\r\n"
	warcDate    = "2006-01-02T15:04:05.000Z"
)

// A digester is a way to make digests, in the text form that other tools write
// and the annotated WARC 1.1 recommends: SHA-1 in base32, which needs no padding,
// and SHA-256, which would, in lower-case hexadecimal.
type digester struct {
	label  string
	new    func() hash.Hash
	append func(dst, sum []byte) []byte
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

// label is a SHA-1 with its label.
func label(sum []byte) string {
	return "sha1:" + base32.StdEncoding.EncodeToString(sum)
}

// A uuid identifies a record: version 4 of RFC 9562.
type uuid [16]byte

// appendURN appends the identifier as records have it.
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

// A buffer is written to at its end.
type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// An encoder packs the records of one exchange, each into a member of its own.
type encoder struct {
	digester
	hash        hash.Hash
	gzip, dense *gzip.Writer  // nil for zstd
	zstd        *zstd.Encoder // shared with other encoders

	out     buffer  // members
	head    []byte  // of a record
	block   []byte  // of warc-fields
	whole   []byte  // record to become a frame
	payload []byte  // digest of the payload, as bytes
	text    []byte  // of a digest
	ids     [3]uuid // of the records
}

// newEncoder makes an encoder of gzip members, or of zstd frames if there is
// something to make them.
func newEncoder(d digester, frames *zstd.Encoder) *encoder {
	e := &encoder{digester: d, hash: d.new(), zstd: frames}
	if frames == nil {
		e.gzip, _ = gzip.NewWriterLevel(&e.out, level) // fails only for levels that do not exist
		e.dense, _ = gzip.NewWriterLevel(&e.out, denseLevel)
	}
	return e
}

// newFrames makes what makes zstd frames as the IIPC's specification of WARC in
// zstd wants them: each with the size of its content and a checksum,
// and none with a window of more than 8 MiB.
func newFrames() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderCRC(true), zstd.WithWindowSize(8<<20))
}

// keepPacked is the largest buffer that is kept for the next exchange.
const keepPacked = 4 << 20

func (e *encoder) reset() {
	if cap(e.out) > keepPacked {
		e.out = nil
	}
	if cap(e.whole) > keepPacked {
		e.whole = nil
	}
	e.out = e.out[:0]
}

// digest sets the digest of the payload.
func (e *encoder) digest(body []byte) {
	e.hash.Reset()
	e.hash.Write(body)
	e.payload = e.hash.Sum(e.payload[:0])
}

// payloadDigest is the digest of the payload with its label.
func (e *encoder) payloadDigest() string {
	e.text = e.append(append(e.text[:0], e.label...), e.payload)
	return string(e.text)
}

// start begins the header of a record.
func (e *encoder) start(kind string, id *uuid, date time.Time) {
	e.head = append(e.head[:0], warcVersion...)
	e.field("WARC-Type", kind)
	e.identifier("WARC-Record-ID", id)
	e.head = append(e.head, "WARC-Date: "...)
	e.head = append(date.UTC().AppendFormat(e.head, warcDate), "\r\n"...)
}

// field adds a field, unless it is empty.
func (e *encoder) field(name, value string) {
	if value != "" {
		e.head = appendField(e.head, name, value)
	}
}

func (e *encoder) identifier(name string, id *uuid) {
	e.head = append(append(e.head, name...), ": "...)
	e.head = append(id.appendURN(e.head), "\r\n"...)
}

// end completes the header of a record whose block is head and body together,
// and packs it.
func (e *encoder) end(media string, head, body []byte) {
	e.hash.Reset()
	e.hash.Write(head)
	e.hash.Write(body)
	var sum [sha256.Size]byte
	e.head = append(append(e.head, "WARC-Block-Digest: "...), e.label...)
	e.head = append(e.append(e.head, e.hash.Sum(sum[:0])), "\r\n"...)
	e.field("Content-Type", media)
	e.head = append(e.head, "Content-Length: "...)
	e.head = append(strconv.AppendInt(e.head, int64(len(head)+len(body)), 10), "\r\n\r\n"...)

	const end = "\r\n\r\n"
	if e.zstd != nil {
		e.whole = append(append(append(append(e.whole[:0], e.head...), head...), body...), end...)
		e.out = e.zstd.EncodeAll(e.whole, e.out)
		return
	}
	z := e.gzip
	if dense(body) {
		z = e.dense
	}
	z.Reset(&e.out)
	z.Write(e.head) // into memory: cannot fail
	z.Write(head)
	z.Write(body)
	z.Write([]byte(end))
	z.Close()
}

// dense tells whether a body is compressed already, or encrypted, by the bytes
// in four places of it: they are all about as frequent as each other. What the
// server says of the body is not asked, since the answer is in plain sight.
func dense(body []byte) bool {
	const window, windows = 512, 4
	if len(body) < window*windows {
		return false // there is nothing to be gained
	}
	var count [256]uint32
	for i := range windows {
		at := (len(body) - window) / (windows - 1) * i
		for _, c := range body[at : at+window] {
			count[c]++
		}
	}
	// Two bytes taken at random are equal once in 256 times if all are equally
	// frequent, and in text once in 15. Halfway, in bits, is far from both.
	var squares uint32
	for _, n := range count {
		squares += n * n
	}
	return squares < window*windows*window*windows/128
}
