package judge

// Seeing is the order of the seeing crawler, T pages at most: it knows whether an
// address that waits is relevant, and fetches relevant ones first. It is what perfect
// prediction of the next page is worth, and no crawler has it. Equals go in the order in which
// they were found, that of links on the page.
func (j *Judge) Seeing() []int32 {
	return j.greedy(func(page int32, _ []bool) int32 { return j.relevance(page) })
}

// SeeingChildren is the order of a crawler that sees one link further, T pages at most:
// to the relevance of an address that waits, 0 or 1, it adds 0.6·min(1, k/5) where the
// page links to k relevant pages that it has not seen yet: neither fetched nor waiting.
// Equals go in the order in which they were found, that of links on the page.
func (j *Judge) SeeingChildren() []int32 {
	const itself, child, most = 25, 3, 5 // in units of 1/25, of which 0.6/5 are 3
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

// relevance is 1 or 0.
func (j *Judge) relevance(page int32) int32 {
	if j.near.Relevant[page] {
		return 1
	}
	return 0
}

// greedy is the order of a crawler that fetches what is worth most of all that waits.
// What a page is worth may fall while it waits, as more is seen, but never rise.
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

// candidate is a page that waits.
type candidate struct{ worth, found, page int32 }

func (a candidate) before(b candidate) bool {
	if a.worth != b.worth {
		return a.worth > b.worth
	}
	return a.found < b.found
}
