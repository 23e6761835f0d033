package strategy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"spoor/internal/wire"
)

// The paper gives no worked example; this one is worked out by hand.
//
// Parameters: a hub has more than 2 links, S0 = 0.05, pc = 0.5, pm = 1.
//
// Generation 1. The seed h is relevant (0.4) and has 4 links: a hub. Its children
// p, q, r, s are fetched (pass two of the same generation).
//
// Generation 2. Crossover takes the best two of four: q (0.9) and p (0.5). There
// is no authority yet, so no mutation. q and p were fetched already, so selection
// goes on at once: q has one link and is an authority; p has three and is a hub,
// whose children are x, y and z.
//
// Generation 3. Crossover takes ⌊0.5·3⌋ = 1 of them: z (0.8). Mutation looks beside
// the links to the authority q, on the page h: r and s were fetched but never
// selected, so both are V2, and pm = 1 takes both. z, r and s are the queue, all
// fetched: z is an authority, r a hub (0.3, three links: u, v, w), s irrelevant.
//
// Generation 4 fetches u, v and w. Crossover takes one, v (0.2). Mutation looks
// beside z, on p: x and y, fetched, irrelevant both. No hub is left among v, x, y:
// v is an authority, so no children, and mutation looks beside v on r: u and w,
// which are irrelevant. Nothing is left to breed but the links of pages that
// never bred: q's t.
var handmade = tiny{
	"h": "0.4 p q r s",
	"p": "0.5 x y z",
	"q": "0.9 t",
	"r": "0.3 u v w",
	"s": "0.01 h",
	"x": "0.02", "y": "0", "z": "0.8 h",
	"u": "0", "v": "0.2", "w": "0",
	"t": "0.7",
}

var handParams = []string{"hub-links=2", "pc=0.5", "pm=1"}

func TestNicheByHand(t *testing.T) {
	check(t, crawl(t, handmade, "niche", handParams, 10, 6, "h"), []string{
		"h seed",
		"p child, q child, r child, s child",
		"x child, y child, z child",
		"u child, v child, w child",
		"t restart",
		"",
	})
}

func TestNichePassMayTakeSeveralGenerations(t *testing.T) {
	check(t, crawl(t, handmade, "niche", handParams, 3, 8, "h"), []string{
		"h seed",
		"p child, q child, r child",
		"s child",
		"x child, y child, z child",
		"u child, v child, w child",
		"t restart",
		"", "",
	})
}

func TestNicheCompatEnds(t *testing.T) {
	check(t, crawl(t, handmade, "niche", append([]string{"compat=true"}, handParams...), 10, 6, "h"), []string{
		"h seed",
		"p child, q child, r child, s child",
		"x child, y child, z child",
		"u child, v child, w child",
		"", "",
	})
}

// A lazy crawl chooses two of h's four children before fetching them: all have
// the same parent and no score of their own, so the address decides.
func TestNicheLazyFetchesChosenChildrenOnly(t *testing.T) {
	got := crawl(t, handmade, "niche", append([]string{"lazy=true"}, handParams...), 10, 2, "h")
	check(t, got, []string{"h seed", "p crossover, q crossover"})
}

func TestNicheFailedChildrenAreIgnored(t *testing.T) {
	// Crossover takes ⌊0.5·2⌋ = 1 of the two that came, not of three.
	w := tiny{"h": "1 p q r", "p": "!", "q": "0.5 x", "r": "0.6 y", "x": "0", "y": "0"}
	check(t, crawl(t, w, "niche", []string{"hub-links=2", "pc=0.5", "pm=1"}, 5, 4, "h"), []string{
		"h seed",
		"p child, q child, r child",
		// r is selected and an authority; beside it on h: q, an authority too;
		// then nothing breeds, and the links of what never bred follow, the
		// best page's first, until there are five.
		"y restart, x restart",
		"",
	})
}

func TestNicheIrrelevantSeedRestarts(t *testing.T) {
	w := tiny{"a": "0.01 b c", "b": "0 d", "c": "0.04 e", "d": "0", "e": "0"}
	check(t, crawl(t, w, "niche", nil, 2, 4, "a"), []string{
		"a seed", "b restart, c restart", "e restart, d restart", "",
	})
	check(t, crawl(t, w, "niche", []string{"compat=true"}, 2, 2, "a"), []string{"a seed", ""})
}

// Twenty children on one host, two on another. Of all 22 that crossover lets
// through, the large niche loses its worst two and the small one none. The eliminated ones are
// kept, and return when nothing else is left.
func TestNicheKnockOutPerNicheAndRestart(t *testing.T) {
	w := tiny{}
	var links []string
	for i := range 20 {
		page := fmt.Sprintf("big/%02d", i)
		w[page] = fmt.Sprintf("0.%02d", 10+i)
		links = append(links, page)
	}
	w["small/0"], w["small/1"] = "0.06", "0.07"
	links = append(links, "small/0", "small/1")
	w["hub"] = "0.5 " + strings.Join(links, " ")

	s := newNiche().(*nicheGA)
	s.Crossover, s.Mutation = 1, 0
	s.Visit(w.fetch(Address{URL: address("hub"), Operator: "seed"}, 1))
	next := s.Breed(50, nil)
	if len(next) != 22 {
		t.Fatalf("%d children, want 22", len(next))
	}
	for _, a := range next {
		if a.Via != address("hub") || a.Depth != 1 || a.Niche == "" {
			t.Fatalf("a child without its lineage: %+v", a)
		}
		s.Visit(w.fetch(a, 2))
	}
	// The knock-out happens in the middle of Breed; its trace is the order in
	// which addresses became visited.
	s.Breed(50, nil)
	var order []string
	for _, id := range s.queued.ids {
		order = append(order, name(s.web.URL(id)))
	}
	tail := strings.Join(order[len(order)-2:], " ")
	if tail != "big/01 big/00" || len(order) != 23 {
		t.Errorf("the last two of %d to be selected were %s, want the two that were knocked out", len(order), tail)
	}
}

// The addresses of a pass are marked as failed only when the frontier is empty: not when a
// generation has only redirects to known pages, or addresses returned unfetched.
func TestNichePassAwaitsAllPages(t *testing.T) {
	w := tiny{"h": "1 p q r", "p": "0.5", "q": "0.5", "r": "0.5", "again": "> h"}
	for _, test := range []struct {
		name string
		rec  *wire.Record
		wait bool
	}{
		{"a redirect to a known page", w.fetch(Address{URL: address("again")}, 2), true},
		{"returned unfetched", &wire.Record{URL: address("p"), Error: wire.ErrorBudget}, true},
		{"no record", &wire.Record{URL: address("p")}, false},
	} {
		s := newNiche().(*nicheGA)
		s.HubLinks = 2
		s.Visit(w.fetch(Address{URL: address("h"), Operator: "seed"}, 1))
		s.Breed(20, nil)
		s.Visit(test.rec)
		s.Breed(20, rand.New(rand.NewPCG(1, 2)))
		if waits := s.pass == breeding && len(s.children.ids) == 3; waits != test.wait {
			t.Errorf("%s: the pass waits: %v, want %v", test.name, waits, test.wait)
		}
	}
}

// A seed that times out and is fetched later is selected like any other page.
func TestNicheRetriedPageIsIndividual(t *testing.T) {
	w := tiny{"h": "1 p q r"}
	s := newNiche().(*nicheGA)
	s.HubLinks = 2
	s.Visit(&wire.Record{URL: address("h"), Operator: "seed", Error: wire.ErrorTimeout})
	s.Breed(20, nil)
	s.Visit(w.fetch(Address{URL: address("h"), Operator: "seed"}, 2))
	next := s.Breed(20, nil)
	if len(next) != 3 || next[0].Operator != opChild {
		t.Errorf("%d addresses, %+v; want three children", len(next), next)
	}
}

func TestNicheMutantsArePredictedThenFetched(t *testing.T) {
	// h is a hub with children p (an authority), m and q; m links to p, and to
	// i and j. After m is fetched, i and j are beside a link to p.
	w := tiny{
		"h": "0.6 p m q",
		"p": "0.9",
		"m": "0.5 p i j",
		"q": "0",
		"i": "0.8", "j": "0",
	}
	// pc = 0.7 of three takes p and m. p is an authority, and so is m, which has
	// three links, as hub-links=3. Beside p on h: q; on m: i and j.
	got := crawl(t, w, "niche", []string{"hub-links=2", "pc=0.7", "pm=1"}, 10, 4, "h")
	check(t, got, []string{
		"h seed",
		"p child, m child, q child",
		"i child, j child",
		"",
	})
	got = crawl(t, w, "niche", []string{"hub-links=3", "pc=0.7", "pm=1"}, 10, 4, "h")
	check(t, got, []string{"h seed", "p restart, m restart, q restart", "j mutation, i mutation", ""}) // in the order of the draw
	// With compat, mutants are fetched before the knock-out.
	got = crawl(t, w, "niche", []string{"hub-links=2", "pc=0.7", "pm=1", "compat=true"}, 10, 4, "h")
	check(t, got, []string{"h seed", "p child, m child, q child", "i child, j child", ""})
}

// The hub h has the children n/c, n/d and x, of which crossover takes the best, n/c. The
// page p links to the authority a, so n/f and n/m are the mutants, which compat fetches
// before the knock-out: n/f fails, so n has two members, and loses half of them, n/m. To
// count n/f would save n/m.
func TestNicheFailedMutantsAreIgnored(t *testing.T) {
	w := tiny{
		"h": "0.9 n/c n/d x", "a": "0.9", "p": "0 a n/f n/m",
		"n/c": "0.5", "n/d": "0.4", "x": "0", "n/f": "!", "n/m": "0.3",
	}
	s := newNiche().(*nicheGA)
	s.HubLinks, s.Crossover, s.Mutation, s.Compat = 2, 0.34, 1, true
	s.Knockout, s.NicheMin = 0.5, 2
	var queued []string
	asked := seeds("h", "a", "p")
	for g := 1; g <= 3; g++ {
		for _, a := range asked {
			s.Visit(w.fetch(a, g))
		}
		asked = s.Breed(9, rand.New(rand.NewPCG(1, uint64(g))))
	}
	for _, id := range s.queued.ids {
		queued = append(queued, name(s.web.URL(id)))
	}
	check(t, queued, []string{"h", "a", "p", "n/c", "x", "n/d"}) // the last two beside n/c, an authority itself
}
