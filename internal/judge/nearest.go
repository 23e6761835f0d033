package judge

import "slices"

// maxNearestBudget is the largest budget for which nearest relevant pages are searched.
const maxNearestBudget = 20_000

// nearest returns the order of a crawler that fetches waiting relevant pages in the order in
// which they were found. If no relevant page waits, it fetches the shortest path to a relevant
// page: the first path that a breadth-first search from all waiting pages finds.
func (j *Judge) nearest() []int32 {
	n := newNearest(j)
	n.crawl(j.seeds, maxDistance)
	return n.order
}

// maxDistance is the largest distance that is stored, and so the maximum number of traversals
// of the web for stored distances. For a longer path there is a plain search, which traverses
// the web each time; but fetching the path uses so much of the budget that there are at most
// maxNearestBudget/maxDistance such searches. The square root of maxNearestBudget balances the
// two numbers.
const maxDistance = 140

// nearestFirst is the state of the crawl.
type nearestFirst struct {
	web   *Web
	limit int // pages to fetch

	order []int32
	left  int       // reachable relevant pages that are not fetched yet
	done  []bool    // by page: fetched
	seen  []bool    // by page: fetched or waiting
	hits  []int32   // relevant pages, waiting or fetched
	rows  [][]int32 // by distance: other waiting pages at least this far from a relevant page, in the order found
	least []int32   // by page: a lower bound of its distance to an unfetched relevant page; never falls
	way   []int32   // path from a relevant page back to the start of the search
}

func newNearest(j *Judge) *nearestFirst {
	pages := j.near.Len()
	return &nearestFirst{web: j.near, limit: j.T, left: j.R,
		done: make([]bool, pages), seen: make([]bool, pages), least: make([]int32, pages)}
}

func (n *nearestFirst) crawl(seeds, maxDistance int) {
	n.rows = make([][]int32, maxDistance+2)
	for s := range seeds {
		n.seen[s] = true
	}
	for s := range int32(seeds) {
		n.fetch(s)
	}
	for len(n.order) < n.limit {
		if len(n.hits) > 0 {
			n.fetch(n.hits[0])
			n.hits = n.hits[1:]
			continue
		}
		if n.left == 0 {
			return
		}
		n.findWay()
		for _, page := range slices.Backward(n.way) {
			n.fetch(page)
		}
	}
}

func (n *nearestFirst) fetch(page int32) {
	if n.done[page] {
		return // a relevant page, the end of a path
	}
	n.done[page] = true
	n.order = append(n.order, page)
	if n.web.Relevant[page] {
		n.left--
	}
	for _, to := range n.web.Links(page) {
		switch {
		case n.seen[to]:
			continue
		case n.web.Relevant[to]:
			n.hits = append(n.hits, to)
		default:
			n.rows[1] = append(n.rows[1], to)
		}
		n.seen[to] = true
	}
}

// findWay finds the shortest path from a waiting page to a relevant one; of equally short
// paths the one from the page that has waited longest, over its first suitable link. There is
// a path, because relevant pages are left and none of them is waiting.
//
// Pages move from row to row without overtaking each other, so each row is in the order
// in which its pages were found.
func (n *nearestFirst) findWay() {
	n.way = n.way[:0]
	last := len(n.rows) - 1
	for d := 1; d < last; d++ {
		for len(n.rows[d]) > 0 {
			page := n.rows[d][0]
			n.rows[d] = n.rows[d][1:]
			switch {
			case n.done[page]:
			case n.within(page, int32(d)):
				return
			default:
				n.rows[d+1] = append(n.rows[d+1], page)
			}
		}
	}
	n.search(n.rows[last])
}

// within reports whether an unfetched relevant page is at most d links away. If so, it
// appends the path to way. The web is traversed once for each distance, because distances
// never fall.
func (n *nearestFirst) within(page, d int32) bool {
	if n.least[page] > d {
		return false
	}
	found := n.web.Relevant[page] && !n.done[page]
	if !found && d > 0 {
		found = slices.ContainsFunc(n.web.Links(page), func(to int32) bool { return n.within(to, d-1) })
	}
	if !found {
		n.least[page] = d + 1
		return false
	}
	n.way = append(n.way, page)
	return true
}

// search finds the path to the first relevant page in breadth-first order.
func (n *nearestFirst) search(waiting []int32) {
	const unseen = None - 1
	from := slices.Repeat([]int32{unseen}, n.web.Len())
	queue := make([]int32, 0, len(waiting))
	for _, page := range waiting {
		if !n.done[page] {
			from[page] = None
			queue = append(queue, page)
		}
	}
	for i := 0; i < len(queue); i++ { // queue grows
		for _, to := range n.web.Links(queue[i]) {
			if n.done[to] || from[to] != unseen {
				continue
			}
			from[to] = queue[i]
			queue = append(queue, to)
			if n.web.Relevant[to] {
				for ; to != None; to = from[to] {
					n.way = append(n.way, to)
				}
				return
			}
		}
	}
}
