package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"spoor/internal/wire"
)

// A told web is a tiny web whose pages have texts; they are relevant from a score of one half on.
type told struct {
	tiny
	texts map[string]string
}

func (w told) fetch(a Address, generation int) *wire.Record {
	rec := judged{w.tiny}.fetch(a, generation)
	rec.Text = w.texts[name(a.URL)]
	return rec
}

// visited fetches pages by name, one after another, and ends the generation: it returns the n
// addresses that s proposes.
func visited(s Strategy, w pages, n int, names ...string) []Address {
	for i, name := range names {
		a := Address{URL: address(name), Depth: i}
		s.Visit(w.fetch(a, 1))
	}
	return s.Breed(n, rand.New(rand.NewPCG(1, 1)))
}

// The seed s links to h, and h to the target t: the layers 2, 1 and 0. V has the words of the layers 0 and
// 1, ant and bee. Layer 0 has ant three times, so P(ant|0) = (1 + 3) / (2 + 3) = 4/5 and P(bee|0) =
// 1/5. Layer 1 has bee twice: 1/4 and 3/4. Layer 2 has bee once, because cat is not in V: 1/3 and 2/3.
// The thresholds are those of t, h and s in their own layers: 4/5, 3/4 and 2/3.
//
//	ant        4/5 in layer 0: t
//	bee        3/4 in layer 1: h, and s, too
//	ant bee    √(4/5 · 1/5) = 0.4, √(1/4 · 3/4) = 0.433, √(1/3 · 2/3) = 0.471: below 2/3, so it is in no layer
//	cat        no word of V
//	ant³ bee   (4/5)^¾ · (1/5)^¼ = 0.566 in layer 0: below 4/5
//
// With other=0.5 the threshold is the likelihood of the page in the middle; with one page it is the same.
func TestContextGraphByHand(t *testing.T) {
	w := told{
		tiny{"s": "0 h y", "h": "0.1 t z", "t": "0.9 x"},
		map[string]string{"s": "bee cat", "h": "bee bee", "t": "ant ant ant"},
	}
	s := made[*contextGraph](t, "contextgraph", "layers=2", "every=3")
	next := visited(s, w, 9, "s", "h", "t")
	check(t, described(next), []string{
		"x link 0.8 via t layer=0 likelihood=0.8",
		"y link -0.25 via s layer=1 likelihood=0.75",
		"z link -0.25 via h layer=1 likelihood=0.75",
	})
	for _, test := range []struct {
		words string
		want  layerRank
	}{
		{"ant", layerRank{0, 0.8}},
		{"bee", layerRank{1, 0.75}},
		{"ant bee", layerRank{3, math.Sqrt(2) / 3}},
		{"cat", layerRank{3, 0}},
		{"ant ant ant bee", layerRank{3, math.Pow(0.8, 0.75) * math.Pow(0.2, 0.25)}},
	} {
		place := len(s.pages)
		s.pages = append(s.pages, page{})
		s.words.add(place, &wire.Record{Text: test.words})
		got := s.model.classify(s.reduced(&s.model, place))
		if got.layer != test.want.layer || !equals(got.likelihood, test.want.likelihood) {
			t.Errorf("%q is %v, want %v", test.words, got, test.want)
		}
	}
}

// a → b → c → d → e, and f → d. d is relevant; so is g, which nothing links to. With two layers a is in
// none: three links lie before d. e is behind d, and leads nowhere. h links to r, which redirects to d.
func TestLayersAreLinksToTheNextTarget(t *testing.T) {
	w := told{tiny: tiny{"a": "0 b", "b": "0 c", "c": "0 d", "d": "0.9 e", "e": "0", "f": "0 d c", "g": "0.8 a", "h": "0 r", "r": "> d"}}
	for _, test := range []struct {
		params []string
		want   []int
	}{
		{[]string{"layers=2"}, []int{-1, 2, 1, 0, -1, 1, 0, 1}},
		{[]string{"layers=3"}, []int{3, 2, 1, 0, -1, 1, 0, 1}},
		{[]string{"layers=3", "seeds=true"}, []int{0, 2, 1, 0, -1, 1, 0, 1}}, // a has depth 0
		{[]string{"layers=1"}, []int{-1, -1, 1, 0, -1, 1, 0, 1}},
	} {
		s := made[*contextGraph](t, "contextgraph", test.params...)
		visited(s, w, 1, "a", "b", "c", "d", "e", "f", "g", "h", "r")
		if got := s.layers(); !slices.Equal(got, test.want) {
			t.Errorf("%v: layers %v, want %v", test.params, got, test.want)
		}
	}
}

// Of the words of a page those with the highest TF-IDF stay: the background has "number" often, and
// "chromosome" not at all.
func TestPagesAreReducedByTFIDF(t *testing.T) {
	var w pageWords
	w.aim(target(t))
	w.add(0, &wire.Record{Title: "chromosome", Text: "number water chromosome number"})
	var all []pageWord
	for _, word := range []struct {
		stem  string
		count uint8
	}{{"chromosom", 2}, {"number", 2}, {"water", 1}} {
		all = append(all, pageWord{featureOf(inContext, word.stem), word.count})
	}
	for n := range 4 {
		want := slices.Clone(all[:n])
		if n == 2 && w.idf(all[2].word) > 2*w.idf(all[1].word) {
			t.Fatal("water is twice as rare as number")
		}
		slices.SortFunc(want, func(a, b pageWord) int { return int(int64(a.word) - int64(b.word)) })
		if got := w.reduce(slices.Clone(w.of(0)), n); !slices.Equal(got, want) {
			t.Errorf("%d words: %v, want %v", n, got, want)
		}
	}
	if w.of(1) != nil {
		t.Error("a page that was never added has words")
	}
}

// libraries returns a web in which the words of a page show how many links lie before the next relevant
// page: halls lead to shelves, and shelves to books, which are relevant. Half of their links lead to streets,
// and most links of streets to others. Scores show only what is a book.
func libraries() taught {
	rng := rand.New(rand.NewPCG(9, 9))
	const hall, shelf, book, street, kinds, each = 0, 1, 2, 3, 12, 200 // nine kinds are streets
	texts := [...]string{hall: "catalogue librarian ladder", shelf: "volume binding spine", book: "chapter genetic crawler", street: "tram bakery lantern"}
	leads := [...]int{hall: shelf, shelf: book, book: hall, street: hall}
	url := func(i int) string { return fmt.Sprintf("http://h%d.test/l%d", i%7, i) }
	w := taught{}
	for i := range kinds * each {
		kind := min(i%kinds, street)
		p := taughtPage{text: texts[kind], relevant: kind == book}
		if p.relevant {
			p.score = 1
		}
		for range 8 {
			to := street + rng.IntN(kinds-street)
			if kind != street && rng.IntN(2) == 0 || rng.IntN(8) == 0 {
				to = leads[kind]
			}
			p.links = append(p.links, wire.Link{URL: url(to + kinds*rng.IntN(each))})
		}
		w[url(i)] = p
	}
	return w
}

// Strategies that learn from the words of pages find more books among 400 pages than best-first search.
func TestLearnersOfPageWordsFindMoreRelevantPages(t *testing.T) {
	w := libraries()
	found := func(kind string) (n int) {
		s, batch := newStrategy(t, kind, target(t), nil), seeds("h0.test/l0")
		for g := range 40 {
			for _, a := range batch {
				rec := w.fetch(a, g)
				if s.Visit(rec); rec.Relevant == wire.True {
					n++
				}
			}
			batch = s.Breed(10, rand.New(rand.NewPCG(1, uint64(g))))
		}
		return n
	}
	plain := found("bestn")
	for kind, times := range map[string]float64{"contextgraph": 1.5, "intelligent": 4} {
		got := found(kind)
		t.Logf("%s: %d relevant pages, bestn %d", kind, got, plain)
		if float64(got) < times*float64(plain) {
			t.Errorf("%s found %d relevant pages, bestn %d: want %g times that", kind, got, plain, times)
		}
	}
}
