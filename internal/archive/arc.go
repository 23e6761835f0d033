package archive

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// A dialect is WARC or ARC.
type dialect int

const (
	undecided dialect = iota // before the first record
	warc                     // records begin with a version line
	arc                      // records begin with a URL-record line
)

// isRecord reports whether b begins a record of the dialect, or of any dialect if d is
// undecided. For an ARC record, b must contain the whole first line.
func (d dialect) isRecord(b []byte) bool {
	if d != arc && isVersion(b) {
		return true
	}
	if d == warc {
		return false
	}
	line, _, ok := bytes.Cut(b, []byte("\n"))
	if !ok {
		return false
	}
	_, ok = parseARC(line)
	return ok
}

// isVersion reports whether b begins with a version, as WARC/1.0 or WARC/0.18.
func isVersion(b []byte) bool {
	return len(b) >= 8 && string(b[:5]) == "WARC/" && isDigit(b[5]) && b[6] == '.' && isDigit(b[7])
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// begins reports whether a record begins at the current position, and sets the dialect. It
// returns an error if reading fails.
func (r *Reader) begins() (bool, error) {
	head, err := r.out.Peek(8)
	switch {
	case isVersion(head) && r.m.dialect != arc:
		r.m.dialect = warc
		return true, nil
	case r.m.dialect == warc, len(head) == 0, !isLetter(head[0]):
		return false, err
	}
	for n := 256; ; n = min(4*n, bufferSize) {
		b, err := r.out.Peek(n)
		if bytes.IndexByte(b, '\n') >= 0 {
			ok := arc.isRecord(b)
			if ok {
				r.m.dialect = arc
			}
			return ok, nil
		}
		if err != nil || n == bufferSize {
			return false, err
		}
	}
}

// An arcLine is the URL-record line of an ARC record. In archives of version 1 it consists of
//
//	URL IP-address Archive-date Content-type Archive-length
//
// In archives of version 2 there are five more fields before the length. URLs and content types
// may contain spaces, so the line is recognized by an IP address followed by a date.
type arcLine struct{ url, ip, date, media, length string }

func parseARC(line []byte) (a arcLine, ok bool) {
	scheme := bytes.IndexByte(line, ':')
	if scheme < 2 || !isLetter(line[0]) {
		return a, false
	}
	for _, c := range line[1:scheme] {
		if !isLetter(c) && !isDigit(c) && c != '+' && c != '-' && c != '.' {
			return a, false
		}
	}
	if c := bytes.TrimRight(line, "\r "); len(c) == 0 || !isDigit(c[len(c)-1]) && bytes.Count(c, []byte(" ")) < 4 {
		return a, false // a quick check that excludes most other lines
	}
	text := strings.TrimRight(string(line), "\r ")
	if a, ok = splitARC(text, 8); !ok {
		a, ok = splitARC(text, 4) // tried last, because short digits may also be a part of the URL
	}
	return a, ok
}

// splitARC splits a URL-record line at an IP address and a date of at least minDigits digits.
func splitARC(text string, minDigits int) (a arcLine, ok bool) {
	words := strings.Split(text, " ")
	begin := len(words[0]) + 1 // start of the word at i-1
	for i := 2; i < len(words)-1; i++ {
		if isARCDate(words[i], minDigits) && isARCAddress(words[i-1]) {
			rest := words[i+1:]
			media := len(rest) - 1
			if len(rest) >= 7 {
				media = len(rest) - 6 // version 2
			}
			return arcLine{text[:begin-1], words[i-1], words[i], strings.Join(rest[:media], " "), rest[len(rest)-1]}, true
		}
		begin += len(words[i-1]) + 1
	}
	return a, false
}

// isARCDate accepts other numbers of digits than the 14 of the specification, because archives
// contain such dates.
func isARCDate(s string, minDigits int) bool {
	return len(s) >= minDigits && len(s) <= 20 && strings.Trim(s, "0123456789") == ""
}

func isARCAddress(s string) bool {
	if s == "-" {
		return true
	}
	_, err := netip.ParseAddr(s)
	return err == nil
}

// arcHeader reads a URL-record line and converts it to the header of a WARC record. The block
// of a page is an HTTP response in both formats.
func (r *Reader) arcHeader() error {
	line, err := r.line()
	if err != nil {
		return err
	}
	a, ok := parseARC(line)
	if !ok {
		return errors.New("no URL-record line") // impossible after begins
	}
	kind, media := "resource", a.media
	switch scheme, _, _ := strings.Cut(a.url, ":"); strings.ToLower(scheme) {
	case "http", "https":
		kind, media = "response", "application/http; msgtype=response"
	case "dns":
		kind = "response"
	case "filedesc":
		kind = "warcinfo"
	}
	r.fields = append(r.fields[:0], Field{"WARC-Type", kind}, Field{"WARC-Target-URI", a.url})
	// Replace a short date by the start of its period.
	n := min(len(a.date), len(timestampLayout)) &^ 1
	if t, err := time.Parse(timestampLayout[:n], a.date[:n]); err == nil {
		r.fields = append(r.fields, Field{"WARC-Date", t.Format(time.RFC3339)})
	}
	if a.ip != "-" && a.ip != "0.0.0.0" {
		r.fields = append(r.fields, Field{"WARC-IP-Address", a.ip})
	}
	if media != "" {
		r.fields = append(r.fields, Field{"Content-Type", media})
	}
	r.fields = append(r.fields, Field{"Content-Length", a.length})
	r.rec.Version, r.rec.Header = "ARC", r.fields
	length, err := strconv.ParseInt(a.length, 10, 64)
	if err != nil || length < 0 {
		return fmt.Errorf("length %.40q of an ARC record is no length", a.length)
	}
	r.rec.ContentLength, r.rec.left = length, length
	r.rec.begin = r.at()
	return nil
}
