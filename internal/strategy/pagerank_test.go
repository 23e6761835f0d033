package strategy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Two seeds, six addresses. Nobody links to a and b: each has the rank z of those who
// teleport there. Of the surfers that are on a or b, d follow a link, all others
// teleport: 6z = 1 − d·2z, z = 1/(6 + 2d) = 0.12987. a passes a third of that on to each
// of c, d and e, and b all of it to f.
//
// Where surfers start at a four times as often as at b, and nowhere else, the ranks are
// as 4 to 1: with s for all who teleport, s = 1 − d·s, s = 1/(1 + d) = 0.54054, of which
// a passes on 0.8·s/3 to each of three and b only 0.2·s.
var fork = tiny{
	"a": "0.8 c d e", "b": "0.2 f",
	"c": "0 h", "d": "0", "e": "0", "f": "0 g", "g": "0 i", "h": "0 j", "i": "0", "j": "0",
}

func TestPageRankOrder(t *testing.T) {
	for _, test := range []struct {
		params []string
		want   map[string]float64
	}{
		{nil, map[string]float64{"f": 1 / 7.7, "c": 1 / 7.7 / 3, "d": 1 / 7.7 / 3, "e": 1 / 7.7 / 3}},
		{[]string{"damping=0"}, map[string]float64{"f": 1. / 6, "c": 1. / 18, "d": 1. / 18, "e": 1. / 18}},
		{[]string{"topic=true"}, map[string]float64{"c": 0.8 / 1.85 / 3, "d": 0.8 / 1.85 / 3, "e": 0.8 / 1.85 / 3, "f": 0.2 / 1.85}},
	} {
		s := newStrategy(t, "pagerank", nil, test.params)
		for _, a := range seeds("a", "b") {
			s.Visit(fork.fetch(a, 1))
		}
		for _, a := range s.Breed(9, nil) {
			if got, want := a.Reasons[1].Value, test.want[name(a.URL)]; !(math.Abs(got-want) < 1e-10) {
				t.Errorf("%v: %s gets %.12g passed on, want %.12g", test.params, name(a.URL), got, want)
			}
		}
	}
}

// In the second generation f passes more on to g than c does to h, as it gets more.
// The ranks are still those of the first, when f and c were known, though not fetched.
// In the third, g and h have none of these, unless they are worked out every page.
// With surfers from a and b alone, c, d and e get 0.8s/3 each, h all of the 0.85·0.8s/3
// of c, and f 0.2s; j gets nothing of h, which had no rank when they were worked out.
func TestPageRankIsRecomputedAtIntervals(t *testing.T) {
	check(t, crawl(t, fork, "pagerank", nil, 2, 7, "a", "b"), []string{
		"a seed, b seed", "f link, c link", "g link, h link", "d link, e link", "i link, j link", "", "",
	})
	check(t, crawl(t, fork, "pagerank", []string{"every=1"}, 2, 7, "a", "b"), []string{
		"a seed, b seed", "f link, c link", "g link, h link", "i link, j link", "d link, e link", "", "",
	})
	check(t, crawl(t, fork, "pagerank", []string{"topic=true"}, 2, 7, "a", "b"), []string{
		"a seed, b seed", "c link, d link", "e link, h link", "f link, j link", "g link", "i link", "",
	})
}

// a links to b, and so does r, by a redirect: the links of b are known under r. What
// a passes on to b makes e worth more than f, which was discovered first.
func TestPageRankPageBehindRedirect(t *testing.T) {
	w := tiny{"a": "0 b c d", "g": "0 f", "r": "> b", "b": "0 e", "c": "0", "d": "0", "e": "0", "f": "0"}
	s := newPageRank()
	for _, a := range seeds("a", "g", "r") {
		s.Visit(w.fetch(a, 1))
	}
	if next := s.Breed(1, rand.New(rand.NewPCG(1, 1))); len(next) != 1 || name(next[0].URL) != "e" {
		t.Errorf("%v comes first, want e", next)
	}
}
