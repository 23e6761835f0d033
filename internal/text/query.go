package text

import (
	"slices"
	"strings"
	"unicode"
)

// QueryLanguage guesses the language of a few words, such as a query: a code that [New] accepts,
// [DefaultLanguage] unless the words say otherwise. Words that are not about a topic, because they are
// stop words of a language that it may be, are returned as ignored.
//
// Words in another script than Latin are "und", or "ru" if they are Cyrillic and every letter is
// Russian. Latin words have the language with the most of their words in its stop list, or "und" if
// there are several. A single stop word does not count if it is the first word, because names begin so
// (Los Angeles, Des Moines), and does not decide if it is one of several languages (Rio de Janeiro),
// except if there is a letter beyond ASCII. Without stop words, a letter beyond Latin-1 makes them "und",
// because English does not borrow it.
func QueryLanguage(query string) (code string, ignored []string) {
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
		return "ru", nil
	default:
		return "und", nil
	}
	words := slices.Collect(Words(strings.ToLower(query)))
	var tied []string // languages with the most stop words
	most := 0
	for _, language := range Languages() {
		stops := slices.Collect(stopWords(language))
		found := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !slices.Contains(stops, word) })
		if len(found) == 1 && found[0] == words[0] && last <= unicode.MaxASCII && language != DefaultLanguage {
			continue
		}
		switch {
		case len(found) > most:
			most, tied, ignored = len(found), []string{language}, found
		case len(found) == most && most > 0:
			tied, ignored = append(tied, language), append(ignored, found...)
		}
	}
	switch {
	case most == 0 && last > unicode.MaxLatin1:
		return "und", nil
	case most == 0, slices.Contains(tied, DefaultLanguage):
		return DefaultLanguage, nil
	case len(tied) == 1:
		return tied[0], nil
	case most == 1 && last <= unicode.MaxASCII:
		return DefaultLanguage, ignored
	}
	return "und", ignored
}
