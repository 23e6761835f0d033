package closedweb

import (
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"

	"spoor/internal/judge"
	"spoor/internal/wire"
)

// The cost of each operator up to T, of records that share one memory, and of queries. Too many names are one.
func TestOperators(t *testing.T) {
	w, err := FromGraphFile(strings.NewReader(`{"out":{"a.test/":["a.test/1"],"a.test/1":[]},"redirects":{},"labels":{"a.test/1":["jazz"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	l := w.Labels("jazz")
	if err := l.Apply(); err != nil {
		t.Fatal(err)
	}
	operators := func(lines string, budget int) map[string]int64 {
		j, err := judge.New(w.Web, []int32{w.Find("http://a.test/").Page}, judge.Options{T: budget})
		if err != nil {
			t.Fatal(err)
		}
		crawl, r, rec := NewCrawl(w, l, j), wire.NewReader(strings.NewReader(lines), wire.Address|wire.Fetch), new(wire.Record)
		for {
			if err := r.Read(rec); err == io.EOF {
				return crawl.Summary().Operators
			} else if err != nil {
				t.Fatal(err)
			}
			crawl.Add(rec)
		}
	}
	lines := `{"url":"http://a.test/","operator":"seed","status_code":200}
{"url":"http://a.test/1","operator":"crossover","status_code":200,"reasons":{"pages":1}}
{"operator":"mutation","query":"jazz","cost":2}
{"url":"http://b.test/","operator":"crossover","error":"not_archived"}
{"url":"http://a.test/none","status_code":404}
{"url":"http://a.test/2","operator":"crossover","status_code":404}
{"url":"http://a.test/3","operator":"restart","status_code":404}
{"url":"http://a.test/4","operator":"restart","status_code":404}
`
	if got, want := operators(lines, 7), map[string]int64{"seed": 1, "crossover": 2, "mutation": 2, "restart": 1}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := operators(`{"url":"http://a.test/","operator":"`+strings.Repeat("x", 1000)+`","status_code":200}`, 7); got[otherOperator] != 1 || len(got) != 1 {
		t.Errorf("a long name is counted as %v", got)
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, `{"url":"http://a.test/x%d","operator":"o%d","status_code":404}`+"\n", i, i)
	}
	if got := operators(many.String(), 1000); len(got) != maxOperators+1 || got[otherOperator] != 1000-maxOperators {
		t.Errorf("of 1,000 operators %d are counted by name, and %d as others", len(got), got[otherOperator])
	}
}
