package strategy

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"spoor/internal/wire"
)

// By hand, two links selected of a page:
//
//	1  a 0.5, its own median, selects c and d: their words promise more than b's, e's
//	2  c 0.6 ≥ 0.55, the median of 0.5 and 0.6, selects g and h; d 0.2 < 0.5
//	3  g 0.1 < 0.35, that of 0.1, 0.2, 0.5, 0.6; h 0.7 ≥ 0.5 selects i, a being visited
//	4  i 0 < 0.35; the queue is empty, and the relevant pages a, c and h select their next
//	   links: c f, of crossover as a selected c, and a b and e
//	5  f 0.4 ≥ 0.4, that of 0, 0.1, 0.2, 0.4, 0.5, 0.6, 0.7, selects j; b and e have 0
//	6  j 0; a, c, f and h have no other links. What is left is k of d, of g and of i
//
// With compat a selects b and c, c f and g, neither of which reaches the median of
// what was fetched before it, and that is the end.
func TestJaccardOperators(t *testing.T) {
	w := anchored{
		"a": "0.5 b=0.1 c=0.3 d=0.2 e", "b": "0", "c": "0.6 f g=0.5 h=0.4", "d": "0.2 k",
		"e": "0", "f": "0.4 j", "g": "0.1 k", "h": "0.7 a i", "i": "0 k", "j": "0", "k": "0",
	}
	check(t, crawl(t, w, "jaccard", []string{"top=2"}, 10, 7, "a"), []string{
		"a seed", "c link, d link", "g crossover, h crossover", "i crossover",
		"f crossover, b link, e link", "j crossover", "k restart",
	})
	check(t, crawl(t, w, "jaccard", []string{"top=2", "compat=true"}, 10, 4, "a"), []string{
		"a seed", "b link, c link", "f crossover, g crossover", "",
	})
}

// A link is worth the best of the pages that selected it, and says why.
func TestJaccardLinkHasScoreOfBestPage(t *testing.T) {
	w := anchored{"a": "0.5 x=0.2 y=0.1", "b": "0.9 x=0.1"}
	s := newStrategy(t, "jaccard", target(t), nil)
	check(t, described(w.generation(s, 10, 1, seeds("a", "b"))), []string{
		"x link 0.9 via b page=0.9 words=0.2",
		"y link 0.5 via a page=0.5 words=0.1",
	})
}

// The median is that of the generation as far as it was fetched; where that is less
// than twenty pages, those before it make up for it.
func TestJaccardUsesMedianOfGeneration(t *testing.T) {
	for _, test := range []struct {
		name          string
		earlier, come []float64
		threshold     float64
		want          []int // places in come
	}{
		{"alone", nil, []float64{0}, 0, []int{0}},
		{"rising", nil, []float64{1, 2, 3}, 0, []int{0, 1, 2}},
		{"falling", nil, []float64{3, 2, 1}, 0, []int{0}},
		{"one that failed", nil, []float64{3, -1, 3}, 0, []int{0, 2}},
		{"after others", []float64{5, 1}, []float64{3, 2, 4}, 0, []int{0, 2}},
		{"nineteen before it count", slices.Concat(repeated(9, 20), repeated(1, 19)), []float64{2}, 0, []int{0}},
		{"of which the oldest drops out", slices.Concat(repeated(9, 10), repeated(1, 9)), []float64{2, 2}, 0, []int{1}},
		{"until none is left", repeated(9, 30), repeated(1, 22), 0, []int{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}},
		{"a threshold", []float64{9}, []float64{1, 2, 3}, 2, []int{1, 2}},
	} {
		s := &jaccard{Threshold: test.threshold}
		for _, score := range append(test.earlier, test.come...) {
			s.pages = append(s.pages, page{score: score, failed: score < 0})
		}
		s.firstPage = len(test.earlier)
		var got []int
		for _, place := range s.relevant() {
			got = append(got, place-s.firstPage)
		}
		if diff := gocmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// repeated is v, n times.
func repeated(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

// Every four fetches the query, "genetic crawler" here, is asked with the two words
// that most relevant pages have among their most frequent ones since the last time:
//
//	a 1    pheromone ×3, ant ×1; the query's own words do not count
//	b 0    irrelevant: nothing of it counts
//	c 1    ant ×2, colony ×1
//	d 1    ant ×1, colony ×1, nest ×1
//
// Three pages have ant, two colony (twice in all), one pheromone (three times), one
// nest. Then e, f, g, h have the same words, ant and colony, so that the pair is
// asked already, and with it all there is; i to l have colony more often than ant,
// and nest: colony ant comes first and is another query.
func TestJaccardMutatesTheQueryWithWordsOfRelevantPages(t *testing.T) {
	texts := map[string]string{
		"a": "Genetic pheromone pheromone pheromone ant crawlers", "b": "nest nest nest nest",
		"c": "ant ants colony", "d": "ant colony nest",
		"e": "ant ant colony", "f": "ant ant colony", "g": "ant ant colony", "h": "ant ant colony",
		"i": "colony colony ant nest", "j": "colony colony ant nest", "k": "colony colony ant nest", "l": "colony colony ant nest",
	}
	for _, test := range []struct {
		params []string
		want   []string
	}{
		{nil, []string{"?genetic crawler ant colony mutation 1 of a c d", "", "?genetic crawler colony ant mutation 1 of i j k l"}},
		{[]string{"words=1"}, []string{"?genetic crawler ant mutation 1 of a c d", "?genetic crawler colony mutation 1 of e f g h", "?genetic crawler nest mutation 1 of i j k l"}},
		{[]string{"words=0"}, []string{"?genetic crawler mutation 1", "", ""}},
		{[]string{"compat=true"}, []string{"?genetic crawler mutation 1", "?genetic crawler mutation 1", "?genetic crawler mutation 1"}},
		{[]string{"mutation-every=0"}, []string{"", "", ""}},
	} {
		dir := t.TempDir()
		for g, names := range []string{"a b", "c d", "e f", "g h", "i j", "k l"} {
			s := newStrategy(t, "jaccard", target(t), append([]string{"mutation-every=4", "threshold=0.5"}, test.params...))
			j, _ := openJournal(t, dir, Signature("jaccard", s), s, g+1)
			for n := range strings.SplitSeq(names, " ") {
				rec := &wire.Record{URL: address(n), StatusCode: 200, Text: texts[n], Score: wire.Num(1)}
				switch n {
				case "a":
					rec.Links = []wire.Link{{URL: address("x")}} // which is not fetched, so the queue is not empty
				case "b":
					rec.Score = wire.Num(0)
				}
				s.Visit(rec)
			}
			got := strings.Join(slices.DeleteFunc(described(s.Breed(2, nil)), func(line string) bool { return line[0] != '?' }), "\n")
			if err := j.Append(g+1, s); err != nil {
				t.Fatal(err)
			}
			want := ""
			if g%2 == 1 {
				want = test.want[g/2]
			}
			if got != want {
				t.Errorf("%s, generation %d: %q, want %q", test.params, g+1, got, want)
			}
		}
	}
}

// The queue is empty after b. The query is issued then, and again with compat after c, which
// the search found; by default no query is issued twice. Without new pages there is no query.
func TestJaccardSearchesWhenTheQueueIsEmpty(t *testing.T) {
	w := anchored{"a": "0.5 b", "b": "0", "c": "0"}
	for _, test := range []struct {
		compat, again string
	}{{"false", ""}, {"true", "?genetic crawler mutation 1"}} {
		s := newStrategy(t, "jaccard", target(t), []string{"compat=" + test.compat})
		check(t, described(w.generation(s, 10, 1, seeds("a"))), []string{"b link 0.5 via a page=0.5 words=0"})
		for g, step := range []struct {
			name, want string
		}{{"b", "?genetic crawler mutation 1"}, {"c", test.again}, {"", ""}} {
			var found []Address
			if step.name != "" {
				found = []Address{{URL: address(step.name), Operator: "search"}}
			}
			if got := strings.Join(described(w.generation(s, 10, g+2, found)), "\n"); got != step.want {
				t.Errorf("compat=%s, after %q: %q, want %q", test.compat, step.name, got, step.want)
			}
		}
	}
}

// What a search found is fetched before what waits, or it never would be.
func TestJaccardSearchResultsGoFirst(t *testing.T) {
	w := anchored{"a": "0.5 b=0.1"}
	s := newStrategy(t, "jaccard", target(t), []string{"mutation-every=1"})
	check(t, described(w.generation(s, 10, 1, seeds("a"))), []string{
		"b link 0.5 via a page=0.5 words=0.1",
		"?genetic crawler mutation 1.5",
	})
}

// By hand (row f). The reference r, on h, links to m and t; m is on the menu of h. J is
// half of Jaccard's index of links, and half of the 0.5 that all words of all pages
// are alike, so that 0.25 is from words.
//
//	page  links       index    counted before it, with it            what is left      J
//	p1    m t         2/2      h has 1 page: nothing is told         2/2               0.75
//	p2    m           1/2      2 pages                               1/2               0.5
//	p3    m x         1/3      3 pages                               1/3               0.417
//	p4    m           1/2      4 pages, m on 4: the menu, of the     0 of {t}          0.25
//	                           reference's host too
//	p5    m t         2/2      5 pages, m on 5, t on 2               t of {t}: 1/1     0.75
//	q1    m t (on g)  2/2      g has 1 page; m is stripped from the  t of {m, t}: 1/2  0.5
//	                           reference alone
func TestJaccardIgnoresTemplateLinks(t *testing.T) {
	world := target(t)
	world.Reference.URL = "http://h.test/r"
	world.Reference.Links = []string{"http://h.test/m", "http://h.test/t"}
	pages := []struct {
		url, links string
		index, j   float64
	}{
		{"http://h.test/p1", "m t", 1, 0.75},
		{"http://h.test/p2", "m", 1. / 2, 0.5},
		{"http://h.test/p3", "m x", 1. / 3, 0.25 + 1./6},
		{"http://h.test/p4", "m", 1. / 2, 0.25},
		{"http://h.test/p5", "m t p5", 1, 0.75},
		{"http://g.test/q1", "m t", 1, 0.5},
	}
	for _, test := range []struct {
		name   string
		params []string
		strips bool
	}{
		{"by default", nil, true},
		{"not at all", []string{"template=1"}, false},
		{"to the letter", []string{"compat=true"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStrategy(t, "jaccard", world, test.params)
			got := s.(*jaccard)
			again, _ := New("jaccard", world, test.params)
			restored := again.(*jaccard)
			// The reference is a page of the crawl: so its host is known.
			got.Visit(&wire.Record{URL: "http://h.test/r", StatusCode: 200, Score: wire.Num(0)})
			for i, p := range pages {
				rec := &wire.Record{URL: p.url, StatusCode: 200, Score: wire.Num(0.25 + p.index/2)}
				rec.Scores = []wire.Scored{{Name: "jaccard", Value: rec.Score.Value}}
				for link := range strings.FieldsSeq(p.links) {
					rec.Links = append(rec.Links, wire.Link{URL: "http://h.test/" + link})
				}
				s := got
				if i >= 3 { // a generation later, from the journal
					s = restored
				}
				s.Visit(rec)
				want := p.j
				if !test.strips {
					want = rec.Score.Value
				}
				if j := s.pages[len(s.pages)-1].score; math.Abs(j-want) > 1e-12 {
					t.Errorf("J of %s is %v, want %v", p.url, j, want)
				}
				if i == 2 {
					got.Breed(10, nil)
					if err := restored.Replay(got.AppendDelta(nil)); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// Another measure may steer, and what it says is not J.
func TestJaccardKeepsScoresOfOtherMeasures(t *testing.T) {
	world := target(t)
	world.Reference.URL, world.Reference.Links = "http://h.test/p0", []string{"http://h.test/m"}
	s := newStrategy(t, "jaccard", world, nil)
	for i := range 6 {
		s.Visit(&wire.Record{URL: fmt.Sprintf("http://h.test/p%d", i), StatusCode: 200, Score: wire.Num(0.9),
			Scores: []wire.Scored{{Name: "jaccard", Value: 0.5}, {Name: "vsm", Value: 0.9}}, Links: []wire.Link{{URL: "http://h.test/m"}}})
	}
	for _, p := range s.(*jaccard).pages {
		if p.score != 0.9 {
			t.Errorf("the score became %v", p.score)
		}
	}
}
