package strategy

import (
	"testing"

	"spoor/internal/graph"
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
