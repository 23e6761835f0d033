package judge

import (
	"cmp"
	"slices"
)

// Measures are what is said of one crawl.
type Measures struct {
	T       int // the budget that it was measured with
	R       int // the relevant pages that can be reached
	Fetched int // what the crawl has cost, beyond T too

	Harvest float64 // relevant pages found, of what was paid, up to T
	Recall  float64 // relevant pages found up to T, of R; more than 1 is possible where a crawl has other ways than links

	AUC            float64 // the mean of recall over the costs 1 to T: the area under its curve
	AUCRandom      float64 // the area under the mean of random crawls
	NAUC           float64 // 0 is random, 1 clairvoyant; 0 where these two are the same
	AUCClairvoyant float64 // AUC, of the area under the clairvoyant crawler's curve
	AUCBound       float64 // AUC, of the area under the bound

	// The cost at which so many percent of R were found; 0: never up to T.
	Cost50 int
	Cost80 int
	Cost90 int

	RelevantHosts int // hosts of the relevant pages found up to T

	Curve []int // relevant pages found at each cost from 1 to T
}

// HarvestAt is the harvest rate at a cost: relevant pages found, of what was paid; what a
// crawl did not spend was not paid. Costs are 1 to T; others count as the nearest of these.
func (m *Measures) HarvestAt(cost int) float64 {
	cost = m.within(cost)
	return ratio(float64(m.Curve[cost-1]), float64(min(cost, m.Fetched)))
}

// RecallAt is the target recall at a cost: relevant pages found, of R. Costs are 1 to T;
// others count as the nearest of these.
func (m *Measures) RecallAt(cost int) float64 {
	return ratio(float64(m.Curve[m.within(cost)-1]), float64(m.R))
}

func (m *Measures) within(cost int) int { return max(1, min(cost, m.T)) }

// Curve is how many relevant pages a crawl found at each cost from 1 to T. The order has
// a page for each unit of cost, or a negative number. A page that comes again costs
// again and is nothing new. What a crawl found that no link leads to counts as well.
func (j *Judge) Curve(order []int32) []int { return j.web.curve(order, j.T) }

// Measure measures a crawl; see [Judge.Curve] for what an order is.
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

// area is the mean of recall, where curve is what was found of r at each cost.
func area[N int | float64](curve []N, r int) float64 {
	sum := N(0)
	for _, found := range curve {
		sum += found
	}
	return ratio(float64(sum), float64(r*len(curve)))
}

// costOf is the least cost at which so many percent of r are found, 0 if there is none.
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

// hosts is how many hosts have a relevant page that an order finds up to T.
func (j *Judge) hosts(order []int32) int {
	seen := make(map[int32]bool)
	for _, page := range order[:min(j.T, len(order))] {
		if page >= 0 && j.web.Relevant[page] && j.web.Host[page] >= 0 {
			seen[j.web.Host[page]] = true
		}
	}
	return len(seen)
}

// ratio is a/b, and 0 where b is.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
