package judge

import "slices"

// farthest is the largest budget for which the nearest relevant pages are looked for.
const farthest = 20_000

// nearest is the order of a crawler that fetches the relevant pages that wait, in the order
// in which they were found, and where none waits goes the shortest way to one: to that
// which a search in breadth finds first, from all that waits.
func (j *Judge) nearest() []int32 {
	n := newNearest(j)
	n.crawl(j.seeds, patience)
	return n.order
}

// patience is how far ahead distances are remembered. That looks through a web as many
// times at most. A longer way is looked for by a plain search, which looks through the web
// every time; but it takes so many pages of the budget that there are no more than
// farthest/patience. The root of farthest makes the two alike.
const patience = 140

// nearestFirst is a crawl on its way.
type nearestFirst struct {
	web   *Web
	limit int // pages to fetch

	order []int32
	left  int       // relevant pages that can be reached and are not fetched
	done  []bool    // by page: fetched
	seen  []bool    // by page: fetched or waiting
	hits  []int32   // relevant pages that wait, or waited
	rows  [][]int32 // by distance: the others, as far from a relevant page at least, in the order found
	least []int32   // by page: as far from a relevant page that is not fetched at least; never falls
	way   []int32   // from a relevant page back to where it was looked for from
}

func newNearest(j *Judge) *nearestFirst {
	pages := j.near.Len()
	return &nearestFirst{web: j.near, limit: j.T, left: j.R,
		done: make([]bool, pages), seen: make([]bool, pages), least: make([]int32, pages)}
}

func (n *nearestFirst) crawl(seeds, patience int) {
	n.rows = make([][]int32, patience+2)
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
		return // a hit that was the end of a way
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

// findWay finds the shortest way from what waits to a relevant page; of equally short ones
// that from the page that waits longest, over the first link that is on one. There
// is a way, for something is left and no hit waits.
//
// Pages go from row to row without overtaking each other, so each row is in the order
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

// within tells whether a relevant page that is not fetched is at most d links away; if
// so, way ends with the way there. A web is looked through once for each distance,
// because distances never fall.
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

// search finds the way to the first relevant page in breadth from what waits.
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
	for i := 0; i < len(queue); i++ { // which grows
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
