package strategy

import (
	"math/rand/v2"
	"strings"
	"testing"

	"spoor/internal/wire"
)

// An address of another partition is proposed once, takes no place of a later generation, and does
// not fail in a generation without outcomes; one of this partition does.
func TestForeignProposalsAwaitNoOutcome(t *testing.T) {
	s := newStrategy(t, "bestn", nil, nil)
	Restrict(s, func(url string) bool { return strings.Contains(url, "other.test") })
	rng := rand.New(rand.NewPCG(1, 1))
	page := &wire.Record{V: 1, URL: "http://own.test/", StatusCode: 200, Score: wire.Num(1), Links: []wire.Link{
		{URL: "http://other.test/1"}, {URL: "http://own.test/1"}, {URL: "http://own.test/2"}, {URL: "http://own.test/3"},
	}}
	s.Visit(page)
	proposed := map[string]int{}
	for generation := range 4 {
		for _, a := range s.Breed(2, rng) {
			proposed[a.URL]++
		}
		if generation == 0 && len(proposed) != 2 {
			t.Fatalf("%v", proposed)
		}
	}
	for _, l := range page.Links {
		if proposed[l.URL] != 1 {
			t.Errorf("%s was proposed %d times: %v", l.URL, proposed[l.URL], proposed)
		}
	}
	p := s.(interface{ failedURLs() []string }).failedURLs()
	for _, url := range p {
		if strings.Contains(url, "other.test") {
			t.Errorf("%s failed", url)
		}
	}
}

// failedURLs returns the addresses of failed pages.
func (m *memory) failedURLs() (urls []string) {
	for _, p := range m.pages {
		if p.failed {
			urls = append(urls, m.web.URL(p.node))
		}
	}
	return urls
}
