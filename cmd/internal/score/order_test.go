package score

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spoor/internal/measure"
	"spoor/internal/testfile"
	"spoor/internal/topic"
	"spoor/internal/wire"
)

func TestScoresDoNotDependOnOrder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "topic.json")
	const topic = `{"format":"spoor-topic","version":1,"keywords":[{"text":"w1","weight":0.1},{"text":"w2 w3","weight":0.7},{"text":"w4","weight":1.3},{"text":"w5","weight":1e3}],
		"statistics":{"documents":9,"average_length":50},
		"table":[{"term":"w1","word":"w1","weight":1,"df":3,"origin":"page"},{"term":"w6","word":"w6","weight":0.3,"df":2,"origin":"page"},{"term":"w7","word":"w7","weight":0.1,"df":9,"origin":"page"}],
		"reference":{"url":"http://x.example/","counts":3,"links":["http://x.example/w1","http://x.example/w2"],"terms":["w1","w8"]},
		"classifier":{"bias":-1,"slope":2,"intercept":0.5,"threshold":0.6,"positives":3,"negatives":2,"features":[{"name":"w1 w2","weight":2},{"name":"w3","weight":-1}]}}`
	all := strings.Join(measure.Names(), ",")
	testfile.Write(t, name, topic)
	rng := rand.New(rand.NewPCG(3, 3))
	words := func(n int) string {
		var b strings.Builder
		for range rng.IntN(n) {
			fmt.Fprintf(&b, "w%d ", rng.IntN(40))
		}
		return b.String()
	}
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf(`{"v":1,"url":"http://%d.example/","title":"%s","text":"%s","anchor_text":"%s","links":[{"url":"http://x.example/w%d","anchor":"%s","context":"%s"}]}`+"\n",
			i, words(5), words(300), words(20), i%40, words(4), words(20)))
	}
	for _, flags := range [][]string{{"-norm", "topic"}, {"-norm", "page"}, {"-compat"}, {"-fitness", all}, {"-fitness", all, "-norm", "page"}, {"-fitness", all, "-compat"}} {
		scored := func(lines []string, workers string) []string {
			var out bytes.Buffer
			args := append([]string{"-topic", name, "-j", workers}, flags...)
			if err := invoke(args, strings.NewReader(strings.Join(lines, "")), &out, io.Discard); err != nil {
				t.Fatal(err)
			}
			return slices.Collect(strings.Lines(out.String()))
		}
		want := scored(lines, "1")
		if got := scored(lines, "7"); !slices.Equal(got, want) {
			t.Errorf("%v: seven workers give other records than one", flags)
		}
		order := rng.Perm(len(lines))
		shuffled := make([]string, len(lines))
		for i, j := range order {
			shuffled[i] = lines[j]
		}
		for i, got := range scored(shuffled, "2") {
			if got != want[order[i]] {
				t.Errorf("%v: in another order\n%s in the first\n%s", flags, got, want[order[i]])
				break
			}
		}
	}
}

func TestEveryPartOfAPageIsScored(t *testing.T) {
	name := filepath.Join(t.TempDir(), "topic.json")
	testfile.Write(t, name, `{"format":"spoor-topic","version":1,"keywords":[{"text":"w1","weight":1}]}`)
	for _, part := range []string{"title", "anchor_text", "description", "keywords", "text"} {
		var out bytes.Buffer
		in := fmt.Sprintf(`{"v":1,"url":"http://a.example/","status_code":200,%q:"w1"}`, part)
		if err := invoke([]string{"-topic", name, "-fitness", "vsm"}, strings.NewReader(in), &out, io.Discard); err != nil || !strings.Contains(out.String(), `"score":1,`) {
			t.Errorf("%s: %s, %v", part, &out, err)
		}
	}
}

func TestLinkScores(t *testing.T) {
	name := filepath.Join(t.TempDir(), "topic.json")
	testfile.Write(t, name, `{"format":"spoor-topic","version":1,"keywords":[{"text":"w1","weight":1}]}`)
	about, err := topic.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newScorer(&options{topic: about, names: []string{"vsm"}})
	if err != nil {
		t.Fatal(err)
	}
	link := wire.Link{URL: "http://a.example/w1", Anchor: "w1"}
	var room []wire.Scored
	once := testing.AllocsPerRun(10, func() { room = slices.Grow(room[:0:0], len(s.parts)) }) // more than 1 under the race detector
	s.link(&link)
	again := testing.AllocsPerRun(10, func() { s.link(&link) })
	if n := testing.AllocsPerRun(10, func() {
		link.Scores = nil
		s.link(&link)
	}); n > again+once {
		t.Errorf("%v allocations for a link, and %v where its scores have room", n, again)
	}
}
