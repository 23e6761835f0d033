package exchange

import (
	"cmp"
	"math"
	"slices"
)

// share divides total addresses among partitions. The sum of the result is total.

// shareByPriority gives every partition as many addresses as it has of the highest priorities of
// all partitions; best holds the priorities that wait, in descending order. Equal priorities are taken
// from one partition after the other. What remains, if fewer addresses wait,
// is divided evenly: a partition may get addresses from others in the meantime.
func shareByPriority(total int, best [][]float64) []int {
	type waiting struct {
		priority         float64
		place, partition int
	}
	var all []waiting
	for p, priorities := range best {
		for i, priority := range priorities[:min(total, len(priorities))] {
			all = append(all, waiting{priority, i, p})
		}
	}
	slices.SortStableFunc(all, func(a, b waiting) int {
		return cmp.Or(cmpFloat(b.priority, a.priority), cmp.Compare(a.place, b.place), cmp.Compare(a.partition, b.partition))
	})
	n := make([]int, len(best))
	for _, w := range all[:min(total, len(all))] {
		n[w.partition]++
	}
	addEvenly(n, total-min(total, len(all)))
	return n
}

// shareByReward divides total in proportion to the share of relevant pages among those that each
// partition has fetched lately, where one page with the mean of all counts as fetched too. A
// partition whose part is a fraction gets one address more in some generations: the places of the
// addresses on the line of all parts are shifted with the generation, by the golden ratio.
func shareByReward(generation, total int, reward, cost []int) []int {
	const golden = 0.6180339887498949
	allReward, allCost := 0, 0
	for p := range reward {
		allReward += reward[p]
		allCost += cost[p]
	}
	mean := float64(allReward+1) / float64(allCost+1)
	end := make([]float64, len(reward)) // of each partition's part on the line
	sum := 0.0
	for p := range end {
		sum += (float64(reward[p]) + mean) / float64(cost[p]+1)
		end[p] = sum
	}
	shift := float64(float64(generation) * golden)
	shift -= math.Floor(shift)
	n := make([]int, len(reward))
	before := 0
	for p := range n {
		place := int(shift + float64(float64(total)*(end[p]/sum)))
		n[p], before = place-before, place
	}
	return n
}

// addEvenly adds total to n, as evenly as possible.
func addEvenly(n []int, total int) {
	for p := range n {
		n[p] += total / len(n)
		if p < total%len(n) {
			n[p]++
		}
	}
}
