package fitness

import (
	"math"
	"testing"
)

func jaccard(tb testing.TB, ref Reference, keywords ...Keyword) reader[*Jaccard] {
	tb.Helper()
	t := target(tb, keywords...)
	return reader[*Jaccard]{t, NewJaccard(t, ref)}
}

func TestJaccardFormula(t *testing.T) {
	ref := Reference{Links: []string{"http://a.example/", "http://b.example/"}, Terms: []string{"frog", "network"}, Counts: 3}
	bounded := func(agree, differ float64) float64 { return math.Sqrt(agree/(agree+differ)) / 2 }
	for _, tt := range []struct {
		name          string
		page          Page
		want, printed float64
	}{
		{"empty", Page{}, 0, 0},
		{"no words", Page{Text: "the of", Anchors: "frogs"}, 0, 0},
		{"the reference", Page{Links: []string{"http://b.example/", "http://a.example/"}, Title: "Frogs", Text: "network"},
			0.5 + bounded(3+1+2, 0), 1 + math.Sqrt(6./1)},
		{"a link of three", Page{Links: []string{"http://c.example/", "http://a.example/", "http://a.example/"}, Text: "of"}, 0.5 / 3, 1. / 3},
		{"a link of three, and to itself", Page{URL: "http://r.example/", Links: []string{"http://c.example/", "http://r.example/", "http://a.example/"}}, 0.5 / 3, 1. / 3},
		{"other words", Page{Text: "toads and newts"}, bounded(3, 4), math.Sqrt(3. / 5)},
		{"a keyword often", Page{Text: "network network networks toad"}, bounded(3+3+1, 2), math.Sqrt(7. / 3)},
	} {
		j := jaccard(t, ref, Keyword{"network", 1})
		if got := j.page(&tt.page); !near(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		j.measure.Literal = true
		if got := j.page(&tt.page); !near(got, tt.printed) {
			t.Errorf("%s, as printed: %v, want %v", tt.name, got, tt.printed)
		}
	}
}

func TestJaccardSaturation(t *testing.T) {
	j := jaccard(t, Reference{Terms: []string{"network", "toad"}, Counts: 1000}, Keyword{"network", 1})
	page := Page{}
	for range 500 {
		page.Text += "network "
	}
	if got, want := j.page(&page), math.Sqrt(41./42)/2; !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	j.measure.Literal = true
	if got, want := j.page(&page), math.Sqrt(1501./2); !near(got, want) {
		t.Errorf("as printed: %v, want %v", got, want)
	}
}

func TestJaccardThreshold(t *testing.T) {
	// A = 1, UW = 3
	j := jaccard(t, Reference{Terms: []string{"frog", "toad"}}, Keyword{"zyzzyva", 1})
	page := Page{Text: "frogs, newts, lizards"}
	if got := j.page(&page); !near(got, j.measure.Threshold()) {
		t.Errorf("%v, the threshold is %v", got, j.measure.Threshold())
	}
	if j.measure.Literal = true; !near(j.measure.Threshold(), math.Sqrt(1./3)) {
		t.Errorf("as printed: %v", j.measure.Threshold())
	}
}

func TestJaccardLinks(t *testing.T) {
	j := jaccard(t, Reference{Terms: []string{"frog", "network"}, Counts: 3}, Keyword{"network", 1})
	got := j.promise(&Link{URL: "http://zoo.example/frogs", Anchor: "the network", Context: "frogs frogs and\ntoads"})
	want := Promise{Anchor: 1, Context: math.Sqrt(0.5), URL: math.Sqrt(1. / 3), Score: 1}
	if !nearPromise(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := j.promise(&Link{Anchor: "toads"}); got != (Promise{}) {
		t.Errorf("%+v of nothing in common", got)
	}
}
