package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"spoor/internal/fitness"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// tabled is a gcrawler whose table has genetic at 1 and crawler at 0.5.
func tabled(t *testing.T, params ...string) *gcrawler {
	t.Helper()
	s := made[*gcrawler](t, "gcrawler", params...)
	s.table = []fitness.Entry{{Term: "genet", Weight: 1}, {Term: "crawler", Weight: 0.5}}
	s.begin()
	return s
}

func TestSubsetSimilarity(t *testing.T) {
	s := tabled(t)
	page := s.read("genetics", "A crawler: genetic?") // genetic 2 + 1, crawler 1
	if diff := gocmp.Diff("[{0 3} {1 1}]", fmt.Sprint(page)); diff != "" {
		t.Fatal(diff)
	}
	for _, test := range []struct {
		genome []bool
		want   float64
	}{
		{nil, 3.5 / math.Sqrt(10) / math.Sqrt(1.25)}, // (3·1 + 1·0.5) / √(3² + 1²) / √(1² + 0.5²)
		{[]bool{true, true}, 3.5 / math.Sqrt(12.5)},
		{[]bool{true, false}, 3 / math.Sqrt(10)}, // the page keeps both words
		{[]bool{false, true}, 1 / math.Sqrt(10)},
		{[]bool{false, false}, 0},
	} {
		if got := s.similarity(s.subset(test.genome), page); !equals(got, test.want) {
			t.Errorf("similarity by %v is %v, want %v", test.genome, got, test.want)
		}
	}
	if got := s.similarity(s.subset(nil), nil); got != 0 {
		t.Errorf("a page without words of the table is worth %v", got)
	}
}

// A page (genetic 3, crawler 1) by both words: 3.5/√12.5 = 0.98995; an anchor with
// crawler alone: 0.5/√1.25 = 0.44721; an address with both: 1.5/√2.5 = 0.94868.
func TestGcrawlerLinksByHand(t *testing.T) {
	s := tabled(t)
	s.Visit(&wire.Record{URL: address("a"), StatusCode: 200, Title: "genetics", Text: "A crawler: genetic?", Links: []wire.Link{
		{URL: address("b"), Anchor: "Crawlers"}, {URL: "http://c.test/genetic-crawler", Anchor: "here"}, {URL: address("d")},
	}})
	next := s.Breed(3, rand.New(rand.NewPCG(1, 1)))
	want := []float64{(0.98995 + 0.44721) / 2, (0.98995 + 0.94868) / 2, 0.98995 / 2}
	for i, a := range next {
		if math.Abs(a.Priority-want[i]) > 1e-5 || math.Abs(reason(t, a, "page")-0.98995) > 1e-5 {
			t.Errorf("%+v, want %v", a, want[i])
		}
	}
	if len(next) != 3 {
		t.Errorf("%d addresses", len(next))
	}
	// A page that is worth nothing does not lower what its links were worth.
	s.Visit(&wire.Record{URL: address("e"), StatusCode: 200, Links: []wire.Link{{URL: address("d")}, {URL: address("f")}}})
	if next := s.Breed(3, rand.New(rand.NewPCG(1, 2))); len(next) != 1 || name(next[0].URL) != "f" || next[0].Priority != 0 {
		t.Errorf("%+v", next)
	}
}

// Pages have genetic alone, of two words: the subset of genetic is the fittest,
// with similarity 1 in place of 1/√1.25, and steers after few generations.
func TestFittestSubsetSteers(t *testing.T) {
	s := tabled(t, "population=8")
	fittest := 0.0
	for g := range 12 {
		s.Visit(&wire.Record{URL: address(fmt.Sprint(g)), StatusCode: 200, Text: "genetic"})
		s.Breed(1, rand.New(rand.NewPCG(1, uint64(g))))
		scores := s.fitness(s.genomes)
		if scores[0] != slices.Max(scores) || scores[0] < fittest || len(scores) != 8 {
			t.Fatalf("generation %d: fitness %v, after %v", g, scores, fittest)
		}
		fittest = scores[0]
	}
	if !slices.Equal(s.leader(), []bool{true, false}) || !equals(fittest, 1) {
		t.Errorf("%v steers, with fitness %v", s.leader(), fittest)
	}
}

func TestFitnessIsTheMeanOfTheLastPages(t *testing.T) {
	s := tabled(t, "window=2")
	for i, text := range []string{"crawler", "genetic", "nothing"} {
		s.Visit(&wire.Record{URL: address(fmt.Sprint(i)), StatusCode: 200, Text: text})
	}
	s.Breed(1, rand.New(rand.NewPCG(1, 1)))
	if got := s.fitness([][]bool{{true, false}, {false, true}}); !equals(got[0], 0.5) || got[1] != 0 {
		t.Errorf("fitness %v of the last two of three pages, want 0.5 and 0", got)
	}
}

// A word that enters the table between two generations is in all subsets.
func TestGrowingTable(t *testing.T) {
	s := tabled(t)
	s.Visit(&wire.Record{URL: address("a"), StatusCode: 200, Text: "genetic"})
	s.Breed(1, rand.New(rand.NewPCG(1, 1)))
	delta := s.AppendDelta(nil)

	grown := made[*gcrawler](t, "gcrawler")
	grown.table = []fitness.Entry{{Term: "mutat", Weight: 0.9}, {Term: "genet", Weight: 0.8}}
	if err := grown.Replay(delta); err != nil {
		t.Fatal(err)
	}
	grown.begin()
	if diff := gocmp.Diff("[genet crawler mutat] [0.8 0 0.9]", fmt.Sprint(grown.words, grown.weights)); diff != "" {
		t.Error(diff)
	}
	for _, g := range grown.genomes {
		if len(g) != 3 || !g[2] {
			t.Errorf("genome %v", g)
		}
	}
}

func TestTopicWithoutTableUsesKeywords(t *testing.T) {
	subject, err := topic.New("en", "")
	if err != nil {
		t.Fatal(err)
	}
	for keyword, weight := range map[string]float64{"call for paper": 5} {
		if err := subject.AddKeyword(keyword, weight); err != nil {
			t.Fatal(err)
		}
	}
	s := newStrategy(t, "gcrawler", subject, nil)
	if diff := gocmp.Diff("[{call  5 0} {paper  5 0}]", fmt.Sprint(s.(*gcrawler).table)); diff != "" {
		t.Error(diff)
	}
}

func TestBitsRoundTrip(t *testing.T) {
	for n := range 20 {
		bits := make([]bool, n)
		for i := range bits {
			bits[i] = i%3 == 0
		}
		var got []bool
		transfer(t, nil, func(c *codec) { c.bits(&bits, n) }, func(c *codec) { c.bits(&got, n) })
		if !slices.Equal(got, bits) {
			t.Errorf("%v came back as %v", bits, got)
		}
	}
	var bits []bool
	c := codec{b: []byte{1}, reading: true}
	if c.bits(&bits, 9); !c.bad {
		t.Error("nine bits of one byte were not bad")
	}
}
