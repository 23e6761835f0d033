package page

import (
	"unicode"
	"unicode/utf8"
)

// Words are separated by Unicode white space, including the no-break space, and by control
// characters.

// spaceAt returns the length of the space at the beginning of s, or 0 if there is none. s must
// not be empty.
func spaceAt(s string) int {
	switch c := s[0]; {
	case isWordByte[c]:
		return 0
	case c <= ' ', c == 0x7F:
		return 1
	}
	if r, size := utf8.DecodeRuneInString(s); unicode.IsSpace(r) {
		return size
	}
	return 0
}

// trimSpace removes the space at the beginning of s.
func trimSpace(s string) string {
	for i := 0; i < len(s); {
		if s[i] <= ' ' {
			i++
			continue
		}
		n := spaceAt(s[i:])
		if n == 0 {
			return s[i:]
		}
		i += n
	}
	return ""
}

// wordEnd returns the length of the word at the beginning of s.
func wordEnd(s string) int {
	for i := range len(s) {
		if !isWordByte[s[i]] && spaceAt(s[i:]) > 0 {
			return i
		}
	}
	return len(s)
}

// tidy joins the words of s by one space, and truncates the result to limit bytes.
func tidy(s string, limit int) string {
	return string(appendTidy(nil, s, limit))
}

// appendTidy appends the result of tidy.
func appendTidy(dst []byte, s string, limit int) []byte {
	start := len(dst)
	for {
		s = trimSpace(s)
		end := wordEnd(s)
		room := limit - (len(dst) - start)
		if len(dst) > start {
			room--
		}
		if s == "" || room <= 0 {
			return dst
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = append(dst, truncate(s[:end], room)...)
		s = s[end:]
	}
}

// truncate truncates s to limit bytes, between two characters.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// lastWords returns the end of s with at most n words and limit bytes.
func lastWords(s string, n, limit int) string {
	if len(s) > limit {
		s = s[len(s)-limit:]
		for s != "" && !utf8.RuneStart(s[0]) {
			s = s[1:]
		}
	}
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ' ' || s[i] == '\n' {
			if n--; n == 0 {
				return s[i+1:]
			}
		}
	}
	return s
}

// firstWords returns the beginning of s with at most n words and limit bytes.
func firstWords(s string, n, limit int) string {
	s = truncate(s, limit)
	for i := range len(s) {
		if s[i] == ' ' || s[i] == '\n' {
			if n--; n == 0 {
				return s[:i]
			}
		}
	}
	return s
}

// isWordByte is true for bytes that cannot begin a space. Multi-byte spaces begin with 0xC2 and with
// 0xE1 to 0xE3.
var isWordByte = func() (t [256]bool) {
	for c := range t {
		t[c] = c > ' ' && c != 0x7F && c != 0xC2 && (c < 0xE1 || c > 0xE3)
	}
	return t
}()

// wordsEnd returns the length of the words at the beginning of s that are separated by one ' '
// each.
func wordsEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case isWordByte[s[i]]:
		case s[i] == ' ':
			if i+1 == len(s) || spaceAt(s[i+1:]) > 0 {
				return i
			}
		case spaceAt(s[i:]) > 0:
			return i
		}
	}
	return len(s)
}
