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
// Russian. Latin words have the language with the most of their words in its stop list, or "und" if
// there are several. A single stop word does not count if it is the first word, because names begin so
// (Los Angeles, Des Moines), or one of several languages (Rio de Janeiro), except if there is a letter
// beyond ASCII. Without stop words, a letter beyond Latin-1 makes them "und", because English
// does not borrow it.
func QueryLanguage(query string) string {
	latin, russian, other, last := 0, 0, 0, rune(0) // last letter of the Latin ones, by number
	for _, r := range strings.ToLower(query) {
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
	words := slices.Collect(Words(strings.ToLower(query)))
	found, most := DefaultLanguage, 0
	for _, code := range Languages() {
		stops := slices.Collect(stopWords(code))
		n, first := 0, 0
		for i, word := range words {
			if slices.Contains(stops, word) {
				n++
				first = i
			}
		}
		if n == 1 && first == 0 && last <= unicode.MaxASCII && code != DefaultLanguage {
			n = 0
		}
		switch {
		case n > most, n == most && code == DefaultLanguage:
			found, most = code, n
		case n == most && n > 0 && found != DefaultLanguage:
			found = "und"
		}
	}
	switch {
	case most == 0 && last > unicode.MaxLatin1:
		return "und"
	case most == 1 && found == "und" && last <= unicode.MaxASCII:
		return DefaultLanguage
	}
	return found
}
