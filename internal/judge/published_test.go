package judge

import (
	"fmt"
	"strings"
	"testing"
)

// resultsOf returns a result of each crawler in eight units, with a harvest that differs a little between
// units. A negative harvest stands for a crawl that ended early.
func resultsOf(harvest map[string]float64) (list []*Result) {
	for name, h := range harvest {
		for unit := range 8 {
			r := &Result{V: 1, Name: name, Strategy: name, Track: "K", Topic: fmt.Sprint("topic ", unit), Seeds: "easy", Seed: 1}
			r.T, r.R, r.Cost = 1000, 100, 1000
			if h < 0 {
				r.Cost = 8
			}
			r.Harvest = Rounded(h + float64(unit)/1000)
			r.HarvestAt = map[int]float64{500: *r.Harvest / 2}
			if strings.HasSuffix(name, "2") {
				r.Track = "Q"
			}
			list = append(list, r)
		}
	}
	return list
}

func TestPublished(t *testing.T) {
	own, labels := resultsOf(map[string]float64{"ours2": 0.6, "worse": 0.3, "same": 0.6, "better": 0.9}), resultsOf(map[string]float64{"ours2": 0.2, "worse": 0.15, "same": 0.2, "better": 0.1})
	for _, test := range []struct {
		name, table string
		want        []Verdict
	}{
		{"both", `"rows": [{"name": "A", "crawler": "ours2", "values": [0.9, 0.7]}, {"name": "B", "crawler": "worse", "values": [0.2]}]`, []Verdict{Reproduced, Reproduced}},
		{"only by its own measure", `"rows": [{"name": "A", "crawler": "ours2", "values": [0.4]}, {"name": "B", "crawler": "better", "values": [0.5]}]`, []Verdict{OnlyOwn, OnlyOwn}},
		{"the other way", `"rows": [{"name": "A", "crawler": "ours2", "values": [0.2]}, {"name": "B", "crawler": "worse", "values": [0.5]}]`, []Verdict{NotShown, NotShown}},
		{"the same", `"rows": [{"name": "A", "crawler": "ours2", "values": [0.6]}, {"name": "B", "crawler": "same", "values": [0.5]}]`, []Verdict{NotShown, NotShown}},
		{"the first has the weakest verdict", `"rows": [{"name": "A", "crawler": "ours2", "values": [0.4]}, {"name": "B", "crawler": "worse", "values": [0.2]}, {"name": "C", "crawler": "same", "values": [0.2]}]`, []Verdict{NotShown, Reproduced, NotShown}},
		{"without values", `"rows": [{"name": "A", "crawler": "ours2"}, {"name": "B", "crawler": "worse", "better": true}, {"name": "C", "crawler": "better", "better": true}]`, []Verdict{NotShown, Reproduced, NotShown}},
		{"at a cost", `"cost": 500, "rows": [{"name": "A", "crawler": "ours2", "values": [0.3]}]`, []Verdict{OnlyOwn}},
		{"near", `"rows": [{"name": "A", "crawler": "better", "values": [0.9]}]`, []Verdict{OnlyOwn}},
		{"near by labels too", `"rows": [{"name": "A", "crawler": "worse", "values": [0.23]}]`, []Verdict{Reproduced}},
	} {
		p, err := ReadPublished(strings.NewReader(`{"papers": [{"name": "p", "tables": [{"title": "t", "own": "harvest", "labels": "harvest", ` + test.table + `}]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		f, err := p.Papers[0].Tables[0].Compare(own, labels, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range test.want {
			if got := f.Rows[i].Verdict; got != want {
				t.Errorf("%s: row %d is %s, want %s", test.name, i, got, want)
			}
		}
	}
}

// A crawl that ended before the cost has no value: its 0.625 after 8 fetches is not that at 1,000.
func TestPublishedDoesNotCarryValues(t *testing.T) {
	p, err := ReadPublished(strings.NewReader(`{"papers": [{"name": "p", "tables": [{"title": "t", "own": "harvest", "rows": [
		{"name": "A", "crawler": "ours", "values": [0.6]}, {"name": "B", "crawler": "short", "values": [0.3]}]}],
		"cannot": [{"what": "a value", "values": 2, "why": "there is no web of 2009"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Papers[0].Tables[0].Compare(resultsOf(map[string]float64{"ours": 0.6, "short": -0.1}), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if b := f.Rows[1]; b.Ended != 8 || b.Crawls != 8 || b.Own.Units != 0 || b.Verdict != NotShown {
		t.Errorf("the row of crawls that ended is %+v", b)
	}
	var page strings.Builder
	if err := WritePublished(&page, p, [][]*Finding{{f}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"4 values of the papers, and 0 statements without one: 0 reproduced, 0 only by its own measure, 2 not, 2 cannot be.",
		"B: 8 of 8 crawls ended before",
		"* a value: there is no web of 2009",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.String())
		}
	}
}

func TestWrongPublishedValues(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                           "EOF",
		`{"papers": [{"nmae": "p"}]}`: "unknown field",
		`{"papers": [{"name": "p", "tables": [{"title": "t", "own": "precision", "rows": [{"name": "A"}]}]}]}`:                                                                           `p: t: no measure "precision"`,
		`{"papers": [{"name": "p", "tables": [{"title": "t", "own": "harvest"}]}]}`:                                                                                                      "needs own, the paper's measure, and rows",
		`{"papers": [{"name": "p", "tables": [{"title": "t", "own": "nauc", "cost": 5, "rows": [{"name": "A"}]}]}]}`:                                                                     "nauc has no value at a cost",
		`{"papers": [{"name": "p", "tables": [{"title": "t", "own": "harvest", "cost": -1, "rows": [{"name": "A"}]}]}]}`:                                                                 "not a number of fetches",
		`{"papers": [{"name": "p", "tables": [{"title": "t", "own": "harvest", "rows": [{"name": "A", "crawler": "a"}, {"name": "B", "crawler": "b", "values": [1]}]}]}]}`:               "B has neither values nor better",
		`{"papers": [{"name": "p", "tables": [{"title": "t", "own": "harvest", "rows": [{"name": "A", "crawler": "a", "values": [1]}, {"name": "B", "crawler": "b", "values": []}]}]}]}`: "B has neither values nor better",
		`{"papers": [{"name": "p", "tables": [{"title": "t", "own": "overlap", "cost": 5, "rows": [{"name": "A", "crawler": "a and b"}]}]}]}`:                                            "an overlap has no value at a cost",
		`{"papers": [{"name": "p", "tables": [{"title": "t", "own": "overlap", "rows": [{"name": "A", "crawler": "a"}]}]}]}`:                                                             "does not name two crawlers",
	} {
		if _, err := ReadPublished(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of %s it says %v, want %s", text, err, want)
		}
	}
}
