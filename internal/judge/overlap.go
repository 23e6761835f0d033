package judge

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Overlap returns the superposition ratio of Fan, Zeng and Li's Table I: pages "downloaded
// by both" divided by pages "downloaded by all". The paper does not define "all"; here it is
// the union of the two crawls, so that the ratio is the Jaccard coefficient: symmetric, 1 for
// the same pages in any order, and 0 if the crawls have no page in common.
//
// Orders are as in [Judge.Curve]; repeated pages and negative numbers are ignored. The caller cuts
// both orders at the same cost, and removes irrelevant pages if only relevant ones are to count. The
// ratio measures how different two crawls are, not how good they are.
func Overlap(a, b []int32) float64 {
	x, y := set(a), set(b)
	sum, both := len(x)+len(y), 0
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] < y[0]:
			x = x[1:]
		case x[0] > y[0]:
			y = y[1:]
		default:
			x, y = x[1:], y[1:]
			both++
		}
	}
	return ratio(float64(both), float64(sum-both))
}

// set returns the pages of an order, sorted, without duplicates.
func set(order []int32) []int32 {
	pages := slices.DeleteFunc(slices.Clone(order), func(page int32) bool { return page < 0 })
	slices.Sort(pages)
	return slices.Compact(pages)
}

// A PairOverlap is the overlap of two crawlers.
type PairOverlap struct {
	A       string  `json:"a"`
	B       string  `json:"b"`
	Overlap float64 `json:"overlap"`
}

// Overlaps returns the overlap of every pair of crawlers: the mean over samples. A sample has
// an order for each name. Orders are cut after cut units of cost; if cut is 0, after the length
// of the shortest order of the sample.
func Overlaps(names []string, samples [][][]int32, cut int) []PairOverlap {
	var pairs []PairOverlap
	for i, a := range names {
		for _, b := range names[i+1:] {
			pairs = append(pairs, PairOverlap{A: a, B: b})
		}
	}
	for _, orders := range samples {
		end := cut
		if end == 0 {
			end = len(slices.MinFunc(orders, func(a, b []int32) int { return len(a) - len(b) }))
		}
		p := 0
		for i, a := range orders {
			for _, b := range orders[i+1:] {
				pairs[p].Overlap += Overlap(a[:min(end, len(a))], b[:min(end, len(b))]) / float64(len(samples))
				p++
			}
		}
	}
	for i := range pairs {
		pairs[i].Overlap = round(pairs[i].Overlap)
	}
	return pairs
}

// WriteOverlapsNDJSON writes each overlap as a line of JSON.
func WriteOverlapsNDJSON(w io.Writer, pairs []PairOverlap) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, p := range pairs {
		if err := enc.Encode(p); err != nil {
			return err
		}
	}
	return nil
}

// WriteOverlaps writes the overlaps as a Markdown table in the form of the paper's Table I,
// in percent.
func WriteOverlaps(w io.Writer, names []string, pairs []PairOverlap) error {
	var b strings.Builder
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	b.WriteString("| |")
	for _, name := range names {
		fmt.Fprintf(&b, " %s |", cell(name))
	}
	fmt.Fprintf(&b, "\n|---|%s\n", strings.Repeat("--:|", len(names)))
	for _, x := range names {
		fmt.Fprintf(&b, "| %s |", cell(x))
		for _, y := range names {
			share := 1.0
			for _, p := range pairs {
				if p.A == x && p.B == y || p.A == y && p.B == x {
					share = p.Overlap
				}
			}
			fmt.Fprintf(&b, " %.0f %% |", 100*share)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
