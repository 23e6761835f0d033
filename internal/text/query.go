package text

import (
	"slices"
	"strings"
	"unicode"
)

// QueryLanguage guesses the language of a few words, such as a query: a code that [New] accepts,
// [DefaultLanguage] unless the words say otherwise.
//
// Words in another script than Latin are "und", or "ru" if they are Cyrillic and every letter is
// Russian. Latin words have the language with the most of their words in its stop list, unless
// several languages have as many. The first word alone is not enough, because names begin so (Los
// Angeles, Des Moines), except if there is a letter beyond ASCII. Without stop words, they are
// "und" if they have a letter beyond Latin-1, which English does not borrow.
func QueryLanguage(words string) string {
	latin, russian, other, last := 0, 0, 0, rune(0) // last letter of the Latin ones, by number
	for _, r := range strings.ToLower(words) {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
			last = max(last, r)
		case 'а' <= r && r <= 'я', r == 'ё':
			russian++
		case unicode.IsLetter(r):
			other++
		}
	}
	switch {
	case russian+other <= latin:
	case other == 0:
		return "ru"
	default:
		return "und"
	}
	found, most := DefaultLanguage, 0
	for _, code := range Languages() {
		stops := slices.Collect(stopWords(code))
		n, first, at := 0, 0, 0
		for word := range Words(strings.ToLower(words)) {
			if slices.Contains(stops, word) {
				n++
				if at == 0 {
					first = 1
				}
			}
			at++
		}
		if n == 1 && code != DefaultLanguage && last <= unicode.MaxASCII {
			n -= first
		}
		switch {
		case n > most:
			found, most = code, n
		case n == most && n > 0:
			found = DefaultLanguage
		}
	}
	if most == 0 && last > unicode.MaxLatin1 {
		return "und"
	}
	return found
}
