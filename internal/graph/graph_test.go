package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestParentsAreInverseOfChildren(t *testing.T) {
	var g Graph
	a, b, c := g.Intern("http://a/"), g.Intern("http://b/"), g.Intern("http://c/")
	g.Expand(b, []ID{c, a})
	g.Expand(a, []ID{b, c})
	g.Expand(a, []ID{a}) // a page's links are recorded once
	for _, test := range []struct {
		name string
		got  []ID
		want []ID
	}{
		{"children of a", slices.Collect(g.Children(a)), []ID{b, c}},
		{"children of b", slices.Collect(g.Children(b)), []ID{c, a}},
		{"children of c", slices.Collect(g.Children(c)), nil},
		{"parents of a", slices.Collect(g.Parents(a)), []ID{b}},
		{"parents of c, oldest first", slices.Collect(g.Parents(c)), []ID{b, a}},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
		}
	}
	if id, ok := g.Find("http://b/"); id != b || !ok {
		t.Errorf("Find(b) = %v, %v", id, ok)
	}
	if _, ok := g.Find("http://nowhere/"); ok {
		t.Error("an address that was never seen was found")
	}
	if g.URL(c) != "http://c/" || g.Len() != 3 || g.Links() != 4 {
		t.Errorf("URL(c) %q, %d addresses, %d links", g.URL(c), g.Len(), g.Links())
	}
}

// random grows a graph by n pages, and calls step after each.
func random(n int, step func(*Graph)) *Graph {
	rng := rand.New(rand.NewPCG(1, 1))
	g := new(Graph)
	for range n {
		page := g.Intern(fmt.Sprintf("http://h/%d", rng.IntN(3*n)))
		var links []ID
		for range rng.IntN(30) {
			links = append(links, g.Intern(fmt.Sprintf("http://h/%d", rng.IntN(3*n))))
		}
		g.Expand(page, links)
		step(g)
	}
	return g
}

func TestReplayRestoresTheGraph(t *testing.T) {
	var log []byte
	var mark Mark
	g := random(500, func(g *Graph) {
		log = g.AppendSince(log, mark)
		mark = g.Mark()
	})
	var back Graph
	for rest := log; len(rest) > 0; {
		var err error
		if rest, err = back.Replay(rest); err != nil {
			t.Fatal(err)
		}
	}
	if back.Len() != g.Len() || back.Links() != g.Links() {
		t.Fatalf("%d addresses and %d links, want %d and %d", back.Len(), back.Links(), g.Len(), g.Links())
	}
	for id := range ID(g.Len()) {
		if back.URL(id) != g.URL(id) ||
			!slices.Equal(slices.Collect(back.Children(id)), slices.Collect(g.Children(id))) ||
			!slices.Equal(slices.Collect(back.Parents(id)), slices.Collect(g.Parents(id))) {
			t.Fatalf("address %d differs", id)
		}
	}
}

func FuzzReplay(f *testing.F) {
	f.Add(random(5, func(*Graph) {}).AppendSince(nil, Mark{}))
	f.Add([]byte{0, 0})
	f.Add([]byte{1, 255, 255, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		var g Graph
		rest, err := g.Replay(b)
		if err != nil {
			return
		}
		if len(rest) > len(b) {
			t.Error("more is left than there was")
		}
		if ranks, _ := standard.Ranks(&g, g.Mark()); g.Len() > 0 {
			if sum, least := total(ranks); math.Abs(sum-1) > 1e-9 || least < 0 {
				t.Errorf("ranks sum to %g, the least is %g", sum, least)
			}
		}
		HITS{Iterations: 3}.Scores(&g, g.Mark())
	})
}
