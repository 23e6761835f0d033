package strategy

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"spoor/internal/topic"
	"spoor/internal/wire"
)

// A library is a web of pages with words: name to "score: text: link link …". A page
// with a score of 0.4 and more is relevant, as with the weight table.
type library map[string]string

func (l library) fetch(a Address, generation int) *wire.Record {
	parts := strings.Split(l[name(a.URL)], ":")
	if len(parts) != 3 {
		return tiny{}.fetch(a, generation) // nobody has it
	}
	rec := tiny{name(a.URL): parts[0] + " " + parts[2]}.fetch(a, generation)
	rec.Text = parts[1]
	rec.Relevant = wire.Bool{Value: rec.Score.Value >= 0.4, Kind: wire.Present}
	return rec
}

// search returns the pages with the most words of q, at least one.
func (l library) search(q Address, results int) (found []Address) {
	score := map[string]int{}
	for page, line := range l {
		for word := range strings.FieldsSeq(q.Query) {
			if slices.Contains(strings.Fields(strings.Split(line, ":")[1]), word) {
				score[page]++
			}
		}
	}
	best := slices.SortedFunc(maps.Keys(score), func(a, b string) int {
		return cmp.Or(score[b]-score[a], strings.Compare(a, b))
	})
	for i, page := range best[:min(results, len(best))] {
		found = append(found, Address{URL: address(page), Operator: "search", Query: q.Query,
			Parents: q.Parents, Priority: q.Priority - float64(i)/1000})
	}
	return found
}

// sought returns a topic with a query and a table, in a language without stems.
func sought(tb testing.TB, query string, table ...topic.Entry) *topic.Topic {
	tb.Helper()
	t := topicOf(tb, "und", query)
	t.Table = table
	return t
}

// symbiotic returns a symbiosis for a topic.
func symbiotic(tb testing.TB, t *topic.Topic, params ...string) *symbiosis {
	tb.Helper()
	s := newStrategy(tb, "symbiosis", t, params)
	return s.(*symbiosis)
}

// generation visits pages and returns the proposals for a generation of n: each address with its
// operator and value.
func generation(s *symbiosis, w pages, n int, names ...string) (lines []string) {
	for _, a := range seeds(names...) {
		s.Visit(w.fetch(a, 1))
	}
	for _, a := range s.Breed(n, rand.New(rand.NewPCG(1, 1))) {
		if a.URL != "" {
			lines = append(lines, fmt.Sprintf("%s %s %.2f", name(a.URL), a.Operator, a.Reasons[0].Value))
		}
	}
	return lines
}

// Three pages, all of which are selected:
//
//	a 0.5  x y     worth of x  0.5
//	b 0.3  y z              y  0.5 + 0.3
//	c 0.1  z w              z  0.3 + 0.1
//	                        w  0.1
//
// The best three links stay: y, x, z. Two are fetched, and have nothing to offer: z,
// which stayed, is next. Then the queue is empty, and of the links that did not stay
// w is fetched.
//
// With compat the bias is in the worth, 0.05 for each page: y is 0.9, x 0.55 and z
// 0.5; and nothing follows z.
func TestCrossoverByHand(t *testing.T) {
	w := tiny{"a": "0.5 x y", "b": "0.3 y z", "c": "0.1 z w", "x": "0", "y": "0", "z": "0.2"}
	for _, test := range []struct {
		params []string
		want   []string
	}{
		{nil, []string{"y crossover 0.80, x crossover 0.50", "z crossover 0.40", "w restart 0.10"}},
		{[]string{"compat=true"}, []string{"y crossover 0.90, x crossover 0.55", "z crossover 0.50", ""}},
	} {
		s := symbiotic(t, target(t), append(test.params, "selection=1", "population=3")...)
		var got []string
		for _, names := range [][]string{{"a", "b", "c"}, {"x", "y"}, {"z"}} {
			got = append(got, strings.Join(generation(s, w, 2, names...), ", "))
		}
		if diff := gocmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.params, diff)
		}
	}
}

// Scores of BM25, a 8 with x and y, b 4 with y, and a page that a search found, c 2 with
// x. A link is worth what the measure gave, 12 for y and 10 for x; with compat the bias
// is added for each page: y 8.05 + 4.05, x 8.05 + 2.05.
func TestCrossoverOfUnboundedScoresByHand(t *testing.T) {
	w := tiny{"a": "8 x y", "b": "4 y", "c": "2 x"}
	for _, test := range []struct {
		params []string
		want   []string
	}{
		{nil, []string{"y crossover 12.00", "x crossover 10.00"}},
		{[]string{"compat=true"}, []string{"y crossover 12.10", "x crossover 10.10"}},
	} {
		s := symbiotic(t, target(t), append(test.params, "selection=1")...)
		check(t, generation(s, w, 5, "a", "b", "c"), test.want)
	}
}

func TestLinkValueGrowsWithParents(t *testing.T) {
	// y was worth 0.4 when it stayed; then z brings 0.3 more to it. With compat the bias of
	// 0.05 for each page is added.
	w := tiny{"a": "0.4 x y z", "z": "0.3 y"}
	for compat, want := range map[string][2]string{
		"false": {"x crossover 0.40", "y crossover 0.70"},
		"true":  {"x crossover 0.45", "y crossover 0.80"},
	} {
		s := symbiotic(t, target(t), "selection=1", "queue-factor=1", "compat="+compat)
		check(t, generation(s, w, 1, "a"), []string{want[0]})
		check(t, generation(s, w, 1, "z"), []string(nil)) // x is still to come
		check(t, generation(s, w, 1, "x"), []string{want[1]})
	}
}

// One of a and b is selected, and both contain y: its value is the sum of both.
func TestLinkValueCountsPagesThatWereNotSelected(t *testing.T) {
	w := tiny{"a": "0.4 y", "b": "0.3 y"}
	for compat, want := range map[string]string{"false": "y crossover 0.70", "true": "y crossover 0.80"} {
		check(t, generation(symbiotic(t, target(t), "compat="+compat), w, 1, "a", "b"), []string{want})
	}
}

func TestSymbiosisAddressNamesItsParents(t *testing.T) {
	w := tiny{"a": "0.4 y", "b": "0.6 x y"}
	s := symbiotic(t, target(t), "selection=1")
	s.Visit(w.fetch(seeds("a")[0], 1))
	s.Visit(w.fetch(seeds("b")[0], 1))
	next := s.Breed(5, rand.New(rand.NewPCG(1, 1)))
	want := []Address{
		{URL: address("y"), Via: address("b"), Parents: []string{address("a"), address("b")}, Operator: opCrossover,
			Depth: 1, Priority: 1, Reasons: []wire.Scored{{Name: "crossover", Value: 1}, {Name: "pages", Value: 2}}},
		{URL: address("x"), Via: address("b"), Parents: []string{address("b")}, Operator: opCrossover,
			Depth: 1, Priority: 0.5, Reasons: []wire.Scored{{Name: "crossover", Value: 0.6}, {Name: "pages", Value: 1}}},
	}
	if diff := gocmp.Diff(want, next); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// One of two pages is selected: with the scores 0.95 and 0 and the bias 0.05, the
// second one with the probability 0.05 / 1.05. Scores of BM25 are divided by the
// highest first: 0.05 / 1.10.
func TestTheRouletteAddsItsBias(t *testing.T) {
	for _, test := range []struct {
		scores [2]float64
		bias   string
		want   float64
	}{
		{[2]float64{0.95, 0}, "0.05", 0.05 / 1.05},
		{[2]float64{9.5, 0}, "0.05", 0.05 / 1.10},
		{[2]float64{0.6, 0.2}, "0", 0.25},
		{[2]float64{12, 4}, "0", 0.25},
	} {
		const runs = 4000
		second := 0
		s := symbiotic(t, target(t), "bias="+test.bias)
		for i, score := range test.scores {
			s.Visit(tiny{"a": fmt.Sprint(score), "b": fmt.Sprint(score)}.fetch(seeds([]string{"a", "b"}[i])[0], 1))
		}
		for seed := range uint64(runs) {
			selected := s.roulette(rand.New(rand.NewPCG(seed, 1)))
			if len(selected) != 1 {
				t.Fatalf("%d pages were selected, want half of two", len(selected))
			}
			if selected[0] == &s.pages[1] {
				second++
			}
		}
		sigma2 := runs * test.want * (1 - test.want)
		if d := float64(second) - runs*test.want; d*d > 9*sigma2 {
			t.Errorf("scores %v, bias %s: the second page was selected %d times of %d, want about %.0f",
				test.scores, test.bias, second, runs, runs*test.want)
		}
	}
}

func TestFailedPagesAreNotInPopulation(t *testing.T) {
	w := tiny{"a": "!", "b": "! ", "c": "0.1 x"}
	s := symbiotic(t, target(t))
	check(t, generation(s, w, 5, "a", "b", "c"), []string{"x crossover 0.10"})
}

// A generation that is larger than the population has a queue of its own size; with
// compat the population has its own size.
func TestALargeGenerationIsFilled(t *testing.T) {
	var line strings.Builder
	line.WriteString("0.5")
	for i := range 30 {
		fmt.Fprintf(&line, " l%d", i)
	}
	w := tiny{"a": line.String()}
	for _, test := range []struct {
		n    int
		want int
		args []string
	}{
		{20, 20, []string{"population=10"}},
		{20, 10, []string{"population=10", "compat=true"}},
		{20, 10, []string{"population=10", "queue-factor=0.5"}},
		{20, 20, []string{"population=5", "queue-factor=2", "compat=false"}},
		{5, 5, nil},
		{50, 30, nil},
	} {
		s := symbiotic(t, target(t), test.args...)
		if got := generation(s, w, test.n, "a"); len(got) != test.want {
			t.Errorf("n=%d %q: %d addresses, want %d", test.n, test.args, len(got), test.want)
		}
	}
}

// searching crawls w from the page first, n fetches a generation, with a search that
// gives three results. It returns one line a generation: what was fetched, each with
// its operator, and the query that was bred; and which pages were reached. The state
// goes through a journal between any two generations, as between processes.
func searching(t *testing.T, w library, aim *topic.Topic, params []string, n, generations int, first string) (lines, reached []string) {
	t.Helper()
	dir := t.TempDir()
	waiting, visited := map[string]Address{address(first): seeds(first)[0]}, map[string]bool{}
	for g := 1; g <= generations; g++ {
		s := symbiotic(t, aim, params...)
		j, _ := openJournal(t, dir, Signature("symbiosis", s), s, g)
		batch := slices.SortedFunc(maps.Values(waiting), func(a, b Address) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.URL, b.URL))
		})
		var line []string
		for _, a := range batch[:min(n, len(batch))] {
			delete(waiting, a.URL)
			visited[a.URL] = true
			line = append(line, name(a.URL)+" "+a.Operator)
			reached = append(reached, name(a.URL))
			s.Visit(w.fetch(a, g))
		}
		for _, a := range s.Breed(n, rand.New(rand.NewPCG(1, uint64(g)))) {
			found := []Address{a}
			if a.URL == "" {
				line = append(line, "«"+a.Query+"»")
				found = w.search(a, 3)
			}
			for _, a := range found {
				if !visited[a.URL] {
					waiting[a.URL] = a
				}
			}
		}
		if err := j.Append(g, s); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Join(line, ", "))
	}
	slices.Sort(reached)
	return lines, reached
}

// Two components of pages about roses, without links between them: a links to b and c, and x to y.
// A query with words of the population finds x.
var islands = library{
	"a": "0.8:roses gardens gardens:b c",
	"b": "0.6:roses gardens soil soil:a",
	"c": "0.1:cooking:a",
	"x": "0.7:soil gardens thorns thorns:y",
	"y": "0.9:roses thorns:x",
	"z": "0:cars:z",
}

func TestMutationReachesUnlinkedPages(t *testing.T) {
	aim := sought(t, "roses", topic.Entry{Term: "gardens", Weight: 0.5, DF: 1})
	for _, test := range []struct {
		param, reaches string
	}{
		{"mutation-every=1", "a b c x y"},
		{"objective=literal", "a b c x y"},
		{"mutation-every=0", "a b c"},
	} {
		lines, reached := searching(t, islands, aim, []string{test.param}, 3, 8, "a")
		if got := strings.Join(reached, " "); got != test.reaches {
			t.Errorf("%s: reached %s, want %s; the generations were\n%s", test.param, got, test.reaches, strings.Join(lines, "\n"))
		}
	}
}
