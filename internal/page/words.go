package page

import (
	"unicode"
	"unicode/utf8"
)

// Words are separated by whatever Unicode calls space, the no-break space
// included, and by control characters.

// spaceAt is the length of the space at the beginning of s, which is not empty,
// or 0 if there is none.
func spaceAt(s string) int {
	switch c := s[0]; {
	case isLetterOfWord[c]:
		return 0
	case c <= ' ', c == 0x7F:
		return 1
	}
	if r, size := utf8.DecodeRuneInString(s); unicode.IsSpace(r) {
		return size
	}
	return 0
}

// trimSpace cuts off the space at the beginning of s.
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

// wordEnd is the length of the word at the beginning of s.
func wordEnd(s string) int {
	for i := range len(s) {
		if !isLetterOfWord[s[i]] && spaceAt(s[i:]) > 0 {
			return i
		}
	}
	return len(s)
}

// tidy separates the words of s by one space, and cuts it after at most limit
// bytes.
func tidy(s string, limit int) string {
	return string(appendTidy(nil, s, limit))
}

// appendTidy appends what tidy returns.
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
		dst = append(dst, cut(s[:end], room)...)
		s = s[end:]
	}
}

// cut cuts s after at most limit bytes, between two letters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// lastWords is the end of s that has at most n words and limit bytes.
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

// firstWords is the beginning of s that has at most n words and limit bytes.
func firstWords(s string, n, limit int) string {
	s = cut(s, limit)
	for i := range len(s) {
		if s[i] == ' ' || s[i] == '\n' {
			if n--; n == 0 {
				return s[:i]
			}
		}
	}
	return s
}

// isLetterOfWord tells the bytes that are no space and begin none: those beyond ASCII begin
// with 0xC2 and 0xE1 to 0xE3.
var isLetterOfWord = func() (t [256]bool) {
	for c := range t {
		t[c] = c > ' ' && c != 0x7F && c != 0xC2 && (c < 0xE1 || c > 0xE3)
	}
	return t
}()

// wordsEnd is the length of the words at the beginning of s that are separated
// by one ' ' each.
func wordsEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case isLetterOfWord[s[i]]:
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
