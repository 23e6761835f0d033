package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// appendSections appends the fields of the given sections, each followed by a comma. If
// nonEmpty is true, it also appends every other section in which a field is set.
func (r *Record) appendSections(dst []byte, s Section, nonEmpty bool) (_ []byte, err error) {
	for i, fields := range recordSections {
		if s&(1<<i) != 0 || nonEmpty && r.has(fields) {
			if dst, err = r.appendFields(dst, fields, unsafe.Pointer(r)); err != nil {
				break
			}
		}
	}
	return dst, err
}

// estimateSize estimates the size of the encoded parse section. The section can be very long, and
// a buffer that grows step by step would be copied many times.
func (r *Record) estimateSize() int {
	const perLink, perScore = 80, 32 // bytes of names and punctuation
	n := len(r.Title) + len(r.Description) + len(r.Keywords) + len(r.Text) + len(r.AnchorText)
	for i := range r.Links {
		l := &r.Links[i]
		n += perLink + len(l.URL) + len(l.Anchor) + len(l.Context) + len(l.Path) + perScore*len(l.Scores)
	}
	return n + n/16
}

func (r *Record) has(fields []field) bool {
	for i := range fields {
		if !fields[i].isZero(unsafe.Pointer(r)) {
			return true
		}
	}
	return false
}

// appendFields appends the fields of the struct at base that are to be written, each followed
// by a comma.
func (r *Record) appendFields(dst []byte, fields []field, base unsafe.Pointer) (_ []byte, err error) {
	for i := range fields {
		f := &fields[i]
		if f.isZero(base) && (f.zero == omitZero || !r.writesZero(f.zero)) {
			continue
		}
		dst = append(dst, f.label...)
		if dst, err = r.appendValue(dst, f, base); err != nil {
			return dst, fmt.Errorf("%s: %w", f.name, err)
		}
		dst = append(dst, ',')
	}
	return dst, nil
}

// quoted returns the part of the line that holds s and its quotes, or nil if s does not share
// memory with a complete string of the line.
func (raw *rawRecord) quoted(s string) []byte {
	line := raw.line
	at := uintptr(unsafe.Pointer(unsafe.StringData(s))) - uintptr(unsafe.Pointer(unsafe.SliceData(line)))
	if at-1 < uintptr(len(line)) && uintptr(len(s)) < uintptr(len(line))-at && line[at-1] == '"' && line[at+uintptr(len(s))] == '"' {
		return line[at-1 : at+uintptr(len(s))+1]
	}
	return nil
}

func (r *Record) writesZero(z zeroRule) bool {
	switch z {
	case writeZero:
		return true
	case zeroWithURL:
		return r.URL != ""
	case zeroWithStatus:
		return r.StatusCode != 0
	case zeroWithArchive:
		return r.WARCFilename != ""
	}
	return false
}

func (r *Record) appendValue(dst []byte, f *field, base unsafe.Pointer) ([]byte, error) {
	switch f.kind {
	case kindString:
		s := *in[string](f, base)
		if len(s) == len(r.raw.text) && unsafe.StringData(s) == unsafe.StringData(r.raw.text) {
			return appendText(append(dst, '"'), unsafe.Slice(unsafe.StringData(s), len(s))), nil
		}
		if quoted := r.raw.quoted(s); quoted != nil {
			return append(dst, quoted...), nil
		}
		return appendString(dst, s), nil
	case kindInt:
		n := *in[int](f, base)
		if n == 0 && f.name == "v" {
			n = Version
		}
		return strconv.AppendInt(dst, int64(n), 10), nil
	case kindInt64:
		return strconv.AppendInt(dst, *in[int64](f, base), 10), nil
	case kindFloat:
		p := in[Float](f, base)
		if p.Kind != Present {
			return append(dst, "null"...), nil
		}
		return appendFloat(dst, p.Value)
	case kindBool:
		p := in[Bool](f, base)
		if p.Kind != Present {
			return append(dst, "null"...), nil
		}
		return strconv.AppendBool(dst, p.Value), nil
	case kindStrings:
		return appendStrings(dst, *in[[]string](f, base)), nil
	case kindValues:
		dst = append(dst, '{')
		for _, v := range *in[[]Values](f, base) {
			dst = appendString(dst, v.Name)
			dst = append(dst, ':')
			dst = appendStrings(dst, v.Values)
			dst = append(dst, ',')
		}
		return closeWith(dst, '}'), nil
	case kindScores:
		dst = append(dst, '{')
		for _, v := range *in[[]Scored](f, base) {
			dst = appendString(dst, v.Name)
			dst = append(dst, ':')
			var err error
			if dst, err = appendFloat(dst, v.Value); err != nil {
				return dst, fmt.Errorf("%s: %w", v.Name, err)
			}
			dst = append(dst, ',')
		}
		return closeWith(dst, '}'), nil
	case kindRedirects:
		return appendObjects(r, dst, redirectObject, *in[[]Redirect](f, base))
	case kindLinks:
		return appendObjects(r, dst, linkObject, *in[[]Link](f, base))
	}
	panic("wire: field without a kind")
}

// appendObjects appends s as an array of objects.
func appendObjects[T any](r *Record, dst []byte, o *object, s []T) ([]byte, error) {
	dst = append(dst, '[')
	for i := range s {
		dst = append(dst, '{')
		base := unsafe.Pointer(&s[i])
		var err error
		if dst, err = r.appendFields(dst, o.fields, base); err != nil {
			return dst, err
		}
		if extra := *(*string)(unsafe.Add(base, o.extra)); extra != "" {
			dst = append(dst, extra...)
			dst = append(dst, ',')
		}
		dst = append(closeWith(dst, '}'), ',')
	}
	return closeWith(dst, ']'), nil
}

// closeWith replaces the last comma by the closing bracket, or appends it to an opening
// bracket.
func closeWith(dst []byte, bracket byte) []byte {
	if n := len(dst) - 1; dst[n] == ',' {
		dst[n] = bracket
		return dst
	}
	return append(dst, bracket)
}

func appendStrings(dst []byte, s []string) []byte {
	dst = append(dst, '[')
	for _, v := range s {
		dst = append(appendString(dst, v), ',')
	}
	return closeWith(dst, ']')
}

// appendFloat appends the shortest decimal that parses as v, in the format of ECMAScript and
// encoding/json.
func appendFloat(dst []byte, v float64) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return dst, fmt.Errorf("%v cannot be written", v)
	}
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, v, 'e', -1, 64), nil
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64), nil
}

// appendString appends s in quotes. It escapes only what JSON requires. Each invalid byte of s
// is replaced by U+FFFD, as in encoding/json.
func appendString(dst []byte, s string) []byte {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	dst = grow(dst, len(b)+16)
	dst = append(dst, '"')
	buf, n := dst[:cap(dst)], len(dst)
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := load(b[i:])
		binary.LittleEndian.PutUint64(buf[n+i:], w)
		if special(w)|w&highs != 0 {
			return appendEscaped(buf[:n+i], b[i:])
		}
	}
	for ; i < len(b); i++ {
		c := b[i]
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(buf[:n+i], b[i:])
		}
		buf[n+i] = c
	}
	buf[n+i] = '"'
	return buf[:n+i+1]
}

// grow returns dst with capacity for n more bytes. Unlike [slices.Grow] it doubles buffers of
// up to maxDoubling bytes, and does not clear the new memory.
func grow(dst []byte, n int) []byte {
	const maxDoubling = 1 << 20
	if cap(dst)-len(dst) >= n {
		return dst
	}
	larger := make([]byte, len(dst), max(len(dst)+n, cap(dst)+max(cap(dst)/4, min(cap(dst), maxDoubling))))
	copy(larger, dst)
	return larger
}

func appendEscaped(dst, b []byte) []byte {
	if !valid(b) {
		b = []byte(string([]rune(string(b))))
	}
	return appendText(dst, b)
}

// appendText appends b, which must be UTF-8, and a closing quote.
func appendText(dst, b []byte) []byte {
	if hasEscape {
		dst, b = appendBlocks(dst, b)
	}
	return append(appendBytes(dst, b), '"')
}

// exactSizeMin is the length from which the escaped size of a string is computed exactly.
const exactSizeMin = 1 << 20

// escapedSize estimates the length of b when escaped. For a long string the result is exact,
// because an estimate that is too low would double the memory in use.
func escapedSize(b []byte) int {
	if len(b) < exactSizeMin {
		return len(b) + len(b)/8
	}
	n := 0
	for _, c := range b {
		n += int(escaped[c] >> 56)
	}
	return n
}

// appendBytes appends b escaped, byte by byte.
func appendBytes(dst, b []byte) []byte {
	const maxEscapeLen = 6 // \u001f
	for len(b) > 0 {
		part := b[:min(len(b), 1<<10)]
		b = b[len(part):]
		if need := len(part)*maxEscapeLen + 8; cap(dst)-len(dst) < need {
			dst = grow(dst, need+escapedSize(b))
		}
		dst = appendPart(dst, part)
	}
	return dst
}

// appendPart is appendBytes for a dst with enough capacity.
func appendPart(dst, b []byte) []byte {
	n := len(dst)
	dst = dst[:cap(dst)]
	for _, c := range b {
		e := escaped[c]
		binary.LittleEndian.PutUint64(dst[n:], e)
		n += int(e >> 56)
	}
	return dst[:n]
}

// appendBlocks appends b escaped, in blocks of 16 bytes, and returns what is left of b.
func appendBlocks(dst, b []byte) (_, rest []byte) {
	const maxBlocks = 64 // maximum number of blocks between checks of the capacity
	for len(b) >= 16 {
		blocks := min(len(b)/16, maxBlocks)
		if need := 32*blocks + 16; cap(dst)-len(dst) < need {
			dst = grow(dst, need+escapedSize(b))
		}
		n := len(dst)
		wrote, read := escape(dst[n:cap(dst)], b, blocks)
		dst, b = dst[:n+wrote], b[read:]
		if read < 16*blocks {
			dst, b = appendBytes(dst, b[:16]), b[16:]
		}
	}
	return dst, b
}

// escaped holds the encoding of each byte in a JSON string: up to six bytes in little-endian
// order, and the number of these bytes in the highest byte.
var escaped = func() (t [256]uint64) {
	for c := range t {
		text := string([]byte{byte(c)})
		switch {
		case shortEscapes[c] != 0:
			text = string([]byte{'\\', shortEscapes[c]})
		case c < ' ':
			text = fmt.Sprintf(`\u%04x`, c)
		}
		t[c] = uint64(len(text)) << 56
		for i := range len(text) {
			t[c] |= uint64(text[i]) << (8 * i)
		}
	}
	return t
}()

// shortEscapes holds the letter after the backslash in the short escape of a byte.
var shortEscapes = [256]byte{
	'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't',
}
