package fitness

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// table is the measure for a table, of a target that has a keyword nobody uses.
func table(tb testing.TB, symbiosis bool, entries ...Entry) reader[*WeightTable] {
	tb.Helper()
	t := target(tb, Keyword{"zyzzyva", 1})
	for i := range entries {
		a := t.analyzer.Append(nil, entries[i].Word)
		entries[i].Term = t.analyzer.Name(a[0])
	}
	form := NewTunnelTable
	if symbiosis {
		form = NewSymbiosisTable
	}
	w, err := form(t, entries)
	if err != nil {
		tb.Fatal(err)
	}
	return reader[*WeightTable]{t, w}
}

// business is the rows that Pal et al. print of their table for E-Business.
func business() []Entry {
	return []Entry{
		{Word: "business", Weight: 1}, {Word: "management", Weight: 0.58}, {Word: "solution", Weight: 0.45},
		{Word: "corporation", Weight: 0.34}, {Word: "customer", Weight: 0.27},
	}
}

func TestOneWordOfThePapersTableIsRelevant(t *testing.T) {
	printed := table(t, false, business()...)
	// The table has fifty rows, of which the paper prints five. The others weigh
	// no more than the last of these, so with them a page is at least so near.
	full := business()
	for i := range 45 {
		full = append(full, Entry{Word: fmt.Sprintf("w%dx", i), Weight: 0.27})
	}
	whole := table(t, false, full...)
	for _, tt := range []struct {
		text            string
		printed, at50th string
	}{
		{"Business!", "0.761", "0.447"},
		{"a solution", "0.342", "0.201"},
		{"frogs", "0.000", "0.000"},
	} {
		for _, r := range []struct {
			reader[*WeightTable]
			want string
		}{{printed, tt.printed}, {whole, tt.at50th}} {
			for _, literal := range []bool{false, true} {
				r.measure.Literal = literal
				if got := fmt.Sprintf("%.3f", r.page(&Page{Text: tt.text})); got != r.want {
					t.Errorf("%q in a table of %d rows: %s, want %s", tt.text, len(r.measure.entries), got, r.want)
				}
			}
		}
	}
}

func TestThreeOfFourQueryWordsExceedExpansionThreshold(t *testing.T) {
	// The table of Wilson et al. is four words of the query at 1 and one or two
	// of the first pages. The squares of the latter are said to sum to 1.26: with
	// them one word has 0.436, and three have 0.755.
	rest := math.Sqrt(1.26 / 2)
	w := table(t, true, Entry{Word: "debate", Weight: 1}, Entry{Word: "president", Weight: 1}, Entry{Word: "election", Weight: 1},
		Entry{Word: "candidate", Weight: 1}, Entry{Word: "parliament", Weight: rest}, Entry{Word: "minister", Weight: rest})
	for _, tt := range []struct{ text, want string }{
		{"election", "0.436"},
		{"the election of a president", "0.617"},
		{"a debate before the election of the president", "0.755"},
	} {
		if got := fmt.Sprintf("%.3f", w.page(&Page{Text: tt.text})); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
	if three := math.Sqrt(3) / math.Sqrt(4+1.26); three < 0.7 { // from which pages do
		t.Errorf("%v", three)
	}
}

func TestPlaceWeights(t *testing.T) {
	// Both papers give a word of the weight 1 that stands in title and text the
	// weight 2 + 1.
	entries := []Entry{{Word: "java", Weight: 1, DF: 1}, {Word: "manual", Weight: 0.5, DF: 3}, {Word: "unheard", Weight: 0.1}}
	for _, tt := range []struct {
		page               Page
		symbiosis, literal bool
		want               [3]float64 // w_kp
	}{
		{Page{Title: "Java", Text: "about Java"}, false, true, [3]float64{3, 0, 0}},
		{Page{Title: "Java", Text: "about Java"}, false, false, [3]float64{3, 0, 0}},
		{Page{Title: "Java", Text: "frogs"}, false, true, [3]float64{2, 0, 0}},
		{Page{Text: "Java"}, false, true, [3]float64{1, 0, 0}},
		{Page{Title: "Java, Java", Text: "Java java manuals"}, false, true, [3]float64{3, 1, 0}},
		{Page{Title: "Java, Java", Text: "Java java manuals"}, false, false, [3]float64{6, 1, 0}},
		{Page{Title: "Java, Java", Text: "Java java manuals"}, true, false, [3]float64{6, 3, 0}},
		{Page{Title: "Java, Java", Text: "Java java manuals"}, true, true, [3]float64{12, 3, 0}}, // tf·df·3
		{Page{Title: "Unheard", Anchors: "java", Keywords: "java", Description: "java"}, true, false, [3]float64{0, 0, 2}},
	} {
		w := table(t, tt.symbiosis, entries...)
		w.measure.Literal = tt.literal
		dot, square, table := 0.0, 0.0, 0.0
		for i, e := range entries {
			dot += e.Weight * tt.want[i]
			square += tt.want[i] * tt.want[i]
			table += e.Weight * e.Weight
		}
		if got, want := w.page(&tt.page), dot/math.Sqrt(square*table); !near(got, want) {
			t.Errorf("%+v: %v, want %v", tt, got, want)
		}
		for _, r := range w.measure.Explain(w.Read(&tt.page)) {
			for i, e := range entries {
				if r.What == e.Word && r.Count != tt.want[i] {
					t.Errorf("%+v: %s weighs %v", tt, e.Word, r.Count)
				}
			}
		}
	}
}

func TestTablePageNormCountsAllWords(t *testing.T) {
	page := Page{Title: "frogs", Text: "java frogs toads"}
	for _, tt := range []struct {
		symbiosis bool
		others    []Entry
		want      float64
	}{
		{false, nil, 1 / math.Sqrt(1+9+1)},
		{true, nil, 4 / math.Sqrt(16+9+1)},
		{true, []Entry{{Word: "frog", DF: 2}}, 4 / math.Sqrt(16+36+1)},
	} {
		w := table(t, tt.symbiosis, append([]Entry{{Word: "java", Weight: 1, DF: 4}}, tt.others...)...)
		if got := w.page(&page); !near(got, 1) {
			t.Errorf("%+v: %v of the table's words alone", tt, got)
		}
		w.measure.Norm = PageNorm
		if got := w.page(&page); !near(got, tt.want) {
			t.Errorf("%+v: %v, want %v", tt, got, tt.want)
		}
		if got := w.page(&Page{Text: "frogs"}); got != 0 {
			t.Errorf("%+v: %v of a page without words of the table", tt, got)
		}
	}
}

func TestTablesScoreLinks(t *testing.T) {
	link := Link{URL: "http://a.example/java/x.html", Anchor: "manuals", Context: "frogs\nand java"}
	entries := []Entry{{Word: "java", Weight: 0.8}, {Word: "manual", Weight: 0.6}}
	for _, tt := range []struct {
		symbiosis bool
		norm      Norm
		want      Promise
	}{
		{false, TopicNorm, Promise{Anchor: 0.6, Context: 0.8, URL: 0.8, Score: (0.6 + 0.8) / 2}},
		{true, TopicNorm, Promise{Anchor: 0.6, Context: 0.8, URL: 0.8, Score: 1 - (1-0.68)*0.2}},
		{false, PageNorm, Promise{Anchor: 0.6, Context: 0.8 / math.Sqrt2, URL: 0.8 / math.Sqrt(3), Score: (0.6 + 0.8/math.Sqrt(3)) / 2}},
	} {
		w := table(t, tt.symbiosis, entries...)
		w.measure.Norm = tt.norm
		if got := w.promise(&link); !nearPromise(got, tt.want) {
			t.Errorf("%+v: %+v", tt, got)
		}
		if got := w.promise(&Link{}); got != (Promise{}) {
			t.Errorf("%+v: %+v of an empty link", tt, got)
		}
	}
}

func TestTableRejectsInvalidEntries(t *testing.T) {
	for _, tt := range []struct {
		table []Entry
		want  string
	}{
		{nil, "all zero"},
		{[]Entry{{Term: "java"}}, "all zero"},
		{[]Entry{{Term: "java", Weight: 1}, {Term: "java", Weight: 2}}, "duplicate"},
		{[]Entry{{Term: "java", Weight: -1}}, "weight -1"},
		{[]Entry{{Term: "java", Weight: math.NaN()}}, "weight NaN"},
		{[]Entry{{Term: "java", Weight: math.Inf(1)}}, "weight +Inf"},
		{[]Entry{{Term: "java", Weight: 1e200}}, "too large"},
		{[]Entry{{Term: "java", Weight: 1, DF: -1}}, "-1 documents"},
	} {
		if _, err := NewSymbiosisTable(target(t, Keyword{"zyzzyva", 1}), tt.table); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.table, err)
		}
	}
}
