package topic

import (
	"bytes"
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
	tp, err := New("", "")
	if err != nil {
		t.Fatal(err)
	}
	return tp
}

func TestATopicFileIsMadeToBeRead(t *testing.T) {
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
  "stemmer": "porter",
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
	again, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tp, again); diff != "" {
		t.Errorf("read again (-written +read):\n%s", diff)
	}
}

func TestAKeywordsWeightStandsBeforeTheQuerys(t *testing.T) {
	tp := create(t)
	keyword(t, tp, "networks", 3)
	if _, err := tp.AddQuery("network"); err != nil {
		t.Fatal(err)
	}
	if len(tp.Keywords) != 1 || tp.Keywords[0].Weight != 3 {
		t.Errorf("keywords %+v", tp.Keywords)
	}
}

func TestKeywordsThatCannotTellAreRefused(t *testing.T) {
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
		{"frogs", math.Inf(1), "not above 0"},
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

func TestAQueryMustSaySomething(t *testing.T) {
	for _, q := range []string{"", "it is the", "... !", "a b c 123456"} {
		if _, err := create(t).AddQuery(q); err == nil || !strings.Contains(err.Error(), "no word of it counts") {
			t.Errorf("%q: %v", q, err)
		}
	}
}

func TestUnknownAnalysesAreRefused(t *testing.T) {
	if _, err := New("tlh", ""); err == nil || !strings.Contains(err.Error(), "known are da, de, en, ") {
		t.Errorf("language: %v", err)
	}
	if _, err := New("en", "lovins"); err == nil || !strings.Contains(err.Error(), "known are porter, english") {
		t.Errorf("stemmer: %v", err)
	}
	if tp, err := New("", "english"); err != nil || tp.Language != "en" || tp.Stemmer != "english" {
		t.Errorf("english: %+v, %v", tp, err)
	}
}

func TestReadingSaysWhatIsWrong(t *testing.T) {
	const head = `{"format":"spoor-topic","version":1,"language":"en","stemmer":"porter",`
	for _, tt := range []struct{ name, file, want string }{
		{"empty", ``, "not a topic file"},
		{"not JSON", `query`, "not a topic file"},
		{"an array", `[]`, "not a topic file"},
		{"no format", `{"version":1}`, `its format is "", not "spoor-topic"`},
		{"truncated", head + `"keywords":[`, "not a topic file"},
		{"two", head + `"keywords":[{"text":"x1","weight":1}]} {}`, "not a topic file"},
		{"the future", `{"format":"spoor-topic","version":2,"hypergraph":{}}`, "version 2 is newer than this program reads (1)\nhint: install a newer"},
		{"the past", `{"format":"spoor-topic","version":0}`, "version 0 does not exist"},
		{"a misspelt field", head + `"keyword":[]}`, `unknown field "keyword"`},
		{"an unknown language", `{"format":"spoor-topic","version":1,"language":"tlh","keywords":[]}`, `unknown language "tlh"`},
		{"an unknown stemmer", `{"format":"spoor-topic","version":1,"stemmer":"lovins","keywords":[]}`, `unknown stemmer "lovins"`},
		{"a bad threshold", head + `"threshold":-1,"keywords":[{"text":"frogs","weight":1}]}`, "threshold -1"},
		{"no keywords", head + `"keywords":[]}`, "no keywords"},
		{"a stop word", head + `"keywords":[{"text":"IT","weight":1}]}`, "only stop words"},
		{"no weight", head + `"keywords":[{"text":"frogs"}]}`, "weight 0 is not above 0"},
		{"stale terms", head + `"keywords":[{"text":"toads","weight":1,"terms":["frog"]}]}`, `its terms are ["toad"] here, the file says ["frog"]`},
		{"the same twice", head + `"keywords":[{"text":"frog","weight":1},{"text":"frogs","weight":2}]}`, `keywords "frog" and "frogs"`},
		{"too large", strings.Repeat(" ", maxFile+1), "larger than 64 MiB"},
	} {
		if _, err := Read(strings.NewReader(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestTermsMayBeLeftOutByHand(t *testing.T) {
	tp, err := Read(strings.NewReader(`{"format":"spoor-topic","version":1,"keywords":[{"text":"hopping frogs","weight":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := tp.Keywords[0].Terms; !slices.Equal(got, []string{"hop", "frog"}) {
		t.Errorf("terms %q", got)
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
		// A language or stemmer left out stays left out; both mean the default.
		if diff := cmp.Diff(read, again); diff != "" {
			t.Fatalf("(-read +again):\n%s", diff)
		}
	})
}
