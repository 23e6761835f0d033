package run

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/internal/testfile"
	"spoor/internal/wire"
)

// The estimates of a crawl's strategy are those that evolve wrote in the same generation.
func TestEstimates(t *testing.T) {
	d := Dir(t.TempDir())
	testfile.Write(t, d.Path(SettingsFile), "strategy forage\n")
	for g, next := range map[int][]string{
		1: {`{"v":1,"url":"http://a.test/","generation":1,"status_code":200,"score":2,"scores":{"bm25":2}}`},
		2: {`{"v":1,"url":"http://a.test/","generation":2,"status_code":200,"score":2,"scores":{"bm25":2,"forage":0.25}}`, `not a record`,
			`{"v":1,"url":"http://b.test/","generation":2,"status_code":200,"score":1,"scores":{"forage":0.5}}`},
		3: nil, // evolve has not written it yet
	} {
		testfile.Write(t, d.File(g, Scored), "")
		if next != nil {
			testfile.Write(t, d.File(g, Next), strings.Join(next, "\n")+"\n")
		}
	}
	e, err := Dirs{d}.Estimates(func(name string) (io.ReadCloser, error) { return os.Open(name) })
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		url        string
		generation int
		want       float64 // 0: none
	}{{"http://a.test/", 1, 0}, {"http://a.test/", 2, 0.25}, {"http://b.test/", 2, 0.5}, {"", 2, 0}, {"http://b.test/", 3, 0}, {"http://a.test/", 4, 0}} {
		rec := &wire.Record{URL: test.url, Generation: test.generation, Scores: []wire.Scored{{Name: "bm25", Value: 2}, {Name: "zipf", Value: 1}}}
		if err := e.Add(rec); err != nil {
			t.Fatal(err)
		}
		got, ok := rec.ScoreOf("forage")
		if got != test.want || ok != (test.want != 0) || rec.Scores[0].Name != "bm25" || rec.Scores[len(rec.Scores)-1].Name != "zipf" {
			t.Errorf("%s in generation %d has %v", test.url, test.generation, rec.Scores)
		}
	}
	if err := os.Remove(d.File(2, Next)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.File(2, Next), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := e.Add(&wire.Record{URL: "http://a.test/", Generation: 2}); err == nil || !strings.Contains(err.Error(), filepath.Join("0002", Next)) {
		t.Errorf("a directory in place of the file: %v", err)
	}
}
