package judge

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

// manyPages is the number of pages in the web of the benchmark. It has ten times as many
// links. Numbers of links on a page and to a page follow power laws, as on the web; half of
// the links are to near pages, as on a site, and relevant pages are clustered.
const manyPages = 1_000_000

var millionPages = sync.OnceValue(func() *Web {
	rng := rand.New(rand.NewPCG(1, 1))
	w := new(Web)
	name := rng.Perm(manyPages) // so that number and popularity have nothing in common
	var links []int32
	for page := range manyPages {
		links = links[:0]
		for range int(min(200, 5.7/math.Sqrt(1-rng.Float64()))) { // Pareto
			if rng.IntN(2) == 0 {
				links = append(links, int32((page+1+rng.IntN(100))%manyPages))
			} else {
				links = append(links, int32(name[int(manyPages*math.Pow(rng.Float64(), 4))]))
			}
		}
		w.Add(links)
		w.Relevant[page] = page/100%50 == 0 && rng.IntN(2) == 0 // one in a hundred
		w.Host[page] = int32(page / 100)
	}
	return w
})

func BenchmarkMillionPages(b *testing.B) {
	w := millionPages()
	seeds := []int32{1, 1000, 50_000, 300_000, 900_000}
	for _, c := range []struct {
		name   string
		budget int
		work   func(j *Judge)
	}{
		{"everything", 0, func(j *Judge) {
			j.Measure(j.Seeing())
			j.Measure(j.SeeingChildren())
		}},
		{"new", 0, func(*Judge) {}},
		{"clairvoyant", 0, func(j *Judge) { j.Clairvoyant() }},
		{"clairvoyant with the nearest first", maxNearestBudget, func(j *Judge) { j.Clairvoyant() }},
		{"bound", 0, func(j *Judge) { j.Bound() }},
		{"random", 0, func(j *Judge) { j.Random() }},
		{"seeing", 0, func(j *Judge) { j.Seeing() }},
		{"seeing children", 0, func(j *Judge) { j.SeeingChildren() }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(4 * w.graph.NumLinks()))
			var j *Judge
			for b.Loop() {
				j = judgeOf(b, w, seeds, c.budget)
				c.work(j)
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-from-system")
			b.ReportMetric(float64(j.near.graph.NumLinks()), "links")
			b.ReportMetric(float64(j.Reachable), "pages")
			b.ReportMetric(float64(j.T), "T")
			b.ReportMetric(float64(j.R), "R")
		})
	}
}
