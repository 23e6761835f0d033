package judge

// None stands in an order where cost was paid and no page was found, and for no host.
const None int32 = -1

// A Web is a closed web: pages 0 to n-1 and the links between them; a link that leaves
// it does not exist. The zero value is empty and ready. A link costs 4 bytes, a page 13.
type Web struct {
	Relevant []bool  // by page: whether it is what is sought; Add says no
	Host     []int32 // by page: a number for its host; Add says None

	ends  []int // by page: where its links end in links
	links []int32
}

// Add adds the next page, with its links in their order on the page, and returns its
// number. Links may lead to pages that are added later. A page that is linked to twice
// is linked to once, where the first link stands: repetitions change nothing.
func (w *Web) Add(links []int32) (page int32) {
	w.links = append(w.links, links...)
	w.ends = append(w.ends, len(w.links))
	w.Relevant = append(w.Relevant, false)
	w.Host = append(w.Host, None)
	return int32(len(w.ends) - 1)
}

// Len is the number of pages.
func (w *Web) Len() int { return len(w.ends) }

// Links are the links of a page, in their order on the page. They must not be changed.
func (w *Web) Links(page int32) []int32 {
	start := 0
	if page > 0 {
		start = w.ends[page-1]
	}
	return w.links[start:w.ends[page]:w.ends[page]]
}

// OnlyRelevant is an order without all that is not a relevant page of the web.
func (w *Web) OnlyRelevant(order []int32) []int32 {
	var only []int32
	for _, page := range order {
		if page >= 0 && w.Relevant[page] {
			only = append(only, page)
		}
	}
	return only
}
