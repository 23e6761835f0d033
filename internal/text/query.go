package text

import (
	"slices"
	"strings"
	"unicode"
)

// ownScript are the most common words of languages that no other language shares a script with.
var ownScript = [...]struct{ Language, Words string }{
	{"el", "και το η ο να του της τα τη με για από σε την τον στο στη στην τις τους οι των που είναι ως δεν ή θα"},
	{"he", "של את על עם לא זה או גם כל הוא היא הם אם כי אל אבל יש אני מה"},
}

// QueryLanguage guesses the language of a few words, such as a query: a code that [New] accepts,
// [DefaultLanguage] unless the words say otherwise. Words that are not about a topic, because they are
// stop words of a language that it may be, are returned as ignored. isEnglish reports whether a word
// is an English one.
//
// The language is the one with the most of the words in its stop list or in [FunctionWords], or "und" if
// there are several, or it is none that [New] accepts. In ASCII, a single such word says little, because
// it may be a name (Los Angeles, Rio de Janeiro) or an English word (cold war): it does not count if
// it is the first word or if another word is English, and does not decide between several languages. If
// no other word would be left, the words are English.
//
// Without any such word, words in another script than Latin are "und", or "ru" if every letter is Russian, and
// a Latin letter beyond Latin-1 makes them "und", because English does not borrow it.
func QueryLanguage(query string, isEnglish func(word string) bool) (code string, ignored []string) {
	latin, russian, others, last := 0, 0, 0, rune(0) // last letter by number
	for _, r := range strings.ToLower(query) {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
		case 'а' <= r && r <= 'я', r == 'ё':
			russian++
		case unicode.IsLetter(r):
			others++
		default:
			continue
		}
		last = max(last, r)
	}
	words := slices.Collect(Words(strings.ToLower(query)))
	isASCII := last <= unicode.MaxASCII
	var tied []string // languages with the most stop words
	most := 0
	count := func(language string, stops []string) {
		found := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !slices.Contains(stops, word) })
		if language != DefaultLanguage && !slices.ContainsFunc(words, func(word string) bool { return len(word) > 1 && !slices.Contains(found, word) }) {
			return // nothing would be left
		}
		if len(found) == 1 && isASCII && language != DefaultLanguage && (found[0] == words[0] ||
			slices.ContainsFunc(words, func(word string) bool { return word != found[0] && isEnglish(word) })) {
			return
		}
		switch {
		case len(found) > most:
			most, tied, ignored = len(found), []string{language}, found
		case len(found) == most && most > 0:
			tied, ignored = append(tied, language), append(ignored, found...)
		}
	}
	for _, language := range Languages() {
		count(language, slices.Collect(stopWords(language)))
	}
	for _, l := range slices.Concat(FunctionWords[:], ownScript[:]) {
		if !slices.Contains(Languages(), l.Language) {
			count(l.Language, strings.Fields(l.Words))
		}
	}
	switch {
	case russian > latin && others == 0 && (most == 0 || slices.Contains(tied, "ru")):
		return "ru", ignored
	case russian+others > latin, most == 0 && last > unicode.MaxLatin1:
		return "und", ignored
	case most == 0, slices.Contains(tied, DefaultLanguage), most == 1 && isASCII && len(tied) > 1 && isEnglish(ignored[0]):
		return DefaultLanguage, nil
	case len(tied) == 1 && slices.Contains(Languages(), tied[0]):
		return tied[0], nil
	case most == 1 && isASCII && len(tied) > 1:
		return DefaultLanguage, ignored
	}
	return "und", ignored
}
