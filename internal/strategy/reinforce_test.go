package strategy

import (
	"fmt"
	"testing"

	"spoor/internal/wire"
)

// Rewards are 1, ½, ¼, … for the pages fetched 0, 1, 2, … steps after the first.
func TestHarvestByHand(t *testing.T) {
	for _, test := range []struct {
		what string
		web  tiny // p is the first page; pages with two letters are not fetched
		want float64
	}{
		{"nothing is known behind it", tiny{"p": "0 xx"}, 0},
		{"relevant", tiny{"p": "1"}, 1},
		{"a relevant page three links away", tiny{"p": "0 a", "a": "0 b", "b": "0 c", "c": "1"}, 0.125},
		{"a hub: after 1, 2 and 3 steps", tiny{"p": "0 a b c", "a": "1", "b": "1", "c": "1"}, 0.875},
		{"two that link to each other count once each", tiny{"p": "1 a", "a": "1 p"}, 1.5},
		{"a after 1 step; b and c after 3", tiny{"p": "1 a b", "a": "1", "b": "0 c", "c": "1"}, 1.625},
		{"the way to a is taken once: a after 2 steps, b after 3", tiny{"p": "0 m", "m": "0 a b", "a": "1", "b": "1"}, 0.375},
		{"the near one first", tiny{"p": "0 a b", "a": "0 c", "b": "1", "c": "1"}, 0.5 + 0.125},
		{"the way to b passes a", tiny{"p": "0 a", "a": "1 b", "b": "1"}, 0.75},
	} {
		s := made[*reinforce](t, "reinforce")
		names := []string{"p"}
		for _, n := range []string{"a", "b", "c", "m"} {
			if test.web[n] != "" {
				names = append(names, n)
			}
		}
		visited(s, told{tiny: test.web}, 1, names...)
		if got := s.harvest(0); !equals(got, test.want) {
			t.Errorf("%s: Q is %v, want %v", test.what, got, test.want)
		}
	}
}

// An optimal crawl reads at most maxFollow links, and takes at most maxHarvest steps.
func TestHarvestIsBounded(t *testing.T) {
	w := tiny{"p": "0"}
	names := []string{"p"}
	for i := range 2 * maxFollow {
		n := fmt.Sprint(i)
		w["p"] += " " + n
		w[n] = "1"
		names = append(names, n)
	}
	s := made[*reinforce](t, "reinforce", "gamma=1")
	visited(s, told{tiny: w}, 1, names...)
	if got := s.harvest(0); got != maxHarvest {
		t.Errorf("Q is %v with gamma 1, want %d", got, maxHarvest)
	}
}

func TestBinsOfRewards(t *testing.T) {
	for _, test := range []struct {
		gamma string
		bins  string
		want  map[float64]int
	}{
		{"0.5", "3", map[float64]int{1.9: 0, 1: 0, 0.99: 1, 0.5: 1, 0.49: 2, 0: 2}},
		{"0.5", "5", map[float64]int{1: 0, 0.5: 1, 0.25: 2, 0.2: 3, 0.125: 3, 0.1: 4, 0: 4}},
		{"0", "3", map[float64]int{1: 0, 0: 1}}, // immediate reward: two bins are enough
	} {
		s := made[*reinforce](t, "reinforce", "gamma="+test.gamma, "bins="+test.bins)
		for q, want := range test.want {
			if got := s.bin(q); got != want {
				t.Errorf("gamma=%s, %s bins: %v is in bin %d, want %d", test.gamma, test.bins, q, got, want)
			}
		}
	}
}

// The links to a and b say "crawl page" and lead to relevant pages, those to c and d "ball page" and do
// not. Two bins: Q of at least 1, and less; their means are 1 and 0. V has three words. In the first bin
// crawl and page occur twice: P(crawl) = (1 + 2) / (3 + 4) = 3/7, P(page) = 3/7 and P(ball) = 1/7. In
// the second crawl and ball change places, and the priors are ½.
//
//	crawl       (3/7) / (3/7 + 1/7) = ¾
//	ball        ¼
//	page        ½, like both, or no known word
//	crawl page  ¾
func TestValuesOfLinksByHand(t *testing.T) {
	link := func(to, anchor string) wire.Link { return wire.Link{URL: "http://" + to + "/", Anchor: anchor} }
	w := taught{
		address("s"): {score: 0.2, links: []wire.Link{
			link("a", "crawl page"), link("b", "crawl page"), link("c", "ball page"), link("d", "ball page"),
			link("e", "chess"), link("f", "ball"), link("g", "crawl"), link("h", "crawl page"), link("i", "crawl ball"),
		}},
		"http://a/": {score: 0.9, relevant: true}, "http://b/": {score: 0.9, relevant: true}, "http://c/": {}, "http://d/": {},
	}
	s := made[*reinforce](t, "reinforce", "bins=2", "every=4")
	s.Visit(w.fetch(Address{URL: address("s")}, 1))
	var batch []string
	for _, a := range s.Breed(4, nil) {
		batch = append(batch, fmt.Sprintf("%s %.4f", a.URL, reason(t, a, "parent")))
		s.Visit(w.fetch(a, 2))
	}
	check(t, batch, []string{"http://a/ 0.2000", "http://b/ 0.2000", "http://c/ 0.2000", "http://d/ 0.2000"})
	var got []string
	for _, a := range s.Breed(9, nil) {
		got = append(got, fmt.Sprintf("%s %.4f", a.URL, reason(t, a, "q")))
	}
	check(t, got, []string{"http://g/ 0.7500", "http://h/ 0.7500", "http://e/ 0.5000", "http://i/ 0.5000", "http://f/ 0.2500"})
}

// Only the latest links are examples.
func TestWindowOfExamples(t *testing.T) {
	s := made[*reinforce](t, "reinforce", "window=3")
	w := told{tiny: tiny{"a": "0 b c d e f", "b": "0", "c": "0", "d": "0", "e": "0", "f": "0"}}
	visited(s, w, 1, "a")
	visited(s, w, 1, "b", "c", "d", "e", "f")
	var got []int
	for _, e := range s.examples {
		got = append(got, e.place)
	}
	if fmt.Sprint(got) != "[3 4 5]" {
		t.Errorf("the examples are %v", got)
	}
}
