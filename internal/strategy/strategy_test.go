package strategy

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"spoor/internal/topic"
	"spoor/internal/wire"
)

// A tiny is a web that fits on a screen: for every page its score and its links,
// as "score link link …". "!" is a page that cannot be fetched, "> page" a
// redirect. Addresses are letters, which stand for http://LETTER.test/.
type tiny map[string]string

func address(name string) string {
	if strings.Contains(name, "/") {
		return "http://" + name
	}
	return "http://" + name + ".test/"
}

func name(url string) string {
	return strings.TrimSuffix(strings.TrimPrefix(url, "http://"), ".test/")
}

// fetch returns the record that score would write.
func (w tiny) fetch(a Address, generation int) *wire.Record {
	rec := new(wire.Record)
	a.Fill(rec, generation)
	words := strings.Fields(w[name(a.URL)])
	if len(words) == 2 && words[0] == ">" {
		rec.FinalURL = address(words[1])
		words = strings.Fields(w[words[1]])
	}
	if len(words) == 0 || words[0] == "!" {
		rec.Error = wire.ErrorNotArchived
		return rec
	}
	var score float64
	fmt.Sscan(words[0], &score)
	rec.StatusCode, rec.Score = 200, wire.Num(score)
	rec.OutDegree = len(words) - 1
	for _, to := range words[1:] {
		link := wire.Link{URL: address(strings.TrimPrefix(to, "-"))}
		if strings.HasPrefix(to, "-") {
			link.Archived = wire.False
		}
		rec.Links = append(rec.Links, link)
	}
	return rec
}

// A pages is a web that crawl can fetch.
type pages interface {
	fetch(a Address, generation int) *wire.Record
}

// target returns a topic for strategies that use words, with all sections that are learned from
// examples.
func target(tb testing.TB) *topic.Topic {
	tb.Helper()
	t := topicOf(tb, "en", "genetic crawler")
	example := topic.Page{URL: address("example"), Title: "A genetic crawler", Text: "selection, crossover and mutation of links"}
	if err := t.Learn([]topic.Page{example}, nil, topic.LearnOptions{Size: topic.TableSize}); err != nil {
		tb.Fatal(err)
	}
	return t
}

// crawl crawls w from seeds with n fetches per generation, and returns one line per
// generation: the names fetched, each with its operator. The strategy is restored from its
// deltas before every generation, as between two processes.
func crawl(t *testing.T, w pages, kind string, params []string, n, generations int, seeds ...string) (lines []string) {
	t.Helper()
	topic := target(t)
	var deltas [][]byte
	type waiting struct {
		Address
		generation int
	}
	frontier := map[string]waiting{}
	visited := map[string]bool{}
	for _, seed := range seeds {
		frontier[address(seed)] = waiting{Address{URL: address(seed), Operator: "seed"}, 0}
	}
	for g := 1; g <= generations; g++ {
		s := newStrategy(t, kind, topic, params)
		for _, d := range deltas {
			if err := s.Replay(d); err != nil {
				t.Fatal(err)
			}
		}
		var batch []waiting
		for _, a := range frontier {
			batch = append(batch, a)
		}
		slices.SortFunc(batch, func(a, b waiting) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.URL, b.URL))
		})
		var line []string
		for _, a := range batch[:min(n, len(batch))] {
			rec := w.fetch(a.Address, g)
			visited[rec.URL] = true
			if rec.FinalURL != "" {
				visited[rec.FinalURL] = true
				delete(frontier, rec.FinalURL)
			}
			delete(frontier, rec.URL)
			line = append(line, name(a.URL)+" "+a.Operator)
			s.Visit(rec)
		}
		for _, a := range s.Breed(n, rand.New(rand.NewPCG(1, uint64(g)))) {
			if a.URL != "" && !visited[a.URL] {
				frontier[a.URL] = waiting{a, g}
			}
		}
		deltas = append(deltas, s.AppendDelta(nil))
		lines = append(lines, strings.Join(line, ", "))
	}
	return lines
}

func check(t *testing.T, got, want []string) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("generations (-want +got):\n%s", diff)
	}
}

var diamond = tiny{
	"a": "0.1 b c",
	"b": "0.2 d c",
	"c": "0.9 e f",
	"d": "0 a",
	"e": "0.5 d",
	"f": "! ",
}

func TestBreadthFirstFollowsTheOrderOfDiscovery(t *testing.T) {
	check(t, crawl(t, diamond, "breadthfirst", nil, 1, 7, "a"), []string{
		"a seed", "b link", "c link", "d link", "e link", "f link", "",
	})
}

func TestBestFirstFollowsTheBestPage(t *testing.T) {
	check(t, crawl(t, diamond, "bestfirst", nil, 1, 7, "a"), []string{
		"a seed",
		"b link", // 0.1, as c; ties go by address
		"c link", // raised to 0.2 by b, as d
		"e link", // 0.9, as f
		"f link",
		"d link", // raised from 0.2 to 0.5 by e
		"",
	})
}

func TestLinksMissingInArchiveAreNotProposed(t *testing.T) {
	w := tiny{"a": "1 -x b", "b": "1"}
	check(t, crawl(t, w, "bestfirst", nil, 5, 3, "a"), []string{"a seed", "b link", ""})
}

func TestRedirectTargetIsNotProposed(t *testing.T) {
	w := tiny{"a": "1 r c", "r": "> b", "b": "1 d", "c": "1 b", "d": "1"}
	check(t, crawl(t, w, "breadthfirst", nil, 1, 5, "a"),
		[]string{"a seed", "r link", "c link", "d link", ""})
}

// A redirect on the way to a failure may lead to a page of the same generation. The restored
// state is the same as the original one.
func TestRedirectTargetSurvivesReplay(t *testing.T) {
	failure := func(url, hop string) *wire.Record {
		return &wire.Record{URL: address(url), FinalURL: address("z"), Error: wire.ErrorTimeout,
			Redirects: []wire.Redirect{{URL: address(hop), StatusCode: 302}}}
	}
	var live, back breadthFirst
	live.Visit(failure("y", "x"))
	live.Visit(&wire.Record{URL: address("x"), StatusCode: 200, Score: wire.Num(1)})
	live.Visit(failure("v", "w"))
	if err := back.Replay(live.AppendDelta(nil)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*breadthFirst{&live, &back} {
		for _, name := range []string{"v", "w", "x", "y", "z"} {
			id, _ := s.web.Find(address(name))
			place, fetched := s.page(id)
			if want := name != "x"; !fetched || s.pages[place].failed != want {
				t.Errorf("%s: fetched %v, failed %v, want %v", name, fetched, s.pages[place].failed, want)
			}
		}
	}
}

// A page that is fetched twice in a generation, directly and by a redirect, is one page in either
// order, and its links count once.
func TestAliasesAreOnePage(t *testing.T) {
	w := tiny{"a": "> b", "b": "0.5 x y"}
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		s := newTunnel().(*tunnel)
		for _, a := range seeds(order...) {
			s.Visit(w.fetch(a, 1))
		}
		x, _ := s.web.Find(address("x"))
		if len(s.pages) != 1 || s.web.InDegree(x) != 1 {
			t.Errorf("%v: %d pages, %d of which link to x, want one", order, len(s.pages), s.web.InDegree(x))
		}
	}
}

func TestSameSeedSameGenerations(t *testing.T) {
	w := random(400, 3)
	for _, kind := range Kinds() {
		if !slices.Equal(
			crawl(t, w, kind.Name, nil, 7, 40, "0", "1"),
			crawl(t, w, kind.Name, nil, 7, 40, "0", "1")) {
			t.Errorf("%s: two crawls with one seed differ", kind.Name)
		}
	}
}

// random returns a random web of n pages with failures, redirects and duplicate links.
func random(n int, seed uint64) tiny {
	rng := rand.New(rand.NewPCG(seed, 0))
	w := tiny{}
	for i := range n {
		switch rng.IntN(12) {
		case 0:
			w[fmt.Sprint(i)] = "!"
			continue
		case 1:
			if i > 1 {
				w[fmt.Sprint(i)] = fmt.Sprintf("> %d", rng.IntN(i))
				continue
			}
		}
		var links strings.Builder
		for range rng.IntN(30) {
			fmt.Fprintf(&links, " %d", rng.IntN(n))
		}
		w[fmt.Sprint(i)] = fmt.Sprintf("%.2f%s", max(0, rng.Float64()-.6), links.String())
	}
	w["0"] = "0.3 2 3 4 5"
	return w
}

// fetched returns the names in the lines of a crawl. It fails if one occurs twice.
func fetched(t *testing.T, lines []string) (names []string) {
	t.Helper()
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ", ") {
			if n, _, ok := strings.Cut(item, " "); ok {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Fatalf("an address was fetched twice: %v", names)
	}
	return names
}

// ends returns the pages to which names lead, after redirects.
func ends(w tiny, names []string) (pages []string) {
	for _, n := range names {
		if to, ok := strings.CutPrefix(w[n], "> "); ok {
			n = to
		}
		pages = append(pages, n)
	}
	slices.Sort(pages)
	return slices.Compact(pages)
}

func TestUnknownNamesHaveHints(t *testing.T) {
	for _, test := range []struct {
		kind   string
		params []string
		want   string
	}{
		{"bestest", nil, "hint: the strategies are "},
		{"niche", []string{"pc"}, "not name=value"},
		{"niche", []string{"pd=1"}, "its parameters are s0, hub-links, pc"},
		{"niche", []string{"pc=1.5"}, "want a number from 0 to 1"},
		{"niche", []string{"pc=NaN"}, "want a number from 0 to 1"},
		{"niche", []string{"lazy=perhaps"}, "want true or false"},
		{"niche", []string{"cocitation=cousins"}, "want siblings or parents"},
		{"breadthfirst", []string{"pc=1"}, "it has none"},
	} {
		_, err := New(test.kind, nil, test.params)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("New(%q, %q): %v, want «%s»", test.kind, test.params, err, test.want)
		}
	}
}

// Aim is called again whenever the topic has grown. With an unchanged topic it has no effect.
func TestAimingAgainChangesNothing(t *testing.T) {
	variants := slices.Clone(classics)
	for _, kind := range Kinds() {
		variants = append(variants, kind.Name)
	}
	for _, variant := range variants {
		once := newStrategy(t, kindOf(variant), target(t), paramsOf(variant))
		if _, ok := once.(aimed); !ok {
			continue
		}
		twice := newStrategy(t, kindOf(variant), target(t), paramsOf(variant))
		w := worded{random(80, 5)}
		batch := seeds("0", "1", "2")
		for g := 1; g <= 12; g++ {
			if err := Aim(twice, target(t)); err != nil {
				t.Fatal(err)
			}
			var bred [2][]Address
			for i, s := range []Strategy{once, twice} {
				for _, a := range batch {
					s.Visit(w.fetch(a, g))
				}
				bred[i] = s.Breed(5, rand.New(rand.NewPCG(1, uint64(g))))
			}
			if got, want := fmt.Sprint(bred[1]), fmt.Sprint(bred[0]); got != want {
				t.Fatalf("%s: generation %d proposes\n%s\nwant\n%s", variant, g, got, want)
			}
			batch = seeds(fmt.Sprint(3*g), fmt.Sprint(3*g+1), fmt.Sprint(3*g+2))
			batch = append(batch, slices.DeleteFunc(bred[0], func(a Address) bool { return a.URL == "" })...)
		}
	}
}

// newStrategy returns a new strategy of a kind.
func newStrategy(tb testing.TB, kind string, topic *topic.Topic, params []string) Strategy {
	tb.Helper()
	s, err := New(kind, topic, params)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// topicOf returns a topic with the words of a query.
func topicOf(tb testing.TB, language, query string) *topic.Topic {
	tb.Helper()
	stemmer := ""
	if language == "und" {
		stemmer = "none" // words as the papers print them
	}
	t, err := topic.New(language, stemmer)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := t.AddQuery(query); err != nil {
		tb.Fatal(err)
	}
	return t
}
