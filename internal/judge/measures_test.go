package judge

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// smallWeb is worked through by hand below. Relevant pages have a star:
//
//	0 -> 1 -> 3*
//	       -> 4
//	  -> 2 -> 5 -> 6*
//	            -> 7*
func smallWeb() *Web {
	w := webOf([][]int32{{1, 2}, {3, 4}, {5}, {}, {}, {6, 7}, {}, {}}, 3, 6, 7)
	w.Host = []int32{0, 0, 0, 0, 0, 1, 1, 1}
	return w
}

func TestClairvoyantAndBoundOfASmallWeb(t *testing.T) {
	j := judgeOf(t, smallWeb(), []int32{0}, 10)
	// Horn: 3 joins 1 (1 of 2); 6 and 7 join 5 (2 of 3), these join 2 (2 of 4); 1 and 3 join 0 (1
	// of 3), and then 2, 5, 6, 7: 0 1 3 2 5 6 7. The order of nearest is the same.
	if diff := cmp.Diff([]int{0, 0, 1, 1, 1, 2, 3, 3, 3, 3}, j.Clairvoyant()); diff != "" {
		t.Errorf("clairvoyant: %s", diff)
	}
	// No page has two parents, so the tree of dominators is the tree: one block, 3 of 7 pages.
	want := []float64{3. / 7, 6. / 7, 9. / 7, 12. / 7, 15. / 7, 18. / 7, 3, 3, 3, 3}
	if diff := cmp.Diff(want, j.Bound(), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("bound: %s", diff)
	}
}

func TestMeasuresOfACrawl(t *testing.T) {
	for _, test := range []struct {
		name  string
		order []int32
		want  Measures // without what does not depend on the crawl, and without nAUC
	}{
		{
			name: "nothing",
			want: Measures{Curve: []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		},
		{
			name:  "repetitions and failures cost and find nothing",
			order: []int32{0, None, 2, 5, 0, 7, 6, 6},
			want: Measures{
				Fetched: 8, Harvest: 2. / 8, Recall: 2. / 3,
				AUC: 9. / 30, AUCClairvoyant: 9. / 17, AUCBound: 9. / 21,
				Cost50: 7, RelevantHosts: 1,
				Curve: []int{0, 0, 0, 0, 0, 1, 2, 2, 2, 2},
			},
		},
		{
			name:  "all of it",
			order: []int32{0, 1, 3, 2, 5, 6, 7},
			want: Measures{
				Fetched: 7, Harvest: 3. / 7, Recall: 1,
				AUC: 17. / 30, AUCClairvoyant: 1, AUCBound: 17. / 21,
				Cost50: 6, Cost80: 7, Cost90: 7, RelevantHosts: 2,
				Curve: []int{0, 0, 1, 1, 1, 2, 3, 3, 3, 3},
			},
		},
		{
			name:  "what is found behind the budget comes too late",
			order: []int32{0, 1, 2, 4, 5, 0, 0, 0, 0, 3, 6, 7},
			want: Measures{
				Fetched: 12, Harvest: 1. / 10, Recall: 1. / 3,
				AUC: 1. / 30, AUCClairvoyant: 1. / 17, AUCBound: 1. / 21,
				RelevantHosts: 1,
				Curve:         []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
			},
		},
	} {
		j := judgeOf(t, smallWeb(), []int32{0}, 10)
		got := j.Measure(test.order)
		random := area(j.Random().Mean, 3)
		test.want.T, test.want.R, test.want.AUCRandom = 10, 3, random
		test.want.NAUC = (test.want.AUC - random) / (17./30 - random)
		if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestHarvestAndRecallAtACost(t *testing.T) {
	m := judgeOf(t, smallWeb(), []int32{0}, 10).Measure([]int32{0, 1, 3, 2, 5, 6, 7})
	for _, test := range []struct {
		cost            int
		harvest, recall float64
	}{
		{cost: 1}, {cost: 0}, {cost: -5},
		{cost: 3, harvest: 1. / 3, recall: 1. / 3},
		{cost: 5, harvest: 1. / 5, recall: 1. / 3},
		{cost: 7, harvest: 3. / 7, recall: 1},
		{cost: 9, harvest: 3. / 7, recall: 1},  // two were not paid
		{cost: 99, harvest: 3. / 7, recall: 1}, // as at T
	} {
		if h, r := m.HarvestAt(test.cost), m.RecallAt(test.cost); h != test.harvest || r != test.recall {
			t.Errorf("at %d: harvest %g and recall %g, want %g and %g", test.cost, h, r, test.harvest, test.recall)
		}
	}
}

func TestUnreachablePagesCountWhenFound(t *testing.T) {
	w := webOf([][]int32{{}, {}, {}}, 0, 1)
	m := judgeOf(t, w, []int32{0}, 3).Measure([]int32{0, 1})
	if m.R != 1 || m.Recall != 2 {
		t.Errorf("R %d and recall %g, want 1 and 2", m.R, m.Recall)
	}
	j := judgeOf(t, w, []int32{0}, 3)
	for _, c := range []struct {
		order []int32
		want  int
	}{
		{[]int32{0}, 0},
		{[]int32{0, 1, 1}, 1},
		{[]int32{2, None, 2, 1}, 0}, // 2 is not relevant, and 1 comes after T
	} {
		if got := j.Unreachable(c.order); got != c.want {
			t.Errorf("%d: %d pages cannot be reached, want %d", c.order, got, c.want)
		}
	}
}

func TestNoRelevantPages(t *testing.T) {
	w := webOf([][]int32{{1}, {}})
	j := judgeOf(t, w, []int32{0}, 2)
	want := Measures{T: 2, Fetched: 2, Curve: []int{0, 0}}
	if diff := cmp.Diff(want, j.Measure([]int32{0, 1})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{0, 0}, j.Bound()); diff != "" {
		t.Errorf("bound: %s", diff)
	}
}

func TestNAUCWhereRandomIsClairvoyant(t *testing.T) {
	w := webOf([][]int32{{1}, {}}, 1)
	m := judgeOf(t, w, []int32{0}, 2).Measure([]int32{0, 1})
	if spread := judgeOf(t, w, []int32{0}, 2).Spread(); spread != 0 {
		t.Errorf("the difference is %g", spread)
	}
	if m.NAUC != 0 || m.AUCClairvoyant != 1 {
		t.Errorf("nAUC %g and AUC/clairvoyant %g, want 0 and 1", m.NAUC, m.AUCClairvoyant)
	}
}

func TestConcurrentMeasure(t *testing.T) {
	w, seeds := randomWeb(rand.New(rand.NewPCG(7, 7)), 60)
	j := judgeOf(t, w, seeds, 0)
	order := j.Seeing()
	want := judgeOf(t, w, seeds, 0).Measure(order)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, curve := range [][]int{j.Clairvoyant(), j.Random().Low, j.Random().High} {
				clear(curve) // it is the caller's own
			}
			clear(j.Bound())
			clear(j.Random().Mean)
			if diff := cmp.Diff(want, j.Measure(order)); diff != "" {
				t.Error(diff)
			}
		})
	}
	wg.Wait()
}

func TestOrderOfPagesDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range 20 {
		w, seeds := randomWeb(rng, 60)
		name := rng.Perm(w.Len()) // by page: another number for it
		other := new(Web)
		for _, page := range inverse(name) {
			other.Add(renamed(w.Links(int32(page)), name))
			other.Relevant[other.Len()-1] = w.Relevant[page]
		}
		a := judgeOf(t, w, seeds, 0)
		b := judgeOf(t, other, renamed(seeds, name), 0)
		order := a.SeeingChildren()
		if got := b.SeeingChildren(); !slices.Equal(got, renamed(order, name)) {
			t.Fatalf("web %d: seeing children: %v, want %v", i, got, renamed(order, name))
		}
		if diff := cmp.Diff(a.Measure(order), b.Measure(renamed(order, name))); diff != "" {
			t.Fatalf("web %d: %s", i, diff)
		}
	}
}

func inverse(name []int) []int {
	back := make([]int, len(name))
	for page, n := range name {
		back[n] = page
	}
	return back
}

func renamed(pages []int32, name []int) []int32 {
	other := make([]int32, len(pages))
	for i, page := range pages {
		other[i] = int32(name[page])
	}
	return other
}
