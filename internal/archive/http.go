package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"spoor/internal/message"
)

// Limits contains the limits of the size of a response.
type Limits struct {
	// Body is the maximum size of a body in bytes, both as received and as decoded; 0 means
	// [DefaultBody].
	Body int64
}

// DefaultBody is the default value of Body in [Limits].
const DefaultBody = 10 << 20

// maxRatio is the largest compression ratio of a body that decodes to more than 1 MiB. Deflate
// reaches 1032 for zeros; text stays below 100.
const maxRatio = 1000

func (l Limits) body() int64 {
	if l.Body > 0 {
		return l.Body
	}
	return DefaultBody
}

// A Response is a parsed HTTP response.
type Response struct {
	message.Head
	Raw  []byte // everything after the header, as received
	Body []byte // without chunks and content coding

	// Truncated is "length" if Body was cut at the limit, "disconnect" if its chunks or coding
	// are incomplete, and otherwise empty.
	Truncated string
}

// ContentType returns the media type without parameters, in lower case. If the header has none,
// it is detected from the body.
func (r *Response) ContentType() string {
	if t := message.MediaType(r.Header["Content-Type"]...); t != "" {
		return t
	}
	if len(r.Body) == 0 {
		return ""
	}
	return message.MediaType(http.DetectContentType(r.Body))
}

// Charset returns the charset in the header, in lower case, or "".
func (r *Response) Charset() string {
	_, charset := message.ContentType(r.Header["Content-Type"]...)
	return charset
}

// Digest returns the labelled digest of the payload, as [Digest] does.
func (r *Response) Digest() string {
	sum := newPayloadSum(sha1.New(), r.Header)
	sum.Write(r.Raw)
	return label(sum.Sum(nil))
}

// A Decoder decodes the bodies of responses. The zero value is ready for use. Reusing a Decoder
// saves allocations. A Decoder is not safe for concurrent use.
type Decoder struct {
	Limits Limits

	src bytes.Reader
	br  *brotli.Reader
	zs  *zstd.Decoder
}

// Response parses and decodes a response from a block of application/http. The response does
// not share memory with the Decoder.
//
// It accepts deviations that occur in archives: header lines that end with a bare newline, a
// block without header (which is a body with status 200), and bodies without the chunks or
// coding that the header claims.
//
// Response returns [ErrTooLarge] together with a response that was cut at the limit, [ErrStatus]
// together with a response without status, header and body, or the error of reading block.
func (d *Decoder) Response(block io.Reader) (*Response, error) {
	raw, cut, err := readAll(nil, block, 0, d.Limits.body()+maxHeader)
	if err != nil {
		return nil, err
	}
	r, err := d.parse(nil, raw)
	if cut && err == nil {
		err = fmt.Errorf("%w: more than %d bytes as received", ErrTooLarge, d.Limits.body())
		r.Truncated = "length"
	}
	return r, err
}

// parse parses and decodes a block. The response shares the memory of the block. If the body must be
// decoded, it is stored in dst if the capacity of dst suffices.
func (d *Decoder) parse(dst, block []byte) (*Response, error) {
	r := parseHead(block)
	if r.StatusCode == 0 {
		return &Response{Head: r.Head}, fmt.Errorf("%w: %.40q", ErrStatus, message.StatusLine(block))
	}
	if r.HasNoBody() {
		return r, nil
	}
	body, truncated, err := d.Decode(dst, r.Raw, r.Header)
	r.Body, r.Truncated = body, truncated
	return r, err
}

// readAll reads at most limit bytes into dst, and reports whether there were more. hint is the
// expected number of bytes. readAll returns no error for a truncated block.
func readAll(dst []byte, r io.Reader, hint, limit int64) (b []byte, cut bool, err error) {
	const trust = 1 << 20
	b, cut, err = fill(emptied(dst, int(max(512, min(hint, limit, trust)+1))), r, limit)
	if err == io.ErrUnexpectedEOF {
		err = nil
	}
	return b, cut, err
}

// fill reads at most limit bytes into the capacity of b, which it extends if necessary, and
// reports whether there were more.
func fill(b []byte, r io.Reader, limit int64) (_ []byte, cut bool, err error) {
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if int64(len(b)) > limit {
			return b[:limit], true, nil
		}
		if err == io.EOF {
			return b, false, nil
		}
		if err != nil {
			return b, false, err
		}
		if len(b) == cap(b) {
			b = slices.Grow(b, len(b))
		}
	}
}

// ErrStatus is returned for a response that begins with HTTP/, but whose first line is not the
// status line of a final response.
var ErrStatus = errors.New("the status line is invalid")

// ErrCoding is returned for a body whose coding cannot be removed.
var ErrCoding = errors.New("the body cannot be decoded")

// parseHead parses the head of the final response in a block; see [message.Final].
func parseHead(block []byte) *Response {
	head, body := message.Final(block)
	return &Response{Head: head, Raw: body}
}

// Decode removes chunks and codings from a body that was received with that header. The result
// truncated has the values of [Response.Truncated]. If the body exceeds the limit, Decode returns
// it cut at the limit, and [ErrTooLarge]; if a coding cannot be removed, it returns nil and
// [ErrCoding]. It does not change a body without the chunks or coding that the header claims.
//
// A decoded body is stored in dst if the capacity of dst suffices.
func (d *Decoder) Decode(dst, raw []byte, header http.Header) (body []byte, truncated string, err error) {
	body = raw
	limit := d.Limits.body()
	// Limit the ratio of all codings together: nested codings could reach a million.
	maxDecoded := min(limit, max(maxRatio*int64(len(raw)), 1<<20))
	for i, coding := range slices.Backward(message.Codings(header)) {
		var to []byte
		if i == 0 {
			to = dst
		}
		var cut error
		var whole bool
		if coding == "chunked" {
			body, whole = message.Dechunk(to, body)
		} else if body, whole, cut = d.uncode(to, coding, body, maxDecoded); errors.Is(cut, ErrCoding) {
			return nil, "", cut
		}
		if !whole {
			truncated = "disconnect"
		}
		err = cmp.Or(err, cut)
	}
	if err == nil && int64(len(body)) > limit {
		body, err = body[:limit], fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	if err != nil {
		truncated = "length"
	}
	return body, truncated, err
}

// emptied returns dst with length 0, or a new slice if the capacity of dst is less than n.
func emptied(dst []byte, n int) []byte {
	if n > cap(dst) {
		return make([]byte, 0, n)
	}
	return dst[:0]
}

// uncode removes one coding. whole is false if the coding is incomplete or corrupt; then the start
// of the body is returned. A body that does not have the coding is returned unchanged.
func (d *Decoder) uncode(dst []byte, coding string, body []byte, limit int64) (_ []byte, whole bool, err error) {
	if len(body) == 0 {
		return body, true, nil
	}
	d.src.Reset(body)
	defer d.src.Reset(nil) // do not keep a long body in memory
	r, err := d.open(coding, body)
	if err != nil {
		return refused(coding, body, err)
	}
	out := emptied(dst, int(min(limit, promised(coding, body)))+1) // one more byte to detect the end
	out, cut, err := fill(out, r, limit)
	switch {
	case cut:
		return out, true, fmt.Errorf("%w: %d bytes of %s become more than %d", ErrTooLarge, len(body), coding, limit)
	case err != nil && len(out) == 0:
		return refused(coding, body, err)
	}
	return out, err == nil, nil
}

// errUnknownCoding is the error of a coding that cannot be removed.
var errUnknownCoding = errors.New("the coding is not supported")

// refused returns the result of uncode for a body whose decoding failed with err before the first
// byte. The body has the coding if it begins like it, or if it looks like neither text nor a known
// format. Otherwise it is returned unchanged, because some programs archive decoded bodies with the
// original header.
func refused(coding string, body []byte, err error) ([]byte, bool, error) {
	isCoded := http.DetectContentType(body) == "application/octet-stream"
	switch coding {
	case "gzip", "x-gzip":
		isCoded = bytes.HasPrefix(body, gzipMagic[:min(2, len(body))])
	case "zstd":
		isCoded = isFrame(body)
	case "deflate", "br", "compress", "x-compress", "dcb", "dcz":
	default: // no compression, as utf-8 or binary
		isCoded = false
	}
	switch {
	case !isCoded:
		return body, true, nil
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		return nil, false, nil
	}
	return nil, false, fmt.Errorf("%w: %s: %w", ErrCoding, coding, err)
}

// Promised estimates the size of a decoded body: the size at the end of a gzip member, or a
// guess.
func Promised(raw []byte, header http.Header) int64 {
	switch codings := message.Codings(header); {
	case len(codings) == 0:
		return int64(len(raw))
	case message.IsChunked(header): // the end of the last member is not the end of raw
		return promised("chunked", raw)
	default:
		return promised(codings[len(codings)-1], raw)
	}
}

func promised(coding string, body []byte) int64 {
	const (
		usualRatio      = 4
		maxDeflateRatio = 1032
	)
	if n := len(body); n > 4 && (coding == "gzip" || coding == "x-gzip") {
		if size := int64(binary.LittleEndian.Uint32(body[n-4:])); size <= maxDeflateRatio*int64(n) {
			return size
		}
	}
	return usualRatio * int64(len(body))
}

// open returns a reader that removes a coding.
func (d *Decoder) open(coding string, body []byte) (r io.Reader, err error) {
	switch coding {
	case "gzip", "x-gzip":
		return newGunzips(&d.src)
	case "deflate":
		// RFC 9110 requires the zlib format; some servers send deflate without it.
		if len(body) >= 2 && body[0]&0x0f == 8 && (uint(body[0])<<8|uint(body[1]))%31 == 0 {
			return zlib.NewReader(&d.src)
		}
		return flate.NewReader(&d.src), nil // not reused, see newGzipReader
	case "br":
		if d.br == nil {
			d.br = brotli.NewReader(&d.src)
			return d.br, nil
		}
		return d.br, d.br.Reset(&d.src)
	case "zstd":
		if d.zs == nil {
			// RFC 9659 allows windows of up to 8 MiB.
			d.zs, err = zstd.NewReader(&d.src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
			return d.zs, err
		}
		return d.zs, d.zs.Reset(&d.src)
	}
	return nil, errUnknownCoding
}

// A gunzips reads the gzip members at the start of a body. It ignores all data after them, because
// some servers append garbage. It has one reader for all members, because a hostile body may have
// half a million.
type gunzips struct {
	z   *gzip.Reader
	src *bytes.Reader
}

func newGunzips(src *bytes.Reader) (*gunzips, error) {
	z, err := newGzipReader(src)
	return &gunzips{z, src}, err
}

func (g *gunzips) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		switch {
		case err != io.EOF:
			return n, err
		case n > 0:
			return n, nil
		case g.z.Reset(g.src) != nil:
			return 0, io.EOF
		}
		g.z.Multistream(false)
	}
}

// method returns the method of the request at the start of a block, or "" if it is not HTTP.
func method(block io.Reader) string {
	b, err := bufio.NewReaderSize(io.LimitReader(block, 64), 64).ReadString(' ')
	if err != nil {
		return ""
	}
	return b[:len(b)-1]
}

// lineBreaks replaces the characters that would end the line of a field.
var lineBreaks = strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ")
