// Package niche keeps a population varied: its members live in niches, and
// compete with the members of their own niche only, so that one niche cannot
// crowd out the others.
//
// What a niche is, is the caller's choice; crawlers use the host, or the host
// with the first directories of the address.
package niche

import (
	"cmp"
	"slices"
)

// A Member is one of the population.
type Member struct {
	Niche string
	Score float64
	Tie   string // equal scores: the member with the larger tie loses
}

// A Rule says how many members a niche loses.
type Rule struct {
	Fraction float64 // of the niche, rounded down, in [0, 1]
	Count    int     // or, if positive, this many
	MinSize  int     // smaller niches lose none
}

// losers is how many of a niche of n go.
func (r Rule) losers(n int) int {
	switch {
	case n < r.MinSize:
		return 0
	case r.Count > 0:
		return min(r.Count, n)
	}
	return min(n, int(r.Fraction*float64(n)+roundOff))
}

// roundOff is what a product of a fraction may lack to be the whole number that
// it is on paper: 0.29 of 100 is 29.
const roundOff = 1e-9

// KnockOut eliminates the lowest scores of every niche. It returns the places of
// those who stay and of those who go, both in the order of members.
//
// Source: Fan, Zeng and Li's niche genetic algorithm, "eliminate the last m or m
// percent" of each niche.
func KnockOut(members []Member, rule Rule) (stay, gone []int) {
	niches := map[string][]int{}
	for i, m := range members {
		niches[m.Niche] = append(niches[m.Niche], i)
	}
	out := make([]bool, len(members))
	for _, places := range niches { // in any order: niches do not touch each other
		slices.SortFunc(places, func(a, b int) int {
			return cmp.Or(
				cmp.Compare(members[a].Score, members[b].Score),
				cmp.Compare(members[b].Tie, members[a].Tie),
				cmp.Compare(b, a))
		})
		for _, place := range places[:rule.losers(len(places))] {
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
