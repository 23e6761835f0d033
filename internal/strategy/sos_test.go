package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"spoor/internal/topic"
	"spoor/internal/wire"
)

// readers returns the queries of a topic after reading the pages of a generation, each given as
// "score: title: text".
func readers(tb testing.TB, t *topic.Topic, params []string, pages ...string) *queries {
	tb.Helper()
	s := symbiotic(tb, t, params...)
	for i, line := range pages {
		s.Visit(printed(i, line))
	}
	s.startBreed(1)
	s.queries.learn()
	return &s.queries
}

func printed(i int, line string) *wire.Record {
	parts := strings.Split(line, ":")
	rec := tiny{"p": parts[0]}.fetch(seeds("p")[0], 1)
	rec.URL = address(fmt.Sprint("p", i))
	rec.Title, rec.Text = parts[1], parts[2]
	rec.Relevant = wire.Bool{Value: rec.Score.Value >= 0.4, Kind: wire.Present}
	return rec
}

// genes returns the genes of an organism in the order of a vocabulary.
func genes(h *habitat, organism []float64, vocabulary []string) (g []int) {
	for _, word := range vocabulary {
		g = append(g, int(organism[slices.Index(h.vocabulary, word)]))
	}
	return g
}

// The paper's example: eight words, of which the first three are the query's and the
// others the most frequent words of five documents. A gene is on if its word stands
// anywhere in the document: prabowosandiaga in the first one, although it is the most
// frequent word of another. In print the third document has seven genes for the eight
// words, and that of its own most frequent word is off; here it is on.
func TestOrganismsAreDocumentsOverTheVocabulary(t *testing.T) {
	aim := sought(t, "pemilihan presiden indonesia")
	vocabulary := []string{"pemilihan", "presiden", "indonesia", "kampanye", "prabowosandiaga", "jokowi", "debat", "suara"}
	s := readers(t, aim, nil,
		"0.9::kampanye kampanye presiden prabowosandiaga pemilihan",
		"0.8::prabowosandiaga prabowosandiaga presiden indonesia",
		"0.7::jokowi jokowi presiden debat",
		"0.6::debat debat indonesia",
		"0.5::suara suara suara pemilihan jokowi",
	)
	h := s.habitat(rand.New(rand.NewPCG(1, 1)))
	want := [][]int{
		{1, 1, -1, 1, 1, -1, -1, -1},
		{-1, 1, 1, -1, 1, -1, -1, -1},
		{-1, 1, -1, -1, -1, 1, 1, -1},
		{-1, -1, 1, -1, -1, -1, 1, -1},
		{1, -1, -1, -1, -1, 1, -1, 1},
		{1, 1, 1, -1, -1, -1, -1, -1}, // the query
	}
	if len(h.vocabulary) != len(vocabulary) {
		t.Fatalf("the vocabulary is %q, want %q", h.vocabulary, vocabulary)
	}
	var got [][]int
	for _, x := range h.organisms {
		if len(x) != len(vocabulary) {
			t.Fatalf("an organism has %d genes for %d words", len(x), len(vocabulary))
		}
		got = append(got, genes(h, x, vocabulary))
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// Likeness with the query: 2 of 5 words, 2 of 4, 1 of 5, 1 of 4, 1 of 5, and all.
	for i, want := range []float64{2. / 5, 2. / 4, 1. / 5, 1. / 4, 1. / 5, 1} {
		if got := h.likeness(h.active(h.organisms[i], 8)); got != want {
			t.Errorf("organism %d has the likeness %v, want %v", i, got, want)
		}
	}
	// To the letter, and for the literal objective, the query is not among them.
	s.Objective = forLikeness
	if h := s.habitat(nil); len(h.organisms) != 5 {
		t.Errorf("%d organisms, want the five documents", len(h.organisms))
	}
}

// The words of a query are sorted by their weights in the table; of equals, the user's come first,
// in the user's order. Their number is limited, and at least one is the user's.
func TestQueryWordsAreOrderedAndIncludeTheUsers(t *testing.T) {
	aim := sought(t, "beta alpha",
		topic.Entry{Term: "delta", Weight: 1, DF: 1}, topic.Entry{Term: "gamma", Weight: 0.5, DF: 1}, topic.Entry{Term: "zeta", Weight: 0.7, DF: 1})
	s := readers(t, aim, nil,
		"0.1::gamma", "0.1::delta", "0.1::zeta", "0.1::eta", "0.1::epsilon")
	h := s.habitat(rand.New(rand.NewPCG(1, 1)))
	const all = "beta alpha delta zeta gamma epsilon eta"
	if got := strings.Join(h.vocabulary, " "); got != all {
		t.Fatalf("the order is %q, want %q", got, all)
	}
	for _, test := range []struct {
		on   string
		most int
		want string
	}{
		{all, 8, all},
		{all, 3, "beta alpha delta"},
		{"eta gamma alpha", 8, "alpha gamma eta"},
		{"eta gamma zeta", 8, "beta zeta gamma eta"},
		{"eta gamma zeta", 3, "beta zeta gamma"},
		{"eta gamma zeta", 1, "beta"},
		{"", 8, "beta"},
	} {
		h.maxWords = test.most
		x := make([]float64, len(h.vocabulary))
		for i, word := range h.vocabulary {
			if x[i] = -0.01; slices.Contains(strings.Fields(test.on), word) {
				x[i] = 0 // is on
			}
		}
		if got := h.line(h.query(x)); got != test.want {
			t.Errorf("of %q at most %d: %q, want %q", test.on, test.most, got, test.want)
		}
	}
}

// The user's words are written as in the user's query, those of the table as in the examples, and
// others in their most frequent form in the population.
func TestQueryUsesWrittenForms(t *testing.T) {
	aim := topicOf(t, "en", "Libraries searching")
	aim.Table = []topic.Entry{{Term: "select", Word: "selection", Weight: 0.5}, {Term: "generat", Word: "genius", Weight: 0.1}}
	s := readers(t, aim, []string{"words=8"},
		"0.9:Crawlers:A crawler? Crawlers, crawlers and CRAWLING: library, library searches",
		"0.5::generations generation generations", "0.4::selecting selecting selection")
	h := s.habitat(rand.New(rand.NewPCG(1, 1)))
	every := make([]float64, len(h.vocabulary))
	if got, want := h.line(h.query(every)), "libraries searching selection generations crawlers"; got != want {
		t.Errorf("the query is %q, want %q", got, want)
	}
}

// Two of the user's words (0, 1) and three others. The parts by hand:
//
//	C = (3, 0, 4, 0, 0) / 5    cos({0}, C) = 3/5    cos({0, 2}, C) = (3+4)/5√2
//	drawn yields  .5 .1 .3 0 1
//	issued        {0, 1} and {2, and two words that are not here}
//
//	S = {0, 2}    .4 · 7/5√2 + .4 · (.5+.3)/2 + .2 · (1 − 1/3)     {0, 1} has one of three words
//	S = {0, 1}    .4 · 3/5√2 + .4 · (.5+.1)/2 + .2 · 0             issued
//	S = {2, 3}    has none of the user's words
//	S = {0,2,3,4} Jaccard with the user's: 1 of 5, enough
func TestYieldObjectiveByHand(t *testing.T) {
	h := &habitat{
		objective: forYield, maxWords: 6, users: 2,
		vocabulary: []string{"u", "v", "a", "b", "c"},
		user:       []bool{true, true, false, false, false},
		direction:  []float64{.6, 0, .8, 0, 0},
		yield:      []float64{.5, .1, .3, 0, 1},
		issued:     []askedQuery{{words: []int{0, 1}, size: 2}, {words: []int{2}, size: 3}},
	}
	for _, test := range []struct {
		genes []float64
		want  float64
	}{
		{[]float64{1, -1, 0, -1, -1}, .4*7/5/math.Sqrt2 + .4*.4 + .2*2/3},
		{[]float64{1, .1, -1, -1, -1}, .4*3/5/math.Sqrt2 + .4*.3},
		{[]float64{.3, -1, -1, -1, -1}, .4*.6 + .4*.5 + .2*.5},
		{[]float64{-1, -1, 1, 1, -1}, -1},
		{[]float64{-1, -1, -1, -1, -1}, -1},
		{[]float64{1, -1, 1, 1, 1}, .4*1.4/2 + .4*1.8/4 + .2*(1-1./5)},
	} {
		if got := h.fitness(test.genes); !near(got, test.want) {
			t.Errorf("f(%v) = %v, want %v", test.genes, got, test.want)
		}
	}
	// Two of seven words is enough, one of seven is not: worth less than nothing.
	h.users = 3 // the third is not in the vocabulary
	if got, want := h.fitness([]float64{1, -1, 1, 1, 1}), .4*1.4/2+.4*1.8/4+.2*(1-1./5); !near(got, want) {
		t.Errorf("1 of 6 is %v, want %v", got, want)
	}
	h.users = 4
	if got, want := h.fitness([]float64{1, -1, 1, 1, 1}), 1./7-1; !near(got, want) {
		t.Errorf("1 of 7 is %v, want %v", got, want)
	}
	// Of a query so long that a short one cannot be like it, half of what is possible.
	h.users = 60
	if got := h.fitness([]float64{1, 1, 1, 1, 1}); got >= 0 {
		t.Errorf("2 of 63 is %v, want less than nothing", got)
	}
	h.maxWords, h.user = 5, []bool{true, true, true, true, true}
	if got := h.fitness([]float64{1, 1, 1, 1, 1}); got < 0 {
		t.Errorf("5 of 60, all that is possible, is %v", got)
	}
}

func TestFirstCentroidIsTable(t *testing.T) {
	aim := sought(t, "uu", topic.Entry{Term: "aa", Weight: 0.75, DF: 1})
	s := readers(t, aim, nil, "0.1::aa aa xx")
	h := s.habitat(rand.New(rand.NewPCG(1, 1)))
	if want := []float64{0.8, 0.6}; !slices.EqualFunc(h.direction, want, near) {
		t.Errorf("before any page was relevant the direction of %q is %v, want %v", h.vocabulary, h.direction, want)
	}
	// A relevant page of the words aa (2 of 2), xx and uu (1 of 2): 1000, 500, 500.
	s = readers(t, aim, nil, "0.5:uu:aa aa xx")
	h = s.habitat(rand.New(rand.NewPCG(1, 1)))
	if want := []float64{500 / math.Sqrt(1.5e6), 1000 / math.Sqrt(1.5e6)}; !slices.EqualFunc(h.direction, want, near) {
		t.Errorf("the direction of %q is %v, want %v", h.vocabulary, h.direction, want)
	}
}

// What was asked is not asked again, in whatever order; with compat it is.
func TestIssuedQueriesAreTabu(t *testing.T) {
	aim := sought(t, "rose garden")
	pages := []string{"0.9::rose garden thorn thorn", "0.8::garden soil soil", "0.7::rose pot pot"}
	for _, objective := range []string{forYield, forLikeness} {
		s := readers(t, aim, []string{"objective=" + objective}, pages...)
		s.answer(&wire.Record{URL: address("seed"), Operator: "seed", Query: "Garden, rose"}, false)
		asked := map[string]bool{"garden rose": true}
		for i := range 40 {
			q, _, ok := s.breed(rand.New(rand.NewPCG(uint64(i), 1)), false)
			if !ok {
				continue
			}
			key := strings.Join(s.terms(q.Query), " ")
			if asked[key] {
				t.Errorf("%s: «%s» was asked twice", objective, q.Query)
			}
			asked[key] = true
		}
		if len(asked) < 4 {
			t.Errorf("%s: only %v were asked", objective, asked)
		}
	}
	s := readers(t, aim, []string{"compat=true"}, pages...)
	lines := map[string]int{}
	for i := range 40 {
		q, _, ok := s.breed(rand.New(rand.NewPCG(uint64(i), 1)), true)
		if !ok {
			t.Fatal("to the letter there is always a query")
		}
		lines[q.Query]++
	}
	if len(lines) > 3 {
		t.Errorf("to the letter, few queries again and again; these were %v", lines)
	}
}

// The sources of a query are the pages of the population that have its words.
func TestQueryNamesSourcesOfItsWords(t *testing.T) {
	s := symbiotic(t, sought(t, "rose"), "objective=literal", "words=2")
	w := library{
		"a": "0.5:thorn thorn rose:", // thorn
		"b": "0.4:soil soil:",
		"c": "0.3:thorn:",
	}
	for _, a := range seeds("a", "b", "c") {
		s.Visit(w.fetch(a, 1))
	}
	s.queries.answer(&wire.Record{Operator: "seed", Query: "rose"}, false)
	next := s.Breed(5, rand.New(rand.NewPCG(1, 1)))
	if len(next) != 1 || next[0].Query == "" || next[0].Operator != opMutation || next[0].Priority <= 1 || next[0].Depth != 0 {
		t.Fatalf("%+v, want one query", next)
	}
	want := map[string][]string{
		"rose thorn": {address("a"), address("c")},
		"rose soil":  {address("b")},
	}
	if got := next[0].Parents; !slices.Equal(got, want[next[0].Query]) {
		t.Errorf("the parents of «%s» are %q, want %q", next[0].Query, got, want[next[0].Query])
	}
	if r := next[0].Reasons; len(r) != 1 || r[0].Name != "fitness" {
		t.Errorf("the reasons are %v", r)
	}
}

func TestNoQueryWithoutWords(t *testing.T) {
	for _, pages := range [][]string{nil, {"0.9::"}, {"0.9:a:b c"}} {
		s := readers(t, sought(t, "rose"), nil, pages...)
		if q, _, ok := s.breed(rand.New(rand.NewPCG(1, 1)), false); ok {
			t.Errorf("%q: the query «%s»", pages, q.Query)
		}
	}
}

// The two queries that a word stands in have ten results each. Of the first two are new
// and relevant, of the second one.
func TestBeliefsFollowQueryResults(t *testing.T) {
	s := readers(t, sought(t, "rose"), nil)
	s.record(queryEvent{line: "rose thorn"})
	s.record(queryEvent{line: "soil rose"})
	for _, r := range []struct {
		query   string
		success bool
	}{
		{"rose thorn", true}, {"rose thorn", false}, {"rose thorn", true}, {"soil rose", true}, {"rose", true}, {"pot", true},
	} {
		s.answer(&wire.Record{URL: address("x"), Operator: "search", Query: r.query}, r.success)
	}
	want := map[string]belief{"rose": {20, 3}, "thorn": {10, 2}, "soil": {10, 1}}
	for term, b := range want {
		if s.yields[term] != b {
			t.Errorf("of %s is believed %v, want %v", term, s.yields[term], b)
		}
	}
	if len(s.yields) != len(want) {
		t.Errorf("beliefs are %v, want %v", s.yields, want)
	}
	for range 100 { // what is long ago counts less, and less again
		s.record(queryEvent{line: "rose"})
	}
	if b := s.yields["rose"]; b.trials > beliefTrials+s.Results || b.successes > 0 {
		t.Errorf("after a hundred queries for nothing it is %v", b)
	}
}

// Beta(1+s, 1+f) has the mean (1+s)/(2+s+f) and the variance μ(1−μ)/(3+s+f).
func TestBeliefDrawsAreBetaDistributed(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, b := range []belief{{}, {10, 0}, {10, 3}, {10, 10}, {100, 40}} {
		const n = 4000
		var sum, squares float64
		for range n {
			x := b.draw(rng)
			sum += x
			squares += x * x
		}
		total := float64(b.trials + 2)
		mean := float64(b.successes+1) / total
		variance := mean * (1 - mean) / (total + 1)
		gotMean, gotVariance := sum/n, squares/n-(sum/n)*(sum/n)
		if math.Abs(gotMean-mean) > 4*math.Sqrt(variance/n) || math.Abs(gotVariance/variance-1) > 0.15 {
			t.Errorf("%v: mean %.4f and variance %.5f, want %.4f and %.5f", b, gotMean, gotVariance, mean, variance)
		}
	}
}

// The memory for words is bounded, even if every page has new words.
func TestCentroidIsBounded(t *testing.T) {
	s := symbiotic(t, sought(t, "rose"), "ecosystem=5")
	longest := 0
	for g := range 60 {
		for i := range 20 {
			var text strings.Builder
			text.WriteString("rose rose rose")
			for w := range 80 {
				fmt.Fprintf(&text, " w%dx%dx%d", g, i, w)
			}
			rec := printed(20*g+i, "0.9:rose:"+text.String())
			s.Visit(rec)
			if len(s.queries.documents) > 2*5 {
				t.Fatalf("%d documents are kept for an ecosystem of 5", len(s.queries.documents))
			}
		}
		s.Breed(20, rand.New(rand.NewPCG(1, uint64(g))))
		longest = max(longest, len(s.AppendDelta(nil)))
	}
	if n := len(s.queries.centroid); n > 2*centroidTerms {
		t.Errorf("the centroid has %d terms, want at most %d", n, 2*centroidTerms)
	}
	if s.queries.centroid["rose"] != 60*20*1000 {
		t.Errorf("rose weighs %d, want 1000 for each of 1200 pages", s.queries.centroid["rose"])
	}
	if most := 20*pageTerms*16 + 20*80; longest > most {
		t.Errorf("a generation took %d bytes of state, want less than %d", longest, most)
	}
}

// Pages with only new words are read up to a number of words that no language has.
func TestPopulationTermsAreBounded(t *testing.T) {
	s := readers(t, sought(t, "rose"), nil, "0.9:thorn:")
	var text strings.Builder
	for w := range populationTerms {
		text.WriteString(strconv.FormatInt(int64(w), 36))
		text.WriteString("x ")
	}
	s.population.Add(text.String())
	s.read(1, &page{score: 1}, &wire.Record{Text: "leaf"})
	if n := len(s.documents); n != 1 {
		t.Errorf("%d pages were read, want the one before all these words", n)
	}
	s.endGeneration()
	s.read(2, &page{score: 1}, &wire.Record{Text: "leaf"})
	if n := len(s.documents); n != 1 {
		t.Errorf("%d pages of the next generation were read, want one", n)
	}
}

// A very long page is read up to a limit.
func TestPageTextIsBounded(t *testing.T) {
	s := readers(t, sought(t, "rose"), nil, "0.9:"+strings.Repeat("thorn ", readText/6)+": soil soil")
	if d := s.documents[0]; s.analyzer.Name(d.top) != "thorn" || len(d.terms) > 2 {
		t.Errorf("the top word is %s of %d terms", s.analyzer.Name(d.top), len(d.terms))
	}
	s.answer(&wire.Record{Operator: "seed", Query: strings.Repeat("rose", maxQueryLen)}, true)
	if len(s.issued) > 0 {
		t.Error("a query of thousands of bytes was taken for one")
	}
}

// Every generation has new words, and old ones are forgotten. That does not change the queries.
func TestPopulationsReleaseTerms(t *testing.T) {
	const words = 20_000
	s, top := readers(t, sought(t, "rose"), nil, "0.9:thorn:"), 0
	for generation := range 20 {
		var text strings.Builder
		for w := range words {
			fmt.Fprintf(&text, "w%dx ", generation*words+w)
		}
		s.population.Add("Rose rose ROSE leaf " + text.String())
		if got := s.population.Form(s.analyzer.Stem("rose")); got != "rose" {
			t.Fatalf("generation %d: rose is written %q", generation, got)
		}
		s.endGeneration()
		top = max(top, s.analyzer.Len())
	}
	if top > 10*words {
		t.Errorf("%d words are known, of %d in a generation", top, words)
	}
}
