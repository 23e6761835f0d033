package closedweb

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"spoor/internal/judge"
	"spoor/internal/wire"
)

// opinions are the scores that a crawl gave the pages it fetched, and whether these are relevant.
type opinions struct {
	relevant []bool
	scores   map[string]*[]float64 // by name: parallel to relevant; shorter if the last pages lack it; NaN: none
}

// maxOpinions limits the names of scores; further ones are ignored.
const maxOpinions = 64

// add adds a page.
func (o *opinions) add(scores []wire.Scored, relevant bool) {
	if o.scores == nil {
		o.scores = map[string]*[]float64{}
	}
	for _, s := range scores {
		list := o.scores[s.Name]
		if list == nil {
			if len(o.scores) == maxOpinions {
				continue
			}
			list = new([]float64)
			o.scores[strings.Clone(s.Name)] = list // the reader uses the memory of the record again
		}
		for len(*list) < len(o.relevant) {
			*list = append(*list, math.NaN())
		}
		if len(*list) == len(o.relevant) { // a name that is repeated counts once
			*list = append(*list, s.Value)
		}
	}
	o.relevant = append(o.relevant, relevant)
}

// averagePrecision returns the average precision of the pages in descending order of each score:
//
//	Σ (recall at i − recall at i−1) · precision at i
//
// over the different values i of the score, so that pages of equal score have no order. It is in [0, 1];
// a useless score has the share of the relevant pages. All scores are compared on the same pages, those
// that have all of them. It is nil if there are no such pages or none of them is relevant.
func (o *opinions) averagePrecision() map[string]float64 {
	var places []int
	relevant := 0
	for i, r := range o.relevant {
		whole := true
		for _, list := range o.scores {
			whole = whole && i < len(*list) && !math.IsNaN((*list)[i])
		}
		if !whole {
			continue
		}
		places = append(places, i)
		if r {
			relevant++
		}
	}
	if relevant == 0 {
		return nil
	}
	all := map[string]float64{}
	for name, of := range o.scores {
		list := *of
		slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(list[b], list[a]) })
		sum, found := 0.0, 0
		for i := 0; i < len(places); {
			before, value := found, list[places[i]]
			for ; i < len(places) && list[places[i]] == value; i++ {
				if o.relevant[places[i]] {
					found++
				}
			}
			sum += float64(found-before) / float64(relevant) * float64(found) / float64(i)
		}
		all[name] = *judge.Rounded(sum)
	}
	return all
}
