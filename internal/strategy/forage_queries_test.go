package strategy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// answeredQueries breeds generations, and answers each query with pages. It returns the queries by
// generation.
func answeredQueries(t *testing.T, generations int, pages func(generation int) []string) (queries []string) {
	t.Helper()
	s := made[*forage](t, "forage", "queries=true")
	next := seeds("h0.test/list/0")
	for g := 1; g <= generations; g++ {
		for _, a := range next {
			rec := written{}.fetch(a, g)
			if isAboutCrawlers(a.URL) {
				rec.Title = rec.Text[:80]
			}
			s.Visit(rec)
		}
		next = nil
		query := ""
		for _, a := range s.Breed(10, rand.New(rand.NewPCG(1, uint64(g)))) {
			if a.URL != "" {
				next = append(next, a)
				continue
			}
			if query != "" {
				t.Errorf("generation %d has two queries", g)
			}
			query = a.Query
			for _, url := range pages(g) {
				next = append(next, Address{URL: url, Operator: opSearch, Query: a.Query})
			}
		}
		queries = append(queries, query)
	}
	return queries
}

// pagesOf returns pages about genetic crawlers, or about gardens, that differ by generation.
func pagesOf(generation, n int, about bool) (list []string) {
	for i := 0; len(list) < n; i++ {
		if url := fmt.Sprintf("http://s.test/%d/%d", generation, i); isAboutCrawlers(url) == about {
			list = append(list, url)
		}
	}
	return list
}

// Forage asks for the user's query first. As long as what it finds is relevant it asks for other
// words of titles in each generation, and otherwise ever less often.
func TestForageAsksAsLongAsItPays(t *testing.T) {
	user := strings.Join(keywords(target(t)), " ")
	queries := answeredQueries(t, 12, func(g int) []string { return pagesOf(g, 5, true) })
	if queries[0] != user {
		t.Errorf("the first query is %q, want %q", queries[0], user)
	}
	asked := slices.DeleteFunc(slices.Clone(queries), func(q string) bool { return q == "" })
	if len(asked) < 10 {
		t.Errorf("of 12 generations, %d have a query: %q", len(asked), queries)
	}
	slices.Sort(asked)
	if len(slices.Compact(asked)) < len(asked) {
		t.Errorf("a query is asked twice: %q", queries)
	}
	for _, q := range queries {
		if strings.Contains(q, "garden") {
			t.Errorf("query %q has a word of irrelevant titles", q)
		}
	}

	none := answeredQueries(t, 40, func(int) []string { return nil })
	var at []int
	for g, q := range none {
		if q != "" {
			at = append(at, g+1)
		}
	}
	// In generation 2 there are no other words yet.
	if want := []int{1, 4, 8, 16, 32}; !slices.Equal(at, want) {
		t.Errorf("without results, the queries are in generations %v, want %v", at, want)
	}
	poor := answeredQueries(t, 40, func(g int) []string { return pagesOf(g, 5, false) })
	if n := len(slices.DeleteFunc(poor, func(q string) bool { return q == "" })); n > 12 {
		t.Errorf("of 40 generations with poor results, %d have a query", n)
	}
}

// Without its parameter, forage has no query.
func TestForageAsksNothingUntold(t *testing.T) {
	s := made[*forage](t, "forage")
	s.Visit(written{}.fetch(seeds("h0.test/list/0")[0], 1))
	for _, a := range s.Breed(10, rand.New(rand.NewPCG(1, 1))) {
		if a.URL == "" {
			t.Errorf("a query: %q", a.Query)
		}
	}
}
