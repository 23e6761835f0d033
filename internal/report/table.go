package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// MaxTable is the maximum length of Run.Table.
const MaxTable = 40

// A Word is a word of the topic's weight table.
type Word struct {
	Word   string
	Weight float64
	Origin string // query, page or expansion
	URL    string // address of the page that added the word during the crawl, shortened if it is long; "" for others
	Href   string // the whole address for a link, as in [Found]
}

// A Growth counts the pages whose score was high enough to add a word to the weight table.
type Growth struct {
	Limit float64 // that score
	Pages int
	Known int // pages whose best word was in the table already
	Words int // words that were added
}

// topicWord is an entry of the table of a topic file.
type topicWord struct {
	Word   string
	Weight float64
	Origin string
	URL    string
}

// expanded is the origin of words that pages have added during the crawl.
const expanded = "expansion"

// table returns the words to be shown: first those that were added during the crawl.
func table(entries []topicWord) (words []Word) {
	slices.SortStableFunc(entries, func(a, b topicWord) int {
		group := func(e topicWord) int {
			if e.Origin == expanded {
				return 0
			}
			return 1
		}
		return cmp.Or(group(a)-group(b), cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Word, b.Word))
	})
	for _, e := range entries[:min(len(entries), MaxTable)] {
		words = append(words, Word{clean(e.Word, maxName), e.Weight, clean(e.Origin, maxName), clean(e.URL, maxWords), href(e.URL)})
	}
	return words
}

// describeGrowth returns a sentence about the growth of the table; "" if the crawl does not expand it.
func describeGrowth(r *Run) string {
	switch g := r.Growth; {
	case g != nil:
		return fmt.Sprintf("%s scored %s or more, and the table grew by %s. The best word of %s was in the table already.",
			plural(g.Pages, "page", "pages"), decimal(g.Limit), plural(g.Words, "word", "words"), count(g.Known))
	case r.Expands:
		return "The table did not grow: no page scored as high as topic -expand requires."
	}
	return ""
}
