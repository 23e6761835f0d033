package text

import (
	"iter"
	"math/bits"
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
// empty if there is none.
func nextWord(s string, i int) (start, end int) {
	for i < len(s) && lower[s[i]] == 0 {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if inWord(r) {
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
		if !inWord(r) {
			break
		}
		i += n
	}
	return start, i
}

// span is the number of bytes, counted from the lowest, with which w goes on as
// ASCII letters and digits, and whether what ends them is an ASCII byte, so
// that the word ends there too. At 8 nothing has ended.
func span(w uint64) (n int, ended bool) {
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
	other := ^(digit | letter) | w // digits and letters have their highest bit clear here
	n = bits.TrailingZeros64(other&high) / 8
	return n, n < 8 && w>>(8*n)&0x80 == 0
}

// inWord reports whether r, which is not ASCII, is part of a word. The rune
// that stands for invalid UTF-8 is not.
func inWord(r rune) bool {
	if 0xC0 <= r && r < 0x250 { // Latin
		return r != '×' && r != '÷'
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// Words yields the words of s as they are written.
func Words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for end := 0; ; {
			var start int
			if start, end = nextWord(s, end); start == end || !yield(s[start:end]) {
				return
			}
		}
	}
}

// fold appends word to dst in lower case and NFC.
func fold(dst []byte, word string) []byte {
	from := len(dst)
	ascii := true
	for _, r := range word {
		if r < utf8.RuneSelf {
			dst = append(dst, lower[r])
			continue
		}
		ascii = false
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
	}
	if !ascii && !norm.NFC.IsNormal(dst[from:]) {
		dst = append(dst[:from], norm.NFC.Bytes(dst[from:])...)
	}
	return dst
}
