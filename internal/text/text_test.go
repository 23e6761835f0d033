package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// analyzer returns an analyzer of English text.
func analyzer(tb testing.TB, stemmer string) *Analyzer {
	tb.Helper()
	a, err := New("en", stemmer)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// names returns the names of terms, silent ones in parentheses.
func names(a *Analyzer, terms []Term) string {
	var b strings.Builder
	for i, t := range terms {
		if i > 0 {
			b.WriteByte(' ')
		}
		if t.Silent() {
			fmt.Fprintf(&b, "(%s)", a.Name(t))
		} else {
			b.WriteString(a.Name(t))
		}
	}
	return b.String()
}

func TestAppend(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{" \t\n.,;!", ""},
		{"Networks", "network"},
		{"Call for Papers: networks!", "call (for) paper network"},
		{"a C compiler", "(a) (c) compil"},
		{"IT and the it department", "(it) (and) (the) (it) depart"},
		{"don't we've O'Neill's", "(don) (t) (we) (ve) (o) neill (s)"},
		{"1984 and 19845 in MP3s", "1984 (and) () (in) mp3"},
		{"x123456 1234x", "x123456 1234x"},
		{"Äpfel ÄPFEL a\u0308pfel", "äpfel äpfel äpfel"},
		{"naïve café-society", "naïv café societi"},
		{"Москва МОСКВА", "москва москва"},
		{"\u212Bngstro\u0308m", "\u00e5ngström"}, // the sign for the unit is a letter too
		{"٤٥ ٤٥٦٧٨", "٤٥ ()"},
		{"語", "語"},
		{"日本語", "日本 本語"},
		{"bad\xffbytes\xc3", "bad byte"},
		{"zero\x00byte", "zero byte"},
		{"\u0301x \u2764\uFE0F ne\u0301", "(x) n\u00e9"}, // a mark on nothing is no word
		{"3×4÷5", "(3) (4) (5)"},
		{strings.Repeat("x", 16) + " " + strings.Repeat("v", 17) + " " + strings.Repeat("z", 64) + " " + strings.Repeat("q", 65),
			strings.Repeat("x", 16) + " " + strings.Repeat("v", 17) + " " + strings.Repeat("z", 64) + " ()"},
		{"INTERNATIONALIZATIONS internationalizations", "internation internation"},
		{"12345678901234567", "()"},
		{"C++ c++17, C++/CLI (g++) C# F#: c# a+b 3++ #c", "c++ c++ 17 c++ cli g++ c# f# c# (a) (b) (3) (c)"},
		{"Notepad++ number# x+ C++", "notepad number (x) c++"}, // names of several letters need no signs
		{".NET (.NET) 使用.NET框架 ASP.NET", ".net .net 使用 .net 框架 asp net"},
		{"net .net example.net .htaccess END...NET .N .NETs .1A", "net .net exampl net htaccess end net (n) net 1a"},
	} {
		a := analyzer(t, "porter")
		for _, when := range []string{"cold", "warm"} {
			if got := names(a, a.Append(nil, tt.text)); got != tt.want {
				t.Errorf("%q, %s: got %q, want %q", tt.text, when, got, tt.want)
			}
		}
	}
}

func TestStemmerChoice(t *testing.T) {
	const words = "university universe news"
	for stemmer, want := range map[string]string{
		"":        "univers univers news",
		"porter":  "univers univers new",
		"english": "univers univers news",
	} {
		a := analyzer(t, stemmer)
		if got := names(a, a.Append(nil, words)); got != want {
			t.Errorf("%q: got %q, want %q", stemmer, got, want)
		}
	}
	if _, err := New("en", "lovins"); err == nil || !strings.Contains(err.Error(), "known are english, porter") {
		t.Errorf("unknown stemmer: %v", err)
	}
	if _, err := New("tlh", ""); err == nil || !strings.Contains(err.Error(), "known are da, de, en") {
		t.Errorf("unknown language: %v", err)
	}
}

func TestWordAtAnyOffset(t *testing.T) {
	// Words near the end of the text take another path.
	a := analyzer(t, "porter")
	for n := 1; n <= 20; n++ {
		word := strings.Repeat("k", n)
		got := a.Append(nil, strings.ToUpper(word)+" "+word+strings.Repeat(" ", 20)+word)
		if len(got) != 3 || got[0] != got[1] || got[1] != got[2] {
			t.Errorf("%d letters: %v", n, got)
		}
	}
}

func TestTermsDoNotDependOnHistory(t *testing.T) {
	fresh, used := analyzer(t, "porter"), analyzer(t, "porter")
	for i := range 3 * maxCached / 2 {
		used.Append(nil, fmt.Sprintf("w%dx", i))
	}
	const s = "Sensibilities of the w17x and w196000x hopping"
	if got, want := names(used, used.Append(nil, s)), names(fresh, fresh.Append(nil, s)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTrimBoundsMemory(t *testing.T) {
	a := analyzer(t, "porter")
	kept := a.Append(nil, "topical words")
	a.Keep()
	top := 0
	for page := range 30 {
		for i := range 10_000 {
			a.Append(nil, fmt.Sprintf("p%dw%d verylongwordindeed%dp%d", page, i, i, page))
		}
		a.Trim()
		top = max(top, a.Len(), a.memo.size())
	}
	if top > maxCached+20_000 {
		t.Errorf("%d words remembered, %d wanted at most", top, maxCached+20_000)
	}
	if got := a.Append(nil, "topical words"); !slices.Equal(got, kept) {
		t.Errorf("kept terms changed: %v, then %v", kept, got)
	}
	if got := names(a, a.Append(nil, "the words of p29w9999")); got != "(the) word (of) p29w9999" {
		t.Error(got)
	}
}

func TestMemo(t *testing.T) {
	for _, hi := range []uint64{0, 1} {
		// Keys that collide in a table of any size in use.
		var m memo
		m.reset()
		var same []key
		for i := uint64(1); len(same) < 40; i++ {
			if k := (key{i, hi}); k.hash()&(1<<18-1) < 4 {
				same = append(same, k)
			}
		}
		for i, k := range same {
			m.add(k, Term(i))
		}
		found := 0
		for i, k := range same {
			if term, ok := m.find(k); ok {
				found++
				if term != Term(i) {
					t.Errorf("key %d has term %d", i, term)
				}
			}
		}
		if found == 0 || found > maxProbes+4 || m.size() != found {
			t.Errorf("%d of %d colliding keys are held, %d remembered", found, len(same), m.size())
		}
	}
}

func TestWords(t *testing.T) {
	got := slices.Collect(Words("Ciphers, hashes & TLS\xff1.3 – naïve"))
	want := []string{"Ciphers", "hashes", "TLS", "1", "3", "naïve"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for range Words("stops when asked to") {
		break
	}
}

func TestAppendDoesNotAllocateWhenWarm(t *testing.T) {
	a := analyzer(t, "porter")
	const s = "Call for papers: the Äpfel of internationalizations, 1999999 and so on, over and over"
	dst := a.Append(nil, s)
	if n := testing.AllocsPerRun(100, func() { dst = a.Append(dst[:0], s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestStemByName(t *testing.T) {
	a, err := New("en", "porter")
	if err != nil {
		t.Fatal(err)
	}
	before := a.Stem("network") // not seen yet
	terms := a.Append(nil, "networks being")
	if got := a.Stem(a.Name(terms[0])); got != terms[0] || got != before {
		t.Errorf("network: %d by its name, %d before it was seen, %d in text", got, before, terms[0])
	}
	if got := a.Stem(a.Name(terms[1])); got == terms[1] || got.Silent() {
		t.Errorf("a stem that is written like the stop word %q is that stop word", a.Name(terms[1]))
	}
}

// A character alone is a word in the folded form if it is one as written, and the folded form is final.
func TestFoldedCharactersAreWords(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Cf) || unicode.Is(unicode.Unified_Ideograph, r) {
			continue
		}
		for _, s := range []string{string(r), "x" + string(r) + "x", "日" + string(r) + "本", "ا" + string(r) + "\u0301"} {
			for word := range Words(s) {
				once := string(plain.fold(nil, word))
				if twice := string(plain.fold(nil, once)); once != twice {
					t.Fatalf("%U in %q: %q folds to %+q, and that to %+q", r, s, word, once, twice)
				}
				if again := slices.Collect(Words(once)); len(again) != 1 || again[0] != once {
					t.Errorf("%U in %q: %q folds to %+q, with the words %+q", r, s, word, once, again)
				}
			}
		}
	}
}
