package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lower maps ASCII letters to lower case, digits to themselves, and all other bytes, including the
// bytes of multi-byte characters, to 0.
var lower = func() (t [256]byte) {
	for c := '0'; c <= '9'; c++ {
		t[c] = byte(c)
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = byte(c), byte(c)
	}
	return t
}()

// nextWord returns the first word of s that begins at or after i, as s[start:end]. The word is empty
// if there is none. next is the offset from which to search for the following word; it is less
// than end if words overlap.
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
	start, i = withSigns(s, start, i)
	return start, i, i
}

// withSigns extends the word s[start:end] by its signs: "++" or "#" after a single ASCII letter, as
// in C++, and the dot of .NET, in any case, unless it is after a word, as in ASP.NET, or another dot.
// Other dots begin the names of files, whose words are searched without it.
func withSigns(s string, start, end int) (int, int) {
	switch {
	case start == end:
	case end == start+1 && s[start] >= 'A':
		if strings.HasPrefix(s[end:], "++") {
			return start, end + 2
		}
		if strings.HasPrefix(s[end:], "#") {
			return start, end + 1
		}
	case start > 0 && s[start-1] == '.' && strings.EqualFold(s[start:end], "net"):
		r, _ := utf8.DecodeLastRuneInString(s[:start-1])
		if c := classOf(r); r != '.' && (c == between || c == unspaced) {
			return start - 1, end
		}
	}
	return start, end
}

// pair is nextWord for a character of class unspaced at i. The word consists of this character and,
// if another character of the class follows immediately, that character, each with its marks.
func pair(s string, i int) (start, end, next int) {
	start = i
	for found := 0; i < len(s) && s[i] >= utf8.RuneSelf; {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch classOf(r) {
		case unspaced:
			switch found++; found {
			case 2:
				next = i
			case 3: // the second character begins the next word
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

// block is the number of bytes that are classified at once: a uint64 has one bit for each.
const block = 64

// classes classifies the block of s that starts at i. Bit k of words is set if byte i+k is an ASCII
// letter or digit; bit k of wide is set if the byte is part of a multi-byte character. For bytes
// beyond the end of s, both bits are 0.
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
	// In bytes below 0x80 the highest bit is 0: adding 0x80-from sets this bit if b ≥ from,
	// adding 0x7F-to sets it if b > to.
	b := w &^ high
	digit := (b + (0x80-'0')*ones) &^ (b + (0x7F-'9')*ones)
	b |= 0x20 * ones
	letter := (b + (0x80-'a')*ones) &^ (b + (0x7F-'z')*ones)
	// The product gathers the eight bits in the highest byte.
	const gather = 0x0102040810204080
	words = ((digit | letter) &^ w & high) >> 7 * gather >> 56
	return words, (w & high) >> 7 * gather >> 56
}

// A class is the role of a character in words.
type class uint8

const (
	between  class = iota // separates words
	joiner                // ignored inside a word
	mark                  // belongs to the character before it; cannot begin a word
	letter                // letter or digit: part of a word
	unspaced              // letter of a script written without spaces between words
)

// classOf returns the class of a character. U+FFFD, for invalid UTF-8,
// separates words.
func classOf(r rune) class {
	switch {
	case 0xC0 <= r && r < 0x250: // Latin
		if r == '×' || r == '÷' {
			return between
		}
		return letter
	case r < 0xC0:
		switch {
		case r == '\u00AD': // soft hyphen
			return joiner
		case r == 'ª', r == 'µ', r == 'º', r < utf8.RuneSelf && lower[r] != 0:
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
	case r == '\u02BC': // an apostrophe, as some write it in Ukrainian and Breton
		return between
	case '\u200C' <= r && r <= '\u200D', r == '\u2060', // zero-width (non-)joiner, word joiner
		r == '\u0640', 0xFE70 <= r && r < 0xFE80: // tatweel, which stretches Arabic words, and vowel signs on it
		return joiner
	case 0x1160 <= r && r < 0x1200, 0xD7B0 <= r && r < 0xD800, // vowels and finals of a Hangul syllable
		r == '\uFF9E', r == '\uFF9F': // halfwidth voiced sound marks
		if unicode.IsLetter(r) {
			return mark
		}
		return between
	case unicode.IsLetter(r), unicode.Is(unicode.Nl, r): // Nl has the ideographic zero, and Roman numerals
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

// Unspaced reports whether r is a letter of a script whose text is split into pairs of characters.
func Unspaced(r rune) bool { return classOf(r) == unspaced }

// inUnspaced reports whether r is a letter of a script written without spaces between words,
// or of Hangul.
func inUnspaced(r rune) bool {
	if r < 0x0E00 || 0x1E00 <= r && r < 0x2000 { // the common scripts, for speed
		return false
	}
	return unicode.In(r, unicode.Thai, unicode.Myanmar, unicode.Khmer, unicode.Lao, unicode.Han, unicode.Hiragana,
		unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Tai_Tham, unicode.Tai_Le, unicode.New_Tai_Lue,
		unicode.Tai_Viet) || r == 'ー' || r == 'ｰ'
}

// startsUnspaced reports whether word begins with a character of class unspaced.
func startsUnspaced(word []byte) bool {
	r, _ := utf8.DecodeRune(word)
	return r >= utf8.RuneSelf && classOf(r) == unspaced
}

// Words yields the words of s as written. In scripts without spaces, words overlap.
func Words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start, end := range Spans(s) {
			if !yield(s[start:end]) {
				return
			}
		}
	}
}

// Spans yields the offsets of the words of s, each of which is s[start:end]. [Analyzer.Append] appends
// a term for each of them.
func Spans(s string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for next := 0; ; {
			var start, end int
			if start, end, next = nextWord(s, next); start == end || !yield(start, end) {
				return
			}
		}
	}
}

// fold appends word to dst as it is compared: in NFKC and lower case, without joiners, and in one of
// the spellings that its script allows.
func (c casing) fold(dst []byte, word string) []byte {
	from := len(dst)
	for i := range len(word) {
		switch b := word[i]; {
		case b >= utf8.RuneSelf:
			return append(dst[:from], respell(c.foldRunes(word))...)
		case c.ascii != 0:
			dst = append(dst, b|c.ascii) // digits have that bit set
		default:
			dst = utf8.AppendRune(dst, c.rune(rune(b)))
		}
	}
	return dst
}

// foldRunes returns word in NFKC and lower case, without joiners.
func (c casing) foldRunes(word string) []byte {
	var folded []byte
	for _, r := range norm.NFC.String(word) {
		if classOf(r) == joiner {
			continue
		}
		for _, r := range compatible(r) {
			folded = utf8.AppendRune(folded, c.rune(r))
		}
	}
	return norm.NFC.Bytes(folded)
}

// compatible returns r in NFKC, unless words would begin or end elsewhere in that form, as in the
// Arabic ligature of four words.
func compatible(r rune) string {
	written := string(r)
	plain, class := norm.NFKC.String(written), classOf(r)
	for i, r := range plain {
		c := classOf(r)
		if i == 0 && c != class || i > 0 && c != mark && (c != class || c == unspaced) {
			return written
		}
	}
	return plain
}

// respell removes the marks that a script may omit: accents of Greek, vowel signs of Arabic and
// Hebrew with the hamza on Arabic letters, and the stress of Cyrillic. It replaces the letters in
// spellings.
func respell(word []byte) []byte {
	var respelled []byte
	var pointed, stressed bool // whether the marks of the last letter are removed: all, or those of stress
	for _, r := range string(word) {
		switch {
		case !unicode.IsMark(r):
			pointed, stressed = unicode.In(r, unicode.Greek, unicode.Arabic, unicode.Hebrew), unicode.Is(unicode.Cyrillic, r)
		case pointed, stressed && (r == '\u0300' || r == '\u0301'):
			continue
		}
		if pointed {
			r, _ = utf8.DecodeRuneInString(norm.NFD.String(string(r)))
		}
		if to, ok := spellings[r]; ok {
			r = to
		}
		respelled = utf8.AppendRune(respelled, r)
	}
	return norm.NFC.Bytes(respelled)
}

// spellings maps letters to others that are written in their place: at the end of a word, in Arabic
// and Persian text, or on a keyboard for the other language.
var spellings = map[rune]rune{
	'ς': 'σ',
	'ٱ': 'ا', // alef wasla
	'ى': 'ي', // alef maksura
	'ی': 'ي', // Persian yeh
	'ے': 'ي', // yeh barree
	'ک': 'ك', // keheh
	'ة': 'ه', // teh marbuta
	'ہ': 'ه', // heh goal
	'ە': 'ه', // ae
}
