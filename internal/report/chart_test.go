package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		lo, hi float64
		n      int
		least  float64
		want   string
	}{
		{0, 10, 5, 0, "[0 2 4 6 8 10]"},
		{0, 1, 5, 0, "[0 0.2 0.4 0.6 0.8 1]"},
		{0, 1146, 5, 1, "[0 500 1000]"},
		{0, 3, 10, 1, "[0 1 2 3]"},
		{-0.2, 0.85, 5, 0, "[0 0.5]"},
		{-0.2, 0.85, 6, 0, "[-0.2 0 0.2 0.4 0.6 0.8]"},
		{0, 0, 5, 0, "[0]"},
		{0, math.NaN(), 5, 0, "[0]"},
		{0, 1e12, 2, 0, "[0 5e+11 1e+12]"},
	} {
		got := ticks(test.lo, test.hi, test.n, test.least)
		for i, v := range got {
			got[i] = math.Round(v*1e6) / 1e6
		}
		if s := fmt.Sprint(got); s != test.want {
			t.Errorf("ticks(%v, %v, %d, %v) = %s, want %s", test.lo, test.hi, test.n, test.least, s, test.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, test := range []struct{ y, want []float64 }{
		{nil, []float64{}},
		{[]float64{50}, []float64{50}},
		{[]float64{50, 20}, []float64{50, 20}},
		{[]float64{50, 52, 51}, []float64{50, 70, 60}},
		{[]float64{98, 99}, []float64{90, 100}},
		{[]float64{-5, 0}, []float64{0, 10}},
	} {
		if got := spread(test.y, 10, 0, 100); !slices.Equal(got, test.want) {
			t.Errorf("spread(%v) = %v, want %v", test.y, got, test.want)
		}
	}
}

func TestCurveGaps(t *testing.T) {
	nan := math.NaN()
	x := []float64{0, 1, 2, 3, 4}
	for _, test := range []struct {
		y    []float64
		want string
	}{
		{nil, ""},
		{[]float64{1}, "M0 1"},
		{[]float64{1, 2, nan, 3.14159, -0.01}, "M0 1L1 2M3 3.1L4 0"},
		{[]float64{nan, math.Inf(1), 2}, "M2 2"},
	} {
		if got := curve(x, test.y); got != test.want {
			t.Errorf("curve(%v) = %q, want %q", test.y, got, test.want)
		}
	}
	if got, want := area(x, []float64{0, 1, 2}, []float64{5, 6, nan, 8}), "M0 5L1 6L1 1L0 0Z"; got != want {
		t.Errorf("area = %q, want %q", got, want)
	}
	if got := area(x, []float64{1}, []float64{2}); got != "" {
		t.Errorf("a band of one point is %q", got)
	}
}

func TestFit(t *testing.T) {
	for _, test := range []struct {
		words string
		width float64
		want  string
	}{
		{"short", 100, "short"},
		{"www.department.example.edu/users/someone/", 160, "www.depa…s/someone/"},
		{"漢字漢字漢字漢字", 60, "漢字…字"},
		{"wide", 5, "…"},
		{"", 5, ""},
	} {
		got := fit(test.words, test.width)
		if got != test.want || len(test.words) > 4 && extent(got) > max(test.width, extent("…")) {
			t.Errorf("fit(%q, %v) = %q of %v, want %q", test.words, test.width, got, extent(got), test.want)
		}
	}
}

func TestPlotLineNames(t *testing.T) {
	p := plot{title: "found", unit: "fetches", x: []float64{1, 50, 100}, top: 100, format: thousands, lines: []line{
		{"clairvoyant", "clairvoyant", []float64{1, 50, 100}},
		{"random", "random", []float64{1, 50, 99}},
		{"this crawl", "s1", []float64{1, 40}},
		{"nothing", "s1", []float64{math.NaN()}},
	}}
	got := string(p.draw(500, 300, "wide"))
	for _, want := range []string{
		`<text class="name clairvoyant" x="415.6" y="12" dy=".35em">clairvoyant</text>`,
		`<text class="name random" x="415.6" y="27" dy=".35em">random</text>`,    // 3 apart on the scale
		`<text class="name s1" x="227.8" y="151.4" dy=".35em">this crawl</text>`, // where it ended
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "nothing") {
		t.Error("a line without a point is named")
	}
}

// Two generations of at most 20 fetches: the scale is 64 units for 20 fetches, so a bar of
// 10 with 5 relevant ones is 32 high, of which 16 are blue.
// The last bar says up to what score it counts, and a threshold beyond the axis what it is. A bar is pale if
// all of it lies below the threshold.
func TestScoresBeyondTheAxis(t *testing.T) {
	r := &Run{Fitness: Histogram{Threshold: 1.5, Bins: []Bin{{From: 0, To: 1, Unlabelled: 3}, {From: 1, To: 2, Unlabelled: 2}, {From: 2, To: 46.5, Unlabelled: 1}}}}
	for _, test := range []struct {
		threshold float64
		want      string
		pale      int
	}{{1.5, ">threshold<", 1}, {10.18, ">threshold 10.18 →<", 2}} {
		r.Fitness.Threshold = test.threshold
		picture, _ := scores(r)
		wide, _, _ := strings.Cut(string(picture), "</svg>")
		for _, want := range []string{">last bar: 2 to 46.5<", test.want} {
			if !strings.Contains(wide, want) {
				t.Errorf("no %s in %s", want, wide)
			}
		}
		if got := strings.Count(wide, `class="other"`); got != test.pale {
			t.Errorf("threshold %g: %d pale bars, want %d", test.threshold, got, test.pale)
		}
	}
	r.Fitness.Bins[2].To = 3
	if picture, _ := scores(r); strings.Contains(string(picture), "last bar") {
		t.Error("the last bar is as wide as the others, but has a label")
	}
}

func TestBarsHaveOneScale(t *testing.T) {
	got := string(ribbons("t", "", []ribbon{
		{name: "link", class: "s1", bars: []bar{{20, []part{{"s1", 20}}}, {10, []part{{"s1", 5}}}}},
		{name: "seed", class: "s2", bars: []bar{{0, nil}, {5, nil}}},
	}, []int{1, 2}, []string{"one", "two"}, full, "wide"))
	for _, want := range []string{
		`<path class="rest s1" d="M270 78V14H307V78ZM310 78V46H347V78Z"/>`,
		`<path class="part s1" d="M270 78V14H307V78ZM310 78V62H347V78Z"/>`,
		`<path class="rest s2" d="M310 122V106H347V122Z"/>`,
		`<rect class="hit" x="308.5" y="0" width="40" height="122"><title>two</title></rect>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "part s2") {
		t.Error("nothing is drawn as something")
	}
}

func TestNumberFormats(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct{ got, want string }{
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(-1234567), "−1,234,567"},
		{thousands(1500), "1,500"}, {thousands(0.5), "0.5"},
		{decimal(0.25), "0.25"}, {decimal(-3), "−3"}, {decimal(0.00001), "1e−05"}, {decimal(nan), "–"}, {decimal(-0.0001), "−0.0001"}, {decimal(12.34567), "12.346"},
		{fixed(0.5, 2), "0.50"}, {fixed(-0.001, 2), "0.00"}, {fixed(-0.01, 2), "−0.01"}, {fixed(math.Inf(1), 2), "–"},
		{percent(0.535), "54\u202f%"}, {percent(0.083), "8.3\u202f%"}, {percent(0), "0\u202f%"}, {percent(0.0996), "10\u202f%"}, {percent(1), "100\u202f%"}, {percent(nan), "–"},
		{duration(0.0284), "28\u202fms"}, {duration(3.31), "3.3\u202fs"}, {duration(93), "93\u202fs"}, {duration(600), "10\u202fmin"}, {duration(9000), "2.5\u202fh"}, {duration(1e6), "11.6\u202fdays"}, {duration(nan), "–"}, {duration(0), "–"},
		{probability(0.0001), "<\u202f0.001"}, {probability(0.25), "0.250"}, {probability(nan), "–"},
		{plural(1, "page", "pages"), "1 page"}, {plural(0, "page", "pages"), "0 pages"}, {plural(2000, "page", "pages"), "2,000 pages"},
		{signed(0.1), "+0.10"}, {signed(-0.1), "−0.10"}, {signed(0.001), "0.00"}, {signed(nan), "–"},
		{span(0.1, 0.25), "0.10 to 0.25"}, {span(nan, 1), ""},
		{decimalFew(0.25), "0.2"}, {decimalFew(3), "3"}, {decimalFew(1234.6), "1,235"},
		{string(breakable("a.b/<c>")), "a.<wbr>b/<wbr>&lt;c&gt;"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestCurveAt(t *testing.T) {
	c := Curves{Cost: []int{5, 10, 20}, Run: []float64{1, 2, 4}}
	for cost, want := range map[int]float64{5: 1, 9: 1, 10: 2, 19: 2, 100: 4} {
		if got := c.at(c.Run, cost); got != want {
			t.Errorf("at %d: %v, want %v", cost, got, want)
		}
	}
	if got := c.at(c.Run, 4); !math.IsNaN(got) {
		t.Errorf("before its first point a curve is %v", got)
	}
	for v, want := range map[float64]int{0: 5, 2: 10, 3: 20, 5: 0} {
		if got := c.reached(c.Run, v); got != want {
			t.Errorf("%v is reached at %d, want %d", v, got, want)
		}
	}
}

func TestMostRelevant(t *testing.T) {
	for _, test := range []struct {
		list []Yield
		want string
	}{
		{nil, ""},
		{[]Yield{{"link", 10, 5}}, ""},
		{[]Yield{{"link", 100, 0}, {"seed", 5, 0}}, ""},
		{[]Yield{{"link", 100, 20}, {"seed", 5, 5}}, "Most came by link: 20 of 60 relevant pages."},
		{[]Yield{{"link", 100, 20}, {"child", 40, 10}, {"restart", 4, 4}, {Rest, 100, 100}}, "Most came by link: 20 of 60 relevant pages. The most precise was child: 25\u202f% of its 40 fetches were relevant."},
		{[]Yield{{"link", 100, 60}, {"seed", 1, 0}}, "All relevant pages came by link."},
		{[]Yield{{"link", 100, 50}, {"child", 40, 10}}, "Most came by link: 50 of 60 relevant pages. It was also the most precise: 50\u202f% of its 100 fetches were relevant."},
	} {
		if got := mostRelevant(test.list, 60, "by"); got != test.want {
			t.Errorf("mostRelevant(%v) = %q, want %q", test.list, got, test.want)
		}
	}
}

func TestSteeringNote(t *testing.T) {
	for _, test := range []struct {
		judged       bool
		self, labels int
		want         string
	}{
		{false, 10, 10, ""},
		{true, 111, 100, "The measure of the crawl itself called 111 pages relevant, the labels 100: it was too lenient."},
		{true, 110, 100, "The measure of the crawl itself called 110 pages relevant, the labels 100: about as many, but not necessarily the same pages."},
		{true, 89, 100, "The measure of the crawl itself called 89 pages relevant, the labels 100: it was too strict."},
	} {
		if got := steeringNote(&Run{Judged: test.judged, SelfRelevant: test.self, Relevant: test.labels}); got != test.want {
			t.Errorf("%d against %d: %q, want %q", test.self, test.labels, got, test.want)
		}
	}
}

func TestStanding(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		s         Strategy
		reference bool
		lower     bool
		want      string
	}{
		{Strategy{Name: "ref", P: nan}, true, false, "reference"},
		{Strategy{Name: "a", P: .01, Difference: .1, Wins: 9, Losses: 1}, true, false, "s1"},
		{Strategy{Name: "a", P: .01, Difference: -.1, Wins: 1, Losses: 9}, true, false, "s0"},
		{Strategy{Name: "a", P: .01, Difference: -.005, Ties: 30}, true, false, "s0"},
		{Strategy{Name: "a", P: .01, Difference: .1, Wins: 1, Losses: 9}, true, true, "s0"},
		{Strategy{Name: "a", P: .01, Difference: -.005, Ties: 30}, true, true, "s1"},
		{Strategy{Name: "a", P: .05, Difference: .1, Wins: 9, Losses: 1}, true, false, "open"},
		{Strategy{Name: "a", P: .01, Wins: 5, Losses: 5}, true, false, "open"},
		{Strategy{Name: "a", P: .01, Difference: nan}, true, false, "open"},
		{Strategy{Name: "a", P: nan, Difference: nan}, true, false, "open"},
		{Strategy{Name: "a", P: nan, Difference: nan}, false, false, "s1"},
	} {
		c := &Comparison{Reference: "ref", Lower: test.lower}
		if got := standing(c, test.s, test.reference); got != test.want {
			t.Errorf("%+v stands %q, want %q", test.s, got, test.want)
		}
	}
}

func TestBestStrategyWasRunEverywhere(t *testing.T) {
	few := Strategy{Name: "few", Units: 1, Mean: .5, Low: .5, High: .5}
	all := []Strategy{{Name: "a", Units: 6, Mean: .4, Low: .4, High: .4}, {Name: "b", Units: 6, Mean: .3, Low: .3, High: .3}}
	for _, test := range []struct {
		strategies []Strategy
		want       string
	}{
		{all, "a comes first, with a mean nAUC of 0.40."},
		{append([]Strategy{few}, all...), "a comes first, with a mean nAUC of 0.40. Not run from all sets of seeds, so their means are of fewer: few (1 of 6)."},
		{[]Strategy{few}, "few comes first, with a mean nAUC of 0.50. Not run from all sets of seeds, so their means are of fewer: few (1 of 6)."},
	} {
		got, figures := against(&Comparison{Title: "nAUC"}, Track{Units: 6, Strategies: test.strategies}, false)
		if name, _, _ := strings.Cut(test.want, " "); got != test.want || figures[0].Value != name {
			t.Errorf("%s\nand the best is %s, want\n%s", got, figures[0].Value, test.want)
		}
	}
}

func TestTheFirstIsNotTheBestIfIntervalsOverlap(t *testing.T) {
	c := &Comparison{Measure: "nauc", Title: "nAUC"}
	for _, test := range []struct {
		units      int
		low        float64 // of the interval of the first, whose mean is 0.6
		label      string
		have, miss string
	}{
		{6, .5, "Best", "niche comes first, with a mean nAUC of 0.60.", "overlaps"},
		{6, .3, "First by the mean", "Its interval overlaps with a, b, c, 1 more.", "Fewer than"},
		{5, .5, "First by the mean", "Fewer than 6 sets of seeds cannot show a difference.", "overlaps"},
		{1, math.NaN(), "First by the mean", "one topic with one set of seeds", "overlaps"},
	} {
		track := Track{Units: test.units, Strategies: []Strategy{{Name: "niche", Units: test.units, Mean: .6, Low: test.low, High: .7}}}
		for _, name := range []string{"a", "b", "c", "d"} {
			track.Strategies = append(track.Strategies, Strategy{Name: name, Units: test.units, Mean: .3, Low: .2, High: .4})
		}
		lead, figures := against(c, track, false)
		if got := figures[0].Label; got != test.label || !strings.Contains(lead, test.have) || strings.Contains(lead, test.miss) {
			t.Errorf("%d units, from %g: %s: %s", test.units, test.low, got, lead)
		}
	}
}

func TestGaugeBelowZero(t *testing.T) {
	got := string(gauge(-0.3, "random", "clairvoyant"))
	if want := `<circle class="dot s1" cx="30.3" cy="9" r="5"/>`; !strings.Contains(got, want) {
		t.Errorf("there is no %s in\n%s", want, got)
	}
	var _ template.HTML = gauge(math.NaN(), "", "")
}

// A file of results may contain any characters.
func TestNamesOfAComparisonAreCleaned(t *testing.T) {
	const odd = "a\x1b[31m\u202e\x07b\u2028"
	given := Comparison{Name: odd, Reference: odd, Measure: "nauc", Tracks: []Track{{Name: odd, Units: 1, Topics: []string{odd}, Strategies: []Strategy{{Name: odd, Units: 1, Topics: []float64{1}}}}}}
	v := viewComparison(given, false)
	for _, name := range []string{v.Name, v.Reference, v.Tracks[0].Name, v.Tracks[0].Topics[0], v.Tracks[0].Strategies[0].Name} {
		if strings.ContainsAny(name, "\x1b\x07\u202e\u2028") || !strings.HasPrefix(name, "a") {
			t.Errorf("the name %q", name)
		}
	}
	if !v.Tracks[0].Against {
		t.Error("the reference is not found")
	}
	if given.Tracks[0].Topics[0] != odd || given.Tracks[0].Strategies[0].Name != odd {
		t.Error("the argument was changed")
	}
}
