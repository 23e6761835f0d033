package fitness

import (
	"math"
	"strings"
	"testing"
)

func bm25(tb testing.TB, s Statistics, literal bool, keywords ...Keyword) reader[*BM25] {
	tb.Helper()
	t := target(tb, keywords...)
	b, err := NewBM25(t, s, literal)
	if err != nil {
		tb.Fatal(err)
	}
	return reader[*BM25]{t, b}
}

func TestBM25Formula(t *testing.T) {
	s := Statistics{Documents: 10, AverageLength: 4, DF: []int{2, 10, 0}}
	keywords := []Keyword{{"network", 1}, {"data base", 2}, {"frog", 1}}
	idf := func(n float64) float64 { return math.Log(1 + (10-n+0.5)/(n+0.5)) }
	literal := func(n, f, d float64) float64 { return idf(n) * f * 2.5 / (f + 1.5*(0.25+0.75*d/4)) }
	part := func(n, f, d float64) float64 { return idf(n) * f * 2.5 / (f + 1.5*(0.1+0.9*d/4)) }
	one, two := math.Pow(1./3, 2./3), math.Pow(2./3, 2./3) // of three keywords
	for _, tt := range []struct {
		page    Page
		literal bool
		want    float64
	}{
		{Page{}, false, 0},
		{Page{Text: "toads"}, false, 0},
		{Page{Anchors: "networks", Keywords: "networks", Text: "toads"}, false, 0}, // title and text count
		{Page{Text: "network"}, false, one * part(2, 1, 1)},
		{Page{Text: "network"}, true, literal(2, 1, 1)},
		{Page{Text: "a network and the toads"}, false, one * part(2, 1, 2)}, // silent words have no length
		{Page{Title: "Networks", Text: "network toads toads"}, false, one * part(2, 6, 4)},
		{Page{Title: "Networks", Text: "network toads toads"}, true, literal(2, 2, 4)},
		{Page{Title: "Data", Text: "bases"}, false, 0},
		{Page{Text: "data bases"}, false, one * 2 * part(10, 1, 2)},
		{Page{Text: "data bases"}, true, literal(10, 1, 2)},
		{Page{Text: "data base of frogs: data base"}, false, two * (2*part(10, 2, 5) + part(0, 1, 5))},
		{Page{Text: "data base of frogs: data base"}, true, literal(10, 2, 5) + literal(0, 1, 5)},
	} {
		if got := bm25(t, s, tt.literal, keywords...).page(&tt.page); !near(got, tt.want) {
			t.Errorf("%+v: %v, want %v", tt, got, tt.want)
		}
	}
	b := bm25(t, s, false, keywords...)
	once := Page{Text: "networks data base frogs"} // of average length, each keyword once
	if got := b.page(&once); !near(0.4*got, b.measure.Threshold()) {
		t.Errorf("a page that says all once has %v, the threshold is %v", got, b.measure.Threshold())
	}
	if got := b.page(&Page{Text: strings.Repeat("network frogs data base ", 1e5)}); got > 2.5*b.measure.sum {
		t.Errorf("%v is above the bound", got)
	}
}

// A long page with both words of a query is before a short one that repeats one of them.
func TestBM25PrefersAllWords(t *testing.T) {
	b := bm25(t, Statistics{Documents: 1, AverageLength: 400, DF: []int{0, 0}}, false, Keyword{"signature", 1}, Keyword{"certificate", 1})
	both := b.page(&Page{Text: strings.Repeat("toads ", 350) + "signatures certificates" + strings.Repeat(" frogs", 350)})
	if one := b.page(&Page{Text: strings.Repeat("certificate ", 12)}); one >= both {
		t.Errorf("a page with one word often has %v, a page with both once %v", one, both)
	}
}

func TestBM25Links(t *testing.T) {
	b := bm25(t, Statistics{Documents: 10, AverageLength: 4, DF: []int{2, 7}}, false, Keyword{"network", 1}, Keyword{"data base", 1})
	g, h := math.Log(1+8.5/2.5), math.Log(1+3.5/7.5)
	got := b.promise(&Link{URL: "http://a.example/data-base/networks", Anchor: "networks, networks", Context: "data bases and\nfrogs"})
	want := Promise{Anchor: g / (g + h), Context: h / (g + h), URL: 1, Score: 1}
	if !nearPromise(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := b.promise(&Link{Context: "data\nbase"}); got != (Promise{}) {
		t.Errorf("%+v of an expression that the anchor parts", got)
	}
}

func TestBM25RejectsInvalidStatistics(t *testing.T) {
	for _, tt := range []struct {
		s    Statistics
		want string
	}{
		{Statistics{Documents: 1, AverageLength: 1}, "0 keywords, want 1"},
		{Statistics{AverageLength: 1, DF: []int{0}}, "no documents"},
		{Statistics{Documents: 1, DF: []int{0}}, "length of the documents is 0"},
		{Statistics{Documents: 1, AverageLength: math.NaN(), DF: []int{0}}, "length of the documents is NaN"},
		{Statistics{Documents: 1, AverageLength: math.Inf(1), DF: []int{0}}, "length of the documents is +Inf"},
		{Statistics{Documents: 1, AverageLength: 1, DF: []int{2}}, "in 2 documents of 1"},
		{Statistics{Documents: 1, AverageLength: 1, DF: []int{-1}}, "in -1 documents"},
	} {
		if _, err := NewBM25(target(t, Keyword{"network", 1}), tt.s, false); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.s, err)
		}
	}
}
