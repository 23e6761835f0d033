package strategy

import (
	"strings"
	"testing"

	"spoor/internal/wire"
)

// paths is a web with the nuggets a and h. With C = 1,
//
//	d(b) = (1 − 0.4)·e⁰ = 0.6    d(c) = 1    d(e) = min(1, (1 − 0.45)·e^(2·0.6) = 1.826) = 1
//
// so that the paths over c and e end, and f and g are left for restarts, g first, by e's 0.45. With
// C = 5, d(e) = 0.55·e^(2·0.6/5) = 0.699: g is behind h, which b has at 0.6; by similarity it is before
// h, which has b's 0.4. With C = 0.5 the path over b ends, too. e and h are the first restarts, by b's
// 0.4; e starts a path, but with d(e) = 0.55·e⁰ that ends as well, and its g is the next restart.
var paths = judged{tiny{
	"a": "0.8 b c", "b": "0.4 e h", "c": "0 f", "e": "0.45 g", "h": "0.7 i",
	"f": "0", "g": "0", "i": "0",
}}

func TestBergmarkByHand(t *testing.T) {
	for _, test := range []struct{ params, want string }{
		{"", "a seed; b link; c link; e tunnel; h tunnel; i link; g restart; f restart; "},
		{"cutoff=5", "a seed; b link; c link; e tunnel; h tunnel; i link; g tunnel; f restart; "},
		{"cutoff=5 order=similarity", "a seed; b link; c link; e tunnel; g tunnel; h tunnel; i link; f restart; "},
		{"cutoff=0.5", "a seed; b link; c link; e restart; g restart; h restart; i link; f restart; "},
	} {
		check(t, crawl(t, paths, "bergmark", strings.Fields(test.params), 1, 9, "a"), strings.Split(test.want, "; "))
	}
}

// 0.55·e^0.24 = 0.699187. The links of nuggets have the nuggets' scores as priority.
func TestBergmarkDistances(t *testing.T) {
	s := newStrategy(t, "bergmark", nil, []string{"cutoff=5"})
	var next []Address
	for g, names := range [][]string{{"a"}, {"b"}, {"e", "h"}} {
		for _, a := range seeds(names...) {
			s.Visit(paths.fetch(a, g))
		}
		next = append(next, s.Breed(3, nil)...)
	}
	check(t, described(next), []string{
		"b link 0.8 via a distance=0 similarity=0.8",
		"c link 0.8 via a distance=0 similarity=0.8",
		"e tunnel -0.6 via b distance=0.6 similarity=0.4",
		"h tunnel -0.6 via b distance=0.6 similarity=0.4",
		"i link 0.7 via h distance=0 similarity=0.7",
		"g tunnel -0.6992 via e distance=0.6992 similarity=0.45",
	})
}

// y is behind w (d = 0.9) and then behind x (d = 0.6), whose path is shorter: y itself, with the score
// 0.5 less a little, is at 0.51·e^(2·0.6/5) = 0.648 in place of 0.51·e^(2·0.9/5) = 0.731.
func TestBergmarkTakesTheShortestPath(t *testing.T) {
	w := judged{tiny{"w": "0.1 y", "x": "0.4 y", "y": "0.49 z"}}
	s := newStrategy(t, "bergmark", nil, []string{"cutoff=5"})
	for g, names := range [][]string{{"w", "x"}, {"y"}} {
		for _, a := range seeds(names...) {
			s.Visit(w.fetch(a, g))
		}
		next := described(s.Breed(1, nil))
		check(t, next, [][]string{
			{"y tunnel -0.6 via x distance=0.6 similarity=0.4"},
			{"z tunnel -0.6483 via y distance=0.6483 similarity=0.49"},
		}[g])
	}
}

// Scores above 1 are divided by the highest of them: that of b is 0.4.
func TestBergmarkDividesByTheHighestScore(t *testing.T) {
	s := newStrategy(t, "bergmark", nil, nil)
	for _, rec := range []*wire.Record{pageOf("a", 20, linkTo("c", 0, 0)), pageOf("b", 8, linkTo("d", 0, 0))} {
		rec.Relevant = wire.Bool{Value: rec.URL == address("a"), Kind: wire.Present}
		s.Visit(rec)
	}
	check(t, described(s.Breed(2, nil)), []string{
		"c link 20 via a distance=0 similarity=20",
		"d tunnel -0.6 via b distance=0.6 similarity=8",
	})
}
