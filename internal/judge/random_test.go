package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitMix64(t *testing.T) {
	// The values that the authors' C code gives for this seed.
	want := []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821}
	rng := splitMix64(1234567)
	for i, w := range want {
		if got := rng.next(); got != w {
			t.Errorf("number %d is %d, want %d", i+1, got, w)
		}
	}
}

func TestRandomCrawlIsUniform(t *testing.T) {
	// A seed with links to five pages, one of them relevant: after n of the five it is found with n/5.
	w := webOf([][]int32{{1, 2, 3, 4, 5}, {}, {}, {}, {}, {}}, 4)
	b := judgeOf(t, w, []int32{0}, 8).Random()
	for i, want := range []float64{0, .2, .4, .6, .8, 1, 1, 1} {
		if off := math.Abs(b.Mean[i] - want); off > .07 { // three standard deviations of 400 draws
			t.Errorf("cost %d: mean %g, want about %g", i+1, b.Mean[i], want)
		}
	}
	if diff := cmp.Diff([]int{0, 0, 0, 0, 0, 1, 1, 1}, b.Low); diff != "" {
		t.Errorf("5 %% quantile: %s", diff)
	}
	if diff := cmp.Diff([]int{0, 1, 1, 1, 1, 1, 1, 1}, b.High); diff != "" {
		t.Errorf("95 %% quantile: %s", diff)
	}
}

func TestQuantiles(t *testing.T) {
	for _, test := range []struct{ n, percent, want int }{
		{400, 5, 19}, {400, 95, 379}, {20, 5, 0}, {20, 95, 18}, {1, 5, 0}, {1, 95, 0},
	} {
		if got := rank(test.n, test.percent); got != test.want {
			t.Errorf("%d %% of %d numbers: place %d, want %d", test.percent, test.n, got, test.want)
		}
	}
}

// slowDraw returns the curve of a random crawl by its definition.
func slowDraw(w *Web, seeds []int32, budget int, seed uint64) (order []int32) {
	rng := splitMix64(seed)
	var waiting, seen []int32
	see := func(pages []int32) {
		for _, page := range pages {
			if !slices.Contains(seen, page) {
				seen = append(seen, page)
				waiting = append(waiting, page)
			}
		}
	}
	see(seeds)
	for len(order) < budget && len(waiting) > 0 {
		i, last := rng.next()%uint64(len(waiting)), len(waiting)-1
		page := waiting[i]
		waiting[i] = waiting[last]
		waiting = waiting[:last]
		order = append(order, page)
		see(w.Links(page))
	}
	return order
}

func TestMeanOfRandomCrawls(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, budget := range []int{50, largeAbove, largeAbove + 1} {
		w, seeds := randomWeb(rng, 40)
		j := judgeOf(t, w, seeds, budget)
		crawls := 400
		if budget > 5000 {
			crawls = 20
		}
		want := make([]float64, budget)
		for i := range crawls {
			for c, found := range j.Curve(slowDraw(w, seeds, budget, uint64(i))) {
				want[c] += float64(found)
			}
		}
		for c := range want {
			want[c] /= float64(crawls)
		}
		if diff := cmp.Diff(want, j.Random().Mean); diff != "" {
			t.Errorf("T %d: %s", budget, diff)
		}
	}
}
