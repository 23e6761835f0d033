package wire

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// scanned returns text with many of the bytes that the scanners look for.
func scanned(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		switch rng.IntN(8) {
		case 0:
			b[i] = '\\'
		case 1:
			b[i] = '"'
		case 2:
			b[i] = byte(rng.Uint32())
		case 3:
			b[i] = "\\\"\x1f\x20\x21\x23\x5b\x5d\x7f\x80\xa2\xdc\x9f\xff\x00"[rng.IntN(15)]
		default:
			b[i] = 'a'
		}
	}
	return b
}

func TestTextEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	for range 50_000 {
		n, from := rng.IntN(100), rng.IntN(20)
		end, wide := from+rng.IntN(n+1), from+rng.IntN(n+1)
		b := []byte(strings.Repeat("x", from+n))
		if wide < len(b) {
			b[wide] = 0x80 | byte(rng.Uint32())
		}
		if end < len(b) {
			b[end] = "\"\\\x00\x1f"[rng.IntN(4)]
		}
		if got, ascii := textEnd(b, from); got != end || ascii != (wide >= end) {
			t.Fatalf("textEnd(%q, %d) = %d, %v, want %d, %v", b, from, got, ascii, end, wide >= end)
		}
	}
}

func TestIndexQuote(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		b := append([]byte(`:"`), scanned(rng, rng.IntN(300))...)
		if rng.IntN(2) == 0 { // quotes are rare, and escaped
			for i := 2; i < len(b); i++ {
				if b[i] == '"' && (b[i-1] != '\\' || rng.IntN(30) > 0) {
					b[i] = 'x'
				}
			}
		}
		want := -1
		for i := 2; i < len(b); i++ {
			if b[i] == '\\' {
				i++
			} else if b[i] == '"' {
				want = i
				break
			}
		}
		if got := indexQuote(b, 2); got != want {
			t.Fatalf("indexQuote(%q, 2) = %d, want %d", b, got, want)
		}
	}
}

// TestAppendBlocks compares escaping by blocks and byte by byte.
func TestAppendBlocks(t *testing.T) {
	if !hasEscape {
		t.Skip("no block escapes on this processor")
	}
	rng := rand.New(rand.NewPCG(3, 0))
	check := func(b []byte) {
		t.Helper()
		want := string(appendBytes([]byte("before "), b))
		got, rest := appendBlocks([]byte("before "), b)
		if got = appendBytes(got, rest); string(got) != want {
			t.Fatalf("%q becomes\n%q, want\n%q", b, got, want)
		}
	}
	for c := range 256 { // every byte at every place of a block
		for at := range 5 * 16 {
			b := []byte(strings.Repeat("x", 5*16+1))
			b[at] = byte(c)
			check(b)
		}
	}
	for range 5000 { // every density of escapes, long ones among them
		b := make([]byte, rng.IntN(3*1024))
		some, long := rng.IntN(20)+1, rng.IntN(40)
		for i := range b {
			switch {
			case rng.IntN(some) == 0:
				b[i] = "\"\\\b\f\n\r\t"[rng.IntN(7)]
			case long == 0 && rng.IntN(50) == 0:
				b[i] = byte(rng.IntN(32))
			default:
				b[i] = byte(' ' + rng.IntN(256-' '))
			}
		}
		check(b)
	}
}

// TestUnescape compares the decoder with one that works rune by rune.
func TestUnescape(t *testing.T) {
	simple := func(b []byte) (string, bool) {
		var out []byte
		for i := 0; i < len(b); i++ {
			switch c := b[i]; {
			case c < ' ':
				return "", false
			case c == '"':
				return string(out), true
			case c == '\\':
				r, size := unescapeOne(b[i:])
				if size == 0 {
					return "", false
				}
				out = utf8.AppendRune(out, r)
				i += size - 1
			default:
				out = append(out, c)
			}
		}
		return "", false
	}
	check := func(s []byte) {
		t.Helper()
		d := decoder{line: append([]byte{'"'}, s...)}
		got, err := d.key()
		if want, ok := simple(s); got != want || (err == nil) != ok {
			t.Fatalf("%q becomes\n%q, %v, want\n%q", s, got, err, want)
		}
	}
	for c := range 256 { // every byte at every place, behind backslashes or not
		for at := range 128 + 2 {
			for slashes := range min(at, 5) + 1 {
				s := []byte(strings.Repeat("n", 128+8) + `"` + strings.Repeat("n", 64))
				for i := range slashes {
					s[at-1-i] = '\\'
				}
				s[at] = byte(c)
				check(s)
			}
		}
	}
	rng := rand.New(rand.NewPCG(5, 0))
	for range 5000 { // every density of escapes, runs of backslashes among them
		var s []byte
		some, long, runs := rng.IntN(20)+1, rng.IntN(40), rng.IntN(3)
		for range rng.IntN(3 * 1024) {
			switch {
			case rng.IntN(some) == 0:
				for range runs * rng.IntN(9) {
					s = append(s, `\\`...)
				}
				s = append(s, '\\', `"\/bfnrt`[rng.IntN(8)])
			case long == 0 && rng.IntN(50) == 0:
				s = append(s, []string{`\u00e9`, `\ud83d\ude00`, `\ud800`, "ä"}[rng.IntN(4)]...)
			default:
				if c := byte(' ' + rng.IntN(127-' ')); c != '"' && c != '\\' {
					s = append(s, c)
				}
			}
		}
		if rng.IntN(9) == 0 { // something may be wrong
			s = append(s, scanned(rng, rng.IntN(20))...)
		}
		check(append(append(s, '"'), scanned(rng, rng.IntN(40))...))
	}
}

func TestValid(t *testing.T) {
	check := func(b []byte) {
		t.Helper()
		if got, want := valid(b), utf8.Valid(b); got != want {
			t.Fatalf("valid(%q) = %v", b, got)
		}
	}
	// All sequences of four bytes at the limits of the ranges of UTF-8, after ASCII and after
	// longer characters.
	edges := []byte("\x00\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff")
	for before, at := range map[string]int{"xxxx": 94, "äö": 93, "x語": 94, "😀": 95} {
		b := []byte(strings.Repeat("x", 128))
		four := b[at : at+4]
		copy(b[at-4:], before)
		for i := range len(edges) * len(edges) * len(edges) * len(edges) {
			for k := range four {
				four[k] = edges[i%len(edges)]
				i /= len(edges)
			}
			check(b)
		}
	}
	rng := rand.New(rand.NewPCG(6, 0))
	for range 20_000 { // text of all lengths, whole or with a byte that is wrong or missing
		var b []byte
		for range rng.IntN(100) {
			b = utf8.AppendRune(b, []rune{rng.Int32N(0x80), rng.Int32N(0x800), rng.Int32N(0x10000), rng.Int32N(0x110000), 'x'}[rng.IntN(5)])
		}
		check(b)
		if len(b) > 0 {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
			check(b)
			check(b[:rng.IntN(len(b))])
		}
	}
}

// TestAppendString has a special character at every position of strings of many lengths.
func TestAppendString(t *testing.T) {
	for size := range 192 {
		for _, odd := range []string{"", `"`, "\x01", "ä", "\"\xff", "\xff\"", "ä\""} {
			for at := range size + 1 {
				s := strings.Repeat("x", at) + odd + strings.Repeat("x", size-at)
				want := string(appendBytes([]byte{'"'}, []byte(string([]rune(s))))) + `"`
				if got := string(appendString(nil, s)); got != want {
					t.Fatalf("%q is written as %s, want %s", s, got, want)
				}
			}
		}
	}
}

func TestLongStringIsEscapedWithOneAllocation(t *testing.T) {
	var buf []byte
	once := testing.AllocsPerRun(3, func() { buf = slices.Grow(buf[:0:0], exactSizeMin) }) // more than 1 under the race detector
	for _, s := range []string{strings.Repeat("\x00", 4<<20), strings.Repeat("<p class=\"x\">words</p>\n", 200_000)} {
		if n := testing.AllocsPerRun(3, func() { appendString(nil, s) }); n > 2*once {
			t.Errorf("%.4q…: %v allocations", s, n)
		}
	}
}

func TestManyLinksAreEncodedWithOneAllocation(t *testing.T) {
	rec := Record{URL: "http://a/", Text: strings.Repeat("words and words ", 10_000)}
	for range 10_000 {
		rec.Links = append(rec.Links, Link{URL: "http://a.example/one/two/three", Anchor: "three", Context: "one two\nand more of it", Tag: "a",
			Path: "html/body/div.menu/ul/li/a", Score: Num(0.123456789012345), Scores: []Scored{{"anchor", 0.123456789012345}, {"url", 0.123456789012345}}})
	}
	rec.Touch(Address | Parse)
	var buf []byte
	once := testing.AllocsPerRun(3, func() { buf = slices.Grow(buf[:0:0], exactSizeMin) }) // more than 1 under the race detector
	if n := testing.AllocsPerRun(3, func() {
		w := NewWriter(io.Discard)
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
	}); n > 2+once {
		t.Errorf("%v allocations", n)
	}
}
