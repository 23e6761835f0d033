package niche

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestKnockOut(t *testing.T) {
	a := func(score float64, tie string) Member { return Member{"a", score, tie} }
	b := func(score float64, tie string) Member { return Member{"b", score, tie} }
	for _, test := range []struct {
		name    string
		members []Member
		rule    Rule
		gone    []int
	}{
		{"an empty population", nil, Rule{Fraction: .5}, nil},
		{"half of each niche, rounded down", []Member{a(.1, "1"), a(.9, "2"), a(.5, "3"), b(.01, "4")}, Rule{Fraction: .5}, []int{0}},
		{"a poor niche keeps its best", []Member{a(.9, "1"), a(.8, "2"), b(.2, "3"), b(.1, "4")}, Rule{Fraction: .5}, []int{1, 3}},
		{"equal scores: the larger tie goes", []Member{a(.5, "x"), a(.5, "z"), a(.5, "y")}, Rule{Count: 1}, []int{1}},
		{"a small niche is left alone", []Member{a(.1, "1"), a(.2, "2")}, Rule{Count: 1, MinSize: 3}, nil},
		{"no more go than there are", []Member{a(.1, "1")}, Rule{Count: 5}, []int{0}},
		{"nobody goes for nothing", []Member{a(.1, "1"), a(.2, "2")}, Rule{}, nil},
	} {
		if _, gone := KnockOut(test.members, test.rule); !slices.Equal(gone, test.gone) {
			t.Errorf("%s: %v go, want %v", test.name, gone, test.gone)
		}
	}
}

func TestKnockOutPartitions(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		members := make([]Member, rng.IntN(80))
		size := map[string]int{}
		for i := range members {
			members[i] = Member{fmt.Sprint(rng.IntN(4)), float64(rng.IntN(5)), fmt.Sprint(i)}
			size[members[i].Niche]++
		}
		stay, gone := KnockOut(members, Rule{Fraction: .1, MinSize: 10})
		want := 0
		for _, n := range size {
			if n >= 10 {
				want += n / 10
			}
		}
		all := slices.Sorted(slices.Values(slices.Concat(stay, gone)))
		for i, place := range all {
			if i != place {
				t.Fatalf("seed %d: stay and gone are not the population", seed)
			}
		}
		if len(all) != len(members) || len(gone) != want {
			t.Fatalf("seed %d: %d of %d go, want %d", seed, len(gone), len(members), want)
		}
		for _, g := range gone {
			for _, s := range stay {
				if members[g].Niche == members[s].Niche && members[g].Score > members[s].Score {
					t.Fatalf("seed %d: a better member went", seed)
				}
			}
		}
	}
}
