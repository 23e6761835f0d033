package strategy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"spoor/internal/wire"
)

// The list is written down after every page, its three parts with bars between
// them. Width is 2, so relevant pages send 3 links to the beginning; depth is 2.
func TestFishSearchByHand(t *testing.T) {
	w := judged{tiny{
		"a": "1 a.test/x b c d e", // relevant; b c d || e x, for x is on its own host
		"b": "0 f g h",            // c d | f g | e x h: depth of f, g, h 1
		"c": "1 i e",              // i e d | f g | x h: e comes from the end to the beginning
		"i": "0 j k",              // e d | j k f g | x h
		"e": "0", "d": "!",
		"j": "0 l", // l k f g | x h: l, at depth 0, is the last of its line
		"l": "0 m", // k f g | x h m
		"k": "0", "f": "0", "g": "0", "a.test/x": "0", "h": "0", "m": "1",
	}}
	check(t, crawl(t, w, "fish", []string{"width=2", "depth=2"}, 1, 14, "a"), []string{
		"a seed", "b link", "c link", "i link", "e link", "d link", "j link", "l link",
		"k link", "f link", "g link", "a.test/x link", "h link", "m link",
	})
}

func TestFishRelevantPageResetsDepth(t *testing.T) {
	w := judged{tiny{
		"a": "0 b", // b has depth 0
		"b": "1 c", // relevant, but at depth 0: c at the end, with depth 1
		"c": "0 d e", "d": "0", "e": "0",
		"s": "0 t", "t": "0",
	}}
	// After c, which has depth 1, d goes to the middle, before all at the end.
	check(t, crawl(t, w, "fish", []string{"width=1", "depth=1"}, 1, 7, "a", "s"), []string{
		"a seed", "b link", "c link", "d link", "e link", "s seed", "t link",
	})
}

// A slow page is one of depth 0: its links go to the end, and swim on only if it was
// relevant.
func TestFishLinksOfSlowPagesGoToTheEnd(t *testing.T) {
	for _, test := range []struct {
		ms            int64
		relevant      wire.Bool
		want, survive float64
	}{
		{100, wire.True, laneBegin + 1, 3}, {101, wire.True, laneEnd - 1, 3},
		{100, wire.False, laneMiddle + 1, 2}, {101, wire.False, laneEnd - 1, 0},
	} {
		s := made[*fish](t, "fish", "slow=100")
		s.Visit(&wire.Record{URL: address("a"), StatusCode: 200, Relevant: test.relevant, FetchMS: test.ms,
			Links: []wire.Link{{URL: address("b")}}})
		next := s.Breed(1, nil)
		if len(next) != 1 || next[0].Priority != test.want || reason(t, next[0], "depth") != test.survive {
			t.Errorf("relevant %v, after %d ms: %+v, want priority %v and depth %v", test.relevant, test.ms, next, test.want, test.survive)
		}
	}
}

// Width 5 and share 1.5 are seven links and a half.
func TestFishShareIsRoundedDown(t *testing.T) {
	for _, test := range []struct {
		relevant wire.Bool
		want     int
	}{{wire.True, 7}, {wire.False, 5}, {wire.Bool{}, 5}} {
		s := made[*fish](t, "fish")
		rec := &wire.Record{URL: address("a"), StatusCode: 200, Relevant: test.relevant}
		for _, c := range "bcdefghijklm" {
			rec.Links = append(rec.Links, wire.Link{URL: address(string(c))}, wire.Link{URL: address(string(c))})
		}
		s.Visit(rec)
		next := s.Breed(1, rand.New(rand.NewPCG(1, 1)))
		up := len(slices.DeleteFunc(slices.Clone(next), func(a Address) bool { return a.Priority <= laneEnd }))
		if len(next) != 12 || up != test.want {
			t.Errorf("relevant %v: %d of %d links are not at the end, want %d of 12", test.relevant, up, len(next), test.want)
		}
	}
}
