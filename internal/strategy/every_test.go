package strategy

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"spoor/internal/wire"
)

// kindOf and paramsOf split "kind name=value …".
func kindOf(variant string) string     { return strings.Fields(variant)[0] }
func paramsOf(variant string) []string { return strings.Fields(variant)[1:] }

// linkOrders are the strategies that use links only.
var linkOrders = []string{
	"depthfirst", "random", "indegree",
	"pagerank", "pagerank damping=0.5 every=3 topic=true",
	"hits", "hits guard=false every=2 iterations=3",
}

// antNets are the variants of antnet.
var antNets = []string{
	"antnet", "antnet compat=true", "antnet levels=3 pressure=3",
	"antnet calibration=isotonic levels=3", "antnet pressure=2 mutation-every=1",
}

// Strategies that stop only when nothing is left fetch every reachable page exactly once,
// whatever the web.
func TestEveryReachablePageIsFetchedOnce(t *testing.T) {
	webs, size := uint64(3), 100
	if testing.Short() {
		webs, size = 1, 50
	}
	for seed := range webs {
		w := random(size, seed)
		want := ends(w, fetched(t, crawl(t, w, "breadthfirst", nil, 9, 30, "0")))
		for _, test := range []struct {
			web      pages
			variants []string
		}{
			{w, linkOrders},
			{w, []string{
				"bergmark", "bergmark cutoff=0.6 order=similarity",
				"bestfirst", "bestfirst anchor=true", "bestn", "bestn n=25 buffer=10", "bestn n=4 buffer=1000",
				"focus", "focus parent=last distill=3", "focus distill=0",
				"niche", "niche lazy=true", "niche expand-authorities=true niche-dirs=2",
				"niche cocitation=parents knockout-n=1 niche-min=2",
				"tunnel", "tunnel limit=0.3 max-level=0", "tunnel count=log1p parents=mean",
				"jaccard", "jaccard top=1 threshold=0.3 mutation-every=20",
				"anthelion", "apprentice", "contextgraph every=5", "intelligent every=5", "linearq", "reinforce every=5",
				"tagpath", "tagpath targets=files", "tres",
				"quality", "quality policy=min", "quality policy=target",
				"symbiosis", "symbiosis population=2", "symbiosis queue-factor=0", "symbiosis bias=0 selection=0.1", "symbiosis mutation-every=0",
			}},
			{worded{w}, classics},
			{promising{w}, antNets[:3]},
		} {
			for _, variant := range test.variants {
				// A redirect answers for two addresses, in an order that differs between
				// strategies: compare the pages behind them.
				got := ends(w, fetched(t, crawl(t, test.web, kindOf(variant), paramsOf(variant), 9, 90, "0")))
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Fatalf("web %d: %s fetched other pages than breadthfirst (-breadthfirst +it):\n%s", seed, variant, diff)
				}
			}
		}
	}
}

// Of several proposals of an address the frontier keeps the latest, so a strategy never proposes
// a waiting address again with a lower priority.
func TestPrioritiesOfWaitingAddressesAreNotLowered(t *testing.T) {
	for _, test := range []struct {
		web  pages
		seed string
	}{
		{signposts(), "h0.test/l0"}, {random(300, 3), "0"}, {worded{random(200, 21)}, "0"}, {promising{random(300, 4)}, "0"},
	} {
		for _, kind := range Kinds() {
			s := newStrategy(t, kind.Name, target(t), nil)
			waiting, requested := map[string]float64{}, map[string]bool{}
			batch := seeds(test.seed)
			for g := 1; g <= 25; g++ {
				for _, a := range batch {
					s.Visit(test.web.fetch(a, g))
					requested[a.URL] = true
				}
				batch = nil
				for _, a := range s.Breed(12, rand.New(rand.NewPCG(3, uint64(g)))) {
					if a.URL == "" || requested[a.URL] {
						continue
					}
					if before, ok := waiting[a.URL]; ok && a.Priority < before {
						t.Errorf("%s: generation %d lowers %s from %v to %v", kind.Name, g, a.URL, before, a.Priority)
					}
					waiting[a.URL] = a.Priority
					if len(batch) < 6 {
						batch = append(batch, a)
					}
				}
			}
		}
	}
}

// A rescored is a web whose pages and links have other scores.
type rescored struct{ pages }

func (w rescored) fetch(a Address, generation int) *wire.Record {
	rec := w.pages.fetch(a, generation)
	other := func(url string, n *wire.Float) {
		if n.Kind == wire.Present {
			*n = wire.Num(float64(fnv64(url+"!")%1000) / 1000)
		}
	}
	other(rec.URL, &rec.Score)
	if rec.Relevant.Kind == wire.Present {
		rec.Relevant = wire.False
		if rec.Score.Or(0) > 0.5 {
			rec.Relevant = wire.True
		}
	}
	for i := range rec.Links {
		link := &rec.Links[i]
		other(link.URL, &link.Score)
		link.Scores = slices.Clone(link.Scores)
		for k := range link.Scores {
			link.Scores[k].Value = link.Score.Or(0)
		}
	}
	return rec
}

// Scores steer the strategies that are not Unscored, and no others: the other ones choose the same
// addresses whatever the scores are. They steer pagerank only with topic=true.
func TestScoresSteerTheStrategiesThatSaySo(t *testing.T) {
	order := func(w pages, seeds []Address, variant string) (urls []string) {
		s := newStrategy(t, kindOf(variant), target(t), paramsOf(variant))
		batch := seeds
		for g := 1; g <= 12; g++ {
			for _, a := range batch {
				s.Visit(w.fetch(a, g))
			}
			batch = batch[:0:0]
			for _, a := range s.Breed(12, rand.New(rand.NewPCG(3, uint64(g)))) {
				if a.URL != "" {
					batch = append(batch, a)
				}
			}
			slices.SortStableFunc(batch, func(a, b Address) int { return cmp.Compare(b.Priority, a.Priority) })
			batch = batch[:min(len(batch), 12)]
			for _, a := range batch {
				urls = append(urls, a.URL)
			}
		}
		return urls
	}
	for _, kind := range Kinds() {
		variant := kind.Name
		if variant == "pagerank" {
			variant += " topic=true"
		}
		same := true
		for _, w := range []pages{signposts(), worded{random(300, 21)}, promising{random(300, 4)}} {
			first := []Address{{URL: "http://h0.test/l0"}, {URL: address("0")}, {URL: address("1")}}
			before := order(w, first, variant)
			if len(before) < 20 {
				t.Errorf("%s chose only %d addresses", variant, len(before))
			}
			same = same && slices.Equal(before, order(rescored{w}, first, variant))
		}
		if kind.Stages.Expand != "" { // the topic grows by scores, so these strategies may use them only there
			same = false
		}
		if same != kind.Unscored {
			t.Errorf("%s: the order is the same with other scores: %v; Unscored is %v", variant, same, kind.Unscored)
		}
	}
}
