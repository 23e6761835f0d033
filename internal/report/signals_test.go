package report

import (
	"fmt"
	"math"
	"testing"

	"spoor/internal/wire"
)

func TestPartsOfACrawl(t *testing.T) {
	for _, test := range []struct{ n, part int }{{0, 0}, {99, 0}, {100, 1}, {299, 1}, {300, 2}, {699, 2}, {700, 3}, {1 << 40, maxParts - 1}} {
		if got := partOf(test.n); got != test.part {
			t.Errorf("page %d is in part %d, want %d", test.n, got, test.part)
		}
	}
	if partEnd(0) != 100 || partEnd(1) != 300 || partEnd(2) != 700 {
		t.Errorf("parts end at %d, %d, %d", partEnd(0), partEnd(1), partEnd(2))
	}
}

// A signal that is high for relevant pages correlates with them; one that a page lacks is 0 there.
func TestSignalsByHand(t *testing.T) {
	var s signals
	page := func(n, relevant int, reasons ...wire.Scored) {
		s.add(&wire.Record{Reasons: reasons}, n, relevant)
	}
	page(0, 1) // a seed has no reasons
	for n := 1; n < 5; n++ {
		page(n, n%2, wire.Scored{Name: "words", Value: float64(n % 2)}, wire.Scored{Name: "always", Value: 0.5})
	}
	page(150, 1, wire.Scored{Name: "rare", Value: 3})
	page(151, 0, wire.Scored{Name: "always", Value: 0.5})
	got := map[string]Signal{}
	for _, g := range s.list() {
		got[g.Name] = g
	}
	// Of six pages, three are relevant: words is 1, 1, 0 for those and 0, 0, 0 for the others.
	words := got["words"]
	if words.Fetched != 4 || words.Relevant != 2.0/3 || words.Other != 0 || math.Abs(words.Correlation-math.Sqrt(0.5)) > 1e-12 {
		t.Errorf("words: %+v", words)
	}
	if c := words.Correlations; len(c) != 2 || c[0] != 1 || !math.IsNaN(c[1]) {
		t.Errorf("words by part: %v, want 1 and none", c)
	}
	if c := got["always"].Correlations; !math.IsNaN(c[0]) || c[1] != -1 {
		t.Errorf("always by part: %v, want none and −1", c)
	}
	if g := got["rare"]; g.Fetched != 1 || g.Relevant != 1 || g.Other != 0 {
		t.Errorf("rare: %+v", g)
	}
}

// Names that a stranger makes up cost no memory without bound.
func TestSignalsAreBounded(t *testing.T) {
	var s signals
	for n := range 10 * maxKinds {
		s.add(&wire.Record{Reasons: []wire.Scored{{Name: fmt.Sprint("r", n), Value: math.MaxFloat64}}}, n, n%2)
	}
	if len(s.byName) > maxKinds {
		t.Errorf("%d names are kept", len(s.byName))
	}
	list := s.list()
	if len(list) != MaxSignals {
		t.Errorf("%d signals are listed", len(list))
	}
	for _, g := range list {
		if math.IsInf(g.Relevant, 0) || math.IsInf(g.Other, 0) || math.IsInf(g.Correlation, 0) {
			t.Errorf("%+v is not finite", g)
		}
	}
}
