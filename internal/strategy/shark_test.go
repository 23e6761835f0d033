package strategy

import (
	"testing"

	"spoor/internal/wire"
)

// pageOf is a page that was fetched, with links as their words are worth.
func pageOf(name string, score float64, links ...wire.Link) *wire.Record {
	return &wire.Record{URL: address(name), StatusCode: 200, Score: wire.Num(score), Links: links}
}

// linkTo is a link whose anchor and context are worth so much.
func linkTo(name string, anchor, context float64) wire.Link {
	return wire.Link{URL: address(name), Scores: []wire.Scored{{Name: "anchor", Value: anchor}, {Name: "context", Value: context}}}
}

// The numbers are worked out with δ = 0.5, β = 0.8, γ = 0.5.
func TestSharkSearchByHand(t *testing.T) {
	s := made[*shark](t, "shark")
	for _, test := range []struct {
		rec  *wire.Record
		want map[string]float64
	}{
		// inherited 0.5·0.6 = 0.3
		{pageOf("a", 0.6, linkTo("b", 0.5, 0.1), linkTo("c", 0, 0.4), linkTo("d", 0, 0)), map[string]float64{
			"b": 0.45, // 0.5·0.3 + 0.5·(0.8·0.5 + 0.2·1)
			"c": 0.19, // 0.5·0.3 + 0.5·(0.2·0.4)
			"d": 0.15, // 0.5·0.3
		}},
		// d says nothing: it hands on half of what it inherited, 0.15
		{pageOf("d", 0, linkTo("e", 0, 0), linkTo("b", 0, 0), linkTo("c", 1, 0)), map[string]float64{
			"e": 0.075, // 0.5·0.15
			"c": 0.575, // 0.075 + 0.5·(0.8 + 0.2), more than 0.19; b keeps 0.45
		}},
		// c inherited 0.3 of a, which d's 0.15 does not take away
		{pageOf("c", 0, linkTo("f", 0, 0)), map[string]float64{"f": 0.075}},
		// anything above ε = 0 is relevant, and inherited for what it is
		{pageOf("b", 0.1, linkTo("g", 0, 1)), map[string]float64{"g": 0.125}}, // 0.5·0.05 + 0.5·0.2
	} {
		s.Visit(test.rec)
		next := s.Breed(1, nil)
		for _, a := range next {
			if want := test.want[name(a.URL)]; !equals(a.Priority, want) {
				t.Errorf("%s: potential %v, want %v", a.URL, a.Priority, want)
			}
			if a.Via != test.rec.URL {
				t.Errorf("%s comes from %s", a.URL, a.Via)
			}
		}
		if len(next) != len(test.want) {
			t.Errorf("after %s: %+v, want %v", test.rec.URL, next, test.want)
		}
	}
}

func TestSharkDepthBound(t *testing.T) {
	chain := tiny{"a": "0.9 b", "b": "0 c", "c": "0 d", "d": "0 e", "e": "0 f", "f": "1"}
	check(t, crawl(t, chain, "shark", nil, 1, 6, "a"),
		[]string{"a seed", "b link", "c link", "d link", "e link", ""}) // b, c, d and e are four
	check(t, crawl(t, chain, "shark", []string{"depth=1"}, 1, 4, "a"),
		[]string{"a seed", "b link", "c link", ""})
	weak := tiny{"a": "0.9 b", "b": "0.04 c", "c": "0.05 d", "d": "0.06 e", "e": "0"}
	check(t, crawl(t, weak, "shark", []string{"depth=1", "epsilon=0.05"}, 1, 4, "a"),
		[]string{"a seed", "b link", "c link", ""})
	// A second way that is shorter brings back what was given up.
	short := tiny{"a": "0.9 b g", "b": "0 c", "c": "0 f", "g": "0 h", "h": "0.9 f", "f": "0"}
	check(t, crawl(t, short, "shark", []string{"depth=1"}, 2, 4, "a"),
		[]string{"a seed", "b link, g link", "c link, h link", "f link"})
}
