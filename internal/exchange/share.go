package exchange

import (
	"cmp"
	"slices"
)

// share divides total addresses among partitions. The sum of the result is total.

// shareByPriority gives every partition as many addresses as it has of the highest priorities of
// all partitions; best holds the priorities that wait, in descending order. Of equal priorities
// those of the partition with the lower number come first. What remains, if fewer addresses wait,
// is divided evenly: a partition may get addresses from others in the meantime.
func shareByPriority(total int, best [][]float64) []int {
	type waiting struct {
		priority  float64
		partition int
	}
	var all []waiting
	for p, priorities := range best {
		for _, priority := range priorities[:min(total, len(priorities))] {
			all = append(all, waiting{priority, p})
		}
	}
	slices.SortStableFunc(all, func(a, b waiting) int {
		return cmp.Or(cmpFloat(b.priority, a.priority), cmp.Compare(a.partition, b.partition))
	})
	n := make([]int, len(best))
	for _, w := range all[:min(total, len(all))] {
		n[w.partition]++
	}
	addEvenly(n, total-min(total, len(all)))
	return n
}

// shareByReward divides total in proportion to 1 + reward, by largest remainders; of equal
// remainders that of the partition with the lower number comes first.
func shareByReward(total int, reward []int) []int {
	weights := int64(0)
	for _, r := range reward {
		weights += 1 + int64(r)
	}
	n := make([]int, len(reward))
	remainders := make([]int64, len(reward))
	order := make([]int, len(reward))
	left := total
	for p, r := range reward {
		product := int64(total) * (1 + int64(r))
		n[p], remainders[p], order[p] = int(product/weights), product%weights, p
		left -= n[p]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	for _, p := range order[:left] { // fewer remainders are positive than there are partitions
		n[p]++
	}
	return n
}

// atLeastOne moves addresses from the partitions with the most to those without any, as long as
// there are any to move, because a partition that fetches nothing discovers nothing.
func atLeastOne(n []int) {
	for p := range n {
		if n[p] > 0 {
			continue
		}
		most := 0
		for q := range n {
			if n[q] > n[most] {
				most = q
			}
		}
		if n[most] < 2 {
			return
		}
		n[most]--
		n[p]++
	}
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
