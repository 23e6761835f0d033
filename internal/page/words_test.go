package page

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestWordsAgreeWithPlainImplementation(t *testing.T) {
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

func TestSpaces(t *testing.T) {
	for r := range unicode.MaxRune + 1 {
		s, want := string(r), 0
		if r <= ' ' || r == 0x7F || unicode.IsSpace(r) {
			want = len(s)
		}
		if got := spaceAt(s + "x"); got != want {
			t.Errorf("%U: space of %d bytes, want %d", r, got, want)
		}
	}
}

func TestContextsAgreeWithPlainImplementation(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	parts := []string{" ", "\n", "a", "é", "日本", "seven77", "eightSix", "NINEnines", "!", "\u00CA", "*"}
	for range 20_000 {
		var b strings.Builder
		for range r.IntN(60) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		s, n, limit := b.String(), 1+r.IntN(ContextWords), 1+r.IntN(200)
		first, last := truncate(s, limit), s[max(0, len(s)-limit):]
		for last != "" && !utf8.RuneStart(last[0]) {
			last = last[1:]
		}
		gaps := 0
		for i := range len(first) {
			if first[i] == ' ' || first[i] == '\n' {
				if gaps++; gaps == n {
					first = first[:i]
					break
				}
			}
		}
		gaps = 0
		for i := len(last) - 1; i >= 0; i-- {
			if last[i] == ' ' || last[i] == '\n' {
				if gaps++; gaps == n {
					last = last[i+1:]
					break
				}
			}
		}
		if got := firstWords(s, n, limit); got != first {
			t.Fatalf("%q: the first %d words in %d bytes are %q, want %q", s, n, limit, got, first)
		}
		if got := lastWords(s, n, limit); got != last {
			t.Fatalf("%q: the last %d words in %d bytes are %q, want %q", s, n, limit, got, last)
		}
	}
}
