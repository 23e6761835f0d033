package fitness

import (
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"testing/quick"
)

// quickly is how properties are checked, the same each time.
func quickly(n int) *quick.Config {
	return &quick.Config{MaxCount: n, Rand: rand.New(rand.NewSource(7))}
}

// byHand is a model that was not trained, with s itself as log-odds.
var byHand = &Model{
	Bias: -1, Slope: 1, Threshold: 0.5,
	Features: []Feature{{"network", 2}, {"data base", 3}, {"data", -1}, {"base data", 5}, {"frog", -4}, {"2009", 0.5}},
}

// classifier is the measure of a model.
func classifier(tb testing.TB, m *Model) reader[*Classifier] {
	tb.Helper()
	t := target(tb, topicOfTests...)
	c, err := NewClassifier(t, m)
	if err != nil {
		tb.Fatal(err)
	}
	return reader[*Classifier]{t, c}
}

func TestClassifierProbability(t *testing.T) {
	c := classifier(t, byHand)
	root := math.Sqrt
	for _, tt := range []struct {
		page Page
		want float64 // s
	}{
		{Page{Text: "unknown"}, -1},
		{Page{Text: "Networks"}, -1 + 2},
		{Page{Text: "networks of unknown things"}, -1 + 2*root(1./3)},
		{Page{Title: "network", Text: "network", Keywords: "unknown", Description: "network"}, -1 + 2*root(3./4)},
		{Page{Anchors: "network", Text: "unknown"}, -1}, // anchors stand in the text
		{Page{Text: "data bases"}, -1 + (3-1)*root(1./2)},
		{Page{Text: "data and the bases"}, -1 + (3-1)*root(1./2)}, // silent terms take no place
		{Page{Text: "data 1234567 bases"}, -1 + (3-1)*root(1./2)},
		{Page{Text: "data unknown base"}, -1 - root(1./3)},
		{Page{Title: "data", Text: "base"}, -1 - root(1./2)}, // no pair across zones
		{Page{Text: "data base data base"}, -1 + (3-1)*root(2./4) + 5*root(1./4)},
	} {
		if got := c.page(&tt.page); !near(got, Sigmoid(tt.want)) {
			t.Errorf("%+v: p = %v, want %v", tt.page, got, Sigmoid(tt.want))
		}
	}
	for _, nothing := range []Page{{}, {Title: "the", Text: "of 1234567 x"}, {Anchors: "network"}} {
		if got := c.page(&nothing); got != 0 || c.measure.Explain(c.Read(&nothing)) != nil {
			t.Errorf("%+v: p = %v", nothing, got)
		}
	}
	if c.measure.Threshold() != 0.5 {
		t.Errorf("threshold %v", c.measure.Threshold())
	}
}

func TestClassifierCalibration(t *testing.T) {
	m := *byHand
	m.Slope, m.Intercept, m.Threshold = 3, 0.25, 0.75
	c := classifier(t, &m)
	if got, want := c.page(&Page{Text: "frogs network"}), Sigmoid(3*(-1+(2-4)*math.Sqrt(1./2))+0.25); !near(got, want) {
		t.Errorf("p = %v, want %v", got, want)
	}
	if c.measure.Threshold() != 0.75 {
		t.Errorf("threshold %v", c.measure.Threshold())
	}
	m.Slope = 0
	if got := classifier(t, &m).page(&Page{Text: "network"}); !near(got, Sigmoid(0.25)) {
		t.Errorf("slope 0: p = %v", got)
	}
}

func TestClassifierLinkPromise(t *testing.T) {
	c := classifier(t, byHand)
	lift := func(s float64) float64 { return (Sigmoid(s-1) - Sigmoid(-1)) / (1 - Sigmoid(-1)) }
	for _, tt := range []struct {
		link Link
		want Promise
	}{
		{Link{}, Promise{}},
		{Link{URL: "http://unknown.example/", Anchor: "unknown", Context: "unknown"}, Promise{}},
		{Link{Anchor: "frogs", Context: "data"}, Promise{}}, // these speak against it
		{Link{Anchor: "networks"}, Promise{Anchor: lift(2), Score: lift(2)}},
		{Link{Context: "unknown network"}, Promise{Context: lift(2 * math.Sqrt(1./2)), Score: lift(2 * math.Sqrt(1./2))}},
		{Link{URL: "http://example.org/network"}, Promise{URL: lift(2 * math.Sqrt(1./3)), Score: lift(2 * math.Sqrt(1./3))}},
		{Link{URL: "http://data.example/", Anchor: "data bases", Context: "frog"},
			Promise{Anchor: lift(2 * math.Sqrt(1./2)), Score: max(0, lift((3-4)*math.Sqrt(1./5)-math.Sqrt(2./5)))}},
	} {
		if got := c.promise(&tt.link); !nearPromise(got, tt.want) {
			t.Errorf("%+v: got %+v, want %+v", tt.link, got, tt.want)
		}
	}
	m := *byHand
	m.Intercept = 1e9 // all is certain, and nothing can be added
	if got := classifier(t, &m).promise(&Link{Anchor: "network"}); got != (Promise{}) {
		t.Errorf("p₀ = 1: %+v", got)
	}
}

func TestClassifierReasonsSumToLogOdds(t *testing.T) {
	m := *byHand
	m.Slope, m.Intercept = 1.5, 0.25
	c := classifier(t, &m)
	property := func(s sample) bool {
		reasons, sum, bias := c.measure.Explain(c.Read(&s.Page)), 0.0, 0
		for i, r := range reasons {
			if r.What == "(bias)" {
				bias++
			}
			if r.Count <= 0 || i > 0 && reasons[i-1].Part < r.Part {
				return false
			}
			sum += r.Part
		}
		p := c.page(&s.Page)
		return len(reasons) == 0 && p == 0 || bias == 1 && math.Abs(Sigmoid(sum)-p) < 1e-12
	}
	if err := quick.Check(property, quickly(300)); err != nil {
		t.Error(err)
	}
}

func TestClassifierIsIndependentOfEarlierPages(t *testing.T) {
	used := classifier(t, byHand)
	property := func(s sample) bool {
		alone := classifier(t, byHand)
		p, l := used.page(&s.Page), used.promise(&s.Link)
		for _, x := range []float64{p, l.Anchor, l.Context, l.URL, l.Score} {
			if !(x >= 0 && x <= 1) {
				return false
			}
		}
		return p == alone.page(&s.Page) && l == alone.promise(&s.Link) &&
			slices.Equal(used.measure.Explain(used.Read(&s.Page)), alone.measure.Explain(alone.Read(&s.Page)))
	}
	if err := quick.Check(property, quickly(300)); err != nil {
		t.Error(err)
	}
}

func TestTrainingAndMeasuringReadTheSameFeatures(t *testing.T) {
	tg := target(t, topicOfTests...)
	property := func(s sample) bool {
		var g grams
		g.read(tg.Read(&s.Page), maxWords)
		m := &Model{Bias: 0.5, Slope: 1}
		want := m.Bias
		names := make(map[uint64]string)
		for i, key := range g.keys {
			names[key] = string(g.name(tg, key))
			w := math.Sin(float64(i))
			m.Features = append(m.Features, Feature{names[key], w})
			want += w * math.Sqrt(float64(g.counts[key])/float64(g.length))
		}
		c, err := NewClassifier(tg, m)
		if err != nil {
			t.Fatal(err)
		}
		got := c.Page(tg.Read(&s.Page))
		return g.length == 0 && got == 0 || near(got, Sigmoid(want))
	}
	if err := quick.Check(property, quickly(200)); err != nil {
		t.Error(err)
	}
}

func TestLongPagesAreTruncated(t *testing.T) {
	c := classifier(t, byHand)
	filler := strings.Repeat("unknown ", maxWords-1)
	last := c.page(&Page{Text: filler + "network"})
	if want := Sigmoid(-1 + 2*math.Sqrt(1./maxWords)); !near(last, want) {
		t.Errorf("the last word that counts: %v, want %v", last, want)
	}
	if got := c.page(&Page{Title: "unknown", Text: filler + "network"}); got != Sigmoid(-1) {
		t.Errorf("a word too many: %v", got)
	}
}

func TestInvalidModelsAreRejected(t *testing.T) {
	for name, change := range map[string]func(*Model){
		"bias":          func(m *Model) { m.Bias = math.NaN() },
		"slope":         func(m *Model) { m.Slope = math.Inf(1) },
		"falling":       func(m *Model) { m.Slope = -1 },
		"intercept":     func(m *Model) { m.Intercept = 1e300 },
		"threshold":     func(m *Model) { m.Threshold = 1.5 },
		"no threshold":  func(m *Model) { m.Threshold = math.NaN() },
		"weight":        func(m *Model) { m.Features = []Feature{{"x", math.NaN()}} },
		"empty feature": func(m *Model) { m.Features = []Feature{{"", 1}} },
		"space":         func(m *Model) { m.Features = []Feature{{"a  b", 1}} },
		"three stems":   func(m *Model) { m.Features = []Feature{{"a b c", 1}} },
		"stem twice":    func(m *Model) { m.Features = []Feature{{"a", 1}, {"a", 2}} },
		"pair twice":    func(m *Model) { m.Features = []Feature{{"a b", 1}, {"c", 1}, {"a b", 2}} },
	} {
		m := *byHand
		change(&m)
		if _, err := NewClassifier(target(t, topicOfTests...), &m); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	extreme := &Model{Bias: -large / 2, Slope: large / 2, Intercept: large / 2, Features: []Feature{{"network", large / 2}, {"frog", -large / 2}}}
	c := classifier(t, extreme)
	for _, s := range []string{"network", "frog", "network frog", "unknown"} {
		if p := c.page(&Page{Text: s}); !(p >= 0 && p <= 1) {
			t.Errorf("%q: %v", s, p)
		}
	}
}

func TestClassifierDoesNotAllocate(t *testing.T) {
	c := classifier(t, byHand)
	p := Page{Title: "Network data", Keywords: "data bases", Text: strings.Repeat("Data bases and networks in 2009, and other frogs. ", 50)}
	l := Link{URL: "http://example.org/network", Anchor: "data bases", Context: "of frogs"}
	if n := testing.AllocsPerRun(20, func() { c.page(&p); c.promise(&l) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var _ Measure = (*Classifier)(nil)
