package topic

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spoor/internal/text"
)

// ponds holds three pages about frogs and toads, and three about other things.
var ponds = struct{ positive, negative []Page }{
	[]Page{
		{"http://b.test/", "Frogs", "A frog and a toad. Frogs of the pond, contact.", []string{"http://b.test/#top", "http://c.test/", "http://a.test/", "http://c.test/", "mailto:x@y.test"}},
		{"http://a.test/", "Toads", "toads toads toads frogs, contact", nil},
		{"http://c.test/", "Ponds", "ponds and newts, contact", nil},
	},
	[]Page{
		{"http://d.test/", "Cars", "a car, contact", nil},
		{"http://e.test/", "Trains", "a train by the pond, contact", nil},
		{"http://f.test/", "", "a plane", nil},
	},
}

// learn returns a topic of the keywords "frogs" and "toad pond", learned from the pages.
func learn(t *testing.T, positive, negative []Page, o LearnOptions) *Topic {
	t.Helper()
	tp := create(t)
	keyword(t, tp, "frogs", 2)
	keyword(t, tp, "toad pond", 1)
	if err := tp.Learn(positive, negative, o); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := tp.Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(&b); err != nil {
		t.Fatalf("what was learned cannot be read: %v", err)
	}
	return tp
}

// In the positive pages: frog tf 4, df 2; toad 5, 2; pond 3, 2; contact 3, 3; newt 1, 1. So
// the highest tf · df is 10, toad's.
func TestTableHasWordsWithHighestTFDF(t *testing.T) {
	query := []Entry{
		{Term: "frog", Word: "frogs", Weight: 1, DF: 2, Origin: FromQuery},
		{Term: "pond", Word: "ponds", Weight: 1, DF: 2, Origin: FromQuery},
		{Term: "toad", Word: "toads", Weight: 1, DF: 2, Origin: FromQuery},
	}
	toad := Entry{Term: "toad", Word: "toads", Weight: 1, DF: 2, Origin: FromPages}
	contact := Entry{Term: "contact", Word: "contact", Weight: 0.9, DF: 3, Origin: FromPages}
	frog := Entry{Term: "frog", Word: "frogs", Weight: 0.8, DF: 2, Origin: FromPages}
	pond := Entry{Term: "pond", Word: "ponds", Weight: 0.6, DF: 2, Origin: FromPages}
	newt := Entry{Term: "newt", Word: "newts", Weight: 0.1, DF: 1, Origin: FromPages}
	for _, tt := range []struct {
		name     string
		negative []Page
		options  LearnOptions
		want     []Entry
	}{
		{"all words", nil, LearnOptions{Size: 50}, []Entry{query[0], query[1], query[2], toad, contact, frog, pond, newt}},
		{"the first two", nil, LearnOptions{Size: 2}, []Entry{query[0], query[1], query[2], toad, contact}},
		// contact: 3 of 3 and 2 of 3 pages have it, ln 7 − ln (5/3) = 1.44, which is
		// less than 1.645 √(2/7 + 2 + 2/5 + 2/3) = 3.01; pond is as frequent as 1 of 3.
		{"without what others say as often", ponds.negative, LearnOptions{Size: 50}, []Entry{query[0], query[1], query[2], toad, frog, newt}},
		// The words of each page by tf · df: b frog 3·2, a toad 4·2, c pond 2·2.
		{"the papers' words of each page", ponds.negative, LearnOptions{Size: 50, Literal: true}, []Entry{query[0], query[1], query[2], toad, frog, pond}},
	} {
		tp := learn(t, ponds.positive, tt.negative, tt.options)
		if diff := cmp.Diff(tt.want, tp.Table); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestStatisticsAndVocabulary(t *testing.T) {
	tp := learn(t, ponds.positive, ponds.negative, LearnOptions{Size: 50})
	// 6+6+4 and 3+4+1 terms
	if diff := cmp.Diff(&Statistics{6, 24. / 6}, tp.Statistics); diff != "" {
		t.Errorf("statistics (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Shared{{3, []string{"contact"}}, {2, []string{"frog", "pond", "toad"}}, {1, []string{"newt"}}}, tp.Vocabulary); diff != "" {
		t.Errorf("vocabulary (-want +got):\n%s", diff)
	}
	if tp.Keywords[0].DF != 2 || tp.Keywords[1].DF != 0 {
		t.Errorf("keywords %+v", tp.Keywords)
	}
	// Learning again from other pages replaces everything.
	if err := tp.Learn(ponds.negative, nil, LearnOptions{Size: 50}); err != nil {
		t.Fatal(err)
	}
	if tp.Keywords[0].DF != 0 || tp.Statistics.Documents != 3 || len(tp.Vocabulary[0].Terms) != 1 || tp.Reference.URL != "http://e.test/" {
		t.Errorf("again: %+v", tp)
	}
}

func TestReferencePageIsNearestToTheKeywords(t *testing.T) {
	// frogs 2, toad 1, pond 1. b: (2·3 + 1 + 1)/√(9+1+1+1) = 2.3, a: (2·1 + 4)/√(16+1+1) = 1.4,
	// c: 2/√(4+1+1) = 0.8
	want := &Reference{
		URL: "http://b.test/", Counts: 3, Links: []string{"http://a.test/", "http://c.test/"},
		Terms: []string{"contact", "frog", "pond", "toad"},
	}
	if diff := cmp.Diff(want, learn(t, ponds.positive, nil, LearnOptions{Size: 50}).Reference); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		name    string
		options LearnOptions
		pages   []Page
		want    string
	}{
		{"the one that was asked for", LearnOptions{Size: 50, Reference: "http://c.test/"}, ponds.positive, "http://c.test/"},
		{"the first by the letter", LearnOptions{Size: 50, Literal: true}, ponds.positive[1:], "http://a.test/"},
		{"asked for by the letter", LearnOptions{Size: 50, Literal: true, Reference: "http://c.test/"}, ponds.positive, "http://c.test/"},
		{"of equals the first by address", LearnOptions{Size: 50}, []Page{{"http://z.test/", "", "frogs", nil}, {"http://y.test/", "", "frog", nil}}, "http://y.test/"},
		{"without any keyword", LearnOptions{Size: 50}, []Page{{"http://z.test/", "", "cars", nil}, {"http://y.test/", "", "trains", nil}}, "http://y.test/"},
	} {
		if got := learn(t, tt.pages, nil, tt.options).Reference.URL; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestKeywordOfSeveralWordsMatchesConsecutiveWords(t *testing.T) {
	tp := create(t)
	keyword(t, tp, "call for papers", 1)
	err := tp.Learn([]Page{
		{"http://a.test/", "Call for papers", "calls for paper, call for, papers; call for papers", nil},
		{"http://b.test/", "A call", "for papers", nil},
	}, nil, LearnOptions{Size: 50})
	if err != nil {
		t.Fatal(err)
	}
	if tp.Keywords[0].DF != 1 || tp.Reference.Counts != 4 {
		t.Errorf("df %d, %d in the reference page", tp.Keywords[0].DF, tp.Reference.Counts)
	}
}

func TestAPageWithoutAValidAddressIsNotTheReference(t *testing.T) {
	tp := create(t)
	keyword(t, tp, "frogs", 1)
	err := tp.Learn([]Page{
		{"http://a.test/" + strings.Repeat("x/", 5000), "Frogs", "frogs", nil},
		{"http://b.test/", "Frogs", "frogs and toads", nil},
	}, nil, LearnOptions{Size: 50})
	if err != nil || tp.Reference.URL != "http://b.test/" {
		t.Errorf("%+v, %v", tp.Reference, err)
	}
}

func TestUselessExamples(t *testing.T) {
	frogs := []Page{{"http://a.test/", "Frogs", "", nil}}
	for _, tt := range []struct {
		name  string
		pages []Page
		o     LearnOptions
		want  string
	}{
		{"none", nil, LearnOptions{Size: 50}, "the positive pages have no words in language en\nhint: "},
		{"no words", []Page{{URL: "http://a.test/"}}, LearnOptions{Size: 50}, "the positive pages have no words"},
		{"stop words", []Page{{"http://a.test/", "It", "is what it is", nil}}, LearnOptions{Size: 50}, "the positive pages have no words"},
		{"no table", frogs, LearnOptions{}, "a table of 0 words"},
		{"too large a table", frogs, LearnOptions{Size: 10_001}, "from 1 to 10000 are possible"},
		{"another reference", frogs, LearnOptions{Size: 50, Reference: "http://b.test/"}, "http://b.test/ is not among the positive pages"},
		{"no address", []Page{{"x", "Frogs", "", nil}}, LearnOptions{Size: 50}, `the reference page "x"`},
	} {
		tp := create(t)
		keyword(t, tp, "frogs", 1)
		if err := tp.Learn(tt.pages, nil, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestExamplesWithoutWords(t *testing.T) {
	a, err := create(t).Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	l := learner{analyzer: a, maxWords: a.Len() + 3}
	if err := l.count(text.NewStatistics(a), []Page{{"http://a.test/", "frogs toads", "frog toad", nil}, {"http://b.test/", "newt", "", nil}}); err != nil {
		t.Error(err)
	}
	err = l.count(text.NewStatistics(a), []Page{{"http://c.test/", "frogs", "asdf", nil}})
	if err == nil || !strings.Contains(err.Error(), "different words\nhint: leave out pages that are not text, such as http://c.test/") {
		t.Error(err)
	}
}

func TestTableHasSixDigits(t *testing.T) {
	for _, tt := range []struct{ v, want float64 }{{1, 1}, {2. / 3, 0.666667}, {1e-9 / 3, 3.33333e-10}, {0, 0}} {
		if got := rounded(tt.v); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.v, got, tt.want)
		}
	}
}

// Of the examples two have toad, one newt, and none axolotl. The table has the words of the query,
// frog, toad and pond, and toad from pages.
func TestExpansionAddsAWord(t *testing.T) {
	newts := Page{"http://n.test/", "Newts", "newts newts toads, axolotl axolotl axolotl axolotl axolotl", nil}
	more := newts
	more.Text += " axolotl axolotl"
	toads := Page{"http://n.test/", "Toads", "toads, newts", nil}
	frogs := Page{"http://n.test/", "Frogs", "frogs frogs", nil}
	entry := func(term, word string, df int) *Entry {
		return &Entry{Term: term, Word: word, Weight: 0.75, DF: df, Origin: Expanded, URL: "http://n.test/"}
	}
	for _, tt := range []struct {
		name    string
		rule    Rule
		literal bool
		page    Page
		want    *Entry
		known   int
	}{
		{"literally: newt 3·1, toad 1·2, axolotl 5·0", Symbiosis, true, newts, entry("newt", "newts", 1), 0},
		{"axolotl 7·0", Symbiosis, true, more, entry("newt", "newts", 1), 0},
		{"the page counts: newt 3·(1+1), toad 1·(2+1), axolotl 5·(0+1)", Symbiosis, false, newts, entry("newt", "newts", 1), 0},
		{"axolotl 7·(0+1)", Symbiosis, false, more, entry("axolotl", "axolotl", 0), 0},
		{"the most frequent word", Tunnel, true, newts, entry("axolotl", "axolotl", 0), 0},
		{"the most frequent word, too", Tunnel, false, newts, entry("axolotl", "axolotl", 0), 0},
		{"literally, a word that is there brings nothing", Symbiosis, true, toads, nil, 1},
		{"the next in its place: toad 2·(2+1), newt 1·(1+1)", Symbiosis, false, toads, entry("newt", "newts", 1), 1},
		{"nor another in its place", Tunnel, true, toads, nil, 1},
		{"the second most frequent", Tunnel, false, toads, entry("newt", "newts", 1), 1},
		{"the query's words are there, literally", Symbiosis, true, frogs, nil, 1},
		{"the query's words are there, and no other", Symbiosis, false, frogs, nil, 1},
		{"the query's words are not there", Tunnel, false, frogs, entry("frog", "frogs", 2), 0},
		{"no word that the examples have", Symbiosis, true, Page{"http://n.test/", "Cars", "", nil}, nil, 0},
		{"a word that no example has", Symbiosis, false, Page{"http://n.test/", "Cars", "", nil}, entry("car", "cars", 0), 0},
		{"no word", Tunnel, false, Page{"http://n.test/", "", "it is", nil}, nil, 0},
		{"of equals the first by name", Tunnel, false, Page{"http://n.test/", "zebra yak", "", nil}, entry("yak", "yak", 0), 0},
	} {
		tp := learn(t, ponds.positive, nil, LearnOptions{Size: 1}) // toad
		before := len(tp.Table)
		e := expansion(t, tp, tt.rule, tt.literal)
		if diff := cmp.Diff(tt.want, e.Add(&tt.page, 0.75)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		added := len(tp.Table) - before
		if tt.want == nil && added != 0 || tt.want != nil && added != 1 {
			t.Errorf("%s: %d entries came in", tt.name, added)
		}
		if want := (Growth{Limit: 0.5, Pages: 1, Known: tt.known, Words: added}); *tp.Growth != want {
			t.Errorf("%s: %+v, want %+v", tt.name, *tp.Growth, want)
		}
		if e.Add(&tt.page, 0.9) != nil { // and no second time
			t.Errorf("%s: twice", tt.name)
		}
		var b bytes.Buffer
		if err := tp.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b)
		if err != nil {
			t.Fatalf("%s: what has grown cannot be read: %v", tt.name, err)
		}
		if entry := expansion(t, again, tt.rule, tt.literal).Add(&tt.page, 0.9); entry != nil { // nor by the next process
			t.Errorf("%s: twice, %+v", tt.name, entry)
		}
	}
}

func TestExpansionSkipsCommonWords(t *testing.T) {
	page := Page{"http://n.test/", "", "contact contact contact contact axolotl axolotl axolotl newts newts", nil}
	for _, tt := range []struct {
		name              string
		negative          []Page
		learned, literal  bool // to the letter
		symbiosis, tunnel string
	}{
		{"without negative pages none is common", nil, false, false, "contact", "contact"},
		{"what both have is passed over", ponds.negative, false, false, "newt", "axolotl"},
		{"not to the letter", ponds.negative, true, true, "contact", "contact"},
		{"nor with a table that was not made to the letter", ponds.negative, false, true, "contact", "contact"},
	} {
		for rule, want := range map[Rule]string{Symbiosis: tt.symbiosis, Tunnel: tt.tunnel} {
			tp := learn(t, ponds.positive, tt.negative, LearnOptions{Size: 1, Literal: tt.learned})
			tp.Table = nil
			e := expansion(t, tp, rule, tt.literal)
			if got := e.Add(&page, 0.9); got == nil || got.Term != want {
				t.Errorf("%s: rule %d brought %+v, want %s", tt.name, rule, got, want)
			}
		}
	}
}

func TestPagesThatAddNothing(t *testing.T) {
	tp := learn(t, ponds.positive, nil, LearnOptions{Size: 1})
	e := expansion(t, tp, Tunnel, false)
	for _, relevance := range []float64{0, -1, 0.49} {
		if e.Add(&Page{"http://n.test/", "Newts", "", nil}, relevance) != nil {
			t.Errorf("relevance %v brought a word", relevance)
		}
	}
	if e.Add(&Page{"no address", "Newts", "", nil}, 1) != nil {
		t.Error("a page without address brought a word")
	}
	if entry := e.Add(&Page{"HTTP://N.test", "Newts", "", nil}, 7); entry == nil || entry.Weight != 1 || entry.URL != "http://n.test/" {
		t.Errorf("a measure without bound: %+v", entry)
	}
	if tp.Growth.Pages != 1 {
		t.Errorf("%+v", *tp.Growth)
	}
	for i := range maxTable {
		e.Add(&Page{fmt.Sprintf("http://n.test/%d", i), fmt.Sprintf("w%dx", i), "", nil}, 1)
	}
	if len(tp.Table) != maxTable {
		t.Errorf("a table of %d words", len(tp.Table))
	}
	if _, err := create(t).Expand(Symbiosis, 0.5, false); err == nil || !strings.Contains(err.Error(), "hint: topic -positive") {
		t.Errorf("without vocabulary: %v", err)
	}
}

func TestExpansionDoesNotDependOnEarlierPages(t *testing.T) {
	tp := learn(t, ponds.positive, nil, LearnOptions{Size: 1})
	e := expansion(t, tp, Symbiosis, true)
	var words strings.Builder
	for i := range 200_000 { // more than an analyzer remembers
		fmt.Fprintf(&words, "w%dx ", i)
		if i%20_000 == 0 {
			if e.Add(&Page{"http://n.test/", "", words.String(), nil}, 0.9) != nil {
				t.Fatal("a word that no example has came in")
			}
			words.Reset()
		}
	}
	newt := e.Add(&Page{"http://n.test/", "Newts", "toads", nil}, 0.9)
	contact := e.Add(&Page{"http://n.test/", "", "contact contacts contacts toad", nil}, 0.8)
	if newt != nil || contact == nil || contact.Term != "contact" || contact.Word != "contacts" || contact.DF != 3 {
		t.Errorf("got %+v, %+v", newt, contact)
	}
}

func FuzzLearn(f *testing.F) {
	f.Add("frogs and toads", "Frogs", "cars", "newts newts", byte(4), false)
	f.Add("図書館 the \x00 x", "IŞIK \u0307", "ﬁ\u00AD Å 12345", "ẞ ΣΑΣ", byte(9), true)
	f.Fuzz(func(t *testing.T, text, title, other, more string, language byte, literal bool) {
		codes := []string{"da", "de", "en", "fr", "tr", "ru", "und", "fi", "hu", "id"}
		tp := newTopic(t, codes[int(language)%len(codes)], "")
		if err := tp.AddExampleKeywords([]Page{{"http://a.test/", title, text, nil}, {"http://b.test/", "", other, nil}}, []Page{{"http://c.test/", "", more, nil}}, 3); err == nil {
			var b bytes.Buffer
			if err := tp.Write(&b); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(&b); err != nil {
				t.Fatalf("keywords of examples cannot be read: %v", err)
			}
		}
		tp.Keywords = nil
		if _, err := tp.AddQuery(title); err != nil {
			return
		}
		positive := []Page{{"http://a.test/", title, text, []string{other, "http://x.test/" + more}}, {"http://b.test/", "", other, nil}}
		if err := tp.Learn(positive, []Page{{"http://c.test/", "", more, nil}}, LearnOptions{Size: 3, Literal: literal}); err != nil {
			t.Fatalf("the title has a word that counts: %v", err)
		}
		for _, rule := range []Rule{Symbiosis, Tunnel} {
			e := expansion(t, tp, rule, literal)
			e.Add(&Page{"http://d.test/", text, more, nil}, 0.9)
			e.Add(&Page{"http://e.test/", title, more, nil}, 0.6)
		}
		var first, second bytes.Buffer
		if err := tp.Write(&first); err != nil {
			t.Fatal(err)
		}
		again, err := Read(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first.String())
		}
		if err := again.Write(&second); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Fatalf("(-written +read):\n%s", cmp.Diff(first.String(), second.String()))
		}
	})
}

func expansion(t *testing.T, tp *Topic, rule Rule, literal bool) *Expansion {
	t.Helper()
	e, err := tp.Expand(rule, 0.5, literal)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
