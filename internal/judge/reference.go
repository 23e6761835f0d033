package judge

// Seeing returns the order of a crawler that sees whether a waiting address is relevant, and
// fetches relevant addresses first, at most T pages. It shows the value of a perfect prediction of
// the next page. Of equal addresses, the one that was found first is fetched first; addresses found
// on the same page are in the order of its links.
func (j *Judge) Seeing() []int32 {
	return j.greedy(func(page int32, _ []bool) int32 { return j.relevance(page) })
}

// SeeingChildren returns the order, at most T pages, of a crawler that also sees one link
// further. To the relevance of a waiting address, 0 or 1, it adds 0.6·min(1, k/5) if the page
// links to k relevant pages that are neither fetched nor waiting. Ties are broken as in Seeing.
func (j *Judge) SeeingChildren() []int32 {
	const itself, child, most = 25, 3, 5 // in units of 1/25: 0.6/5 = 3/25
	return j.greedy(func(page int32, seen []bool) int32 {
		children := int32(0)
		for _, to := range j.near.Links(page) {
			if !seen[to] && children < most {
				children += j.relevance(to)
			}
		}
		return itself*j.relevance(page) + child*children
	})
}

// relevance returns 1 for a relevant page and 0 for others.
func (j *Judge) relevance(page int32) int32 {
	if j.near.Relevant[page] {
		return 1
	}
	return 0
}

// greedy returns the order of a crawler that always fetches the waiting page with the
// highest worth. The worth of a page may fall while it waits, but never rise.
func (j *Judge) greedy(worth func(page int32, seen []bool) int32) (order []int32) {
	seen := make([]bool, j.near.Len()) // by page: fetched or waiting
	waiting := heap[candidate]{before: candidate.before}
	found := int32(0)
	see := func(page int32) {
		seen[page] = true
		waiting.push(candidate{worth(page, seen), found, page})
		found++
	}
	for s := range j.seeds {
		see(int32(s))
	}
	for len(order) < j.T && len(waiting.list) > 0 {
		c := waiting.pop()
		if now := worth(c.page, seen); now < c.worth {
			c.worth = now
			waiting.push(c)
			continue
		}
		order = append(order, j.page[c.page])
		for _, to := range j.near.Links(c.page) {
			if !seen[to] {
				see(to)
			}
		}
	}
	return order
}

// A candidate is a waiting page.
type candidate struct{ worth, found, page int32 }

func (a candidate) before(b candidate) bool {
	if a.worth != b.worth {
		return a.worth > b.worth
	}
	return a.found < b.found
}
