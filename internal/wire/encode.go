package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// appendSections appends the fields of the given sections, each with a comma
// behind it, and of any sections that are there if that is asked for.
func (r *Record) appendSections(dst []byte, s Section, others bool) (_ []byte, err error) {
	for i, fields := range recordSections {
		if s&(1<<i) != 0 || others && r.has(fields) {
			if dst, err = r.appendFields(dst, fields, unsafe.Pointer(r)); err != nil {
				break
			}
		}
	}
	return dst, err
}

// extent is about how many bytes the parse section will be. That of a page of many links is far
// longer than others, and would go through many buffers, each somewhat larger than the one before.
func (r *Record) extent() int {
	n := len(r.Title) + len(r.Description) + len(r.Keywords) + len(r.Text) + len(r.AnchorText)
	for i := range r.Links {
		l := &r.Links[i]
		n += ofLink + len(l.URL) + len(l.Anchor) + len(l.Context) + len(l.Path) + ofScore*len(l.Scores)
	}
	return n + n/16
}

// What names and punctuation take of a link, and one of its scores.
const (
	ofLink  = 80
	ofScore = 32
)

// has tells whether any of the fields is there.
func (r *Record) has(fields []field) bool {
	for i := range fields {
		if !fields[i].isZero(unsafe.Pointer(r)) {
			return true
		}
	}
	return false
}

func (r *Record) appendFields(dst []byte, fields []field, base unsafe.Pointer) (_ []byte, err error) {
	for i := range fields {
		f := &fields[i]
		if f.isZero(base) && (f.zero == zeroOmitted || !r.writesZero(f.zero)) {
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

// quoted is s with its quotes as it stands in the line, if it does, all of one string that
// has no escapes; else nil.
func (raw *rawRecord) quoted(s string) []byte {
	line := raw.line
	at := uintptr(unsafe.Pointer(unsafe.StringData(s))) - uintptr(unsafe.Pointer(unsafe.SliceData(line)))
	if at-1 < uintptr(len(line)) && uintptr(len(s)) < uintptr(len(line))-at && line[at-1] == '"' && line[at+uintptr(len(s))] == '"' {
		return line[at-1 : at+uintptr(len(s))+1]
	}
	return nil
}

func (r *Record) writesZero(z zero) bool {
	switch z {
	case zeroWritten:
		return true
	case zeroOfAddress:
		return r.URL != ""
	case zeroOfAnswer:
		return r.StatusCode != 0
	case zeroOfArchive:
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
		return closed(dst, '}'), nil
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
		return closed(dst, '}'), nil
	case kindRedirects:
		return appendObjects(r, dst, redirectObject, *in[[]Redirect](f, base))
	case kindLinks:
		return appendObjects(r, dst, linkObject, *in[[]Link](f, base))
	}
	panic("wire: field without a kind")
}

// appendObjects appends an array of structs whose fields are those of o.
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
		dst = append(closed(dst, '}'), ',')
	}
	return closed(dst, ']'), nil
}

// closed puts the closing bracket in place of the last comma, or behind an
// opening bracket.
func closed(dst []byte, bracket byte) []byte {
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
	return closed(dst, ']')
}

// appendFloat appends the shortest decimal that reads back as v, in the form
// that ECMAScript, and so encoding/json, gives it.
func appendFloat(dst []byte, v float64) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return dst, fmt.Errorf("%v cannot be written", v)
	}
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, v, 'e', -1, 64), nil
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64), nil
}

// appendString appends s in quotes. It escapes what JSON requires and nothing
// else. Every byte of s that is not UTF-8 becomes U+FFFD, as in encoding/json.
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

// grow is slices.Grow, but what is made for later is not cleared: memory that is new is
// first touched when it is written.
func grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	larger := make([]byte, len(dst), max(len(dst)+n, cap(dst)+max(cap(dst)/4, min(cap(dst), doubled))))
	copy(larger, dst)
	return larger
}

// doubled is up to which size room is doubled. A line of many strings would otherwise be copied
// each time that it has become a quarter longer.
const doubled = 1 << 20

// longest is how many bytes one can become: \u001f.
const longest = 6

// appendEscaped appends b and a closing quote.
func appendEscaped(dst, b []byte) []byte {
	if !valid(b) {
		b = []byte(string([]rune(string(b))))
	}
	return appendText(dst, b)
}

// appendText appends b, which is UTF-8, and a closing quote.
func appendText(dst, b []byte) []byte {
	switch {
	case canEscape:
		dst, b = appendBlocks(dst, b)
	case len(b) > chunkSize:
		dst, b = appendChunks(dst, b)
	}
	return append(appendBytes(dst, b), '"')
}

// counted is how many bytes are worth counting before there is room made for them.
const counted = 1 << 20

// room is about how many bytes b becomes: a little more than it has, as pages do. Where
// there is much of it that is counted, or a long string of what is escaped most would be
// copied from one large buffer to the next and need the memory of both.
func room(b []byte) int {
	if len(b) < counted {
		return len(b) + len(b)/8
	}
	n := 0
	for _, c := range b {
		n += int(encoded[c] >> 56)
	}
	return n
}

// appendBytes appends b, byte by byte.
func appendBytes(dst, b []byte) []byte {
	n := len(dst)
	dst = grow(dst, len(b)*longest+8)
	dst = dst[:cap(dst)]
	for _, c := range b {
		e := encoded[c]
		binary.LittleEndian.PutUint64(dst[n:], e)
		n += int(e >> 56)
	}
	return dst[:n]
}

// appendBlocks appends as much of b as fills whole blocks of 16 bytes, and returns
// the rest. It asks nothing of the bytes but whether they have a short escape, so
// that nothing depends on where the escapes are.
func appendBlocks(dst, b []byte) (_, rest []byte) {
	const most = chunkSize / 16
	for len(b) >= 16 {
		blocks := min(len(b)/16, most)
		if need := 32*blocks + 16; cap(dst)-len(dst) < need {
			dst = grow(dst, need+room(b))
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

// appendChunks appends as much of b as fills whole chunks, and returns the rest.
//
// Pages have an escape every twenty bytes, so a loop that asks at each byte or
// word whether it holds one spends its time on mispredicted branches. Here the
// escapes of a chunk are found beforehand, and what stands before each of them
// is copied by a fixed number of bytes, mostly too many, and so is the escape.
func appendChunks(dst, b []byte) (_, rest []byte) {
	var masks [chunkSize / blockSize]uint64
	n := len(dst)
	for len(b) >= chunkSize+stride {
		if need := chunkSize*longest + stride; cap(dst)-n < need {
			dst = grow(dst[:n], need+room(b))
		}
		dst = dst[:cap(dst)]
		specials(masks[:], b)
		i := 0
		for k, mask := range &masks {
			for ; mask != 0; mask &= mask - 1 {
				j := k*blockSize + bits.TrailingZeros64(mask)
				copyStrides(&dst[n], &b[i], j-i)
				n += j - i
				e := encoded[b[j]]
				binary.LittleEndian.PutUint64(dst[n:], e)
				n += int(e >> 56)
				i = j + 1
			}
		}
		n += copy(dst[n:], b[i:chunkSize])
		b = b[chunkSize:]
	}
	return dst[:n], b
}

// encoded holds what each byte becomes in a JSON string, up to six bytes in the
// order of memory, and their number in the highest byte.
var encoded = func() (t [256]uint64) {
	for c := range t {
		text := string([]byte{byte(c)})
		switch {
		case shorts[c] != 0:
			text = string([]byte{'\\', shorts[c]})
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

// shorts holds what follows the backslash in the short escape of a byte.
var shorts = [256]byte{
	'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't',
}
