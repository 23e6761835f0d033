package topic

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// made is a table: angles to the first axis give the cosines.
const made = `12 2
Cat 1 0
dog 0.8 0.6
cats 0.99 0.141
kitten 0.96 0.28
tiger 0.6 0.8
tigers 0.6 0.8
stone 0 1
the 1 0.01
lion 0.5 0.9
broken 0.5
worse 1 x
huge 1e300 0
zero 0 0
rock 0.05 1
`

func opener(s string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
}

func near(t *testing.T, words []string, table string) (*Topic, Near, error) {
	t.Helper()
	topic, err := New("en", "")
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range words {
		if err := topic.AddKeyword(w, float64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	n, err := topic.AddNear(opener(table))
	return topic, n, err
}

// Weights by hand: half the cosine times the weight of the keyword. Inflections of keywords and stop
// words are not added, nor is lion, whose cosine is 0.486; tiger and tigers are one term.
func TestWordsNearTheQuery(t *testing.T) {
	topic, n, err := near(t, []string{"cat", "stone", "glass marble", "unicorn"}, made)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range topic.Keywords[4:] {
		got = append(got, fmt.Sprintf("%s %.2f", k.Text, k.Weight))
	}
	// dog is 0.8 from cat (0.40) and 0.6 from stone (0.60), tiger 0.6 and 0.8, lion 0.87 from stone.
	want := []string{"kitten 0.48", "dog 0.60", "tiger 0.80", "rock 1.00", "lion 0.87"}
	if !slices.Equal(got, want) {
		t.Errorf("added %q, want %q", got, want)
	}
	if !slices.Equal(n.Missing, []string{"unicorn"}) || n.Skipped != 3 || len(n.Added) != 5 {
		t.Errorf("missing %q, skipped %d, added %q", n.Missing, n.Skipped, n.Added)
	}
	again, _, _ := near(t, []string{"cat", "stone", "glass marble", "unicorn"}, made)
	if !reflect.DeepEqual(topic, again) {
		t.Error("the same table gives another topic")
	}
}

// A word gets at most five near words, the nearest ones.
func TestFewNearWords(t *testing.T) {
	lines := []string{"cat 1 0"}
	for i := range 20 {
		lines = append(lines, fmt.Sprintf("word%c 1 0.%02d", 'a'+(i*7)%20, (i*7)%20))
	}
	_, n, err := near(t, []string{"cat"}, strings.Join(lines, "\n"))
	if want := []string{"worda", "wordb", "wordc", "wordd", "worde"}; err != nil || !slices.Equal(n.Added, want) {
		t.Errorf("added %q (%v), want %q", n.Added, err, want)
	}
}

func TestWhatIsNoTableOfVectors(t *testing.T) {
	for _, test := range []struct{ table, want string }{
		{"", "no line is a word followed by its vector"},
		{"3 2\n", "no line is a word followed by its vector"},
		{"\x00\xff\n{}\n", "no line is a word followed by its vector"},
		{"cat" + strings.Repeat(" 1", maxDimensions+1) + "\n", "no line is a word followed by its vector"},
		{"cat 1 2\n" + strings.Repeat("x", maxVectorLine+1), "line 2 has more than 65536 bytes"},
	} {
		if _, _, err := near(t, []string{"cat"}, test.table); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: got error %v, want %q", test.table, err, test.want)
		}
	}
}
