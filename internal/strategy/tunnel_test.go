package strategy

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"spoor/internal/graph"
)

// table is what stands in the irrelevant table, by discovery: entries with their
// levels, those marked fetched with a star.
func (s *tunnel) table() string {
	var entries []string
	for id := range graph.ID(s.web.Len()) {
		if s.level.at(id) == 0 {
			continue
		}
		mark := ""
		if _, fetched := s.page(id); fetched {
			mark = "*"
		}
		entries = append(entries, fmt.Sprintf("%s%s%.0f", name(s.web.URL(id)), mark, s.level.at(id)-1))
	}
	return strings.Join(entries, " ")
}

// The trace of Pal's Table II. An irrelevant page brings a to e with the scores 2, 3,
// 5, 1 and 4 (which are those of the anchors, its own relevance being 0); c and e are
// relevant and bring f, g and h, each with the score 1 + 0.3; b is not.
//
// With compat c, e and b stay, marked; f, g and h enter at level 1, one below c
// and e; b lets the entries of its level with scores up to 3 sink, itself and a and
// d. Then a (2) is the best; irrelevant, it takes those of level 1 with it that have
// no more: a and d, and f, g, h. f is the first of these at level 2, takes down all
// with up to 1.3 there, and nothing is left at level 2 or above but a, which was
// fetched.
//
// As we read it, entries leave when they are fetched and compete with the queue by
// score · 0.5^(level+1): c 2.5, e 2, b 1.5; f, g, h go to the queue, with 1.3. b
// takes a and d to level 1, and its own link i enters there: a has 0.5, d 0.25, i 0.
// a takes d to level 2: 0.125.
func TestTunnelTableII(t *testing.T) {
	w := anchored{
		"p": "0 a=2 b=3 c=5 d=1 e=4",
		"a": "0", "b": "0 i", "c": "0.3 f g", "d": "0", "e": "0.3 h",
		"f": "0", "g": "0", "h": "0", "i": "0",
	}
	for _, test := range []struct {
		compat string
		want   [][2]string // what was fetched, and the table after it
	}{
		{"false", [][2]string{
			{"p seed", "a0 b0 c0 d0 e0"},
			{"c tunnel", "a0 b0 d0 e0"},
			{"e tunnel", "a0 b0 d0"},
			{"b tunnel", "a1 d1 i1"},
			{"f link", "a1 d1 i1"},
			{"g link", "a1 d1 i1"},
			{"h link", "a1 d1 i1"},
			{"a tunnel", "d2 i1"},
			{"d tunnel", "i1"},
			{"i tunnel", ""},
			{"", ""},
		}},
		{"true", [][2]string{
			{"p seed", "a0 b0 c0 d0 e0"},
			{"c tunnel", "a0 b0 c*0 d0 e0 f1 g1"},
			{"e tunnel", "a0 b0 c*0 d0 e*0 f1 g1 h1"},
			{"b tunnel", "a1 b*1 c*0 d1 e*0 f1 g1 h1"},
			{"a tunnel", "a*2 b*1 c*0 d2 e*0 f2 g2 h2"},
			{"f tunnel", "a*2 b*1 c*0 d3 e*0 f*3 g3 h3"},
			{"", "a*2 b*1 c*0 d3 e*0 f*3 g3 h3"},
		}},
	} {
		s := newStrategy(t, "tunnel", target(t), []string{"limit=0.25", "compat=" + test.compat})
		asked := seeds("p")
		for g, want := range test.want {
			var what string
			for _, a := range asked {
				what = name(a.URL) + " " + a.Operator
			}
			asked = w.generation(s, 1, g+1, asked)
			if got := [2]string{what, s.(*tunnel).table()}; got != want {
				t.Errorf("compat=%s, generation %d: %q, want %q", test.compat, g+1, got, want)
			}
		}
		var order []string
		for _, want := range test.want {
			order = append(order, want[0])
		}
		check(t, crawl(t, w, "tunnel", []string{"limit=0.25", "compat=" + test.compat}, 1, len(order), "p"), order)
	}
}

// Eq. 4 by hand. Two relevant pages (0.8, 0.5) and one that is not (0.1) link to x,
// the first of them twice; the best anchor is worth 0.6, the address 0.5:
//
//	0.5 + 0.6 + 2 + (0.8 + 0.5 + 0.1) = 4.5
//	0.5 + 0.6 + ln 3 + 1.4 / 3        = 2.665 (log1p, mean)
func TestTunnelScoresALinkByEquation4(t *testing.T) {
	w := anchored{"q": "0.8 x=0.3,0.5 x=0.3,0.5", "r": "0.5 x=0.6,0.5", "z": "0.1 x=0.2,0.5"}
	for _, test := range []struct {
		params []string
		want   string
	}{
		{nil, "x link 4.5 via q anchor=0.6 parents=1.4 relevant=2 url=0.5"},
		{[]string{"count=log1p", "parents=mean"}, "x link 2.665 via q anchor=0.6 parents=0.4667 relevant=1.099 url=0.5"},
	} {
		s := newStrategy(t, "tunnel", target(t), append(test.params, "limit=0.4"))
		check(t, described(w.generation(s, 5, 1, seeds("q", "r", "z"))), []string{test.want})
	}
}

// The score of a link that waits grows with the pages that come to link to it: y has
// 0.5 first, x 0.2 + 0.6; then r adds its 1 + 0.5 to y.
func TestTunnelUpdatesScoresWithNewParents(t *testing.T) {
	w := anchored{"q": "0.6 x=0.2 y r=0.9", "r": "0.5 y", "x": "0", "y": "0"}
	check(t, crawl(t, w, "tunnel", []string{"limit=0.4"}, 1, 4, "q"), []string{"q seed", "r link", "y link", "x link"})
}

// The table of [target] has six words of weight 1, so that one of them in an address
// makes the score 1/√6.
func TestTunnelLimitFromSeeds(t *testing.T) {
	for _, test := range []struct {
		name   string
		web    anchored
		params []string
		want   float64
	}{
		{"half the mean", anchored{"a": "0.8", "b": "0.4", "c": "!"}, nil, 0.3},
		{"not below 0.1", anchored{"a": "0.1", "b": "0.1", "c": "0"}, nil, 0.1},
		{"not above 0.6", anchored{"a": "2", "b": "3", "c": "4"}, nil, 0.6},
		{"as given", anchored{"a": "0.8", "b": "0.4", "c": "0.1"}, []string{"limit=0.7"}, 0.7},
		{"half the mean of what comes first", anchored{"a": "!", "b": "!", "c": "!"}, nil, 0.45},
		{"half the mean of the addresses", anchored{"genetic": "0", "b": "0.4", "c": "!"}, []string{"compat=true"}, 0.5 * 0.40824829046386296 / 2},
	} {
		names := []string{"a", "b", "c"}
		if _, ok := test.web["genetic"]; ok {
			names[0] = "genetic"
		}
		s := newStrategy(t, "tunnel", target(t), test.params)
		test.web.generation(s, 5, 1, seeds(names...))
		test.web["late"] = "0.9" // which changes nothing more
		late := seeds("late")
		if !strings.Contains(test.name, "comes first") {
			late[0].Operator = opLink
		}
		test.web.generation(s, 5, 2, late)
		if got := s.(*tunnel).limit; got-test.want > 1e-15 || test.want-got > 1e-15 {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		// One a generation, as to the letter, they come to the same, through a state too.
		var deltas [][]byte
		limit := 0.0
		for g, name := range names {
			one := newStrategy(t, "tunnel", target(t), test.params)
			for _, d := range deltas {
				if err := one.Replay(d); err != nil {
					t.Fatal(err)
				}
			}
			test.web.generation(one, 1, g+1, seeds(name))
			limit, deltas = one.(*tunnel).limit, append(deltas, one.AppendDelta(nil))
		}
		if !strings.Contains(test.name, "comes first") && math.Abs(limit-test.want) > 1e-15 {
			t.Errorf("%s: %v, one a generation, want %v", test.name, limit, test.want)
		}
	}
}

// Nothing relevant is behind b, c and d; e is relevant. Levels 0 to 2 are followed: b,
// c and d. From d on there is only a restart, and with compat nothing, which does
// not even reach c.
func TestTunnelEndsAtMaxLevel(t *testing.T) {
	w := anchored{"a": "0 b", "b": "0 c", "c": "0 d", "d": "0 e", "e": "0.9 f", "f": "0"}
	check(t, crawl(t, w, "tunnel", nil, 3, 7, "a"), []string{
		"a seed", "b tunnel", "c tunnel", "d tunnel", "e restart", "f link", "",
	})
	check(t, crawl(t, w, "tunnel", []string{"max-level=0"}, 3, 6, "a"), []string{
		"a seed", "b tunnel", "c restart", "d tunnel", "e restart", "f link",
	})
	check(t, crawl(t, w, "tunnel", []string{"max-level=3"}, 3, 6, "a"), []string{
		"a seed", "b tunnel", "c tunnel", "d tunnel", "e tunnel", "f link",
	})
	check(t, crawl(t, w, "tunnel", []string{"limit=0.1", "compat=true"}, 3, 3, "a"), []string{
		"a seed", "b tunnel", "",
	})
}

// A page whose relevance is the limit is irrelevant: the paper's is above it.
func TestTunnelRelevantPageExceedsTheLimit(t *testing.T) {
	for score, want := range map[string]string{"0.5": "b tunnel", "0.51": "b link"} {
		w := anchored{"a": score + " b", "b": "0"}
		for _, compat := range []string{"false", "true"} {
			check(t, crawl(t, w, "tunnel", []string{"limit=0.5", "compat=" + compat}, 1, 2, "a"), []string{"a seed", want})
		}
	}
}

// With compat the table is emptied before the queue: x waits, although it has more.
func TestTunnelCompatEmptiesTableFirst(t *testing.T) {
	w := anchored{"a": "0.9 x=0.9", "b": "0 c=0.1 d", "c": "0", "d": "0", "x": "0"}
	check(t, crawl(t, w, "tunnel", []string{"limit=0.5"}, 3, 2, "a", "b"), []string{
		"a seed, b seed", "x link, c tunnel, d tunnel",
	})
	check(t, crawl(t, w, "tunnel", []string{"limit=0.5", "compat=true"}, 3, 3, "a", "b"), []string{
		"a seed, b seed", "c tunnel, d tunnel", "x link",
	})
}

// c is behind an irrelevant page only until a relevant one links to it.
func TestTunnelMovesALinkToTheQueue(t *testing.T) {
	w := anchored{"a": "0 b=0.5 c=0.1", "b": "0.9 c", "c": "0 d", "d": "0"}
	s := newStrategy(t, "tunnel", target(t), []string{"limit=0.5"})
	next := w.generation(s, 1, 1, seeds("a"))
	check(t, described(next), []string{"b tunnel 0.25 via a anchor=0.5 level=0 parents=0 relevant=0 url=0"})
	next = w.generation(s, 1, 2, next)
	check(t, described(next), []string{"c link 2 via b anchor=0.1 parents=0.9 relevant=1 url=0"})
	next = w.generation(s, 1, 3, next) // from the queue: its links enter at level 0
	check(t, described(next), []string{"d tunnel 0 via c anchor=0 level=0 parents=0 relevant=0 url=0"})
}
