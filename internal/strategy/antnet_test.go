package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

// promising is a web whose links have scores, which depend on their addresses.
type promising struct{ tiny }

func (w promising) fetch(a Address, generation int) *wire.Record {
	rec := w.tiny.fetch(a, generation)
	for i := range rec.Links {
		var sum int
		for _, c := range rec.Links[i].URL {
			sum = 31*sum + int(c)
		}
		rec.Links[i].Score = wire.Num(float64(sum&15) / 15)
	}
	return rec
}

// A link is one of a page, with linkscore1.
type promised struct {
	to    string
	score float64
}

// found is a record of a page with its links.
func found(page string, score float64, depth int, links ...promised) *wire.Record {
	rec := &wire.Record{URL: address(page), StatusCode: 200, Score: wire.Num(score), Depth: depth}
	for _, l := range links {
		rec.Links = append(rec.Links, wire.Link{URL: address(l.to), Score: wire.Num(l.score)})
	}
	return rec
}

func newAntNetOf(t *testing.T, params ...string) *antNet {
	t.Helper()
	s := newStrategy(t, "antnet", target(t), params)
	return s.(*antNet)
}

func (s *antNet) id(t *testing.T, page string) graph.ID {
	t.Helper()
	id, ok := s.web.Find(address(page))
	if !ok {
		t.Fatalf("%s is not known", page)
	}
	return id
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) }

func TestAntNetLinkScoresByHand(t *testing.T) {
	for _, test := range []struct {
		page, link float64
		depth      int
		want       float64
	}{
		{0, 0, 0, 0},
		{.5, .25, 0, 3},      // (0.5 + 4·0.25) · (1 + 1/1)
		{.5, .25, 1, 2.25},   // · (1 + 1/2)
		{.5, .25, 3, 1.875},  // · (1 + 1/4)
		{.5, 0, 0, 1},        // a page of its own
		{0, .25, 9, 1.1},     // 4·0.25 · (1 + 1/10)
		{.5, .25, -7, 3},     // no page is above the seeds
		{1.7, 1.15, 4, 7.56}, // (1.7 + 4.6) · 1.2
	} {
		s := newAntNetOf(t)
		if got := s.linkScore3(test.page, test.link, test.depth); !near(got, test.want) {
			t.Errorf("promise(%g, %g, %d) = %g, want %g", test.page, test.link, test.depth, got, test.want)
		}
	}
}

// F9 with γ = ¼: 2, 4 and 1 are 4 + ¼(2 + 1) = 4.75, in any order. The paper's
// form gives, of 1, 2, 4: 1; 2 + ¼ = 2.25; 4 + ¼·2.25 = 4.5625.
func TestAntNetCombinesParentsByHand(t *testing.T) {
	for _, test := range []struct {
		scores       []float64
		want, compat float64
	}{
		{[]float64{3}, 3, 3},
		{[]float64{2, 4}, 4.5, 4.5},
		{[]float64{4, 2}, 4.5, 4.5},
		{[]float64{2, 4, 1}, 4.75, 4.75},
		{[]float64{4, 1, 2}, 4.75, 4.75},
		{[]float64{1, 2, 4}, 4.75, 4.5625},
		{[]float64{1, 4, 2}, 4.75, 4.75},
		{[]float64{2, 2, 2, 2, 2}, 4, 4}, // k alike: 1 + γ(k − 1) times
		{[]float64{0, 0}, 0, 0},
	} {
		for _, compat := range []bool{false, true} {
			s := newAntNetOf(t, fmt.Sprintf("compat=%v", compat))
			want := test.want
			if compat {
				want = test.compat
			}
			for i, x := range test.scores {
				s.Visit(found(fmt.Sprint("p", i), x/2, 0, promised{"x", 0})) // · (1 + 1/1)
			}
			if got := s.scores.at(s.id(t, "x")); got != want {
				t.Errorf("%v, compat %v: %g, want %g", test.scores, compat, got, want)
			}
		}
	}
}

// The page d stands on p (0.25) with x and y, and on q (0.75) with x and z; p
// stands on g (0.125) with w. All links but d have the score 1 when d comes, δ is
// ¼, the mean difference ¼, the standard deviation of link scores 2, so Δmax is ½,
// and their mean 1.
func TestAntNetCorrectsByHand(t *testing.T) {
	for _, test := range []struct {
		name       string
		params     []string
		link, page float64 // what d's link scored, and d itself
		change     func(*antNet)
		w, x, y, z float64
		p          float64 // page score, after
	}{
		// +0.5 > ¼, and both p and q are worse than 0.875: ¼·0.5 for each of them.
		{name: "a better page raises the links of worse pages", link: .375, page: .875, w: 1, x: 1.25, y: 1.125, z: 1.125},
		// +0.5; q is better than 0.625.
		{name: "but not those of better pages", link: .125, page: .625, w: 1, x: 1.125, y: 1.125, z: 1},
		// −0.75; q is better than 0.5, p is worse.
		{name: "a worse page lowers the links of better pages", link: 1.25, page: .5, w: 1, x: .8125, y: 1, z: .8125},
		{name: "of all that are better", link: 1, page: .125, w: 1, x: 1 - 2*.21875, y: 1 - .21875, z: 1 - .21875},
		// A page that is as good as q changes nothing there, up or down.
		{name: "equality changes nothing when it is good", link: 0, page: .75, w: 1, x: 1.1875, y: 1.1875, z: 1},
		{name: "equality changes nothing when it is bad", link: 1.25, page: .75, w: 1, x: 1, y: 1, z: 1},
		{name: "a difference equal to the mean corrects nothing", link: .25, page: .5, w: 1, x: 1, y: 1, z: 1},
		{name: "nor is a negative one", link: .75, page: .5, w: 1, x: 1, y: 1, z: 1},
		{name: "as predicted", link: .5, page: .5, w: 1, x: 1, y: 1, z: 1},
		// ¼·4 = 1 is more than ½.
		{name: "a step is at most Δmax", link: .25, page: 4.25, w: 1, x: 2, y: 1.5, z: 1.5},
		{name: "down as well", link: 4.125, page: .125, w: 1, x: 1e-6, y: .5, z: .5},
		{name: "no score falls below the least", link: 4.125, page: .125, w: 1, x: 1e-6, y: 1e-6, z: 1e-6,
			change: func(s *antNet) { s.spread.squares *= 4 }},
		{name: "the first ten teach what to expect", link: .375, page: .875, w: 1, x: 1, y: 1, z: 1,
			change: func(s *antNet) { s.differences.n = 9 }},
		{name: "without a spread there is no step", link: .375, page: .875, w: 1, x: 1, y: 1, z: 1,
			change: func(s *antNet) { s.spread.squares = 0 }},
		{name: "delta 0", params: []string{"delta=0"}, link: .375, page: .875, w: 1, x: 1, y: 1, z: 1},
		{name: "delta-max", params: []string{"delta-max=0.03125"}, link: .375, page: .875, w: 1, x: 1.125, y: 1.0625, z: 1.0625},
		// The second level moves by ¼²·0.5 = 0.03125, and p's score by ¼·0.5.
		{name: "two levels", params: []string{"levels=2"}, link: .375, page: .875, w: 1.03125, x: 1.25, y: 1.125, z: 1.125, p: .375},
		// κ = 1/4: 0.25 was predicted, so the difference of 0.375 is not above the mean ¼…
		{name: "calibrated, nothing", params: []string{"calibration=ratio"}, link: 1, page: .375, w: 1, x: 1, y: 1, z: 1,
			change: func(s *antNet) { s.kappa = ratio{1, 4} }},
		// … and 0.625 is one of 0.375, in units of link scores ¼·0.375/¼ = 0.375.
		{name: "calibrated, good", params: []string{"calibration=ratio"}, link: 1, page: .625, w: 1, x: 1.375, y: 1.375, z: 1,
			change: func(s *antNet) { s.kappa = ratio{1, 4} }},
		{name: "calibrated, nothing known", params: []string{"calibration=ratio"}, link: .375, page: .875, w: 1, x: 1, y: 1, z: 1},
		// Nobody had any score: the step is the greatest.
		{name: "calibrated, the first page with a score", params: []string{"calibration=ratio"}, link: 1, page: .5, w: 1, x: 1.5, y: 1.5, z: 1,
			change: func(s *antNet) { s.kappa = ratio{0, 4} }},
		// Up to 1 pages were worth 0.125, so 0.625 differs by 0.5; κ = ½.
		{name: "isotonic", params: []string{"calibration=isotonic"}, link: 1, page: .625, w: 1, x: 1.25, y: 1.25, z: 1,
			change: func(s *antNet) {
				s.recent = pairs{last: []prediction{{.5, .25}, {1, 0}, {2, .5}, {3, 1}}}
				s.kappa = ratio{1, 2}
			}},
		{name: "compat is not calibrated", params: []string{"calibration=ratio", "compat=true"}, link: .375, page: .875,
			w: 1, x: 1.25, y: 1.125, z: 1.125, change: func(s *antNet) { s.kappa = ratio{1, 4} }},
	} {
		s := newAntNetOf(t, append([]string{"calibration=none"}, test.params...)...)
		s.Visit(found("g", .125, 0, promised{"p", 0}, promised{"w", 0}))
		s.Visit(found("p", .25, 1, promised{"d", 0}, promised{"x", 0}, promised{"y", 0}))
		s.Visit(found("q", .75, 0, promised{"d", 0}, promised{"x", 0}, promised{"z", 0}))
		for _, link := range []string{"w", "x", "y", "z"} {
			s.scores.set(s.id(t, link), 1)
		}
		s.scores.set(s.id(t, "d"), test.link)
		s.markPending(s.id(t, "d"))
		s.spread = moments{8, 1, 32}
		s.differences = moments{10, .25, 0}
		if test.change != nil {
			test.change(s)
		}
		s.Visit(found("d", test.page, 2))
		got := fmt.Sprint(s.scores.at(s.id(t, "w")), s.scores.at(s.id(t, "x")), s.scores.at(s.id(t, "y")), s.scores.at(s.id(t, "z")))
		if want := fmt.Sprint(test.w, test.x, test.y, test.z); got != want {
			t.Errorf("%s: w, x, y, z = %s, want %s", test.name, got, want)
		}
		if p := s.pageScore(s.id(t, "p")); test.p != 0 && p != test.p || test.p == 0 && p != .25 {
			t.Errorf("%s: p has the score %g", test.name, p)
		}
	}
}

// d stands on 300 pages, all of which have the same thousand links besides: those of
// the first 261 or so are within maxReach.
func TestAntNetCorrectionsAreBounded(t *testing.T) {
	s := newAntNetOf(t, "calibration=none")
	links := []promised{{"d", 0}}
	for l := range 1000 {
		links = append(links, promised{fmt.Sprint("l", l), 0})
	}
	for p := range 300 {
		s.Visit(found(fmt.Sprint("p", p), .25, 0, links...))
	}
	s.markPending(s.id(t, "d"))
	s.spread, s.differences = moments{4, 1, 64}, moments{10, 0, 0} // Δmax is 1
	before := slices.Clone(s.scores.values)
	s.Visit(found("d", 1000, 1))
	var steps float64
	for id, score := range s.scores.values {
		steps += score - before[id]
	}
	// 1001 links a page, of which d was drawn.
	if want := float64(maxReach - maxReach/1001 - 1); steps != want {
		t.Errorf("%g steps, want %g", steps, want)
	}
}

// Only what the wheel drew has a prediction, and what was drawn or fetched has a score
// that stays.
func TestAntNetComparesDrawnPages(t *testing.T) {
	s := newAntNetOf(t, "calibration=none")
	s.Visit(found("p", .5, 0, promised{"d", .5}, promised{"x", .5}))
	s.Visit(found("s", .5, 0, promised{"d", .5})) // a seed; nobody drew it
	if s.differences.n != 0 {
		t.Fatalf("%d pages were compared, want none", s.differences.n)
	}
	drawn := s.Breed(9, rand.New(rand.NewPCG(1, 1)))
	if len(drawn) != 2 {
		t.Fatalf("%d links were drawn, want 2", len(drawn))
	}
	before := s.scores.at(s.id(t, "d"))
	s.Visit(found("q", 1, 0, promised{"d", 1}, promised{"y", 1}))
	if got := s.scores.at(s.id(t, "d")); got != before {
		t.Errorf("d was drawn with %g and has %g now", before, got)
	}
	s.Visit(found("d", .75, 1))
	if want := math.Abs(.75 - before); s.differences.n != 1 || s.differences.mean != want {
		t.Errorf("%d differences, mean %g, want one of %g", s.differences.n, s.differences.mean, want)
	}
	s.Visit(&wire.Record{URL: address("x"), StatusCode: 404, Depth: 1})
	if s.differences.n != 1 {
		t.Error("a page that could not be fetched was compared")
	}
}

// The scores of a, b, c, d are 1, 2, 3 and 4 tenths of all. With 3 degrees of
// freedom the χ² of a fair wheel exceeds 16.27 once in a thousand; seeds are fixed.
func TestAntNetDrawsInProportion(t *testing.T) {
	const draws = 20000
	for _, test := range []struct {
		name   string
		params []string
		scores []float64
		want   []float64
	}{
		{"proportional", nil, []float64{1, 2, 3, 4}, []float64{.1, .2, .3, .4}},
		{"pressure 2", []string{"pressure=2"}, []float64{1, 2, 3, 4}, []float64{1. / 30, 4. / 30, 9. / 30, 16. / 30}},
		{"pressure 0", []string{"pressure=0"}, []float64{1, 2, 3, 4}, []float64{.25, .25, .25, .25}},
		{"nothing promised", nil, []float64{0, 0, 0, 0}, []float64{.25, .25, .25, .25}},
		// The mean is ½; 1e-6 of it is the least weight, and 2 the sum.
		{"the least", nil, []float64{2, 0, 0, 0}, []float64{1, .25e-6, .25e-6, .25e-6}},
	} {
		s := newAntNetOf(t, test.params...)
		s.Visit(found("p", 0, 0, promised{"a", test.scores[0] / 8}, promised{"b", test.scores[1] / 8},
			promised{"c", test.scores[2] / 8}, promised{"d", test.scores[3] / 8})) // · 4 · (1 + 1/1)
		counts := make([]int, 4)
		rng := rand.New(rand.NewPCG(5, 0))
		wheel, first := s.wheel(), int(s.id(t, "a"))
		for range draws {
			place, _ := wheel.Spin(rng)
			counts[place-first]++
		}
		a := s.Breed(1, rng)[0]
		at := strings.Index("abcd", name(a.URL))
		i := slices.IndexFunc(a.Reasons, func(r wire.Scored) bool { return r.Name == "probability" })
		if got := a.Reasons[i].Value; math.Abs(got-test.want[at]) > 1e-6 {
			t.Errorf("%s: %s was drawn with the probability %g, want %g", test.name, name(a.URL), got, test.want[at])
		}
		var chi2 float64
		for i, p := range test.want {
			if expected := draws * p; expected > 1 {
				d := float64(counts[i]) - expected
				chi2 += d * d / expected
			}
		}
		if chi2 > 16.27 {
			t.Errorf("%s: χ² = %.1f of %v", test.name, chi2, counts)
		}
	}
}

// A link is proposed with the first page that has it, the depth of the shortest known path, and all
// pages that have it. The depth of a page is that of the shortest known path too, even if its
// record differs.
func TestAntNetUsesShortestDepth(t *testing.T) {
	s := newAntNetOf(t)
	s.Visit(found("a", 1, 7, promised{"x", 0}))
	s.Visit(found("b", 1, 2, promised{"x", 0}, promised{"c", 0}))
	s.Visit(found("c", 1, 9, promised{"y", 0}))
	next := s.Breed(9, rand.New(rand.NewPCG(1, 1)))
	slices.SortFunc(next, func(a, b Address) int { return strings.Compare(a.URL, b.URL) })
	for i := range next {
		next[i].Reasons, next[i].Priority = nil, 0
	}
	want := []Address{
		{URL: address("x"), Via: address("a"), Parents: []string{address("a"), address("b")}, Operator: opLink, Depth: 3},
		{URL: address("y"), Via: address("c"), Parents: []string{address("c")}, Operator: opLink, Depth: 4},
	}
	if diff := gocmp.Diff(want, next); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	// y promised 1 · (1 + 1/4): c is three deep.
	if got := s.scores.at(s.id(t, "y")); got != 1.25 {
		t.Errorf("y has %g, want 1.25", got)
	}
}

func TestAntNetCountsRepeatedLinkOnce(t *testing.T) {
	s := newAntNetOf(t)
	s.Visit(found("a", .5, 0, promised{"x", .25}, promised{"a", 1}, promised{"x", .5}, promised{"x", -3}))
	if got := s.scores.at(s.id(t, "x")); got != 5 { // (0.5 + 4·0.5)·2
		t.Errorf("x has %g, want 5", got)
	}
}

func TestAntNetSearchesForTwoKeywordsEveryFiveGenerations(t *testing.T) {
	words := topicOf(t, "en", "Search Engines computer")
	queries := func(generations int, params ...string) (lines []string) {
		dir := t.TempDir()
		for g := 1; g <= generations; g++ {
			s := newStrategy(t, "antnet", words, params)
			j, _ := openJournal(t, dir, Signature("antnet", s), s, g)
			for _, a := range s.Breed(20, rand.New(rand.NewPCG(3, uint64(g)))) {
				if a.URL != "" || a.Operator != opMutation || a.Parents != nil || a.Via != "" {
					t.Errorf("generation %d: %+v", g, a)
				}
				lines = append(lines, fmt.Sprintf("%d %s", g, a.Query))
			}
			if err := j.Append(g, s); err != nil {
				t.Fatal(err)
			}
		}
		return lines
	}
	// Three pairs of three words, each once; then there is nothing new to ask.
	got := queries(25)
	var pairs []string
	for i, line := range got {
		g, query, _ := strings.Cut(line, " ")
		if g != fmt.Sprint(5*(i+1)) {
			t.Errorf("a query in generation %s, want %d", g, 5*(i+1))
		}
		pairs = append(pairs, query)
	}
	slices.Sort(pairs)
	if diff := gocmp.Diff([]string{"Engines computer", "Search Engines", "Search computer"}, pairs); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
	if got := queries(25, "compat=true"); len(got) != 5 {
		t.Errorf("compat asked %v, want five queries", got)
	}
	if got := queries(6, "keywords=7", "mutation-every=2"); len(got) != 1 || got[0] != "2 Search Engines computer" {
		t.Errorf("all keywords: %v, want one query", got)
	}
	if got := queries(9, "mutation-every=0"); got != nil {
		t.Errorf("without mutation: %v", got)
	}
	if got := queries(3, "mutation-every=1", "keywords=1"); len(got) != 3 {
		t.Errorf("single keywords: %v, want three", got)
	}
}

// What was not fetched when a generation ended is drawn no second time, and comes
// first.
func TestAntNetFillsOneGeneration(t *testing.T) {
	s := newAntNetOf(t)
	links := make([]promised, 20)
	for i := range links {
		links[i] = promised{fmt.Sprint("l", i), float64(i)}
	}
	s.Visit(found("p", 1, 0, links...))
	first := s.Breed(8, rand.New(rand.NewPCG(1, 1)))
	for _, a := range first[:3] {
		s.Visit(found(name(a.URL), 0, 1))
	}
	second := s.Breed(8, rand.New(rand.NewPCG(1, 2)))
	if len(first) != 8 || len(second) != 3 {
		t.Fatalf("%d and %d links were drawn, want 8 and 3", len(first), len(second))
	}
	all := slices.Concat(first, second)
	for i := range all {
		if i > 0 && all[i].Priority >= all[i-1].Priority {
			t.Errorf("priorities do not fall: %g after %g", all[i].Priority, all[i-1].Priority)
		}
		for _, other := range all[:i] {
			if other.URL == all[i].URL {
				t.Errorf("%s was drawn twice", other.URL)
			}
		}
	}
}

// With any values in a record, the state stays finite.
func TestAntNetStaysFinite(t *testing.T) {
	for _, params := range [][]string{{"pressure=16", "beta=1e6", "levels=3"}, {"compat=true"}, {"calibration=isotonic"}} {
		s := newAntNetOf(t, params...)
		for g := range 20 {
			for i, score := range []float64{1e308, -1e308, 0, 5e-324, 1} {
				s.Visit(found(fmt.Sprintf("p%d-%d", g, i), score, -i,
					promised{fmt.Sprintf("p%d-%d", g+1, i), -score}, promised{fmt.Sprintf("p%d-%d", g+1, (i+1)%5), score}, promised{"x", 1e308}))
			}
			for _, a := range s.Breed(5, rand.New(rand.NewPCG(1, uint64(g)))) {
				for _, r := range a.Reasons {
					if math.IsNaN(r.Value) || math.IsInf(r.Value, 0) || r.Name == "probability" && !(r.Value > 0 && r.Value <= 1) {
						t.Fatalf("%v: %s is %g", params, r.Name, r.Value)
					}
				}
			}
		}
	}
}

func TestIsotonicByHand(t *testing.T) {
	for _, test := range []struct {
		pairs []prediction
		at    []float64
		want  []float64
	}{
		{[]prediction{{1, .5}}, []float64{0, 1, 9}, []float64{.5, .5, .5}},
		{[]prediction{{3, .9}, {1, .1}, {2, .4}}, []float64{0, 1, 1.5, 2, 3, 4}, []float64{.1, .1, .1, .4, .9, .9}},
		// 0.6 before 0.2 is a violation: both are 0.4.
		{[]prediction{{1, .1}, {2, .6}, {3, .2}, {4, .8}}, []float64{1, 2, 3, 3.9, 4}, []float64{.1, .4, .4, .4, .8}},
		// One link, two pages: their mean.
		{[]prediction{{2, .2}, {2, .6}, {1, .1}}, []float64{1, 2}, []float64{.1, .4}},
		{[]prediction{{1, .9}, {2, .6}, {3, 0}}, []float64{0, 2, 5}, []float64{.5, .5, .5}},
	} {
		g := isotonic(test.pairs)
		for i, x := range test.at {
			if got := g(x); !near(got, test.want[i]) {
				t.Errorf("%v: at %g %g, want %g", test.pairs, x, got, test.want[i])
			}
		}
	}
}

// The nearest function that never falls is, at i, the greatest of the least means:
// max over a ≤ i of min over b ≥ i of the mean from a to b.
func TestIsotonicMinimisesSquaredError(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		pairs := make([]prediction, 1+rng.IntN(30))
		for i := range pairs {
			pairs[i] = prediction{float64(i), rng.Float64() + float64(i)/20}
		}
		shuffled := slices.Clone(pairs)
		rng.Shuffle(len(pairs), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		g := isotonic(shuffled)
		for i := range pairs {
			greatest := math.Inf(-1)
			for a := range i + 1 {
				least, sum := math.Inf(1), 0.0
				for b := a; b < len(pairs); b++ {
					if sum += pairs[b].page; b >= i {
						least = min(least, sum/float64(b-a+1))
					}
				}
				greatest = max(greatest, least)
			}
			if got := g(float64(i)); !near(got, greatest) {
				t.Fatalf("seed %d: at %d %g, want %g", seed, i, got, greatest)
			}
		}
	}
}

// A page that failed when it was drawn, and came when it was tried again, has a prediction
// like any other. What a search found was not.
func TestAntNetComparesRetriedPages(t *testing.T) {
	for _, test := range []struct {
		operator string
		want     int
	}{{opLink, 2}, {"search", 1}} {
		s := newAntNetOf(t)
		s.Visit(found("p", 1, 0, promised{"x", 0}, promised{"y", 0}))
		for g, rec := range []*wire.Record{
			found("x", 1, 1),
			{URL: address("y"), Operator: opLink, Error: wire.ErrorTimeout},
			found("y", 1, 1),
		} {
			s.Breed(9, rand.New(rand.NewPCG(1, uint64(g))))
			if rec.Error == "" {
				rec.Operator = test.operator
			}
			s.Visit(rec)
		}
		if got := s.differences.n; got != test.want-1 { // the first one calibrates
			t.Errorf("%s: %d pages were compared, want %d", test.operator, got, test.want-1)
		}
	}
}

// A score twice another's weighs 2¹⁶ as much, however near to nothing both are.
func TestAntNetPressureWithAnyScores(t *testing.T) {
	for _, unit := range []float64{1e-300, 1e-20, 1, 1e90} {
		s := newAntNetOf(t, "pressure=16")
		s.Visit(found("p", 0, 0, promised{"x", unit}, promised{"y", 2 * unit}))
		s.isPending = make([]bool, s.web.Len())
		wheel := s.wheel()
		x, y := wheel.Weight(int(s.id(t, "x"))), wheel.Weight(int(s.id(t, "y")))
		if !near(y/x, 1<<16) {
			t.Errorf("scores of %g and %g weigh %g and %g", unit, 2*unit, x, y)
		}
	}
}

// However many pages a level has, so many of the links to it are followed up: here those
// of a, 262 times a thousand, and not that of b.
func TestAntNetParentsAreBounded(t *testing.T) {
	s := newAntNetOf(t)
	for i := range 1000 {
		s.Visit(found(fmt.Sprintf("p%d", i), 1, 0, promised{"a", 0}))
	}
	s.Visit(found("q", 1, 0, promised{"b", 0}))
	a, b := s.id(t, "a"), s.id(t, "b")
	level := slices.Repeat([]graph.ID{a}, maxReach/1000)
	for _, test := range []struct {
		level []graph.ID
		want  int
	}{
		{append(level[:len(level):len(level)], b), 1001},
		{append(level[:len(level):len(level)], a, b), 1000},
	} {
		if got := len(s.parentsOf(test.level, map[graph.ID]bool{})); got != test.want {
			t.Errorf("%d pages are above, want %d", got, test.want)
		}
	}
}
