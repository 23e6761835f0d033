package strategy

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

// The best parent of an address is the first page with the highest score, of all pages that were
// visited or restored.
func TestBestParentIsFirstOfEquals(t *testing.T) {
	for seed := range uint64(4) {
		w, live, back := random(80, seed), newBreadthFirst().(*breadthFirst), newBreadthFirst().(*breadthFirst)
		batch := seeds("0", "1", "2")
		for g := 1; g <= 30; g++ {
			for _, a := range batch {
				live.Visit(w.fetch(a, g))
			}
			batch = live.Breed(3, nil)
			batch = batch[:min(3, len(batch))]
			if err := back.Replay(live.AppendDelta(nil)); err != nil {
				t.Fatal(err)
			}
			for id := range graph.ID(live.web.Len()) {
				want, known := 0, false
				for parent := range live.web.Parents(id) {
					if at, _ := live.page(parent); !known || live.pages[at].score > live.pages[want].score {
						want, known = at, true
					}
				}
				for _, s := range []*breadthFirst{live, back} {
					if got, ok := s.bestParent(id); got != want || ok != known {
						t.Fatalf("web %d, generation %d: the best parent of %s is %d (%v), want %d (%v)", seed, g, live.web.URL(id), got, ok, want, known)
					}
				}
			}
		}
	}
}

// BenchmarkMenu measures a crawl of 10,000 pages, one per generation, all of which have the same
// menu of 50 links to a host that never responds: the time of a page among the first thousand,
// and among the last.
func BenchmarkMenu(b *testing.B) {
	const pages, mean = 10_000, 1000
	topic := target(b)
	for _, kind := range Kinds() {
		b.Run(kind.Name, func(b *testing.B) {
			for b.Loop() {
				s, err := New(kind.Name, topic, nil)
				if err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				for i := range pages {
					if i == pages-mean {
						began = time.Now()
					}
					rec := &wire.Record{URL: address(fmt.Sprint(i)), StatusCode: 200, Score: wire.Num(float64(i%97) / 97), OutDegree: 51}
					for m := range 50 {
						rec.Links = append(rec.Links, wire.Link{URL: address(fmt.Sprint("slow/", m)), Path: "html/body/ul/li/a"})
					}
					rec.Links = append(rec.Links, wire.Link{URL: address(fmt.Sprint(i + 1)), Path: "html/body/p/a"})
					s.Visit(rec)
					s.Breed(1, rand.New(rand.NewPCG(1, uint64(i))))
					s.AppendDelta(nil)
					if i == mean-1 {
						b.ReportMetric(time.Since(began).Seconds()*1e3/mean, "ms/page-first")
					}
				}
				b.ReportMetric(time.Since(began).Seconds()*1e3/mean, "ms/page-last")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}
