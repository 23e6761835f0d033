package topic

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Of ten pages on all topics nine have home, and none any other word: idf is ln(1 + 1.5/9.5) and ln 22.
// In the positive pages frog has tf 4, df 2; toad 2, 1; home 2, 2; menu, in a line of both, 1, 1.
func TestKeywordsOfExamples(t *testing.T) {
	ponds := []Page{
		{"http://a.test/", "Frogs", "the frog, frog, home\nMenu 1\n", nil},
		{"http://b.test/", "Toads", "toads, frog, home 2026 2026 2026 2026\nMenu 2\nhttp://x.test/ponds newt@x.test", nil},
	}
	background := &General{Documents: 10, AverageLength: 5, Vocabulary: []Shared{{9, []string{"home"}}}}
	home := rounded(4 * math.Log(1+1.5/9.5) / (8 * math.Log(22)))
	for _, tt := range []struct {
		name       string
		language   string
		background *General
		positive   []Page
		negative   []Page
		n          int
		want       []Keyword
		err        string
	}{
		{"tf · df · idf", "en", background, ponds, nil, 10, []Keyword{{"frog", 1, []string{"frog"}, 0}, {"toads", 0.25, []string{"toad"}, 0}, {"menu", 0.125, []string{"menu"}, 0}, {"home", home, []string{"home"}, 0}}, ""},
		{"the best two", "en", background, ponds, nil, 2, []Keyword{{"frog", 1, []string{"frog"}, 0}, {"toads", 0.25, []string{"toad"}, 0}}, ""},
		{"without what negative pages have, too", "en", background, ponds, []Page{{"http://c.test/", "", "toads, home", nil}}, 10, []Keyword{{"frog", 1, []string{"frog"}, 0}, {"menu", 0.125, []string{"menu"}, 0}}, ""},
		{"no background of the language; of equals the first by name", "de", nil, []Page{{"http://a.test/", "", "der Teich und der Bach: Teich", nil}, {"http://b.test/", "", "ein Ast", nil}}, nil, 3, []Keyword{{"teich", 1, []string{"teich"}, 0}, {"ast", 0.5, []string{"ast"}, 0}, {"bach", 0.5, []string{"bach"}, 0}}, ""},
		{"a page may repeat a line", "de", nil, []Page{{"http://a.test/", "", "Teich\nTeich\nBach", nil}, {"http://b.test/", "", "Teich\nTeich", nil}}, nil, 3, []Keyword{{"teich", 1, []string{"teich"}, 0}, {"bach", 0.5, []string{"bach"}, 0}}, ""},
		{"no words", "en", nil, []Page{{"http://a.test/", "The", "is 12 345 http://a.test/x", nil}}, nil, 10, nil, "no words in language en that distinguish them\nhint: -query"},
		{"none that distinguishes", "en", nil, ponds[:1], ponds[1:], 10, nil, "that distinguish them"},
	} {
		tp := newTopic(t, tt.language, "")
		tp.General = tt.background
		err := tp.AddExampleKeywords(tt.positive, tt.negative, tt.n)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, tp.Keywords); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
		var b bytes.Buffer
		if err := tp.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(&b); err != nil {
			t.Errorf("%s: what was written cannot be read: %v", tt.name, err)
		}
	}
}
