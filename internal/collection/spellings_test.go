package collection

import (
	"testing"

	"spoor/internal/weburl"
)

func FuzzSpellings(f *testing.F) {
	base, _ := weburl.Parse("http://a.example/b")
	for _, s := range []string{"%7E#x?y", "?%7E", "//%41/%41", "%", "%2e%2e/%7e?"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, link string) {
		url, spelling, ok := spell(base, link)
		if canonical, err := weburl.Canonical(spelling); ok && (err != nil || canonical != url) {
			t.Errorf("%q is spelled %q, whose canonical form is %q, not %q", link, spelling, canonical, url)
		}
	})
}

func TestSpellingsOfLinks(t *testing.T) {
	base, err := weburl.Parse("http://a.example/dir/%7Ex?q")
	if err != nil {
		t.Fatal(err)
	}
	for link, want := range map[string][2]string{
		"/%7Euser/":                {"http://a.example/~user/", "http://a.example/%7Euser/"},
		"%41bc":                    {"http://a.example/dir/Abc", "http://a.example/dir/%41bc"},
		"/caf%c3%a9#x":             {"http://a.example/caf%C3%A9", "http://a.example/caf%c3%a9"},
		"//b.example/%7e?q=it's%c": {"http://b.example/~?q=it%27s%c", "http://b.example/%7e?q=it%27s%c"},
		"/caf%C3%A9":               {}, "/a?b=%7E": {}, "/a/%2e%2e/%7E": {}, "mailto:%41": {}, "/100%25": {},
	} {
		url, spelling, ok := spell(base, link)
		if got := [2]string{url, spelling}; ok != (want[0] != "") || ok && got != want {
			t.Errorf("%s: %q, %v, want %q", link, got, ok, want)
		}
	}
}
