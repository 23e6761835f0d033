package fitness

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/quick"
)

// A generator makes pages whose probability of being positive is known.
type generator struct{ *rand.Rand }

// say is n words out of a vocabulary of background words, each of which is one
// of marks instead with probability share.
func (g generator) say(n int, share float64, marks ...string) string {
	var b strings.Builder
	for range n {
		if g.Float64() < share {
			b.WriteString(marks[g.IntN(len(marks))])
		} else {
			fmt.Fprintf(&b, "word%d", int(20*g.ExpFloat64()))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// pages is n pages that have marks, and other n that have others.
func (g generator) pages(n int, marks, others string) (positive, negative []Page) {
	for range n {
		positive = append(positive, Page{Title: "word1", Text: g.say(100, 0.1, strings.Fields(marks)...)})
		negative = append(negative, Page{Title: "word1", Text: g.say(100, 0.1, strings.Fields(others)...)})
	}
	return positive, negative
}

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, seed))} }

// trained is a classifier for the keyword "network".
func trained(tb testing.TB, positive, negative []Page, o TrainOptions) (reader[*Classifier], *Model) {
	tb.Helper()
	t := target(tb, Keyword{"network", 1})
	m, err := Train(t, positive, negative, o)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := NewClassifier(t, m)
	if err != nil {
		tb.Fatal(err)
	}
	return reader[*Classifier]{t, c}, m
}

func TestTrainingSeparatesSeparableExamples(t *testing.T) {
	g := newGenerator(1)
	positive, negative := g.pages(40, "harbour ship sail", "mountain valley snow")
	c, m := trained(t, positive[:20], negative[:30], TrainOptions{})
	for i := 30; i < 40; i++ {
		if p, n := c.page(&positive[i]), c.page(&negative[i]); p < 0.8 || n > 0.2 {
			t.Errorf("page %d: %.3f with the marks, %.3f without", i, p, n)
		}
	}
	if tr := m.Training; tr.Positives != 20 || tr.Negatives != 30 || tr.Folds != 10 || tr.Right < 48 || tr.Right > 50 || tr.Loss > 0.2*tr.Chance {
		t.Errorf("%+v", tr)
	}
	if p := c.promise(&Link{URL: "http://a.example/harbour", Anchor: "ships", Context: "a mountain"}); p.Anchor < 0.3 || p.URL < 0.3 || p.Context != 0 || p.Score < 0.3 {
		t.Errorf("%+v", p)
	}
	for _, nothing := range []string{"", "the of", "unheard things", "mountain"} {
		if p := c.promise(&Link{URL: nothing, Anchor: nothing, Context: nothing}); p != (Promise{}) {
			t.Errorf("%q promises %+v", nothing, p)
		}
	}
}

func TestTrainingUsesPairs(t *testing.T) {
	g := newGenerator(2)
	var positive, negative []Page
	for range 60 {
		a, b := g.say(20, 0), g.say(20, 0)
		positive = append(positive, Page{Text: a + "hash of tables " + b + "join keys"})
		negative = append(negative, Page{Text: a + "join tables " + b + "the hash keys"})
	}
	c, m := trained(t, positive[:40], negative[:40], TrainOptions{})
	for i := 40; i < 60; i++ {
		if p, n := c.page(&positive[i]), c.page(&negative[i]); p < 0.5 || n > 0.5 {
			t.Errorf("page %d: %.3f and %.3f", i, p, n)
		}
	}
	if !slices.ContainsFunc(m.Features, func(f Feature) bool { return f.Name == "hash tabl" && f.Weight > 0 }) {
		t.Errorf("no pair over the stop word: %v", m.Features[:8])
	}
}

func TestTrainingIgnoresUninformativeFeatures(t *testing.T) {
	g := newGenerator(3)
	for name, pages := range map[string]func() ([]Page, []Page){
		"the same pages in both": func() ([]Page, []Page) { p, _ := g.pages(20, "harbour", "x"); return p, p },
		"one page in both":       func() ([]Page, []Page) { p, _ := g.pages(1, "harbour", "x"); return p, p },
		"pages by chance":        func() ([]Page, []Page) { return g.pages(30, "harbour", "harbour") },
	} {
		positive, negative := pages()
		c, m := trained(t, positive, negative, TrainOptions{})
		for i := range positive {
			if p := c.page(&positive[i]); math.Abs(p-0.5) > 0.1 {
				t.Errorf("%s: p = %v", name, p)
			}
		}
		if tr := m.Training; tr.Loss < tr.Chance-0.01 || tr.Right > len(positive)*5/4 {
			t.Errorf("%s: %+v", name, tr)
		}
		if n := len(m.Features); name == "one page in both" && n != 1 {
			t.Errorf("%s: %d features, not the keyword alone: %v", name, n, m.Features)
		}
	}
}

func TestTrainedProbabilitiesAreCalibrated(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	// Which of two kinds of words a page has more of tells how probable it is to be
	// positive; the probability itself is what is drawn from.
	g := newGenerator(4)
	draw := func(n int) (pages []Page, chance []float64, positive []bool) {
		for range n {
			odds := 3 * g.NormFloat64()
			p := Sigmoid(odds - 1)
			text := g.say(150, 0.15*Sigmoid(odds), "harbour", "ship") + g.say(150, 0.15*Sigmoid(-odds), "mountain", "snow")
			pages, chance, positive = append(pages, Page{Text: text}), append(chance, p), append(positive, g.Float64() < p)
		}
		return pages, chance, positive
	}
	for _, tt := range []struct {
		examples   int
		brier, ece float64 // at most
	}{{60, 0.04, 0.12}, {400, 0.02, 0.05}} {
		pages, _, yes := draw(tt.examples)
		var kinds [2][]Page
		for i, p := range pages {
			if yes[i] {
				kinds[0] = append(kinds[0], p)
			} else {
				kinds[1] = append(kinds[1], p)
			}
		}
		c, m := trained(t, kinds[0], kinds[1], TrainOptions{})
		pages, chance, yes := draw(2000)
		var excess float64 // of the Brier score over that of the true probability
		var n, said, was [10]float64
		for i := range pages {
			p, y := c.page(&pages[i]), 0.0
			if yes[i] {
				y = 1
			}
			excess += (p - chance[i]) * (p - chance[i]) / float64(len(pages))
			b := min(int(p*10), 9)
			n[b]++
			said[b] += p
			was[b] += y
		}
		ece := 0.0 // expected calibration error
		for b := range n {
			ece += math.Abs(said[b]-was[b]) / float64(len(pages))
		}
		t.Logf("%d examples: excess of Brier %.4f, ECE %.4f, %+v", tt.examples, excess, ece, m.Training)
		if excess > tt.brier || ece > tt.ece {
			t.Errorf("%d examples: excess of the Brier score %.4f, expected calibration error %.4f", tt.examples, excess, ece)
		}
	}
}

func TestKeywordsAreThePrior(t *testing.T) {
	a := Page{Text: "networks and routers"}
	b := Page{Text: "frogs and toads"}
	c, m := trained(t, []Page{a}, []Page{b}, TrainOptions{})
	if p, n := c.page(&a), c.page(&b); !(p > 0.5 && n < 0.5) {
		t.Errorf("one example of each: %v and %v", p, n)
	}
	if m.Training.Folds != 0 || m.Training.Penalty != penalties[0] {
		t.Errorf("%+v", m.Training)
	}
	weights := make(map[string]float64)
	for _, f := range m.Features {
		weights[f.Name] = f.Weight
	}
	if w := weights["network"]; w < 1 || w > 1.1 {
		t.Errorf("the keyword weighs %v", w)
	}
	if w := weights["router"]; !(w > 0 && w < 0.1) {
		t.Errorf("a word of the example weighs %v", w)
	}
	// A keyword that no example has is a feature all the same, and one of several
	// words is its pairs.
	tg := target(t, Keyword{"coral reef", 1}, Keyword{"the sea of many islands", 3}, Keyword{"anchor", 2})
	m, err := Train(tg, []Page{a}, []Page{b}, TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, f := range m.Features {
		if f.Weight > 0.1 {
			got[f.Name] = f.Weight
		}
	}
	if want := map[string]float64{"coral reef": 0.5, "sea mani": 0.75, "mani island": 0.75, "anchor": 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTrainingIsIndependentOfOrder(t *testing.T) {
	g := newGenerator(5)
	positive, negative := g.pages(12, "harbour ship", "harbour snow")
	_, want := trained(t, positive, negative, TrainOptions{})
	for range 3 {
		g.Shuffle(len(positive), func(i, j int) { positive[i], positive[j] = positive[j], positive[i] })
		g.Shuffle(len(negative), func(i, j int) { negative[i], negative[j] = negative[j], negative[i] })
		_, got := trained(t, append(positive, positive[:5]...), append(negative, negative[3], Page{Text: "of the"}), TrainOptions{})
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got.Training, want.Training)
		}
	}
}

func TestTrainingRequiresBothKinds(t *testing.T) {
	some, empty := []Page{{Text: "ships"}}, []Page{{}, {Title: "the of"}}
	for _, tt := range []struct {
		positive, negative []Page
		want               string
	}{
		{nil, some, "no positive example has words\nhint: "},
		{empty, some, "no positive example has words\nhint: "},
		{some, nil, "no negative example has words\nhint: "},
		{some, empty, "no negative example has words\nhint: "},
		{nil, nil, "no positive example has words\nhint: "},
	} {
		_, err := Train(target(t, Keyword{"network", 1}), tt.positive, tt.negative, TrainOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v, %v: %v", tt.positive, tt.negative, err)
		}
	}
	if _, err := Train(target(t, Keyword{"network", 1}), some, some, TrainOptions{Features: -1}); err == nil {
		t.Error("-1 features: no error")
	}
}

func TestHeaviestFeaturesAreKept(t *testing.T) {
	g := newGenerator(6)
	positive, negative := g.pages(30, "harbour ship sail", "mountain valley snow")
	c, m := trained(t, positive[:20], negative[:20], TrainOptions{Features: 8})
	if len(m.Features) != 8 || m.Training.Features < 100 {
		t.Errorf("%d features of %d", len(m.Features), m.Training.Features)
	}
	for i := 20; i < 30; i++ {
		if p, n := c.page(&positive[i]), c.page(&negative[i]); p < 0.6 || n > 0.4 {
			t.Errorf("page %d: %.3f and %.3f", i, p, n)
		}
	}
}

func TestHugeExamplesAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	var b strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&b, "w%d ", i)
	}
	huge := b.String() // 300,000 stems, and more pairs
	var positive, negative []Page
	for i := range 3 {
		positive = append(positive, Page{Title: fmt.Sprint("ship", i), Text: huge})
		negative = append(negative, Page{Title: fmt.Sprint("snow", i), Text: huge[100:]})
	}
	c, m := trained(t, positive, negative, TrainOptions{})
	if n := m.Training.Features; n > maxColumns || len(m.Features) > keptFeatures {
		t.Errorf("%d features, %d kept", n, len(m.Features))
	}
	if p := c.page(&positive[0]); !(p >= 0 && p <= 1) {
		t.Errorf("p = %v", p)
	}
}

func TestSketchNeverUndercounts(t *testing.T) {
	s := newSketch(1 << 30)
	for i := range 1000 {
		for range i%3 + 1 {
			s.add(fmt.Append(nil, "feature", i))
		}
	}
	for i := range 1000 {
		if n := s.count(fmt.Append(nil, "feature", i)); n < i%3+1 {
			t.Errorf("feature %d: %d", i, n)
		}
	}
	if got := s.least(2); got != 2 {
		t.Errorf("%d pages for a thousand features", got)
	}
	for _, size := range []int{0, 1, 2} {
		small := newSketch(size)
		for range math.MaxUint16 + 2 {
			small.add([]byte("x"))
		}
		if n := small.count([]byte("x")); n != math.MaxUint16 || small.least(2) != 2 {
			t.Errorf("a sketch for %d bytes counts %d", size, n)
		}
	}
	for i := range 3 * maxColumns {
		s.add(fmt.Append(nil, "x", i))
		s.add(fmt.Append(nil, "x", i))
		if i%6 == 0 {
			s.add(fmt.Append(nil, "x", i))
		}
	}
	if got := s.least(2); got != 3 {
		t.Errorf("%d pages for %d features", got, 3*maxColumns)
	}
}

func TestTrainedModelsAreValid(t *testing.T) {
	property := func(samples []sample, kinds []bool) bool {
		var pages [2][]Page
		for i, s := range samples {
			k := 0
			if i < len(kinds) && kinds[i] {
				k = 1
			}
			pages[k] = append(pages[k], s.Page)
		}
		tg := target(t, topicOfTests...)
		m, err := Train(tg, pages[1], pages[0], TrainOptions{Features: 50})
		if err != nil {
			return strings.Contains(err.Error(), "\nhint: ")
		}
		c, err := NewClassifier(tg, m)
		if err != nil || len(m.Features) > 50 {
			return false
		}
		for _, s := range samples {
			p := c.Page(tg.Read(&s.Page))
			l := c.Link(tg.ReadLink(&s.Link))
			for _, x := range []float64{p, l.Anchor, l.Context, l.URL, l.Score, m.Training.Loss} {
				if !(x >= 0 && (x <= 1 || x == m.Training.Loss)) {
					return false
				}
			}
		}
		for i, f := range m.Features {
			if f.Weight == 0 || math.IsNaN(f.Weight) || f.Name == "" || i > 0 && math.Abs(m.Features[i-1].Weight) < math.Abs(f.Weight) {
				return false
			}
		}
		return m.Slope >= 0 && m.Training.Loss <= m.Training.Chance+1e-9
	}
	if err := quick.Check(property, quickly(60)); err != nil {
		t.Error(err)
	}
}

func TestFolds(t *testing.T) {
	for _, tt := range []struct{ positives, negatives, want int }{
		{1, 1, 1}, {1, 9, 1}, {7, 4, 4}, {20, 40, 10}, {1000, 1000, 10}, {2500, 2500, 4}, {900, 12_000, 3}, {2, 100_000, 2},
	} {
		if got := folds(tt.positives, tt.negatives); got != tt.want {
			t.Errorf("%d and %d examples make %d folds, want %d", tt.positives, tt.negatives, got, tt.want)
		}
	}
}

func TestFitIsMinimum(t *testing.T) {
	// No other weights near those found are better, whatever the penalty.
	g := newGenerator(8)
	x, targets := &matrix{start: []int{0}, width: 12}, []float64{}
	var offset []float64
	var rows []int
	for i := range 80 {
		for k := range 12 {
			if g.IntN(3) == 0 {
				x.index, x.value = append(x.index, int32(k)), append(x.value, g.NormFloat64())
			}
		}
		x.end()
		offset, rows = append(offset, g.NormFloat64()), append(rows, i)
		targets = append(targets, float64(g.IntN(2)))
	}
	f := newFit(x, offset, targets, rows)
	for _, penalty := range []float64{100, 1, 1e-3, 1e-9} {
		f.penalty = penalty
		f.solve()
		best := f.loss()
		for k := range f.weights {
			for _, d := range []float64{-1e-3, 1e-3} {
				f.weights[k] += d
				if l := f.loss(); l < best-1e-6 {
					t.Errorf("penalty %v: loss %v, with weight %d moved %v", penalty, best, k, l)
				}
				f.weights[k] -= d
			}
		}
		f.differentiate()
		if g := math.Sqrt(dot(f.scratch.gradient, f.scratch.gradient)); g > 0.05 {
			t.Errorf("penalty %v: gradient %v", penalty, g)
		}
	}
}

func TestCalibrateFindsSlope(t *testing.T) {
	g := newGenerator(9)
	for _, want := range []struct{ slope, intercept float64 }{{1, 0}, {0.2, -2}, {40, 3}, {1e4, 0}} {
		var scores []float64
		var positive []bool
		for range 20_000 {
			s := 2 * g.NormFloat64() / want.slope
			scores, positive = append(scores, s), append(positive, g.Float64() < Sigmoid(want.slope*s+want.intercept))
		}
		slope, intercept, _ := Calibrate(scores, positive)
		if math.Abs(slope/want.slope-1) > 0.05 || math.Abs(intercept-want.intercept) > 0.1 {
			t.Errorf("got %v and %v, want %+v", slope, intercept, want)
		}
	}
}

func TestCalibrateFewExamples(t *testing.T) {
	for _, tt := range []struct {
		name            string
		scores          []float64
		positive        []bool
		slope           bool
		lowest, highest float64
	}{
		// Perfectly told apart: the targets are the probabilities, here 3/4 and 1/4.
		{"two of each", []float64{-1, -1, 1, 1}, []bool{false, false, true, true}, true, 0.25, 0.75},
		{"one of each", []float64{-1, 1}, []bool{false, true}, true, 1. / 3, 2. / 3},
		{"nothing told", []float64{7, 7, 7, 7}, []bool{false, false, true, true}, false, 0.5, 0.5},
		{"the wrong way", []float64{1, 1, -1, -1}, []bool{false, false, true, true}, false, 0.5, 0.5},
		{"huge scores", []float64{-1e50, -1e50, 1e50, 1e50}, []bool{false, false, true, true}, true, 0.25, 0.75},
	} {
		slope, intercept, loss := Calibrate(tt.scores, tt.positive)
		lowest, highest := 1.0, 0.0
		for _, s := range tt.scores {
			p := Sigmoid(slope*s + intercept)
			lowest, highest = min(lowest, p), max(highest, p)
		}
		if (slope > 0) != tt.slope || math.Abs(lowest-tt.lowest) > 1e-4 || math.Abs(highest-tt.highest) > 1e-4 || !(loss > 0) {
			t.Errorf("%s: slope %v, p from %v to %v, loss %v", tt.name, slope, lowest, highest, loss)
		}
	}
}

func TestLossDoesNotOverflow(t *testing.T) {
	property := func(z, y float64) bool {
		p := Sigmoid(z)
		_, y = math.Modf(math.Abs(y))
		s := lossOf(z, y)
		return p >= 0 && p <= 1 && s >= -1e-9*math.Abs(z) && !math.IsNaN(s)
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct{ z, y, want float64 }{{0, 0, math.Ln2}, {800, 1, 0}, {800, 0, 800}, {-800, 1, 800}, {2, 1, math.Log1p(math.Exp(-2))}} {
		if got := lossOf(tt.z, tt.y); !near(got, tt.want) {
			t.Errorf("z %v, target %v: %v, want %v", tt.z, tt.y, got, tt.want)
		}
	}
}
