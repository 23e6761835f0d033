package judge

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSeeing(t *testing.T) {
	for _, test := range []struct {
		name              string
		links             [][]int32
		relevant, seeds   []int32
		budget            int
		seeing, seeingOne []int32
	}{
		{
			name:      "equals go in the order of their links",
			links:     [][]int32{{3, 1, 2}, {}, {}, {}},
			seeds:     []int32{0},
			seeing:    []int32{0, 3, 1, 2},
			seeingOne: []int32{0, 3, 1, 2},
		},
		{
			name:      "seeds go in their order, relevant ones first",
			links:     [][]int32{{}, {}, {}},
			relevant:  []int32{0},
			seeds:     []int32{2, 1, 0, 2},
			seeing:    []int32{0, 2, 1},
			seeingOne: []int32{0, 2, 1},
		},
		{
			name:      "who sees one link further goes where the relevant pages are",
			links:     [][]int32{{1, 2}, {3}, {4, 4}, {}, {}},
			relevant:  []int32{4},
			seeds:     []int32{0},
			seeing:    []int32{0, 1, 2, 4, 3},
			seeingOne: []int32{0, 2, 4, 1, 3},
		},
		{
			name: "five children are worth 0.6, a sixth nothing, and less than the page itself",
			links: [][]int32{{1, 2, 3},
				{4, 5, 6, 7, 8}, {9, 10, 11, 12, 13, 14}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}},
			relevant:  []int32{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
			seeds:     []int32{0},
			budget:    9,
			seeing:    []int32{0, 3, 1, 4, 5, 6, 7, 8, 2},
			seeingOne: []int32{0, 3, 1, 4, 5, 6, 7, 8, 2},
		},
		{
			name: "a page that waits already is no reason to fetch what links to it",
			// 1 and 2 link to the relevant pages 4 and 5; only 3 links to 6.
			links:     [][]int32{{1, 2, 3}, {4, 5}, {4, 5}, {6}, {}, {}, {}},
			relevant:  []int32{4, 5, 6},
			seeds:     []int32{0},
			seeing:    []int32{0, 1, 4, 5, 2, 3, 6},
			seeingOne: []int32{0, 1, 4, 5, 3, 6, 2},
		},
	} {
		j := judgeOf(t, webOf(test.links, test.relevant...), test.seeds, test.budget)
		if diff := cmp.Diff(test.seeing, j.Seeing()); diff != "" {
			t.Errorf("%s: seeing: %s", test.name, diff)
		}
		if diff := cmp.Diff(test.seeingOne, j.SeeingChildren()); diff != "" {
			t.Errorf("%s: seeing children: %s", test.name, diff)
		}
	}
}

func TestGreedyFetchesTheBestWaitingPage(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for i := range 500 {
		w, seeds := randomWeb(rng, 40)
		for _, c := range []struct {
			name  string
			child int
		}{{"seeing", 0}, {"seeing children", 3}} {
			j := judgeOf(t, w, seeds, 0)
			got := j.Seeing()
			if c.child > 0 {
				got = j.SeeingChildren()
			}
			if want := slowGreedy(w, seeds, c.child); !slices.Equal(got, want) {
				t.Fatalf("web %d: %s: %v, want %v", i, c.name, got, want)
			}
		}
	}
}

// slowGreedy returns the order of a seeing crawler by its definition: it computes the worth
// of all waiting pages again before each page.
func slowGreedy(w *Web, seeds []int32, child int) (order []int32) {
	var seen []int32
	see := func(pages []int32) {
		for _, page := range pages {
			if !slices.Contains(seen, page) {
				seen = append(seen, page)
			}
		}
	}
	see(seeds)
	for {
		best, worth := None, -1
		for _, page := range seen {
			if slices.Contains(order, page) {
				continue
			}
			var children []int32
			for _, to := range w.Links(page) {
				if w.Relevant[to] && !slices.Contains(seen, to) && !slices.Contains(children, to) {
					children = append(children, to)
				}
			}
			now := child * min(5, len(children))
			if w.Relevant[page] {
				now += 25
			}
			if now > worth {
				best, worth = page, now
			}
		}
		if best == None {
			return order
		}
		order = append(order, best)
		see(w.Links(best))
	}
}
