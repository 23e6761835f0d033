// Package judge measures crawls of a closed web whose relevant pages are known. It computes
// what a crawl found at every cost, and compares the result with random crawls and with crawlers
// that use the complete web and its labels.
//
// # Cost
//
// A crawl is an order: a page number for every unit of cost. A fetch costs 1, whether it
// finds a new page, a known page, or no page. A unit of cost that finds no page (a query, a
// failure, an address outside the web) is [None]. Records without a request cost nothing and are
// not in the order. A curve is the number of relevant pages found at each cost from 1 to T, the
// budget.
//
// # Reference crawlers
//
// Finding the best order is NP-hard, so there are two estimates of its result: [Judge.Clairvoyant]
// is the result of a crawler that knows everything, and [Judge.Bound] is an upper bound. The areas
// under the curves of recall give one number for a crawl:
//
//	nAUC = (AUC - AUC of Random) / (AUC of Clairvoyant - AUC of Random)
//
// It is 0 for random crawls and 1 for the clairvoyant crawler. [Judge.Seeing] and
// [Judge.SeeingChildren] are between the two: they predict without error, but plan only one
// link ahead.
//
// A Judge takes a few seconds and less than 400 MiB for a million pages with ten million
// links (BenchmarkMillionPages), and little more in the worst case: every step takes
// O(links · log pages) time, except the search for the nearest relevant pages, which
// traverses the web at most a few hundred times.
//
// No strategy may use this package: a crawl must not be steered by its judge.
package judge

import (
	"errors"
	"fmt"
	"sync"
)

// MaxBudget is the largest budget.
const MaxBudget = 10_000_000

// The default budget is large enough for a good crawl to find the relevant pages, but too small
// for an arbitrary order to find them. It is the larger of minBudget pages and the smaller of two
// numbers.
const (
	minBudget      = 200 // pages
	webShare       = 4   // the reachable pages, divided by this
	relevantFactor = 5   // the reachable relevant pages times this
)

// Options control how a Judge measures. Comparisons use the zero value.
type Options struct {
	T int // the budget, 1 to [MaxBudget]; 0: the larger of 200 and the smaller of Reachable/4 and 5R
}

// A Judge measures crawls of one web from one set of seeds. It is safe for concurrent use.
// Reference crawls are computed when they are first needed.
type Judge struct {
	T         int // the budget: curves go from cost 1 to cost T
	R         int // relevant pages that can be reached from the seeds, seeds included
	Reachable int // pages that can be reached from the seeds, seeds included

	web *Web // as passed to New

	// The reachable pages, renumbered in breadth-first order: seeds first, and every page
	// after its parent.
	near   *Web
	seeds  int     // number of seeds
	parent []int32 // the first page that links to the page, None for a seed: a tree of shortest paths
	page   []int32 // number of the page in web

	clairvoyant func() []int
	bound       func() []float64
	random      func() Band
}

// New returns a judge of crawls of w that start from the given seeds, which are page
// numbers; duplicates are ignored. Where the order of links matters, it is their order on the
// page. The web must not change while the judge is used.
//
// R may be 0; then all areas are 0, and nothing can be concluded from them.
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
	for at := 0; at < len(j.page); at++ { // j.page grows
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
		j.T = max(minBudget, min(j.Reachable/webShare, relevantFactor*j.R, MaxBudget))
	}
	j.clairvoyant = sync.OnceValue(j.makeClairvoyant)
	j.bound = sync.OnceValue(j.makeBound)
	j.random = sync.OnceValue(j.makeRandom)
	return j, nil
}

// A Budget is the output of judge -budget.
type Budget struct {
	V         int `json:"v"`
	T         int
	R         int
	Reachable int `json:"reachable"`
	Seeds     int `json:"seeds"`
}

// Budget returns the budget of crawls.
func (j *Judge) Budget() Budget { return Budget{1, j.T, j.R, j.Reachable, j.seeds} }
