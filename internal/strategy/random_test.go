package strategy

import (
	"math/rand/v2"
	"testing"
)

// Of ten links, three are drawn, a thousand times: each should come 300 times, and 100
// times first. χ² with 9 degrees of freedom is above 27.9 one time in a thousand.
func TestRandomIsUniform(t *testing.T) {
	w := tiny{"a": "1 b c d e f g h i j k"}
	const draws = 1000
	first, any := map[string]float64{}, map[string]float64{}
	for seed := range uint64(draws) {
		s := newRandomOrder()
		s.Visit(w.fetch(Address{URL: address("a")}, 1))
		for i, a := range s.Breed(3, rand.New(rand.NewPCG(seed, 0))) {
			if any[a.URL]++; i == 0 {
				first[a.URL]++
			}
			if want := -float64(2 + i); a.Priority != want {
				t.Fatalf("draw %d has the priority %g, want %g: it is to be fetched in the order of the draws", i, a.Priority, want)
			}
			if len(a.Reasons) != 1 || a.Reasons[0].Value != 10 {
				t.Fatalf("drawn because of %v, want one of 10 waiting", a.Reasons)
			}
		}
	}
	for _, test := range []struct {
		name     string
		count    map[string]float64
		expected float64
	}{{"drawn first", first, draws / 10}, {"drawn", any, 3 * draws / 10}} {
		chi := 0.0
		for link := range w.fetch(Address{URL: address("a")}, 1).Links {
			name := address(string(rune('b' + link)))
			d := test.count[name] - test.expected
			chi += d * d / test.expected
		}
		if chi > 27.9 {
			t.Errorf("χ² of the times %s is %.1f: %v", test.name, chi, test.count)
		}
	}
}

func TestRandomProposesPendingAddressOnce(t *testing.T) {
	w := tiny{"a": "1 b c d e"}
	s := newRandomOrder()
	s.Visit(w.fetch(Address{URL: address("a")}, 1))
	asked := map[string]bool{}
	for g := range 3 {
		for _, a := range s.Breed(2, rand.New(rand.NewPCG(1, uint64(g)))) {
			if asked[a.URL] {
				t.Errorf("generation %d asks for %s again", g, a.URL)
			}
			asked[a.URL] = true
		}
		// One of two comes, from wherever: the other keeps its place.
		s.Visit(w.fetch(Address{URL: address(string(rune('v' + g)))}, 1))
	}
	if len(asked) != 2+0+2 {
		t.Errorf("asked for %d addresses, want 2, then none as 2 wait, then 2 as these had their turn: %v", len(asked), asked)
	}
}
