package exchange

import (
	"cmp"
	"math"
	"slices"
)

// This file divides the addresses of a window among the partitions.

// shareByPriority selects the highest priorities of all partitions, and gives every partition as many
// addresses as are selected from it. best holds the priorities of the waiting addresses of each
// partition, in descending order. Equal priorities are selected from the partitions in turn. If fewer
// than total addresses wait, the remainder is divided evenly, because a partition may get addresses
// from others in the meantime.
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
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.place, b.place), cmp.Compare(a.partition, b.partition))
	})
	n := make([]int, len(best))
	for _, w := range all[:min(total, len(all))] {
		n[w.partition]++
	}
	addEvenly(n, total-min(total, len(all)))
	return n
}

// A record describes the recent results of a partition, and its supply of addresses.
type record struct {
	cost, relevant int // numbers of pages
	waiting        int // number of waiting addresses
}

// shareByReward divides total in proportion to rates. The rate of a partition is the share of relevant
// pages among those that it has fetched recently, plus one imaginary page with the mean rate of all
// partitions. No partition gets more addresses than wait there, as long as others have some. Parts are
// not whole numbers, and are rounded so that their sum stays total: they are laid end to end on a line, and a
// partition gets as many addresses as there are whole numbers within its part. The line is shifted in each generation, by
// the golden ratio, so that fractions are rounded up in some generations and down in others.
func shareByReward(generation, total int, partitions []record) []int {
	const golden = 0.6180339887498949
	n := make([]int, len(partitions))
	if total == 0 {
		return n
	}
	relevant, cost := 0, 0
	for _, r := range partitions {
		relevant += r.relevant
		cost += r.cost
	}
	mean := float64(relevant+1) / float64(cost+1)
	rates := make([]float64, len(partitions))
	for p, r := range partitions {
		rates[p] = (float64(r.relevant) + mean) / float64(r.cost+1)
	}
	parts := fill(float64(total), rates, partitions)
	sum := 0.0
	for _, part := range parts {
		sum += part
	}
	shift := float64(float64(generation) * golden)
	shift -= math.Floor(shift)
	end, before := 0.0, 0
	for p, part := range parts {
		end += part
		place := int(shift + float64(float64(total)*(end/sum)))
		n[p], before = place-before, place
	}
	return n
}

// fill divides total in proportion to rates, but gives no partition more than its waiting addresses. If
// all partitions have that many, the remainder is divided evenly.
func fill(total float64, rates []float64, partitions []record) []float64 {
	parts, full := make([]float64, len(rates)), make([]bool, len(rates))
	for again := true; again; {
		again = false
		left, sum := total, 0.0
		for p := range parts {
			if full[p] {
				left -= parts[p]
			} else {
				sum += rates[p]
			}
		}
		for p := range parts {
			if full[p] {
				continue
			}
			parts[p] = float64(left * (rates[p] / sum))
			if most := float64(partitions[p].waiting); parts[p] > most {
				parts[p], full[p], again = most, true, true
			}
		}
	}
	for p := range parts {
		total -= parts[p]
	}
	for p := range parts {
		parts[p] += max(0, total) / float64(len(parts))
	}
	return parts
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
