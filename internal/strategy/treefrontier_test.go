package strategy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"spoor/internal/graph"
)

// Five links by promise (the last feature) and by whether the anchor had a keyword:
//
//	promise  keyword  relevant
//	20       no       no
//	20       yes      no
//	60       no       yes
//	60       yes      no
//	80       no       yes
//
// The variance of rewards is 2/5 · 3/5 = 0.24. By promise at 20, it is 0 on the left and 2/3 · 1/3
// = 0.2222 on the right: the reduction is 0.24 − 3/5 · 0.2222 = 0.1067. At 60, it is 1/4 · 3/4 =
// 0.1875 on the left and 0 on the right: 0.24 − 4/5 · 0.1875 = 0.09. By the keyword, it is 0.2222
// on the left and 0 on the right: 0.1067 again, but the keyword is the earlier feature. Without
// keywords, promise is.
func TestLeafIsSplitByHand(t *testing.T) {
	sample := func(promised, keyword uint8, relevant bool) experience {
		return experience{vector{keywordAnchor: keyword, promise: promised}, relevant}
	}
	five := []experience{sample(20, 0, false), sample(20, 100, false), sample(60, 0, true), sample(60, 100, false), sample(80, 0, true)}
	if f, v, ok := bestSplit(five); !ok || f != keywordAnchor || v != 0 {
		t.Errorf("split by feature %d at %d, %v; want the keyword at 0", f, v, ok)
	}
	for i := range five {
		five[i].x[keywordAnchor] = 0
	}
	if f, v, ok := bestSplit(five); !ok || f != promise || v != 20 {
		t.Errorf("split by feature %d at %d, %v; want promise at 20", f, v, ok)
	}

	var tree treeFrontier
	for i, e := range five {
		tree.add(e, 18, 5)
		if want := []int{1, 1, 1, 1, 3}[i]; len(tree.nodes) != want {
			t.Fatalf("%d nodes after %d links, want %d", len(tree.nodes), i+1, want)
		}
	}
	if l, r := len(tree.nodes[1].experiences), len(tree.nodes[2].experiences); l != 2 || r != 3 {
		t.Errorf("%d and %d links in the leaves, want 2 and 3", l, r)
	}
	for promised, want := range map[uint8]int{0: 1, 20: 1, 21: 2, 100: 2} {
		if got := tree.leaf(vector{promise: promised}); got != want {
			t.Errorf("a link of promise %d is in leaf %d, want %d", promised, got, want)
		}
	}
	// The fifth link of the right leaf splits it: 1 of 3 at 60, 2 of 2 above. Depth 1 forbids that.
	for depth, want := range map[int]int{18: 5, 1: 3} {
		var tree treeFrontier
		for _, e := range append(slices.Clone(five), sample(60, 0, false), sample(80, 0, true)) {
			tree.add(e, depth, 5)
		}
		if len(tree.nodes) != want {
			t.Errorf("depth %d: %d nodes, want %d", depth, len(tree.nodes), want)
		}
	}
}

// The reduction of variance by its definition, for all splits of random links.
func TestBestSplitReducesVarianceMost(t *testing.T) {
	variance := func(list []experience) float64 {
		k := 0.0
		for _, e := range list {
			if e.reward {
				k++
			}
		}
		p := k / float64(len(list))
		return p * (1 - p)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	splits := 0
	for range 300 {
		list := make([]experience, 2+rng.IntN(20))
		for i := range list {
			for f := range list[i].x {
				list[i].x[f] = uint8(10 * rng.IntN(4))
			}
			list[i].reward = rng.IntN(3) == 0
		}
		best := 0.0
		reduction := func(f int, v uint8) float64 {
			var sides [2][]experience
			for _, e := range list {
				side := 0
				if e.x[f] > v {
					side = 1
				}
				sides[side] = append(sides[side], e)
			}
			if len(sides[0]) == 0 || len(sides[1]) == 0 {
				return 0
			}
			n := float64(len(list))
			return variance(list) - float64(len(sides[0]))/n*variance(sides[0]) - float64(len(sides[1]))/n*variance(sides[1])
		}
		for f := range inputs {
			for _, v := range []uint8{0, 10, 20, 30} {
				best = max(best, reduction(f, v))
			}
		}
		f, v, found := bestSplit(list)
		if got := reduction(f, v); found != (best > 1e-12) || found && math.Abs(got-best) > 1e-12 {
			t.Fatalf("feature %d at %d, %v, reduces the variance by %v, the best split by %v", f, v, found, got, best)
		}
		if found {
			splits++
		}
	}
	if splits < 200 {
		t.Errorf("only %d of 300 have a split", splits)
	}
}

// Links that are all relevant, or alike, are not split.
func TestUselessSplitsAreNotMade(t *testing.T) {
	for name, list := range map[string][]experience{
		"all relevant": {{vector{1}, true}, {vector{2}, true}, {vector{3}, true}},
		"alike":        {{vector{1}, true}, {vector{1}, false}, {vector{1}, true}},
		"equal means":  {{vector{1}, true}, {vector{1}, false}, {vector{2}, true}, {vector{2}, false}},
	} {
		if f, v, found := bestSplit(list); found {
			t.Errorf("%s: split by feature %d at %d", name, f, v)
		}
	}
}

// Each link of a leaf is drawn as often, and none that is not allowed.
func TestLinksOfALeafAreDrawnAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	count := map[graph.ID]int{}
	for range 3000 {
		tree := treeFrontier{nodes: make([]treeNode, 1)}
		for id := range graph.ID(4) {
			tree.nodes[0].waiting = append(tree.nodes[0].waiting, candidate{id: id})
		}
		k, found := tree.draw(0, rng, func(id graph.ID) bool { return id != 2 })
		if !found {
			t.Fatal("nothing was drawn")
		}
		count[tree.nodes[0].waiting[k].id]++
	}
	if count[2] != 0 || count[0] < 900 || count[1] < 900 || count[3] < 900 {
		t.Errorf("drawn %v, want a thousand of 0, 1 and 3 each", count)
	}
	tree := treeFrontier{nodes: []treeNode{{waiting: []candidate{{id: 2}}}}}
	if _, found := tree.draw(0, rng, func(graph.ID) bool { return false }); found {
		t.Error("a link that is not allowed was drawn")
	}
}
