package judge

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// webOf returns a web of pages with these links and relevant pages.
func webOf(links [][]int32, relevant ...int32) *Web {
	w := new(Web)
	for _, l := range links {
		w.Add(l)
	}
	for _, page := range relevant {
		w.Relevant[page] = true
	}
	return w
}

// judgeOf returns a judge of crawls of w.
func judgeOf(t testing.TB, w *Web, seeds []int32, budget int) *Judge {
	t.Helper()
	j, err := New(w, seeds, Options{T: budget})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// randomWeb returns a web of 1 to most pages, sparse or dense, with some relevant pages, and
// seeds. In every second web all pages can be reached.
func randomWeb(rng *rand.Rand, most int) (w *Web, seeds []int32) {
	pages := 1 + rng.IntN(most)
	links := make([][]int32, pages)
	for page := range links {
		for range rng.IntN(3) {
			links[page] = append(links[page], int32(rng.IntN(pages)))
		}
	}
	if seeds = []int32{0}; rng.IntN(2) == 0 {
		for page := 1; page < pages; page++ {
			from := rng.IntN(page)
			links[from] = append(links[from], int32(page))
		}
	}
	for range rng.IntN(3) {
		seeds = append(seeds, int32(rng.IntN(pages)))
	}
	w = webOf(links)
	one := 2 + rng.IntN(6) // in so many pages is relevant
	for page := range pages {
		w.Relevant[page] = rng.IntN(one) == 0
	}
	return w, seeds
}

func TestLinksKeepTheirOrder(t *testing.T) {
	links := [][]int32{{2, 1}, {}, {0, 2, 1}}
	w := webOf(links)
	for page, want := range links {
		if got := w.Links(int32(page)); !slices.Equal(got, want) {
			t.Errorf("page %d links to %v, want %v", page, got, want)
		}
	}
	if w.Len() != 3 {
		t.Errorf("%d pages, want 3", w.Len())
	}
}

func TestOnlyReachablePagesCount(t *testing.T) {
	// 0 -> 1 -> 2 -> 0, and 3 -> 0; nothing links to 3.
	w := webOf([][]int32{{1}, {2, 2, 2}, {0}, {0}}, 2, 3)
	j := judgeOf(t, w, []int32{0, 0}, 0)
	if j.R != 1 || j.Reachable != 3 || j.T != 200 {
		t.Errorf("R %d, reachable %d, T %d, want 1, 3 and 200", j.R, j.Reachable, j.T)
	}
}

func TestDefaultBudget(t *testing.T) {
	chain := func(pages, relevant int) *Web {
		w := new(Web)
		for page := range pages {
			w.Add([]int32{int32((page + 1) % pages)})
			w.Relevant[page] = page < relevant
		}
		return w
	}
	for _, test := range []struct{ pages, relevant, given, want int }{
		{pages: 10, relevant: 2, want: 200},
		{pages: 4000, relevant: 100, want: 500},
		{pages: 4000, relevant: 300, want: 1000},
		{pages: 4003, relevant: 300, want: 1000},
		{pages: 4000, relevant: 0, want: 200},
		{pages: 4000, relevant: 300, given: 7, want: 7},
	} {
		if j := judgeOf(t, chain(test.pages, test.relevant), []int32{0}, test.given); j.T != test.want {
			t.Errorf("%d pages, %d relevant, T %d given: T is %d, want %d", test.pages, test.relevant, test.given, j.T, test.want)
		}
	}
}

func TestInvalidWebs(t *testing.T) {
	for _, test := range []struct {
		name  string
		links [][]int32
		seeds []int32
		t     int
		want  string
	}{
		{"no seeds", [][]int32{{}}, nil, 0, "no seed is a page of the web"},
		{"a seed behind the web", [][]int32{{}}, []int32{1}, 0, "seed: page 1 is not in a web of 1 pages"},
		{"a seed that is none", [][]int32{{}}, []int32{None}, 0, "seed: page -1 is not in a web of 1 pages"},
		{"a link behind the web", [][]int32{{1}, {2}}, []int32{0}, 0, "link of page 1: page 2 is not in a web of 2 pages"},
		{"a link to none", [][]int32{{None}}, []int32{0}, 0, "link of page 0: page -1 is not in a web of 1 pages"},
		{"a negative budget", [][]int32{{}}, []int32{0}, -1, "a budget of -1 is not between 1 and 10000000"},
		{"too large a budget", [][]int32{{}}, []int32{0}, MaxBudget + 1, "a budget of 10000001 is not between 1 and 10000000"},
	} {
		_, err := New(webOf(test.links), test.seeds, Options{T: test.t})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
	}
}
