package text

import (
	"bufio"
	"os"
	"path/filepath"
	"testing"
)

// shared is the directory of data that is not ours to ship.
func shared(tb testing.TB, elem ...string) string {
	tb.Helper()
	root := os.Getenv("SPOOR_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	name := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(name); err != nil {
		tb.Skipf("no shared data: %v (set SPOOR_SHARED)", err)
	}
	return name
}

// lines reads a file of words.
func lines(tb testing.TB, name string) []string {
	tb.Helper()
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var all []string
	for s := bufio.NewScanner(f); s.Scan(); {
		all = append(all, s.Text())
	}
	return all
}

func TestStemmersAgreeWithSnowballsVocabulary(t *testing.T) {
	for _, l := range languages {
		for _, st := range l.stemmers {
			if st.name == "none" {
				continue
			}
			t.Run(st.name, func(t *testing.T) {
				words := lines(t, shared(t, "suites", "snowball", st.name, "voc.txt"))
				want := lines(t, shared(t, "suites", "snowball", st.name, "output.txt"))
				if len(words) != len(want) || len(words) == 0 {
					t.Fatalf("%d words, %d stems", len(words), len(want))
				}
				stem, wrong := st.make(), 0
				for i, w := range words {
					if got := string(stem([]byte(w))); got != want[i] {
						if wrong++; wrong <= 20 {
							t.Errorf("%s: got %q, want %q", w, got, want[i])
						}
					}
				}
				t.Logf("%d of %d pairs agree", len(words)-wrong, len(words))
			})
		}
	}
}

// The examples of the paper, step by step: each word leaves the whole
// algorithm, not only the step, so the stems are those of the vocabulary.
func TestPorterStemsThePapersExamples(t *testing.T) {
	for word, want := range map[string]string{
		"caresses": "caress", "ponies": "poni", "ties": "ti", "caress": "caress", "cats": "cat",
		"feed": "feed", "agreed": "agre", "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing",
		"conflated": "conflat", "troubled": "troubl", "sized": "size", "hopping": "hop", "tanned": "tan",
		"falling": "fall", "hissing": "hiss", "fizzed": "fizz", "failing": "fail", "filing": "file",
		"happy": "happi", "sky": "sky",
		"relational": "relat", "conditional": "condit", "rational": "ration", "valenci": "valenc",
		"digitizer": "digit", "radicalli": "radic", "vietnamization": "vietnam", "operator": "oper",
		"decisiveness": "decis", "sensibiliti": "sensibl",
		"triplicate": "triplic", "formative": "form", "formalize": "formal", "hopefulness": "hope", "goodness": "good",
		"revival": "reviv", "inference": "infer", "replacement": "replac", "adoption": "adopt", "effective": "effect",
		"probate": "probat", "rate": "rate", "cease": "ceas", "controll": "control", "roll": "roll",
		"generalizations": "gener", "oscillators": "oscil",
		"as": "a", "s": "", "": "", // the paper spares short words nothing
		"café": "café", "cafés": "café", "\u00e9\u00e9ed": "\u00e9\u00e9ed",
	} {
		if got := string(Porter([]byte(word))); got != want {
			t.Errorf("Porter(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestEnglishStemsWhatPorterDidNot(t *testing.T) {
	for word, want := range map[string]string{
		"news": "news", "skies": "sky", "dying": "die", "herring": "herring", "generous": "generous",
		"cries": "cri", "ties": "tie", "gas": "gas", "kiwis": "kiwi", "happily": "happili",
		"proceed": "proceed", "geologists": "geolog", "university": "universiti", "universe": "univers",
		"'tis'": "tis", "as": "as", "": "", "says": "say", "youth": "youth",
	} {
		if got := string(English([]byte(word))); got != want {
			t.Errorf("English(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestStemmersDoNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 64)
	for name, stem := range map[string]func([]byte) []byte{"porter": Porter, "english": English} {
		if n := testing.AllocsPerRun(100, func() {
			for _, w := range [...]string{"generalizations", "hopping", "skies", "sensibilities", "conflated"} {
				stem(append(buf[:0], w...))
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
