package strategy

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"spoor/internal/wire"
)

// judged is a web whose pages are relevant from a score of one half on.
type judged struct{ tiny }

func (w judged) fetch(a Address, generation int) *wire.Record {
	rec := w.tiny.fetch(a, generation)
	if rec.Score.Kind == wire.Present {
		rec.Relevant = wire.Bool{Value: rec.Score.Value >= 0.5, Kind: wire.Present}
	}
	return rec
}

// worded is a tiny web with random texts, anchors and contexts, some of which are about the topic
// of target.
type worded struct{ tiny }

func (w worded) fetch(a Address, generation int) *wire.Record {
	rec := judged(w).fetch(a, generation)
	rng := rand.New(rand.NewPCG(fnv64(a.URL), 1))
	say := func(n int) string {
		var words []string
		for range n {
			words = append(words, strings.Fields("genetic crawler selection crossover mutation house garden river stone bread")[rng.IntN(10)])
		}
		return strings.Join(words, " ")
	}
	if rec.Score.Kind == wire.Present {
		rec.Title, rec.Text = say(3), say(40)
	}
	for i := range rec.Links {
		l := &rec.Links[i]
		l.Anchor, l.Context = say(2), say(4)+"\n"+say(4)
		l.Scores = []wire.Scored{{Name: "anchor", Value: float64(rng.IntN(3)) / 4}, {Name: "context", Value: float64(rng.IntN(3)) / 4}}
	}
	return rec
}

// classics are strategies with parameters, in the form "kind name=value …".
var classics = []string{
	"fish", "fish width=1 depth=0 outside=false",
	"shark depth=1000000", "shark epsilon=0.2 depth=1000000",
	"qinchen", "qinchen population=3 mutation=1 words=1",
	"gcrawler", "gcrawler population=1 window=1",
	"hotqueue", "hotqueue order=backlink distance=0", "hotqueue order=pagerank occurrences=5", "hotqueue order=location",
	"forage", "forage queries=true", "forage islands=false window=1",
	"forage ignore-menus=false skip-copies=false trust-seeds=false feedback=0 background=false",
	"contextgraph every=5", "intelligent every=5", "reinforce every=5",
	"infospiders", "infospiders population=3 links=4 cost=0.3", "infospiders theta=0.3 keywords=3 hidden=1",
}

// equals reports whether two numbers are equal up to the precision of the examples.
func equals(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// reason is the number of a that is called name.
func reason(t *testing.T, a Address, name string) float64 {
	t.Helper()
	i := slices.IndexFunc(a.Reasons, func(r wire.Scored) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("%s has no reason %q: %v", a.URL, name, a.Reasons)
	}
	return a.Reasons[i].Value
}

// made is a strategy for target.
func made[S Strategy](t *testing.T, kind string, params ...string) S {
	t.Helper()
	s := newStrategy(t, kind, target(t), params)
	return s.(S)
}

// A state with a damaged byte, or cut short, is refused or taken for another; what
// is bred from it is of no importance, but it is bred.
func TestDamagedStatesDoNotPanic(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 20
	}
	w, subject := worded{random(80, 5)}, target(t)
	variants := slices.Clone(classics)
	for _, k := range Kinds() {
		variants = append(variants, k.Name)
	}
	for _, test := range variants {
		made := func() Strategy {
			s := newStrategy(t, kindOf(test), subject, paramsOf(test))
			return s
		}
		s := made()
		var deltas [][]byte
		batch := seeds("0", "1")
		for g := range 6 {
			for _, a := range batch {
				s.Visit(w.fetch(a, g))
			}
			batch = slices.DeleteFunc(s.Breed(6, rand.New(rand.NewPCG(3, uint64(g)))), func(a Address) bool { return a.URL == "" })
			batch = batch[:min(6, len(batch))]
			deltas = append(deltas, s.AppendDelta(nil))
		}
		rng := rand.New(rand.NewPCG(5, 5))
		for range rounds {
			s, last := made(), rng.IntN(len(deltas))
			for _, d := range deltas[:last] {
				if err := s.Replay(d); err != nil {
					t.Fatal(err)
				}
			}
			d := bytes.Clone(deltas[last])
			for range 1 + rng.IntN(3) {
				d[rng.IntN(len(d))] = byte(rng.Uint32())
			}
			if rng.IntN(4) == 0 {
				d = d[:rng.IntN(len(d))]
			}
			if s.Replay(d) == nil {
				for _, a := range seeds("0", "1", "2") {
					s.Visit(w.fetch(a, 9))
				}
				s.Breed(6, rng)
				s.AppendDelta(nil)
			}
		}
	}
}
