package measure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"spoor/internal/fitness"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// The beginning of a topic file, without and with statistics.
const (
	bare = `{"format":"spoor-topic","version":1,"language":"en","stemmer":"porter","keywords":[{"text":"java","weight":1},{"text":"data base","weight":3}]`
	head = `{"format":"spoor-topic","version":1,"language":"en","stemmer":"porter","keywords":[{"text":"java","weight":1,"df":2},{"text":"data base","weight":3,"df":1}]`
)

const statistics = `,"statistics":{"documents":4,"average_length":3}`

const table = statistics + `,"table":[
	{"term":"java","word":"java","weight":1,"df":2,"origin":"query"},
	{"term":"manual","word":"manuals","weight":0.75,"df":3,"origin":"page"},
	{"term":"java","word":"java","weight":0.5,"df":2,"origin":"page"}]`

const trained = `,"classifier":{"bias":-1,"slope":2,"intercept":0.5,"threshold":0.6,"positives":3,"negatives":2,"features":[
	{"name":"java manual","weight":2},{"name":"java","weight":1},{"name":"toad","weight":-1}]}`

// read parses a topic file.
func read(t *testing.T, file string) *topic.Topic {
	t.Helper()
	top, err := topic.Read(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// score returns the value of one measure.
func score(t *testing.T, file, name string, o Options, p *fitness.Page) float64 {
	t.Helper()
	s, err := New(read(t, file), []string{name}, o)
	if err != nil {
		t.Fatal(err)
	}
	return s.Measures[0].Page(s.Target.Read(p))
}

func TestMeasuresFromTopicSections(t *testing.T) {
	page := fitness.Page{Title: "Java", Text: "manuals of frogs", Links: []string{"http://b.example/"}}
	for _, tt := range []struct {
		file, name string
		options    Options
		want       float64
	}{
		{bare + "}", "vsm", Options{}, 1 / math.Sqrt(10)},
		{bare + "}", "vsm", Options{Norm: fitness.PageNorm}, 5 / math.Sqrt(10*(25+1+1))},
		{bare + "}", "vsm", Options{Literal: true}, 1 / math.Sqrt(10)},
		// java of the query takes precedence over java of the pages: (1, 0.75) and (2·2, 1·3)
		{head + table + "}", "weighttable", Options{}, 1},
		{head + table + `,"vocabulary":[{"df":4,"terms":["frog"]}]}`, "weighttable", Options{Norm: fitness.PageNorm}, 6.25 / math.Sqrt(1.5625*(16+9+16))},
		{head + table + "}", "weighttable", Options{Norm: fitness.PageNorm}, 6.25 / math.Sqrt(1.5625*(16+9+1))},
		// without those of the query: (0.5, 0.75) and (2, 1)
		{head + table + "}", "weighttable-tf", Options{}, 1.75 / math.Sqrt(0.8125*5)},
		{head + table + "}", "weighttable-tf", Options{Norm: fitness.PageNorm}, 1.75 / math.Sqrt(0.8125*6)},
		{head + statistics + "}", "bm25", Options{}, math.Log(2) * 5 * 2.5 / 6.5 / 2}, // java in the title
		{head + statistics + "}", "bm25", Options{Literal: true}, math.Log(2)},
		{bare + "}", "wordscore", Options{}, (1./3 + 4) / 4 / math.Sqrt(10)},
		{bare + "}", "wordscore", Options{Literal: true}, (1./4 + 4) / math.Sqrt(10)}, // "of" is a word, too
		{bare + `,"reference":{"url":"http://a.example/","counts":1,"links":["http://b.example/","http://c.example/"],"terms":["java","toad"]}}`,
			"jaccard", Options{}, (0.5 + math.Sqrt(3./6)) / 2},
		{bare + `,"reference":{"url":"http://a.example/","counts":1,"links":["http://b.example/","http://c.example/"],"terms":["java","toad"]}}`,
			"jaccard", Options{Literal: true}, 0.5 + math.Sqrt(3./4)},
		// java once in three words, and no manual after it
		{bare + trained + "}", "classifier", Options{}, 1 / (1 + math.Exp(-(2*(-1+1/math.Sqrt(3)) + 0.5)))},
	} {
		if got := score(t, tt.file, tt.name, tt.options, &page); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s %+v: %v, want %v", tt.name, tt.options, got, tt.want)
		}
	}
}

func TestMissingSectionsNameTheOption(t *testing.T) {
	for name, want := range map[string]string{
		"weighttable":    "measure weighttable: the topic has no weight table\nhint: topic -positive",
		"weighttable-tf": "measure weighttable-tf: the topic has no weight table\nhint: topic -positive",
		"jaccard":        "measure jaccard: the topic has no reference page\nhint: topic -positive",
		"classifier":     "measure classifier: the topic has no classifier\nhint: topic -positive FILE -negative FILE",
	} {
		_, err := New(read(t, bare+"}"), []string{name}, Options{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	onlyQuery := head + statistics + `,"table":[{"term":"java","word":"java","weight":1,"origin":"query"}]}`
	if _, err := New(read(t, onlyQuery), []string{"weighttable-tf"}, Options{}); err == nil {
		t.Error("a table of the query's words is a table for tunnel")
	}
}

// Of four pages, 3 have data, 2 java and 1 base, and no example pages say anything else.
func TestBM25OfABackground(t *testing.T) {
	const file = bare + `,"background":{"documents":4,"average_length":3,"vocabulary":[{"df":3,"terms":["data"]},{"df":2,"terms":["java"]},{"df":1,"terms":["base"]}]}`
	for _, text := range []string{"java frogs toads", "data bases: frogs", "java data base", "data"} {
		page := fitness.Page{Text: text}
		got, want := score(t, file+"}", "bm25", Options{}, &page), score(t, head+statistics+"}", "bm25", Options{}, &page)
		if got != want || (got == 0) != (text == "data") {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	// The sections of example pages take precedence.
	page := fitness.Page{Text: "java"}
	background := `,"background":{"documents":9,"average_length":1,"vocabulary":[]}`
	if got, want := score(t, head+statistics+background+"}", "bm25", Options{}, &page), score(t, head+statistics+"}", "bm25", Options{}, &page); got != want {
		t.Errorf("%v with examples and a background, %v with examples", got, want)
	}
}

// Without any statistics all keywords are equally rare, and the default measure is bm25 too.
func TestBM25OfAnUnknownLanguage(t *testing.T) {
	file := strings.NewReplacer(`"en","stemmer":"porter"`, `"und","stemmer":"none"`, `"weight":3`, `"weight":1`).Replace(bare) + "}"
	java, both := score(t, file, "bm25", Options{}, &fitness.Page{Text: "java frogs toads"}), score(t, file, "bm25", Options{}, &fitness.Page{Text: "java data base"})
	if data := score(t, file, "bm25", Options{}, &fitness.Page{Text: "data base frogs"}); java != data || both <= 2*java || java == 0 {
		t.Errorf("java %v, data base %v, both %v: want more than twice as much for both", java, data, both)
	}
	for norm, want := range map[fitness.Norm]string{fitness.TopicNorm: "bm25", fitness.PageNorm: "vsm"} {
		if got, err := Choose("", Options{Norm: norm}); err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("norm %v: %v, %v, want %s", norm, got, err, want)
		}
	}
}

func TestBM25OfWordsAlone(t *testing.T) {
	topic := strings.NewReplacer("java", "theorem", "data base", "number", `"weight":3`, `"weight":1`).Replace(bare) + "}"
	theorem, number := score(t, topic, "bm25", Options{}, &fitness.Page{Text: "theorems"}), score(t, topic, "bm25", Options{}, &fitness.Page{Text: "numbers"})
	if !(theorem > 2*number && number > 0) {
		t.Errorf("theorem %v, number %v: want the rare word to count more", theorem, number)
	}
	if xpcom := score(t, strings.Replace(topic, "theorem", "xpcom", 1), "bm25", Options{}, &fitness.Page{Text: "xpcom"}); xpcom < theorem {
		t.Errorf("xpcom %v, theorem %v: want a word without entry to count most", xpcom, theorem)
	}
}

func TestThresholds(t *testing.T) {
	file := head + table + trained + `,"reference":{"url":"http://a.example/","links":[],"terms":[]}}`
	idf := func(n float64) float64 { return math.Log(1 + (4-n+0.5)/(n+0.5)) }
	for _, literal := range []bool{false, true} {
		want := map[string]float64{"vsm": 0.05, "weighttable": 0.4, "weighttable-tf": 0.4, "bm25": 0.4 * (idf(2) + 3*idf(1)), "wordscore": 0.33, "jaccard": 0.25, "classifier": 0.6}
		if literal {
			want["bm25"], want["wordscore"], want["jaccard"] = 0.4*(idf(2)+idf(1)), 4*0.33, math.Sqrt(1./3)
		}
		for name, want := range want {
			s, err := New(read(t, file), []string{name}, Options{Literal: literal})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Measures[0]; math.Abs(got.Threshold()-want) > 1e-12 || got.Name != name {
				t.Errorf("%s, literal %t: threshold %v of %s, want %v", name, literal, got.Threshold(), got.Name, want)
			}
		}
	}
}

// If a measure needs only the words of the topic, its target distinguishes only these. In a
// set with a measure that needs all words, the target distinguishes all words.
func TestMeasureDoesNotDependOnOthers(t *testing.T) {
	file := head + table + trained + `,"reference":{"url":"http://a.example/","counts":1,"links":["http://b.example/"],"terms":["java","toad"]}}`
	page := fitness.Page{
		URL: "http://d.example/", Title: "Java data bases", Anchors: "toads java manual", Description: "a manual", Keywords: "the data base",
		Text: "Manuals of the java manual, of frogs and frogs and frogs, toads toads, data base x y z 1984 123456 data-bases", Links: []string{"http://b.example/"},
	}
	link := fitness.Link{URL: "http://e.example/java/frogs", Anchor: "data base of the java manual", Context: "frogs frogs about java manuals\ntoad of x java"}
	for _, o := range []Options{{}, {Norm: fitness.PageNorm}, {Literal: true}} {
		top := read(t, file)
		all, err := New(top, Names(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all.Measures {
			alone, err := New(top, []string{m.Name}, o)
			if err != nil {
				t.Fatal(err)
			}
			want, got := m.Page(all.Target.Read(&page)), alone.Measures[0].Page(alone.Target.Read(&page))
			if got != want || want == 0 {
				t.Errorf("%s %+v: %v alone, %v beside others", m.Name, o, got, want)
			}
			if want, got := m.Link(all.Target.ReadLink(&link)), alone.Measures[0].Link(alone.Target.ReadLink(&link)); got != want || want.Score == 0 {
				t.Errorf("%s %+v: a link %v alone, %v beside others", m.Name, o, got, want)
			}
		}
	}
}

func TestParseOptions(t *testing.T) {
	for _, tt := range []struct {
		norm    string
		compat  bool
		want    Options
		refusal string
	}{
		{"topic", false, Options{}, ""},
		{"topic", true, Options{Literal: true}, ""},
		{"page", false, Options{Norm: fitness.PageNorm}, ""},
		{"page", true, Options{}, "-compat cannot be used with -norm page"},
		{"moon", false, Options{}, `unknown norm "moon": known are topic, page`},
	} {
		got, err := ParseOptions(tt.norm, tt.compat)
		if got != tt.want || (err == nil) != (tt.refusal == "") || err != nil && !strings.HasPrefix(err.Error(), tt.refusal) {
			t.Errorf("%s, %t: %+v, %v", tt.norm, tt.compat, got, err)
		}
	}
}

func TestParse(t *testing.T) {
	all := strings.Join(Names(), ",")
	if got, err := Parse(all); err != nil || !slices.Equal(got, Names()) {
		t.Errorf("%s: %v, %v", all, got, err)
	}
	for list, want := range map[string]string{
		"":          `unknown measure ""`,
		"vsm,":      `unknown measure ""`,
		"tfidf":     `unknown measure "tfidf": known are vsm, `,
		"vsm,vsm":   "measure vsm is named twice",
		"vsm, bm25": `unknown measure " bm25"`,
	} {
		if _, err := Parse(list); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", list, err)
		}
	}
}

// The language of examples is that of most pages; regions and case make no difference, and pages without
// a language do not count.
func TestLanguageOfExamples(t *testing.T) {
	for _, tt := range []struct {
		languages []string
		want      string
	}{
		{nil, "en"}, {[]string{"", ""}, "en"}, {[]string{"", "de"}, "de"}, {[]string{"de-CH", "DE", "en"}, "de"},
		{[]string{"fr", "en"}, "en"}, {[]string{"tlh"}, "und"}, {[]string{"-"}, "en"},
	} {
		var e Examples
		for i, l := range tt.languages {
			if reason := e.Add(&wire.Record{URL: fmt.Sprint("http://a.test/", i), Lang: l, Text: "frogs"}); reason != "" {
				t.Fatal(reason)
			}
		}
		if got := e.Language(); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.languages, got, tt.want)
		}
	}
}
