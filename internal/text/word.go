package text

import (
	"iter"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lower maps the ASCII letters and digits to their lower case, every other
// ASCII byte, which separates words, to 0, and what begins or continues a
// longer character to 0 too: see wide.
var lower = func() (t [256]byte) {
	for c := '0'; c <= '9'; c++ {
		t[c] = byte(c)
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = byte(c), byte(c)
	}
	return t
}()

// nextWord finds the first word of s that begins at or after i: s[start:end],
// empty if there is none. The one after it begins at or after next, which is
// before end where words overlap.
func nextWord(s string, i int) (start, end, next int) {
	for i < len(s) && lower[s[i]] == 0 {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		c := classOf(r)
		if c == unspaced {
			return pair(s, i)
		}
		if c == letter {
			break
		}
		i += n
	}
	start = i
	for i < len(s) {
		if lower[s[i]] != 0 {
			i++
			continue
		}
		if s[i] < utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if c := classOf(r); c == between || c == unspaced {
			break
		}
		i += n
	}
	return start, i, i
}

// pair is nextWord where a character of class unspaced begins at i: the word is
// that character and the one after it, if there is one, with their marks.
func pair(s string, i int) (start, end, next int) {
	start = i
	for found := 0; i < len(s) && s[i] >= utf8.RuneSelf; {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch classOf(r) {
		case unspaced:
			switch found++; found {
			case 2:
				next = i
			case 3: // which the second begins a word with
				return start, i, next
			}
		case mark, joiner:
		default:
			return start, i, i
		}
		i += n
	}
	return start, i, i
}

// block is the number of bytes that are classified at once, one bit of a uint64 for each.
const block = 64

// classes classifies the block of s that starts at i: bit k of words is set if byte i+k is
// an ASCII letter or digit, bit k of wide if it is part of a multi-byte character. Bytes
// beyond the end of s are neither.
func classes(s string, i int) (words, wide uint64) {
	for k := 0; k < block && i+k < len(s); k += 8 {
		plain, high := classesOf(eight(s, i+k))
		words |= plain << k
		wide |= high << k
	}
	return words, wide
}

// classesOf is classes for eight bytes.
func classesOf(w uint64) (words, wide uint64) {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	// Of bytes below 0x80 the highest bit is free: b + 0x80 - from sets it if
	// b ≥ from, b + 0x7F - to sets it if b > to.
	b := w &^ high
	digit := (b + (0x80-'0')*ones) &^ (b + (0x7F-'9')*ones)
	b |= 0x20 * ones
	letter := (b + (0x80-'a')*ones) &^ (b + (0x7F-'z')*ones)
	// The product gathers the eight bits in the highest byte.
	const gather = 0x0102040810204080
	words = ((digit | letter) &^ w & high) >> 7 * gather >> 56
	return words, (w & high) >> 7 * gather >> 56
}

// A class is what a character is to a word.
type class uint8

const (
	between  class = iota // separates words
	joiner                // goes on with a word, but is no part of it
	mark                  // belongs to the character before it, and begins no word
	letter                // or digit: part of a word
	unspaced              // of a script in which no space tells words apart
)

// classOf is the class of a character that is not ASCII. The rune that stands
// for invalid UTF-8 separates words.
func classOf(r rune) class {
	switch {
	case 0xC0 <= r && r < 0x250: // Latin
		if r == '×' || r == '÷' {
			return between
		}
		return letter
	case r < 0xC0:
		switch r {
		case '\u00AD': // soft hyphen
			return joiner
		case 'ª', 'µ', 'º':
			return letter
		}
		return between
	case 0x0400 <= r && r < 0x0482, 0x048A <= r && r < 0x0530: // Cyrillic
		return letter
	case 0x2010 <= r && r < 0x2060: // dashes, quotes, ellipses
		return between
	case 0x3400 <= r && r < 0x4DC0, 0x4E00 <= r && r < 0xA000, // Han
		0x3041 <= r && r < 0x3097, 0x30A1 <= r && r < 0x30FB, // Hiragana, Katakana
		0xAC00 <= r && r < 0xD7A4,                            // Hangul
		0x0E01 <= r && r < 0x0E31, 0x0E40 <= r && r < 0x0E46: // Thai
		return unspaced
	case '\u200C' <= r && r <= '\u200D', r == '\u2060': // zero-width (non-)joiner, word joiner
		return joiner
	case 0x1160 <= r && r < 0x1200, 0xD7B0 <= r && r < 0xD800, // vowels and finals of a Hangul syllable
		r == '\uFF9E', r == '\uFF9F': // halfwidth voiced sound marks
		if unicode.IsLetter(r) {
			return mark
		}
		return between
	case unicode.IsLetter(r):
		if inUnspaced(r) {
			return unspaced
		}
		return letter
	case unicode.IsMark(r):
		return mark
	case unicode.IsDigit(r):
		return letter
	}
	return between
}

// inUnspaced reports whether a letter is of a script that is written without
// spaces between words, or of Hangul.
func inUnspaced(r rune) bool {
	if r < 0x0E00 || 0x1E00 <= r && r < 0x2000 { // no need to look
		return false
	}
	return unicode.In(r, unicode.Thai, unicode.Myanmar, unicode.Khmer, unicode.Lao, unicode.Han, unicode.Hiragana,
		unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Tai_Tham, unicode.Tai_Le, unicode.New_Tai_Lue,
		unicode.Tai_Viet) || r == 'ー' || r == 'ｰ'
}

// lone reports whether a word begins with a character of class unspaced.
func lone(word []byte) bool {
	r, _ := utf8.DecodeRune(word)
	return r >= utf8.RuneSelf && classOf(r) == unspaced
}

// Words yields the words of s as they are written. Those of scripts without
// spaces overlap.
func Words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for next := 0; ; {
			var start, end int
			if start, end, next = nextWord(s, next); start == end || !yield(s[start:end]) {
				return
			}
		}
	}
}

// fold appends word to dst in NFC and in lower case, without joiners.
func (c casing) fold(dst []byte, word string) []byte {
	from := len(dst)
	if !composed(word) && !norm.NFC.IsNormalString(word) {
		word = norm.NFC.String(word)
	}
	for _, r := range word {
		switch {
		case r < utf8.RuneSelf && c.ascii != 0:
			dst = append(dst, lower[r])
		case r == 'ς':
			dst = append(dst, "σ"...)
		case r < utf8.RuneSelf || classOf(r) != joiner:
			dst = utf8.AppendRune(dst, c.rune(r))
		}
	}
	if !composed(dst[from:]) && !norm.NFC.IsNormal(dst[from:]) {
		dst = append(dst[:from], norm.NFC.Bytes(dst[from:])...)
	}
	return dst
}

// composed reports whether word is in NFC because all of its characters are Latin, Cyrillic
// or Han ones that NFC leaves alone, whatever stands beside them. That is most words, and it is
// found out faster than by looking the characters up.
func composed[T string | []byte](word T) bool {
	for i := 0; i < len(word); i++ {
		if word[i] >= utf8.RuneSelf {
			return composedRunes(string(word[i:]))
		}
	}
	return true
}

func composedRunes(word string) bool {
	for _, r := range word {
		switch {
		case r < 0x300, 0x400 <= r && r < 0x483, 0x48A <= r && r < 0x530, 0x4E00 <= r && r < 0xA000:
		default:
			return false
		}
	}
	return true
}
