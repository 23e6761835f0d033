package message

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// ErrLengths is returned for conflicting values of Content-Length. If the end of a response is
// ambiguous, another response may be hidden in it.
var ErrLengths = errors.New("the values of Content-Length contradict each other")

// A Framing is how the end of the body of a response to GET is found (RFC 9112, section 6.3).
type Framing struct {
	Chunked bool
	Maybe   bool  // the body may nevertheless have no chunks, because HTTP/1.0 does not define them
	Length  int64 // -1 if the header does not determine the length
	Last    bool  // the connection must not be used for another request
}

// Framing returns the framing of the response, or [ErrLengths].
//
// Content-Length counts only without a transfer coding, but conflicting values are an error even
// beside one, as in net/http. A connection is not used again after a Transfer-Encoding other than
// chunked in HTTP/1.1, or one beside Content-Length.
func (h *Head) Framing() (f Framing, err error) {
	f.Last = h.closes()
	if h.HasNoBody() {
		return f, nil
	}
	if f.Length, err = contentLength(h.Header["Content-Length"]); err != nil {
		return f, err
	}
	if values := h.Header["Transfer-Encoding"]; values != nil {
		usual := h.Proto == "HTTP/1.1" && h.Header["Content-Length"] == nil && len(values) == 1 && strings.EqualFold(values[0], "chunked")
		f.Last = f.Last || !usual
	}
	switch codings := transferCodings(h.Header); {
	case IsChunked(h.Header):
		f.Chunked, f.Length, f.Maybe = true, -1, h.Proto == "HTTP/1.0"
	case len(codings) > 0:
		f.Length = -1
	}
	f.Last = f.Last || !f.Chunked && f.Length < 0
	return f, nil
}

// HasNoBody reports whether the status excludes a body, whatever the header says.
func (h *Head) HasNoBody() bool {
	return h.StatusCode < 200 || h.StatusCode == http.StatusNoContent || h.StatusCode == http.StatusNotModified
}

// closes reports whether the server closes the connection after the response.
func (h *Head) closes() bool {
	closes, keeps := false, h.Proto == "HTTP/1.1"
	eachToken(h.Header["Connection"], func(s string) bool {
		closes = closes || s == "close"
		keeps = keeps || s == "keep-alive"
		return true
	})
	return closes || !keeps
}

// contentLength returns the length in the values of Content-Length, or -1 if there is none, by the
// Fetch Standard, "extract a length": equal values count as one, and a value that is not a number
// as none.
func contentLength(values []string) (int64, error) {
	if len(values) == 0 {
		return -1, nil
	}
	var first string
	for i, v := range split(strings.Join(values, ",")) {
		if i == 0 {
			first = v
		} else if v != first {
			return 0, ErrLengths
		}
	}
	n, err := strconv.ParseUint(first, 10, 63) // accepts digits only
	if err != nil {
		return -1, nil //nolint:nilerr // the end of the connection is the end of the body
	}
	return int64(n), nil
}

// maxCodings limits the codings of a body: more have no legitimate use.
const maxCodings = 4

// Codings returns the codings of a body in lower case, in the order in which they were applied:
// content codings, then transfer codings. identity and all but the first few are left out.
func Codings(header http.Header) []string {
	var codings []string
	eachToken(header["Content-Encoding"], func(s string) bool {
		codings = append(codings, s)
		return len(codings) < maxCodings
	})
	return append(codings, transferCodings(header)...)
}

// IsChunked reports whether the last transfer coding of a body is chunked.
func IsChunked(header http.Header) bool {
	last := ""
	eachToken(header["Transfer-Encoding"], func(s string) bool {
		if isTransferCoding(s) {
			last = s
		}
		return true
	})
	return last == "chunked"
}

// transferCodings returns the known transfer codings. Others are ignored, as by Chromium and wget:
// fetch requests none. chunked must not be applied twice (RFC 9112, section 6.1), so it counts only
// once.
func transferCodings(header http.Header) (codings []string) {
	chunked := false
	eachToken(header["Transfer-Encoding"], func(s string) bool {
		switch {
		case s == "chunked" && !chunked:
			chunked = true
			codings = append(codings, s)
		case s != "chunked" && isTransferCoding(s):
			codings = append(codings, s)
		}
		return len(codings) < maxCodings
	})
	return codings
}

// isTransferCoding reports whether s is a transfer coding that can be removed.
func isTransferCoding(s string) bool {
	return s == "chunked" || s == "gzip" || s == "x-gzip" || s == "deflate"
}

// eachToken calls f with the tokens in the values of a field, in lower case and without parameters,
// until f returns false. It leaves out identity, which means no coding.
func eachToken(values []string, f func(token string) bool) {
	for _, v := range values {
		for s := range strings.SplitSeq(v, ",") {
			s, _, _ = strings.Cut(s, ";")
			s = strings.ToLower(strings.Trim(s, " \t"))
			if s != "" && s != "identity" && !f(s) {
				return
			}
		}
	}
}
