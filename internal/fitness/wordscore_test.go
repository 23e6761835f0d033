package fitness

import (
	"math"
	"testing"
)

func wordscore(tb testing.TB, literal bool, keywords ...Keyword) reader[*WordScore] {
	tb.Helper()
	t := target(tb, keywords...)
	return reader[*WordScore]{t, NewWordScore(t, Alpha, literal)}
}

func TestWordScoreFormula(t *testing.T) {
	three := []Keyword{{"search", 1}, {"engine", 1}, {"computer", 1}} // the paper's first test
	heavy := []Keyword{{"search", 3}, {"engine", 1}}
	for _, tt := range []struct {
		keywords []Keyword
		literal  bool
		page     Page
		want     float64
	}{
		{three, false, Page{}, 0},
		{three, false, Page{Text: "the frogs"}, 0},
		{three, false, Page{Anchors: "search", Text: "frogs"}, 0}, // title and text count
		// one word of one: wordscore (1 + 4, 0, 0), pagescore1 5/3, C 1/√3
		{three, false, Page{Text: "search"}, 5. / 3 / math.Sqrt(3)},
		{three, true, Page{Text: "search"}, 5 / math.Sqrt(3)},                                     // weights of 1 are used as given, too
		{three, true, Page{Title: "The frogs", Text: "search of the"}, (1./5 + 4) / math.Sqrt(3)}, // N counts stop words
		{three, false, Page{Title: "Searching", Text: "the computer engine"}, 1./3 + 4},
		// 5 terms, the most frequent 3 times; TF 1/3
		{three, false, Page{Text: "frogs and frogs and the frogs search an engine"}, (1./5 + 4./3) * 2 / 3 * math.Sqrt(2./3)},
		// weights 3/4 and 1/4; wordscore 2/3 + 4 and 1/3 + 2: C = (3·2 + 1) / √(10·5)
		{heavy, false, Page{Text: "search search engine"}, (14./3*0.75 + 7./3*0.25) * 7 / math.Sqrt(50)},
		{heavy, true, Page{Text: "search search engine"}, (14./3*3 + 7./3) * 7 / math.Sqrt(50)},
	} {
		w := wordscore(t, tt.literal, tt.keywords...)
		if got := w.page(&tt.page); !near(got, tt.want) {
			t.Errorf("%+v: %v, want %v", tt, got, tt.want)
		}
	}
	if got := wordscore(t, true, heavy...).measure.Threshold(); !near(got, 4*WordScoreThreshold) {
		t.Errorf("threshold %v of weights that sum to 4", got)
	}
}

func TestWordScoreWindow(t *testing.T) {
	w := wordscore(t, false, Keyword{"search engine", 1}, Keyword{"computer", 1})
	one := func(n float64) float64 { return (1/n + 4) / 2 / math.Sqrt2 } // one of the two, once in n terms, none more frequent
	literal := wordscore(t, true, Keyword{"search engine", 1}, Keyword{"computer", 1})
	whole := func(n float64) float64 { return 2 * one(n) } // the same with weights that sum to 2
	link := Link{Anchor: "the computer", Context: "computer of\nthe frogs"}
	if got, want := literal.promise(&link), (Promise{Anchor: whole(2), Context: whole(4), Score: (2./6 + 4) / math.Sqrt2}); !nearPromise(got, want) {
		t.Errorf("literal: %+v, want %+v", got, want)
	}
	for _, tt := range []struct {
		link Link
		want Promise
	}{
		{Link{}, Promise{}},
		{Link{Anchor: "frogs", Context: "no\nkeyword"}, Promise{}},
		{Link{Anchor: "engine", Context: "a search\nfrogs"}, Promise{Score: one(3)}},
		{Link{Anchor: "frogs", Context: "a search\nengine"}, Promise{}},
		{Link{Anchor: "computer", Context: ""}, Promise{Anchor: one(1), Score: one(1)}},
		{Link{Anchor: "computer", Context: "frogs"}, Promise{Anchor: one(1), Score: one(2)}},
		{Link{Anchor: "here", Context: "\ncomputer"}, Promise{Context: one(1), Score: one(1)}},
		{Link{URL: "http://computer.example/", Anchor: "here"}, Promise{URL: one(2)}}, // not in the paper
	} {
		if got := w.promise(&tt.link); !nearPromise(got, tt.want) {
			t.Errorf("%+v: %+v, want %+v", tt.link, got, tt.want)
		}
	}
}
