package evolve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"spoor/internal/strategy"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

// learnedTopic returns a topic with all sections that strategies require.
func learnedTopic(tb testing.TB) *topic.Topic {
	tb.Helper()
	t, err := topic.New("en", "")
	if err == nil {
		_, err = t.AddQuery("genetic crawler")
	}
	if err == nil {
		example := topic.Page{URL: "http://example.test/", Title: "A genetic crawler", Text: "selection, crossover and mutation of links"}
		err = t.Learn([]topic.Page{example}, nil, topic.LearnOptions{Size: topic.TableSize})
	}
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// evolveTwice runs two generations with the same input through a strategy, restores its state
// from what it has learned, and returns the output of the first.
func evolveTwice(t *testing.T, target *topic.Topic, kind strategy.Kind, in string) (out []*wire.Record, log string) {
	t.Helper()
	fresh := func() strategy.Strategy {
		s, err := strategy.New(kind.Name, target, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	opt := options{strategy: kind.Name, n: 5, seed: 1, agent: "spoor", nofollow: true}
	opt.stream.Limit = wire.DefaultLimit
	s, again := fresh(), fresh()
	for generation := 1; generation <= 2; generation++ {
		var stdout, stderr bytes.Buffer
		if err := opt.emit(strings.NewReader(in), &stdout, &stderr, s, generation); err != nil {
			if strings.HasPrefix(err.Error(), "none of ") {
				return nil, ""
			}
			t.Fatalf("%s, generation %d: %v", kind.Name, generation, err)
		}
		if generation == 1 {
			log = stderr.String()
		}
		r := wire.NewReader(&stdout, wire.All)
		for {
			rec := new(wire.Record)
			err := r.Read(rec)
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s, generation %d: the output is not a record: %v", kind.Name, generation, err)
			}
			if generation == 1 {
				out = append(out, rec)
			}
		}
		if err := again.Replay(s.AppendDelta(nil)); err != nil {
			t.Fatalf("%s, generation %d: restoring its state: %v", kind.Name, generation, err)
		}
	}
	return out, log
}

// page returns a scored page with the given links.
func page(links string) string {
	return `{"v":1,"url":"http://a.test/","generation":1,"status_code":200,"title":"genetic crawler","out_degree":1,` +
		`"links":` + links + `,"score":0.5,"relevant":true}` + "\n"
}

func TestABadLinkCostsOnlyThatLink(t *testing.T) {
	target := learnedTopic(t)
	const good = `{"url":"http://b.test/","anchor":"genetic","score":0.5}`
	for _, kind := range strategy.Kinds() {
		want, _ := evolveTwice(t, target, kind, page("["+good+"]"))
		for _, bad := range []string{`{}`, `null`, `{"url":""}`, `{"url":"javascript:void(0)"}`, `{"url":"file:///etc/passwd"}`, `{"url":"data:,a"}`} {
			got, log := evolveTwice(t, target, kind, page("["+bad+","+good+"]"))
			if a, b := fmt.Sprint(urls(got)), fmt.Sprint(urls(want)); a != b {
				t.Errorf("%s, link %s: got %s, want %s", kind.Name, bad, a, b)
			}
			if !strings.Contains(log, "skipped_links=1") {
				t.Errorf("%s, link %s: not counted in %s", kind.Name, bad, log)
			}
		}
	}
}

func urls(recs []*wire.Record) (urls []string) {
	for _, rec := range recs {
		urls = append(urls, rec.URL+rec.Query)
	}
	return urls
}

// FuzzStrategies passes hostile links and lines to every strategy: each must read its own output
// and restore its state, whatever it was given.
func FuzzStrategies(f *testing.F) {
	lines := []string{
		`{"url":"http://b.test/","depth":2147483647,"status_code":200,"score":1e308,"links":[{"url":"http://c.test/"}]}`,
		`{"url":"http://b.test/","final_url":":","redirects":[{"url":""}],"status_code":200,"score":-1,"out_degree":2147483647,"links":[{"url":"http://"}]}`,
		`{"url":"x","error":"?","via":"y","parents":["",null],"operator":"crossover","reasons":{"":0}}`,
		`{"url":"http://b.test/","generation":-1}`, `{"query":"q","cost":5}`,
	}
	for i, links := range []string{
		`[{}]`, `null`, `{}`, `[1]`, `[{"url":""},{"url":"javascript:x"},{"url":"http://b.test/"}]`, `[{"url":"http:"}]`, `[{"url":"http://[/"}]`,
		`[{"url":"b"},{"url":"http://a.test/"},{"url":"http://b.test/%zz","path":"html/","tag":"a","score":-1e308,"scores":{"":1e308}}]`,
		`[{"url":"http://b.test/","score":1e308},{"url":"http://b.test/","score":null,"archived":null,"rel":"nofollow"}]`,
	} {
		f.Add(links, lines[i%len(lines)])
		f.Add(links, lines[(i+2)%len(lines)])
	}
	target := learnedTopic(f)
	f.Fuzz(func(t *testing.T, links, line string) {
		for _, kind := range strategy.Kinds() {
			evolveTwice(t, target, kind, page(links)+line+"\n")
		}
	})
}
