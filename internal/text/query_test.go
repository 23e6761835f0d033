package text

import (
	"slices"
	"testing"
)

func isEnglish(word string) bool {
	return slices.Contains([]string{"cold", "deep", "linux", "history", "era", "de"}, word)
}

func TestQueryLanguage(t *testing.T) {
	for words, want := range map[string]string{
		"":                           "en",
		"jazz":                       "en",
		"the history of jazz":        "en",
		"Signaturen Zertifikate":     "en", // nothing says so
		"Signaturen und Zertifikate": "de",
		"les signatures numériques et les certificats": "fr",
		"la reproduction des éléphants":                "fr",
		"el hombre y la tierra":                        "es",
		"il libro della giungla":                       "it",
		"çocuklar için masallar ve şiirler":            "tr",
		"цифровые подписи":                             "ru",
		"цифрові підписи":                              "und",
		"ψηφιακές υπογραφές":                           "und",
		"数字签名":                                         "und",
		"電子署名 PDF":                                     "und",
		"Linux カーネル":                                   "und",
		"los angeles":                                  "en",
		"Des Moines":                                   "en",
		"to be or not to be":                           "en",
		"Rio de Janeiro":                               "en",                                             // de is a stop word of several languages
		"en-tête et pied de page":                      "und", "at være eller ikke være lykkelig": "und", // Danish or Norwegian
		"kontingenční tabulka": "und",
		"cold war":             "en", "deep sea": "en", "red hat linux": "en", "jabłka oraz gruszki": "und", "pommes et poires": "en", // the word is Danish, too
		"café culture":  "en",
		"C++ templates": "en",
		"\xff\xfe":      "en",
	} {
		if got, _ := QueryLanguage(words, isEnglish); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}

// Stop words of several languages are no keywords, whichever of them it is.
func TestQueryLanguageIgnoresStopWords(t *testing.T) {
	for words, want := range map[string][]string{
		"digitale signaturer og certifikater":           {"og"},
		"de digitale handtekeningen en de certificaten": {"de", "en"},
		"x men": nil, "victorian era": nil,
		"Rio de Janeiro carnival": nil,
		"ψηφιακές υπογραφές και τα πιστοποιητικά": {"και", "τα"},
		"цифрові підписи та сертифікати":          {"та"},
		"podpisy cyfrowe i jak się je tworzy":     {"jak", "je", "się"},
		"cold war":                                nil,
		"Los Angeles":                             nil,
		"die Signaturen und Zertifikate":          nil, // German: its stop words are none of the topic's
		"the history of jazz in Rio de Janeiro":   nil,
	} {
		_, ignored := QueryLanguage(words, isEnglish)
		slices.Sort(ignored)
		if got := slices.Compact(ignored); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}
