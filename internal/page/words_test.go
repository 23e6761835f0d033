package page

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
)

func TestWordsAreThoseOfASimpleReading(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{" ", " ", "  ", "\n", "\t", "\x00", "\x7F", "\u00A0", "\u2003", "\u3000", "\u0085", "a", "word", "é", "ab~", "!", "日本", "\u00C3", "lengthy_", "sixteen letters!", "abcdefg\x7Fhijklmnop", "qrstuv\x1Fwxyz0123", "one two three "}
	for range 20_000 {
		var b strings.Builder
		some := parts[:2+r.IntN(len(parts)-1)]
		if r.IntN(2) == 0 {
			some = parts[r.IntN(len(parts)):]
		}
		for range r.IntN(40) {
			b.WriteString(some[r.IntN(len(some))])
		}
		var c collector
		c.reset()
		c.text(b.String())
		want := strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool {
			return r <= ' ' || r == 0x7F || unicode.IsSpace(r)
		}), " ")
		if got := string(c.body); got != want {
			t.Fatalf("%q: words %q, want %q", b.String(), got, want)
		}
	}
}
