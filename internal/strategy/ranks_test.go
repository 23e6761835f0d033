package strategy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// variants are the strategies of links alone, with what can be changed in them.
var variants = []string{
	"depthfirst", "random", "indegree",
	"pagerank", "pagerank damping=0.5 every=3 topic=true",
	"hits", "hits guard=false every=2 iterations=3",
}

func TestStrategiesOfLinksFetchWhatCanBeReached(t *testing.T) {
	for seed := range uint64(8) {
		w := random(150, seed)
		want := fetched(t, crawl(t, w, "breadthfirst", nil, 9, 40, "0"))
		for _, variant := range variants {
			words := strings.Fields(variant)
			got := fetched(t, crawl(t, w, words[0], words[1:], 9, 60, "0"))
			if diff := gocmp.Diff(ends(w, want), ends(w, got)); diff != "" {
				t.Fatalf("web %d: %s fetched other pages than breadthfirst (-breadthfirst +it):\n%s", seed, variant, diff)
			}
		}
	}
}

// What is not saved is worked out again as it was: a strategy that lives through ten
// generations and one that is read from its journal before each breed the same.
func TestStrategiesOfLinksForgetNothingBetweenGenerations(t *testing.T) {
	w := random(600, 3)
	for _, variant := range variants {
		words := strings.Fields(variant)
		create := func() Strategy {
			s, err := New(words[0], nil, words[1:])
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		live := create()
		var deltas [][]byte
		batch := seeds("0", "1", "7")
		for g := range uint64(20) {
			back := create()
			for _, delta := range deltas {
				if err := back.Replay(delta); err != nil {
					t.Fatalf("%s: %v", variant, err)
				}
			}
			for _, a := range batch {
				live.Visit(w.fetch(a, int(g)))
				back.Visit(w.fetch(a, int(g)))
			}
			next := live.Breed(11, rand.New(rand.NewPCG(g, 1)))
			again := back.Breed(11, rand.New(rand.NewPCG(g, 1)))
			if diff := gocmp.Diff(next, again); diff != "" {
				t.Fatalf("%s, generation %d (-live +replayed):\n%s", variant, g, diff)
			}
			delta := live.AppendDelta(nil)
			if string(delta) != string(back.AppendDelta(nil)) {
				t.Fatalf("%s, generation %d: the deltas differ", variant, g)
			}
			deltas = append(deltas, delta)
			batch = next[:min(len(next), 11)]
		}
	}
}

// The delta of a generation is as long as what it brought, however much is known and
// however many numbers were worked out from it.
func TestStrategiesOfLinksSaveWhatIsNew(t *testing.T) {
	for _, variant := range variants {
		words := strings.Fields(variant)
		s, err := New(words[0], nil, words[1:])
		if err != nil {
			t.Fatal(err)
		}
		var first, last int
		for g := range 40 {
			for i := range 30 {
				n := 30*g + i
				w := tiny{fmt.Sprint(n): fmt.Sprintf("0.5 %d %d %d", n+1, n+50, n+5000)}
				s.Visit(w.fetch(Address{URL: address(fmt.Sprint(n))}, g))
			}
			s.Breed(30, rand.New(rand.NewPCG(1, 1)))
			last = len(s.AppendDelta(nil))
			if g == 3 {
				first = last
			}
		}
		if last > first*3/2 {
			t.Errorf("%s: the delta of generation 40 has %d bytes, that of generation 4 %d", variant, last, first)
		}
	}
}
