package strategy

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"spoor/internal/wire"
)

// A rough web is a crawl with all irregularities: pages that fail at first, redirects to known
// pages, addresses that are returned unfetched, addresses without an outcome, generations of any
// size, duplicate seeds, and searches that find known pages.
type rough struct {
	web   tiny
	rng   *rand.Rand
	next  map[string]Address // waiting in the frontier
	known map[string]bool    // were in the frontier at any time
	tries map[string]int
}

func newRough(pages int, seed uint64) *rough {
	w := &rough{web: random(pages, seed), rng: rand.New(rand.NewPCG(seed, 7)),
		next: map[string]Address{}, known: map[string]bool{}, tries: map[string]int{}}
	for _, a := range seeds("0", "1", "2", "0") {
		w.add(a)
	}
	return w
}

func (w *rough) add(a Address) {
	if !w.known[a.URL] {
		w.known[a.URL] = true
		w.next[a.URL] = a
	}
}

// offer adds the proposals of a strategy. A query finds three pages.
func (w *rough) offer(bred []Address) {
	for _, a := range bred {
		if a.Query == "" {
			w.add(a)
			continue
		}
		for range 3 {
			w.add(Address{URL: address(fmt.Sprint(w.rng.IntN(len(w.web)))), Operator: "search", Query: a.Query, Priority: a.Priority})
		}
	}
}

// generation returns the outcomes of up to n waiting addresses.
func (w *rough) generation(n, number int) (outcomes []*wire.Record) {
	waiting := slices.SortedFunc(maps.Values(w.next), func(a, b Address) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.URL, b.URL))
	})
	for _, a := range waiting[:min(n, len(waiting))] {
		page := name(a.URL)
		w.tries[page]++
		switch chance := w.rng.IntN(20); {
		case chance == 0: // returned unfetched
			rec := new(wire.Record)
			a.Fill(rec, number)
			rec.Error = wire.ErrorBudget
			outcomes = append(outcomes, rec)
			continue
		case chance == 1 && w.tries[page] < 3: // fails, and is tried again
			rec := new(wire.Record)
			a.Fill(rec, number)
			rec.Error = wire.ErrorTimeout
			outcomes = append(outcomes, rec)
			continue
		case chance == 2: // no outcome
			delete(w.next, a.URL)
			continue
		}
		rec := anchored(w.web).fetch(a, number)
		rec.Title, rec.Text = "page "+page, strings.Repeat("ant bee cat dog eel fox ", 1+len(page))[len(page):]
		if rec.Score.Or(0) > 0.2 {
			rec.Relevant = wire.True
		}
		for i := range rec.Links {
			rec.Links[i].Path, rec.Links[i].Score = fmt.Sprintf("html/body/div.d%d/a", i%7), wire.Num(float64(i%5)/5)
			rec.Links[i].Anchor, rec.Links[i].Context = fmt.Sprintf("genetic ant%d", i%9), "a crawler of ants"
		}
		if rec.FinalURL != "" {
			rec.Redirects = append(rec.Redirects, wire.Redirect{URL: rec.URL, StatusCode: 301})
			if w.rng.IntN(3) == 0 { // two redirects
				rec.Redirects = append(rec.Redirects, wire.Redirect{URL: address(fmt.Sprint(w.rng.IntN(len(w.web)))), StatusCode: 302})
			}
		}
		delete(w.next, a.URL)
		outcomes = append(outcomes, rec)
	}
	return outcomes
}

// Proposals are finite and were not fetched before, and a restored strategy continues like the
// original.
func TestEveryStrategyWithFailuresAndRedirects(t *testing.T) {
	webs, generations := uint64(2), 60
	if testing.Short() {
		webs, generations = 1, 20
	}
	variants := [][]string{
		{"niche", "compat=true"}, {"niche", "lazy=true", "niche-min=2", "knockout=0.5"}, {"symbiosis", "compat=true"},
		{"symbiosis", "objective=literal", "population=3"}, {"antnet", "compat=true", "mutation-every=1"},
		{"antnet", "levels=4", "calibration=isotonic", "pressure=2.5"}, {"jaccard", "mutation-every=10"},
		{"jaccard", "compat=true", "mutation-every=10"}, {"tunnel", "compat=true"},
		{"tunnel", "count=log1p", "parents=mean", "max-level=0"}, {"pagerank", "every=7"}, {"pagerank", "topic=true"},
		{"hits", "every=3"}, {"hits", "guard=false"}, {"bestfirst", "anchor=true"},
		{"bergmark", "cutoff=0.6", "order=similarity"}, {"focus", "rule=hard"}, {"focus", "distill=3", "parent=last"},
		{"hotqueue", "order=backlink", "distance=2"}, {"hotqueue", "order=pagerank", "every=3", "occurrences=1"},
		{"bestn", "n=7", "buffer=9"},
		{"qinchen", "mutation=1"}, {"gcrawler", "population=1", "window=2"},
		{"infospiders", "population=3", "links=4", "cost=0.3"}, {"infospiders", "theta=0.3", "keywords=3", "hidden=1"},
		{"apprentice", "every=5", "reservoir=8"}, {"anthelion", "value=holistic", "lambda=0.5", "share=0.1"},
		{"contextgraph", "every=5", "layers=2", "words=3", "other=0.2", "seeds=true"}, {"intelligent", "every=5", "significance=0.1", "url=0"},
		{"linearq", "update=synchronous", "epsilon=0.5"}, {"reinforce", "every=5", "window=8", "bins=5", "gamma=0.9"},
		{"tagpath", "targets=files"}, {"quality", "policy=min"}, {"quality", "policy=target"},
		{"tres", "warmup=9", "every=2", "target=7", "batch=5", "buffer=20", "epsilon=0.3", "depth=3", "per-host=1"}, {"tres", "warmup=9", "depth=0"},
	}
	for _, kind := range Kinds() {
		variants = append(variants, []string{kind.Name})
	}
	for _, test := range variants {
		for seed := range webs {
			w := newRough(120, seed)
			live := newStrategy(t, test[0], target(t), test[1:])
			var deltas [][]byte
			fetched := map[string]bool{}
			empty := 0
			for g := 1; g <= generations && empty < 3; g++ {
				back := newStrategy(t, test[0], target(t), test[1:])
				for i, d := range deltas {
					if err := back.Replay(d); err != nil {
						t.Fatalf("%s: generation %d: %v", test, i+1, err)
					}
				}
				n := 1 + w.rng.IntN(12)
				outcomes := w.generation(w.rng.IntN(2*n), g)
				if empty++; len(w.next) > 0 || len(outcomes) > 0 {
					empty = 0
				}
				var bred, again []Address
				for _, s := range []Strategy{live, back} {
					for _, rec := range outcomes {
						s.Visit(rec)
					}
					bred, again = again, s.Breed(n, rand.New(rand.NewPCG(seed, uint64(g))))
				}
				if fmt.Sprint(bred) != fmt.Sprint(again) {
					t.Fatalf("%s, web %d: generation %d proposes\n%v\nand, restored,\n%v", test, seed, g, bred, again)
				}
				for _, rec := range outcomes {
					if rec.Error != wire.ErrorBudget {
						fetched[rec.URL] = true
						if rec.FinalURL != "" {
							fetched[rec.FinalURL] = true
						}
					}
				}
				once := map[string]bool{}
				for _, a := range bred {
					if a.URL != "" && (fetched[a.URL] || once[a.URL]) {
						t.Errorf("%s, web %d: generation %d proposes %s again", test, seed, g, a.URL)
					}
					once[a.URL] = true
					finite(t, fmt.Sprint(test, seed, g), a)
				}
				delta := live.AppendDelta(nil)
				if string(back.AppendDelta(nil)) != string(delta) {
					t.Fatalf("%s, web %d: the delta of generation %d differs after it was restored", test, seed, g)
				}
				deltas = append(deltas, delta)
				w.offer(bred)
			}
		}
	}
}

// Scores may be as large as a record can have; the numbers of proposals stay finite, and the state
// can be restored.
func TestProposalsAreFinite(t *testing.T) {
	values := []float64{math.MaxFloat64, -math.MaxFloat64, 5e-324, 0, 1, -1}
	for _, kind := range Kinds() {
		for _, params := range [][]string{nil, {"compat=true"}} {
			s, err := New(kind.Name, target(t), params)
			if err != nil {
				continue // it has no such parameter
			}
			restored := newStrategy(t, kind.Name, target(t), params)
			rng := rand.New(rand.NewPCG(1, 1))
			value := func() float64 { return values[rng.IntN(len(values))] }
			some := func() string { return address(fmt.Sprint(rng.IntN(300))) }
			for g := 1; g <= 15; g++ {
				for range 10 {
					rec := &wire.Record{URL: some(), StatusCode: 200, Operator: "seed", OutDegree: 20,
						Text: "ant bee genetic", Score: wire.Num(value()), Relevant: wire.True}
					for range 20 {
						rec.Links = append(rec.Links, wire.Link{URL: some(), Score: wire.Num(value()), Path: "a b", Anchor: "ant",
							Scores: []wire.Scored{{Name: "anchor", Value: value()}, {Name: "context", Value: value()}, {Name: "url", Value: value()}}})
					}
					s.Visit(rec)
				}
				for _, a := range s.Breed(10, rng) {
					finite(t, fmt.Sprint(kind.Name, params, g), a)
				}
				if err := restored.Replay(s.AppendDelta(nil)); err != nil {
					t.Fatalf("%s %s: generation %d: %v", kind.Name, params, g, err)
				}
			}
		}
	}
}

// finite reports numbers that JSON cannot represent.
func finite(t *testing.T, where string, a Address) {
	t.Helper()
	for _, r := range append(a.Reasons, wire.Scored{Name: "priority", Value: a.Priority}) {
		if math.IsNaN(r.Value) || math.IsInf(r.Value, 0) {
			t.Errorf("%s: %s of %s is %v", where, r.Name, a.URL, r.Value)
		}
	}
}
