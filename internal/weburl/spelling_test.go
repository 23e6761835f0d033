package weburl

import "testing"

func FuzzSpellings(f *testing.F) {
	base, _ := Parse("http://a.example/b")
	for _, s := range []string{"%7E#x?y", "?%7E", "//%41/%41", "%", "%2e%2e/%7e?"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, link string) {
		u, err := Resolve(base, link)
		spelling, e := ResolveSpelled(base, link)
		if (err != nil) != (e != nil) {
			t.Fatalf("%q: %v and %v", link, err, e)
		}
		if canonical, err := Canonical(spelling); e == nil && (err != nil || canonical != u.String()) {
			t.Errorf("%q is spelled %q, whose canonical form is %q, not %q", link, spelling, canonical, u)
		}
	})
}

func TestSpellingsOfLinks(t *testing.T) {
	base := parsed(t, "http://a.example/dir/%7Ex?q")
	for link, want := range map[string]string{
		"/%7Euser/": "http://a.example/%7Euser/", "%41bc": "http://a.example/dir/%41bc", "/caf%c3%a9#x": "http://a.example/caf%c3%a9",
		"//b.example/%7e?q=it's%c": "http://b.example/%7e?q=it%27s%c", "/caf%C3%A9": "http://a.example/caf%C3%A9", "/a?b=%7E": "http://a.example/a?b=%7E",
		"HTTP://B.Example:80/%7e x": "http://b.example/%7e%20x", "http://b.example": "http://b.example/", "/100%25": "http://a.example/100%25", "?%7e": "http://a.example/dir/~x?%7e",
		"/a/%2e%2e/%7E": "http://a.example/~", "mailto:%41": "",
	} {
		if got, err := ResolveSpelled(base, link); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v, want %q", link, got, err, want)
		}
	}
}
