// Package message reads HTTP/1 responses: the head, the framing of the body, and the media type.
//
// Live responses and archived ones are read by the same functions, so an archived page equals the
// fetched one. They are as lenient as browsers, curl and wget, where RFC 9110, RFC 9112 and the
// Fetch Standard permit it: a malformed header line is skipped, not the page. What is ambiguous,
// such as two different lengths, is an error.
package message

import (
	"bytes"
	"errors"
	"net/http"
	"net/textproto"
	"strings"
)

// MaxHead limits the part of a response that [Parse] reads as its head, in bytes.
const MaxHead = 1 << 20

// maxLeading limits the bytes of line breaks before a status line; Chromium skips as many.
const maxLeading = 4

// ErrNotHTTP is returned for a response that does not begin with a status line.
var ErrNotHTTP = errors.New("the response does not begin with an HTTP status line")

// A Head is the status line and the header of a response.
type Head struct {
	Proto      string // as "HTTP/1.1", in upper case; "HTTP/0.9" if there is no head
	StatusCode int    // 100 to 999; 0 if the status line is invalid
	Reason     string

	// Header has canonical names, and values without blanks around them. Folded values are joined
	// by blanks; CR and NUL in a value are replaced by blanks (RFC 9110, section 5.5).
	Header http.Header
}

// IsInterim reports whether the response is followed by another one to the same request. A response
// 101 ends the exchange.
func (h *Head) IsInterim() bool {
	return h.StatusCode >= 100 && h.StatusCode < 200 && h.StatusCode != http.StatusSwitchingProtocols
}

// Location returns the Location field of a redirect, or "" if the response is not a redirect.
func Location(status int, header http.Header) string {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return header.Get("Location")
	}
	return ""
}

// Scan returns the length of the head at the start of b, as [Length] does, or [ErrNotHTTP] as soon
// as b cannot become a response.
func Scan(b []byte, searched int) (length int, err error) {
	if !begins(TrimLeading(b)) {
		return 0, ErrNotHTTP
	}
	return Length(b, searched), nil
}

// Length returns the length of the head of the message at the start of b, with the empty line after
// it, or 0 if b ends before that. The first bytes of b that were searched by an earlier call are
// not searched again.
func Length(b []byte, searched int) int {
	for i := max(len(b)-len(TrimLeading(b)), searched-len("\n\r")); i < len(b); {
		j := bytes.IndexByte(b[i:], '\n')
		if j < 0 {
			break
		}
		i += j + 1
		switch rest := b[i:]; {
		case bytes.HasPrefix(rest, []byte("\n")):
			return i + 1
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return i + 2
		}
	}
	return 0
}

// TrimLeading returns b without line breaks before the status line. RFC 9112, section 2.2,
// recommends to ignore an empty line before a request; some servers send one before a response.
func TrimLeading(b []byte) []byte {
	n := 0
	for n < min(len(b), maxLeading) && (b[n] == '\r' || b[n] == '\n') {
		n++
	}
	return b[n:]
}

// StatusLine returns the first line of a response, without its end.
func StatusLine(b []byte) []byte {
	line, _, _ := cutLine(TrimLeading(b))
	return bytes.TrimRight(line, "\r")
}

// begins reports whether b begins like a status line, or is too short to know. ICY is the protocol
// of SHOUTcast.
func begins(b []byte) bool {
	for _, s := range []string{"HTTP/", "ICY "} {
		if n := min(len(b), len(s)); strings.EqualFold(string(b[:n]), s[:n]) {
			return true
		}
	}
	return false
}

// Final parses the head of the final response in a block. Interim responses (1xx), which may
// precede it, are skipped. If the status line is invalid, the status is 0. A block without a status
// line is HTTP/0.9.
//
// A status has three digits. RFC 9110, section 15, calls statuses above 599 invalid, but requires
// that clients treat them like 5xx instead of rejecting the response, and some sites use them
// (999).
func Final(block []byte) (h Head, body []byte) {
	h, body = Parse(block)
	for h.IsInterim() {
		next, rest := Parse(body)
		if next.Proto == "HTTP/0.9" {
			next.StatusCode = 0
		}
		h, body = next, rest
	}
	if h.StatusCode < 200 {
		return Head{Proto: h.Proto, Header: http.Header{}}, block
	}
	return h, body
}

// Parse parses the head at the start of b, and returns what follows it. If the status line is
// invalid, the status is 0, there is no header, and rest is b. If b does not begin with a status
// line, it is a body of HTTP/0.9 with status 200.
//
// Header lines without a valid name are skipped, together with the lines that continue them. A
// head that is torn within a line ends before that line.
func Parse(b []byte) (h Head, rest []byte) {
	h = Head{Proto: "HTTP/0.9", StatusCode: http.StatusOK, Header: http.Header{}}
	line, rest, _ := cutLine(TrimLeading(b))
	end := bytes.IndexAny(line, " \t")
	if end < 0 {
		end = len(line)
	}
	proto := line[:end]
	n, reason := parseStatus(bytes.TrimLeft(line[end:], " \t"))
	name := strings.ToUpper(string(proto[:min(len(proto), len("HTTP/1.1"))]))
	switch isHTTP := strings.HasPrefix(name, "HTTP/"); {
	case !isHTTP && (name != "ICY" || n == 0):
		return h, b
	case n == 0:
		h.Proto, h.StatusCode = name, 0
		return h, b
	}
	h.Proto, h.StatusCode, h.Reason = name, n, strings.TrimLeft(string(reason), " \t")
	rest = h.fields(rest)
	return h, rest
}

// fields parses header lines into h, and returns what follows the empty line after them.
func (h *Head) fields(b []byte) (rest []byte) {
	var key string // of the line that a folded line continues; empty if that was skipped
	var folded []byte
	unfold := func() {
		if v := h.Header[key]; folded != nil {
			v[len(v)-1], folded = strings.Trim(string(folded), " "), nil
		}
	}
	values := make([]string, 0, min(bytes.Count(b[:min(len(b), 2<<10)], []byte("\n")), 64)) // one allocation for most headers
	for rest = b; len(b)-len(rest) <= MaxHead; {
		line, after, ended := cutLine(rest)
		if !ended && len(line) > 0 && bytes.IndexByte(line, ':') < 0 {
			break // the empty line is missing: the rest is not a header
		}
		rest = after
		if len(line) == 0 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			v := h.Header[key]
			switch {
			case len(v) == 0:
				continue
			case folded == nil:
				folded = []byte(v[len(v)-1])
			}
			folded = append(append(folded, ' '), clean(line)...)
			continue
		}
		unfold()
		name, value, ok := bytes.Cut(line, []byte(":"))
		name = bytes.TrimRight(name, " \t")
		if !ok || !isToken(name) {
			key = ""
			continue
		}
		key = textproto.CanonicalMIMEHeaderKey(string(name))
		if old := h.Header[key]; old != nil {
			h.Header[key] = append(old, clean(value))
			continue
		}
		values = append(values, clean(value))
		i := len(values) - 1
		h.Header[key] = values[i : i+1 : i+1]
	}
	unfold()
	return rest
}

// clean returns a value without the characters that must not be in it, and blanks around it.
func clean(value []byte) string {
	s := string(bytes.Trim(value, " \t\r"))
	if strings.ContainsAny(s, "\r\x00") {
		s = strings.Trim(strings.NewReplacer("\r", " ", "\x00", " ").Replace(s), " \t")
	}
	return s
}

// parseStatus parses a status of three digits, at least 100, and returns what follows it. It
// returns 0 for anything else.
func parseStatus(b []byte) (n int, reason []byte) {
	for reason = b; len(reason) > 0 && '0' <= reason[0] && reason[0] <= '9' && len(b)-len(reason) < 4; reason = reason[1:] {
		n = 10*n + int(reason[0]-'0')
	}
	if len(b)-len(reason) != 3 || n < 100 {
		return 0, nil
	}
	return n, reason
}

// cutLine returns the first line without its end, and reports whether it ended with a newline.
func cutLine(b []byte) (line, rest []byte, ok bool) {
	line, rest, ok = bytes.Cut(b, []byte("\n"))
	if ok && len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line, rest, ok
}

// isToken reports whether b is a token (RFC 9110, section 5.6.2).
func isToken[T string | []byte](b T) bool {
	for _, c := range []byte(b) {
		isLetter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !isLetter && c != '-' && (c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0) {
			return false
		}
	}
	return len(b) > 0
}
