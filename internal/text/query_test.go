package text

import "testing"

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
		"Linux カーネル":                                   "en", // more Latin letters
		"los angeles":                                  "en",
		"Des Moines":                                   "en",
		"to be or not to be":                           "en",
		"Rio de Janeiro":                               "en",                                    // de is a stop word of several languages
		"en-tête et pied de page":                      "und", "at være eller ikke være": "und", // Danish or Norwegian
		"kontingenční tabulka": "und",
		"café culture":         "en",
		"C++ templates":        "en",
		"\xff\xfe":             "en",
	} {
		if got := QueryLanguage(words); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}
