package judge

import (
	"cmp"
	"slices"
)

// Measures are the measures of one crawl.
type Measures struct {
	T       int // the budget
	R       int // relevant pages that can be reached
	Fetched int // cost of the whole crawl, which may be more than T

	Harvest float64 // relevant pages found per unit of cost, up to T
	Recall  float64 // share of R found up to T; above 1 if the crawl found pages that no link reaches

	AUC            float64 // mean of recall over the costs 1 to T: the area under the curve of recall
	AUCRandom      float64 // AUC of the mean random crawl
	NAUC           float64 // 0 for random, 1 for clairvoyant; 0 if these two are equal
	AUCClairvoyant float64 // AUC divided by the AUC of the clairvoyant crawler
	AUCBound       float64 // AUC divided by the AUC of the bound

	// The cost at which 50, 80 and 90 % of R were found; 0 if they were not found up to T.
	Cost50 int
	Cost80 int
	Cost90 int

	RelevantHosts int // hosts of the relevant pages found up to T

	Curve []int // relevant pages found at each cost from 1 to T
}

// HarvestAt returns the harvest rate at a cost: relevant pages found per unit of cost. If the
// crawl ended before, it is the rate at its end. Costs are limited to the range 1 to T.
func (m *Measures) HarvestAt(cost int) float64 {
	cost = m.within(cost)
	return ratio(float64(m.Curve[cost-1]), float64(min(cost, m.Fetched)))
}

// RecallAt returns the target recall at a cost: the share of R found. Costs are limited to
// the range 1 to T.
func (m *Measures) RecallAt(cost int) float64 {
	return ratio(float64(m.Curve[m.within(cost)-1]), float64(m.R))
}

func (m *Measures) within(cost int) int { return max(1, min(cost, m.T)) }

// Curve returns the number of relevant pages that a crawl found at each cost from 1 to T. The
// order has a page or a negative number for each unit of cost. A repeated page costs again, but is
// found only once. Pages that cannot be reached by links are found too.
func (j *Judge) Curve(order []int32) []int { return j.web.curve(order, j.T) }

// Measure measures a crawl, given its order as for [Judge.Curve].
func (j *Judge) Measure(order []int32) Measures {
	curve := j.Curve(order)
	found := curve[j.T-1]
	auc, random, clairvoyant := area(curve, j.R), area(j.random().Mean, j.R), area(j.clairvoyant(), j.R)
	return Measures{
		T:              j.T,
		R:              j.R,
		Fetched:        len(order),
		Harvest:        ratio(float64(found), float64(min(j.T, len(order)))),
		Recall:         ratio(float64(found), float64(j.R)),
		AUC:            auc,
		AUCRandom:      random,
		NAUC:           ratio(auc-random, clairvoyant-random),
		AUCClairvoyant: ratio(auc, clairvoyant),
		AUCBound:       ratio(auc, area(j.bound(), j.R)),
		Cost50:         costOf(50, curve, j.R),
		Cost80:         costOf(80, curve, j.R),
		Cost90:         costOf(90, curve, j.R),
		RelevantHosts:  j.hosts(order),
		Curve:          curve,
	}
}

// Unreachable returns the number of relevant pages in the order, up to T, that cannot be reached from the
// seeds. They count as found, and R does not include them, so recall may exceed 1.
func (j *Judge) Unreachable(order []int32) int {
	reached := make(map[int32]bool, len(j.page))
	for _, page := range j.page {
		reached[page] = true
	}
	n := 0
	for _, page := range order[:min(j.T, len(order))] {
		if page >= 0 && j.web.Relevant[page] && !reached[page] {
			n++
			reached[page] = true // a page counts once
		}
	}
	return n
}

// Spread returns the AUC of the clairvoyant crawl minus that of random crawls: the denominator of nAUC. If
// it is small, nAUC depends on chance.
func (j *Judge) Spread() float64 { return area(j.clairvoyant(), j.R) - area(j.random().Mean, j.R) }

// area returns the mean of recall, given the curve of the number of found pages, and r, the number
// of pages to be found.
func area[N int | float64](curve []N, r int) float64 {
	sum := N(0)
	for _, found := range curve {
		sum += found
	}
	return ratio(float64(sum), float64(r*len(curve)))
}

// costOf returns the lowest cost at which the given percentage of r was found, or 0 if it was not.
func costOf(percent int, curve []int, r int) int {
	if r == 0 {
		return 0
	}
	i, _ := slices.BinarySearchFunc(curve, percent*r, func(found, want int) int { return cmp.Compare(100*found, want) })
	if i == len(curve) {
		return 0
	}
	return i + 1
}

// hosts returns the number of hosts with a relevant page that the order finds up to T.
func (j *Judge) hosts(order []int32) int {
	seen := make(map[int32]bool)
	for _, page := range order[:min(j.T, len(order))] {
		if page >= 0 && j.web.Relevant[page] && j.web.Host[page] >= 0 {
			seen[j.web.Host[page]] = true
		}
	}
	return len(seen)
}

// ratio returns a/b, or 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
