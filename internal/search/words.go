package search

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"spoor/internal/background"
	"spoor/internal/text"
)

// maxWords is the number of words of a query that are used, from its beginning.
const maxWords = 64

// unknownLanguage is the language of pages whose language is unknown (BCP 47).
const unknownLanguage = "und"

// primary returns the primary subtag of a language tag in lower case, or unknownLanguage if there is
// none. Both written forms of Norwegian are Norwegian, as in package text.
func primary(tag string) string {
	const longest = 8 // RFC 5646, section 2.1
	subtag, _, _ := strings.Cut(strings.ToLower(tag), "-")
	switch {
	case subtag == "" || len(subtag) > longest:
		return unknownLanguage
	case subtag == "nb" || subtag == "nn":
		return "no"
	}
	return subtag
}

// stemmerOf returns the code of the analyzer for pages of a language. Pages of an unknown language
// are analyzed like topics of an unknown language, by text.DefaultLanguage.
func stemmerOf(language string) string {
	switch {
	case language == unknownLanguage:
		return text.DefaultLanguage
	case slices.Contains(text.Languages(), language):
		return language
	}
	return "und"
}

// analyzer returns the analyzer with that code. The caller holds x.mu.
func (x *Index) analyzer(code string) *text.Analyzer {
	a := x.analyzers[code]
	if a == nil {
		var err error
		if a, err = text.New(code, ""); err != nil { // a code that this program does not write
			a, _ = text.New("und", "")
		}
		x.analyzers[code] = a
	}
	return a
}

// stemOf returns the stem or stop word that a term stands for, without accents if it is Latin, because
// not everybody types them; "" if there is none.
func stemOf(a *text.Analyzer, t text.Term) string {
	stem := a.Name(t)
	if first, _ := utf8.DecodeRuneInString(stem); strings.IndexFunc(stem, isWide) < 0 || !unicode.Is(unicode.Latin, first) {
		return stem
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(stem) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isWide(r rune) bool { return r >= utf8.RuneSelf }

// stems returns the stems of s, separated by spaces. Stop words and words of one character are left out
// unless all is true.
func stems(a *text.Analyzer, s string, all bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, t := range a.Append(nil, s) {
		if stem := stemOf(a, t); stem != "" && (all || !t.Silent()) {
			b.WriteString(stem)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// A word is a word of a query.
type word struct {
	stem map[string]string // by the code of an analyzer; missing where it is a stop word
	all  []string          // the different stems

	pages  float64   // number of all pages
	idf    float64   // inverse document frequency, as if all stems were one
	weight []float64 // for each of all, the ratio of idf to the inverse document frequency of FTS5
}

// words returns the words of a query with their stems in each of several analyzers. language is that of
// the query; if it is empty, it is guessed. Stop words of that language are left out, unless there are no
// others: then titles are searched, which have stop words. The caller holds x.mu.
func (x *Index) words(query, language string, codes []string) (list []word) {
	code := stemmerOf(language)
	var ignored []string
	if language == "" {
		english := sync.OnceValue(func() map[string]float64 { return background.English(strings.Clone) })
		code, ignored = text.QueryLanguage(query, func(w string) bool { return english()[w] > 0 })
	}
	written := slices.Collect(text.Words(query))
	own := x.analyzer(code).Append(nil, query)
	isStop := func(i int) bool {
		return own[i].Silent() || slices.Contains(ignored, strings.ToLower(written[i]))
	}
	n := min(len(written), len(own))
	onlyStops := true
	for i := range n {
		onlyStops = onlyStops && isStop(i)
	}
	terms := make([][]text.Term, len(codes))
	for c, code := range codes {
		terms[c] = x.analyzer(code).Append(nil, query)
	}
	seen := map[string]bool{}
	for i := 0; i < n && len(list) < maxWords; i++ {
		if isStop(i) && !onlyStops {
			continue
		}
		w := word{stem: map[string]string{}}
		for c, code := range codes {
			if t := terms[c][i]; onlyStops || !t.Silent() {
				if stem := stemOf(x.analyzer(code), t); stem != "" {
					w.stem[code] = stem
					if !slices.Contains(w.all, stem) {
						w.all = append(w.all, stem)
					}
				}
			}
		}
		if key := strings.Join(w.all, " "); key != "" && !seen[key] {
			seen[key] = true
			list = append(list, w)
		}
	}
	return list
}

// quote returns an expression of FTS5 for a stem. It cannot be parsed as syntax, because stems have no quotes.
func quote(stem string) string { return `"` + stem + `"` }
