package fitness

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"spoor/internal/text"
)

// A reader is a measure with the target that reads for it.
type reader[M Measure] struct {
	*Target
	measure M
}

func (r reader[M]) page(p *Page) float64    { return r.measure.Page(r.Read(p)) }
func (r reader[M]) promise(l *Link) Promise { return r.measure.Link(r.ReadLink(l)) }

// vsm is the vector space measure for keywords.
func vsm(tb testing.TB, keywords ...Keyword) reader[*VSM] {
	t := target(tb, keywords...)
	return reader[*VSM]{t, NewVSM(t)}
}

// target is a target of English words.
func target(tb testing.TB, keywords ...Keyword) *Target {
	tb.Helper()
	a, err := text.New("en", "porter")
	if err != nil {
		tb.Fatal(err)
	}
	t, err := NewTarget(a, keywords)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// papers is the topic of the paper's experiment. "IT" is a stop word when case
// does not count, so it has a companion here.
var papers = []Keyword{
	{"call for paper", 5}, {"information technology", 3}, {"IT industry", 3}, {"computer", 3}, {"software", 3},
	{"network", 3}, {"database", 3}, {"artificial intelligence", 3}, {"multimedia", 3}, {"2009", 1},
}

// near reports whether got is want up to rounding.
func near(got, want float64) bool { return math.Abs(got-want) < 1e-12 }

func TestOneKeywordOfThePapersTopicIsRelevant(t *testing.T) {
	v := vsm(t, papers...)
	length := math.Sqrt(25 + 8*9 + 1) // |q|
	for _, tt := range []struct {
		text string
		want float64
	}{
		{"in 2009", 1 / length}, // 0.101: the least that is not 0
		{"Computers.", 3 / length},
		{"Call for Papers", 5 / length},
		{"CALLS-FOR-PAPER! and again: call for papers, call for papers", 5 / length},
		{"call papers", 0}, // an expression is matched as it was written
		{"papers for call", 0},
		{"call for", 0},
		{"the information was technology", 0},
		{"it", 0},
		{"the IT industry", 3 / length},
		{"computers and networks", 6 / (length * math.Sqrt2)},
		{"computers, computers and networks", (3*2 + 3) / (length * math.Sqrt(5))},
	} {
		if got := v.page(&Page{Text: tt.text}); !near(got, tt.want) {
			t.Errorf("%q: S = %v, want %v", tt.text, got, tt.want)
		}
	}
	if got := fmt.Sprintf("%.3f", 1/length); got != "0.101" {
		t.Errorf("least S = %s, the specification has 0.101", got)
	}
	if 1/length < VSMThreshold {
		t.Error("S0 is above the least S")
	}
	if !(v.measure.Threshold() > VSMThreshold) {
		t.Error("a page with S0 is relevant, want S > S0")
	}
}

func TestTagWeights(t *testing.T) {
	// q = (network: 3, database: 4), |q| = 5.
	keywords := []Keyword{{"network", 3}, {"database", 4}}
	page := Page{
		Title:       "Networks",              // network 5
		Anchors:     "databases",             // database 3
		Description: "a database",            // database 2
		Keywords:    "networks, databases",   // network 2, database 2
		Text:        "databases of networks", // network 1, database 1 (that of the anchor)
	}
	for _, tt := range []struct {
		name    string
		literal bool
		want    float64
	}{
		// network 5 + 2 + 1; database 3 + 2·2: that of the text is the anchor's
		{"sum over occurrences", false, (3*8. + 4*7.) / (5 * math.Sqrt(64+49))},
		// counts: network 1+1+1, database 0+2+max(1, 1); W: 5 and 3
		{"one weight a word", true, (3*15. + 4*9.) / (5 * math.Sqrt(15*15+9*9))},
	} {
		v := vsm(t, keywords...)
		v.measure.Literal = tt.literal
		if got := v.page(&page); !near(got, tt.want) {
			t.Errorf("%s: S = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestPageNormCountsAllWords(t *testing.T) {
	v := vsm(t, Keyword{"network", 3}, Keyword{"data base", 4})
	v.measure.Norm = PageNorm
	for _, tt := range []struct {
		page Page
		want float64
	}{
		{Page{Text: "network"}, 3. / 5},
		{Page{Text: "the network and the frogs"}, 3. / (5 * math.Sqrt(2))},
		{Page{Title: "frogs", Text: "network frogs network"}, 6. / (5 * math.Sqrt(4+36))},
		{Page{Text: "data base"}, 4. / (5 * math.Sqrt(3))}, // the expression, and its two words
		{Page{Anchors: "frogs", Text: "network frogs"}, 3. / (5 * math.Sqrt(1+9))},
		{Page{Anchors: "network frogs", Text: "network"}, 9. / (5 * math.Sqrt(9+9))}, // text without menus
		{Page{Text: "frogs"}, 0},
		{Page{}, 0},
	} {
		if got := v.page(&tt.page); !near(got, tt.want) {
			t.Errorf("%+v: S = %v, want %v", tt.page, got, tt.want)
		}
	}
}

func TestPageInTopicProportionsScoresOne(t *testing.T) {
	v := vsm(t, Keyword{"network", 3}, Keyword{"database", 1})
	for _, norm := range []Norm{TopicNorm, PageNorm} {
		v.measure.Norm = norm
		if got := v.page(&Page{Text: "network network database network"}); !near(got, 1) {
			t.Errorf("norm %d: S = %v, want 1", norm, got)
		}
	}
	single := vsm(t, Keyword{"network", 0.3})
	if got := single.page(&Page{Text: "frogs on networks"}); !near(got, 1) {
		t.Errorf("a topic of one word: S = %v, want 1", got)
	}
}

func TestPageWithoutKeywordsScoresZero(t *testing.T) {
	v := vsm(t, papers...)
	if got := v.page(&Page{Text: strings.Repeat("frogs and toads ", 1000)}); got != 0 {
		t.Errorf("S = %v without any keyword", got)
	}
	if got := v.page(&Page{}); got != 0 {
		t.Errorf("S = %v of an empty page", got)
	}
}

func TestTargetRejectsUnmatchableKeywords(t *testing.T) {
	a, err := text.New("", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, keywords := range [][]Keyword{
		nil,
		{{"IT", 1}},
		{{"", 1}},
		{{"of the", 1}},
		{{"network", 0}},
		{{"network", -1}},
		{{"network", math.NaN()}},
		{{"network", math.Inf(1)}},
		{{"network", 1e200}},
		{{"network", 1e-200}},
		{{"network 12345", 1}},
	} {
		if _, err := NewTarget(a, keywords); err == nil {
			t.Errorf("%v: no error", keywords)
		}
	}
}

func TestKeywordsWithCommonPrefix(t *testing.T) {
	v := vsm(t, Keyword{"data", 1}, Keyword{"data base", 1}, Keyword{"data base system", 1}, Keyword{"base", 1})
	if got := v.page(&Page{Text: "data base systems"}); !near(got, 1) {
		t.Errorf("S = %v, want 1: every keyword stands there once", got)
	}
}

func TestScoringDoesNotAllocate(t *testing.T) {
	v := vsm(t, papers...)
	p := Page{Title: "Call for papers", Anchors: "computers", Description: "networks", Keywords: "databases", Text: strings.Repeat("Artificial intelligence in 2009, and other words. ", 50)}
	l := Link{"https://example.org/networks/2009?x=1", "call for papers", "the call for papers is here"}
	for _, norm := range []Norm{TopicNorm, PageNorm} {
		v.measure.Norm = norm
		if n := testing.AllocsPerRun(50, func() { v.page(&p); v.promise(&l) }); n != 0 {
			t.Errorf("norm %d: %v allocations", norm, n)
		}
	}
}
