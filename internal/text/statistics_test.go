package text

import (
	"slices"
	"strings"
	"testing"
)

func TestStatistics(t *testing.T) {
	a, err := New("en", "")
	if err != nil {
		t.Fatal(err)
	}
	s := NewStatistics(a)
	for range 2 { // the second time after Reset
		s.Add("Networks", "The network of networks, a NETWORK: 12345 frogs")
		s.Add("", "")
		s.Add("Frog and toads", "networked")
		for _, tt := range []struct {
			word   string
			tf, df int
			form   string
		}{
			{"network", 5, 2, "network"}, // 2 network, 2 networks, 1 networked
			{"frogs", 2, 2, "frog"},      // 1 each: the first of the alphabet
			{"toad", 1, 1, "toads"},
			{"newt", 0, 0, ""},
			{"the", 0, 0, ""},
			{"12345", 0, 0, ""},
		} {
			term := a.Append(nil, tt.word)[0]
			if tf, df, form := s.TF(term), s.DF(term), s.Form(term); tf != tt.tf || df != tt.df || form != tt.form {
				t.Errorf("%s: tf %d, df %d, form %q, want %d, %d, %q", tt.word, tf, df, form, tt.tf, tt.df, tt.form)
			}
		}
		if s.Documents() != 3 || s.Length() != 8 {
			t.Errorf("%d documents of %d terms, want 3 of 8", s.Documents(), s.Length())
		}
		var names []string
		for _, term := range s.Terms() {
			names = append(names, a.Name(term))
		}
		if want := []string{"network", "frog", "toad"}; !slices.Equal(names, want) {
			t.Errorf("terms %q, want %q", names, want)
		}
		s.Reset()
		if s.Documents() != 0 || s.Length() != 0 || len(s.Terms()) != 0 || s.TF(a.Append(nil, "frog")[0]) != 0 || s.Form(a.Append(nil, "frog")[0]) != "" {
			t.Error("something is left after Reset")
		}
	}
}

func TestFormsByLanguage(t *testing.T) {
	for _, tt := range []struct{ language, text, word, form string }{
		{"de", "Häuser Häuser Haus", "haus", "häuser"},
		{"de", "Ha\u0308user", "haus", "häuser"},
		{"tr", "IŞIK ışık İNEK", "ışık", "ışık"},
		{"ru", "Ёлки", "ёлки", "елки"},
		{"und", "図書館の図書", "図書", "図書"},
		{"und", "in\u00ADput", "input", "input"},
	} {
		a, err := New(tt.language, "")
		if err != nil {
			t.Fatal(err)
		}
		s := NewStatistics(a)
		s.Add(tt.text)
		if got := s.Form(a.Append(nil, tt.word)[0]); got != tt.form {
			t.Errorf("%s: %q in %q is written %q, want %q", tt.language, tt.word, tt.text, got, tt.form)
		}
	}
}

// checkStatistics compares the statistics of one document with the document analyzed at once.
func checkStatistics(t *testing.T, a *Analyzer, s *Statistics, document string) {
	t.Helper()
	want := map[Term]int{}
	length := 0
	for _, term := range a.Append(nil, document) {
		if !term.Silent() {
			want[term]++
			length++
		}
	}
	if s.Length() != length || len(s.Terms()) != len(want) {
		t.Fatalf("%q: %d terms, %d different, want %d, %d", document, s.Length(), len(s.Terms()), length, len(want))
	}
	for _, term := range s.Terms() {
		if s.TF(term) != want[term] || s.DF(term) != 1 {
			t.Fatalf("%q: %q: tf %d, df %d, want %d, 1", document, a.Name(term), s.TF(term), s.DF(term), want[term])
		}
		if form := s.Form(term); form != "" {
			if again := a.Append(nil, form); len(again) != 1 || again[0] != term {
				t.Fatalf("%q: the form %q of %q is another term", document, form, a.Name(term))
			}
		}
	}
}

func FuzzStatistics(f *testing.F) {
	for _, s := range []string{"", "Networks of networks", "IŞIK ışık İ", "図書館の本 ก็ 가나다", "in\u00ADput\u200D", "12345 a1", "\xff\xc3x", strings.Repeat("x", 70), "ΣΑΣ Ωμέγας"} {
		for l := range len(Languages()) {
			f.Add(s, byte(l))
		}
	}
	f.Fuzz(func(t *testing.T, document string, language byte) {
		codes := Languages()
		a, err := New(codes[int(language)%len(codes)], "")
		if err != nil {
			t.Fatal(err)
		}
		s := NewStatistics(a)
		s.Add(document)
		checkStatistics(t, a, s, document)
		s.Reset()
		s.Add(document)
		checkStatistics(t, a, s, document)
	})
}
