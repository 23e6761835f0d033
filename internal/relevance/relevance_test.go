package relevance

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// A corpus makes pages of 100 terms. Terms 0 and 1 are the query, 2 to 9 other words of the topic,
// 10 to 99 words of all pages.
type corpus struct{ rng *rand.Rand }

// page returns a page with the query's words so often, and so many other words of the topic.
func (c corpus) page(asked, topical int) Page {
	count := map[int32]int32{}
	for i := range asked {
		count[int32(i%2)]++
	}
	for range topical {
		count[2+int32(c.rng.IntN(8))]++
	}
	for range 100 - asked - topical {
		count[10+int32(c.rng.IntN(90))]++
	}
	p := Page{Length: 100, Query: []int32{count[0], count[1]}}
	for t := range int32(100) {
		if n := count[t]; n > 0 {
			p.Counts = append(p.Counts, Count{t, n})
		}
	}
	return p
}

func (c corpus) pages(n, asked, topical int) (ps []Page) {
	for range n {
		ps = append(ps, c.page(asked, topical))
	}
	return ps
}

// query asks for terms 0 and 1, which are rare in the background.
func query() Query {
	q := Query{Terms: []int32{0, 1}, Weights: []float64{1, 1}, Share: make([]float64, 100), Feedback: 0.3}
	for t := range q.Share {
		if t >= 10 {
			q.Share[t] = 0.5
		}
	}
	return q
}

func mean(m *Model, ps []Page) (sum float64) {
	for i := range ps {
		sum += m.Relevance(&ps[i]) / float64(len(ps))
	}
	return sum
}

// Pages of the topic are recognised by its other words, though they lack the query's.
func TestWordsOfTheTopicAreLearned(t *testing.T) {
	c := corpus{rand.New(rand.NewPCG(1, 1))}
	asked, others, silent := c.pages(20, 6, 12), c.pages(60, 0, 0), c.pages(10, 0, 12)
	m := New(query(), slices.Concat(others[:5], asked, others[5:]), 5, 100)
	if m.seedTrust != 0 {
		t.Errorf("seeds without the query's words are trusted by %g", m.seedTrust)
	}
	if a, s, o := mean(m, asked), mean(m, silent), mean(m, others); !(a > s && s > o+0.05) {
		t.Errorf("relevance %.3f of pages with the query, %.3f of pages with words of the topic, %.3f of others", a, s, o)
	}
	if m.Level > mean(m, others)+0.02 {
		t.Errorf("the level %.3f is above the %.3f of other pages", m.Level, mean(m, others))
	}
}

// A crawl that begins among relevant pages does not take them for what is irrelevant: nearly all that it
// has fetched is relevant, and the level is far below pages like the seeds. Pages with half as many of the
// query's words are most of the lower half of the pages, whose mean is the level. They stay above it.
func TestDenseStart(t *testing.T) {
	for _, tt := range []struct {
		name  string
		asked int     // words of the query in most pages
		above float64 // relevance of most pages, in levels
	}{{"pages like the seeds", 2, 1.7}, {"pages with half the words", 1, 1.15}} {
		t.Run(tt.name, func(t *testing.T) {
			for corpusSeed := range uint64(10) {
				c := corpus{rand.New(rand.NewPCG(2, corpusSeed))}
				seeds, topical, full, others := c.pages(5, 2, 14), c.pages(60, tt.asked, 14), c.pages(10, 10, 0), c.pages(40, 0, 0)
				m := New(query(), slices.Concat(seeds, topical, full, others[:5]), 5, 100)
				if m.seedTrust < 0.5 {
					t.Errorf("corpus %d: seeds with the query's words are trusted by %g only", corpusSeed, m.seedTrust)
				}
				if r := mean(m, topical); r < tt.above*m.Level {
					t.Errorf("corpus %d: relevance %.3f of most pages, at a level of %.3f", corpusSeed, r, m.Level)
				}
				if o := mean(m, others); o > 0.05 {
					t.Errorf("corpus %d: relevance %.3f of other pages", corpusSeed, o)
				}
			}
		})
	}
}

// Estimates are in [0, 1), the same for the same arguments, and defined for odd pages.
func TestEstimatesAreBounded(t *testing.T) {
	c := corpus{rand.New(rand.NewPCG(3, 1))}
	empty := Page{Query: []int32{0, 0}}
	full := Page{Counts: []Count{{0, 1 << 30}}, Length: 1 << 30, Query: []int32{math.MaxInt32, math.MaxInt32}}
	unknown := Page{Counts: []Count{{5000, 3}}, Length: 3, Query: []int32{0, 0}}
	for _, ps := range [][]Page{nil, {empty}, {full, empty}, c.pages(30, 3, 3), slices.Repeat([]Page{empty}, 20)} {
		for _, q := range []Query{query(), {Terms: []int32{0, 1}, Weights: []float64{2, 0.5}}} {
			m := New(q, ps, min(2, len(ps)), 100)
			for _, p := range append([]Page{empty, full, unknown}, ps...) {
				if r := m.Relevance(&p); !(0 <= r && r < 1) {
					t.Errorf("relevance %v among %d pages", r, len(ps))
				}
			}
			if !(0 <= m.Level && m.Level < 1) {
				t.Errorf("level %v of %d pages", m.Level, len(ps))
			}
			m.buf = nil
			again := New(q, ps, min(2, len(ps)), 100)
			if again.buf = nil; !reflect.DeepEqual(m, again) {
				t.Error("the same arguments gave another model")
			}
		}
	}
}

// A classifier tells pages on the topic that lack the words of the query from others.
func TestClassifierFindsPagesWithoutTheQuery(t *testing.T) {
	c := corpus{rand.New(rand.NewPCG(4, 4))}
	topical, others := c.pages(20, 0, 3), c.pages(180, 0, 0)
	pages := slices.Concat(c.pages(3, 6, 0), topical, others)
	q := query()
	gap := func(q Query) float64 {
		m := New(q, pages, 0, 100)
		return mean(m, topical) - mean(m, others)
	}
	without := gap(q)
	q.Classifier = make([]float64, 100)
	for term := 2; term < 10; term++ {
		q.Classifier[term] = 1
	}
	if with := gap(q); with < without+0.1 {
		t.Errorf("with a classifier they are %.3f more relevant than others, without %.3f", with, without)
	}
}

// Pages that somebody has named tell two kinds of pages apart that have the words of the query alike.
func TestNamedPages(t *testing.T) {
	c := corpus{rand.New(rand.NewPCG(5, 5))}
	wanted, unwanted := c.pages(30, 4, 0), c.pages(30, 4, 0)
	for i := range wanted { // terms that only one kind has
		wanted[i].Counts = append(wanted[i].Counts, Count{Term: 100, N: 8})
		unwanted[i].Counts = append(unwanted[i].Counts, Count{Term: 101, N: 8})
	}
	others := c.pages(60, 0, 0)
	gap := func(relevant, irrelevant int) float64 {
		pages := slices.Concat(wanted, unwanted, others)
		for i := range relevant {
			pages[i].Named = Relevant
		}
		for i := range irrelevant {
			pages[len(wanted)+i].Named = Irrelevant
		}
		m := New(query(), pages, 0, 102)
		return mean(m, wanted[10:]) - mean(m, unwanted[10:])
	}
	none := gap(0, 0)
	for _, tt := range []struct{ relevant, irrelevant int }{{3, 0}, {0, 3}} {
		few, many := gap(tt.relevant, tt.irrelevant), gap(3*tt.relevant, 3*tt.irrelevant)
		if few < none+0.01 || many < few+0.004 {
			t.Errorf("%d relevant, %d irrelevant: the difference of the kinds is %.3f, with three times as many %.3f, and without any %.3f", tt.relevant, tt.irrelevant, few, many, none)
		}
	}
}

// A page that is named as irrelevant is no example of relevant pages, even if there are few others.
func TestIrrelevantPagesAreNoExamples(t *testing.T) {
	pages := (corpus{rand.New(rand.NewPCG(6, 6))}).pages(minPages, 4, 0)
	for i := range pages {
		pages[i].Named = Irrelevant
	}
	if m := New(query(), pages, 0, 100); len(m.Topic) == 0 || slices.Max(m.Topic) > 0 {
		t.Errorf("pages about the topic have the terms %v", m.Topic)
	}
}
