package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// appendSection appends the fields of the given sections, each with a comma
// behind it.
func (r *Record) appendSection(dst []byte, s Section) ([]byte, error) {
	return r.appendFields(dst, recordObject, unsafe.Pointer(r), func(f *field) bool { return f.section&s != 0 })
}

func (r *Record) appendFields(dst []byte, o *object, base unsafe.Pointer, choose func(*field) bool) ([]byte, error) {
	for i := range o.fields {
		f := &o.fields[i]
		if !choose(f) || f.isZero(base) && !r.writesZero(f.zero) {
			continue
		}
		dst = append(dst, '"')
		dst = append(dst, f.name...)
		dst = append(dst, '"', ':')
		var err error
		if dst, err = r.appendValue(dst, f, base); err != nil {
			return dst, fmt.Errorf("%s: %w", f.name, err)
		}
		dst = append(dst, ',')
	}
	return dst, nil
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
		return appendString(dst, *in[string](f, base)), nil
	case kindInt:
		return strconv.AppendInt(dst, int64(*in[int](f, base)), 10), nil
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
		if dst, err = r.appendFields(dst, o, base, func(*field) bool { return true }); err != nil {
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
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	dst = append(dst, '"')
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	dst = slices.Grow(dst, len(b)+len(b)/16+64)
	buf, n := dst[:cap(dst)], len(dst)
	for i := 0; i < len(b); {
		// Room for a word, the longest escape and the closing quote.
		if len(buf)-n < 24 {
			dst = slices.Grow(buf[:n], len(b)-i+(len(b)-i)/4+64)
			buf = dst[:cap(dst)]
		}
		if i+8 <= len(b) {
			w := load(b[i:])
			binary.LittleEndian.PutUint64(buf[n:], w)
			m := special(w)
			if m == 0 {
				i += 8
				n += 8
				continue
			}
			i += first(m)
			n += first(m)
		}
		c := b[i]
		i++
		switch short := shorts[c]; {
		case short != 0:
			buf[n], buf[n+1] = '\\', short
			n += 2
		case c < ' ':
			n += copy(buf[n:], `\u00`)
			buf[n], buf[n+1] = hexDigits[c>>4], hexDigits[c&15]
			n += 2
		default:
			buf[n] = c
			n++
		}
	}
	return append(buf[:n], '"')
}

const hexDigits = "0123456789abcdef"

// shorts holds what follows the backslash in the short escape of a byte.
var shorts = [256]byte{
	'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't',
}
