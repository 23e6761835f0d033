package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"spoor/internal/wire"
)

// A Signal is a reason that a strategy gave for the addresses that it chose, compared with the
// relevance of their pages. For a page that has other reasons, but not this one, the value is 0.
type Signal struct {
	Name            string
	Fetched         int       // pages that were chosen with this reason
	Relevant, Other float64   // mean value for relevant pages and for other pages; NaN without such pages
	Correlation     float64   // correlation of the value with relevance, in [-1, 1]; NaN if undefined
	Correlations    []float64 // the correlation in each part of the crawl
}

// MaxSignals is the maximum length of Run.Signals.
const MaxSignals = 24

// Parts of a crawl: the first part has firstPart pages, and each following part has twice as many. The
// last of maxParts parts has all later pages.
const (
	firstPart = 100
	maxParts  = 12
)

// partOf returns the part of the page that is fetched after n others.
func partOf(n int) (part int) {
	for part < maxParts-1 && n >= partEnd(part) {
		part++
	}
	return part
}

// partEnd returns the number of pages after which a part ends.
func partEnd(part int) int { return firstPart * (1<<(part+1) - 1) }

type signals struct {
	pages  [maxParts]pair // pages that have reasons
	byName map[string]*[maxParts]sums
}

// sums holds the sums of a reason in a part of the crawl.
type sums struct {
	n                     int
	all, square, relevant float64 // sums of the values, of their squares, and of the values of relevant pages
}

// add counts the reasons of a page that is fetched after n others.
func (s *signals) add(rec *wire.Record, n, numRelevant int) {
	if len(rec.Reasons) == 0 {
		return
	}
	part := partOf(n)
	s.pages[part].add(pair{1, numRelevant})
	for _, r := range reasons(rec) {
		of := s.byName[r.Name]
		if of == nil {
			if len(s.byName) >= maxKinds {
				continue
			}
			if s.byName == nil {
				s.byName = map[string]*[maxParts]sums{}
			}
			of = new([maxParts]sums)
			s.byName[r.Name] = of
		}
		x := &of[part]
		v := max(-1e6, min(r.Value, 1e6))
		x.n++
		x.all += v
		x.square += float64(v * v)
		x.relevant += float64(v * float64(numRelevant))
	}
}

// list returns the signals. The most frequent signals are first.
func (s *signals) list() (list []Signal) {
	last := 0
	var pages pair
	for i, p := range s.pages {
		if p.fetched > 0 {
			last = i
		}
		pages.add(p)
	}
	for name, of := range s.byName {
		g := Signal{Name: name}
		var all sums
		for i := range of[:last+1] {
			all.add(&of[i])
			g.Correlations = append(g.Correlations, of[i].correlation(s.pages[i]))
		}
		g.Fetched, g.Correlation = all.n, all.correlation(pages)
		g.Relevant, g.Other = all.relevant/float64(pages.relevant), (all.all-all.relevant)/float64(pages.fetched-pages.relevant)
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b Signal) int {
		return cmp.Or(cmp.Compare(b.Fetched, a.Fetched), strings.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), MaxSignals)]
}

func (x *sums) add(y *sums) {
	x.n += y.n
	x.all += y.all
	x.square += y.square
	x.relevant += y.relevant
}

// correlation returns the correlation of the reason with relevance, among pages.
func (x *sums) correlation(pages pair) float64 {
	n, r := float64(pages.fetched), float64(pages.relevant)
	spread := float64((x.square - float64(x.all*x.all)/n) * (r - float64(r*r)/n))
	if !(spread > 1e-9) {
		return math.NaN()
	}
	return max(-1, min((x.relevant-float64(x.all*r)/n)/math.Sqrt(spread), 1))
}

// describeSignals returns a sentence about the signal with the highest correlation, and the ends of
// the parts of the crawl.
func describeSignals(r *Run) (sentence string, ends []int) {
	for part := range r.Signals[0].Correlations {
		ends = append(ends, min(partEnd(part), r.Fetched))
	}
	best := slices.MaxFunc(r.Signals, func(a, b Signal) int {
		return cmp.Compare(a.Correlation, b.Correlation) // NaN is below all others
	})
	if best.Correlation > 0 {
		sentence = fmt.Sprintf("Of the reasons for which addresses were chosen, %s told relevant pages from others best.", best.Name)
	}
	return sentence, ends
}
