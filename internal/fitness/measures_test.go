package fitness

import (
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/quick"
)

// nearPromise reports whether got is want up to rounding.
func nearPromise(got, want Promise) bool {
	return near(got.Anchor, want.Anchor) && near(got.Context, want.Context) && near(got.URL, want.URL) && near(got.Score, want.Score)
}

// A variant is a measure in one of its forms, with the largest value that its
// pages and its links can have.
type variant struct {
	name       string
	page, link float64
	scaled     bool // does not change if all weights are multiplied
	make       func(*Target, float64) Measure
}

var topicOfTests = []Keyword{{"call for paper", 5}, {"network", 3}, {"data base", 2.5}, {"computers", 0.25}}

// variants are all measures in all forms, for topicOfTests with weights
// multiplied by a number.
func variants(tb testing.TB) []variant {
	must := func(m Measure, err error) Measure {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return m
	}
	inf := math.Inf(1)
	var all []variant
	for _, norm := range []Norm{TopicNorm, PageNorm} {
		for _, literal := range []bool{false, true} {
			name := fmt.Sprintf("norm %d, literal %t", norm, literal)
			words, likeness := inf, inf // bounds of wordscore and jaccard
			if !literal {
				words, likeness = 1+Alpha, 1
			}
			if norm == TopicNorm {
				all = append(all, variant{"bm25, " + name, inf, 1, false, func(t *Target, _ float64) Measure {
					return must(NewBM25(t, Statistics{Documents: 9, AverageLength: 20, DF: []int{0, 4, 9, 2}}, literal))
				}}, variant{"wordscore, " + name, words, words, !literal, func(t *Target, _ float64) Measure {
					return NewWordScore(t, Alpha, literal)
				}}, variant{"jaccard, " + name, likeness, 1, true, func(t *Target, _ float64) Measure {
					j := NewJaccard(t, Reference{Links: []string{"http://a.example/", "http://b.example/"}, Terms: []string{"data", "base", "frog", "2009"}, Counts: 2})
					j.Literal = literal
					return j
				}})
			}
			if norm == TopicNorm || !literal {
				all = append(all, variant{"vsm, " + name, 1, 1, true, func(t *Target, _ float64) Measure {
					v := NewVSM(t)
					v.Norm, v.Literal = norm, literal
					return v
				}})
			}
			for form, make := range map[string]func(*Target, []Entry) (*WeightTable, error){"tunnel": NewTunnelTable, "symbiosis": NewSymbiosisTable} {
				all = append(all, variant{form + ", " + name, 1, 1, true, func(t *Target, scale float64) Measure {
					w, err := make(t, []Entry{
						{Term: "network", Weight: 1 * scale, DF: 5}, {Term: "data", Weight: 0.7 * scale}, {Term: "frog", Weight: 0.2 * scale, DF: 2},
						{Term: "comput", DF: 3},
					})
					must(w, err)
					w.Norm, w.Literal = norm, literal
					return w
				}})
			}
		}
	}
	slices.SortFunc(all, func(a, b variant) int { return strings.Compare(a.name, b.name) })
	return all
}

// fresh is the measure v for the topic of the tests with its weights scaled.
func (v variant) fresh(tb testing.TB, scale float64) reader[Measure] {
	var keywords []Keyword
	for _, k := range topicOfTests {
		keywords = append(keywords, Keyword{k.Text, k.Weight * scale})
	}
	t := target(tb, keywords...)
	return reader[Measure]{t, v.make(t, scale)}
}

// words is what texts of the tests are made of.
var words = []string{"network", "networks", "data base", "database", "data", "base", "frog", "Frogs,", "call for papers", "for", "paper",
	"computer", "2009", "12345", "x", "ünïcode", "\xff", "%6eetwork", "toad"}

// A sample is a page and a link of it.
type sample struct {
	Page Page
	Link Link
}

// Generate is for package quick.
func (sample) Generate(rng *rand.Rand, size int) reflect.Value {
	say := func(n int) string {
		var b strings.Builder
		for range rng.Intn(n + 1) {
			b.WriteString(words[rng.Intn(len(words))])
			b.WriteByte(' ')
		}
		return b.String()
	}
	s := sample{
		Page{Title: say(3), Anchors: say(9), Description: say(4), Keywords: say(4), Text: say(size)},
		Link{URL: "http://" + strings.ReplaceAll(say(3), " ", "/"), Anchor: say(3), Context: say(8) + "\n" + say(8)},
	}
	for _, l := range []string{"http://a.example/", "http://b.example/", "http://c.example/"} {
		if rng.Intn(2) == 0 {
			s.Page.Links = append(s.Page.Links, l)
		}
	}
	return reflect.ValueOf(s)
}

// check checks a property of every measure on samples, the same each time.
func check(t *testing.T, property func(t *testing.T, v variant) func(sample) bool) {
	for _, v := range variants(t) {
		t.Run(v.name, func(t *testing.T) {
			if err := quick.Check(property(t, v), &quick.Config{MaxCount: 200, Rand: rand.New(rand.NewSource(7))}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestValueRange(t *testing.T) {
	check(t, func(t *testing.T, v variant) func(sample) bool {
		m := v.fresh(t, 1)
		return func(s sample) bool {
			page, p := m.page(&s.Page), m.promise(&s.Link)
			for _, x := range []float64{p.Anchor, p.Context, p.URL, p.Score} {
				if !(0 <= x && x <= v.link) || math.IsInf(x, 0) {
					return false
				}
			}
			return 0 <= page && page <= v.page && !math.IsInf(page, 0)
		}
	})
}

func TestEmptyPageScoresZero(t *testing.T) {
	for _, v := range variants(t) {
		m := v.fresh(t, 1)
		for _, nothing := range []string{"", " ", "the of and", "x", "1234567", "\xff", "…"} {
			if got := m.page(&Page{Title: nothing, Text: nothing, Keywords: nothing}); got != 0 {
				t.Errorf("%s: %q has %v", v.name, nothing, got)
			}
			if got := m.promise(&Link{URL: nothing, Anchor: nothing, Context: nothing}); got != (Promise{}) {
				t.Errorf("%s: a link of %q has %v", v.name, nothing, got)
			}
			if got := m.measure.Explain(m.Read(&Page{Text: nothing})); len(got) > 0 {
				t.Errorf("%s: %q is explained by %v", v.name, nothing, got)
			}
		}
		if got := m.page(&Page{Text: "network data base"}); !(got > 0) {
			t.Errorf("%s: the topic's own words have %v", v.name, got)
		}
	}
}

func TestValueIsIndependentOfEarlierPages(t *testing.T) {
	check(t, func(t *testing.T, v variant) func(sample) bool {
		used := v.fresh(t, 1)
		return func(s sample) bool {
			alone := v.fresh(t, 1)
			return used.page(&s.Page) == alone.page(&s.Page) && used.promise(&s.Link) == alone.promise(&s.Link) &&
				slices.Equal(used.measure.Explain(used.Read(&s.Page)), alone.measure.Explain(alone.Read(&s.Page)))
		}
	})
}

func TestValueIsIndependentOfOrder(t *testing.T) {
	check(t, func(t *testing.T, v variant) func(sample) bool {
		m := v.fresh(t, 1)
		return func(s sample) bool {
			other := s.Page
			other.Description, other.Keywords = s.Page.Keywords, s.Page.Description
			other.Links = slices.Clone(s.Page.Links)
			slices.Reverse(other.Links)
			// Words of expressions stay together.
			sentences := strings.SplitAfter(strings.ReplaceAll(s.Page.Text, "toad", "toad."), ".")
			slices.Reverse(sentences)
			other.Text = strings.Join(sentences, " toad ")
			same := s.Page
			same.Text = s.Page.Text + strings.Repeat(" toad", len(sentences)-1)
			return near(m.page(&same), m.page(&other))
		}
	})
}

func TestWeightsAreRelative(t *testing.T) {
	check(t, func(t *testing.T, v variant) func(sample) bool {
		m, scaled := v.fresh(t, 1), v.fresh(t, 4)
		return func(s sample) bool {
			return !v.scaled || near(m.page(&s.Page), scaled.page(&s.Page)) && nearPromise(m.promise(&s.Link), scaled.promise(&s.Link))
		}
	})
}

func TestReasonsSumToTheScore(t *testing.T) {
	check(t, func(t *testing.T, v variant) func(sample) bool {
		m := v.fresh(t, 1)
		return func(s sample) bool {
			reasons, sum := m.measure.Explain(m.Read(&s.Page)), 0.0
			for i, r := range reasons {
				if !(r.Part > 0 && r.Count > 0 && r.Weight > 0) || r.What == "" || i > 0 && reasons[i-1].Part < r.Part {
					return false
				}
				sum += r.Part
			}
			score := m.page(&s.Page)
			return math.Abs(sum-score) <= 1e-12*max(1, score)
		}
	})
}

func TestOtherWordsLowerTheScore(t *testing.T) {
	all := variants(t)
	byName := make(map[string]variant)
	for _, v := range all {
		byName[v.name] = v
	}
	compared := 0
	for _, v := range all {
		w, ok := byName[strings.Replace(v.name, "norm 1", "norm 0", 1)]
		if !ok || w.name == v.name {
			continue
		}
		compared++
		page, topic := v.fresh(t, 1), w.fresh(t, 1)
		if err := quick.Check(func(s sample) bool {
			p, q := page.promise(&s.Link), topic.promise(&s.Link)
			return page.page(&s.Page) <= topic.page(&s.Page) && p.Anchor <= q.Anchor && p.Context <= q.Context && p.URL <= q.URL
		}, &quick.Config{Rand: rand.New(rand.NewSource(7))}); err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
	}
	if compared != 5 { // vsm, and both tables in two forms
		t.Errorf("%d measures compared", compared)
	}
}

func TestMeasuresDoNotAllocate(t *testing.T) {
	p := Page{
		Title: "Call for papers", Anchors: "computers", Description: "networks", Keywords: "data bases",
		Text:  strings.Repeat("Data bases and networks in 2009, and other frogs and computers. ", 50),
		Links: []string{"http://b.example/", "http://a.example/", "http://b.example/"},
	}
	l := Link{URL: "https://example.org/networks/2009?x=%31", Anchor: "call for papers", Context: "the call for\npapers of networks is here"}
	for _, v := range variants(t) {
		m := v.fresh(t, 1)
		if n := testing.AllocsPerRun(20, func() { m.page(&p); m.promise(&l) }); n != 0 {
			t.Errorf("%s: %v allocations", v.name, n)
		}
	}
}

func TestOneReadingServesAllMeasures(t *testing.T) {
	all := variants(t)
	alone, together := make([]float64, len(all)), make([]float64, len(all))
	s := sample{}.Generate(rand.New(rand.NewSource(7)), 60).Interface().(sample)
	shared := target(t, topicOfTests...)
	var measures []Measure
	for i, v := range all {
		alone[i] = v.fresh(t, 1).page(&s.Page)
		measures = append(measures, v.make(shared, 1))
	}
	r := shared.Read(&s.Page)
	for i, m := range measures {
		together[i] = m.Page(r)
	}
	if !slices.Equal(alone, together) {
		t.Errorf("%v alone, %v together", alone, together)
	}
}

func TestLargeBagIsNotReused(t *testing.T) {
	v := variant{make: func(t *Target, _ float64) Measure { return NewJaccard(t, Reference{Terms: []string{"frog"}}) }}
	m := v.fresh(t, 1)
	say := func(prefix string) string {
		var b strings.Builder
		for i := range maxBag/2 + maxBag/32 { // some have one stem
			fmt.Fprintf(&b, "%s%x ", prefix, i)
		}
		return b.String()
	}
	m.page(&Page{Title: say("q"), Text: say("z")})
	if n := len(m.reading.words.counts); n <= maxBag {
		t.Fatalf("a bag of %d words is not large", n)
	}
	want := v.fresh(t, 1).page(&Page{Text: "frogs and toads"})
	if got := m.page(&Page{Text: "frogs and toads"}); got != want {
		t.Errorf("%v after it, %v without it", got, want)
	}
	if n := cap(m.reading.words.counts); n > maxBag {
		t.Errorf("the bag still has room for %d words", n)
	}
}
