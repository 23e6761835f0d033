package text

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spoor/internal/testfile"
)

// lines returns the lines of a file.
func lines(tb testing.TB, name string) []string {
	tb.Helper()
	f := testfile.Open(tb, name)
	var all []string
	for s := bufio.NewScanner(f); s.Scan(); {
		all = append(all, s.Text())
	}
	return all
}

// vocabulary returns the directory with the words and stems that the Snowball project
// publishes for a stemmer: in the shared data, or of Debian's package snowball-data.
func vocabulary(name string) string {
	root := cmp.Or(os.Getenv("SPOOR_SHARED"), filepath.Join("..", "..", "..", "shared"))
	dir := filepath.Join(root, "suites", "snowball", name)
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Join("/usr/share/snowball/data", name)
	}
	return dir
}

// differing counts the words of Snowball's vocabularies that have another stem here, and
// gives the reason.
var differing = map[string]struct {
	words int
	why   string
}{
	"danish":  {1, "a number: later rules leave digits alone"},
	"english": {57, "the library has the algorithm of 2006, without the later rules for inter-, later-, emerg-, past-, -ogist and short doubled words"},
	"finnish": {8, "numbers, and letters of other languages: as before"},
	"french":  {79, "the rules for ë and ï are younger than the library's"},
	"porter":  {1, "s alone, of which nothing would be left, stays"},
	"turkish": {4, "suffixes alone, of which nothing would be left, stay"},
}

// stem returns the stem of a word by a stemmer of English.
func stem(name, word string) string {
	i := slices.IndexFunc(languageEnglish.stemmers, func(s stemmer) bool { return s.name == name })
	return string(languageEnglish.stemmers[i].make()([]byte(word)))
}

func TestSnowballVocabularies(t *testing.T) {
	for _, l := range languages {
		for _, st := range l.stemmers {
			if st.name == "none" || st.name == "prefix" { // not Snowball's
				continue
			}
			t.Run(st.name, func(t *testing.T) {
				dir := vocabulary(st.name)
				if _, err := os.Stat(dir); err != nil && os.Getenv("CI") == "" {
					t.Skipf("no vocabulary: %v (hint: install Debian's snowball-data)", err)
				}
				words, want := lines(t, filepath.Join(dir, "voc.txt")), lines(t, filepath.Join(dir, "output.txt"))
				if len(words) != len(want) || len(words) == 0 {
					t.Fatalf("%d words, %d stems", len(words), len(want))
				}
				stem, known := st.make(), differing[st.name]
				var wrong []string
				for i, w := range words {
					if got := string(stem([]byte(strings.Map(l.lower.rune, w)))); got != want[i] {
						wrong = append(wrong, fmt.Sprintf("%s: got %q, want %q", w, got, want[i]))
					}
				}
				t.Logf("%d of %d pairs agree", len(words)-len(wrong), len(words))
				if known.words > 0 {
					t.Logf("%d differing: %s", known.words, known.why)
				}
				if len(wrong) != known.words {
					t.Errorf("%d differing, want %d:\n%s", len(wrong), known.words, strings.Join(wrong[:min(len(wrong), 40)], "\n"))
				}
			})
		}
	}
}

// The paper gives examples for each step; these are the stems of the whole algorithm.
func TestPorterPaperExamples(t *testing.T) {
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
		"as": "a", "s": "s", "": "", // the paper has no rule for short words
		"café": "café", "cafés": "café", "\u00e9\u00e9ed": "\u00e9\u00e9ed",
	} {
		if got := stem("porter", word); got != want {
			t.Errorf("Porter(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestEnglishStemmer(t *testing.T) {
	for word, want := range map[string]string{
		"news": "news", "skies": "sky", "dying": "die", "herring": "herring", "generous": "generous",
		"cries": "cri", "ties": "tie", "gas": "gas", "kiwis": "kiwi", "happily": "happili",
		"proceed": "proceed", "geologists": "geologist", "university": "univers", "universe": "univers",
		"'tis'": "tis", "as": "as", "": "", "says": "say", "youth": "youth",
	} {
		if got := stem("english", word); got != want {
			t.Errorf("English(%q) = %q, want %q", word, got, want)
		}
	}
}
