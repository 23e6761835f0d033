package strategy

import (
	"math"
	"testing"
)

// Links of one page are equally relevant, so the server from which fewer pages were requested comes
// first: y/1 before x/2, since x/1 and x/3 were fetched. x/3 comes before both, by the 0.9 of b.
func TestFocusOrder(t *testing.T) {
	w := judged{tiny{
		"a": "0.6 x/1 x/2 y/1", "b": "0.9 x/3",
		"x/1": "0.1", "x/2": "0", "x/3": "0", "y/1": "0",
	}}
	check(t, crawl(t, w, "focus", nil, 1, 7, "a", "b"), []string{
		"a seed", "b seed", "x/1 link", "x/3 link", "y/1 link", "x/2 link", "",
	})
	s := newStrategy(t, "focus", nil, nil)
	for _, a := range seeds("a", "b", "x/1") {
		s.Visit(w.fetch(a, 1))
	}
	check(t, described(s.Breed(3, nil)), []string{
		"x/3 link -4 via b hub=0 relevance=0.9 serverload=1",
		"y/1 link -5 via a hub=0 relevance=0.6 serverload=0",
		"x/2 link -6 via a hub=0 relevance=0.6 serverload=1",
	})
}

// d is on a and then on b, so it has 0.6, as c, or 0.2.
func TestFocusParent(t *testing.T) {
	w := judged{tiny{"a": "0.6 d c", "b": "0.2 d", "c": "0", "d": "0"}}
	check(t, crawl(t, w, "focus", nil, 2, 2, "a", "b"), []string{"a seed, b seed", "d link, c link"})
	check(t, crawl(t, w, "focus", []string{"parent=last"}, 2, 2, "a", "b"), []string{"a seed, b seed", "c link, d link"})
}

// With the hard rule, only the links of b are followed, which is relevant; y is not, so the crawl ends.
func TestFocusHardRule(t *testing.T) {
	w := judged{tiny{"a": "0.4 x", "b": "0.5 y", "x": "1", "y": "0.4 z", "z": "1"}}
	check(t, crawl(t, w, "focus", nil, 2, 4, "a", "b"), []string{"a seed, b seed", "y link, x link", "z link", ""})
	check(t, crawl(t, w, "focus", []string{"rule=hard"}, 2, 3, "a", "b"), []string{"a seed, b seed", "y link", ""})
}

// p (0.5) links to the relevant pages u (0.9) and v (0.8), q (0.6) to v:
//
//	a(u) = 0.9·h(p)   a(v) = 0.8·(h(p) + h(q))
//	h(p) = 0.5·(a(u) + a(v)) = 0.85·h(p) + 0.40·h(q)
//	h(q) = 0.6·a(v)          = 0.48·h(p) + 0.48·h(q)
//
// The larger eigenvalue is (1.33 + √(1.33² − 4·0.216)) / 2 = 1.140631, so that
// h(q) / h(p) = (1.140631 − 0.85) / 0.4 = 0.726578. The tenth of two hubs is one, p: its w comes
// before q's t, although q is more relevant. The link to p/1 is within a server.
func TestFocusRaisesLinksOfHubs(t *testing.T) {
	w := judged{tiny{
		"p": "0.5 u v w p.test/1", "q": "0.6 v t s", "u": "0.9", "v": "0.8",
		"t": "0", "w": "0", "s": "0", "p.test/1": "0",
	}}
	order := func(params ...string) []string { return crawl(t, w, "focus", params, 4, 3, "p", "q", "u", "v") }
	check(t, order(), []string{"p seed, q seed, u seed, v seed", "w link, t link, s link, p.test/1 link", ""})
	check(t, order("distill=0"), []string{"p seed, q seed, u seed, v seed", "t link, s link, w link, p.test/1 link", ""})

	s := made[*focus](t, "focus")
	for _, a := range seeds("p", "q", "u", "v") {
		s.Visit(w.fetch(a, 1))
	}
	s.Breed(1, nil)
	hubs := s.hubs()
	p, _ := s.web.Find(address("p"))
	q, _ := s.web.Find(address("q"))
	if got := hubs[q] / hubs[p]; math.Abs(got-0.726578) > 1e-6 {
		t.Errorf("h(q) / h(p) is %v", got)
	}
}

// Irrelevant pages are no authorities, so that their parents are no hubs.
func TestFocusIrrelevantPagesAreNoAuthorities(t *testing.T) {
	w := judged{tiny{"p": "0.5 u v w", "q": "0.6 t", "u": "0.4", "v": "0.4", "t": "0", "w": "0"}}
	check(t, crawl(t, w, "focus", nil, 4, 2, "p", "q", "u", "v"), []string{"p seed, q seed, u seed, v seed", "t link, w link"})
}
