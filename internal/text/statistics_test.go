package text

import (
	"slices"
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
