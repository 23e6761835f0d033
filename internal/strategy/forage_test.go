package strategy

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"spoor/internal/genetic"
	"spoor/internal/graph"
	"spoor/internal/wire"
)

// A written web has texts: 50 lists of 20 links, of which those whose anchor has the word "paper"
// lead to pages about genetic crawlers, and the others to pages about gardens.
type written struct{}

func (written) fetch(a Address, generation int) *wire.Record {
	rec := new(wire.Record)
	a.Fill(rec, generation)
	rng := rand.New(rand.NewPCG(fnv64(a.URL), 5))
	some := func(words string, n int) string {
		list := strings.Fields(words)
		var s []string
		for range n {
			s = append(s, list[rng.IntN(len(list))])
		}
		return strings.Join(s, " ")
	}
	const garden, topical = "flower river stone bread house tree garden water", "selection crossover population fitness mutation"
	link := func(to, anchor string) {
		rec.Links = append(rec.Links, wire.Link{URL: to, Anchor: anchor, Context: some(garden, 6) + "\n" + some(garden, 6), Path: "html/body/ul/li/a"})
	}
	list := func() string { return fmt.Sprintf("http://h%d.test/list/%d", rng.IntN(5), rng.IntN(50)) }
	rec.StatusCode, rec.Relevant = 200, wire.False
	switch {
	case strings.Contains(a.URL, "/list/"):
		rec.Title, rec.Text = some(garden, 2), some(garden, 60)
		for range 20 {
			to := fmt.Sprintf("http://h%d.test/%d", rng.IntN(5), rng.IntN(5000))
			if anchor := some(garden, 2); isAboutCrawlers(to) {
				link(to, "paper "+anchor)
			} else {
				link(to, anchor)
			}
		}
	case isAboutCrawlers(a.URL):
		rec.Title, rec.Text, rec.Relevant = "genetic crawler", some(topical+" genetic crawler", 60), wire.True
		link(list(), some(garden, 2))
		link(list(), some(garden, 2))
	default:
		rec.Title, rec.Text = some(garden, 2), some(garden, 60)
		link(list(), some(garden, 2))
	}
	rec.OutDegree = len(rec.Links)
	return rec
}

func isAboutCrawlers(url string) bool {
	return !strings.Contains(url, "/list/") && fnv64(url)%8 == 0
}

// Forage learns which word of anchors leads to relevant pages, which has nothing to do with the
// query.
func TestForageLearnsWordsOfLinks(t *testing.T) {
	count := func(kind string, params ...string) (n int) {
		for _, name := range fetched(t, crawl(t, written{}, kind, params, 10, 30, "h0.test/list/0")) {
			if isAboutCrawlers(address(name)) {
				n++
			}
		}
		return n
	}
	plain := count("breadthfirst")
	for _, params := range [][]string{{"window=10"}, {"window=10", "islands=false"}} {
		if got := count("forage", params...); got < 2*plain {
			t.Errorf("forage %v found %d relevant pages, breadthfirst %d: want twice that", params, got, plain)
		}
	}
}

// The words of an address are split at punctuation, digits and changes of case.
func TestTermsOfAnAddress(t *testing.T) {
	s := newStrategy(t, "forage", target(t), nil)
	f := s.(*forage)
	for _, test := range []struct{ url, want string }{
		{"http://a.test/~jones/GeneticCrawlers/page12.html", "jone genet crawler page \x00tilde \x00number"},
		{"http://a.test/B2G_OS/API/", "os api \x00number \x00folder"},
		{"http://a.test/", "\x00folder"},
		{"http://a.test/caf%C3%A9?q=river", "café river"},
	} {
		var got []string
		for _, n := range f.foraged.address(test.url) {
			name := f.terms.names.At(int(n))
			if name == "q" {
				continue
			}
			got = append(got, name)
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s has the terms %q, want %q", test.url, s, test.want)
		}
	}
}

func TestDirectoriesOfAnAddress(t *testing.T) {
	s := newForage().(*forage)
	var web graph.Graph
	web.Intern("http://a.test/one/two/page")
	web.Intern("http://a.test/one/other?x=/y/")
	web.Intern("http://b.test/")
	s.fitDirectories(&web)
	for id, want := range []string{"a.test/one/two a.test/one a.test", "a.test/one a.test", "b.test"} {
		var got []string
		for d := s.directory[id]; d >= 0; d = s.outer[d] {
			name := ""
			for at := d; at >= 0; at = s.outer[at] {
				key := s.directories.of.names.At(int(at))
				_, n := binary.Varint([]byte(key))
				name = strings.TrimSuffix(key[n:]+"/"+name, "/")
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is in %q, want %q", web.URL(graph.ID(id)), got, want)
		}
	}
}

// Islands share a generation in proportion. An address that two of them would choose is taken once.
func TestIslandsShareAGeneration(t *testing.T) {
	lists := [islandCount][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10, 0, 11, 12, 13, 14, 15, 16, 17, 18}, {20, 21, 22, 23, 24, 25, 26, 27, 28, 29}}
	chosen := interleave(lists, [islandCount]float64{0.5, 0.3, 0.2}, 10)
	var by [islandCount]int
	var at []int
	for _, c := range chosen {
		by[c.by]++
		at = append(at, c.at)
		if c.at == 0 && c.islands != 1<<islandWeighted|1<<islandPlain {
			t.Errorf("address 0 is marked as that of islands %b", c.islands)
		}
	}
	slices.Sort(at)
	if len(slices.Compact(at)) != 10 || by[islandWeighted] < 5 || by[islandPlain] < 2 || by[islandBreadth] != 2 {
		t.Errorf("the islands chose %v, in all %v", by, at)
	}
	if rest := interleave([islandCount][]int{{1}, {1}, nil}, [islandCount]float64{0.9, 0.05, 0.05}, 10); len(rest) != 1 {
		t.Errorf("of one address %d were chosen", len(rest))
	}
}

// Models of large crawls are fitted to a part of the pages, all of them different.
func TestLatest(t *testing.T) {
	for _, n := range []int{0, 1, mostExamples, mostExamples + 1, 10 * mostExamples} {
		got := exampleIndexes(n)
		if len(got) != min(n, mostExamples) || !slices.IsSorted(got) || len(slices.Compact(got)) != min(n, mostExamples) {
			t.Errorf("of %d, %d are chosen", n, len(got))
		}
		if n > 0 && got[len(got)-1] != n-1 {
			t.Errorf("of %d, the last is not chosen", n)
		}
	}
}

// Between two fits a restored crawl chooses as the one that went on, also if pages had several
// addresses: the model is then fitted to an extent, and the newer pages are added to it at once.
func TestForageRestoredBetweenFits(t *testing.T) {
	w := newRough(1500, 1)
	live := newStrategy(t, "forage", target(t), nil)
	var deltas [][]byte
	breed := func(s Strategy, outcomes []*wire.Record, g int) []Address {
		for _, rec := range outcomes {
			s.Visit(rec)
		}
		return s.Breed(10, rand.New(rand.NewPCG(1, uint64(g))))
	}
	every := 1
	if testing.Short() {
		every = 4
	}
	for g := 1; g <= 112; g++ {
		outcomes := w.generation(10, g)
		var again []Address
		restore := g > 100 && g%every == 0
		if restored := newStrategy(t, "forage", target(t), nil); restore {
			for _, d := range deltas {
				if err := restored.Replay(d); err != nil {
					t.Fatal(err)
				}
			}
			again = breed(restored, outcomes, g)
		}
		bred := breed(live, outcomes, g)
		if restore && fmt.Sprint(bred) != fmt.Sprint(again) {
			t.Fatalf("generation %d proposes\n%v\nand, restored,\n%v", g, bred, again)
		}
		deltas = append(deltas, live.AppendDelta(nil))
		w.offer(bred)
	}
}

// The addresses that diverse chooses are those that a search among all that are left would find, each time.
func TestDiverse(t *testing.T) {
	w := newRough(600, 2)
	s := newStrategy(t, "forage", target(t), nil).(*forage)
	for g := 1; g <= 25; g++ {
		for _, rec := range w.generation(10, g) {
			s.Visit(rec)
		}
		w.offer(s.Breed(10, rand.New(rand.NewPCG(1, uint64(g)))))
	}
	waiting := s.waiting()
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{0, 1, 7, 60, 5000} {
		scores := make([]float64, len(waiting.ids))
		for i := range scores {
			scores[i] = math.Round(8*rng.NormFloat64()) / 8 // some are equal
		}
		var want []int
		best, used, taken := genetic.Truncate(scores, 6*n), map[int]bool{}, map[int32]float64{}
		for len(want) < min(n, len(best)) {
			pick, high := -1, math.Inf(-1)
			for _, at := range best {
				cost, parents := 0.0, 0.0
				for a := range s.into(waiting.ids[at], len(s.pages)) {
					cost += taken[a.from] / (s.model.taken[a.from] + 2)
					parents++
				}
				if v := scores[at] - float64(diversityPenalty*cost)/max(1, parents); !used[at] && v > high {
					pick, high = at, v
				}
			}
			used[pick] = true
			want = append(want, pick)
			for a := range s.into(waiting.ids[pick], len(s.pages)) {
				taken[a.from]++
			}
		}
		if got := s.diverse(waiting, scores, n); !slices.Equal(got, want) {
			t.Errorf("%d of %d: got %v, want %v", n, len(scores), got, want)
		}
		if n == 60 && slices.Equal(want, genetic.Truncate(scores, n)) {
			t.Error("no score was lowered: the test shows nothing")
		}
	}
}
