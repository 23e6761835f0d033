// Package judge measures crawls of a closed web whose relevant pages are known: what a
// crawl found at every cost, beside what chance finds, and beside what a crawler could
// have found that knew the web and its labels beforehand.
//
// # Cost
//
// A crawl is an order: a page number for every unit of cost. A fetch costs 1, whether
// it finds a page, the same page again, or none; what costs without finding a page (a
// query, a failure, an address outside the web) is [None]. What nobody was asked for
// costs nothing and has no place in the order. All curves are numbers of relevant
// pages found at each cost from 1 to T, the budget.
//
// # What a crawl is measured against
//
// The best order of all is NP-hard to find, so it is bracketed: [Judge.Clairvoyant] is
// what a crawler can do that knows everything, [Judge.Bound] what no crawler passes. The
// areas under the curves of recall make one number of a crawl:
//
//	nAUC = (AUC - AUC of Random) / (AUC of Clairvoyant - AUC of Random)
//
// is 0 for chance and 1 for the clairvoyant crawler. [Judge.Seeing] and
// [Judge.SeeingChildren] part what a crawl lacks in two: they predict without error, and
// plan no further than one link.
//
// All of it takes a few seconds and under 400 MiB for a million pages with ten million links
// (BenchmarkMillionPages), and little more for webs made to be hard: no step is slower than
// links · log pages but the search for the nearest relevant pages, which looks through a web
// a few hundred times at worst.
//
// Nothing here steers a crawl: no strategy may know what this package knows.
package judge

import (
	"errors"
	"fmt"
	"sync"
)

// MaxBudget is the largest budget that curves are made for.
const MaxBudget = 10_000_000

// The budget that is chosen where none is given: as many pages as a good crawl needs to
// find what there is, but never so many that any order finds it.
const (
	leastBudget   = 200 // pages
	partOfWeb     = 4   // a quarter of what can be reached
	timesRelevant = 5   // five times the relevant pages that can be reached
)

// Options change how a Judge measures. The zero value is what comparisons use.
type Options struct {
	T int // the budget, 1 to [MaxBudget]; 0: the larger of 200 and the smaller of Reachable/4 and 5R
}

// A Judge measures crawls of one web from one set of seeds. It may be used by several
// goroutines at once. What it compares with is computed when it is first asked for.
type Judge struct {
	T         int // the budget: curves go from cost 1 to cost T
	R         int // the relevant pages that links lead to from the seeds, seeds included
	Reachable int // the pages that links lead to from the seeds, seeds included

	web *Web // as it was given

	// What can be reached, numbered anew in breadth-first order: seeds first, and every
	// page behind its parent.
	near   *Web
	seeds  int     // how many of the pages are seeds
	parent []int32 // the page on which the page is first found, None for a seed: a tree of shortest paths
	page   []int32 // what the page's number is in web

	clairvoyant func() []int
	bound       func() []float64
	random      func() Band
}

// New is a judge of crawls of w that start from seeds: page numbers, of which
// repetitions do not count. Links are followed in their order on the page wherever an
// order matters. The web must stay as it is for as long as the judge is used.
//
// R may be 0; then all areas are 0 and nothing can be concluded from them.
func New(w *Web, seeds []int32, o Options) (*Judge, error) {
	if o.T < 0 || o.T > MaxBudget {
		return nil, fmt.Errorf("a budget of %d is not between 1 and %d", o.T, MaxBudget)
	}
	if len(seeds) == 0 {
		return nil, errors.New("no seed is a page of the web")
	}
	j := &Judge{web: w, near: new(Web)}
	number := make([]int32, w.Len()) // by page of w: its number in near, plus one
	visit := func(page, parent int32) error {
		if page < 0 || int(page) >= len(number) {
			return fmt.Errorf("page %d is not in a web of %d pages", page, len(number))
		}
		if number[page] == 0 {
			j.page = append(j.page, page)
			j.parent = append(j.parent, parent)
			number[page] = int32(len(j.page))
		}
		return nil
	}
	for _, s := range seeds {
		if err := visit(s, None); err != nil {
			return nil, fmt.Errorf("seed: %w", err)
		}
	}
	j.seeds = len(j.page)
	linked := make([]int32, w.Len()) // by page of w: the last page of near that links to it, plus one
	var links []int32
	for at := 0; at < len(j.page); at++ { // which grows
		page := j.page[at]
		links = links[:0]
		for _, to := range w.Links(page) {
			if err := visit(to, int32(at)); err != nil {
				return nil, fmt.Errorf("link of page %d: %w", page, err)
			}
			if linked[to] <= int32(at) {
				linked[to] = int32(at) + 1
				links = append(links, number[to]-1)
			}
		}
		j.near.Add(links)
		j.near.Relevant[at] = w.Relevant[page]
		if w.Relevant[page] {
			j.R++
		}
	}
	j.Reachable = len(j.page)
	j.T = o.T
	if j.T == 0 {
		j.T = max(leastBudget, min(j.Reachable/partOfWeb, timesRelevant*j.R, MaxBudget))
	}
	j.clairvoyant = sync.OnceValue(j.makeClairvoyant)
	j.bound = sync.OnceValue(j.makeBound)
	j.random = sync.OnceValue(j.makeRandom)
	return j, nil
}
