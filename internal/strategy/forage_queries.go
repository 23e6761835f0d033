package strategy

// This file emits the queries of forage: first the user's query, then words of titles that are more
// frequent in relevant pages than in others. There is a query in each generation as long as the found
// pages are as relevant as the pages that links lead to; otherwise queries become less and less
// frequent.

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"spoor/internal/wire"
)

const (
	opSearch    = "search" // the operator of results
	maxForms    = 1 << 16  // words of titles that are stored
	longestForm = 64       // bytes of a word
	drawnFrom   = 20       // heaviest words of the topic, from which queries are drawn
	draws       = 8        // attempts to draw a new query
	drawnWords  = 3        // words of a query
	judgedBy    = 20       // number of latest results that are compared
	comparedTo  = 50       // number of latest other pages that they are compared with
	mostPause   = 16       // generations from one query to the next
)

// asking holds the state of the queries.
type asking struct {
	issued   queryLog
	found    []int32 // places of the pages that were found by queries, ascending
	saved    int
	pause    int        // generations from the last query to the next
	rest     int        // remaining generations of this pause
	forms    vocabulary // words of titles
	user     []string   // the words of the user's query
	formOf   map[int32]string
	readForm int // number of forms that are in formOf, by their stems
}

// storeTitle stores the words of the title of a page, for queries, and whether a query found the
// page.
func (s *forage) storeTitle(rec *wire.Record, place int) {
	if rec.Operator == opSearch {
		s.found = append(s.found, int32(place))
	}
	for word := range strings.FieldsFuncSeq(clip(rec.Title, readURL), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(word) <= longestForm {
			s.forms.add(strings.ToLower(word))
		}
	}
}

// ask returns the query of a generation. ok is false if there is none.
func (s *forage) ask(rng *rand.Rand) (a Address, ok bool) {
	a = Address{Query: strings.Join(s.user, " "), Operator: opMutation, Priority: 1}
	if len(s.issued.queries) > 0 {
		if s.rest--; s.rest > 0 {
			return a, false
		}
		if s.pause = min(2*s.pause, mostPause); s.searchPays() {
			s.pause = 1
		}
		words := s.heaviest()
		for range draws {
			if a.Query = drawQuery(rng, words, min(drawnWords, len(words))); !slices.Contains(s.issued.queries, a.Query) {
				break
			}
		}
	} else {
		s.pause = 1
	}
	s.rest = s.pause
	return a, a.Query != "" && s.issued.add(a.Query)
}

// searchPays reports whether the mean relevance of the latest pages found by queries is at least the
// mean relevance of the latest other pages.
func (s *forage) searchPays() bool {
	sum, n := 0.0, 0
	for _, place := range s.found[max(0, len(s.found)-judgedBy):] {
		sum += s.model.relevance[place]
		n++
	}
	others, most := 0.0, 0
	for place := len(s.pages) - 1; place >= 0 && most < comparedTo; place-- {
		if !s.isFound(place) {
			others += s.model.relevance[place]
			most++
		}
	}
	return n > 0 && sum*float64(most) >= others*float64(n)
}

// isFound reports whether a query found the page at place.
func (s *forage) isFound(place int) bool {
	_, found := slices.BinarySearch(s.found, int32(place))
	return found
}

// heaviest returns the words of titles that best distinguish relevant pages from others, in the order
// of their weights.
func (s *forage) heaviest() []string {
	if s.formOf == nil {
		s.formOf = map[int32]string{}
	}
	for ; s.readForm < s.forms.len(); s.readForm++ {
		word := s.forms.names.At(s.readForm)
		if stems := s.append(nil, word, 1); len(stems) == 1 && s.formOf[stems[0]] == "" {
			s.formOf[stems[0]] = word
		}
	}
	type weighted struct {
		word   string
		weight float64
	}
	var words []weighted
	for stem, weight := range s.model.pages.Topic {
		if word := s.formOf[int32(stem)]; weight > 0 && word != "" {
			words = append(words, weighted{word, weight})
		}
	}
	slices.SortFunc(words, func(a, b weighted) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.word, b.word))
	})
	list := slices.Clone(s.user)
	for _, w := range words[:min(drawnFrom, len(words))] {
		if !slices.Contains(list, w.word) {
			list = append(list, w.word)
		}
	}
	return list
}

// code encodes or decodes the queries.
func (a *asking) code(c *codec) {
	a.issued.code(c)
	a.found = append(a.found[:a.saved], each(c, a.found[a.saved:], func(place *int32) { integer(c, place) })...)
	for i, place := range a.found[a.saved:] {
		c.check(place >= 0 && (a.saved+i == 0 || place > a.found[a.saved+i-1]))
	}
	a.saved = len(a.found)
	integer(c, &a.pause)
	integer(c, &a.rest)
	a.forms.code(c)
}
