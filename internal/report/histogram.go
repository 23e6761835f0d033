package report

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

const maxBins = 25

// bins counts pages by score. The bins have a round width (1, 2 or 5 times a power of ten),
// chosen so that 99 of 100 pages are within the bins. The few pages above are counted in the last bin,
// and the few pages with scores far below 0, which some measures have, in the first bin.
func bins(pages []scored) []Bin {
	if len(pages) == 0 {
		return nil
	}
	slices.SortFunc(pages, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	lowest, highest := pages[0].score, pages[len(pages)-1].score
	low := min(0, pages[len(pages)/100].score)
	high := pages[len(pages)-1-len(pages)/100].score
	edge := edges(low, high)
	list := make([]Bin, len(edge)-1)
	for i := range list {
		list[i].From, list[i].To = edge[i], edge[i+1]
	}
	for _, p := range pages {
		i := sort.Search(len(list), func(i int) bool { return list[i].From > p.score })
		b := &list[max(0, i-1)]
		switch p.verdict {
		case 'r':
			b.Relevant++
		case 'i':
			b.Irrelevant++
		default:
			b.Unlabelled++
		}
	}
	first, last := &list[0], &list[len(list)-1]
	first.From, last.To = min(first.From, lowest), max(last.To, highest)
	return list
}

// threshold returns the Threshold of a histogram, given the highest score of an irrelevant page
// and the lowest score of a relevant page. Each is NaN if there is no such page.
func threshold(list []Bin, highestIrrelevant, lowestRelevant float64) float64 {
	for _, b := range list {
		if !(b.From <= highestIrrelevant) && b.From <= lowestRelevant {
			return b.From
		}
	}
	return lowestRelevant
}

// edges returns the borders of the bins from low to high: at least two, ascending.
func edges(low, high float64) []float64 {
	all := []float64{low, max(high, math.Nextafter(low, math.Inf(1)))} // one bin
	width, digits := 1.0, 0.0                                          // the width of a bin is width / 10^digits
	if span := high - low; span > 0 {
		digits = -math.Floor(math.Log10(span / (maxBins - 1)))
		for _, w := range []float64{1, 2, 5, 10} {
			if width = w; at(w, digits)*(maxBins-1) >= span {
				break
			}
		}
	}
	from := math.Floor(low / at(width, digits))
	edge := []float64{at(from*width, digits)}
	for len(edge) <= maxBins && (len(edge) < 2 || edge[len(edge)-1] < high) {
		next := at((from+float64(len(edge)))*width, digits)
		if !(edge[len(edge)-1] < next && next < math.Inf(1)) {
			return all // such scores are too large, or too close together, to be rounded
		}
		edge = append(edge, next)
	}
	return edge
}

// at returns x / 10^digits, rounded once, so that borders are printed as round numbers.
func at(x, digits float64) float64 {
	if digits < 0 {
		return x * math.Pow(10, -digits)
	}
	return x / math.Pow(10, digits)
}
