package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"spoor/internal/wire"
)

func TestBinsAreFifths(t *testing.T) {
	for v, want := range map[float64]uint8{-1: 0, 0: 0, 0.19: 0, 0.2: 1, 0.39: 1, 0.5: 2, 0.79: 3, 0.8: 4, 1: 4, 7: 4} {
		if got := bin(v); got != want {
			t.Errorf("bin of %v is %d, want %d", v, got, want)
		}
	}
	if got := bin(math.NaN()); got != 0 {
		t.Errorf("bin of no number is %d", got)
	}
	for v, want := range map[float64]uint8{-1: 4, -0.31: 4, -0.3: 3, -0.11: 3, -0.1: 0, 0: 0, 0.1: 0, 0.11: 1, 0.3: 1, 0.31: 2, 1: 2} {
		if got := binChange(v); got != want {
			t.Errorf("bin of a change of %v is %d, want %d", v, got, want)
		}
	}
}

func TestCodeRoundTrip(t *testing.T) {
	for _, x := range []code{{}, {4, 4, 4, 4, 4, 4, 4, 4}, {0, 1, 2, 3, 4, 3, 2, 1}} {
		if got := unpack(x.pack()); got != x {
			t.Errorf("%v became %v", x, got)
		}
	}
}

// The seed a (0.5, not relevant) links to b, which promises 0.3. Then b comes.
//
// State of a: relevance 0.5 is bin 2; it has no parent, so no change (0) and no
// relevance of parents (0, 0); no relevant page is near, distance 10 of 10 (4).
// Action: promise 0.3 (1), parents 0.5 (2), none relevant (0). All weights are
// 0.01, so Q = 0.08.
//
// b is irrelevant (0.1) and links to c and d, Q 0.08 both: the target is
// −1 + 0.9 · 0.08 = −0.928, the error −1.008, and each of the eight weights becomes
// 0.01 − 0.01 · 1.008 = −0.00008. Moderated it is a tenth of the step: 0.01 −
// 0.001008 = 0.008992. If b has no links, the target is −1, the error −1.08, and
// the weights are −0.0008. If it is relevant, whatever its links, the target is 30,
// the error 29.92, and the weights are 0.3092.
func TestTemporalDifferencesByHand(t *testing.T) {
	for _, test := range []struct {
		name, update string
		b            taughtPage
		want         float64
	}{
		{"irrelevant, with links", asynchronous, taughtPage{score: 0.1, links: []wire.Link{{URL: address("c")}, {URL: address("d")}}}, -0.00008},
		{"the same, moderated", moderated, taughtPage{score: 0.1, links: []wire.Link{{URL: address("c")}, {URL: address("d")}}}, 0.008992},
		{"irrelevant, the end", synchronous, taughtPage{score: 0.1}, -0.0008},
		{"links to what is known are the end, too", asynchronous, taughtPage{score: 0.1, links: []wire.Link{{URL: address("a")}}}, -0.0008},
		{"relevant", asynchronous, taughtPage{score: 0.9, relevant: true, links: []wire.Link{{URL: address("c")}}}, 0.3092},
	} {
		w := taught{address("a"): {score: 0.5, links: []wire.Link{{URL: address("b"), Score: wire.Num(0.3)}}}, address("b"): test.b}
		s := newLinearQ().(*linearQ)
		s.Update = test.update
		s.Visit(w.fetch(Address{URL: address("a")}, 1))
		b, _ := s.web.Find(address("b"))
		x := code{2, 0, 0, 0, 4, 1, 2, 0}
		if got := unpack(uint32(s.codes.at(b)) - 1); got != x || math.Abs(s.values.at(b)-0.08) > 1e-15 {
			t.Errorf("%s: b is %v of value %v, want %v and 0.08", test.name, got, s.values.at(b), x)
		}
		s.Visit(w.fetch(Address{URL: address("b")}, 2))
		for i, b := range x {
			for k := range binsEach {
				want := firstWeight
				if k == int(b) {
					want = test.want
				}
				if got := s.weights.w[i*binsEach+k]; math.Abs(got-want) > 1e-12 {
					t.Errorf("%s: weight %d of measurement %d is %v, want %v", test.name, k, i, got, want)
				}
			}
		}
	}
}

// a (0.9, relevant) → b (0.2) → c (0.5), and a → c. Trails: a 0.45, b 0.1 + 0.225 =
// 0.325, c 0.25 + 0.225 = 0.475. Changes: b −0.25 (worse), c 0.05 beside the better
// trail, a's (little). Distances: 0, 1 and 1. The parents of c have 0.55 in the
// mean, the relevant one 0.9.
func TestStateByHand(t *testing.T) {
	w := taught{
		address("a"): {score: 0.9, relevant: true, links: []wire.Link{{URL: address("b")}, {URL: address("c")}}},
		address("b"): {score: 0.2, links: []wire.Link{{URL: address("c")}}},
		address("c"): {score: 0.5, links: []wire.Link{{URL: address("d"), Score: wire.Num(1)}}},
	}
	s := newLinearQ().(*linearQ)
	for _, name := range []string{"a", "b", "c"} {
		s.Visit(w.fetch(Address{URL: address(name)}, 1))
	}
	for i, want := range []code{
		{4, 0, 0, 0, 0},
		{1, 3, 4, 4, 0}, // distance 1 of 10 is in the first fifth
		{2, 0, 2, 4, 0},
	} {
		if got := s.state(i); got != want {
			t.Errorf("state %d is %v, want %v", i, got, want)
		}
	}
	d, _ := s.web.Find(address("d"))
	if got, want := unpack(uint32(s.codes.at(d))-1), (code{2, 0, 2, 4, 0, 4, 2, 0}); got != want {
		t.Errorf("the link to d is %v, want %v", got, want)
	}
	for i, want := range []float64{0.45, 0.325, 0.475} {
		if got := s.trails.at(s.pages[i].node); math.Abs(got-want) > 1e-12 {
			t.Errorf("trail %d is %v, want %v", i, got, want)
		}
	}
}

// An address that all pages link to is measured by the first of them: the first
// sixty-four have 0.9, and the thousand that follow 0.1.
func TestParentsReadAreBounded(t *testing.T) {
	s := newLinearQ().(*linearQ)
	w := taught{}
	for i := range maxParentsRead + 1000 {
		p := taughtPage{score: 0.9, links: []wire.Link{{URL: address("all")}}}
		if i >= maxParentsRead {
			p.score = 0.1
		}
		a := address(fmt.Sprint(i))
		w[a] = p
		s.Visit(w.fetch(Address{URL: a}, 1))
	}
	all, _ := s.web.Find(address("all"))
	if mean, good := s.parents(all); mean != 4 || good != 0 {
		t.Errorf("the parents are in bin %d, the relevant ones in bin %d, want 4 and 0", mean, good)
	}
}

// A step of 1 for each of eight measurements is four times what still converges: Q
// swings further and further. The numbers stay numbers.
func TestHighLearningRateStaysFinite(t *testing.T) {
	s := made[*linearQ](t, "linearq", "alpha=1", "good=1e6")
	w, batch := signposts(), []Address{{URL: "http://h0.test/l0"}}
	for g := range 60 {
		for _, a := range batch {
			s.Visit(w.fetch(a, g))
		}
		batch = s.Breed(20, rand.New(rand.NewPCG(1, uint64(g))))
		for _, a := range batch {
			if q := reason(t, a, "q"); !(math.Abs(q) <= measurements*maxWeight) {
				t.Fatalf("generation %d: Q of %s is %v", g, a.URL, q)
			}
		}
	}
	if err := newLinearQ().Replay(s.AppendDelta(nil)); err != nil {
		t.Error(err)
	}
}
