package judge

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// optimal returns the maximal number of relevant pages that any crawl can have found at each
// cost, by trying all crawls: a crawl is a set of pages, each a seed or linked to from another.
func optimal(w *Web, seeds []int32, t int) []int {
	from := uint32(0)
	for _, s := range seeds {
		from |= 1 << s
	}
	best := make([]int, t+1)
	known := map[uint32]bool{0: true}
	sets := []uint32{0}
	for i := 0; i < len(sets); i++ {
		set := sets[i]
		value, next := 0, from
		for page := range int32(w.Len()) {
			if set>>page&1 == 0 {
				continue
			}
			if w.Relevant[page] {
				value++
			}
			for _, to := range w.Links(page) {
				next |= 1 << to
			}
		}
		if n := bits.OnesCount32(set); n <= t {
			best[n] = max(best[n], value)
		}
		for page := range w.Len() {
			if more := set | 1<<page; next>>page&1 == 1 && !known[more] {
				known[more] = true
				sets = append(sets, more)
			}
		}
	}
	for n := 1; n <= t; n++ {
		best[n] = max(best[n], best[n-1]) // a web may be fetched whole
	}
	return best[1:]
}

func TestBoundAndClairvoyantAgainstBruteForce(t *testing.T) {
	const webs, most = 300, 18
	rng := rand.New(rand.NewPCG(1, 1))
	costs, reached, bounded := 0, 0.0, 0.0
	compared := 0
	for i := range webs {
		w, seeds := randomWeb(rng, most)
		j := judgeOf(t, w, seeds, w.Len()+2)
		best := optimal(w, seeds, j.T)
		if checkBounds(t, j, best); t.Failed() {
			t.Fatalf("in web %d", i)
		}
		costs += j.T
		if j.R > 0 {
			reached += area(j.Clairvoyant(), j.R) / area(best, j.R)
			bounded += area(best, j.R) / area(j.Bound(), j.R)
			compared++
		}
	}
	t.Logf("%d webs, %d costs, no violation; clairvoyant/optimal %.3f, optimal/bound %.3f", webs, costs, reached/float64(compared), bounded/float64(compared))
}

// checkBounds compares the clairvoyant crawler and the bound with the best of all crawls.
func checkBounds(t *testing.T, j *Judge, best []int) {
	t.Helper()
	feasible, bound := j.Clairvoyant(), j.Bound()
	for c := range j.T {
		if feasible[c] > best[c] || float64(best[c]) > bound[c]+1e-9 || bound[c] > float64(j.R) {
			t.Errorf("cost %d: clairvoyant %d, optimal %d, bound %g, R %d", c+1, feasible[c], best[c], bound[c], j.R)
		}
	}
	if found := feasible[j.T-1]; j.T >= j.Reachable && found != j.R {
		t.Errorf("the clairvoyant crawler found %d of %d relevant pages", found, j.R)
	}
}

func TestHornAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range 300 {
		n := 1 + rng.IntN(11)
		parent, relevant := make([]int32, n), make([]bool, n)
		for page := range parent {
			parent[page] = int32(rng.IntN(page+1)) - 1
			relevant[page] = rng.IntN(3) == 0
		}
		w := webOf(make([][]int32, n))
		w.Relevant = relevant
		blocks, next := merge(parent, relevant)
		var order []int32
		for _, b := range blocks {
			size, found := int32(0), int32(0)
			for page := b.first; page != None; page = next[page] {
				if up := parent[page]; up != None && !slices.Contains(order, up) {
					t.Fatalf("forest %d, %v: %d comes before its parent", i, parent, page)
				}
				order = append(order, page)
				size++
				if relevant[page] {
					found++
				}
			}
			if size != b.pages || found != b.relevant {
				t.Fatalf("forest %d: a block of %d pages, %d relevant, says %d and %d", i, size, found, b.pages, b.relevant)
			}
		}
		got := 0
		for _, found := range w.curve(order, n) {
			got += found
		}
		if want := bestArea(parent, relevant); got != want {
			t.Fatalf("forest %d, %v, relevant %v: order %v has an area of %d, the best has %d", i, parent, relevant, order, got, want)
		}
	}
}

// bestArea returns the largest sum of the relevant pages found at each cost, over all orders
// in which parents come first.
func bestArea(parent []int32, relevant []bool) int {
	all := 1<<len(parent) - 1
	best := make([]int, all+1) // by set of pages fetched; -1: no order fetches these first
	for set := 1; set <= all; set++ {
		best[set] = -1
		value := 0
		for page := range parent {
			if set>>page&1 == 1 && relevant[page] {
				value++
			}
		}
		for page, up := range parent {
			before := set &^ (1 << page)
			if before != set && best[before] >= 0 && (up == None || before>>up&1 == 1) {
				best[set] = max(best[set], best[before]+value)
			}
		}
	}
	return best[all]
}

func TestDominatorsAreOnEveryPath(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range 500 {
		w, seeds := randomWeb(rng, 30)
		j := judgeOf(t, w, seeds, 0)
		if checkDominators(t, j); t.Failed() {
			t.Fatalf("in web %d", i)
		}
	}
}

// checkDominators compares dominators with the pages that are unreachable without each page.
func checkDominators(t *testing.T, j *Judge) {
	t.Helper()
	idom := dominators(j.near, j.seeds)
	for page := range int32(j.Reachable) {
		var got, want []int32
		for d := idom[page]; d != None; d = idom[d] {
			got = append(got, d)
		}
		slices.Sort(got)
		for without := range int32(j.Reachable) {
			if without != page && !reaches(j.near, j.seeds, page, without) {
				want = append(want, without)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("page %d is dominated by %v, want %v", page, got, want)
		}
	}
}

// reaches reports whether a page can be reached from the first pages without passing another.
func reaches(w *Web, seeds int, page, without int32) bool {
	seen := make([]bool, w.Len())
	seen[without] = true
	var queue []int32
	see := func(p int32) {
		if !seen[p] {
			seen[p] = true
			queue = append(queue, p)
		}
	}
	for s := range seeds {
		see(int32(s))
	}
	for i := 0; i < len(queue); i++ {
		for _, to := range w.Links(queue[i]) {
			see(to)
		}
	}
	return slices.Contains(queue, page)
}

func TestNearestRelevantPageComesNext(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range 2000 {
		w, seeds := randomWeb(rng, 60)
		j := judgeOf(t, w, seeds, 1+rng.IntN(70))
		if checkNearest(t, j); t.Failed() {
			t.Fatalf("in web %d", i)
		}
	}
}

// checkNearest compares the order of nearest with its definition.
func checkNearest(t *testing.T, j *Judge) {
	t.Helper()
	want := slowlyNearest(j.near, j.seeds, j.T)
	for _, ahead := range []int{0, 1, 2, maxDistance} {
		n := newNearest(j)
		n.crawl(j.seeds, ahead)
		if !slices.Equal(n.order[:min(j.T, len(n.order))], want[:min(j.T, len(want))]) {
			t.Errorf("looking %d ahead: order %v, want %v", ahead, n.order, want)
		}
	}
}

// slowlyNearest returns the order of nearest by its definition: a new search for every page.
func slowlyNearest(w *Web, seeds, budget int) (order []int32) {
	fetched := func(page int32) bool { return slices.Contains(order, page) }
	for s := range seeds {
		order = append(order, int32(s))
	}
	for len(order) < budget {
		from := map[int32]int32{}
		var queue, hits []int32
		see := func(page, parent int32) {
			if _, seen := from[page]; seen || fetched(page) {
				return
			}
			from[page] = parent
			queue = append(queue, page)
			if w.Relevant[page] {
				hits = append(hits, page)
			}
		}
		for _, page := range order {
			for _, to := range w.Links(page) {
				see(to, None)
			}
		}
		if len(hits) > 0 {
			order = append(order, hits...)
			continue
		}
		for i := 0; i < len(queue) && len(hits) == 0; i++ {
			for _, to := range w.Links(queue[i]) {
				see(to, queue[i])
			}
		}
		if len(hits) == 0 {
			return order
		}
		var way []int32
		for page := hits[0]; page != None; page = from[page] {
			way = append(way, page)
		}
		slices.Reverse(way)
		order = append(order, way...)
	}
	return order
}
