package text

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"bestfirst", "bestn", "breadthfirst", "fish", "forage", "niche"}
	for word, want := range map[string]string{
		"bestfrist": "bestfirst", "best-first": "bestfirst", "breadhtfirst": "breadthfirst", "nich": "niche", "forrage": "forage",
		"fsih": "fish", "fihs": "fish", "bestm": "bestn", "bset": "", "": "", "x": "", "nosuch": "", "zebra": "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"größe", "grösse", 2}} {
		if got := edits([]rune(test.a), []rune(test.b)); got != test.want {
			t.Errorf("%q and %q: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
