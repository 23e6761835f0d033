package topic

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keyword adds a keyword or fails.
func keyword(t *testing.T, tp *Topic, expression string, weight float64) {
	t.Helper()
	if err := tp.AddKeyword(expression, weight); err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T) *Topic {
	t.Helper()
	tp := newTopic(t, "", "")
	return tp
}

func TestTopicFileFormat(t *testing.T) {
	tp := create(t)
	keyword(t, tp, "call for paper", 5)
	keyword(t, tp, "R&D networks", 0.5)
	ignored, err := tp.AddQuery("the Networks  of networks, and <databases>")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"the", "of", "and"}; !slices.Equal(ignored, want) {
		t.Errorf("ignored %q, want %q", ignored, want)
	}
	threshold := 0.05
	tp.Threshold = &threshold
	var b bytes.Buffer
	if err := tp.Write(&b); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "format": "spoor-topic",
  "version": 1,
  "query": "the Networks of networks, and <databases>",
  "language": "en",
  "stemmer": "english",
  "threshold": 0.05,
  "keywords": [
    {"text":"call for paper","weight":5,"terms":["call","for","paper"]},
    {"text":"R&D networks","weight":0.5,"terms":["r","d","network"]},
    {"text":"Networks","weight":1,"terms":["network"]},
    {"text":"databases","weight":1,"terms":["databas"]}
  ]
}
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	again := readTopic(t, &b)
	if diff := cmp.Diff(tp, again); diff != "" {
		t.Errorf("read again (-written +read):\n%s", diff)
	}
}

func TestKeywordWeightOverridesQuery(t *testing.T) {
	tp := create(t)
	keyword(t, tp, "networks", 3)
	if _, err := tp.AddQuery("network"); err != nil {
		t.Fatal(err)
	}
	if len(tp.Keywords) != 1 || tp.Keywords[0].Weight != 3 {
		t.Errorf("keywords %+v", tp.Keywords)
	}
}

func TestInvalidKeywords(t *testing.T) {
	for _, tt := range []struct {
		text   string
		weight float64
		want   string
	}{
		{"IT", 3, "only stop words"},
		{"of the", 3, "only stop words"},
		{"C", 3, "only stop words"},
		{"", 3, "only stop words"},
		{"?!", 3, "only stop words"},
		{"12345 frogs", 3, "never matched"},
		{strings.Repeat("x", 100), 3, "never matched"},
		{"frogs", 0, "not above 0"},
		{"frogs", -1, "not above 0"},
		{"frogs", math.NaN(), "not above 0"},
		{"frogs", math.Inf(1), "not from 1e-100 to 1e+100"},
		{"Network", 2, `keywords "networks" and "Network" are matched by the same terms`},
	} {
		tp := create(t)
		keyword(t, tp, "networks", 1)
		if err := tp.AddKeyword(tt.text, tt.weight); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
		if len(tp.Keywords) != 1 {
			t.Errorf("%q was added", tt.text)
		}
	}
}

func TestQueryWithoutWords(t *testing.T) {
	for _, q := range []string{"", "it is the", "... !", "a b c 123456"} {
		if _, err := create(t).AddQuery(q); err == nil || !strings.Contains(err.Error(), "it has no words that count") {
			t.Errorf("%q: %v", q, err)
		}
	}
}

func TestUnknownLanguageOrStemmer(t *testing.T) {
	if _, err := New("tlh", ""); err == nil || !strings.Contains(err.Error(), "known are da, de, en, ") {
		t.Errorf("language: %v", err)
	}
	if _, err := New("en", "lovins"); err == nil || !strings.Contains(err.Error(), "known are english, porter") {
		t.Errorf("stemmer: %v", err)
	}
	if tp, err := New("", "english"); err != nil || tp.Language != "en" || tp.Stemmer != "english" {
		t.Errorf("english: %+v, %v", tp, err)
	}
}

func TestByteOrderMarkIsIgnored(t *testing.T) {
	const file = "\uFEFF" + `{"format":"spoor-topic","version":1,"keywords":[{"text":"frogs","weight":1}]}`
	if tp, err := Read(strings.NewReader(file)); err != nil || len(tp.Keywords) != 1 {
		t.Errorf("%+v, %v", tp, err)
	}
}

func TestReadErrors(t *testing.T) {
	const (
		head  = `{"format":"spoor-topic","version":1,"language":"en","stemmer":"porter",`
		rest  = `"keywords":[{"text":"frogs","weight":1}],`
		stats = `"statistics":{"documents":3,"average_length":10.5},`
	)
	for _, tt := range []struct{ name, file, want string }{
		{"empty", ``, "not a topic file"},
		{"not JSON", `query`, "not a topic file"},
		{"an array", `[]`, "not a topic file"},
		{"no format", `{"version":1}`, `its format is "", not "spoor-topic"`},
		{"truncated", head + `"keywords":[`, "line 1: unexpected end of JSON input"},
		{"two", head + `"keywords":[{"text":"x1","weight":1}]} {}`, "line 1: invalid character '{'"},
		{"a comma too many", head + "\n\"keywords\":[\n{\"text\":\"frogs\",\"weight\":1,}\n]}", "line 3: invalid character '}'"},
		{"a comma too few", head + "\n\"keywords\":[\n{\"text\":\"frogs\"}\n{\"text\":\"toads\"}]}", "line 4: invalid character '{' after array element\nhint: "},
		{"a weight in quotes", head + "\n\"keywords\":[\n{\"text\":\"frogs\",\"weight\":\"1\"}]}", "line 3: keywords.weight cannot be a string"},
		{"a version in quotes", `{"format":"spoor-topic","version":"1"}`, "line 1: version cannot be a string"},
		{"the future", `{"format":"spoor-topic","version":2,"hypergraph":{}}`, "version 2 is newer than this program reads (1)\nhint: install a newer"},
		{"the past", `{"format":"spoor-topic","version":0}`, "version 0 does not exist"},
		{"a misspelt field", head + `"keyword":[]}`, `unknown field "keyword"`},
		{"an unknown language", `{"format":"spoor-topic","version":1,"language":"tlh","keywords":[]}`, `unknown language "tlh"`},
		{"an unknown stemmer", `{"format":"spoor-topic","version":1,"stemmer":"lovins","keywords":[]}`, `unknown stemmer "lovins"`},
		{"a bad threshold", head + `"threshold":-1,"keywords":[{"text":"frogs","weight":1}]}`, "threshold -1"},
		{"no keywords", head + `"keywords":[]}`, "no keywords"},
		{"a stop word", head + `"keywords":[{"text":"IT","weight":1}]}`, "only stop words"},
		{"no weight", head + `"keywords":[{"text":"frogs"}]}`, "weight 0 is not above 0"},
		{"too large a weight", head + `"keywords":[{"text":"frogs","weight":1e300}]}`, "weight 1e+300 is not from 1e-100 to 1e+100\nhint: "},
		{"too small a weight", head + `"keywords":[{"text":"frogs","weight":1e-300}]}`, "weight 1e-300 is not from"},
		{"stale terms", head + `"keywords":[{"text":"toads","weight":1,"terms":["frog"]}]}`, `its terms are ["toad"] here, the file says ["frog"]`},
		{"the same twice", head + `"keywords":[{"text":"frog","weight":1},{"text":"frogs","weight":2}]}`, `keywords "frog" and "frogs"`},
		{"no document", head + rest + `"statistics":{"documents":0,"average_length":1}}`, "statistics: 0 documents"},
		{"a negative length", head + rest + `"statistics":{"documents":1,"average_length":-1}}`, "average length -1"},
		{"a misspelt number", head + rest + `"statistics":{"docs":1}}`, `unknown field "docs"`},
		{"df without statistics", head + `"keywords":[{"text":"frogs","weight":1,"df":1}]}`, `keyword "frogs": df 1 is not within the 0 documents`},
		{"more df than documents", head + rest + stats + `"table":[{"word":"toads","weight":1,"df":4,"origin":"page"}]}`, `table: "toads": df 4 is not within the 3 documents`},
		{"an expression in the table", head + rest + `"table":[{"word":"hopping toads","weight":1,"origin":"page"}]}`, `table: "hopping toads" is not a word`},
		{"a stop word in the table", head + rest + `"table":[{"word":"the","weight":1,"origin":"page"}]}`, `table: "the" is not a word`},
		{"a stale term", head + rest + `"table":[{"word":"toads","term":"frog","weight":1,"origin":"page"}]}`, `"toads": its term is "toad" here, the file says "frog"`},
		{"a weight above 1", head + rest + `"table":[{"word":"toads","weight":1.5,"origin":"page"}]}`, `"toads": weight 1.5`},
		{"an unknown origin", head + rest + `"table":[{"word":"toads","weight":1,"origin":"moon"}]}`, `origin "moon" is none of query, page, expansion`},
		{"an expansion from nowhere", head + rest + `"table":[{"word":"toads","weight":1,"origin":"expansion"}]}`, `"toads": url ""`},
		{"an expansion from a link", head + rest + `"table":[{"word":"toads","weight":1,"origin":"expansion","url":"HTTP://a.test"}]}`, `is not canonical: want http://a.test/`},
		{"a page's word with an address", head + rest + `"table":[{"word":"toads","weight":1,"origin":"page","url":"http://a.test/"}]}`, `origin page has no url`},
		{"more words than pages", head + rest + `"growth":{"limit":0.7,"pages":1,"known":0,"words":2}}`, `growth: {Limit:0.7 Pages:1 Known:0 Words:2}`},
		{"less than no page", head + rest + `"growth":{"limit":0.7,"pages":-1,"known":-1,"words":-1}}`, `growth: {`},
		{"an entry twice", head + rest + `"table":[{"word":"toads","weight":1,"origin":"page"},{"word":"toad","weight":0.5,"origin":"expansion","url":"http://a.test/"}]}`, `another entry of the term "toad"`},
		{"a vocabulary of nobody", head + rest + stats + `"vocabulary":[{"df":0,"terms":["toad"]}]}`, "vocabulary: df 0"},
		{"a vocabulary without terms", head + rest + stats + `"vocabulary":[{"df":1,"terms":[]}]}`, "vocabulary: df 1"},
		{"a df twice", head + rest + stats + `"vocabulary":[{"df":1,"terms":["a1"]},{"df":1,"terms":["b1"]}]}`, "vocabulary: df 1"},
		{"a term twice", head + rest + stats + `"vocabulary":[{"df":1,"terms":["a1"]},{"df":2,"terms":["a1"]}]}`, `term "a1" is there twice`},
		{"no term", head + rest + stats + `"vocabulary":[{"df":1,"terms":["a b"]}]}`, `"a b" is not a term`},
		{"a common word twice", head + rest + `"common":["toad","toad"]}`, `common: term "toad" is there twice`},
		{"a reference without address", head + rest + `"reference":{"url":"x","counts":0,"links":[],"terms":[]}}`, `reference: url "x"`},
		{"a reference with less than nothing", head + rest + `"reference":{"url":"http://a.test/","counts":-1}}`, "counts -1"},
		{"a link twice", head + rest + `"reference":{"url":"http://a.test/","links":["http://b.test/","http://b.test/"]}}`, "link http://b.test/ is there twice"},
		{"a link as pages have it", head + rest + `"reference":{"url":"http://a.test/","links":["http://b.test/#x"]}}`, "reference: links: url"},
		{"a word twice", head + rest + `"reference":{"url":"http://a.test/","terms":["toad","toad"]}}`, `term "toad" is there twice`},
		{"a classifier of nothing", head + rest + `"classifier":{"positives":1,"features":[]}}`, "classifier: 1 positive and 0 negative pages"},
		{"a classifier that is never sure", head + rest + `"classifier":{"positives":1,"negatives":1,"threshold":2}}`, "threshold 2 is not from 0 to 1"},
		{"a feature of no words", head + rest + `"classifier":{"positives":1,"negatives":1,"features":[{"name":"","weight":1}]}}`, `feature "" is not a list of stems`},
		{"a feature that says nothing", head + rest + `"classifier":{"positives":1,"negatives":1,"features":[{"name":"toad","weight":0}]}}`, `feature "toad": weight 0`},
		{"a feature twice", head + rest + `"classifier":{"positives":1,"negatives":1,"features":[{"name":"toad","weight":1},{"name":"toad","weight":2}]}}`, `feature "toad" is there twice`},
		{"a background of no document", head + rest + `"background":{"documents":0,"average_length":1}}`, "background: 0 documents"},
		{"a background without length", head + rest + `"background":{"documents":1}}`, "background: average length 0"},
		{"a background term of more documents", head + rest + `"background":{"documents":1,"average_length":1,"vocabulary":[{"df":2,"terms":["toad"]}]}}`, "background: df 2 is not within the 1 documents"},
		{"a background term twice", head + rest + `"background":{"documents":1,"average_length":1,"vocabulary":[{"df":1,"terms":["toad","toad"]}]}}`, `background: term "toad" is there twice`},
		{"too large", strings.Repeat(" ", maxFile+1), "larger than 64 MiB"},
	} {
		if _, err := Read(strings.NewReader(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestTermsAreFilledIn(t *testing.T) {
	tp := readTopic(t, strings.NewReader(`{"format":"spoor-topic","version":1,"keywords":[{"text":"hopping frogs","weight":1}]}`))
	if got := tp.Keywords[0].Terms; !slices.Equal(got, []string{"hop", "frog"}) {
		t.Errorf("terms %q", got)
	}
}

// full is a topic file with all sections.
const full = `{
  "format": "spoor-topic",
  "version": 1,
  "query": "frogs",
  "language": "en",
  "stemmer": "porter",
  "keywords": [
    {"text":"frogs","weight":1,"terms":["frog"],"df":2}
  ],
  "statistics": {"documents":3,"average_length":10.5},
  "table": [
    {"term":"frog","word":"frogs","weight":1,"df":2,"origin":"query"},
    {"term":"frog","word":"frogs","weight":1,"df":2,"origin":"page"},
    {"term":"newt","word":"newts","weight":0.8,"df":1,"origin":"page"},
    {"term":"toad","word":"toads","weight":0.8,"origin":"expansion","url":"http://a.test/toads"}
  ],
  "growth": {"limit":0.7,"pages":3,"known":2,"words":1},
  "vocabulary": [
    {"df":2,"terms":["frog"]},
    {"df":1,"terms":["newt","pond"]}
  ],
  "common": ["newt","pond"],
  "reference": {
    "url": "http://a.test/",
    "counts": 7,
    "links": [
      "http://a.test/frogs",
      "http://b.test/?a=1&b=2"
    ],
    "terms": ["frog","newt"]
  },
  "classifier": {
    "bias": -0.5,
    "slope": -1.25,
    "intercept": 1e-9,
    "threshold": 0.5,
    "positives": 2,
    "negatives": 1,
    "features": [
      {"name":"home page","weight":-2.5},
      {"name":"frog","weight":1.5},
      {"name":"pond frog","weight":1.5}
    ]
  },
  "background": {
    "documents": 10,
    "average_length": 20.5,
    "vocabulary": [
      {"df":9,"terms":["file","number"]},
      {"df":1,"terms":["toad"]}
    ]
  }
}
`

func TestRoundTrip(t *testing.T) {
	tp := readTopic(t, strings.NewReader(full))
	var b bytes.Buffer
	if err := tp.Write(&b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full, b.String()); diff != "" {
		t.Errorf("file (-read +written):\n%s", diff)
	}
}

func TestSectionsInAnyOrder(t *testing.T) {
	tp, err := Read(strings.NewReader(`{"classifier":{"positives":1,"negatives":1,"features":[{"name":"a1","weight":1},{"name":"b1","weight":-2}]},
		"vocabulary":[{"df":1,"terms":["pond","newt"]},{"df":2,"terms":["frog"]}],
		"statistics":{"documents":2,"average_length":1},
		"table":[{"word":"newts","weight":0.25,"origin":"page"},{"word":"Frogs","weight":1,"origin":"page"}],
		"keywords":[{"text":"frogs","weight":1}],"format":"spoor-topic","version":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Entry{{Term: "frog", Word: "Frogs", Weight: 1, Origin: FromPages}, {Term: "newt", Word: "newts", Weight: 0.25, Origin: FromPages}}, tp.Table); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Shared{{2, []string{"frog"}}, {1, []string{"newt", "pond"}}}, tp.Vocabulary); diff != "" {
		t.Errorf("vocabulary (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Feature{{"b1", -2}, {"a1", 1}}, tp.Classifier.Features); diff != "" {
		t.Errorf("features (-want +got):\n%s", diff)
	}
}

func TestNaNIsNotWritten(t *testing.T) {
	tp := create(t)
	keyword(t, tp, "frogs", 1)
	tp.Statistics = &Statistics{1, math.NaN()}
	var b bytes.Buffer
	if err := tp.Write(&b); err == nil || b.Len() > 0 {
		t.Errorf("wrote %q, %v", b.String(), err)
	}
}

func FuzzRead(f *testing.F) {
	const head = `{"format":"spoor-topic","version":1,"language":"en","stemmer":"porter",`
	for _, s := range []string{
		"", "{}", "null", `{"format":"spoor-topic","version":2}`,
		head + `"query":"x & y","threshold":0.5,"keywords":[{"text":"call for paper","weight":5},{"text":"frogs","weight":1e-9,"terms":["frog"]}]}`,
		head + `"keywords":[{"text":"IT","weight":1}]}`,
		head + `"keywords":[{"text":"\ud800 frogs <b>","weight":1}]}`,
		head + `"threshold":1e400,"keywords":null}`,
		full,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		read, err := Read(strings.NewReader(s))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := read.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		// An omitted language or stemmer stays omitted; it means the default.
		if diff := cmp.Diff(read, again); diff != "" {
			t.Fatalf("(-read +again):\n%s", diff)
		}
	})
}

func newTopic(t testing.TB, language, stemmer string) *Topic {
	t.Helper()
	tp, err := New(language, stemmer)
	if err != nil {
		t.Fatal(err)
	}
	return tp
}

func readTopic(t testing.TB, r io.Reader) *Topic {
	t.Helper()
	tp, err := Read(r)
	if err != nil {
		t.Fatal(err)
	}
	return tp
}
