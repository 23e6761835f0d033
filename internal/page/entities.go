package page

import (
	"strings"
	"unicode/utf8"
)

//go:generate go run entities_gen.go

// How a part of a page is decoded.
type decoding uint8

const (
	asWritten   decoding = iota // without character references
	inText                      // with them
	inAttribute                 // with them, but of names without semicolon only those that nothing can go on with
)

// appendDecoded appends what s, a part of a page, stands for: of newlines
// U+000A, of character references their characters, and of U+0000 U+FFFD if nul
// is set.
func appendDecoded(dst []byte, s string, how decoding, nul bool) []byte {
	for {
		i := 0
		for i < len(s) && ends[s[i]]&isChanged == 0 {
			i++
		}
		dst = append(dst, s[:i]...)
		if i == len(s) {
			return dst
		}
		n := 1
		switch c := s[i]; {
		case c == '\r':
			dst = append(dst, '\n')
			if strings.HasPrefix(s[i+1:], "\n") {
				n = 2
			}
		case c == '&' && how != asWritten:
			dst, n = appendReference(dst, s[i:], how)
		case c == 0 && nul:
			dst = append(dst, "\uFFFD"...)
		default:
			dst = append(dst, c)
		}
		s = s[i+n:]
	}
}

// appendReference appends what the character reference at the beginning of s
// stands for, and returns its length. If there is none, it is the "&" itself.
func appendReference(dst []byte, s string, how decoding) ([]byte, int) {
	if len(s) > 1 && s[1] == '#' {
		if r, n := number(s); n > 0 {
			return utf8.AppendRune(dst, r), n
		}
	} else if value, n := named(s, how); n > 0 {
		return append(dst, value...), n
	}
	return append(dst, '&'), 1
}

// windows1252 is what the numbers 0x80 to 0x9F stand for.
var windows1252 = [...]uint16{
	0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
	0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
	0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
	0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
}

// number reads a numeric character reference, and returns its length, or 0 if
// there is none.
func number(s string) (r rune, n int) {
	base, i := rune(10), len("&#")
	if len(s) > i && s[i]|0x20 == 'x' {
		base = 16
		i++
	}
	start := i
	for ; i < len(s); i++ {
		digit := rune(s[i]) - '0'
		if letter := rune(s[i] | 0x20); base == 16 && 'a' <= letter && letter <= 'f' {
			digit = letter - 'a' + 10
		} else if digit < 0 || digit > 9 {
			break
		}
		if r <= utf8.MaxRune {
			r = r*base + digit
		}
	}
	if i == start {
		return 0, 0
	}
	if i < len(s) && s[i] == ';' {
		i++
	}
	switch {
	case r == 0 || !utf8.ValidRune(r):
		r = utf8.RuneError
	case 0x80 <= r && r <= 0x9F:
		r = rune(windows1252[r-0x80])
	}
	return r, i
}

// Names of character references, semicolon left out.
const (
	longestName   = len("CounterClockwiseContourIntegral")
	longestLegacy = len("Aacute") // of those that need no semicolon
	entityLegacy  = 0x80          // in entityRecords: needs no semicolon
)

// named reads a named character reference, and returns its length, or 0 if
// there is none. The longest name counts: that is the whole of what looks like
// a name if a semicolon follows, for no name goes on behind one.
func named(s string, how decoding) (value string, n int) {
	name := s[1:]
	end := 0
	for end < len(name) && end <= longestName && isAlphanumeric(name[end]) {
		end++
	}
	if end < len(name) && name[end] == ';' {
		if value, _ := entity(name[:end]); value != "" {
			return value, 1 + end + 1
		}
	}
	for n := min(end, longestLegacy); n >= 2; n-- {
		value, legacy := entity(name[:n])
		if !legacy {
			continue
		}
		if how == inAttribute && n < len(name) && (name[n] == '=' || isAlphanumeric(name[n])) {
			return "", 0
		}
		return value, 1 + n
	}
	return "", 0
}

// entity looks a name up. The records are those of a hash table, in the order
// of their hashes.
func entity(name string) (value string, legacy bool) {
	h := uint32(0)
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	h >>= 22
	records := entityRecords[entityBuckets[h]:entityBuckets[h+1]]
	for records != "" {
		n := int(records[0] &^ entityLegacy)
		end := 2 + n + int(records[1])
		if records[2:2+n] == name {
			return records[2+n : end], records[0]&entityLegacy != 0
		}
		records = records[end:]
	}
	return "", false
}

// isAlphanumeric reports whether c is an ASCII letter or digit.
func isAlphanumeric(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }
