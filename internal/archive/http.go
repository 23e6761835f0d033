package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
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
	Proto      string // "HTTP/1.1"; "HTTP/0.9" if the block has no header
	StatusCode int
	Reason     string
	Header     http.Header // canonical names, values as received
	Raw        []byte      // everything after the header, as received
	Body       []byte      // without chunks and content coding

	// Truncated is "length" if Body was cut at the limit, "disconnect" if its chunks or coding
	// are incomplete, and otherwise empty.
	Truncated string
}

// ContentType returns the media type without parameters, in lower case. If the header has none,
// it is detected from the body.
func (r *Response) ContentType() string {
	if t := MediaType(r.Header.Get("Content-Type")); t != "" {
		return t
	}
	if len(r.Body) == 0 {
		return ""
	}
	return MediaType(http.DetectContentType(r.Body))
}

// Maximum lengths of valid names: RFC 6838, section 4.2, allows 127 characters on each side of the
// slash of a media type; RFC 2978 allows 40 characters for a charset.
const (
	maxMediaType = 255
	maxCharset   = 40
)

// MediaType returns the media type in a Content-Type, without parameters and in lower case, or
// "" if there is none. It accepts parameters that [mime.ParseMediaType] does not.
func MediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	t, _, _ = strings.Cut(t, ",") // use the first of several joined headers
	t = strings.ToLower(strings.TrimSpace(t))
	if kind, sub, ok := strings.Cut(t, "/"); !ok || kind == "" || sub == "" || len(t) > maxMediaType || strings.ContainsAny(t, " \t\"<>") {
		return ""
	}
	return t
}

// Charset returns the charset parameter of a Content-Type, in lower case, or "".
func Charset(contentType string) string {
	if c := charset(contentType); len(c) <= maxCharset {
		return c
	}
	return ""
}

func charset(contentType string) string {
	if _, p, err := mime.ParseMediaType(contentType); err == nil {
		return strings.ToLower(strings.TrimSpace(p["charset"]))
	}
	lower := strings.ToLower(contentType)
	_, v, ok := strings.Cut(lower, "charset=")
	if !ok {
		return ""
	}
	v, _, _ = strings.Cut(v, ";")
	return strings.Trim(strings.TrimSpace(v), `"'`)
}

// A Decoder decodes the bodies of responses. The zero value is ready for use. Reusing a Decoder
// saves allocations. A Decoder is not safe for concurrent use.
type Decoder struct {
	Limits Limits

	src bytes.Reader
	in  inflater
	gz  gunzips
	fl  io.ReadCloser
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
		line, _, _ := cutLine(block)
		return &Response{Proto: r.Proto, Header: r.Header}, fmt.Errorf("%w: %.40q", ErrStatus, line)
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

// parseHead parses the status line and the header. If the status line is invalid, the status
// is 0, and there is no header. A block that does not begin with a status line is HTTP/0.9.
//
// A status has three digits. RFC 9110, section 15, calls statuses above 599 invalid, but requires
// that clients treat them like 5xx instead of rejecting the response, and some sites use them
// (999). The statuses of interim responses (1xx), which precede the response, are invalid here.
func parseHead(block []byte) *Response {
	r := &Response{Proto: "HTTP/0.9", StatusCode: http.StatusOK, Header: http.Header{}, Raw: block}
	line, rest, _ := cutLine(block)
	proto, status, _ := bytes.Cut(line, []byte(" "))
	code, reason, _ := bytes.Cut(bytes.TrimLeft(status, " "), []byte(" "))
	isHTTP := bytes.HasPrefix(proto, []byte("HTTP/"))
	n, ok := parseStatus(code)
	switch {
	case (isHTTP || string(proto) == "ICY") && ok && n >= 200:
		r.Proto, r.StatusCode, r.Reason = string(proto), n, string(reason)
	case isHTTP:
		r.StatusCode = 0
		return r
	default:
		return r
	}
	key := ""
	var folded []byte // value of key so far, if the value continues on further lines
	unfold := func() {
		if v := r.Header[key]; folded != nil {
			v[len(v)-1], folded = string(folded), nil
		}
	}
	for {
		line, after, ok := cutLine(rest)
		if !ok && len(line) > 0 && bytes.IndexByte(line, ':') < 0 || len(block)-len(rest) > maxHeader {
			break // the empty line is missing: the rest is not a header
		}
		rest = after
		if len(line) == 0 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			v := r.Header[key]
			switch {
			case len(v) == 0:
				continue
			case folded == nil:
				folded = []byte(v[len(v)-1])
			}
			folded = append(append(folded, ' '), bytes.TrimSpace(line)...)
			continue
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || len(name) == 0 {
			continue
		}
		unfold()
		key = textproto.CanonicalMIMEHeaderKey(string(bytes.TrimRight(name, " \t")))
		r.Header[key] = append(r.Header[key], string(bytes.TrimSpace(value)))
	}
	unfold()
	r.Raw = rest
	return r
}

// parseStatus parses a status of three digits.
func parseStatus(code []byte) (n int, ok bool) {
	for _, c := range code {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, len(code) == 3 && n >= 100
}

// cutLine returns the first line without its end, and reports whether it ended with a newline.
func cutLine(b []byte) (line, rest []byte, ok bool) {
	line, rest, ok = bytes.Cut(b, []byte("\n"))
	if ok && len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line, rest, ok
}

// Decode removes chunks and content coding from a body that was received with that header. The
// result truncated has the values of [Response.Truncated]. If the body exceeds the limit, Decode
// returns it cut at the limit, and [ErrTooLarge]. It does not change a body without the chunks or
// coding that the header claims.
//
// A decoded body is stored in dst if the capacity of dst suffices.
func (d *Decoder) Decode(dst, raw []byte, header http.Header) (body []byte, truncated string, err error) {
	body = raw
	codings := codings(header)
	if isChunked(header) {
		if len(codings) == 0 {
			body, truncated = dechunk(dst, raw)
		} else {
			body, truncated = dechunk(nil, raw)
		}
	}
	limit := d.Limits.body()
	// Limit the ratio of all codings together: nested codings could reach a million.
	maxDecoded := min(limit, max(maxRatio*int64(len(body)), 1<<20))
	for i, coding := range slices.Backward(codings) {
		var to []byte
		if i == 0 {
			to = dst
		}
		decoded, state, cut := d.uncode(to, coding, body, maxDecoded)
		if state == notCoded {
			break
		}
		if state == torn {
			truncated = "disconnect"
		}
		body, err = decoded, cmp.Or(err, cut)
	}
	if err == nil && int64(len(body)) > limit {
		body, err = body[:limit], fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	if err != nil {
		truncated = "length"
	}
	return body, truncated, err
}

func isChunked(header http.Header) bool {
	for _, v := range header["Transfer-Encoding"] {
		if strings.Contains(strings.ToLower(v), "chunked") {
			return true
		}
	}
	return false
}

// codings returns the content codings in the order in which they were applied. It returns only the
// first few, because more codings have no legitimate use.
func codings(header http.Header) []string {
	const maxCodings = 4
	var all []string
	for _, v := range header["Content-Encoding"] {
		for c := range strings.SplitSeq(v, ",") {
			c = strings.ToLower(strings.TrimSpace(c))
			if c != "" && c != "identity" && len(all) < maxCodings {
				all = append(all, c)
			}
		}
	}
	return all
}

// dechunk removes the chunk framing (RFC 9112, section 7.1). If the first chunk is malformed, the
// body was archived without chunks. If a later chunk is malformed, it is kept, with all data after
// it. If the last chunk is missing, the body is truncated.
func dechunk(dst, raw []byte) (body []byte, truncated string) {
	rest := raw
	for first := true; ; first = false {
		line, after, ok := cutLine(rest)
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 62)
		switch {
		case first && (err != nil || !ok):
			return raw, ""
		case len(rest) == 0:
			return body, "disconnect"
		case err != nil:
			return append(body, rest...), ""
		case n == 0:
			return body, ""
		}
		if body == nil {
			body = emptied(dst, len(raw))
		}
		if n > uint64(len(after)) {
			return append(body, after...), "disconnect"
		}
		body = append(body, after[:n]...)
		rest = after[n:]
		rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("\r")), []byte("\n"))
	}
}

// emptied returns dst with length 0, or a new slice if the capacity of dst is less than n.
func emptied(dst []byte, n int) []byte {
	if n > cap(dst) {
		return make([]byte, 0, n)
	}
	return dst[:0]
}

// A codingState is the outcome of removing a coding.
type codingState int

const (
	whole    codingState = iota
	torn                 // the body is incomplete or corrupt; its start was decoded
	notCoded             // the body does not have this coding, or the coding is unknown
)

// uncode removes one coding.
func (d *Decoder) uncode(dst []byte, coding string, body []byte, limit int64) ([]byte, codingState, error) {
	if len(body) == 0 {
		return body, notCoded, nil
	}
	d.src.Reset(body)
	defer d.src.Reset(nil) // do not keep a long body in memory
	r, err := d.open(coding, body)
	if r == nil || err != nil {
		return body, notCoded, nil
	}
	size := promised(coding, body)
	out := emptied(dst, int(min(limit, size))+outputMargin)
	if r == &d.gz && size <= limit {
		if n, used, s := d.in.member(out[:cap(out)], body); s == decoded && used == len(body) {
			return out[:n], whole, nil
		}
	}
	out, cut, err := fill(out, r, limit)
	switch {
	case cut:
		return out, whole, fmt.Errorf("%w: %d bytes of %s become more than %d", ErrTooLarge, len(body), coding, limit)
	case err == nil:
		return out, whole, nil
	case len(out) == 0:
		return body, notCoded, nil
	}
	return out, torn, nil
}

// Promised estimates the size of a decoded body: the size at the end of a gzip member, or a
// guess.
func Promised(raw []byte, header http.Header) int64 {
	codings := codings(header)
	if len(codings) == 0 {
		return int64(len(raw))
	}
	return promised(codings[len(codings)-1], raw)
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

// open returns a reader for a coding, or nil if the coding is unknown.
func (d *Decoder) open(coding string, body []byte) (r io.Reader, err error) {
	switch coding {
	case "gzip", "x-gzip":
		return &d.gz, d.gz.reset(&d.src)
	case "deflate":
		// RFC 9110 requires the zlib format; some servers send deflate without it.
		if len(body) >= 2 && body[0]&0x0f == 8 && (uint(body[0])<<8|uint(body[1]))%31 == 0 {
			return zlib.NewReader(&d.src)
		}
		if d.fl == nil {
			d.fl = flate.NewReader(&d.src)
			return d.fl, nil
		}
		return d.fl, d.fl.(flate.Resetter).Reset(&d.src, nil)
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
	return nil, nil
}

// A gunzips reads the gzip members at the start of a body. It ignores all data after them, because
// some servers append garbage.
type gunzips struct {
	z   gzip.Reader
	src *bytes.Reader
}

func (g *gunzips) reset(src *bytes.Reader) error {
	g.src = src
	err := g.z.Reset(src)
	g.z.Multistream(false)
	return err
}

func (g *gunzips) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		switch {
		case err != io.EOF:
			return n, err
		case n > 0:
			return n, nil
		case g.reset(g.src) != nil:
			return 0, io.EOF
		}
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
