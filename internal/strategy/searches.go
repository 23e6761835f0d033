package strategy

// This file is shared by the strategies that search for keywords of the topic.

import (
	"math/rand/v2"
	"slices"
	"strings"

	"spoor/internal/genetic"
	"spoor/internal/topic"
)

// keywords returns the keywords of t, as the user wrote them.
func keywords(t *topic.Topic) (words []string) {
	for _, k := range t.Keywords {
		words = append(words, k.Text)
	}
	return words
}

// drawQuery returns a search for n of words, drawn uniformly and in their order.
func drawQuery(rng *rand.Rand, words []string, n int) string {
	var drawn []string
	for _, place := range slices.Sorted(slices.Values(genetic.Sample(rng, len(words), n))) {
		drawn = append(drawn, words[place])
	}
	return strings.Join(drawn, " ")
}

// A queryLog holds the queries emitted so far, so that no query is emitted twice.
type queryLog struct {
	queries []string
	saved   int // number of queries that are in a delta
}

func (l *queryLog) add(query string) bool {
	if slices.Contains(l.queries, query) {
		return false
	}
	l.queries = append(l.queries, query)
	return true
}

func (l *queryLog) code(c *codec) {
	l.queries = append(l.queries[:l.saved], each(c, l.queries[l.saved:], c.text)...)
	l.saved = len(l.queries)
}
