// Package niche keeps a population varied: members compete only within their niche, so no
// niche can displace the others.
//
// The caller defines the niches; crawlers use the host, or the host with the first directories
// of the path.
package niche

import (
	"cmp"
	"slices"
)

// A Member is a member of the population.
type Member struct {
	Niche string
	Score float64
	Tie   string // if scores are equal, the member with the larger tie is eliminated first
}

// A Rule defines how many members of a niche are eliminated.
type Rule struct {
	Fraction float64 // eliminated share of the niche, in [0, 1]; the number is rounded down
	Count    int     // if positive, the number of eliminated members; Fraction is ignored
	MinSize  int     // no member of a smaller niche is eliminated
}

// numEliminated returns the number of members eliminated from a niche of n.
func (r Rule) numEliminated(n int) int {
	switch {
	case n < r.MinSize:
		return 0
	case r.Count > 0:
		return min(r.Count, n)
	}
	return min(n, int(float64(r.Fraction*float64(n))+roundOff))
}

// roundOff compensates for rounding errors: 0.29·100 is 28.999… in floating point, and must be 29.
const roundOff = 1e-9

// KnockOut eliminates the lowest scores of every niche. It returns the indexes of the members
// that stay and of those that are eliminated, both in the order of members.
//
// Source: Fan, Zeng and Li's niche genetic algorithm, "eliminate the last m or m percent" of
// each niche.
func KnockOut(members []Member, rule Rule) (stay, gone []int) {
	niches := map[string][]int{}
	for i, m := range members {
		niches[m.Niche] = append(niches[m.Niche], i)
	}
	out := make([]bool, len(members))
	for _, places := range niches { // in any order: niches are independent
		slices.SortFunc(places, func(a, b int) int {
			return cmp.Or(
				cmp.Compare(members[a].Score, members[b].Score),
				cmp.Compare(members[b].Tie, members[a].Tie),
				cmp.Compare(b, a))
		})
		for _, place := range places[:rule.numEliminated(len(places))] {
			out[place] = true
		}
	}
	for i := range members {
		if out[i] {
			gone = append(gone, i)
		} else {
			stay = append(stay, i)
		}
	}
	return stay, gone
}
