package page

import (
	"math/bits"
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
			for len(s)-i >= 8 && ((load(s, i)+0x5F*ones)|load(s, i))&(0x80*ones) == 0 { // eight of them
				i += 8
			}
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

// ones is one in each of eight bytes.
const ones = 0x0101010101010101

// load is the eight bytes of s at i, the first of them lowest.
func load(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
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
	i := len(s)
	for i >= 8 {
		k := gaps(load(s, i-8))
		if k >= n {
			break
		}
		n -= k
		i -= 8
	}
	for i--; i >= 0; i-- {
		if s[i] == ' ' || s[i] == '\n' {
			if n--; n == 0 {
				return s[i+1:]
			}
		}
	}
	return s
}

// gaps counts spaces and newlines among eight bytes.
func gaps(x uint64) int {
	const low = 0x7F * ones
	space, newline := x^0x20*ones, x^'\n'*ones
	others := (space&low + low | space) & (newline&low + low | newline)
	return bits.OnesCount64(^others &^ low)
}

// firstWords is the beginning of s that has at most n words and limit bytes.
func firstWords(s string, n, limit int) string {
	s = cut(s, limit)
	i := 0
	for len(s)-i >= 8 {
		k := gaps(load(s, i))
		if k >= n {
			break
		}
		n -= k
		i += 8
	}
	for ; i < len(s); i++ {
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
		for len(s)-i > 8 {
			// Eight bytes from the space to the tilde, of which no two neighbours
			// are spaces, nor the last one, need no closer look.
			x := load(s, i)
			if (x|(x+ones)|(x-0x20*ones))&(0x80*ones) != 0 {
				break
			}
			y := x ^ 0x20*ones
			spaces := ^((y&(0x7F*ones) + 0x7F*ones) | y) & (0x80 * ones)
			if spaces&(spaces>>8) != 0 || spaces>>63 != 0 {
				break
			}
			i += 8
		}
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
