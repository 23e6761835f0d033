package e2e

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// An answer is what a server sends, and what a client should make of it.
type answer struct {
	name     string
	raw      string // the bytes, where {P} is the page, {N} its length and {C} the page in chunks; "" over HTTP/2
	status   int    // the status to be read, 200 if 0
	body     string // the body to be read, the page if empty
	text     string // if set, the body is shown as a document, and this is its text
	want     string // what standards demand: page, error, cut, or several of them
	archived string // what they allow of the bytes in an archive, too: many crawlers store bodies without codings, with the fields as received
	standard string // where they do

	h2       func(s *h2Server, id uint32) // answers a request over HTTP/2
	first    bool                         // h2 also answers the request for robots.txt, if it is the first
	location string                       // if set, what is sent to a request without the cookie {S}: a head without its last field, the location
}

const (
	answerPage = "<!doctype html><title>T</title><p>hello world</p>\n"
	oak        = "Ąžuolas"                                               // which nobody guesses to be in windows-1257
	oakPage    = "<!doctype html><title>T</title><p>\xc0\xfeuolas</p>\n" // in windows-1257
	start      = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	length     = "Content-Length: {N}\r\n"
)

// chunked returns a body in chunks of ten bytes, without the last chunk.
func chunked(body string) string {
	var b strings.Builder
	for len(body) > 0 {
		n := min(10, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String()
}

func gzipped(body string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(body))
	w.Close()
	return b.String()
}

func deflated(body string) string {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err != nil {
		panic(err)
	}
	w.Write([]byte(body))
	w.Close()
	return b.String()
}

// zstdRaw returns a zstd frame with a window of 1<<log bytes that stores the body.
func zstdRaw(body string, log byte) string {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3}
	return string(binary.LittleEndian.AppendUint32(b, uint32(len(body))<<3|1)[:9]) + body
}

// coded returns an answer with a Content-Encoding.
func coded(coding, body string) string {
	return fmt.Sprintf("%sContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", start, coding, len(body), body)
}

// typed returns an answer in windows-1257 with fields of a type.
func typed(fields ...string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\n%s\r\nContent-Length: %d\r\n\r\n%s", strings.Join(fields, "\r\n"), len(oakPage), oakPage)
}

// answers returns all rows of the table. RFC numbers are followed by sections.
func answers() []answer {
	compressed := gzipped(answerPage)
	badSum := []byte(compressed)
	badSum[len(badSum)-8] ^= 1
	return []answer{
		{name: "nothing awkward", raw: start + length + "\r\n{P}", want: "page"},

		// Header lines. RFC 9112, 5 defines no handling of a line that is not a field, except by
		// rejection.
		{name: "line without colon", raw: start + "no field\r\n" + length + "\r\n{P}", want: "page", standard: "none; all others skip the line"},
		{name: "non-ASCII name", raw: start + "Größe: 1\r\n" + length + "\r\n{P}", want: "page", standard: "not a token (9110, 5.1); others skip or keep it"},
		{name: "empty name", raw: start + ": x\r\n" + length + "\r\n{P}", want: "page", standard: "not a token (9110, 5.1); others skip it"},
		{name: "blank within a name", raw: start + "X Y: z\r\n" + length + "\r\n{P}", want: "page", standard: "not a token (9110, 5.1); others skip it"},
		{name: "control byte in a name", raw: start + "X\x01Y: z\r\n" + length + "\r\n{P}", want: "page", standard: "not a token (9110, 5.1); others skip it"},
		{name: "control byte in a value", raw: start + "X: a\x01b\r\n" + length + "\r\n{P}", want: "page", standard: "9110, 5.5: may be kept"},
		{name: "NUL in a value", raw: start + "X: a\x00b\r\n" + length + "\r\n{P}", want: "page error", standard: "9110, 5.5: reject or replace by a blank; WPT h1-parsing: error"},
		{name: "second status line", raw: start + "HTTP/1.1 200 OK\r\n" + length + "\r\n{P}", want: "page", standard: "a line whose name is no token"},
		{name: "blank before a colon", raw: start + "Content-Length : {N}\r\n\r\n{P}", want: "page", standard: "9112, 5.1: removed"},
		{name: "folded value", raw: start + "X: a\r\n b\r\n" + length + "\r\n{P}", want: "page", standard: "9112, 5.2: replaced by a blank"},
		{name: "folded Content-Type", raw: "HTTP/1.1 200 OK\r\nContent-Type:\r\n text/html\r\n" + length + "\r\n{P}", want: "page", standard: "9112, 5.2: replaced by a blank"},
		{name: "first line begins with a blank", raw: "HTTP/1.1 200 OK\r\n X: y\r\nContent-Type: text/html\r\n" + length + "\r\n{P}", want: "page error", standard: "9112, 2.2: reject, or skip the line"},
		{name: "lines end with LF", raw: "HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: {N}\n\n{P}", want: "page", standard: "9112, 2.2: may be accepted"},
		{name: "lines end with CR CR LF", raw: "HTTP/1.1 200 OK\r\r\nContent-Type: text/html\r\r\nContent-Length: {N}\r\r\n\r\r\n{P}", want: "page error noise", standard: "9112, 2.2: invalid, or a blank; WPT lone-cr: error"},
		{name: "CR within a value", raw: start + "X: a\rb\r\n" + length + "\r\n{P}", want: "page error", standard: "9112, 2.2: invalid, or a blank; WPT lone-cr: error"},
		{name: "head without an empty line", raw: start + "X: y\r\n", body: "-", want: "page error", standard: "9112, 8: incomplete"},
		{name: "head that ends within a line", raw: start + "X: y", body: "-", want: "error page", standard: "9112, 8; WPT incomplete-response: error"},
		{name: "field of 100,000 bytes", raw: start + "X: " + strings.Repeat("x", 100_000) + "\r\n" + length + "\r\n{P}", want: "page error", standard: "9110, 5.4: limits are the client's"},

		// Status lines.
		{name: "no reason, no blank", raw: "HTTP/1.1 200\r\nContent-Type: text/html\r\n" + length + "\r\n{P}", want: "page", standard: "9112, 4: the reason is optional"},
		{name: "blanks in the status line", raw: "HTTP/1.1  200  OK\r\nContent-Type: text/html\r\n" + length + "\r\n{P}", want: "page error", standard: "9112, 4: may be split at any blanks"},
		{name: "http/1.1 in lower case", raw: "http/1.1 200 OK\r\nContent-Type: text/html\r\n" + length + "\r\n{P}", want: "page error", standard: "9112, 2.3: case-sensitive"},
		{name: "HTTP/1.2", raw: "HTTP/1.2 200 OK\r\nContent-Type: text/html\r\n" + length + "\r\n{P}", want: "page error", standard: "9110, 2.5: as the highest minor version known"},
		{name: "HTTP/2 in the status line", raw: "HTTP/2 200 OK\r\nContent-Type: text/html\r\n" + length + "\r\n{P}", want: "page error", standard: "9112, 2.3: not HTTP/1"},
		{name: "ICY", raw: "ICY 200 OK\r\nContent-Type: text/html\r\n" + length + "\r\n{P}", want: "page error", standard: "not HTTP"},
		{name: "no head at all", raw: "{P}", want: "error page", standard: "9112: HTTP/0.9 is no longer part"},
		{name: "status 600", raw: "HTTP/1.1 600 X\r\nContent-Type: text/html\r\n" + length + "\r\n{P}", status: 600, want: "page", standard: "9110, 15: as 5xx; WPT status-code: 600"},
		{name: "status 999", raw: "HTTP/1.1 999 X\r\nContent-Type: text/html\r\n" + length + "\r\n{P}", status: 999, want: "page", standard: "9110, 15: as 5xx; WPT status-code: 999"},
		{name: "status 1000", raw: "HTTP/1.1 1000 X\r\nContent-Type: text/html\r\n" + length + "\r\n{P}", want: "error", standard: "WPT status-code: error"},
		{name: "empty lines before the status line", raw: "\r\n\r\n" + start + length + "\r\n{P}", want: "page error", standard: "9112, 2.2 has this for requests only"},
		{name: "100 before the final head", raw: "HTTP/1.1 100 Continue\r\n\r\n" + start + length + "\r\n{P}", want: "page", standard: "9110, 15.2: any number of 1xx"},
		{name: "102 before the final head", raw: "HTTP/1.1 102 Processing\r\n\r\n" + start + length + "\r\n{P}", want: "page", standard: "9110, 15.2"},
		{name: "103 before the final head", raw: "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" + start + length + "\r\n{P}", want: "page", standard: "9110, 15.2; RFC 8297"},
		{name: "four 1xx heads", raw: strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 3) + "HTTP/1.1 100 Continue\r\n\r\n" + start + length + "\r\n{P}", want: "page", standard: "9110, 15.2"},
		{name: "malformed line in a 103 head", raw: "HTTP/1.1 103 Early Hints\r\nno field\r\n\r\n" + start + length + "\r\n{P}", want: "page", standard: "as in a final head"},
		{name: "101 without a question", raw: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n{P}", want: "error", standard: "9110, 15.2.2: only after Upgrade"},

		// Transfer-Encoding.
		{name: "chunked", raw: start + "Transfer-Encoding: chunked\r\n\r\n{C}0\r\n\r\n", want: "page", standard: "9112, 7.1"},
		{name: "CHUNKED", raw: start + "TRANSFER-ENCODING: CHUNKED\r\n\r\n{C}0\r\n\r\n", want: "page", standard: "9112, 7: names are case-insensitive"},
		{name: "chunked in two fields", raw: start + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n{C}0\r\n\r\n", want: "page", standard: "9112, 6.3: the last coding is chunked"},
		{name: "chunked, chunked", raw: start + "Transfer-Encoding: chunked, chunked\r\n\r\n{C}0\r\n\r\n", want: "page", standard: "9112, 6.3: the last coding is chunked"},
		{name: "chunked, with blanks and a comma", raw: start + "Transfer-Encoding: , chunked ,\r\n\r\n{C}0\r\n\r\n", want: "page", standard: "9110, 5.6.1: empty elements are ignored"},
		{name: "identity and a length", raw: start + "Transfer-Encoding: identity\r\n" + length + "\r\n{P}", want: "page", standard: "9112, 7: no longer a coding; 6.3: to the end"},
		{name: "identity", raw: start + "Transfer-Encoding: identity\r\n\r\n{P}", want: "page", standard: "9112, 6.3: to the end"},
		{name: "empty Transfer-Encoding and a length", raw: start + "Transfer-Encoding:\r\n" + length + "\r\n{P}", want: "page", standard: "9110, 5.6.1: an empty list"},
		{name: "empty Transfer-Encoding", raw: start + "Transfer-Encoding:\r\n\r\n{P}", want: "page", standard: "9110, 5.6.1: an empty list"},
		{name: "unknown coding", raw: start + "Transfer-Encoding: x\r\n\r\n{P}", want: "page", standard: "9112, 6.3: to the end"},
		{name: "unknown coding and a length", raw: start + "Transfer-Encoding: x\r\n" + length + "\r\n{P}", want: "page", standard: "9112, 6.3: to the end"},
		{name: "gzip, chunked", raw: start + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked(compressed) + "0\r\n\r\n", want: "page", standard: "9112, 7.2"},
		{name: "gzip as the only transfer coding", raw: start + "Transfer-Encoding: gzip\r\n\r\n" + compressed, want: "page", standard: "9112, 6.3 and 7.2"},
		{name: "chunked, gzip", raw: start + "Transfer-Encoding: chunked, gzip\r\n\r\n" + gzipped(chunked(answerPage)+"0\r\n\r\n"), want: "page error", standard: "9112, 6.1: chunked must be last"},
		{name: "vertical tab before chunked", raw: start + "Transfer-Encoding: \x0bchunked\r\n\r\n{C}0\r\n\r\n", want: "error noise page", standard: "9110, 5.5: not a blank; an unknown coding"},
		{name: "blank before the colon of Transfer-Encoding", raw: start + "Transfer-Encoding : chunked\r\n\r\n{C}0\r\n\r\n", want: "page", standard: "9112, 5.1: removed"},
		{name: "HTTP/1.0 with chunks", raw: strings.Replace(start, "1.1", "1.0", 1) + "Transfer-Encoding: chunked\r\n\r\n{C}0\r\n\r\n", want: "page noise", standard: "9112, 6.1: faulty framing; all others read chunks"},
		{name: "HTTP/1.0 without a length", raw: strings.Replace(start, "1.1", "1.0", 1) + "\r\n{P}", want: "page", standard: "9112, 6.3: to the end"},
		{name: "chunked and a length", raw: start + "Transfer-Encoding: chunked\r\nContent-Length: 7\r\n\r\n{C}0\r\n\r\n", want: "page", standard: "9112, 6.3: chunked overrides"},
		{name: "chunked, but there are none", raw: start + "Transfer-Encoding: chunked\r\n\r\n{P}", want: "error cut", archived: "page", standard: "9112, 7.1"},

		// Content-Length.
		{name: "no length", raw: start + "\r\n{P}", want: "page", standard: "9112, 6.3: to the end"},
		{name: "the same length as a list", raw: start + "Content-Length: {N}, {N}\r\n\r\n{P}", want: "page", standard: "9112, 6.3; fetch, extract a length"},
		{name: "the same length in two fields", raw: start + length + length + "\r\n{P}", want: "page", standard: "9112, 6.3; fetch, extract a length"},
		{name: "different lengths in a list", raw: start + "Content-Length: {N}, 7\r\n\r\n{P}", want: "error", archived: "page", standard: "9112, 6.3; fetch, extract a length"},
		{name: "different lengths in two fields", raw: start + length + "Content-Length: 7\r\n\r\n{P}", want: "error", archived: "page", standard: "9112, 6.3; fetch, extract a length"},
		{name: "030, 30", raw: start + "Content-Length: 0{N}, {N}\r\n\r\n{P}", want: "error", archived: "page", standard: "WPT content-lengths: error"},
		{name: "length with a comma at its end", raw: start + "Content-Length: {N},\r\n\r\n{P}", want: "error page", standard: "WPT content-lengths: error; 9110, 5.6.1: ignored"},
		{name: "empty length", raw: start + "Content-Length:\r\n\r\n{P}", want: "page", standard: "fetch, extract a length: none"},
		{name: "length with a plus sign", raw: start + "Content-Length: +7\r\n\r\n{P}", want: "page", standard: "fetch, extract a length: none"},
		{name: "length -1", raw: start + "Content-Length: -1\r\n\r\n{P}", want: "page", standard: "WPT content-lengths: none"},
		{name: "length with letters", raw: start + "Content-Length: 7s\r\n\r\n{P}", want: "page", standard: "WPT content-lengths: none"},
		{name: "length 0x7", raw: start + "Content-Length: 0x7\r\n\r\n{P}", want: "page", standard: "WPT content-lengths: none"},
		{name: "length with a zero before it", raw: start + "Content-Length: 0{N}\r\n\r\n{P}", want: "page", standard: "WPT content-lengths: decimal"},
		{name: "length of 30 digits", raw: start + "Content-Length: " + strings.Repeat("9", 30) + "\r\n\r\n{P}", want: "error cut page", standard: "9110, 8.6: no overflow"},
		{name: "length greater than the body", raw: start + "Content-Length: 1{N}\r\n\r\n{P}", want: "cut error", archived: "page", standard: "9112, 8: incomplete"},
		{name: "length smaller than the body", raw: start + "Content-Length: 7\r\n\r\n{P}", body: answerPage[:7], want: "page", archived: "noise", standard: "9112, 6.3: the rest is not the body"},

		// Chunks.
		{name: "chunk extensions", raw: start + "Transfer-Encoding: chunked\r\n\r\n32 ;a=b;c=\"d\";e\r\n{P}\r\n0;x\r\n\r\n", want: "page", standard: "9112, 7.1.1: ignored"},
		{name: "blanks after the size", raw: start + "Transfer-Encoding: chunked\r\n\r\n32  \r\n{P}\r\n0  \r\n\r\n", want: "page error", standard: "9112, 7.1: only before extensions"},
		{name: "blank before the size", raw: start + "Transfer-Encoding: chunked\r\n\r\n 32\r\n{P}\r\n 0\r\n\r\n", want: "page error", standard: "9112, 7.1: invalid"},
		{name: "zeros before the size", raw: start + "Transfer-Encoding: chunked\r\n\r\n0000000032\r\n{P}\r\n00000\r\n\r\n", want: "page", standard: "9112, 7.1: 1*HEXDIG"},
		{name: "40 zeros before the size", raw: start + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 40) + "32\r\n{P}\r\n0\r\n\r\n", want: "page error", standard: "9112, 7.1: 1*HEXDIG"},
		{name: "size with 0x", raw: start + "Transfer-Encoding: chunked\r\n\r\n0x32\r\n{P}\r\n0\r\n\r\n", want: "error cut", archived: "noise", standard: "9112, 7.1: invalid"},
		{name: "size of 17 digits", raw: start + "Transfer-Encoding: chunked\r\n\r\n10000000000000032\r\n{P}\r\n0\r\n\r\n", want: "error cut", archived: "noise", standard: "9112, 7.1: no overflow"},
		{name: "chunks with LF", raw: start + "Transfer-Encoding: chunked\r\n\r\n32\n{P}\n0\n\n", want: "page error", standard: "9112, 7.1: invalid"},
		{name: "chunk longer than its size", raw: start + "Transfer-Encoding: chunked\r\n\r\n7\r\n{P}\r\n0\r\n\r\n", want: "error cut", standard: "9112, 7.1: invalid"},
		{name: "no last chunk", raw: start + "Transfer-Encoding: chunked\r\n\r\n{C}", want: "cut error", standard: "9112, 8: incomplete"},
		{name: "closed within a chunk", raw: start + "Transfer-Encoding: chunked\r\n\r\n64\r\n{P}", want: "cut error", standard: "9112, 8: incomplete"},
		{name: "nothing after the last chunk's size", raw: start + "Transfer-Encoding: chunked\r\n\r\n{C}0\r\n", want: "page cut error", standard: "9112, 8: complete when a size of zero is received"},
		{name: "trailers", raw: start + "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n{C}0\r\nX: y\r\nContent-Length: 7\r\n\r\n", want: "page", standard: "9112, 7.1.2: may be discarded"},
		{name: "malformed trailer", raw: start + "Transfer-Encoding: chunked\r\n\r\n{C}0\r\nno field\r\n\r\n", want: "page error", standard: "9112, 7.1.2: may be discarded"},
		{name: "bytes after the last chunk", raw: start + "Transfer-Encoding: chunked\r\n\r\n{C}0\r\n\r\nmore", want: "page", standard: "9112, 6.3: not the body"},

		// Content-Type, with a body in windows-1257.
		{name: "type in capitals", raw: typed("CONTENT-TYPE: TEXT/HTML; CHARSET=WINDOWS-1257"), text: oak, body: oakPage, want: "page", standard: "9110, 8.3.1: case-insensitive"},
		{name: "octet-stream, then text/html", raw: typed("Content-Type: application/octet-stream", "Content-Type: text/html; charset=windows-1257"), text: oak, body: oakPage, want: "page", standard: "fetch, extract a MIME type: the last"},
		{name: "the same in a list", raw: typed("Content-Type: application/octet-stream, text/html; charset=windows-1257"), text: oak, body: oakPage, want: "page", standard: "fetch, extract a MIME type: the last"},
		{name: "text/html, then */*", raw: typed("Content-Type: text/html; charset=windows-1257", "Content-Type: */*"), text: oak, body: oakPage, want: "page", standard: "fetch, extract a MIME type: */* is skipped"},
		{name: "text/html, then nonsense", raw: typed("Content-Type: text/html; charset=windows-1257", "Content-Type: html"), text: oak, body: oakPage, want: "page", standard: "fetch, extract a MIME type: the last valid"},
		{name: "charset in the first of two", raw: typed("Content-Type: text/html; charset=windows-1257", "Content-Type: text/html"), text: oak, body: oakPage, want: "page", standard: "fetch, extract a MIME type: kept for the same type"},
		{name: "charset in quotes", raw: typed(`Content-Type: text/html; charset="windows-1257"`), text: oak, body: oakPage, want: "page", standard: "9110, 8.3.2"},
		{name: "charset without its last quote", raw: typed(`Content-Type: text/html; charset="windows-1257`), text: oak, body: oakPage, want: "page", standard: "fetch, collect an HTTP quoted string"},
		{name: "charset in single quotes", raw: typed(`Content-Type: text/html; charset='windows-1257'`), text: oak, body: oakPage, want: "page noise", standard: "encoding: no label; parts of a token"},
		{name: "blanks around =", raw: typed(`Content-Type: text/html; charset = windows-1257`), text: oak, body: oakPage, want: "page noise", standard: "MIME sniffing, 4.4: the name would be \"charset \""},
		{name: "blanks around ;", raw: typed(`Content-Type: text/html ; charset=windows-1257 ;`), text: oak, body: oakPage, want: "page", standard: "9110, 5.6.6"},
		{name: "comma in place of ;", raw: typed(`Content-Type: text/html, charset=windows-1257`), text: oak, body: oakPage, want: "page noise", standard: "fetch, extract a MIME type: not a valid type, skipped"},
		{name: "empty type", raw: start[:17] + "Content-Type:\r\n" + length + "\r\n{P}", text: "hello world", want: "page", standard: "9110, 8.3: may be sniffed; MIME sniffing, 7"},
		{name: "no type", raw: start[:17] + length + "\r\n{P}", text: "hello world", want: "page", standard: "9110, 8.3: may be sniffed; MIME sniffing, 7"},

		// Content-Encoding.
		{name: "gzip", raw: coded("gzip", compressed), want: "page", standard: "9110, 8.4.1.3"},
		{name: "x-gzip", raw: coded("x-gzip", compressed), want: "page", standard: "9110, 8.4.1.3: as gzip"},
		{name: "GZIP", raw: coded("GZIP", compressed), want: "page", standard: "9110, 8.4.1: case-insensitive"},
		{name: "unknown coding of the content", raw: coded("x", answerPage), want: "page", standard: "fetch, handle content codings: as it is"},
		{name: "identity as a content coding", raw: coded("identity", answerPage), want: "page", standard: "9110, 8.4: no coding"},
		{name: "empty Content-Encoding", raw: coded("", answerPage), want: "page", standard: "9110, 5.6.1: an empty list"},
		{name: "gzip that is none", raw: coded("gzip", answerPage), want: "error page", standard: "fetch: error; WPT bad-gzip-body: error"},
		{name: "gzip cut in its data", raw: coded("gzip", compressed[:len(compressed)-20]), want: "cut error", standard: "9110, 8.4.1.3; RFC 1952, 2.3"},
		{name: "gzip cut in its checksum", raw: coded("gzip", compressed[:len(compressed)-4]), want: "page cut error", standard: "RFC 1952, 2.3"},
		{name: "gzip with a wrong checksum", raw: coded("gzip", string(badSum)), want: "page cut error", standard: "RFC 1952, 2.3.1"},
		{name: "bytes after gzip", raw: coded("gzip", compressed+"more"), want: "page cut", standard: "none; RFC 1952, 2.2: members only"},
		{name: "two gzip members", raw: coded("gzip", gzipped(answerPage[:20])+gzipped(answerPage[20:])), want: "page", standard: "RFC 1952, 2.2: members follow each other"},
		{name: "empty body as gzip", raw: coded("gzip", ""), body: "-", want: "page", standard: "none; all others read an empty page"},
		{name: "gzip, gzip", raw: coded("gzip, gzip", gzipped(compressed)), want: "page", standard: "9110, 8.4: in the order listed"},
		{name: "deflate without zlib", raw: coded("deflate", deflated(answerPage)), want: "page", standard: "9110, 8.4.1.2: non-conformant, but sent"},
		{name: "zstd, window of 8 MiB", raw: coded("zstd", zstdRaw(answerPage, 23)), want: "page", standard: "RFC 9659: at most 8 MB"},
		{name: "zstd, window of 16 MiB", raw: coded("zstd", zstdRaw(answerPage, 24)), want: "error", standard: "RFC 9659; WPT big-window-zstd-body: error"},
		{name: "zstd cut", raw: coded("zstd", zstdRaw(answerPage, 20)[:30]), want: "cut error", standard: "RFC 8878, 3.1.1"},

		// Statuses without a body, redirects.
		{name: "204 with a body", raw: "HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\n" + length + "\r\n{P}", status: 204, body: "-", want: "page", standard: "9112, 6.3: no body"},
		{name: "304 with a body, not asked for", raw: "HTTP/1.1 304 Not Modified\r\nContent-Type: text/html\r\n" + length + "\r\n{P}", status: 304, body: "-", want: "page", standard: "9112, 6.3: no body"},
		{name: "cookie, and redirect to itself", raw: start + length + "\r\n{P}", location: "HTTP/1.1 302 Found\r\nSet-Cookie: {S}=1\r\nContent-Length: 0\r\n", want: "page", standard: "RFC 6265, 5.4"},
		{name: "cookie of another path, and redirect to itself", raw: start + length + "\r\n{P}", location: "HTTP/1.1 302 Found\r\nSet-Cookie: {S}=1; Path=/elsewhere\r\nContent-Length: 0\r\n", want: "error", standard: "RFC 6265, 5.1.4: not sent; an endless redirect"},

		// HTTP/2. A document, because it must be the first request on its connection.
		{name: "h2: nothing awkward", h2: func(s *h2Server, id uint32) { s.page(id) }, text: "hello world", want: "page"},
		{name: "h2: first stream refused", h2: refuse(http2.ErrCodeRefusedStream), first: true, text: "hello world", want: "page", standard: "9113, 8.7: not processed, may be retried"},
		{name: "h2: GOAWAY before the first stream", first: true, text: "hello world", want: "page", standard: "9113, 6.8: not processed, may be retried",
			h2: func(s *h2Server, id uint32) {
				if s.request == 1 {
					s.WriteGoAway(0, http2.ErrCodeNo, nil)
					s.close()
					return
				}
				s.page(id)
			}},
		{name: "h2: HTTP_1_1_REQUIRED", h2: refuse(http2.ErrCodeHTTP11Required), first: true, text: "hello world", want: "page", standard: "9113, 7: use HTTP/1.1"},
		{name: "h2: first stream reset with PROTOCOL_ERROR", h2: refuse(http2.ErrCodeProtocol), first: true, text: "hello world", want: "error", standard: "9113, 8.7: may have been processed"},
		{name: "h2: 103 before the final head", text: "hello world", want: "page", standard: "9113, 8.1",
			h2: func(s *h2Server, id uint32) {
				s.head(id, false, ":status", "103", "link", "</a.css>; rel=preload")
				s.page(id)
			}},
		{name: "h2: name in capitals", text: "hello world", want: "error", standard: "9113, 8.2.1: malformed",
			h2: func(s *h2Server, id uint32) { s.pageWith(id, "X-Name", "y") }},
		{name: "h2: Transfer-Encoding", text: "hello world", want: "error page", standard: "9113, 8.2.2: malformed",
			h2: func(s *h2Server, id uint32) { s.pageWith(id, "transfer-encoding", "chunked") }},
		{name: "h2: Connection", text: "hello world", want: "error page", standard: "9113, 8.2.2: malformed",
			h2: func(s *h2Server, id uint32) { s.pageWith(id, "connection", "keep-alive") }},
		{name: "h2: length greater than the body", text: "hello world", want: "error cut", standard: "9113, 8.1.1: malformed",
			h2: func(s *h2Server, id uint32) { s.pageWith(id, "content-length", "100") }},
		{name: "h2: length smaller than the body", text: "hello world", want: "error cut", standard: "9113, 8.1.1: malformed",
			h2: func(s *h2Server, id uint32) { s.pageWith(id, "content-length", "7") }},
		{name: "h2: stream reset within the body", text: "hello world", want: "error cut", standard: "9113, 8.1: incomplete",
			h2: func(s *h2Server, id uint32) {
				s.head(id, false, ":status", "200", "content-type", "text/html")
				s.WriteData(id, false, []byte(answerPage[:40]))
				s.WriteRSTStream(id, http2.ErrCodeInternal)
			}},
		{name: "h2: reset with NO_ERROR after the end", text: "hello world", want: "page", standard: "9113, 8.1: complete",
			h2: func(s *h2Server, id uint32) {
				s.page(id)
				s.WriteRSTStream(id, http2.ErrCodeNo)
			}},
	}
}

// refuse resets the first stream of a server, and answers the others.
func refuse(code http2.ErrCode) func(*h2Server, uint32) {
	return func(s *h2Server, id uint32) {
		if s.request == 1 || code == http2.ErrCodeHTTP11Required {
			s.WriteRSTStream(id, code)
			return
		}
		s.page(id)
	}
}

// An h2Server is a connection of a server whose every frame is written by hand.
type h2Server struct {
	*http2.Framer
	close   func()
	request int // number of the request by this client, from 1
}

// head sends a head of names and values.
func (s *h2Server) head(id uint32, last bool, fields ...string) {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for i := 0; i < len(fields); i += 2 {
		enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: last})
}

func (s *h2Server) page(id uint32) { s.pageWith(id) }

func (s *h2Server) pageWith(id uint32, fields ...string) {
	s.head(id, false, append([]string{":status", "200", "content-type", "text/html"}, fields...)...)
	s.WriteData(id, true, []byte(answerPage))
}
