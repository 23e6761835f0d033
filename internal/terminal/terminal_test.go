package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for _, test := range []struct{ in, want, line string }{
		{"", "", ""},
		{"Elch, 麋鹿, אייל, 🫎👩‍🔬", "Elch, 麋鹿, אייל, 🫎👩‍🔬", "Elch, 麋鹿, אייל, 🫎👩‍🔬"},
		{"one\n\ttwo", "one\n\ttwo", `one\n\ttwo`},
		{"\x1b[2J\x1b]0;title\a", `\u001b[2J\u001b]0;title\u0007`, `\u001b[2J\u001b]0;title\u0007`},
		{"\x00\r\b\x7f", `\u0000\u000d\u0008\u007f`, `\u0000\u000d\u0008\u007f`},
		{"\u009b2J\u0085", `\u009b2J\u0085`, `\u009b2J\u0085`},
		{"\x9b2J\xff\xc3", `\x9b2J\xff\xc3`, `\x9b2J\xff\xc3`},
		{"\u202egpj.exe\u2066\u200f\u061c", `\u202egpj.exe\u2066\u200f\u061c`, `\u202egpj.exe\u2066\u200f\u061c`},
		{"a\u2028b\u2029c\ufeff", `a\u2028b\u2029c\ufeff`, `a\u2028b\u2029c\ufeff`},
		{"a\ufffdb\xfe", "a\ufffdb\\xfe", "a\ufffdb\\xfe"}, // the replacement character itself is harmless
	} {
		if got := Escape(test.in); got != test.want {
			t.Errorf("Escape(%q) = %q, want %q", test.in, got, test.want)
		}
		if got := Line(test.in); got != test.line {
			t.Errorf("Line(%q) = %q, want %q", test.in, got, test.line)
		}
	}
}

// Every character that is a control character or that changes the direction of text is escaped.
func TestNoControlCharacterIsLeft(t *testing.T) {
	for r := range unicode.MaxRune {
		controls := unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) ||
			r == '\u2028' || r == '\u2029' || r == '\ufeff'
		if utf8.ValidRune(r) && (Escape(string(r)) != string(r)) != controls {
			t.Errorf("%U: %q", r, Escape(string(r)))
		}
	}
}

// A line of JSON has the same meaning after it was escaped.
func TestEscapedJSONMeansTheSame(t *testing.T) {
	const want = "\x1b\u009b\u202e\u2028\ufeff"
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	if err := json.Unmarshal([]byte(Escape(string(b))), &got); err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWriterWritesOnceAndCountsWhatItWasGiven(t *testing.T) {
	var out counter
	w := &Writer{&out}
	if n, err := w.Write([]byte("a\x1bb\xff\n")); n != 5 || err != nil || out.String() != "a\\u001bb\\xff\n" || out.writes != 1 {
		t.Errorf("%d, %v, %q in %d writes", n, err, out.String(), out.writes)
	}
	full := errors.New("full")
	w.W = writerFunc(func(p []byte) (int, error) { return len(p) - 1, full })
	if n, err := w.Write([]byte("plain")); n != 4 || !errors.Is(err, full) {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := w.Write([]byte("a\x1b")); n != 0 || !errors.Is(err, full) {
		t.Errorf("%d, %v", n, err)
	}
}

type counter struct {
	bytes.Buffer
	writes int
}

func (c *counter) Write(p []byte) (int, error) { c.writes++; return c.Buffer.Write(p) }

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func FuzzEscape(f *testing.F) {
	f.Add("a\x1b[2J\u202e\xff\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		got := Escape(s)
		if !utf8.ValidString(got) || Escape(got) != got || len(got) > 6*len(s) {
			t.Errorf("%q: %q", s, got)
		}
		if strings.ContainsAny(Line(s), "\n\t") {
			t.Errorf("%q: %q", s, Line(s))
		}
	})
}
