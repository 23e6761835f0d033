package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// randomText returns words and characters of all classes and lengths, including invalid bytes.
func randomText(rng *rand.Rand) string {
	pieces := []string{"a", "The", "OF", "x1", "1984", "19845", "course", "universities", "internationalization",
		strings.Repeat("q", 7), strings.Repeat("v", 8), strings.Repeat("w", 16), strings.Repeat("z", 63), strings.Repeat("y", 64), strings.Repeat("j", 65), strings.Repeat("7", 70),
		"é", "Größe", "Москва", "日", "本", "ก", "\u0301", "\u00AD", "\u200D", "“", "’", "…", "٤", "++", "#", ".", ".NET", "C", "\xff", "\xe6\x97", "\x80", "@[`{/:"}
	var b strings.Builder
	loose := rng.IntN(5)
	for range rng.IntN(60) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
		if rng.IntN(5) < loose {
			b.WriteString([]string{" ", ", ", "-", "\n\n"}[rng.IntN(4)])
		}
	}
	return b.String()
}

// wordByWord is Append for each word separately.
func wordByWord(a *Analyzer, s string) (terms []Term) {
	for start, end, next := nextWord(s, 0); start < end; start, end, next = nextWord(s, next) {
		terms = append(terms, a.word(s, start, end-start))
	}
	return terms
}

// checkWordByWord checks that an analyzer of whole texts agrees with one that analyzes words
// separately.
func checkWordByWord(t *testing.T, whole, words *Analyzer, s string) {
	t.Helper()
	got, want := whole.Append(nil, s), wordByWord(words, s)
	if !slices.Equal(got, want) || !slices.Equal(whole.names, words.names) {
		t.Fatalf("%q becomes %v, want %v", s, got, want)
	}
}

func TestScripts(t *testing.T) {
	for i := range languages {
		rng := rand.New(rand.NewPCG(1, 0))
		l := &languages[i]
		whole, words := newAnalyzer(l, l.stemmers[0]), newAnalyzer(l, l.stemmers[0])
		for range 300 {
			checkWordByWord(t, whole, words, randomText(rng))
		}
		whole, words = restricted(t, l, l.stemmers[0], "courses of 1984"), restricted(t, l, l.stemmers[0], "courses of 1984")
		for range 300 {
			checkWordByWord(t, whole, words, randomText(rng))
		}
		for c := range 256 { // every byte at every place of a block
			for at := range block + 2 {
				s := []byte(strings.Repeat("x of ", 40)[:2*block+3])
				s[at] = byte(c)
				checkWordByWord(t, whole, words, string(s))
			}
		}
	}
}

func TestClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	for range 20_000 {
		b := make([]byte, rng.IntN(3*block/2))
		for i := range b {
			b[i] = []byte{byte(rng.Uint32()), '/', '0', '9', ':', '@', 'A', 'Z', '[', '`', 'a', 'z', '{', 0x7f, 0x80}[rng.IntN(15)]
		}
		at := rng.IntN(len(b) + 1)
		var words, wide uint64
		for i := at; i < min(len(b), at+block); i++ {
			if lower[b[i]] != 0 {
				words |= 1 << (i - at)
			}
			wide |= uint64(b[i]>>7) << (i - at)
		}
		if gotWords, gotWide := classes(string(b), at); gotWords != words || gotWide != wide {
			t.Fatalf("classes(%q, %d) = %x, %x, want %x, %x", b, at, gotWords, gotWide, words, wide)
		}
	}
}

func TestPunctuationSeparatesWords(t *testing.T) {
	for r := rune(0x2010); r < 0x2060; r++ {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || classOf(r) != between {
			t.Errorf("%U is not between words", r)
		}
	}
}
