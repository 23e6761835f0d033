package report

import (
	"bytes"
	"io"
	"math"
	"testing"
	"unicode/utf8"
)

// FuzzRead reads runs with arbitrary files, and checks the invariants on which the page
// depends.
func FuzzRead(f *testing.F) {
	f.Add([]byte(generations[0]), []byte(generations[1]), []byte(opinion), []byte(`{"T":1,"curves":{"cost":[1],"run":[1],"bound":[1]}}`), []byte("strategy x\n"))
	f.Add([]byte(generations[1]), []byte(generations[2]), []byte(nil), []byte(nil), []byte("level=INFO msg=done cmd=\"x\" skipped_y=1\n"))
	f.Add([]byte(`{"query":"q","cost":1099511627776}`), []byte(`{"query":"q","cost":-1}`), []byte(`{"query":"q","verdict":"free"}`), []byte(`{"agreement":{}}`), []byte("fitness ,\n"))
	f.Add([]byte(`{"url":"x","error":"\u202e","score":1e308}`), []byte(`{"url":"x","via":"x","status_code":1,"score":-1e308,"relevant":true}`), []byte(`{"url":"x"}`), []byte(`{"seeing":{}}`), []byte("param -param\n"))
	f.Add([]byte(generations[0]), []byte(nil), []byte(nil), []byte(`{"table":[{"word":"x","weight":-1e308,"origin":"expansion","url":"javascript:x"}],"growth":{"pages":-1}}`), []byte("stage grow topic -expand tunnel\n"))
	f.Fuzz(func(t *testing.T, first, second, verdicts, summary, words []byte) {
		s := &Source{
			Name: string(words), Settings: words, Topic: summary, StopReason: words, Summary: summary,
			Stages: bytes.NewReader(words), Fault: func(error) {},
		}
		if len(verdicts) > 0 {
			s.Verdicts = bytes.NewReader(verdicts)
		}
		for i, lines := range [][]byte{first, second} {
			s.Generations = append(s.Generations, Part{
				Number: i + 1, Stats: summary,
				Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(lines)), nil },
			})
		}
		r, err := Read(s)
		if err != nil {
			return
		}
		brought := 0
		for _, g := range r.Generations {
			if len(g.Operators) != len(r.Operators) || len(g.Niches) != len(r.Niches) {
				t.Errorf("a generation has %d operators of %d, %d niches of %d", len(g.Operators), len(r.Operators), len(g.Niches), len(r.Niches))
			}
			brought += g.Fetched
		}
		for _, y := range r.Operators {
			if y.Relevant > y.Fetched {
				t.Errorf("%+v", y)
			}
		}
		if brought != r.Fetched || r.Relevant < 0 || r.Failed > r.Fetched {
			t.Errorf("%d fetched in generations, %d in all, %d relevant, %d failed", brought, r.Fetched, r.Relevant, r.Failed)
		}
		c := r.Curves
		for i := range c.Cost {
			if c.Cost[i] < 1 || i > 0 && c.Cost[i] <= c.Cost[i-1] {
				t.Errorf("costs %d", c.Cost)
			}
		}
		if len(c.Run) != len(c.Cost) || len(c.Bound) != 0 && len(c.Bound) != len(c.Cost) {
			t.Errorf("%d costs, %d points of the run, %d of the bound", len(c.Cost), len(c.Run), len(c.Bound))
		}
		for i, b := range r.Fitness.Bins {
			if !(b.From < b.To) || math.IsInf(b.To-b.From, 0) && len(r.Fitness.Bins) > 1 || i > 0 && b.From != r.Fitness.Bins[i-1].To {
				t.Errorf("bins %+v", r.Fitness.Bins)
			}
		}
		for _, p := range r.Pages {
			if len(p.Lineage) == 0 || len(p.Lineage) > MaxSteps || !utf8.ValidString(p.URL+p.Title+p.Operator+p.Niche) {
				t.Errorf("%+v", p)
			}
		}
		if err := Write(io.Discard, &Page{Runs: []*Run{r}}); err != nil {
			t.Error(err)
		}
	})
}
