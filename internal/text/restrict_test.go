package text

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// restricted returns an analyzer restricted to the terms of a text.
func restricted(tb testing.TB, l *language, st stemmer, known string) *Analyzer {
	tb.Helper()
	a := newAnalyzer(l, st)
	a.Append(nil, known)
	a.Restrict()
	return a
}

// languageEnglish is the language of most tests.
var languageEnglish = &languages[slices.Index(Languages(), "en")]

func TestRestrict(t *testing.T) {
	a := restricted(t, languageEnglish, languageEnglish.stemmers[0], "universities of x rays café 1984 ox c++ .NET")
	for _, tt := range []struct{ text, want string }{
		{"the University of X: ray-tracing", "(the) univers (of) (x) ray "},
		{"universal universes unit uni UNIVERSITY", "univers univers   univers"},
		{"y or z", "() (or) ()"},
		{"café CAFÉS cafes cafe", "café café  "},
		{"1984 1985 19845 ox oxen ox's", "1984  () ox  ox (s)"},
		{"internationalizations of supercalifragilisticexpialidocious universalities", " (of)  univers"},
		{"日本語 語", "  "},
		{"C++ c# .NET net .NETX", "c++  .net  "},
	} {
		for _, when := range []string{"cold", "warm"} {
			if got := names(a, a.Append(nil, tt.text)); got != tt.want {
				t.Errorf("%q, %s: got %q, want %q", tt.text, when, got, tt.want)
			}
		}
	}
	if n := a.Len(); a.Stem("frog") != a.unknown || a.Len() != n || a.Name(a.Stem("univers")) != "univers" {
		t.Errorf("a restricted analyzer learns stems")
	}
}

func TestRestrictBoundsMemory(t *testing.T) {
	a := restricted(t, languageEnglish, languageEnglish.stemmers[0], "universities")
	n := a.Len()
	for i := range 10_000 {
		a.Append(nil, fmt.Sprintf("p%d q%dé z", i, i))
	}
	if a.Len() != n {
		t.Errorf("%d terms, %d before", a.Len(), n)
	}
	if a.memo.near.n > 11_000 {
		t.Errorf("%d words remembered that begin as nothing does that is known", a.memo.near.n)
	}
}

// restrictedTerms returns the terms that the restricted analyzer a must give a text, computed
// from those of an analyzer that is not restricted.
func restrictedTerms(full, a *Analyzer, s string) []Term {
	terms := full.Append(nil, s)
	for i, t := range terms {
		known, ok := a.terms[full.Name(t)]
		switch {
		case t.Silent():
			if known, ok = a.silentTerms[full.Name(t)]; !ok {
				known = Gap
			}
		case !ok:
			known = a.unknown
		}
		terms[i] = known
	}
	return terms
}

// checkRestricted compares a restricted analyzer with one that is not.
func checkRestricted(t *testing.T, l *language, st stemmer, known, s string) {
	t.Helper()
	a, full := restricted(t, l, st, known), newAnalyzer(l, st)
	want := restrictedTerms(full, a, s)
	for range 2 {
		if got := a.Append(nil, s); !slices.Equal(got, want) {
			t.Fatalf("%s: %q by %q is %v, want %v", st.name, s, known, got, want)
		}
	}
}

func FuzzRestrict(f *testing.F) {
	f.Add(uint8(2), "universities course 1984", "University courses of 1984 and 1985")
	f.Add(uint8(2), "die", "dying lying dies 12345 x")
	f.Add(uint8(2), "ate ize a as", "ating izing as is ied ayed eye")
	f.Add(uint8(7), "ajar", "mengajar belajar")
	f.Add(uint8(15), "kitap", "KİTAP kıtap")
	f.Add(uint8(16), "ab abc abcd", "ab abc abcd a abcde ABCD é")
	f.Fuzz(func(t *testing.T, which uint8, known, s string) {
		l := &languages[int(which)%len(languages)]
		for _, st := range l.stemmers {
			checkRestricted(t, l, st, known, s)
		}
	})
}

// begins reports whether a stem shares the prefix that prefixLength promises.
func begins(stem, word string) bool {
	n := prefixLength
	if len(stem) <= n {
		n = min(len(stem), 1)
	}
	return stem[:n] == word[:n]
}

// endings are the suffixes in the rules of the stemmers that keep prefixes.
const endings = `
	s es ies sses ed eed ied ing eedly edly ingly y e l ll at bl iz li logi ion sion tion ement ational
	tional enci anci izer abli alli entli eli ousli ization ation ator alism iveness fulness ousness
	aliti iviti biliti ical ness icate iciti ful ative alize al ance ence er ic able ible ant ment ent
	ou ism ate iti ous ive ize gener lessli fulli bli ogist
`

func TestStemsKeepPrefixes(t *testing.T) {
	random := 1_000_000 // words for each stemmer
	if testing.Short() {
		random = 50_000
	}
	for _, l := range languages {
		for _, st := range l.stemmers {
			if !st.keepsPrefix || st.name == "none" {
				continue
			}
			stem, n := st.make(), 0
			check := func(word string) {
				if strings.Trim(word, alphabet) != "" {
					return // such as 'tis, which is no word here
				}
				n++
				if got := string(stem([]byte(word))); !begins(got, word) {
					t.Errorf("%s: the stem of %q is %q", st.name, word, got)
				}
			}
			// All beginnings of two letters with all pairs of endings.
			endings := append(strings.Fields(endings), "")
			const letters = "abeilstyz0"
			for i := range len(letters) {
				for j := range len(letters) {
					for _, first := range endings {
						for _, second := range endings {
							check(letters[i:i+1] + letters[j:j+1] + first + second)
							check(letters[i:i+1] + first + second + letters[j:j+1])
						}
					}
				}
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for range random {
				word := make([]byte, 1+rng.IntN(30))
				for i := range word {
					word[i] = alphabet[rng.IntN(len(alphabet))]
				}
				check(string(word))
			}
			dir := vocabulary(st.name)
			if _, err := os.Stat(dir); err == nil {
				for _, w := range lines(t, filepath.Join(dir, "voc.txt")) {
					check(w)
				}
			}
			t.Logf("%s: %d words", st.name, n)
		}
	}
}
