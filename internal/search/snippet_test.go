package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"spoor/internal/text"
)

// snippetOf returns the snippet of a text for the words of a query, all in one language.
func snippetOf(tb testing.TB, language, s, query string) Snippet {
	tb.Helper()
	a, err := text.New(stemmerOf(language), "")
	if err != nil {
		tb.Fatal(err)
	}
	wanted := map[string]int{}
	for i, stem := range strings.Fields(stems(a, query, false)) {
		if i < maxWords {
			wanted[stem] = i
		}
	}
	return snippet(a, s, wanted)
}

// checkSnippet fails the test unless s can be shown as it is.
func checkSnippet(tb testing.TB, s Snippet) {
	tb.Helper()
	inner := strings.TrimSuffix(strings.TrimPrefix(s.Text, "… "), " …")
	if n := utf8.RuneCountInString(inner); n > snippetChars {
		tb.Errorf("a snippet of %d characters", n)
	}
	if !utf8.ValidString(s.Text) || strings.ContainsFunc(s.Text, unicode.IsControl) || strings.ContainsFunc(s.Text, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }) {
		tb.Errorf("characters that cannot be shown in %q", s.Text)
	}
	end := 0
	for i, m := range s.Marks {
		if m.Start < end || i > 0 && m.Start == end || m.End <= m.Start || m.End > len(s.Text) || !utf8.ValidString(s.Text[m.Start:m.End]) {
			tb.Fatalf("marks %v in %q", s.Marks, s.Text)
		}
		end = m.End
	}
}

func TestSnippet(t *testing.T) {
	filler := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "w%03d ", i%1000)
		}
		return b.String()
	}
	long := filler(1000)
	for _, c := range []struct{ what, language, text, query, want string }{
		{"empty", "en", "", "tea", ""},
		{"no words", "en", " --- \n\n ", "tea", ""},
		{"short", "en", "A cup of tea. And cups?", "cup", "A [cup] of tea. And [cups]"},
		{"lines", "en", "One\nline\n\n  two", "line", "One [line] two"},
		{"no match", "en", "Some text", "tea", "Some text"},
		{"no match in a long text", "en", long, "tea", strings.TrimSpace(filler(40)) + " …"},
		{"in the middle", "en", long + "teas " + long, "tea", ""},
		{"two words rather than one", "en", "tea " + long + "cups of tea" + strings.Repeat(" more", 100), "tea cup", ""},
		{"adjacent pairs", "und", "我喜歡聽爵士樂和搖滾樂", "爵士樂 搖滾", "我喜歡聽[爵士樂]和[搖滾]樂"},
		{"a soft hyphen", "en", "a co\u00ADoperative so\u00ADciety", "cooperative", "a [co\u00ADoperative] so\u00ADciety"},
		{"NUL and direction", "en", "tea\x00cup \u202eeat \u2066x", "tea", "[tea] cup eat x"},
		{"invalid UTF-8", "en", "tea\xff\xfe cup", "cup", "tea [cup]"},
		{"a word that is too long", "en", strings.Repeat("x", 1<<20) + " tea", "tea", ""},
		{"only such a word", "en", strings.Repeat("é", 1000), "tea", ""},
		{"such words on both sides", "en", strings.Repeat("x", 300) + " green tea " + strings.Repeat("y", 300), "tea", "… green [tea] …"},
		{"a character with many marks", "hi", "कि" + strings.Repeat("\u093f", 1<<16) + " पेड़", "पेड़", "… [पेड़]"},
		{"far apart", "en", "tea " + strings.Repeat("-", 1000) + " cup", "cup tea", "[tea] …"},
		{"C++", "en", "In C++ and .NET", "c++ .net", "In [C++] and [.NET]"},
	} {
		s := snippetOf(t, c.language, c.text, c.query)
		checkSnippet(t, s)
		if got := marked(s); c.want != "" && got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		switch c.what {
		case "in the middle":
			if at := strings.Index(s.Text, "teas"); at < 80 || at > 120 || !strings.HasPrefix(s.Text, "… w") || !strings.HasSuffix(s.Text, " …") {
				t.Errorf("%s: %q", c.what, s.Text)
			}
		case "two words rather than one":
			if !strings.Contains(marked(s), "[cups] of [tea] more") {
				t.Errorf("%s: %q", c.what, marked(s))
			}
		}
	}
}

func FuzzSnippet(f *testing.F) {
	for _, s := range []string{"A cup of tea.", "我喜歡聽爵士樂", "tea\x00\u202ecup", "\xff\xfe tea", "किताब", "co\u00ADop", strings.Repeat("x", 300) + " tea", "ﷺ İ ǆ", "C++ .NET", "ＴＥＡ ｶﾞ", "가각힣 ᄀ"} {
		f.Add(s, "tea cup 爵士 किताब")
		f.Add(s+strings.Repeat(" word", 60)+s, s)
	}
	f.Fuzz(func(t *testing.T, s, query string) {
		for _, language := range []string{"en", "tr", "und"} {
			got := snippetOf(t, language, s, query)
			checkSnippet(t, got)
			// It begins and ends with words of the text.
			a, _ := text.New(language, "")
			if n, m := len(a.Append(nil, s)), len(slices.Collect(text.Words(s))); n != m {
				t.Fatalf("%d terms for %d words of %q", n, m, s)
			}
		}
	})
}
