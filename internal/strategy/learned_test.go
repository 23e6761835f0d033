package strategy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"spoor/internal/wire"
)

// A taught web maps addresses to pages, with the fields of links that parse and score set.
type taught map[string]taughtPage

type taughtPage struct {
	score    float64
	relevant bool
	links    []wire.Link
	text     string
}

func (w taught) fetch(a Address, generation int) *wire.Record {
	rec := new(wire.Record)
	a.Fill(rec, generation)
	p, ok := w[a.URL]
	if !ok {
		rec.Error = wire.ErrorNotArchived
		return rec
	}
	rec.StatusCode, rec.Score, rec.Relevant = 200, wire.Num(p.score), wire.False
	if p.relevant {
		rec.Relevant = wire.True
	}
	rec.OutDegree, rec.Links, rec.Text = len(p.links), slices.Clone(p.links), p.text
	return rec
}

// signposts returns a web in which the anchor, context and tag path of a link show whether its
// page is relevant: 60 lists of 20 pages each, of which 4 are about crawlers and link to other
// lists. The addresses show nothing.
func signposts() taught {
	rng := rand.New(rand.NewPCG(7, 7))
	w := taught{}
	const lists, each, good = 60, 20, 4
	list := func(i int) string { return fmt.Sprintf("http://h%d.test/l%d", i%6, i) }
	for i := range lists {
		p := taughtPage{score: 0.2}
		for k := range each {
			l := wire.Link{URL: fmt.Sprintf("http://h%d.test/p%d", i%6, i*each+k),
				Anchor: "football match", Context: "results of the season", Path: "html/body/div.news/p/a", Score: wire.Num(0.1)}
			target := taughtPage{score: 0.1}
			if k%(each/good) == 2 {
				l.Anchor, l.Context, l.Path, l.Score = "crawlers compared", "papers on search", "html/body/ul.papers/li/a", wire.Num(0.7)
				target = taughtPage{score: 0.8, relevant: true}
				for range 3 {
					target.links = append(target.links, wire.Link{URL: list(rng.IntN(lists)), Anchor: "list", Path: "html/body/a", Score: wire.Num(0.3)})
				}
			} else {
				target.links = []wire.Link{{URL: list(rng.IntN(lists)), Anchor: "home", Path: "html/body/div.news/a", Score: wire.Num(0.1)}}
			}
			p.links = append(p.links, l)
			w[l.URL] = target
		}
		w[list(i)] = p
	}
	return w
}

// relevantOf is how many relevant pages a crawl fetched.
func relevantOf(w taught, lines []string) (n int) {
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ", ") {
			if at, _, ok := strings.Cut(item, " "); ok && w[address(at)].relevant {
				n++
			}
		}
	}
	return n
}

// After 300 fetches, ten per generation, breadth-first search has found an average share of
// relevant pages. Strategies that learn find more, by a factor.
func TestLearnersFindMoreRelevantPages(t *testing.T) {
	w := signposts()
	plain := relevantOf(w, crawl(t, w, "breadthfirst", nil, 10, 30, "h0.test/l0"))
	for _, test := range []struct {
		kind   string
		params []string
		times  float64
	}{
		{"apprentice", nil, 3},
		{"anthelion", nil, 2.5},
		{"anthelion", []string{"value=best"}, 2},
		{"anthelion", []string{"value=rate-best", "lambda-decay=50"}, 2},
		{"anthelion", []string{"value=good-best"}, 2},
		{"anthelion", []string{"value=holistic"}, 2},
		{"reinforce", nil, 3},
		{"tagpath", nil, 3},
		{"tres", nil, 2},
		{"linearq", nil, 1.5},
		{"linearq", []string{"update=synchronous"}, 2},
		{"linearq", []string{"update=moderated"}, 1.25},
	} {
		got := relevantOf(w, crawl(t, w, test.kind, test.params, 10, 30, "h0.test/l0"))
		t.Logf("%s %v: %d relevant pages, breadthfirst %d", test.kind, test.params, got, plain)
		if float64(got) < test.times*float64(plain) {
			t.Errorf("%s %v found %d relevant pages, breadthfirst %d: want %g times that", test.kind, test.params, got, plain, test.times)
		}
	}
}
