package topic

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/background"
	"spoor/internal/text"
)

// backgroundOf returns the background of a topic.
func backgroundOf(t *testing.T, tp *Topic) (map[string]float64, int) {
	t.Helper()
	a, err := tp.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	return tp.Background(a)
}

func TestBackgroundOfEnglishIsBuiltIn(t *testing.T) {
	for _, stemmer := range text.Stemmers("en") {
		tp := newTopic(t, "en", stemmer)
		got, n := backgroundOf(t, tp)
		if n != background.Documents || tp.BackgroundLength() != background.AverageLength {
			t.Errorf("%s: %d documents of length %v", stemmer, n, tp.BackgroundLength())
		}
		if got["file"] < 10*got["theorem"] || got["theorem"] == 0 || got["theorems"] != 0 {
			t.Errorf("%s: file %v, theorem %v, theorems %v", stemmer, got["file"], got["theorem"], got["theorems"])
		}
	}
	porter, _ := backgroundOf(t, &Topic{Stemmer: "porter"})
	english, _ := backgroundOf(t, &Topic{Stemmer: "english"})
	if maps.Equal(porter, english) {
		t.Error("both stemmers give the same stems")
	}
}

func TestBackgroundOfOtherLanguagesIsEmpty(t *testing.T) {
	tp := newTopic(t, "de", "")
	if got, n := backgroundOf(t, tp); len(got) != 0 || n != 0 || tp.BackgroundLength() == 0 {
		t.Errorf("%d shares, %d documents of length %v", len(got), n, tp.BackgroundLength())
	}
	if err := tp.LearnBackground([]Page{{Title: "Straßen", Text: "die Städte"}, {Text: "eine Straße"}}); err != nil {
		t.Fatal(err)
	}
	got, n := backgroundOf(t, tp)
	if diff := cmp.Diff(map[string]float64{"strass": 1, "stadt": 0.5}, got); diff != "" || n != 2 || tp.BackgroundLength() != 1.5 {
		t.Errorf("%d documents of length %v, shares (-want +got):\n%s", n, tp.BackgroundLength(), diff)
	}
}

// A restricted analyzer stays as it is.
func TestBackgroundOfKnownStems(t *testing.T) {
	a, err := text.New("en", "")
	if err != nil {
		t.Fatal(err)
	}
	a.Append(nil, "theorems xpcom")
	a.Restrict()
	n := a.Len()
	got, _ := new(Topic).Background(a)
	if len(got) != 1 || got["theorem"] == 0 || a.Len() != n {
		t.Errorf("%v, and %d new terms", got, a.Len()-n)
	}
}

func TestLearnedBackgroundIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range backgroundSize {
		fmt.Fprintf(&b, "x%dx ", i)
	}
	tp := create(t)
	if err := tp.LearnBackground([]Page{{Text: b.String()}, {Text: "toads"}, {Text: "a toad"}}); err != nil {
		t.Fatal(err)
	}
	got, n := backgroundOf(t, tp)
	if n != 3 || len(got) != backgroundSize || got["toad"] != 2./3 || got["x0x"] == 0 || got["x9x"] != 0 {
		t.Errorf("%d documents, %d terms; toad %v, x0x %v, x9x %v", n, len(got), got["toad"], got["x0x"], got["x9x"])
	}
	if tp.LearnBackground([]Page{{Text: "the"}}) == nil {
		t.Error("no error for pages without words")
	}
}
