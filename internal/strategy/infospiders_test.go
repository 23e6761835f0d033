package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"spoor/internal/wire"
)

// One hidden neuron: σ(0.5 + 1·2 − 1·1) = σ(1.5) = 0.817574; the estimate is
// σ(−1 + 2·0.817574) = σ(0.635149) = 0.653656.
func TestEstimateByHand(t *testing.T) {
	n := net{hidden: [][]float64{{0.5, 1, -1}}, output: []float64{-1, 2}}
	if got := n.estimate([]signal{{0, 2}, {1, 1}}); !equals(got, 0.653656) {
		t.Errorf("estimate %v", got)
	}
	if got := n.estimate(nil); !equals(got, 1/(1+math.Exp(1-2/(1+math.Exp(-0.5))))) {
		t.Errorf("estimate without a keyword %v", got)
	}
}

// The step is rate times the slope of half the squared error, by every weight, as
// differences tell it.
func TestLearningFollowsGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	n := randomNet(rng, 3, 2)
	input, target, rate := []signal{{0, 0.75}, {1, 1.5}}, 0.2, 0.01
	loss := func(n net) float64 {
		l := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) } // in full precision
		sum := n.output[0]
		for j, w := range n.hidden {
			sum += n.output[1+j] * l(w[0]+w[1]*0.75+w[2]*1.5)
		}
		e := target - l(sum)
		return e * e / 2
	}
	var want []float64
	n.weights(func(w *float64) {
		const h = 1e-5
		x := *w
		*w = x + h
		up := loss(n)
		*w = x - h
		down := loss(n)
		*w = x
		want = append(want, x-rate*(up-down)/(2*h))
	})
	before := loss(n)
	n.learn(input, target, rate)
	i := 0
	n.weights(func(w *float64) {
		if math.Abs(*w-want[i]) > 1e-8 {
			t.Errorf("weight %d is %v, want %v", i, *w, want[i])
		}
		i++
	})
	if loss(n) >= before {
		t.Error("nothing was learned")
	}
}

// genetic stands in the anchor (1), two words before it (1/3) and next to it on the
// other side (1/2); crawler three words before it (1/4).
func TestSignalsDependOnDistance(t *testing.T) {
	s := made[*infoSpiders](t, "infospiders")
	s.begin()
	rec := pageOf("a", 1,
		wire.Link{URL: address("b"), Anchor: "the genetic one", Context: "crawlers genetics of\ngenetic"},
		wire.Link{URL: address("c"), Context: "nothing"},
		wire.Link{URL: address("b"), Anchor: "crawler"}) // counts where it stands first
	place, _ := s.visit(rec)
	got := s.trailsOf(rec, place, s.inherited())
	if diff := gocmp.Diff(fmt.Sprint([]signal{{0, float32(1 + 1./3 + 1./2)}, {1, 1. / 4}}), fmt.Sprint(got[0].input)); diff != "" {
		t.Error(diff)
	}
	if len(got) != 2 || got[1].input != nil {
		t.Errorf("%+v", got)
	}
}

// silent returns a spider that follows a link of a, and whose net estimates 0.5 for all links.
func silent(t *testing.T, params ...string) (*infoSpiders, *spider) {
	t.Helper()
	s := made[*infoSpiders](t, "infospiders", params...)
	s.Visit(pageOf("a", 0.9, linkTo("b", 0, 0), linkTo("c", 0, 0)))
	next := s.Breed(1, rand.New(rand.NewPCG(1, 1)))
	if len(next) != 1 || len(s.spiders) != 1 {
		t.Fatalf("%d spiders ask for %+v", len(s.spiders), next)
	}
	sp := s.spiders[0]
	sp.net.weights(func(w *float64) { *w = 0 })
	return s, sp
}

// A spider is born with energy 1. A page worth 0.6 makes it 1 + 0.6 − 0.05, and the
// target min(1, 0.6 + 0.5·0.5) = 0.85; of nothing but zeros only the bias of the
// output learns at first: 0.5·(0.85 − 0.5)·0.25 = 0.04375, and each neuron's weight
// half of that.
func TestSpiderGainsEnergyAndLearnsByHand(t *testing.T) {
	s, sp := silent(t)
	if sp.energy != 1 || !sp.following {
		t.Fatalf("%+v", sp)
	}
	s.Visit(pageOf(name(s.web.URL(sp.target.id)), 0.6, linkTo("d", 0, 0)))
	next := s.Breed(1, rand.New(rand.NewPCG(1, 2)))
	if !equals(sp.energy, 1.55) || !equals(sp.net.output[0], 0.04375) || !equals(sp.net.output[1], 0.021875) {
		t.Errorf("energy %v, weights %v", sp.energy, sp.net.output)
	}
	// c or b, and d: σ(0.04375 + 3·0.021875·0.5), and even odds
	if len(next) != 1 || !equals(reason(t, next[0], "probability"), 0.5) ||
		!equals(reason(t, next[0], "estimate"), 1/(1+math.Exp(-0.0765625))) || next[0].Operator != opLink {
		t.Errorf("%+v", next)
	}
}

func TestSpiderWithoutPayoffDies(t *testing.T) {
	s, sp := silent(t, "cost=0.6")
	s.Visit(&wire.Record{URL: s.web.URL(sp.target.id), Error: wire.ErrorTimeout})
	s.Breed(1, rand.New(rand.NewPCG(1, 2)))
	if !equals(sp.energy, 0.4) || !equals(sp.net.output[0], -0.0625) || len(s.spiders) != 1 || len(sp.links) != 0 {
		t.Errorf("after a failure: energy %v, bias %v, %d links", sp.energy, sp.net.output[0], len(sp.links))
	}
	s.Visit(pageOf(name(s.web.URL(sp.target.id)), 0, linkTo("d", 0, 0)))
	next := s.Breed(1, rand.New(rand.NewPCG(1, 3)))
	// Energy 0.4 − 0.6 is less than nothing: the link of the page is taken by restart.
	if len(s.spiders) != 0 || len(next) != 1 || next[0].Operator != opRestart || name(next[0].URL) != "d" {
		t.Errorf("%d spiders ask for %+v", len(s.spiders), next)
	}
	s.Visit(pageOf("d", 0, linkTo("e", 0, 0)))
	if next = s.Breed(1, rand.New(rand.NewPCG(1, 4))); len(s.spiders) != 1 || next[0].Operator != opLink {
		t.Errorf("%d spiders ask for %+v", len(s.spiders), next)
	}
}

// Energy 1 + 1 − 0.05 is more than θ = 1.9 (born with 0.95: 0.95 + 1 − 0.05 = 1.9 is
// not; a cost of 0.04 makes it 1.91), so there are two spiders, with 0.955 each.
func TestSpiderDivides(t *testing.T) {
	for _, test := range []struct {
		cost string
		want int
	}{{"cost=0.05", 1}, {"cost=0.04", 2}} {
		s, sp := silent(t, "theta=1.9", test.cost, "keywords=3")
		s.Visit(&wire.Record{URL: s.web.URL(sp.target.id), StatusCode: 200, Score: wire.Num(1),
			Title: "Genetic river", Text: "the river, the rivers and the genetic genetic genetic bread",
			Links: []wire.Link{linkTo("d", 0, 0), linkTo("e", 0, 0), linkTo("f", 0, 0)}})
		next := s.Breed(5, rand.New(rand.NewPCG(1, 2)))
		if len(s.spiders) != test.want || len(next) != test.want {
			t.Errorf("%s: %d spiders ask for %d links, want %d", test.cost, len(s.spiders), len(next), test.want)
			continue
		}
		if test.want == 1 {
			continue
		}
		child := s.spiders[1]
		var words []string
		for _, w := range child.words {
			words = append(words, s.words[w])
		}
		if diff := gocmp.Diff([]string{"genet", "crawler", "river"}, words); diff != "" {
			t.Errorf("keywords of the offspring (-want +got):\n%s", diff)
		}
		if !equals(sp.energy, 0.955) || sp.energy != child.energy || len(sp.words) != 2 || len(child.net.hidden[0]) != 4 {
			t.Errorf("%+v and %+v", sp, child)
		}
		// c or b, d, e and f are dealt, and each follows one.
		if len(sp.links) != 1 || len(child.links) != 1 {
			t.Errorf("links %v and %v", sp.links, child.links)
		}
	}
}

func TestWeakestKeywordIsReplaced(t *testing.T) {
	s, sp := silent(t, "keywords=2")
	for j := range sp.net.hidden {
		sp.net.hidden[j][1] = -1 // genetic says much, crawler nothing
	}
	sp.links = []trail{{id: 1, input: []signal{{0, 1}, {1, 1}}}}
	s.mutate(sp, "bread", rand.New(rand.NewPCG(1, 1)))
	if diff := gocmp.Diff("[0 2] [genet crawler bread] [{0 1}]", fmt.Sprint(sp.words, s.words, sp.links[0].input)); diff != "" {
		t.Error(diff)
	}
	if sp.net.hidden[0][1] != -1 || sp.net.hidden[0][2] == 0 {
		t.Errorf("weights %v", sp.net.hidden)
	}
	s.mutate(sp, "", nil) // a page without words changes nobody
}

func TestSpiderDropsLinksWithLowestEstimates(t *testing.T) {
	s, sp := silent(t, "links=2")
	sp.net.output[1], sp.net.hidden[0][1] = 1, 1
	var links []trail
	for i, x := range []float32{0.1, 3, 0, 2} {
		links = append(links, trail{s.web.Intern(address(fmt.Sprint(i))), []signal{{0, x}}})
	}
	s.grow()
	s.isPending = grown(s.isPending, s.web.Len())
	sp.links = nil
	s.addLinks(sp, links)
	if diff := gocmp.Diff(fmt.Sprint([]trail{links[1], links[3]}), fmt.Sprint(sp.links)); diff != "" {
		t.Error(diff)
	}
}

// If the target of a spider is fetched for another reason, the spider continues without a payoff.
func TestSpiderContinuesAfterKnownPage(t *testing.T) {
	s, sp := silent(t)
	to := s.web.URL(sp.target.id)
	s.Visit(&wire.Record{URL: address("r"), FinalURL: to, StatusCode: 200, Score: wire.Num(1)})
	s.Breed(1, rand.New(rand.NewPCG(1, 2)))
	if sp.energy != 1 || !sp.following || s.web.URL(sp.target.id) == to {
		t.Errorf("%+v", sp)
	}
	if len(s.spiders) != 2 && len(s.spiders) != 1 {
		t.Errorf("%d spiders", len(s.spiders))
	}
}
